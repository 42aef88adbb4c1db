#!/usr/bin/env bash
# Tests the exit status and message of check_main for every decision and for bad
# input.
set -uo pipefail
readonly CHECK="$PWD/gates/programs/check_main" ENCODE="$PWD/gates/judge/encode_profile_main"
cd "$TEST_TMPDIR" || exit 2
failures=0
readonly HEADER='# proto-file: gates/judge/gate.proto
# proto-message: footprint.ThresholdFile
schema_version: 1'
unset XML_OUTPUT_FILE TEST_UNDECLARED_OUTPUTS_DIR BUILD_WORKING_DIRECTORY

# profile NAME TEXT: writes NAME.binpb, of $processes processes (three by
# default).
profile() {
  printf 'process_count: %s %s\n' "${processes:-3}" "$2" >"$1.profile.textproto"
  "$ENCODE" "$1.profile.textproto" "$1.binpb" || exit 2
}
thresholds() { printf '%s\n%s\n' "$HEADER" "$2" >"$1.textproto"; }
# Prints each paragraph and each command on one line.
unwrapped() { sed -z 's/ \\\n */ /g; s/\n    */ /g'; }
# expect STATUS PATTERN PROFILE THRESHOLDS [FLAG ...]
expect() {
  local wanted=$1 pattern=$2 status
  printf 'profile\t%s\t//a:b\nthresholds\t%s\n' "$3" "$4" >manifest
  shift 4
  "$CHECK" --manifest=manifest "$@" >out 2>err
  status=$?
  if ((status != wanted)) || ! cat out err | unwrapped | grep -E -- "$pattern" >/dev/null; then
    echo "FAILED: status $status, not $wanted, or no line like: $pattern"
    cat out err
    failures=$((failures + 1))
  fi
}

profile good 'label: "//a:b" environment { compiler: "gcc" } benchmarks { name: "BM_X"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1000 } }'
thresholds limit 'threshold { selector { label: "//a:b" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 }'
rule() { thresholds "$1" "threshold { selector { label: \"//a:b\" } $2 }"; }

expect 0 '^ACCEPT 1 deployment' good.binpb limit.textproto
[[ "$(tail -n 1 out)" == ACCEPT* ]] || { echo "the last line is not the decision"; failures=$((failures + 1)); }
expect 0 '"decision": "ACCEPT"' good.binpb limit.textproto --format=json
expect 0 '<testsuites ' good.binpb limit.textproto --format=junit
expect 0 '^## ACCEPT' good.binpb limit.textproto --format=markdown
expect 0 '^ACCEPT' good.binpb limit.textproto --output=report.txt
grep -q '^ACCEPT' report.txt || failures=$((failures + 1))

# A byte too much gives deployment, benchmark, metric, value, limit, excess and
# command.
rule tight 'metric: PEAK_LIVE_USABLE_BYTES max_bytes: 999'
expect 1 '^REJECT //a:b BM_X: peak live is 1000 B, limit max 999 B, 1 B over \(tight.textproto:4\)' good.binpb tight.textproto
expect 1 'bazel run //x:up -- --allow_increase --reason="..." --only=//a:b --benchmark=BM_X' good.binpb tight.textproto --update_target=//x:up
# The explanation says where the bytes are held, whether it is a leak, and what
# grew since earlier profiles.
profile held 'label: "//a:b" benchmarks { name: "BM_X"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1000 }
  metrics { kind: NET_GROWTH_USABLE_BYTES determinism: EXACT value: 64 }
  phases { name: "read" parent: -1 metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 900 } }
  peak_attribution { site: "Table::Read" live_bytes: 900 } }'
expect 1 'highest in phase read, 900 B; held at the peak: 900 B by Table::Read' held.binpb tight.textproto
for format in json junit markdown sarif github gitlab; do
  expect 1 'held at the peak: 900 B by Table' held.binpb tight.textproto --format=$format
done
FOOTPRINT_GATE_TARGETS=compare=//x:load.compare expect 1 'bazel run //x:load.compare -- --base=' held.binpb tight.textproto
FOOTPRINT_GATE_TARGETS=compare=//x:load.compare expect 0 '^ACCEPT' held.binpb limit.textproto
grep -q 'load.compare' err && { echo "a next command though all is well"; failures=$((failures + 1)); }
rule leaky 'metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 }
threshold { selector { label: "//a:b" } metric: NET_GROWTH_USABLE_BYTES max_bytes: 0'
expect 1 'a leak .NET_GROWTH.: 64 B more are live at its end' held.binpb leaky.textproto
mkdir before && sed 's/900/836/' held.profile.textproto >before.profile.textproto &&
  sed -i 's/value: 1000/value: 936/' before.profile.textproto && "$ENCODE" before.profile.textproto before/x.binpb
expect 1 'since before: phase read [+]64 B, [+]64 B held by Table::Read' held.binpb tight.textproto --before=before
expect 2 'nowhere' held.binpb tight.textproto --before=nowhere
rule exact_more 'metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 min_bytes: 1001'
expect 2 'the minimum, 1001, is above the maximum' good.binpb exact_more.textproto

# Profiles that cannot be judged.
expect 2 'none.binpb: cannot be opened' none.binpb limit.textproto
: >empty.binpb
expect 3 'empty.binpb: is empty' empty.binpb limit.textproto
head -c 20 good.binpb >cut.binpb
expect 3 'cut short' cut.binpb limit.textproto
echo 'not a profile' >foreign.binpb
expect 2 'is not a memory profile' foreign.binpb limit.textproto
printf '\x08\x02\x78\x01' >newer.binpb
expect 2 'schema version 2' newer.binpb limit.textproto
# The checksum is that of another program.
python3 - <<'END'
import zlib
whole = open("good.binpb", "rb").read()
message = whole[:-6]
assert whole == message + b"\x85\x01" + zlib.crc32(message).to_bytes(4, "little")
unknown = message + b"\xa0\x06\x01"
end = b"\x85\x01" + zlib.crc32(unknown).to_bytes(4, "little")
open("unknown.binpb", "wb").write(unknown + end)
open("old.binpb", "wb").write(message)
peak = bytearray(whole)
peak[whole.index(b"\xe8\x07")] ^= 8  # 1,000 bytes become 992
open("flipped.binpb", "wb").write(peak)
END
expect 2 'unknown field 100' unknown.binpb limit.textproto
expect 2 'has no checksum.*measure again' old.binpb limit.textproto
expect 3 'is damaged: its checksum' flipped.binpb limit.textproto
profile other 'label: "//a:c" benchmarks { name: "BM_X"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1 } }'
expect 2 'is a profile of "//a:c", so //a:b is not judged' other.binpb limit.textproto
for processes in 0 1; do
  profile once 'label: "//a:b" benchmarks { name: "BM_X"
    metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1 } }'
  expect 4 "measured in $processes processes, so nothing shows" once.binpb limit.textproto
done
unset processes
profile bounded 'label: "//a:b" environment { compiler: "gcc" } benchmarks { name: "BM_X"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: BOUNDED value: 1000 } }'
expect 0 'max 1,000 B of BOUNDED' bounded.binpb limit.textproto --all
thresholds exact 'environment { compiler: "gcc" } threshold { selector { label: "//a:b" }
  metric: PEAK_LIVE_USABLE_BYTES exact_bytes: 1000 }'
expect 0 '^ACCEPT' good.binpb exact.textproto
expect 2 'does not judge peak_live_usable_bytes of //a:b BM_X: it is BOUNDED' bounded.binpb exact.textproto

# Producers that failed.
failure() { profile "$1" "label: \"//a:b\" failure { $2 }"; }
failure crashed 'kind: SIGNALLED signal_number: 11 standard_error_tail: "Segmentation"'
expect 3 'killed by signal 11' crashed.binpb limit.textproto
expect 3 ' Segmentation' crashed.binpb limit.textproto
failure killed 'kind: SIGNALLED signal_number: 9'
expect 3 'out of memory' killed.binpb limit.textproto
failure hung 'kind: TIMED_OUT time_limit_seconds: 60'
expect 3 'stopped after 60 s' hung.binpb limit.textproto
failure silent 'kind: WROTE_NO_PROFILE'
expect 3 'wrote no profile' silent.binpb limit.textproto
profile forked 'label: "//a:b" benchmarks { name: "BM_X" forked_process_count: 1
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1000 } }'
expect 4 'started 1 child process' forked.binpb limit.textproto
profile shaky 'label: "//a:b" benchmarks { name: "BM_X" unrepeated: PEAK_LIVE_USABLE_BYTES }'
expect 4 'was not the same in every process' shaky.binpb limit.textproto

# Threshold files.
expect 2 'none.textproto: cannot be opened' good.binpb none.textproto
: >nothing.textproto
expect 2 'nothing.textproto: is empty' good.binpb nothing.textproto
printf '# proto-file: gates/judge/gate.proto\n# proto-message: footprint.ThresholdFile\nschema_version: 2\nnew: 1\n' >future.textproto
expect 2 'future.textproto: has schema version 2' good.binpb future.textproto
printf 'schema_version: 1\n' >bare.textproto
expect 2 'bare.textproto: holds no threshold' good.binpb bare.textproto
printf '# proto-message: footprint.Fleet\n' >fleet.textproto
expect 2 'fleet.textproto:1:1: is marked as another file' good.binpb fleet.textproto
# The file has no first lines, and a limit as people write it.
echo 'threshold { selector { label: "//a:b" } metric: PEAK_LIVE_USABLE_BYTES max: "1.5 GiB" }' >units.textproto
expect 0 '^ACCEPT' good.binpb units.textproto
sed 's/1.5 GiB/1.5 Gib/' units.textproto >none.textproto
expect 2 'none.textproto:1:.*"Gib" is not B, KiB' good.binpb none.textproto
sed 's/1.5 GiB/+ 10 %/' units.textproto >awaits.textproto
expect 2 'max is "[+] 10 %" above a figure that is missing' good.binpb awaits.textproto
bad() {
  rule bad "$2"
  expect 2 "bad.textproto:4:[0-9]+: .*$1" good.binpb bad.textproto
}
bad 'no field named "max_byte"' 'metric: PEAK_LIVE_USABLE_BYTES max_byte: 1'
bad 'Unknown enumeration value' 'metric: PEAK max_bytes: 1'
bad 'cannot be below zero' 'metric: PEAK_LIVE_USABLE_BYTES max_bytes: -1'
bad 'out of range' 'metric: PEAK_LIVE_USABLE_BYTES max_bytes: 99999999999999999999'
bad 'Expected integer' 'metric: PEAK_LIVE_USABLE_BYTES max_bytes: nan'
bad 'counted in calls' 'metric: ALLOCATION_COUNT max_bytes: 1'
bad 'names no known metric' 'max_bytes: 1'
bad 'has no rule' 'metric: PEAK_LIVE_USABLE_BYTES'
bad 'finite number' 'metric: PEAK_LIVE_USABLE_BYTES max_ratio { ratio: inf baseline { label: "//a:b" benchmark: "BM_X" } }'
bad 'without an environment' 'metric: PEAK_LIVE_USABLE_BYTES exact_bytes: 1000'
sed 's/$/\r/; 1s/^/\xef\xbb\xbf/' limit.textproto >windows.textproto
expect 0 '^ACCEPT' good.binpb windows.textproto
tr '\n' '\r' <limit.textproto >old_mac.textproto
expect 2 'save it with LF or CRLF' good.binpb old_mac.textproto

# Two rules for one thing, no rule, and rules for what does not exist.
{ cat limit.textproto; tail -n 1 tight.textproto; } >twice.textproto
expect 2 'twice.textproto:5:1: is a second maximum' good.binpb twice.textproto
{ cat limit.textproto; echo 'threshold { selector { label: "*" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 }'; } >exception.textproto
expect 0 '^ACCEPT' good.binpb exception.textproto
{ cat limit.textproto; echo 'threshold { selector { label: "*" benchmark: "BM_X" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 2000 }'; } >overlap.textproto
expect 2 'overlap.textproto:5: is a second rule .* the other is at overlap.textproto:4' good.binpb overlap.textproto
thresholds renamed 'threshold { selector { label: "//a:b" benchmark: "BM_Y" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 }'
expect 2 'renamed.textproto:4: matches nothing: .*did you mean "BM_X"' good.binpb renamed.textproto
expect 2 'no threshold judges benchmark "BM_X"' good.binpb renamed.textproto
thresholds gone 'threshold { selector { label: "//a:c" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 }'
expect 2 'no profile of this gate has the label //a:c [(]did you mean "//a:b"[?][)]' good.binpb gone.textproto
expect 2 'no profile of this gate has the label //a:c [(]did you mean "//a:b"[?][)]' good.binpb gone.textproto --complete
# A strict rule with a mistyped label, next to a rule that holds, is reported.
{ cat limit.textproto; echo 'threshold { selector { label: "//a:bb" benchmark: "BM_X" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 }'; } >slip.textproto
expect 2 'slip.textproto:5: no profile of this gate has the label //a:bb [(]did you mean "//a:b"[?][)]' good.binpb slip.textproto
sed '3a shared: true' slip.textproto >shared.textproto
expect 0 '^ACCEPT' good.binpb shared.textproto
expect 2 'shared.textproto:6: no profile of this gate has the label' good.binpb shared.textproto --complete
# One of two benchmarks lost what a rule with a star judges.
profile lost 'label: "//a:b"
  benchmarks { name: "BM_X" metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1000 }
    phases { name: "loop/read" parent: -1 metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 5 } } }
  benchmarks { name: "BM_Y" metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1000 }
    phases { name: "loop/raed" parent: -1 metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 999999 } } }'
{ cat limit.textproto; echo 'threshold { selector { label: "//a:b" benchmark: "BM_*" phase: "loop/read" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 9 }'; } >phase.textproto
expect 2 'phase.textproto:5: does not judge //a:b BM_Y, .*did you mean "loop/raed"' lost.binpb phase.textproto
profile zero 'label: "//a:b" benchmarks { name: "BM_X"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 0 } }'
rule ratio 'metric: PEAK_LIVE_USABLE_BYTES max_ratio { ratio: 1 baseline { label: "//a:b" benchmark: "BM_X" } }'
expect 2 'is 0, and a ratio needs one above zero' zero.binpb ratio.textproto

# Another environment.
thresholds elsewhere 'environment { compiler: "clang" } threshold { selector { label: "//a:b" } metric: PEAK_LIVE_USABLE_BYTES exact_bytes: 1 }'
expect 5 'compiler is "gcc", not "clang" in elsewhere.textproto' good.binpb elsewhere.textproto
expect 5 'bazel run //gates:update -- --environment=elsewhere.gcc.textproto --only=//a:b' good.binpb elsewhere.textproto

# A limit that was raised by hand.
rule raised 'metric: PEAK_LIVE_USABLE_BYTES max_bytes: 2000
  history { date: "2026-11-21" old_value: 500 new_value: 1000 reason: "a cache" }'
expect 2 'raised.textproto:4:1: has the value 2000, and its history ends with 1000: it was changed by hand' good.binpb raised.textproto
sed '3a recorded: true' limit.textproto >unrecorded.textproto
expect 2 'unrecorded.textproto:5:1: has no history of its value' good.binpb unrecorded.textproto

# Flags and outputs.
expect 2 'there is no flag --fromat [(]did you mean "format"[?][)]' good.binpb limit.textproto --fromat=json
expect 2 'use text, json, .*openmetrics, or html' good.binpb limit.textproto --format=yaml
expect 2 '--write=sarif is not FORMAT:FILE' good.binpb limit.textproto --write=sarif
expect 2 'two formats are to be written into x' good.binpb limit.textproto --write=json:x --write=text:x
expect 2 'cannot be created' good.binpb limit.textproto --write=json:/nowhere/x
# Several formats at once, each accepted by a strict reader.
expect 1 '^REJECT' good.binpb tight.textproto --write=html:page.html --write=sarif:x.sarif --write=gitlab:x.json
/usr/bin/python3 - <<'END' || failures=$((failures + 1))
import html5lib, json
html5lib.HTMLParser(strict=True).parse(open("page.html", encoding="utf-8"))
assert json.load(open("x.sarif"))["runs"][0]["results"][0]["level"] == "error"
assert json.load(open("x.json"))[0]["severity"] == "blocker"
END
expect 1 '^::error title=REJECT,file=tight.textproto,line=4::' good.binpb tight.textproto --format=github
expect 0 'Exit status' good.binpb limit.textproto --help
expect 2 'cannot be created' good.binpb limit.textproto --output=/nowhere/x
"$CHECK" >out 2>err
(($? == 2)) || failures=$((failures + 1))
printf 'profile\tgood.binpb\t//a:b\nthresholds\tlimit.textproto\n' >manifest
"$CHECK" --manifest=manifest >/dev/full 2>err
(($? == 2)) && grep -q 'cannot be written' err || { echo "a full disk went unnoticed"; failures=$((failures + 1)); }

# Output: a line for each deployment, optionally every rule, and only some
# deployments.
expect 0 '^//a:b +1  none of 1000 B  limit:4$' good.binpb limit.textproto
expect 0 'BM_X +peak live  1,000 B  max 1,000 B  none  accept' good.binpb limit.textproto --all
grep -q '^deployment' out && { echo "--all has the short table, too"; failures=$((failures + 1)); }
expect 0 '"benchmark": "BM_X",' good.binpb limit.textproto --all --format=json
expect 0 '"judgements": \[\],' good.binpb limit.textproto --format=json
expect 0 '^ACCEPT 1 deployment' good.binpb limit.textproto --only='//a:*'
expect 2 'no deployment of this gate is named --only=//a:bb [(]did you mean "//a:b"[?][)]' good.binpb limit.textproto --only=//a:bb
expect 2 '--only needs a value' good.binpb limit.textproto --only
profile worse 'label: "//c:d" environment { compiler: "gcc" } benchmarks { name: "BM_X"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 2000 } }'
thresholds both 'threshold { selector { label: "*" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 }'
printf 'profile\tgood.binpb\t//a:b\nprofile\tworse.binpb\t//c:d\nthresholds\tboth.textproto\n' >two
for case in '0 //a:b' '1 //c:d' '1 *'; do
  "$CHECK" --manifest=two --only="${case#* }" >out 2>&1
  (($? == ${case%% *})) || { echo "--only=$case"; cat out; failures=$((failures + 1)); }
done
# No line is wider than a terminal.
long=$(printf 'a_part_of_a_name_%.0s' {1..12})
profile wide "label: \"//a:b\" benchmarks { name: \"BM_$long/rows:1000\"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1000 } }"
for flag in --all --only='*'; do
  expect 1 'rows:1000' wide.binpb tight.textproto "$flag"
  awk 'length > 80' out | grep . && { echo "a line is too wide: $flag"; failures=$((failures + 1)); }
done
grep -q $'\x1b' out && { echo "colour in a file"; failures=$((failures + 1)); }
# There is colour on a terminal, unless it is not wanted.
printf 'profile\tgood.binpb\t//a:b\nthresholds\ttight.textproto\n' >manifest
TERM=xterm script -qec "'$CHECK' --manifest=manifest" /dev/null >out </dev/null
grep -q $'\x1b\\[31mREJECT' out || { echo "no colour on a terminal"; failures=$((failures + 1)); }
NO_COLOR=1 script -qec "'$CHECK' --manifest=manifest" /dev/null >out </dev/null
grep -q $'\x1b' out && { echo "colour in spite of NO_COLOR"; failures=$((failures + 1)); }

# Names with every special character reach every format.
profile odd 'label: "//a:b" benchmarks { name: "BM<&\"::|,>"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1000 } }'
expect 1 'BM<&"::\|,>: peak live' odd.binpb tight.textproto
expect 1 'BM&lt;&amp;&quot;::\|,&gt;' odd.binpb tight.textproto --format=junit
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("out")' || failures=$((failures + 1))
expect 1 '"benchmark": "BM<&\\"::\|,>"' odd.binpb tight.textproto --format=json
expect 1 'BM&lt;&amp;"::\\\|,&gt;' odd.binpb tight.textproto --format=markdown

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
