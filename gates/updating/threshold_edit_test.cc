#include "footprint/gates/updating/threshold_edit.h"

#include <cctype>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/limit_history.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kText[] =
    "# proto-file: gates/judge/gate.proto\n"
    "# proto-message: footprint.ThresholdFile\n"
    "schema_version: 1\n"
    "environment { compiler: \"gcc\" }\n"
    "\n"
    "# Loading 100 layers.\n"
    "threshold {\n"
    "\tselector { label: \"//a:b\" }  # 100\n"
    "\tmetric: PEAK_LIVE_USABLE_BYTES\n"
    "\tmax_bytes  :  100   # was 100 before\n"
    "\tmin_bytes: 0x32\n"
    "}\n"
    "threshold { selector { label: \"//a:c\" } metric: ALLOCATION_COUNT "
    "exact_count: 7, severity: WARN };\n"
    "threshold <\n"
    "  selector < label: \"//a:d\" >\n"
    "  metric: NET_GROWTH_USABLE_BYTES\n"
    "  exact_bytes: # the number\n"
    "    - 100; owner: \"x\"\n"
    ">\n"
    "threshold {\n"
    "  selector { label: \"//a:e\" } metric: PEAK_LIVE_USABLE_BYTES\n"
    "  max_ratio { ratio: .5e0 baseline { label: \"//a:b\" benchmark: \"B\" } "
    "}\n"
    "}";

ThresholdChange Limit(int threshold, int64_t limit) {
  ThresholdChange change;
  change.threshold = threshold;
  change.limit = limit;
  return change;
}

std::string Edit(const std::string& text,
                 const std::vector<ThresholdChange>& changes) {
  const absl::StatusOr<std::string> edited = EditThresholds("t", text, changes);
  EXPECT_THAT(edited, IsOk());
  return edited.ok() ? *edited : "";
}

TEST(ThresholdEditTest, NothingToChangeChangesNothing) {
  EXPECT_EQ(Edit(kText, {}), kText);
}

TEST(ThresholdEditTest, ReplacesTheNumberAndNothingElse) {
  EXPECT_EQ(Edit(kText, {Limit(0, 99)}),
            absl::StrReplaceAll(kText, {{":  100   # was", ":  99   # was"}}));
  EXPECT_EQ(
      Edit(kText, {Limit(1, 12345)}),
      absl::StrReplaceAll(kText, {{"exact_count: 7,", "exact_count: 12345,"}}));
  EXPECT_EQ(Edit(kText, {Limit(2, 5)}),
            absl::StrReplaceAll(kText, {{"- 100;", "5;"}}));
  EXPECT_EQ(Edit(kText, {Limit(2, -5)}),
            absl::StrReplaceAll(kText, {{"- 100;", "-5;"}}));
  ThresholdChange minimum;
  minimum.minimum = 60;
  EXPECT_EQ(Edit(kText, {minimum}),
            absl::StrReplaceAll(kText, {{"0x32", "60"}}));
  ThresholdChange ratio;
  ratio.threshold = 3;
  ratio.ratio = 0.123456789;
  EXPECT_EQ(Edit(kText, {ratio}),
            absl::StrReplaceAll(kText, {{".5e0", "0.123456789"}}));
  ratio.ratio = 0.625;
  EXPECT_EQ(Edit(kText, {ratio}),
            absl::StrReplaceAll(kText, {{".5e0", "0.625"}}));
}

TEST(ThresholdEditTest, ManyChangesInAnyOrder) {
  ThresholdChange band = Limit(0, 70);
  band.minimum = 60;
  EXPECT_EQ(Edit(kText, {Limit(2, 8), Limit(1, 9), band}),
            absl::StrReplaceAll(kText, {{":  100   # was", ":  70   # was"},
                                        {"0x32", "60"},
                                        {"exact_count: 7", "exact_count: 9"},
                                        {"- 100;", "8;"}}));
}

TEST(ThresholdEditTest, HistoryGoesBeforeTheClosingBrace) {
  HistoryEntry entry;
  entry.set_date("2026-11-21");
  entry.set_old_value(100);
  entry.set_new_value(200);
  entry.set_reason("a \"bigger\" cach\xc3\xa9\n");
  const std::string line =
      "history { date: \"2026-11-21\" old_value: 100 new_value: 200 reason: "
      "\"a "
      "\\\"bigger\\\" cach\xc3\xa9\\n\" }";
  ThresholdChange change = Limit(0, 200);
  change.history = entry;
  EXPECT_EQ(Edit(kText, {change}),
            absl::StrReplaceAll(
                kText, {{":  100   # was", ":  200   # was"},
                        {"0x32\n}", absl::StrCat("0x32\n  ", line, "\n}")}}));
  entry.set_old_value(7);
  const std::string of_count = absl::StrReplaceAll(line, {{"100", "7"}});
  change = Limit(1, 200);
  change.history = entry;
  EXPECT_EQ(
      Edit(kText, {change}),
      absl::StrReplaceAll(
          kText, {{"7, severity: WARN };",
                   absl::StrCat("200, severity: WARN ", of_count, " };")}}));
  entry.set_old_value(100);
  change = Limit(2, 200);
  change.history = entry;
  EXPECT_EQ(Edit(kText, {change}),
            absl::StrReplaceAll(
                kText, {{"- 100; owner: \"x\"\n>",
                         absl::StrCat("200; owner: \"x\"\n  ", line, "\n>")}}));
}

TEST(ThresholdEditTest, KeepsLineEndsAndByteOrderMark) {
  const std::string windows =
      "\xEF\xBB\xBF" + absl::StrReplaceAll(kText, {{"\n", "\r\n"}});
  ThresholdChange change = Limit(0, 99);
  change.history.emplace();
  change.history->set_date("2026-11-21");
  change.history->set_old_value(100);
  change.history->set_new_value(99);
  change.history->set_reason("why");
  EXPECT_EQ(
      Edit(windows, {change}),
      absl::StrReplaceAll(
          windows, {{":  100   # was", ":  99   # was"},
                    {"0x32\r\n}",
                     "0x32\r\n  history { date: \"2026-11-21\" old_value: 100 "
                     "new_value: 99 reason: \"why\" }\r\n}"}}));
}

TEST(ThresholdEditTest, RefusesWhatIsNotThere) {
  EXPECT_THAT(EditThresholds("t", kText, {Limit(3, 1)}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(EditThresholds("t", kText, {Limit(4, 1)}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  ThresholdChange change;
  change.threshold = 1;
  change.minimum = 1;
  EXPECT_THAT(EditThresholds("t", kText, {change}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  change = ThresholdChange();
  change.ratio = 1;
  EXPECT_THAT(EditThresholds("t", kText, {change}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  // The history does not end with the limit.
  change = Limit(0, 99);
  change.history = FirstEntry(Threshold(), "2026-11-21", "why");
  change.history->set_new_value(98);
  EXPECT_THAT(
      std::string(EditThresholds("t", kText, {change}).status().message()),
      HasSubstr("changed by hand"));
  // The maximum would be below the minimum.
  EXPECT_THAT(
      std::string(
          EditThresholds("t", kText, {Limit(0, 10)}).status().message()),
      HasSubstr("the change would make it wrong"));
  EXPECT_THAT(EditThresholds("t", "nonsense", {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

absl::StatusOr<std::string> Record(const std::string& text,
                                   const std::string& date,
                                   const std::string& reason) {
  absl::StatusOr<RecordedChanges> recorded = RecordChangesByHand(
      "t", text, date, reason, [](const Threshold&) { return ""; });
  if (!recorded.ok()) return recorded.status();
  EXPECT_EQ(recorded->descriptions.empty(), recorded->text == text);
  EXPECT_THAT(recorded->left, IsEmpty());
  return recorded->text;
}

TEST(ThresholdEditTest, RecordsWhatWasChangedByHand) {
  const std::string begin =
      "# proto-file: gates/judge/gate.proto\n"
      "# proto-message: footprint.ThresholdFile\nschema_version: 1\n";
  const std::string entry =
      "  history { date: \"2026-11-21\" old_value: 90 new_value: 100 reason: "
      "\"a cache\" }\n";
  const std::string changed = absl::StrCat(
      begin, "threshold {\n  selector { label: \"//a:b\" }\n",
      "  metric: PEAK_LIVE_USABLE_BYTES\n  max_bytes: 200  # more\n", entry,
      "}\n");
  const absl::StatusOr<std::string> recorded =
      Record(changed, "2026-11-22", "two caches");
  ASSERT_THAT(recorded, IsOk());
  EXPECT_EQ(*recorded,
            absl::StrReplaceAll(
                changed,
                {{entry, entry + absl::StrReplaceAll(
                                     entry, {{"old_value: 90 new_value: 100",
                                              "old_value: 100 new_value: 200"},
                                             {"-21", "-22"},
                                             {"a cache", "two caches"}})}}));
  EXPECT_EQ(*Record(*recorded, "2026-11-22", "x"), *recorded);
  // Other mistakes are not corrected.
  EXPECT_THAT(Record("nonsense", "2026-11-22", "x"), Not(IsOk()));
  EXPECT_THAT(Record("recorded: true\n"
                     "threshold { selector { label: \"//a:b\" }\n"
                     "  metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 }\n"
                     "bogus: 3\n",
                     "2026-11-22", "x"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  // On a day before the last entry's, the new entry gets the last entry's date,
  // and the description says so.
  const absl::StatusOr<RecordedChanges> early = RecordChangesByHand(
      "t", changed, "2026-11-20", "x", [](const Threshold&) { return ""; });
  ASSERT_THAT(early, IsOk());
  EXPECT_THAT(early->text, HasSubstr("date: \"2026-11-21\" old_value: 100"));
  EXPECT_THAT(early->descriptions,
              ElementsAre("t:4: //a:b *: recorded what was changed by hand, "
                          "dated 2026-11-21, as the entry above it"));
  // Only a `recorded` file misses an entry where there is no history.
  EXPECT_EQ(*Record(kText, "2026-11-22", "x"), kText);
  const std::string first = absl::StrReplaceAll(
      kText, {{"environment {", "recorded: true environment {"}});
  const absl::StatusOr<std::string> all =
      Record(first, "2026-11-22", "first value");
  ASSERT_THAT(all, IsOk());
  EXPECT_THAT(ParseThresholdFile("t", *all).problems, IsEmpty());
}

TEST(ThresholdEditTest, RecordsNothingThatIsLeftOut) {
  std::string text =
      "# proto-file: gates/judge/gate.proto\n"
      "# proto-message: footprint.ThresholdFile\nschema_version: 1\n";
  for (const char* label : {"//a:b", "//c:d"}) {
    absl::StrAppend(&text, "threshold { selector { label: \"", label,
                    "\" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 2 history "
                    "{ date: '2026-11-21' new_value: 1 reason: 'x' } }\n");
  }
  const auto leave_out = [](const Threshold& threshold) {
    return threshold.selector().label() == "//a:b" ? "" : "not asked for";
  };
  const absl::StatusOr<RecordedChanges> recorded =
      RecordChangesByHand("t", text, "2026-11-22", "y", leave_out);
  ASSERT_THAT(recorded, IsOk());
  EXPECT_THAT(recorded->descriptions,
              ElementsAre("t:4: //a:b *: recorded what was changed by hand"));
  EXPECT_THAT(recorded->left,
              ElementsAre("t:5: //c:d * was changed by hand too, and is not "
                          "recorded: not asked for"));
  const std::vector<Problem> problems =
      ParseThresholdFile("t", recorded->text).problems;
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].location(), HasSubstr("t:5:"));
  // A mistake that recording would not fix is refused even in a threshold that
  // is left out.
  EXPECT_THAT(RecordChangesByHand(
                  "t", absl::StrReplaceAll(text, {{"2026-11-21", "today"}}),
                  "2026-11-22", "y", leave_out),
              Not(IsOk()));
}

TEST(ThresholdEditTest, AppendedBlocksParse) {
  Threshold threshold;
  threshold.mutable_selector()->set_label("//x:y");
  threshold.mutable_selector()->set_benchmark("BM_\"odd\"\n");
  threshold.set_metric(ALLOCATION_COUNT);
  threshold.set_max_count(3);
  for (const std::string& text :
       {std::string(kText), absl::StrReplaceAll(kText, {{"\n", "\r\n"}})}) {
    const std::string edited = AppendThresholds(text, {threshold, threshold});
    EXPECT_EQ(edited.substr(0, text.size()), text);
    EXPECT_EQ(edited.find("\r\n") != std::string::npos,
              text.find("\r\n") != std::string::npos);
    const ThresholdSource source = ParseThresholdFile("t", edited);
    EXPECT_EQ(source.file.threshold_size(), 6);
    EXPECT_EQ(source.file.threshold(4).selector().benchmark(), "BM_\"odd\"\n");
  }
}

TEST(ThresholdEditTest, AFileWithoutRulesTakesThresholds) {
  const std::string headers =
      "# proto-file: gates/judge/gate.proto\n"
      "# proto-message: footprint.ThresholdFile\n";
  Threshold threshold;
  threshold.mutable_selector()->set_label("//x:y");
  threshold.set_metric(PEAK_LIVE_USABLE_BYTES);
  threshold.set_max_bytes(3);
  *threshold.add_history() = FirstEntry(threshold, "2026-11-21", "first");
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("# ours"), headers,
        headers + "schema_version: 1\n", headers + "schema_version: 1"}) {
    EXPECT_TRUE(IsThresholdFileWithoutRules(text)) << text;
    const std::string edited = AppendThresholds(text, {threshold});
    EXPECT_THAT(ParseThresholdFile("t", edited).problems, IsEmpty()) << edited;
  }
  EXPECT_FALSE(IsThresholdFileWithoutRules(kText));
  EXPECT_FALSE(IsThresholdFileWithoutRules("threshold {"));
}

TEST(ThresholdEditTest, ACountIsAddedOrChanged) {
  ThresholdChange change;
  change.threshold = 0;
  change.benchmark_count = 5;
  const absl::StatusOr<std::string> added =
      EditThresholds("t", kText, {change});
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(ParseThresholdFile("t", *added).file.threshold(0).benchmark_count(),
            5);
  change.benchmark_count = 4;
  const absl::StatusOr<std::string> changed =
      EditThresholds("t", *added, {change});
  EXPECT_THAT(changed,
              IsOkAndHolds(absl::StrReplaceAll(
                  *added, {{"benchmark_count: 5", "benchmark_count: 4"}})));
}

TEST(ThresholdEditTest, AWrittenLimitStaysOne) {
  const std::string text =
      "threshold { selector { label: '//x:y' } metric: PEAK_LIVE_USABLE_BYTES\n"
      "  min:  '1'  # low\n    ' MB'  # the minimum\n"
      "  max: \"2 MB\" severity: WARN }\n";
  ThresholdChange change;
  change.limit = 3500000;
  change.written_limit = "3.5 MB";
  change.minimum = 1250000;
  change.written_minimum = "1.25 MB";
  EXPECT_THAT(EditThresholds("t", text, {change}),
              IsOkAndHolds(absl::StrReplaceAll(
                  text, {{"\"2 MB\"", "\"3.5 MB\""},
                         {"'1'  # low\n    ' MB'", "\"1.25 MB\""}})));
  // A text that does not mean the number is found.
  change.written_limit = "3.6 MB";
  EXPECT_THAT(EditThresholds("t", text, {change}),
              StatusIs(absl::StatusCode::kInternal));
}

TEST(ThresholdEditTest, ANewFileTakesThresholds) {
  Environment environment;
  environment.set_compiler("gcc \"13\"");
  Threshold threshold;
  threshold.mutable_selector()->set_label("//x:y");
  threshold.set_metric(PEAK_LIVE_USABLE_BYTES);
  threshold.set_exact_bytes(3);
  *threshold.add_history() = FirstEntry(threshold, "2026-11-21", "first");
  const ThresholdSource source = ParseThresholdFile(
      "t", AppendThresholds(NewThresholdText(environment), {threshold}));
  EXPECT_THAT(source.problems, IsEmpty());
  EXPECT_EQ(source.file.environment().compiler(), "gcc \"13\"");
  EXPECT_TRUE(source.file.recorded());
  EXPECT_EQ(source.file.threshold(0).exact_bytes(), 3);
}

// Makes random layouts: every way to write a field, with comments anywhere.
class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  std::string Write() {
    std::string text =
        "# proto-file: gates/judge/gate.proto\n"
        "# proto-message: footprint.ThresholdFile\nschema_version: 1\n"
        "environment { compiler: \"x\" }";
    count_ = 1 + Below(5);
    for (int i = 0; i < count_; ++i) {
      const bool is_angled = Below(4) == 0;
      absl::StrAppend(&text, Space(), "threshold", Below(3) == 0 ? ":" : "",
                      Gap(), is_angled ? "<" : "{", Gap(),
                      "selector { label: \"//a:", i, "\" }", Space());
      std::vector<std::string> fields = {
          absl::StrCat("metric", Gap(), ":", Gap(), "NET_GROWTH_USABLE_BYTES"),
          absl::StrCat("exact_bytes", Gap(), ":", Gap(), Number()),
          "owner: \"exact_bytes: 5 } #\""};
      std::shuffle(fields.begin(), fields.end(), random_);
      for (const std::string& field : fields) {
        absl::StrAppend(&text, field, Below(3) == 0 ? ";" : "", Space());
      }
      absl::StrAppend(&text, is_angled ? ">" : "}", Below(4) == 0 ? "," : "");
    }
    return text + (Below(2) == 0 ? "\n" : "");
  }

  int count() const { return count_; }
  int Below(int bound) { return static_cast<int>(random_() % bound); }

 private:
  std::string Gap() { return Below(2) == 0 ? "" : Space(); }
  std::string Space() {
    static const char* const kSpaces[] = {" ",
                                          "  ",
                                          "\n",
                                          "\t",
                                          " \t ",
                                          "\r\n",
                                          " # } > 17 \n",
                                          "\n",
                                          "#exact_bytes: 3\n",
                                          "\n\n\t\t"};
    return kSpaces[Below(10)];
  }
  std::string Number() {
    static const char* const kNumbers[] = {"0",  "17",  "0x1F", "25",
                                           "-4", "- 4", "-\n4", "123456789012"};
    return kNumbers[Below(8)];
  }

  std::mt19937 random_;
  int count_ = 0;
};

// Returns the text without the new number: an edit must not change this.
std::string WithoutNumber(const std::string& text) {
  return absl::StrReplaceAll(text, {{"987654321", ""}});
}

TEST(ThresholdEditPropertyTest, TextOutsideTheNumberIsUnchanged) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomText random(seed);
    const std::string text = random.Write();
    const ThresholdSource before = ParseThresholdFile("t", text);
    ASSERT_THAT(before.problems, IsEmpty())
        << before.problems[0].DebugString() << text;
    const int number = random.Below(random.count());
    const std::string edited = Edit(text, {Limit(number, 987654321)});
    // The edited text without its new number is the old one less one number: it
    // is a prefix and a suffix of it, and the text between reads as the old
    // value.
    const size_t at = edited.find("987654321");
    ASSERT_NE(at, std::string::npos);
    const std::string rest = WithoutNumber(edited);
    ASSERT_EQ(text.substr(0, at), rest.substr(0, at)) << text;
    const size_t tail = rest.size() - at;
    ASSERT_EQ(text.substr(text.size() - tail), rest.substr(at)) << text;
    for (char c : text.substr(at, text.size() - tail - at)) {
      ASSERT_TRUE(std::isxdigit(c) != 0 || std::isspace(c) != 0 || c == '-' ||
                  c == 'x')
          << text;
    }
    // A second edit restores the old value.
    const int64_t old = before.file.threshold(number).exact_bytes();
    const ThresholdSource again =
        ParseThresholdFile("t", Edit(edited, {Limit(number, old)}));
    ASSERT_EQ(again.file.SerializeAsString(), before.file.SerializeAsString());
  }
}

TEST(ThresholdEditPropertyTest, HistoryIsAppendedToTheRightThreshold) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomText random(seed);
    const std::string text = random.Write();
    ThresholdChange change;
    change.threshold = random.Below(random.count());
    const ThresholdSource before = ParseThresholdFile("t", text);
    change.history =
        FirstEntry(before.file.threshold(change.threshold), "2026-11-21",
                   absl::StrCat("seed ", seed, " } # \""));
    // EditThresholds itself compares the result with the requested change.
    const ThresholdSource source =
        ParseThresholdFile("t", Edit(text, {change}));
    ASSERT_THAT(source.problems, IsEmpty());
    ASSERT_EQ(source.file.threshold(change.threshold).history_size(), 1);
  }
}

}  // namespace
}  // namespace footprint
