// Checks that a sequence that shares the readings of the weights with others
// has the bits that it has alone: for every family, type of weights,
// arithmetic, type of cache, backend, budget and number of workers.

#include <stdio.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
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
#include "footprint/lowmem/checkpoints/quantise.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/kernels/rounded_cache.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr int64_t kPositions = 70;
constexpr int64_t kSequences = 19;  // more than a panel of single tokens

CheckpointShape SmallShape(ModelFamily family) {
  CheckpointShape shape;
  shape.family = family;
  shape.vocabulary = 130;
  shape.positions = 100;
  shape.hidden = 96;
  shape.layers = 2;
  shape.heads = 6;
  shape.intermediate = 544;  // more than two blocks of columns
  if (family == ModelFamily::kGpt2) return shape;
  shape.key_value_heads = 3;
  shape.head_features = 32;
  const DecoderForm& form = FindDecoderForm(family);
  shape.layers = std::max<int64_t>(2, form.layer_cycle());
  shape.window = form.window > 0 ? 24 : 0;
  shape.ties_output = form.ties_output;
  return shape;
}

// Writes a model; of a quantised type as model.gguf.
std::string WriteModel(ModelFamily family, DType type) {
  const bool is_quantised = type == DType::kQ8_0 || type == DType::kQ4_0;
  const std::string folder =
      TestPath(absl::StrCat(ModelFamilyName(family), "_", DTypeName(type)));
  mkdir(folder.c_str(), 0777);
  CheckpointOptions options;
  options.dtype = is_quantised ? DType::kF32 : type;
  EXPECT_THAT(WriteCheckpoint(folder, SmallShape(family), options), IsOk());
  if (!is_quantised) return folder;
  const std::string floats = folder + "/model.safetensors";
  QuantiseOptions quantise;
  quantise.type = type;
  EXPECT_THAT(Quantise(floats, folder + "/model.gguf", quantise), IsOk());
  EXPECT_EQ(remove(floats.c_str()), 0);
  return folder;
}

std::string PackModel(const std::string& folder) {
  const std::string packed = folder + "_packed";
  mkdir(packed.c_str(), 0777);
  EXPECT_THAT(
      ReplaceFile(packed + "/config.json",
                  ReadTestFile(folder + "/config.json"), ToDisk::kNoFsync),
      IsOk());
  PackOptions options;
  options.column_blocks = DefaultColumnBlockRules();
  EXPECT_THAT(Pack(folder + "/model.safetensors", packed + "/model.safetensors",
                   options),
              IsOk());
  return packed;
}

// What one call reads of a sequence. A sequence that begins replaces the one
// before it in the same place.
struct Turn {
  int64_t sequence;
  size_t tokens;
  bool begins = false;
};

// Prompts of several lengths with and without neighbours, single tokens beside
// prompts, sequences that end, and others in their places.
std::vector<std::vector<Turn>> Calls() {
  std::vector<std::vector<Turn>> calls = {
      {{0, 17, true}, {1, 1, true}, {3, 33, true}, {4, 2, true}},
      {{0, 1}, {1, 1}, {2, 40, true}, {3, 1}, {4, 1}},
      {{3, 1}},
      {{0, 3}, {1, 1}, {2, 1}, {4, 5}},
      {{1, 20, true}, {2, 1}, {3, 1}}};
  // More sequences than a panel has tokens.
  calls.emplace_back();
  for (int64_t i = 0; i < kSequences; ++i) {
    if (i != 2) calls.back().push_back({i, 1, /*begins=*/i > 4});
  }
  calls.push_back(calls.back());
  for (Turn& turn : calls.back()) turn.begins = false;
  return calls;
}

struct Setting {
  WeightBackend backend = WeightBackend::kPread;
  int workers = 1;
  int64_t more_bytes = 0;  // than the least budget
  DecoderOptions options;
};

// Opens the folder and starts a run.
struct Session {
  Session(const std::string& folder, const Setting& setting,
          int64_t sequences) {
    auto opened = Decoder::Open(folder, setting.backend, setting.options);
    EXPECT_THAT(opened, IsOk());
    decoder = *std::move(opened);
    const auto least =
        decoder->MinBudgetBytes(kPositions, setting.workers, sequences);
    EXPECT_THAT(least, IsOk());
    const auto plan = decoder->Plan(kPositions, setting.workers,
                                    *least + setting.more_bytes, sequences);
    EXPECT_THAT(plan, IsOk());
    auto started = decoder->Start(*plan);
    EXPECT_THAT(started, IsOk());
    run = *std::move(started);
  }

  std::unique_ptr<Decoder> decoder;
  std::unique_ptr<DecoderRun> run;
};

// The ids of every turn, the same in every run.
std::vector<std::vector<std::vector<int32_t>>> IdsOfCalls() {
  std::mt19937 random(5);
  std::vector<std::vector<std::vector<int32_t>>> ids;
  for (const std::vector<Turn>& call : Calls()) {
    ids.emplace_back();
    for (const Turn& turn : call) {
      ids.back().push_back(
          RandomIds(random, static_cast<int64_t>(turn.tokens), 130));
    }
  }
  return ids;
}

// The logits after every turn, each sequence with a run of its own.
std::vector<std::vector<float>> LogitsAlone(const std::string& folder,
                                            const DecoderOptions& options) {
  Setting setting;
  setting.options = options;
  const auto calls = Calls();
  const auto ids = IdsOfCalls();
  std::vector<std::vector<float>> logits;
  std::vector<std::unique_ptr<DecoderRun>> runs(kSequences);
  Session session(folder, setting, 1);
  for (size_t call = 0; call < calls.size(); ++call) {
    for (size_t i = 0; i < calls[call].size(); ++i) {
      auto& run = runs[calls[call][i].sequence];
      if (run == nullptr) {
        auto started = session.decoder->Start(session.run->plan());
        EXPECT_THAT(started, IsOk());
        run = *std::move(started);
      }
      if (calls[call][i].begins) run->Clear();
      const auto now = run->Append(ids[call][i]);
      EXPECT_THAT(now, IsOk());
      logits.emplace_back(now->begin(), now->end());
    }
  }
  return logits;
}

void ExpectTheBitsOfEachAlone(const std::string& folder, const Setting& setting,
                              const std::vector<std::vector<float>>& expected) {
  SCOPED_TRACE(absl::StrCat(folder, ", ", WeightBackendName(setting.backend),
                            ", ", setting.workers, " workers, ",
                            setting.more_bytes, " bytes more"));
  const auto calls = Calls();
  const auto ids = IdsOfCalls();
  Session session(folder, setting, kSequences);
  size_t turns = 0;
  for (size_t call = 0; call < calls.size(); ++call) {
    std::vector<SequenceTokens> inputs;
    for (size_t i = 0; i < calls[call].size(); ++i) {
      const Turn& turn = calls[call][i];
      if (turn.begins) session.run->ClearSequence(turn.sequence);
      inputs.push_back({turn.sequence, ids[call][i]});
    }
    ASSERT_THAT(session.run->AppendTogether(inputs), IsOk());
    for (const Turn& turn : calls[call]) {
      const auto logits = session.run->LogitsOf(turn.sequence);
      ASSERT_EQ(std::vector<float>(logits.begin(), logits.end()),
                expected[turns++])
          << "call " << call << ", sequence " << turn.sequence;
    }
  }
  EXPECT_LE(session.run->ResidentArenaBytes(), session.run->plan().peak_bytes);
}

class SeveralSequencesTest : public testing::TestWithParam<ModelFamily> {};

TEST_P(SeveralSequencesTest, HaveTheBitsOfEachAlone) {
  const std::string folder = WriteModel(GetParam(), DType::kF32);
  const auto expected = LogitsAlone(folder, {});
  // The least budget reads a prompt panel by panel. With weights that are used
  // in place, a reading has prompts beside single tokens.
  ExpectTheBitsOfEachAlone(folder, {WeightBackend::kPread, 3, 0, {}}, expected);
  ExpectTheBitsOfEachAlone(folder, {WeightBackend::kMmap, 2, 64 << 20, {}},
                           expected);
}

// Tiles of a packed file are read ahead.
TEST_P(SeveralSequencesTest, HaveTheBitsOfEachAloneWhenTheyReadAhead) {
  const std::string folder = WriteModel(GetParam(), DType::kF16);
  const auto expected = LogitsAlone(folder, {});
  ExpectTheBitsOfEachAlone(
      PackModel(folder), {WeightBackend::kDirect, 2, 300 << 10, {}}, expected);
  ExpectTheBitsOfEachAlone(folder, {WeightBackend::kResident, 1, 1 << 20, {}},
                           expected);
}

TEST_P(SeveralSequencesTest, HaveTheBitsOfEachAloneWithRoundedCaches) {
  const std::string folder = WriteModel(GetParam(), DType::kF32);
  for (const auto& [type, backend] :
       {std::pair(CacheType::kF16, WeightBackend::kPread),
        std::pair(CacheType::kQ8_0, WeightBackend::kMmap)}) {
    DecoderOptions options;
    options.cache_type = type;
    ExpectTheBitsOfEachAlone(folder, {backend, 2, 1 << 20, options},
                             LogitsAlone(folder, options));
  }
}

// Of GPT-2, whose other matrices lie transposed, only the words are quantised.
TEST_P(SeveralSequencesTest, HaveTheBitsOfEachAloneWithQuantisedWeights) {
  for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
    const std::string folder = WriteModel(GetParam(), type);
    for (const Arithmetic arithmetic :
         {Arithmetic::kExact, Arithmetic::kInt8}) {
      DecoderOptions options;
      options.arithmetic = arithmetic;
      const bool in_place =
          (type == DType::kQ8_0) == (arithmetic == Arithmetic::kInt8);
      ExpectTheBitsOfEachAlone(
          folder,
          {in_place ? WeightBackend::kMmap : WeightBackend::kPread,
           in_place ? 1 : 3, in_place ? 500 << 10 : 0, options},
          LogitsAlone(folder, options));
    }
  }
}

std::vector<ModelFamily> AllFamilies() {
  std::vector<ModelFamily> families = DecoderFormFamilies();
  families.push_back(ModelFamily::kGpt2);
  return families;
}

INSTANTIATE_TEST_SUITE_P(Families, SeveralSequencesTest,
                         testing::ValuesIn(AllFamilies()),
                         [](const auto& info) {
                           return std::string(ModelFamilyName(info.param));
                         });

TEST(SequencesTest, RefuseWrongInputAndStayAsTheyWere) {
  const std::string folder = WriteModel(ModelFamily::kLlama, DType::kF32);
  Session session(folder, {}, 3);
  const std::vector<int32_t> ids = {1, 2, 3};
  ASSERT_THAT(session.run->AppendTogether({{0, ids}, {2, ids}}), IsOk());
  const std::vector<int32_t> wrong = {1, 130};
  const std::vector<int32_t> many(kPositions - 2, 7);
  const struct {
    std::vector<SequenceTokens> inputs;
    const char* says;
  } kWrong[] = {
      {{}, "no sequence"},
      {{{0, ids}, {3, ids}}, "sequence 3, where those from 1 to 2 can follow"},
      {{{1, ids}, {1, ids}}, "sequence 1, where those from 2 to 2 can follow"},
      {{{-1, ids}}, "sequence -1"},
      {{{0, ids}, {1, {}}}, "sequence 1: no tokens"},
      {{{0, ids}, {1, wrong}}, "sequence 1: token 1 has the id 130"},
      {{{0, ids}, {2, many}}, "sequence 2: 68 tokens after 3"},
  };
  for (const auto& one : kWrong) {
    const absl::Status status = session.run->AppendTogether(one.inputs);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()), HasSubstr(one.says));
    EXPECT_EQ(session.run->TokensOf(0), 3);
    EXPECT_EQ(session.run->TokensOf(1), 0);
  }
  session.run->ClearSequence(0);
  EXPECT_EQ(session.run->TokensOf(0), 0);
  EXPECT_EQ(session.run->TokensOf(2), 3);
}

// One call reads the weights once, whatever the sequences. Each token has a row
// of the table of words.
TEST(SequencesTest, ReadTheWeightsOnceInACall) {
  const std::string folder = WriteModel(ModelFamily::kLlama, DType::kF32);
  const std::vector<int32_t> ids = {1, 2, 3};
  const auto read_bytes = [&](int64_t sequences) {
    Session session(folder, {}, sequences);
    std::vector<SequenceTokens> inputs;
    for (int64_t i = 0; i < sequences; ++i) {
      inputs.push_back({i, absl::MakeConstSpan(ids).first(1)});
    }
    EXPECT_THAT(session.run->AppendTogether(inputs), IsOk());
    EXPECT_EQ(session.run->passes(), 1);
    return session.decoder->store().counters().bytes_read;
  };
  EXPECT_EQ(read_bytes(9), read_bytes(1) + 8 * 96 * int64_t{sizeof(float)});
  // Prompts beside single tokens, where there is room.
  Session session(folder, {WeightBackend::kResident, 1, 1 << 20, {}}, 3);
  ASSERT_THAT(session.run->AppendTogether(
                  {{0, ids}, {1, absl::MakeConstSpan(ids).first(1)}, {2, ids}}),
              IsOk());
  EXPECT_EQ(session.run->passes(), 1);
}

}  // namespace
}  // namespace footprint
