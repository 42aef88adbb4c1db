#include "footprint/profiling/records/stack_tallies.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "footprint/profiling/records/record_file_reader.h"
#include "footprint/profiling/records/stack_tallies_record.h"

namespace footprint {
namespace {

using profiling_internal::kMaxStackTallies;
using profiling_internal::kStackTalliesMagic;
using profiling_internal::StackTalliesFile;
using profiling_internal::StackTally;

// The members before the arrays.
struct Head {
  uint64_t magic;
  int64_t sampling_interval;
  uint32_t tally_count;
  uint32_t missed_thread_count;
};
static_assert(offsetof(StackTalliesFile, tally_count) ==
                  offsetof(Head, tally_count) &&
              offsetof(StackTalliesFile, missed_thread_count) ==
                  offsetof(Head, missed_thread_count));

absl::Status AddTallies(const RecordFileReader& file,
                        const std::vector<StackTally>& records,
                        StackTallies* tallies) {
  for (size_t i = 1; i < records.size(); ++i) {
    const StackTally& record = records[i];
    if (record.node > tallies->tree.nodes.size()) {
      return file.Damaged("a sample has no stack");
    }
    StackTallies::Tally tally;
    tally.node = static_cast<int>(record.node) - 1;
    tally.thread = record.thread;
    tally.stage = record.stage;
    tally.sample_count = record.sample_count.load();
    tally.amounts[0] = record.amounts[0].load();
    tally.amounts[1] = record.amounts[1].load();
    tally.variance = record.variance.load();
    // The entry is about to be written, or its thread has used nothing since.
    if (tally.sample_count == 0 && tally.amounts[0] == 0 &&
        tally.amounts[1] == 0) {
      continue;
    }
    tallies->tallies.push_back(tally);
  }
  return absl::OkStatus();
}

absl::StatusOr<StackTallies> ReadOnce(const std::string& path,
                                      absl::string_view content) {
  const RecordFileReader file(path);
  Head head;
  absl::Status status =
      file.ReadHead(kStackTalliesMagic, content, sizeof(head), &head);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<StackTally>> records = file.ReadArray<StackTally>(
      offsetof(StackTalliesFile, tallies), head.tally_count, kMaxStackTallies);
  if (!records.ok()) return records.status();
  // Tallies are read before the tree, because a tally's node is older than the
  // tally.
  absl::StatusOr<CallTree> tree =
      ReadCallTree(file, offsetof(StackTalliesFile, tree));
  if (!tree.ok()) return tree.status();
  StackTallies tallies;
  tallies.sampling_interval = head.sampling_interval;
  tallies.missed_thread_count = static_cast<int>(head.missed_thread_count);
  tallies.is_incomplete = tree->is_incomplete;
  tallies.tree = *std::move(tree);
  status = AddTallies(file, *records, &tallies);
  if (!status.ok()) return status;
  return tallies;
}

}  // namespace

absl::StatusOr<StackTallies> ReadStackTallies(const std::string& path,
                                              absl::string_view content) {
  absl::StatusOr<StackTallies> tallies = ReadOnce(path, content);
  // The first reading may have met a process between two writes.
  for (int attempt = 0;
       attempt < 2 && absl::IsInvalidArgument(tallies.status()); ++attempt) {
    tallies = ReadOnce(path, content);
  }
  return tallies;
}

}  // namespace footprint
