#include "footprint/gates/judge/threshold_file.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/gates/judge/gate.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kHeader[] =
    "# proto-file: gates/judge/gate.proto\n"
    "# proto-message: footprint.ThresholdFile\n"
    "schema_version: 1\n";
constexpr char kEnvironment[] = "environment { allocator: \"jemalloc\" }\n";
constexpr char kSelector[] = "selector { label: \"//a:b\" }";

// The body begins at line 4.
ThresholdSource Parse(const std::string& body) {
  return ParseThresholdFile("t.textproto", kHeader + body);
}

std::string OneThreshold(const std::string& fields) {
  return absl::StrCat("threshold {\n  ", kSelector, "\n  ", fields, "\n}\n");
}

// Returns "location: message" of the only problem.
std::string OnlyProblem(const ThresholdSource& source) {
  if (source.problems.size() != 1) {
    return absl::StrCat(source.problems.size(), " problems");
  }
  EXPECT_EQ(source.problems[0].decision(), BAD_CONFIGURATION);
  return absl::StrCat(source.problems[0].location(), ": ",
                      source.problems[0].message());
}

TEST(ThresholdFileTest, KeepsTheLineOfEveryThreshold) {
  const ThresholdSource source =
      Parse(OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 100") +
            "\n" + OneThreshold("metric: ALLOCATION_COUNT max_count: 3"));
  EXPECT_THAT(source.problems, IsEmpty());
  EXPECT_EQ(source.file.threshold_size(), 2);
  EXPECT_THAT(source.lines, ElementsAre(4, 9));
  EXPECT_EQ(source.DescribeLocation(1), "t.textproto:9");
}

TEST(ThresholdFileTest, AcceptsByteOrderMarkAndCrLf) {
  const std::string text =
      kHeader + OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 100");
  const std::string windows =
      "\xEF\xBB\xBF" + absl::StrReplaceAll(text, {{"\n", "\r\n"}});
  const ThresholdSource source = ParseThresholdFile("t.textproto", windows);
  EXPECT_THAT(source.problems, IsEmpty());
  EXPECT_THAT(source.lines, ElementsAre(4));
  EXPECT_EQ(source.file.threshold(0).max_bytes(), 100);
}

// With lone carriage returns, the first comment would swallow the whole file.
TEST(ThresholdFileTest, RefusesLoneCarriageReturns) {
  const std::string text =
      kHeader + OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 100");
  EXPECT_THAT(OnlyProblem(ParseThresholdFile(
                  "t", absl::StrReplaceAll(text, {{"\n", "\r"}}))),
              HasSubstr("save it with LF or CRLF"));
  EXPECT_THAT(OnlyProblem(ParseThresholdFile(
                  "t", absl::StrReplaceAll(text, {{"max", "# x\rmax"}}))),
              HasSubstr("save it with LF or CRLF"));
}

TEST(ThresholdFileTest, HeadersAndVersionMayBeLeftOut) {
  const std::string body =
      OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 100");
  for (const char* header :
       {"# Ours.\n", "schema_version: 1\n", "   ",
        "# proto-file: gates/judge/gate.proto\n",
        "# proto-message: footprint.ThresholdFile\n",
        "# A title.\n\n#proto-file:footprint/gates/judge/gate.proto\n"
        "# proto-message:   footprint.ThresholdFile  \n"}) {
    const std::string text = header + body;
    const ThresholdSource source = ParseThresholdFile("t", text);
    EXPECT_THAT(source.problems, IsEmpty()) << header;
    EXPECT_EQ(source.file.threshold(0).max_bytes(), 100);
    EXPECT_EQ(IsMarkedAsThresholds(text), header[2] == 'A') << header;
  }
}

TEST(ThresholdFileTest, RefusesAFileThatIsMarkedAsAnother) {
  const std::string body =
      OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 100");
  for (const char* header :
       {"# proto-file: other.proto\n# proto-message: "
        "footprint.ThresholdFile\n",
        "# proto-file: gates/judge/gate.proto\n# proto-message: "
        "footprint.Verdict\n",
        "# proto-message: footprint.Fleet\n"}) {
    EXPECT_THAT(OnlyProblem(ParseThresholdFile("t", header + body)),
                HasSubstr("t:1:1: is marked as another file"))
        << header;
  }
  EXPECT_THAT(
      OnlyProblem(ParseThresholdFile("t", "schema_version: -1\n" + body)),
      HasSubstr("has a schema version below zero"));
}

TEST(ThresholdFileTest, WrittenLimitsHaveTheirNumbers) {
  const ThresholdSource source = Parse(
      OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max: '1.5 MiB' min: '1 "
                   "MB'") +
      OneThreshold("metric: ALLOCATION_COUNT max: '12 + 10 %'"));
  EXPECT_THAT(source.problems, IsEmpty());
  EXPECT_EQ(source.file.threshold(0).max_bytes(), 1572864);
  EXPECT_EQ(source.file.threshold(0).min_bytes(), 1000000);
  EXPECT_EQ(source.file.threshold(1).max_count(), 14);
}

TEST(ThresholdFileTest, CallsANewerFileNewer) {
  const std::string text =
      "# proto-file: gates/judge/gate.proto\n"
      "# proto-message: footprint.ThresholdFile\n"
      "schema_version: 2\nshiny { field: NEW }\n";
  EXPECT_THAT(OnlyProblem(ParseThresholdFile("t", text)),
              HasSubstr("t: has schema version 2, and this program reads up "
                        "to 1"));
}

TEST(ThresholdFileTest, RefusesWhatWouldJudgeNothing) {
  EXPECT_THAT(OnlyProblem(ParseThresholdFile("t", "")), HasSubstr("is empty"));
  EXPECT_THAT(OnlyProblem(ParseThresholdFile("t", "\xEF\xBB\xBF")),
              HasSubstr("is empty"));
  EXPECT_THAT(OnlyProblem(Parse("")), HasSubstr("holds no threshold"));
  EXPECT_THAT(Parse("environment {}").problems, SizeIs(2));
}

struct BadThreshold {
  const char* fields;   // at line 6, column 3
  const char* problem;  // with its location
};

TEST(ThresholdFileTest, SaysWhatIsWrongWithAWrittenLimit) {
  const BadThreshold kCases[] = {
      {"metric: PEAK_LIVE_USABLE_BYTES max: '24 Mb'",
       "t.textproto:6:34: max is \"24 Mb\": \"24 Mb\" is no number of bytes: "
       "\"Mb\" is not B"},
      {"metric: ALLOCATION_COUNT max: '24 MB'",
       "t.textproto:6:28: max is \"24 MB\": \"24 MB\" is no number of calls"},
      {"metric: PEAK_LIVE_USABLE_BYTES max: '24 MB' max_bytes: 3",
       "stands beside another maximum"},
      {"metric: PEAK_LIVE_USABLE_BYTES max: '1 MB' min: '2 MB'",
       "the minimum, 2000000, is above the maximum, 1000000"},
  };
  for (const BadThreshold& bad : kCases) {
    EXPECT_THAT(OnlyProblem(Parse(OneThreshold(bad.fields))),
                HasSubstr(bad.problem));
  }
}

TEST(ThresholdFileTest, SaysWhatIsWrongAndWhere) {
  const BadThreshold kCases[] = {
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: -1",
       "t.textproto:6:34: "
       "max_bytes is -1, and peak_live_usable_bytes cannot be below zero"},
      {"metric: ALLOCATION_COUNT max_count: -1", "6:28: max_count is -1"},
      {"metric: PEAK_LIVE_USABLE_BYTES exact_bytes: -1", "6:34: exact_bytes"},
      {"metric: PEAK_LIVE_USABLE_BYTES min_bytes: -1", "6:34: min_bytes is -1"},
      {"metric: ALLOCATION_COUNT min_count: -1", "6:28: min_count is -1"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: 9223372036854775808",
       "6:45: Integer out of range"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: nan", "6:45: Expected"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1.5", "6:45: Expected"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 MiB",
       "no field named \"MiB\""},
      {"metric: ALLOCATION_COUNT max_bytes: 1",
       "6:28: max_bytes on allocation_count, which is counted in calls, not "
       "in bytes; use the field that ends in _count"},
      {"metric: PEAK_LIVE_USABLE_BYTES exact_count: 1",
       "6:34: exact_count on peak_live_usable_bytes, which is counted in "
       "bytes"},
      {"metric: ALLOCATION_COUNT exact_bytes: 1", "6:28: exact_bytes on"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_count: 1", "6:34: max_count on"},
      {"metric: PEAK_LIVE_USABLE_BYTES min_count: 1", "6:34: min_count on"},
      {"metric: ALLOCATION_COUNT min_bytes: 1", "6:28: min_bytes on"},
      {"max_bytes: 1", "4:1: names no known metric"},
      {"metric: METRIC_KIND_UNSPECIFIED max_bytes: 1",
       "6:3: names no known metric"},
      {"metric: 99 max_bytes: 1", "6:3: names no known metric"},
      {"metric: PEAK max_bytes: 1", "6:16: Unknown enumeration value"},
      {"metric: PEAK_LIVE_USABLE_BYTES", "4:1: has no rule"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 exact_bytes: 1",
       "exact_bytes"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 max_bytes: 1",
       "specified multiple times"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_byte: 1", "no field named"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 severity: 7",
       "6:47: is no severity"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 min_bytes: 2",
       "6:47: the minimum, 2, is above the maximum, 1"},
      {"metric: ALLOCATION_COUNT max_count: 1 min_count: 2",
       "6:41: the minimum, 2, is above the maximum, 1"},
      {"metric: PEAK_LIVE_USABLE_BYTES exact_bytes: 1 min_bytes: 1",
       "min_bytes beside an exact value"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_ratio { ratio: 0.5 }",
       "6:34: has no full baseline"},
      {"metric: PEAK_LIVE_USABLE_BYTES max_ratio { ratio: 1 baseline { label: "
       "\"//a:b\" } }",
       "6:34: has no full baseline"},
  };
  for (const BadThreshold& bad : kCases) {
    // With an environment, exact values are no problem of their own.
    EXPECT_THAT(OnlyProblem(Parse(OneThreshold(bad.fields) + kEnvironment)),
                HasSubstr(bad.problem))
        << bad.fields;
  }
}

TEST(ThresholdFileTest, RatiosAreFiniteAndAboveZero) {
  for (const char* ratio : {"0", "-1", "nan", "inf", "-inf", "1e999"}) {
    EXPECT_THAT(OnlyProblem(Parse(OneThreshold(absl::StrCat(
                    "metric: PEAK_LIVE_USABLE_BYTES max_ratio { ratio: ", ratio,
                    " baseline { label: \"//a:b\" benchmark: \"BM_X\" } }")))),
                HasSubstr("it must be a finite number above zero"))
        << ratio;
  }
}

TEST(ThresholdFileTest, WantsASelector) {
  for (const char* selector : {"", "selector {}", "selector { label: \"\" }",
                               "selector { benchmark: \"BM_X\" }"}) {
    EXPECT_THAT(OnlyProblem(Parse(absl::StrCat(
                    "threshold { ", selector,
                    " metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 }"))),
                HasSubstr("selects nothing"))
        << selector;
  }
}

TEST(ThresholdFileTest, ABackslashIsBeforeAStarOrABackslash) {
  const auto parse = [](const std::string& field) {
    return Parse(absl::StrCat("threshold {\n selector { label: '//a:b' ", field,
                              " } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 "
                              "}"));
  };
  for (const char* field :
       {"benchmark: 'BM\\\\nX'", "benchmark: 'BM\\\\'", "phase: 'a\\\\?'"}) {
    EXPECT_THAT(OnlyProblem(parse(field)),
                HasSubstr("t.textproto:5:2: selector names "))
        << field;
  }
  EXPECT_THAT(
      OnlyProblem(Parse(OneThreshold(
          "metric: PEAK_LIVE_USABLE_BYTES max_ratio { ratio: 1 baseline { "
          "label: '//a:\\\\b' benchmark: 'x' } }"))),
      HasSubstr("max_ratio names //a:\\b"));
  EXPECT_THAT(parse("benchmark: 'BM_F<int\\\\*>' phase: '\\\\\\\\*'").problems,
              IsEmpty());
}

TEST(ThresholdFileTest, ExactValuesNeedAnEnvironment) {
  const std::string exact =
      OneThreshold("metric: PEAK_LIVE_USABLE_BYTES exact_bytes: 1");
  const std::string count =
      OneThreshold("metric: ALLOCATION_COUNT exact_count: 1");
  EXPECT_THAT(OnlyProblem(Parse(exact)),
              HasSubstr("6:34: exact_bytes in a file without an environment"));
  EXPECT_THAT(OnlyProblem(Parse(count)),
              HasSubstr("6:28: exact_count in a file without an environment"));
  EXPECT_THAT(Parse(kEnvironment + exact + count).problems, IsEmpty());
}

TEST(ThresholdFileTest, NetGrowthMayBeNegative) {
  EXPECT_THAT(
      Parse(kEnvironment +
            OneThreshold("metric: NET_GROWTH_USABLE_BYTES exact_bytes: -64"))
          .problems,
      IsEmpty());
  EXPECT_THAT(
      Parse(OneThreshold(
                "metric: NET_GROWTH_USABLE_BYTES max_bytes: 0 min_bytes: 0"))
          .problems,
      IsEmpty());
}

TEST(ThresholdFileTest, TwoRulesOfOneSortAreNamedTogether) {
  const std::string limit =
      OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 100");
  EXPECT_THAT(OnlyProblem(Parse(limit + limit)),
              HasSubstr("t.textproto:8:1: is a second maximum for //a:b * "
                        "peak_live_usable_bytes; the first is at "
                        "t.textproto:4"));
  // Thresholds of another sort, metric or phase do not contradict each other.
  EXPECT_THAT(
      Parse(limit +
            OneThreshold("metric: PEAK_LIVE_USABLE_BYTES min_bytes: 1") +
            OneThreshold("metric: PEAK_MAPPED_BYTES max_bytes: 100") +
            "threshold { selector { label: \"//a:b\" phase: \"fit\" } metric: "
            "PEAK_LIVE_USABLE_BYTES max_bytes: 100 }")
          .problems,
      IsEmpty());
  // The order of arguments makes no difference.
  const std::string a = "arguments { name: \"a\" value: \"1\" } ";
  const std::string b = "arguments { name: \"b\" value: \"2\" } ";
  const std::string begin = "threshold { selector { label: \"//a:b\" ";
  const std::string end = "} metric: PEAK_LIVE_USABLE_BYTES min_bytes: 1 }\n";
  EXPECT_THAT(OnlyProblem(Parse(begin + a + b + end + begin + b + a + end)),
              HasSubstr("is a second minimum"));
  EXPECT_THAT(Parse(begin + a + end + begin + b + end).problems, IsEmpty());
}

TEST(ThresholdFileTest, ReadsTheHistory) {
  const auto with = [](const std::string& entry) {
    return OneThreshold(
        absl::StrCat("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 200\n", entry));
  };
  const std::string right =
      "history { date: \"2026-11-21\" new_value: 200 reason: \"x\" }";
  EXPECT_THAT(Parse(with(right)).problems, IsEmpty());
  EXPECT_EQ(OnlyProblem(Parse(with("history { date: \"2026-11-31\" new_value: "
                                   "200 reason: \"x\" }"))),
            "t.textproto:7:1: has the date \"2026-11-31\", which is no day; "
            "write it as 2026-11-21");
  EXPECT_THAT(
      OnlyProblem(Parse(with("history { date: \"2026-11-21\" old_value: 50 "
                             "new_value: 100 reason: \"x\" }"))),
      HasSubstr("t.textproto:4:1: has the value 200, and its history ends with "
                "100: it was changed by hand"));
  // Only a `recorded` file needs a history for every limit.
  EXPECT_THAT(Parse(with("")).problems, IsEmpty());
  EXPECT_THAT(Parse("recorded: true\n" + with(right)).problems, IsEmpty());
  EXPECT_THAT(OnlyProblem(Parse("recorded: true\n" + with(""))),
              HasSubstr("t.textproto:5:1: has no history of its value"));
}

TEST(ThresholdFileTest, ReadsTheHeadroom) {
  const std::string rule =
      OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 100");
  for (const char* good : {"exact: true", "percent: 0", "percent: 2.5",
                           "bytes: 0", "bytes: 4096"}) {
    EXPECT_THAT(Parse(absl::StrCat("headroom { ", good, " }\n", rule)).problems,
                IsEmpty())
        << good;
  }
  for (const char* bad : {"", "exact: false", "percent: -1", "percent: nan",
                          "percent: inf", "bytes: -1"}) {
    EXPECT_THAT(
        OnlyProblem(Parse(absl::StrCat("headroom { ", bad, " }\n", rule))),
        HasSubstr("t.textproto:4:1: headroom is no policy"))
        << bad;
  }
}

TEST(ThresholdFileTest, RefusesRulesThatNothingCouldBreak) {
  for (const char* rule :
       {"PEAK_LIVE_USABLE_BYTES min_bytes: 0", "ALLOCATION_COUNT min_count: 0",
        "PEAK_LIVE_USABLE_BYTES max_bytes: 9223372036854775807",
        "NET_GROWTH_USABLE_BYTES min_bytes: -9223372036854775808"}) {
    EXPECT_THAT(
        OnlyProblem(Parse(OneThreshold(absl::StrCat("metric: ", rule)))),
        HasSubstr("judges nothing"))
        << rule;
  }
  for (const char* rule : {"PEAK_LIVE_USABLE_BYTES min_bytes: 0 max_bytes: 9",
                           "NET_GROWTH_USABLE_BYTES min_bytes: 0",
                           "ALLOCATION_COUNT max_count: 0"}) {
    EXPECT_THAT(Parse(OneThreshold(absl::StrCat("metric: ", rule))).problems,
                IsEmpty())
        << rule;
  }
}

TEST(ThresholdFileTest, RefusesRatiosThatNothingCouldBreak) {
  const auto parse = [](const char* ratio, const char* baseline) {
    return Parse(absl::StrCat(
        "threshold { selector { label: '//a:b' benchmark: 'BM_X' } metric: "
        "PEAK_LIVE_USABLE_BYTES max_ratio { ratio: ",
        ratio, " baseline { label: '//a:b' benchmark: '", baseline, "' } } }"));
  };
  EXPECT_THAT(OnlyProblem(parse("1", "BM_X")), HasSubstr("judges nothing"));
  // A ratio that no measurement can keep is refused, too.
  EXPECT_THAT(OnlyProblem(parse("0.5", "BM_X")), HasSubstr("never holds"));
  EXPECT_THAT(OnlyProblem(parse("1e300", "BM_Y")), HasSubstr("judges nothing"));
  EXPECT_THAT(parse("1", "BM_Y").problems, IsEmpty());
  EXPECT_THAT(parse("9e18", "BM_Y").problems, IsEmpty());
}

TEST(ThresholdFileTest, ReportsEveryProblem) {
  const std::string bad =
      OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: -1");
  EXPECT_THAT(Parse(bad + OneThreshold("max_bytes: 1") +
                    OneThreshold("metric: ALLOCATION_COUNT"))
                  .problems,
              SizeIs(3));
}

TEST(ThresholdFileTest, ANumberThatBeginsWithAZeroIsRefused) {
  EXPECT_EQ(
      OnlyProblem(Parse(
          OneThreshold("metric: PEAK_LIVE_USABLE_BYTES max_bytes: 05000"))),
      "t.textproto:6:45: the number 05000 begins with a zero, which makes "
      "it octal; write 5000");
}

TEST(ThresholdFileTest, AnExemptionNamesABenchmarkAndGivesAReason) {
  const auto parse = [](const std::string& fields) {
    return Parse(absl::StrCat("exemption { ", fields, " }\n"));
  };
  EXPECT_THAT(
      parse("selector { label: '//a:b' benchmark: 'BM_*' } reason: 'toys'")
          .problems,
      IsEmpty());
  EXPECT_THAT(OnlyProblem(parse("selector { label: '//a:b' }")),
              HasSubstr("gives no reason"));
  // These characters are not visible.
  EXPECT_THAT(OnlyProblem(parse("selector { label: '//a:b' } reason: "
                                "'\xe2\x80\x8b\xf3\xa0\x81\x81\xe2\x81\xa4'")),
              HasSubstr("gives no reason"));
  EXPECT_THAT(OnlyProblem(parse("reason: 'toys'")),
              HasSubstr("exempts no benchmark"));
  EXPECT_THAT(
      OnlyProblem(parse("selector { label: '//a:b' phase: 'x' } reason: 'y'")),
      HasSubstr("exempts no benchmark"));
}

// Damage must neither crash nor give a file that has no problem and no line.
TEST(ThresholdFileTest, SurvivesRandomDamage) {
  const std::string whole =
      kHeader + std::string(kEnvironment) +
      OneThreshold("metric: PEAK_LIVE_USABLE_BYTES exact_bytes: 100 # why") +
      OneThreshold(
          "metric: ALLOCATION_COUNT max_ratio { ratio: 1.5 baseline { label: "
          "\"//a:b\" benchmark: \"BM_X\" } }");
  std::mt19937 random(3);
  int refused = 0;
  constexpr int kRounds = 5000;
  for (int round = 0; round < kRounds; ++round) {
    std::string text = whole;
    for (int change = 1 + random() % 4; change > 0 && !text.empty(); --change) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        case 2:
          text.insert(at, text, random() % text.size(), random() % 40);
          break;
      }
    }
    const ThresholdSource source = ParseThresholdFile("t", text);
    refused += source.problems.empty() ? 0 : 1;
    if (!source.problems.empty()) continue;
    ASSERT_GT(source.file.threshold_size(), 0);
    ASSERT_THAT(source.lines, SizeIs(source.file.threshold_size()));
    for (int line : source.lines) EXPECT_GT(line, 2);
  }
  EXPECT_GT(refused, kRounds / 4);
  EXPECT_LT(refused, kRounds);
}

}  // namespace
}  // namespace footprint
