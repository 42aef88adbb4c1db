#include "footprint/memo/product/product_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "footprint/memo/run_catching.h"

namespace footprint::memo_internal {

void RunCell(ProductCell* cell, benchmark::State& state) {
  if (!cell->is_planned) {
    ProductRegistry::Get().NoteUnplannedCall(cell->name);
    state.SkipWithError(
        "a product runs under PlannedBenchmarks only; see "
        "footprint/memo/product/planned_benchmarks.h");
    return;
  }
  if (!cell->error.ok()) {
    state.SkipWithError(std::string(cell->error.message()).c_str());
    return;
  }
  const absl::Status status = RunCatching("the function", [&] {
    cell->run(state);
    return absl::OkStatus();
  });
  if (status.ok()) return;
  state.SkipWithError(std::string(status.message()).c_str());
  MutexLock lock(&cell->mutex);
  cell->thrown.Update(status);
}

absl::Status TakeThrown(ProductCell* cell) {
  MutexLock lock(&cell->mutex);
  return std::exchange(cell->thrown, absl::OkStatus());
}

ProductRegistry& ProductRegistry::Get() {
  static ProductRegistry* const registry = new ProductRegistry;
  return *registry;
}

// Google Benchmark reads names as C strings, and lists one per line.
absl::Status CheckCellName(const std::string& name) {
  const size_t bad = name.find_first_of("\0\n", 0, 2);
  if (bad == std::string::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the cell \"", absl::CEscape(name), "\" has a ",
      name[bad] == '\n' ? "line break" : "zero byte",
      " in its name, which Google Benchmark cannot handle; give the "
      "memo or value another name"));
}

absl::Status ProductRegistry::CheckAreNew(
    std::vector<std::string> cell_names) const {
  for (const std::string& name : cell_names) {
    const absl::Status status = CheckCellName(name);
    if (!status.ok()) return status;
  }
  std::sort(cell_names.begin(), cell_names.end());
  for (size_t i = 0; i < cell_names.size(); ++i) {
    const bool is_repeated = i > 0 && cell_names[i] == cell_names[i - 1];
    if (!is_repeated && cells_.count(cell_names[i]) == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "two cells are named \"", cell_names[i],
        "\"; give the product another name, or give each entry to an axis "
        "only once"));
  }
  return absl::OkStatus();
}

ProductCell* ProductRegistry::Add(std::unique_ptr<ProductCell> cell) {
  auto& entry = cells_[cell->name];
  entry = std::move(cell);
  return entry.get();
}

void ProductRegistry::NoteUnplannedCall(const std::string& cell_name) {
  MutexLock lock(&mutex_);
  unplanned_calls_.insert(cell_name);
}

std::set<std::string> ProductRegistry::TakeUnplannedCalls() {
  MutexLock lock(&mutex_);
  return std::exchange(unplanned_calls_, {});
}

ProductCell* ProductRegistry::FindCell(absl::string_view instance_name) const {
  // The longest name comes first, since a cell's name may begin with another's.
  std::string name(instance_name);
  while (true) {
    const auto it = cells_.find(name);
    if (it != cells_.end()) return it->second.get();
    const size_t slash = name.rfind('/');
    if (slash == std::string::npos) return nullptr;
    name.resize(slash);
  }
}

absl::Status CheckAxis(const std::string& product, const std::string& axis,
                       size_t entry_count) {
  if (product.empty() || axis.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "product \"", product, "\", axis \"", axis,
        "\": both need a name, since thresholds and filters go by it"));
  }
  if ((product + axis).find('\n') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("product \"", absl::CEscape(product), "\", axis \"",
                     absl::CEscape(axis), "\": a name has one line"));
  }
  if (entry_count == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("product \"", product, "\": axis \"", axis,
                     "\" has no entry, so there is nothing to run"));
  }
  return absl::OkStatus();
}

}  // namespace footprint::memo_internal
