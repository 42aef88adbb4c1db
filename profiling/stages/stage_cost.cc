// Measures how long a stage takes, in nanoseconds: a named one, and a data
// file, which is a stage under memprof. For comparison it also measures a file
// that is not a stage.
//
//   stage_cost FOLDER
//
// Each figure is the median of 31 rounds. Without the agent, a stage costs what
// footprint_stage.h costs, and both files cost the system's open and close.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "footprint/base/machine/monotonic_time.h"
#include "footprint/profiling/stages/footprint_stage.h"

namespace {

using footprint::MonotonicTimeNs;

constexpr int kRounds = 31;
constexpr int kVisits = 2000;

template <typename Visit>
double MedianNs(Visit visit) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin_ns = MonotonicTimeNs();
    for (int i = 0; i < kVisits; ++i) visit();
    rounds.push_back(static_cast<double>(MonotonicTimeNs() - begin_ns) /
                     kVisits);
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

double OpenAndCloseNs(const std::string& path) {
  close(open(path.c_str(), O_RDWR | O_CREAT, 0600));
  return MedianNs([&] { close(open(path.c_str(), O_RDONLY)); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::printf("named stage        %8.1f ns\n",
              MedianNs([] { const footprint::Stage stage("stage"); }));
  const footprint::Stage around("around");
  std::printf("one inside another %8.1f ns\n",
              MedianNs([] { const footprint::Stage stage("stage"); }));
  std::printf("data file          %8.1f ns\n",
              OpenAndCloseNs(folder + "/stage_cost.csv"));
  std::printf("other file         %8.1f ns\n",
              OpenAndCloseNs(folder + "/stage_cost.txt"));
  return 0;
}
