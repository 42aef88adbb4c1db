#include "footprint/trainer_manager/c/trainer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/c/trainer_settings.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr auto kState = absl::StatusCode::kFailedPrecondition;

// An input of words and one of numbers.
Network TwoInputs() {
  Network network;
  network.AddInput("words", {{2, 3}, DType::kI32});
  network.AddInput("numbers", {{2, 3, 4}});
  network.AddLayer("embedding", Embedding(5, 4), {"words"});
  network.AddLayer("sum", Add(), {"embedding", "numbers"});
  network.AddLayer("head", FullyConnected(2), {"sum"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  return network;
}

std::unique_ptr<Trainer> MakeTrainer(const std::string& text) {
  const auto settings = ParseTrainerSettings(text);
  EXPECT_THAT(settings, IsOk());
  auto trainer = Trainer::Plan(TwoInputs(), *settings);
  EXPECT_THAT(trainer, IsOk());
  EXPECT_THAT((*trainer)->Create(), IsOk());
  return *std::move(trainer);
}

constexpr char kAdam[] = "optimizer=adam, learning_rate=0.1";

const std::vector<int32_t> kWords = {0, 1, 2, 3, 4, 0};
const std::vector<int32_t> kLabels = {0, 1, 0, 1, 1, 0};
const std::vector<float> kNumbers(24, 0.25f);

void SetBatch(Trainer* trainer) {
  ASSERT_THAT(trainer->Set(0, InputView(kWords)), IsOk());
  ASSERT_THAT(trainer->Set(1, InputView(kNumbers)), IsOk());
}

TEST(TrainerTest, TrainsAndInfersWithTheWeightsAsTheyAre) {
  const auto trainer = MakeTrainer(kAdam);
  SetBatch(trainer.get());
  ASSERT_THAT(trainer->Set(Trainer::kLabel, InputView(kLabels)), IsOk());
  const auto first = trainer->Step();
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(trainer->Infer(), IsOk());
  const std::vector<float> before(trainer->Output(0)->begin(),
                                  trainer->Output(0)->end());
  for (int i = 0; i < 30; ++i) ASSERT_THAT(trainer->Step(), IsOk());
  EXPECT_EQ(trainer->iteration(), 31);
  EXPECT_LT(*trainer->Step(), *first / 2);
  ASSERT_THAT(trainer->Infer(), IsOk());
  EXPECT_NE(before, std::vector<float>(trainer->Output(0)->begin(),
                                       trainer->Output(0)->end()));
  EXPECT_THAT(trainer->largest_step(), HasSubstr(": "));
}

Network HeadOnFrozen() {
  Network network;
  network.AddInput("rows", {{2, 3}});
  network.AddLayer("frozen", FullyConnected(3), {"rows"});
  network.AddLayer("head", FullyConnected(2), {"frozen"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  network.Freeze("frozen.*");
  return network;
}

// Saves a frozen matrix, transposed if `turned`, and the trained head beside
// it.
std::string SaveFrozen(const Network& network, bool turned) {
  const auto plan = PlanExecution(network, NetworkMode::kTraining, {});
  const auto parameters = *Parameters::Create(*plan, 1);
  const absl::Span<float> matrix = *parameters->Find("frozen.weight");
  for (size_t i = 0; i < matrix.size(); ++i) {
    const size_t from = turned ? i % 3 * 3 + i / 3 : i;
    matrix[i] = 0.25f * static_cast<float>(from) - 1;
  }
  const std::string path = TestPath("frozen.safetensors");
  EXPECT_THAT(SaveParameters(*parameters, path), IsOk());
  return path;
}

// Makes a trainer of a head on a frozen layer whose weights are saved first.
// FILE in the settings becomes their path.
std::unique_ptr<Trainer> MakeHead(const std::string& settings, bool turned) {
  const Network network = HeadOnFrozen();
  const std::string path = SaveFrozen(network, turned);
  const auto parsed = ParseTrainerSettings(
      absl::StrCat(kAdam, absl::StrReplaceAll(settings, {{"FILE", path}})));
  EXPECT_THAT(parsed, IsOk());
  auto trainer = *Trainer::Plan(network, *parsed);
  EXPECT_THAT(trainer->Create(), IsOk());
  EXPECT_THAT(trainer->Load(path), IsOk());
  const std::vector<float> rows = {1, -1, 0.5f, 2, 0.25f, -3};
  EXPECT_THAT(trainer->Set(0, InputView(rows)), IsOk());
  const std::vector<int32_t> labels = {0, 1};
  EXPECT_THAT(trainer->Set(Trainer::kLabel, InputView(labels)), IsOk());
  return trainer;
}

// Returns the losses of three steps, and the outputs after them.
std::vector<float> TrainHead(Trainer* trainer) {
  std::vector<float> values;
  for (int i = 0; i < 3; ++i) values.push_back(trainer->Step().value_or(-1));
  EXPECT_THAT(trainer->Infer(), IsOk());
  values.insert(values.end(), trainer->Output(0)->begin(),
                trainer->Output(0)->end());
  return values;
}

TEST(TrainerTest, FrozenWeightsMayStayInTheirFile) {
  const auto in_memory = MakeHead("", false);
  const std::vector<float> expected = TrainHead(in_memory.get());
  const auto in_file = MakeHead(", weights_file=FILE", false);
  EXPECT_EQ(TrainHead(in_file.get()), expected);
  EXPECT_LT(in_file->plan().model_bytes, in_memory->plan().model_bytes);
  constexpr char kPyTorch[] = ", weights_file=FILE, weights_layout=pytorch";
  EXPECT_EQ(TrainHead(MakeHead(kPyTorch, true).get()), expected);
  EXPECT_NE(TrainHead(MakeHead(kPyTorch, false).get()), expected);
}

// The file of a training holds only what is trained.
TEST(TrainerTest, ATrainingOnAFileContinues) {
  const std::string saved = TestPath("head.safetensors");
  const auto whole = MakeHead(", weights_file=FILE", false);
  for (int i = 0; i < 2; ++i) ASSERT_THAT(whole->Step(), IsOk());
  ASSERT_THAT(whole->SaveTraining(saved), IsOk());
  const std::vector<float> expected = TrainHead(whole.get());
  // This replaces the file of the frozen layer, so `whole` has to be done.
  const auto resumed = MakeHead(", weights_file=FILE", false);
  ASSERT_THAT(resumed->Load(saved), IsOk());
  EXPECT_EQ(resumed->iteration(), 2);
  EXPECT_EQ(TrainHead(resumed.get()), expected);
}

TEST(TrainerTest, ATrainingOnAnotherBaseIsRefused) {
  const std::string saved = TestPath("head.safetensors");
  const auto whole = MakeHead(", weights_file=FILE", false);
  ASSERT_THAT(whole->Step(), IsOk());
  ASSERT_THAT(whole->SaveTraining(saved), IsOk());
  const auto is_refused =
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("its training read other frozen weights"));
  EXPECT_THAT(MakeHead(", weights_file=FILE", true)->Load(saved), is_refused);
  EXPECT_THAT(MakeHead(", weights_file=FILE, weights_layout=pytorch", false)
                  ->Load(saved),
              is_refused);
  // An inference takes the trained parameters with the same base alone.
  for (const bool turned : {false, true}) {
    const auto settings = ParseTrainerSettings(absl::StrCat(
        "mode=inference, weights_file=", SaveFrozen(HeadOnFrozen(), turned)));
    ASSERT_THAT(settings, IsOk());
    const auto inference = *Trainer::Plan(HeadOnFrozen(), *settings);
    ASSERT_THAT(inference->Create(), IsOk());
    if (turned) {
      EXPECT_THAT(inference->Load(saved), is_refused);
    } else {
      EXPECT_THAT(inference->Load(saved), IsOk());
    }
  }
}

// Large enough that products are dealt.
TEST(TrainerTest, TheBitsAreThoseOfOneThread) {
  Network network;
  network.AddInput("rows", {{96, 200}});
  network.AddLayer("hidden", FullyConnected(120), {"rows"});
  network.AddLayer("head", FullyConnected(100), {"hidden"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  std::vector<float> rows(96 * 200);
  std::vector<float> labels(96 * 100);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<float>(i * 53 % 89) / 40 - 1;
  }
  std::vector<std::vector<float>> results;
  for (const char* threads : {"1", "2", "3"}) {
    const auto settings =
        ParseTrainerSettings(std::string(kAdam) + ", threads=" + threads);
    ASSERT_THAT(settings, IsOk());
    const auto trainer = Trainer::Plan(network, *settings);
    ASSERT_THAT(trainer, IsOk());
    ASSERT_THAT((*trainer)->Create(), IsOk());
    ASSERT_THAT((*trainer)->Set(0, InputView(rows)), IsOk());
    ASSERT_THAT((*trainer)->Set(Trainer::kLabel, InputView(labels)), IsOk());
    std::vector<float>& result = results.emplace_back();
    for (int i = 0; i < 4; ++i) result.push_back(*(*trainer)->Step());
    ASSERT_THAT((*trainer)->Infer(), IsOk());
    const auto output = *(*trainer)->Output(0);
    result.insert(result.end(), output.begin(), output.end());
  }
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

TEST(TrainerTest, AnInferenceGivesTheTrainingsOutputs) {
  const std::string path = TestPath("trainer");
  const auto training = MakeTrainer(kAdam);
  const auto inference = MakeTrainer("mode=inference, seed=5");
  SetBatch(training.get());
  ASSERT_THAT(training->Set(Trainer::kLabel, InputView(kLabels)), IsOk());
  ASSERT_THAT(training->Step(), IsOk());
  ASSERT_THAT(training->Infer(), IsOk());
  SetBatch(inference.get());
  for (const bool whole : {true, false}) {
    ASSERT_THAT(
        whole ? training->SaveTraining(path) : training->SaveWeights(path),
        IsOk());
    ASSERT_THAT(inference->Load(path), IsOk());
    ASSERT_THAT(inference->Infer(), IsOk());
    EXPECT_EQ(*inference->Output(0), *training->Output(0));
  }
  EXPECT_EQ(*inference->Weight("head.bias"), *training->Weight("head.bias"));
  EXPECT_EQ(inference->iteration(), 0);
}

TEST(TrainerTest, GoesOnFromATrainingAndTakesOnlyWeightsFromWeights) {
  const std::string path = TestPath("trainer");
  const auto whole = MakeTrainer(kAdam);
  const auto resumed = MakeTrainer(kAdam);
  for (Trainer* const trainer : {whole.get(), resumed.get()}) {
    SetBatch(trainer);
    ASSERT_THAT(trainer->Set(Trainer::kLabel, InputView(kLabels)), IsOk());
  }
  for (int i = 0; i < 3; ++i) ASSERT_THAT(whole->Step(), IsOk());
  ASSERT_THAT(whole->SaveTraining(path), IsOk());
  ASSERT_THAT(resumed->Load(path), IsOk());
  EXPECT_EQ(resumed->iteration(), 3);
  EXPECT_EQ(*whole->Step(), *resumed->Step());
  EXPECT_EQ(*whole->Step(), *resumed->Step());
  ASSERT_THAT(whole->SaveWeights(path), IsOk());
  ASSERT_THAT(whole->Step(), IsOk());
  ASSERT_THAT(resumed->Load(path), IsOk());
  EXPECT_EQ(resumed->iteration(), 5);
}

TEST(TrainerTest, CallsThatDoNotFitTheStateAreRefused) {
  const auto settings = ParseTrainerSettings(kAdam);
  const auto planned = Trainer::Plan(TwoInputs(), *settings);
  ASSERT_THAT(planned, IsOk());
  Trainer& trainer = **planned;
  EXPECT_THAT(trainer.Set(0, InputView(kWords)),
              StatusIs(kState, HasSubstr("create it first")));
  EXPECT_THAT(trainer.Step().status(), StatusIs(kState));
  EXPECT_THAT(trainer.Infer(), StatusIs(kState));
  EXPECT_THAT(trainer.Weight("head.bias").status(), StatusIs(kState));
  EXPECT_THAT(trainer.SaveWeights("/tmp/x"), StatusIs(kState));
  EXPECT_THAT(trainer.SaveTraining("/tmp/x"), StatusIs(kState));
  EXPECT_THAT(trainer.Load("/tmp/x"), StatusIs(kState));
  ASSERT_THAT(trainer.Create(), IsOk());
  EXPECT_THAT(trainer.Create(), StatusIs(kState, HasSubstr("before")));
  EXPECT_THAT(trainer.Step().status(), StatusIs(kState));
  EXPECT_THAT(trainer.Infer(),
              StatusIs(kState, HasSubstr("\"words\" was never set")));
  EXPECT_THAT(trainer.Output(0).status(), StatusIs(kState));
  const auto inference = MakeTrainer("mode=inference");
  EXPECT_THAT(inference->Step().status(),
              StatusIs(kState, HasSubstr("mode=training")));
  EXPECT_THAT(inference->SaveTraining("/tmp/x"), StatusIs(kState));
  EXPECT_THAT(inference->Set(Trainer::kLabel, InputView(kLabels)),
              StatusIs(kState));
}

TEST(TrainerTest, RefusesValuesThatAreNotABatchAndKeepsTheOldOnes) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  for (const char* mode : {kAdam, "mode=inference"}) {
    const auto trainer = MakeTrainer(mode);
    SetBatch(trainer.get());
    ASSERT_THAT(trainer->Infer(), IsOk());
    const std::vector<float> before(trainer->Output(0)->begin(),
                                    trainer->Output(0)->end());
    const std::vector<float> few(23);
    EXPECT_THAT(trainer->Set(1, InputView(few)), StatusIs(kInvalid));
    EXPECT_THAT(trainer->Set(1, InputView(kWords)), StatusIs(kInvalid));
    EXPECT_THAT(trainer->Set(0, InputView(kNumbers)), StatusIs(kInvalid));
    EXPECT_THAT(trainer->Set(2, InputView(kNumbers)), StatusIs(kInvalid));
    EXPECT_THAT(trainer->Set(-2, InputView(kNumbers)), StatusIs(kInvalid));
    ASSERT_THAT(trainer->Infer(), IsOk());
    EXPECT_EQ(*trainer->Output(0), before);
    EXPECT_THAT(trainer->Output(1).status(), StatusIs(kInvalid));
  }
}

TEST(TrainerTest, AFailedInferenceLeavesNoOutput) {
  const auto trainer = MakeTrainer("mode=inference");
  SetBatch(trainer.get());
  ASSERT_THAT(trainer->Infer(), IsOk());
  const std::vector<int32_t> unknown(6, 99);
  ASSERT_THAT(trainer->Set(0, InputView(unknown)), IsOk());
  EXPECT_THAT(trainer->Infer(), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(trainer->Output(0).status(), StatusIs(kState));
  ASSERT_THAT(trainer->Set(0, InputView(kWords)), IsOk());
  EXPECT_THAT(trainer->Infer(), IsOk());
}

TEST(TrainerTest, AFailedLoadChangesNothing) {
  const std::string path = WriteTestFile("bad", "no weights at all");
  const auto trainer = MakeTrainer(kAdam);
  const std::vector<float> before(trainer->Weight("head.weight")->begin(),
                                  trainer->Weight("head.weight")->end());
  EXPECT_THAT(trainer->Load(path),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(trainer->Load("/nowhere/x"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(*trainer->Weight("head.weight"), before);
  EXPECT_THAT(trainer->Weight("head.wight").status(),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
