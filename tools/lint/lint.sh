#!/usr/bin/env bash
# Runs everything that reads the code without running it. With arguments, runs
# only these parts: format, buildifier, shellcheck, docs, mutations, layers,
# locks, layering, tidy.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
. tools/shell_functions.sh

readonly BUILDIFIER_VERSION=8.2.1
readonly BUILDIFIER_FOLDER=.cache/buildifier-$BUILDIFIER_VERSION
readonly PARTS=(format buildifier shellcheck docs mutations layers locks layering tidy)

lint_format() {
  need clang-format clang-format
  local files
  mapfile -t files < <(tree_files '*.h' '*.cc' '*.js')
  clang-format --dry-run --Werror "${files[@]}"
}

install_buildifier() {
  [[ -x $BUILDIFIER_FOLDER/node_modules/.bin/buildifier ]] && return
  need npm npm
  say "lint: installing buildifier $BUILDIFIER_VERSION into $BUILDIFIER_FOLDER"
  npm install --silent --no-audit --no-fund --prefix "$BUILDIFIER_FOLDER" \
    "@bazel/buildifier@$BUILDIFIER_VERSION" >&2 ||
    fail "npm could not install @bazel/buildifier@$BUILDIFIER_VERSION; it needs a" \
      "reachable npm registry: see npm config get registry"
}

lint_buildifier() {
  install_buildifier
  local files
  mapfile -t files < <(tree_files '*BUILD' '*.bzl' '*.bzl.in' WORKSPACE MODULE.bazel \
    'examples/*WORKSPACE' 'examples/*MODULE.bazel')
  # Not checked: an unsorted dict that has its own order, and overlays that
  # replace Bazel 4's built-in rules and so must name them.
  local status=0
  "$BUILDIFIER_FOLDER/node_modules/.bin/buildifier" --mode=check --lint=warn \
    --warnings=-unsorted-dict-items,-native-proto,-native-cc-proto,-native-proto-lang-toolchain,-module-docstring \
    "${files[@]}" || status=1
  # Bazel 9 has no built-in rules and providers, so no file may use one by
  # accident.
  local ours
  mapfile -t ours < <(printf '%s\n' "${files[@]}" | grep -vE '^third_party/|\.bzl\.in$')
  if grep -nE 'buildifier: disable=native-|@bazel_tools//tools/(cpp:(toolchain_utils|current_cc)|build_defs/cc)' \
    "${ours[@]}"; then
    say "lint: load these from rules_cc and its like; Bazel 9 has none of them built in"
    status=1
  fi
  return "$status"
}

lint_shellcheck() {
  need shellcheck shellcheck
  local files
  mapfile -t files < <(
    tree_files | while IFS= read -r file; do
      if [[ $file == *.sh ]] || head -c 30 "$file" | grep -aE '^#!.*\b(ba)?sh\b' >/dev/null; then
        printf '%s\n' "$file"
      fi
    done
  )
  # SC2015: the shell tests write their expectations as "expectation || fail".
  local status=0
  shellcheck --external-sources --exclude=SC2015 "${files[@]}" || status=1
  # grep -q exits at the first match. SIGPIPE then ends the writer, and pipefail
  # reports it, so a test fails from time to time.
  if grep -lE '^set -.*o pipefail' "${files[@]}" |
    xargs -r grep -nE '\| *grep -[a-zA-Z]*q' /dev/null; then
    say "lint: \"grep PATTERN >/dev/null\" where pipefail is set, not grep -q"
    status=1
  fi
  return "$status"
}

# Callers must use this on the left of ||, where a failure does not end the
# script by itself: an empty list must not count as clean. Fuzzers have the
# sources of their tests.
cc_targets() {
  bazel query --noshow_progress \
    'kind("cc_(library|binary|test) rule", //...) except attr(tags, "\bfuzz\b", //...)'
}

# Checks the dependency picture, tools/layering/layers.txt, and that each source
# includes only headers of its target's direct dependencies.
lint_layers() {
  local status=0
  bazel query --noshow_progress --noimplicit_deps --output=xml \
    '//... + @footprint_programs//:all' >.cache/rules.xml || return 1
  python3 -B tools/layering/check_layers.py --layers=tools/layering/layers.txt \
    <.cache/rules.xml || status=1
  python3 -B tools/layering/check_includes.py --tree=. <.cache/rules.xml || status=1
  return "$status"
}

# Checks that every code block of a page is a region of a built file or a
# command that is run, that every link has a target, and that names in pages and
# comments exist.
lint_docs() {
  local status=0
  python3 -B tools/docs/check_docs.py --tree=. || status=1
  python3 -B tools/docs/check_names.py --tree=. || status=1
  return "$status"
}

# Checks that each fault that no test can see still names an existing line.
lint_mutations() {
  local listing status=0
  while IFS= read -r listing; do
    python3 -B tools/mutate/mutate.py --check_list "$(dirname "$listing")" || status=1
  done < <(tree_files '*/equivalent_mutations.txt')
  return "$status"
}

# Checks that data guarded by a mutex is used only under it. Runs without Bazel,
# to be fast.
lint_locks() {
  need clang++ clang
  need protoc protobuf-compiler
  python3 -B tools/lint/check_locks.py --tree=. --work=.cache/locks
}

# Checks by clang's module maps which headers a target may include. Another
# compiler is another toolchain, so an output base of its own keeps gcc's
# results.
lint_layering() {
  need clang clang
  local base
  base=$(bazel info output_base 2>/dev/null) || return 1
  # Targets are given by name, since //... would follow bazel-FOLDER into the
  # first output base.
  cc_targets >.cache/cc_targets || return 1
  command bazel --output_base="$base-clang" build --config=layering --keep_going \
    --symlink_prefix=/ --output_groups=compilation_outputs \
    --target_pattern_file=.cache/cc_targets
}

lint_tidy() {
  need clang-tidy clang-tidy
  cc_targets >.cache/cc_targets || return 1
  bazel build --keep_going --target_pattern_file=.cache/cc_targets \
    --output_groups=compilation_outputs,compilation_prerequisites_INTERNAL_ || return 1
  bazel aquery --define=preludes=no --output=jsonproto 'mnemonic("CppCompile", //...)' >.cache/actions.json || return 1
  python3 -B tools/lint/compile_commands.py --actions=.cache/actions.json \
    --directory="$(bazel info execution_root 2>/dev/null)" --output=compile_commands.json
  python3 -B tools/lint/run_clang_tidy.py --commands=compile_commands.json \
    --cache=.cache/clang_tidy
}

main() {
  local parts=("$@") part failed=()
  (($# > 0)) || parts=("${PARTS[@]}")
  mkdir -p .cache
  for part in "${parts[@]}"; do
    declare -F "lint_$part" >/dev/null || fail "lint has no part '$part', only: ${PARTS[*]}"
    say "lint: $part"
    "lint_$part" || failed+=("$part")
  done
  ((${#failed[@]} == 0)) || {
    say "lint: failed in ${failed[*]}"
    exit 1
  }
  say "lint: ${parts[*]} are clean"
}

main "$@"
