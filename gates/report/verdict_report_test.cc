#include "footprint/gates/report/verdict_report.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/gate.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Verdict FromText(const std::string& text) {
  Verdict verdict;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &verdict));
  return verdict;
}

Verdict Example() {
  return FromText(R"pb(
    decision: REJECT
    judgements {
      label: "//a:b"
      benchmark: "BM_Fit/rows:10"
      metric: PEAK_LIVE_USABLE_BYTES
      measured: 1572864
      limit: 2097152
      rule: MAXIMUM
      severity: BLOCK
      decision: ACCEPT
      threshold_location: "t.textproto:4"
    }
    judgements {
      label: "//a:b"
      benchmark: "BM_Fit/rows:10"
      phase: "loop/read"
      metric: ALLOCATION_COUNT
      measured: 1001
      limit: 1000
      rule: EXACT_VALUE
      severity: BLOCK
      decision: REJECT
      threshold_location: "t.textproto:9"
      command_to_accept: "bazel run //gates:update -- --only=//a:b"
    }
    judgements {
      label: "//c:d"
      benchmark: "BM_Load"
      metric: PEAK_LIVE_USABLE_BYTES
      measured: 10
      limit: 20
      rule: MINIMUM
      severity: WARN
      decision: REJECT
      threshold_location: "t.textproto:14"
      command_to_accept: "bazel run //gates:update -- --only=//c:d"
    }
    problems {
      decision: PRODUCER_FAILED
      location: "//e:f"
      message: "gave no measurement\nlast words"
    }
  )pb");
}

std::string Report(const Verdict& verdict, ReportFormat format,
                   bool has_colour = false) {
  ReportOptions options;
  options.format = format;
  options.has_colour = has_colour;
  return WriteReport(verdict, options);
}

TEST(VerdictReportTest, TextIsATableByDeploymentAndALastLine) {
  EXPECT_EQ(Report(Example(), ReportFormat::kText),
            R"text(//a:b
  benchmark                   metric                     measured                       limit  margin                 verdict
  BM_Fit/rows:10              peak live    1.50 MiB (1,572,864 B)  max 2.00 MiB (2,097,152 B)  512 KiB left (25.0 %)  accept
  BM_Fit/rows:10 [loop/read]  allocations                   1,001                 exact 1,000  1 over                 REJECT

//c:d
  benchmark                   metric                     measured                       limit  margin                 verdict
  BM_Load                     peak live                      10 B                    min 20 B  10 B under             WARN

REJECT //a:b BM_Fit/rows:10 [loop/read]: allocations is 1,001, limit exact 1,000, 1 over (t.textproto:9)
    accept it with: bazel run //gates:update -- --only=//a:b

WARN //c:d BM_Load: peak live is 10 B, limit min 20 B, 10 B under (t.textproto:14)
    accept it with: bazel run //gates:update -- --only=//c:d

PRODUCER_FAILED //e:f: gave no measurement
    last words

REJECT 2 deployments, 2 benchmarks, 3 rules, 1 rejected, 1 warned, 1 problem
)text");
}

TEST(VerdictReportTest, EveryFormatPassesOnWhatProducersSay) {
  Verdict verdict = Example();
  ProducerRemark* const remark = verdict.add_remarks();
  remark->set_label("//c:d");
  remark->mutable_remark()->set_about("memo plan");
  remark->mutable_remark()->set_text("5 loads");
  EXPECT_THAT(Report(verdict, ReportFormat::kText),
              HasSubstr("//c:d\n  memo plan: 5 loads\n  benchmark"));
  EXPECT_THAT(Report(verdict, ReportFormat::kJson),
              HasSubstr("\"remarks\": [\n    {\"label\": \"//c:d\", \"about\": "
                        "\"memo plan\", \"text\": \"5 loads\"}\n  ]"));
  EXPECT_THAT(
      Report(verdict, ReportFormat::kJunit),
      HasSubstr("<system-out>memo plan: 5 loads</system-out>\n  </testsuite>"));
  EXPECT_THAT(Report(verdict, ReportFormat::kMarkdown),
              HasSubstr("### //c:d\n\nmemo plan: 5 loads\n\n| benchmark"));
}

TEST(VerdictReportTest, ColourIsForTerminalsOnly) {
  const std::string plain = Report(Example(), ReportFormat::kText);
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  std::string coloured = Report(Example(), ReportFormat::kText, true);
  EXPECT_THAT(coloured, HasSubstr("\x1b[31mREJECT\x1b[0m"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[32maccept\x1b[0m"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[33mWARN\x1b[0m"));
  // Without the colours it is the same text.
  for (const char* code : {"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"}) {
    for (size_t at = coloured.find(code); at != std::string::npos;
         at = coloured.find(code)) {
      coloured.erase(at, std::string(code).size());
    }
  }
  EXPECT_EQ(coloured, plain);
  for (ReportFormat format :
       {ReportFormat::kJson, ReportFormat::kJunit, ReportFormat::kMarkdown}) {
    EXPECT_THAT(Report(Example(), format, true), Not(HasSubstr("\x1b")));
  }
}

TEST(VerdictReportTest, JunitHasASuiteADeploymentAndACaseARule) {
  EXPECT_EQ(Report(Example(), ReportFormat::kJunit),
            R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1">
  <testsuite name="//a:b" tests="2" failures="1" errors="0">
    <testcase classname="//a:b" name="BM_Fit/rows:10 peak_live_usable_bytes max"/>
    <testcase classname="//a:b" name="BM_Fit/rows:10 [loop/read] allocation_count exact"><failure type="REJECT" message="//a:b BM_Fit/rows:10 [loop/read]: allocations is 1,001, limit exact 1,000, 1 over (t.textproto:9)">accept it with: bazel run //gates:update -- --only=//a:b</failure></testcase>
  </testsuite>
  <testsuite name="//c:d" tests="1" failures="0" errors="0">
    <testcase classname="//c:d" name="BM_Load peak_live_usable_bytes min"><system-out>WARN //c:d BM_Load: peak live is 10 B, limit min 20 B, 10 B under (t.textproto:14)&#10;accept it with: bazel run //gates:update -- --only=//c:d</system-out></testcase>
  </testsuite>
  <testsuite name="problems" tests="1" failures="0" errors="1">
    <testcase classname="problems" name="//e:f"><error type="PRODUCER_FAILED" message="gave no measurement&#10;last words"/></testcase>
  </testsuite>
</testsuites>
)xml");
}

TEST(VerdictReportTest, MarkdownHasTheSameTables) {
  const std::string text = Report(Example(), ReportFormat::kMarkdown);
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("## REJECT 2 deployments, 2 benchmarks, 3 rules"),
            HasSubstr("### //a:b\n\n| benchmark | metric |"),
            HasSubstr("| BM\\_Fit/rows:10 | peak live | 1.50 MiB "
                      "\\(1,572,864 B\\) | max 2.00 MiB \\(2,097,152 B\\) | "
                      "512 KiB left \\(25.0 %\\) | accept |\n"),
            HasSubstr("- **REJECT** //a:b"),
            HasSubstr("- **PRODUCER\\_FAILED** //e:f: gave no "
                      "measurement<br>last words\n")));
}

TEST(VerdictReportTest, MarginsSayWhichWay) {
  Verdict verdict = Example();
  verdict.mutable_judgements()->DeleteSubrange(1, 2);
  verdict.clear_problems();
  Judgement* judgement = verdict.mutable_judgements(0);
  const auto margin = [&](RuleKind rule, int64_t measured, int64_t limit,
                          Decision decision) {
    judgement->set_rule(rule);
    judgement->set_measured(measured);
    judgement->set_limit(limit);
    judgement->set_decision(decision);
    return Report(verdict, ReportFormat::kText);
  };
  EXPECT_THAT(margin(MAXIMUM, 5, 5, ACCEPT), HasSubstr("  none left  "));
  EXPECT_THAT(margin(MAXIMUM, 5, 0, REJECT), HasSubstr("  5 B over  "));
  EXPECT_THAT(margin(MAXIMUM, -5, 0, ACCEPT), HasSubstr("  5 B left  "));
  EXPECT_THAT(margin(EXACT_VALUE, 5, 5, ACCEPT), HasSubstr("  exact  "));
  EXPECT_THAT(margin(EXACT_VALUE, 4, 5, REJECT), HasSubstr("  1 B under  "));
  EXPECT_THAT(margin(MINIMUM, 6, 5, ACCEPT), HasSubstr("  1 B left (20.0 %)"));
  EXPECT_THAT(margin(MAXIMUM, INT64_MAX, INT64_MIN, REJECT),
              HasSubstr("8.00 EiB over"));
}

TEST(VerdictReportTest, EveryDecisionBeginsTheLastLine) {
  for (int number = 0; number <= 5; ++number) {
    Verdict verdict;
    verdict.set_decision(static_cast<Decision>(number));
    const std::string text = Report(verdict, ReportFormat::kText);
    EXPECT_EQ(text.find(Decision_Name(verdict.decision())), 0U) << text;
  }
}

TEST(VerdictReportTest, KnowsItsFormats) {
  EXPECT_EQ(*ParseReportFormat("text"), ReportFormat::kText);
  EXPECT_EQ(*ParseReportFormat("json"), ReportFormat::kJson);
  EXPECT_EQ(*ParseReportFormat("junit"), ReportFormat::kJunit);
  EXPECT_EQ(*ParseReportFormat("markdown"), ReportFormat::kMarkdown);
  EXPECT_THAT(std::string(ParseReportFormat("yaml").status().message()),
              HasSubstr("use text, json, junit or markdown"));
}

// ---- Real parsers ----

void Put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string Hexadecimal(const std::string& bytes) {
  std::string text;
  char digits[3];
  for (char c : bytes) {
    std::snprintf(digits, sizeof(digits), "%02x",
                  static_cast<unsigned char>(c));
    text += digits;
  }
  return text;
}

// Reads names.txt (one name a line, as hexadecimal) and the reports, and fails
// if a name cannot be found again.
constexpr char kCheckReports[] = R"python(
import json, re, sys
import xml.etree.ElementTree
folder = sys.argv[1]
names = [bytes.fromhex(line.strip())
         for line in open(folder + "/names.txt").read().splitlines()]
def shown(name, keeps):
    text = name.decode("utf-8", "backslashreplace")
    return "".join(c if c in keeps or c >= " " and not "\x7f" <= c < "\xa0"
                   and c not in "\ufffe\uffff"
                   else "".join("\\x%02x" % b for b in c.encode()) for c in text)
report = json.load(open(folder + "/report.json", encoding="utf-8"))
everything = "".join(map(chr, range(32))) + "\x7f"
assert [j["benchmark"] for j in report["judgements"]] == \
       [shown(name, everything) for name in names]
assert [p["location"] for p in report["problems"]] == \
       [shown(name, everything) for name in names]
assert [r["about"] for r in report["remarks"]] == \
       [shown(name, everything) for name in names]
tree = xml.etree.ElementTree.parse(folder + "/report.xml")
cases = [case.get("name") for case in tree.iter("testcase")]
half = len(names)
assert cases[half:] == [shown(name, "\n\t") for name in names]
for case, name in zip(cases, names):
    assert case == shown(name, "\n\t") + " peak_live_usable_bytes max", case
rows = [line for line in open(folder + "/report.md", encoding="utf-8", newline="\n")
        if line.startswith("| ") and not line.startswith("| benchmark")]
assert len(rows) == len(names), len(rows)
for row in rows:
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 7, row
    assert not re.search("<(?!br>)", row), row
lines = open(folder + "/report.txt", encoding="utf-8", newline="\n").read().split("\n")
assert len([l for l in lines if l.startswith("  ") and "accept" in l]) == half
)python";

int CheckReports(const std::vector<std::string>& names) {
  Verdict verdict;
  std::string hexadecimal;
  for (const std::string& name : names) {
    absl::StrAppend(&hexadecimal, Hexadecimal(name), "\n");
    Judgement* judgement = verdict.add_judgements();
    judgement->set_label("//a:b");
    judgement->set_benchmark(name);
    judgement->set_metric(PEAK_LIVE_USABLE_BYTES);
    judgement->set_rule(MAXIMUM);
    Problem* problem = verdict.add_problems();
    problem->set_decision(BAD_CONFIGURATION);
    problem->set_location(name);
    problem->set_message("\"" + name);
    ProducerRemark* remark = verdict.add_remarks();
    remark->set_label("//a:b");
    remark->mutable_remark()->set_about(name);
    remark->mutable_remark()->set_text(name);
  }
  const std::string folder = testing::TempDir();
  Put(folder + "/names.txt", hexadecimal);
  Put(folder + "/report.json", Report(verdict, ReportFormat::kJson));
  Put(folder + "/report.xml", Report(verdict, ReportFormat::kJunit));
  Put(folder + "/report.md", Report(verdict, ReportFormat::kMarkdown));
  Put(folder + "/report.txt", Report(verdict, ReportFormat::kText));
  Put(folder + "/check.py", kCheckReports);
  return std::system(
      absl::StrCat("python3 ", folder, "/check.py ", folder).c_str());
}

TEST(VerdictReportTest, StrangeNamesSurviveRealParsers) {
  EXPECT_EQ(CheckReports({"BM_Sort<int>",
                          "a&b",
                          "say \"hi\"",
                          "a::b",
                          "a|b",
                          "a\\|b",
                          "a,b",
                          "'",
                          "line\nfeed",
                          "tab\t",
                          "\x1b[2J",
                          "\x7f",
                          "\xc3\xa9",
                          "\xff",
                          "\xed\xa0\x80",
                          "\xef\xbf\xbf",
                          "\xc2\x85",
                          "]]>",
                          "<!--",
                          "`x`",
                          "${x}",
                          "%s%n",
                          std::string("nul\0", 4),
                          "back\\slash",
                          "\r"}),
            0);
}

TEST(VerdictReportTest, RandomNamesSurviveRealParsers) {
  std::mt19937 random(5);
  const std::string special = "<>&\"'::|,\\`*_[]()#\n\t\r\x1b\xc3\xa9\xff ";
  std::vector<std::string> names(500);
  for (std::string& name : names) {
    name = "n";
    for (int i = random() % 12; i > 0; --i) {
      name += random() % 2 == 0 ? special[random() % special.size()]
                                : static_cast<char>(random());
    }
  }
  EXPECT_EQ(CheckReports(names), 0);
}

TEST(VerdictReportTest, ALimitOnAMetricThatIsNotExactNamesItsClass) {
  Verdict verdict = Example();
  verdict.mutable_judgements(0)->set_determinism(BOUNDED);
  verdict.mutable_judgements(1)->set_determinism(EXACT);
  EXPECT_THAT(Report(verdict, ReportFormat::kText),
              AllOf(HasSubstr("max 2.00 MiB (2,097,152 B) of BOUNDED"),
                    Not(HasSubstr("of EXACT"))));
  EXPECT_THAT(Report(verdict, ReportFormat::kMarkdown),
              HasSubstr("of BOUNDED"));
  EXPECT_THAT(Report(verdict, ReportFormat::kJson),
              AllOf(HasSubstr("\"determinism\": \"BOUNDED\""),
                    HasSubstr("\"determinism\": \"EXACT\"")));
}

}  // namespace
}  // namespace footprint
