#include "footprint/memo/google_benchmark/rows_file.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace footprint::memo_internal {
namespace {

using benchmark::BenchmarkReporter;

// Google Benchmark's writer takes the columns from the rows of its first call,
// and ends the process if a later row has another counter. So all rows go to
// one call.
class CsvReporter : public BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    runs_.insert(runs_.end(), runs.begin(), runs.end());
  }
  void Finalize() override {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    benchmark::CSVReporter writer;
#pragma GCC diagnostic pop
    writer.SetOutputStream(&GetOutputStream());
    writer.SetErrorStream(&GetErrorStream());
    writer.ReportRuns(runs_);
  }

 private:
  std::vector<Run> runs_;
};

std::unique_ptr<BenchmarkReporter> MakeReporter(const std::string& format) {
  if (format == "csv") return std::make_unique<CsvReporter>();
  if (format == "console") {
    return std::make_unique<benchmark::ConsoleReporter>(
        benchmark::ConsoleReporter::OO_None);
  }
  return std::make_unique<benchmark::JSONReporter>();
}

}  // namespace

bool IsRowsFormat(absl::string_view format) {
  return format == "json" || format == "console" || format == "csv";
}

absl::Status RowsFile::Open(const std::string& path,
                            const std::string& format) {
  if (path.empty()) return absl::OkStatus();
  file_.open(path);
  if (!file_) {
    return absl::NotFoundError(
        absl::StrCat(path,
                     ": cannot be opened for the rows; is there such a "
                     "folder, and may you write to it?"));
  }
  reporter_ = MakeReporter(format);
  reporter_->SetOutputStream(&file_);
  reporter_->SetErrorStream(&file_);
  return absl::OkStatus();
}

}  // namespace footprint::memo_internal
