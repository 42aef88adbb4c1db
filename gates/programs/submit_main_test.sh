#!/usr/bin/env bash
# Tests submit against a server whose trials end at once: verdicts, exit
# statuses, and the next step in each error.
set -euo pipefail
programs=$PWD/gates/programs
export HOME=$TEST_TMPDIR/home
unset XDG_CONFIG_HOME FOOTPRINT_TOKEN FOOTPRINT_SERVER BUILD_WORKING_DIRECTORY
mkdir -p "$HOME"

fail() {
  echo "FAILED: $*" >&2
  cat "$TEST_TMPDIR/out" "$TEST_TMPDIR/err" >&2
  exit 1
}

# expect STATUS ARGUMENT...: checks the exit status of submit; its output is in
# out and err.
expect() {
  local want=$1 status=0
  shift
  "$submit" "$@" > "$TEST_TMPDIR/out" 2> "$TEST_TMPDIR/err" || status=$?
  [[ $status == "$want" ]] || fail "submit $* ended with $status, not $want"
}
says() { grep -qF -- "$2" "$TEST_TMPDIR/$1" || fail "$1 does not say: $2"; }

# A copy in an empty folder works as well.
mkdir "$TEST_TMPDIR/alone"
cp -L "$programs/submit" "$TEST_TMPDIR/alone/submit"
submit=$TEST_TMPDIR/alone/submit

mkfifo "$TEST_TMPDIR/ready"
gates/server/serve_example "$TEST_TMPDIR/store" 0 > "$TEST_TMPDIR/ready" &
server=$!
trap 'kill $server' EXIT
read -r port token < "$TEST_TMPDIR/ready"
export FOOTPRINT_SERVER=http://127.0.0.1:$port

cd "$TEST_TMPDIR"
mkdir model
cat > model/bundle.textproto <<'END'
# proto-file: gates/bundles/bundle.proto
# proto-message: footprint.BundleManifest
schema_version: 1
kind: NATIVE_PROGRAM
entry: "run.sh"
budget_bytes: 10000000
END
printf '#!/bin/sh\nexit 0\n' > model/run.sh
chmod +x model/run.sh
echo "reject this" > rejected.bundle

# The manifest in the help text is valid.
mkdir shown
"$submit" --help | sed -n '/^  schema_version/,/^$/p' > shown/bundle.textproto
touch shown/fit.py shown/table.csv
expect 0 shown --make=shown.bundle

expect 2 model
says err "serve token add"
export FOOTPRINT_TOKEN=$token
expect 0 model
says out ACCEPT
says out //models:example
says err "submit: sending"
expect 0 model
says err "the verdict was there already"

# The token is from a file, and the bundle is an archive file.
unset FOOTPRINT_TOKEN
mkdir -p "$HOME/.config/footprint"
echo "$token" > "$HOME/.config/footprint/token"
expect 0 model --make=made.bundle
expect 0 made.bundle
says err "the verdict was there already"
expect 1 rejected.bundle --format=junit --output=verdict.xml
grep -q "<testsuite" verdict.xml || fail "no JUnit in verdict.xml"
expect 1 rejected.bundle --all
says out REJECT

# A folder or a file that is too large is refused before it is read.
mkdir large && cp model/* large
truncate -s 40G large/rows.bin
expect 2 large
says err "large: its files have 40.0 GiB"
says err "of which rows.bin has 40.0 GiB (42,949,672,960 B), and a bundle may have 4.00 GiB"
says err "raise --most_bundle of"
truncate -s 2G large.bundle
expect 2 large.bundle
says err "large.bundle: has 2.00 GiB (2,147,483,648 B), and $FOOTPRINT_SERVER takes bundles of 1.00 GiB"
# Nobody packs a folder for a server that is not there.
expect 2 large --server=http://127.0.0.1:1
says err "no server answers"

# A signal ends the packing, and no file stays but what was there before. A job in the background of a
# script would ignore SIGINT, so Python starts it.
mkdir temporary
cat > stop.py <<'END'
import os, signal, subprocess, sys, time
number = getattr(signal, "SIG" + sys.argv[1])
signal.signal(number, signal.SIG_DFL)
process = subprocess.Popen(sys.argv[2:])
while not any(each.endswith(".footprint-partial") for folder in (".", "temporary") for each in os.listdir(folder)):
    assert process.poll() is None, "it ended by itself"
    time.sleep(0.01)
process.send_signal(number)
sys.exit(process.wait() != -number)
END
for signal in TERM INT HUP; do
  for sends in "" --make=earlier.bundle; do
    echo earlier > earlier.bundle
    # What a server takes at most is packed for seconds.
    truncate -s "$([[ -n $sends ]] && echo 40G || echo 4000M)" large/rows.bin
    TMPDIR=$PWD/temporary /usr/bin/python3 -B stop.py "$signal" "$submit" large $sends 2> err ||
      fail "SIG$signal does not end submit $sends"
    [[ -z $sends ]] || says err "and a server takes 4.00 GiB (4,294,967,296 B) unless"
    [[ -z $(ls -A temporary; find . -name '*footprint-partial') ]] ||
      fail "files stay after SIG$signal: $(ls -A . temporary)"
    [[ $(< earlier.bundle) == earlier ]] || fail "SIG$signal removes what was there"
  done
done
rm -r large large.bundle earlier.bundle

TMPDIR=/no/such expect 2 model
says err "/no/such/footprint-submit-"
says err "set TMPDIR to a folder that can be written"

# A trial without a verdict on memory runs again on request.
echo "flaky one" > flaky.bundle
expect 4 flaky.bundle
expect 4 flaky.bundle
says err "there already; --again runs it once more"
expect 0 flaky.bundle --again
says out ACCEPT
expect 0 flaky.bundle
says err "the verdict was there already"
expect 1 rejected.bundle --again
says err "the verdict was there already"

echo wrong > token
expect 2 rejected.bundle --token_file=token
says err "no such token"

# A command prints another token at its second call.
expect 0 model --token_command="if test -e called; then echo $token; else echo old; touch called; fi"
says out ACCEPT
[[ -e called ]] || fail "the command did not run"
expect 2 model --token_command="exit 3"
says err "--token_command: the command failed: exit 3"
expect 2 model --token_command=true
says err "printed nothing"
expect 2 model --token_command=true --token_file=token
says err "either --token_file or --token_command"
expect 2 rejected.bundle --server=http://127.0.0.1:1
says err "bazel run //gates:serve"
expect 2 /no/such.bundle
says err "/no/such.bundle"
rm model/run.sh
expect 2 model
says err run.sh
expect 2
says err "name a bundle"
expect 2 rejected.bundle --wait=soon
expect 2 rejected.bundle --formt=text
expect 0 --help
says out "Exit status"
echo "slow one" > slow.bundle
expect 4 slow.bundle --wait=0
says err "--wait"
