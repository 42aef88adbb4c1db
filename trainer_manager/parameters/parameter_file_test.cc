#include "footprint/trainer_manager/parameters/parameter_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/overwrite_value.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::shared_ptr<Parameters> Make(const Network& network, uint64_t seed) {
  const auto plan = PlanExecution(network, NetworkMode::kTraining, {});
  EXPECT_THAT(plan, IsOk());
  return *Parameters::Create(*plan, seed);
}

std::vector<float> CopyValues(const Parameters& parameters) {
  std::vector<float> values;
  for (const Parameters::Parameter& parameter : parameters.all()) {
    values.insert(values.end(), parameter.values.begin(),
                  parameter.values.end());
  }
  return values;
}

std::string MakePath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Loads the backbone of one model into another with another head.
TEST(ParameterFileTest, APatternLoadsAPart) {
  const std::string path = MakePath("part.safetensors");
  Network wide;
  wide.AddInput("rows", {{4, 13}});
  wide.AddLayer("hidden1", FullyConnected(50), {"rows"});
  wide.AddLayer("head", FullyConnected(7), {"hidden1"});
  wide.AddLayer("loss", MeanSquaredError(), {"head"});
  Network narrow;
  narrow.AddInput("rows", {{4, 13}});
  narrow.AddLayer("hidden1", FullyConnected(50), {"rows"});
  narrow.AddLayer("head", FullyConnected(2), {"hidden1"});
  narrow.AddLayer("loss", MeanSquaredError(), {"head"});
  const auto saved = Make(wide, 1);
  ASSERT_THAT(SaveParameters(*saved, path), IsOk());
  const auto loaded = Make(narrow, 2);
  const auto values = [](const Parameters& parameters, const char* name) {
    const auto found = *parameters.Find(name);
    return std::vector<float>(found.begin(), found.end());
  };
  const std::vector<float> head = values(*loaded, "head.weight");
  EXPECT_THAT(LoadParameters(path, loaded.get()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  ParameterMap part;
  part.only = "hidden1.*";
  ASSERT_THAT(LoadParameters(path, part, loaded.get()), IsOk());
  for (const char* name : {"hidden1.weight", "hidden1.bias"}) {
    EXPECT_EQ(values(*loaded, name), values(*saved, name));
  }
  EXPECT_EQ(values(*loaded, "head.weight"), head);
  const auto refusal = [&](const char* pattern) {
    part.only = pattern;
    return std::string(LoadParameters(path, part, loaded.get()).message());
  };
  EXPECT_THAT(refusal("hiden*"),
              HasSubstr("\"hiden*\" matches no parameter of the model"));
  EXPECT_THAT(refusal("h*"), HasSubstr("but the model has F32 [50, 2]"));
}

TEST(ParameterFileTest, WhatIsSavedIsLoaded) {
  const std::string path = MakePath("saved.safetensors");
  const auto saved = Make(LeNet5(2), 1);
  ASSERT_THAT(SaveParameters(*saved, path), IsOk());
  const auto loaded = Make(LeNet5(7), 2);  // the batch is no part of the model
  EXPECT_NE(CopyValues(*saved), CopyValues(*loaded));
  const absl::Status status = LoadParameters(path, loaded.get());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(CopyValues(*saved), CopyValues(*loaded));
}

TEST(ParameterFileTest, RefusesAFileOfAnotherModelAndChangesNothing) {
  const std::string path = MakePath("other.safetensors");
  ASSERT_THAT(SaveParameters(*Make(DigitMlp(1), 1), path), IsOk());
  const auto model = Make(TabularMlp(1), 2);
  const std::vector<float> before = CopyValues(*model);
  absl::Status status = LoadParameters(path, model.get());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("tensor \"fc1.weight\" is F32 [784, 512], but the model "
                "has F32 [13, 50]"));
  EXPECT_EQ(CopyValues(*model), before);
  // The file has all of the model's parameters, and more.
  Network head;
  head.AddInput("x", {{1, 3}});
  head.AddLayer("only", Relu(), {"x"});
  const auto nothing =
      *Parameters::Create(*PlanExecution(head, NetworkMode::kInference, {}), 1);
  status = LoadParameters(path, nothing.get());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is not a parameter of the model"));
  ASSERT_THAT(SaveParameters(*nothing, path), IsOk());
  status = LoadParameters(path, model.get());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()), HasSubstr("fc1.weight"));
}

TEST(ParameterFileTest, RefusesATruncatedOrForeignFile) {
  const std::string path = MakePath("whole.safetensors");
  const auto model = Make(TabularMlp(1), 1);
  ASSERT_THAT(SaveParameters(*model, path), IsOk());
  const std::vector<float> before = CopyValues(*model);
  const std::string bytes = ReadFile(path);
  const std::string cut = MakePath("cut.safetensors");
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 8) {
    WriteFile(cut, bytes.substr(0, size));
    EXPECT_THAT(LoadParameters(cut, model.get()),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << size;
  }
  WriteFile(cut, "PK\003\004 this is a file of something else entirely");
  EXPECT_THAT(LoadParameters(cut, model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(CopyValues(*model), before);
  EXPECT_THAT(LoadParameters(MakePath("none.safetensors"), model.get()),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(SaveParameters(*model, MakePath("no/such/folder")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(ParameterFileTest, RefusesValuesThatAreNotFiniteAndChangesNothing) {
  const std::string path = MakePath("damaged.safetensors");
  const auto model = Make(DigitMlp(1), 1);
  const std::vector<float> before = CopyValues(*model);
  for (const float value : {NAN, INFINITY, -INFINITY}) {
    // One value is in the last of many buffers of the first parameter, the
    // other in the last parameter.
    for (const auto& [name, place] :
         {std::make_pair("fc1.weight", 784 * 512 - 1),
          std::make_pair("fc3.bias", 3)}) {
      const auto damaged = Make(DigitMlp(1), 2);
      ASSERT_THAT(SaveParameters(*damaged, path), IsOk());
      OverwriteValue(path, name, place, value);
      const absl::Status status = LoadParameters(path, model.get());
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat(path, ": tensor \"", name, "\" is ",
                                         value, " at index ", place)));
      EXPECT_EQ(CopyValues(*model), before);
    }
  }
}

TEST(ParameterFileTest, WhatCouldNotBeLoadedIsNotSaved) {
  const std::string path = MakePath("finite.safetensors");
  const auto parameters = Make(LeNet5(2), 1);
  ASSERT_THAT(SaveParameters(*parameters, path), IsOk());
  const std::string before = ReadFile(path);
  for (const float value : {std::nanf(""), -INFINITY}) {
    parameters->all()[1].values[3] = value;
    EXPECT_THAT(SaveParameters(*parameters, path),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("finite.safetensors: not written"),
                               HasSubstr("at index 3"))));
    EXPECT_EQ(ReadFile(path), before);
  }
}

TEST(ParameterFileTest, RefusesAVarianceBelowZero) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("norm", BatchNormalization(), {"x"});
  const std::string path = MakePath("variance.safetensors");
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  ASSERT_THAT(plan, IsOk());
  const auto damaged = *Parameters::Create(*plan, 1);
  // A mean may be below 0, and a variance may be 0.
  (*damaged->Find("norm.mean"))[1] = -1;
  (*damaged->Find("norm.variance"))[0] = 0;
  ASSERT_THAT(SaveParameters(*damaged, path), IsOk());
  const auto model = *Parameters::Create(*plan, 2);
  ASSERT_THAT(LoadParameters(path, model.get()), IsOk());
  const std::vector<float> before = CopyValues(*model);
  OverwriteValue(path, "norm.mean", 1, 5);
  OverwriteValue(path, "norm.variance", 2, -1);
  const absl::Status status = LoadParameters(path, model.get());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("tensor \"norm.variance\" is -1 at index 2"));
  EXPECT_EQ(CopyValues(*model), before);
}

}  // namespace
}  // namespace footprint
