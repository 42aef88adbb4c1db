#include "footprint/gates/reports/markdown_report.h"

#include <string>

#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(MarkdownReportTest, MarkdownHasTheSameTables) {
  ReportOptions options;
  options.has_every_rule = true;
  const std::string text = WriteMarkdownReport(ExampleVerdict(), options);
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

TEST(MarkdownReportTest, WithoutEveryRuleHasARowADeployment) {
  const std::string text =
      WriteMarkdownReport(ExampleVerdict(), ReportOptions());
  EXPECT_THAT(text,
              HasSubstr("\n\n| deployment | rules | nearest margin | limit |\n"
                        "|---|---:|---|---|\n"
                        "| //a:b | 2 | 0.1 % over 1,000 | t.textproto:9 |\n"
                        "| //c:d | 1 | 50.0 % under 20 B | t.textproto:14 |\n"
                        "| //e:f | 0 | not judged | |\n\n- **REJECT** //a:b"));
  EXPECT_THAT(text, testing::Not(HasSubstr("| BM")));
}

}  // namespace
}  // namespace footprint
