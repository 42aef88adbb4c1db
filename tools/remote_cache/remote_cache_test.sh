#!/usr/bin/env bash
# remote_cache_test.sh [--seed=DISK_CACHE]: tests --config=remote_cache against
# nginx (Debian's nginx-light) on the loopback device, with two checkouts of
# this tree and its own program that is measured and judged. Takes minutes,
# since the first checkout builds the tools unless a folder of --disk_cache has
# them.
#
# It proves that a second checkout judges without measuring an exact figure
# again (except that of the whole process, which belongs to its machine); that a
# machine with another fingerprint measures by itself; and that a cache which
# returns damaged or forged content, is full or is down costs time and no
# verdict.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
readonly CONFIGURATION=$PWD/tools/remote_cache/nginx.conf.in
seed=
for argument in "$@"; do
  case $argument in
    --seed=*) seed=$(realpath "${argument#--seed=}") ;;
    *) echo "$0: there is no '$argument', only --seed=DISK_CACHE" >&2; exit 2 ;;
  esac
done
command -v nginx >/dev/null || { echo "$0: apt-get install nginx-light" >&2; exit 2; }

folder=$(mktemp -d "${seed:+$(dirname "$seed")/}remote_cache.XXXXXX") || exit 2
folder=$(realpath "$folder")
server=
failures=0

# shellcheck disable=SC2317  # called by the trap, too
stop_server() {
  [[ -n $server ]] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
  server=
}
# shellcheck disable=SC2317  # called by the trap
finish() {
  stop_server
  local checkout
  for checkout in a b; do
    [[ -d $folder/$checkout ]] && (cd "$folder/$checkout" &&
      bazel --output_user_root="$folder/root.$checkout" shutdown) >/dev/null 2>&1
  done
  # This leaves out the cache, whose files may be links to the seed's.
  chmod -R u+w "$folder"/root.* 2>/dev/null
  rm -rf "$folder"
}
trap finish EXIT

# start_server PUTS: starts the server; PUTS says how it handles uploads.
start_server() {
  stop_server
  sed -e "s|PORT|$port|; s|ROOT|$folder|g; s|PUTS|$1|" "$CONFIGURATION" >"$folder/nginx.conf"
  nginx -c "$folder/nginx.conf" 2>"$folder/nginx.out" &
  server=$!
  local attempt
  for ((attempt = 0; attempt < 50; ++attempt)); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
    sleep 0.1
  done
  echo "nginx did not start:"; cat "$folder/nginx.out" "$folder/error.log"
  exit 2
}
# shellcheck disable=SC2016  # $request_method is nginx's
readonly TAKES_ALL='dav_methods PUT; create_full_put_path on;' IS_FULL='if ($request_method = PUT) { return 507; }'
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# Makes the tree as it is here, and a program that was not measured before. The
# probe's size comes from the time in microseconds, so an equal size was
# measured long ago at most.
PROBE=$(($(date +%s%N) / 1000))
checkout() {
  mkdir -p "$folder/$1/probe"
  git ls-files -co --exclude-standard -z |
    tar -c --null -T - | tar -x -C "$folder/$1"
  rm -f "$folder/$1/user.bazelrc"
  cat >"$folder/$1/probe/BUILD" <<'END'
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("//gates:defs.bzl", "memory_gate_test")
load("//profiling:defs.bzl", "memory_profile")

cc_binary(
    name = "benchmark",
    testonly = True,
    srcs = ["benchmark.cc"],
    malloc = "//profiling:exact_heap",
    deps = [
        "//profiling:benchmark_main",
        "@google_benchmark//:benchmark",
    ],
)

memory_profile(
    name = "profile",
    testonly = True,
    benchmark = ":benchmark",
)

memory_gate_test(
    name = "gate_test",
    profile = ":profile",
    thresholds = ["limit.textproto"],
)
END
  edit "$1" 0
  limit "$1" 200000
}
# edit CHECKOUT NUMBER: the same number gives the same program.
edit() {
  cat >"$folder/$1/probe/benchmark.cc" <<END
#include <vector>
#include "benchmark/benchmark.h"
namespace {
void BM_Probe(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<char> bytes($((100000 + PROBE % 50000 + 16 * $2)));
    benchmark::DoNotOptimize(bytes.data());
  }
}
BENCHMARK(BM_Probe);
}  // namespace
END
}
# limit CHECKOUT BYTES: writes the limit that the gate judges by.
limit() {
  cat >"$folder/$1/probe/limit.textproto" <<END
# proto-file: gates/judge/gate.proto
# proto-message: footprint.ThresholdFile
schema_version: 1
threshold {
  selector { label: "//probe:benchmark" benchmark: "BM_Probe" }
  metric: PEAK_LIVE_USABLE_BYTES
  max_bytes: $2
}
threshold {
  selector { label: "//probe:benchmark" benchmark: "whole_process/profile" }
  metric: PEAK_RESIDENT_BYTES
  max_bytes: 1000000000
}
END
}

# judge CHECKOUT [FLAG...]: returns the status of the gate. Sets `measured`, the
# number of measurements, and `hits`, the number of measurements that came from
# the cache.
judge() {
  local name=$1 status
  shift
  (cd "$folder/$name" && bazel --output_user_root="$folder/root.$name" test \
    --noshow_progress --config=remote_cache --remote_cache="http://127.0.0.1:$port" \
    --remote_upload_local_results --disk_cache= --execution_log_json_file="$folder/log.json" \
    --test_output=summary "$@" //probe:gate_test) >"$folder/out" 2>&1
  status=$?
  read -r measured hits < <(python3 - "$folder/log.json" <<'END'
import json, sys
text, place, decoder = open(sys.argv[1]).read(), 0, json.JSONDecoder()
measured = hits = 0
while place < len(text):
    action, place = decoder.raw_decode(text, place)
    while place < len(text) and text[place].isspace():
        place += 1
    if action.get("mnemonic") == "MemoryProfile":
        is_hit = action.get("remoteCacheHit") or "cache hit" in action.get("runner", "")
        hits, measured = hits + bool(is_hit), measured + (not is_hit)
print(measured, hits)
END
)
  return "$status"
}

# expect WHAT STATUS MEASURED CHECKOUT [FLAG...]: judges and checks both
# numbers.
expect() {
  local what=$1 wanted=$2 wanted_measured=$3 status=0 begin=$SECONDS
  shift 3
  judge "$@" || status=$?
  if ((status == wanted)) && [[ $measured == "$wanted_measured" ]]; then
    echo "ok: $what ($measured measured, $hits from the cache, $((SECONDS - begin)) s)"
  else
    echo "FAILED: $what: status $status, not $wanted; $measured measured, not $wanted_measured; $hits from the cache"
    tail -n 30 "$folder/out"
    failures=$((failures + 1))
  fi
}

# Checks that checkout b's last verdict is a rejection, since Bazel uses the
# same status for a wrong command.
expect_rejection() {
  local log=$folder/b/bazel-testlogs/probe/gate_test/test.log
  if ! grep '^REJECT ' "$log" >/dev/null; then
    echo "FAILED: no REJECT, but:"
    tail -n 12 "$log"
    failures=$((failures + 1))
  fi
}

# Prints the path of the blob of a checkout's profile in the cache.
profile_blob() {
  local digest
  digest=$(sha256sum <"$folder/$1/bazel-bin/probe/profile.profile.binpb" | cut -d' ' -f1)
  echo "$folder/cache/cas/${digest:0:2}/$digest"
}
# Replaces a file by a new one, since a blob may be a hard link of the seed.
replace() { cat >"$folder/new" && mv -f "$folder/new" "$1"; }

mkdir -p "$folder/cache"
if [[ -n $seed ]]; then
  cp -al "$seed/ac" "$seed/cas" "$folder/cache/" || exit 2
fi
checkout a
checkout b
start_server "$TAKES_ALL"

expect "the first checkout measures" 0 1 a
expect "a second checkout judges with nothing measured again" 0 0 b
((hits == 1)) || { echo "FAILED: its profile is not the cache's"; failures=$((failures + 1)); }
expect "another system measures itself" 0 1 b --repo_env=FOOTPRINT_SYSTEM=another
expect "this system again takes its own" 0 0 b

# A limit below the peak also rejects with the cache's profile.
limit b 1000
expect "an edit of a limit rejects, and measures nothing" 3 0 b
expect_rejection
limit b 200000

# This content does not match its name: it is cut, or is another valid profile.
blob=$(profile_blob a)
[[ -f $blob ]] || { echo "FAILED: the profile is not in the cache"; failures=$((failures + 1)); }
cp "$blob" "$folder/profile"
expect_damage() {
  (cd "$folder/b" && bazel --output_user_root="$folder/root.b" clean) >/dev/null 2>&1
  expect "$1: measured here instead" 0 1 b
  cmp -s "$folder/profile" "$folder/b/bazel-bin/probe/profile.profile.binpb" ||
    { echo "FAILED: $1: another profile was accepted"; failures=$((failures + 1)); }
}
head -c 20 "$folder/profile" | replace "$blob"
expect_damage "a blob that is cut"
tr 'a-y' 'b-z' <"$folder/profile" | replace "$blob"
expect_damage "a blob of the same size and other content"
rm -f "$blob"
expect_damage "a blob that is gone"
# This damages the action's entry.
digest=$(basename "$blob")
while read -r entry; do
  head -c 30 "$entry" | replace "$entry"
done < <(grep -lr --binary-files=text "$digest" "$folder/cache/ac" 2>/dev/null)
expect_damage "an entry that is cut"

edit b 1
start_server "$IS_FULL"
expect "a full cache" 0 1 b
edit b 2
stop_server
expect "a cache that is down" 0 1 b
limit b 1000
expect "a cache that is down rejects, too" 3 0 b
expect_rejection

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
