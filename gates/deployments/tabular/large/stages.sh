#!/usr/bin/env bash
# Prints the stages' shares over all sizes, and keeps the page in results/.
set -euo pipefail
readonly REPORT=gates/deployments/tabular/large/large_report
page=${BUILD_WORKSPACE_DIRECTORY:?use bazel run}/results/tabular_stages.html
mkdir -p "$(dirname "$page")"
cp -f "$REPORT.html" "$page"
chmod u+w "$page"
cat "$REPORT.txt"
