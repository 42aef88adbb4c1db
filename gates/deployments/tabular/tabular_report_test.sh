#!/usr/bin/env bash
# Does what a user does by hand: measures a program and reports its profile.
# Also tests the report's errors for profiles of other programs.
set -u
readonly HERE="$TEST_SRCDIR/$TEST_WORKSPACE/gates/deployments/tabular"
readonly REPORT="$HERE/tabular_report"
cd "$TEST_TMPDIR" || exit 2
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# refused TEXT FILE...: checks that the report exits with 1 and prints TEXT.
refused() {
  local wanted=$1 output status
  shift
  output=$("$REPORT" --text_output=kept.txt "$@" 2>&1)
  status=$?
  [[ $status == 1 && "$output" == *"$wanted"* ]] ||
    fail "$*: exit $status instead of 1, or no \"$wanted\" in: $output"
  [[ $(cat kept.txt) == old ]] || fail "$*: the old report is lost"
}

"$HERE/tables/make_table" --features=5 --rows=300 --output=data.csv || exit 2
for program in linear_regression neural_network; do
  "$HERE/$program" --data=data.csv --model=model --predictions=predictions.csv \
    --memory_profile_out="$program.binpb" >run.txt 2>&1 ||
    fail "$program: $(cat run.txt)"
done
"$REPORT" --html_output=report.html ./*.binpb >report.txt ||
  fail "the report of both programs"
for program in linear_regression neural_network; do
  # The report has a table of peaks and one of volumes.
  [[ $(grep -c "^$program  *5 x 300  *csv " report.txt) == 2 ]] ||
    fail "$program is not twice in: $(cat report.txt)"
done
"$REPORT" ./*.binpb 2>lost.txt >/dev/full && fail "a report was lost in silence"
grep -q '^tabular_report: standard output: cannot be written' lost.txt ||
  fail "a lost report: $(cat lost.txt)"
grep -q '<title>Memory of a tabular model' report.html || fail "no page"

echo old >kept.txt
printf 'no profile' >foreign.binpb
: >empty.binpb
head -c 100 linear_regression.binpb >cut.binpb
refused "name at least one profile"
refused "missing.binpb" missing.binpb
refused "foreign.binpb" foreign.binpb
refused "empty.binpb" empty.binpb
refused "cut.binpb" linear_regression.binpb cut.binpb
refused "/dev/full: cannot be written: No space left" \
  --text_output=/dev/full linear_regression.binpb

echo "$failures failures"
exit $((failures > 0))
