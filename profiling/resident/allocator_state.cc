#include "footprint/profiling/resident/allocator_state.h"

#include <cstddef>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {
namespace {

using profiling_internal::kAllocatorMagic;
using profiling_internal::kMaxAllocatorRanges;
using profiling_internal::PublishedAllocator;

constexpr int kMaxAttempts = 100;

absl::StatusOr<std::unique_ptr<PublishedAllocator>> ReadOnce(
    const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) return bytes.status();
  auto read = std::make_unique<PublishedAllocator>();
  if (bytes->size() == sizeof(*read)) {
    std::memcpy(static_cast<void*>(read.get()), bytes->data(), bytes->size());
  }
  if (read->magic != kAllocatorMagic ||
      read->range_count > kMaxAllocatorRanges) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": no record of this version's agent"));
  }
  return read;
}

}  // namespace

absl::StatusOr<AllocatorState> ReadAllocatorState(const std::string& path) {
  // Two readings alike, by a writer that was not in the midst of a change.
  uint32_t generation_before = 1;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    absl::StatusOr<std::unique_ptr<PublishedAllocator>> read = ReadOnce(path);
    if (!read.ok()) return read.status();
    const uint32_t generation = (*read)->generation.load();
    const bool is_settled =
        generation == generation_before && generation % 2 == 0;
    generation_before = generation;
    if (!is_settled) continue;
    AllocatorState state;
    state.is_cut = (*read)->is_cut != 0;
    state.books = (*read)->books;
    for (uint32_t i = 0; i < (*read)->range_count; ++i) {
      state.ranges.allocator.push_back(
          {(*read)->ranges[i].begin, (*read)->ranges[i].end});
    }
    for (const PublishedAllocator::AgentRange& range : (*read)->agent_ranges) {
      const AddressRange known = {range.begin.load(), range.end.load()};
      if (known.begin != 0 && known.begin < known.end) {
        state.ranges.agent.push_back(known);
      }
    }
    return state;
  }
  return absl::UnavailableError(
      absl::StrCat(path, ": changes faster than it can be read"));
}

}  // namespace footprint
