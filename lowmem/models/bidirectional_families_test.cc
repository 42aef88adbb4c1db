// Checks what every bidirectional family promises beyond its numbers, which
// decoder_golden_test compares: equal bits for every backend, budget, number of
// workers and packing, within the plan's memory.

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/checkpoints/checkpoint_generator.h"
#include "footprint/lowmem/checkpoints/checkpoint_shape.h"
#include "footprint/lowmem/checkpoints/model_family.h"
#include "footprint/lowmem/checkpoints/pack.h"
#include "footprint/lowmem/checkpoints/quantise.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

CheckpointShape SmallShape(ModelFamily family) {
  CheckpointShape shape;
  shape.family = family;
  shape.vocabulary = 130;
  shape.positions = 400;
  shape.hidden = 96;
  shape.layers = 4;  // of ModernBERT's, two see all tokens
  shape.heads = 6;
  shape.key_value_heads = 3;
  shape.head_features = 20;
  shape.intermediate = 600;  // more than two blocks of columns
  shape.token_types = family == ModelFamily::kNomicBert ? 2 : 0;
  shape.window = 24;
  shape.ties_output = true;
  shape.is_bidirectional = true;
  return shape;
}

std::string WriteModel(const CheckpointShape& shape, DType type,
                       const std::string& name) {
  const std::string folder =
      TestPath(absl::StrCat(ModelFamilyName(shape.family), "_", name));
  mkdir(folder.c_str(), 0777);
  CheckpointOptions options;
  options.dtype = type;
  EXPECT_THAT(WriteCheckpoint(folder, shape, options), IsOk());
  return folder;
}

// Makes a folder with the config of another one, and returns its path.
std::string FolderWithConfigOf(const std::string& folder,
                               const std::string& end) {
  const std::string copy = folder + end;
  mkdir(copy.c_str(), 0777);
  EXPECT_THAT(
      ReplaceFile(copy + "/config.json", ReadTestFile(folder + "/config.json"),
                  ToDisk::kNoFsync),
      IsOk());
  return copy;
}

std::string PackModel(const std::string& folder) {
  const std::string packed = FolderWithConfigOf(folder, "_packed");
  PackOptions options;
  options.column_blocks = DefaultColumnBlockRules();
  EXPECT_THAT(Pack(folder + "/model.safetensors", packed + "/model.safetensors",
                   options),
              IsOk());
  return packed;
}

struct Way {
  WeightBackend backend = WeightBackend::kResident;
  int workers = 1;
  int64_t budget = kPlenty;
  DecoderOptions options;
};

// Returns the states of texts of these lengths, one after the other.
std::vector<float> StatesOf(const std::string& folder, Way way,
                            const std::vector<int32_t>& ids,
                            const std::vector<size_t>& lengths) {
  std::vector<float> all;
  way.options.use = DecoderUse::kStates;
  const auto decoder = Decoder::Open(folder, way.backend, way.options);
  EXPECT_THAT(decoder, IsOk());
  if (!decoder.ok()) return all;
  EXPECT_THAT(
      UnusedTensors((*decoder)->store(), TensorsToPin((*decoder)->weights())),
      IsEmpty());
  const auto tokens =
      static_cast<int64_t>(*std::max_element(lengths.begin(), lengths.end()));
  const int64_t least = *(*decoder)->MinBudgetBytes(tokens, way.workers);
  const auto plan =
      (*decoder)->Plan(tokens, way.workers, std::max(least, way.budget));
  EXPECT_THAT(plan, IsOk());
  const auto run = (*decoder)->Start(*plan);
  EXPECT_THAT(run, IsOk());
  if (!run.ok()) return all;
  for (const size_t length : lengths) {
    const auto states =
        (*run)->EncodeStates(absl::MakeConstSpan(ids).first(length));
    EXPECT_THAT(states, IsOk());
    if (!states.ok()) return all;
    EXPECT_EQ(states->size(), length * (*decoder)->config().hidden);
    all.insert(all.end(), states->begin(), states->end());
  }
  EXPECT_LE((*run)->ResidentArenaBytes(), plan->peak_bytes);
  return all;
}

class BidirectionalFamiliesTest : public testing::TestWithParam<ModelFamily> {};

// The text is longer than a block of keys, so windows begin in the second one.
TEST_P(BidirectionalFamiliesTest, HasTheSameBitsForEveryBackendAndBudget) {
  std::mt19937 random(1);
  const CheckpointShape shape = SmallShape(GetParam());
  const std::vector<size_t> lengths = {290, 1, 17, 290};
  const auto ids = RandomIds(random, 290, shape.vocabulary);
  for (const DType type : {DType::kF32, DType::kBF16}) {
    const std::string plain =
        WriteModel(shape, type, std::string(DTypeName(type)));
    const std::string packed = PackModel(plain);
    const std::vector<float> expected = StatesOf(plain, {}, ids, lengths);
    ASSERT_EQ(expected.size(), (290u + 1 + 17 + 290) * 96);
    // A text does not depend on those before it.
    EXPECT_TRUE(std::equal(expected.begin(), expected.begin() + 290 * 96,
                           expected.end() - 290 * 96));
    for (const WeightBackend backend : kWeightBackends) {
      for (const int64_t budget : {int64_t{0}, int64_t{900} << 10, kPlenty}) {
        Way way;
        way.backend = backend;
        way.budget = budget;
        // These take a disk read for each row, whatever the budget.
        if (backend != WeightBackend::kDirect || budget == kPlenty) {
          EXPECT_EQ(StatesOf(plain, way, ids, lengths), expected);
        }
        if (type == DType::kF32) continue;
        way.workers = 4;
        EXPECT_EQ(StatesOf(packed, way, ids, lengths), expected)
            << WeightBackendName(backend) << ", " << budget << " bytes";
      }
    }
  }
}

// A token sees those after it, beyond its own panel and the window, by the
// layers that see all tokens or by several layers.
TEST_P(BidirectionalFamiliesTest, SeesLaterTokens) {
  const CheckpointShape shape = SmallShape(GetParam());
  const std::string folder = WriteModel(shape, DType::kF32, "later");
  std::vector<int32_t> ids(40, 7);
  const std::vector<float> before = StatesOf(folder, {}, ids, {40});
  ids.back() = 9;
  const std::vector<float> after = StatesOf(folder, {}, ids, {40});
  EXPECT_FALSE(
      std::equal(before.begin(), before.begin() + shape.hidden, after.begin()));
}

TEST_P(BidirectionalFamiliesTest, KeepsToItsBudgets) {
  const std::string folder =
      WriteModel(SmallShape(GetParam()), DType::kF16, "budget");
  const auto decoder =
      Decoder::Open(folder, WeightBackend::kDirect, DecoderUse::kStates);
  ASSERT_THAT(decoder, IsOk());
  const int64_t least = *(*decoder)->MinBudgetBytes(100, 2);
  EXPECT_THAT((*decoder)->Plan(100, 2, least - 1),
              StatusIs(absl::StatusCode::kResourceExhausted));
  int64_t tile_bytes = 0;
  for (int64_t budget = least; budget < 16 << 20; budget += budget / 3) {
    const auto plan = (*decoder)->Plan(100, 2, budget);
    ASSERT_THAT(plan, IsOk());
    EXPECT_LE(plan->peak_bytes, budget);
    EXPECT_EQ(plan->chunk_tokens, 112);
    EXPECT_EQ(plan->logits.size_bytes, 0);
    EXPECT_GE(plan->tile_bytes, tile_bytes);
    tile_bytes = plan->tile_bytes;
    EXPECT_GT(*(*decoder)->PredictSeconds(*plan, 100, 1), 0);
  }
  EXPECT_EQ((*decoder)->ChooseBudget(100, 1, 2)->least_bytes, least);
  // Keys and values are those of one layer, whatever the number of layers.
  const auto more = SmallShape(GetParam());
  EXPECT_EQ((*decoder)->Plan(100, 2, least)->cache.size_bytes,
            2 * 112 * (*decoder)->config().key_value_features() * 4);
  EXPECT_GT(more.layers, 1);
}

TEST_P(BidirectionalFamiliesTest, GivesStatesAlone) {
  const std::string folder =
      WriteModel(SmallShape(GetParam()), DType::kF32, "alone");
  const auto logits = Decoder::Open(folder, WeightBackend::kPread);
  EXPECT_THAT(logits, StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(std::string(logits.status().message()),
              HasSubstr("use lowmem_embed"));
  EXPECT_THAT(Encoder::Open(folder, WeightBackend::kPread),
              StatusIs(absl::StatusCode::kUnimplemented));
  const auto decoder =
      Decoder::Open(folder, WeightBackend::kPread, DecoderUse::kStates);
  ASSERT_THAT(decoder, IsOk());
  const auto run = (*decoder)->Start(*(*decoder)->Plan(20, 1, kPlenty));
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT((*run)->Append({1}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*run)->AppendForState({1}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*run)->EncodeStates({}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT((*run)->EncodeStates({1, 130}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT((*run)->EncodeStates(std::vector<int32_t>(21, 1)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT((*run)->EncodeStates(std::vector<int32_t>(20, 1)), IsOk());
}

// Nothing is computed after the last norm that would find such a number.
TEST_P(BidirectionalFamiliesTest, ReturnsNoNumberThatIsNotFinite) {
  const std::string folder =
      WriteModel(SmallShape(GetParam()), DType::kF32, "not_finite");
  const std::string file = folder + "/model.safetensors";
  const auto open = [&] {
    return Decoder::Open(folder, WeightBackend::kPread, DecoderUse::kStates);
  };
  const int64_t at =
      (*open())->weights().norm.gain.tensor().offset_bytes + 7 * 4;
  std::string bytes = ReadTestFile(file);
  const float bad = NAN;
  memcpy(&bytes[at], &bad, sizeof(bad));
  ASSERT_THAT(ReplaceFile(file, bytes, ToDisk::kNoFsync), IsOk());
  const auto decoder = open();
  ASSERT_THAT(decoder, IsOk());
  for (const int workers : {1, 2}) {
    const auto run = (*decoder)->Start(*(*decoder)->Plan(40, workers, kPlenty));
    ASSERT_THAT(run, IsOk());
    for (const size_t tokens : {size_t{1}, size_t{40}}) {
      EXPECT_THAT((*run)->EncodeStates(std::vector<int32_t>(tokens, 3)),
                  StatusIs(absl::StatusCode::kDataLoss,
                           HasSubstr("the last norm gives")));
    }
  }
}

TEST_P(BidirectionalFamiliesTest, NamesATensorThatIsMissing) {
  CheckpointShape shape = SmallShape(GetParam());
  const std::string folder = WriteModel(shape, DType::kF32, "missing");
  shape.layers += 1;
  ASSERT_THAT(
      ReplaceFile(folder + "/config.json", CheckpointConfig(shape, DType::kF32),
                  ToDisk::kNoFsync),
      IsOk());
  const auto more =
      Decoder::Open(folder, WeightBackend::kPread, DecoderUse::kStates);
  EXPECT_THAT(more, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(more.status().message()),
              HasSubstr(absl::StrCat("layers.", shape.layers - 1)));
  shape.layers -= 2;
  ASSERT_THAT(
      ReplaceFile(folder + "/config.json", CheckpointConfig(shape, DType::kF32),
                  ToDisk::kNoFsync),
      IsOk());
  EXPECT_THAT(Decoder::Open(folder, WeightBackend::kPread, DecoderUse::kStates),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// Quantised matrices are multiplied exactly or with rounded activations, with
// bits that do not depend on the budget.
TEST_P(BidirectionalFamiliesTest, RunsQuantisedWeights) {
  std::mt19937 random(3);
  const CheckpointShape shape = SmallShape(GetParam());
  const std::string plain = WriteModel(shape, DType::kF32, "whole");
  const std::string small = FolderWithConfigOf(plain, "_q8_0");
  QuantiseOptions quantise;
  quantise.type = DType::kQ8_0;
  ASSERT_THAT(
      Quantise(plain + "/model.safetensors", small + "/model.gguf", quantise),
      IsOk());
  const auto ids = RandomIds(random, 50, shape.vocabulary);
  const std::vector<float> exact = StatesOf(plain, {}, ids, {50});
  for (const Arithmetic arithmetic : {Arithmetic::kExact, Arithmetic::kInt8}) {
    Way way;
    way.options.arithmetic = arithmetic;
    const std::vector<float> states = StatesOf(small, way, ids, {50});
    ASSERT_EQ(states.size(), exact.size());
    double largest = 0;
    double difference = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      largest = std::max(largest, std::abs(double{exact[i]}));
      difference = std::max(difference, std::abs(double{exact[i]} - states[i]));
    }
    EXPECT_GT(difference, 0);
    EXPECT_LT(difference, 0.1 * largest);
    way.budget = 0;
    way.workers = 2;
    way.backend = WeightBackend::kDirect;
    EXPECT_EQ(StatesOf(small, way, ids, {50}), states);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, BidirectionalFamiliesTest,
                         testing::Values(ModelFamily::kModernBert,
                                         ModelFamily::kNomicBert,
                                         ModelFamily::kGemma3),
                         [](const auto& info) {
                           return std::string(ModelFamilyName(info.param));
                         });

}  // namespace
}  // namespace footprint
