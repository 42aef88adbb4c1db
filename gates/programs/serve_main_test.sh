#!/usr/bin/env bash
# serve: tokens, what refuses to start and why, and a bundle tried for real where
# this host has the sandbox's mechanisms.
set -euo pipefail
programs=$PWD/gates/programs
export HOME=$TEST_TMPDIR/home
unset XDG_CONFIG_HOME XDG_DATA_HOME FOOTPRINT_TOKEN FOOTPRINT_SERVER BUILD_WORKING_DIRECTORY
mkdir -p "$HOME" "$TEST_TMPDIR/alone"
# Copies in an empty folder work as well.
cp -L "$programs/serve" "$programs/submit" "$TEST_TMPDIR/alone"
serve=$TEST_TMPDIR/alone/serve
submit=$TEST_TMPDIR/alone/submit
cd "$TEST_TMPDIR"

fail() {
  echo "FAILED: $*" >&2
  cat out err >&2
  exit 1
}
# expect STATUS PROGRAM ARGUMENT...
expect() {
  local want=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [[ $status == "$want" ]] || fail "$* ended with $status, not $want"
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say: $2"; }

expect 0 "$serve" --help
says out "token add"
expect 0 "$serve" token add ci --scopes=submit --expires=90d
says out fpt_
expect 2 "$serve" token add ci
says err "there is a token 'ci'"
expect 2 "$serve" token add other --scopes=all
says err "submit, read and admin"
expect 2 "$serve" token add other --expires=never
expect 0 "$serve" token list
says out "ci  submit"
grep -q fpt_ "$HOME/.local/share/footprint/tokens" && fail "the token is in the file"
expect 0 "$serve" token remove ci
expect 2 "$serve" token remove ci
expect 2 "$serve" --despite_missing --port=70000
says err "--port wants a number"
expect 2 "$serve" --despite_missing --mode=off
says err "enforce, warn and audit"
expect 2 "$serve" --despite_missing --thresholds=/no/such.textproto
says err /no/such.textproto
echo "threshold {" >broken.textproto
expect 2 "$serve" --despite_missing --thresholds=broken.textproto
says err broken.textproto:
expect 2 "$serve" stop
expect 2 "$serve" --despite_missing --store=/proc/no

# Starts at a port of its own, and ends when it is told to.
"$serve" --despite_missing --port=0 2>log &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 600); do
  grep -q "http://" log && break
  sleep 0.1
done
address=$(grep -o "http://[0-9.:]*" log) || { cat log; exit 1; }
[[ -s $HOME/.config/footprint/token ]] || fail "no token for submit"
mkdir model
cat >model/bundle.textproto <<'END'
# proto-file: gates/bundles/bundle.proto
# proto-message: footprint.BundleManifest
schema_version: 1
kind: NATIVE_PROGRAM
entry: "run.sh"
budget_bytes: 67108864
label: "//team/model:run"
END
printf '#!/bin/sh\nexit 0\n' >model/run.sh
chmod +x model/run.sh
if grep -q "this host lacks" log; then
  echo "not tried here: $(cat log)"
  expect 4 "$submit" model --server="$address"
else
  expect 0 "$submit" model --server="$address"
  says out //team/model:run
  expect 0 "$submit" model --server="$address"
  says err "the verdict was there already"
  # Nothing fits one byte.
  sed -i 's/67108864/1/' model/bundle.textproto
  expect 1 "$submit" model --server="$address"
  says out REJECT
fi
kill $server
trap - EXIT
wait $server || fail "serve ended with $?"
