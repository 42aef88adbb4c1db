// Reads every format with software that this project did not write: see
// report_readers.py.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "footprint/gates/reports/example_verdict.h"
#include "footprint/gates/reports/report_formats.h"
#include "footprint/gates/reports/verdict_words.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Writes the verdict in every format and the counts to find. Returns the status
// of report_readers.py.
int ReadReports(const Verdict& verdict, int most_sarif_results) {
  const std::string folder = testing::TempDir();
  ReportOptions options;
  options.has_every_rule = true;
  for (const ReportFormat& format : ReportFormats()) {
    std::ofstream(absl::StrCat(folder, "/", format.file_name))
        << format.write(verdict, options);
  }
  std::set<std::string> names;
  for (const Judgement& judgement : verdict.judgements()) {
    names.insert(absl::StrCat(
        "\"",
        absl::StrReplaceAll(judgement.benchmark(),
                            {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
        "\""));
  }
  int errors = 0;
  for (const Problem& problem : verdict.problems()) {
    errors += problem.decision() == ACCEPT ? 0 : 1;
  }
  const int rejected = CountJudgements(verdict, Outcome::kRejects);
  const int told = verdict.judgements_size() + verdict.problems_size();
  std::ofstream(folder + "/expected.json") << absl::StrCat(
      "{\"decision\": ", static_cast<int>(verdict.decision()),
      ", \"sarif_results\": ", std::min(told, most_sarif_results),
      ", \"junit_cases\": ", told, ", \"rejected\": ", rejected,
      ", \"errors\": ", errors, ", \"findings\": ",
      rejected + CountJudgements(verdict, Outcome::kWarns) +
          verdict.problems_size(),
      ", \"benchmarks\": [", absl::StrJoin(names, ","), "]}");
  // Only Debian's Python has the packages, so this does not use the first one
  // in PATH.
  return std::system(
      absl::StrCat("/usr/bin/python3 gates/reports/report_readers.py ", folder)
          .c_str());
}

constexpr int kMostSarifResults = 25000;

TEST(ReportReadersTest, ReadAnExample) {
  EXPECT_EQ(ReadReports(ExampleVerdict(), kMostSarifResults), 0);
}

TEST(ReportReadersTest, ReadStrangeNames) {
  Verdict verdict = ExampleVerdict();
  Judgement rejected = verdict.judgements(1);
  rejected.set_label("//x:y");  // judgements of a deployment stand together
  const Problem problem = verdict.problems(0);
  for (const char* name : {"BM<int>", "a&b", "say \"hi\"", "a::b", "::error::x",
                           "a|b", "back\\s", "line\nfeed", "{a=\"b\"}", "# EOF",
                           "caf\xc3\xa9", "]]>", "%0A", "${x}"}) {
    *verdict.add_judgements() = rejected;
    Judgement* const judgement =
        verdict.mutable_judgements(verdict.judgements_size() - 1);
    judgement->set_benchmark(name);
    judgement->set_phase(name);
    *verdict.add_problems() = problem;
    Problem* const strange =
        verdict.mutable_problems(verdict.problems_size() - 1);
    strange->set_message(name);
    strange->set_location(name);
  }
  EXPECT_EQ(ReadReports(verdict, kMostSarifResults), 0);
}

TEST(ReportReadersTest, ReadMoreThanAPageShows) {
  Verdict verdict = ExampleVerdict();
  Judgement rejected = verdict.judgements(1);
  rejected.set_label("//x:y");  // judgements of a deployment stand together
  for (int i = 0; i < 1500; ++i) {
    *verdict.add_judgements() = rejected;
    verdict.mutable_judgements(verdict.judgements_size() - 1)
        ->set_benchmark(absl::StrCat("BM_", i));
  }
  EXPECT_EQ(ReadReports(verdict, kMostSarifResults), 0);
}

TEST(ReportReadersTest, ReadAnAcceptedVerdict) {
  Verdict verdict;
  *verdict.add_judgements() = ExampleVerdict().judgements(0);
  EXPECT_EQ(ReadReports(verdict, kMostSarifResults), 0);
}

}  // namespace
}  // namespace footprint
