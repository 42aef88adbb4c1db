#!/usr/bin/env bash
# A test of another repository has another name than one of this, as Bazel tells them.
set -uo pipefail
failures=0
# like TEXT PATTERN
like() {
  [[ $1 =~ ^$2$ ]] && return
  echo "FAILED: '$1' is not like '$2'"
  failures=$((failures + 1))
}
[[ $# == 6 ]] || exit 2
# This repository may itself be another one's, whose tests then run.
like "$1" 'TEST_TARGET=(@?@[^/]+)?//profiling:load_test'
like "$2" 'TEST_BINARY=(external/[^/]+/)?profiling/load_test'
like "$3" 'TEST_TARGET=@?@[^/]*googletest[^/]*//:load_test'
like "$4" 'TEST_BINARY=external/[^/]*googletest[^/]*/load_test'
like "$5" 'TEST_TARGET=@?@[^/]*googletest[^/]*//app:load_test'
like "$6" 'TEST_BINARY=external/[^/]*googletest[^/]*/app/load_test'
exit "$((failures > 0))"
