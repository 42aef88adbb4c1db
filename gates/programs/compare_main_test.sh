#!/usr/bin/env bash
# Compares a change with its base: two folders of profiles, and a revision that
# a stand-in for Bazel "measures" in a real git worktree.
set -uo pipefail
readonly COMPARE="$PWD/gates/programs/compare_main" DIFF="$PWD/gates/programs/diff_main"
readonly ENCODE="$PWD/gates/judge/encode_profile_main" TREE=$PWD
cd "$TEST_TMPDIR" || exit 2
unset BUILD_WORKING_DIRECTORY BUILD_WORKSPACE_DIRECTORY
export HOME=$TEST_TMPDIR/home XDG_CACHE_HOME=$TEST_TMPDIR/cache
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS PATTERN ARGUMENT ...: checks the exit status, and that a line of
# the output matches PATTERN.
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$COMPARE" "$@" >out 2>err
  status=$?
  if ((status != wanted)) || ! cat out err | grep -E -- "$pattern" >/dev/null; then
    fail "$*: status $status, not $wanted, or no line like: $pattern"
    cat out err
  fi
}
# profile FILE LABEL PEAK
profile() {
  cat >text.profile.textproto <<END
process_count: 3 label: "$2" environment { compiler: "gcc" }
benchmarks { name: "BM_Load"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: $3 }
  metrics { kind: ALLOCATION_COUNT determinism: EXACT value: $3 }
  phases { name: "read" parent: -1
    metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: $3 } }
  peak_attribution { site: "Table::Read" live_bytes: $3 } }
END
  mkdir -p "$(dirname "$1")"
  "$ENCODE" text.profile.textproto "$1" || exit 2
}
profile base/ab.binpb //a:b 1000
profile base/cd.binpb //c:d 500
profile change/ab.binpb //a:b 1001
profile change/cd.binpb //c:d 500

# Two folders.
expect 0 'Exit status' --help
expect 0 '^ACCEPT nothing differs in 2 deployments$' --base=base --change=base
expect 1 '^REJECT //a:b BM_Load: peak live [+]1 B' --base=base --change=change
grep -q '^    phase read +1 B$' out || fail "no phase"
grep -q '^    +1 B held by Table::Read$' out || fail "no line of code"
grep -q '^    1 call more$' out || fail "no calls"
expect 0 '^ACCEPT 1 of 2' --base=base --change=change --limit='0.1 %'
expect 1 '^REJECT 1 of 2' --base=base --change=change --limit='1 kB' --limit='//a:*=0 B'
expect 0 '^ACCEPT nothing differs in 1 deployment$' --base=base --change=change --only=//c:d
expect 1 '^[|] REJECT [|] //a:b' --base=base --change=change --format=markdown
grep -q '//c:d' out && fail "tells of what does not differ"
expect 1 '"value": "REJECT"' --base=base --change=change --format=json
python3 -c 'import json; json.load(open("out"))' || fail "no JSON"
expect 1 '"level": "error"' --base=base --change=change --format=sarif
expect 1 'held by Table::Read' --base=base --change=change --format=sarif
expect 1 '^REJECT' --base=base --change=change --write=markdown:comment.md --write=sarif:x.sarif
grep -q 'REJECT' comment.md || fail "no comment"
grep -q '"2.1.0"' x.sarif || fail "no SARIF"

# A label that was renamed.
profile renamed/ab.binpb //a:new 1000
profile renamed/cd.binpb //c:d 500
expect 0 'note       //a:b is gone, and //a:new is new' --base=base --change=renamed
grep -q '^//a:b  (gone)' out || fail "not gone"
grep -q '^//a:new  (new)' out || fail "not new"
expect 0 '^ACCEPT nothing differs in 2' --base=base --change=renamed --renamed=//a:b=//a:new

# Mistakes.
mkdir none
expect 2 'holds no profile' --base=none --change=change
expect 2 'holds no profile' --base=base --change=none
head -c 30 base/ab.binpb >cut.binpb
expect 2 'cut short' --base=base --change=cut.binpb
expect 2 'nowhere: does not exist; to compare with a revision, start this program with bazel run' --base=nowhere --change=change
expect 2 'name the base' --change=change
expect 2 'no --manifest' --base=base
expect 2 '"1 Mb" is not a limit of growth' --base=base --change=change --limit='1 Mb'
expect 2 'must be OLD=NEW' --base=base --change=change --renamed=x
expect 2 'there is no format "yaml"' --base=base --change=change --format=yaml
expect 2 'did you mean "limit"' --base=base --change=change --limt=1

# A revision. The stand-in for Bazel knows the gate only if there is a BUILD
# file, builds nothing if there is a file "broken", and measures what the
# workspace says.
git() { command git -c user.name=x -c user.email=x@example.org -c init.defaultBranch=main "$@"; }
mkdir -p repository/sub && git -C repository init -q || exit 2
cat >bazel <<END
#!/usr/bin/env bash
[[ -e BUILD ]] || { echo "ERROR: no such package 'app'" >&2; exit 7; }
[[ \$2 != //app:other ]] || { echo "ERROR: BUILD:1: syntax error" >&2; exit 7; }
[[ \$1 == run ]] || exit 0
[[ ! -e broken ]] || { echo "ERROR: x.cc does not compile" >&2; exit 1; }
pwd >"$PWD/where"
printf 'profile\t%s\t//a:b\n' "\$PWD/ab.binpb" >"$PWD/base_manifest"
exec "$DIFF" --manifest="$PWD/base_manifest" "\${@:4}"
END
chmod +x bazel
commit() { git -C repository add -A && git -C repository commit -q -m "$1" && git -C repository rev-parse HEAD; }
touch repository/sub/readme
first=$(commit "no gate yet")
touch repository/sub/BUILD && profile repository/sub/ab.binpb //a:b 1000
second=$(commit "a gate")
touch repository/sub/broken
third=$(commit "does not build")
rm repository/sub/broken && profile repository/sub/ab.binpb //a:b 900
fourth=$(commit "smaller")
export BUILD_WORKSPACE_DIRECTORY=$PWD/repository/sub FOOTPRINT_GATE_TARGETS=diff=//app:load.diff
printf 'profile\tchange/ab.binpb\t//a:b\n' >manifest
revision() {
  local wanted=$1 pattern=$2
  shift 2
  expect "$wanted" "$pattern" --manifest=manifest --bazel="$PWD/bazel" "$@"
}
revision 1 '^REJECT //a:b BM_Load: peak live [+]1 B' --base="$second"
[[ $(<where) == "$PWD"/cache/footprint/base-*/sub ]] || fail "measured in $(<where)"
revision 1 'peak live [+]101 B' --base=main
revision 0 '^ACCEPT 1 of 1' --base=main~2 --limit=1B
revision 2 "$first: has no gate //app:load.diff" --base="$first"
revision 2 "$third: does not build" --base="$third"
revision 2 'ERROR: x.cc does not compile' --base="$third"
revision 2 'is neither a folder of profiles nor a revision' --base=no_such_branch
revision 2 'is neither a folder' --base=--help
# The worktree may be missing or dirty.
rm -rf cache && revision 1 '[+]1 B' --base="$second"
touch "$(<where)/broken" && revision 1 '[+]1 B' --base="$second"
revision 1 '[+]101 B' --base="$fourth" --worktree=elsewhere
[[ $(<where) == "$PWD/elsewhere/sub" ]] || fail "--worktree= is not obeyed"
git -C repository status --porcelain | grep . && fail "the repository was changed"
FOOTPRINT_GATE_TARGETS=diff=//app:other revision 2 'Bazel cannot load //app:other' --base="$second"
BUILD_WORKSPACE_DIRECTORY=$PWD/none revision 2 'is in no git repository' --base=main
# A checkout that someone else made stays as it is, and so does what is beside it.
git -C repository worktree add -q --detach "$PWD/mine" main
touch blocker
for checkout in repository mine; do
  echo edit >>"$checkout/sub/readme" && touch "$checkout/sub/untracked"
  content() { git -C "$checkout" log -1 --format=%H && git -C "$checkout" status --porcelain && ls -A . "$checkout" "$checkout/sub" && cat "$checkout/sub/readme"; }
  touch out err
  before=$(content)
  for worktree in "$checkout" "$checkout/" "$checkout/."; do
    revision 2 'is a checkout that this program did not make' --base="$second" --worktree="$PWD/$worktree"
    [[ $(content) == "$before" ]] || fail "$worktree was changed: $before; $(content)"
  done
  git -C "$checkout" checkout -q . && git -C "$checkout" clean -fdq
done
# An interruption is no failure of the revision.
revision 2 'interrupted, so nothing is concluded' --base="$second" --bazel="exit 8;"
revision 2 'interrupted, so nothing is concluded' --base="$second" --bazel='kill -INT $$;'
revision 2 '[-]-worktree= names no folder' --base="$second" --worktree=
revision 2 'blocker/x.lock: .*[-]-worktree=' --base="$second" --worktree=blocker/x
# Names are words to every shell.
hostile=$(printf 'x\xe2\x80\xae')"';touch\${IFS}pwned;#"
git -C repository branch "$hostile" main
revision 1 '[+]101 B' --base="$hostile" --worktree="$hostile"
[[ $(<where) == "$PWD/$hostile/sub" ]] || fail "measured in $(<where)"
find . -name pwned | grep . && fail "a name was run"
# In a git hook.
GIT_DIR=$PWD/none revision 1 '[+]1 B' --base="$second"

# The README's command, with the stand-in and the profiles from above.
bazel() { "$COMPARE" --manifest=manifest --bazel="$PWD/bazel" "${@:4}"; }
bazel run //gates:compare -- --base=main --limit=1% >out 2>err
python3 -B "$TREE/tools/docs/check_outputs.py" --tree="$TREE" gates/README.md \
  --command='bazel run //gates:compare -- --base=main --limit=1%' <out || fail "README: $(cat out err)"

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
