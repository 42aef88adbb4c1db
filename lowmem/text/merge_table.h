// The neighbouring words that byte-pair encoding joins, with the rank of each
// merge.
//
//   footprint::MergeTable merges(&table);
//   absl::Status status = merges.Add("Hel", "lo");
//   status.Update(merges.Index());
//   absl::optional<footprint::Merge> merge = merges.Find(hel, lo);
//
// Merges are added in the order of their rank, the most urgent first. Then
// Index is called once, and after it merges can be found. A merge is stored in
// 4 bytes: the word that it makes and the position of the cut.
//
// The table refers to the words, which must be indexed before the first merge
// is added and must outlive the table. Thread-compatible, and thread-safe after
// Index. Memory: about 9 bytes a merge.
//
// Add fails with InvalidArgument if a part or the result of a merge is not in
// the vocabulary, or if the left part is longer than 255 bytes. More than 2^31
// merges must not be added, which is not checked. The first of equal merges
// counts.
//
// Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words
// with Subword Units", 2016.

#ifndef FOOTPRINT_LOWMEM_TEXT_MERGE_TABLE_H_
#define FOOTPRINT_LOWMEM_TEXT_MERGE_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/text/token_table.h"

namespace footprint {

struct Merge {
  int32_t rank = 0;
  int32_t id = 0;  // the word that it makes
};

class MergeTable {
 public:
  explicit MergeTable(const TokenTable* words) : words_(words) {}

  absl::Status Add(absl::string_view left, absl::string_view right);
  absl::Status Index();

  // Returns the merge of two neighbouring words, given by their ids, or nullopt
  // if there is none. Valid after Index.
  absl::optional<Merge> Find(int32_t left, int32_t right) const;
  int64_t size() const { return static_cast<int64_t>(merges_.size()); }
  int64_t memory_bytes() const;

 private:
  // Returns the slot of the merge of these words, or the free slot where it
  // belongs.
  size_t Slot(absl::string_view left, absl::string_view right) const;
  absl::string_view Word(uint32_t merge) const;

  const TokenTable* words_;
  // For each merge, the id of the result, with the bytes of its left part in
  // the low bits.
  std::vector<uint32_t> merges_;
  std::vector<int32_t> slots_;  // ranks by hash; -1: free
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_MERGE_TABLE_H_
