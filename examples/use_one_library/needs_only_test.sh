#!/usr/bin/env bash
# Usage: needs_only_test.sh LIST_OF_LIBRARIES PACKAGE
# LIST_OF_LIBRARIES names the libraries that an importer of Footprint's PACKAGE
# builds. Fails if the list has no library of PACKAGE, or libraries outside
# PACKAGE's rooms and base.
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
