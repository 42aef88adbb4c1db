#!/usr/bin/env bash
# Prints a table of how often memprof suspects a leak in programs whose leaks are known.
# Takes leak_rates.py's arguments.
set -euo pipefail

exec python3 profiling/memprof/leak_rates.py profiling/memprof/memprof \
  profiling/memprof/leak_test_program "$@"
