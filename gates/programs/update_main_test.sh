#!/usr/bin/env bash
# Tests the changes that update_main makes to a workspace, and the requests that
# it refuses.
set -uo pipefail
readonly UPDATE="$PWD/gates/programs/update_main" CHECK="$PWD/gates/programs/check_main"
readonly ENCODE="$PWD/gates/judge/encode_profile_main"
readonly WORKSPACE="$TEST_TMPDIR/workspace"
mkdir "$WORKSPACE" && cd "$WORKSPACE" || exit 2
export BUILD_WORKSPACE_DIRECTORY=$WORKSPACE
unset XML_OUTPUT_FILE TEST_UNDECLARED_OUTPUTS_DIR
failures=0
fail() {
  echo "FAILED: $*"
  cat "$TEST_TMPDIR/out"
  failures=$((failures + 1))
}
# command_of accept|--FLAG: prints the flags of the command in the verdict in
# "out" that accepts, or that has this flag.
command_of() {
  local before='accept it with: ' first=
  [[ $1 == accept ]] || { before='' && first=$1; }
  sed -z 's/ \\\n */ /g; s/\\\n//g' "$TEST_TMPDIR/out" |
    sed -n "s/^ *${before}bazel run [^ ]* -- \\($first.*\\)/\\1/p" | head -n 1
}
# expect STATUS PATTERN [FLAG ...]
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$UPDATE" --manifest=manifest "$@" >"$TEST_TMPDIR/out" 2>&1
  status=$?
  ((status == wanted)) || fail "status $status, not $wanted: $*"
  grep -qE -- "$pattern" "$TEST_TMPDIR/out" || fail "no line like: $pattern"
}
accepted() { "$CHECK" --manifest=manifest >"$TEST_TMPDIR/out" 2>&1 || fail "not accepted"; }
unchanged() { cmp -s limits.textproto before || fail "the file changed"; }

cat >p.profile.textproto <<'END'
label: "//a:b" environment { compiler: "gcc" } process_count: 3
benchmarks { name: "BM_X" metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 1000 } }
END
"$ENCODE" p.profile.textproto p.binpb || exit 2
printf 'profile\tp.binpb\t//a:b\nthresholds\tlimits.textproto\n' >manifest
limits() {
  cat >limits.textproto <<END
# proto-file: gates/judge/gate.proto
# proto-message: footprint.ThresholdFile
schema_version: 1
${headroom=headroom { exact: true \}}
threshold {  # of loading
  selector { label: "//a:b" }
  metric: PEAK_LIVE_USABLE_BYTES
  max_bytes:   $1   # bytes
}
END
  cp limits.textproto before
}

limits 2000
expect 0 '^[+]  max_bytes:   1000   # bytes' --dry_run
unchanged
expect 0 'limit 1.95 KiB \(2,000 B\) -> 1000 B'
diff <(sed 's/  1000 /  2000 /; /history/d' limits.textproto) before || fail "more changed than the number"
grep -qE '^  history [{] date: "20[0-9-]+" old_value: 2000 new_value: 1000 reason: "measured less" [}]$' limits.textproto ||
  fail "no history of a lower limit"
accepted
expect 0 'nothing to change'

limits 999
expect 1 'is an increase; allow it with --allow_increase'
unchanged
expect 2 'needs --reason' --allow_increase
unchanged
expect 2 'needs --reason' --allow_increase --reason=
expect 2 'not a blank one' --allow_increase --reason=' '
expect 2 'not a blank one' --reason=$'\t\n'
unchanged
expect 0 '999 B -> 1000 B' --allow_increase '--reason=a "cache"'
grep -qE '^  history \{ date: "20[0-9]{2}-[0-9]{2}-[0-9]{2}" old_value: 999 new_value: 1000 reason: "a \\"cache\\"" \}$' \
  limits.textproto || fail "no history"
accepted

# Headroom is kept unless the file or the command says otherwise.
headroom='' limits 5000
expect 0 'nothing to change'
unchanged
expect 2 'there is no headroom "much"; give exact' --headroom=much
expect 0 'limit 4.88 KiB \(5,000 B\) -> 1.07 KiB \(1,100 B\)' --headroom=10%
accepted
headroom='headroom { bytes: 24 }' limits 5000
expect 0 '1.00 KiB \(1,024 B\)'
expect 0 'nothing to change'

# A limit that was raised by hand is refused before anything is written.
limits 999
expect 0 '999 B -> 1000 B' --allow_increase --reason='a cache'
sed -i 's/  1000 /  3000 /' limits.textproto && cp limits.textproto before
expect 2 'has the value 3000, and its history ends with 1000: it was changed by hand'
unchanged

expect 2 'needs --reason' --record
expect 0 '^[+]  history .* old_value: 1000 new_value: 3000 reason: "two caches"' --record --reason='two caches' --dry_run
unchanged
expect 0 'recorded what was changed by hand' --record --reason='two caches'
grep -qE '^  history .* old_value: 1000 new_value: 3000 reason: "two caches"' limits.textproto ||
  fail "not recorded"
accepted

# A date in the future, which check accepts, does not block an update.
limits 2000
sed -i '/max_bytes/a\  history { date: "2099-01-01" new_value: 2000 reason: "a slip" }' limits.textproto
accepted
expect 0 '1000 B.*dated 2099-01-01, as the entry above it'
grep -q 'date: "2099-01-01" old_value: 2000 new_value: 1000' limits.textproto || fail "not dated as the last entry"
accepted
sed -i 's/  1000 /  3000 /' limits.textproto
expect 0 'changed by hand, dated 2099-01-01, as the entry above it' --record --reason='two caches'
accepted

# It records only the requested changes, and none of another owner.
sed 's|//a:b|//c:d|; s/BM_X/BM_Z/' p.profile.textproto >cd.profile.textproto
"$ENCODE" cd.profile.textproto cd.binpb || exit 2
printf 'profile\tp.binpb\t//a:b\nprofile\tcd.binpb\t//c:d\nthresholds\ttwo.textproto\n' >two
two() {
  {
    head -n 3 limits.textproto
    for label in //a:b //c:d "$@"; do
      echo "threshold { selector { label: \"$label\" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 3000"
      echo '  history { date: "2026-11-21" new_value: 1000 reason: "first" }'
      echo '}'
    done
  } >two.textproto
  cp two.textproto two.before
}
expect_two() {
  local wanted=$1 pattern=$2 count=$3 status
  shift 3
  "$UPDATE" --manifest=two --record --reason=why "$@" >"$TEST_TMPDIR/out" 2>&1
  status=$?
  ((status == wanted)) || fail "status $status, not $wanted: --record $*"
  grep -qE -- "$pattern" "$TEST_TMPDIR/out" || fail "no line like: $pattern"
  (($(grep -c 'new_value: 3000 reason: "why"' two.textproto) == count)) || fail "not $count recorded: $*"
  ((count > 0)) || cmp -s two.textproto two.before || fail "the file changed: $*"
}
two
expect_two 1 'two.textproto:7: //c:d [*] was changed by hand too.*leave it out' 1 --only=//a:b
sed -n 4,7p two.textproto | grep 'old_value: 1000' >/dev/null || fail "the other one was recorded"
expect_two 0 'recorded what was changed by hand' 2 --benchmark=BM_Z
two
expect_two 2 'nothing that was measured is named --only=//a:x' 0 --only=//a:x
expect_two 2 'nothing that was measured is named .*--benchmark=BM_None' 0 --benchmark=BM_None
for flag in --add --file=two.textproto --environment=n.textproto --headroom=10% --allow_increase; do
  expect_two 2 "--record changes no number, so ${flag%=*} has no effect" 0 "$flag"
done
two '//*'
expect_two 1 "//[*] [*] was changed by hand too.*names //c:d BM_Z too.*--only='//[*]'" 1 --only=//a:b
expect_two 0 'recorded what was changed by hand' 3

# A profile of one process, or one that forked, lowers no limit.
for doubt in 'process_count: 1' 'process_count: 3 forked'; do
  sed "s/process_count: 3/${doubt% forked}/" p.profile.textproto >doubtful.profile.textproto
  [[ $doubt == *forked ]] && sed -i 's/name: "BM_X"/& forked_process_count: 1/' doubtful.profile.textproto
  "$ENCODE" doubtful.profile.textproto doubtful.binpb || exit 2
  sed 's/p.binpb/doubtful.binpb/' manifest >doubtful
  limits 2000
  "$UPDATE" --manifest=doubtful >"$TEST_TMPDIR/out" 2>&1
  (($? == 1)) && grep -q 'does not count, since' "$TEST_TMPDIR/out" || fail "$doubt lowered a limit"
  unchanged
done

# The command that a verdict names for a name with a newline works.
sed 's/BM_X/BM_\\n\\t\\"Q\\"/' p.profile.textproto >odd.profile.textproto
"$ENCODE" odd.profile.textproto odd.binpb || exit 2
printf 'profile\todd.binpb\t//a:b\nthresholds\tlimits.textproto\n' >odd
limits 999
"$CHECK" --manifest=odd >"$TEST_TMPDIR/out"
command=$(command_of accept)
eval "\"\$UPDATE\" --manifest=odd ${command/.../a cache}" >"$TEST_TMPDIR/out" 2>&1 || fail "the command does not work: $command"
grep -q '1000' limits.textproto || fail "the command changed nothing: $command"
limits 999
sed -i 's|label: "//a:b"|& benchmark: "BM_Old"|' limits.textproto
"$CHECK" --manifest=odd >"$TEST_TMPDIR/out"
command=$(command_of --add)
eval "\"\$UPDATE\" --manifest=odd $command" >"$TEST_TMPDIR/out" 2>&1 || fail "the command does not work: $command"
grep -q 'benchmark: "BM_\\n\\t\\"Q\\""' limits.textproto || fail "nothing was added: $command"

# So do the commands for a name with a star and a backslash, and they match no
# other name.
{ sed 's/BM_X/BM_F<int*>\\\\/' p.profile.textproto; sed -n 's/BM_X/BM_F<int, char>\\\\/p' p.profile.textproto; } >star.profile.textproto
"$ENCODE" star.profile.textproto star.binpb || exit 2
printf 'profile\tstar.binpb\t//a:b\nthresholds\tlimits.textproto\n' >star
limits 2000
sed -i 's|label: "//a:b"|& benchmark: "BM_F<int, char>*"|' limits.textproto
"$CHECK" --manifest=star >"$TEST_TMPDIR/out"
command=$(command_of --add)
eval "\"\$UPDATE\" --manifest=star $command" >"$TEST_TMPDIR/out" 2>&1 || fail "the command does not work: $command"
"$CHECK" --manifest=star >"$TEST_TMPDIR/out" || fail "what was added is refused: $command"
sed -i 's/max_bytes: 1000/max_bytes: 999/; s/new_value: 1000$/new_value: 999/' limits.textproto
"$CHECK" --manifest=star >"$TEST_TMPDIR/out"
command=$(command_of accept)
eval "\"\$UPDATE\" --manifest=star ${command/.../a cache}" >"$TEST_TMPDIR/out" 2>&1 || fail "the command does not work: $command"
"$CHECK" --manifest=star >"$TEST_TMPDIR/out" || fail "not accepted after: $command"
expect 2 'have a backslash only before a star' --only='//a\b'

# A temporary raise records its last day.
limits 999
expect 0 'limit' --allow_increase --reason='a release' --expires=2099-12-31
grep -q 'reason: "a release" expires: "2099-12-31" }' limits.textproto || { cat limits.textproto; fail "no day in the history"; }
accepted
limits 999
for day in '' never 2000-01-01 2099-13-01; do
  expect 2 '--expires=DAY says until when' --allow_increase --reason=x --expires=$day
  unchanged
done
expect 2 '--expires=DAY says until when' --expires=2099-12-31
unchanged

# Mistakes change nothing.
limits 2000
expect 2 'nothing that was measured is named --only=//c:d' --only=//c:d
expect 2 'there is no flag --ad [(]did you mean "add"[?][)]' --ad
expect 2 '^update: --file says where --add puts thresholds' --file=limits.textproto
unchanged
(unset BUILD_WORKSPACE_DIRECTORY && "$UPDATE" --manifest=manifest --update_target=//x:up) >"$TEST_TMPDIR/out" 2>&1
(($? == 2)) && grep -q 'bazel run //x:up' "$TEST_TMPDIR/out" || fail "ran outside bazel run"
unchanged
echo 'nonsense' >>limits.textproto && cp limits.textproto before
expect 2 'limits.textproto:[0-9]+:[0-9]+: '
unchanged

# A read-only file, also for root, and a full disk.
limits 2000
chmod a-w limits.textproto
expect 2 'limits.textproto: .*(read-only|cannot be written).*check the permissions'
unchanged
chmod u+w limits.textproto
{ head -c 20000 /dev/zero | tr '\0' '#'; echo; } >>limits.textproto && cp limits.textproto before
# ThreadSanitizer writes its own file to TMPDIR at the start, if it can.
(ulimit -f 1 && trap '' XFSZ && TMPDIR=/nonexistent "$UPDATE" --manifest=manifest) >"$TEST_TMPDIR/out" 2>&1
(($? == 2)) && grep -q 'raise the limit of file sizes' "$TEST_TMPDIR/out" || fail "a full disk went unnoticed"
unchanged
compgen -G '.*.footprint-partial' >/dev/null && fail "a partial file was left"

# Of two updates at once the second waits for the lock, and each file is
# complete.
limits 2000
(flock 9 && sleep 1) 9<"$WORKSPACE" &
sleep 0.3
expect 0 'waiting for another update'
wait
accepted
limits 2000
for _ in 1 2 3 4 5; do "$UPDATE" --manifest=manifest >/dev/null 2>&1 & done
wait
accepted
diff <(sed 's/  1000 /  2000 /; /history/d' limits.textproto) before || fail "updates at once spoilt the file"

# If the file is a symbolic link, the link stays.
limits 2000
mv limits.textproto real.textproto && ln -s real.textproto limits.textproto
expect 0 '1000 B'
[[ -L limits.textproto ]] && grep -q ' 1000 ' real.textproto || fail "the link was replaced"
rm limits.textproto

# New benchmarks.
limits 2000
sed -i 's|label: "//a:b"|& benchmark: "BM_Old"|' limits.textproto
expect 0 'added //a:b BM_X: peak live$' --add
grep -q 'max_bytes: 1000' limits.textproto || fail "nothing was added"
grep -q 'reason: "first measured"' limits.textproto || fail "an added threshold has no history"
expect 0 'nothing to change' --add

# A new environment.
limits 2000
sed -i '3a environment { compiler: "clang" }' limits.textproto
sed -i 's/max_bytes/exact_bytes/' limits.textproto
cp limits.textproto before
expect 0 'new.textproto: name it in the gate' --environment=new.textproto --only=//a:b
unchanged
grep -q 'exact_bytes: 1000' new.textproto || fail "no values of this environment"
grep -q 'recorded: true' new.textproto || fail "a new file need not keep its history"
printf 'thresholds\tnew.textproto\n' >>manifest
accepted
expect 2 'has thresholds of its own environment' --environment=other.textproto
[[ -e other.textproto ]] && fail "a file for nothing"
# The verdict's command adds a benchmark that only the other environment judges.
sed -i 's|label: "//a:b"|& benchmark: "BM_X"|' new.textproto
{ cat p.profile.textproto; sed -n 's/BM_X/BM_Y/p' p.profile.textproto; } >two.profile.textproto
"$ENCODE" two.profile.textproto two.binpb || exit 2
sed -i 's/p.binpb/two.binpb/' manifest
"$CHECK" --manifest=manifest >"$TEST_TMPDIR/out" 2>&1
(($? == 5)) || fail "a benchmark that is judged elsewhere only was accepted"
command=$(command_of --environment)
eval "\"\$UPDATE\" --manifest=manifest $command" >"$TEST_TMPDIR/out" 2>&1 || fail "the command does not work: $command"
grep -q 'benchmark: "BM_Y"' new.textproto || fail "nothing was added"
accepted

# Limits as people write them, in a file without first lines.
printf 'profile\tp.binpb\t//a:b\nthresholds\tlimits.textproto\n' >manifest
echo 'threshold { selector { label: "//a:b" } metric: PEAK_LIVE_USABLE_BYTES max: "+ 10 %" }  # room' >limits.textproto
"$CHECK" --manifest=manifest >"$TEST_TMPDIR/out" 2>&1
(($? == 2)) || fail "a limit without its figure judges"
expect 0 'limit 1.07 KiB \(1,100 B\)$'
grep -qE '^threshold .* max: "1 kB [+] 10 %" history \{ .* new_value: 1100 reason: "first measured" \} \}  # room$' limits.textproto ||
  fail "not as it was written: $(cat limits.textproto)"
accepted
expect 0 'nothing to change'
sed -i 's/1 kB/0.50 kB/; s/1100/550/' limits.textproto
expect 1 'is an increase'
expect 0 '550 B -> 1.07 KiB' --allow_increase --reason='a cache'
grep -q 'max: "1.00 kB + 10 %"' limits.textproto || fail "another form: $(cat limits.textproto)"
accepted

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
