#include "footprint/trainer_manager/training/train.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "footprint/base/files/test_file.h"
#include "footprint/base/machine/monotonic_time.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/rate_schedule.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_state.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr size_t kFeatures = 4;
constexpr int kClasses = 3;
constexpr int32_t kIgnored = -1;

// Returns a network with dropout, in which `first` and `head` have weights.
Network Classifier(int64_t batch = 8, int64_t hidden = 6) {
  SoftmaxOptions options;
  options.ignored_label = kIgnored;
  Network network;
  network.AddInput("rows", {{batch, kFeatures}});
  network.AddLayer("first", FullyConnected(hidden), {"rows"});
  network.AddLayer("relu", Relu(), {"first"});
  network.AddLayer("drop", Dropout(0.2f), {"relu"});
  network.AddLayer("head", FullyConnected(kClasses), {"drop"});
  network.AddLayer("loss", SoftmaxCrossEntropy(options), {"head"});
  return network;
}

// Rows around the mean of their class, so that classes can be distinguished.
struct Rows {
  explicit Rows(size_t count, uint64_t seed = 1) {
    RandomSequence random(seed);
    for (size_t i = 0; i < count; ++i) {
      const int label = static_cast<int>(random.Below(kClasses));
      labels.push_back(label);
      for (size_t f = 0; f < kFeatures; ++f) {
        const float mean = static_cast<int>(f) == label ? 1.0f : 0.0f;
        features.push_back(mean + 0.5f * random.SignedUnit());
      }
    }
  }
  DataSet data() const {
    return DataSet::InMemory({absl::MakeConstSpan(features)},
                             absl::MakeConstSpan(labels),
                             static_cast<int64_t>(labels.size()));
  }
  std::vector<float> features;
  std::vector<int32_t> labels;
};

TrainOptions Options(OptimizerPointer optimizer = AdamW(0.01f)) {
  TrainOptions options;
  options.manager.optimizer = std::move(optimizer);
  options.manager.seed = 7;
  return options;
}

std::vector<float> AllValues(const Parameters& parameters) {
  std::vector<float> values;
  for (const Parameters::Parameter& parameter : parameters.all()) {
    values.insert(values.end(), parameter.values.begin(),
                  parameter.values.end());
  }
  return values;
}

int64_t ProcessProcessorTimeNs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

std::string NewPath(const std::string& name) {
  const std::string path = TestPath(name);
  unlink(path.c_str());
  return path;
}

TrainResult MustTrain(const Network& network, const DataSet& data,
                      const TrainOptions& options) {
  auto result = Train(network, data, options);
  EXPECT_THAT(result, IsOk());
  return result.ok() ? *std::move(result) : TrainResult();
}

// Runs the same loop with the manager but without other code of Train: rows in
// order, and a batch of the remaining rows at the end.
TEST(TrainTest, TrainsAsALoopByHandDoes) {
  const Rows rows(20);
  TrainOptions options = Options();
  options.epochs = 3;
  options.shuffle = false;
  const TrainResult result = MustTrain(Classifier(), rows.data(), options);

  const auto plan =
      PlanExecution(Classifier(), NetworkMode::kTraining, MemoryOptions(), 2);
  ASSERT_THAT(plan, IsOk());
  const auto parameters = *Parameters::Create(*plan, 7);
  const auto manager = Manager::Create(*plan, parameters, options.manager);
  ASSERT_THAT(manager, IsOk());
  std::vector<double> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (size_t first = 0; first < 20; first += 8) {
      std::vector<float> features(8 * kFeatures, 0.0f);
      std::vector<int32_t> labels(8, kIgnored);
      const size_t count = std::min<size_t>(8, 20 - first);
      std::copy_n(&rows.features[first * kFeatures], count * kFeatures,
                  features.begin());
      std::copy_n(&rows.labels[first], count, labels.begin());
      ASSERT_THAT((*manager)->SetInput(0, features), IsOk());
      ASSERT_THAT((*manager)->SetLabel(labels), IsOk());
      const auto loss = (*manager)->TrainStep();
      ASSERT_THAT(loss, IsOk());
      sum += static_cast<double>(*loss) * static_cast<double>(count);
    }
    epochs.push_back(sum / 20);
  }
  EXPECT_EQ(AllValues(*result.parameters), AllValues(*parameters));
  ASSERT_EQ(result.epochs.size(), 3u);
  for (size_t e = 0; e < 3; ++e) {
    EXPECT_EQ(result.epochs[e].epoch, static_cast<int64_t>(e) + 1);
    EXPECT_EQ(result.epochs[e].training_loss, epochs[e]);
    EXPECT_FALSE(result.epochs[e].validation.has_value());
  }
  EXPECT_EQ(result.steps, 9);
  EXPECT_TRUE(result.is_finished);
  EXPECT_FALSE(result.stopped_early);
  EXPECT_EQ(result.planned_bytes, plan->planned_bytes());
  EXPECT_EQ(result.bytes_saved_by_freezing, 0);
}

TEST(TrainTest, LearnsAndEvaluates) {
  const Rows rows(100);
  const Rows held_out(30, 2);
  TrainOptions options =
      Options(AdamW(AfterWarmUp(10, CosineRate(0.02f, 0.001f, 200))));
  options.epochs = 20;
  options.validation = held_out.data();
  const TrainResult result = MustTrain(Classifier(), rows.data(), options);
  ASSERT_EQ(result.epochs.size(), 20u);
  EXPECT_GT(*result.epochs.back().validation->accuracy, 0.9);
  EXPECT_LT(result.epochs.back().validation->loss,
            result.epochs.front().validation->loss / 2);
  EXPECT_EQ(result.best_loss,
            result.epochs[static_cast<size_t>(result.best_epoch) - 1]
                .validation->loss);
}

// Micro-batches change only the order of sums, also in the short last batch.
TEST(TrainTest, AccumulatedGradientsAreThoseOfTheWholeBatch) {
  const Rows rows(29);
  TrainOptions options = Options(Momentum(0.05f));
  options.epochs = 4;
  Network network;
  SoftmaxOptions softmax;
  softmax.ignored_label = kIgnored;
  network.AddInput("rows", {{8, kFeatures}});
  network.AddLayer("first", FullyConnected(6), {"rows"});
  network.AddLayer("relu", Relu(), {"first"});
  network.AddLayer("head", FullyConnected(kClasses), {"relu"});
  network.AddLayer("loss", SoftmaxCrossEntropy(softmax), {"head"});
  const TrainResult whole = MustTrain(network, rows.data(), options);
  for (const int64_t parts : {2, 4}) {
    options.memory.micro_batches = parts;
    const TrainResult divided = MustTrain(network, rows.data(), options);
    const std::vector<float> expected = AllValues(*whole.parameters);
    const std::vector<float> actual = AllValues(*divided.parameters);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[i], 2e-6);
    }
    for (size_t e = 0; e < 4; ++e) {
      EXPECT_NEAR(divided.epochs[e].training_loss,
                  whole.epochs[e].training_loss, 1e-6);
    }
  }
}

TEST(TrainTest, EndsEarlyWithTheBestWeights) {
  const Rows rows(24);
  const Rows held_out(10, 3);
  TrainOptions options = Options(Adam(0.3f));
  options.epochs = 100;
  options.validation = held_out.data();
  options.patience = 3;
  options.best_path = NewPath("best.safetensors");
  const TrainResult result = MustTrain(Classifier(), rows.data(), options);
  EXPECT_TRUE(result.stopped_early);
  EXPECT_TRUE(result.is_finished);
  ASSERT_EQ(static_cast<int64_t>(result.epochs.size()), result.best_epoch + 3);
  double best = INFINITY;
  for (const EpochResult& epoch : result.epochs) {
    best = std::min(best, epoch.validation->loss);
  }
  EXPECT_EQ(result.best_loss, best);
  // The parameters are those of the best epoch.
  ASSERT_TRUE(result.validation.has_value());
  EXPECT_EQ(result.validation->loss, best);
  options.epochs = result.best_epoch;
  options.best_path.clear();
  EXPECT_EQ(
      AllValues(*MustTrain(Classifier(), rows.data(), options).parameters),
      AllValues(*result.parameters));
}

// If no step lowers the loss, the rate falls as with PyTorch's
// ReduceLROnPlateau: after patience + 1 epochs that are no better.
TEST(TrainTest, ThePlateauLowersTheRate) {
  const Rows rows(8);
  TrainOptions options = Options(StochasticGradientDescent(0.0f));
  Network network;
  network.AddInput("rows", {{8, kFeatures}});
  network.AddLayer("fc", FullyConnected(kClasses), {"rows"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"fc"});
  options.shuffle = false;
  options.epochs = 8;
  options.plateau_factor = 0.5f;
  options.plateau_patience = 2;
  options.state_path = NewPath("plateau.safetensors");
  MustTrain(network, rows.data(), options);
  const auto plan =
      PlanExecution(network, NetworkMode::kTraining, MemoryOptions());
  const auto manager =
      Manager::Create(*plan, *Parameters::Create(*plan, 1), options.manager);
  const auto notes = ResumeTraining(options.state_path, *plan, manager->get());
  ASSERT_THAT(notes, IsOk());
  // Epoch 1 is the best; 2 to 4 are worse, and so are 5 to 7.
  EXPECT_EQ(notes->at("loop.reductions"), "2");
  EXPECT_EQ(notes->at("loop.plateau_epochs"), "1");
  EXPECT_EQ(notes->at("loop.worse_epochs"), "7");
}

TEST(TrainTest, TheLoweredRateIsTheOneThatIsUsed) {
  const Rows rows(8);
  TrainOptions options = Options(StochasticGradientDescent(1e-30f));
  options.manager.seed = 3;
  Network network;
  network.AddInput("rows", {{8, kFeatures}});
  network.AddLayer("fc", FullyConnected(kClasses), {"rows"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"fc"});
  options.shuffle = false;
  options.epochs = 6;
  options.plateau_factor = 0.5f;
  options.plateau_patience = 0;
  std::vector<float> rates;
  options.on_step = [&rates](const StepProgress& progress) {
    rates.push_back(*progress.rate);
    return true;
  };
  MustTrain(network, rows.data(), options);
  EXPECT_THAT(rates, testing::ElementsAre(1e-30f, 1e-30f, 0.5e-30f, 0.25e-30f,
                                          0.125e-30f, 0.0625e-30f));
}

// A training that is stopped after each step and called again has the bits of
// one that is not stopped. The schedule, dropout, the order of rows, the best
// epoch and the plateau all continue.
TEST(TrainTest, StoppedAfterEachStepItGoesOnWithTheSameBits) {
  const Rows rows(20);
  const Rows held_out(10, 3);
  const RateSchedule rate = AfterWarmUp(4, CosineRate(0.1f, 0.001f, 12));
  for (const OptimizerPointer& optimizer :
       {StochasticGradientDescent(rate), Momentum(0.05f), Adam(0.3f),
        AdamW(rate, 0.1f)}) {
    SCOPED_TRACE(optimizer->name());
    TrainOptions options = Options(optimizer);
    options.epochs = 7;  // of 3 steps
    options.validation = held_out.data();
    options.patience = 4;
    options.plateau_factor = 0.5f;
    options.plateau_patience = 0;
    options.best_path = NewPath("whole_best.safetensors");
    const TrainResult whole = MustTrain(Classifier(), rows.data(), options);
    const std::vector<float> expected = AllValues(*whole.parameters);
    for (int64_t k = 1; k <= 20; ++k) {
      SCOPED_TRACE(k);
      TrainOptions parts = options;
      parts.best_path = NewPath("parts_best.safetensors");
      parts.state_path = NewPath("parts.safetensors");
      parts.on_step = [k](const StepProgress& progress) {
        return progress.step != k;
      };
      const TrainResult stopped = MustTrain(Classifier(), rows.data(), parts);
      parts.on_step = nullptr;
      if (k % 2 == 0) parts.memory = MemoryOptions::Debug();
      const TrainResult resumed = MustTrain(Classifier(), rows.data(), parts);
      EXPECT_EQ(AllValues(*resumed.parameters), expected);
      EXPECT_EQ(resumed.steps, whole.steps);
      EXPECT_EQ(resumed.best_epoch, whole.best_epoch);
      EXPECT_EQ(resumed.best_loss, whole.best_loss);
      EXPECT_EQ(resumed.stopped_early, whole.stopped_early);
      ASSERT_EQ(stopped.epochs.size() + resumed.epochs.size(),
                whole.epochs.size());
      for (size_t e = 0; e < resumed.epochs.size(); ++e) {
        const EpochResult& same = whole.epochs[e + stopped.epochs.size()];
        EXPECT_EQ(resumed.epochs[e].training_loss, same.training_loss);
        EXPECT_EQ(resumed.epochs[e].validation->loss, same.validation->loss);
      }
    }
  }
}

// Stopped on one number of threads and resumed on another; the products are
// large enough to be dealt.
TEST(TrainTest, ThreadsDoNotChangeTheBits) {
  const Rows rows(200);
  TrainOptions options = Options(Adam(0.01f));
  options.epochs = 4;  // of 2 steps
  const Network network = Classifier(/*batch=*/128, /*hidden=*/3000);
  const TrainResult whole = MustTrain(network, rows.data(), options);
  const std::vector<float> expected = AllValues(*whole.parameters);
  for (const int threads : {2, 3}) {
    SCOPED_TRACE(threads);
    options.threads = threads;
    const TrainResult same = MustTrain(network, rows.data(), options);
    EXPECT_EQ(AllValues(*same.parameters), expected);
    TrainOptions parts = options;
    parts.state_path = NewPath("threads.safetensors");
    parts.on_step = [](const StepProgress& progress) {
      return progress.step != 3;
    };
    MustTrain(network, rows.data(), parts);
    parts.on_step = nullptr;
    parts.threads = 1;
    EXPECT_EQ(AllValues(*MustTrain(network, rows.data(), parts).parameters),
              expected);
  }
}

// Most work is the validation's, whose forward passes are divided, too.
TEST(TrainTest, ThreadsShareTheValidation) {
  const Rows rows(128);
  const Rows held_out(128 * 40, 2);
  TrainOptions options = Options();
  options.validation = held_out.data();
  options.threads = 2;
  Network network;
  network.AddInput("rows", {{128, kFeatures}});
  network.AddLayer("first", FullyConnected(1000), {"rows"});
  network.AddLayer("second", FullyConnected(1000), {"first"});
  network.AddLayer("head", FullyConnected(kClasses), {"second"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  const int64_t own_ns = ThreadProcessorTimeNs();
  const int64_t all_ns = ProcessProcessorTimeNs();
  MustTrain(network, rows.data(), options);
  const int64_t own_part_ns = ThreadProcessorTimeNs() - own_ns;
  EXPECT_LT(own_part_ns, (ProcessProcessorTimeNs() - all_ns) * 3 / 4);
}

// The data set is read while a step runs, in short batches, too, and by a
// training that is stopped and resumed.
TEST(TrainTest, ReadingAheadDoesNotChangeTheBits) {
  const Rows rows(21);
  const DataSet read =
      DataSet::ReadBy(21, [&](int64_t row, absl::Span<const DataSet::Part> to) {
        std::copy_n(&rows.features[static_cast<size_t>(row) * kFeatures],
                    kFeatures, to[0].Floats().begin());
        to[1].Indices()[0] = rows.labels[static_cast<size_t>(row)];
        return absl::OkStatus();
      });
  TrainOptions options = Options();
  options.epochs = 4;
  options.validation = rows.data();
  const TrainResult expected = MustTrain(Classifier(), read, options);
  options.read_ahead = true;
  options.state_path = NewPath("read_ahead.safetensors");
  options.on_step = [](const StepProgress& progress) {
    return progress.step != 5;
  };
  EXPECT_FALSE(MustTrain(Classifier(), read, options).is_finished);
  options.on_step = nullptr;
  const TrainResult result = MustTrain(Classifier(), read, options);
  EXPECT_TRUE(result.is_finished);
  EXPECT_EQ(AllValues(*result.parameters), AllValues(*expected.parameters));
  EXPECT_EQ(result.validation->loss, expected.validation->loss);
}

// A file that cannot be looked for may be there.
TEST(TrainTest, AStateThatCannotBeReachedIsNotReplaced) {
  const Rows rows(20);
  TrainOptions options = Options();
  options.state_path = NewPath("loop.safetensors");
  ASSERT_EQ(symlink(options.state_path.c_str(), options.state_path.c_str()), 0);
  EXPECT_THAT(Train(Classifier(), rows.data(), options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cannot be looked for")));
  unlink(options.state_path.c_str());
}

TEST(TrainTest, ASecondTrainingOfTheSameFileIsRefused) {
  const Rows rows(20);
  TrainOptions options = Options();
  options.epochs = 2;
  options.state_path = NewPath("locked.safetensors");
  int refused = 0;
  TrainOptions first = options;
  first.on_step = [&](const StepProgress&) {
    const auto second = Train(Classifier(), rows.data(), options);
    EXPECT_THAT(second.status(),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("another training is using it")));
    ++refused;
    return true;
  };
  const TrainResult result = MustTrain(Classifier(), rows.data(), first);
  EXPECT_EQ(refused, result.steps);
  // The first has ended, and the second goes on from its file.
  EXPECT_EQ(MustTrain(Classifier(), rows.data(), options).steps, result.steps);
}

TEST(TrainTest, AFinishedTrainingGivesItsBestWeightsAgain) {
  const Rows rows(20);
  TrainOptions options = Options();
  options.epochs = 2;
  options.best_path = NewPath("finished_best.safetensors");
  options.state_path = NewPath("finished.safetensors");
  options.save_every = 2;
  const TrainResult first = MustTrain(Classifier(), rows.data(), options);
  const TrainResult again = MustTrain(Classifier(), rows.data(), options);
  EXPECT_EQ(AllValues(*again.parameters), AllValues(*first.parameters));
  EXPECT_THAT(again.epochs, IsEmpty());
  EXPECT_EQ(again.steps, first.steps);
  EXPECT_TRUE(again.is_finished);
}

TEST(TrainTest, AStateIsSavedEachFewSteps) {
  const Rows rows(40);  // of 5 steps
  TrainOptions options = Options();
  options.save_every = 2;
  options.state_path = NewPath("often.safetensors");
  std::vector<bool> saved;
  options.on_step = [&](const StepProgress&) {
    saved.push_back(access(options.state_path.c_str(), F_OK) == 0);
    unlink(options.state_path.c_str());
    return true;
  };
  MustTrain(Classifier(), rows.data(), options);
  EXPECT_THAT(saved, testing::ElementsAre(true, false, true, false, true));
  EXPECT_EQ(access(options.state_path.c_str(), F_OK), 0);
}

// A file that cannot be written is reported before the first step.
TEST(TrainTest, AFolderThatIsNotThereIsNamedBeforeTheFirstStep) {
  const Rows rows(20);
  for (const bool best : {false, true}) {
    TrainOptions options = Options();
    int steps = 0;
    options.on_step = [&steps](const StepProgress&) { return ++steps > 0; };
    const std::string path = TestPath("nowhere/file.safetensors");
    (best ? options.best_path : options.state_path) = path;
    const auto result = Train(Classifier(), rows.data(), options);
    EXPECT_THAT(result.status(), StatusIs(absl::StatusCode::kNotFound));
    EXPECT_EQ(steps, 0);
  }
}

TEST(TrainTest, AFileThatCannotBeReplacedIsNamedBeforeTheFirstStep) {
  const Rows rows(20);
  TrainOptions options = Options();
  options.state_path = NewPath("read_only.safetensors");
  MustTrain(Classifier(), rows.data(), options);
  ASSERT_EQ(chmod(options.state_path.c_str(), 0444), 0);
  int steps = 0;
  options.on_step = [&steps](const StepProgress&) { return ++steps > 0; };
  EXPECT_TRUE(MustTrain(Classifier(), rows.data(), options).is_finished);
  options.epochs = 2;
  const auto result = Train(Classifier(), rows.data(), options);
  EXPECT_THAT(result.status(), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("read_only.safetensors"));
  EXPECT_EQ(steps, 0);
}

// Trains a head on a frozen backbone, from the weights of another training.
TEST(TrainTest, TrainsAHeadOnAFrozenBackbone) {
  const Rows rows(64);
  TrainOptions options = Options();
  options.epochs = 2;
  const TrainResult whole = MustTrain(Classifier(), rows.data(), options);
  EXPECT_EQ(whole.bytes_saved_by_freezing, 0);
  const auto values = [&](const char* name) {
    const auto found = whole.parameters->Find(name);
    return std::vector<float>(found->begin(), found->end());
  };
  const std::vector<float> first = values("first.weight");
  const std::vector<float> head = values("head.weight");
  options.parameters = whole.parameters;
  Network frozen = Classifier();
  frozen.Freeze("first.*");
  const TrainResult result = MustTrain(frozen, rows.data(), options);
  EXPECT_EQ(values("first.weight"), first);
  EXPECT_NE(values("head.weight"), head);
  EXPECT_GT(result.bytes_saved_by_freezing, 0);
  EXPECT_EQ(result.planned_bytes + result.bytes_saved_by_freezing,
            whole.planned_bytes);
}

// The gradient of `wide` has a workspace for each thread.
TEST(TrainTest, FreezingSavesTheWorkspacesOfThreads) {
  constexpr size_t kWide = 600;
  const std::vector<float> features(32 * kWide);
  const std::vector<int32_t> labels(32);
  const DataSet data = DataSet::InMemory({absl::MakeConstSpan(features)},
                                         absl::MakeConstSpan(labels), 32);
  TrainOptions options = Options();
  options.threads = 8;
  Network network;
  network.AddInput("rows", {{32, kWide}});
  network.AddLayer("wide", FullyConnected(kWide), {"rows"});
  network.AddLayer("head", FullyConnected(kClasses), {"wide"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  const TrainResult whole = MustTrain(network, data, options);
  network.Freeze("wide.*");
  const TrainResult frozen = MustTrain(network, data, options);
  EXPECT_EQ(frozen.planned_bytes + frozen.bytes_saved_by_freezing,
            whole.planned_bytes);
}

std::string Refusal(const TrainOptions& options,
                    const Network& network = Classifier(),
                    const DataSet& data = Rows(20).data()) {
  const auto result = Train(network, data, options);
  EXPECT_THAT(result.status(), StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(result.status().message());
}

TEST(TrainTest, OptionsThatCannotTrainAreRefused) {
  const Rows rows(20);
  const auto refusal = [&](const TrainOptions& options) {
    return Refusal(options, Classifier(), rows.data());
  };
  EXPECT_THAT(refusal(Options(nullptr)), HasSubstr("has no optimizer"));
  TrainOptions options = Options();
  options.epochs = 0;
  EXPECT_THAT(refusal(options), HasSubstr("epochs is 0; at least 1"));
  options = Options();
  options.patience = -1;
  EXPECT_THAT(refusal(options), HasSubstr("patience is -1"));
  options = Options();
  options.save_every = -1;
  EXPECT_THAT(refusal(options), HasSubstr("save_every is -1"));
  for (const int threads : {0, -1, 65}) {
    options = Options();
    options.threads = threads;
    EXPECT_THAT(refusal(options), HasSubstr("threads is"));
  }
  options = Options();
  options.plateau_patience = -1;
  EXPECT_THAT(refusal(options), HasSubstr("plateau_patience is -1"));
  for (const float factor : {0.0f, -1.0f, 1.5f, std::nanf("")}) {
    options = Options();
    options.plateau_factor = factor;
    EXPECT_THAT(refusal(options), HasSubstr("plateau_factor is"));
  }
  EXPECT_THAT(refusal(Options(AdamW(CosineRate(0.1f, 0, 0)))),
              HasSubstr("has 0 iterations"));
  options = Options();
  options.epochs = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(refusal(options), HasSubstr("can be counted in steps"));
  options = Options();
  options.best_path = options.state_path = TestPath("one.safetensors");
  EXPECT_THAT(refusal(options), HasSubstr("each needs a file of its own"));
  options.best_path = TestPath("./one.safetensors");
  EXPECT_THAT(refusal(options), HasSubstr("each needs a file of its own"));
  options = Options();
  options.drop_last = true;
  EXPECT_THAT(Refusal(options, Classifier(32), rows.data()),
              HasSubstr("fewer than a batch"));
  options = Options();
  options.validation =
      DataSet::InMemory({}, absl::MakeConstSpan(rows.labels), 20);
  EXPECT_THAT(refusal(options), HasSubstr("validation: the data set has 0 "));
}

TEST(TrainTest, ALabelOutsideTheClassesIsNamed) {
  Rows rows(20);
  rows.labels[11] = kClasses;
  TrainOptions options = Options();
  options.shuffle = false;
  const auto result = Train(Classifier(), rows.data(), options);
  EXPECT_THAT(result.status(), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("step 2: layer \"loss\", forward: label 3 at index 3"));
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("; the batch has the rows 8 to 15 of the data set"));
}

TEST(TrainTest, AValueOfTheValidationIsNamedAsSuch) {
  const Rows rows(20);
  Rows held_out(20);
  held_out.features[13 * kFeatures + 1] = std::nanf("");
  TrainOptions options = Options();
  options.validation = held_out.data();
  const auto result = Train(Classifier(), rows.data(), options);
  EXPECT_THAT(result.status(), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("validation: rows 8 to 15 of the data set: the loss"));
}

// A training that ended early continues with more patience, like one that had
// it from the start.
TEST(TrainTest, MorePatienceGoesOn) {
  const Rows rows(20);
  const Rows held_out(10, 3);
  TrainOptions options = Options(Adam(0.3f));
  options.epochs = 100;
  options.validation = held_out.data();
  options.patience = 6;
  const TrainResult whole = MustTrain(Classifier(), rows.data(), options);
  options.state_path = NewPath("patience.safetensors");
  options.patience = 2;
  const TrainResult first = MustTrain(Classifier(), rows.data(), options);
  EXPECT_TRUE(first.stopped_early);
  ASSERT_LT(first.steps, whole.steps);
  options.patience = 6;
  const TrainResult second = MustTrain(Classifier(), rows.data(), options);
  EXPECT_EQ(second.steps, whole.steps);
  EXPECT_EQ(AllValues(*second.parameters), AllValues(*whole.parameters));
}

class ResumeRefusedTest : public testing::Test {
 protected:
  ResumeRefusedTest() {
    options_.epochs = 2;
    options_.state_path = NewPath("refused.safetensors");
    MustTrain(Classifier(), rows_.data(), options_);
  }

  const Rows rows_{20};
  TrainOptions options_ = Options();
};

TEST_F(ResumeRefusedTest, AFileOfMoreStepsThanTheEpochs) {
  options_.epochs = 1;
  EXPECT_THAT(Refusal(options_, Classifier(), rows_.data()),
              HasSubstr("it has done 6 steps, more than the 3 of 1 epochs"));
}

TEST_F(ResumeRefusedTest, AnotherDataSetOrBatch) {
  const Rows more(25);
  EXPECT_THAT(Refusal(options_, Classifier(), more.data()),
              HasSubstr("was on 20 rows in 3 batches, and this one is on 25"));
  EXPECT_THAT(Refusal(options_, Classifier(4), rows_.data()),
              HasSubstr("and this one is on 20 in 5"));
}

TEST_F(ResumeRefusedTest, AnotherNetworkOptimizerSeedOrFrozenPart) {
  EXPECT_THAT(Refusal(options_, Classifier(8, 5), rows_.data()),
              HasSubstr("refused.safetensors"));
  TrainOptions other = options_;
  other.manager.optimizer = Adam(0.01f);
  EXPECT_THAT(Refusal(other, Classifier(), rows_.data()),
              HasSubstr("the optimizer \"AdamW\""));
  other = options_;
  other.manager.seed = 8;
  EXPECT_THAT(Refusal(other, Classifier(), rows_.data()),
              HasSubstr("the seed \"7\""));
  Network frozen = Classifier();
  frozen.Freeze("first.*");
  EXPECT_THAT(Refusal(options_, frozen, rows_.data()), HasSubstr("first."));
}

// The message names the settings that differ, and given parameters are
// unchanged.
TEST_F(ResumeRefusedTest, OtherSettingsAndNothingChanges) {
  const auto plan =
      PlanExecution(Classifier(), NetworkMode::kTraining, MemoryOptions(), 2);
  const std::shared_ptr<Parameters> parameters = *Parameters::Create(*plan, 99);
  const std::vector<float> before = AllValues(*parameters);
  options_.parameters = parameters;
  const auto refusal = [&](const TrainOptions& options,
                           const Network& network = Classifier()) {
    const std::string text = Refusal(options, network, rows_.data());
    EXPECT_EQ(AllValues(*parameters), before);
    return text;
  };
  TrainOptions other = options_;
  other.manager.optimizer = AdamW(0.02f);
  EXPECT_THAT(refusal(other), HasSubstr("setting.optimizer"));
  other.manager.optimizer = AdamW(AfterWarmUp(2, 0.01f));
  EXPECT_THAT(refusal(other), HasSubstr("after a warm-up of 2"));
  other = options_;
  other.shuffle = false;
  EXPECT_THAT(refusal(other), HasSubstr("setting.shuffle"));
  other = options_;
  other.validation = rows_.data();
  EXPECT_THAT(refusal(other), HasSubstr("setting.validation"));
  other = options_;
  other.plateau_factor = 0.5f;
  EXPECT_THAT(refusal(other), HasSubstr("setting.plateau"));
  other = options_;
  other.manager.clip_value = 0.5f;
  EXPECT_THAT(refusal(other), HasSubstr("setting.clip_value"));
  Network grouped = Classifier();
  ParameterGroup group;
  group.pattern = "head.*";
  group.rate_factor = 0.5f;
  grouped.AddGroup(group);
  EXPECT_THAT(refusal(options_, grouped),
              HasSubstr("\"head.* rate times 0.5\""));
  Network other_activation;
  other_activation.AddInput("rows", {{8, kFeatures}});
  other_activation.AddLayer("first", FullyConnected(6), {"rows"});
  other_activation.AddLayer("relu", Silu(), {"first"});
  other_activation.AddLayer("drop", Dropout(0.2f), {"relu"});
  other_activation.AddLayer("head", FullyConnected(kClasses), {"drop"});
  other_activation.AddLayer("loss", SoftmaxCrossEntropy({0, kIgnored}),
                            {"head"});
  EXPECT_THAT(refusal(options_, other_activation),
              HasSubstr("its setting.layer.relu is \"ReLU of first\", and this "
                        "training's \"SiLU of first\""));
  // 20 rows in batches of 7 also take 3 steps.
  EXPECT_THAT(refusal(options_, Classifier(7)), HasSubstr("setting.batch"));
  other = options_;
  other.epochs = 1;
  EXPECT_THAT(refusal(other), HasSubstr("more than the 3"));
  other = options_;
  other.best_path = NewPath("refused_best.safetensors");
  EXPECT_THAT(refusal(other), HasSubstr("setting.best_path"));
}

TEST_F(ResumeRefusedTest, BestWeightsThatAreGone) {
  options_.state_path = NewPath("gone.safetensors");
  options_.best_path = NewPath("gone_best.safetensors");
  MustTrain(Classifier(), rows_.data(), options_);
  unlink(options_.best_path.c_str());
  EXPECT_THAT(Refusal(options_, Classifier(), rows_.data()),
              HasSubstr("bring that file back"));
}

TEST_F(ResumeRefusedTest, MoreEpochsAndPatienceAreNone) {
  options_.epochs = 3;
  options_.patience = 2;
  options_.save_every = 1;
  EXPECT_EQ(MustTrain(Classifier(), rows_.data(), options_).steps, 9);
}

TEST_F(ResumeRefusedTest, AFileThatTrainDidNotSave) {
  const auto plan =
      PlanExecution(Classifier(), NetworkMode::kTraining, MemoryOptions(), 2);
  const auto manager =
      Manager::Create(*plan, *Parameters::Create(*plan, 7), options_.manager);
  ASSERT_THAT(SaveTraining(*plan, **manager, options_.state_path), IsOk());
  EXPECT_THAT(Refusal(options_, Classifier(), rows_.data()),
              HasSubstr("was not saved by Train"));
}

TEST_F(ResumeRefusedTest, AFileThatWasCut) {
  const std::string bytes = ReadTestFile(options_.state_path);
  WriteTestFile("refused.safetensors", bytes.substr(0, bytes.size() - 4));
  EXPECT_THAT(Refusal(options_, Classifier(), rows_.data()),
              HasSubstr("refused.safetensors"));
}

}  // namespace
}  // namespace footprint
