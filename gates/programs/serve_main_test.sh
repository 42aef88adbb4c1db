#!/usr/bin/env bash
# Tests serve: tokens, reasons for which it refuses to start, and a real trial
# if this host has the sandbox's mechanisms.
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
expect 2 "$serve" token add other --expires=soon
for expires in inf 999999999999999999d 36501d -1d; do
  expect 2 "$serve" token add other --expires=$expires
  says err "above zero and at most 36500d"
done
expect 0 "$serve" token list
says out "ci  submit"
grep -q fpt_ "$HOME/.local/share/footprint/tokens" && fail "the token is in the file"
expect 0 "$serve" token remove ci
expect 2 "$serve" token remove ci
expect 0 "$serve" token add batch --most_waiting=20 --most_budget=1GiB --most_time=600
expect 0 "$serve" token list
says out "batch  submit,read  never expires  most_waiting=20,most_budget=1073741824,most_time=600"
expect 2 "$serve" token add idle --most_budget=much
expect 2 "$serve" token add idle --most_waiting=0
says err "leave it out, or write"
# A flag that would have no effect is refused.
expect 2 "$serve" token add idle --budget=512MiB
says err "--budget is a flag of the server, and has no effect here"
expect 2 "$serve" --despite_missing --most_time=300
says err "--most_time is a flag of"
expect 2 "$serve" token remove batch --most_waiting=3
says err "--most_waiting is a flag of the server, of"
# Rights change in place: the token's hash stays.
hash=$(cut -f2 "$HOME/.local/share/footprint/tokens")
expect 2 "$serve" token set batch
says err "give one of --scopes"
expect 2 "$serve" token set none --expires=never
says err "there is no token 'none'"
expect 0 "$serve" token set batch --most_budget=none --most_time=60 --owns=//batch/... --owns='//b:x-*'
says out "batch  submit,read  never expires  most_waiting=20,most_time=60  owns //batch/...,//b:x-*"
[[ $(cut -f2 "$HOME/.local/share/footprint/tokens") == "$hash" ]] || fail "the token changed"
expect 2 "$serve" token set batch --owns='//a b'
says err "is no pattern of labels"
expect 2 "$serve" token set batch --most_waiting=0
says err "--most_waiting=none"
expect 2 "$serve" token set batch --budget=1MiB
expect 2 "$serve" token set batch --cpu_weight=10001
expect 2 "$serve" token set batch --cpu_weight=0
says err "--cpu_weight=0 would give a bundle no share of the processors; leave it out"
expect 0 "$serve" token set batch --cpu_weight=400
says out "most_time=60,cpu_weight=400"
expect 0 "$serve" token set batch --cpu_weight=none
expect 0 "$serve" token set batch --owns=none --scopes=read --expires=2h
expect 0 "$serve" token list
says out "batch  read  20"
says out "Z  most_waiting=20,most_time=60"
grep -q '"action":"token set","token":"batch","rights":"read  20' \
  "$HOME/.local/share/footprint/audit.jsonl" || fail "the audit log lacks the change"
expect 2 "$serve" token list --despite_missing
expect 2 "$serve" token list --store=
says err "--store= names no folder"
expect 0 "$serve" token remove batch
grep -q "\"who\":\"uid $(id -u)\",\"action\":\"token remove\",\"token\":\"batch\"" \
  "$HOME/.local/share/footprint/audit.jsonl" || fail "the audit log lacks the removal"
expect 2 "$serve" --despite_missing --port=70000
says err "--port must be a number"
expect 2 "$serve" --despite_missing --mode=off
says err "enforce, warn and audit"
expect 2 "$serve" --despite_missing --thresholds=/no/such.textproto
says err /no/such.textproto
echo "threshold {" >broken.textproto
expect 2 "$serve" --despite_missing --thresholds=broken.textproto
says err broken.textproto:
expect 2 "$serve" --despite_missing --lowmem=no/such_program
says err "--lowmem: no/such_program is not a program that can be run"
expect 2 env -u HOME "$serve" --despite_missing
says err "neither HOME nor XDG_DATA_HOME names a folder"
expect 2 env HOME= "$submit" nothing.bundle
says err "neither HOME nor XDG_CONFIG_HOME names a folder"
echo fpt_none >token
expect 2 "$submit" nothing.bundle --server=ftp://127.0.0.1 --token_file=token
says err "want http://HOST:PORT"
expect 2 "$serve" stop
expect 2 "$serve" --despite_missing --store=/proc/no

echo "device { name: 'box' }" >fleet.textproto
expect 2 "$serve" --despite_missing --fleet=fleet.textproto
says err fleet.textproto:
echo "schema_version: 1 device { name: 'box' ram: '65MiB' reserve: '1MiB' }" >fleet.textproto

expect 2 "$serve" --despite_missing --store=untouched --certificate=x
says err "--certificate and --key go together"
[[ -z $(find untouched -name 'tokens*' 2>/dev/null) ]] || fail "a refused start made a token"

expect 2 "$serve" --despite_missing --webhook=http://127.0.0.1:1/hook
says err "--webhook and --webhook_key go together"
echo short >webhook_key
expect 2 "$serve" --despite_missing --webhook=http://127.0.0.1:1/hook --webhook_key=webhook_key
says err "at least 16 bytes"
echo "a key of enough bytes" >webhook_key
expect 2 "$serve" --despite_missing --webhook=127.0.0.1:1 --webhook_key=webhook_key
says err "want http://HOST:PORT/PATH"

expect 2 "$serve" --despite_missing --oidc=none.textproto
says err none.textproto
echo 'schema_version: 1 issuer { url: "a" }' >oidc.textproto
expect 2 "$serve" --despite_missing --oidc=oidc.textproto
says err "oidc.textproto: the issuer 'a' needs url, audience and key_file"
expect 2 "$serve" token list --oidc=oidc.textproto

# A receiver of verdicts, which checks signatures by Python's own hmac.
python3 "$programs/../server/testdata/webhook_receiver.py" webhook_key received \
  >receiver_port 2>receiver_log &
receiver=$!
trap 'kill $receiver' EXIT
for _ in $(seq 600); do
  [[ -s receiver_port ]] && break
  sleep 0.1
done

# It starts at a free port, and ends on a signal. Its store may be a relative path.
"$serve" --despite_missing --port=0 --store=home/.local/share/footprint --fleet=fleet.textproto --time_limit=3 \
  --webhook="http://127.0.0.1:$(cat receiver_port)/hook" --webhook_key=webhook_key 2>log &
server=$!
trap 'kill $server $receiver' EXIT
for _ in $(seq 600); do
  grep -q "http://" log && break
  sleep 0.1
done
address=$(grep -o "http://[0-9.:]*" log) || { cat log; exit 1; }
[[ -s $HOME/.config/footprint/token ]] || fail "no token for submit"
grep -q '"action":"token add","token":"local"' "$HOME/.local/share/footprint/audit.jsonl" ||
  fail "the audit log lacks the first token"
# A server of another store leaves that token as it is.
expect 2 "$serve" --despite_missing --port="${address##*:}" --store="$TEST_TMPDIR/other"
says err "$TEST_TMPDIR/other/local_token"
says err "cannot listen at"
[[ $(stat -c %a other/local_token) == 600 ]] || fail "others may read the token"
# The first server of a store makes its token although others are there.
expect 0 "$serve" token add early --store="$TEST_TMPDIR/early"
says err "FOOTPRINT_TOKEN"
expect 2 "$serve" --despite_missing --port="${address##*:}" --store="$TEST_TMPDIR/early"
says err "made the token 'local', of every scope, in $TEST_TMPDIR/early/local_token"
expect 2 "$serve" --despite_missing --port="${address##*:}" --store="$TEST_TMPDIR/early"
grep -q "made the token" err && fail "the token was made twice"
# The operator's choice stays once a server has run.
expect 0 "$serve" token remove local --store="$TEST_TMPDIR/early"
expect 2 "$serve" --despite_missing --port="${address##*:}" --store="$TEST_TMPDIR/early"
grep -q "made the token" err && fail "a removed token was made again"
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
  # The server's time limit ends a program that would run for a minute.
  printf '#!/bin/sh\nexec sleep 60\n' >model/run.sh
  started=$SECONDS
  expect 3 "$submit" model --server="$address"
  says out "did not end in 3 s"
  ((SECONDS - started < 50)) || fail "--time_limit=3 did not end the program"
  printf '#!/bin/sh\nexit 0\n' >model/run.sh
  # Nothing fits one byte.
  sed -i 's/67108864/1/' model/bundle.textproto
  expect 1 "$submit" model --server="$address"
  says out REJECT
  sed -i 's/budget_bytes.*/device: "box"/' model/bundle.textproto
  expect 0 "$submit" model --server="$address"
  says out "64.0 MiB"
  sed -i 's/device.*/device: "bx"/' model/bundle.textproto
  expect 2 "$submit" model --server="$address"
  says out "did you mean"
  # A token's own limits, which the running server learns from the file.
  sed -i 's/device.*/budget_bytes: 67108864/' model/bundle.textproto
  "$serve" token add small --most_budget=32MiB --most_time=1 >small_token 2>err
  expect 2 "$submit" model --server="$address" --token_file=small_token
  says out "the submitter's token allows at most 32.0 MiB"
  sed -i 's/67108864/33554432/' model/bundle.textproto
  expect 0 "$submit" model --server="$address" --token_file=small_token
  printf '#!/bin/sh\nexec sleep 60\n' >model/run.sh
  expect 3 "$submit" model --server="$address" --token_file=small_token
  says out "did not end in 1 s"
  # Trials run in groups of processors as soon as a token has a weight.
  expect 0 "$serve" token set small --cpu_weight=400
  says out "cpu_weight=400"
  printf '#!/bin/sh\nexit 0\n# weighted\n' >model/run.sh
  expect 0 "$submit" model --server="$address" --token_file=small_token
  expect 0 "$serve" token set small --cpu_weight=none
  # A label belongs to its owner alone, whatever the request says.
  printf '#!/bin/sh\nexit 0\n# owned\n' >model/run.sh
  expect 0 "$serve" token add owner --owns=//team/...
  mv out owner_token
  expect 2 "$submit" model --server="$address" --token_file=small_token --deployment=//free:x
  says err "the label //team/model:run belongs to the token 'owner', and this is the token 'small'"
  expect 0 "$submit" model --server="$address" --token_file=owner_token
  expect 2 "$submit" model --server="$address"
  says err "ask the server's operator for \`serve token set local --owns=...\`"
  grep -q '"action":"submit refused","bundle_sha256":.*"deployment":"//team/model:run"' \
    "$HOME/.local/share/footprint/audit.jsonl" || fail "the audit log lacks the refusal"
  expect 0 "$serve" token set owner --owns=none
  expect 0 "$submit" model --server="$address"
  printf '#!/bin/sh\nexec sleep 60\n' >model/run.sh
  # A limit that the file of tokens may have, but `token add` refuses.
  sed -i 's/most_time=1$/most_time=4294967297/' "$HOME/.local/share/footprint/tokens"
  expect 3 "$submit" model --server="$address" --token_file=small_token
  says out "did not end in 3 s"
fi
for _ in $(seq 600); do
  grep -q 'state":"decided' received 2>/dev/null && break
  sleep 0.1
done
grep -q '^{"event":"verdict","trial":{.*"decision":".*"state":"decided"' received ||
  fail "the webhook was not told: $(cat receiver_log log)"
grep '" 401 ' receiver_log && fail "a signature is wrong"
grep 'webhook http' log && fail "a delivery failed"
kill $server $receiver
trap - EXIT
wait $server || fail "serve ended with $?"
