// The tokenizer that a GGUF file holds among its keys.
//
//   absl::StatusOr<footprint::TokenizerFile> file =
//       footprint::ReadGgufTokenizer("Llama-3.2-1B-Q4_0.gguf");
//
// Models: "gpt2", BPE from bytes, where "tokenizer.ggml.pre" names how a text
// is cut ("llama-bpe", "qwen2", "gpt-2", "smollm", "gpt-4o", "deepseek-v3"),
// and "llama", SentencePiece's BPE from characters, whose merges are the words'
// scores. The settings are those that the published tokenizer.json of such a
// model has, so ids are Hugging Face's.
//
// The result is plain data. Thread-safe. Memory: that of TokenizerFile, and
// while it is read 8 bytes a word.
//
// Errors: those of GgufIndex. Unimplemented: another model, or another way to
// cut; the text says which. InvalidArgument: lists of different lengths, no
// merges.

#ifndef FOOTPRINT_LOWMEM_TEXT_GGUF_TOKENIZER_FILE_H_
#define FOOTPRINT_LOWMEM_TEXT_GGUF_TOKENIZER_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/lowmem/text/tokenizer_file.h"

namespace footprint {

absl::StatusOr<TokenizerFile> ReadGgufTokenizer(const std::string& path);

// Returns the ids that end what a model generates, as the file's keys say: the
// end of a text, of a turn and of a message.
absl::StatusOr<std::vector<int32_t>> ReadGgufStopIds(const std::string& path);

}  // namespace footprint

// Tested by gguf_tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_GGUF_TOKENIZER_FILE_H_
