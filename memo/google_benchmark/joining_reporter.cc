#include "footprint/memo/google_benchmark/joining_reporter.h"

namespace footprint::memo_internal {

JoiningReporter::JoiningReporter(BenchmarkReporter* display,
                                 BenchmarkReporter* file,
                                 const std::vector<std::string>& instance_names)
    : display_(display), file_(file), numbers_(instance_names) {
  SetOutputStream(&display->GetOutputStream());
  SetErrorStream(&display->GetErrorStream());
}

bool JoiningReporter::Begin(const Context& context) {
  const bool goes_on = display_->ReportContext(context);
  return (file_ == nullptr || file_->ReportContext(context)) && goes_on;
}

void JoiningReporter::End() {
  display_->Finalize();
  if (file_ != nullptr) file_->Finalize();
}

void JoiningReporter::ReportRuns(const std::vector<Run>& reported) {
  std::vector<Run> runs = reported;
  for (Run& run : runs) {
    names_.insert(run.run_name.str());
    numbers_.Set(&run);
  }
  display_->ReportRuns(runs);
  if (file_ != nullptr) file_->ReportRuns(runs);
  if (after_rows_ && !runs.empty()) after_rows_(runs[0].run_name.str());
}

}  // namespace footprint::memo_internal
