// The words of a vocabulary by id and by their bytes, packed.
//
//   footprint::TokenTable table;
//   absl::Status status = table.Add(15496, "Hello");
//   status.Update(table.Index());
//   absl::optional<int32_t> id = table.Find("Hello");
//   absl::string_view word = table.word(15496);
//
// Words are added first, then Index is called once, then words are found. An id
// may be missing; its word is empty, and nothing finds it.
//
// Thread-compatible; after Index thread-safe. Words refer to the table. Memory:
// a word's bytes and about 11 more for each id.
//
// InvalidArgument: an id below zero or of 2^24 and more, an id that has a word
// already, a word of 64 KiB or more, or two ids with one word, unless Index is
// told to take the last; the text names the word.

#ifndef FOOTPRINT_LOWMEM_TEXT_TOKEN_TABLE_H_
#define FOOTPRINT_LOWMEM_TEXT_TOKEN_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

// Says what happens if two ids have the same word: Index fails, or Find returns
// the last id.
enum class Repeated { kRefused, kLast };

class TokenTable {
 public:
  absl::Status Add(int64_t id, absl::string_view word);
  absl::Status Index(Repeated repeated = Repeated::kRefused);

  absl::optional<int32_t> Find(absl::string_view word) const;
  // Empty where there is no such id.
  absl::string_view word(int32_t id) const;
  // Returns the largest id and one.
  int32_t size() const { return static_cast<int32_t>(begins_.size()); }
  // Returns the lengths of the words in bytes, each once, in increasing order.
  // Valid after Index.
  const std::vector<uint16_t>& sizes() const { return sizes_; }
  // Returns the bytes that the table holds.
  int64_t memory_bytes() const;

 private:
  // The place where the word is, or where it would be put.
  size_t Slot(absl::string_view word) const;

  std::string bytes_;
  std::vector<uint32_t> begins_;
  std::vector<uint16_t> lengths_;
  std::vector<uint16_t> sizes_;
  std::vector<int32_t> slots_;  // ids by hash; -1: free
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TOKEN_TABLE_H_
