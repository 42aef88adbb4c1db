#!/usr/bin/env bash
# The program draws a chart from JSON, and refuses other JSON.
set -euo pipefail
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
chart() {
  printf '{"title": "A <title>", "description": "", "x_label": "x", "y_label": "y",
    "bytes_on_x": true, "lines": [{"name": "line", "points": [%s]}]}' "$1"
}
chart '[4194304, 190, "at four"], [8388608, 200, ""]' | base/page/draw_line_chart >picture.svg
for text in 'A &lt;title&gt;' 'at four' '4.0 MiB' 'line' 'y, from 18'; do
  grep -qF ">$text" picture.svg || fail "no \"$text\" in the picture"
done
(($(grep -c '<circle' picture.svg) == 3)) || fail "not two points and the legend's"
for wrong in '[1, 2]' '["1", 2, ""]' '[1, 2, ""'; do
  status=0
  chart "$wrong" | base/page/draw_line_chart >picture.svg 2>error || status=$?
  ((status == 2)) || fail "status $status of $wrong"
  grep -q '^draw_line_chart: ' error || fail "nothing said of $wrong"
done
chart '[1, 2, ""]' | base/page/draw_line_chart >/dev/full && fail "a full disk is not seen"
echo passed
