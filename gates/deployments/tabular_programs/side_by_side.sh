#!/usr/bin/env bash
# Runs the tabular experiment, native and with two Python libraries, over a grid
# of its variables. Prints shares, bytes and laws of each stage, and keeps the
# page in results/. A library that is not installed is skipped with a message.
# Argument: another grid.
set -euo pipefail
here=gates/deployments/tabular_programs
page=${BUILD_WORKSPACE_DIRECTORY:?use bazel run}/results/tabular_programs.html
grid=${1:-model=linear,network features=10,100,500 rows=1000,10000,100000}
mkdir -p "$(dirname "$page")"
export RUNFILES_DIR=${RUNFILES_DIR:-$(cd .. && pwd)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# `bazel run` names the folder that paths are relative to; here it is this one.
unset BUILD_WORKING_DIRECTORY
with=()

# measure NAME PROGRAM ARGUMENT...
measure() {
  local name=$1
  shift
  profiling/scaling/scaling --grid="$grid" --name="$name" \
    --proto="$scratch/$name" "$@" "--model={model}" "--features={features}" \
    "--rows={rows}" >/dev/null
  with+=("--with=$scratch/$name")
}

# Python comes first, since its first stage is missing in the C++ program.
for library in sklearn torch; do
  if error=$(/usr/bin/python3 -c "import $library" 2>&1); then
    measure "$library" "$here/python_experiment" --library="$library"
  else
    echo "left out: $library: \`/usr/bin/python3 -c 'import $library'\` failed:" \
      "${error##*$'\n'}"
  fi
done
measure native "$here/native_experiment"
profiling/scaling/scaling --variables=model,features,rows --html="$page" \
  "${with[@]}"
