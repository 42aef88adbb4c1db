#!/usr/bin/env bash
# Tests the verdicts of row_ratio.py, with a program that prints rows of known
# time.
set -euo pipefail

readonly ROW_RATIO=tools/bench/row_ratio.py
failures=0

# expect STATUS TEXT PAIRS [FLAG ...]: checks the exit status and a text in the
# output.
expect() {
  local status=$1 text=$2 pairs=$3 output got=0
  shift 3
  output=$(printf '{"argv": ["%s"], "pairs": [%s]}' "$program" "$pairs" |
    python3 -B "$ROW_RATIO" - "$@" 2>&1) || got=$?
  if [[ $got != "$status" || "$output" != *"$text"* ]]; then
    printf 'want status %s and "%s", got %s and:\n%s\n' \
      "$status" "$text" "$got" "$output" >&2
    failures=$((failures + 1))
  fi
}

program=$TEST_TMPDIR/program
cat >"$program" <<'EOF'
#!/bin/sh
[ "$1" = --benchmark_format=json ] || exit 4
echo '{"benchmarks": [{"name": "fast", "cpu_time": 2}, {"name": "slow", "cpu_time": 9}]}'
EOF
chmod +x "$program"

pair() { printf '{"row": "%s", "baseline": "%s"%s}' "$1" "$2" "${3:+, $3}"; }
expect 0 "| slow | fast | 6 | 4.50 | 4.50 to 4.50 | <= 4.5 | met |" \
  "$(pair slow fast '"at_most": 4.5')" --rounds=6
expect 1 "| missed |" "$(pair slow fast '"at_most": 4.4')" --rounds=6
expect 1 "slow to fast: missed, goal <= 4.4" "$(pair slow fast '"at_most": 4.4')" --rounds=6
expect 0 "Processor: " "$(pair slow fast)" --rounds=6
expect 0 "| >= 4.5 | met |" "$(pair slow fast '"at_least": 4.5')" --rounds=6
expect 1 "| missed |" "$(pair slow fast '"at_least": 4.6')" --rounds=6
expect 0 "| fast | slow | 6 | 0.22 | 0.22 to 0.22 |  |  |" "$(pair fast slow)" --rounds=6
expect 0 "too few rounds" "$(pair slow fast '"at_most": 5')" --rounds=2
expect 1 "too few rounds" "$(pair slow fast '"at_most": 5')" --rounds=2 --must_meet
expect 0 "| absent | fast | 0 | not measured: \`$program\` has no row absent |" \
  "$(pair absent fast '"at_most": 5')" --rounds=6
expect 1 "not measured" "$(pair absent fast '"at_most": 5')" --rounds=6 --must_meet
expect 2 'KeyError' '{"row": "fast"}'

cat >"$program" <<'EOF'
#!/bin/sh
echo '{"benchmarks": [{"name": "fast", "error_occurred": true, "error_message": "lost"}]}'
EOF
expect 2 "fast: lost" "$(pair fast fast)"
printf '#!/bin/sh\nexit 3\n' >"$program"
expect 2 "failed with status 3" "$(pair fast fast)"

# An interval that contains the goal decides nothing.
PYTHONPATH=tools/bench python3 -B - <<'EOF'
import row_ratio
assert row_ratio.verdict({"at_most": 5}, 4.9, 5.1) == "unresolved"
assert row_ratio.verdict({"at_least": 5}, 4.9, 5.1) == "unresolved"
assert row_ratio.verdict({"at_least": 5}, 5.0, 5.1) == "met"
EOF
((failures == 0))
