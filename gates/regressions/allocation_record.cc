#include "footprint/gates/regressions/allocation_record.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/profiling/regressions/planted_regression.h"

namespace footprint {
namespace {

constexpr int64_t kMostNameBytes = sizeof(PlantedRegression::phase);

absl::Status Damaged(size_t event) {
  return absl::DataLossError(absl::StrCat(
      "the record of allocations makes no sense at event ", event));
}

// Keeps all blocks or mappings so far, and the bytes of those that are alive.
class LiveBlocks {
 public:
  // Returns false if no block can have these sizes.
  bool Begin(const AllocationEvent& event, size_t place) {
    // Ends a block that was freed unseen, on another thread.
    End(event.address, place, /*is_moved=*/false);
    if (event.requested_bytes < 0 || event.bytes < 0 ||
        __builtin_add_overflow(bytes_, event.bytes, &bytes_)) {
      return false;
    }
    live_[event.address] = blocks_.size();
    blocks_.push_back({event.requested_bytes, event.bytes, place});
    return true;
  }

  // Ends a block; ignores one that began before the record.
  void End(uint64_t address, size_t place, bool is_moved) {
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    RecordedBlock& block = blocks_[found->second];
    block.end = place;
    block.is_moved = is_moved;
    bytes_ -= block.bytes;
    live_.erase(found);
  }

  int64_t bytes() const { return bytes_; }
  size_t count() const { return blocks_.size(); }
  std::vector<RecordedBlock> Take() { return std::move(blocks_); }

 private:
  std::vector<RecordedBlock> blocks_;
  absl::flat_hash_map<uint64_t, size_t> live_;
  int64_t bytes_ = 0;
};

class Reader {
 public:
  absl::Status Read(const std::vector<AllocationEvent>& events) {
    for (size_t i = 0; i < events.size(); ++i) {
      const AllocationEvent& event = events[i];
      if (event.kind == AllocationEvent::Kind::kPhaseBegins) {
        if (!BeginVisit(events, i)) return Damaged(i);
        i += NameEvents(static_cast<size_t>(event.bytes));
      } else if (!Take(event, i)) {
        return Damaged(i);
      }
    }
    return open_.empty() ? absl::OkStatus() : Damaged(events.size());
  }

  AllocationRecord Finish() {
    record_.blocks = heap_.Take();
    record_.mappings = mapped_.Take();
    return std::move(record_);
  }

 private:
  struct OpenVisit {
    uint64_t address;
    size_t index;
    int64_t heap_bytes;  // at its beginning
    int64_t mapped_bytes;
  };

  bool BeginVisit(const std::vector<AllocationEvent>& events, size_t place) {
    const int64_t length = events[place].bytes;
    if (length < 0 || length >= kMostNameBytes) return false;
    const size_t parts = NameEvents(static_cast<size_t>(length));
    if (place + parts >= events.size()) return false;
    std::string name(static_cast<size_t>(length), '\0');
    if (length > 0) std::memcpy(&name[0], &events[place + 1], name.size());
    RecordedVisit visit;
    visit.visit = visit_counts_[name]++;
    visit.phase = std::move(name);
    visit.begin = visit.peak = visit.mapped_peak = place;
    visit.first_call = heap_.count();
    visit.first_mapping = mapped_.count();
    open_.push_back({events[place].address, record_.visits.size(),
                     heap_.bytes(), mapped_.bytes()});
    record_.visits.push_back(std::move(visit));
    return true;
  }

  bool Take(const AllocationEvent& event, size_t place) {
    switch (event.kind) {
      case AllocationEvent::Kind::kAllocated:
        if (!heap_.Begin(event, place)) return false;
        break;
      case AllocationEvent::Kind::kFreed:
      case AllocationEvent::Kind::kMoved:
        heap_.End(event.address, place,
                  event.kind == AllocationEvent::Kind::kMoved);
        break;
      case AllocationEvent::Kind::kMapped:
        if (!mapped_.Begin(event, place)) return false;
        break;
      case AllocationEvent::Kind::kUnmapped:
        mapped_.End(event.address, place, /*is_moved=*/false);
        break;
      case AllocationEvent::Kind::kPhaseEnds:
        return EndVisit(event.address, place);
      default:
        return false;
    }
    NotePeaks(place);
    return true;
  }

  bool EndVisit(uint64_t address, size_t place) {
    const auto found = std::find_if(
        open_.begin(), open_.end(),
        [address](const OpenVisit& open) { return open.address == address; });
    if (found == open_.end()) return false;
    RecordedVisit& visit = record_.visits[found->index];
    visit.end = place;
    visit.call_count = heap_.count() - visit.first_call;
    visit.mapping_count = mapped_.count() - visit.first_mapping;
    open_.erase(found);
    return true;
  }

  void NotePeaks(size_t place) {
    if (heap_.bytes() > peak_bytes_) {
      peak_bytes_ = heap_.bytes();
      record_.peak = place;
    }
    for (const OpenVisit& open : open_) {
      RecordedVisit& visit = record_.visits[open.index];
      const int64_t heap_bytes = heap_.bytes() - open.heap_bytes;
      if (heap_bytes > visit.peak_bytes) {
        visit.peak_bytes = heap_bytes;
        visit.peak = place;
      }
      const int64_t mapped_bytes = mapped_.bytes() - open.mapped_bytes;
      if (mapped_bytes > visit.mapped_peak_bytes) {
        visit.mapped_peak_bytes = mapped_bytes;
        visit.mapped_peak = place;
      }
    }
  }

  AllocationRecord record_;
  LiveBlocks heap_;
  LiveBlocks mapped_;
  std::vector<OpenVisit> open_;
  std::map<std::string, int64_t> visit_counts_;
  int64_t peak_bytes_ = 0;
};

}  // namespace

absl::StatusOr<AllocationRecord> ReadAllocationRecord(absl::string_view bytes) {
  if (bytes.size() % sizeof(AllocationEvent) != 0) {
    return Damaged(bytes.size() / sizeof(AllocationEvent));
  }
  std::vector<AllocationEvent> events(bytes.size() / sizeof(AllocationEvent));
  if (!events.empty()) {
    std::memcpy(static_cast<void*>(events.data()), bytes.data(), bytes.size());
  }
  Reader reader;
  const absl::Status status = reader.Read(events);
  if (!status.ok()) return status;
  return reader.Finish();
}

}  // namespace footprint
