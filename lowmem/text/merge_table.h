// Which neighbouring words byte-pair encoding joins, and in which order.
//
//   footprint::MergeTable merges(&table);
//   absl::Status status = merges.Add("Hel", "lo");
//   status.Update(merges.Index());
//   absl::optional<footprint::Merge> merge = merges.Find(hel, lo);
//
// Merges are added in the order of their rank, the most urgent first; then
// Index is called once; then merges are found. A merge is stored as the word
// that it makes and the place where that is cut, 4 bytes.
//
// Refers to the words, which are indexed before the first merge is added and
// must outlive it. Thread-compatible; after Index thread-safe. Memory: about 9
// bytes a merge.
//
// InvalidArgument: a merge of words, or to one, that the vocabulary does not
// have; of words longer than 255 bytes; more than 2^24 words or 2^31 merges. Of
// equal merges the first counts.
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
  int32_t id = 0;  // of the word that it makes
};

class MergeTable {
 public:
  explicit MergeTable(const TokenTable* words) : words_(words) {}

  absl::Status Add(absl::string_view left, absl::string_view right);
  absl::Status Index();

  absl::optional<Merge> Find(int32_t left, int32_t right) const;
  int64_t size() const { return static_cast<int64_t>(merges_.size()); }
  int64_t memory_bytes() const;

 private:
  // The place of the merge of these words, or the free one where it would be.
  size_t Slot(absl::string_view left, absl::string_view right) const;
  absl::string_view Word(uint32_t merge) const;

  const TokenTable* words_;
  // The id of the word that is made, and below it the bytes of its left part.
  std::vector<uint32_t> merges_;
  std::vector<int32_t> slots_;  // ranks by hash; -1: free
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_MERGE_TABLE_H_
