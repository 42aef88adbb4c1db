#!/usr/bin/env bash
# An importer who takes the programs of a release by their hash: a first gate compiles
# the importer's own program and nothing else, and each wrong archive is refused.
#
#   tools/importers/prebuilt_programs.sh FOLDER [BAZEL_FLAG ...]
#
# FOLDER becomes the archive and the workspace; its path should stay, so that a second
# run finds the output base of the first. BAZEL_FLAGs are of the build of the archive.
set -uo pipefail
tree=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../..")
folder=$(realpath -m "$1")
shift
bazel=${FOOTPRINT_BAZEL:-bazel}
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

rm -rf "$folder"
mkdir -p "$folder/workspace"
flags=$("$tree/tools/release/build_portable_programs.sh" "$@") || exit 1
mapfile -t flags <<<"$flags"
version=$(sed -n 's/^    version = "\(.*\)",$/\1/p' "$tree/MODULE.bazel" | head -n 1)
(cd "$tree" && python3 -B tools/release/release_programs.py "${flags[@]}" \
  --output="$folder/release" "v$version") || exit 1
archive=$folder/release/footprint-programs-$version-linux-$(uname -m).tar.gz
other_archive=$folder/release/memprof-$version-linux-$(uname -m).tar.gz

cd "$folder/workspace" || exit 2
# write_workspace URLS SHA256: URLS is a file or empty.
write_workspace() {
  cat >WORKSPACE <<END_OF_FILE
local_repository(
    name = "footprint",
    path = "$tree",
)

load("@footprint//third_party:footprint_programs.bzl", "footprint_programs")

footprint_programs(
    name = "footprint_programs",
    sha256 = "$2",
    urls = [${1:+"\"file://$1\""}],
)

load("@footprint//third_party:repositories.bzl", "footprint_repositories")

footprint_repositories()
END_OF_FILE
}
sha256_of() { sha256sum "$1" | cut -d' ' -f1; }
write_workspace "$archive" "$(sha256_of "$archive")"
cp "$tree/tools/bazelrc/footprint.bazelrc" .bazelrc
cat >BUILD <<'END_OF_FILE'
load("@footprint//gates:defs.bzl", "memory_gate")

cc_binary(
    name = "tool",
    srcs = ["tool.cc"],
)

memory_gate(
    name = "load",
    program = ":tool",
)
END_OF_FILE
cat >tool.cc <<'END_OF_FILE'
#include <cstdio>
#include <vector>

int main() {
  std::vector<double> rows(1000000, 1.0);
  std::printf("%g\n", rows[7]);
}
END_OF_FILE

# says PATTERN: a line of the last command's output is like it.
says() { grep -qE -- "$1" out || fail "no line like '$1' in: $(cat out)"; }
"$bazel" run --subcommands :load.update >out 2>&1 || fail "update: $(cat out)"
says 'added //:tool tool'
compiled=$(grep -c "\[action 'Compiling" out)
((compiled == 1)) || fail "the first verdict compiled $compiled files, not the importer's own alone"
"$bazel" test :load >out 2>&1 || fail "the first verdict: $(cat out)"
sed -i 's/1000000/1100000/' tool.cc
"$bazel" test --test_output=all :load >out 2>&1 && fail "a tenth more was accepted"
says 'REJECT'
for program in audit explain report; do
  "$bazel" run ":load.$program" >out 2>&1
  # 1: the gate rejects.
  (($? <= 1)) || fail "$program: $(cat out)"
done

# No file has this hash: Bazel would take one that has from its cache.
write_workspace "$archive" "$(printf '%064d' 1)"
"$bazel" build :load >out 2>&1 && fail "an archive with another hash was taken"
says 'Checksum was'
write_workspace "$archive" ""
"$bazel" build :load >out 2>&1 && fail "an archive without a hash was taken"
says 'has urls, but no sha256'
write_workspace "$other_archive" "$(sha256_of "$other_archive")"
"$bazel" build :load >out 2>&1 && fail "an archive without the programs was taken"
says 'holds memprof-.*need footprint-programs-'

write_workspace "" "$(sha256_of "$archive")"
"$bazel" build :load >out 2>&1 && fail "a hash without an archive was taken"
says 'has a sha256, but no urls'

# After footprint_repositories() Bazel would ignore it, and build from source.
write_workspace "$archive" "$(sha256_of "$archive")"
{ sed -n '/^load.*repositories.bzl/,$p' WORKSPACE && sed '/^load.*repositories.bzl/,$d' WORKSPACE; } >other
sed '/^local_repository/,/^)/!d' WORKSPACE >local
{ cat local && sed '/^local_repository/,/^)/d' other; } >WORKSPACE
"$bazel" build :load >out 2>&1 && fail "programs that are declared too late were taken"
says 'footprint_programs is called after footprint_repositories'
write_workspace "$archive" "$(sha256_of "$archive")"
sed -i 's/name = "footprint_programs"/name = "programs"/' WORKSPACE
"$bazel" build :load >out 2>&1 && fail "a name that no rule knows was taken"
says 'has the name programs: rules find'

# refuses PATTERN COMMAND: the archive is refused after the command changed its folder.
refuses() {
  local changed=$folder/changed.tar.gz
  rm -rf "$folder/changed" && mkdir "$folder/changed" && tar -xzf "$archive" -C "$folder/changed" || exit 2
  (cd "$folder"/changed/footprint-programs-* && eval "$2") || exit 2
  (cd "$folder/changed" && tar -czf "$changed" footprint-programs-*/) || exit 2
  write_workspace "$changed" "$(sha256_of "$changed")"
  "$bazel" build :load >out 2>&1 && fail "an archive was taken after: $2"
  says "$1"
}
refuses 'has no check_main' 'rm check_main'
# A link may lead out of the archive, for instance to a program that accepts everything.
refuses 'its check_main is not a file that can be run' \
  'ln -sf ../../../../../../../../../../bin/true check_main'
refuses 'its update_main is not a file that can be run' 'chmod a-x update_main'
refuses 'its update_main is not a file that can be run' ': >update_main'
refuses 'its check_main does not start on this machine .*GLIBC_9' \
  'printf "#!/bin/sh\necho needs GLIBC_9 >&2\nexit 1\n" >check_main'

"$bazel" shutdown
((failures == 0)) && echo "prebuilt programs: all as expected"
exit "$((failures > 0))"
