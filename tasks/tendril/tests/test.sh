#!/bin/bash
# Installs what was left in /app by its own setup.sh and runs the hidden tests.
# Writes ctrf.json and, as the last thing, reward.txt to /logs/verifier.
#
# The runner is started first: it has loaded itself and the whole suite, and has
# written a report without results, before setup.sh, which is not ours, gets
# control. It waits for a line on its standard input.

stamp() { printf '##e2e-swe phase=%s at=%s\n' "$1" "$(date +%s.%3N)"; }

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
logs=/logs/verifier
mkdir -p "$logs"
rm -f "$logs/reward.txt" "$logs/reward.json" "$logs/ctrf.json"
git config --system --add safe.directory '*' 2>/dev/null

exec 3>&1
# The limits (files of 32 MB, no core dumps) hold for the runner and what it starts.
coproc RUNNER { cd / && ulimit -f 32768 -c 0 && exec env -i PATH=/usr/bin:/bin /usr/bin/node "$here/run.mjs" "$logs/ctrf.json" >&3 2>&1 3>&-; }
runner=$RUNNER_PID
exec {go}>&"${RUNNER[1]}"
for _ in {1..200}; do
    [ -e "$logs/ctrf.json" ] && break
    sleep 0.05
done

stamp setup
(cd /app && exec timeout -k 5 300 bash ./setup.sh </dev/null 3>&- {go}>&-)
echo "##e2e-swe setup-exit=$?"

stamp tests
trap '' PIPE # the runner may be gone
echo go 2>/dev/null >&"$go"
exec {go}>&-
wait "$runner"
if [ $? -eq 0 ]; then reward=1; else reward=0; fi
echo "$reward" >"$logs/reward.txt"
exit 0
