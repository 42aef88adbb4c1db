#include "footprint/lowmem/programs/run_memory.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/lowmem/streaming/budget_choice.h"

namespace footprint::lowmem_internal {

RunMemory RunMemory::Read() {
  const absl::StatusOr<AvailableMemory> free = ReadAvailableMemory();
  return RunMemory(free.ok() ? absl::make_optional(*free) : absl::nullopt);
}

int64_t RunMemory::room_bytes() const {
  if (!free_.has_value()) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(0, free_->bytes - kBesidePlanBytes) / kPageBytes *
         kPageBytes;
}

WeightBackend RunMemory::ChooseBackend(int64_t file_bytes) const {
  return Thrashes(WeightBackend::kPread, file_bytes, kAmpleBudgetBytes)
             ? WeightBackend::kDirect
             : WeightBackend::kPread;
}

bool RunMemory::Thrashes(WeightBackend backend, int64_t file_bytes,
                         int64_t plan_bytes) const {
  const bool is_cached =
      backend == WeightBackend::kPread || backend == WeightBackend::kMmap;
  return is_cached && file_bytes > room_bytes() - plan_bytes;
}

absl::StatusOr<int64_t> RunMemory::LimitBudget(int64_t budget_bytes,
                                               int64_t least_bytes,
                                               bool is_chosen,
                                               int64_t beside_bytes) const {
  const int64_t room = std::max<int64_t>(0, room_bytes() - beside_bytes) /
                       kPageBytes * kPageBytes;
  if (budget_bytes <= room) return budget_bytes;
  if (is_chosen && least_bytes <= room) return room;
  const std::string free =
      absl::StrCat(FormatRoundedBytes(free_->bytes), " are free in ",
                   free_->limited_by, ", of which a run needs ",
                   FormatRoundedBytes(kBesidePlanBytes + beside_bytes),
                   " beside its plan: ");
  if (least_bytes <= room) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a budget of ", FormatRoundedBytes(budget_bytes), " does not fit: ",
        free, "give --budget=", std::max(least_bytes, room - kUnsteadyBytes),
        " or less, at least ", least_bytes));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "the least budget of this run is ", least_bytes, " bytes, and only ",
      free, "make ",
      FormatRoundedBytes(least_bytes + kBesidePlanBytes + beside_bytes),
      " free, or give fewer tokens, sequences or --threads"));
}

absl::Status RunMemory::CheckRoom(const std::string& what,
                                  int64_t bytes) const {
  if (bytes <= room_bytes()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      what, " take ", FormatRoundedBytes(bytes), ", and ",
      FormatRoundedBytes(free_->bytes), " are free in ", free_->limited_by));
}

}  // namespace footprint::lowmem_internal
