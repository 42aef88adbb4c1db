#include "footprint/lowmem/text/chat_template.h"

#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/text/tokenizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Returns a tokenizer with one special word.
std::unique_ptr<Tokenizer> WithWord(const std::string& word) {
  const std::string folder = TestPath("tokenizer");
  mkdir(folder.c_str(), 0777);
  EXPECT_THAT(
      ReplaceFile(folder + "/tokenizer.json",
                  absl::StrCat(R"({"added_tokens": [{"id": 1, "content": ")",
                               word, R"("}], "model": {"type": "BPE",
                               "vocab": {"a": 0}, "merges": []}})"),
                  ToDisk::kNoFsync),
      IsOk());
  auto tokenizer = Tokenizer::Open(folder);
  EXPECT_THAT(tokenizer, IsOk());
  return *std::move(tokenizer);
}

// Returns a turn with a system text, an answer "A", and a later turn.
std::string Conversation(const ChatTemplate& chat) {
  return absl::StrCat(FirstTurn(chat, "S", "U1"), "A", chat.end,
                      NextTurn(chat, "U2"));
}

// The expected texts are what the models' own Jinja templates write.
TEST(ChatTemplateTest, WritesWhatTheModelsTemplatesWrite) {
  const ChatTemplate* chat = FindChatTemplate(*WithWord("<|im_start|>"));
  ASSERT_NE(chat, nullptr);
  EXPECT_EQ(FirstTurn(*chat, "", "U1"),
            "<|im_start|>user\nU1<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(Conversation(*chat),
            "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU1<|im_end|>\n"
            "<|im_start|>assistant\nA<|im_end|>\n<|im_start|>user\nU2<|im_end|>"
            "\n<|im_start|>assistant\n");
  chat = FindChatTemplate(*WithWord("<|start_header_id|>"));
  ASSERT_NE(chat, nullptr);
  EXPECT_EQ(Conversation(*chat),
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS"
            "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nU1<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nA<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nU2<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  chat = FindChatTemplate(*WithWord("<start_of_turn>"));
  ASSERT_NE(chat, nullptr);
  EXPECT_EQ(
      FirstTurn(*chat, "", "U1"),
      "<bos><start_of_turn>user\nU1<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(Conversation(*chat),
            "<bos><start_of_turn>user\nS\n\nU1<end_of_turn>\n"
            "<start_of_turn>model\nA<end_of_turn>\n<start_of_turn>user\nU2"
            "<end_of_turn>\n<start_of_turn>model\n");
  chat = FindChatTemplate(*WithWord("<|assistant|>"));
  ASSERT_NE(chat, nullptr);
  EXPECT_EQ(Conversation(*chat),
            "<|system|>\nS<|end|>\n<|user|>\nU1<|end|>\n<|assistant|>\nA<|end|>"
            "\n<|user|>\nU2<|end|>\n<|assistant|>\n");
  chat = FindChatTemplate(*WithWord("|||IP_ADDRESS|||"));
  ASSERT_NE(chat, nullptr);
  EXPECT_EQ(Conversation(*chat),
            "<|endoftext|><|system|>\nS\n<|user|>\nU1\n<|assistant|>\nA"
            "<|endoftext|>\n<|user|>\nU2\n<|assistant|>\n");
  chat = FindChatTemplate(*WithWord("<|start_of_role|>"));
  ASSERT_NE(chat, nullptr);
  EXPECT_EQ(Conversation(*chat),
            "<|start_of_role|>system<|end_of_role|>S<|end_of_text|>\n"
            "<|start_of_role|>user<|end_of_role|>U1<|end_of_text|>\n"
            "<|start_of_role|>assistant<|end_of_role|>A<|end_of_text|>\n"
            "<|start_of_role|>user<|end_of_role|>U2<|end_of_text|>\n"
            "<|start_of_role|>assistant<|end_of_role|>");
  chat = FindChatTemplate(*WithWord("[INST]"));
  ASSERT_NE(chat, nullptr);
  EXPECT_EQ(FirstTurn(*chat, "", "U1"), "<s>[INST] U1[/INST]");
}

TEST(ChatTemplateTest, FindsNoneForAModelThatGoesOn) {
  EXPECT_EQ(FindChatTemplate(*WithWord("<|endoftext|>")), nullptr);
}

}  // namespace
}  // namespace footprint
