#!/usr/bin/env bash
# Tests the arithmetic and the verdicts of paired_ratio.py, with commands of
# known cost.
set -euo pipefail

readonly PAIRED_RATIO=tools/bench/paired_ratio.py
failures=0

# expect STATUS TEXT PLAN [FLAG ...]: checks the exit status and a text in the
# output.
expect() {
  local status=$1 text=$2 plan=$3 output got=0
  shift 3
  output=$(printf '%s' "$plan" | python3 "$PAIRED_RATIO" - "$@" 2>&1) || got=$?
  if [[ $got != "$status" || "$output" != *"$text"* ]]; then
    printf 'want status %s and "%s", got %s and:\n%s\n' \
      "$status" "$text" "$got" "$output" >&2
    failures=$((failures + 1))
  fi
}

loop() { printf '["python3", "-c", "for i in range(%d): pass"]' "$1"; }

# Ten times the work is more than twice and at most 1000 times.
for goal in 2:missed:1 1000:met:0; do
  IFS=: read -r limit verdict status <<<"$goal"
  expect "$status" "| $verdict |" "{\"baseline\": \"one\", \"commands\": [
    {\"name\": \"one\", \"argv\": $(loop 200000)},
    {\"name\": \"ten\", \"argv\": $(loop 20000000), \"goal\": $limit}]}" --rounds=6
done
expect 0 "too few rounds" '{"baseline": "a", "commands": [
  {"name": "a", "argv": ["python3", "-c", "0"]},
  {"name": "b", "argv": ["python3", "-c", "0"], "goal": 9}]}' --rounds=2
expect 1 "too few rounds" '{"baseline": "a", "commands": [
  {"name": "a", "argv": ["python3", "-c", "0"]},
  {"name": "b", "argv": ["python3", "-c", "0"], "goal": 9}]}' --rounds=2 --must_meet
expect 1 "not measured: \`no-such-program --fast\` cannot be run, there is no program no-such-program on the PATH" '{"baseline": "a",
  "commands": [{"name": "a", "argv": ["python3", "-c", "0"]},
  {"name": "b", "argv": ["no-such-program", "--fast"], "goal": 1}]}' --rounds=1
expect 1 "failed with status 3" '{"baseline": "a", "commands": [
  {"name": "a", "argv": ["python3", "-c", "exit(3)"]}]}' --rounds=1
expect 1 "no command is named as the baseline" '{"baseline": "x", "commands": []}'
expect 1 "two commands have one name" '{"baseline": "a", "commands": [
  {"name": "a", "argv": ["true"]}, {"name": "a", "argv": ["true"]}]}'
expect 1 "paired_ratio: -:" 'not json'
((failures == 0))
