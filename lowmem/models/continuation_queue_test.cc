#include "footprint/lowmem/models/continuation_queue.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/testing/test_decoder.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr int64_t kPositions = 40;

class ContinuationQueueTest : public testing::Test {
 protected:
  ContinuationQueueTest() {
    DecoderConfig config;
    config.layers = 2;
    config.hidden = 48;
    config.heads = 3;
    config.intermediate = 100;
    config.vocabulary = 50;
    config.positions = 80;
    auto opened =
        Decoder::Open(WriteDecoder(RandomDecoder(config, DType::kF32, 3),
                                   DType::kF32, "queue"),
                      WeightBackend::kPread);
    EXPECT_THAT(opened, IsOk());
    decoder_ = *std::move(opened);
  }

  std::unique_ptr<DecoderRun> Start(int64_t sequences) {
    const auto plan = decoder_->Plan(kPositions, 2, kPlenty, sequences);
    EXPECT_THAT(plan, IsOk());
    auto run = decoder_->Start(*plan);
    EXPECT_THAT(run, IsOk());
    return *std::move(run);
  }

  // Continues a prompt by Append.
  Continuation Alone(Continuation continuation) {
    const auto run = Start(1);
    TokenSampler sampler(continuation.sampling);
    absl::Span<const int32_t> unread = continuation.prompt;
    std::vector<int32_t>& ids = continuation.ids;
    while (static_cast<int64_t>(ids.size()) < continuation.most_tokens &&
           !continuation.has_stopped &&
           run->tokens() + static_cast<int64_t>(unread.size()) <= kPositions) {
      const auto logits = run->Append(unread);
      EXPECT_THAT(logits, IsOk());
      ids.push_back(sampler.Choose(*logits));
      continuation.has_stopped =
          std::count(continuation.stop_ids.begin(), continuation.stop_ids.end(),
                     ids.back()) > 0;
      unread = absl::MakeConstSpan(&ids.back(), 1);
    }
    return continuation;
  }

  std::vector<Continuation> Together(const std::vector<Continuation>& prompts,
                                     int64_t sequences) {
    const auto run = Start(sequences);
    std::vector<Continuation> done;
    size_t next = 0;
    EXPECT_THAT(ContinueAll(
                    *run,
                    [&]() -> absl::optional<Continuation> {
                      if (next == prompts.size()) return absl::nullopt;
                      return prompts[next++];
                    },
                    [&](const Continuation& continuation) {
                      done.push_back(continuation);
                      return absl::OkStatus();
                    }),
                IsOk());
    passes_ = run->passes();
    return done;
  }

  std::unique_ptr<Decoder> decoder_;
  int64_t passes_ = 0;
};

// Prompts of all kinds: lengths, limits, stop ids, seeds, and ends at the last
// position.
std::vector<Continuation> Prompts(size_t count) {
  std::mt19937 random(11);
  std::vector<Continuation> prompts(count);
  for (size_t i = 0; i < count; ++i) {
    Continuation& prompt = prompts[i];
    prompt.prompt =
        RandomIds(random, i % 7 == 6 ? kPositions - 2 : 1 + i * 5 % 23, 50);
    prompt.most_tokens = 1 + static_cast<int64_t>(i * 3 % 11);
    if (i % 2 == 1) prompt.sampling = {/*temperature=*/1.5, 0, 1, /*seed=*/i};
    if (i % 3 == 2) {
      for (int32_t id = 0; id < 12; ++id) prompt.stop_ids.push_back(id);
    }
  }
  return prompts;
}

TEST_F(ContinuationQueueTest, GivesEachPromptTheTokensThatItGetsAlone) {
  const std::vector<Continuation> prompts = Prompts(23);
  std::vector<Continuation> expected;
  for (const Continuation& prompt : prompts) expected.push_back(Alone(prompt));
  const auto has_stopped = [](const Continuation& c) { return c.has_stopped; };
  EXPECT_GT(std::count_if(expected.begin(), expected.end(), has_stopped), 0);
  for (const int64_t sequences : {1, 2, 5, 30}) {
    const std::vector<Continuation> actual = Together(prompts, sequences);
    ASSERT_EQ(actual.size(), prompts.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_THAT(actual[i].status, IsOk());
      EXPECT_EQ(actual[i].prompt, prompts[i].prompt);
      EXPECT_EQ(actual[i].ids, expected[i].ids)
          << "prompt " << i << " of " << sequences;
      EXPECT_EQ(actual[i].has_stopped, expected[i].has_stopped);
    }
  }
}

// Eight sequences take an eighth of the readings, and a place that gets free is
// taken at once.
TEST_F(ContinuationQueueTest, SharesReadings) {
  std::vector<Continuation> prompts(16);
  int64_t tokens = 0;
  for (size_t i = 0; i < prompts.size(); ++i) {
    prompts[i].prompt = {1};
    prompts[i].most_tokens = i % 2 == 0 ? 5 : 10;
    tokens += prompts[i].most_tokens;
  }
  Together(prompts, 1);
  EXPECT_EQ(passes_, tokens);
  Together(prompts, 8);
  EXPECT_LE(passes_, tokens / 8 + 5);
}

TEST_F(ContinuationQueueTest, RefusesAPromptAndContinuesTheOthers) {
  std::vector<Continuation> prompts = Prompts(4);
  const std::vector<Continuation> good = Together(prompts, 2);
  Continuation wrong;
  prompts.insert(prompts.begin(), wrong);
  wrong.prompt = std::vector<int32_t>(kPositions + 1, 3);
  prompts.insert(prompts.begin() + 2, wrong);
  wrong.prompt = {50};
  prompts.push_back(wrong);
  wrong.prompt = {5};
  wrong.most_tokens = 0;
  prompts.push_back(wrong);
  wrong.most_tokens = 1;
  wrong.status = absl::NotFoundError("no such line");
  prompts.push_back(wrong);
  const std::vector<Continuation> actual = Together(prompts, 2);
  ASSERT_EQ(actual.size(), 9u);
  const struct {
    size_t at;
    const char* says;
  } kWrong[] = {{0, "no tokens"},
                {2, "the prompt has 41 tokens, but the plan is for 40"},
                {6, "the id 50"},
                {7, "no token is to be generated"},
                {8, "no such line"}};
  for (const auto& one : kWrong) {
    EXPECT_THAT(std::string(actual[one.at].status.message()),
                HasSubstr(one.says));
    EXPECT_TRUE(actual[one.at].ids.empty());
  }
  for (const auto& [at, was] :
       {std::pair(1, 0), std::pair(3, 1), std::pair(4, 2), std::pair(5, 3)}) {
    EXPECT_EQ(actual[at].ids, good[was].ids);
  }
}

// A prompt that takes long does not let the results of all others pile up.
TEST_F(ContinuationQueueTest, HoldsFewResultsThatWait) {
  const auto run = Start(2);
  int64_t given = 0;
  int64_t taken = 0;
  int64_t most_held = 0;
  EXPECT_THAT(ContinueAll(
                  *run,
                  [&]() -> absl::optional<Continuation> {
                    if (given == 100) return absl::nullopt;
                    Continuation next;
                    next.prompt = {1};
                    next.most_tokens = given++ == 0 ? kPositions : 1;
                    most_held = std::max(most_held, given - taken);
                    return next;
                  },
                  [&](const Continuation&) {
                    ++taken;
                    return absl::OkStatus();
                  }),
              IsOk());
  EXPECT_EQ(taken, 100);
  EXPECT_LE(most_held, 32);
}

TEST_F(ContinuationQueueTest, EndsWithTheErrorOfWhoTakesResults) {
  const auto run = Start(2);
  int64_t taken = 0;
  EXPECT_THAT(ContinueAll(
                  *run,
                  [&]() -> absl::optional<Continuation> {
                    Continuation next;
                    next.prompt = {1};
                    return next;
                  },
                  [&](const Continuation&) {
                    return ++taken < 5 ? absl::OkStatus()
                                       : absl::AbortedError("no disk");
                  }),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(taken, 5);
}

}  // namespace
}  // namespace footprint
