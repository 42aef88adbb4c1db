#include "footprint/lowmem/weights/weight_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kRows = 37, kColumns = 53;

// Returns random bytes, which show where they come from.
std::string Data(size_t size) {
  std::mt19937 random(1);
  std::string data(size, '\0');
  for (char& byte : data) byte = static_cast<char>(random());
  return data;
}

// The tensor "small" takes the ones after it off every alignment.
std::string MatrixFile(absl::string_view name) {
  constexpr int64_t kMatrixBytes = kRows * kColumns * 4;
  const std::string header = absl::StrCat(
      R"({"small":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)",
      R"("matrix":{"dtype":"F32","shape":[)", kRows, ",", kColumns,
      R"(],"data_offsets":[3,)", kMatrixBytes + 3, R"(]},)",
      R"("scalar":{"dtype":"F32","shape":[],"data_offsets":[)",
      kMatrixBytes + 3, ",", kMatrixBytes + 7, "]},",
      R"("cube":{"dtype":"BF16","shape":[2,3,4],"data_offsets":[)",
      kMatrixBytes + 7, ",", kMatrixBytes + 55, "]},",
      R"("none":{"dtype":"F32","shape":[0,5],"data_offsets":[)",
      kMatrixBytes + 55, ",", kMatrixBytes + 55, "]}}");
  return WriteTestFile(name, SafetensorsBytes(header, Data(kMatrixBytes + 55)));
}

std::unique_ptr<WeightStore> OpenOrDie(const std::string& path,
                                       WeightBackend backend) {
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      WeightStore::Open(path, backend);
  if (!store.ok()) {
    ADD_FAILURE() << store.status();
    abort();
  }
  return *std::move(store);
}

// A slot that begins at a page.
struct Slot {
  explicit Slot(int64_t bytes)
      : data(bytes == 0
                 ? nullptr
                 : aligned_alloc(kPageBytes, AlignUp(bytes, kPageBytes))) {}
  ~Slot() { free(data); }
  void* data;
};

std::string CopyBytes(const Tile& tile, const TileView& view) {
  std::string bytes;
  for (int64_t row = 0; row < tile.rows; ++row) {
    bytes.append(
        static_cast<const char*>(view.data) + row * view.row_stride_bytes,
        tile.row_bytes);
  }
  return bytes;
}

class WeightStoreTest : public testing::TestWithParam<WeightBackend> {};

INSTANTIATE_TEST_SUITE_P(
    Backends, WeightStoreTest, testing::ValuesIn(kWeightBackends),
    [](const testing::TestParamInfo<WeightBackend>& backend) {
      return std::string(WeightBackendName(backend.param));
    });

TEST_P(WeightStoreTest, ReadsAnyBlock) {
  const std::string path = MatrixFile("blocks.safetensors");
  const std::string file = ReadTestFile(path);
  std::unique_ptr<WeightStore> store = OpenOrDie(path, GetParam());
  const Weight matrix = *store->Find("matrix");
  std::mt19937 random(2);
  int64_t delivered_bytes = 0;
  for (int round = 0; round < 300; ++round) {
    const int64_t row = random() % kRows, column = random() % kColumns;
    const int64_t rows = random() % (kRows - row + 1);
    const int64_t columns =
        round % 3 == 0 ? kColumns : random() % (kColumns - column + 1);
    absl::StatusOr<Tile> tile = round % 3 == 0
                                    ? matrix.Rows(row, rows)
                                    : matrix.Block(row, rows, column, columns);
    ASSERT_THAT(tile, IsOk());
    std::string expected;
    for (int64_t i = row; i < row + rows; ++i) {
      expected +=
          file.substr(matrix.tensor().offset_bytes +
                          (i * kColumns + (round % 3 == 0 ? 0 : column)) * 4,
                      columns * 4);
    }
    std::string read(tile->size_bytes(), '\0');
    ASSERT_THAT(store->Read(*tile, &read[0]), IsOk());
    ASSERT_EQ(read, expected);
    Slot slot(store->SlotBytes(*tile));
    absl::StatusOr<TileView> view = store->Load(*tile, slot.data);
    ASSERT_THAT(view, IsOk());
    ASSERT_EQ(CopyBytes(*tile, *view), expected);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(view->data) % tile->alignment_bytes,
              0);
    delivered_bytes += 2 * tile->size_bytes();
  }
  EXPECT_EQ(store->counters().bytes_delivered, delivered_bytes);
}

TEST_P(WeightStoreTest, ShowsEveryTensorAsAMatrix) {
  std::unique_ptr<WeightStore> store =
      OpenOrDie(MatrixFile("shapes.safetensors"), GetParam());
  const Weight cube = *store->Find("cube");
  EXPECT_EQ(cube.rows(), 6);
  EXPECT_EQ(cube.columns(), 4);
  EXPECT_EQ(cube.dtype(), DType::kBF16);
  EXPECT_THAT(cube.shape().extents(), ElementsAre(2, 3, 4));
  const Weight scalar = *store->Find("scalar");
  EXPECT_EQ(scalar.rows(), 1);
  EXPECT_EQ(scalar.columns(), 1);
  const Weight none = *store->Find("none");
  absl::StatusOr<Tile> tile = none.Rows(0, 0);
  ASSERT_THAT(tile, IsOk());
  EXPECT_EQ(store->SlotBytes(*tile), 0);
  EXPECT_THAT(store->Load(*tile, nullptr), IsOk());
  EXPECT_THAT(store->Find("cubes"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(WeightStoreTest, RefusesBlocksOutsideTheMatrix) {
  std::unique_ptr<WeightStore> store =
      OpenOrDie(MatrixFile("range.safetensors"), GetParam());
  const Weight matrix = *store->Find("matrix");
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  const int64_t bad[][4] = {
      {-1, 1, 0, 1},       {0, kRows + 1, 0, 1}, {kRows, 1, 0, 1},
      {0, 1, -1, 1},       {0, 1, kColumns, 1},  {0, 1, 1, kColumns},
      {kMaximum, 1, 0, 1}, {1, kMaximum, 0, 1},  {0, 1, kMaximum, kMaximum},
      {0, -1, 0, 1},       {0, 1, 0, -1}};
  for (const int64_t* block : bad) {
    EXPECT_THAT(matrix.Block(block[0], block[1], block[2], block[3]),
                StatusIs(absl::StatusCode::kOutOfRange));
  }
}

TEST_P(WeightStoreTest, RefusesTilesOutsideTheFile) {
  const std::string path = MatrixFile("outside.safetensors");
  std::unique_ptr<WeightStore> store = OpenOrDie(path, GetParam());
  const int64_t size = store->index().file_bytes();
  std::vector<Tile> bad(6);
  bad[0].offset_bytes = size;
  bad[0].rows = bad[0].row_bytes = 1;
  bad[1].offset_bytes = -1;
  bad[1].rows = bad[1].row_bytes = 1;
  bad[2].rows = 3;
  bad[2].row_bytes = 1;
  bad[2].row_stride_bytes = size / 2 + 1;
  bad[3] = bad[2];
  bad[3].row_stride_bytes = int64_t{1} << 62;
  bad[4] = bad[2];
  bad[4].row_stride_bytes = 0;
  bad[5].offset_bytes = std::numeric_limits<int64_t>::max();
  bad[5].rows = bad[5].row_bytes = 1;
  char byte[8];
  for (const Tile& tile : bad) {
    EXPECT_THAT(store->Read(tile, byte),
                StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_THAT(store->Load(tile, byte),
                StatusIs(absl::StatusCode::kOutOfRange));
  }
  Tile last;
  last.offset_bytes = size - 1;
  last.rows = last.row_bytes = 1;
  EXPECT_THAT(store->Read(last, byte), IsOk());
}

// Resident weights need the file only in Open; the others report a change.
absl::StatusCode ExpectedAfterChange(WeightBackend backend) {
  return backend == WeightBackend::kResident
             ? absl::StatusCode::kOk
             : absl::StatusCode::kFailedPrecondition;
}

void ExpectNoticed(WeightStore& store, const std::string& before) {
  const absl::StatusCode expected = ExpectedAfterChange(store.backend());
  const Weight matrix = *store.Find("matrix");
  const Tile tile = *matrix.Rows(0, kRows);
  std::string read(tile.size_bytes(), '\0');
  EXPECT_THAT(store.Read(tile, &read[0]), StatusIs(expected));
  if (expected == absl::StatusCode::kOk) {
    EXPECT_EQ(read, before.substr(tile.offset_bytes, tile.size_bytes()));
  }
  Slot slot(store.SlotBytes(tile));
  EXPECT_THAT(store.Load(tile, slot.data), StatusIs(expected));
  EXPECT_THAT(store.CheckFile(), StatusIs(expected));
}

TEST_P(WeightStoreTest, NoticesAShortenedFile) {
  const std::string path = MatrixFile("shortened.safetensors");
  const std::string before = ReadTestFile(path);
  std::unique_ptr<WeightStore> store = OpenOrDie(path, GetParam());
  ASSERT_EQ(truncate(path.c_str(), 512), 0);
  ExpectNoticed(*store, before);
}

TEST_P(WeightStoreTest, SaysWhereAShortenedFileEnds) {
  if (GetParam() != WeightBackend::kPread &&
      GetParam() != WeightBackend::kDirect) {
    return;
  }
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[65536],"data_offsets":[0,65536]}})";
  const std::string path = WriteTestFile(
      "ends.safetensors", SafetensorsBytes(header, std::string(65536, 'x')));
  std::unique_ptr<WeightStore> store = OpenOrDie(path, GetParam());
  Tile tile = *store->Find("a")->Rows(0, 1);
  tile.offset_bytes = 4096;
  tile.row_bytes = 40000;
  Slot slot(store->SlotBytes(tile));
  ASSERT_EQ(truncate(path.c_str(), 10000), 0);
  EXPECT_THAT(store->Load(tile, slot.data),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("ends at byte 10000, so it was shortened")));
}

TEST_P(WeightStoreTest, NoticesAReplacedFile) {
  const std::string path = MatrixFile("replaced.safetensors");
  const std::string before = ReadTestFile(path);
  std::unique_ptr<WeightStore> store = OpenOrDie(path, GetParam());
  const std::string other = MatrixFile("other.safetensors");
  ASSERT_EQ(rename(other.c_str(), path.c_str()), 0);
  ExpectNoticed(*store, before);
}

TEST_P(WeightStoreTest, NoticesAFileWrittenInPlace) {
  const std::string path = MatrixFile("written.safetensors");
  const std::string before = ReadTestFile(path);
  std::unique_ptr<WeightStore> store = OpenOrDie(path, GetParam());
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-60, std::ios::end);
  file.write("other", 5);
  file.close();
  ExpectNoticed(*store, before);
}

TEST_P(WeightStoreTest, ServesSeveralThreads) {
  const std::string path = MatrixFile("threads.safetensors");
  const std::string file = ReadTestFile(path);
  std::unique_ptr<WeightStore> store = OpenOrDie(path, GetParam());
  const Weight matrix = *store->Find("matrix");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t row = t; row < kRows; row += 2) {
        const Tile tile = *matrix.Rows(row, 1);
        std::string read(tile.size_bytes(), '\0');
        EXPECT_THAT(store->Read(tile, &read[0]), IsOk());
        EXPECT_EQ(read, file.substr(tile.offset_bytes, tile.size_bytes()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(WeightStoreTest, CountsWhatItReads) {
  std::unique_ptr<WeightStore> store =
      OpenOrDie(MatrixFile("counted.safetensors"), GetParam());
  const WeightCounters opened = store->counters();
  const Tile tile = *store->Find("matrix")->Rows(0, kRows);
  std::string read(tile.size_bytes(), '\0');
  ASSERT_THAT(store->Read(tile, &read[0]), IsOk());
  const WeightCounters counters = store->counters();
  EXPECT_EQ(counters.bytes_delivered, kRows * kColumns * 4);
  EXPECT_GT(counters.wait_nanoseconds, 0);
  const int64_t bytes_read = counters.bytes_read - opened.bytes_read;
  switch (GetParam()) {
    case WeightBackend::kResident:
      EXPECT_EQ(opened.bytes_read, store->index().file_bytes());
      EXPECT_EQ(bytes_read, 0);
      break;
    case WeightBackend::kPread:
    case WeightBackend::kMmap:  // copies; a view is not counted
      EXPECT_EQ(bytes_read, tile.size_bytes());
      EXPECT_EQ(counters.reads, 1);
      break;
    case WeightBackend::kDirect:
      EXPECT_GE(bytes_read, tile.size_bytes());
      EXPECT_LE(bytes_read, tile.size_bytes() + 2 * kPageBytes);
      break;
  }
  EXPECT_EQ(counters.bytes_around_rows, 0) << "its ends only are rounded";
  if (GetParam() == WeightBackend::kMmap) {
    ASSERT_THAT(store->Load(*store->Find("scalar")->Rows(0, 1), &read[0]),
                IsOk());
    EXPECT_EQ(store->counters().reads, 1);
  }
}

TEST_P(WeightStoreTest, CountsWhatLiesAroundRowsWithGaps) {
  std::unique_ptr<WeightStore> store =
      OpenOrDie(MatrixFile("around.safetensors"), GetParam());
  const Tile tile = *store->Find("matrix")->Block(0, kRows, 3, 2);
  ASSERT_FALSE(tile.contiguous());
  const WeightCounters opened = store->counters();
  EXPECT_EQ(opened.bytes_around_rows, 0);
  std::string read(tile.size_bytes(), '\0');
  ASSERT_THAT(store->Read(tile, &read[0]), IsOk());
  const WeightCounters counters = store->counters();
  // Every row is read as whole pages, except at the end of the file.
  EXPECT_EQ(counters.bytes_around_rows,
            GetParam() == WeightBackend::kDirect
                ? counters.bytes_read - opened.bytes_read - tile.size_bytes()
                : 0);
  EXPECT_EQ(counters.bytes_around_rows > 3 * tile.size_bytes(),
            GetParam() == WeightBackend::kDirect);
}

// Holds for any offset in the file and any address in memory.
TEST_P(WeightStoreTest, ReadsALongRunInFewRequests) {
  constexpr int64_t kBytes = 600'000;
  const std::string data = Data(kBytes);
  const std::string path = WriteTestFile(
      "long.safetensors",
      SafetensorsBytes(absl::StrCat(R"({"a":{"dtype":"U8","shape":[)", kBytes,
                                    R"(],"data_offsets":[0,)", kBytes, "]}}"),
                       data));
  std::unique_ptr<WeightStore> store = OpenOrDie(path, GetParam());
  const Weight weight = *store->Find("a");
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const int64_t size =
        round % 2 == 0 ? 65530 + random() % 12 : 1 + random() % kBytes;
    const int64_t column = random() % (kBytes - size + 1);
    const int64_t place = random() % 5000;
    const std::string expected = data.substr(column, size);
    std::string memory(place + size + 5000, 'x');
    const int64_t reads = store->counters().reads;
    ASSERT_THAT(store->Read(*weight.Block(0, 1, column, size), &memory[place]),
                IsOk());
    ASSERT_EQ(memory.substr(place, size), expected) << size << " at " << place;
    // No other byte was written.
    ASSERT_EQ(memory.substr(0, place), std::string(place, 'x'));
    ASSERT_EQ(memory.substr(place + size), std::string(5000, 'x'));
    if (size >= 65536) {
      EXPECT_LE(store->counters().reads - reads, 3);
    }
  }
}

// Returns the bytes of files that are in this process's memory now.
int64_t FileBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssFile:", 0) == 0) {
      return std::stoll(line.substr(8)) * 1024;
    }
  }
  return -1;
}

// Returns whether the kernel accepts MADV_HUGEPAGE at all.
bool HasHugePages() {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool is_taken = madvise(page, 4096, MADV_HUGEPAGE) == 0;
  munmap(page, 4096);
  return is_taken;
}

// Without huge pages, pages enter the page cache one by one if nothing read
// them ahead, and are then always mapped one by one.
TEST(WeightStoreTest, MapsTheFileInHugePagesWhereTheSystemHasThem) {
  const std::string path = MatrixFile("huge_pages");
  const std::unique_ptr<WeightStore> store =
      OpenOrDie(path, WeightBackend::kMmap);
  std::ifstream maps("/proc/self/smaps");
  std::string line, flags;
  for (bool is_store = false; std::getline(maps, line);) {
    if (absl::EndsWith(line, "huge_pages")) is_store = true;
    if (is_store && absl::StartsWith(line, "VmFlags:")) {
      flags = absl::StrCat(line, " ");
      break;
    }
  }
  EXPECT_EQ(absl::StrContains(flags, " hg "), HasHugePages()) << flags;
}

constexpr int64_t kWindowBytes = 2 << 20;

// Removes a file that was just written from the page cache.
void DropFromCache(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(fsync(file), 0);
  ASSERT_EQ(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
  close(file);
}

// Returns the bytes of the file that the page cache holds in folios of a
// window's size, found by mapping the cached pages.
int64_t BytesInWindows(const std::string& path, int64_t file_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const image = mmap(nullptr, static_cast<size_t>(file_bytes), PROT_READ,
                           MAP_SHARED, file, 0);
  close(file);
  std::vector<unsigned char> cached(
      static_cast<size_t>((file_bytes + 4095) / 4096));
  EXPECT_EQ(mincore(image, static_cast<size_t>(file_bytes), cached.data()), 0);
  const volatile char* const bytes = static_cast<const char*>(image);
  for (size_t page = 0; page < cached.size(); ++page) {
    if ((cached[page] & 1) != 0) static_cast<void>(bytes[page * 4096]);
  }
  const std::string address =
      absl::StrCat(absl::Hex(reinterpret_cast<uintptr_t>(image)), "-");
  std::ifstream maps("/proc/self/smaps");
  int64_t kibibytes = 0;
  bool is_image = false;
  for (std::string line; std::getline(maps, line);) {
    is_image |= absl::StartsWith(line, address);
    if (!is_image || !absl::StartsWith(line, "FilePmdMapped:")) continue;
    kibibytes = std::stoll(line.substr(14));
    break;
  }
  munmap(image, static_cast<size_t>(file_bytes));
  return kibibytes * 1024;
}

// Writes matrices of 1 MiB less a page, each with a bias of one page before it.
std::string LayersFile(absl::string_view name, int layers) {
  std::string header = "{";
  int64_t end = 0;
  const auto add = [&](absl::string_view tensor, int64_t bytes) {
    absl::StrAppend(&header, end == 0 ? "" : ",", "\"", tensor,
                    R"(":{"dtype":"U8","shape":[)", bytes / 4096,
                    R"(,4096],"data_offsets":[)", end, ",", end + bytes, "]}");
    end += bytes;
  };
  for (int layer = 0; layer < layers; ++layer) {
    add(absl::StrCat("bias", layer), 4096);
    add(absl::StrCat("matrix", layer), (1 << 20) - 4096);
  }
  header += "}";
  return WriteTestFile(name, SafetensorsBytes(header, std::string(end, 'x')));
}

// Reads layers as a model does: biases, and matrices alternately from both
// ends.
void ReadLayers(WeightStore* store, int layers) {
  std::vector<char> bias(4096);
  for (int i = 0; i < layers; ++i) {
    const int layer = i % 2 == 0 ? i / 2 : layers - 1 - i / 2;
    const Weight small = *store->Find(absl::StrCat("bias", layer));
    ASSERT_THAT(store->Read(*small.Rows(0, 1), bias.data()), IsOk());
    ASSERT_EQ(bias, std::vector<char>(4096, 'x'));
    const Weight matrix = *store->Find(absl::StrCat("matrix", layer));
    const absl::StatusOr<TileView> view =
        store->Load(*matrix.Rows(0, matrix.rows()), nullptr);
    ASSERT_THAT(view, IsOk());
    for (int64_t row = 0; row < matrix.rows(); ++row) {
      ASSERT_EQ(static_cast<const char*>(view->data)[row * 4096], 'x');
    }
  }
}

// A store leaves what it reads in the page cache in large folios, which later
// passes and runs need.
TEST(WeightStoreTest, MmapLeavesLargePiecesInThePageCache) {
  constexpr int kLayers = 48;
  const std::string path = LayersFile("layers.safetensors", kLayers);
  const int64_t file_bytes = std::filesystem::file_size(path);
  DropFromCache(path);
  if (BytesInWindows(path, file_bytes) > 0) {
    GTEST_SKIP() << "NOT TESTED: the file stays in the page cache";
  }
  {
    // This is the best that the file system can do.
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    void* const image = mmap(nullptr, static_cast<size_t>(file_bytes),
                             PROT_READ, MAP_SHARED, file, 0);
    close(file);
    madvise(image, static_cast<size_t>(file_bytes), MADV_HUGEPAGE);
    const volatile char* const bytes = static_cast<const char*>(image);
    for (int64_t at = 0; at < file_bytes; at += 4096) {
      static_cast<void>(bytes[at]);
    }
    munmap(image, static_cast<size_t>(file_bytes));
  }
  const int64_t most = BytesInWindows(path, file_bytes);
  if (most < file_bytes / 2) {
    GTEST_SKIP() << "NOT TESTED: the file system has no large pieces";
  }
  DropFromCache(path);
  const std::unique_ptr<WeightStore> store =
      OpenOrDie(path, WeightBackend::kMmap);
  ReadLayers(store.get(), kLayers);
  // The header was read before the file was mapped, and the file's end is not a
  // whole window.
  EXPECT_GE(BytesInWindows(path, file_bytes), most - 3 * kWindowBytes);
}

TEST(WeightStoreTest, MmapKeepsLittleOfTheFileMapped) {
  constexpr int64_t kBytes = 64 << 20, kTileRows = 64;
  const std::string header =
      absl::StrCat(R"({"m":{"dtype":"U8","shape":[)", kBytes / 4096,
                   R"(,4096],"data_offsets":[0,)", kBytes, "]}}");
  std::string data(kBytes, '\0');
  for (int64_t row = 0; row < kBytes / 4096; ++row) {
    data[row * 4096] = static_cast<char>(row % 251);
  }
  const std::string path =
      WriteTestFile("large.safetensors", SafetensorsBytes(header, data));
  std::unique_ptr<WeightStore> store = OpenOrDie(path, WeightBackend::kMmap);
  const Weight weight = *store->Find("m");
  const int64_t before = FileBytes();
  ASSERT_GT(before, 0);
  int64_t most = 0;
  // Two workers read one half each, and views stay in use while others are
  // taken.
  const int64_t half = weight.rows() / 2;
  TileView last;
  char last_first = 0;
  for (int64_t row = 0; row < half; row += kTileRows) {
    for (const int64_t begin : {row, half + row}) {
      const absl::StatusOr<TileView> view =
          store->Load(*weight.Rows(begin, kTileRows), nullptr);
      ASSERT_THAT(view, IsOk());
      const char* const bytes = static_cast<const char*>(view->data);
      for (int64_t i = 0; i < kTileRows; ++i) {
        ASSERT_EQ(bytes[i * 4096], static_cast<char>((begin + i) % 251));
      }
      if (last.data != nullptr) {
        EXPECT_EQ(*static_cast<const char*>(last.data), last_first);
      }
      last = *view;
      last_first = bytes[0];
      most = std::max(most, FileBytes() - before);
    }
  }
  EXPECT_GT(most, 1 << 20);
  EXPECT_LE(most, 24 << 20);
}

TEST(WeightStoreTest, MmapSurvivesATouchBeyondTheFile) {
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[65536],"data_offsets":[0,65536]}})";
  const std::string path = WriteTestFile(
      "mapped.safetensors", SafetensorsBytes(header, std::string(65536, 'x')));
  std::unique_ptr<WeightStore> store = OpenOrDie(path, WeightBackend::kMmap);
  absl::StatusOr<Tile> tile = store->Find("a")->Rows(0, 1);
  ASSERT_THAT(tile, IsOk());
  Slot slot(store->SlotBytes(*tile));
  // The tile is viewed in place, at an aligned offset.
  tile->offset_bytes = 4096;
  tile->row_bytes = 40000;
  absl::StatusOr<TileView> view = store->Load(*tile, nullptr);
  ASSERT_THAT(view, IsOk());
  ASSERT_EQ(truncate(path.c_str(), 8192), 0);
  // This touch stands for one in the middle of a computation.
  EXPECT_EQ(static_cast<const char*>(view->data)[39999], '\0');
  EXPECT_THAT(store->CheckFile(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  // The error stays even if the file grows back to its size.
  ASSERT_EQ(truncate(path.c_str(), store->index().file_bytes()), 0);
  EXPECT_THAT(std::string(store->CheckFile().message()),
              HasSubstr("was shortened while it was in use"));
}

using WeightStoreDeathTest = testing::Test;

TEST(WeightStoreDeathTest, OtherBusErrorsStillEndTheProcess) {
  // The sanitizers have handlers of their own, which exit.
#if defined(__SANITIZE_THREAD__)
  const testing::ExitedWithCode ended(66);
#elif defined(__SANITIZE_ADDRESS__)
  const testing::ExitedWithCode ended(1);
#else
  const testing::KilledBySignal ended(SIGBUS);
#endif
  const std::string path = MatrixFile("bus.safetensors");
  EXPECT_EXIT(
      {
        std::unique_ptr<WeightStore> store =
            OpenOrDie(path, WeightBackend::kMmap);
        raise(SIGBUS);
        raise(SIGBUS);
      },
      ended, "");
}

TEST(WeightStoreTest, RefusesUnknownBackends) {
  EXPECT_EQ(*WeightBackendFromName("direct"), WeightBackend::kDirect);
  EXPECT_THAT(std::string(WeightBackendFromName("disk").status().message()),
              HasSubstr("resident, pread, direct, mmap"));
}

TEST(WeightStoreTest, RefusesAMissingFile) {
  for (const WeightBackend backend : kWeightBackends) {
    EXPECT_THAT(WeightStore::Open(TestPath("missing"), backend),
                StatusIs(absl::StatusCode::kNotFound));
  }
}

}  // namespace
}  // namespace footprint
