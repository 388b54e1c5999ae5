"""Runs all tests: python3 -I -S -B run_suite.py REPORT"""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")

import harness  # noqa: E402
import suite_cli  # noqa: E402,F401
import suite_errors  # noqa: E402,F401
import suite_expressions  # noqa: E402,F401
import suite_formats  # noqa: E402,F401
import suite_sources  # noqa: E402,F401
import suite_stages  # noqa: E402,F401

if __name__ == "__main__":
    sys.exit(0 if harness.main(sys.argv[1], FOLDER) else 1)
