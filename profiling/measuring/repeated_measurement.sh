#!/usr/bin/env bash
# 1,000 measurements of sample_benchmark, one benchmark of two statically divided
# threads among them, each in three fresh processes: how many differ?
set -euo pipefail
python3 tools/bench/repeated_measurement.py "$@" \
  profiling/measuring/profile_runner profiling/google_benchmark/sample_benchmark
