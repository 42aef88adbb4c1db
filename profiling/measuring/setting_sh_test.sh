#!/usr/bin/env bash
# Fails unless it runs as Bazel runs a test; measured as it is, too.
set -uo pipefail
failures=0
fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}
# Measured, it has an argument and a variable more.
if [[ -n ${SETTING_MEASURED:-} ]]; then
  [[ $# == 8 && $8 == "behind the others" ]] || fail "arguments: $*"
else
  [[ $# == 7 ]] || fail "arguments: $*"
fi
[[ $1 == --data=profiling/measuring/testdata/rows.csv && $2 == "two words" ]] || fail "arguments: $*"
# shellcheck disable=SC2016  # the text is the dollar and the 1
[[ $4 == "it's" && $5 == 'a "b" \ c' && $6 == "d e" && $7 == '$1' ]] || fail "quotes: $*"
[[ -x $3 ]] || fail "no program at $3 in $PWD"
[[ ${SETTING_ROWS:-} == profiling/measuring/testdata/rows.csv ]] || fail "SETTING_ROWS is ${SETTING_ROWS:-}"
grep -q feature "$SETTING_ROWS" || fail "no data in $PWD"
[[ $0 == "$TEST_SRCDIR/$TEST_WORKSPACE/profiling/measuring/setting_sh_test" ]] || fail "called $0"
[[ $PWD == "$TEST_SRCDIR/$TEST_WORKSPACE" && $RUNFILES_DIR == "$TEST_SRCDIR" ]] || fail "starts in $PWD"
[[ $TEST_TARGET == *//profiling/measuring:setting_sh_test ]] || fail "TEST_TARGET is $TEST_TARGET"
[[ $TEST_SIZE == small && $TEST_BINARY == profiling/measuring/setting_sh_test ]] || fail "$TEST_SIZE $TEST_BINARY"
touch "$TEST_TMPDIR/x" "$TEST_UNDECLARED_OUTPUTS_DIR/x" || fail "folders cannot be written"
exit "$((failures > 0))"
