// Compares log-likelihoods with those of transformers in double precision from
// testdata/testdata/make_golden_scores.py.

#include "footprint/lowmem/models/token_scores.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/exponential_sum.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/testing/test_decoder.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::IsEmpty;

constexpr char kFolder[] = "lowmem/models/testdata/golden_scores";

TEST(ScoreTokensTest, ErrsAtMostTwiceAsMuchAsPyTorch) {
  const auto decoder = Decoder::Open(kFolder, WeightBackend::kPread);
  ASSERT_THAT(decoder, IsOk());
  const auto plan = (*decoder)->Plan(64, 2, *(*decoder)->MinBudgetBytes(64, 2));
  ASSERT_THAT(plan, IsOk());
  const auto run = (*decoder)->Start(*plan);
  ASSERT_THAT(run, IsOk());
  double largest = 0;
  double torch_error = 0;
  const std::string expected =
      ReadTestFile(absl::StrCat(kFolder, "/expected.jsonl"));
  for (const absl::string_view line : absl::StrSplit(expected, '\n')) {
    if (line.empty()) continue;
    const nlohmann::json entry = nlohmann::json::parse(line);
    (*run)->Clear();
    const auto scores =
        ScoreTokens(**run, entry[1].get<std::vector<int32_t>>());
    ASSERT_THAT(scores, IsOk());
    ASSERT_EQ(scores->size(), entry[2].size());
    for (size_t i = 0; i < scores->size(); ++i) {
      largest =
          std::max(largest, std::abs((*scores)[i] - entry[2][i].get<double>()));
    }
    torch_error = std::max(torch_error, entry[3].get<double>());
  }
  EXPECT_GT(torch_error, 1e-8);
  EXPECT_LE(largest, 2 * torch_error);
  RecordProperty("largest_error", absl::StrCat(largest));
  (*run)->Clear();
  EXPECT_THAT(ScoreTokens(**run, {1}), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(ScoreTokens(**run, {}), IsOkAndHolds(IsEmpty()));
}

// A decoder and a run of it.
struct Session {
  Session(const std::string& folder, WeightBackend backend, int workers,
          int64_t more_budget) {
    auto opened = Decoder::Open(folder, backend);
    EXPECT_THAT(opened, IsOk());
    decoder = *std::move(opened);
    const auto least = decoder->MinBudgetBytes(64, workers);
    EXPECT_THAT(least, IsOk());
    const auto made = decoder->Plan(64, workers, *least + more_budget);
    EXPECT_THAT(made, IsOk());
    plan = *made;
    auto started = decoder->Start(plan);
    EXPECT_THAT(started, IsOk());
    run = *std::move(started);
  }

  std::unique_ptr<Decoder> decoder;
  DecoderPlan plan;
  std::unique_ptr<DecoderRun> run;
};

// The output has a matrix of its own, which is packed as the layers' are.
TestDecoder RandomGpt2(int64_t hidden) {
  DecoderConfig config;
  config.layers = 2;
  config.hidden = hidden;
  config.heads = 4;
  config.intermediate = hidden < 256 ? 600 : 32;
  config.vocabulary = 150;
  config.positions = 80;
  TestDecoder decoder = RandomDecoder(config, DType::kF32, 8);
  decoder.config.ties_output = false;
  decoder.tensors["lm_head.weight"] = decoder.tensors["wte.weight"];
  return decoder;
}

// The output can be computed with in panels of 256 columns, of which it has
// two.
int64_t HiddenOf(int64_t block_columns) {
  return block_columns == 0 ? 48 : 512;
}

std::string WriteGpt2(int64_t block_columns = 0) {
  return WriteDecoder(RandomGpt2(HiddenOf(block_columns)), DType::kF32,
                      absl::StrCat("gpt2_", block_columns), block_columns);
}

std::vector<int32_t> Ids(int64_t vocabulary) {
  std::mt19937 random(3);
  return RandomIds(random, 50, static_cast<int32_t>(vocabulary));
}

// The logarithm of a token's probability, of logits.
double ScoreOf(absl::Span<const float> logits, int32_t id) {
  ExponentialSum sum;
  for (const float logit : logits) sum.Add(logit);
  return logits[id] - sum.Log();
}

TEST(ScoreTokensTest, HasTheSameBitsForEveryBackendBudgetAndNumberOfWorkers) {
  for (const std::string& folder : {std::string(kFolder), WriteGpt2()}) {
    std::vector<double> expected;
    for (const WeightBackend backend : kWeightBackends) {
      for (const int workers : {1, 3}) {
        for (const int64_t more : {0, 60 << 10, 8 << 20}) {
          Session session(folder, backend, workers, more);
          const auto scores = ScoreTokens(
              *session.run, Ids(session.decoder->config().vocabulary));
          ASSERT_THAT(scores, IsOk());
          if (expected.empty()) expected = *scores;
          ASSERT_EQ(*scores, expected)
              << folder << " " << WeightBackendName(backend) << " " << workers
              << " " << more;
        }
      }
    }
  }
}

// GPT-2's bits do not depend on how tokens are cut into calls.
TEST(ScoreTokensTest, HasTheBitsOfOneTokenAfterTheOther) {
  // Panels of columns make rows of the output's matrix several runs.
  for (const int64_t block_columns : {0, 256}) {
    Session session(WriteGpt2(block_columns), WeightBackend::kPread, 2, 0);
    const auto ids = Ids(150);
    std::vector<double> expected;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto logits = session.run->Append({&ids[i], 1});
      ASSERT_THAT(logits, IsOk());
      expected.push_back(ScoreOf(*logits, ids[i + 1]));
    }
    session.run->Clear();
    const auto scores = ScoreTokens(*session.run, ids);
    ASSERT_THAT(scores, IsOk());
    EXPECT_EQ(*scores, expected) << block_columns;
    // After some tokens that were read, in the middle of a panel.
    session.run->Clear();
    const absl::Span<const int32_t> all = ids;
    ASSERT_THAT(session.run->Append(all.first(21)), IsOk());
    std::vector<double> rest(28);
    ASSERT_THAT(
        session.run->AppendForScores(all.subspan(21, 28), all.subspan(22, 28),
                                     absl::MakeSpan(rest)),
        IsOk());
    EXPECT_EQ(rest, std::vector<double>(expected.begin() + 21, expected.end()));
    EXPECT_EQ(session.run->tokens(), 49);
  }
}

// One token after the other is read where a row of the output's matrix is
// several runs. The error comes after two of three tokens, the second of which
// begins a panel.
TEST(ScoreTokensTest, IsAsBeforeAfterAnError) {
  for (const int64_t block_columns : {0, 256}) {
    TestDecoder decoder = RandomGpt2(HiddenOf(block_columns));
    Session good(WriteDecoder(decoder, DType::kF32, "good", block_columns),
                 WeightBackend::kPread, 2, 0);
    decoder.tensors["wpe.weight"].values[17 * decoder.config.hidden] = NAN;
    Session session(WriteDecoder(decoder, DType::kF32, "bad", block_columns),
                    WeightBackend::kPread, 2, 0);
    const auto ids = Ids(150);
    const absl::Span<const int32_t> all = ids;
    ASSERT_THAT(session.run->Append(all.first(15)), IsOk());
    std::vector<double> scores(3);
    EXPECT_THAT(
        session.run->AppendForScores(all.subspan(20, 3), all.subspan(21, 3),
                                     absl::MakeSpan(scores)),
        StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_EQ(session.run->tokens(), 15) << block_columns;
    // Two tokens read the panel's earlier ones again.
    ASSERT_THAT(good.run->Append(all.first(15)), IsOk());
    const auto expected = good.run->Append(all.subspan(15, 2));
    ASSERT_THAT(expected, IsOk());
    const auto logits = session.run->Append(all.subspan(15, 2));
    ASSERT_THAT(logits, IsOk());
    EXPECT_EQ(*logits, *expected) << block_columns;
    EXPECT_EQ(session.run->tokens(), 17);
  }
}

TEST(ScoreTokensTest, ReadsTheWeightsOnceForAChunk) {
  Session session(kFolder, WeightBackend::kPread, 2, 0);
  const auto ids = Ids(session.decoder->config().vocabulary);
  const auto bytes = [&] {
    return session.decoder->store().counters().bytes_delivered;
  };
  const int64_t before = bytes();
  ASSERT_THAT(session.run->Append(absl::MakeConstSpan(ids).first(2)), IsOk());
  const int64_t once = bytes() - before;
  session.run->Clear();
  const int64_t begin = bytes();
  ASSERT_THAT(ScoreTokens(*session.run, ids), IsOk());
  const auto tokens = static_cast<int64_t>(ids.size()) - 1;
  const int64_t chunks =
      (tokens + session.plan.chunk_tokens - 1) / session.plan.chunk_tokens;
  ASSERT_LT(chunks, tokens / 4);
  EXPECT_LE(bytes() - begin, (chunks * once) * 11 / 10);
}

TEST(ScoreTokensTest, RefusesWhatHasNoScore) {
  Session session(kFolder, WeightBackend::kPread, 1, 0);
  std::vector<double> scores(2);
  const int32_t ids[] = {1, 2};
  const int32_t beyond[] = {
      1, static_cast<int32_t>(session.decoder->config().vocabulary)};
  EXPECT_THAT(
      session.run->AppendForScores(ids, {ids, 1}, absl::MakeSpan(scores)),
      StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(session.run->AppendForScores(ids, beyond, absl::MakeSpan(scores)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(session.run->tokens(), 0);
}

}  // namespace
}  // namespace footprint
