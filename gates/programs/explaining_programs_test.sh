#!/usr/bin/env bash
# Tests exit status and output of the programs that explain, for good and bad
# input.
set -uo pipefail
readonly PROGRAMS="$PWD/gates/programs" ENCODE="$PWD/gates/judge/encode_profile_main"
cd "$TEST_TMPDIR" || exit 2
unset BUILD_WORKING_DIRECTORY
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS PATTERN PROGRAM ARGUMENT ...: checks the exit status, and that a
# line of the output matches PATTERN.
expect() {
  local wanted=$1 pattern=$2 program=$3 status
  shift 3
  "$PROGRAMS/${program}_main" "$@" >out 2>err
  status=$?
  if ((status != wanted)) || ! cat out err | sed -z 's/ \\\n */ /g' | grep -E -- "$pattern" >/dev/null; then
    fail "$program $*: status $status, not $wanted, or no line like: $pattern"
    cat out err
  fi
  if [[ "$*" != *--format=* ]] && awk 'length > 80' out | grep .; then
    fail "$program $*: a line is wider than 80"
  fi
}
# profile FILE LABEL PEAK PHASE_PEAK
profile() {
  cat >text.profile.textproto <<END
process_count: 3 label: "$2" environment { compiler: "gcc" }
benchmarks { name: "BM_Fit/rows:10"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: $3 }
  phases { name: "read" parent: -1
    metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: $4 } }
  peak_attribution { site: "tensor:conv1/weights" live_bytes: $4 } }
END
  mkdir -p "$(dirname "$1")"
  "$ENCODE" text.profile.textproto "$1" || exit 2
}
profile old/ab.profile.binpb //a:b 2097152 1000
profile old/cd.profile.binpb //c:d 500 5
profile new/ab.profile.binpb //a:b 3145728 1049576
profile new/cd.profile.binpb //c:d 500 5
cat >t.textproto <<'END'
# proto-file: gates/judge/gate.proto
# proto-message: footprint.ThresholdFile
schema_version: 1
threshold {
  selector { label: "//a:b" }
  metric: PEAK_LIVE_USABLE_BYTES
  max_bytes: 2097152
  owner: "models"
  reason: "the table is held once"
  history { date: "2026-11-21" old_value: 1000000 new_value: 2097152 reason: "a cache" }
}
threshold { selector { label: "//c:d" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 }
END
printf 'profile\tnew/ab.profile.binpb\t//a:b\nprofile\tnew/cd.profile.binpb\t//c:d\nthresholds\tt.textproto\n' >manifest

# diff
expect 0 'hierarch|deployment, benchmark, phase' diff --help
expect 1 '^  peak live [+]1.00 MiB \([+]1,048,576 B, [+]50.0 %\): 2,097,152 B -> 3,145,728 B$' diff old new
grep -q '^    phase read' out || fail "no phase"
grep -q '^      tensor:conv1/weights  [+]1.00 MiB' out || fail "no site"
expect 1 '^differs: 1 of 2 deployments' diff old --manifest=manifest
expect 0 '^same: 2 deployments' diff new new
expect 0 '^same: 2 deployments' diff new --manifest=manifest
expect 1 '^differs: 1 of 1 deployments' diff old/ab.profile.binpb new/ab.profile.binpb
expect 0 '^same: 1 deployments' diff old new --only='//c:*'
expect 1 '"growth": 1048576' diff old new --format=json
python3 -c 'import json; json.load(open("out"))' || fail "no JSON"
expect 0 '2 profiles saved to kept' diff --manifest=manifest --save=kept
expect 0 '^same: 2 deployments' diff kept new
"$PROGRAMS/diff_main" old new --output=diff.txt
(($? == 1)) && grep -q '^differs' diff.txt || fail "no file"
expect 2 'diff: kept: holds 2 profiles already' diff --manifest=manifest --save=kept
expect 2 'name the old profiles' diff --manifest=manifest
expect 2 'no --manifest.*or name two sets of profiles' diff old
expect 2 'one word too many' diff old new newer
expect 2 'nowhere' diff nowhere new
expect 2 'no profile has a label that --only=//x names' diff old new --only=//x
expect 1 '<h1>' diff old new --format=html
expect 2 'not one of: text, json, markdown, html' diff old new --format=yaml
expect 2 'did you mean "output"' diff old new --outptu=x
head -c 30 old/ab.profile.binpb >cut.binpb
expect 2 'cut short' diff cut.binpb new
mkdir twice && cp old/ab.profile.binpb twice/1.binpb && cp old/ab.profile.binpb twice/2.binpb
expect 2 'have //a:b BM_Fit/rows:10 twice' diff twice new
mkdir none
expect 2 'holds no profile' diff none new

# audit
expect 0 'Exit status' audit --help
cp t.textproto loose.textproto
sed -i 's/max_bytes: 2097152/max_bytes: 4194304/; s/new_value: 2097152/new_value: 4194304/' loose.textproto
sed 's/t.textproto/loose.textproto/' manifest >loose
expect 1 '^found 1 drifted' audit --manifest=loose
expect 0 '^nothing found' audit --manifest=loose --drift=500%
expect 1 '^found 2 loose' audit --manifest=loose --drift=500% --headroom=10%
expect 0 '^nothing found' audit --manifest=loose --drift=500% --headroom=100%
grep -q 'were not looked for' err || fail "silent about files that no BUILD file names"
expect 1 '"kind": "loose"' audit --manifest=loose --headroom=10% --format=json
sed -i 's/reason: "a cache"/& expires: "2026-12-31"/' loose.textproto
expect 0 '^nothing found' audit --manifest=loose --drift=500% --today=2026-12-31
expect 1 '^expired loose.textproto:4: was raised until 2026-12-31 for "a cache"' audit --manifest=loose --drift=500% --today=2027-01-01
mkdir -p workspace/x && cp t.textproto workspace/x/forgotten.textproto
BUILD_WORKSPACE_DIRECTORY=$PWD/workspace expect 1 '^never run x/forgotten.textproto: no BUILD' audit --manifest=loose --drift=500% --today=2026-12-31
BUILD_WORKSPACE_DIRECTORY=/nowhere expect 2 'cannot be listed' audit --manifest=loose
expect 2 'no --manifest' audit
expect 2 '--today= is not a day' audit --manifest=loose --today=soon
expect 2 '--drift= is not a percentage' audit --manifest=loose --drift=much
expect 2 'headroom' audit --manifest=loose --headroom=much
expect 0 '<h1>Audit of the gates' audit --manifest=loose --drift=500% --today=2026-12-31 --format=html
expect 2 'not one of: text, json, markdown, html' audit --manifest=loose --format=yaml

# report
expect 0 'Exit status' report --help
expect 0 '^REJECT 2 deployments' report --manifest=manifest
grep -q '<h1>Memory gates: REJECT</h1>' memory_gates.html || fail "no page"
expect 0 'page.html is written' report --manifest=manifest --output=page.html
"$PROGRAMS/report_main" --manifest=manifest --output=- | cmp - page.html || fail "another page"
expect 2 'no --manifest' report
expect 2 'names no file' report --manifest=manifest --output=
expect 2 'cannot be created' report --manifest=manifest --output=/nowhere/x
expect 2 'did you mean "output"' report --manifest=manifest --outptu=x

# explain
expect 0 'Exit status' explain --help
expect 1 '^REJECT //a:b BM_Fit/rows:10$' explain --manifest=manifest t:4
for line in 'rule       peak live at most 2.00 MiB \(2,097,152 B\); blocks' 'where      t.textproto:4' \
  'owner      models' 'because    the table is held once' 'margin     1.00 MiB over' \
  'measured   3.00 MiB \(3,145,728 B\), EXACT over 3 processes' \
  '2026-11-21 977 KiB \(1,000,000 B\) -> 2.00 MiB \(2,097,152 B\): a cache' \
  ' 1.00 MiB  1,049,576  read' ' 1.00 MiB  1,049,576  tensor:conv1/weights' \
  'what grew  not known: no exact value'; do
  grep -qE "^$line" out || fail "no line $line"
done
sed -z 's/ \\\n */ /g' out | grep -F 'bazel run //gates:update -- --allow_increase --reason="..." --only=//a:b --benchmark=BM_Fit/rows:10' >/dev/null || fail "no command"
expect 1 '^BM_Fit/rows:10' explain --manifest=manifest --before=old t.textproto:4
grep -q 'phase read' out || fail "not where it grew"
expect 1 '^REJECT //a:b' explain --manifest=manifest '*'
grep -q '^accept //' out && fail "explains what holds, too"
expect 1 '^accept //c:d' explain --manifest=manifest '*' --all
expect 0 'bazel run //x:up -- --only=//c:d --benchmark=BM_Fit/rows:10 --headroom=exact' explain --manifest=manifest --update_target=//x:up //c:d
expect 1 '"what_grew"' explain --manifest=manifest --format=json //a:b
python3 -c 'import json; assert json.load(open("out"))["parts"][0]["figures"]["limit"]["bytes"] == 2097152' || fail "no JSON"
expect 1 '^## REJECT //a:b BM' explain --manifest=manifest --format=markdown //a:b
expect 2 'not one of: text, json' explain --manifest=manifest --format=yaml //a:b
# A default and its exception.
{ cat t.textproto; echo 'threshold { selector { label: "*" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 }'; } >default.textproto
sed 's/t.textproto/default.textproto/' manifest >with_default
expect 1 '^default.textproto:13' explain --manifest=with_default //a:b
expect 2 'default.textproto:13 judges nothing that was measured: it is overridden by .* default.textproto:4; explain that' explain --manifest=with_default default:13
sed -i '12d' default.textproto
expect 1 '^//a:b BM_Fit/rows:10: default.textproto:4' explain --manifest=with_default default:12
sed -i 's/max_bytes: 1 /max_bytes: 1000 /' default.textproto
expect 0 '^//a:b BM_Fit/rows:10: default.textproto:4' explain --manifest=with_default default:12
expect 0 '"gives_way"' explain --manifest=with_default default:12 --format=json
expect 2 'no rule that was judged is named //a:bb [(]did you mean "//a:b"[?][)]' explain --manifest=manifest //a:bb
expect 2 'with --benchmark=BM_No' explain --manifest=manifest //a:b --benchmark=BM_No
expect 2 'name a gate' explain --manifest=manifest
# A gate of one program needs no name.
printf 'profile\tnew/ab.profile.binpb\t//a:b\nthresholds\tshared.textproto\n' >one
sed 's/^schema_version: 1$/&\nshared: true/' t.textproto >shared.textproto
expect 1 '^REJECT //a:b BM_Fit/rows:10$' explain --manifest=one
expect 2 'no --manifest' explain //a:b
expect 2 'nowhere' explain --manifest=manifest //a:b --before=nowhere
echo 'nonsense' >>t.textproto
expect 2 'nothing was judged, so there is nothing to explain: t.textproto' explain --manifest=manifest //a:b

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
