#!/usr/bin/env bash
# Every family of models, with default flags and with each way of reading, in
# control groups of 8 to 128 MiB that count the page cache: each run ends well, or
# says the least that would do. None is killed, and what ends well has the bits of
# the run that has all memory. Needs root.
#
#   family_limits [--layers=4] [--vocabulary=32000] [--tokens=64] [--generate=4]
#
# Files of so many layers and words of each shape lie in TMPDIR. Exit codes: 0 it
# holds; 1 it does not, or could not be tried (the text says why).
set -euo pipefail

layers=4 vocabulary=32000 tokens=64 generate=4
for argument in "$@"; do
  case $argument in
    --layers=* | --vocabulary=* | --tokens=* | --generate=*)
      declare "$(cut -d= -f1 <<<"${argument#--}")=${argument#*=}"
      ;;
    *)
      printf 'family_limits: unknown argument %s\n' "$argument" >&2
      exit 1
      ;;
  esac
done
readonly BIN=$PWD/lowmem/programs
# shellcheck source=lowmem/programs/memory_cgroup.sh
source "$BIN/memory_cgroup.sh"
readonly LIMITS_MIB=(8 16 32 64 128)
readonly ENCODERS=(minilm bert-base distilbert)
readonly DECODERS=(gpt2 smollm2-135m llama-3.2-1b mistral-7b qwen2.5-0.5b qwen3-0.6b
  gemma-3-1b phi-3-mini gemma-2b olmo-2-1b smollm3-3b granite-3.3-2b)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/footprint_family.XXXXXX")
failures=0

fail() {
  printf 'family_limits: %s\n' "$*" >&2
  exit 1
}
clean() {
  remove_cgroup
  rm -rf "$work"
}
trap clean EXIT

# Prints the result of one run in the group: "ends", "least N" or what went wrong.
run_limited() {
  local model=$1 flags=$2 status=0
  # shellcheck disable=SC2086  # flags are several words.
  run_in_cgroup "$BIN/lowmem_run" "$model" --random_ids="$tokens" $flags --force \
    --output="$work/limited" >"$work/log" 2>&1 || status=$?
  if [[ $status == 0 ]]; then
    cmp -s "$work/limited" "$work/expected" && echo ends || echo "OTHER BITS"
  elif [[ $status == 1 ]] && grep -qE 'at least|least budget|are free' "$work/log"; then
    echo says
  else
    echo "EXIT $status: $(tail -1 "$work/log")"
  fi
}

try_shape() {
  local shape=$1 flags=$2 model=$work/$1 limit backend outcome line
  "$BIN/lowmem_generate" --shape="$shape" --layers="$layers" --vocabulary="$vocabulary" \
    --dtype=BF16 "$model" 2>/dev/null
  "$BIN/lowmem_pack" "$model/model.safetensors" "$model/model.safetensors" 2>/dev/null
  # shellcheck disable=SC2086
  "$BIN/lowmem_run" "$model" --random_ids="$tokens" $flags --backend=resident --force \
    --output="$work/expected" >"$work/log" 2>&1 || fail "$shape: $(cat "$work/log")"
  for backend in auto pread direct mmap resident; do
    line=
    for limit in "${LIMITS_MIB[@]}"; do
      make_cgroup "$limit"
      outcome=$(run_limited "$model" "$flags --backend=$backend")
      remove_cgroup
      [[ $outcome == ends || $outcome == says ]] || failures=$((failures + 1))
      line+=" $(printf '%-8s' "$outcome")"
    done
    printf '%-14s %-9s%s\n' "$shape" "$backend" "$line"
  done
  rm -r "$model"
}

main() {
  local shape
  printf '%s tokens, %s layers, %s words, bfloat16, 2 threads; MiB:\n' \
    "$tokens" "$layers" "$vocabulary"
  printf '%-24s' ''
  printf ' %-8s' "${LIMITS_MIB[@]}"
  printf '\n'
  for shape in "${ENCODERS[@]}"; do try_shape "$shape" ""; done
  for shape in "${DECODERS[@]}"; do try_shape "$shape" "--generate=$generate"; done
  ((failures == 0)) || fail "$failures runs were killed, failed otherwise or had other bits"
  printf 'ends: to its end, with the bits of the run with all memory; says: names the least\n'
}

main
