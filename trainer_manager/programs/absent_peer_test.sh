#!/usr/bin/env bash
# A Python without PyTorch, and one that is not there: the table of step_time says
# which command was asked and what it answered, and the goals are not met. So it does
# for NNTrainer, which has no goal.
set -euo pipefail

fail() {
  printf 'absent_peer_test: %s\n' "$*" >&2
  exit 1
}
readonly STEP_TIME=(python3 -B trainer_manager/programs/step_time.py --networks=digits
  --batch=2 --rounds=1)
readonly SCRIPT='-B trainer_manager/programs/pytorch_steps.py digits 2 20 1 sgd all`'

# The first Python on the PATH is not the one that has PyTorch.
hides_torch=$TEST_TMPDIR/python3
printf '#!/bin/sh\nexec /usr/bin/python3 -S -I "$@"\n' >"$hides_torch"
chmod +x "$hides_torch"
while IFS='|' read -r python said; do
  status=0
  output=$(FOOTPRINT_PYTORCH_PYTHON=$python "${STEP_TIME[@]}" --must_meet) || status=$?
  ((status == 1)) || fail "$python: exited $status: $output"
  grep -qF "| planned / PyTorch | not measured: \`$python $SCRIPT $said" <<<"$output" ||
    fail "$python: $output"
  # The other peers were measured.
  grep -q '^| planned / plain | [0-9.]* |' <<<"$output" || fail "$python: $output"
done <<END
$hides_torch|ended with status 3: /usr/bin/python3: cannot import torch: No module named 'torch'
$TEST_TMPDIR/nowhere|cannot be run: No such file or directory
/bin/false|ended with status 1:
END

# NNTrainer is asked only for the networks that are measured with it.
readonly PEER='trainer_manager/programs/nntrainer_steps.sh vgg16 2 1 sgd all`'
while IFS='|' read -r folder said; do
  output=$(FOOTPRINT_PYTORCH_PYTHON=/bin/false FOOTPRINT_NNTRAINER=$folder \
    python3 -B trainer_manager/programs/step_time.py --networks=vgg16 --batch=2 --rounds=1) || true
  grep -qF "| planned / NNTrainer | not measured: \`$PEER ended with status 3: $said" <<<"$output" ||
    fail "$folder: $output"
done <<END
|nntrainer_steps.sh: FOOTPRINT_NNTRAINER names no folder with NNTrainer
$TEST_TMPDIR|nntrainer_steps.sh: NNTrainer's sources are not in $TEST_TMPDIR
END
echo passed
