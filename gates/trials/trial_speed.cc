// Measures how many trivial bundles are tried a second, and the sandbox's share
// of a run:
//
//   bazel run -c opt //gates/trials:trial_speed -- [COUNT] [THREADS]
//
// Each bundle is a separate archive, and runs twice: to measure it, and under
// its budget.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/trials/run_trial.h"

namespace footprint {
namespace {

constexpr int64_t kBudgetBytes = 16 << 20;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "trial_speed: %s\n",
               std::string(status.message()).c_str());
  std::exit(1);
}

std::string MakeBundles(const std::string& folder, int count) {
  std::filesystem::create_directories(folder + "/source");
  std::filesystem::create_directories(folder + "/work");
  std::filesystem::copy_file("/usr/bin/true", folder + "/source/program");
  for (int i = 0; i < count; ++i) {
    Check(ReplaceFile(
        folder + "/source/bundle.textproto",
        absl::StrCat("schema_version: 1 kind: NATIVE_PROGRAM entry: "
                     "\"program\" arguments: \"",
                     i, "\""),
        ToDisk::kNoFsync));
    Check(MakeBundle(folder + "/source", absl::StrCat(folder, "/", i)));
  }
  return folder;
}

int Main(int count, int thread_count) {
  TemporaryFolder made;
  Check(made.Create(TemporaryFolderParent(), "trial-speed"));
  const std::string folder = MakeBundles(made.path(), count);
  std::atomic<int> next{0};
  std::vector<int64_t> sandbox_ns(static_cast<size_t>(2 * count));
  const absl::Time begin = absl::Now();
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) {
    threads.emplace_back([&] {
      for (int i = next++; i < count; i = next++) {
        TrialRequest request;
        request.set_bundle_path(absl::StrCat(folder, "/", i));
        request.set_work_folder(folder + "/work");
        request.set_budget_bytes(kBudgetBytes);
        request.set_is_unexplained(true);
        const absl::StatusOr<TrialResult> result = RunTrial(request);
        Check(result.status());
        if (result->verdict().decision() != ACCEPT) {
          Check(absl::InternalError(result->reason()));
        }
        for (int run = 0; run < 2; ++run) {
          sandbox_ns[static_cast<size_t>(2 * i + run)] =
              result->runs(run).sandbox_time_ns();
        }
      }
    });
  }
  for (std::thread& each : threads) each.join();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  std::sort(sandbox_ns.begin(), sandbox_ns.end());
  std::printf(
      "%d bundles in %.2f s on %d threads: %.0f a second; sandbox a run: "
      "median %.2f ms, 95 %% below %.2f ms\n",
      count, seconds, thread_count, count / seconds,
      static_cast<double>(sandbox_ns[sandbox_ns.size() / 2]) / 1e6,
      static_cast<double>(sandbox_ns[sandbox_ns.size() * 95 / 100]) / 1e6);
  return 0;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 500;
  const int thread_count = argc > 2 ? std::atoi(argv[2]) : 2;
  if (count < 1 || thread_count < 1) {
    std::fprintf(stderr, "trial_speed: COUNT and THREADS must be at least 1\n");
    return 2;
  }
  return footprint::Main(count, thread_count);
}
