#include "footprint/memo/product/axis.h"

#include "absl/strings/str_cat.h"

namespace footprint::memo_internal {

absl::Status CheckZip(const std::vector<std::string>& names,
                      const std::vector<size_t>& entry_counts) {
  for (size_t i = 1; i < names.size(); ++i) {
    if (entry_counts[i] == entry_counts[0]) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the axes of a zip need equal numbers of entries, and \"", names[0],
        "\" has ", entry_counts[0], " entries where \"", names[i], "\" has ",
        entry_counts[i], "; give each as many"));
  }
  return absl::OkStatus();
}

}  // namespace footprint::memo_internal
