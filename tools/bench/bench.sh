#!/usr/bin/env bash
# Runs every target tagged `bench` (or the named ones), one after the other, and
# writes the output of each to results/PACKAGE_NAME.txt, below a header that
# says how, where and from what it was made.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
. tools/shell_functions.sh

header() {
  local command=$1
  printf '# command: %s\n' "$command"
  printf '# commit: %s%s\n' "$(git rev-parse --short=12 HEAD)" \
    "$(git diff --quiet HEAD || printf ' with changes not committed')"
  printf '# date: %s\n' "$(date -u +%Y-%m-%d)"
  printf '# processor: %s, %s in use\n' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)"
  printf '# memory: %s kB\n' "$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)"
  printf '# system: %s, Linux %s, %s\n' \
    "$(. /etc/os-release && printf '%s' "$PRETTY_NAME")" "$(uname -r)" \
    "$(gcc --version | head -n 1)"
}

main() {
  local targets=("$@") target failed=() table command
  if (($# == 0)); then
    mapfile -t targets < <(bazel query --noshow_progress 'attr(tags, "\bbench\b", //...)')
  fi
  ((${#targets[@]} > 0)) || fail "no target is tagged bench"
  mkdir -p results
  for target in "${targets[@]}"; do
    table=${target#//}
    table=results/$(tr '/:' '__' <<<"$table").txt
    command="bazel run -c opt $target"
    say "bench: $target -> $table"
    header "$command" >"$table.unfinished"
    if bazel run -c opt "$target" >>"$table.unfinished"; then
      mv "$table.unfinished" "$table"
    else
      failed+=("$target")
      say "bench: $target failed; what it printed is in $table.unfinished"
    fi
  done
  ((${#failed[@]} == 0)) || {
    say "bench: ${#failed[@]} of ${#targets[@]} failed: ${failed[*]}"
    exit 1
  }
}

main "$@"
