#!/usr/bin/env bash
# Usage: needs_nothing_else_test.sh LIST_OF_LIBRARIES
# Fails if memo alone needs another library of Footprint's than the allocator's.
set -euo pipefail

if ! grep -q '//memo:memo$' "$1"; then
  echo "memo itself is not in $1:"
  cat "$1"
  exit 1
fi
if grep -vE '//memo:|//profiling:allocator$' "$1"; then
  echo "memo needs these besides its ground; see tools/layering/layers.txt"
  exit 1
fi
