#!/usr/bin/env bash
# A program that knows nothing of profiles and is measured as it is: Python,
# with its script among the run-time files.
# Bazel with modules names the repository that it runs in _main.
repository=$RUNFILES_DIR/footprint
[[ -d $repository ]] || repository=$RUNFILES_DIR/_main
exec /usr/bin/python3 "$repository/profiling/measuring/plain_test_program.py" "$@"
