#include "footprint/lowmem/models/encoder.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/refuse_system_call.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/models/encoder_plan.h"
#include "footprint/lowmem/models/encoder_run.h"
#include "footprint/lowmem/models/encoder_weights.h"
#include "footprint/lowmem/streaming/budget_choice.h"
#include "footprint/lowmem/testing/failing_store.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

EncoderConfig SmallConfig() {
  EncoderConfig config;
  config.layers = 2;
  config.hidden = 48;
  config.heads = 3;
  config.intermediate = 600;  // more than two blocks of columns
  config.vocabulary = 50;
  config.positions = 80;
  config.token_types = 2;
  return config;
}

struct RunResult {
  absl::Status status;
  std::vector<float> states;
  int64_t peak_bytes = 0;
  int64_t resident_bytes = 0;
  std::string reading;
};

RunResult Encode(const std::string& folder, WeightBackend backend, int workers,
                 int64_t budget, const std::vector<int32_t>& ids,
                 const std::vector<int32_t>& types = {}) {
  RunResult result;
  const auto encoder = Encoder::Open(folder, backend);
  result.status = encoder.status();
  if (!encoder.ok()) return result;
  const auto plan =
      (*encoder)->Plan(static_cast<int64_t>(ids.size()), workers, budget);
  result.status = plan.status();
  if (!plan.ok()) return result;
  result.peak_bytes = plan->peak_bytes;
  const auto run = (*encoder)->Start(*plan);
  result.status = run.status();
  if (!run.ok()) return result;
  const auto states = (*run)->Forward(ids, types);
  result.status = states.status();
  if (states.ok()) result.states.assign(states->begin(), states->end());
  result.resident_bytes = (*run)->ResidentArenaBytes();
  result.reading = (*run)->ReadingDescription();
  return result;
}

// Returns a budget with which tiles, chunks and rings have their largest sizes
// while no tensor stays in memory.
int64_t StreamingBudget(const Encoder& encoder, int64_t tokens, int workers) {
  const int64_t least = *encoder.MinBudgetBytes(tokens, workers);
  const int64_t all = encoder.Plan(tokens, workers, kPlenty)->peak_bytes;
  const auto plan = encoder.Plan(tokens, workers, std::max(least, all - 1));
  return std::max(least, plan->pinned.range.offset_bytes);
}

double LargestError(const std::vector<float>& actual,
                    const std::vector<double>& expected) {
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(actual[i] - expected[i]));
  }
  return largest;
}

TEST(EncoderTest, AgreesWithDoublePrecision) {
  std::mt19937 random(1);
  EncoderConfig config = SmallConfig();
  for (const EncoderFamily family :
       {EncoderFamily::kBert, EncoderFamily::kDistilBert}) {
    config.family = family;
    config.token_types = family == EncoderFamily::kBert ? 2 : 0;
    for (const DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
      const TestCheckpoint checkpoint = RandomCheckpoint(config, type, 7);
      const std::string folder = WriteCheckpoint(checkpoint, type, "agrees");
      for (const int64_t tokens : {1, 2, 16, 33, 80}) {
        const auto ids = RandomIds(random, tokens, config.vocabulary);
        const auto types = family == EncoderFamily::kBert
                               ? RandomIds(random, tokens, config.token_types)
                               : std::vector<int32_t>();
        const std::vector<double> expected =
            EncodeReference(checkpoint, ids, types);
        // Workers that wait for each other are slow on a busy machine.
        const int workers = tokens == 33 ? 2 : 1;
        ForEachVectorTarget([&](bool) {
          const RunResult actual = Encode(folder, WeightBackend::kPread,
                                          workers, kPlenty, ids, types);
          ASSERT_THAT(actual.status, IsOk());
          ASSERT_EQ(actual.states.size(), expected.size());
          EXPECT_LT(LargestError(actual.states, expected), 2e-5)
              << tokens << " tokens";
        });
      }
    }
  }
}

TEST(EncoderTest, HasTheSameBitsForEveryBackendBudgetAndNumberOfWorkers) {
  std::mt19937 random(2);
  const EncoderConfig config = SmallConfig();
  for (const DType type : {DType::kF32, DType::kBF16}) {
    const std::string folder =
        WriteCheckpoint(RandomCheckpoint(config, type, 8), type, "same");
    for (const int64_t tokens : {1, 31}) {
      const auto ids = RandomIds(random, tokens, config.vocabulary);
      const RunResult resident =
          Encode(folder, WeightBackend::kResident, 1, kPlenty, ids);
      ASSERT_THAT(resident.status, IsOk());
      for (const WeightBackend backend : kWeightBackends) {
        for (const int workers : {1, 3}) {
          const auto encoder = Encoder::Open(folder, backend);
          ASSERT_THAT(encoder, IsOk());
          const int64_t least = *(*encoder)->MinBudgetBytes(tokens, workers);
          const int64_t streaming = StreamingBudget(**encoder, tokens, workers);
          for (const int64_t budget :
               {least, least + 30000, streaming, kPlenty}) {
            const RunResult streamed =
                Encode(folder, backend, workers, budget, ids);
            EXPECT_EQ(streamed.reading == "when used",
                      backend != WeightBackend::kDirect || budget != streaming)
                << streamed.reading;
            ASSERT_THAT(streamed.status, IsOk());
            ASSERT_EQ(streamed.states, resident.states)
                << WeightBackendName(backend) << ", " << workers << " workers, "
                << budget << " bytes, " << tokens << " tokens";
          }
        }
      }
    }
  }
}

TEST(EncoderTest, HasTheSameBitsWhenTheFileIsPacked) {
  std::mt19937 random(5);
  EncoderConfig config = SmallConfig();
  // The hidden features take two panels and the intermediate ones three, of
  // which the last are narrow. Their rows are read one by one.
  config.hidden = 276;
  for (const DType type : {DType::kF32, DType::kF16}) {
    const TestCheckpoint checkpoint = RandomCheckpoint(config, type, 13);
    const std::string plain = WriteCheckpoint(checkpoint, type, "unpacked");
    const std::string packed = WriteCheckpoint(checkpoint, type, "packed", 256);
    for (const int64_t tokens : {1, 20}) {
      const auto ids = RandomIds(random, tokens, config.vocabulary);
      const RunResult expected =
          Encode(plain, WeightBackend::kResident, 1, kPlenty, ids);
      ASSERT_THAT(expected.status, IsOk());
      for (const WeightBackend backend : kWeightBackends) {
        const auto encoder = Encoder::Open(packed, backend);
        ASSERT_THAT(encoder, IsOk());
        const int workers = tokens == 1 ? 1 : 2;
        const int64_t streaming = StreamingBudget(**encoder, tokens, workers);
        for (const int64_t budget : {int64_t{400000}, streaming, kPlenty}) {
          // Direct reads do not depend on the number of tokens.
          if (backend == WeightBackend::kDirect && tokens == 1 &&
              budget == 400000) {
            continue;
          }
          const RunResult actual =
              Encode(packed, backend, workers, budget, ids);
          ASSERT_THAT(actual.status, IsOk());
          EXPECT_EQ(actual.states, expected.states)
              << WeightBackendName(backend) << ", " << budget;
        }
      }
    }
  }
}

TEST(EncoderTest, RefusesPanelsThatCutSums) {
  const EncoderConfig config = SmallConfig();
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(config, DType::kF32, 14), DType::kF32, "cut", 100);
  const auto encoder = Encoder::Open(folder, WeightBackend::kPread);
  EXPECT_TRUE(absl::StrContains(encoder.status().message(),
                                "is packed in panels of 100 columns"))
      << encoder.status();
}

TEST(EncoderTest, SaysSoWhenTheFileChangesBetweenRuns) {
  const EncoderConfig config = SmallConfig();
  const TestCheckpoint checkpoint = RandomCheckpoint(config, DType::kF32, 15);
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect, WeightBackend::kMmap}) {
    const std::string folder =
        WriteCheckpoint(checkpoint, DType::kF32, "changes");
    const auto encoder = Encoder::Open(folder, backend);
    ASSERT_THAT(encoder, IsOk());
    const auto run = (*encoder)->Start(*(*encoder)->Plan(8, 2, kPlenty));
    ASSERT_THAT(run, IsOk());
    ASSERT_THAT((*run)->Forward({1, 2, 3}, {}), IsOk());
    ASSERT_EQ(truncate((folder + "/model.safetensors").c_str(), 20000), 0);
    EXPECT_THAT((*run)->Forward({1, 2, 3}, {}),
                StatusIs(absl::StatusCode::kFailedPrecondition))
        << WeightBackendName(backend);
  }
}

// Also covers workers that wait for each other. The next pass works as usual.
TEST(EncoderTest, TellsTheErrorOfWhicheverReadFails) {
  const EncoderConfig config = SmallConfig();
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(config, DType::kF32, 16), DType::kF32, "reads");
  const auto encoder = Encoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(encoder, IsOk());
  const auto store = OpenFolderWeights(folder, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  const auto weights = FindEncoderWeights(**store, config);
  ASSERT_THAT(weights, IsOk());
  const auto plan = (*encoder)->Plan(20, 2, StreamingBudget(**encoder, 20, 2));
  ASSERT_THAT(plan, IsOk());
  FailingStore failing(store->get());
  const auto run =
      lowmem_internal::StartEncoderRun(config, *weights, &failing, *plan);
  ASSERT_THAT(run, IsOk());
  std::mt19937 random(16);
  const auto ids = RandomIds(random, 20, config.vocabulary);
  const auto types = RandomIds(random, 20, config.token_types);
  const auto states = [&] {
    const auto result = (*run)->Forward(ids, types);
    return result.ok() ? std::vector<float>(result->begin(), result->end())
                       : std::vector<float>();
  };
  failing.FailAt(-1);
  const std::vector<float> expected = states();
  const int64_t reads = failing.reads();
  ASSERT_GT(reads, 50);
  for (int64_t read = 0; read < reads; ++read) {
    failing.FailAt(read);
    EXPECT_THAT((*run)->Forward(ids, types),
                StatusIs(absl::StatusCode::kUnavailable,
                         testing::HasSubstr(absl::StrCat(read, " fails"))));
  }
  failing.FailAt(-1);
  EXPECT_EQ(states(), expected);
}

// Checks the plan against measured memory. Nothing beyond the plan is touched
// (an inaccessible page lies there). One worker touches everything, except
// pages around a tile that happens to be aligned and a row for which no further
// tile has room.
TEST(EncoderTest, HoldsWhatThePlanSaysOverRandomShapesAndBudgets) {
  std::mt19937 random(3);
  const auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 30; ++trial) {
    EncoderConfig config;
    config.layers = between(1, 2);
    config.heads = between(1, 5);
    config.hidden = config.heads * between(1, 40);
    config.intermediate = between(1, 700);
    config.vocabulary = between(1, 40);
    config.positions = 100;
    config.token_types = between(1, 2);
    const DType type = trial % 3 == 0   ? DType::kF16
                       : trial % 3 == 1 ? DType::kBF16
                                        : DType::kF32;
    const std::string folder =
        WriteCheckpoint(RandomCheckpoint(config, type, trial), type, "holds");
    const int64_t tokens = between(1, 100);
    const int workers = static_cast<int>(between(1, 3));
    const WeightBackend backend = kWeightBackends[trial % 4];
    const auto ids = RandomIds(random, tokens, config.vocabulary);
    const auto encoder = Encoder::Open(folder, backend);
    ASSERT_THAT(encoder, IsOk());
    const int64_t least = *(*encoder)->MinBudgetBytes(tokens, workers);
    const int64_t budget = least + between(0, 300000);
    const RunResult result = Encode(folder, backend, workers, budget, ids);
    ASSERT_THAT(result.status, IsOk());
    EXPECT_LE(result.peak_bytes, budget);
    EXPECT_LE(result.resident_bytes, result.peak_bytes);
    const int64_t streaming = StreamingBudget(**encoder, tokens, 1);
    for (const int64_t budget_alone :
         {*(*encoder)->MinBudgetBytes(tokens, 1), streaming, kPlenty}) {
      // All slots of a ring have the size of the largest tile, which not every
      // slot receives.
      if (budget_alone == streaming && backend == WeightBackend::kDirect) {
        continue;
      }
      const RunResult alone = Encode(folder, backend, 1, budget_alone, ids);
      ASSERT_THAT(alone.status, IsOk());
      EXPECT_LE(alone.resident_bytes, alone.peak_bytes);
      EXPECT_GE(alone.resident_bytes, alone.peak_bytes - 4 * kPageBytes)
          << WeightBackendName(backend) << ", " << budget_alone;
    }
    const RunResult below = Encode(folder, backend, workers, least - 1, ids);
    EXPECT_THAT(below.status, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_TRUE(absl::StrContains(below.status.message(), FormatBytes(least)))
        << below.status;
  }
}

// With a page less, the predicted time exceeds the choice's limit.
TEST(EncoderTest, ChoosesTheLeastBudgetThatCostsNextToNoTime) {
  EncoderConfig config = SmallConfig();
  config.hidden = 192;
  const TestCheckpoint checkpoint = RandomCheckpoint(config, DType::kF32, 31);
  const std::string plain = WriteCheckpoint(checkpoint, DType::kF32, "choose");
  const std::string packed =
      WriteCheckpoint(checkpoint, DType::kF32, "choose_packed", 256);
  for (const std::string& folder : {plain, packed}) {
    for (const WeightBackend backend : kWeightBackends) {
      const auto encoder = Encoder::Open(folder, backend);
      ASSERT_THAT(encoder, IsOk());
      for (const int64_t tokens : {1, 33}) {
        const auto choice = (*encoder)->ChooseBudget(tokens, /*workers=*/2);
        ASSERT_THAT(choice, IsOk());
        const auto slowdown = [&](int64_t budget_bytes) {
          return *(*encoder)->PredictPassSeconds(
                     *(*encoder)->Plan(tokens, 2, budget_bytes)) /
                 *(*encoder)->PredictPassSeconds(
                     *(*encoder)->Plan(tokens, 2, choice->ample_bytes));
        };
        EXPECT_EQ(choice->least_bytes, *(*encoder)->MinBudgetBytes(tokens, 2));
        EXPECT_DOUBLE_EQ(choice->least_slowdown, slowdown(choice->least_bytes));
        EXPECT_DOUBLE_EQ(choice->slowdown, slowdown(choice->budget_bytes));
        EXPECT_LE(choice->slowdown, kMostPredictedSlowdown);
        if (choice->budget_bytes == choice->least_bytes) continue;
        const int64_t page_less =
            std::max(choice->least_bytes, choice->budget_bytes - kPageBytes);
        EXPECT_GT(slowdown(page_less), kMostPredictedSlowdown)
            << WeightBackendName(backend) << ", " << tokens << " tokens";
      }
    }
  }
}

// Each step waits for every worker.
TEST(EncoderTest, PredictsMoreTimeForMoreChunks) {
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(SmallConfig(), DType::kF32, 31), DType::kF32, "chunks");
  const auto encoder = Encoder::Open(folder, WeightBackend::kResident);
  ASSERT_THAT(encoder, IsOk());
  auto plan = (*encoder)->Plan(33, 2, kPlenty);
  ASSERT_THAT(plan, IsOk());
  // For each chunk a layer has one step that widens and one that narrows, of
  // more than 2 us each.
  const double steps_of_chunk = 2 * static_cast<double>(SmallConfig().layers);
  double last = 0;
  for (const int64_t chunks : {1, 2, 3}) {
    plan->chunk_features = (SmallConfig().intermediate + chunks - 1) / chunks;
    const double seconds = *(*encoder)->PredictPassSeconds(*plan);
    EXPECT_GT(seconds, last + 2e-6 * steps_of_chunk) << chunks;
    last = seconds;
  }
}

TEST(EncoderTest, PredictsTheTimeOfResidentWeightsWhereAllArePinned) {
  const std::string folder =
      WriteCheckpoint(RandomCheckpoint(SmallConfig(), DType::kF32, 31),
                      DType::kF32, "all_pinned", 256);
  for (const int64_t tokens : {1, 33}) {
    const auto seconds = [&](WeightBackend backend, int64_t budget_bytes) {
      const auto encoder = Encoder::Open(folder, backend);
      return *(*encoder)->PredictPassSeconds(
          *(*encoder)->Plan(tokens, 2, budget_bytes));
    };
    const double resident = seconds(WeightBackend::kResident, kPlenty);
    for (const WeightBackend backend :
         {WeightBackend::kPread, WeightBackend::kDirect}) {
      EXPECT_DOUBLE_EQ(seconds(backend, kPlenty), resident);
      const auto encoder = Encoder::Open(folder, backend);
      EXPECT_GT(seconds(backend, StreamingBudget(**encoder, tokens, 2)),
                resident);
    }
  }
}

TEST(EncoderTest, KeepsTensorsWhereTheBudgetHasRoomAndReadsThemOnce) {
  EncoderConfig config = SmallConfig();
  config.layers = 6;  // more than rings hold, so some stay beside them
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(config, DType::kF32, 16), DType::kF32, "keeps");
  const std::vector<int32_t> ids = {3, 1, 4, 1, 5};
  const RunResult resident =
      Encode(folder, WeightBackend::kResident, 1, kPlenty, ids);
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    const auto encoder = Encoder::Open(folder, backend);
    ASSERT_THAT(encoder, IsOk());
    const int64_t all = (*encoder)->Plan(5, 1, kPlenty)->peak_bytes;
    int64_t read_before = int64_t{1} << 40;
    int64_t pinned_before = -1;
    int partly_pinned = 0;
    for (int64_t budget = all - 700000; budget <= all; budget += 100000) {
      const auto plan = (*encoder)->Plan(5, 1, budget);
      ASSERT_THAT(plan, IsOk());
      EXPECT_LE(plan->peak_bytes, budget);
      EXPECT_GE(plan->pinned.count, pinned_before);
      // Without slots, nothing is read into them.
      EXPECT_EQ(plan->slots.size_bytes == 0, budget == all);
      if (plan->pinned.count > 0 && budget < all) ++partly_pinned;
      pinned_before = plan->pinned.count;
      const auto run = (*encoder)->Start(*plan);
      ASSERT_THAT(run, IsOk());
      for (int pass = 0; pass < 2; ++pass) {
        const auto states = (*run)->Forward(ids, {});
        ASSERT_THAT(states, IsOk());
        EXPECT_EQ(std::vector<float>(states->begin(), states->end()),
                  resident.states);
      }
      const int64_t begin = (*encoder)->store().counters().bytes_read;
      ASSERT_THAT((*run)->Forward(ids, {}), IsOk());
      const int64_t read = (*encoder)->store().counters().bytes_read - begin;
      EXPECT_LE((*run)->ResidentArenaBytes(), plan->peak_bytes);
      // Reading ahead makes the count of a pass uncertain by one ring.
      if (backend == WeightBackend::kPread) {
        EXPECT_LE(read, read_before);
      }
      read_before = read;
      if (budget == all) {
        EXPECT_EQ(read, 0);
      }
    }
    EXPECT_GE(partly_pinned, 2) << WeightBackendName(backend);
  }
}

TEST(EncoderTest, ReadsAheadNoFurtherThanThereAreTiles) {
  EncoderConfig config = SmallConfig();
  config.layers = 1;
  config.heads = 1;
  config.intermediate = 256;  // one chunk
  config.vocabulary = 5000;   // for reads outside the rings
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(config, DType::kF32, 24), DType::kF32, "few_tiles");
  const std::vector<int32_t> ids = {4999, 1, 4, 1, 5};
  const auto encoder = Encoder::Open(folder, WeightBackend::kDirect);
  ASSERT_THAT(encoder, IsOk());
  const int64_t budget = StreamingBudget(**encoder, 5, 1);
  // The tiles are queries, keys, values, their output, and two of the
  // feed-forward part.
  EXPECT_EQ((*encoder)->Plan(5, 1, budget)->depth, 6);
  const RunResult ahead =
      Encode(folder, WeightBackend::kDirect, 1, budget, ids);
  ASSERT_THAT(ahead.status, IsOk());
  EXPECT_TRUE(absl::StrContains(ahead.reading, "6 slots")) << ahead.reading;
  EXPECT_EQ(ahead.states,
            Encode(folder, WeightBackend::kResident, 1, kPlenty, ids).states);
}

std::vector<float> Floats(absl::Span<const float> states) {
  return {states.begin(), states.end()};
}

// Returns as many lengths as planned. Other backends do not depend on sequences
// and get a few.
std::vector<int64_t> BatchLengths(WeightBackend backend) {
  if (backend == WeightBackend::kDirect) return {17, 1, 3};
  std::vector<int64_t> lengths = {64, 1, 17, 3, 2};
  if (backend == WeightBackend::kPread) {
    lengths.insert(lengths.end(), {64, 1, 5, 1, 2, 3, 4, 5, 6, 7, 8});
  }
  return lengths;
}

// Runs sequences of these lengths twice as a batch and one of them by itself,
// all in the plan of the batch.
void ExpectABatchIsItsSequences(const Encoder& encoder,
                                const EncoderConfig& config,
                                const EncoderPlan& single,
                                const EncoderPlan& batch,
                                const std::vector<int64_t>& lengths,
                                std::mt19937* random) {
  const auto one = encoder.Start(single);
  const auto run = encoder.Start(batch);
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(run, IsOk());
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::vector<int32_t>> types;
  std::vector<float> expected;
  for (const int64_t tokens : lengths) {
    ids.push_back(RandomIds(*random, tokens, config.vocabulary));
    types.push_back(RandomIds(*random, tokens, config.token_types));
    const auto states = (*one)->Forward(ids.back(), types.back());
    ASSERT_THAT(states, IsOk());
    expected.insert(expected.end(), states->begin(), states->end());
  }
  std::vector<EncoderSequence> sequences;
  for (size_t i = 0; i < ids.size(); ++i) {
    sequences.push_back({ids[i], types[i]});
  }
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto states = (*run)->ForwardBatch(sequences);
    ASSERT_THAT(states, IsOk());
    EXPECT_EQ(Floats(*states), expected);
  }
  EXPECT_LE((*run)->ResidentArenaBytes(), batch.peak_bytes);
  const auto first = (*run)->Forward(ids[0], types[0]);
  ASSERT_THAT(first, IsOk());
  expected.resize(first->size());
  EXPECT_EQ(Floats(*first), expected);
}

// A batch must equal its sequences one after the other, and needs more memory
// only for the outputs.
TEST(EncoderTest, ComputesABatchAsItsSequencesOneAfterTheOther) {
  std::mt19937 random(6);
  const EncoderConfig config = SmallConfig();
  for (const DType type : {DType::kF32, DType::kBF16}) {
    const std::string folder =
        WriteCheckpoint(RandomCheckpoint(config, type, 20), type, "batch");
    for (const WeightBackend backend : kWeightBackends) {
      // The code that widens a tile does not depend on sequences, so one
      // backend is enough.
      if (type != DType::kF32 && backend != WeightBackend::kDirect) {
        continue;
      }
      SCOPED_TRACE(std::string(WeightBackendName(backend)));
      const auto encoder = Encoder::Open(folder, backend);
      ASSERT_THAT(encoder, IsOk());
      // The states of 64 tokens with 48 features take three pages.
      constexpr int64_t kTokens = 64;
      const int64_t output_bytes = 16 * kTokens * config.hidden * 4;
      // If tiles are copied, those of the smallest budget are one row each.
      const bool copies =
          backend == WeightBackend::kPread || backend == WeightBackend::kDirect;
      const int workers = copies ? 2 : 1;
      const int64_t little = copies ? 50000 : 0;
      for (const int64_t more : {little, int64_t{100000000}}) {
        const int64_t budget =
            *(*encoder)->MinBudgetBytes(kTokens, workers) + more;
        const auto single = (*encoder)->Plan(kTokens, workers, budget);
        const auto batch =
            (*encoder)->Plan(kTokens, workers, budget + output_bytes, 16);
        ASSERT_THAT(single, IsOk());
        ASSERT_THAT(batch, IsOk());
        EXPECT_EQ(batch->peak_bytes, single->peak_bytes + output_bytes);
        ExpectABatchIsItsSequences(**encoder, config, *single, *batch,
                                   BatchLengths(backend), &random);
      }
    }
  }
}

// encoder.h promises for one token that its bits depend only on whether the
// plan is for one token or for more.
TEST(EncoderTest, GivesOneTokenTheBitsOfItsPlan) {
  const EncoderConfig config = SmallConfig();
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(config, DType::kF32, 32), DType::kF32, "one_token");
  const auto encoder = Encoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(encoder, IsOk());
  const std::vector<int32_t> one = {7};
  const std::vector<int32_t> many(40, 3);
  const auto by_itself = [&](int64_t tokens) {
    const auto run = (*encoder)->Start(*(*encoder)->Plan(tokens, 1, kPlenty));
    EXPECT_THAT(run, IsOk());
    const auto states = (*run)->Forward(one, {});
    EXPECT_THAT(states, IsOk());
    return Floats(*states);
  };
  const std::vector<float> alone = by_itself(1);
  const std::vector<float> planned_for_more = by_itself(2);
  EXPECT_EQ(by_itself(40), planned_for_more);
  const auto run = (*encoder)->Start(*(*encoder)->Plan(40, 2, kPlenty, 3));
  ASSERT_THAT(run, IsOk());
  const auto batch = (*run)->ForwardBatch({{many, {}}, {one, {}}, {many, {}}});
  ASSERT_THAT(batch, IsOk());
  EXPECT_EQ(Floats(batch->subspan(40 * 48, 48)), planned_for_more);
  const auto ones = (*encoder)->Start(*(*encoder)->Plan(1, 2, kPlenty, 2));
  ASSERT_THAT(ones, IsOk());
  const auto pair = (*ones)->ForwardBatch({{one, {}}, {one, {}}});
  ASSERT_THAT(pair, IsOk());
  EXPECT_EQ(Floats(pair->subspan(48, 48)), alone);
  EXPECT_LT(
      LargestError(alone, {planned_for_more.begin(), planned_for_more.end()}),
      2e-5);
}

TEST(EncoderTest, ChecksABatchBeforeItBegins) {
  const EncoderConfig config = SmallConfig();
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(config, DType::kF32, 21), DType::kF32, "bad_batch");
  const auto encoder = Encoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(encoder, IsOk());
  const auto run = (*encoder)->Start(*(*encoder)->Plan(4, 1, kPlenty, 2));
  ASSERT_THAT(run, IsOk());
  const std::vector<int32_t> good = {1, 2};
  const std::vector<int32_t> bad = {1, 50};
  const std::vector<int32_t> longer = {1, 2, 3, 4, 5};
  const auto message = [&](const std::vector<EncoderSequence>& sequences) {
    const int64_t begin = (*encoder)->store().counters().bytes_delivered;
    const auto states = (*run)->ForwardBatch(sequences);
    EXPECT_THAT(states, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ((*encoder)->store().counters().bytes_delivered, begin);
    return std::string(states.status().message());
  };
  EXPECT_EQ(message({}), "no sequence: the batch is empty");
  EXPECT_EQ(message({{good, {}}, {good, {}}, {good, {}}}),
            "3 sequences, but the plan is for 2");
  EXPECT_EQ(message({{good, {}}, {bad, {}}}),
            "sequence 1: token 1 has the id 50; the vocabulary has 50 entries");
  EXPECT_EQ(message({{good, {}}, {longer, {}}}),
            "sequence 1: 5 tokens, but the plan is for 4");
  EXPECT_EQ(message({{{}, {}}}), "sequence 0: no tokens: the input is empty");
  EXPECT_EQ(message({{good, {good.data(), 1}}}),
            "sequence 0: 1 token types for 2 tokens");
}

TEST(EncoderTest, RunsShorterInputsThanPlannedAndOneAfterTheOther) {
  std::mt19937 random(4);
  const EncoderConfig config = SmallConfig();
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(config, DType::kF32, 9), DType::kF32, "shorter");
  const auto encoder = Encoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(encoder, IsOk());
  const auto run = (*encoder)->Start(*(*encoder)->Plan(60, 2, kPlenty));
  ASSERT_THAT(run, IsOk());
  for (const int64_t tokens : {60, 17, 2, 59, 60}) {
    const auto ids = RandomIds(random, tokens, config.vocabulary);
    const auto states = (*run)->Forward(ids, {});
    ASSERT_THAT(states, IsOk());
    const RunResult alone =
        Encode(folder, WeightBackend::kResident, 1, kPlenty, ids);
    EXPECT_EQ(std::vector<float>(states->begin(), states->end()), alone.states);
  }
}

TEST(EncoderTest, RefusesInputsThatTheModelCannotTake) {
  const EncoderConfig config = SmallConfig();
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(config, DType::kF32, 10), DType::kF32, "refuses");
  const auto encoder = Encoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(encoder, IsOk());
  EXPECT_EQ((*encoder)->Plan(0, 1, kPlenty).status().message(),
            "no tokens: the input is empty");
  EXPECT_EQ((*encoder)->Plan(81, 1, kPlenty).status().message(),
            "81 tokens, but the model has 80 positions");
  EXPECT_THAT((*encoder)->Plan(8, 0, kPlenty),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const auto run = (*encoder)->Start(*(*encoder)->Plan(8, 2, kPlenty));
  ASSERT_THAT(run, IsOk());
  const auto message = [&](const std::vector<int32_t>& ids,
                           const std::vector<int32_t>& types) {
    const auto states = (*run)->Forward(ids, types);
    EXPECT_THAT(states, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(states.status().message());
  };
  EXPECT_EQ(message({}, {}), "no tokens: the input is empty");
  EXPECT_EQ(message({1, 2, 50}, {}),
            "token 2 has the id 50; the vocabulary has 50 entries");
  EXPECT_EQ(message({-1}, {}),
            "token 0 has the id -1; the vocabulary has 50 entries");
  EXPECT_EQ(message(std::vector<int32_t>(9, 1), {}),
            "9 tokens, but the plan is for 8");
  EXPECT_EQ(message({1, 2}, {0}), "1 token types for 2 tokens");
  EXPECT_EQ(message({1}, {2}), "the token type 2; the model has 2");
  EXPECT_THAT((*run)->Forward({1, 2, 49}, {}), IsOk());
}

TEST(EncoderTest, NamesTheFirstLayerWhoseStatesAreNotFinite) {
  const TestCheckpoint good = RandomCheckpoint(SmallConfig(), DType::kF32, 30);
  struct Case {
    const char* tensor;
    const char* where;
  };
  for (const Case& bad :
       {Case{"embeddings.position_embeddings.weight",
             "the table of embeddings gives"},
        Case{"embeddings.LayerNorm.bias", "the table of embeddings gives"},
        Case{"encoder.layer.0.attention.self.value.bias", "layer 0 gives"},
        Case{"encoder.layer.0.output.dense.weight", "layer 0 gives"},
        Case{"encoder.layer.1.attention.output.LayerNorm.weight",
             "layer 1 gives"},
        Case{"encoder.layer.1.output.LayerNorm.bias", "layer 1 gives"}}) {
    ASSERT_EQ(good.tensors.count(bad.tensor), 1u) << bad.tensor;
    for (const float value : {NAN, INFINITY}) {
      TestCheckpoint damaged = good;
      damaged.tensors[bad.tensor].values[5] = value;
      const std::string folder =
          WriteCheckpoint(damaged, DType::kF32, "not_finite");
      for (const int64_t tokens : {1, 18}) {
        const RunResult result =
            Encode(folder, WeightBackend::kPread, 2, kPlenty,
                   std::vector<int32_t>(tokens, 3));
        EXPECT_THAT(result.status, StatusIs(absl::StatusCode::kDataLoss))
            << bad.tensor;
        EXPECT_TRUE(absl::StrContains(result.status.message(), bad.where))
            << bad.tensor << ": " << result.status;
      }
    }
  }
}

// No NaN remains, and unused tensors are not read.
TEST(EncoderTest, GoesOnAfterATokenWhoseStatesAreNotFinite) {
  TestCheckpoint checkpoint = RandomCheckpoint(SmallConfig(), DType::kF32, 31);
  const std::string good = WriteCheckpoint(checkpoint, DType::kF32, "all_good");
  checkpoint.tensors["embeddings.word_embeddings.weight"].values[7 * 48] = NAN;
  const auto encoder =
      Encoder::Open(WriteCheckpoint(checkpoint, DType::kF32, "one_bad"),
                    WeightBackend::kPread);
  ASSERT_THAT(encoder, IsOk());
  const auto run = (*encoder)->Start(*(*encoder)->Plan(40, 2, kPlenty));
  ASSERT_THAT(run, IsOk());
  std::vector<int32_t> ids(40, 7);
  EXPECT_THAT((*run)->Forward(ids, {}), StatusIs(absl::StatusCode::kDataLoss));
  for (const int64_t tokens : {2, 18}) {
    ids.assign(tokens, 6);
    const auto states = (*run)->Forward(ids, {});
    ASSERT_THAT(states, IsOk());
    EXPECT_EQ(Floats(*states),
              Encode(good, WeightBackend::kPread, 1, kPlenty, ids).states);
  }
}

// A caller may shrink a plan in this way to hold less.
TEST(EncoderTest, RefusesAPlanWhoseRingsDoNotFitItsTiles) {
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(SmallConfig(), DType::kF32, 33), DType::kF32, "rings");
  const auto encoder = Encoder::Open(folder, WeightBackend::kDirect);
  ASSERT_THAT(encoder, IsOk());
  const EncoderPlan plan =
      *(*encoder)->Plan(8, 1, StreamingBudget(**encoder, 8, 1));
  ASSERT_GT(plan.depth, 1);
  EXPECT_THAT((*encoder)->Start(plan), IsOk());
  const auto message = [&](const EncoderPlan& changed) {
    const absl::Status status = (*encoder)->Start(changed).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal));
    return std::string(status.message());
  };
  EncoderPlan no_row = plan;
  no_row.slots.size_bytes = 0;
  EXPECT_EQ(message(no_row), "a plan's slot holds no row");
  EncoderPlan short_list = plan;
  const auto tile_bytes = static_cast<int64_t>(sizeof(Tile));
  const int64_t tiles = plan.schedule.size_bytes / tile_bytes;
  short_list.schedule.size_bytes -= tile_bytes;
  EXPECT_EQ(message(short_list), absl::StrCat("a plan for ", tiles - 1,
                                              " tiles, but there are ", tiles));
}

// The arena of another model's plan does not fit this model's tensors.
TEST(EncoderTest, RefusesAPlanThatIsNotItsOwn) {
  EncoderConfig config = SmallConfig();
  int folders = 0;
  const auto open = [&](DType type, WeightBackend backend) {
    const std::string folder =
        WriteCheckpoint(RandomCheckpoint(config, type, 22), type,
                        absl::StrCat("own", ++folders));
    return *Encoder::Open(folder, backend);
  };
  const auto own = open(DType::kF32, WeightBackend::kPread);
  const auto resident = open(DType::kF32, WeightBackend::kResident);
  const auto narrow = open(DType::kBF16, WeightBackend::kPread);
  config.hidden = 24;
  const auto smaller = open(DType::kF32, WeightBackend::kPread);
  EXPECT_THAT(own->Start(*own->Plan(8, 2, kPlenty)), IsOk());
  for (const Encoder* other : {resident.get(), narrow.get(), smaller.get()}) {
    const absl::Status status =
        own->Start(*other->Plan(8, 2, kPlenty)).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_TRUE(absl::StrContains(status.message(), "for another model"))
        << status;
  }
  EXPECT_THAT(own->Start(EncoderPlan()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

void StartWithoutThreads(const std::string& folder) {
  const auto encoder = Encoder::Open(folder, WeightBackend::kPread);
  const auto plan = (*encoder)->Plan(8, 3, kPlenty);
  if (!RefuseThreads()) std::_Exit(3);
  const absl::Status status = (*encoder)->Start(*plan).status();
  std::cerr << status << std::endl;
  std::_Exit(status.code() == absl::StatusCode::kUnavailable ? 0 : 4);
}

TEST(EncoderDeathTest, SaysSoWhereNoThreadStarts) {
  const std::string folder = WriteCheckpoint(
      RandomCheckpoint(SmallConfig(), DType::kF32, 23), DType::kF32, "threads");
  EXPECT_EXIT(StartWithoutThreads(folder), testing::ExitedWithCode(0),
              "started 1 of 3 workers");
}

TEST(EncoderTest, RefusesACheckpointThatTheConfigContradicts) {
  const EncoderConfig config = SmallConfig();
  const TestCheckpoint good = RandomCheckpoint(config, DType::kF32, 11);
  const auto open = [](const TestCheckpoint& checkpoint) {
    const std::string folder =
        WriteCheckpoint(checkpoint, DType::kF32, "contradicts");
    return std::string(
        Encoder::Open(folder, WeightBackend::kPread).status().message());
  };
  TestCheckpoint other = good;
  other.config.intermediate = 599;
  EXPECT_TRUE(absl::StrContains(
      open(other), "is [600, 48], but the config asks for [599, 48]"));
  other = good;
  other.config.layers = 1;
  EXPECT_TRUE(absl::StrContains(open(other), "but the config has 1 layers"));
  other.config.layers = 3;
  EXPECT_TRUE(absl::StrContains(open(other), "encoder.layer.2."));
  other = good;
  other.tensors.erase("encoder.layer.1.output.dense.bias");
  EXPECT_TRUE(
      absl::StrContains(open(other), "encoder.layer.1.output.dense.bias"));
}

TEST(EncoderTest, FindsNamesWithAPrefixAndOldNamesOfNorms) {
  const EncoderConfig config = SmallConfig();
  const TestCheckpoint plain = RandomCheckpoint(config, DType::kF32, 12);
  TestCheckpoint renamed;
  renamed.config = config;
  for (const auto& [name, tensor] : plain.tensors) {
    std::string other = "bert." + name;
    const size_t norm = other.find("LayerNorm.");
    if (norm != std::string::npos) {
      other = other.substr(0, norm + 10) +
              (absl::EndsWith(other, ".weight") ? "gamma" : "beta");
    }
    renamed.tensors[other] = tensor;
  }
  const std::vector<int32_t> ids = {3, 1, 4, 1, 5};
  const std::string plain_folder = WriteCheckpoint(plain, DType::kF32, "plain");
  const std::string renamed_folder =
      WriteCheckpoint(renamed, DType::kF32, "renamed");
  const RunResult a =
      Encode(plain_folder, WeightBackend::kPread, 1, kPlenty, ids);
  const RunResult b =
      Encode(renamed_folder, WeightBackend::kPread, 1, kPlenty, ids);
  ASSERT_THAT(a.status, IsOk());
  ASSERT_THAT(b.status, IsOk());
  EXPECT_EQ(a.states, b.states);
}

}  // namespace
}  // namespace footprint
