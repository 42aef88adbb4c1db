#include "footprint/lowmem/models/decoder.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/kernels/rounded_cache.h"
#include "footprint/lowmem/models/decoder_run.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/streaming/budget_choice.h"
#include "footprint/lowmem/testing/failing_store.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/testing/test_decoder.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

DecoderConfig SmallConfig() {
  DecoderConfig config;
  config.layers = 2;
  config.hidden = 48;
  config.heads = 3;
  config.intermediate = 600;  // more than two blocks of columns
  config.vocabulary = 50;
  config.positions = 80;
  return config;
}

// A decoder and a run of it, opened from a folder.
struct Session {
  Session(const std::string& folder, WeightBackend backend, int64_t positions,
          int workers, int64_t budget) {
    auto opened = Decoder::Open(folder, backend);
    status = opened.status();
    if (!opened.ok()) return;
    decoder = *std::move(opened);
    const auto made = decoder->Plan(positions, workers, budget);
    status = made.status();
    if (!made.ok()) return;
    plan = *made;
    auto started = decoder->Start(plan);
    status = started.status();
    if (started.ok()) run = *std::move(started);
  }

  // Reads `step` tokens at a time; 0: all at once.
  std::vector<float> Append(const std::vector<int32_t>& ids, size_t step = 0) {
    std::vector<float> logits;
    if (step == 0) step = ids.size();
    for (size_t begin = 0; begin < ids.size() && status.ok(); begin += step) {
      const auto result = run->Append(absl::MakeConstSpan(ids).subspan(
          begin, std::min(step, ids.size() - begin)));
      status = result.status();
      if (result.ok()) logits.assign(result->begin(), result->end());
    }
    return logits;
  }

  absl::Status status;
  std::unique_ptr<Decoder> decoder;
  DecoderPlan plan;
  std::unique_ptr<DecoderRun> run;
};

// Returns the largest budget that pins nothing.
int64_t StreamingBudget(const Decoder& decoder, int64_t positions,
                        int workers) {
  const int64_t all = decoder.Plan(positions, workers, kPlenty)->peak_bytes;
  return decoder.Plan(positions, workers, all - 1)->pinned.range.offset_bytes;
}

double LargestError(const std::vector<float>& actual,
                    const std::vector<double>& expected) {
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(actual[i] - expected[i]));
  }
  return largest;
}

TEST(DecoderTest, AgreesWithDoublePrecision) {
  std::mt19937 random(1);
  const DecoderConfig config = SmallConfig();
  for (const DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    const TestDecoder decoder = RandomDecoder(config, type, 7);
    const std::string folder = WriteDecoder(decoder, type, "agrees");
    for (const int64_t tokens : {1, 2, 16, 33, 80}) {
      const auto ids = RandomIds(random, tokens, config.vocabulary);
      const std::vector<double> expected = DecodeReference(decoder, ids);
      ForEachVectorTarget([&](bool) {
        Session session(folder, WeightBackend::kPread, tokens, 2, kPlenty);
        ASSERT_THAT(session.status, IsOk());
        const std::vector<float> actual = session.Append(ids);
        ASSERT_THAT(session.status, IsOk());
        ASSERT_EQ(actual.size(), expected.size());
        EXPECT_LT(LargestError(actual, expected), 3e-5) << tokens << " tokens";
      });
    }
  }
}

// Earlier tokens come from the cache of keys and values. The calls in which
// they were read must not matter.
TEST(DecoderTest, HasTheSameBitsHoweverTheTokensAreCutIntoCalls) {
  std::mt19937 random(2);
  const DecoderConfig config = SmallConfig();
  const auto ids = RandomIds(random, 37, config.vocabulary);
  for (const DType type : {DType::kF32, DType::kF16}) {
    const std::string folder =
        WriteDecoder(RandomDecoder(config, type, 8), type, "cut");
    ForEachVectorTarget([&](bool) {
      Session whole(folder, WeightBackend::kResident, 80, 1, kPlenty);
      const std::vector<float> expected = whole.Append(ids);
      ASSERT_THAT(whole.status, IsOk());
      for (const size_t step : {1, 16, 17}) {
        Session cut(folder, WeightBackend::kPread, 80, 2, kPlenty);
        EXPECT_EQ(cut.Append(ids, step), expected) << step;
        EXPECT_THAT(cut.status, IsOk());
        EXPECT_EQ(cut.run->tokens(), 37);
      }
    });
  }
}

TEST(DecoderTest, HasTheSameBitsForEveryBackendBudgetAndNumberOfWorkers) {
  std::mt19937 random(3);
  const DecoderConfig config = SmallConfig();
  for (const DType type : {DType::kF32, DType::kBF16}) {
    const TestDecoder decoder = RandomDecoder(config, type, 9);
    const std::string plain = WriteDecoder(decoder, type, "plain");
    const std::string packed = WriteDecoder(decoder, type, "packed", 20);
    const auto ids = RandomIds(random, 18, config.vocabulary);
    Session resident(plain, WeightBackend::kResident, 40, 1, kPlenty);
    const std::vector<float> expected = resident.Append(ids);
    const std::vector<float> next = resident.Append({7});
    ASSERT_THAT(resident.status, IsOk());
    for (const WeightBackend backend : kWeightBackends) {
      for (const std::string& folder : {plain, packed}) {
        for (const int workers : {1, 3}) {
          if (type != DType::kF32 && workers == 3) continue;
          // These take a disk read for each row, whatever the number of
          // workers.
          if (backend == WeightBackend::kDirect && folder == plain &&
              (type != DType::kF32 || workers == 3)) {
            continue;
          }
          const auto opened = Decoder::Open(folder, backend);
          ASSERT_THAT(opened, IsOk());
          const int64_t least = *(*opened)->MinBudgetBytes(40, workers);
          for (const int64_t budget : {least, kPlenty}) {
            Session streamed(folder, backend, 40, workers, budget);
            EXPECT_EQ(streamed.Append(ids), expected)
                << folder << WeightBackendName(backend) << ", " << workers
                << " workers, " << budget << " bytes";
            EXPECT_EQ(streamed.Append({7}), next);
            EXPECT_THAT(streamed.status, IsOk());
          }
        }
      }
    }
  }
}

// In a file with panels of a worker's unit, tiles go through the ring;
// otherwise beside it. Tests many tokens, single tokens and outputs in every
// order.
TEST(DecoderTest, HasTheSameBitsWhenItReadsAhead) {
  std::mt19937 random(12);
  DecoderConfig config = SmallConfig();
  config.heads = 2;
  config.hidden = 128;
  config.vocabulary = 2000;  // several tiles of the output, always in the ring
  int deepest = 0;
  for (const DType type : {DType::kF32, DType::kBF16}) {
    const TestDecoder decoder = RandomDecoder(config, type, 10);
    const std::string plain = WriteDecoder(decoder, type, "ahead_plain");
    const auto ids = RandomIds(random, 40, config.vocabulary);
    for (const int64_t block_columns : {64, 0, 20}) {
      if (type != DType::kF32 && block_columns != 64) continue;
      const std::string folder =
          WriteDecoder(decoder, type, "ahead", block_columns);
      const auto opened = Decoder::Open(folder, WeightBackend::kDirect);
      ASSERT_THAT(opened, IsOk());
      for (const int workers : {1, 2}) {
        if (block_columns != 64 && workers == 1) continue;
        const int64_t budget = StreamingBudget(**opened, 60, workers);
        Session ahead(folder, WeightBackend::kDirect, 60, workers, budget);
        Session resident(plain, WeightBackend::kResident, 60, 1, kPlenty);
        ASSERT_THAT(ahead.status, IsOk());
        EXPECT_GT(ahead.plan.depth, 1);
        deepest = std::max(deepest, ahead.plan.depth);
        EXPECT_NE(ahead.run->ReadingDescription(), "when used");
        // Tiles outside the ring take a disk read for each row, equally in
        // every order.
        const bool in_ring = block_columns == 64;
        for (int round = 0; round < (in_ring ? 2 : 1); ++round) {
          // Many tokens and a rest of single ones, then single ones.
          for (const size_t count : in_ring ? std::vector<size_t>{18, 1, 13, 1}
                                            : std::vector<size_t>{17, 1}) {
            const std::vector<int32_t> part(ids.begin(), ids.begin() + count);
            const std::vector<float> expected = resident.Append(part);
            EXPECT_EQ(ahead.Append(part), expected) << count;
            ASSERT_THAT(ahead.status, IsOk());
          }
          ahead.run->Clear();
          resident.run->Clear();
        }
        EXPECT_LE(ahead.run->ResidentArenaBytes(), ahead.plan.peak_bytes);
      }
    }
  }
  // If a smaller ring leaves room for all tensors, they stay in memory.
  EXPECT_EQ(deepest, 8);
}

// Checks the plan against measured memory. Nothing beyond the plan is touched
// (an inaccessible page lies there). With the smallest budget everything is
// touched, except pages around a tile that happens to be aligned.
TEST(DecoderTest, HoldsWhatThePlanSaysOverRandomShapesAndBudgets) {
  std::mt19937 random(4);
  const auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 20; ++trial) {
    DecoderConfig config;
    config.layers = between(1, 2);
    config.heads = between(1, 5);
    config.hidden = config.heads * between(1, 40);
    config.intermediate = between(1, 700);
    config.vocabulary = between(1, 40);
    config.positions = 100;
    const DType type = trial % 3 == 0   ? DType::kF16
                       : trial % 3 == 1 ? DType::kBF16
                                        : DType::kF32;
    const std::string folder =
        WriteDecoder(RandomDecoder(config, type, trial), type, "holds",
                     trial % 2 == 0 ? 0 : between(1, 80));
    const int64_t tokens = between(2, 40);
    const int workers = static_cast<int>(between(1, 3));
    const WeightBackend backend = kWeightBackends[trial % 4];
    const auto opened = Decoder::Open(folder, backend);
    ASSERT_THAT(opened, IsOk());
    const int64_t least = *(*opened)->MinBudgetBytes(tokens, workers);
    const int64_t budget = least + between(0, 400000);
    Session session(folder, backend, tokens, workers, budget);
    ASSERT_THAT(session.status, IsOk());
    session.Append(RandomIds(random, tokens - 1, config.vocabulary));
    session.Append(RandomIds(random, 1, config.vocabulary));
    ASSERT_THAT(session.status, IsOk());
    EXPECT_LE(session.plan.peak_bytes, budget);
    EXPECT_LE(session.run->ResidentArenaBytes(), session.plan.peak_bytes);
    for (const int64_t budget_alone :
         {*(*opened)->MinBudgetBytes(tokens, 1), kPlenty}) {
      Session alone(folder, backend, tokens, 1, budget_alone);
      alone.Append(RandomIds(random, tokens - 1, config.vocabulary));
      alone.Append(RandomIds(random, 1, config.vocabulary));
      ASSERT_THAT(alone.status, IsOk());
      EXPECT_LE(alone.run->ResidentArenaBytes(), alone.plan.peak_bytes);
      // The buffer for widened tiles has whole rows, which are wider than a
      // panel's.
      if (budget_alone == kPlenty && type != DType::kF32) continue;
      EXPECT_GE(alone.run->ResidentArenaBytes(),
                alone.plan.peak_bytes - 4 * kPageBytes)
          << WeightBackendName(backend) << ", " << budget_alone;
    }
    const absl::Status below =
        Session(folder, backend, tokens, workers, least - 1).status;
    EXPECT_THAT(below, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_TRUE(absl::StrContains(below.message(), FormatBytes(least)))
        << below;
  }
}

// A prompt justifies more memory than a single token, since it is read in fewer
// parts.
TEST(DecoderTest, ChoosesTheLeastBudgetThatCostsNextToNoTime) {
  const std::string folder = WriteDecoder(
      RandomDecoder(SmallConfig(), DType::kF32, 31), DType::kF32, "choose");
  for (const WeightBackend backend : kWeightBackends) {
    const auto decoder = Decoder::Open(folder, backend);
    ASSERT_THAT(decoder, IsOk());
    for (const int64_t prompt : {1, 70}) {
      const int64_t generated = 71 - prompt;
      const auto choice =
          (*decoder)->ChooseBudget(prompt, generated, /*workers=*/2);
      ASSERT_THAT(choice, IsOk());
      const auto slowdown = [&](int64_t budget_bytes) {
        return *(*decoder)->PredictSeconds(
                   *(*decoder)->Plan(70, 2, budget_bytes), prompt, generated) /
               *(*decoder)->PredictSeconds(
                   *(*decoder)->Plan(70, 2, choice->ample_bytes), prompt,
                   generated);
      };
      EXPECT_EQ(choice->least_bytes, *(*decoder)->MinBudgetBytes(70, 2));
      EXPECT_DOUBLE_EQ(choice->least_slowdown, slowdown(choice->least_bytes));
      EXPECT_DOUBLE_EQ(choice->slowdown, slowdown(choice->budget_bytes));
      EXPECT_LE(choice->slowdown, kMostPredictedSlowdown);
      if (choice->budget_bytes == choice->least_bytes) continue;
      const int64_t page_less =
          std::max(choice->least_bytes, choice->budget_bytes - kPageBytes);
      EXPECT_GT(slowdown(page_less), kMostPredictedSlowdown)
          << WeightBackendName(backend) << ", prompt of " << prompt;
    }
  }
}

// Reading a token takes about as long as generating one.
TEST(DecoderTest, PredictsEachTokenOnce) {
  const std::string folder = WriteDecoder(
      RandomDecoder(SmallConfig(), DType::kF32, 31), DType::kF32, "predict");
  for (const WeightBackend backend : kWeightBackends) {
    const auto decoder = Decoder::Open(folder, backend);
    ASSERT_THAT(decoder, IsOk());
    const auto plan = (*decoder)->Plan(70, 2, kPlenty);
    ASSERT_THAT(plan, IsOk());
    const auto seconds = [&](int64_t prompt, int64_t generated) {
      return *(*decoder)->PredictSeconds(*plan, prompt, generated);
    };
    const double one = seconds(1, 1);
    EXPECT_NEAR(seconds(1, 2) - one, one, 0.2 * one);
    EXPECT_NEAR(seconds(1, 9) - one, 8 * one, 0.2 * 8 * one);
    EXPECT_GT(seconds(70, 1), one);
  }
}

// With one worker, the time is the sum of the passes.
TEST(DecoderTest, PredictsOneTokenReadAsOneGenerated) {
  const std::string folder = WriteDecoder(
      RandomDecoder(SmallConfig(), DType::kF32, 31), DType::kF32, "one");
  for (const WeightBackend backend : kWeightBackends) {
    const auto decoder = Decoder::Open(folder, backend);
    ASSERT_THAT(decoder, IsOk());
    const int64_t least = *(*decoder)->MinBudgetBytes(70, 1);
    for (const int64_t budget_bytes : {least, 2 * least, kPlenty}) {
      const auto plan = (*decoder)->Plan(70, 1, budget_bytes);
      ASSERT_THAT(plan, IsOk());
      const double once = *(*decoder)->PredictSeconds(*plan, 1, 1);
      EXPECT_NEAR(*(*decoder)->PredictSeconds(*plan, 1, 2), 2 * once,
                  1e-9 * once)
          << WeightBackendName(backend) << " " << budget_bytes;
    }
  }
}

// Each step waits for every worker, for more than 2 us. The last chunk may have
// a single feature.
TEST(DecoderTest, PredictsMoreTimeForMoreChunks) {
  const std::string folder = WriteDecoder(
      RandomDecoder(SmallConfig(), DType::kF32, 31), DType::kF32, "chunks");
  const auto decoder = Decoder::Open(folder, WeightBackend::kResident);
  ASSERT_THAT(decoder, IsOk());
  auto plan = (*decoder)->Plan(33, 2, kPlenty);
  ASSERT_THAT(plan, IsOk());
  const auto seconds = [&](int64_t chunk_features) {
    plan->chunk_features = chunk_features;
    return *(*decoder)->PredictSeconds(*plan, 33, 1);
  };
  const int64_t intermediate = SmallConfig().intermediate;
  EXPECT_GT(seconds(intermediate - 1),
            seconds(intermediate) +
                2e-6 * 2 * static_cast<double>(SmallConfig().layers));
}

TEST(DecoderTest, BeginsAnewAfterClear) {
  std::mt19937 random(5);
  const DecoderConfig config = SmallConfig();
  const std::string folder = WriteDecoder(
      RandomDecoder(config, DType::kF32, 10), DType::kF32, "clear");
  Session session(folder, WeightBackend::kPread, 60, 2, kPlenty);
  ASSERT_THAT(session.status, IsOk());
  for (const int64_t tokens : {60, 17, 2, 59, 1}) {
    const auto ids = RandomIds(random, tokens, config.vocabulary);
    session.run->Clear();
    Session alone(folder, WeightBackend::kResident, tokens, 1, kPlenty);
    EXPECT_EQ(session.Append(ids), alone.Append(ids)) << tokens;
  }
}

TEST(GenerateGreedilyTest, SaysTheMostLikelyTokenAgainAndAgain) {
  const DecoderConfig config = SmallConfig();
  const TestDecoder decoder = RandomDecoder(config, DType::kF32, 11);
  const std::string folder = WriteDecoder(decoder, DType::kF32, "generate");
  std::vector<int32_t> read = {3, 1, 4, 1, 5};
  Session session(folder, WeightBackend::kPread, 14, 2, kPlenty);
  std::vector<int32_t> said;
  const absl::Status status = GenerateGreedily(
      *session.run, read, 10, [&](int32_t id) { said.push_back(id); });
  ASSERT_THAT(status, IsOk());
  ASSERT_EQ(said.size(), 10u);
  EXPECT_EQ(session.run->tokens(), 14);
  for (const int32_t id : said) {
    const std::vector<double> logits = DecodeReference(decoder, read);
    EXPECT_EQ(id,
              std::max_element(logits.begin(), logits.end()) - logits.begin());
    read.push_back(id);
  }
  // No position is left.
  EXPECT_THAT(GenerateGreedily(*session.run, {1}, 1, [](int32_t) {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(DecoderTest, SaysSoWhenTheFileChangesBetweenCalls) {
  const TestDecoder decoder = RandomDecoder(SmallConfig(), DType::kF32, 15);
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect, WeightBackend::kMmap}) {
    const std::string folder = WriteDecoder(decoder, DType::kF32, "changes");
    Session session(folder, backend, 8, 2, kPlenty);
    session.Append({1, 2, 3});
    ASSERT_THAT(session.status, IsOk());
    ASSERT_EQ(truncate((folder + "/model.safetensors").c_str(), 20000), 0);
    session.Append({4});
    EXPECT_THAT(session.status, StatusIs(absl::StatusCode::kFailedPrecondition))
        << WeightBackendName(backend);
    EXPECT_EQ(session.run->tokens(), 3);
  }
}

// The tokens of a failed call are not read, and the next call works as usual.
TEST(DecoderTest, TellsTheErrorOfWhicheverReadFails) {
  const DecoderConfig config = SmallConfig();
  const std::string folder = WriteDecoder(
      RandomDecoder(config, DType::kF32, 16), DType::kF32, "reads");
  const auto decoder = Decoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(decoder, IsOk());
  const auto store = OpenFolderWeights(folder, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  const auto weights = FindDecoderWeights(**store, config);
  ASSERT_THAT(weights, IsOk());
  const auto plan = (*decoder)->Plan(20, 2, StreamingBudget(**decoder, 20, 2));
  ASSERT_THAT(plan, IsOk());
  FailingStore failing(store->get());
  const auto run =
      lowmem_internal::StartDecoderRun(config, *weights, &failing, *plan);
  ASSERT_THAT(run, IsOk());
  std::mt19937 random(16);
  const auto ids = RandomIds(random, 20, config.vocabulary);
  const auto logits = [&] {
    (*run)->Clear();
    failing.FailAt(-1);
    const auto result = (*run)->Append(ids);
    return result.ok() ? std::vector<float>(result->begin(), result->end())
                       : std::vector<float>();
  };
  const std::vector<float> expected = logits();
  const int64_t reads = failing.reads();
  ASSERT_GT(reads, 50);
  (*run)->Clear();
  for (int64_t read = 0; read < reads; ++read) {
    failing.FailAt(read);
    EXPECT_THAT((*run)->Append(ids),
                StatusIs(absl::StatusCode::kUnavailable,
                         testing::HasSubstr(absl::StrCat(read, " fails"))));
    EXPECT_EQ((*run)->tokens(), 0);
  }
  EXPECT_EQ(logits(), expected);
}

TEST(DecoderTest, RefusesInputsThatTheModelCannotTake) {
  const std::string folder = WriteDecoder(
      RandomDecoder(SmallConfig(), DType::kF32, 12), DType::kF32, "refuses");
  Session session(folder, WeightBackend::kPread, 8, 2, kPlenty);
  ASSERT_THAT(session.status, IsOk());
  EXPECT_EQ(session.decoder->Plan(0, 1, kPlenty).status().message(),
            "no tokens: the input is empty");
  EXPECT_EQ(session.decoder->Plan(81, 1, kPlenty).status().message(),
            "81 tokens, but the model has 80 positions");
  EXPECT_THAT(session.decoder->Plan(8, 0, kPlenty),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const auto message = [&](const std::vector<int32_t>& ids) {
    const auto logits = session.run->Append(ids);
    EXPECT_THAT(logits, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(logits.status().message());
  };
  EXPECT_EQ(message({}), "no tokens: the input is empty");
  EXPECT_EQ(message({1, 2, 50}),
            "token 2 has the id 50; the vocabulary has 50 entries");
  EXPECT_EQ(message({-1}),
            "token 0 has the id -1; the vocabulary has 50 entries");
  EXPECT_EQ(message(std::vector<int32_t>(9, 1)),
            "9 tokens after 0 that were read, but the plan is for 8");
  EXPECT_THAT(session.run->Append({1, 2, 49}), IsOk());
  EXPECT_EQ(message(std::vector<int32_t>(6, 1)),
            "6 tokens after 3 that were read, but the plan is for 8");
}

TEST(DecoderTest, RefusesAPlanThatIsNotItsOwn) {
  DecoderConfig config = SmallConfig();
  int folders = 0;
  const auto open = [&](WeightBackend backend) {
    return *Decoder::Open(
        WriteDecoder(RandomDecoder(config, DType::kF32, 16), DType::kF32,
                     absl::StrCat("own", ++folders)),
        backend);
  };
  const auto own = open(WeightBackend::kPread);
  const auto resident = open(WeightBackend::kResident);
  config.layers = 1;
  const auto smaller = open(WeightBackend::kPread);
  EXPECT_THAT(own->Start(*own->Plan(8, 2, kPlenty)), IsOk());
  for (const Decoder* other : {resident.get(), smaller.get()}) {
    const absl::Status status =
        own->Start(*other->Plan(8, 2, kPlenty)).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(own->Start(DecoderPlan()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(DecoderTest, RefusesACheckpointThatTheConfigContradicts) {
  const TestDecoder good = RandomDecoder(SmallConfig(), DType::kF32, 13);
  const auto open = [](const TestDecoder& decoder) {
    const std::string folder =
        WriteDecoder(decoder, DType::kF32, "contradicts");
    return std::string(
        Decoder::Open(folder, WeightBackend::kPread).status().message());
  };
  EXPECT_EQ(open(good), "");
  TestDecoder other = good;
  other.config.intermediate = 599;
  EXPECT_TRUE(absl::StrContains(
      open(other), "is [48, 600], but the config asks for [48, 599]"));
  other = good;
  other.config.layers = 1;
  EXPECT_TRUE(absl::StrContains(open(other), "but the config has 1 layers"));
  other.config.layers = 3;
  EXPECT_TRUE(absl::StrContains(open(other), "\"h.2.ln_1.weight\""));
  other = good;
  other.tensors.erase("h.1.mlp.c_proj.bias");
  const std::string missing = open(other);
  EXPECT_TRUE(absl::StrContains(missing, "no tensor \"h.1.mlp.c_proj.bias\""))
      << missing;
  EXPECT_TRUE(absl::StrContains(missing, "h.0.mlp.c_proj.bias")) << missing;
  other = good;
  other.config.ties_output = false;
  other.tensors["lm_head.weight"] = other.tensors["wpe.weight"];
  EXPECT_TRUE(absl::StrContains(
      open(other), "lm_head.weight is [80, 48], but the config asks for"));
  // The table of words must not serve as output if the config forbids it.
  other = good;
  other.config.ties_output = false;
  EXPECT_TRUE(absl::StrContains(open(other), "no tensor \"lm_head.weight\""));
  other.tensors["lm_head.weight"] = other.tensors["wte.weight"];
  EXPECT_EQ(open(other), "");
}

TEST(DecoderTest, NamesTheFirstLayerWhoseStatesAreNotFinite) {
  const TestDecoder good = RandomDecoder(SmallConfig(), DType::kF32, 30);
  struct Case {
    const char* tensor;
    const char* where;
  };
  const std::vector<int32_t> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5,
                                    3, 5, 8, 9, 7, 9, 3, 2, 3};
  for (const Case& bad : {Case{"wpe.weight", "the table of embeddings gives"},
                          Case{"h.0.attn.c_attn.bias", "layer 0 gives"},
                          Case{"h.0.mlp.c_proj.weight", "layer 0 gives"},
                          Case{"h.1.ln_1.weight", "layer 1 gives"},
                          Case{"h.1.mlp.c_proj.bias", "layer 1 gives"},
                          Case{"ln_f.bias", "the output gives"}}) {
    for (const float value : {NAN, INFINITY}) {
      TestDecoder damaged = good;
      damaged.tensors[bad.tensor].values[5] = value;
      const std::string folder =
          WriteDecoder(damaged, DType::kF32, "not_finite");
      for (const size_t tokens : {size_t{1}, ids.size()}) {
        Session session(folder, WeightBackend::kPread, 20, 2, kPlenty);
        session.Append({ids.begin(), ids.begin() + tokens});
        EXPECT_THAT(session.status, StatusIs(absl::StatusCode::kDataLoss))
            << bad.tensor;
        EXPECT_TRUE(absl::StrContains(session.status.message(), bad.where))
            << bad.tensor << ": " << session.status;
        EXPECT_EQ(session.run->tokens(), 0);
      }
    }
  }
}

// A key or a value that is not finite stays so when it is rounded.
TEST(DecoderTest, NamesTheLayerWhoseKeysOrValuesAreNotFinite) {
  const TestDecoder good = RandomDecoder(SmallConfig(), DType::kF32, 30);
  const std::vector<int32_t> ids = {3, 1, 4, 1, 5, 9, 2, 6};
  for (const size_t feature : {size_t{48 + 3}, size_t{2 * 48 + 3}}) {
    for (const float value : {NAN, INFINITY}) {
      TestDecoder damaged = good;
      damaged.tensors["h.1.attn.c_attn.bias"].values[feature] = value;
      const std::string folder =
          WriteDecoder(damaged, DType::kF32, "not_finite_cache");
      for (const CacheType type :
           {CacheType::kF32, CacheType::kF16, CacheType::kQ8_0}) {
        DecoderOptions options;
        options.cache_type = type;
        const auto decoder =
            Decoder::Open(folder, WeightBackend::kPread, options);
        ASSERT_THAT(decoder, IsOk());
        for (const size_t tokens : {size_t{1}, ids.size()}) {
          const auto run = (*decoder)->Start(*(*decoder)->Plan(20, 2, kPlenty));
          ASSERT_THAT(run, IsOk());
          EXPECT_THAT(
              (*run)->Append(absl::MakeConstSpan(ids).first(tokens)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("layer 1 gives")))
              << CacheTypeName(type) << ", feature " << feature << ", "
              << value;
        }
      }
    }
  }
}

TEST(DecoderTest, ReturnsNoStateThatIsNotFinite) {
  TestDecoder damaged = RandomDecoder(SmallConfig(), DType::kF32, 30);
  damaged.tensors["ln_f.bias"].values[5] = NAN;
  const auto decoder =
      Decoder::Open(WriteDecoder(damaged, DType::kF32, "not_finite_state"),
                    WeightBackend::kPread, DecoderUse::kStates);
  ASSERT_THAT(decoder, IsOk());
  const auto run = (*decoder)->Start(*(*decoder)->Plan(20, 2, kPlenty));
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(
      (*run)->AppendForState({3, 1, 4}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the last norm gives")));
  EXPECT_EQ((*run)->tokens(), 0);
}

// The output's matrix is a separate copy of the words, which stays finite.
TEST(DecoderTest, GoesOnAfterATokenWhoseStatesAreNotFinite) {
  TestDecoder decoder = RandomDecoder(SmallConfig(), DType::kF32, 31);
  decoder.config.ties_output = false;
  decoder.tensors["lm_head.weight"] = decoder.tensors["wte.weight"];
  Session good(WriteDecoder(decoder, DType::kF32, "all_good"),
               WeightBackend::kPread, 20, 2, kPlenty);
  decoder.tensors["wte.weight"].values[7 * 48 + 3] = NAN;
  Session session(WriteDecoder(decoder, DType::kF32, "one_bad"),
                  WeightBackend::kPread, 20, 2, kPlenty);
  session.Append({1, 2});
  ASSERT_THAT(session.status, IsOk());
  session.Append({3, 7, 4});
  EXPECT_THAT(session.status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(session.run->tokens(), 2);
  session.status = absl::OkStatus();
  good.Append({1, 2});
  EXPECT_EQ(session.Append({5, 6}), good.Append({5, 6}));
  EXPECT_THAT(session.status, IsOk());
}

// A file with tied matrices may have either one. If it has both and the config
// ties them, the words count and the head is reported as unused.
TEST(DecoderTest, ATiedOutputIsTheWordsWhateverTheFileHas) {
  const TestDecoder plain = RandomDecoder(SmallConfig(), DType::kF32, 14);
  TestDecoder only_head = plain;
  only_head.tensors["lm_head.weight"] = plain.tensors.at("wte.weight");
  only_head.tensors.erase("wte.weight");
  TestDecoder both = plain;
  both.tensors["lm_head.weight"] = plain.tensors.at("wte.weight");
  for (float& value : both.tensors["lm_head.weight"].values) value *= 2;
  both.tensors["h.0.attn.lora_A.weight"] = plain.tensors.at("ln_f.bias");
  both.tensors["h.0.attn.bias"] = plain.tensors.at("ln_f.bias");  // the mask
  const std::vector<int32_t> ids = {3, 1, 4, 1, 5};
  Session expected(WriteDecoder(plain, DType::kF32, "tied"),
                   WeightBackend::kPread, 5, 1, kPlenty);
  const std::vector<float> states = expected.Append(ids);
  EXPECT_THAT(UnusedTensors(expected.decoder->store(),
                            TensorsToPin(expected.decoder->weights())),
              testing::IsEmpty());
  Session a(WriteDecoder(only_head, DType::kF32, "only_head"),
            WeightBackend::kPread, 5, 1, kPlenty);
  ASSERT_THAT(a.status, IsOk());
  EXPECT_EQ(a.Append(ids), states);
  Session b(WriteDecoder(both, DType::kF32, "both"), WeightBackend::kPread, 5,
            1, kPlenty);
  EXPECT_EQ(b.Append(ids), states);
  EXPECT_THAT(
      UnusedTensors(b.decoder->store(), TensorsToPin(b.decoder->weights())),
      testing::UnorderedElementsAre("lm_head.weight",
                                    "h.0.attn.lora_A.weight"));
  // If neither exists, the error names the usual tensor.
  TestDecoder neither = plain;
  neither.tensors.erase("wte.weight");
  EXPECT_TRUE(absl::StrContains(
      Decoder::Open(WriteDecoder(neither, DType::kF32, "neither"),
                    WeightBackend::kPread)
          .status()
          .message(),
      "no tensor \"wte.weight\""));
}

TEST(DecoderTest, FindsNamesWithAPrefixAndAnOutputOfItsOwn) {
  const TestDecoder plain = RandomDecoder(SmallConfig(), DType::kF32, 14);
  TestDecoder renamed;
  renamed.config = plain.config;
  renamed.config.ties_output = false;
  for (const auto& [name, tensor] : plain.tensors) {
    renamed.tensors["transformer." + name] = tensor;
  }
  // The head is twice the words, so the logits double exactly.
  TestTensor& head = renamed.tensors["lm_head.weight"];
  head = plain.tensors.at("wte.weight");
  for (float& value : head.values) value *= 2;
  Session a(WriteDecoder(plain, DType::kF32, "names"), WeightBackend::kPread, 5,
            1, kPlenty);
  Session b(WriteDecoder(renamed, DType::kF32, "renamed"),
            WeightBackend::kPread, 5, 1, kPlenty);
  std::vector<float> doubled = a.Append({3, 1, 4, 1, 5});
  for (float& value : doubled) value *= 2;
  EXPECT_EQ(b.Append({3, 1, 4, 1, 5}), doubled);
  EXPECT_THAT(b.status, IsOk());
}

}  // namespace
}  // namespace footprint
