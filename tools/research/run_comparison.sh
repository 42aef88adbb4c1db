#!/usr/bin/env bash
# Runs the Python program that is named first, with the other arguments.
set -euo pipefail
exec python3 "$@"
