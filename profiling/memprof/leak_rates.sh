#!/usr/bin/env bash
# How often memprof suspects a leak in programs of which it is known: a table.
# Takes leak_rates.py's arguments.
set -euo pipefail

exec python3 profiling/memprof/leak_rates.py profiling/memprof/memprof \
  profiling/memprof/leak_test_program "$@"
