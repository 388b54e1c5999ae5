#!/bin/bash
# Grades /app: installs it with its own setup.sh, runs the hidden suite and
# writes /logs/verifier/ctrf.json and, last, /logs/verifier/reward.txt.

now() { date +%s.%3N; }

main() {
    local logs=/logs/verifier tests suite folder reward=0 setup_exit
    tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    mkdir -p "$logs"
    rm -f "$logs/reward.txt" "$logs/reward.json" "$logs/ctrf.json"
    cd /app || true
    git config --system --add safe.directory '*' 2>/dev/null

    # The suite is kept in memory while setup.sh, which is not ours, runs.
    suite=$(tar -C "$tests" -cf - harness.py run_suite.py \
        suite_cli.py suite_errors.py suite_expressions.py suite_formats.py \
        suite_sources.py suite_stages.py | base64 -w0)

    echo "##e2e-swe phase=setup at=$(now)"
    (cd /app && exec timeout -k 5 300 bash ./setup.sh </dev/null)
    setup_exit=$?
    echo "##e2e-swe setup-exit=$setup_exit"

    echo "##e2e-swe phase=tests at=$(now)"
    cd / || true
    folder=$(mktemp -d /tmp/tidequery-suite-XXXXXXXX)
    chmod 700 "$folder"
    printf '%s' "$suite" | base64 -d | tar -C "$folder" -xf -
    if timeout -k 5 500 /usr/bin/python3 -I -S -B "$folder/run_suite.py" "$logs/ctrf.json" </dev/null; then
        reward=1
    fi
    rm -rf "$folder"
    echo "$reward" >"$logs/reward.txt"
}

main "$@"
exit 0
