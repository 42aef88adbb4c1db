#include "footprint/lowmem/weights/pinned_store.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Holds two matrices and a vector; "b" begins at an offset that floats do not
// allow.
constexpr char kHeader[] =
    R"({"a":{"dtype":"F32","shape":[40,30],"data_offsets":[0,4800]},)"
    R"("h":{"dtype":"U8","shape":[2],"data_offsets":[4800,4802]},)"
    R"("b":{"dtype":"F32","shape":[20,50],"data_offsets":[4802,8802]}})";

class PinnedStoreTest : public testing::TestWithParam<WeightBackend> {
 protected:
  PinnedStoreTest() {
    std::mt19937 random(1);
    std::string data(8802, '\0');
    for (char& byte : data) byte = static_cast<char>(random());
    path_ =
        WriteTestFile("pinned.safetensors", SafetensorsBytes(kHeader, data));
    base_ = *WeightStore::Open(path_, GetParam());
    memory_ = static_cast<char*>(std::aligned_alloc(4096, 4096 * 4));
  }
  ~PinnedStoreTest() override { std::free(memory_); }

  std::string path_;
  std::unique_ptr<WeightStore> base_;
  char* memory_;
};

TEST_P(PinnedStoreTest, DeliversTheSameBytesOfPinnedTensorsAndOthers) {
  PinnedStore store(base_.get(), absl::MakeSpan(memory_, 4096 * 4));
  ASSERT_THAT(store.Pin(base_->Find("b")->tensor()), IsOk());
  std::mt19937 random(2);
  alignas(4096) static char slot[1 << 20];
  const int64_t reads = base_->counters().reads;
  for (const std::string name : {"b", "a"}) {
    const Weight weight = *store.Find(name);
    for (int trial = 0; trial < 100; ++trial) {
      const int64_t row = random() % weight.rows();
      const int64_t column = random() % weight.columns();
      const Tile tile =
          *weight.Block(row, 1 + random() % (weight.rows() - row), column,
                        1 + random() % (weight.columns() - column));
      std::string expected(tile.size_bytes(), '\0');
      ASSERT_THAT(base_->Read(tile, &expected[0]), IsOk());
      std::string read(tile.size_bytes(), '\0');
      ASSERT_THAT(store.Read(tile, &read[0]), IsOk());
      EXPECT_EQ(read, expected);
      const auto view = store.Load(tile, slot);
      ASSERT_THAT(view, IsOk());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(view->data) % 4, 0);
      std::string loaded;
      for (int32_t i = 0; i < tile.rows; ++i) {
        loaded.append(
            static_cast<const char*>(view->data) + i * view->row_stride_bytes,
            tile.row_bytes);
      }
      EXPECT_EQ(loaded, expected);
      EXPECT_EQ(store.SlotBytes(tile),
                name == "b" ? 0 : base_->SlotBytes(tile));
    }
  }
  EXPECT_GE(base_->counters().reads, reads);
}

TEST_P(PinnedStoreTest, DoesNotReadPinnedTensorsAgain) {
  PinnedStore store(base_.get(), absl::MakeSpan(memory_, 4096 * 4));
  const Weight weight = *base_->Find("a");
  ASSERT_THAT(store.Pin(weight.tensor()), IsOk());
  const WeightCounters before = store.counters();
  ASSERT_THAT(store.Load(*weight.Rows(3, 5), nullptr), IsOk());
  EXPECT_EQ(store.counters().bytes_read, before.bytes_read);
  EXPECT_EQ(store.counters().bytes_delivered, before.bytes_delivered + 5 * 120);
}

TEST_P(PinnedStoreTest, RefusesWhatDoesNotFitAndTilesBeyondTheFile) {
  PinnedStore store(base_.get(), absl::MakeSpan(memory_, 4863));
  const absl::Status status = store.Pin(base_->Find("a")->tensor());
  EXPECT_THAT(status, IsOk());
  EXPECT_THAT(store.Pin(base_->Find("b")->tensor()),
              StatusIs(absl::StatusCode::kResourceExhausted));
  Tile beyond = *base_->Find("b")->Rows(19, 1);
  beyond.rows = 2;
  EXPECT_THAT(store.Load(beyond, nullptr),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_P(PinnedStoreTest, SaysThatTheFileChanged) {
  PinnedStore store(base_.get(), absl::MakeSpan(memory_, 4096 * 4));
  ASSERT_THAT(store.Pin(base_->Find("a")->tensor()), IsOk());
  ASSERT_EQ(truncate(path_.c_str(), 6000), 0);
  EXPECT_THAT(store.CheckFile(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

INSTANTIATE_TEST_SUITE_P(Backends, PinnedStoreTest,
                         testing::Values(WeightBackend::kPread,
                                         WeightBackend::kDirect));

}  // namespace
}  // namespace footprint
