#include "footprint/memo/planned_benchmarks.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "footprint/memo/exact_filter.h"
#include "footprint/memo/memo_trace_file.h"
#include "footprint/memo/product_registry.h"
#include "footprint/memo/run_catching.h"
#include "footprint/memo/schedule_planner.h"
#include "footprint/profiling/whole_file.h"

namespace footprint {
namespace {

using benchmark::BenchmarkReporter;
using memo_internal::PlannedMemo;
using memo_internal::ProductCell;
using memo_internal::ProductRegistry;

// One instance of a product, or neighbouring ones of other benchmarks.
struct Stretch {
  std::vector<std::string> instance_names;
  ProductCell* cell = nullptr;
};

// Passes on what several runs report as if they were one.
class JoiningReporter : public BenchmarkReporter {
 public:
  JoiningReporter(BenchmarkReporter* display, BenchmarkReporter* file)
      : display_(display), file_(file) {
    SetOutputStream(&display->GetOutputStream());
    SetErrorStream(&display->GetErrorStream());
  }

  bool Begin(const Context& context) {
    const bool goes_on = display_->ReportContext(context);
    return (file_ == nullptr || file_->ReportContext(context)) && goes_on;
  }
  void End() {
    display_->Finalize();
    if (file_ != nullptr) file_->Finalize();
  }

  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    display_->ReportRuns(runs);
    if (file_ != nullptr) file_->ReportRuns(runs);
  }

 private:
  BenchmarkReporter* const display_;
  BenchmarkReporter* const file_;
};

// Only lends its streams while Google Benchmark lists instances.
class ListingReporter : public BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return false; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

// Whether Google Benchmark lists instances or runs them. Nor may it open a file
// for rows that the environment names: it would begin it anew for every cell.
void SwitchListing(bool is_on) {
  std::string program = BenchmarkReporter::Context::executable_name != nullptr
                            ? BenchmarkReporter::Context::executable_name
                            : "program";
  std::string flag =
      absl::StrCat("--benchmark_list_tests=", is_on ? "true" : "false");
  // The name is kept by address, so it goes in and out as it was.
  const char* const name = BenchmarkReporter::Context::executable_name;
  std::string no_file = "--benchmark_out=";
  char* arguments[] = {&program[0], &flag[0], &no_file[0], nullptr};
  int count = 3;
  benchmark::Initialize(&count, arguments);
  BenchmarkReporter::Context::executable_name = name;
}

// The instances that the filter leaves, in Google Benchmark's order.
std::vector<std::string> ListInstances(std::string* errors_text) {
  std::ostringstream listing;
  std::ostringstream errors;
  ListingReporter reporter;
  reporter.SetOutputStream(&listing);
  reporter.SetErrorStream(&errors);
  SwitchListing(true);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  SwitchListing(false);
  *errors_text = errors.str();
  return absl::StrSplit(listing.str(), '\n', absl::SkipEmpty());
}

// Instances of one name run with the first of them, since a filter cannot tell
// them apart.
std::vector<Stretch> DivideIntoStretches(
    const std::vector<std::string>& instance_names) {
  std::vector<Stretch> stretches;
  std::map<std::string, size_t> stretch_of_name;
  for (const std::string& name : instance_names) {
    const auto same = stretch_of_name.find(name);
    if (same != stretch_of_name.end()) {
      stretches[same->second].instance_names.push_back(name);
      continue;
    }
    ProductCell* const cell = ProductRegistry::Get().FindCell(name);
    if (cell != nullptr || stretches.empty() ||
        stretches.back().cell != nullptr) {
      stretches.emplace_back();
      stretches.back().cell = cell;
    }
    stretches.back().instance_names.push_back(name);
    stretch_of_name[name] = stretches.size() - 1;
  }
  return stretches;
}

PlannedValue DescribeValue(
    const PlannedMemo& memo,
    const std::map<std::string, LoadedSize>& known_sizes) {
  const MemoStatistics statistics = memo.statistics();
  PlannedValue value;
  value.name = memo.name();
  const auto known = known_sizes.find(value.name);
  if (known != known_sizes.end()) {
    value.bytes = known->second.bytes;
    value.source = known->second.source;
  } else if (statistics.bytes_source == BytesSource::kMeasured) {
    value.bytes = statistics.peak_bytes;
    value.source = SizeSource::kMeasured;
  } else if (statistics.declared_bytes > 0) {
    value.bytes = statistics.declared_bytes;
  } else {
    value.source = SizeSource::kUnknown;
  }
  return value;
}

// By more than a hundredth: an allocator rounds what is asked for.
bool IsFarFrom(int64_t bytes, int64_t expected_bytes) {
  return std::abs(bytes - expected_bytes) > expected_bytes / 100;
}

// In one line; empty where nothing was planned.
std::string PlanInWords(const MemoPlan& plan) {
  if (plan.values().empty()) return "";
  const bool knows_sizes = plan.unknown_size_count() == 0;
  return absl::StrCat(
      plan.values_size(), " values, ", plan.load_count(), " loads planned (",
      plan.method(), plan.is_optimal() ? ", optimal" : ", not proved optimal",
      plan.is_reordered() ? ", cells reordered" : "", "); ",
      knows_sizes ? "peak " : "peak at least ", plan.peak_bytes(), " bytes",
      plan.has_budget_bytes()
          ? absl::StrCat(", budget ", plan.budget_bytes(), " bytes")
          : "",
      knows_sizes
          ? ""
          : absl::StrCat(", ", plan.unknown_size_count(), " sizes unknown"));
}

// Carries out a schedule.
class PlannedRun {
 public:
  PlannedRun(std::vector<Stretch> stretches, MemoTrace* trace)
      : stretches_(std::move(stretches)), trace_(trace) {}

  absl::Status Plan(const ProductOptions& options,
                    const std::map<std::string, LoadedSize>& known_sizes) {
    request_.budget_bytes = options.budget_bytes;
    request_.may_reorder = options.may_reorder;
    std::map<PlannedMemo*, int> indices;
    for (const Stretch& stretch : stretches_) {
      PlannedCell& cell = request_.cells.emplace_back();
      cell.name = absl::StrJoin(stretch.instance_names, ", ");
      if (stretch.cell == nullptr) continue;
      for (PlannedMemo* memo : stretch.cell->memos) {
        const auto [entry, is_new] =
            indices.try_emplace(memo, static_cast<int>(memos_.size()));
        if (is_new) {
          memos_.push_back(memo);
          request_.values.push_back(DescribeValue(*memo, known_sizes));
        }
        cell.values.push_back(entry->second);
      }
    }
    absl::StatusOr<Schedule> schedule = PlanSchedule(request_);
    if (!schedule.ok()) return schedule.status();
    schedule_ = *std::move(schedule);
    *trace_->mutable_plan() = DescribePlan(request_, schedule_);
    return absl::OkStatus();
  }

  void Run(BenchmarkReporter* reporter) {
    for (const ScheduledStep& step : schedule_.steps) {
      Stretch& stretch = stretches_[static_cast<size_t>(step.cell)];
      if (stretch.cell == nullptr) {
        RunInstances(stretch, reporter);
      } else {
        RunProductCell(stretch, step, reporter);
      }
    }
  }

  bool had_problem() const { return had_problem_; }
  size_t ran_count() const { return ran_count_; }

 private:
  void RunInstances(const Stretch& stretch, BenchmarkReporter* reporter) {
    for (const std::vector<std::string>& names :
         memo_internal::DivideForFilters(stretch.instance_names)) {
      size_t count = 0;
      const absl::Status status =
          memo_internal::RunCatching("a benchmark that is no product", [&] {
            count = benchmark::RunSpecifiedBenchmarks(
                reporter, nullptr, memo_internal::ExactFilter(names));
            return absl::OkStatus();
          });
      ran_count_ += count;
      if (!status.ok()) {
        RecordProblem(MemoEvent::TASK_FAILED, names.front(), status);
      }
      if (count != names.size()) RecordNotRun(names, count);
    }
  }

  // Google Benchmark only returns how many it found.
  void RecordNotRun(const std::vector<std::string>& names, size_t count) {
    had_problem_ = true;
    Say(AddEvent(MemoEvent::NOT_RUN, names.front(), 0),
        absl::StrCat(names.size() - std::min(count, names.size()), " of ",
                     names.size(),
                     " benchmarks did not run to their end, of "
                     "those from \"",
                     names.front(), "\" to \"", names.back(),
                     "\": one of them threw, or has a line break in its name"));
  }

  void RunProductCell(const Stretch& stretch, const ScheduledStep& step,
                      BenchmarkReporter* reporter) {
    ProductCell& cell = *stretch.cell;
    cell.error = LoadValues(step.cell);
    bool is_set_up = cell.error.ok();
    if (cell.error.ok() && cell.setup != nullptr) {
      cell.error = memo_internal::RunCatching("the setup", cell.setup);
      is_set_up = cell.error.ok();
      if (!is_set_up) {
        RecordProblem(MemoEvent::TASK_FAILED, cell.name, cell.error);
      }
    }
    cell.is_planned = true;
    cell.thrown = absl::OkStatus();
    RunInstances(stretch, reporter);
    cell.is_planned = false;
    AddEvent(MemoEvent::CELL_RAN, stretch.instance_names[0], 0);
    if (!cell.thrown.ok()) {
      RecordProblem(MemoEvent::TASK_FAILED, cell.name, cell.thrown);
    }
    if (is_set_up && cell.teardown != nullptr) {
      cell.error = memo_internal::RunCatching("the teardown", cell.teardown);
      if (!cell.error.ok()) {
        RecordProblem(MemoEvent::TASK_FAILED, cell.name, cell.error);
      }
    }
    for (int value : step.evictions) Evict(memos_[static_cast<size_t>(value)]);
  }

  // In the plan's order; after an earlier failure, also what the plan took for
  // loaded. What could not be loaded once is not tried again, nor is anything
  // else loaded for a cell that cannot run.
  absl::Status LoadValues(int cell) {
    const std::vector<int>& values =
        request_.cells[static_cast<size_t>(cell)].values;
    for (int value : values) {
      const auto failed = failed_loads_.find(value);
      if (failed != failed_loads_.end()) return failed->second;
    }
    for (int value : values) {
      PlannedMemo* const memo = memos_[static_cast<size_t>(value)];
      if (memo->is_pinned()) continue;
      const uint64_t load_count = memo->statistics().load_count;
      const absl::Status status = memo->Load();
      if (!status.ok()) {
        trace_->set_failed_load_count(trace_->failed_load_count() + 1);
        AddEvent(MemoEvent::LOAD_FAILED, memo->name(), 0)
            ->set_detail(std::string(status.message()));
        had_problem_ = true;
        failed_loads_[value] = status;
        return status;
      }
      RecordValue(request_.values[static_cast<size_t>(value)], *memo,
                  memo->statistics().load_count != load_count);
    }
    return absl::OkStatus();
  }

  // A value that is alive from now on. One that somebody else had loaded, such
  // as the factory of another value, counts, too, but is no load of the plan.
  void RecordValue(const PlannedValue& planned, const PlannedMemo& memo,
                   bool is_new) {
    const MemoStatistics statistics = memo.statistics();
    const bool is_known = statistics.bytes_source != BytesSource::kUnknown;
    // What nobody could count takes what the plan says.
    const int64_t bytes = is_known ? statistics.live_bytes : planned.bytes;
    live_bytes_[memo.name()] = bytes;
    if (is_new) trace_->set_load_count(trace_->load_count() + 1);
    trace_->set_peak_bytes(std::max(trace_->peak_bytes(), LiveBytes()));
    AddEvent(is_new ? MemoEvent::LOADED : MemoEvent::FOUND_LOADED, memo.name(),
             bytes)
        ->set_is_measured(statistics.bytes_source == BytesSource::kMeasured);
    if (is_known && planned.source != SizeSource::kUnknown &&
        IsFarFrom(bytes, planned.bytes)) {
      Say(AddEvent(MemoEvent::SIZE_DIFFERS, memo.name(), bytes),
          absl::StrCat("\"", memo.name(), "\" takes ", bytes,
                       " bytes, not the ", planned.bytes, " planned for; ",
                       planned.source == SizeSource::kDeclared
                           ? "declare that"
                           : "measure anew with --memo_trace_out="));
    }
    if (request_.budget_bytes.has_value() &&
        LiveBytes() > *request_.budget_bytes) {
      had_problem_ = true;
      Say(AddEvent(MemoEvent::BUDGET_EXCEEDED, memo.name(), bytes),
          absl::StrCat("planned values take ", LiveBytes(),
                       " bytes, more than the budget of ",
                       *request_.budget_bytes));
    }
  }

  // What could not be loaded needs no eviction.
  void Evict(PlannedMemo* memo) {
    if (!memo->is_pinned()) return;
    const absl::Status status = memo->Evict();
    if (!status.ok()) {
      had_problem_ = true;
      Say(AddEvent(MemoEvent::EVICTION_FAILED, memo->name(), 0),
          absl::StrCat("not evicted: ", status.message()));
      return;
    }
    const int64_t bytes = live_bytes_[memo->name()];
    live_bytes_.erase(memo->name());
    AddEvent(MemoEvent::EVICTED, memo->name(), bytes);
  }

  void RecordProblem(MemoEvent::Kind kind, const std::string& name,
                     const absl::Status& status) {
    had_problem_ = true;
    Say(AddEvent(kind, name, 0), absl::StrCat(name, ": ", status.message()));
  }

  MemoEvent* AddEvent(MemoEvent::Kind kind, const std::string& name,
                      int64_t bytes) {
    MemoEvent* event = trace_->add_events();
    event->set_kind(kind);
    event->set_name(name);
    event->set_bytes(bytes);
    event->set_live_bytes(LiveBytes());
    return event;
  }

  void Say(MemoEvent* event, const std::string& text) {
    event->set_detail(text);
    std::cerr << "memo: " << text << "\n";
  }

  int64_t LiveBytes() const {
    int64_t sum = 0;
    for (const auto& [name, bytes] : live_bytes_) sum += bytes;
    return sum;
  }

  std::vector<Stretch> stretches_;
  MemoTrace* const trace_;
  std::vector<PlannedMemo*> memos_;
  ScheduleRequest request_;
  Schedule schedule_;
  // Of the values that are alive.
  std::map<std::string, int64_t> live_bytes_;
  std::map<int, absl::Status> failed_loads_;
  size_t ran_count_ = 0;
  bool had_problem_ = false;
};

absl::StatusOr<std::map<std::string, LoadedSize>> ReadSizes(
    const std::string& path) {
  if (path.empty()) return std::map<std::string, LoadedSize>();
  absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile(path);
  if (!trace.ok()) return trace.status();
  return LoadedSizes(*trace);
}

std::unique_ptr<BenchmarkReporter> MakeFileReporter(const std::string& format) {
  if (format == "console") {
    return std::make_unique<benchmark::ConsoleReporter>(
        benchmark::ConsoleReporter::OO_None);
  }
  return std::make_unique<benchmark::JSONReporter>();
}

// The file of --benchmark_out=, if there is one.
class RowsFile {
 public:
  absl::Status Open(const std::string& path, const std::string& format) {
    if (path.empty()) return absl::OkStatus();
    file_.open(path);
    if (!file_) {
      return absl::NotFoundError(
          absl::StrCat(path,
                       ": cannot be opened for the rows; is there such a "
                       "folder, and may you write to it?"));
    }
    reporter_ = MakeFileReporter(format);
    reporter_->SetOutputStream(&file_);
    reporter_->SetErrorStream(&file_);
    return absl::OkStatus();
  }

  // Null where there is no file.
  BenchmarkReporter* reporter() { return reporter_.get(); }

  // False if not everything could be written.
  bool Flush() {
    return reporter_ == nullptr || static_cast<bool>(file_.flush());
  }

 private:
  std::ofstream file_;
  std::unique_ptr<BenchmarkReporter> reporter_;
};

// What is to be planned, by name. FailedPrecondition, NotFound: why nothing is.
absl::StatusOr<std::vector<std::string>> InstancesToRun(
    const ProductOptions& options) {
  if (options.interleaves_randomly) {
    return absl::FailedPreconditionError(
        "random interleaving takes turns among all benchmarks, so that every "
        "value would stay alive to the end; run planned benchmarks without "
        "--benchmark_enable_random_interleaving");
  }
  std::string errors;
  std::vector<std::string> instance_names = ListInstances(&errors);
  if (instance_names.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "the filter matches no benchmark; --benchmark_list_tests without a "
        "filter lists all",
        errors.empty() ? "" : "\n", absl::StripAsciiWhitespace(errors)));
  }
  return instance_names;
}

// Those of `names` that are cells of `product`, or all if it is empty.
absl::StatusOr<std::vector<std::string>> CellsOfProduct(
    const std::string& product, std::vector<std::string> names) {
  if (product.empty()) return names;
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&product](const std::string& name) {
                               const ProductCell* const cell =
                                   ProductRegistry::Get().FindCell(name);
                               return cell == nullptr ||
                                      cell->product != product;
                             }),
              names.end());
  if (!names.empty()) return names;
  return absl::NotFoundError(
      absl::StrCat("--memo_product=", product,
                   ": the filter leaves no cell of such a product; "
                   "--benchmark_list_tests without a filter lists all"));
}

BenchmarkReporter::Context ContextFor(
    const std::vector<std::string>& instance_names) {
  BenchmarkReporter::Context context;
  // As Google Benchmark has it: room for the longest name.
  context.name_field_width = 10;
  for (const std::string& name : instance_names) {
    context.name_field_width = std::max(context.name_field_width, name.size());
  }
  return context;
}

}  // namespace

PlannedBenchmarks::PlannedBenchmarks(int* argc, char** argv)
    : options_(TakeProductFlags(argc, argv)), status_(options_.status()) {}

absl::StatusOr<size_t> PlannedBenchmarks::RunPlanned(
    BenchmarkReporter* reporter) {
  if (!options_.ok()) return options_.status();
  absl::StatusOr<std::vector<std::string>> instance_names =
      InstancesToRun(*options_);
  if (instance_names.ok()) {
    instance_names =
        CellsOfProduct(options_->product, *std::move(instance_names));
  }
  if (!instance_names.ok()) return instance_names.status();
  if (!options_->trace_path.empty()) {
    const absl::Status can_write = CheckReplaceable(options_->trace_path);
    if (!can_write.ok()) return can_write;
  }
  const auto known_sizes = ReadSizes(options_->sizes_path);
  if (!known_sizes.ok()) return known_sizes.status();
  PlannedRun run(DivideIntoStretches(*instance_names), &trace_);
  const absl::Status planned = run.Plan(*options_, *known_sizes);
  if (!planned.ok()) return planned;
  const std::string words = PlanInWords(trace_.plan());
  if (!words.empty()) std::cerr << "memo: " << words << "\n";

  RowsFile rows;
  const absl::Status opened =
      rows.Open(options_->benchmark_out_path, options_->benchmark_out_format);
  if (!opened.ok()) return opened;
  JoiningReporter joining(reporter, rows.reporter());
  if (joining.Begin(ContextFor(*instance_names))) {
    run.Run(&joining);
    joining.End();
  }
  had_problem_ = run.had_problem();
  // What ran has run, whatever becomes of the files.
  if (!rows.Flush()) {
    had_problem_ = true;
    std::cerr << "memo: " << options_->benchmark_out_path
              << ": could not be written\n";
  }
  if (!options_->trace_path.empty()) {
    const absl::Status written =
        WriteMemoTraceFile(trace_, options_->trace_path);
    if (!written.ok()) {
      had_problem_ = true;
      std::cerr << "memo: " << written.message() << "\n";
    }
  }
  return run.ran_count();
}

size_t PlannedBenchmarks::Run(BenchmarkReporter* reporter) {
  if (reporter == nullptr) reporter = benchmark::CreateDefaultDisplayReporter();
  if (options_.ok() && options_->lists_tests) {
    return benchmark::RunSpecifiedBenchmarks(reporter);
  }
  trace_.Clear();
  absl::StatusOr<size_t> count = RunPlanned(reporter);
  status_ = count.status();
  if (count.ok()) return *count;
  std::cerr << "memo: " << status_.message() << "\n";
  return 0;
}

std::function<size_t(BenchmarkReporter*)> PlannedBenchmarks::runner() {
  return [this](BenchmarkReporter* reporter) { return Run(reporter); };
}

std::function<std::string(const std::string&)> PlannedBenchmarks::sharing()
    const {
  return [this](const std::string& instance_name) -> std::string {
    if (options_.ok() && !options_->trace_path.empty()) {
      return "--memory_one_process";
    }
    const ProductCell* const cell =
        ProductRegistry::Get().FindCell(instance_name);
    return cell == nullptr ? ""
                           : absl::StrCat("--memo_product=", cell->product);
  };
}

std::vector<Remark> PlannedBenchmarks::remarks() const {
  const std::string words = PlanInWords(trace_.plan());
  if (words.empty()) return {};
  Remark remark;
  remark.set_about(options_.ok() && !options_->product.empty()
                       ? absl::StrCat("memo plan of ", options_->product)
                       : "memo plan");
  remark.set_text(words);
  return {remark};
}

int PlannedBenchmarks::ExitStatus(int status) const {
  if (!status_.ok()) return 2;
  return had_problem_ ? 1 : status;
}

}  // namespace footprint
