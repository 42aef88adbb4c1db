// Finds the budget and the weight backend with which a model runs, from the
// command line and the free memory.
//
//   absl::StatusOr<BudgetRequest> request = ParseBudget("64MiB");
//   absl::StatusOr<Budget> budget = FindBudget(
//       *request, memory, decoder->MinBudgetBytes(positions, threads),
//       [&] { return decoder->ChooseBudget(prompt, generated, threads); });
//
// Plain data and functions for one thread. Memory: none. Errors are those of
// RunMemory, of `least` and of `choose`. The functions that parse a flag return
// InvalidArgument for any value that their comments do not name.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_RUN_BUDGET_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_RUN_BUDGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/kernels/rounded_cache.h"
#include "footprint/lowmem/programs/run_memory.h"
#include "footprint/lowmem/streaming/budget_choice.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

struct BudgetRequest {
  absl::optional<int64_t> bytes;  // nullopt: to be chosen
  bool takes_least = false;
};

// Parses a flag's value: a number of bytes such as "64MiB", "least", or an
// empty text if the budget is to be chosen.
absl::StatusOr<BudgetRequest> ParseBudget(const std::string& flag);

// Parses a flag's value: the name of a backend, or "auto", for which it returns
// nullopt.
absl::StatusOr<absl::optional<WeightBackend>> ParseBackend(
    const std::string& flag);

// Parses a flag's value: "exact" or "int8".
absl::StatusOr<Arithmetic> ParseArithmetic(const std::string& flag);

// Returns InvalidArgument if int8 is requested but no matrix of the model has a
// quantised type that it speeds up. The message says what would help.
// `matrices` are those that a pass multiplies: MultipliedMatrices(weights).
absl::Status CheckArithmetic(Arithmetic arithmetic,
                             const std::vector<Weight>& matrices);

// Returns "exact", or a text such as "int8 on AVX-512 VNNI for 168 of 169
// matrices, exact for the others".
std::string ArithmeticDescription(Arithmetic arithmetic,
                                  const std::vector<Weight>& matrices);

// Parses a flag's value: "f32", "f16" or "q8_0".
absl::StatusOr<CacheType> ParseCacheType(const std::string& flag);

// Returns InvalidArgument if no plan can have that many threads.
absl::Status CheckThreads(int threads);

// The requested budget, or a chosen one with the reason.
struct Budget {
  int64_t bytes = 0;
  absl::optional<BudgetChoice> choice;
  std::string limited_by;  // if set, all that is free there is taken
};

// Returns the budget. `choose` is called only if the request leaves the choice.
// `beside_bytes` is memory that the caller needs besides the plan, such as the
// ids of all sequences. A requested budget below `least` is returned as it is,
// since the plan refuses it with a reason.
absl::StatusOr<Budget> FindBudget(
    const BudgetRequest& request, const RunMemory& memory,
    const absl::StatusOr<int64_t>& least,
    absl::FunctionRef<absl::StatusOr<BudgetChoice>()> choose,
    int64_t beside_bytes = 0);

// Returns "budget       10.9 MiB, predicted to take ...".
std::string BudgetLine(const Budget& budget);

// Returns the requested backend, or without a request the one that suits the
// free memory. Returns ResourceExhausted if kResident is requested and the file
// does not fit the free memory.
absl::StatusOr<WeightBackend> FindBackend(
    const absl::optional<WeightBackend>& backend, int64_t file_bytes,
    const RunMemory& memory);

}  // namespace footprint::lowmem_internal

// Tested by lowmem_run_test.

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_RUN_BUDGET_H_
