#!/usr/bin/env bash
# A program that knows nothing of profiles, to be measured as it is: Python, with
# its script among the run-time files.
exec /usr/bin/python3 "$RUNFILES_DIR/footprint/profiling/measuring/plain_test_program.py" "$@"
