#!/usr/bin/env bash
# Runs the Python program of the first argument with the other arguments.
set -euo pipefail
exec python3 "$@"
