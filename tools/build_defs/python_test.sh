#!/usr/bin/env bash
# Runs one unittest file with the system's Python; see python_test.bzl.
set -euo pipefail
exec python3 -B "$1" -v
