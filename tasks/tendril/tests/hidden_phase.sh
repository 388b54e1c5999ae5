#!/bin/bash
# Second half of a hardened grade: the hidden suite as root, the program as another user.
logs=/logs/verifier
ulimit -f 32768 -c 0
reward=0
if echo go | env -i PATH=/usr/bin:/bin E2E_SWE_PRODUCT_UID="$E2E_SWE_PRODUCT_UID" \
    E2E_SWE_PRODUCT_GID="$E2E_SWE_PRODUCT_GID" /usr/bin/node /tests/run.mjs "$logs/ctrf.json"; then
    reward=1
fi
echo "$reward" >"$logs/reward.txt"
