// Compares tokenizers of GGUF files with the same ones in tokenizer.json. The
// words and merges of the small tokenizers from testdata/make_tokenizers.py are
// written as keys, in the way of llama.cpp's converter.

#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/gguf/gguf_header.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/text/gguf_tokenizer_file.h"
#include "footprint/lowmem/text/tokenizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kTestData[] = "lowmem/text/testdata/";

Json ReadTokenizerJson(const std::string& name) {
  return Json::parse(
      ReadTestFile(absl::StrCat(kTestData, name, "/tokenizer.json")));
}

// The words by id, with their kinds.
struct Words {
  std::vector<std::string> texts;
  std::vector<int32_t> kinds;
};

Words WordsOf(const Json& tokenizer) {
  Words words;
  const auto set = [&](int64_t id, const std::string& text, int32_t kind) {
    if (id >= static_cast<int64_t>(words.texts.size())) {
      words.texts.resize(id + 1);
      words.kinds.resize(id + 1, 5);
    }
    words.texts[id] = text;
    words.kinds[id] = kind;
  };
  for (const auto& word : tokenizer["model"]["vocab"].items()) {
    const bool is_byte =
        word.key().size() == 6 && word.key()[0] == '<' && word.key()[1] == '0';
    set(word.value(), word.key(), is_byte ? 6 : 1);
  }
  for (const Json& word : tokenizer["added_tokens"]) {
    set(word["id"], word["content"], word["special"] == true ? 3 : 4);
  }
  return words;
}

std::vector<std::string> MergesOf(const Json& tokenizer) {
  std::vector<std::string> merges;
  for (const Json& merge : tokenizer["model"]["merges"]) {
    merges.push_back(merge.is_string()
                         ? merge.get<std::string>()
                         : absl::StrCat(merge[0].get<std::string>(), " ",
                                        merge[1].get<std::string>()));
  }
  return merges;
}

void AddWords(const Words& words, GgufHeader* header) {
  header->AddTexts("tokenizer.ggml.tokens", words.texts);
  header->AddIntegers("tokenizer.ggml.token_type", words.kinds);
}

// Compares the ids of each text, and the text that the ids decode to.
void ExpectTheSame(const Tokenizer& actual, const Tokenizer& expected,
                   const std::string& name) {
  int texts = 0;
  const std::string lines =
      ReadTestFile(absl::StrCat(kTestData, name, "/expected.jsonl"));
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) {
    if (line.empty()) continue;
    const std::string text = Json::parse(line)[0];
    const auto ids = expected.Encode(text, SpecialIds::kInclude);
    ASSERT_THAT(ids, IsOk());
    ASSERT_THAT(actual.Encode(text, SpecialIds::kInclude), IsOkAndHolds(*ids))
        << line;
    for (const SpecialIds special :
         {SpecialIds::kInclude, SpecialIds::kLeaveOut}) {
      ASSERT_EQ(actual.Decode(*ids, special), expected.Decode(*ids, special))
          << line;
    }
    ++texts;
  }
  EXPECT_EQ(texts, 220);
}

TEST(GgufTokenizerTest, ReadsBpeFromBytes) {
  // Published tokenizers of this kind have no normalizer.
  Json json = ReadTokenizerJson("byte_level");
  json["normalizer"] = nullptr;
  const std::string folder = TestPath("llama3");
  mkdir(folder.c_str(), 0777);
  WriteTestFile("llama3/tokenizer.json", json.dump());
  const auto expected = Tokenizer::Open(folder);
  ASSERT_THAT(expected, IsOk());
  GgufHeader header;
  header.AddText("tokenizer.ggml.model", "gpt2");
  header.AddText("tokenizer.ggml.pre", "llama-bpe");
  AddWords(WordsOf(json), &header);
  header.AddTexts("tokenizer.ggml.merges", MergesOf(json));
  header.AddInteger("tokenizer.ggml.bos_token_id", 700);
  const auto actual =
      Tokenizer::Open(WriteTestFile("llama3.gguf", header.Build()));
  ASSERT_THAT(actual, IsOk());
  ExpectTheSame(**actual, **expected, "byte_level");
}

TEST(GgufTokenizerTest, ReadsSentencePieceByScores) {
  const Json json = ReadTokenizerJson("marked");
  const auto expected = Tokenizer::Open(absl::StrCat(kTestData, "marked"));
  ASSERT_THAT(expected, IsOk());
  GgufHeader header;
  header.AddText("tokenizer.ggml.model", "llama");
  const Words words = WordsOf(json);
  AddWords(words, &header);
  // Words were learnt in the order of their merges, so the id gives the score.
  std::vector<float> scores;
  for (size_t id = 0; id < words.texts.size(); ++id) {
    scores.push_back(-static_cast<float>(id));
  }
  header.AddNumbers("tokenizer.ggml.scores", scores);
  header.AddInteger("tokenizer.ggml.bos_token_id", 1);
  header.AddInteger("tokenizer.ggml.unknown_token_id", 0);
  const auto actual =
      Tokenizer::Open(WriteTestFile("llama2.gguf", header.Build()));
  ASSERT_THAT(actual, IsOk());
  ExpectTheSame(**actual, **expected, "marked");
}

TEST(GgufTokenizerTest, AddsWhatTheFlagsSay) {
  GgufHeader header;
  header.AddText("tokenizer.ggml.model", "gpt2");
  header.AddText("tokenizer.ggml.pre", "gpt-2");
  header.AddTexts("tokenizer.ggml.tokens", {"a", "b", "ab", "<s>", "</s>"});
  header.AddIntegers("tokenizer.ggml.token_type", {1, 1, 1, 3, 3});
  header.AddTexts("tokenizer.ggml.merges", {"a b"});
  header.AddFlag("tokenizer.ggml.add_bos_token", true);
  header.AddFlag("tokenizer.ggml.add_eos_token", true);
  header.AddInteger("tokenizer.ggml.bos_token_id", 3);
  header.AddInteger("tokenizer.ggml.eos_token_id", 4);
  const std::string path = WriteTestFile("flags.gguf", header.Build());
  const auto tokenizer = Tokenizer::Open(path);
  ASSERT_THAT(tokenizer, IsOk());
  EXPECT_THAT(*(*tokenizer)->Encode("aba", SpecialIds::kInclude),
              ElementsAre(3, 2, 0, 4));
  EXPECT_THAT(*(*tokenizer)->Encode("<s>a", SpecialIds::kLeaveOut),
              ElementsAre(3, 0));
  EXPECT_THAT(ReadGgufStopIds(path), IsOkAndHolds(ElementsAre(4)));
}

// Digits are one piece by one pattern, and pieces of their own by the other.
TEST(GgufTokenizerTest, KnowsTheNamesThatShareAPattern) {
  for (const char* name : {"dbrx", "smaug-bpe", "smollm", "refact"}) {
    GgufHeader header;
    header.AddText("tokenizer.ggml.model", "gpt2");
    header.AddText("tokenizer.ggml.pre", name);
    header.AddTexts("tokenizer.ggml.tokens", {"1", "2", "12"});
    header.AddIntegers("tokenizer.ggml.token_type", {1, 1, 1});
    header.AddTexts("tokenizer.ggml.merges", {"1 2"});
    const auto tokenizer =
        Tokenizer::Open(WriteTestFile("digits.gguf", header.Build()));
    ASSERT_THAT(tokenizer, IsOk());
    const auto ids = (*tokenizer)->Encode("12", SpecialIds::kLeaveOut);
    ASSERT_THAT(ids, IsOk());
    EXPECT_EQ(ids->size(), name[0] == 'd' || name[2] == 'a' ? 1u : 2u) << name;
  }
}

struct Fault {
  const char* text;
  absl::StatusCode code;
  GgufHeader header;
};

GgufHeader Begin(const char* model, const char* cut) {
  GgufHeader header;
  if (model != nullptr) header.AddText("tokenizer.ggml.model", model);
  if (cut != nullptr) header.AddText("tokenizer.ggml.pre", cut);
  return header;
}

TEST(GgufTokenizerTest, SaysWhatIsWrong) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnknown = absl::StatusCode::kUnimplemented;
  std::vector<Fault> faults = {
      {"no key \"tokenizer.ggml.model\"", absl::StatusCode::kNotFound,
       Begin(nullptr, nullptr)},
      {"is \"bert\"", kUnknown, Begin("bert", nullptr)},
      {"no key \"tokenizer.ggml.tokens\"", absl::StatusCode::kNotFound,
       Begin("gpt2", "gpt-2")},
      {"made the file: convert the model again", kInvalid,
       Begin("gpt2", nullptr)},
      {"is \"tekken\", a way to cut", kUnknown, Begin("gpt2", "tekken")},
      {"there are 2 words, but 1 kinds", kInvalid, Begin("gpt2", "gpt-2")},
      {"\"ab\" is not a merge", kInvalid, Begin("gpt2", "gpt-2")},
      {"no key \"tokenizer.ggml.scores\"", kInvalid, Begin("llama", nullptr)},
      {"names no word", kInvalid, Begin("gpt2", "gpt-2")},
      {"scores are equal", kInvalid, Begin("llama", nullptr)},
      {"ids 1 and 2 have the same word", kInvalid, Begin("gpt2", "gpt-2")},
      {"scores has NaN for id 1", kInvalid, Begin("llama", nullptr)},
  };
  faults[9].header.AddNumbers("tokenizer.ggml.scores", {-1000, -1000});
  for (size_t i = 3; i < 10; ++i) {
    faults[i].header.AddTexts("tokenizer.ggml.tokens", {"a", "b"});
  }
  faults[10].header.AddTexts("tokenizer.ggml.tokens", {"a", "b", "b"});
  faults[11].header.AddTexts("tokenizer.ggml.tokens", {"a", "b"});
  faults[11].header.AddNumbers("tokenizer.ggml.scores", {-1, std::nanf("")});
  faults[5].header.AddIntegers("tokenizer.ggml.token_type", {1});
  faults[6].header.AddTexts("tokenizer.ggml.merges", {"ab"});
  faults[8].header.AddTexts("tokenizer.ggml.merges", {});
  faults[8].header.AddFlag("tokenizer.ggml.add_bos_token", true);
  faults[8].header.AddInteger("tokenizer.ggml.bos_token_id", 9);
  for (const Fault& fault : faults) {
    const absl::Status status =
        Tokenizer::Open(WriteTestFile("fault.gguf", fault.header.Build()))
            .status();
    EXPECT_THAT(status, StatusIs(fault.code)) << fault.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(fault.text));
    EXPECT_THAT(std::string(status.message()), HasSubstr("fault.gguf"));
  }
}

}  // namespace
}  // namespace footprint
