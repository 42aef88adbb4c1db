#include "footprint/gates/trend/culprit_search.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Certainty = Culprit::Certainty;

// A history whose figures the test says.
class MadeRange : public CommitRange {
 public:
  explicit MadeRange(size_t size) : bytes(size, 1000) {}

  // The commit and all after it need so much more.
  void Grow(size_t commit, int64_t by) {
    relevant.insert(commit);
    for (size_t i = commit; i < bytes.size(); ++i) bytes[i] += by;
  }

  size_t size() const override { return bytes.size(); }
  absl::StatusOr<Outcome> Measure(size_t commit) override {
    if (broken.count(commit) > 0) return Outcome::kUnmeasurable;
    if (!measured.insert(commit).second || known.count(commit) > 0) {
      return Outcome::kKnown;
    }
    return Outcome::kMeasured;
  }
  bool IsKnown(size_t commit) override {
    return measured.count(commit) + known.count(commit) > 0;
  }
  bool IsRelevant(size_t commit) override { return relevant.count(commit) > 0; }
  absl::StatusOr<int64_t> ComputeGrowth(size_t from, size_t to) override {
    EXPECT_TRUE(IsKnown(from) && IsKnown(to) && from < to);
    const int64_t growth = bytes[to] - bytes[from];
    return growth > noise ? growth : 0;
  }

  int64_t noise = 0;  // smaller growths are none
  std::vector<int64_t> bytes;
  std::set<size_t> relevant;
  std::set<size_t> broken;
  std::set<size_t> known;
  std::set<size_t> measured;
};

std::vector<std::vector<size_t>> CommitsOf(const CulpritSearch& search) {
  std::vector<std::vector<size_t>> commits;
  for (const Culprit& culprit : search.culprits) {
    commits.push_back(culprit.commits);
  }
  return commits;
}

using One = std::vector<size_t>;

TEST(CulpritSearchTest, FindsOneCommit) {
  MadeRange range(100);
  for (size_t i = 1; i < 100; ++i) range.relevant.insert(i);
  range.Grow(37, 64);
  const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(CommitsOf(*search), ElementsAre(One{37}));
  EXPECT_EQ(search->culprits[0].growth_bytes, 64);
  EXPECT_EQ(search->culprits[0].before, 36u);
  EXPECT_EQ(search->culprits[0].after, 37u);
  EXPECT_LE(search->measured_count, 9);
}

TEST(CulpritSearchTest, NothingGrew) {
  MadeRange range(10);
  range.relevant = {3};
  range.bytes[9] = 900;
  const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(search->culprits, IsEmpty());
  EXPECT_EQ(search->growth_bytes, 0);
  EXPECT_EQ(search->measured_count, 2);
}

// The other commits need no measurement, and are not blamed.
TEST(CulpritSearchTest, MeasuresRelevantCommitsOnly) {
  MadeRange range(1000);
  range.relevant = {10, 500, 700};
  range.Grow(500, 1);
  const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(CommitsOf(*search), ElementsAre(One{500}));
  EXPECT_EQ(search->culprits[0].before, 499u);
  EXPECT_EQ(search->confirming_count, 1);
  for (const size_t commit : range.measured) {
    EXPECT_TRUE(commit == 0 || commit == 999 || range.IsRelevant(commit) ||
                range.IsRelevant(commit + 1))
        << commit;
  }
}

TEST(CulpritSearchTest, FindsACommitThatSeemsToChangeNothing) {
  for (const size_t culprit : {11u, 14u, 15u, 16u, 19u}) {
    MadeRange range(30);
    range.Grow(culprit, 8);
    range.relevant = {5, 15, 25};
    const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
    ASSERT_THAT(search, IsOk());
    EXPECT_THAT(CommitsOf(*search), ElementsAre(One{culprit}));
    EXPECT_EQ(search->culprits[0].certainty, Certainty::kFound);
    EXPECT_EQ(search->culprits[0].before, culprit - 1);
  }
}

TEST(CulpritSearchTest, DoesNotBlameSuspectsThatCannotBePartedForOthers) {
  for (const size_t culprit : {8u, 13u, 18u, 22u}) {
    MadeRange range(30);
    range.Grow(culprit, 8);
    range.relevant = {15, 16};
    range.broken = {15};
    const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
    ASSERT_THAT(search, IsOk());
    EXPECT_THAT(CommitsOf(*search), ElementsAre(One{culprit}));
    EXPECT_EQ(search->culprits[0].certainty, Certainty::kFound);
  }
}

TEST(CulpritSearchTest, OneThatCannotBeComparedWithTheOneBeforeIsNotFound) {
  MadeRange range(30);
  range.Grow(15, 8);
  range.broken = {14};
  absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(CommitsOf(*search), ElementsAre(One{15}));
  EXPECT_EQ(search->culprits[0].certainty, Certainty::kSomeUnmeasurable);
  range.broken = {};
  range.measured = {};
  CulpritOptions options;
  options.most_measured = 3;
  search = FindCulprits(&range, options);
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(CommitsOf(*search), ElementsAre(One{15}));
  EXPECT_EQ(search->culprits[0].certainty, Certainty::kTooMany);
}

TEST(CulpritSearchTest, NamesAllOfThoseThatCannotBeMeasured) {
  MadeRange range(10);
  range.relevant = {2, 4, 6, 8};
  range.broken = {4, 6};
  range.Grow(6, 50);
  const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(CommitsOf(*search), ElementsAre(One{4, 6, 8}));
  EXPECT_EQ(search->culprits[0].certainty, Certainty::kSomeUnmeasurable);
  EXPECT_THAT(search->unmeasurable, SizeIs(2));
}

TEST(CulpritSearchTest, PassesOverACommitThatDoesNotBuild) {
  MadeRange range(64);
  for (size_t i = 1; i < 64; ++i) range.relevant.insert(i);
  range.broken = {32};
  range.Grow(20, 50);
  const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(CommitsOf(*search), ElementsAre(One{20}));
  EXPECT_EQ(search->culprits[0].certainty, Certainty::kFound);
}

TEST(CulpritSearchTest, StopsAfterSoManyMeasurements) {
  MadeRange range(1000);
  for (size_t i = 1; i < 1000; ++i) range.relevant.insert(i);
  range.Grow(300, 5000);
  range.Grow(700, 50);
  CulpritOptions options;
  options.most_measured = 14;
  const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, options);
  ASSERT_THAT(search, IsOk());
  EXPECT_EQ(search->measured_count, 14);
  // The larger growth was looked for first.
  ASSERT_THAT(search->culprits, SizeIs(2));
  EXPECT_THAT(search->culprits[0].commits, ElementsAre(300u));
  EXPECT_EQ(search->culprits[1].certainty, Certainty::kTooMany);
  EXPECT_THAT(search->culprits[1].commits, ::testing::Contains(700u));
}

TEST(CulpritSearchTest, AGrowthOfManySmallStepsIsNotLost) {
  MadeRange range(50);
  range.noise = 60;
  for (size_t i = 1; i < 50; ++i) range.Grow(i, 2);
  const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
  ASSERT_THAT(search, IsOk());
  ASSERT_THAT(search->culprits, SizeIs(1));
  EXPECT_EQ(search->culprits[0].certainty, Certainty::kSpread);
  EXPECT_THAT(search->culprits[0].commits, SizeIs(49));
}

TEST(CulpritSearchTest, KnownCommitsAreNotMeasuredAgain) {
  MadeRange range(200);
  for (size_t i = 1; i < 200; ++i) range.relevant.insert(i);
  for (size_t i = 0; i < 200; i += 10) range.known.insert(i);
  range.known.insert(199);
  range.Grow(123, 50);
  const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, {});
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(CommitsOf(*search), ElementsAre(One{123}));
  EXPECT_LE(search->measured_count, 4);
}

TEST(CulpritSearchTest, AnEndThatCannotBeMeasuredIsAMistake) {
  MadeRange range(10);
  range.broken = {0};
  EXPECT_THAT(FindCulprits(&range, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("the good commit")));
  range.broken = {9};
  EXPECT_THAT(FindCulprits(&range, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("the bad commit")));
}

// Any commit may change the figure, and any may not build.
TEST(CulpritSearchTest, WhoIsFoundIsToBlame) {
  RandomSequence random(45);
  for (int repetition = 0; repetition < 300; ++repetition) {
    MadeRange range(3 + random.Below(60));
    for (size_t i = 1; i < range.size(); ++i) {
      if (random.Below(8) == 0) {
        range.Grow(i, static_cast<int64_t>(random.Below(1000)) - 300);
      }
      if (random.Below(3) == 0) range.broken.insert(i);
    }
    range.broken.erase(range.size() - 1);
    range.relevant.clear();
    for (size_t i = 1; i < range.size(); ++i) {
      if (random.Below(4) == 0) range.relevant.insert(i);
    }
    CulpritOptions options;
    options.most_measured = static_cast<int64_t>(2 + random.Below(30));
    const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, options);
    ASSERT_THAT(search, IsOk());
    EXPECT_EQ(search->culprits.empty(), search->growth_bytes == 0);
    EXPECT_LE(search->measured_count, options.most_measured);
    for (const Culprit& culprit : search->culprits) {
      if (culprit.certainty != Certainty::kFound) continue;
      ASSERT_THAT(culprit.commits, SizeIs(1));
      const size_t commit = culprit.commits[0];
      EXPECT_GT(culprit.growth_bytes, 0);
      EXPECT_EQ(culprit.growth_bytes,
                range.bytes[commit] - range.bytes[commit - 1]);
    }
  }
}

// The oracle measures every commit.
TEST(CulpritSearchTest, FindsWhatMeasuringEveryCommitFinds) {
  RandomSequence random(44);
  for (int repetition = 0; repetition < 300; ++repetition) {
    MadeRange range(2 + random.Below(150));
    std::set<size_t> expected;
    for (size_t i = 1; i < range.size(); ++i) {
      if (random.Below(3) > 0) range.relevant.insert(i);
      if (random.Below(40) > 0) continue;
      range.Grow(i, static_cast<int64_t>(1 + random.Below(1000)));
      expected.insert(i);
    }
    CulpritOptions options;
    options.most_measured = 1000;
    const absl::StatusOr<CulpritSearch> search = FindCulprits(&range, options);
    ASSERT_THAT(search, IsOk());
    std::set<size_t> found;
    for (const Culprit& culprit : search->culprits) {
      ASSERT_THAT(culprit.commits, SizeIs(1));
      found.insert(culprit.commits[0]);
      EXPECT_EQ(culprit.growth_bytes, range.bytes[culprit.commits[0]] -
                                          range.bytes[culprit.commits[0] - 1]);
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace footprint
