#!/usr/bin/env bash
# Builds and tests each workspace in examples/ as its owner would: with the
# installed Bazel, in its own folder, as a user of this repository. Then does
# the same for a user who has only the archive of a release.
#
# A Bazel inside a Bazel test would need things that the outer sandbox withholds
# (a lasting output root, the whole tree). So this is a program that `tools/dev
# test` and CI run after `bazel test //...`. Each workspace keeps an output base
# below the usual root, so a second run is incremental. Code that two workspaces
# compile alike is compiled once: they share a cache that lasts as long as this
# program.
set -uo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." || exit 2
. tools/shell_functions.sh

cache=$(mktemp -d)
# The path does not change, so that a second run finds the first one's output
# base.
released=$PWD/.cache/released
trap 'rm -rf "$cache"' EXIT
status=0
rm -rf "$released"
mkdir -p .cache
python3 -B tools/release/released_importer.py "$released" || status=1
for workspace in examples/*/ "$released/importer/"; do
  [[ -e $workspace/WORKSPACE ]] || continue
  say "importer: bazel test //... in $workspace"
  (cd "$workspace" && bazel test --disk_cache="$cache" //...) || {
    status=1
    say "importer: $workspace failed; to repeat: cd $workspace && bazel test //..."
  }
  (cd "$workspace" && bazel shutdown)
done
say "importer: the programs of a release in place of sources"
tools/importers/prebuilt_programs.sh "$PWD/.cache/prebuilt_programs" || {
  status=1
  say "importer: to repeat: tools/importers/prebuilt_programs.sh $PWD/.cache/prebuilt_programs"
}
say "importer: history and culprit over the commits of a repository"
tools/importers/trend_programs.sh "$PWD/.cache/trend_programs" --disk_cache="$cache" || {
  status=1
  say "importer: to repeat: tools/importers/trend_programs.sh $PWD/.cache/trend_programs"
}
exit "$status"
