#!/bin/sh
# Starts a server whose trials are jobs of Slurm. The hosts see /shared/footprint
# under this path, and have `try` in PATH and the key, as the same user.
exec serve --engine_key=/etc/footprint/engine_key --engine_folder=/shared/footprint \
  --trials_at_once=64 --engine='srun --quiet --job-name={trial} --ntasks=1 --mem={limit}
    --time=0:{seconds} try --bundle={bundle} --order={order} --result={result}
    --key=/etc/footprint/engine_key' "$@"
