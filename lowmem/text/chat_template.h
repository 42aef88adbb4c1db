// How a turn of a conversation is written for a model that was trained to
// answer, in the form of its family.
//
//   const footprint::ChatTemplate* chat =
//   footprint::FindChatTemplate(tokenizer); std::string text =
//   footprint::FirstTurn(*chat, "", "Who was Ada Lovelace?");
//
// Families are told by their words: ChatML (Qwen, SmolLM2), Llama 3, Gemma,
// Phi-3 and Mistral. The text holds the words that begin it, so it is encoded
// with SpecialIds::kLeaveOut. No system's turn is added that was not asked for:
// public templates of some models add one.
//
// Plain data that lives as long as the program; thread-safe. Memory: the texts.

#ifndef FOOTPRINT_LOWMEM_TEXT_CHAT_TEMPLATE_H_
#define FOOTPRINT_LOWMEM_TEXT_CHAT_TEMPLATE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/lowmem/text/tokenizer.h"

namespace footprint {

struct ChatTemplate {
  const char* name;
  const char* mark;  // the word that tells the family
  const char* begin;
  const char* before_system;
  const char* after_system;
  const char* before_user;
  const char* after_user;  // and before the answer
  // Ends an answer, and the text that then follows it.
  const char* end;
  const char* after_end;
};

// Returns null where the words are of no family that is known: the model goes
// on with a text.
const ChatTemplate* FindChatTemplate(const Tokenizer& tokenizer);

// The conversation's first turn; `system` may be empty.
std::string FirstTurn(const ChatTemplate& chat, absl::string_view system,
                      absl::string_view user);
// A later one, after an answer whose last word, `end`, was read.
std::string NextTurn(const ChatTemplate& chat, absl::string_view user);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_CHAT_TEMPLATE_H_
