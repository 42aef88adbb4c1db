#!/usr/bin/env bash
# The programs of the trend with a real Bazel: an importer's repository has nine
# commits, of which two make the gated program grow, one does not build, and
# three change nothing that the gate is made from. `history` records commits,
# and `culprit` names the two, their lines and how many commits it measured.
#
#   tools/importers/trend_programs.sh FOLDER [BAZEL_FLAG ...]
#
# FOLDER becomes the repository and its git worktree; its path should stay, so
# that a second run finds the output bases of the first. BAZEL_FLAGs are of every
# build. FOOTPRINT_BAZEL is the Bazel to call, with its startup options.
set -uo pipefail
tree=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../..")
folder=$(realpath -m "$1")
shift
read -ra bazel <<<"${FOOTPRINT_BAZEL:-bazel}"
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

rm -rf "$folder"
# The workspace is not the top of its repository, and the rows of its table come
# from a repository of Bazel's that lies in the same tree.
mkdir -p "$folder/repository/project/app" "$folder/repository/rows"
cd "$folder/repository/project" || exit 2
cat >WORKSPACE <<END_OF_FILE
local_repository(
    name = "footprint",
    path = "$tree",
)

local_repository(
    name = "rows",
    path = "../rows",
)

load("@footprint//third_party:repositories.bzl", "footprint_repositories")

footprint_repositories()
END_OF_FILE
cp "$tree/tools/bazelrc/footprint.bazelrc" .bazelrc
[[ ! -e $tree/user.bazelrc ]] || cat "$tree/user.bazelrc" >>.bazelrc
for flag in "$@"; do echo "build $flag" >>.bazelrc; done
echo 'bazel-*' >.gitignore
cat >app/BUILD <<'END_OF_FILE'
load("@footprint//gates:defs.bzl", "memory_gate")

cc_binary(
    name = "tool",
    srcs = ["tool.cc"],
    copts = ["-g1"],
    deps = ["@rows"],
)

memory_gate(
    name = "load",
    profile_options = {"sites": True},
    program = ":tool",
)
END_OF_FILE
cat >app/tool.cc <<'END_OF_FILE'
#include <cstdio>
#include <vector>

#include "rows.h"

__attribute__((noinline)) std::vector<double>* ReadTable() {
  return new std::vector<double>(100000, 1.0);
}

int main() {
  std::vector<double>* const table = ReadTable();
  std::vector<double>* const rows = MakeRows();
  std::printf("%g\n", (*table)[7] + (*rows)[7]);
  delete rows;
  delete table;
}
END_OF_FILE
touch ../rows/WORKSPACE
cat >../rows/BUILD <<'END_OF_FILE'
cc_library(
    name = "rows",
    srcs = ["rows.cc"],
    hdrs = ["rows.h"],
    copts = ["-g1"],
    includes = ["."],
    visibility = ["//visibility:public"],
)
END_OF_FILE
cat >../rows/rows.h <<'END_OF_FILE'
#include <vector>

std::vector<double>* MakeRows();
END_OF_FILE
cat >../rows/rows.cc <<'END_OF_FILE'
#include "rows.h"

__attribute__((noinline)) std::vector<double>* MakeRows() {
  return new std::vector<double>(10000, 2.0);
}
END_OF_FILE

git init -q -b main .. || exit 2
commit() {
  git add -A .. && git -c user.name=Ann -c user.email=ann@example.org commit -q --allow-empty -m "$1" || exit 2
}
# The hash of a commit by its subject, as culprit prints it.
hash_of() { git log -1 --format=%h --abbrev=12 --fixed-strings --grep="$1"; }
# expect STATUS TARGET ARGUMENT ...: runs a program of a gate.
expect() {
  local wanted=$1 target=$2 status
  shift 2
  "${bazel[@]}" run "$target" -- "$@" >"$folder/out" 2>"$folder/err"
  status=$?
  ((status == wanted)) || fail "$target $*: status $status, not $wanted: $(cat "$folder/out" "$folder/err")"
}
# says PATTERN: a line of the last program's output is like it.
says() { grep -qE -- "$1" "$folder/out" || fail "no line like '$1' in: $(cat "$folder/out" "$folder/err")"; }

expect 0 //app:load.update
commit "Begin"
echo "one" >../docs.md && commit "Docs 1"
echo "// The end." >>app/tool.cc && commit "Comment"
sed -i s/100000/120000/ app/tool.cc && commit "Grow the table"
echo "two" >../docs.md && commit "Docs 2"
echo "no C++" >>app/tool.cc && commit "Does not build"
sed -i '$d' app/tool.cc && commit "Builds again"
sed -i s/10000/30000/ ../rows/rows.cc && commit "More rows"
echo "three" >../docs.md && commit "Docs 3"
readonly COMMITS=9
[[ $(git rev-list --count HEAD) == "$COMMITS" ]] || fail "not $COMMITS commits: $(git log --oneline)"

store=$folder/store
expect 0 //app:load.history record --store="$store"
says "^recorded $(git rev-parse HEAD): 1 profile$"
# Bazel named the files, by their paths from the top of the repository.
for file in project/app/BUILD project/app/tool.cc project/app/load_thresholds.textproto rows/BUILD rows/rows.cc rows/rows.h; do
  grep -qaF "$file" "$store"/*/* || fail "the record does not name $file"
done
grep -qaF docs.md "$store"/*/* && fail "the record names a file that is no input"

culprit() {
  local wanted=$1
  shift
  expect "$wanted" @footprint//gates:culprit --bazel="${bazel[*]}" --worktree="$folder/worktree" \
    --good="$(hash_of Begin)" "$@" //app:load
}
culprit 1 --bad=HEAD --store="$store"
# Both ends are measured, of which the store has one, and of the seven between
# them only those that the search has to look at. Both growths together are less
# than the noise of a whole process, whose pages are not the same in two runs.
says "^[+]314 KiB .* by 2 culprits; measured 6 of $COMMITS commits, 1 only to be sure$"
says "^[+]156 KiB .* by $(hash_of 'Grow the table') .* Ann: Grow the table$"
says '^ +//app:tool tool: peak live [+]156 KiB'
says '[+]156 KiB held by site:ReadTable\(\) \(tool.cc:7\)$'
says "^[+]158 KiB .* by $(hash_of 'More rows') .* Ann: More rows$"
says '[+]158 KiB held by site:MakeRows\(\) \(rows.cc:4\)$'
says "^not measured: $(hash_of 'Does not build') .* Ann: Does not build$"
grep -q '^remark\|^not known\|not certain' "$folder/out" && fail "a doubt: $(cat "$folder/out")"
git status --porcelain | grep . && fail "the repository was changed"
# The store has all figures that the search needs.
culprit 1 --bad=HEAD --store="$store"
says "by 2 culprits; measured 0 of $COMMITS commits$"
culprit 0 --bad="$(hash_of Comment)" --store="$store"
says "^Nothing grew from the good to the bad commit; measured 0 of 3 commits$"

expect 0 //app:load.history page --store="$store" --output="$folder/page.html"
for subject in "Grow the table" "More rows"; do
  grep -qF "$subject" "$folder/page.html" || fail "the page does not name the commit $subject"
done

"${bazel[@]}" shutdown
# The worktree has a server of its own.
(cd "$folder/worktree/project" && "${bazel[@]}" shutdown)
((failures == 0)) && echo "trend programs: all as expected"
exit "$((failures > 0))"
