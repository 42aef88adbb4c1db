// Takes the flags of planned benchmarks from the command line.
//
//   absl::StatusOr<ProductOptions> options = TakeProductFlags(&argc, argv);
//   // --memo_budget=600MiB is gone from argv; options->budget_bytes is set.
//
// Thread-compatible. The options own their texts; argv keeps the other words.

#ifndef FOOTPRINT_MEMO_PRODUCT_PRODUCT_FLAGS_H_
#define FOOTPRINT_MEMO_PRODUCT_PRODUCT_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

struct ProductOptions {
  absl::optional<int64_t> budget_bytes;  // --memo_budget=
  bool budget_is_auto = false;           // --memo_budget=auto
  // --memo_budget_counts=. Without this flag, an automatic budget counts
  // resident bytes, since it is a limit of resident bytes, and any other budget
  // counts allocated bytes.
  bool counts_resident = false;
  bool may_reorder = false;   // --memo_order=reorder
  std::string trace_path;     // --memo_trace_out=
  std::string sizes_path;     // --memo_sizes=
  std::string remember_path;  // --memo_remember=
  std::string product;        // --memo_product=; empty: all
  std::string plan_format;    // --memo_plan=text or json; empty: run
  // --benchmark_out=, or BENCHMARK_OUT in the environment. The flag is taken,
  // since Google Benchmark would begin the file anew for every cell. Empty: no
  // file.
  std::string benchmark_out_path;
  std::string benchmark_out_format = "json";
  // These flags of Google Benchmark are read, also from the environment, but
  // stay in the command line. (--help has no variable.)
  bool asks_for_help = false;
  bool lists_tests = false;
  bool interleaves_randomly = false;
};

// The text that describes the flags, for a program's help; the error of an
// unknown flag includes it.
extern const char kProductFlagsHelp[];

// Takes the flags out of the command line, wherever they are before "--", also
// if it returns an error. Returns InvalidArgument, naming the flag or variable,
// if its value is wrong or if it begins with --memo_ and is unknown.
absl::StatusOr<ProductOptions> TakeProductFlags(int* argc, char** argv);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_PRODUCT_PRODUCT_FLAGS_H_
