#include "footprint/lowmem/checkpoints/config_reader.h"

#include <sys/stat.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ConfigReader Reader(const std::string& json) {
  absl::StatusOr<ConfigReader> reader =
      ConfigReader::Parse(json, "config.json");
  EXPECT_THAT(reader, IsOk());
  return *std::move(reader);
}

TEST(ConfigReaderTest, ReadsEachKind) {
  ConfigReader reader = Reader(
      R"({"n": 12, "eps": 1e-12, "flag": true, "name": "bert",
          "act": "gelu_new"})");
  EXPECT_EQ(reader.Extent("n"), 12);
  EXPECT_EQ(reader.ExtentOr("n", 7), 12);
  EXPECT_EQ(reader.NumberOr("eps", 1), 1e-12);
  EXPECT_EQ(reader.NumberOr("n", 1), 12);
  EXPECT_TRUE(reader.FlagOr("flag", false));
  EXPECT_EQ(reader.TextOr("name", ""), "bert");
  EXPECT_EQ(reader.ActivationOr("act", "relu"), Activation::kGeluTanh);
  EXPECT_EQ(reader.EpsilonOr("eps", 1), 1e-12f);
  EXPECT_THAT(reader.status(), IsOk());
}

TEST(ConfigReaderTest, TakesNullForAMissingKeyWhereThereIsADefault) {
  for (const char* json : {"{}", R"({"key": null})"}) {
    ConfigReader reader = Reader(json);
    EXPECT_EQ(reader.ExtentOr("key", 7), 7);
    EXPECT_EQ(reader.NumberOr("key", 0.5), 0.5);
    EXPECT_TRUE(reader.FlagOr("key", true));
    EXPECT_EQ(reader.TextOr("key", "text"), "text");
    EXPECT_EQ(reader.ActivationOr("key", "relu"), Activation::kRelu);
    EXPECT_EQ(reader.EpsilonOr("key", 1e-5), 1e-5f);
    EXPECT_THAT(reader.status(), IsOk());
    EXPECT_EQ(reader.Extent("key"), 1);
    EXPECT_THAT(reader.status().message(),
                AllOf(HasSubstr("config.json"), HasSubstr("key")));
  }
}

TEST(ConfigReaderTest, AllowsExtentsFromOneToTwoToTheThirtieth) {
  for (const char* good : {"1", "1073741824"}) {
    ConfigReader reader = Reader(std::string(R"({"n": )") + good + "}");
    EXPECT_EQ(reader.Extent("n"), std::stoll(good));
    EXPECT_THAT(reader.status(), IsOk());
  }
  for (const char* bad :
       {"0", "-1", "1073741825", "18446744073709551615", "1e3", "2.0", "\"3\"",
        "true", "[1]", "{}", "99999999999999999999999"}) {
    ConfigReader reader = Reader(std::string(R"({"n": )") + bad + "}");
    EXPECT_EQ(reader.Extent("n"), 1) << bad;
    EXPECT_THAT(reader.status(), StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
    EXPECT_THAT(reader.status().message(),
                HasSubstr("n is not a whole number from 1 to 1073741824"));
  }
}

TEST(ConfigReaderTest, RefusesValuesOfAnotherKind) {
  struct Case {
    const char* json;
    const char* what;
  };
  for (const Case& bad : {Case{R"({"key": "1"})", "is not a number"},
                          Case{R"({"key": [0.5]})", "is not a number"}}) {
    ConfigReader reader = Reader(bad.json);
    EXPECT_EQ(reader.NumberOr("key", 2), 2);
    EXPECT_THAT(reader.status().message(), HasSubstr(bad.what));
  }
  ConfigReader flag = Reader(R"({"key": 1})");
  EXPECT_TRUE(flag.FlagOr("key", true));
  EXPECT_THAT(flag.status().message(), HasSubstr("is not true or false"));
  ConfigReader text = Reader(R"({"key": 1})");
  EXPECT_EQ(text.TextOr("key", "otherwise"), "otherwise");
  EXPECT_THAT(text.status().message(), HasSubstr("is not a string"));
}

TEST(ConfigReaderTest, ReadsListsOfStrings) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Reader(R"({"key": ["a", "b"]})").TextsOr("key", {}),
            (Texts{"a", "b"}));
  EXPECT_EQ(Reader(R"({"key": []})").TextsOr("key", {"x"}), Texts());
  EXPECT_EQ(Reader(R"({"key": null})").TextsOr("key", {"x"}), Texts{"x"});
  for (const char* bad :
       {R"({"key": "a"})", R"({"key": ["a", 1]})", R"({"key": {"a": "b"}})",
        R"({"key": {}})", R"({"key": 1})"}) {
    ConfigReader reader = Reader(bad);
    EXPECT_EQ(reader.TextsOr("key", {"x"}), Texts{"x"}) << bad;
    EXPECT_THAT(reader.status().message(),
                HasSubstr("key is not a list of strings"));
  }
}

TEST(ConfigReaderTest, SaysWhetherThereIsAKey) {
  const ConfigReader reader = Reader(R"({"a": 0, "b": null})");
  EXPECT_TRUE(reader.Has("a"));
  EXPECT_FALSE(reader.Has("b"));
  EXPECT_FALSE(reader.Has("c"));
}

TEST(ConfigReaderTest, NamesTheActivationsItKnows) {
  EXPECT_EQ(Reader("{}").ActivationOr("act", "gelu"), Activation::kGelu);
  EXPECT_EQ(Reader(R"({"act": "silu"})").ActivationOr("act", "gelu"),
            Activation::kSilu);
  ConfigReader reader = Reader(R"({"act": "mish"})");
  reader.ActivationOr("act", "gelu");
  EXPECT_THAT(reader.status(), StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(reader.status().message(),
              AllOf(HasSubstr("act is \"mish\""), HasSubstr("gelu_new")));
}

TEST(ConfigReaderTest, ReadsAnObjectWithinTheConfig) {
  ConfigReader reader = Reader(
      R"({"theta": 5, "rope": {"factor": 2.5, "list": [1, 2.5]}, "no": null})");
  ConfigReader section = reader.Section("rope");
  EXPECT_EQ(section.NumberOr("factor", 0), 2.5);
  EXPECT_EQ(section.NumbersOr("list", {}), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(section.NumbersOr("other", {7}), (std::vector<double>{7}));
  EXPECT_FALSE(section.Has("theta"));
  section.Inherit("theta", reader);
  EXPECT_EQ(section.NumberOr("theta", 0), 5);
  EXPECT_TRUE(reader.IsNull("no"));
  EXPECT_FALSE(reader.IsNull("theta"));
  EXPECT_FALSE(reader.IsNull("missing"));
  // A section keeps its error to itself until the whole reader takes it over.
  section.Fail("factor", "is odd");
  EXPECT_THAT(reader.status(), IsOk());
  reader.Take(section);
  EXPECT_THAT(reader.status().message(), HasSubstr(": rope: factor is odd"));
}

TEST(ConfigReaderTest, SaysWhatIsNoObjectNoListAndNoCount) {
  const auto fault = [](const char* json, const auto& read) {
    ConfigReader reader = Reader(json);
    read(reader);
    return std::string(reader.status().message());
  };
  const auto section = [](ConfigReader& reader) { reader.Section("a"); };
  EXPECT_THAT(fault(R"({"a": 1})", section), HasSubstr("a is not an object"));
  EXPECT_THAT(fault(R"({})", section), HasSubstr("a is not an object"));
  const auto numbers = [](ConfigReader& reader) { reader.NumbersOr("a", {}); };
  for (const char* json :
       {R"({"a": 1})", R"({"a": ["1"]})", R"({"a": {"b": 1}})"}) {
    EXPECT_THAT(fault(json, numbers), HasSubstr("a is not a list of numbers"));
  }
  EXPECT_EQ(Reader(R"({"a": 0})").CountOr("a", 3), 0);
  EXPECT_EQ(Reader(R"({"a": 2})").CountOr("a", 3), 2);
  EXPECT_EQ(Reader("{}").CountOr("a", 3), 3);
  EXPECT_THAT(fault(R"({"a": -1})",
                    [](ConfigReader& reader) { reader.CountOr("a", 0); }),
              HasSubstr("a is not a whole number"));
}

TEST(ConfigReaderTest, WantsAnEpsilonAboveZeroAsAFloat) {
  for (const char* bad : {"0", "-1e-5", "1e-60", "1e60"}) {
    ConfigReader reader = Reader(std::string(R"({"eps": )") + bad + "}");
    reader.EpsilonOr("eps", 1e-5);
    EXPECT_THAT(reader.status().message(), HasSubstr("eps is not above zero"))
        << bad;
  }
}

TEST(ConfigReaderTest, WantsFeaturesThatTheHeadsCanShare) {
  ConfigReader reader = Reader("{}");
  reader.CheckHeads(768, 12);
  EXPECT_THAT(reader.status(), IsOk());
  reader.CheckHeads(768, 11);
  EXPECT_THAT(reader.status().message(),
              HasSubstr("768 is not a multiple of the 11 heads"));
}

TEST(ConfigReaderTest, KeepsTheFirstFault) {
  ConfigReader reader = Reader("{}");
  reader.Extent("first");
  reader.Extent("second");
  EXPECT_THAT(reader.status().message(), HasSubstr("first is missing"));
}

TEST(ConfigReaderTest, RefusesWhatIsNoObject) {
  for (const char* bad : {"", "[]", "1", "{", "{} {}", "{\"a\": }", "\"{}\""}) {
    const auto reader = ConfigReader::Parse(bad, "x/config.json");
    EXPECT_THAT(reader.status(), StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
    EXPECT_THAT(reader.status().message(),
                HasSubstr("x/config.json: is not a JSON object; copy"));
  }
}

// Changes, drops and repeats bytes of a config at random. Parsing must give a
// result or an error, and must not crash.
TEST(ConfigReaderTest, SurvivesDamagedText) {
  const std::string good =
      R"({"n_layer": 12, "eps": 1e-5, "flag": true, "act": "gelu", "x": null})";
  std::mt19937 random(20261121);
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (int edit = random() % 4; edit >= 0; --edit) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 3);
          break;
        default:
          text.insert(at, text.substr(at, 1 + random() % 9));
      }
      if (text.empty()) text = "{";
    }
    auto reader = ConfigReader::Parse(text, "config.json");
    if (!reader.ok()) {
      ++refused;
      continue;
    }
    const int64_t layers = reader->Extent("n_layer");
    EXPECT_GE(layers, 1);
    EXPECT_LE(layers, int64_t{1} << 30);
    reader->NumberOr("eps", 1);
    reader->FlagOr("flag", false);
    reader->ActivationOr("act", "gelu");
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 4990);
}

TEST(ReadConfigTextTest, IsTheFile) {
  const std::string path = WriteTestFile("config.json", R"({"a": 1})");
  const auto text = ReadConfigText(path);
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(*text, R"({"a": 1})");
}

TEST(ReadConfigTextTest, RefusesAPipeThatNobodyWritesTo) {
  const std::string pipe = TestPath("pipe.json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto text = ReadConfigText(pipe);
  EXPECT_THAT(text.status(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(text.status().message(), HasSubstr("pipe.json: not a regular"));
}

TEST(ReadConfigTextTest, SaysWhatAFolderHolds) {
  const auto text = ReadConfigText(TestPath("missing/config.json"));
  EXPECT_THAT(text.status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(text.status().message(), HasSubstr("model.safetensors"));
}

TEST(ReadConfigTextTest, ReadsUpToItsLimitAndNamesItBeyond) {
  std::string text(4 << 20, ' ');
  text[0] = '{';
  text.back() = '}';
  const auto largest = ReadConfigText(WriteTestFile("large.json", text));
  ASSERT_THAT(largest, IsOk());
  EXPECT_EQ(*largest, text);
  const auto beyond = ReadConfigText(WriteTestFile("larger.json", text + "\n"));
  EXPECT_THAT(beyond, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(beyond.status().message(),
              AllOf(HasSubstr("larger.json"), HasSubstr("4194304")));
}

}  // namespace
}  // namespace footprint
