#include "footprint/trainer_manager/adapters/adapter_file.h"

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/overwrite_value.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Network Rows(int64_t units = 6) {
  Network network;
  network.AddInput("rows", {{4, 5}});
  network.AddLayer("qkv", FullyConnected(units), {"rows"});
  network.AddLayer("head", FullyConnected(2), {"qkv"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  return network;
}

LoraOptions Options() {
  LoraOptions options;
  options.rank = 2;
  options.alpha = 3;
  options.targets = {{"qkv", 0, 3, "q_proj"}, {"qkv", 2, 3, "v_proj"}};
  options.trained = {"head.*"};
  return options;
}

struct Model {
  explicit Model(uint64_t seed, const LoraOptions& options = Options(),
                 const Network& network = Rows())
      : adapted(*AddAdapters(network, options)) {
    const auto plan =
        PlanExecution(adapted.network, NetworkMode::kInference, {});
    EXPECT_THAT(plan, IsOk());
    parameters = *Parameters::Create(
        *plan, seed, [](const Parameters::Parameter& parameter) {
          // The matrices that begin with zeros.
          for (size_t i = 0; i < parameter.values.size(); ++i) {
            parameter.values[i] += static_cast<float>(i) / 8;
          }
        });
  }
  std::vector<float> Values(absl::string_view name) const {
    const auto found = parameters->Find(name);
    EXPECT_THAT(found, IsOk()) << name;
    return std::vector<float>(found->begin(), found->end());
  }

  AdaptedNetwork adapted;
  std::shared_ptr<Parameters> parameters;
};

std::string MakeFolder(absl::string_view name) {
  const std::string path = TestPath(name);
  mkdir(path.c_str(), 0700);
  return path;
}

void ReplaceConfig(const std::string& folder, const std::string& from,
                   const std::string& to) {
  const std::string path = folder + "/adapter_config.json";
  std::string text = ReadTestFile(path);
  const size_t place = text.find(from);
  ASSERT_NE(place, std::string::npos) << from << " in " << text;
  text.replace(place, from.size(), to);
  // TestPath is the folder of WriteTestFile.
  const std::string name = path.substr(TestPath("").size());
  WriteTestFile(name, text);
}

TEST(AdapterFileTest, SavesAndLoadsAdaptersAndTrainedLayers) {
  const std::string folder = MakeFolder("round_trip");
  const Model saved(1);
  const Model loaded(2);
  const std::vector<float> base = loaded.Values("qkv.weight");
  ASSERT_THAT(SaveAdapters(saved.adapted, *saved.parameters, folder), IsOk());
  ASSERT_THAT(LoadAdapters(folder, loaded.adapted, loaded.parameters.get()),
              IsOk());
  for (const char* name :
       {"qkv.0of3.lora_A", "qkv.0of3.lora_B", "qkv.2of3.lora_A",
        "qkv.2of3.lora_B", "head.weight", "head.bias"}) {
    EXPECT_EQ(loaded.Values(name), saved.Values(name)) << name;
  }
  EXPECT_EQ(loaded.Values("qkv.weight"), base);
  EXPECT_NE(loaded.Values("qkv.weight"), saved.Values("qkv.weight"));
}

TEST(AdapterFileTest, WritesPeftsNamesAndLayouts) {
  const std::string folder = MakeFolder("layout");
  const Model saved(1);
  ASSERT_THAT(SaveAdapters(saved.adapted, *saved.parameters, folder), IsOk());
  const auto file =
      SafetensorsFile::Open(folder + "/adapter_model.safetensors");
  ASSERT_THAT(file, IsOk());
  const struct {
    const char* name;
    Shape shape;
  } kTensors[] = {{"base_model.model.q_proj.lora_A.weight", {2, 5}},
                  {"base_model.model.q_proj.lora_B.weight", {2, 2}},
                  {"base_model.model.v_proj.lora_A.weight", {2, 5}},
                  {"base_model.model.v_proj.lora_B.weight", {2, 2}},
                  {"base_model.model.head.weight", {2, 6}},
                  {"base_model.model.head.bias", {2}}};
  EXPECT_EQ(file->index().tensors().size(), 6u);
  for (const auto& tensor : kTensors) {
    const auto found = file->index().Find(tensor.name);
    ASSERT_THAT(found, IsOk()) << tensor.name;
    EXPECT_EQ((*found)->shape, tensor.shape) << tensor.name;
  }
  // The head's weight is [6, 2] here: its second value is the file's seventh.
  const auto head = file->index().Find("base_model.model.head.weight");
  float seventh = 0;
  ASSERT_THAT(file->Read((*head)->offset_bytes + 24, 4, &seventh), IsOk());
  EXPECT_EQ(seventh, saved.Values("head.weight")[1]);
  const std::string config = ReadTestFile(folder + "/adapter_config.json");
  EXPECT_THAT(config, HasSubstr("\"peft_type\": \"LORA\""));
  EXPECT_THAT(config, HasSubstr("\"r\": 2,"));
  EXPECT_THAT(config, HasSubstr("\"lora_alpha\": 3,"));
  EXPECT_THAT(config, HasSubstr("\"modules_to_save\": [\n    \"head\"\n  ]"));
}

TEST(AdapterFileTest, ReadsTheConfiguration) {
  const std::string folder = MakeFolder("config");
  LoraOptions options = Options();
  options.alpha = 2.5f;
  options.rank_stabilized = true;
  const Model saved(1, options);
  ASSERT_THAT(SaveAdapters(saved.adapted, *saved.parameters, folder), IsOk());
  const auto config = ReadAdapterConfig(folder);
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->rank, 2);
  EXPECT_EQ(config->alpha, 2.5f);
  EXPECT_TRUE(config->rank_stabilized);
  EXPECT_THAT(config->target_modules, testing::ElementsAre("q_proj", "v_proj"));
}

TEST(AdapterFileTest, RefusesConfigurationsOfOtherAdapters) {
  const std::string folder = MakeFolder("other_config");
  const struct {
    const char* from;
    const char* to;
    const char* text;
  } kCases[] = {
      {"\"r\": 2", "\"r\": 4", "the rank is 4, and the network's is 2"},
      {"\"lora_alpha\": 3", "\"lora_alpha\": 5", "alpha is 5"},
      {"\"use_rslora\": false", "\"use_rslora\": true",
       "use_rslora is true, and the network's is false"},
      {"\"init_lora_weights\": true", "\"init_lora_weights\": \"pissa\"",
       "\"init_lora_weights\" is \"pissa\"; one that leaves the base"},
      {"\"init_lora_weights\": true", "\"init_lora_weights\": \"OLoRA\"",
       "\"init_lora_weights\" is \"OLoRA\""},
      {"\"LORA\"", "\"IA3\"", "\"peft_type\" is \"IA3\"; LORA is needed"},
      {"\"bias\": \"none\"", "\"bias\": \"all\"", "\"bias\" is \"all\""},
      {"\"lora_dropout\": 0.0", "\"use_dora\": true", "\"use_dora\" is true"},
      {"\"lora_dropout\": 0.0", "\"rank_pattern\": {\"q\": 1}",
       "one rank and alpha"},
      {"\"r\": 2", "\"r\": \"two\"", "\"r\" is \"two\"; a whole number"},
      {"\"r\": 2", "\"r\": 0", "\"r\" is 0; a number above 0"},
      {"\"lora_alpha\": 3", "\"lora_alpha\": 0", "\"lora_alpha\" is 0"},
      {"{", "[", "is not a JSON object"},
  };
  for (const auto& c : kCases) {
    const Model model(1);
    ASSERT_THAT(SaveAdapters(model.adapted, *model.parameters, folder), IsOk());
    ReplaceConfig(folder, c.from, c.to);
    const std::vector<float> before = model.Values("head.weight");
    EXPECT_THAT(LoadAdapters(folder, model.adapted, model.parameters.get()),
                StatusIs(kInvalid, HasSubstr(c.text)));
    EXPECT_EQ(model.Values("head.weight"), before);
  }
}

// A save that is cut off between its two files leaves matrices of one training
// beside the configuration of another.
TEST(AdapterFileTest, RefusesFilesOfTwoSaves) {
  const std::string folder = MakeFolder("two_saves");
  const std::string older = MakeFolder("older_save");
  LoraOptions options = Options();
  options.alpha = 4;
  const Model later(1, options);
  const Model model(2);
  ASSERT_THAT(SaveAdapters(model.adapted, *model.parameters, older), IsOk());
  ASSERT_THAT(SaveAdapters(later.adapted, *later.parameters, folder), IsOk());
  ASSERT_EQ(rename((older + "/adapter_config.json").c_str(),
                   (folder + "/adapter_config.json").c_str()),
            0);
  EXPECT_THAT(
      LoadAdapters(folder, model.adapted, model.parameters.get()),
      StatusIs(kInvalid, HasSubstr("trained with r 2, lora_alpha 4, and")));
}

TEST(AdapterFileTest, ADeeplyNestedFieldIsNamedByItsType) {
  const std::string deep =
      std::string(1 << 19, '[') + std::string(1 << 19, ']');
  EXPECT_THAT(
      ParseAdapterConfig("{\"peft_type\": \"LORA\", \"r\": " + deep + "}",
                         "adapter_config.json")
          .status(),
      StatusIs(kInvalid,
               HasSubstr("\"r\" is array; a whole number is needed")));
}

TEST(AdapterFileTest, RefusesAdaptersOfAnotherModelAndChangesNothing) {
  const std::string folder = MakeFolder("other_model");
  const Model saved(1);
  ASSERT_THAT(SaveAdapters(saved.adapted, *saved.parameters, folder), IsOk());
  // Other shapes, a module more, a module less.
  LoraOptions more = Options();
  more.targets.push_back({"qkv", 1, 3, "k_proj"});
  LoraOptions less = Options();
  less.targets.pop_back();
  const struct {
    Model model;
    const char* text;
  } kCases[] = {
      {Model(2, Options(), Rows(9)), "the model has F32 [3, 2]"},
      {Model(2, more), "k_proj"},
      {Model(2, less), "v_proj"},
  };
  for (const auto& c : kCases) {
    const std::vector<float> before = c.model.Values("qkv.0of3.lora_A");
    EXPECT_THAT(LoadAdapters(folder, c.model.adapted, c.model.parameters.get()),
                StatusIs(kInvalid, HasSubstr(c.text)));
    EXPECT_EQ(c.model.Values("qkv.0of3.lora_A"), before);
  }
}

TEST(AdapterFileTest, RefusesParametersOfAnotherNetwork) {
  const std::string folder = MakeFolder("other_parameters");
  const Model model(1);
  const auto plan = PlanExecution(Rows(), NetworkMode::kInference, {});
  const auto base = *Parameters::Create(*plan, 1);
  EXPECT_THAT(SaveAdapters(model.adapted, *base, folder),
              StatusIs(kInvalid, HasSubstr("AdaptedNetwork::network")));
  ASSERT_THAT(SaveAdapters(model.adapted, *model.parameters, folder), IsOk());
  EXPECT_THAT(LoadAdapters(folder, model.adapted, base.get()),
              StatusIs(kInvalid, HasSubstr("AdaptedNetwork::network")));
}

TEST(AdapterFileTest, RefusesValuesThatAreNotFiniteAndMissingFiles) {
  const std::string folder = MakeFolder("not_finite");
  const Model saved(1);
  ASSERT_THAT(SaveAdapters(saved.adapted, *saved.parameters, folder), IsOk());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  (*saved.parameters->Find("qkv.2of3.lora_B"))[1] = kInfinity;
  EXPECT_THAT(SaveAdapters(saved.adapted, *saved.parameters, folder),
              StatusIs(kInvalid, HasSubstr("\"qkv.2of3.lora_B\" is inf")));
  // The old files stayed.
  const Model loaded(2);
  ASSERT_THAT(LoadAdapters(folder, loaded.adapted, loaded.parameters.get()),
              IsOk());
  OverwriteValue(folder + "/adapter_model.safetensors",
                 "base_model.model.v_proj.lora_B.weight", 1, kInfinity);
  EXPECT_THAT(LoadAdapters(folder, loaded.adapted, loaded.parameters.get()),
              StatusIs(kInvalid, HasSubstr("v_proj.lora_B")));
  EXPECT_THAT(LoadAdapters("/nowhere", loaded.adapted, loaded.parameters.get()),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(SaveAdapters(loaded.adapted, *loaded.parameters, "/nowhere"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(AdapterFileTest, AFolderWithoutANameIsNotTheRoot) {
  const Model model(1);
  EXPECT_THAT(SaveAdapters(model.adapted, *model.parameters, ""),
              StatusIs(kInvalid, HasSubstr("has no name")));
  EXPECT_THAT(LoadAdapters("", model.adapted, model.parameters.get()),
              StatusIs(kInvalid, HasSubstr("has no name")));
}

TEST(AdapterFileTest, LoadsTheBaseWithoutItsAdapters) {
  const std::string path = TestPath("base.safetensors");
  const auto plan = PlanExecution(Rows(), NetworkMode::kInference, {});
  const auto base = *Parameters::Create(*plan, 7);
  ASSERT_THAT(SaveParameters(*base, path), IsOk());
  const Model model(1);
  const std::vector<float> adapter = model.Values("qkv.0of3.lora_A");
  ASSERT_THAT(LoadBaseParameters(path, ParameterMap(), model.adapted,
                                 model.parameters.get()),
              IsOk());
  for (const Parameters::Parameter& parameter : base->all()) {
    EXPECT_EQ(
        model.Values(parameter.name),
        std::vector<float>(parameter.values.begin(), parameter.values.end()))
        << parameter.name;
  }
  EXPECT_EQ(model.Values("qkv.0of3.lora_A"), adapter);
  // A map of the whole network names adapters, which no base has.
  const auto adapted_plan =
      PlanExecution(model.adapted.network, NetworkMode::kInference, {});
  ParameterMap map = PyTorchMap(*adapted_plan);
  EXPECT_TRUE(map.tensors.at("qkv.weight").transposed);
  EXPECT_THAT(
      LoadBaseParameters(path, map, model.adapted, model.parameters.get()),
      StatusIs(kInvalid, HasSubstr("transposed it would fit")));
}

}  // namespace
}  // namespace footprint
