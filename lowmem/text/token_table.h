// The words of a vocabulary by id and by their bytes, in packed form.
//
//   footprint::TokenTable table;
//   absl::Status status = table.Add(15496, "Hello");
//   status.Update(table.Index());
//   absl::optional<int32_t> id = table.Find("Hello");
//   absl::string_view word = table.word(15496);
//
// Words are added first, then Index is called once, and after it words can be
// found. Ids may have gaps; the word of a missing id is empty and cannot be
// found.
//
// Thread-compatible, and thread-safe after Index. Returned words refer to the
// table. Memory: a word's bytes and about 11 more for each id.
//
// The error is InvalidArgument if an id is negative, at least 2^24 or already
// has a word, if a word is empty or has 64 KiB or more, or if two ids have the
// same word and Index is called with Repeated::kRefused; the message names the
// ids. The error is InvalidArgument also if the words together have more than 4
// GiB.

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
  // Returns the word of the id, or an empty text if there is no such id.
  absl::string_view word(int32_t id) const;
  // Returns the largest id plus one.
  int32_t size() const { return static_cast<int32_t>(begins_.size()); }
  // Returns the lengths of the words in bytes, each once, in increasing order.
  // Valid after Index.
  const std::vector<uint16_t>& sizes() const { return sizes_; }
  // Returns the bytes that the table holds.
  int64_t memory_bytes() const;

 private:
  // Returns the slot of the word, or the free slot where it belongs.
  size_t Slot(absl::string_view word) const;

  std::string bytes_;
  std::vector<uint32_t> begins_;
  std::vector<uint16_t> lengths_;
  std::vector<uint16_t> sizes_;
  std::vector<int32_t> slots_;  // ids by hash; -1: free
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TOKEN_TABLE_H_
