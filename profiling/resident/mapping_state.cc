#include "footprint/profiling/resident/mapping_state.h"

#include <cstddef>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/profiling/heap/published_mappings.h"

namespace footprint {
namespace {

using profiling_internal::kMappingsMagic;
using profiling_internal::kMaxProgramRanges;
using profiling_internal::PublishedMappings;

constexpr int kMaxAttempts = 100;

absl::StatusOr<std::unique_ptr<PublishedMappings>> ReadOnce(
    const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) return bytes.status();
  auto read = std::make_unique<PublishedMappings>();
  if (bytes->size() == sizeof(*read)) {
    std::memcpy(static_cast<void*>(read.get()), bytes->data(), bytes->size());
  }
  if (read->magic != kMappingsMagic || read->range_count > kMaxProgramRanges) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": no record of this version's agent"));
  }
  return read;
}

}  // namespace

absl::StatusOr<MappingState> ReadMappingState(const std::string& path) {
  // Accepts two equal readings while the writer was not changing the file.
  uint32_t generation_before = 1;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    absl::StatusOr<std::unique_ptr<PublishedMappings>> read = ReadOnce(path);
    if (!read.ok()) return read.status();
    const uint32_t generation = (*read)->generation.load();
    const bool is_settled =
        generation == generation_before && generation % 2 == 0;
    generation_before = generation;
    if (!is_settled) continue;
    MappingState state;
    state.is_cut = (*read)->is_cut != 0;
    state.live_bytes = (*read)->live_bytes.load();
    for (uint32_t i = 0; i < (*read)->range_count; ++i) {
      state.ranges.mapped.push_back(
          {(*read)->ranges[i].begin, (*read)->ranges[i].end});
    }
    for (const PublishedMappings::AgentRange& range : (*read)->agent_ranges) {
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
