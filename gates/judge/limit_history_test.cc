#include "footprint/gates/judge/limit_history.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/gates/judge/gate.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Returns "entry: message" for each problem.
std::vector<std::string> Problems(const std::string& text,
                                  bool is_recorded = false) {
  Threshold threshold;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &threshold))
      << text;
  std::vector<std::string> problems;
  for (const HistoryProblem& problem : CheckHistory(threshold, is_recorded)) {
    problems.push_back(absl::StrCat(problem.entry, ": ", problem.message));
  }
  return problems;
}

void ExpectOne(const std::string& text, const std::string& problem,
               bool is_recorded = false) {
  const std::vector<std::string> problems = Problems(text, is_recorded);
  ASSERT_THAT(problems, SizeIs(1)) << text;
  EXPECT_THAT(problems[0], HasSubstr(problem));
}

std::string Entry(const std::string& date, const std::string& values) {
  return absl::StrCat(" history { date: '", date, "' reason: 'why' ", values,
                      " }");
}

TEST(LimitHistoryTest, AChainFromTheFirstValueToTheLimitIsRight) {
  for (bool is_recorded : {false, true}) {
    EXPECT_THAT(
        Problems("max_bytes: 90" + Entry("2026-02-28", "new_value: 100") +
                     Entry("2026-11-21", "old_value: 100 new_value: 120") +
                     Entry("2026-11-21", "old_value: 120 new_value: 90"),
                 is_recorded),
        IsEmpty());
    EXPECT_THAT(Problems("exact_count: 0" + Entry("2028-02-29", "new_value: 0"),
                         is_recorded),
                IsEmpty());
    EXPECT_THAT(
        Problems("max_ratio { ratio: 0.1 }" +
                     Entry("2026-11-21", "new_ratio: 0.3") +
                     Entry("2026-11-21", "old_ratio: 0.3 new_ratio: 0.1"),
                 is_recorded),
        IsEmpty());
    EXPECT_THAT(
        Problems("max_bytes: 9 min_bytes: 4" +
                     Entry("2026-11-21", "new_value: 9 new_minimum: 5") +
                     Entry("2026-11-21", "old_minimum: 5 new_minimum: 4"),
                 is_recorded),
        IsEmpty());
  }
  EXPECT_THAT(Problems("max_bytes: 90"), IsEmpty());
}

TEST(LimitHistoryTest, TermsThatWereChangedByHandAreSeen) {
  const std::string recorded = Entry("2026-11-21", "new_value: 90");
  EXPECT_THAT(Problems("max_bytes: 90 severity: BLOCK" + recorded, true),
              IsEmpty());
  for (const char* terms : {"severity: AUDIT", "severity: WARN",
                            "budget { share: 0.7 confidence: 0.95 }"}) {
    const std::string rule = absl::StrCat("max_bytes: 90 ", terms, recorded);
    ExpectOne(rule, "it was changed by hand", true);
    EXPECT_THAT(Problems(rule), IsEmpty());
  }
  const std::string audited = recorded + Entry("2026-11-22", "terms: 'AUDIT'");
  EXPECT_THAT(Problems("max_bytes: 90 severity: AUDIT" + audited, true),
              IsEmpty());
  ExpectOne("max_bytes: 90" + audited,
            "says \"BLOCK\", and its history ends "
            "with \"AUDIT\"",
            true);
  ExpectOne("max_bytes: 90" + audited, "it was changed by hand");
  // The history covers each number of a rule over several runs or sizes.
  const std::string share = " budget { share: 0.95 confidence: 0.9 }";
  EXPECT_THAT(
      Problems("max_bytes: 90" + share +
                   Entry("2026-11-21",
                         "new_value: 90 terms: 'BLOCK share 0.95 confidence "
                         "0.9'"),
               true),
      IsEmpty());
  ExpectOne("regression { tolerance: 0.1 detectable: 0.2 }" +
                Entry("2026-11-21",
                      "terms: 'BLOCK tolerance 0.01 detectable "
                      "0.2'"),
            "says \"BLOCK tolerance 0.1 detectable 0.2\"", true);
  ExpectOne(
      "scaling { max_exponent: 2 at { argument { name: 'rows' value: "
      "'9' } max_bytes: 7 } }" +
          Entry("2026-11-21", "terms: 'BLOCK'"),
      "says \"BLOCK max_exponent 2 at rows:9 7\"", true);
}

TEST(LimitHistoryTest, RecordingAddsTheTerms) {
  Threshold threshold;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "max_bytes: 90 severity: AUDIT" + Entry("2026-11-21", "new_value: 90"),
      &threshold));
  EXPECT_FALSE(MissingEntry(threshold, false, "2026-11-22", "y").has_value());
  const absl::optional<HistoryEntry> entry =
      MissingEntry(threshold, true, "2026-11-22", "y");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->terms(), "AUDIT");
  EXPECT_FALSE(entry->has_new_value());
  *threshold.add_history() = *entry;
  EXPECT_THAT(CheckHistory(threshold, true), IsEmpty());
  EXPECT_EQ(FirstEntry(threshold, "2026-11-22", "y").terms(), "AUDIT");
}

TEST(LimitHistoryTest, ADayOfExpiryIsADayToCome) {
  EXPECT_THAT(
      Problems("max_bytes: 9" +
               Entry("2026-11-21", "new_value: 9 expires: '2026-11-21'")),
      IsEmpty());
  for (const char* day : {"soon", "2026-11-20", "2026-13-01", "20266-12-31"}) {
    ExpectOne("max_bytes: 9" +
                  Entry("2026-11-21",
                        absl::StrCat("new_value: 9 expires: '", day, "'")),
              "which is not a day, or one before its date");
  }
}

TEST(LimitHistoryTest, ANumberThatWasChangedByHandIsSeen) {
  ExpectOne(
      "max_bytes: 200" + Entry("2026-11-21", "old_value: 90 new_value: 100"),
      "-1: has the value 200, and its history ends with 100: it was "
      "changed by hand");
  ExpectOne("max_bytes: 50" + Entry("2026-11-21", "new_value: 100"),
            "old_value: 100 new_value: 50");
  ExpectOne("max_ratio { ratio: 0.5 }" +
                Entry("2026-11-21", "new_ratio: 0.4999999999"),
            "has the ratio 0.5");
  ExpectOne("min_bytes: 3" + Entry("2026-11-21", "new_minimum: 4"),
            "has the minimum 3");
  ExpectOne("max_bytes: 9 min_bytes: 3" +
                Entry("2026-11-21", "new_value: 9 new_minimum: 4"),
            "has the minimum 3");
  ExpectOne("min_bytes: 3" + Entry("2026-11-21", "new_minimum: 3") +
                Entry("2026-11-21", "new_value: 4"),
            "has a history of a value and none now");
}

TEST(LimitHistoryTest, AChangeBetweenTwoEntriesIsSeen) {
  ExpectOne("max_bytes: 70" +
                Entry("2026-11-21", "old_value: 90 new_value: 100") +
                Entry("2026-11-21", "old_value: 200 new_value: 70"),
            "1: begins with 200, where the entries above end with 100");
  ExpectOne("max_bytes: 70" + Entry("2026-11-21", "new_value: 100") +
                Entry("2026-11-21", "new_value: 70"),
            "1: has no old_value; write old_value: 100");
}

TEST(LimitHistoryTest, DatesAreDaysInTheirOrder) {
  for (const char* date :
       {"", "2026-13-01", "2026-02-30", "2026-11-31", "today", "2026-1-2",
        "21.11.2026", "2026-11-21T10:00", " 2026-11-21", "2027-02-29",
        "206-11-21", "20266-11-21", "-206-11-21"}) {
    ExpectOne("max_bytes: 1" + Entry(date, "new_value: 1"),
              "which is not a day");
  }
  ExpectOne("max_bytes: 2" + Entry("2026-11-21", "new_value: 1") +
                Entry("2026-11-20", "old_value: 1 new_value: 2"),
            "1: is of 2026-11-20, before the entry of 2026-11-21 above it");
}

TEST(LimitHistoryTest, EveryEntryHasAReasonAndAValue) {
  for (const char* reason :
       {"", " ", "\\t\\n ", "\u200b", " \u3000\u00a0", "\ufeff"}) {
    ExpectOne(absl::StrCat("max_bytes: 1 history { date: '2026-11-21' "
                           "new_value: 1 reason: '",
                           reason, "' }"),
              "0: gives no reason");
  }
  ExpectOne("max_bytes: 1" + Entry("2026-11-21", ""), "0: has no new value");
  EXPECT_THAT(Problems("max_bytes: 1" + Entry("2026-11-21", "old_value: 1")),
              SizeIs(2));
}

TEST(LimitHistoryTest, InARecordedFileEveryNumberHasItsHistory) {
  ExpectOne("max_bytes: 131072", "has no history of its value", true);
  ExpectOne("max_bytes: 9 min_bytes: 4" + Entry("2026-11-21", "new_value: 9"),
            "has no history of its minimum", true);
  ExpectOne("max_ratio { ratio: 2 }", "new_ratio: 2", true);
  // The history must begin with the first value, so a removed beginning is
  // found.
  const std::string cut =
      "max_bytes: 70" + Entry("2026-11-21", "old_value: 90 new_value: 70");
  EXPECT_THAT(Problems(cut), IsEmpty());
  ExpectOne(cut, "0: begins with old_value: 90", true);
}

TEST(LimitHistoryTest, TheFirstEntrySaysWhatEveryNumberBeginsWith) {
  for (const char* text :
       {"max_bytes: 9 min_bytes: 0", "exact_bytes: -4", "max_count: 0",
        "exact_count: 7", "min_count: 2", "max_ratio { ratio: 0.1 }"}) {
    Threshold threshold;
    ASSERT_TRUE(
        google::protobuf::TextFormat::ParseFromString(text, &threshold));
    *threshold.add_history() = FirstEntry(threshold, "2026-11-21", "measured");
    EXPECT_THAT(CheckHistory(threshold, true), IsEmpty()) << text;
  }
}

TEST(LimitHistoryTest, ANewEntryIsNotBeforeTheLast) {
  Threshold threshold;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString("max_bytes: 2",
                                                            &threshold));
  EXPECT_EQ(DateOfNextEntry(threshold, "2026-11-22"), "2026-11-22");
  threshold.add_history()->set_date("2026-11-21");
  threshold.mutable_history(0)->set_new_value(1);
  threshold.mutable_history(0)->set_reason("x");
  EXPECT_EQ(DateOfNextEntry(threshold, "2026-11-22"), "2026-11-22");
  threshold.mutable_history(0)->set_date("2099-01-01");
  EXPECT_EQ(DateOfNextEntry(threshold, "2026-11-22"), "2099-01-01");
  *threshold.add_history() = *MissingEntry(threshold, false, "2026-11-22", "y");
  EXPECT_THAT(CheckHistory(threshold, false), IsEmpty());
}

TEST(LimitHistoryTest, TheMissingEntryMakesBothEndsMeet) {
  for (bool is_recorded : {false, true}) {
    for (const std::string& text :
         {"max_bytes: 200" + Entry("2026-11-21", "new_value: 100"),
          "max_bytes: 9 min_bytes: 3" +
              Entry("2026-11-21", "new_value: 8 new_minimum: 3"),
          "max_ratio { ratio: 2 }" + Entry("2026-11-21", "new_ratio: 3"),
          "exact_count: 0" + Entry("2026-11-21", "new_value: 5"),
          std::string("max_bytes: 7 min_bytes: 2")}) {
      Threshold threshold;
      ASSERT_TRUE(
          google::protobuf::TextFormat::ParseFromString(text, &threshold));
      const auto missing =
          MissingEntry(threshold, is_recorded, "2026-11-22", "by hand");
      const bool is_right = CheckHistory(threshold, is_recorded).empty();
      EXPECT_EQ(missing.has_value(), !is_right) << text;
      if (missing.has_value()) *threshold.add_history() = *missing;
      EXPECT_THAT(CheckHistory(threshold, is_recorded), IsEmpty()) << text;
      EXPECT_FALSE(
          MissingEntry(threshold, is_recorded, "2026-11-22", "x").has_value());
    }
  }
}

}  // namespace
}  // namespace footprint
