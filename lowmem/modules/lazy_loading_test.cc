#include "footprint/lowmem/modules/lazy_loading.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/modules/embedding_modules.h"
#include "footprint/lowmem/modules/module.h"
#include "footprint/lowmem/modules/panel_activations.h"
#include "footprint/lowmem/modules/panel_modules.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kHidden = 24;
constexpr int64_t kVocabulary = 37;

// A module as a user would write it: a residual block with a parameter of its
// own.
class Block : public PanelModule {
 public:
  Block() : PanelModule("Block"), norm_(kHidden) {
    AddChild("norm", &norm_);
    AddChild("feed", &feed_);
    scale_ = AddParameter("scale", {kHidden});
    feed_.Add(std::make_unique<LinearModule>(kHidden, 300));
    feed_.Add(std::make_unique<ActivationModule>(Activation::kGelu));
    feed_.Add(std::make_unique<LinearModule>(300, kHidden, false));
  }

  absl::StatusOr<PanelActivations> Run(const PanelActivations& input) override {
    const auto normed = norm_.Run(input);
    if (!normed.ok()) return normed.status();
    auto output = feed_.Run(*normed);
    if (!output.ok()) return output;
    const auto lease = Lease();
    if (!lease.ok()) return lease.status();
    for (int64_t token = 0; token < input.tokens(); ++token) {
      for (int64_t i = 0; i < kHidden; ++i) {
        output->At(token, i) =
            input.At(token, i) + scale_->data()[i] * output->At(token, i);
      }
    }
    return output;
  }

 private:
  LayerNormModule norm_;
  SequentialModule feed_;
  const Parameter* scale_;
};

class Classifier : public Module {
 public:
  explicit Classifier(int64_t chunk_rows = 5)
      : Module("Classifier"),
        words_({kVocabulary, kHidden}, chunk_rows),
        types_({3, kHidden}),
        head_(kHidden, 7) {
    AddChild("words", &words_);
    AddChild("types", &types_);
    AddChild("blocks", &blocks_);
    AddChild("head", &head_);
    blocks_.Add(std::make_unique<Block>());
    blocks_.Add(std::make_unique<Block>());
  }

  absl::StatusOr<std::vector<float>> Run(absl::Span<const int32_t> ids) {
    auto states = words_.Run(ids);
    if (!states.ok()) return states.status();
    const auto types = types_.Run(std::vector<int32_t>(ids.size(), 2));
    if (!types.ok()) return types.status();
    for (int64_t i = 0; i < states->size(); ++i) {
      states->data()[i] += types->data()[i];
    }
    states = blocks_.Run(*states);
    if (!states.ok()) return states.status();
    states = head_.Run(*states);
    if (!states.ok()) return states.status();
    return states->ToRows();
  }

 private:
  ChunkedEmbedding words_;
  EmbeddingModule types_;
  SequentialModule blocks_;
  LinearModule head_;
};

TestTensors ClassifierTensors(DType type) {
  RandomTensors make(type, 1);
  make.Matrix("model.words.weight", kVocabulary, kHidden);
  make.Matrix("model.types.weight", 3, kHidden);
  for (const int64_t block : {0, 1}) {
    const std::string name = absl::StrCat("model.blocks.", block, ".");
    make.Norm(name + "norm", kHidden);
    make.Linear(name + "feed.0", 300, kHidden, 300);
    make.Matrix(name + "feed.2.weight", kHidden, 300);
    make.Vector(name + "scale", kHidden);
  }
  make.Linear("model.head", 7, kHidden, 7);
  return make.tensors();
}

std::string Write(const TestTensors& tensors, DType type,
                  const std::string& name, int64_t block_columns = 0) {
  return WriteCheckpoint("{}", tensors, type, name, block_columns) +
         "/model.safetensors";
}

std::string ClassifierFile(const std::string& name, DType type = DType::kF32,
                           int64_t block_columns = 0) {
  return Write(ClassifierTensors(type), type, name, block_columns);
}

LazyLoadingOptions ModelOptions() {
  LazyLoadingOptions options;
  options.prefix = "model.";
  return options;
}

// Computes the result in double precision, one number at a time.
std::vector<double> ClassifyReference(const TestTensors& tensors,
                                      const std::vector<int32_t>& ids) {
  const auto at = [&](const std::string& name, int64_t i) {
    return double{tensors.at("model." + name).values[i]};
  };
  const auto multiply = [&](const std::string& name, int64_t outputs,
                            bool has_bias, const std::vector<double>& input) {
    const auto inputs = static_cast<int64_t>(input.size());
    std::vector<double> output(outputs);
    for (int64_t i = 0; i < outputs; ++i) {
      output[i] = has_bias ? at(name + ".bias", i) : 0;
      for (int64_t j = 0; j < inputs; ++j) {
        output[i] += at(name + ".weight", i * inputs + j) * input[j];
      }
    }
    return output;
  };
  std::vector<double> result;
  for (const int32_t id : ids) {
    std::vector<double> state(kHidden);
    for (int64_t i = 0; i < kHidden; ++i) {
      state[i] = at("words.weight", id * kHidden + i) +
                 at("types.weight", 2 * kHidden + i);
    }
    for (const std::string block : {"blocks.0.", "blocks.1."}) {
      double mean = 0, variance = 0;
      for (const double x : state) mean += x / kHidden;
      for (const double x : state) variance += (x - mean) * (x - mean);
      variance /= kHidden;
      std::vector<double> normed(kHidden);
      for (int64_t i = 0; i < kHidden; ++i) {
        normed[i] = (state[i] - mean) / std::sqrt(variance + 1e-5) *
                        at(block + "norm.weight", i) +
                    at(block + "norm.bias", i);
      }
      std::vector<double> wide = multiply(block + "feed.0", 300, true, normed);
      for (double& x : wide) x *= 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
      const auto added = multiply(block + "feed.2", kHidden, false, wide);
      for (int64_t i = 0; i < kHidden; ++i) {
        state[i] += at(block + "scale", i) * added[i];
      }
    }
    for (const double x : multiply("head", 7, true, state)) result.push_back(x);
  }
  return result;
}

std::vector<int32_t> SomeIds() {
  return {3, 36, 0, 3, 17, 4, 5, 36, 9, 1, 3, 20, 21, 22, 23, 24, 8, 8};
}

TEST(LazyLoadingTest, RunsAUsersModelWithTheSameBitsHoweverItIsLoaded) {
  for (const DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    const TestTensors tensors = ClassifierTensors(type);
    const std::string plain = Write(tensors, type, "same_plain");
    const std::string packed = Write(tensors, type, "same_packed", 256);
    std::vector<float> expected;
    for (const std::string& file : {plain, packed}) {
      for (const WeightBackend storage : kWeightBackends) {
        for (const int64_t prefetch_bytes : {0, 3000, 1000000}) {
          for (const int64_t chunk_rows : {0, 1, 5, 1000}) {
            Classifier model(chunk_rows);
            LazyLoadingOptions options = ModelOptions();
            options.storage = storage;
            options.prefetch_bytes = prefetch_bytes;
            const auto loaded = LazyLoading(&model, file, options);
            ASSERT_THAT(loaded, IsOk());
            for (int repeat = 0; repeat < 2; ++repeat) {
              const auto output = model.Run(SomeIds());
              ASSERT_THAT(output, IsOk());
              if (expected.empty()) expected = *output;
              EXPECT_EQ(*output, expected) << WeightBackendName(storage);
            }
            EXPECT_THAT((*loaded)->CheckFile(), IsOk());
          }
        }
      }
    }
    const std::vector<double> exact = ClassifyReference(tensors, SomeIds());
    ASSERT_EQ(expected.size(), exact.size());
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(expected[i], exact[i], 1e-5);
    }
  }
}

TEST(LazyLoadingTest, LoadsWhatIsChosen) {
  const std::string file = ClassifierFile("chosen");
  const auto kept = [&](const LazyLoadingOptions& options) {
    Classifier model;
    const auto loaded = LazyLoading(&model, file, options);
    EXPECT_THAT(loaded, IsOk());
    const auto output = model.Run(SomeIds());
    EXPECT_THAT(output, IsOk());
    EXPECT_EQ((*loaded)->held_bytes(), (*loaded)->kept_bytes());
    return (*loaded)->kept_bytes();
  };
  const int64_t line = 64;
  const int64_t linears = 2 * (300 * kHidden * 4 + 19 * line) +
                          2 * 300 * kHidden * 4 + (7 * kHidden * 4 + 32) + line;
  const int64_t norms = 4 * 2 * line;
  const int64_t all = linears + norms + 2 * 2 * line +
                      (kVocabulary * kHidden * 4 + 32) + 5 * line;
  LazyLoadingOptions options = ModelOptions();
  EXPECT_EQ(kept(options), 0);
  options.target_classes = {"Linear"};
  EXPECT_EQ(kept(options), all - linears);
  options.target_classes = {"Linear", "LayerNorm"};
  EXPECT_EQ(kept(options), all - linears - norms);
  options.target_classes = {};
  options.target_modules = {"blocks.0.norm", "blocks.1.norm"};
  EXPECT_EQ(kept(options), all - norms);
  options.target_modules = {"blocks"};
  options.skip_modules = {"blocks.1"};
  EXPECT_EQ(kept(options) - kept(ModelOptions()),
            all - (linears - (7 * kHidden * 4 + 32) - line) / 2 - norms / 2 -
                2 * line);
  options.target_modules = {};
  options.skip_modules = {""};
  EXPECT_EQ(kept(options), all);
}

// No thread reads ahead if the weights are used in place.
TEST(LazyLoadingTest, StartsAThreadOnlyWhereItReads) {
  const std::string file = ClassifierFile("thread_ahead");
  for (const auto& [storage, threads] :
       {std::make_pair(WeightBackend::kPread, 1),
        std::make_pair(WeightBackend::kMmap, 0)}) {
    const auto count = [] {
      return std::distance(
          std::filesystem::directory_iterator("/proc/self/task"),
          std::filesystem::directory_iterator());
    };
    const auto before = count();
    Classifier model;
    LazyLoadingOptions options = ModelOptions();
    options.storage = storage;
    options.prefetch_bytes = 3000;
    const auto loaded = LazyLoading(&model, file, options);
    ASSERT_THAT(loaded, IsOk());
    EXPECT_EQ(count(), before + threads) << WeightBackendName(storage);
  }
}

TEST(LazyLoadingTest, SharesWhatSeveralThreadsUse) {
  const std::string file = ClassifierFile("threads");
  for (const int64_t prefetch_bytes : {0, 20000}) {
    Classifier model;
    LazyLoadingOptions options = ModelOptions();
    options.prefetch_bytes = prefetch_bytes;
    const auto loaded = LazyLoading(&model, file, options);
    ASSERT_THAT(loaded, IsOk());
    const auto expected = model.Run(SomeIds());
    ASSERT_THAT(expected, IsOk());
    std::atomic<int> equal{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int repeat = 0; repeat < 20; ++repeat) {
          const auto output = model.Run(SomeIds());
          equal += output.ok() && *output == *expected;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(equal, 80);
  }
}

TEST(LazyLoadingTest, ReadsOnlyTheRowsAskedForEachOnce) {
  const std::string file = ClassifierFile("rows");
  LazyLoadingOptions options = ModelOptions();
  options.target_modules = {"words"};
  const std::vector<int32_t> ids = {9, 3, 9, 30, 3, 3, 4};
  const auto delivered_and_peak = [&](int64_t chunk_rows) {
    Classifier model(chunk_rows);
    const auto loaded = LazyLoading(&model, file, options);
    EXPECT_THAT(loaded, IsOk());
    const int64_t before = (*loaded)->counters().bytes_delivered;
    EXPECT_THAT(model.Run(ids), IsOk());
    return std::vector<int64_t>(
        {(*loaded)->counters().bytes_delivered - before,
         (*loaded)->peak_bytes() - (*loaded)->kept_bytes()});
  };
  constexpr int64_t kRowBytes = kHidden * 4;
  // A row has 96 bytes and takes two cache lines.
  EXPECT_THAT(delivered_and_peak(0), ElementsAre(4 * kRowBytes, 128));
  // The chunks of five rows are rows 0 to 9 and 30 to 34.
  EXPECT_THAT(delivered_and_peak(5), ElementsAre(15 * kRowBytes, 512));
  // The last chunk is short.
  EXPECT_THAT(delivered_and_peak(30),
              ElementsAre(37 * kRowBytes, 30 * kRowBytes));
}

absl::Status TryPlan(const LazyLoadingOptions& options,
                     const std::string& file) {
  Classifier model;
  return LazyLoading(&model, file, options).status();
}

TEST(LazyLoadingTest, NamesWhatIsNotThereAndWhatIsLikeIt) {
  const std::string file = ClassifierFile("names");
  LazyLoadingOptions options = ModelOptions();
  options.target_modules = {"blocks.1.nrm"};
  EXPECT_THAT(TryPlan(options, file), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(TryPlan(options, file).message()),
              HasSubstr("no module \"blocks.1.nrm\" in the model; the closest: "
                        "\"blocks.1.norm\""));
  options.target_modules = {};
  options.skip_modules = {"haed"};
  EXPECT_THAT(std::string(TryPlan(options, file).message()),
              HasSubstr("the closest: \"head\""));
  options.skip_modules = {};
  options.target_classes = {"Linaer"};
  EXPECT_THAT(
      std::string(TryPlan(options, file).message()),
      HasSubstr("no class \"Linaer\" in the model; the closest: \"Linear\""));
  options = ModelOptions();
  options.prefix = "modle.";
  EXPECT_THAT(std::string(TryPlan(options, file).message()),
              HasSubstr("module \"words\" (ChunkedEmbedding): "));
  EXPECT_THAT(std::string(TryPlan(options, file).message()),
              HasSubstr("the closest: \"model.words.weight\""));
}

TEST(LazyLoadingTest, RefusesOptionsThatMakeNoSense) {
  const std::string file = ClassifierFile("refuses");
  LazyLoadingOptions options = ModelOptions();
  options.target_classes = {"Linear"};
  options.target_modules = {"head"};
  EXPECT_THAT(std::string(TryPlan(options, file).message()),
              HasSubstr("choose by one"));
  options.target_classes = {"Activation"};
  options.target_modules = {};
  EXPECT_THAT(std::string(TryPlan(options, file).message()),
              HasSubstr("the class \"Activation\" has no parameters"));
  options.target_classes = {};
  options.prefetch_bytes = -1;
  EXPECT_THAT(TryPlan(options, file),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(LazyLoadingTest, RefusesTensorsThatAreNotTheModels) {
  TestTensors tensors = ClassifierTensors(DType::kF32);
  tensors["model.head.weight"].shape = {kHidden, 7};
  EXPECT_THAT(
      std::string(TryPlan(ModelOptions(), Write(tensors, DType::kF32, "shape"))
                      .message()),
      HasSubstr("module \"head\" (Linear): model.head.weight is [24, 7], but "
                "the module's weight is [7, 24]"));
  tensors = ClassifierTensors(DType::kF32);
  tensors.erase("model.blocks.1.scale");
  const absl::Status missing =
      TryPlan(ModelOptions(), Write(tensors, DType::kF32, "missing"));
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(missing.message()),
              HasSubstr("\"model.blocks.0.scale\""));
}

class BadTree : public Module {
 public:
  using Module::AddChild;
  using Module::AddParameter;
  BadTree() : Module("BadTree") {}
};

TEST(LazyLoadingTest, RefusesTreesWithoutClearNames) {
  const std::string file = ClassifierFile("trees");
  BadTree child;
  const auto message = [&](const std::function<void(BadTree&)>& build) {
    BadTree root;
    build(root);
    const auto loaded = LazyLoading(&root, file, {});
    EXPECT_THAT(loaded, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(loaded.status().message());
  };
  EXPECT_THAT(message([&](BadTree& root) {
                root.AddChild("a", &child);
                root.AddChild("b", &child);
              }),
              HasSubstr("module \"b\": is twice in the tree"));
  EXPECT_THAT(message([&](BadTree& root) {
                root.AddParameter("a", {1});
                root.AddParameter("a", {1});
              }),
              HasSubstr("module \"\": two of its parts are named \"a\""));
  EXPECT_THAT(message([&](BadTree& root) {
                root.AddParameter("a", {1});
                root.AddChild("a", &child);
              }),
              HasSubstr("two of its parts are named \"a\""));
  for (const char* name : {"", ".a", "a."}) {
    EXPECT_THAT(message([&](BadTree& root) { root.AddChild(name, &child); }),
                HasSubstr(absl::StrCat("\"", name, "\" is no name")));
  }
  EXPECT_THAT(message([&](BadTree& root) { root.AddChild("a", nullptr); }),
              HasSubstr("module \"a\": is null"));
}

TEST(LazyLoadingTest, SaysSoWhenTheFileChangesAndThenNothingIsHeld) {
  for (const int64_t prefetch_bytes : {0, 3000}) {
    const std::string file = ClassifierFile("changes");
    Classifier model;
    LazyLoadingOptions options = ModelOptions();
    options.prefetch_bytes = prefetch_bytes;
    const auto loaded = LazyLoading(&model, file, options);
    ASSERT_THAT(loaded, IsOk());
    ASSERT_THAT(model.Run(SomeIds()), IsOk());
    ASSERT_EQ(truncate(file.c_str(), 30000), 0);
    const auto output = model.Run(SomeIds());
    EXPECT_THAT(output, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(output.status().message()),
                HasSubstr("module \"words\": "));
    EXPECT_THAT((*loaded)->CheckFile(), Not(IsOk()));
    EXPECT_LE((*loaded)->held_bytes(), prefetch_bytes);
  }
}

TEST(LazyLoadingTest, IsNeededAndOnlyOnce) {
  const std::string file = ClassifierFile("needed");
  Classifier model;
  EXPECT_THAT(std::string(model.Run(SomeIds()).status().message()),
              HasSubstr("call LazyLoading"));
  {
    const auto loaded = LazyLoading(&model, file, ModelOptions());
    ASSERT_THAT(loaded, IsOk());
    EXPECT_THAT(LazyLoading(&model, file, ModelOptions()),
                StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(model.Run(SomeIds()), IsOk());
  }
  EXPECT_THAT(model.Run(SomeIds()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  const auto again = LazyLoading(&model, file, ModelOptions());
  ASSERT_THAT(again, IsOk());
  EXPECT_THAT(model.Run(SomeIds()), IsOk());
}

// A negative number means neither "all rows" nor "row by row".
TEST(ChunkedEmbeddingTest, RefusesANegativeChunk) {
  for (const int64_t chunk_rows :
       {int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    ChunkedEmbedding words({4, 2}, chunk_rows);
    const absl::Status status = words.Run({1}).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("chunk_rows is ", chunk_rows)));
  }
}

TEST(LazyLoadingTest, NamesBadInput) {
  Classifier model;
  const auto loaded =
      LazyLoading(&model, ClassifierFile("bad_input"), ModelOptions());
  ASSERT_THAT(loaded, IsOk());
  const std::vector<int32_t> ids = {1, kVocabulary};
  EXPECT_THAT(std::string(model.Run(ids).status().message()),
              HasSubstr("token 1 has the id 37; the table has 37 rows"));
  const auto nothing = model.Run({});
  ASSERT_THAT(nothing, IsOk());
  EXPECT_TRUE(nothing->empty());
  LinearModule linear(3, 2);
  EXPECT_THAT(
      std::string(linear.Run(PanelActivations(1, 4)).status().message()),
      HasSubstr("an input of 4 features for a Linear of 3"));
}

}  // namespace
}  // namespace footprint
