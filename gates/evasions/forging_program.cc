// A program that reports that it needs one byte but needs 100 MB: part of the
// corpus of evasions_test.
//
//   forging_program --way=instead|at_exit
//
// at_exit: replaces the written measurement at the very end.

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace {

constexpr char kFlag[] = "--memory_profile_out=";
std::string path;
std::string way;

footprint::MemoryProfile Claim(int64_t bytes) {
  footprint::MemoryProfile profile;
  footprint::BenchmarkMemory* const benchmark = profile.add_benchmarks();
  benchmark->set_name("claim/" + way);
  for (footprint::MetricKind kind : {footprint::PEAK_LIVE_USABLE_BYTES,
                                     footprint::PEAK_LIVE_ABSOLUTE_USABLE_BYTES,
                                     footprint::PEAK_MAPPED_BYTES}) {
    footprint::Metric* const metric = benchmark->add_metrics();
    metric->set_kind(kind);
    metric->set_determinism(footprint::EXACT);
    metric->set_value(bytes);
  }
  return profile;
}

void WriteForged() {
  if (path.empty()) return;
  if (!footprint::WriteMemoryProfileFile(Claim(1), path).ok()) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (absl::StartsWith(argument, kFlag)) {
      path = std::string(absl::StripPrefix(argument, kFlag));
    }
    if (absl::StartsWith(argument, "--way=")) {
      way = std::string(absl::StripPrefix(argument, "--way="));
    }
  }
  const std::vector<char> bytes(100'000'000, 1);
  if (way == "at_exit") {
    std::atexit(WriteForged);
    if (!path.empty() && !footprint::WriteMemoryProfileFile(
                              Claim(static_cast<int64_t>(bytes.size())), path)
                              .ok()) {
      return 1;
    }
  } else {
    WriteForged();
  }
  return bytes[bytes.size() / 2] == 1 ? 0 : 1;
}
