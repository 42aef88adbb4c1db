#!/usr/bin/env bash
# Tests the promises of tools/dev fuzz about its arguments, limits and exit
# status, with stand-ins for Bazel and for the targets.
# shellcheck disable=SC2016  # the written text expands where it is run
set -uo pipefail
tree=$TEST_TMPDIR/tree
mkdir -p "$tree/tools/fuzz" "$tree/bazel-bin/room" "$tree/room/testdata" "$TEST_TMPDIR/bin"
cp -L tools/fuzz/fuzz.sh "$tree/tools/fuzz/"
cp -L tools/shell_functions.sh "$tree/tools/"
fuzz=$tree/tools/fuzz/fuzz.sh
failures=0
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$fuzz" "$@" >"$TEST_TMPDIR/output" 2>&1 || status=$?
  if [[ $status == "$wanted" ]]; then
    [[ -n $text ]] || return 0
    grep -qF -- "$text" "$TEST_TMPDIR/output" && return
  fi
  echo "FAILED: fuzz $* gave $status, not $wanted, or lacks '$text':" >&2
  cat "$TEST_TMPDIR/output" >&2
  failures=$((failures + 1))
}

cat >"$TEST_TMPDIR/bin/bazel" <<'END'
#!/bin/sh
case $1 in
  query) printf '//room:%s\n' good_fuzz bad_fuzz ;;
  build) test ! -e "$BROKEN_BUILD" ;;
esac
END
printf '#!/bin/sh\n' >"$TEST_TMPDIR/bin/clang"
# The good target records its arguments and seeds; the bad one leaves a finding.
cat >"$tree/bazel-bin/room/good_fuzz" <<'END'
#!/bin/bash
echo "$@" >"$WORDS"
cat "${@: -1}"/* >"$SEEDS"
echo '#3	INITED cov: 40 ft: 41 corp: 1/1b' >&2
echo '#9	DONE   cov: 52 ft: 60 corp: 4/9b' >&2
echo 'stat::number_of_executed_units: 1234' >&2
echo 'stat::new_units_added:          3' >&2
END
cat >"$tree/bazel-bin/room/bad_fuzz" <<'END'
#!/bin/bash
for word; do [[ $word != -artifact_prefix=* ]] || prefix=${word#*=}; done
sleep 0.01
echo x >"${prefix}crash-1"
echo '==7==ERROR: AddressSanitizer: heap-buffer-overflow' >&2
exit 1
END
chmod +x "$TEST_TMPDIR/bin/"* "$tree/bazel-bin/room/"*
for name in good bad; do
  mkdir -p "$tree/bazel-bin/room/${name}_fuzz.runfiles"
  {
    echo "main/room/testdata/seed $tree/room/testdata/seed"
    echo "main/room/testdata/${name}_fuzz.dict $tree/room/testdata/${name}_fuzz.dict"
    echo "main/room/${name}_fuzz $tree/bazel-out/k8/bin/room/${name}_fuzz"
  } >"$tree/bazel-bin/room/${name}_fuzz.runfiles/MANIFEST"
done
printf 'a seed' >"$tree/room/testdata/seed"
export PATH=$TEST_TMPDIR/bin:$PATH WORDS=$TEST_TMPDIR/words SEEDS=$TEST_TMPDIR/seeds
export BROKEN_BUILD=$TEST_TMPDIR/broken

expect 0 "usage: tools/dev fuzz" --help
expect 2 "no fuzz target 'frob_fuzz'" frob_fuzz
expect 2 "//room:good_fuzz" frob_fuzz # it says which there are
for number in 0 -1 1.5 ten '' 1234567; do
  expect 2 "not '$number'" "--seconds=$number"
done
expect 2 "knows no '--frob'" --frob
expect 0 "//room:bad_fuzz" --list
expect 0 "" --build_only
touch "$BROKEN_BUILD"
expect 3 "" good_fuzz
rm "$BROKEN_BUILD"
expect 0 "1234 runs, edges 40 to 52, features 41 to 60, 3 new inputs" good_fuzz --seconds=7
for word in -max_total_time=7 "-dict=$tree/room/testdata/good_fuzz.dict" -rss_limit_mb= -max_len= -timeout=; do
  grep -qF -- "$word" "$WORDS" || {
    echo "FAILED: the target is not given $word" >&2
    failures=$((failures + 1))
  }
done
[[ $(<"$SEEDS") == 'a seed' && -z $(find "$tree/room" -newer "$SEEDS") ]] || {
  echo "FAILED: the target does not run on a copy of its corpus" >&2
  failures=$((failures + 1))
}
expect 1 "repeat it: bazel run --config=fuzz //room:bad_fuzz" //room:bad_fuzz
expect 1 "heap-buffer-overflow" bad_fuzz
expect 1 "findings in //room:bad_fuzz" # all of them
expect 0 "good_fuzz" good_fuzz
((failures == 0))
