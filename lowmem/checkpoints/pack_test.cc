#include "footprint/lowmem/checkpoints/pack.h"

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Random = std::mt19937_64;

std::string WriteWeights(absl::string_view name,
                         const std::vector<TensorSpec>& specs) {
  const std::string path = TestPath(name);
  SafetensorsWriterOptions options;
  options.metadata["format"] = "pt";
  absl::StatusOr<SafetensorsWriter> writer =
      SafetensorsWriter::Create(path, specs, options);
  Random random(8);
  for (const TensorSpec& spec : specs) {
    std::string values(*TensorBytes(spec.dtype, spec.shape), '\0');
    for (char& byte : values) byte = static_cast<char>(random());
    EXPECT_THAT(writer->Append(values.data(), values.size()), IsOk());
  }
  EXPECT_THAT(writer->Finish(), IsOk());
  return path;
}

// Returns every tensor as a dense matrix, whatever its layout.
std::vector<std::string> Matrices(const std::string& path) {
  std::unique_ptr<WeightStore> store =
      *WeightStore::Open(path, WeightBackend::kPread);
  std::vector<std::string> matrices;
  for (const TensorInfo& tensor : store->index().tensors()) {
    const Weight weight = *store->Find(tensor.name);
    const int64_t row_bytes = weight.columns() * DTypeBytes(weight.dtype());
    std::string matrix(weight.rows() * row_bytes, '\0');
    for (int64_t row = 0; row < weight.rows(); ++row) {
      for (int64_t column = 0; column < weight.columns();
           column += weight.block_columns()) {
        const int64_t count =
            std::min(weight.block_columns(), weight.columns() - column);
        const Tile tile = *weight.Block(row, 1, column, count);
        EXPECT_THAT(
            store->Read(
                tile,
                &matrix[row * row_bytes + column * DTypeBytes(weight.dtype())]),
            IsOk());
      }
    }
    matrices.push_back(tensor.name + matrix);
  }
  return matrices;
}

PackOptions WithRule(absl::string_view rule) {
  PackOptions options;
  options.column_blocks.push_back(*ParseColumnBlockRule(rule));
  return options;
}

TEST(PackTest, KeepsEveryValueForAnyPanels) {
  Random random(9);
  const std::vector<TensorSpec> specs = {
      {"vector", DType::kF32, {37}},     {"wide", DType::kF32, {5, 1000}},
      {"tall", DType::kBF16, {1000, 7}}, {"large", DType::kF32, {600, 300}},
      {"cube", DType::kU8, {3, 5, 7}},   {"scalar", DType::kF32, {}},
      {"empty", DType::kF32, {0, 4}},
  };
  const std::string path = WriteWeights("any", specs);
  const std::vector<std::string> before = Matrices(path);
  // Packs the file repeatedly, from one panel width to another.
  for (int round = 0; round < 12; ++round) {
    PackOptions options;
    for (const char* name : {"wide", "tall", "large", "empty"}) {
      if (random() % 4 == 0) continue;
      options.column_blocks.push_back(
          *ParseColumnBlockRule(absl::StrCat(name, "=", random() % 400)));
    }
    ASSERT_THAT(Pack(path, path, options), IsOk());
    ASSERT_EQ(Matrices(path), before);
  }
}

std::string WriteIndex(const std::string& map) {
  return WriteTestFile("model.safetensors.index.json",
                       absl::StrCat(R"({"weight_map": {)", map, "}}"));
}

TEST(PackTest, MakesOneFileOfShards) {
  WriteWeights("shard1", {{"a", DType::kF32, {3, 5}}, {"b", DType::kI64, {2}}});
  WriteWeights("shard2", {{"c", DType::kBF16, {7, 9}}});
  const std::string whole = TestPath("one_of_shards");
  const absl::Status packed =
      Pack(WriteIndex(R"("c": "shard2", "b": "shard1", "a": "shard1")"), whole,
           WithRule("[ac]=4"));
  ASSERT_THAT(packed, IsOk());
  std::vector<std::string> expected = Matrices(TestPath("shard1"));
  expected.push_back(Matrices(TestPath("shard2"))[0]);
  EXPECT_EQ(Matrices(whole), expected);
}

TEST(PackTest, NeverReplacesAShard) {
  WriteWeights("shard1", {{"a", DType::kF32, {3, 5}}});
  WriteWeights("shard2", {{"c", DType::kBF16, {7, 9}}});
  const std::string index = WriteIndex(R"("c": "shard2", "a": "shard1")");
  for (const std::string& output : {index, TestPath("shard2")}) {
    const std::string before = ReadTestFile(output);
    const absl::Status status = Pack(index, output, WithRule("a=4"));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("is a file of the checkpoint that is read"));
    EXPECT_EQ(ReadTestFile(output), before);
  }
}

TEST(PackTest, RefusesShardsThatTheIndexContradicts) {
  WriteWeights("shard1", {{"a", DType::kF32, {3}}});
  WriteWeights("shard2", {{"a", DType::kF32, {3}}});
  const auto message = [](const std::string& map) {
    const absl::Status status =
        Pack(WriteIndex(map), TestPath("no_output"), PackOptions());
    EXPECT_NE(access(TestPath("no_output").c_str(), F_OK), 0);
    return std::string(status.message());
  };
  EXPECT_THAT(message(R"("b": "shard1")"), HasSubstr("no tensor \"b\""));
  EXPECT_THAT(message(R"("a": "shard3")"),
              HasSubstr("shard3: cannot be opened"));
  EXPECT_THAT(message(R"("a": "shard1", "a ": "shard2")"),
              HasSubstr("no tensor \"a \""));
}

// Some exports store one tensor in several shards.
TEST(PackTest, TakesATensorOfTwoShardsFromTheOneThatTheIndexNames) {
  WriteWeights("shard1", {{"a", DType::kF32, {3}}, {"b", DType::kF32, {3}}});
  WriteWeights("shard2", {{"c", DType::kF32, {3}}, {"a", DType::kF32, {3}}});
  const std::vector<std::string> first = Matrices(TestPath("shard1"));
  const std::vector<std::string> second = Matrices(TestPath("shard2"));
  ASSERT_NE(first[0], second[1]);
  const std::string whole = TestPath("one_of_two");
  const auto pack = [&](const std::string& map) {
    return Pack(WriteIndex(map), whole, PackOptions());
  };
  ASSERT_THAT(pack(R"("a": "shard1", "b": "shard1", "c": "shard2")"), IsOk());
  EXPECT_THAT(Matrices(whole), ElementsAre(first[0], first[1], second[0]));
  ASSERT_THAT(pack(R"("a": "shard2", "b": "shard1", "c": "shard2")"), IsOk());
  EXPECT_THAT(Matrices(whole), ElementsAre(first[1], second[0], second[1]));
  EXPECT_THAT(std::string(pack(R"("b": "shard1", "c": "shard2")").message()),
              testing::AllOf(HasSubstr("\"a\" is in "), HasSubstr("shard1"),
                             HasSubstr("shard2"), HasSubstr("the index")));
}

TEST(PackTest, PutsEveryTensorAtAPageAndPanelsInARow) {
  const std::string path = WriteWeights(
      "panels", {{"odd", DType::kU8, {3}}, {"m", DType::kF32, {10, 100}}});
  const std::string packed = TestPath("panels_packed");
  ASSERT_THAT(Pack(path, packed, WithRule("m=32")), IsOk());
  std::unique_ptr<WeightStore> store =
      *WeightStore::Open(packed, WeightBackend::kPread);
  for (const TensorInfo& tensor : store->index().tensors()) {
    EXPECT_EQ(tensor.offset_bytes % 4096, 0);
  }
  EXPECT_EQ(store->index().file_bytes() % 4096, 0);
  EXPECT_EQ(store->index().metadata().at("format"), "pt");
  const Weight weight = *store->Find("m");
  EXPECT_THAT(weight.shape().extents(), ElementsAre(10, 100));
  EXPECT_THAT(weight.tensor().shape.extents(), ElementsAre(4, 10, 32));
  EXPECT_EQ(weight.block_columns(), 32);
  const Tile tile = *weight.Block(2, 5, 64, 32);
  EXPECT_TRUE(tile.contiguous());
  EXPECT_EQ(tile.offset_bytes,
            weight.tensor().offset_bytes + (2 * 10 + 2) * 32 * 4);
  // The last panel is padded; a block does not contain the padding.
  EXPECT_EQ(weight.Block(0, 10, 96, 4)->row_bytes, 16);
  EXPECT_THAT(weight.Block(0, 10, 96, 5), Not(IsOk()));
  // A row across panels is not a single tile.
  EXPECT_THAT(weight.Rows(0, 1), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(PackTest, WithoutRulesUndoesPanels) {
  const std::string path =
      WriteWeights("undo", {{"m", DType::kF32, {10, 100}}});
  const std::vector<std::string> before = Matrices(path);
  ASSERT_THAT(Pack(path, path, WithRule("*=32")), IsOk());
  ASSERT_THAT(Pack(path, path, PackOptions()), IsOk());
  EXPECT_EQ(Matrices(path), before);
  EXPECT_EQ((*WeightStore::Open(path, WeightBackend::kPread))
                ->index()
                .metadata()
                .size(),
            1u);
}

TEST(PackTest, RefusesRulesThatMeanNothing) {
  const std::string path = WriteWeights(
      "rules", {{"m", DType::kF32, {2, 3}}, {"bias", DType::kF32, {2}}});
  EXPECT_THAT(std::string(Pack(path, path, WithRule("n*=2")).message()),
              HasSubstr("\"n*\" matches no tensor"));
  EXPECT_THAT(std::string(Pack(path, path, WithRule("b*=2")).message()),
              HasSubstr("matches no matrix"));
  for (const char* text : {"", "=3", "m", "m=", "m=-1", "m=x"}) {
    EXPECT_THAT(ParseColumnBlockRule(text), Not(IsOk())) << text;
  }
  EXPECT_EQ(ParseColumnBlockRule("a=b=3")->pattern, "a=b");
}

// A pattern that matches all weights applies only to matrices.
TEST(PackTest, LeavesWhatIsNoMatrixAsItIs) {
  const std::string path =
      WriteWeights("mixed", {{"norm.weight", DType::kF32, {300}},
                             {"m.weight", DType::kF32, {10, 300}},
                             {"conv.weight", DType::kF32, {2, 3, 300}},
                             {"none.weight", DType::kF32, {4, 0}},
                             {"scale.weight", DType::kF32, {}}});
  const std::vector<std::string> before = Matrices(path);
  const absl::Status packed = Pack(path, path, WithRule("*.weight=256"));
  ASSERT_THAT(packed, IsOk());
  EXPECT_EQ(Matrices(path), before);
  std::unique_ptr<WeightStore> store =
      *WeightStore::Open(path, WeightBackend::kPread);
  EXPECT_EQ(store->index().metadata().count("panels:m.weight"), 1u);
  EXPECT_EQ(store->index().metadata().size(), 2u);
}

TEST(PackTest, DefaultRulesPickWhatIsReadByColumns) {
  const std::string path = WriteWeights(
      "defaults",
      {{"bert.encoder.layer.0.attention.output.dense.weight",
        DType::kF32,
        {4, 512}},
       {"bert.encoder.layer.0.output.dense.weight", DType::kF32, {4, 512}},
       {"transformer.layer.3.ffn.lin2.weight", DType::kF32, {4, 512}},
       {"model.layers.3.mlp.Wo.weight", DType::kF32, {4, 512}},
       {"model.layers.3.attn.Wo.weight", DType::kF32, {4, 512}},
       {"encoder.layers.3.mlp.fc2.weight", DType::kF32, {4, 512}},
       {"h.11.mlp.c_fc.weight", DType::kF32, {4, 512}},
       {"h.11.attn.c_attn.weight", DType::kF32, {4, 192}},
       {"h.11.mlp.c_proj.weight", DType::kF32, {4, 512}},
       {"wte.weight", DType::kF32, {4, 512}}});
  PackOptions options;
  options.column_blocks = DefaultColumnBlockRules();
  ASSERT_THAT(Pack(path, path, options), IsOk());
  std::unique_ptr<WeightStore> store =
      *WeightStore::Open(path, WeightBackend::kPread);
  std::vector<int64_t> block_columns;
  for (const TensorInfo& tensor : store->index().tensors()) {
    block_columns.push_back(store->Find(tensor.name)->block_columns());
  }
  EXPECT_THAT(block_columns,
              ElementsAre(512, 256, 256, 256, 512, 256, 64, 64, 64, 512));
}

TEST(PackTest, TellsItsProgress) {
  const std::string path =
      WriteWeights("progress", {{"m", DType::kF32, {600, 300}}});
  std::vector<int64_t> done;
  int64_t total = 0;
  PackOptions options = WithRule("m=128");
  options.progress = [&](int64_t done_bytes, int64_t total_bytes) {
    if (!done.empty()) {
      EXPECT_GT(done_bytes, done.back());
    }
    done.push_back(done_bytes);
    total = total_bytes;
  };
  ASSERT_THAT(Pack(path, path, options), IsOk());
  EXPECT_EQ(total, 3 * 600 * 128 * 4);
  EXPECT_EQ(done.back(), total);
  EXPECT_GT(done.size(), 3u);
}

TEST(PackTest, RefusesMetadataThatDisagrees) {
  for (const char* text : {"2x6/3", "2x5/2", "2x7/3", "x6/3", "2x6/0", "2x6",
                           "2x6/3/1", "02x6/3"}) {
    const std::string header = absl::StrCat(
        R"({"__metadata__":{"panels:m":")", text,
        R"("},"m":{"dtype":"U8","shape":[2,2,3],"data_offsets":[0,12]}})");
    const std::string path = WriteTestFile(
        "metadata", SafetensorsBytes(header, std::string(12, 'x')));
    const absl::Status status =
        (*WeightStore::Open(path, WeightBackend::kPread))->Find("m").status();
    EXPECT_EQ(status.ok(), text == absl::string_view("2x6/3")) << text;
  }
}

// Fails during a chunk, both for a tensor that is copied and for one that is
// rearranged.
TEST(PackTest, WritesNothingWhenTheInputIsShortenedMeanwhile) {
  for (const PackOptions& rule : {PackOptions(), WithRule("m=128")}) {
    const std::string path =
        WriteWeights("shortened", {{"m", DType::kF32, {600, 300}}});
    const std::string output = TestPath("of_shortened");
    PackOptions options = rule;
    options.progress = [&](int64_t, int64_t) {
      ASSERT_EQ(truncate(path.c_str(), 1000), 0);
    };
    const absl::Status status = Pack(path, output, options);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("ends at byte 1000, so it was shortened"));
    EXPECT_NE(access(output.c_str(), F_OK), 0);
  }
}

// Packs, and kills the process at the first progress report.
void PackKilled(const std::string& path) {
  PackOptions options = WithRule("m=128");
  options.progress = [](int64_t, int64_t) { raise(SIGKILL); };
  Pack(path, path, options).IgnoreError();
}

TEST(PackDeathTest, LeavesTheOldFileWhenItIsKilled) {
  const std::string path =
      WriteWeights("killed", {{"m", DType::kF32, {600, 300}}});
  const std::string before = ReadTestFile(path);
  EXPECT_EXIT(PackKilled(path), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(ReadTestFile(path), before);
  EXPECT_THAT(Pack(path, path, WithRule("m=128")), IsOk());
}

}  // namespace
}  // namespace footprint
