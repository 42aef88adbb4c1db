#!/usr/bin/env bash
# Runs the tabular experiment under the system's Python, for which Debian
# packages scikit-learn and PyTorch.
runfiles=${RUNFILES_DIR:-$0.runfiles}/footprint
# Bazel with modules calls the repository that it runs in _main.
[[ -d $runfiles ]] || runfiles=${RUNFILES_DIR:-$0.runfiles}/_main
export PYTHONPATH=$runfiles/profiling/stages
exec /usr/bin/python3 "$runfiles/gates/deployments/tabular_programs/tabular_experiment.py" "$@"
