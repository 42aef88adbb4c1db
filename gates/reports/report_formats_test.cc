#include "footprint/gates/reports/report_formats.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Report(const Verdict& verdict, absl::string_view format) {
  ReportOptions options;
  options.has_every_rule = true;
  return (*FindReportFormat(format))->write(verdict, options);
}

TEST(ReportFormatsTest, EveryFormatPassesOnWhatProducersSay) {
  Verdict verdict = ExampleVerdict();
  ProducerRemark* const remark = verdict.add_remarks();
  remark->set_label("//c:d");
  remark->mutable_remark()->set_about("memo plan");
  remark->mutable_remark()->set_text("5 loads");
  EXPECT_THAT(Report(verdict, "text"),
              HasSubstr("//c:d\n  memo plan: 5 loads\n  BM_Load\n"));
  EXPECT_THAT(Report(verdict, "json"),
              AllOf(HasSubstr("\"about\": \"memo plan\""),
                    HasSubstr("\"text\": \"5 loads\"")));
  EXPECT_THAT(
      Report(verdict, "junit"),
      HasSubstr("<system-out>memo plan: 5 loads</system-out>\n  </testsuite>"));
  EXPECT_THAT(Report(verdict, "markdown"),
              HasSubstr("### //c:d\n\nmemo plan: 5 loads\n\n| benchmark"));
}

TEST(ReportFormatsTest, OnlyTextHasColourAndAWidth) {
  for (const ReportFormat& format : ReportFormats()) {
    const std::string plain = format.write(ExampleVerdict(), ReportOptions());
    EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
    if (format.name == std::string("text")) continue;
    ReportOptions options;
    options.has_colour = true;
    options.width = 40;
    EXPECT_EQ(format.write(ExampleVerdict(), options), plain);
  }
}

// With and without every rule, all formats have the same content.
TEST(ReportFormatsTest, EveryFormatHasTheSameContent) {
  const auto strip = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{"\\", ""}, {" ", ""}, {"\n", ""}});
  };
  for (const ReportFormat& format : ReportFormats()) {
    for (const bool has_every_rule : {false, true}) {
      ReportOptions options;
      options.has_every_rule = has_every_rule;
      const std::string report = strip(format.write(ExampleVerdict(), options));
      // The deployments, both violations with their commands, and the problem.
      for (const char* part :
           {"//a:b", "//c:d", "//e:f", "BM_Load", "BM_Fit/rows:10", "WARN",
            "t.textproto:9", "t.textproto:14", "gavenomeasurement",
            "bazelrun//gates:update----only=//a:b",
            "bazelrun//gates:update----only=//c:d"}) {
        EXPECT_THAT(report, HasSubstr(part)) << format.name;
      }
      // GitLab's report omits rules that hold, since a merge request shows each
      // entry as something worse.
      const bool has_findings_only = format.name == std::string("gitlab");
      EXPECT_EQ(
          report.find("1,572,864") != std::string::npos ||
              report.find("1572864") != std::string::npos ||
              report.find("peak_live_usable_bytesmax") != std::string::npos,
          has_every_rule && !has_findings_only)
          << format.name << report;
      if (has_every_rule) continue;
      EXPECT_THAT(report, HasSubstr("0.1%over1,000")) << format.name;
    }
  }
}

TEST(ReportFormatsTest, KnowsItsFormats) {
  for (const char* name :
       {"text", "json", "junit", "markdown", "sarif", "github",
        "github-summary", "gitlab", "openmetrics"}) {
    EXPECT_EQ((*FindReportFormat(name))->name, std::string(name));
  }
  EXPECT_THAT(std::string(FindReportFormat("yaml\n").status().message()),
              HasSubstr("there is no format \"yaml\\n\"; use text, json, "
                        "junit, markdown, sarif, github, github-summary, "
                        "gitlab or openmetrics"));
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
def replaced(name):
    # How many U+FFFD stand for bytes that are no UTF-8 is the writer's choice.
    return re.sub("\ufffd+", "\ufffd", name.decode("utf-8", "replace"))
report = json.load(open(folder + "/report.json", encoding="utf-8"))
assert [re.sub("\ufffd+", "\ufffd", j["benchmark"]) for j in report["judgements"]] == \
       [replaced(name) for name in names]
assert [re.sub("\ufffd+", "\ufffd", p["location"]) for p in report["problems"]] == \
       [replaced(name) for name in names]
assert [re.sub("\ufffd+", "\ufffd", r["about"]) for r in report["remarks"]] == \
       [replaced(name) for name in names]
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
  Put(folder + "/report.json", Report(verdict, "json"));
  Put(folder + "/report.xml", Report(verdict, "junit"));
  Put(folder + "/report.md", Report(verdict, "markdown"));
  Put(folder + "/report.txt", Report(verdict, "text"));
  Put(folder + "/check.py", kCheckReports);
  return std::system(
      absl::StrCat("python3 ", folder, "/check.py ", folder).c_str());
}

TEST(ReportFormatsTest, StrangeNamesSurviveRealParsers) {
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

TEST(ReportFormatsTest, RandomNamesSurviveRealParsers) {
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

}  // namespace
}  // namespace footprint
