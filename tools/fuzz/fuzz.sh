#!/usr/bin/env bash
# Builds the fuzz targets with clang, libFuzzer and the address sanitizer, and
# runs each on a copy of its corpus for a limited time. `--help` teaches.
set -uo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." || exit 2
. tools/shell_functions.sh

readonly RSS_LIMIT_MB=2048
readonly MAX_INPUT_BYTES=8192
readonly SECONDS_A_RUN=10
readonly FOLDER=$PWD/.cache/fuzz

usage() {
  cat >&2 <<END
usage: tools/dev fuzz [TARGET ...] [--seconds=N] [--build_only]
       tools/dev fuzz --planted [TARGET ...] [--seconds=N]

Runs the fuzz targets, or those named: each for N seconds (60) of time that
passes, on inputs of at most $MAX_INPUT_BYTES bytes, with at most $RSS_LIMIT_MB MB of memory
and $SECONDS_A_RUN seconds a run. For each, a line: how many inputs were run, how many
edges and features of the code they reached (at the start and in the end), how
many inputs were new, and findings.

  TARGET         as in //base/safetensors:safetensors_fuzz, or safetensors_fuzz
  --seconds=N    a whole number above zero
  --build_only   builds, and runs nothing
  --list         the targets, one a line
  --planted      whether each finds the fault that planted_faults.txt plants in
                 its parser, within N seconds (600)

New inputs stay in .cache/fuzz/TARGET/corpus, and the next run goes on from
them. An input that is a finding stays in .cache/fuzz/TARGET/findings, and the
command that repeats it is printed: mend the parser, and put the input into the
testdata of its corpus, so that the ordinary test replays it from then on.

Before a release: tools/dev fuzz --seconds=600
Exit 0: no finding; 1: findings; 2: wrong use; 3: a target did not build.
END
}

all_targets() {
  bazel query --noshow_progress 'attr(tags, "\bfuzz\b", kind(cc_binary, //...))' \
    2>"$FOLDER/query.log" || {
    cat "$FOLDER/query.log" >&2
    fail "bazel query failed: the fuzz targets are not known"
  }
}

# Sets `targets` to the labels that the arguments name.
choose_targets() {
  local known word label
  known=$(all_targets) || exit 2
  mapfile -t known <<<"$known"
  if (($# == 0)); then
    targets=("${known[@]}")
    return
  fi
  for word in "$@"; do
    local found=()
    for label in "${known[@]}"; do
      [[ $label == "$word" || ${label##*:} == "$word" ]] && found+=("$label")
    done
    ((${#found[@]} == 1)) || {
      say "there are: ${known[*]}"
      fail "no fuzz target '$word'"
    }
    targets+=("${found[0]}")
  done
}

# Prints the source files of a program, one per line, without generated files.
sources_of() {
  sed -n "s|^[^ ]* \($PWD/.*\)|\1|p" "$1.runfiles/MANIFEST" | grep -v /bazel-out/
}
corpus_of() { sources_of "$1" | grep -v '\.dict$'; }
# Prints the dictionary of the target's format, if there is one.
dictionary_of() { sources_of "$1" | grep '\.dict$' | head -n1; }

# Prints the last number that libFuzzer's log has after a word.
last_after() { grep -oE "$1 *[0-9]+" "$2" | tail -n1 | grep -oE '[0-9]+$' || echo 0; }
first_after() { grep -E 'INITED' "$2" | grep -oE "$1 *[0-9]+" | head -n1 | grep -oE '[0-9]+$' || echo 0; }

# Prints what a run found. Returns 1 if there are findings.
tell() {
  local label=$1 folder=$2 status=$3 file count=0
  local log=$folder/log
  printf '%-58s %9s runs, edges %s to %s, features %s to %s, %s new inputs\n' \
    "$label" "$(last_after 'stat::number_of_executed_units:' "$log")" \
    "$(first_after 'cov:' "$log")" "$(last_after 'cov:' "$log")" \
    "$(first_after 'ft:' "$log")" "$(last_after 'ft:' "$log")" \
    "$(last_after 'stat::new_units_added:' "$log")"
  for file in "$folder"/findings/*; do
    [[ -e $file && $file -nt $folder/start ]] || continue
    count=$((count + 1))
    say "FINDING: $file"
    say "  repeat it: bazel run --config=fuzz $label -- $file"
  done
  if ((count == 0 && status == 0)); then return 0; fi
  grep -m1 -A6 -E '^==[0-9]+== *ERROR|^fuzz target:|SUMMARY:' "$log" >&2
  say "  exit $status; all that was said: $log"
  return 1
}

run_target() {
  local label=$1 seconds=$2 status=0 name folder program dictionary
  name=${label##*:}
  program=bazel-bin/$(sed 's|^//||; s|:|/|' <<<"$label")
  folder=$FOLDER/$name
  mkdir -p "$folder/corpus" "$folder/findings" "$folder/seeds"
  rm -f "$folder"/seeds/*
  corpus_of "$program" >"$folder/seeds.list"
  local number=0 file
  while IFS= read -r file; do
    number=$((number + 1))
    cp "$file" "$folder/seeds/$number" || return 2
  done <"$folder/seeds.list"
  ((number > 0)) || fail "$label has no corpus in $program.runfiles/MANIFEST"
  dictionary=$(dictionary_of "$program")
  touch "$folder/start"
  ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} \
    "$program" \
    -max_total_time="$seconds" -max_len="$MAX_INPUT_BYTES" \
    -rss_limit_mb="$RSS_LIMIT_MB" -timeout="$SECONDS_A_RUN" \
    ${dictionary:+"-dict=$dictionary"} \
    -print_final_stats=1 -artifact_prefix="$folder/findings/" \
    "$folder/corpus" "$folder/seeds" >"$folder/log" 2>&1 || status=$?
  tell "$label" "$folder" "$status"
}

main() {
  local seconds=60 build_only=false list=false words=() targets=() label failed=()
  if [[ ${1-} == --planted ]]; then
    need clang clang
    exec python3 -B tools/fuzz/find_planted_faults.py "${@:2}"
  fi
  for word in "$@"; do
    case $word in
      --help) usage && exit 0 ;;
      --list) list=true ;;
      --build_only) build_only=true ;;
      --seconds=*)
        seconds=${word#--seconds=}
        [[ $seconds =~ ^[1-9][0-9]{0,5}$ ]] ||
          fail "--seconds is a whole number above zero, not '$seconds'"
        ;;
      -*) fail "fuzz knows no '$word'; see tools/dev fuzz --help" ;;
      *) words+=("$word") ;;
    esac
  done
  mkdir -p "$FOLDER"
  choose_targets "${words[@]}"
  if $list; then
    printf '%s\n' "${targets[@]}"
    exit 0
  fi
  need clang clang
  bazel build --config=fuzz "${targets[@]}" || exit 3
  if $build_only; then exit 0; fi
  for label in "${targets[@]}"; do
    run_target "$label" "$seconds" || failed+=("$label")
  done
  ((${#failed[@]} == 0)) || {
    say "fuzz: findings in ${failed[*]}"
    exit 1
  }
}

main "$@"
