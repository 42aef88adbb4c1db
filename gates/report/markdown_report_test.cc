#include "footprint/gates/report/markdown_report.h"

#include <string>

#include "footprint/gates/report/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(MarkdownReportTest, MarkdownHasTheSameTables) {
  const std::string text = WriteMarkdownReport(ExampleVerdict());
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

}  // namespace
}  // namespace footprint
