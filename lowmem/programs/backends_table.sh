#!/usr/bin/env bash
# The table of models, backends, tokens and batches, and the picture of memory
# against speed; see run_table.py, whose flags may be given instead. In full it
# takes hours; for one model some minutes:
#
#   bazel run -c opt //lowmem/programs:backends_table -- --models=minilm --tokens=1,128
set -euo pipefail

table() { python3 lowmem/programs/run_table.py --programs=lowmem/programs --folder="${TMPDIR:-/var/tmp}" "$@"; }

if (($# > 0)); then
  table "$@"
  exit
fi
table --torch --batches=1,8,16 \
  --models=bert-base,bert-large,bert-large-multilingual,distilbert,minilm
table --models=gpt2,gpt2-large
table --models=bert-large-multilingual --tokens=128 \
  --sweep=1280KiB,2MiB,4MiB,16MiB,64MiB,256MiB,512MiB,1GiB \
  --picture="${BUILD_WORKSPACE_DIRECTORY:-.}/docs/results/lowmem_budgets.svg"
