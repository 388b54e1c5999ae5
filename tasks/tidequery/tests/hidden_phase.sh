#!/bin/bash
# Second half of a hardened grade: the hidden suite as root, the program as another user.
logs=/logs/verifier
reward=0
if timeout -k 5 500 /usr/bin/python3 -I -S -B /tests/run_suite.py "$logs/ctrf.json" </dev/null; then
    reward=1
fi
echo "$reward" >"$logs/reward.txt"
