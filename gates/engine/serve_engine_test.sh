#!/usr/bin/env bash
# Tests `serve --engine` with `try`: trials by a command, whose verdicts are
# those of local trials, and a server that ends while a command runs.
set -euo pipefail
programs=$PWD/gates/programs
export HOME=$TEST_TMPDIR/home
unset XDG_CONFIG_HOME XDG_DATA_HOME FOOTPRINT_TOKEN FOOTPRINT_SERVER BUILD_WORKING_DIRECTORY
mkdir -p "$HOME"
cd "$TEST_TMPDIR"
try=$programs/try_main serve=$programs/serve submit=$programs/submit

fail() {
  echo "FAILED: $*" >&2
  cat out err log >&2 || true
  exit 1
}
# expect STATUS PROGRAM ARGUMENT...
expect() {
  local want=$1 status=0
  shift
  timeout 300 "$@" >out 2>err || status=$?
  [[ $status == "$want" ]] || fail "$* ended with $status, not $want"
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say: $2"; }
await() {
  for _ in $(seq 1200); do
    if "$@"; then return; fi
    sleep 0.05
  done
  fail "never: $*"
}

echo "a key of enough bytes" >key
run="$try --bundle={bundle} --order={order} --result={result} --key=$PWD/key"

# Mistakes are found when the server starts.
expect 2 "$serve" --engine="$run"
says err "--engine needs --engine_key"
expect 2 "$serve" --engine="$run {limits}" --engine_key=key
says err 'did you mean "limit"?'
expect 2 "$serve" --engine="$run > log" --engine_key=key
says err "no shell reads this command"
expect 2 "$serve" --engine_wait=5 --despite_missing
says err "--engine_wait has no effect without --engine"
expect 2 "$serve" token list --engine="$run"
says err "--engine is a flag of the server"
expect 2 "$try" --bundle=x --order=y --result=z
says err "give --key a file"
expect 2 "$try" --bundle=x --order=y --result=z --key=key --budget=1MiB
says err "the server says all but --lowmem"
expect 2 "$try" --bundle=x --order=y --result=z --key=key
says err "y: "

if ! "$try" --host >host; then
  echo "not tried here, since this host has no sandbox: $(cat host)"
  exit 0
fi

# start ARGUMENT...: starts a server and sets `server` and `address`.
start() {
  : >log
  "$serve" --unexplained --port=0 --engine_key=key "$@" 2>>log &
  server=$!
  trap 'kill $server 2>/dev/null || true' EXIT
  await grep -q "Ctrl-C ends it" log
  address=$(grep -o "http://[0-9.:]*" log)
}
# end SIGNAL: ends the server.
end() {
  kill -s "$1" "$server"
  wait "$server" || true
}
# bundle NAME BUDGET: makes the folder of a bundle.
bundle() {
  mkdir -p "$1"
  printf '#!/bin/sh\n# %s\nexit 0\n' "$1" >"$1/run.sh"
  chmod +x "$1/run.sh"
  printf '%s\n' '# proto-file: gates/bundles/bundle.proto' \
    '# proto-message: footprint.BundleManifest' "schema_version: 1 kind: NATIVE_PROGRAM entry: 'run.sh'" \
    "budget_bytes: $2 label: '//team/model:$1' time_limit_seconds: 5" >"$1/bundle.textproto"
}

bundle fits 67108864
bundle exceeds 1
cat >log_words.sh <<'END'
#!/bin/sh
# Logs its words, and runs the last ones.
printf '%s\n' "$1 $2 $3" >>words
shift 3
exec "$@"
END
chmod +x log_words.sh
start --engine="./log_words.sh {trial} {limit} {seconds} $run"
expect 0 "$submit" fits --server="$address" --format=text
says out //team/model:fits
expect 1 "$submit" exceeds --server="$address"
says out REJECT
# The limit is twice the budget and 64 MiB for the run and 64 MiB for `try`, or
# what unpacking needs; the time that of three runs and of unpacking.
grep -qE '^[0-9a-f]{16}-[0-9a-f]{16} 256 915$' words || fail "words: $(cat words)"
[[ $(wc -l <words) == 2 ]] || fail "more than one attempt each: $(cat words)"
end TERM
# The verdicts are those of trials here, which a server without the engine keeps.
: >log
"$serve" --unexplained --port=0 2>>log &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
await grep -q "Ctrl-C ends it" log
address=$(grep -o "http://[0-9.:]*" log)
expect 0 "$submit" fits --server="$address"
says err "the verdict was there already"
end TERM

# A command that hangs ends with its server, and the next server tries again.
cat >hang_once.sh <<'END'
#!/bin/sh
# Hangs, in a child of its own, until there is a file.
if [ ! -e go_on ]; then
  sleep 1000 &
  echo "$$ $!" >hanging
  wait
fi
exec "$@"
END
chmod +x hang_once.sh
# ended PIDS: returns whether the processes have ended, also if none has waited for
# them.
ended() {
  local each
  for each in $1; do
    [[ ! -e /proc/$each ]] || grep '^State:.*Z' "/proc/$each/status" >/dev/null || return 1
  done
}
for signal in TERM KILL; do
  rm -f go_on hanging
  bundle "hung_$signal" 67108864
  start --engine="./hang_once.sh $run"
  expect 4 "$submit" "hung_$signal" --server="$address" --wait=2
  await test -s hanging
  end "$signal"
  await ended "$(cat hanging)"
  touch go_on
  start --engine="./hang_once.sh $run"
  expect 0 "$submit" "hung_$signal" --server="$address"
  end TERM
  [[ -z $(ls -A "$HOME"/.local/share/footprint/trials-*) ]] || fail "a trial left its folder"
done

# What a killed `try` left on a host ends with the next one.
bundle sleeps 67108864
printf '#!/bin/sh\nsleep 1000\n' >sleeps/run.sh
mkdir tmp
TMPDIR=$PWD/tmp "$try" sleeps --unexplained 2>>log &
tries=$!
await compgen -G 'tmp/footprint-try-*/trial-*/bundle/run.sh' >/dev/null
kill -s KILL $tries
wait $tries || true
[[ -n $(ls -A tmp) ]] || fail "a killed try left nothing"
TMPDIR=$PWD/tmp expect 0 "$try" fits --unexplained
[[ -z $(ls -A tmp) ]] || fail "a try left $(find tmp)"

# A host of another kind gives no verdict on memory.
sed 's/^Linux.*/Linux 0.1/' host >other_host
bundle elsewhere 67108864
start --engine="$run" --engine_host=other_host
expect 5 "$submit" elsewhere --server="$address"
says out "is a host of another kind"
end TERM

# An engine that never gives a result is given up, and said so.
bundle lost 67108864
start --engine="false $run" --engine_attempts=2
expect 4 "$submit" lost --server="$address"
says out "the engine failed in 2 attempts"
says log "attempt 1: the command ended with status 1, and there is no result"
end TERM
