#include "footprint/memo/product/planned_benchmarks.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/memory/available_memory.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/memo/google_benchmark/exact_filter.h"
#include "footprint/memo/google_benchmark/instance_list.h"
#include "footprint/memo/google_benchmark/joining_reporter.h"
#include "footprint/memo/google_benchmark/rows_file.h"
#include "footprint/memo/load_meter.h"
#include "footprint/memo/memo_core.h"
#include "footprint/memo/product/planned_run.h"
#include "footprint/memo/product/product_registry.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/trace/plan_in_words.h"
#include "footprint/memo/trace/trace_text.h"

namespace footprint {
namespace {

using benchmark::BenchmarkReporter;
using memo_internal::JoiningReporter;
using memo_internal::PlannedRun;
using memo_internal::ProductCell;
using memo_internal::ProductRegistry;

using Sizes = std::map<std::string, LoadedSize>;

absl::StatusOr<Sizes> ReadSizes(const std::string& path) {
  if (path.empty()) return Sizes();
  absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile(path);
  if (!trace.ok()) return trace.status();
  return LoadedSizes(*trace);
}

// Returns the sizes of `first`, and those of `second` where they are better
// known: measured or declared rather than guessed, guessed rather than unknown.
Sizes BetterSizes(Sizes first, const Sizes& second) {
  const auto rank = [](const LoadedSize& size) {
    return size.source == SizeSource::kUnknown   ? 0
           : size.source == SizeSource::kGuessed ? 1
                                                 : 2;
  };
  for (const auto& [name, size] : second) {
    const auto [entry, is_new] = first.try_emplace(name, size);
    LoadedSize& better = entry->second;
    const int64_t nanoseconds = better.load_nanoseconds;
    if (rank(better) < rank(size)) better = size;
    better.load_nanoseconds =
        nanoseconds > 0 ? nanoseconds : size.load_nanoseconds;
  }
  return first;
}

// Sets the budget to what the machine allows, if it is automatic.
absl::Status ResolveBudget(ProductOptions* options) {
  if (!options->budget_is_auto) return absl::OkStatus();
  const absl::StatusOr<AvailableMemory> memory = ReadAvailableMemory();
  if (!memory.ok()) {
    return absl::Status(
        memory.status().code(),
        absl::StrCat("--memo_budget=auto: ", memory.status().message()));
  }
  // One eighth is left to the benchmarks themselves.
  options->budget_bytes = memory->bytes - memory->bytes / 8;
  std::cerr << "memo: budget " << FormatBytes(*options->budget_bytes)
            << ", seven eighths of what " << memory->limited_by
            << " has left\n";
  return absl::OkStatus();
}

// Counts resident bytes while it lives, if `count` says so.
class ResidentBytesCount {
 public:
  explicit ResidentBytesCount(memo_internal::ResidentCount count) {
    memo_internal::CountResidentBytes(count);
  }
  ResidentBytesCount(const ResidentBytesCount&) = delete;
  ResidentBytesCount& operator=(const ResidentBytesCount&) = delete;
  ~ResidentBytesCount() {
    memo_internal::CountResidentBytes(memo_internal::ResidentCount::kNone);
  }
};

// Returns the names of the instances to plan. Returns FailedPrecondition for
// random interleaving, NotFound if the filter matches no benchmark.
absl::StatusOr<std::vector<std::string>> InstancesToRun(
    const ProductOptions& options) {
  if (options.interleaves_randomly) {
    return absl::FailedPreconditionError(
        "random interleaving takes turns among all benchmarks, so that every "
        "value would stay alive to the end; run planned benchmarks without "
        "--benchmark_enable_random_interleaving");
  }
  std::string errors;
  std::vector<std::string> instance_names =
      memo_internal::ListInstances(&errors);
  if (instance_names.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "the filter matches no benchmark; --benchmark_list_tests without a "
        "filter lists all",
        errors.empty() ? "" : "\n", absl::StripAsciiWhitespace(errors)));
  }
  return instance_names;
}

// Returns the names that are cells of `product`, or all names if `product` is
// empty.
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

absl::Status CheckNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.size() <= memo_internal::kMostNameBytes) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the benchmark \"", name.substr(0, 100), "...\" has a name of ",
        name.size(), " characters, and regular expressions manage ",
        memo_internal::kMostNameBytes, "; give it a shorter one"));
  }
  return absl::OkStatus();
}

// Returns errors that would otherwise be found after minutes of running.
absl::Status CheckBeforeRun(const ProductOptions& options,
                            const std::vector<std::string>& instance_names) {
  const absl::Status names_checked = CheckNames(instance_names);
  if (!names_checked.ok()) return names_checked;
  for (const std::string& path : {options.trace_path, options.remember_path}) {
    if (path.empty()) continue;
    const absl::Status can_write = CheckReplaceable(path);
    if (!can_write.ok()) return can_write;
  }
  return absl::OkStatus();
}

// Returns the sizes that files of earlier runs have.
absl::StatusOr<Sizes> KnownSizes(const ProductOptions& options) {
  absl::StatusOr<Sizes> remembered = Sizes();
  if (!options.remember_path.empty()) {
    remembered = ReadRememberedSizes(options.remember_path);
  }
  if (!remembered.ok()) return remembered;
  absl::StatusOr<Sizes> known = ReadSizes(options.sizes_path);
  if (!known.ok()) return known;
  return BetterSizes(*std::move(known), *remembered);
}

BenchmarkReporter::Context ContextFor(
    const std::vector<std::string>& instance_names) {
  BenchmarkReporter::Context context;
  // Google Benchmark makes room for the longest name, too.
  context.name_field_width = 10;
  for (const std::string& name : instance_names) {
    context.name_field_width = std::max(context.name_field_width, name.size());
  }
  return context;
}

}  // namespace

PlannedBenchmarks::PlannedBenchmarks(int* argc, char** argv)
    : options_(TakeProductFlags(argc, argv)), status_(options_.status()) {
  // Google Benchmark then prints its own flags and ends the program.
  if (!options_.ok() || !options_->asks_for_help) return;
  std::cout << "Flags of planned benchmarks:\n"
            << kProductFlagsHelp << std::flush;
}

absl::StatusOr<size_t> PlannedBenchmarks::RunPlanned(
    BenchmarkReporter* reporter) {
  if (!options_.ok()) return options_.status();
  // Finds out what to run and what is known about it.
  ProductOptions options = *options_;
  absl::StatusOr<std::vector<std::string>> instance_names =
      InstancesToRun(options);
  if (instance_names.ok()) {
    instance_names =
        CellsOfProduct(options.product, *std::move(instance_names));
  }
  if (!instance_names.ok()) return instance_names.status();
  const absl::Status checked = CheckBeforeRun(options, *instance_names);
  if (!checked.ok()) return checked;
  const absl::StatusOr<Sizes> known_sizes = KnownSizes(options);
  if (!known_sizes.ok()) return known_sizes.status();
  const absl::Status resolved = ResolveBudget(&options);
  if (!resolved.ok()) return resolved;
  const ResidentBytesCount count(
      !options.counts_resident ? memo_internal::ResidentCount::kNone
      : options.budget_is_auto ? memo_internal::ResidentCount::kTouchedOrOnHeap
                               : memo_internal::ResidentCount::kTouched);
  // Plans, and prints the plan.
  PlannedRun run(memo_internal::DivideIntoStretches(*instance_names), &trace_);
  const absl::Status planned = run.Plan(options, *known_sizes);
  if (!planned.ok()) return planned;
  if (!options.plan_format.empty()) {
    std::cout << (options.plan_format == "json" ? PlanJson(trace_.plan())
                                                : PlanText(trace_.plan()))
              << std::flush;
    return 0;
  }
  const std::string words = PlanInWords(trace_.plan());
  if (!words.empty()) std::cerr << "memo: " << words << "\n";

  // Runs the plan.
  memo_internal::RowsFile rows;
  const absl::Status opened =
      rows.Open(options.benchmark_out_path, options.benchmark_out_format);
  if (!opened.ok()) return opened;
  JoiningReporter joining(reporter, rows.reporter(), *instance_names);
  if (joining.Begin(ContextFor(*instance_names))) {
    run.Run(&joining);
    joining.End();
  }
  had_problem_ = run.had_problem();
  call_count_ = run.call_count();
  // The number of benchmarks that ran counts, even if a file cannot be written.
  NoteProblem(rows.Flush()
                  ? absl::OkStatus()
                  : absl::InternalError(absl::StrCat(
                        options.benchmark_out_path, ": could not be written")));
  WriteTraceFiles(options);
  return run.ran_count();
}

void PlannedBenchmarks::WriteTraceFiles(const ProductOptions& options) {
  if (!options.trace_path.empty()) {
    NoteProblem(WriteTrace(trace_, options.trace_path));
  }
  if (!options.remember_path.empty()) {
    NoteProblem(RememberSizes(LoadedSizes(trace_), options.remember_path));
  }
}

void PlannedBenchmarks::NoteProblem(const absl::Status& status) {
  if (status.ok()) return;
  had_problem_ = true;
  std::cerr << "memo: " << status.message() << "\n";
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
    if (options_.ok() &&
        !(options_->trace_path.empty() && options_->remember_path.empty())) {
      return "--memory_one_process";
    }
    const ProductCell* const cell =
        ProductRegistry::Get().FindCell(instance_name);
    return cell == nullptr ? ""
                           : absl::StrCat("--memo_product=", cell->product);
  };
}

std::vector<Remark> PlannedBenchmarks::notes() const {
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

int RunPlannedBenchmarks(int argc, char** argv,
                         absl::FunctionRef<absl::Status()> register_all) {
  PlannedBenchmarks planned(&argc, argv);
  benchmark::Initialize(&argc, argv);
  if (planned.status().ok() &&
      benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  const absl::Status registered = register_all();
  if (!registered.ok()) {
    std::cerr << "memo: " << registered.message() << "\n";
    return 2;
  }
  planned.Run(nullptr);
  return planned.ExitStatus();
}

}  // namespace footprint
