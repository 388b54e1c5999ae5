#!/bin/bash
# First half of a hardened grade: the submission's own set-up, where no test is.
cd /app || exit 1
exec timeout -k 5 300 bash ./setup.sh </dev/null
