#include "footprint/lowmem/modules/module.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

absl::Status NotLoaded(const std::string& class_name) {
  return absl::FailedPreconditionError(absl::StrCat(
      "a module of class \"", class_name,
      "\" has no parameters: call LazyLoading on the model that it is part "
      "of, and keep what it returns"));
}

}  // namespace

Parameter::Parameter(std::string name, Shape shape)
    : name_(std::move(name)), shape_(std::move(shape)) {}

absl::StatusOr<ModuleLease> Module::Lease() {
  if (parameters_.empty()) return ModuleLease(nullptr);
  if (holder_ == nullptr) return NotLoaded(class_name_);
  const absl::Status status = holder_->Acquire();
  if (!status.ok()) return status;
  return ModuleLease(holder_);
}

absl::StatusOr<RowsLease> Module::LeaseRows(const Parameter& parameter,
                                            int64_t row, int64_t rows) {
  if (holder_ == nullptr) return NotLoaded(class_name_);
  return holder_->AcquireRows(parameter, row, rows);
}

}  // namespace footprint
