#!/usr/bin/env bash
# Makes 1,000 measurements of sample_benchmark, of which one benchmark has two
# threads with statically divided work, each in three fresh processes, and
# counts how many differ.
set -euo pipefail
python3 tools/bench/repeated_measurement.py "$@" \
  profiling/measuring/profile_runner profiling/google_benchmark/sample_benchmark
