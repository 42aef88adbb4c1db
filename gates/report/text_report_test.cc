#include "footprint/gates/report/text_report.h"

#include <string>

#include "footprint/gates/report/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TextReportTest, TextIsATableByDeploymentAndALastLine) {
  EXPECT_EQ(WriteTextReport(ExampleVerdict()),
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

TEST(TextReportTest, ColourIsForTerminalsOnly) {
  const std::string plain = WriteTextReport(ExampleVerdict());
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  std::string coloured = WriteColouredReport(ExampleVerdict());
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
}

TEST(TextReportTest, EveryDecisionBeginsTheLastLine) {
  for (int number = 0; number <= 5; ++number) {
    Verdict verdict;
    verdict.set_decision(static_cast<Decision>(number));
    const std::string text = WriteTextReport(verdict);
    EXPECT_EQ(text.find(Decision_Name(verdict.decision())), 0U) << text;
  }
}

}  // namespace
}  // namespace footprint
