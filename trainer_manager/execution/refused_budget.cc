#include "footprint/trainer_manager/execution/refused_budget.h"

#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace footprint {

int64_t LeastBudgetNamed(const absl::Status& refusal) {
  constexpr absl::string_view kBefore = "the minimum found is ";
  absl::string_view text = refusal.message();
  const size_t found = text.find(kBefore);
  if (found == absl::string_view::npos) return -1;
  text.remove_prefix(found + kBefore.size());
  int64_t bytes = -1;
  return absl::SimpleAtoi(text.substr(0, text.find(' ')), &bytes) ? bytes : -1;
}

}  // namespace footprint
