#!/bin/bash
# Installs the command line program; safe to run more than once, needs no network.
set -eu
cd "$(dirname "$0")"
rm -rf build src/tidequery.egg-info
python3 -m pip install --quiet --no-build-isolation --no-index --no-deps \
    --break-system-packages --root-user-action=ignore --force-reinstall .
tidequery --version
