#!/usr/bin/env bash
# Usage: needs_only_test.sh LIST_OF_LIBRARIES LIBRARY GROUND
# Fails if the list, of what an importer of one library builds of Footprint, does
# not have the library //LIBRARY, or has others than of its package and GROUND, a
# regular expression for whole labels.
set -euo pipefail

list=$1 library=$2 ground=$3
if ! grep -q "//$library\$" "$list"; then
  echo "//$library itself is not in $list:"
  cat "$list"
  exit 1
fi
if grep -vE "//${library%%:*}:|//($ground)\$" "$list"; then
  echo "//$library needs these besides its ground; see tools/layering/layers.txt"
  exit 1
fi
