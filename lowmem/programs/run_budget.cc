#include "footprint/lowmem/programs/run_budget.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/lowmem/kernels/int8_product.h"
#include "footprint/lowmem/streaming/plan_growth.h"

namespace footprint::lowmem_internal {
namespace {

bool IsRounded(const Weight& matrix) { return HasInt8Product(matrix.dtype()); }

}  // namespace

absl::StatusOr<BudgetRequest> ParseBudget(const std::string& flag) {
  BudgetRequest request;
  if (flag.empty()) return request;
  if (flag == "least") {
    request.takes_least = true;
    return request;
  }
  const absl::StatusOr<int64_t> bytes = ParseBytes(flag);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--budget: ", bytes.status().message()));
  }
  request.bytes = *bytes;
  return request;
}

absl::StatusOr<absl::optional<WeightBackend>> ParseBackend(
    const std::string& flag) {
  absl::optional<WeightBackend> chosen;
  if (flag == "auto") return chosen;
  const absl::StatusOr<WeightBackend> backend = WeightBackendFromName(flag);
  if (!backend.ok()) return backend.status();
  chosen = *backend;
  return chosen;
}

absl::StatusOr<Arithmetic> ParseArithmetic(const std::string& flag) {
  if (flag == "exact") return Arithmetic::kExact;
  if (flag == "int8") return Arithmetic::kInt8;
  return absl::InvalidArgumentError(
      absl::StrCat("--arithmetic: \"", flag, "\" is neither exact nor int8"));
}

absl::Status CheckArithmetic(Arithmetic arithmetic,
                             const std::vector<Weight>& matrices) {
  if (arithmetic == Arithmetic::kExact ||
      std::any_of(matrices.begin(), matrices.end(), IsRounded)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "--arithmetic=int8: the model has no quantised matrix, so nothing would "
      "be faster; lowmem_pack --quantize=q8_0 makes a quantised model");
}

std::string ArithmeticDescription(Arithmetic arithmetic,
                                  const std::vector<Weight>& matrices) {
  if (arithmetic == Arithmetic::kExact) return "exact";
  const size_t rounded =
      std::count_if(matrices.begin(), matrices.end(), IsRounded);
  return absl::StrCat(
      "int8 on ", Int8InstructionsName(), " for ", rounded, " of ",
      matrices.size(), " matrices",
      rounded < matrices.size() ? ", exact for the others" : "");
}

absl::StatusOr<CacheType> ParseCacheType(const std::string& flag) {
  for (const CacheType type :
       {CacheType::kF32, CacheType::kF16, CacheType::kQ8_0}) {
    if (flag == CacheTypeName(type)) return type;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--cache_type: \"", flag, "\" is none of f32, f16 and q8_0"));
}

absl::Status CheckThreads(int threads) {
  if (threads >= 1 && threads <= kMostWorkers) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--threads=", threads, " is not from 1 to ", kMostWorkers));
}

absl::StatusOr<Budget> FindBudget(
    const BudgetRequest& request, const RunMemory& memory,
    const absl::StatusOr<int64_t>& least,
    absl::FunctionRef<absl::StatusOr<BudgetChoice>()> choose,
    int64_t beside_bytes) {
  if (!least.ok()) return least.status();
  Budget budget;
  budget.bytes = request.bytes.value_or(*least);
  // The plan refuses a budget that is too small for it, and says why.
  if (request.bytes.has_value() && *request.bytes < *least) return budget;
  const bool is_chosen = !request.bytes.has_value() && !request.takes_least;
  if (is_chosen) {
    const absl::StatusOr<BudgetChoice> choice = choose();
    if (!choice.ok()) return choice.status();
    budget.bytes = choice->budget_bytes;
    budget.choice = *choice;
  }
  const absl::StatusOr<int64_t> limited =
      memory.LimitBudget(budget.bytes, *least, is_chosen, beside_bytes);
  if (!limited.ok()) return limited.status();
  if (*limited == budget.bytes) return budget;
  budget.bytes = *limited;
  budget.choice = absl::nullopt;
  budget.limited_by = memory.limited_by();
  return budget;
}

std::string BudgetLine(const Budget& budget) {
  std::string line =
      absl::StrCat("budget       ", FormatRoundedBytes(budget.bytes));
  if (budget.choice.has_value()) {
    absl::StrAppendFormat(
        &line, ", predicted to take %.2f of the time with %s; least %s, %.2f",
        budget.choice->slowdown, FormatRoundedBytes(budget.choice->ample_bytes),
        FormatRoundedBytes(budget.choice->least_bytes),
        budget.choice->least_slowdown);
  }
  if (!budget.limited_by.empty()) {
    absl::StrAppend(&line, ", limited by the free memory of ",
                    budget.limited_by);
  }
  return line;
}

absl::StatusOr<WeightBackend> FindBackend(
    const absl::optional<WeightBackend>& backend, int64_t file_bytes,
    const RunMemory& memory) {
  if (!backend.has_value()) return memory.ChooseBackend(file_bytes);
  if (*backend == WeightBackend::kResident) {
    const absl::Status room =
        memory.CheckRoom("all weights at once", file_bytes);
    if (!room.ok()) {
      return absl::ResourceExhaustedError(absl::StrCat(
          room.message(), "; --backend=direct reads them in parts"));
    }
  }
  return *backend;
}

}  // namespace footprint::lowmem_internal
