// Compares the tokenizer with Hugging Face's: the ids and decoded texts of 220
// texts for each small tokenizer from testdata/make_tokenizers.py.

#include "footprint/lowmem/text/tokenizer.h"

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kTestData[] = "lowmem/text/testdata/";

class TokenizerGoldenTest : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerGoldenTest, GivesTheIdsAndTextsOfHuggingFace) {
  const std::string folder = absl::StrCat(kTestData, GetParam());
  const auto tokenizer = Tokenizer::Open(folder);
  ASSERT_THAT(tokenizer, IsOk());
  int texts = 0;
  const std::string expected = ReadTestFile(folder + "/expected.jsonl");
  for (const absl::string_view line : absl::StrSplit(expected, '\n')) {
    if (line.empty()) continue;
    const nlohmann::json entry = nlohmann::json::parse(line);
    const std::string text = entry[0];
    const std::vector<int32_t> ids = entry[1];
    const auto actual = (*tokenizer)->Encode(text, SpecialIds::kInclude);
    ASSERT_THAT(actual, IsOk()) << line;
    EXPECT_EQ(*actual, ids) << line;
    // If the ids end within a character, its bytes stay as they are.
    const std::string with = (*tokenizer)->Decode(ids, SpecialIds::kInclude);
    const std::string without =
        (*tokenizer)->Decode(ids, SpecialIds::kLeaveOut);
    EXPECT_EQ(with, entry[2].get<std::string>()) << line;
    EXPECT_EQ(without, entry[3].get<std::string>()) << line;
    ++texts;
  }
  EXPECT_EQ(texts, 220);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TokenizerGoldenTest,
    testing::Values("byte_level", "gpt2", "marked", "metaspace", "word_pieces",
                    "word_pieces_cased", "split_kinds", "unigram", "falcon",
                    "odd_words", "odd_patterns"),
    [](const auto& info) { return std::string(info.param); });

// Returns a folder that holds this tokenizer.json.
std::string Folder(const std::string& name, const std::string& json) {
  const std::string folder = TestPath(name);
  mkdir(folder.c_str(), 0777);
  EXPECT_THAT(ReplaceFile(folder + "/tokenizer.json", json, ToDisk::kNoFsync),
              IsOk());
  return folder;
}

constexpr char kSmall[] = R"({
  "added_tokens": [{"id": 5, "content": "<s>", "special": true}],
  "normalizer": null, "pre_tokenizer": null, "post_processor": null,
  "decoder": null,
  "model": {"type": "BPE", "unk_token": null,
            "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4},
            "merges": ["a b", "ab c"]}})";

TEST(TokenizerTest, JoinsTheMostUrgentPairFirst) {
  const auto tokenizer = Tokenizer::Open(Folder("small", kSmall));
  ASSERT_THAT(tokenizer, IsOk());
  EXPECT_THAT(*(*tokenizer)->Encode("ababcx<s>bab", SpecialIds::kInclude),
              ElementsAre(2, 4, 5, 1, 2));
  EXPECT_THAT(*(*tokenizer)->Encode("", SpecialIds::kInclude), IsEmpty());
  EXPECT_EQ((*tokenizer)->Decode({2, 5, 3}, SpecialIds::kInclude), "ab <s> c");
  EXPECT_EQ((*tokenizer)->Decode({2, 5, 3}, SpecialIds::kLeaveOut), "ab c");
  EXPECT_EQ((*tokenizer)->size(), 6);
  EXPECT_EQ((*tokenizer)->FindWord("<s>"), 5);
  EXPECT_EQ((*tokenizer)->FindWord("abc"), 4);
  EXPECT_FALSE((*tokenizer)->FindWord("cab").has_value());
}

// Reads merges that stand before the words, and merges in the newer form.
TEST(TokenizerTest, ReadsMergesWhereverTheyStand) {
  const std::string json =
      R"({"model": {"merges": [["a", "b"], ["ab", "c"]], "type": "BPE",
          "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4}}})";
  const auto tokenizer = Tokenizer::Open(Folder("order", json));
  ASSERT_THAT(tokenizer, IsOk());
  EXPECT_THAT(*(*tokenizer)->Encode("abcab", SpecialIds::kLeaveOut),
              ElementsAre(4, 2));
}

// A tokenizer that would give other ids than Hugging Face's is refused.
TEST(TokenizerTest, RefusesWhatItWouldNotReadAlike) {
  const auto error = [](const std::string& name, const std::string& rest) {
    return Tokenizer::Open(Folder(name, absl::StrCat("{", rest, "}"))).status();
  };
  const std::string pairs =
      R"("model": {"type": "BPE", "vocab": {"a": 0}, "merges": []})";
  const std::string pieces =
      R"("model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0]]})";
  const std::string bytes = R"({"type": "ByteLevel"})";
  EXPECT_THAT(
      error("decoder", absl::StrCat(R"("decoder": )", bytes, ", ", pairs))
          .message(),
      HasSubstr("but no pre_tokenizer of that name"));
  EXPECT_THAT(
      error("pieces", absl::StrCat(R"("pre_tokenizer": )", bytes, ", ", pieces))
          .message(),
      HasSubstr("\"Unigram\" is read from characters"));
  EXPECT_THAT(
      error("twice",
            absl::StrCat(
                R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [)",
                bytes, ", ", bytes, "]}, ", pairs))
          .message(),
      HasSubstr("after \"ByteLevel\" is unknown"));
  EXPECT_THAT(
      error("nothing",
            absl::StrCat(
                R"("normalizer": {"type": "Strip"}, "added_tokens": [)",
                R"({"id": 1, "content": " ", "normalized": true}], )", pairs))
          .message(),
      HasSubstr("is empty once it is normalised"));
}

// Of two added words that become equal, the one that normalising leaves
// unchanged is found.
TEST(TokenizerTest, FindsTheWordThatNormalisingLeaves) {
  const auto tokenizer =
      Tokenizer::Open(Folder("lower",
                             R"({"normalizer": {"type": "Lowercase"},
          "added_tokens": [{"id": 1, "content": "<W>", "normalized": true},
                           {"id": 2, "content": "<w>", "normalized": true}],
          "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})"));
  ASSERT_THAT(tokenizer, IsOk());
  EXPECT_THAT(*(*tokenizer)->Encode("a<W><w>", SpecialIds::kInclude),
              ElementsAre(0, 2, 2));
}

// A word may be as long as the text. No length is tried that no word has.
TEST(TokenizerTest, EndsSoonOnLongWords) {
  const std::string longest(60000, 'b');
  const std::string text(80000, 'a');
  const auto unigram = Tokenizer::Open(Folder(
      "long_unigram", absl::StrCat(R"({"model": {"type": "Unigram", "unk_id": 0,
                       "vocab": [["?", 0], ["a", 0], [")",
                                   longest, R"(", -1]]}})")));
  ASSERT_THAT(unigram, IsOk());
  EXPECT_EQ((*unigram)->Encode(text, SpecialIds::kInclude)->size(), 80000u);
  const auto pieces = Tokenizer::Open(
      Folder("long_pieces",
             absl::StrCat(R"({"model": {"type": "WordPiece", "unk_token": "a",
                       "max_input_chars_per_word": 1000000,
                       "vocab": {"a": 0, "##a": 1, ")",
                          longest, R"(": 2}}})")));
  ASSERT_THAT(pieces, IsOk());
  EXPECT_EQ((*pieces)->Encode(text, SpecialIds::kInclude)->size(), 80000u);
}

// A character becomes its bytes if each of them is a word.
TEST(TokenizerTest, FallsBackToBytesWhereAllAreThere) {
  const std::string json =
      R"({"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true,
          "vocab": [["<unk>", 0], ["a", -1], ["<0xC3>", -5], ["<0xA9>", -5],
                    ["aa", -1.5]]}})";
  const auto tokenizer = Tokenizer::Open(Folder("bytes", json));
  ASSERT_THAT(tokenizer, IsOk());
  const auto encode = [&](absl::string_view text) {
    return *(*tokenizer)->Encode(text, SpecialIds::kInclude);
  };
  EXPECT_THAT(encode("a\xc3\xa9"), ElementsAre(1, 2, 3));
  EXPECT_THAT(encode("a\xc3\xbc"), ElementsAre(1, 0));
  // Adjacent unknown characters become one unknown word, even between known
  // ones.
  EXPECT_THAT(encode("\xc3\xbcxya"), ElementsAre(0, 1));
  EXPECT_THAT(encode("aaa"), ElementsAre(1, 4));
}

TEST(TokenizerTest, IsFastOnAPieceWithoutAnEnd) {
  const auto tokenizer = Tokenizer::Open(Folder("long", kSmall));
  ASSERT_THAT(tokenizer, IsOk());
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "ab";
  const auto ids = (*tokenizer)->Encode(text, SpecialIds::kLeaveOut);
  ASSERT_THAT(ids, IsOk());
  EXPECT_EQ(ids->size(), 200000u);
}

TEST(TokenizerTest, ReadsBertsOlderForm) {
  const std::string folder = TestPath("bert");
  mkdir(folder.c_str(), 0777);
  const std::string words =
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\r\nwor\n##ld\n,\nHello\n"
      "\xc3\xa9\n\xe4\xb8\xad\xe4\xb8\xad\n";
  ASSERT_THAT(ReplaceFile(folder + "/vocab.txt", words, ToDisk::kNoFsync),
              IsOk());
  const auto encode = [&](absl::string_view text) {
    const auto tokenizer = Tokenizer::Open(folder);
    EXPECT_THAT(tokenizer, IsOk());
    return *(*tokenizer)->Encode(text, SpecialIds::kInclude);
  };
  EXPECT_THAT(encode("Hello, world x"), ElementsAre(2, 5, 8, 6, 7, 1, 3));
  EXPECT_THAT(encode("hello[MASK]"), ElementsAre(2, 5, 4, 3));
  ASSERT_THAT(ReplaceFile(folder + "/tokenizer_config.json",
                          R"({"do_lower_case": false})", ToDisk::kNoFsync),
              IsOk());
  EXPECT_THAT(encode("Hello"), ElementsAre(2, 9, 3));
  ASSERT_THAT(
      ReplaceFile(
          folder + "/tokenizer_config.json",
          R"({"strip_accents": false, "tokenize_chinese_chars": false})",
          ToDisk::kNoFsync),
      IsOk());
  EXPECT_THAT(encode("\xc3\x89 \xe4\xb8\xad\xe4\xb8\xad"),
              ElementsAre(2, 10, 11, 3));
}

TEST(TokenizerTest, NamesTheFileOfBertsOlderForm) {
  const std::string folder = TestPath("bert_without_unknown");
  mkdir(folder.c_str(), 0777);
  ASSERT_THAT(ReplaceFile(folder + "/vocab.txt", "[CLS]\n[SEP]\nhello\n",
                          ToDisk::kNoFsync),
              IsOk());
  const auto tokenizer = Tokenizer::Open(folder);
  EXPECT_THAT(tokenizer, StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string message(tokenizer.status().message());
  EXPECT_THAT(message, StartsWith(folder + "/vocab.txt: "));
  EXPECT_THAT(message, HasSubstr("unk_token"));
}

TEST(TokenizerTest, RefusesATextThatIsNotUtf8) {
  const auto tokenizer = Tokenizer::Open(Folder("utf8", kSmall));
  ASSERT_THAT(tokenizer, IsOk());
  const auto ids = (*tokenizer)->Encode("ab\xff", SpecialIds::kLeaveOut);
  EXPECT_THAT(ids, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ids.status().message(), HasSubstr("byte 2 begins no character"));
}

TEST(TokenizerTest, SaysWhatAFolderMustHold) {
  const auto nothing = Tokenizer::Open("/nowhere");
  EXPECT_THAT(nothing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(nothing.status().message(),
              HasSubstr("tokenizer.json of the published checkpoint"));
}

TEST(TokenizerTest, NamesWhatItDoesNotKnow) {
  struct Case {
    const char* from;
    const char* to;
    const char* said;
  };
  const Case cases[] = {
      {R"("type": "BPE")", R"("type": "WordLevel")", "model is \"WordLevel\""},
      {R"("type": "BPE")", R"("type": "Unigram")", "words without a score"},
      {R"("normalizer": null)",
       R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAA="})",
       "no map of characters"},
      {R"("normalizer": null)",
       R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "~"})",
       "is not base64"},
      {R"("normalizer": null)", R"("normalizer": {"type": "Odd"})",
       "normalizer \"Odd\""},
      {R"("pre_tokenizer": null)", R"("pre_tokenizer": {"type": "Odd"})",
       "pre_tokenizer \"Odd\""},
      {R"("post_processor": null)", R"("post_processor": {"type": "Odd"})",
       "post_processor \"Odd\""},
      {R"("decoder": null)", R"("decoder": {"type": "CTC"})",
       "decoder \"CTC\""},
      {R"("decoder": null)",
       R"("decoder": {"type": "Strip", "content": " ", "stop": 1})",
       "\"stop\" other than 0"},
      {R"("unk_token": null)", R"("end_of_word_suffix": "</w>")",
       "end_of_word_suffix"},
      {R"("pre_tokenizer": null)",
       R"("pre_tokenizer": {"type": "Split", "behavior": "Odd",
                            "pattern": {"String": " "}})",
       "behavior \"Odd\""},
      {R"("pre_tokenizer": null)",
       R"("pre_tokenizer": {"type": "Split", "behavior": "Isolated",
                            "pattern": {"Regex": "(a"}})",
       "the pattern \"(a\" cannot be used"},
      {R"("pre_tokenizer": null)",
       R"("pre_tokenizer": {"type": "Split", "behavior": "Isolated"})",
       "neither a \"String\" nor a \"Regex\""},
      {R"("ab": 2)", R"("ab": 1)", "id 1 has two words"},
      {R"("ab": 2)", R"("ab": -1)", "id -1 is not within"},
      {R"("ab": 2)", R"("ab": "2")", "is not a whole number"},
      {R"("a b",)", R"("a x",)", "merge 0"},
      {R"("c": 3,)", "", "merge 1"},
      {R"("a b",)", R"("ab",)", "merge 0"},
      {R"("a b",)", "7,", "merge 0"},
      {R"("a b",)", R"(["a"],)", "merge 0"},
      {R"("id": 5,)", "", "an entry without a content and an id"},
      {R"("vocab")", R"("words")", "no \"vocab\""},
      {R"("post_processor": null)",
       R"("post_processor": {"type": "BertProcessing", "cls": ["a", 0]})",
       "no cls and sep"},
      {R"("post_processor": null)",
       R"("post_processor": {"type": "TemplateProcessing",
          "single": [{"SpecialToken": {"id": "<x>"}}]})",
       "no ids of its special token \"<x>\""},
  };
  for (const Case& one : cases) {
    const std::string json = absl::StrReplaceAll(kSmall, {{one.from, one.to}});
    ASSERT_NE(json, kSmall) << one.from;
    const auto tokenizer = Tokenizer::Open(Folder("unknown", json));
    EXPECT_THAT(tokenizer, Not(IsOk())) << json;
    EXPECT_THAT(tokenizer.status().message(), HasSubstr(one.said));
    EXPECT_THAT(tokenizer.status().message(), HasSubstr("tokenizer.json"));
  }
}

// Truncated, nested or mistyped files are refused and never crash.
TEST(TokenizerTest, SurvivesHostileFiles) {
  const std::string whole = kSmall;
  for (size_t length = 0; length < whole.size(); length += 3) {
    EXPECT_THAT(Tokenizer::Open(Folder("cut", whole.substr(0, length))),
                Not(IsOk()));
  }
  std::string deep = R"({"model": )";
  for (int i = 0; i < 100000; ++i) deep += "[";
  EXPECT_THAT(Tokenizer::Open(Folder("deep", deep)), Not(IsOk()));
  std::string sequences = "null";
  for (int i = 0; i < 1000; ++i) {
    sequences = absl::StrCat(R"({"type": "Sequence", "normalizers": [)",
                             sequences, "]}");
  }
  const std::string nested = absl::StrReplaceAll(
      kSmall,
      {{R"("normalizer": null)", absl::StrCat("\"normalizer\": ", sequences)}});
  EXPECT_THAT(Tokenizer::Open(Folder("nested", nested)), Not(IsOk()));
}

// Replaces values by values of other types.
TEST(TokenizerTest, SurvivesValuesOfOtherTypes) {
  const char* const values[] = {
      "1",     "\"x\"",          "[]",        "{}", "true",
      "[[1]]", R"({"type": 3})", R"([null])", "-1", "1e99"};
  const nlohmann::json small = nlohmann::json::parse(kSmall);
  for (const auto& item : small.items()) {
    for (const char* value : values) {
      nlohmann::json changed = small;
      changed[item.key()] = nlohmann::json::parse(value);
      const auto tokenizer = Tokenizer::Open(Folder("type", changed.dump()));
      if (!tokenizer.ok()) continue;
      EXPECT_THAT((*tokenizer)->Encode("ab<s>", SpecialIds::kInclude), IsOk());
      (*tokenizer)->Decode({0, 5, 7, -1}, SpecialIds::kInclude);
    }
  }
  for (const auto& item : small["model"].items()) {
    for (const char* value : values) {
      nlohmann::json changed = small;
      changed["model"][item.key()] = nlohmann::json::parse(value);
      const auto tokenizer = Tokenizer::Open(Folder("type", changed.dump()));
      if (!tokenizer.ok()) continue;
      EXPECT_THAT((*tokenizer)->Encode("ab<s>", SpecialIds::kInclude), IsOk());
    }
  }
}

}  // namespace
}  // namespace footprint
