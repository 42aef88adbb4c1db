#!/usr/bin/env bash
# Does the profile of every benchmark have the same bytes in each fresh build?
#
#   bazel run -c opt //tools/bench:fresh_builds [-- ROUNDS]   (10 unless told)
#
# Each round builds the profiles that //gates:check judges into its own output
# root, from nothing and without any cache, and compares their sha256. Prints a
# table at the end, and exits with 1 if a profile differed.
set -euo pipefail
cd "${BUILD_WORKSPACE_DIRECTORY:?run it by: bazel run -c opt //tools/bench:fresh_builds}"
. tools/shell_functions.sh

readonly ROUNDS=${1:-10}
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/fresh_builds.XXXXXX")
readonly SCRATCH

remove_output_root() {
  [[ -d $SCRATCH/root ]] || return 0
  bazel --output_user_root="$SCRATCH/root" shutdown >/dev/null 2>&1 || true
  # Bazel writes its outputs read-only.
  chmod -R u+w "$SCRATCH/root"
  rm -rf "$SCRATCH/root"
}

clean_up() {
  remove_output_root
  rm -rf "$SCRATCH"
}

in_fresh_root() {
  local verb=$1
  shift
  bazel --output_user_root="$SCRATCH/root" "$verb" --noshow_progress \
    --symlink_prefix=/ "$@"
}

build_once() {
  local sums=$1 labels=() profiles=()
  mapfile -t labels < <(bazel --output_user_root="$SCRATCH/root" query \
    --noshow_progress 'kind("memory_profile rule", deps(//gates:check))' \
    2>/dev/null | sort)
  ((${#labels[@]} > 0)) || fail "no profile below //gates:check"
  in_fresh_root build --disk_cache= --remote_cache= "${labels[@]}" \
    2>"$SCRATCH/log" || fail "the build failed: $(tail -n 20 "$SCRATCH/log")"
  mapfile -t profiles < <(find "$SCRATCH"/root/*/execroot/*/bazel-out/*/bin \
    -name '*.profile.binpb' | sort)
  ((${#profiles[@]} == ${#labels[@]})) ||
    fail "${#labels[@]} profiles wanted, ${#profiles[@]} found"
  sha256sum "${profiles[@]}" |
    sed -E 's|^([0-9a-f]+) .*/bin/(.*)\.profile\.binpb$|\2 \1|' | sort >"$sums"
}

main() {
  local round
  trap clean_up EXIT
  for ((round = 1; round <= ROUNDS; ++round)); do
    say "fresh_builds: round $round of $ROUNDS"
    remove_output_root
    build_once "$SCRATCH/sums.$round"
  done
  printf '| profile | sha256, first 16 digits | different in %d fresh builds |\n' "$ROUNDS"
  printf '|---|---|---|\n'
  # shellcheck disable=SC2016  # $1 is awk's.
  cat "$SCRATCH"/sums.* | sort -u | awk '
    { ++count[$1]; sum[$1] = substr($2, 1, 16) }
    END {
      for (name in count) {
        printf "| %s | %s | %d |\n", name, sum[name], count[name]
        differing += count[name] > 1
      }
      exit differing > 0
    }' | sort
}

main "$@"
