#!/usr/bin/env bash
# Reads what `bazel test` printed and prints two numbers: targets that passed, and
# those that did not. Anything but a clean PASSED did not pass: FAILED, FAILED TO
# BUILD, TIMEOUT, NO STATUS, INCOMPLETE, and FLAKY, which passed only on a retry.
set -euo pipefail
exec awk '
  /^(@[^ ]*)?\/\/[^ ]+ +(\(cached\) +)?PASSED( |$)/ { ++passed; next }
  /^(@[^ ]*)?\/\/[^ ]+ +(\(cached\) +)?(FAILED|TIMEOUT|FLAKY|NO STATUS|INCOMPLETE|REMOTE FAILURE|BLAZE HALTED)/ { ++failed }
  END { printf "%d %d\n", passed, failed }
'
