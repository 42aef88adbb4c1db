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
// The result is plain data. Thread-safe. Memory: that of TokenizerFile, and
// during the read 8 bytes a word, or 12 for "llama".
//
// Errors: those of GgufIndex (NotFound for a missing key), TokenTable and
// MergeTable. The error is Unimplemented if the model or the value of
// "tokenizer.ggml.pre" is not known; the message names it. The error is
// InvalidArgument if lists differ in length, if there are no merges or a merge
// is not of two words, if "tokenizer.ggml.pre" is missing, if scores are
// missing, NaN or all equal, or if an id that begins or ends a text has no
// word.

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
// has no such key. Returns InvalidArgument if a value is not an id from 0 to
// 2^24 - 1, and otherwise the errors of GgufIndex.
absl::StatusOr<std::vector<int32_t>> ReadGgufStopIds(const std::string& path);

}  // namespace footprint

// Tested by gguf_tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_GGUF_TOKENIZER_FILE_H_
