#!/usr/bin/env bash
# Tests the promises of tools/dev about itself, with a copy of the scripts in a
# scratch tree.
# shellcheck disable=SC2016  # the written text expands where it is run
set -uo pipefail
tree=$TEST_TMPDIR/tree
mkdir -p "$tree/tools"
cp -L tools/dev tools/shell_functions.sh "$tree/tools/"
dev=$tree/tools/dev
failures=0
expect() {
  local what=$1
  shift
  if ! "$@"; then
    echo "FAILED: $what" >&2
    failures=$((failures + 1))
  fi
}
exits_with() {
  local wanted=$1 status=0
  shift
  "$@" >"$TEST_TMPDIR/output" 2>&1 || status=$?
  [[ $status == "$wanted" ]] || {
    echo "exit $status, wanted $wanted:" >&2
    cat "$TEST_TMPDIR/output" >&2
    return 1
  }
}
says() { grep -qF -- "$1" "$TEST_TMPDIR/output"; }

expect "no argument is help" exits_with 0 "$dev"
expect "help exits 0" exits_with 0 "$dev" help
mapfile -t commands < <(sed -n 's/^cmd_\([a-z]*\)().*/\1/p' "$dev")
for command in "${commands[@]}"; do
  expect "help lists $command" grep -qE "^  ([a-z]+, )*$command\b" "$TEST_TMPDIR/output"
done
expect "an unknown command exits 2" exits_with 2 "$dev" frobnicate
expect "an unknown command is named" says "no command 'frobnicate'"
expect "mutate without a package exits 2" exits_with 2 "$dev" mutate
expect "an unknown argument of setup exits 2" exits_with 2 "$dev" setup --everything

printf 'ID=ubuntu\nVERSION_ID="22.04"\n' >"$TEST_TMPDIR/os-release"
export FOOTPRINT_OS_RELEASE=$TEST_TMPDIR/os-release
expect "setup refuses another system" exits_with 2 "$dev" setup
expect "setup names the system" says "ubuntu 22.04"
expect "setup lists what to install" says "libprotobuf-dev"
expect "check does not go on after a refused setup" exits_with 2 "$dev" check
FOOTPRINT_OS_RELEASE=$TEST_TMPDIR/none
expect "setup refuses a system without a name" exits_with 2 "$dev" setup

# A Debian 12 lacks one package, so exactly that would be installed.
printf 'ID=debian\nVERSION_ID="12"\n' >"$TEST_TMPDIR/os-release"
FOOTPRINT_OS_RELEASE=$TEST_TMPDIR/os-release
mkdir -p "$TEST_TMPDIR/bin"
cat >"$TEST_TMPDIR/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
test "$package" = libeigen3-dev || echo "install ok installed"
END
printf '#!/bin/sh\necho "apt-get $*"\n' >"$TEST_TMPDIR/bin/apt-get"
printf '#!/bin/sh\nexec "$@"\n' >"$TEST_TMPDIR/bin/sudo"
chmod +x "$TEST_TMPDIR/bin/"*
PATH=$TEST_TMPDIR/bin:$PATH
expect "setup installs" exits_with 0 "$dev" setup
expect "setup installs what is missing only" \
  says "install -y --no-install-recommends libeigen3-dev"
printf '#!/bin/sh\necho "install ok installed"\n' >"$TEST_TMPDIR/bin/dpkg-query"
expect "setup can be repeated" exits_with 0 "$dev" setup
expect "setup says that nothing is missing" says "packages are installed"

# check returns the verdict's exit code, and distinguishes a failed build from a
# REJECT.
for code in 0 1 2 3 4 5; do
  printf '#!/bin/sh\ntest "$1" = build || exit %d\n' "$code" >"$TEST_TMPDIR/bin/bazel"
  chmod +x "$TEST_TMPDIR/bin/bazel"
  expect "check exits $code" exits_with "$code" "$dev" check
done
printf '#!/bin/sh\nexit 1\n' >"$TEST_TMPDIR/bin/bazel"
expect "a failed build is no REJECT" exits_with 3 "$dev" check

((failures == 0))
