#!/usr/bin/env bash
# The memory of every test in an importer's workspace, and gates over tests as
# they are: shards, a failing test, one that Bazel kills for its time, one from
# the cache, py_test, cc_test and sh_test.
#
#   tools/importers/recorded_tests.sh FOLDER
#
# FOLDER becomes the workspace; its path should stay, so that a second run
# finds the output base of the first. People run it by hand.
set -uo pipefail
tree=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../..")
workspace=$1
rm -rf "$workspace"
mkdir -p "$workspace/app" && cd "$workspace" || exit 2
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

cat >WORKSPACE <<END
workspace(name = "importer")
local_repository(name = "footprint", path = "$tree")
load("@footprint//third_party:repositories.bzl", "footprint_repositories")
footprint_repositories()
END
echo "import $tree/tools/bazelrc/footprint.bazelrc" >.bazelrc
[[ ! -e $tree/user.bazelrc ]] || echo "import $tree/user.bazelrc" >>.bazelrc
cat >app/BUILD <<'END'
load("@footprint//gates:defs.bzl", "memory_gate")

cc_test(name = "cc_test", srcs = ["hold.cc"], args = ["70", "'held in'", "$(location rows.csv)"], data = ["rows.csv"])
py_test(name = "py_test", srcs = ["py_test.py"], args = ["30"], data = ["rows.csv"], env = {"ROWS": "$(location rows.csv)"}, deps = [":held"])
py_library(name = "held", srcs = ["held.py"])
sh_test(name = "sh_test", srcs = ["sh_test.sh"], args = ["20"])
sh_test(name = "shards_test", srcs = ["shards_test.sh"], shard_count = 3)
sh_test(name = "fails_test", srcs = ["fails_test.sh"])
sh_test(name = "slow_test", srcs = ["slow_test.sh"], timeout = "short")

# Gates over the tests, as they are.
[memory_gate(name = name + "_memory", program = ":" + name + "_test") for name in ["cc", "sh"]]

# Bazel 4.2.3's py_test starts "python", which Debian has not.
memory_gate(name = "py_memory", program = ":py_test", profile_options = {"env": {"PATH": "WORKSPACE_FOLDER/python:/usr/bin:/bin"}})

# Refused.
memory_gate(name = "shards_memory", program = ":shards_test", tags = ["manual"])
memory_gate(name = "data_memory", data = {"rows.csv": "x"}, program = ":sh_test", tags = ["manual"])
END
sed -i "s:WORKSPACE_FOLDER:$PWD:" app/BUILD
mkdir python && ln -s /usr/bin/python3 python/python
export PATH=$PWD/python:$PATH
echo a,b >app/rows.csv
cat >app/hold.cc <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
int main(int argc, char** argv) {
  std::FILE* rows = std::fopen(argc > 3 ? argv[3] : "none", "r");
  if (argc != 4 || std::strcmp(argv[2], "held in") != 0 || rows == nullptr) return 1;
  std::fclose(rows);
  std::vector<char> held(std::atoi(argv[1]) << 20);
  std::memset(held.data(), 1, held.size());
  return held[1000] - 1;
}
END
cat >app/held.py <<'END'
def hold(mib):
    return bytearray(mib << 20)
END
cat >app/py_test.py <<'END'
import os, sys
from app import held
assert open(os.environ["ROWS"]).read() == "a,b\n"
x = held.hold(int(sys.argv[1]))
END
# shellcheck disable=SC2016  # the script that is written expands it
printf '#!/bin/bash\nexec /usr/bin/python3 -c "x = bytearray($1 << 20)"\n' >app/sh_test.sh
cat >app/shards_test.sh <<'END'
#!/bin/bash
touch "$TEST_SHARD_STATUS_FILE"
exec /usr/bin/python3 -c "x = bytearray($((TEST_SHARD_INDEX * 20 + 10)) << 20)"
END
printf '#!/bin/bash\n/usr/bin/python3 -c "x = bytearray(25 << 20)"\necho the last words\nexit 3\n' >app/fails_test.sh
printf '#!/bin/bash\n/usr/bin/python3 -c "x = bytearray(40 << 20); import time; time.sleep(600)"\n' >app/slow_test.sh
chmod +x app/*.sh

# says PATTERN: a line of the last command's output is like it.
says() { grep -qE -- "$1" out || fail "no line like '$1' in: $(cat out)"; }
# A peak of at least so many MiB, and less than 30 more.
peak() {
  python3 - "$1" "$2" <<'END' || fail "$1: not $2 MiB in $(cat report.json)"
import json, sys
rows = json.load(open("report.json"))["tables"]["tests"]["rows"]
bytes_of = {row["test"]: row["peak_bytes"] for row in rows}
sys.exit(not int(sys.argv[2]) << 20 < bytes_of[sys.argv[1]] < int(sys.argv[2]) + 30 << 20)
END
}
report() {
  bazel run @footprint//gates:memory_report -- "$@" >out 2>err
  local status=$?
  ((status == 0)) || fail "memory_report $*: status $status: $(cat out err)"
}
record() { bazel test --config=memory_report --test_timeout=20,60,60,60 --build_event_json_file=events.json "$@" >out 2>&1; }

tests=(//app:cc_test //app:py_test //app:sh_test //app:shards_test //app:fails_test //app:slow_test)
record "${tests[@]}"
status=$?
((status == 3)) || fail "bazel test ended with $status, not 3: $(cat out)"
says '^//app:cc_test +PASSED'
says '^//app:fails_test +FAILED'
says '^//app:slow_test +TIMEOUT'
grep -q 'the last words' bazel-testlogs/app/fails_test/test.log || fail "the output of a test is lost"
report --format=json --output=report.json
report --events=events.json
for each in cc:70 py:30 sh:20 shards:50 fails:25 slow:40; do peak "//app:${each%:*}_test" "${each#*:}"; done
says '//app:shards_test +shard 3 of 3'
says '//app:fails_test +exit status 3, FAILED'
says '//app:slow_test .*TIMEOUT'
says '[0-9.]+ MiB +[0-9]+,[0-9]{3},[0-9]{3} '
# The second time the tests that passed come from the cache, with their records.
record //app:cc_test //app:shards_test || fail "the second run: $(cat out)"
says '^//app:cc_test +\(cached\) PASSED'
report --events=events.json
says '//app:cc_test +cached'
# Without the configuration nothing is recorded.
bazel test //app:sh_test >out 2>&1 || fail "without the configuration: $(cat out)"
report --testlogs=bazel-testlogs
grep -q //app:sh_test out && fail "a record of a test that was not recorded: $(cat out)"

# Gates over tests as they are.
bazel build //app:shards_memory >out 2>&1 && fail "a sharded test was measured"
says '//app:shards_test has shard_count = 3; give env = '
bazel build //app:data_memory >out 2>&1 && fail "data of a test was taken"
says 'name them in its own .data'
for name in cc py sh; do
  bazel run "//app:${name}_memory.update" >out 2>&1 || fail "$name: $(cat out)"
done
bazel test //app:cc_memory //app:py_memory //app:sh_memory >out 2>&1 || fail "the gates: $(cat out)"
sed -i 's/args = \["30"\]/args = ["60"]/' app/BUILD
bazel test //app:py_memory >out 2>&1 && fail "30 MiB more were accepted"
says 'REJECT'

bazel shutdown
((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
