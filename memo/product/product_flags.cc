#include "footprint/memo/product/product_flags.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/base/text/take_flags.h"
#include "footprint/memo/google_benchmark/rows_file.h"

namespace footprint {
namespace {

// Returns whether a flag's value is true by the rules of Google Benchmark.
bool IsTrue(absl::string_view value) {
  if (value.size() == 1) {
    return absl::ascii_isalnum(static_cast<unsigned char>(value[0])) &&
           value != "0" && !absl::EqualsIgnoreCase(value, "f") &&
           !absl::EqualsIgnoreCase(value, "n");
  }
  return !absl::EqualsIgnoreCase(value, "false") &&
         !absl::EqualsIgnoreCase(value, "no") &&
         !absl::EqualsIgnoreCase(value, "off");
}

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsTrueInEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && IsTrue(value);
}

// Sets `is_on` to the flag's value if the argument is this flag.
void SeeSwitch(absl::string_view argument, absl::string_view flag,
               bool* is_on) {
  if (!absl::ConsumePrefix(&argument, flag)) return;
  if (argument.empty()) *is_on = true;
  if (absl::ConsumePrefix(&argument, "=")) *is_on = IsTrue(argument);
}

absl::Status SetOrder(absl::string_view value, ProductOptions* options) {
  if (value != "given" && value != "reorder") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--memo_order=", value, ": write \"given\" or \"reorder\""));
  }
  options->may_reorder = value == "reorder";
  return absl::OkStatus();
}

absl::Status SetBudget(absl::string_view value, ProductOptions* options) {
  options->budget_is_auto = value == "auto";
  options->budget_bytes.reset();
  if (options->budget_is_auto) return absl::OkStatus();
  const absl::StatusOr<int64_t> bytes = ParseBytes(value);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--memo_budget=", bytes.status().message(), "; or write \"auto\""));
  }
  options->budget_bytes = *bytes;
  return absl::OkStatus();
}

absl::Status SetCounted(absl::string_view value,
                        absl::optional<bool>* counts_resident) {
  if (value != "allocated" && value != "resident") {
    return absl::InvalidArgumentError(
        absl::StrCat("--memo_budget_counts=", value,
                     ": write \"allocated\" or \"resident\""));
  }
  *counts_resident = value == "resident";
  return absl::OkStatus();
}

absl::Status SetPlanFormat(absl::string_view value, ProductOptions* options) {
  if (value != "text" && value != "json") {
    return absl::InvalidArgumentError(
        absl::StrCat("--memo_plan=", value, ": write \"text\" or \"json\""));
  }
  options->plan_format = std::string(value);
  return absl::OkStatus();
}

absl::Status SetPath(absl::string_view flag, absl::string_view value,
                     std::string* path) {
  if (value.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, "=: no file; write ", flag, "=FILE"));
  }
  *path = std::string(value);
  return absl::OkStatus();
}

absl::Status SetOutFormat(absl::string_view flag, absl::string_view value,
                          ProductOptions* options) {
  if (!memo_internal::IsRowsFormat(value)) {
    return absl::InvalidArgumentError(absl::StrCat(
        flag, value, ": planned benchmarks write json, csv or console"));
  }
  options->benchmark_out_format = std::string(value);
  return absl::OkStatus();
}

// Reads flags that stay in the command line for Google Benchmark. Fails for a
// flag that begins with --memo_, since all known ones have been taken out.
absl::Status SeeWhatIsLeft(int argc, char** argv, ProductOptions* options) {
  for (int i = 1; i < argc && absl::string_view(argv[i]) != "--"; ++i) {
    if (absl::string_view(argv[i]) == "--help") options->asks_for_help = true;
    SeeSwitch(argv[i], "--benchmark_list_tests", &options->lists_tests);
    SeeSwitch(argv[i], "--benchmark_enable_random_interleaving",
              &options->interleaves_randomly);
    if (!absl::StartsWith(argv[i], "--memo_")) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        argv[i], ": unknown flag; the flags are\n", kProductFlagsHelp));
  }
  return absl::OkStatus();
}

}  // namespace

const char kProductFlagsHelp[] =
    "  --memo_budget=600MiB     load and evict so that planned values never\n"
    "                           exceed this many bytes, also while they load\n"
    "                           (B, KiB, MiB, GiB or TiB); auto takes seven\n"
    "                           eighths of the free memory of the control\n"
    "                           group and the machine\n"
    "  --memo_budget_counts=resident  the budget counts resident bytes;\n"
    "                           default: allocated bytes, but resident bytes\n"
    "                           for auto\n"
    "  --memo_order=reorder     let cells run in another order; default: "
    "given\n"
    "  --memo_plan=text         print the plan as text or json, and run "
    "nothing\n"
    "  --memo_trace_out=FILE    write the plan and the trace of the run:\n"
    "                           FILE.txt as text, FILE.json as JSON\n"
    "  --memo_sizes=FILE        take the values' sizes from a trace, which\n"
    "                           must be neither text nor JSON\n"
    "  --memo_remember=FILE     take sizes from this file if it exists, and\n"
    "                           write the sizes that this run measures to it\n"
    "  --memo_product=NAME      of the selected cells, run only those of this\n"
    "                           product\n";

absl::StatusOr<ProductOptions> TakeProductFlags(int* argc, char** argv) {
  ProductOptions options;
  // The environment is read first, since the command line has priority.
  options.lists_tests = IsTrueInEnvironment("BENCHMARK_LIST_TESTS");
  options.interleaves_randomly =
      IsTrueInEnvironment("BENCHMARK_ENABLE_RANDOM_INTERLEAVING");
  options.benchmark_out_path = FromEnvironment("BENCHMARK_OUT");
  absl::Status status;
  const std::string format = FromEnvironment("BENCHMARK_OUT_FORMAT");
  if (!format.empty()) {
    status = SetOutFormat("BENCHMARK_OUT_FORMAT=", format, &options);
  }
  // Takes the flags out of the command line. The default of
  // --memo_budget_counts depends on --memo_budget, so it is known only
  // afterwards.
  absl::optional<bool> counts_resident;
  using Text = absl::string_view;
  const auto set_path = [](const char* flag, std::string* path) {
    return [=](Text value) { return SetPath(flag, value, path); };
  };
  const auto keep = [](std::string* kept) {
    return [=](Text value) {
      *kept = std::string(value);
      return absl::OkStatus();
    };
  };
  status.Update(TakeFlags(
      argc, argv,
      {{"--memo_budget",
        [&](Text value) { return SetBudget(value, &options); }},
       {"--memo_budget_counts",
        [&](Text value) { return SetCounted(value, &counts_resident); }},
       {"--memo_order", [&](Text value) { return SetOrder(value, &options); }},
       {"--memo_plan",
        [&](Text value) { return SetPlanFormat(value, &options); }},
       {"--memo_remember", set_path("--memo_remember", &options.remember_path)},
       {"--memo_trace_out", set_path("--memo_trace_out", &options.trace_path)},
       {"--memo_sizes", set_path("--memo_sizes", &options.sizes_path)},
       {"--memo_product", keep(&options.product)},
       {"--benchmark_out", keep(&options.benchmark_out_path)},
       {"--benchmark_out_format", [&](Text value) {
          return SetOutFormat("--benchmark_out_format=", value, &options);
        }}}));
  status.Update(SeeWhatIsLeft(*argc, argv, &options));
  if (!status.ok()) return status;
  options.counts_resident = counts_resident.value_or(options.budget_is_auto);
  return options;
}

}  // namespace footprint
