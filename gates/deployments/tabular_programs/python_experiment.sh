#!/usr/bin/env bash
# The tabular experiment under the system's Python, which Debian's packages of
# scikit-learn and PyTorch are for.
runfiles=${RUNFILES_DIR:-$0.runfiles}/footprint
# Bazel with modules calls the repository that it runs in _main.
[[ -d $runfiles ]] || runfiles=${RUNFILES_DIR:-$0.runfiles}/_main
export PYTHONPATH=$runfiles/profiling/stages
exec /usr/bin/python3 "$runfiles/gates/deployments/tabular_programs/tabular_experiment.py" "$@"
