#!/usr/bin/env bash
# A made history of 200 commits with three culprits, of which one is split over
# two commits, a rename, and commits that do not build. A stand-in for Bazel
# "measures" each in a real git worktree, by what stands in a file.
set -uo pipefail
readonly CULPRIT="$PWD/gates/programs/culprit_main" ENCODE="$PWD/gates/judge/encode_profile_main"
readonly TREE=$PWD
cd "$TEST_TMPDIR" || exit 2
unset BUILD_WORKING_DIRECTORY BUILD_WORKSPACE_DIRECTORY
export HOME=$TEST_TMPDIR/home XDG_CACHE_HOME=$TEST_TMPDIR/cache
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS PATTERN ARGUMENT ...: a line of what it says is like PATTERN.
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  : >measured
  "$CULPRIT" "$@" --bazel="$PWD/bazel" >out 2>err
  status=$?
  if ((status != wanted)) || ! cat out err | grep -E -- "$pattern" >/dev/null; then
    fail "$*: status $status, not $wanted, or no line like: $pattern"
    cat out err
  fi
}
says() { grep -qE -- "$1" out || fail "no line like '$1' in: $(cat out)"; }

# Every third commit changes what the gate is made from. The table grows by 100 B
# at 30, by 50 B at 90, and by 40 B and 35 B at 150 and 153.
size() {
  local commit=$1 bytes=1000
  ((commit >= 30)) && bytes=$((bytes + 100))
  ((commit >= 90)) && bytes=$((bytes + 50))
  ((commit >= 150)) && bytes=$((bytes + 40))
  ((commit >= 153)) && bytes=$((bytes + 35))
  echo "$bytes"
}
# put PATH TEXT: a file of a commit, for git fast-import.
put() { printf 'M 644 inline %s\ndata %d\n%s\n' "$1" "${#2}" "$2"; }
history() {
  local name
  for ((commit = 0; commit <= 200; ++commit)); do
    name=load
    ((commit >= 60)) && name=table
    subject="Change $commit"
    printf 'commit refs/heads/main\nmark :%d\ncommitter Ann Author <ann@example.org> %d +0000\ndata %d\n%s\n' \
      "$((commit + 1))" "$((1700000000 + commit * 3600))" "${#subject}" "$subject"
    put docs/page.md "Text $commit"
    if ((commit % 3 == 0)); then
      put app/load.cc "// $commit"
      put app/bytes "$(size "$commit")"
      put app/BUILD "$name"
      # Does not build from 99 on, where the search looks first, until 102.
      ((commit == 99)) && put app/broken ""
      ((commit == 102)) && echo "D app/broken"
    fi
    ((commit == 0)) && put WORKSPACE ""
  done
  echo "done"
}
mkdir repository && git -C repository init -q -b main && history | git -C repository fast-import --quiet --done || exit 2
git -C repository checkout -q main
cat >bazel <<END
#!/usr/bin/env bash
gate=\$(<app/BUILD)
if [[ "\$1 \$2" == "query --output=label" ]]; then
  printf '%s\n' //app:BUILD @bazel_tools//x:x.bzl //external:BUILD
  for file in load.cc bytes broken; do
    [[ ! -e app/\$file ]] || echo "//app:\$file"
  done
  exit 0
fi
[[ \$1 != help ]] || exit 0
if [[ "\$1 \$2" == "info output_base" ]]; then
  echo /nowhere
  exit 0
fi
[[ \$2 == //app:\$gate.diff ]] || { echo "ERROR: no such target '\$2': it is not declared" >&2; exit 7; }
[[ \$1 == run ]] || exit 0
[[ ! -e "$PWD/interruption" ]] || . "$PWD/interruption"
git log -1 --format=%s >>"$PWD/measured"
[[ ! -e app/broken ]] || { echo "ERROR: load.cc does not compile" >&2; exit 1; }
folder=\${4#--save=}
mkdir -p "\$folder"
bytes=\$(<app/bytes)
# What Bazel does not tell of.
[[ ! -e third_party/x.patch ]] || bytes=\$((bytes + \$(<third_party/x.patch)))
# The machine's compiler, or the repository's own. That of clang needs more.
compiler=\$(cat app/compiler "$PWD/compiler" 2>/dev/null | head -n 1)
[[ \$compiler != clang ]] || bytes=\$((bytes + 300))
cat >"$PWD/text" <<TEXT
process_count: 3 label: "//app:\$gate" environment { compiler: "\${compiler:-gcc}" }
benchmarks { name: "BM_Load"
  metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: \$bytes }
  peak_attribution { site: "load.cc:41 Table::Read" live_bytes: \$bytes } }
TEXT
"$ENCODE" "$PWD/text" "\$folder/a.profile.binpb" || exit 1
[[ -e app/second ]] || exit 0
sed -i "s|//app:\$gate|&_second|" "$PWD/text"
exec "$ENCODE" "$PWD/text" "\$folder/b.profile.binpb"
END
chmod +x bazel
commit() { git -C repository log -1 --format=%h --abbrev=12 "main~$((200 - $1))"; }

expect 0 'Exit status' --help
expect 2 'name --good=REVISION and one gate' //app:table
expect 2 'with bazel run' --good=main~200 //app:table
export BUILD_WORKSPACE_DIRECTORY=$PWD/repository
renamed=--renamed=//app:load=//app:table
expect 2 'no_such: is not a revision of' --good=no_such //app:table
expect 2 'main: is not before main~1' --good=main --bad=main~1 //app:table
expect 2 'main: is not before main' --good=main --bad=main //app:table
expect 2 'must be OLD=NEW' --good=main~9 --renamed=x //app:table
expect 2 'at least 2' --good=main~9 --most=1 //app:table
expect 2 'did you mean "good"' --goo=main~9 //app:table
expect 2 'no answer|does not answer' --good=main~9 --store=http://127.0.0.1:1 //app:table
[[ ! -s measured ]] || fail "measured without a store"
expect 2 'has no gate //app:none.diff' --good=main~9 //app:none
expect 2 'the good commit cannot be measured' --good=main~200 //app:table
expect 2 'the bad commit cannot be measured' --good=main~200 --bad=main~100 $renamed //app:table
expect 2 'does not build' --good=main~200 --bad=main~100 $renamed //app:table
expect 0 'Nothing grew from the good to the bad commit; measured 2 of 21 commits' --good=main~20 //app:table

# A branch's name is a word to every shell.
hostile=$(printf 'x\xe2\x80\xae')"';touch\${IFS}pwned;#"
git -C repository branch "$hostile" main~9
expect 0 'Nothing grew from the good to the bad commit' --good="$hostile" //app:table
find . -name pwned | grep . && fail "a branch's name was run"

# An interruption ends the search: it says nothing of the commit.
for how in 'exit 8' 'kill -INT $$' 'kill -TERM $$'; do
  echo "[[ \$(git log -1 --format=%s) != 'Change 147' ]] || $how" >interruption
  expect 2 'interrupted, so nothing is concluded' --good=main~60 --bad=main~44 //app:table
done
rm interruption

# Of a branch that was merged, the line has only the merge.
git clone -q repository merged
(
  cd merged && git config user.name Ann && git config user.email ann@example.org &&
    git checkout -q -b side main~55 && git commit -q --allow-empty -m "On the side" &&
    git checkout -q main~8 && git merge -q --no-edit side && git checkout -q -B main HEAD
) || exit 2
BUILD_WORKSPACE_DIRECTORY=$PWD/merged expect 2 "side: is no commit of main's own line.*--good=$(commit 145)" \
  --good=side --bad=main //app:table
[[ ! -s measured ]] || fail "measured a branch that was merged"
BUILD_WORKSPACE_DIRECTORY=$PWD/merged expect 1 '^[+]75 B by 2 culprits' --good="$(commit 145)" --bad=main //app:table

# Three of three, one of them in two parts.
expect 1 '^[+]225 B by 4 culprits; measured [0-9]+ of 201 commits, 4 only to be sure$' --good=main~200 --store=store $renamed //app:table
count=$(wc -l <measured)
says "measured $count of 201"
((count <= 24)) || fail "$count commits were measured: $(tr '\n' ',' <measured)"
# Others have the figures of a commit that was measured, in Bazel's cache, too.
changing=$(awk '$2 % 3 == 0 || $2 == 200' measured | wc -l)
((changing <= 20)) || fail "$changing measured commits change the gate: $(tr '\n' ',' <measured)"
echo "measured $count of 201 commits, $changing with figures of their own"
/usr/bin/python3 -B "$TREE/tools/docs/check_outputs.py" --tree="$TREE" gates/trend/README.md \
  --command='bazel run //gates:culprit -- --good=v1.0 --bad=main //app:table' <out || fail "README: $(<out)"
says "^[+]100 B by $(commit 30) 2023-11-1[0-9] Ann Author: Change 30$"
says "^[+]50 B by $(commit 90) .*Change 90$"
says "^[+]40 B by $(commit 150) .*Change 150$"
says "^[+]35 B by $(commit 153) .*Change 153$"
says '//app:load BM_Load: peak live [+]100 B .*1,000 B -> 1,100 B'
says '[+]100 B held by load.cc:41 Table::Read'
says 'not measured: .*Change 99$'
git -C repository status --porcelain | grep . && fail "the repository was changed"
# What was measured is kept.
expect 1 'measured 0 of 201 commits' --good=main~200 --store=store $renamed //app:table
rm -rf store/app+3a+table.diff/"$(git -C repository rev-parse main)".binpb
for object in store/*/*; do head -c 20 "$object" >half && mv half "$object"; done
expect 1 'remark: the store.s .* is damaged' --good=main~200 --store=store $renamed //app:table
count=$(wc -l <measured)
((count <= 28)) || fail "$count commits were measured over a damaged store"
touch file
expect 0 'remark: file/store/.*what is measured is not kept' --good=main~9 --store=file/store //app:table
# No more than was asked for.
expect 4 '(one or more of [0-9]+ commits|probably 1 commit); raise --most=' --good=main~200 --most=6 $renamed //app:table
says 'measured 6 of 201'
expect 1 '"growth_bytes": 100' --good=main~200 --format=json --store=store $renamed //app:table
/usr/bin/python3 -c 'import json; c = json.load(open("out"))["culprits"]; assert [x["commits"][0]["subject"] for x in c] == ["Change 30", "Change 90", "Change 150", "Change 153"]' ||
  fail "JSON: $(<out)"

# Commits of few files: step SUBJECT COMMAND.
step() {
  (cd small && eval "$2") && git -C small add -A &&
    git -C small -c user.name=Ann -c user.email=ann@example.org commit -q -m "$1" || exit 2
}
git init -q -b main small
step Begin 'mkdir app data && echo table >app/BUILD && echo 1000 >data/small && echo 1100 >data/large &&
  ln -s small data/now && ln -s ../data/now app/bytes && touch WORKSPACE app/load.cc'
step "Docs 1" 'touch 1.md'
step "Link elsewhere" 'ln -sf large data/now'
step "Docs 2" 'touch 2.md'
step "Edit 1" 'echo 1 >app/load.cc'
step "Docs 3" 'touch 3.md'
step Patch 'mkdir third_party && echo 10 >third_party/x.patch'
step "Docs 4" 'touch 4.md'
step "Edit 2" 'echo 2 >app/load.cc'
step "Docs 5" 'touch 5.md'
export BUILD_WORKSPACE_DIRECTORY=$PWD/small
expect 1 '^[+]110 B by 2 culprits' --good=main~9 //app:table
says '^[+]100 B by .*: Link elsewhere$'
says '^[+]10 B by .*: Patch$'

# A store from another compiler's machine blames nobody, and gets nothing.
expect 1 '^[+]110 B by 2 culprits' --good=main~9 --store=gcc //app:table
expect 1 'measured 0 of 10 commits' --good=main~9 --store=gcc //app:table
hash() { git -C small rev-parse "$1"; }
echo clang >compiler
for missing in main main~9 main~7; do
  cp -r gcc mixed
  rm mixed/*/"$(hash $missing)".binpb
  find mixed -type f | sort >before
  expect 1 '^remark: the store has commits of another environment.*compiler is "clang", not "gcc"' --good=main~9 --store=mixed //app:table
  says '^[+]110 B by 2 culprits'
  says '^[+]100 B by .*: Link elsewhere$'
  says '^[+]10 B by .*: Patch$'
  find mixed -type f | sort | cmp - before || fail "clang's figures are in the store of gcc"
  rm -rf mixed
done
rm compiler
# Where the repository itself has another compiler, the growth may be its own.
step Clang 'echo clang >app/compiler'
step "Edit 3" 'echo 3 >app/load.cc'
expect 4 '^[+]300 B by probably 1 commit:$' --good=main~2 //app:table
says '^  .*: Clang$'
says '^    not certain: //app:table was measured in another environment .*"clang", not "gcc"'
expect 4 '"is_found": false' --good=main~2 --format=json //app:table
step Smaller 'echo 500 >data/large'
expect 4 '^not known: //app:table was measured in another environment' --good=main~3 //app:table
# Names over several steps, and a package's gate by the package alone.
for name in middle new; do step "Name $name" "echo $name >app/BUILD"; done
step Grow 'echo 1500 >data/large'
expect 2 'has no gate //app:app.diff' --good=main~3 //app
expect 1 '^[+]1000 B by .*: Grow$' --good=main~3 --renamed=//app:table=//app:middle --renamed=//app:middle=//app:new //app:new
# Of several labels with new names, each must be named.
step "A second one" 'touch app/second'
step "Names of both" 'echo other >app/BUILD'
renamed=--renamed=//app:new=//app:other
expect 4 '^not known: the growth of labels that may have been renamed: missing are //app:new_second, and new are //app:other_second' \
  --good=main~1 $renamed //app:other
expect 0 '^Nothing grew' --good=main~1 $renamed --renamed=//app:new_second=//app:other_second //app:other

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
