// Reads the tokenizer that a GGUF file holds among its keys.
//
//   absl::StatusOr<footprint::TokenizerFile> file =
//       footprint::ReadGgufTokenizer("Llama-3.2-1B-Q4_0.gguf");
//
// Two models are known. "gpt2" is BPE from bytes, where "tokenizer.ggml.pre"
// names how a text is cut ("llama-bpe", "qwen2", "gpt-2", "smollm", "gpt-4o",
// "deepseek-v3"). "llama" is SentencePiece's BPE from characters, whose merges
// follow from the words' scores. The settings are those of the published
// tokenizer.json of such a model, so the ids are Hugging Face's.
//
// The result is plain data. Thread-safe. Memory: that of TokenizerFile, and 8
// bytes a word during the read.
//
// Errors: those of GgufIndex. The error is Unimplemented if the model or the
// value of "tokenizer.ggml.pre" is not known; the message names it. The error
// is InvalidArgument if lists differ in length or there are no merges.

#ifndef FOOTPRINT_LOWMEM_TEXT_GGUF_TOKENIZER_FILE_H_
#define FOOTPRINT_LOWMEM_TEXT_GGUF_TOKENIZER_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/lowmem/text/tokenizer_file.h"

namespace footprint {

absl::StatusOr<TokenizerFile> ReadGgufTokenizer(const std::string& path);

// Returns the ids that end a generated text according to the file's keys: the
// ends of a text, of a turn and of a message. The result is empty if the file
// has no such key. Returns InvalidArgument if a value is not an id.
absl::StatusOr<std::vector<int32_t>> ReadGgufStopIds(const std::string& path);

}  // namespace footprint

// Tested by gguf_tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_GGUF_TOKENIZER_FILE_H_
