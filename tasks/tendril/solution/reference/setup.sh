#!/bin/bash
# Puts the command on PATH; safe to run more than once, needs no network.
set -eu
cd "$(dirname "$0")"
chmod +x bin/tendril.js
ln -sfn "$PWD/bin/tendril.js" /usr/local/bin/tendril
tendril --version
