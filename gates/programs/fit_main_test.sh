#!/usr/bin/env bash
# Tests the exit status and message of fit_main, for what-if questions and bad
# input.
set -uo pipefail
readonly FIT="$PWD/gates/programs/fit_main" ENCODE="$PWD/gates/judge/encode_profile_main"
cd "$TEST_TMPDIR" || exit 2
failures=0

# profile NAME BYTES: writes NAME.binpb with the label //a:NAME.
profile() {
  printf 'label: "//a:%s" process_count: 3 benchmarks { name: "BM_X" metrics {
    kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: %s } }' "$1" "$2" >"$1.profile.textproto"
  "$ENCODE" "$1.profile.textproto" "$1.binpb" || exit 2
  printf 'profile\t%s.binpb\t//a:%s\n' "$1" "$1" >>manifest
}
# expect STATUS PATTERN ARGUMENT ...
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$FIT" --manifest=manifest "$@" >out 2>&1
  status=$?
  if ((status != wanted)) || ! grep -qE -- "$pattern" out; then
    echo "FAILED: fit $*: status $status, not $wanted, or no line like: $pattern"
    cat out
    failures=$((failures + 1))
  fi
}

profile ranker 300
profile price 500
cat >fleet.textproto <<'END'
# proto-file: gates/fleet/fleet.proto
# proto-message: footprint.Fleet
schema_version: 1
device { name: "box" ram: "1000" reserve: "100" deployment: "ranker" }
device { name: "typo" ram: "1000" deployment: "ranker" }
device { name: "bare" ram: "1000" }
deployment { name: "ranker" label: "//a:ranker" }
deployment { name: "price" label: "//a:price" }
deployment { name: "gone" label: "//a:gone" }
END
expect 0 '^FITS box, 600 B left of 1000 B \(60.0 %\)' --fleet=fleet.textproto box
expect 0 '^ranker +300 B +heap +BM_X' --fleet=fleet.textproto box
expect 0 '^FITS box, 100 B left' --fleet=fleet.textproto box --with=price
expect 1 '^DOES NOT FIT box, 100 B too much of 800 B' --fleet=fleet.textproto box --with=price --ram=800
expect 1 '^DOES NOT FIT box, ' --fleet=fleet.textproto box --ram=1
expect 0 '^FITS box, 900 B left' --fleet=fleet.textproto box --without=ranker
expect 2 'has no device "bix" [(]did you mean "box"[?][)]' --fleet=fleet.textproto bix
expect 2 'has no deployment "prize" [(]did you mean "price"[?][)]' --fleet=fleet.textproto box --with=prize
expect 2 'deployment "gone" is //a:gone, of which no profile' --fleet=fleet.textproto box --with=gone
expect 2 'fleet.textproto: no deployment runs on "bare"' --fleet=fleet.textproto bare
expect 2 'name a device of fleet.textproto: box typo bare' --fleet=fleet.textproto
expect 2 'names two devices' --fleet=fleet.textproto box typo
expect 2 'far' --fleet=fleet.textproto box --ram=far
expect 2 'with' --fleet=fleet.textproto box --wit=price
expect 2 'none.textproto' --fleet=none.textproto box
expect 2 'run a memory_fleet_fit target' box
expect 0 'bazel run //gates:fit -- edge_box' --help

sed 's/deployment: "ranker" }$/deployment: "rankr" }/; 4q' fleet.textproto >bad.textproto
echo 'deployment { name: "ranker" label: "//a:ranker" }' >>bad.textproto
expect 2 'bad.textproto:4:1: device "box" names deployment "rankr".*did you mean "ranker"' --fleet=bad.textproto box

printf 'label: "//a:ranker" failure { kind: EXITED exit_status: 1 }' >failed.profile.textproto
"$ENCODE" failed.profile.textproto ranker.binpb || exit 2
expect 3 'has a failure, so its peak is not known' --fleet=fleet.textproto box

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
