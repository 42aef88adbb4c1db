#include "footprint/lowmem/weights/tile_stream.h"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/refuse_system_call.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

// Counts the allocations of every thread, since no thread may allocate while
// tiles are read ahead and delivered.
std::atomic<int64_t> allocations{0};

}  // namespace

// Not inlined, because gcc warns of a mismatch if only one of a pair is
// inlined.
__attribute__((noinline)) void* operator new(size_t size) {
  ++allocations;
  void* memory = malloc(size == 0 ? 1 : size);
  if (memory == nullptr) abort();
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept {
  free(memory);
}

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

using Random = std::mt19937_64;

constexpr int64_t kDataBytes = 200'003;

// Writes a file with one tensor, at an offset without any alignment.
std::string DataFile(absl::string_view name) {
  const std::string header =
      absl::StrCat(R"({"data":{"dtype":"U8","shape":[)", kDataBytes,
                   R"(],"data_offsets":[0,)", kDataBytes, "]}}");
  Random random(3);
  std::string data(kDataBytes, '\0');
  for (char& byte : data) byte = static_cast<char>(random());
  return WriteTestFile(name, SafetensorsBytes(header, data));
}

struct Way {
  const char* name;
  WeightBackend backend;
  bool read_ahead_thread;
  bool avoid_io_uring;
};

constexpr Way kWays[] = {
    {"resident", WeightBackend::kResident, false, false},
    {"pread", WeightBackend::kPread, false, false},
    {"preadThread", WeightBackend::kPread, true, false},
    {"directQueue", WeightBackend::kDirect, false, false},
    {"directThread", WeightBackend::kDirect, false, true},
    {"mmap", WeightBackend::kMmap, false, false},
};

// Holds a store, an arena and a stream, declared in an order in which they can
// be destroyed.
class Streaming {
 public:
  Streaming(const std::string& path, const Way& way, std::vector<Tile> schedule,
            int depth, bool repeat = false)
      : schedule_(std::move(schedule)) {
    absl::StatusOr<std::unique_ptr<WeightStore>> store =
        WeightStore::Open(path, way.backend);
    if (!store.ok()) Die(store.status());
    store_ = *std::move(store);
    Open(way, depth, repeat);
  }

  // Opens a second stream over the store of another.
  Streaming(WeightStore* shared, const Way& way, std::vector<Tile> schedule,
            int depth)
      : shared_(shared), schedule_(std::move(schedule)) {
    Open(way, depth, /*repeat=*/false);
  }

  ~Streaming() {
    stream_.reset();
    free(arena_);
  }

  WeightStore* store() { return shared_ != nullptr ? shared_ : store_.get(); }
  TileStream* operator->() { return stream_.get(); }
  const std::vector<Tile>& schedule() const { return schedule_; }
  const char* arena() const { return arena_; }
  int64_t arena_bytes() const { return arena_bytes_; }

 private:
  static void Die(const absl::Status& status) {
    ADD_FAILURE() << status;
    abort();
  }

  void Open(const Way& way, int depth, bool repeat) {
    TileStreamOptions options;
    options.depth = depth;
    options.repeat = repeat;
    options.read_ahead_thread = way.read_ahead_thread;
    options.avoid_io_uring = way.avoid_io_uring;
    arena_bytes_ = TileStream::ArenaBytes(*store(), schedule_, depth);
    // Allocates exactly that many bytes, so that AddressSanitizer sees an
    // overrun.
    void* arena = nullptr;
    if (posix_memalign(&arena, kPageBytes, static_cast<size_t>(arena_bytes_)) !=
        0) {
      abort();
    }
    arena_ = static_cast<char*>(arena);
    absl::StatusOr<std::unique_ptr<TileStream>> stream = TileStream::Open(
        store(), schedule_, options,
        absl::MakeSpan(arena_, static_cast<size_t>(arena_bytes_)));
    if (!stream.ok()) Die(stream.status());
    stream_ = *std::move(stream);
  }

  WeightStore* shared_ = nullptr;
  std::unique_ptr<WeightStore> store_;
  std::vector<Tile> schedule_;
  int64_t arena_bytes_ = 0;
  char* arena_ = nullptr;
  std::unique_ptr<TileStream> stream_;
};

std::string Expected(const std::string& file, const Tile& tile) {
  std::string bytes;
  for (int64_t row = 0; row < tile.rows; ++row) {
    bytes += file.substr(tile.offset_bytes + row * tile.row_stride_bytes,
                         tile.row_bytes);
  }
  return bytes;
}

std::string CopyBytes(const Tile& tile, const TileLease& lease) {
  std::string bytes;
  for (int64_t row = 0; row < tile.rows; ++row) {
    bytes.append(
        static_cast<const char*>(lease.data()) + row * lease.row_stride_bytes(),
        tile.row_bytes);
  }
  return bytes;
}

Tile RandomTile(Random& random, int64_t file_bytes, int64_t largest) {
  Tile tile;
  tile.rows = static_cast<int32_t>(random() % 9);
  tile.row_bytes = static_cast<int32_t>(random() % (largest / 8 + 1));
  tile.row_stride_bytes = tile.row_bytes;
  if (random() % 2 == 0) tile.row_stride_bytes += random() % 7000;
  if (random() % 2 == 0) {
    tile.row_bytes = static_cast<int32_t>(random() % largest);
    tile.rows = 1;
  }
  const int64_t slack = file_bytes - tile.extent_bytes();
  tile.offset_bytes = static_cast<int64_t>(random() % (slack + 1));
  // The last page of the file is not a whole one.
  if (random() % 4 == 0) tile.offset_bytes = slack;
  if (random() % 4 == 0) tile.offset_bytes = tile.offset_bytes / 4096 * 4096;
  return tile;
}

std::vector<Tile> RandomSchedule(Random& random, int64_t file_bytes,
                                 int64_t largest) {
  std::vector<Tile> schedule(random() % 40);
  for (Tile& tile : schedule) tile = RandomTile(random, file_bytes, largest);
  return schedule;
}

// Takes every tile, with up to depth - 1 leases held at a time.
void ExpectDeliversSchedule(Random& random, const std::string& file, int depth,
                            Streaming& streaming) {
  std::deque<TileLease> held;
  for (size_t i = 0; i < streaming.schedule().size(); ++i) {
    while (static_cast<int>(held.size()) >= depth) held.pop_front();
    absl::StatusOr<TileLease> lease = streaming->Next();
    ASSERT_THAT(lease, IsOk());
    const Tile& tile = streaming.schedule()[i];
    ASSERT_EQ(lease->index(), static_cast<int64_t>(i));
    ASSERT_EQ(CopyBytes(tile, *lease), Expected(file, tile));
    held.push_back(*std::move(lease));
    // Lent tiles must not change while others are read ahead.
    for (const TileLease& earlier : held) {
      const Tile& other = streaming.schedule()[earlier.index()];
      ASSERT_EQ(CopyBytes(other, earlier), Expected(file, other));
    }
    while (!held.empty() && random() % 3 != 0) held.pop_front();
  }
  ASSERT_THAT(streaming->Next(), StatusIs(absl::StatusCode::kOutOfRange));
}

class TileStreamTest : public testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(Ways, TileStreamTest, testing::ValuesIn(kWays),
                         [](const testing::TestParamInfo<Way>& way) {
                           return std::string(way.param.name);
                         });

TEST_P(TileStreamTest, DeliversTheFilesBytesForAnyTilesAndDepth) {
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_any"));
  const std::string file = ReadTestFile(path);
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    const int depth = 1 + static_cast<int>(random() % 9);
    const int64_t largest = int64_t{1} << (random() % 17);
    Streaming streaming(path, GetParam(),
                        RandomSchedule(random, file.size(), largest), depth);
    ExpectDeliversSchedule(random, file, depth, streaming);
    if (HasFatalFailure()) return;
    ASSERT_THAT(streaming->Rewind(0), IsOk());
    ExpectDeliversSchedule(random, file, depth, streaming);
    if (HasFatalFailure()) return;
  }
}

TEST_P(TileStreamTest, ServesAStreamForEachThread) {
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_threads"));
  const std::string file = ReadTestFile(path);
  std::unique_ptr<WeightStore> store =
      *WeightStore::Open(path, GetParam().backend);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(t);
      Streaming streaming(store.get(), GetParam(),
                          RandomSchedule(random, file.size(), 20000), 1 + t);
      ExpectDeliversSchedule(random, file, 1 + t, streaming);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<Tile> EvenTiles(int64_t tile_bytes, int64_t count) {
  std::vector<Tile> schedule(count);
  for (int64_t i = 0; i < count; ++i) {
    schedule[i].offset_bytes = 4096 + i * tile_bytes;
    schedule[i].row_bytes = static_cast<int32_t>(tile_bytes);
    schedule[i].row_stride_bytes = tile_bytes;
    schedule[i].rows = 1;
  }
  return schedule;
}

TEST_P(TileStreamTest, RepeatsWithoutAnEndAndAllocatesNothing) {
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_repeat"));
  const std::string file = ReadTestFile(path);
  Streaming streaming(path, GetParam(), EvenTiles(8192, 7), 3, /*repeat=*/true);
  ASSERT_THAT(streaming->Next(), IsOk());
  const int64_t before = allocations;
  bool good = true;
  for (int i = 1; i < 700; ++i) {
    absl::StatusOr<TileLease> lease = streaming->Next();
    good =
        good && lease.ok() && lease->index() == i % 7 &&
        memcmp(lease->data(), file.data() + 4096 + (i % 7) * 8192, 8192) == 0;
  }
  EXPECT_EQ(allocations - before, 0);
  EXPECT_TRUE(good);
}

TEST_P(TileStreamTest, GoesOnFromAnyTile) {
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_skip"));
  const std::string file = ReadTestFile(path);
  Streaming streaming(path, GetParam(), EvenTiles(8192, 9), 3, /*repeat=*/true);
  Random random(7);
  for (int round = 0; round < 30; ++round) {
    const auto begin = static_cast<int64_t>(random() % 9);
    ASSERT_THAT(streaming->Rewind(begin), IsOk());
    const auto count = static_cast<int64_t>(random() % 12);
    for (int64_t i = begin; i < begin + count; ++i) {
      const absl::StatusOr<TileLease> lease = streaming->Next();
      ASSERT_THAT(lease, IsOk());
      ASSERT_EQ(lease->index(), i % 9);
      ASSERT_EQ(
          memcmp(lease->data(), file.data() + 4096 + (i % 9) * 8192, 8192), 0);
    }
  }
  for (const int64_t none : {-1, 9}) {
    EXPECT_THAT(streaming->Rewind(none),
                StatusIs(absl::StatusCode::kOutOfRange));
  }
}

TEST_P(TileStreamTest, RefusesToWaitForASlotThatIsLent) {
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_lent"));
  Streaming streaming(path, GetParam(), EvenTiles(4096, 5), 2);
  absl::StatusOr<TileLease> first = streaming->Next();
  absl::StatusOr<TileLease> second = streaming->Next();
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT(std::string(streaming->Next().status().message()),
              HasSubstr("tile 2 needs the slot of the tile 2 places before"));
  EXPECT_THAT(streaming->Rewind(0),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  first->Release();
  EXPECT_EQ(first->data(), nullptr);
  first->Release();
  // A moved lease still counts as lent.
  TileLease moved = *std::move(second);
  EXPECT_THAT(streaming->Next(), IsOk());
  EXPECT_THAT(streaming->Next(), Not(IsOk()));
  moved = TileLease();
  EXPECT_THAT(streaming->Next(), IsOk());
}

TEST_P(TileStreamTest, ReportsAFileThatChanges) {
  if (GetParam().backend == WeightBackend::kResident) return;
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_changed"));
  Streaming streaming(path, GetParam(), EvenTiles(4096, 40), 2);
  ASSERT_THAT(streaming->Next(), IsOk());
  ASSERT_EQ(truncate(path.c_str(), 10000), 0);
  absl::Status status;
  for (int i = 0; i < 5 && status.ok(); ++i)
    status = streaming->Next().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("shortened"));
  // The error persists.
  EXPECT_THAT(streaming->Next(), StatusIs(status.code()));
  EXPECT_THAT(streaming->Rewind(0), StatusIs(status.code()));
}

TEST_P(TileStreamTest, EndsWithReadsUnderWay) {
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_ends"));
  for (int i = 0; i < 20; ++i) {
    Streaming streaming(path, GetParam(), EvenTiles(16384, 10), 8);
    if (i % 2 == 0) {
      ASSERT_THAT(streaming->Next(), IsOk());
    }
    if (i % 3 == 0) {
      ASSERT_THAT(streaming->Rewind(0), IsOk());
    }
  }
}

TEST_P(TileStreamTest, RefusesArenasThatDoNotFit) {
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_arena"));
  std::unique_ptr<WeightStore> store =
      *WeightStore::Open(path, GetParam().backend);
  const std::vector<Tile> schedule = EvenTiles(4096, 5);
  TileStreamOptions options;
  options.depth = 0;
  EXPECT_THAT(TileStream::Open(store.get(), schedule, options, {}),
              Not(IsOk()));
  options.depth = 3;
  const int64_t wanted = TileStream::ArenaBytes(*store, schedule, 3);
  const bool in_place = GetParam().backend == WeightBackend::kResident ||
                        GetParam().backend == WeightBackend::kMmap;
  ASSERT_EQ(wanted, in_place ? 0 : 3 * 4096);
  if (in_place) return;
  alignas(4096) static char arena[5 * 4096];
  EXPECT_THAT(std::string(TileStream::Open(store.get(), schedule, options,
                                           absl::MakeSpan(arena, wanted - 1))
                              .status()
                              .message()),
              HasSubstr("3 slots for these tiles take 12288"));
  EXPECT_THAT(std::string(TileStream::Open(store.get(), schedule, options,
                                           absl::MakeSpan(arena + 8, wanted))
                              .status()
                              .message()),
              HasSubstr("begins at no multiple of"));
  std::vector<Tile> outside = schedule;
  outside[4].offset_bytes = kDataBytes;
  EXPECT_THAT(
      TileStream::Open(store.get(), outside, options, absl::MakeSpan(arena)),
      StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_P(TileStreamTest, StaysWithinItsArena) {
  const std::string path = DataFile(absl::StrCat(GetParam().name, "_within"));
  Streaming streaming(path, GetParam(), EvenTiles(5000, 20), 4);
  for (int i = 0; i < 20; ++i) {
    absl::StatusOr<TileLease> lease = streaming->Next();
    ASSERT_THAT(lease, IsOk());
    if (streaming.arena_bytes() == 0) continue;
    const char* data = static_cast<const char*>(lease->data());
    EXPECT_GE(data, streaming.arena());
    EXPECT_LE(data + 5000, streaming.arena() + streaming.arena_bytes());
  }
}

TEST(TileStreamQueueTest, SaysHowItReads) {
  const std::string path = DataFile("description");
  Streaming queue(path, kWays[3], EvenTiles(4096, 5), 2);
  Streaming thread(path, kWays[4], EvenTiles(4096, 5), 2);
  EXPECT_THAT(thread->Description(),
              HasSubstr("direct, read ahead by a thread"));
  if (absl::StrContains(queue->Description(), "io_uring was refused")) {
    GTEST_SKIP() << "this system refuses io_uring; the fallback is tested";
  }
  EXPECT_THAT(queue->Description(), HasSubstr("io_uring, 2 slots, "));
}

// A backend that needs no read does not start a thread that reads ahead.
TEST(TileStreamThreadTest, IsThereOnlyWhereWeightsAreRead) {
  const std::string path = DataFile("threads");
  for (const WeightBackend backend :
       {WeightBackend::kResident, WeightBackend::kMmap}) {
    const Way way = {"thread", backend, /*read_ahead_thread=*/true, true};
    Streaming streaming(path, way, EvenTiles(4096, 5), 2);
    EXPECT_THAT(streaming->Description(), HasSubstr("when asked for"));
  }
}

TEST(TileStreamQueueTest, CountsWholePagesOnce) {
  const std::string path = DataFile("counted");
  Streaming streaming(path, kWays[3], EvenTiles(8192, 20), 4);
  for (int i = 0; i < 20; ++i) ASSERT_THAT(streaming->Next(), IsOk());
  const WeightCounters counters = streaming.store()->counters();
  EXPECT_EQ(counters.bytes_delivered, 20 * 8192);
  EXPECT_EQ(counters.bytes_read, 20 * 8192);
  EXPECT_EQ(counters.reads, 20);
  EXPECT_EQ(counters.bytes_around_rows, 0);
  EXPECT_GT(streaming->wait_nanoseconds(), 0);
}

TEST(TileStreamQueueTest, CountsWhatLiesAroundRows) {
  std::vector<Tile> schedule = EvenTiles(8192, 3);
  for (Tile& tile : schedule) {
    tile.rows = 2;
    tile.row_bytes = 100;
    tile.row_stride_bytes = 4096;
  }
  Streaming streaming(DataFile("around"), kWays[3], schedule, 2);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(streaming->Next(), IsOk());
  EXPECT_EQ(streaming.store()->counters().bytes_around_rows,
            3 * 2 * (4096 - 100));
}

// Delivers a schedule in a process to which the kernel refuses something. The
// process ends with 0 if all tiles are right and the description contains
// `told`.
void DeliverRefused(const std::string& path, bool (*refuse)(),
                    const char* told) {
  if (!refuse()) _exit(3);
  const std::string file = ReadTestFile(path);
  Random random(5);
  Streaming streaming(path, kWays[3], RandomSchedule(random, file.size(), 9000),
                      4);
  if (!absl::StrContains(streaming->Description(), told)) {
    fprintf(stderr, "%s\n", streaming->Description().c_str());
    _exit(4);
  }
  ExpectDeliversSchedule(random, file, 4, streaming);
  _exit(testing::Test::HasFailure() ? 5 : 0);
}

TEST(TileStreamDeathTest, ReadsByAThreadWhereIoUringIsRefused) {
  const std::string path = DataFile("no_uring");
  EXPECT_EXIT(DeliverRefused(path, RefuseIoUring,
                             "io_uring was refused here (Operation not "
                             "permitted): direct, read ahead by a thread"),
              testing::ExitedWithCode(0), "");
}

TEST(TileStreamDeathTest, ReadsThroughTheCacheWhereDirectIsRefused) {
  const std::string path = DataFile("no_direct");
  EXPECT_EXIT(DeliverRefused(path, RefuseDirectOpen,
                             "O_DIRECT was refused here (Invalid argument)"),
              testing::ExitedWithCode(0), "");
}

bool RefuseBoth() { return RefuseIoUring() && RefuseDirectOpen(); }

TEST(TileStreamDeathTest, ReadsWhereBothAreRefused) {
  const std::string path = DataFile("no_both");
  EXPECT_EXIT(DeliverRefused(path, RefuseBoth, "read ahead by a thread"),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace footprint
