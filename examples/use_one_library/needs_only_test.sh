#!/usr/bin/env bash
# Usage: needs_only_test.sh LIST_OF_LIBRARIES PACKAGE
# Fails if the list, of the libraries that an importer of Footprint's PACKAGE builds,
# has none of it, or has others than those of its rooms and of base.
set -euo pipefail

list=$1 package=$2
if ! grep -qE "//${package}[:/]" "$list"; then
  echo "//$package itself is not in $list:"
  cat "$list"
  exit 1
fi
if grep -vE "//(${package}[:/]|base/)" "$list"; then
  echo "//$package needs these besides base; see tools/layering/layers.txt"
  exit 1
fi
