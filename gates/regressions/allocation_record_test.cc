#include "footprint/gates/regressions/allocation_record.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/regressions/planted_regression.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Kind = AllocationEvent::Kind;

// Events as a program writes them.
class Record {
 public:
  void Add(Kind kind, uint64_t address, int64_t requested_bytes,
           int64_t bytes) {
    Append({kind, address, requested_bytes, bytes});
  }
  // Another phase is known by another number.
  void Begin(const std::string& phase, uint64_t number = 0) {
    Add(Kind::kPhaseBegins, number, 0, static_cast<int64_t>(phase.size()));
    std::string name = phase;
    name.resize(NameEvents(phase.size()) * sizeof(AllocationEvent));
    bytes_ += name;
  }
  void End(uint64_t number = 0) { Add(Kind::kPhaseEnds, number, 0, 0); }
  const std::string& bytes() const { return bytes_; }

 private:
  void Append(const AllocationEvent& event) {
    bytes_.append(reinterpret_cast<const char*>(&event), sizeof(event));
  }
  std::string bytes_;
};

TEST(AllocationRecordTest, FindsThePeakOfEachVisitNetOfItsBeginning) {
  Record events;
  events.Begin("setup");
  events.Add(Kind::kAllocated, 1, 100, 112);
  events.End();
  events.Begin("loop");
  events.Add(Kind::kAllocated, 2, 1, 8);
  events.Begin("loop/a phase whose name is longer than one event", 1);
  events.Add(Kind::kAllocated, 3, 60, 64);
  events.Add(Kind::kFreed, 3, 0, 0);
  events.End(1);
  events.Add(Kind::kMoved, 2, 0, 0);
  events.Add(Kind::kAllocated, 2, 30, 32);
  events.End();
  const absl::StatusOr<AllocationRecord> record =
      ReadAllocationRecord(events.bytes());
  ASSERT_THAT(record, IsOk());
  ASSERT_EQ(record->visits.size(), 3u);
  const RecordedVisit& loop = record->visits[1];
  EXPECT_EQ(loop.phase, "loop");
  EXPECT_EQ(loop.peak_bytes, 72);
  EXPECT_EQ(loop.first_call, 1u);
  EXPECT_EQ(loop.call_count, 3u);
  const RecordedVisit& inner = record->visits[2];
  EXPECT_EQ(inner.phase, "loop/a phase whose name is longer than one event");
  EXPECT_EQ(inner.peak_bytes, 64);
  EXPECT_EQ(inner.call_count, 1u);
  EXPECT_EQ(record->peak, inner.peak);
  EXPECT_EQ(loop.peak, inner.peak);
  EXPECT_EQ(record->blocks[0].end, kNeverEnds);
  EXPECT_TRUE(record->blocks[1].is_moved);
  EXPECT_FALSE(record->blocks[2].is_moved);
  EXPECT_GT(record->blocks[2].end, inner.peak);
}

TEST(AllocationRecordTest, CountsMappingsApart) {
  Record events;
  events.Begin("loop");
  events.Add(Kind::kMapped, 4096, 5000, 8192);
  events.Add(Kind::kAllocated, 1, 8, 8);
  events.Add(Kind::kUnmapped, 4096, 0, 8192);
  events.End();
  events.Begin("loop");
  events.End();
  const absl::StatusOr<AllocationRecord> record =
      ReadAllocationRecord(events.bytes());
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->visits[0].mapped_peak_bytes, 8192);
  EXPECT_EQ(record->visits[0].peak_bytes, 8);
  EXPECT_EQ(record->visits[0].mapping_count, 1u);
  EXPECT_LT(record->mappings[0].end, record->visits[0].end);
  EXPECT_EQ(record->visits[1].visit, 1);
  EXPECT_EQ(record->visits[1].mapped_peak_bytes, 0);
}

TEST(AllocationRecordTest, APhaseMayEndAfterTheOneThatItLiesIn) {
  Record events;
  events.Begin("setup", 1);
  events.Begin("setup/fit", 2);
  events.Add(Kind::kAllocated, 1, 8, 8);
  events.End(1);
  events.Add(Kind::kAllocated, 2, 16, 16);
  events.End(2);
  const absl::StatusOr<AllocationRecord> record =
      ReadAllocationRecord(events.bytes());
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->visits[0].peak_bytes, 8);
  EXPECT_EQ(record->visits[1].peak_bytes, 24);
  EXPECT_EQ(record->visits[1].call_count, 2u);
}

TEST(AllocationRecordTest, RefusesWhatIsCutShortOrMakesNoSense) {
  Record open;
  open.Begin("loop");
  open.Add(Kind::kAllocated, 1, 8, 8);
  Record unopened;
  unopened.End();
  Record unknown;
  unknown.Begin("loop");
  unknown.Add(static_cast<Kind>(77), 1, 8, 8);
  unknown.End();
  Record negative;
  negative.Add(Kind::kPhaseBegins, 0, 0, -1);
  Record long_name;
  long_name.Add(Kind::kPhaseBegins, 0, 0, 255);
  Record negative_block;
  negative_block.Add(Kind::kAllocated, 1, 8, -8);
  Record negative_request;
  negative_request.Add(Kind::kMapped, 1, -8, 8);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Record too_much;
  too_much.Add(Kind::kAllocated, 1, 8, kMost);
  too_much.Add(Kind::kAllocated, 2, 8, 1);
  for (const std::string& bytes :
       {open.bytes(), unopened.bytes(), unknown.bytes(), negative.bytes(),
        long_name.bytes(), negative_block.bytes(), negative_request.bytes(),
        too_much.bytes(), open.bytes().substr(0, open.bytes().size() - 1)}) {
    EXPECT_THAT(ReadAllocationRecord(bytes),
                StatusIs(absl::StatusCode::kDataLoss));
  }
}

}  // namespace
}  // namespace footprint
