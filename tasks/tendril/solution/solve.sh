#!/bin/bash
# Fills the workspace with the reference implementation, which lies beside this script.
set -euo pipefail
source_folder=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/reference
cp -a "$source_folder"/. /app/
