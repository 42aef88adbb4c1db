#!/usr/bin/env bash
# Builds the programs that third_party/footprint_programs.bzl names, so that they
# need no library but glibc's, and prints them as flags of release_programs.py.
#
#   tools/release/build_portable_programs.sh [BAZEL_FLAG ...]
#
# The exception is history_main: no archive of the TLS library's HTTP client is
# installed, so an importer builds it from source.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
bazel=${FOOTPRINT_BAZEL:-bazel}

targets=()
while read -r label; do
  targets+=("$label")
done < <(sed -n 's/^ *"[a-z_]*": Label("\(.*\)"),$/\1/p' third_party/footprint_programs.bzl |
  grep -vxE '//gates:history_main|//profiling:memprof')
((${#targets[@]} > 0)) || {
  echo "release: third_party/footprint_programs.bzl names no program" >&2
  exit 1
}
# The folder's files name archives in place of the libraries that -lstdc++ and -lz find.
"$bazel" build "$@" --linkopt=-static-libgcc --linkopt=-s \
  --linkopt="-L$PWD/profiling/memprof/static_libraries" \
  "${targets[@]}" //profiling/memprof:portable_memprof >&2
echo --memprof=bazel-bin/profiling/memprof/portable_memprof
for target in "${targets[@]}"; do
  actual=$("$bazel" query --noshow_progress "labels(actual, $target)")
  path=${actual#//}
  echo "--program=bazel-bin/${path/://}"
done
