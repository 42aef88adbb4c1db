// Reads a tokenizer.json as a stream into packed tables.
//
//   absl::StatusOr<footprint::TokenizerFile> file =
//       footprint::ReadTokenizerFile("Qwen3-0.6B/tokenizer.json");
//   file->settings["normalizer"];  // all but the vocabulary and the merges
//
// Words of a byte-level vocabulary are stored as the bytes that they stand for.
//
// Plain data that owns its contents. Movable, thread-compatible. Memory: the
// tables and the settings; the peak exceeds them only by the list of added
// words. Time: about 30 ns a byte, because the file is parsed two or three
// times.
//
// The error is NotFound if there is no such file. The error is InvalidArgument
// if it is not a regular file, has more than 256 MiB, is not the JSON of a
// tokenizer, is nested more than 64 deep, or if its tables contradict each
// other; the message names the file. The error is Unimplemented if the model is
// not BPE, WordPiece or Unigram, or if a decoder is ByteLevel and no
// pre_tokenizer is. Other errors are FileError's.

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
  std::vector<double> scores;  // of the words of a Unigram model, by id
};

absl::StatusOr<TokenizerFile> ReadTokenizerFile(const std::string& path);

// Reads a file with one word a line, as older checkpoints of BERT have it. The
// number of the line is the word's id. `settings` come from
// tokenizer_config.json, of which do_lower_case, strip_accents and
// tokenize_chinese_chars are used; pass null if there is no such file.
absl::StatusOr<TokenizerFile> ReadVocabularyFile(
    const std::string& path, const nlohmann::json& settings);

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_TOKENIZER_FILE_H_
