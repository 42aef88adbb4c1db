#!/usr/bin/env bash
# Runs both programs end to end as a user does. They work, and on bad input they
# fail with a message that names the place, and lose no data.
set -u
readonly HERE="$TEST_SRCDIR/$TEST_WORKSPACE/gates/deployments/tabular"
readonly LINEAR="$HERE/linear_regression" NETWORK="$HERE/neural_network"
readonly MAKE_TABLE="$HERE/tables/make_table"
REAL_DATA=$(realpath "$1")
readonly REAL_DATA
cd "$TEST_TMPDIR" || exit 2
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect STATUS TEXT COMMAND...: checks the exit status, and that the output
# contains TEXT.
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
  expect 1 "\"extra\" is not a flag" \
    "$program" --data=data.csv --ignore x1 extra "${outputs[@]}"
  expect 1 "missing.csv: cannot be opened" \
    "$program" --data=missing.csv "${outputs[@]}"
  printf 'a,b\n1,2\n3,four\n' >bad.csv
  expect 1 "bad.csv:3:3: field 2 should be a finite number but is \"four\"" \
    "$program" --data=bad.csv "${outputs[@]}"
  head -c 1000 data.table >short.table
  for io in binary mapped; do
    expect 1 "short.table: tensor \"table\" ends at data offset 14400" \
      "$program" --io=$io --data=short.table "${outputs[@]}"
    expect 1 "or read CSV with --io=csv" \
      "$program" --io=$io --data=data.csv "${outputs[@]}"
  done
  expect 1 "missing/model: cannot be created" \
    "$program" --data=data.csv --model=missing/model --predictions=p.csv
  expect 1 "/dev/full: is not a regular file" \
    "$program" --data=data.csv --model=/dev/full --predictions=p.csv
  expect 1 "/dev/full: cannot be written: No space left" \
    "$program" --data=data.csv --model=model --predictions=/dev/full
  # A mistyped path does not overwrite the data.
  cp data.csv precious.csv
  expect 1 "is named by --data and by --model; one would overwrite" \
    "$program" --data=precious.csv --model=precious.csv --predictions=p.csv
  expect 1 "is named by --data and by --predictions; one would overwrite" \
    "$program" --data=precious.csv --model=m --predictions=./precious.csv
  expect 1 "is named by --model and by --predictions; one would overwrite" \
    "$program" --data=data.csv --model=none_yet --predictions=none_yet
  expect 1 "is named by --model and by --predictions; one would overwrite" \
    "$program" --data=data.csv --model=none_yet --predictions=./none_yet
  for output in profile samples; do
    expect 1 "is named by --data and by --memory_${output}_out; one would" \
      "$program" --data=precious.csv "${outputs[@]}" \
      "--memory_${output}_out=./precious.csv"
    expect 1 "is named by --model and by --memory_${output}_out; one would" \
      "$program" --data=data.csv --model=none_yet --predictions=p.csv \
      "--memory_${output}_out=./none_yet"
  done
  cmp data.csv precious.csv || fail "$program: the data are overwritten"
  [[ ! -e none_yet ]] || fail "$program: wrote before it refused"
  # Kinds of first lines, and delimiters of fields.
  tail -n +2 data.csv >bare.csv
  expect 1 "bare.csv:1:1: the first line should name the columns" \
    "$program" --data=bare.csv "${outputs[@]}"
  expect 0 "299 rows, 5 features" \
    "$program" --data=bare.csv --header=yes "${outputs[@]}"
  expect 0 "300 rows, 4 features" \
    "$program" --data=bare.csv --header=no --ignore=1 --target=6 "${outputs[@]}"
  { echo NA,2,3,4,5,6; cat bare.csv; } >one_gap.csv
  expect 1 'one_gap.csv:1:1: the first line should name the columns, but its field 1 is "NA"' \
    "$program" --data=one_gap.csv "${outputs[@]}"
  tr , ';' <data.csv >semicolons.csv
  expect 1 'say --delimiter=";"' \
    "$program" --data=semicolons.csv "${outputs[@]}"
  expect 0 "300 rows, 5 features" \
    "$program" --data=semicolons.csv --delimiter=";" "${outputs[@]}"
  expect 1 '--delimiter is "ab"' \
    "$program" --data=data.csv --delimiter=ab "${outputs[@]}"
  expect 1 "--target is about a CSV table" \
    "$program" --io=mapped --data=data.table --target=x "${outputs[@]}"

  # The output says which rows R^2 is for.
  expect 0 " of the 300 rows it learned from" \
    "$program" --data=data.csv "${outputs[@]}"
  expect 0 " of the 200 rows it learned from, R^2 0.9" \
    "$program" --data=data.csv --held_out_rows=100 "${outputs[@]}"
  expect 0 " of the 100 held out" \
    "$program" --data=data.csv --held_out_rows=100 "${outputs[@]}"
  [[ $(wc -l <predictions.csv) == 301 ]] || fail "$program: held-out rows"
  expect 1 "--held_out_rows=300 leaves none of the 300 rows" \
    "$program" --data=data.csv --held_out_rows=300 "${outputs[@]}"
  expect 1 "--held_out_rows must be 0 or more" \
    "$program" --data=data.csv --held_out_rows=-1 "${outputs[@]}"
  printf 'a,b\n1,5\n2,5\n3,5\n' >constant.csv
  expect 0 "R^2 unknown (every target is the same)" \
    "$program" --data=constant.csv "${outputs[@]}"

  # Results that cannot be written are an error.
  # shellcheck disable=SC2016
  expect 1 "standard output: cannot be written, results are lost" \
    bash -c '"$@" >/dev/full' - "$program" --data=data.csv "${outputs[@]}"

  # The saved model cannot be loaded.
  expect 1 "/dev/null: is not a regular file" \
    "$program" --data=data.csv --model=/dev/null --predictions=p.csv
done

expect 1 'its field 1 is "NA"' "$MAKE_TABLE" --from_csv=one_gap.csv \
  --format=binary --output=one_gap.table
[[ ! -e one_gap.table ]] || fail "a row was taken for the header"
expect 0 "" "$MAKE_TABLE" --from_csv=one_gap.csv --header=yes \
  --format=binary --output=one_gap.table

# Flags without effect and outputs that would overwrite the input are refused.
expect 1 "\"extra\" is not a flag" "$MAKE_TABLE" extra --output=none.csv
for flag in features rows seed; do
  expect 1 "--$flag is for a generated table" \
    "$MAKE_TABLE" --from_csv=data.csv --$flag=3 --output=none.csv
done
[[ ! -e none.csv ]] || fail "make_table wrote before it refused"
cp data.csv precious.csv
for format in csv binary; do
  expect 1 "is named by --from_csv and by --output" "$MAKE_TABLE" \
    --from_csv=precious.csv --format=$format --output=./precious.csv
done
cmp data.csv precious.csv || fail "make_table lost its input"

for format in csv binary; do
  expect 1 "/no/such" "$MAKE_TABLE" --format=$format --output=/no/such/table
  expect 1 "/no/such" "$MAKE_TABLE" --from_csv=data.csv --format=$format \
    --output=/no/such/table
done

# A full disk ends the making of a table at once, however long it would be.
expect 1 "/dev/full: cannot be written: No space left" timeout 60 \
  "$MAKE_TABLE" --rows=1000000000000 --format=csv --output=/dev/full
expect 1 "huge.table: has no room" timeout 60 \
  "$MAKE_TABLE" --rows=1000000000000 --format=binary --output=huge.table
[[ ! -e huge.table ]] || fail "a table that has no room is there"

# A training that diverges is an error, and the old files stay.
echo old >kept.csv
cp kept.csv kept.model
expect 1 "diverged: over the last epoch" "$NETWORK" --data=data.csv \
  --learning_rate=100 --model=kept.model --predictions=kept.csv
expect 1 "lower --learning_rate" "$NETWORK" --data=data.csv \
  --learning_rate=100 --model=kept.model --predictions=kept.csv
cmp kept.csv kept.model || fail "diverged: an old file is lost"
# If the very last step diverges, only the predictions show it.
"$MAKE_TABLE" --features=5 --rows=64 --output=one_batch.csv || exit 2
expect 1 "diverged: the predictions of the rows it learned from" "$NETWORK" \
  --data=one_batch.csv --epochs=1 --learning_rate=100 --model=model \
  --predictions=kept.csv
expect 1 "rows in a batch and learning rate must be above zero" "$NETWORK" \
  --data=one_batch.csv --batch_rows=0 --model=model --predictions=kept.csv
expect 0 "" "$NETWORK" --data=one_batch.csv --batch_rows=1 --epochs=1 \
  --model=model --predictions=predictions.csv
# If a weight would not be finite, no weight is updated.
expect 1 "the training diverged" "$NETWORK" \
  --data=one_batch.csv --epochs=1 --learning_rate=1e38 --model=model \
  --predictions=kept.csv
[[ $(cat kept.csv) == old ]] || fail "diverged: the old predictions are lost"

# Too little memory is an error that says where, how much, and what to do.
limited() {
  local limit_kilobytes=$1
  shift
  (
    ulimit -v "$limit_kilobytes"
    "$@" 2>&1
  )
}

# Prints the least memory with which the dynamic loader and the C library can
# start the program.
least_kilobytes() {
  local least=16384
  until limited "$least" "$1" --help >/dev/null; do
    least=$((least + 256))
  done
  echo "$least"
}

# short_of_memory PROGRAM TEXT ARGUMENTS...: runs the program with more and more
# memory, from the least with which it starts. Each run succeeds or fails with
# an error about memory. Stops when an error contains TEXT.
short_of_memory() {
  local program=$1 wanted=$2 limit output status
  shift 2
  limit=$(least_kilobytes "$program")
  for (( ; limit < 262144; limit += 512)); do
    output=$(limited "$limit" "$program" "${outputs[@]}" "$@")
    status=$?
    [[ $status == 1 && "$output" =~ (memory|no\ room).*bytes &&
      "$output" != *": ;"* ]] ||
      fail "$limit KiB: exit $status, $output"
    [[ "$output" != *$wanted* ]] || return 0
    [[ $status == 1 ]] || return 1
  done
  fail "$wanted: not said under any limit"
}
"$MAKE_TABLE" --features=1 --rows=150000 --output=tall.csv || exit 2
"$MAKE_TABLE" --from_csv=tall.csv --format=binary --output=tall.table || exit 2
"$MAKE_TABLE" --features=1200 --rows=10 --output=wide.csv || exit 2
short_of_memory "$LINEAR" ":1: no memory for the table: " --data=tall.csv
short_of_memory "$LINEAR" "no memory for the table: 2400000 bytes" \
  --data=tall.table --io=binary
short_of_memory "$LINEAR" "no room in the process to map" \
  --data=tall.table --io=mapped
short_of_memory "$LINEAR" "predictions of 150000 rows take 1200000 bytes" \
  --data=tall.table --io=binary
short_of_memory "$LINEAR" "stage fit, which takes about 12144512 bytes" \
  --data=wide.csv
short_of_memory "$NETWORK" "stage fit, which takes about 1" \
  --data=wide.csv --epochs=1
expect 1 "no memory for rows of 900000000000000000 features" \
  "$MAKE_TABLE" --features=900000000000000000 --output=none.csv

# A limit of file size stands for a full disk: the old predictions stay.
"$MAKE_TABLE" --features=1 --rows=2000 --output=long.csv || exit 2
echo old >kept.csv
expect 1 "kept.csv: cannot be written: File too large; " \
  bash -c "ulimit -f 8; '$LINEAR' --data=long.csv --model=model \
    --predictions=kept.csv"
[[ $(cat kept.csv) == old ]] || fail "the old predictions are lost"
[[ ! -e .kept.csv.footprint-partial ]] || fail "half a file is left behind"

for program in "$LINEAR" "$NETWORK" "$MAKE_TABLE"; do
  expect 0 "--header" "$program" --help
done
"$LINEAR" --help >help.txt 2>&1
for flag in data io target ignore header delimiter model predictions \
  held_out_rows; do
  grep -q -- "--$flag " help.txt || fail "--help does not name --$flag"
done
"$NETWORK" --help 2>&1 | grep -- "--epochs " >/dev/null || fail "--help: --epochs"

# Real data: a closing share price of Microsoft follows from the day's other
# prices.
expect 0 "65 rows, 4 features, R^2 0.9" "$LINEAR" --data="$REAL_DATA" \
  --target=Close --ignore="Date,Adj. Close*" "${outputs[@]}"
expect 0 "65 rows, 4 features, R^2 0." "$NETWORK" --data="$REAL_DATA" \
  --target=Close --ignore="Date,Adj. Close*" --epochs=50 "${outputs[@]}"

echo "$failures failures"
exit $((failures > 0))
