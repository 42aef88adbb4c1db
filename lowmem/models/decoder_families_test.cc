// Checks what every family of decoders promises beyond its numbers, which
// decoder_golden_test compares: equal bits for every backend, budget, number of
// workers and packing, within the plan's memory.

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <memory>
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
#include "footprint/lowmem/checkpoints/decoder_form.h"
#include "footprint/lowmem/checkpoints/model_family.h"
#include "footprint/lowmem/checkpoints/pack.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/weights/float_reader.h"
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
  shape.heads = 6;
  shape.key_value_heads = 3;
  shape.head_features = 20;
  shape.intermediate = 600;  // more than two blocks of columns
  const DecoderForm& form = FindDecoderForm(family);
  shape.layers = std::max<int64_t>(2, form.layer_cycle());
  shape.window = form.window > 0 ? 24 : 0;
  shape.ties_output = form.ties_output;
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

void CopyConfig(const std::string& text, const std::string& folder) {
  EXPECT_THAT(ReplaceFile(folder + "/config.json", text, ToDisk::kNoFsync),
              IsOk());
}

std::string PackModel(const std::string& folder) {
  const std::string packed = folder + "_packed";
  mkdir(packed.c_str(), 0777);
  CopyConfig(ReadTestFile(folder + "/config.json"), packed);
  PackOptions options;
  options.column_blocks = DefaultColumnBlockRules();
  EXPECT_THAT(Pack(folder + "/model.safetensors", packed + "/model.safetensors",
                   options),
              IsOk());
  return packed;
}

// Returns the logits after a text read in two calls, and after one token more.
std::vector<float> LogitsOf(const std::string& folder, WeightBackend backend,
                            int workers, int64_t budget,
                            const std::vector<int32_t>& ids) {
  std::vector<float> all;
  const auto decoder = Decoder::Open(folder, backend);
  EXPECT_THAT(decoder, IsOk());
  if (!decoder.ok()) return all;
  EXPECT_THAT(
      UnusedTensors((*decoder)->store(), TensorsToPin((*decoder)->weights())),
      IsEmpty());
  const auto positions = static_cast<int64_t>(ids.size());
  const int64_t least = *(*decoder)->MinBudgetBytes(positions, workers);
  const auto plan =
      (*decoder)->Plan(positions, workers, std::max(least, budget));
  EXPECT_THAT(plan, IsOk());
  const auto run = (*decoder)->Start(*plan);
  EXPECT_THAT(run, IsOk());
  if (!run.ok()) return all;
  const size_t cuts[] = {0, ids.size() - 18, ids.size() - 1, ids.size()};
  for (size_t i = 0; i + 1 < 4; ++i) {
    const auto logits = (*run)->Append(
        absl::MakeConstSpan(ids).subspan(cuts[i], cuts[i + 1] - cuts[i]));
    EXPECT_THAT(logits, IsOk());
    if (!logits.ok()) return all;
    all.insert(all.end(), logits->begin(), logits->end());
  }
  EXPECT_LE((*run)->ResidentArenaBytes(), plan->peak_bytes);
  return all;
}

class DecoderFamiliesTest : public testing::TestWithParam<ModelFamily> {};

TEST_P(DecoderFamiliesTest, HasTheSameBitsForEveryBackendBudgetAndWorkers) {
  std::mt19937 random(1);
  const CheckpointShape shape = SmallShape(GetParam());
  for (const DType type : {DType::kF32, DType::kBF16}) {
    const std::string plain =
        WriteModel(shape, type, std::string(DTypeName(type)));
    const std::string packed = PackModel(plain);
    // The last part of a chunk is a single token.
    const auto ids = RandomIds(random, 67, shape.vocabulary);
    const std::vector<float> expected =
        LogitsOf(plain, WeightBackend::kResident, 1, kPlenty, ids);
    ASSERT_EQ(expected.size(), 3 * 130u);
    for (const WeightBackend backend : kWeightBackends) {
      for (const std::string& folder : {plain, packed}) {
        // These take a disk read for each row, whatever the number of workers.
        const bool reads_rows =
            backend == WeightBackend::kDirect && folder == plain;
        if (reads_rows && type == DType::kF32) continue;
        for (const int workers : {1, 4}) {
          for (const int64_t budget :
               {int64_t{0}, int64_t{600} << 10, kPlenty}) {
            if (reads_rows && (workers > 1 || budget > 0)) continue;
            if (type == DType::kF32 && workers > 1) continue;
            EXPECT_EQ(LogitsOf(folder, backend, workers, budget, ids), expected)
                << folder << ", " << WeightBackendName(backend) << ", "
                << workers << " workers, " << budget << " bytes";
          }
        }
      }
    }
  }
}

// A larger budget is never worse, and the smallest is exactly the plan's size.
TEST_P(DecoderFamiliesTest, KeepsToItsBudgets) {
  const std::string folder =
      WriteModel(SmallShape(GetParam()), DType::kF16, "budget");
  const auto decoder = Decoder::Open(folder, WeightBackend::kDirect);
  ASSERT_THAT(decoder, IsOk());
  const int64_t least = *(*decoder)->MinBudgetBytes(100, 2);
  EXPECT_THAT((*decoder)->Plan(100, 2, least - 1),
              StatusIs(absl::StatusCode::kResourceExhausted));
  int64_t tile_bytes = 0;
  for (int64_t budget = least; budget < 16 << 20; budget += budget / 3) {
    const auto plan = (*decoder)->Plan(100, 2, budget);
    ASSERT_THAT(plan, IsOk());
    EXPECT_LE(plan->peak_bytes, budget);
    EXPECT_GE(plan->tile_bytes, tile_bytes);
    tile_bytes = plan->tile_bytes;
    EXPECT_GT(*(*decoder)->PredictSeconds(*plan, 90, 10), 0);
  }
  EXPECT_THAT((*decoder)->ChooseBudget(90, 10, 2), IsOk());
}

TEST_P(DecoderFamiliesTest, NamesATensorThatIsMissing) {
  CheckpointShape shape = SmallShape(GetParam());
  const std::string folder = WriteModel(shape, DType::kF32, "missing");
  shape.layers += 1;
  CopyConfig(CheckpointConfig(shape, DType::kF32), folder);
  const auto decoder = Decoder::Open(folder, WeightBackend::kPread);
  EXPECT_THAT(decoder, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(decoder.status().message(),
              HasSubstr(absl::StrCat("layers.", shape.layers - 1)));
}

// States do not need the output's matrix, and logits are computed from them.
TEST_P(DecoderFamiliesTest, GivesTheLastTokensState) {
  std::mt19937 random(2);
  const CheckpointShape shape = SmallShape(GetParam());
  const std::string folder = WriteModel(shape, DType::kF32, "states");
  const auto ids = RandomIds(random, 35, shape.vocabulary);
  std::vector<float> expected;
  for (const WeightBackend backend : kWeightBackends) {
    const auto decoder = Decoder::Open(folder, backend, DecoderUse::kStates);
    ASSERT_THAT(decoder, IsOk());
    const int64_t least = *(*decoder)->MinBudgetBytes(35, 2);
    const auto run = (*decoder)->Start(*(*decoder)->Plan(35, 2, least));
    ASSERT_THAT(run, IsOk());
    const auto state = (*run)->AppendForState(ids);
    ASSERT_THAT(state, IsOk());
    ASSERT_EQ(static_cast<int64_t>(state->size()), shape.hidden);
    const std::vector<float> actual(state->begin(), state->end());
    if (expected.empty()) expected = actual;
    EXPECT_EQ(actual, expected);
    EXPECT_THAT((*run)->Append({1}),
                StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  // The logits must be the products of the words' rows with the state.
  const auto decoder = Decoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(decoder, IsOk());
  const auto run = (*decoder)->Start(*(*decoder)->Plan(35, 1, kPlenty));
  ASSERT_THAT(run, IsOk());
  const auto logits = (*run)->Append(ids);
  ASSERT_THAT(logits, IsOk());
  const Weight& output = (*decoder)->weights().output;
  std::vector<float> row(shape.hidden);
  for (const int64_t word : {int64_t{0}, shape.vocabulary - 1}) {
    ASSERT_THAT(ReadRow((*decoder)->store(), output, word, row.data()), IsOk());
    double sum = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      sum += static_cast<double>(row[i]) * expected[i];
    }
    EXPECT_NEAR((*logits)[word], sum / (*decoder)->config().logit_divisor,
                1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, DecoderFamiliesTest,
                         testing::ValuesIn(DecoderFormFamilies()),
                         [](const auto& info) {
                           return std::string(ModelFamilyName(info.param));
                         });

}  // namespace
}  // namespace footprint
