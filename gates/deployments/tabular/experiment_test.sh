#!/usr/bin/env bash
# Both programs end to end as a user runs them: they work, and on bad input they
# fail with a message that names the place and lose nothing.
set -u
readonly HERE="$TEST_SRCDIR/$TEST_WORKSPACE/gates/deployments/tabular"
readonly LINEAR="$HERE/linear_regression" NETWORK="$HERE/neural_network"
readonly MAKE_TABLE="$HERE/make_table"
REAL_DATA=$(realpath "$1")
readonly REAL_DATA
cd "$TEST_TMPDIR" || exit 2
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect STATUS TEXT COMMAND...: its exit status, and a text in what it says.
expect() {
  local wanted_status=$1 wanted_text=$2 output status
  shift 2
  output=$("$@" 2>&1)
  status=$?
  [[ $status == "$wanted_status" && "$output" == *"$wanted_text"* ]] ||
    fail "$*: exit $status instead of $wanted_status, or no" \
      "\"$wanted_text\" in: $output"
}

outputs=(--model=model --predictions=predictions.csv)

"$MAKE_TABLE" --features=5 --rows=300 --output=data.csv || exit 2
"$MAKE_TABLE" --from_csv=data.csv --format=binary --output=data.table || exit 2

for program in "$LINEAR" "$NETWORK"; do
  # Every way of reading gives the same predictions.
  for input in csv:data.csv binary:data.table mapped:data.table; do
    expect 0 "300 rows, 5 features, R^2 0.9" \
      "$program" --io="${input%:*}" --data="${input#*:}" "${outputs[@]}"
    cp predictions.csv "predictions_${input%:*}.csv"
    [[ $(wc -l <predictions.csv) == 301 ]] || fail "$program: row count"
  done
  cmp predictions_csv.csv predictions_binary.csv || fail "$program: binary"
  cmp predictions_csv.csv predictions_mapped.csv || fail "$program: mapped"

  expect 1 "--data=FILE is missing" "$program" "${outputs[@]}"
  expect 1 "--io is \"xml\"" \
    "$program" --io=xml --data=data.csv "${outputs[@]}"
  expect 1 "Unknown command line flag" "$program" --dta=data.csv
  expect 1 "missing.csv: cannot be opened" \
    "$program" --data=missing.csv "${outputs[@]}"
  printf 'a,b\n1,2\n3,four\n' >bad.csv
  expect 1 "bad.csv:3:3: field 2 should be a finite number but is \"four\"" \
    "$program" --data=bad.csv "${outputs[@]}"
  head -c 1000 data.table >short.table
  for io in binary mapped; do
    expect 1 "short.table: has 1000 bytes where 300 rows of 6 columns need" \
      "$program" --io=$io --data=short.table "${outputs[@]}"
    expect 1 "data.csv: is no binary table" \
      "$program" --io=$io --data=data.csv "${outputs[@]}"
  done
  expect 1 "missing/model: cannot be created" \
    "$program" --data=data.csv --model=missing/model --predictions=p.csv
  expect 1 "/dev/full: cannot be written: No space left" \
    "$program" --data=data.csv --model=/dev/full --predictions=p.csv
  expect 1 "/dev/full: cannot be written: No space left" \
    "$program" --data=data.csv --model=model --predictions=/dev/full
  # A slip of the pen does not cost the data.
  cp data.csv precious.csv
  expect 1 "is named by --data and by --model; one would overwrite" \
    "$program" --data=precious.csv --model=precious.csv --predictions=p.csv
  expect 1 "is named by --data and by --predictions; one would overwrite" \
    "$program" --data=precious.csv --model=m --predictions=./precious.csv
  expect 1 "is named by --model and by --predictions; one would overwrite" \
    "$program" --data=data.csv --model=none_yet --predictions=none_yet
  cmp data.csv precious.csv || fail "$program: the data are overwritten"
  [[ ! -e none_yet ]] || fail "$program: wrote before it refused"
  # A model that is not there when it is to be loaded.
  expect 1 "/dev/null: is not a regular file" \
    "$program" --data=data.csv --model=/dev/null --predictions=p.csv
done

# A full disk ends the making of a table at once, however long it would be.
for format in csv binary; do
  expect 1 "/dev/full: cannot be written: No space left" timeout 60 \
    "$MAKE_TABLE" --rows=1000000000000 --format=$format --output=/dev/full
done

# A limit of file size stands for a full disk: the old predictions stay.
"$MAKE_TABLE" --features=1 --rows=2000 --output=long.csv || exit 2
echo old >kept.csv
expect 1 "kept.csv: cannot be written: File too large; free disk space" \
  bash -c "ulimit -f 8; '$LINEAR' --data=long.csv --model=model \
    --predictions=kept.csv"
[[ $(cat kept.csv) == old ]] || fail "the old predictions are lost"
[[ ! -e kept.csv.partial ]] || fail "half a file is left behind"

# Abseil's --help ends with 0 or 1, by its age.
"$LINEAR" --help >help.txt 2>&1
for flag in data io target ignore model predictions; do
  grep -q -- "--$flag " help.txt || fail "--help does not name --$flag"
done
"$NETWORK" --help 2>&1 | grep -q -- "--epochs " || fail "--help: --epochs"

# Real data: Microsoft's share prices follow from the day's others.
expect 0 "65 rows, 4 features, R^2 0.9" "$LINEAR" --data="$REAL_DATA" \
  --target=Close --ignore="Date,Adj. Close*" "${outputs[@]}"
expect 0 "65 rows, 4 features, R^2 0." "$NETWORK" --data="$REAL_DATA" \
  --target=Close --ignore="Date,Adj. Close*" --epochs=50 "${outputs[@]}"

echo "$failures failures"
exit $((failures > 0))
