#include "footprint/gates/judge/gate_input.h"

#include <cstdint>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Put(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string PutProfile(const std::string& label = "//a:b") {
  MemoryProfile profile;
  profile.set_label(label);
  profile.set_process_count(3);
  BenchmarkMemory* benchmark = profile.add_benchmarks();
  benchmark->set_name("BM_X");
  Metric* metric = benchmark->add_metrics();
  metric->set_kind(PEAK_LIVE_USABLE_BYTES);
  metric->set_determinism(EXACT);
  metric->set_value(10);
  const std::string path = testing::TempDir() + "/profile.binpb";
  EXPECT_THAT(WriteMemoryProfileFile(profile, path), IsOk());
  return path;
}

std::string PutThresholds() {
  return Put("t.textproto",
             "# proto-file: gates/judge/gate.proto\n"
             "# proto-message: footprint.ThresholdFile\n"
             "schema_version: 1\n"
             "threshold { selector { label: '//a:b' } metric: "
             "PEAK_LIVE_USABLE_BYTES max_bytes: 10 }\n");
}

Verdict JudgeManifest(const std::string& text) {
  return Judge(ReadGateInput(Put("manifest", text)), EvaluationOptions());
}

TEST(GateInputTest, ReadsProfilesAndThresholds) {
  const std::string manifest =
      absl::StrCat("profile\t", PutProfile(), "\t//a:b\nthresholds\t",
                   PutThresholds(), "\n");
  const GateInput input = ReadGateInput(Put("manifest", manifest));
  EXPECT_THAT(input.problems, IsEmpty());
  EXPECT_THAT(input.profiles, SizeIs(1));
  EXPECT_THAT(input.thresholds, SizeIs(1));
  EXPECT_EQ(JudgeManifest(manifest).decision(), ACCEPT);
}

TEST(GateInputTest, AFlippedBitIsItsProducersFault) {
  const Verdict verdict = JudgeManifest(absl::StrCat(
      "profile\t", Put("empty", ""), "\t//a:b\nthresholds\t", PutThresholds()));
  EXPECT_EQ(verdict.decision(), PRODUCER_FAILED);
  ASSERT_THAT(verdict.problems(), SizeIs(1));
  EXPECT_EQ(verdict.problems(0).location(), "//a:b");
  EXPECT_THAT(verdict.problems(0).message(), HasSubstr("is empty"));
}

TEST(GateInputTest, AProfileOfAnotherLabelIsNamed) {
  const Verdict verdict =
      JudgeManifest(absl::StrCat("profile\t", PutProfile("//a:c"),
                                 "\t//a:b\nthresholds\t", PutThresholds()));
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  ASSERT_THAT(verdict.problems(), SizeIs(1));
  EXPECT_EQ(verdict.problems(0).location(), "//a:b");
  EXPECT_THAT(verdict.problems(0).message(),
              HasSubstr("is a profile of \"//a:c\", so //a:b is not judged"));
}

TEST(GateInputTest, ADamagedProfileIsItsProducersFault) {
  const std::string path = PutProfile();
  std::string bytes;
  std::getline(std::ifstream(path, std::ios::binary), bytes, '\xff');
  bytes[bytes.size() / 2] ^= 1;
  const Verdict verdict =
      JudgeManifest(absl::StrCat("profile\t", Put("damaged", bytes),
                                 "\t//a:b\nthresholds\t", PutThresholds()));
  EXPECT_EQ(verdict.decision(), PRODUCER_FAILED);
  ASSERT_THAT(verdict.problems(), SizeIs(1));
  EXPECT_THAT(verdict.problems(0).message(), HasSubstr("is damaged"));
}

std::string PutSamples(const std::string& label, int64_t value) {
  MemorySamples samples;
  samples.set_label(label);
  SampledBenchmark* benchmark = samples.add_benchmarks();
  benchmark->set_name("BM_X");
  SampledMetric* metric = benchmark->add_metrics();
  metric->set_kind(PEAK_RESIDENT_BYTES);
  for (int i = 0; i < 59; ++i) metric->add_values(value);
  const std::string path = testing::TempDir() + "/samples.binpb";
  EXPECT_THAT(WriteMemorySamplesFile(samples, path), IsOk());
  return path;
}

std::string PutBudget() {
  return Put("b.textproto",
             "# proto-file: gates/judge/gate.proto\n"
             "# proto-message: footprint.ThresholdFile\n"
             "schema_version: 1\n"
             "threshold { selector { label: '//a:b' } metric: "
             "PEAK_RESIDENT_BYTES max_bytes: 10 "
             "budget { share: 0.95 confidence: 0.95 } }\n");
}

TEST(GateInputTest, SamplesAreJudgedByABudget) {
  const auto decide = [](const std::string& samples) {
    return JudgeManifest(absl::StrCat("profile\t", PutProfile(),
                                      "\t//a:b\nthresholds\t", PutBudget(),
                                      "\n", samples))
        .decision();
  };
  EXPECT_EQ(decide(""), INCONCLUSIVE);
  EXPECT_EQ(
      decide(absl::StrCat("samples\t", PutSamples("//a:b", 10), "\t//a:b\n")),
      ACCEPT);
  EXPECT_EQ(
      decide(absl::StrCat("samples\t", PutSamples("//a:b", 11), "\t//a:b\n")),
      REJECT);
  EXPECT_EQ(
      decide(absl::StrCat("samples\t", PutSamples("//a:c", 10), "\t//a:b\n")),
      BAD_CONFIGURATION);
  EXPECT_EQ(decide("samples\t/none\t//a:b\n"), BAD_CONFIGURATION);
  // 30 runs given twice do not count as 60.
  const std::string line =
      absl::StrCat("samples\t", PutSamples("//a:b", 10), "\t//a:b\n");
  EXPECT_EQ(decide(line + line), BAD_CONFIGURATION);
}

TEST(GateInputTest, SamplesThatNoRuleWantsAreNotRead) {
  EXPECT_EQ(JudgeManifest(absl::StrCat("profile\t", PutProfile(),
                                       "\t//a:b\nsamples\t/none\t//a:b\n"
                                       "thresholds\t",
                                       PutThresholds()))
                .decision(),
            ACCEPT);
}

TEST(GateInputTest, WhatCannotBeReadIsSaidAlone) {
  for (const std::string& line :
       {std::string("profile\t/none\t//a:b"),
        "profile\t" + Put("foreign", "GIF89a...") + "\t//a:b",
        std::string("thresholds\t/none"), std::string("profil\tx\ty"),
        std::string("profile\tx"), std::string("thresholds\tx\ty")}) {
    const Verdict verdict = JudgeManifest(line);
    EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION) << line;
    EXPECT_THAT(verdict.problems(), SizeIs(1)) << line;
  }
  EXPECT_EQ(Judge(ReadGateInput("/none"), EvaluationOptions()).decision(),
            BAD_CONFIGURATION);
}

TEST(GateInputTest, AllThatCannotBeReadIsSaid) {
  const Verdict verdict = JudgeManifest(absl::StrCat(
      "profile\t/none\t//a:b\nthresholds\t", Put("bad.textproto", "nonsense")));
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(verdict.problems(), SizeIs(2));
}

std::string PutWholeProcess(const std::string& label = "//a:b") {
  MemoryProfile whole;
  whole.set_label(label);
  whole.set_process_count(3);
  BenchmarkMemory* benchmark = whole.add_benchmarks();
  benchmark->set_name("whole_process/x");
  Metric* metric = benchmark->add_metrics();
  metric->set_kind(PEAK_RESIDENT_BYTES);
  metric->set_determinism(STATISTICAL);
  metric->set_value(5000);
  const std::string path = testing::TempDir() + "/whole.binpb";
  EXPECT_THAT(WriteMemoryProfileFile(whole, path), IsOk());
  return path;
}

std::string PutWholeThresholds(int64_t limit) {
  return Put("w.textproto",
             absl::StrCat("# proto-file: gates/judge/gate.proto\n"
                          "# proto-message: footprint.ThresholdFile\n"
                          "schema_version: 1\n"
                          "threshold { selector { label: '//a:b' benchmark: "
                          "'whole_process/*' } metric: PEAK_RESIDENT_BYTES "
                          "max_bytes: ",
                          limit, " }\n"));
}

std::string ManifestWithWhole(const std::string& whole) {
  return absl::StrCat("profile\t", PutProfile(), "\t//a:b\nwhole_process\t",
                      whole, "\t//a:b\nthresholds\t", PutThresholds(), "\n");
}

TEST(GateInputTest, AWholeProcessMustBeJudged) {
  const Verdict verdict = JudgeManifest(ManifestWithWhole(PutWholeProcess()));
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  ASSERT_THAT(verdict.problems(), SizeIs(1));
  EXPECT_THAT(verdict.problems(0).message(), HasSubstr("whole_process/x"));
}

TEST(GateInputTest, AWholeProcessIsJudgedBesideTheHeap) {
  const std::string manifest = ManifestWithWhole(PutWholeProcess());
  for (const int64_t limit : {5000, 4999}) {
    const Verdict verdict = JudgeManifest(
        absl::StrCat(manifest, "thresholds\t", PutWholeThresholds(limit)));
    EXPECT_EQ(verdict.decision(), limit == 5000 ? ACCEPT : REJECT);
    EXPECT_THAT(verdict.judgements(), SizeIs(2));
  }
}

TEST(GateInputTest, AWholeProcessOfAnotherProgramOrADamagedOneIsNamed) {
  EXPECT_EQ(
      JudgeManifest(ManifestWithWhole(PutWholeProcess("//a:c"))).decision(),
      BAD_CONFIGURATION);
  EXPECT_EQ(JudgeManifest(ManifestWithWhole(Put("cut", "x"))).decision(),
            BAD_CONFIGURATION);
}

}  // namespace
}  // namespace footprint
