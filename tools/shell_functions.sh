# Sourced by the commands of tools/dev: how they speak, fail and call Bazel.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

# Wrong use or a machine that lacks something; 1 is for a check that failed.
fail() {
  say "tools/dev: $*"
  exit 2
}

# Bazel, with an output root of the caller's choice:
#   FOOTPRINT_OUTPUT_USER_ROOT=/somewhere tools/dev test
bazel() {
  command bazel ${FOOTPRINT_OUTPUT_USER_ROOT:+"--output_user_root=$FOOTPRINT_OUTPUT_USER_ROOT"} "$@"
}

need() {
  command -v "$1" >/dev/null ||
    fail "'$1' is missing; it comes with the Debian package $2: apt-get install $2"
}

# Files of the tree, committed or about to be, that match the patterns.
tree_files() {
  git ls-files --cached --others --exclude-standard --deduplicate "$@" |
    while IFS= read -r file; do
      [[ ! -e $file ]] || printf '%s\n' "$file"
    done
}
