// Fails unless it runs as Bazel runs one of two shards; measured as it
// is, too. It needs no test framework, which would be compiled once more for
// measurements.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace footprint {
namespace {

int failures = 0;

void Expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  ++failures;
}

bool IsVariable(const char* name, const char* wanted) {
  const char* const value = std::getenv(name);
  return value != nullptr && std::strcmp(value, wanted) == 0;
}

void Run(int argc, char** argv) {
  // Measured, it has an argument more.
  Expect(argc >= 2 && std::strcmp(argv[1], "--rows") == 0, "the argument");
  std::string first;
  std::ifstream rows("profiling/measuring/testdata/rows.csv");
  Expect(bool{std::getline(rows, first)}, "no data where it starts");
  Expect(IsVariable("TEST_TOTAL_SHARDS", "2"), "TEST_TOTAL_SHARDS");
  Expect(IsVariable("GTEST_TOTAL_SHARDS", "2"), "GTEST_TOTAL_SHARDS");
  const char* const status = std::getenv("TEST_SHARD_STATUS_FILE");
  // By this file a test tells Bazel that it knows of shards.
  if (status != nullptr) std::ofstream(status) << "sharded";
  const bool is_second = IsVariable("TEST_SHARD_INDEX", "1");
  Expect(
      is_second || (status != nullptr && IsVariable("TEST_SHARD_INDEX", "0")),
      "TEST_SHARD_INDEX");
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  footprint::Run(argc, argv);
  return footprint::failures > 0 ? 1 : 0;
}
