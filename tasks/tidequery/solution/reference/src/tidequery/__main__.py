"""Allows ``python3 -m tidequery``."""

import sys

from tidequery.cli import main

if __name__ == "__main__":
    sys.exit(main())
