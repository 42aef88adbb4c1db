#!/usr/bin/env bash
# Tests a trial by a user without privileges. Without its own cgroup it is
# refused, with the mechanism's name; with one it works as for root. Only root
# can make that cgroup, so others skip this test.
set -euo pipefail
program=$PWD/gates/programs/try_main
readonly USER_NUMBER=54321
folder=$(mktemp -d /tmp/ordinary-user-XXXXXX)
group=

fail() {
  echo "FAILED: $*" >&2
  cat "$folder/out" >&2
  exit 1
}
skip() {
  echo "SKIPPED: $*" >&2
  # tools/dev requires the sandbox where it is available.
  [[ -z ${FOOTPRINT_SANDBOX_REQUIRED:-} ]] || exit 1
  exit 0
}
clean() {
  [[ -z $group ]] || rmdir "$group"
  rm -rf "$folder"
}
trap clean EXIT

((EUID == 0)) || skip "not root"
"$program" --host >"$folder/out" || skip "$(cat "$folder/out")"
memory=$(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - cgroup .*[ ,]memory\(,.*\)\{0,1\}$/\1/p' \
  /proc/self/mountinfo | head -n1)
[[ -n $memory ]] || skip "no memory controller of cgroup v1 is mounted"

# as COMMAND...: runs a command as the user, in the group if there is one.
as() {
  local status=0
  (
    [[ -z $group ]] || echo "$BASHPID" >"$group/cgroup.procs"
    exec setpriv --reuid=$USER_NUMBER --regid=$USER_NUMBER --clear-groups \
      env TMPDIR="$folder/work" "$@"
  ) >"$folder/out" 2>&1 || status=$?
  return $status
}

mkdir "$folder/model" "$folder/work"
cp -L "$program" "$folder/try"
cat >"$folder/model/bundle.textproto" <<'END'
schema_version: 1
kind: NATIVE_PROGRAM
entry: "run.sh"
budget_bytes: 67108864
END
printf '#!/bin/sh\nexit 0\n' >"$folder/model/run.sh"
chmod 755 "$folder" "$folder/try" "$folder/model" "$folder/model/run.sh"
chmod 777 "$folder/work"

as "$folder/try" --host && fail "without a group it misses nothing"
grep -q "missing: .*needed is a group that this process may write below" "$folder/out" || fail "no name"
group=$memory/footprint-ordinary-user-$$
mkdir "$group"
chown -R $USER_NUMBER "$group"
# This runs several times, since the first process must never start before its
# ID maps are written.
for _ in $(seq 10); do
  as "$folder/try" --host || fail "with a group it misses something"
done
as "$folder/try" "$folder/model" || fail "no verdict"
grep -q "^ACCEPT " "$folder/out" || fail "not accepted"
[[ -z $(find "$group" -mindepth 1 -type d) ]] || fail "a group is left"
[[ -z $(ls "$folder/work") ]] || fail "a file is left"
