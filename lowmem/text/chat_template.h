// Provides the text around a turn of a conversation, in the form that a family
// of models was trained with.
//
//   const footprint::ChatTemplate* chat =
//       footprint::FindChatTemplate(tokenizer);
//   std::string text =
//       footprint::FirstTurn(*chat, "", "Who was Ada Lovelace?");
//
// The vocabulary tells the family: OLMo 2, ChatML (Qwen, SmolLM2), Llama 3,
// Gemma, Phi-3, Granite or Mistral. The text already holds the words that begin
// it, so it is encoded with SpecialIds::kLeaveOut. A system turn is written
// only if the caller gives one; the public templates of some models add one by
// themselves.
//
// Plain data that lives as long as the program. Thread-safe. Memory: the texts.

#ifndef FOOTPRINT_LOWMEM_TEXT_CHAT_TEMPLATE_H_
#define FOOTPRINT_LOWMEM_TEXT_CHAT_TEMPLATE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/lowmem/text/tokenizer.h"

namespace footprint {

struct ChatTemplate {
  const char* name;
  const char* mark;  // the word by which the family is recognised
  const char* begin;
  const char* before_system;
  const char* after_system;
  const char* before_user;
  const char* after_user;  // and before the answer
  // The word that ends an answer, and the text that follows it before a later
  // turn.
  const char* end;
  const char* after_end;
};

// Returns the template of the tokenizer's family, or null if no known family
// has its words. Such a model can only continue a text.
const ChatTemplate* FindChatTemplate(const Tokenizer& tokenizer);

// Returns the conversation's first turn; `system` may be empty.
std::string FirstTurn(const ChatTemplate& chat, absl::string_view system,
                      absl::string_view user);
// Returns a later turn, after an answer whose last word, `end`, was already
// read.
std::string NextTurn(const ChatTemplate& chat, absl::string_view user);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_CHAT_TEMPLATE_H_
