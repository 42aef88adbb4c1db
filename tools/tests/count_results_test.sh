#!/usr/bin/env bash
# Tests the counts that count_results.sh makes from the lines that Bazel prints.
set -uo pipefail
counted=$(tools/count_results.sh <<'END'
INFO: Build completed, 5 tests FAILED, 50 total actions
//a:cached                                                      (cached) PASSED in 0.2s
//a:stats                                                                PASSED in 0.1s
  Stats over 3 runs: max = 0.1s, min = 0.1s, avg = 0.1s, dev = 0.0s
@footprint//a:other_repository                                           PASSED in 0.1s
//a:broken                                                      FAILED TO BUILD
//a:failed                                                               FAILED in 0.1s
  /out/testlogs/a/failed/test.log
//a:slow                                                                TIMEOUT in 60.0s
//a:flaky                                                                 FLAKY, failed in 1 out of 2 in 0.1s
//a:skipped                                                           NO STATUS
FAIL: //a:failed (see /out/testlogs/a/failed/test.log)
Executed 5 out of 8 tests: 3 tests pass, 1 fails to build
END
)
[[ $counted == "3 5" ]] || {
  echo "counted '$counted', wanted '3 5'" >&2
  exit 1
}
[[ $(tools/count_results.sh </dev/null) == "0 0" ]]
