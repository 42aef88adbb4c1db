#include "footprint/lowmem/streaming/model_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/weights/float_reader.h"

namespace footprint::lowmem_internal {

absl::StatusOr<RunMemory> TakeRunMemory(int64_t peak_bytes,
                                        const PinnedTensors& pinned,
                                        absl::Span<const Weight> tensors,
                                        WeightStore* store) {
  absl::StatusOr<MappedBlock> arena = MappedBlock::Allocate(peak_bytes);
  if (!arena.ok()) return arena.status();
  RunMemory memory;
  memory.arena = *std::move(arena);
  if (pinned.count == 0 && pinned.partial_bytes == 0) return memory;
  memory.pinned = std::make_unique<PinnedStore>(
      store, absl::MakeSpan(memory.arena.At<char>(pinned.range.offset_bytes),
                            pinned.range.size_bytes));
  for (const Weight& weight : tensors.first(pinned.count)) {
    const absl::Status status = memory.pinned->Pin(weight.tensor());
    if (!status.ok()) return status;
  }
  if (pinned.partial_bytes > 0) {
    const absl::Status status = memory.pinned->PinFirst(
        tensors[pinned.count].tensor(), pinned.partial_bytes);
    if (!status.ok()) return status;
  }
  return memory;
}

absl::StatusOr<std::unique_ptr<TileStream>> OpenRing(WeightStore* store,
                                                     const TileList& list,
                                                     int depth,
                                                     absl::Span<char> ring) {
  if (!list.is_complete()) {
    return absl::InternalError(absl::StrCat("a plan for ", list.capacity.size(),
                                            " tiles, but there are ",
                                            list.count));
  }
  if (list.count == 0) return std::unique_ptr<TileStream>();
  TileStreamOptions options;
  options.depth = depth;
  options.repeat = true;
  return TileStream::Open(store, list.tiles(), options, ring);
}

absl::Status ReadVectors(absl::Span<const VectorLoad> loads, int worker,
                         int workers, WeightStore* store) {
  for (size_t i = worker; i < loads.size(); i += workers) {
    const absl::Status status =
        ReadRow(*store, *loads[i].weight, 0, loads[i].destination);
    if (!status.ok()) return status;
    if (loads[i].added == 0) continue;
    for (int64_t j = 0; j < loads[i].weight->columns(); ++j) {
      loads[i].destination[j] += loads[i].added;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckIds(absl::Span<const int32_t> ids, int64_t vocabulary) {
  if (ids.empty()) {
    return absl::InvalidArgumentError("no tokens: the input is empty");
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocabulary) {
      return absl::InvalidArgumentError(
          absl::StrCat("token ", i, " has the id ", ids[i],
                       "; the vocabulary has ", vocabulary, " entries"));
    }
  }
  return absl::OkStatus();
}

absl::Status ForeignPlan(const WeightStore& store) {
  return absl::InvalidArgumentError(absl::StrCat(
      store.index().file_name(), ", ", WeightBackendName(store.backend()),
      ": the plan is for another model, file or backend; take it from Plan of "
      "what starts it"));
}

absl::Status NotFinite(const WeightStore& store, absl::string_view where) {
  return absl::DataLossError(absl::StrCat(
      store.index().file_name(), ": ", where,
      " gives numbers that are NaN or infinite, and nothing before it does: "
      "its weights hold such numbers, or ones too large to be multiplied in "
      "float32. Download or export the file again"));
}

absl::Status PassFault(const WeightStore& store, const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  const absl::Status file = store.CheckFile();
  return file.ok() ? status : file;
}

absl::Status CheckWorkers(int started, int planned) {
  if (started == planned) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the system started ", started, " of ", planned,
                   " workers; plan for fewer, or raise the limit of threads"));
}

void StepTimes::Record(int64_t step) {
  const auto now = std::chrono::steady_clock::now();
  nanoseconds_[step] +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_).count();
  last_ = now;
}

}  // namespace footprint::lowmem_internal
