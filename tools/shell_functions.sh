# The commands of tools/dev source this file: it has their messages, failures
# and calls of Bazel.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

# Fails for wrong use, or a machine that lacks something; 1 is for a check that
# failed.
fail() {
  say "tools/dev: $*"
  exit 2
}

# Runs Bazel, with an output root that the caller may choose:
#   FOOTPRINT_OUTPUT_USER_ROOT=/somewhere tools/dev test
bazel() {
  command bazel ${FOOTPRINT_OUTPUT_USER_ROOT:+"--output_user_root=$FOOTPRINT_OUTPUT_USER_ROOT"} "$@"
}

need() {
  command -v "$1" >/dev/null ||
    fail "'$1' is missing; it comes with the Debian package $2: apt-get install $2"
}

# Prints the files of the tree that match the patterns, whether committed or not
# yet.
tree_files() {
  git ls-files --cached --others --exclude-standard --deduplicate "$@" |
    while IFS= read -r file; do
      [[ ! -e $file ]] || printf '%s\n' "$file"
    done
}
