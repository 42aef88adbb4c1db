// A tokenizer.json, read as a stream into packed tables.
//
//   absl::StatusOr<footprint::TokenizerFile> file =
//       footprint::ReadTokenizerFile("Qwen3-0.6B/tokenizer.json");
//   file->settings["normalizer"];  // all but the vocabulary and the merges
//
// Words of a byte-level vocabulary are read as the bytes that they stand for.
//
// Plain data that owns itself; movable, thread-compatible. Memory: the tables
// and the settings, at the peak as at the end but for the list of added words.
// Time: about 30 ns a byte: the file is parsed two or three times.
//
// NotFound: no such file. InvalidArgument: no regular file, no JSON of a
// tokenizer, or tables that contradict themselves; names the file.
// Unimplemented: a model other than BPE, WordPiece and Unigram.

#ifndef FOOTPRINT_LOWMEM_TEXT_TOKENIZER_FILE_H_
#define FOOTPRINT_LOWMEM_TEXT_TOKENIZER_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/lowmem/text/merge_table.h"
#include "footprint/lowmem/text/token_table.h"
#include "nlohmann/json.hpp"

namespace footprint {

struct TokenizerFile {
  nlohmann::json settings;
  std::unique_ptr<TokenTable> words;
  std::unique_ptr<MergeTable> merges;
  std::vector<double> scores;  // of a Unigram model's words, by id
};

absl::StatusOr<TokenizerFile> ReadTokenizerFile(const std::string& path);

// Reads one word a line, as older checkpoints of BERT have it: the line's
// number is the id. `settings` are those of tokenizer_config.json, of which
// do_lower_case, strip_accents and tokenize_chinese_chars are used; null if
// there is no such file.
absl::StatusOr<TokenizerFile> ReadVocabularyFile(
    const std::string& path, const nlohmann::json& settings);

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_TOKENIZER_FILE_H_
