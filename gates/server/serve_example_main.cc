// Runs a validation server whose trials end at once, for tests of the server
// itself:
//
//   serve_example STORE PORT [OIDC]
//
// OIDC is a configuration of issuers (oidc.proto).
//
// Every bundle is accepted, with exceptions by how it begins: "reject" is
// rejected, the first trial of "flaky" fails, "long" has a long label, "slow"
// takes two seconds, and "endless" unpacks until it is stopped. Prints the port
// and a token with every scope, or "unchanged" if STORE has tokens already.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/server/access_tokens.h"
#include "footprint/gates/server/oidc_issuers.h"
#include "footprint/gates/server/stored_result.pb.h"
#include "footprint/gates/server/trial_queue.h"
#include "footprint/gates/server/validation_page.h"
#include "footprint/gates/server/validation_server.h"
#include "footprint/gates/store/bundle_folder.h"

namespace footprint {
namespace {

constexpr unsigned kEveryScope = kSubmitScope | kReadScope | kAdminScope;

void AddMetric(const char* name, int64_t bytes, Phase* phase) {
  phase->set_name(name);
  phase->set_parent(-1);
  Metric* metric = phase->add_metrics();
  metric->set_kind(PEAK_LIVE_USABLE_BYTES);
  metric->set_determinism(EXACT);
  metric->set_value(bytes);
}

// Remembers the bundles that were tried. Thread-safe, since the queue runs
// several trials at once.
class TriedBundles {
 public:
  bool IsFirstTrial(const std::string& bundle) {
    MutexLock lock(&mutex_);
    return tried_.insert(bundle).second;
  }

 private:
  Mutex mutex_;
  std::set<std::string> tried_ ABSL_GUARDED_BY(mutex_);
};

bool IsFirstTrial(const std::string& bundle) {
  static auto* const tried = new TriedBundles();
  return tried->IsFirstTrial(bundle);
}

absl::StatusOr<StoredResult> Judge(const TrialToRun& trial) {
  const absl::StatusOr<std::string> bundle = ReadWholeFile(trial.bundle_path);
  if (!bundle.ok()) return bundle.status();
  if (absl::StartsWith(*bundle, "slow")) {
    trial.report_stage("measuring");
    sleep(2);
  }
  if (absl::StartsWith(*bundle, "endless")) {
    trial.report_stage("unpacking");
    while (!trial.is_stopped()) usleep(1000);
    return absl::CancelledError("stopped");
  }
  if (absl::StartsWith(*bundle, "flaky") && IsFirstTrial(*bundle)) {
    return absl::InternalError("the sandbox broke");
  }
  StoredResult result;
  result.set_deployment(absl::StartsWith(*bundle, "long")
                            ? "//" + std::string(180, 'm')
                            : "//models:example");
  result.add_remarks("of " + Sha256Hex(*bundle));
  const bool is_rejected = absl::StartsWith(*bundle, "reject");
  const auto size = static_cast<int64_t>(bundle->size());
  Verdict* verdict = result.mutable_verdict();
  verdict->set_decision(is_rejected ? REJECT : ACCEPT);
  Judgement* judgement = verdict->add_judgements();
  judgement->set_label(result.deployment());
  judgement->set_benchmark("whole process");
  judgement->set_metric(PEAK_RESIDENT_BYTES);
  judgement->set_measured(size * 1000);
  judgement->set_limit(is_rejected ? size * 900 : size * 2000);
  judgement->set_rule(MAXIMUM);
  judgement->set_severity(BLOCK);
  judgement->set_decision(verdict->decision());
  MemoryProfile* profile = result.mutable_profile();
  profile->set_label(result.deployment());
  BenchmarkMemory* benchmark = profile->add_benchmarks();
  benchmark->set_name("run");
  Metric* peak = benchmark->add_metrics();
  peak->set_kind(PEAK_LIVE_USABLE_BYTES);
  peak->set_determinism(EXACT);
  peak->set_value(size * 800);
  AddMetric("read", size * 300, benchmark->add_phases());
  AddMetric("fit", size * 800, benchmark->add_phases());
  Attribution* site = benchmark->add_peak_attribution();
  site->set_site("fit.py:12 <b>fit</b>");
  site->set_live_bytes(size * 500);
  return result;
}

int Main(const std::string& folder, int port, const std::string& oidc_path) {
  ValidationServerOptions options;
  std::unique_ptr<OidcIssuers> oidc;
  options.store_folder = folder;
  options.queue.thread_count = 2;
  options.http.port = port;
  options.http.page = ValidationPage();
  options.http.page_policy = ValidationPagePolicy();
  options.api.most_requests_at_once = 1e9;
  options.api.requests_per_second = 1e9;
  absl::Status status = MakeFolder(folder);
  if (status.ok() && !oidc_path.empty()) {
    absl::StatusOr<std::unique_ptr<OidcIssuers>> read =
        OidcIssuers::Read(oidc_path, nullptr);
    status = read.status();
    if (read.ok()) oidc = *std::move(read);
  }
  options.oidc = oidc.get();
  absl::StatusOr<std::string> token = std::string("unchanged");
  if (status.ok() && access(MakeTokenPath(folder).c_str(), F_OK) != 0) {
    token = AddAccessToken(MakeTokenPath(folder), {"example", kEveryScope, 0});
    status = token.status();
  }
  if (status.ok()) {
    status = ServeUntilSignalled(options, Judge, [&](int bound_port) {
      std::printf("%d %s\n", bound_port, token->c_str());
      std::fflush(stdout);
    });
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "serve_example: %s\n",
               std::string(status.message()).c_str());
  return 2;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  return footprint::Main(argv[1], std::atoi(argv[2]), argc == 4 ? argv[3] : "");
}
