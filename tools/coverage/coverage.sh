#!/usr/bin/env bash
# Prints the line coverage of the tests by package, from `bazel coverage`, and
# makes pages of it if lcov is installed.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
. tools/shell_functions.sh

main() {
  local targets=("$@") status=0 data
  (($# > 0)) || targets=(//...)
  mkdir -p .cache/coverage
  # A cached result is older than this file and would be treated as a removed
  # test's.
  touch .cache/coverage/start
  # Tests that judge bytes measure an uninstrumented binary, so they add nothing
  # here.
  bazel coverage --instrumentation_filter='^//' --test_tag_filters=-memory_gate \
    --nocache_test_results --keep_going "${targets[@]}" || status=$?
  find -L "$(bazel info bazel-testlogs 2>/dev/null)" -name coverage.dat \
    -newer .cache/coverage/start >.cache/coverage/files
  data=.cache/coverage/merged.dat
  python3 -B tools/coverage/report.py --files=.cache/coverage/files --output="$data"
  if command -v genhtml >/dev/null; then
    genhtml --quiet --output-directory .cache/coverage/html --prefix "$PWD" "$data" >&2 &&
      say "coverage: pages in .cache/coverage/html/index.html"
  fi
  return "$status"
}

main "$@"
