#include "footprint/lowmem/text/chat_template.h"

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

// The vocabulary of OLMo 2 also has ChatML's words, so it comes first.
constexpr ChatTemplate kTemplates[] = {
    {"OLMo 2", "|||IP_ADDRESS|||", "<|endoftext|>", "<|system|>\n", "\n",
     "<|user|>\n", "\n<|assistant|>\n", "<|endoftext|>", "\n"},
    {"ChatML", "<|im_start|>", "", "<|im_start|>system\n", "<|im_end|>\n",
     "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>",
     "\n"},
    {"Llama 3", "<|start_header_id|>", "<|begin_of_text|>",
     "<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>",
     "<|start_header_id|>user<|end_header_id|>\n\n",
     "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
     "<|eot_id|>", ""},
    // Gemma has no system turn: the system's words stand in the user's turn.
    {"Gemma", "<start_of_turn>", "<bos><start_of_turn>user\n", "", "\n\n", "",
     "<end_of_turn>\n<start_of_turn>model\n", "<end_of_turn>",
     "\n<start_of_turn>user\n"},
    {"Phi-3", "<|assistant|>", "", "<|system|>\n", "<|end|>\n", "<|user|>\n",
     "<|end|>\n<|assistant|>\n", "<|end|>", "\n"},
    {"Granite", "<|start_of_role|>", "",
     "<|start_of_role|>system<|end_of_role|>", "<|end_of_text|>\n",
     "<|start_of_role|>user<|end_of_role|>",
     "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
     "<|end_of_text|>", "\n"},
    {"Mistral", "[INST]", "<s>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
     "[INST] ", "[/INST]", "</s>", ""},
};

}  // namespace

const ChatTemplate* FindChatTemplate(const Tokenizer& tokenizer) {
  for (const ChatTemplate& chat : kTemplates) {
    if (tokenizer.FindWord(chat.mark).has_value()) return &chat;
  }
  return nullptr;
}

std::string FirstTurn(const ChatTemplate& chat, absl::string_view system,
                      absl::string_view user) {
  std::string text = chat.begin;
  if (!system.empty()) {
    absl::StrAppend(&text, chat.before_system, system, chat.after_system);
  }
  absl::StrAppend(&text, chat.before_user, user, chat.after_user);
  return text;
}

std::string NextTurn(const ChatTemplate& chat, absl::string_view user) {
  return absl::StrCat(chat.after_end, chat.before_user, user, chat.after_user);
}

}  // namespace footprint
