// Adds the ids that a tokenizer puts around a text, or around a pair of texts:
// "post_processor" of tokenizer.json.
//
//   absl::StatusOr<footprint::TextTemplate> around =
//       footprint::TextTemplate::Parse(json);
//   // {{2, 17, 18, 3}, {0, 0, 0, 0}}: [CLS] and [SEP] around two ids
//   footprint::TypedIds ids = around->Join({17, 18});
//   absl::StatusOr<footprint::TypedIds> pair = around->Join({17}, {18});
//
// An id's type tells a model of BERT's family which of the two texts the id
// belongs to. The known processors are TemplateProcessing, BertProcessing,
// RobertaProcessing, ByteLevel (which adds nothing) and a Sequence of them.
// If there is no processor, no ids are added, and a pair's second text has type
// 1. A TemplateProcessing without "pair" treats a pair in the same way. If
// "pair" is empty, a pair gets no ids at all, not even those of its texts. If
// "single" is empty or missing, a text gets no ids at all.
//
// Thread-compatible; const calls are thread-safe. Memory: the ids.
//
// The error is InvalidArgument if a processor lacks the ids that it names. The
// error is Unimplemented if a processor is not known, or for a pair if several
// templates follow each other.

#ifndef FOOTPRINT_LOWMEM_TEXT_TEXT_TEMPLATE_H_
#define FOOTPRINT_LOWMEM_TEXT_TEXT_TEMPLATE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "nlohmann/json.hpp"

namespace footprint {

struct TypedIds {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;  // one for each id
};

class TextTemplate {
 public:
  static absl::StatusOr<TextTemplate> Parse(const nlohmann::json& json);

  TypedIds Join(absl::Span<const int32_t> text) const;
  absl::StatusOr<TypedIds> Join(absl::Span<const int32_t> first,
                                absl::Span<const int32_t> second) const;

  // Returns how many ids are added to a text, or to a pair.
  int64_t CountAdded(bool is_pair) const;

 private:
  // An id, or a placeholder for one of the texts.
  struct Part {
    enum class Kind { kId, kFirst, kSecond };
    Kind kind = Kind::kFirst;
    int32_t id = 0;
    int32_t type = 0;
  };
  using Parts = std::vector<Part>;

  static absl::StatusOr<Parts> ReadParts(const nlohmann::json& list,
                                         const nlohmann::json& special);
  absl::Status Add(const nlohmann::json& json);
  absl::Status AddPairOfIds(const nlohmann::json& json, bool is_roberta);
  void Surround(const Parts& text, const Parts& pair);
  static TypedIds JoinParts(const Parts& parts, absl::Span<const int32_t> first,
                            absl::Span<const int32_t> second);

  Parts text_ = {{}};
  Parts pair_ = {{}, {Part::Kind::kSecond, 0, 1}};
  int templates_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TEXT_TEMPLATE_H_
