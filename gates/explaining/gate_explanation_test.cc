#include "footprint/gates/explaining/gate_explanation.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/explaining/explained_input.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

absl::StatusOr<std::vector<GateExplanation>> Explain(
    const ExplainOptions& options, const GateInput& input = ExplainedInput()) {
  return ExplainGates(input, Judge(input, EvaluationOptions()), options);
}

TEST(GateExplanationTest, TellsAllOfARule) {
  ExplainOptions options;
  options.gate = "t:6";
  const auto explained = Explain(options);
  ASSERT_THAT(explained, IsOk());
  ASSERT_EQ(explained->size(), 1U);
  const GateExplanation& gate = explained->front();
  EXPECT_EQ(gate.judgement.decision(), REJECT);
  EXPECT_EQ(gate.threshold.owner(), "models");
  EXPECT_EQ(gate.threshold.history_size(), 1);
  EXPECT_EQ(gate.process_count, 3);
  ASSERT_EQ(gate.phases.size(), 2U);
  EXPECT_EQ(gate.phases[0].name, "read");  // the largest first
  EXPECT_EQ(gate.held_at_peak.at(0).name, "tensor:conv1/weights");
  // The exact value that changed shows where it grew.
  ASSERT_EQ(gate.moved_exact_values.size(), 1U);
  EXPECT_EQ(gate.moved_exact_values[0].phase(), "read");
  EXPECT_EQ(gate.kept_exact_values, 1);
  EXPECT_FALSE(gate.difference.has_value());
  EXPECT_THAT(gate.command, HasSubstr("--allow_increase --reason=\"...\""));
}

TEST(GateExplanationTest, OfALabelWhatIsNotAcceptedElseTheNearest) {
  ExplainOptions options;
  options.gate = "//a:*";
  EXPECT_EQ(Explain(options)->size(), 2U);  // the limit, and "read"
  options.has_every_rule = true;
  EXPECT_EQ(Explain(options)->size(), 4U);
  options.has_every_rule = false;
  options.benchmark = "BM_Load";
  const auto holding = Explain(options);
  ASSERT_EQ(holding->size(), 1U);
  EXPECT_EQ(holding->front().judgement.threshold_location(),
            "x/t.textproto:14");
  EXPECT_EQ(holding->front().command,
            "bazel run //gates:update -- --only=//a:b --benchmark=BM_Load "
            "--headroom=exact");
}

TEST(GateExplanationTest, AnEarlierProfileTellsWhatGrew) {
  MemoryProfile before = ExplainedProfile();
  before.mutable_benchmarks(0)->mutable_peak_attribution(0)->set_live_bytes(48);
  before.mutable_benchmarks(1)->mutable_metrics(0)->set_value(1);
  ExplainOptions options;
  options.gate = "x/t.textproto:6";
  options.before = absl::MakeConstSpan(&before, 1);
  const auto explained = Explain(options);
  ASSERT_THAT(explained, IsOk());
  ASSERT_TRUE(explained->front().difference.has_value());
  // The difference holds this benchmark alone.
  ASSERT_EQ(explained->front().difference->children.size(), 1U);
  EXPECT_EQ(explained->front().difference->children[0].children.at(0).name,
            "tensor:conv1/weights");
  before = ExplainedProfile();
  EXPECT_TRUE(Explain(options)->front().difference->children.empty());
  before.mutable_benchmarks(0)->set_name("BM_Other");
  EXPECT_FALSE(Explain(options)->front().difference.has_value());
}

TEST(GateExplanationTest, WhoHeldThePeakIsToldOfPeaksAlone) {
  const GateInput input = ExplainedInput();
  Verdict verdict = Judge(input, EvaluationOptions());
  for (Judgement& judgement : *verdict.mutable_judgements()) {
    judgement.set_metric(ALLOCATION_COUNT);
  }
  ExplainOptions options;
  options.gate = "t:6";
  const auto explained = ExplainGates(input, verdict, options);
  ASSERT_THAT(explained, IsOk());
  EXPECT_TRUE(explained->front().held_at_peak.empty());
}

TEST(GateExplanationTest, ALocationIsNamedAsCheckPrintsIt) {
  constexpr char kLocation[] = "gates/thresholds/tabular.textproto:12";
  for (const char* name :
       {"tabular:12", "tabular.textproto:12", "thresholds/tabular:12",
        "gates/thresholds/tabular.textproto:12"}) {
    EXPECT_TRUE(NamesLocation(name, kLocation)) << name;
  }
  for (const char* name : {"ular:12", "tabular:1", "12", "", "tabular:120"}) {
    EXPECT_FALSE(NamesLocation(name, kLocation)) << name;
  }
}

TEST(GateExplanationTest, OfAnEmptyVerdictNothingIsFound) {
  EXPECT_THAT(ExplainGates(GateInput(), Verdict(), ExplainOptions()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(GateExplanationTest, SaysWhatItDoesNotKnow) {
  ExplainOptions options;
  options.gate = "//a:c";
  const absl::Status unknown = Explain(options).status();
  EXPECT_TRUE(absl::IsInvalidArgument(unknown));
  EXPECT_THAT(std::string(unknown.message()),
              AllOf(HasSubstr("//a:c"), HasSubstr("did you mean \"//a:b\"")));
  options.gate = "//a:\\b";
  EXPECT_THAT(Explain(options), testing::Not(IsOk()));
  GateInput broken = ExplainedInput();
  broken.problems.emplace_back();
  broken.problems.back().set_decision(BAD_CONFIGURATION);
  broken.problems.back().set_message("cannot be opened");
  options.gate = "//a:b";
  const absl::Status nothing = Explain(options, broken).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(nothing));
  EXPECT_THAT(std::string(nothing.message()), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace footprint
