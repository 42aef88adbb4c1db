#!/usr/bin/env bash
# Commits recorded in a folder, and the page over them; a stand-in for Bazel says
# what the gate is made from.
set -uo pipefail
readonly HISTORY="$PWD/gates/programs/history_main" ENCODE="$PWD/gates/judge/encode_profile_main"
cd "$TEST_TMPDIR" || exit 2
unset BUILD_WORKING_DIRECTORY BUILD_WORKSPACE_DIRECTORY
export HOME=$TEST_TMPDIR/home
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS PATTERN ARGUMENT ...: a line of what it says is like PATTERN.
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$HISTORY" "$@" >out 2>err
  status=$?
  if ((status != wanted)) || ! cat out err | grep -E -- "$pattern" >/dev/null; then
    fail "$*: status $status, not $wanted, or no line like: $pattern"
    cat out err
  fi
}
git() { command git -c user.name="$author" -c user.email=x@example.org -c init.defaultBranch=main "$@"; }
author=Ann
mkdir -p repository/app && git -C repository init -q || exit 2
cat >bazel <<'END'
#!/usr/bin/env bash
[[ $1 == help || ! -e broken ]] || { echo "ERROR: no such package" >&2; exit 7; }
case "$1 $2 $3" in
"help query --short") [[ ! -e "${0%/*}/modern" ]] || echo '  --[no]consistent_labels' ;;
# As Bazel 7 writes them. It calls the module "near" by the workspace's own name
# for it without the option, and none of its folders has that name.
"query --output=label --consistent_labels")
  printf '%s\n' @@//app:BUILD @@//:tools/x.sh @@near+//lib:y.cc @@near+//:w.cc @@near++rules+far//lib:z.cc @@bazel_tools//tools:BUILD
  ;;
"query --output=label "*)
  if [[ -e "${0%/*}/modern" ]]; then
    printf '%s\n' //app:BUILD //:tools/x.sh @own_name//lib:y.cc @@near++rules+far//lib:z.cc
  else
    printf '%s\n' //app:BUILD //:tools/x.sh @near//lib:y.cc @near//:w.cc @far//lib:z.cc
  fi
  ;;
"info output_base "*) echo "${0%/*}/output_base" ;;
esac
END
chmod +x bazel
mkdir -p output_base/external far
for name in near+ near~; do ln -s "$PWD/repository/near" "output_base/external/$name"; done
for name in far near++rules+far; do ln -s "$PWD/far" "output_base/external/$name"; done
# A threshold file of the workspace, as a suite's manifest names it.
cat >limits.textproto <<'END'
threshold {
  selector { label: "//app:load" benchmark: "BM_Load" }
  metric: PEAK_LIVE_USABLE_BYTES
  max: "2 kB"
}
END
# measured BYTES: what the gate measured at the commit.
measured() {
  cat >text.profile.textproto <<END
process_count: 3 label: "//app:load" environment { compiler: "gcc" }
benchmarks { name: "BM_Load"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: $1 } }
END
  "$ENCODE" text.profile.textproto profile.binpb || exit 2
  printf 'profile\t%s\t//app:load\nthresholds\t%s\n' "$PWD/profile.binpb" limits.textproto >manifest
}
commit() {
  author=$1
  echo "$2" >>repository/app/BUILD
  git -C repository add -A && git -C repository commit -q -m "$2"
}
expect 0 'Exit status' --help
expect 2 'say record or page' --store=store
expect 2 'name the store' record
expect 2 'is not a store' record --store=ftp://x/y
expect 2 'with bazel run' record --store=store
export BUILD_WORKSPACE_DIRECTORY=$PWD/repository FOOTPRINT_GATE_TARGETS=diff=//app:load.diff
record() {
  local wanted=$1 pattern=$2
  shift 2
  expect "$wanted" "$pattern" record --manifest=manifest --bazel="$PWD/bazel" "$@"
}
measured 1000
record 2 'is not a revision' --store=store
commit Ann "Load a table"
record 0 '^recorded [0-9a-f]{40}: 1 profile$' --store=store
# The files are named from the top of the repository. A local repository is a
# link, which may lead there.
names_files() {
  for file in app/BUILD tools/x.sh near/lib/y.cc near/w.cc; do
    grep -qaF "$file" "$1"/*/* || fail "$1: the record does not name $file"
  done
  grep -qaF lib/z.cc "$1"/*/* && fail "$1: the record names a file of elsewhere"
}
names_files store
touch modern && record 0 '^recorded' --store=modern_store && names_files modern_store
rm modern
record 0 '^recorded' --store=store
commit Bob "Say more" && measured 1000 && record 0 '^recorded' --store=store
commit Cleo "Keep a second table" && measured 1800 && record 0 '^recorded' --store=store
commit Dan "Not recorded"
expect 0 'memory_history.html is written' page --store=store
for text in 'Keep a second table' Cleo '1,000 B' 'now 1.76 KiB (1,800 B)' 'at most 1.95 KiB (2,000 B)' \
  '4 commits' '3 are recorded'; do
  grep -qF -- "$text" memory_history.html || fail "the page has no '$text'"
done
grep -q Bob memory_history.html && fail "blames one who raised nothing"
cp memory_history.html page.html
expect 0 'written' page --store=store --last=1 --output=one.html
grep -qF 'No commit is recorded' one.html || fail "--last=1"
expect 2 'number of commits' page --store=store --last=x
expect 2 'none: is not a revision' page --store=store --revision=none

# A commit whose measurement is damaged, or of another gate.
objects=(store/*/*)
object=${objects[0]}
head -c 30 "$object" >half && mv half "$object"
expect 0 'written' page --store=store
grep -qF 'is damaged' memory_history.html || fail "the page says nothing of the damage"
FOOTPRINT_GATE_TARGETS=diff=//app:other.diff expect 0 'written' page --store=store
grep -qF 'No commit is recorded' memory_history.html || fail "another gate"
# Mistakes.
echo edit >>repository/app/BUILD
record 2 'not committed' --store=store
git -C repository checkout -q .
touch repository/app/new.cc
record 2 'new.cc' --store=store
git -C repository config status.showUntrackedFiles no
record 2 'new.cc' --store=store
rm repository/app/new.cc
touch repository/broken && git -C repository add -A && git -C repository commit -q -m broken
record 2 'query --output=label .*//app:load.diff.* fails, as the lines above say' --store=store
git -C repository rm -q broken && git -C repository commit -q -m mended
record 2 'does not answer' --store=http://127.0.0.1:1/x
expect 2 'does not answer' page --store=http://127.0.0.1:1/x
touch file
record 2 'file/store' --store=file/store
cat >text.profile.textproto <<'END'
label: "//app:load" process_count: 3
failure { kind: EXITED exit_status: 1 }
END
"$ENCODE" text.profile.textproto profile.binpb
record 2 '//app:load failed when it was measured' --store=store
[[ -z ${TEST_UNDECLARED_OUTPUTS_DIR:-} ]] || cp page.html "$TEST_UNDECLARED_OUTPUTS_DIR"

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
