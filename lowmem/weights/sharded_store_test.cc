// Tests stores of several files, which WeightStore::Open opens by their index.

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/tensor/shape.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/weights/pinned_store.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/tile_stream.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Random = std::mt19937_64;

// A checkpoint in a folder of its own.
class Checkpoint {
 public:
  explicit Checkpoint(const std::string& name)
      : name_(name), folder_(TestPath(name)) {
    mkdir(folder_.c_str(), 0777);
  }

  // Writes a file of random tensors and remembers their bytes.
  void WriteShard(const std::string& file,
                  const std::vector<TensorSpec>& tensors) {
    SafetensorsWriterOptions options;
    options.to_disk = ToDisk::kNoFsync;
    auto writer =
        SafetensorsWriter::Create(folder_ + "/" + file, tensors, options);
    ASSERT_THAT(writer, IsOk());
    for (const TensorSpec& tensor : tensors) {
      std::string bytes(*TensorBytes(tensor.dtype, tensor.shape), '\0');
      for (char& byte : bytes) byte = static_cast<char>(random_());
      ASSERT_THAT(writer->Append(bytes.data(), bytes.size()), IsOk());
      bytes_[file][tensor.name] = bytes;
      map_.push_back(absl::StrCat("\"", tensor.name, "\": \"", file, "\""));
    }
    ASSERT_THAT(writer->Finish(), IsOk());
  }

  // Writes the index with these entries, or with all that were written.
  std::string WriteIndex(const std::string& map) {
    return WriteTestFile(name_ + "/model.safetensors.index.json",
                         absl::StrCat(R"({"weight_map": {)", map, "}}"));
  }
  std::string WriteIndex() { return WriteIndex(absl::StrJoin(map_, ", ")); }

  const std::string& bytes(const std::string& file, const std::string& tensor) {
    return bytes_[file][tensor];
  }
  std::string path(const std::string& file) const {
    return folder_ + "/" + file;
  }

 private:
  const std::string name_;
  const std::string folder_;
  Random random_{7};
  std::map<std::string, std::map<std::string, std::string>> bytes_;
  std::vector<std::string> map_;
};

// Three files, of which none has a multiple of a block.
void WriteThree(Checkpoint& checkpoint) {
  checkpoint.WriteShard("a.safetensors", {{"words", DType::kF32, {301, 33}},
                                          {"bias", DType::kF16, {5}}});
  checkpoint.WriteShard("b.safetensors", {{"wide", DType::kBF16, {7, 4001}}});
  checkpoint.WriteShard("c.safetensors", {{"none", DType::kF32, {0, 3}},
                                          {"odd", DType::kU8, {12345}}});
}

const std::map<std::string, std::string> kFileOf = {
    {"words", "a.safetensors"}, {"bias", "a.safetensors"},
    {"wide", "b.safetensors"},  {"none", "c.safetensors"},
    {"odd", "c.safetensors"},
};

// Returns the bytes of a tile that a view shows.
std::string Shown(const Tile& tile, const void* data, int64_t stride) {
  std::string bytes;
  for (int32_t row = 0; row < tile.rows; ++row) {
    bytes.append(static_cast<const char*>(data) + row * stride, tile.row_bytes);
  }
  return bytes;
}

// A random block of the tensor, and its bytes.
struct Block {
  Tile tile;
  std::string bytes;
};

Block DrawBlock(const Weight& weight, const std::string& all, Random& random) {
  const int64_t element = DTypeBytes(weight.dtype());
  const int64_t row = random() % std::max<int64_t>(1, weight.rows());
  const int64_t rows =
      weight.rows() == 0 ? 0 : 1 + random() % (weight.rows() - row);
  const int64_t column = random() % weight.columns();
  const int64_t columns = random() % (weight.columns() - column + 1);
  Block block;
  block.tile = *weight.Block(row, rows, column, columns);
  for (int64_t i = row; i < row + rows; ++i) {
    block.bytes += all.substr((i * weight.columns() + column) * element,
                              columns * element);
  }
  return block;
}

class ShardedBackendsTest : public testing::TestWithParam<WeightBackend> {};

TEST_P(ShardedBackendsTest, DeliversTheBytesOfEachFile) {
  Checkpoint checkpoint("delivers");
  WriteThree(checkpoint);
  const auto store = WeightStore::Open(checkpoint.WriteIndex(), GetParam());
  ASSERT_THAT(store, IsOk());
  EXPECT_EQ((*store)->backend(), GetParam());
  Random random(5);
  std::vector<Block> blocks;
  for (const auto& [name, file] : kFileOf) {
    const auto weight = (*store)->Find(name);
    ASSERT_THAT(weight, IsOk());
    for (int i = 0; i < 40; ++i) {
      blocks.push_back(
          DrawBlock(*weight, checkpoint.bytes(file, name), random));
    }
  }
  std::shuffle(blocks.begin(), blocks.end(), random);
  for (const Block& block : blocks) {
    std::string read(block.bytes.size(), '\0');
    ASSERT_THAT((*store)->Read(block.tile, read.data()), IsOk());
    EXPECT_EQ(read, block.bytes);
    const auto slot =
        MappedBlock::Allocate((*store)->SlotBytes(block.tile) + 1);
    const auto view = (*store)->Load(block.tile, slot->At<char>(0));
    ASSERT_THAT(view, IsOk());
    EXPECT_EQ(Shown(block.tile, view->data, view->row_stride_bytes),
              block.bytes);
  }
  EXPECT_THAT((*store)->CheckFile(), IsOk());
  EXPECT_GT((*store)->counters().bytes_delivered, 0);
}

TEST_P(ShardedBackendsTest, StreamsTilesOfAllFiles) {
  Checkpoint checkpoint("streams");
  WriteThree(checkpoint);
  const auto store = WeightStore::Open(checkpoint.WriteIndex(), GetParam());
  ASSERT_THAT(store, IsOk());
  Random random(6);
  std::vector<Block> blocks;
  std::vector<Tile> schedule;
  for (int i = 0; i < 60; ++i) {
    const auto named = std::next(kFileOf.begin(), random() % kFileOf.size());
    blocks.push_back(DrawBlock(*(*store)->Find(named->first),
                               checkpoint.bytes(named->second, named->first),
                               random));
    schedule.push_back(blocks.back().tile);
  }
  for (const bool avoid_io_uring : {false, true}) {
    TileStreamOptions options;
    options.depth = 3;
    options.avoid_io_uring = avoid_io_uring;
    const int64_t bytes = TileStream::ArenaBytes(**store, schedule, 3);
    const auto arena = MappedBlock::Allocate(bytes + 1);
    const auto stream =
        TileStream::Open(store->get(), schedule, options,
                         absl::MakeSpan(arena->At<char>(0), bytes));
    ASSERT_THAT(stream, IsOk());
    for (const Block& block : blocks) {
      const auto lease = (*stream)->Next();
      ASSERT_THAT(lease, IsOk());
      EXPECT_EQ(Shown(block.tile, lease->data(), lease->row_stride_bytes()),
                block.bytes);
    }
  }
}

TEST_P(ShardedBackendsTest, PinsTensorsOfAnyFile) {
  Checkpoint checkpoint("pins");
  WriteThree(checkpoint);
  const auto store = WeightStore::Open(checkpoint.WriteIndex(), GetParam());
  ASSERT_THAT(store, IsOk());
  const auto memory = MappedBlock::Allocate(1 << 17);
  PinnedStore pinned(store->get(),
                     absl::MakeSpan(memory->At<char>(0), 1 << 17));
  const Weight wide = *pinned.Find("wide");
  ASSERT_THAT(pinned.Pin(wide.tensor()), IsOk());
  const Tile tile = *wide.Rows(0, 7);
  EXPECT_EQ(pinned.SlotBytes(tile), 0);
  const auto view = pinned.Load(tile, nullptr);
  ASSERT_THAT(view, IsOk());
  EXPECT_EQ(Shown(tile, view->data, view->row_stride_bytes),
            checkpoint.bytes("b.safetensors", "wide"));
  EXPECT_EQ(pinned.FileNames(), (*store)->FileNames());
}

TEST_P(ShardedBackendsTest, NoticesThatAnyFileChanges) {
  for (const char* file : {"a.safetensors", "b.safetensors"}) {
    Checkpoint checkpoint(absl::StrCat("changes_", file));
    WriteThree(checkpoint);
    const auto store = WeightStore::Open(checkpoint.WriteIndex(), GetParam());
    ASSERT_THAT(store, IsOk());
    checkpoint.WriteShard(file, {{"wide", DType::kF32, {1}}});
    if (GetParam() == WeightBackend::kResident) {
      EXPECT_THAT((*store)->CheckFile(), IsOk());
      continue;
    }
    EXPECT_THAT((*store)->CheckFile(),
                StatusIs(absl::StatusCode::kFailedPrecondition));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ShardedBackendsTest,
                         testing::ValuesIn(kWeightBackends),
                         [](const auto& info) {
                           return std::string(WeightBackendName(info.param));
                         });

TEST(ShardedStoreTest, HasOneIndexOfAllTensors) {
  Checkpoint checkpoint("index");
  WriteThree(checkpoint);
  const std::string index = checkpoint.WriteIndex();
  const auto store = WeightStore::Open(index, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  EXPECT_EQ((*store)->index().tensors().size(), 5u);
  EXPECT_THAT((*store)->FileNames(),
              ElementsAre(index, checkpoint.path("a.safetensors"),
                          checkpoint.path("b.safetensors"),
                          checkpoint.path("c.safetensors")));
  EXPECT_EQ(PackCommand(**store),
            absl::StrCat("lowmem_pack ", index, " ",
                         checkpoint.path("model.safetensors")));
  // The command must not write to the index, whatever its name is.
  const std::string other = checkpoint.path("weights.json");
  std::filesystem::copy_file(index, other);
  const auto same = WeightStore::Open(other, WeightBackend::kPread);
  ASSERT_THAT(same, IsOk());
  EXPECT_EQ(PackCommand(**same),
            absl::StrCat("lowmem_pack ", other, " ",
                         checkpoint.path("weights.safetensors")));
  const auto missing = (*store)->Find("wode");
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(missing.status().message()),
              AllOf(HasSubstr("among 5"), HasSubstr("\"wide\"")));
  // The bytes between two files belong to none.
  Tile between;
  between.offset_bytes = (*store)->Find("wide")->tensor().offset_bytes - 4096;
  between.row_bytes = 8192;
  between.row_stride_bytes = 8192;
  between.rows = 1;
  std::string bytes(8192, '\0');
  EXPECT_THAT((*store)->Read(between, bytes.data()),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(ShardedStoreTest, TakesATensorOfTwoFilesFromTheOneThatTheIndexNames) {
  Checkpoint checkpoint("two");
  checkpoint.WriteShard("a", {{"x", DType::kF32, {3}}});
  checkpoint.WriteShard("b",
                        {{"x", DType::kF32, {3}}, {"y", DType::kF32, {2}}});
  for (const char* owner : {"a", "b"}) {
    const auto store = WeightStore::Open(
        checkpoint.WriteIndex(absl::StrCat(R"("y": "b", "x": ")", owner, "\"")),
        WeightBackend::kPread);
    ASSERT_THAT(store, IsOk());
    std::string read(12, '\0');
    ASSERT_THAT((*store)->Read(*(*store)->Find("x")->Rows(0, 1), read.data()),
                IsOk());
    EXPECT_EQ(read, checkpoint.bytes(owner, "x"));
  }
}

// Returns the error of a checkpoint with two files and this index.
absl::Status OpenWith(const std::string& map) {
  Checkpoint checkpoint("bad");
  checkpoint.WriteShard("a", {{"x", DType::kF32, {3}}});
  checkpoint.WriteShard("b",
                        {{"x", DType::kF32, {3}}, {"y", DType::kF32, {2}}});
  return WeightStore::Open(checkpoint.WriteIndex(map), WeightBackend::kPread)
      .status();
}

void ExpectRefusal(const std::string& map, absl::StatusCode code,
                   const std::string& text) {
  const absl::Status status = OpenWith(map);
  EXPECT_THAT(status, StatusIs(code)) << map;
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("model.safetensors.index.json"), HasSubstr(text)));
}

TEST(ShardedStoreTest, RefusesAnIndexThatTheFilesContradict) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectRefusal(R"("y": "c")", absl::StatusCode::kNotFound,
                "names a file that cannot be used");
  ExpectRefusal(R"("y": "c")", absl::StatusCode::kNotFound, "download it, too");
  ExpectRefusal(R"("y": "a")", kInvalid, "no tensor \"y\"");
  ExpectRefusal(R"("y": "b", "x": "a", "z": "b")", kInvalid,
                "promises a tensor that is not there");
  ExpectRefusal(R"("y": "../bad/b")", kInvalid, "no name of a file");
  ExpectRefusal(R"("y": "/etc/passwd")", kInvalid, "no name of a file");
  ExpectRefusal(R"("y": 3)", kInvalid, "no name of a file");
  ExpectRefusal("", kInvalid, "names no tensor");
  // Two files have x, and the index names neither of them. The file with x
  // alone must be named for that.
  Checkpoint checkpoint("both");
  checkpoint.WriteShard("a", {{"x", DType::kF32, {3}}, {"w", DType::kU8, {1}}});
  checkpoint.WriteShard("b", {{"x", DType::kF32, {3}}, {"y", DType::kU8, {1}}});
  const auto both = WeightStore::Open(
      checkpoint.WriteIndex(R"("w": "a", "y": "b")"), WeightBackend::kPread);
  EXPECT_THAT(both, StatusIs(kInvalid));
  EXPECT_THAT(std::string(both.status().message()),
              AllOf(HasSubstr("\"x\" is in "), HasSubstr("both/a and in "),
                    HasSubstr("both/b"), HasSubstr("index.json")));
}

TEST(ShardedStoreTest, RefusesAnIndexThatIsNone) {
  for (const char* text : {"", "[]", "{", "{\"weight_map\": []}", "null"}) {
    const std::string path = WriteTestFile("none.index.json", text);
    const auto store = WeightStore::Open(path, WeightBackend::kPread);
    EXPECT_THAT(store, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(std::string(store.status().message()),
                HasSubstr("not the index of a checkpoint in several files"));
  }
  // An index that names itself is not opened again and again.
  const std::string self = WriteTestFile(
      "self.index.json", R"({"weight_map": {"x": "self.index.json"}})");
  EXPECT_THAT(WeightStore::Open(self, WeightBackend::kPread),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
