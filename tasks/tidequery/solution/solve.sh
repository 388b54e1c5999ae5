#!/bin/bash
# Puts the reference implementation into the workspace; needs no network.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cp -a "$here/reference/." /app/
