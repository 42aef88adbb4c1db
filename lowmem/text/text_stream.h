// Decodes ids one at a time and returns text as soon as it is final.
//
//   footprint::TextStream stream(&tokenizer);
//   fputs(stream.Add(id).c_str(), stdout);
//
// A character that takes several ids is returned with its last id. Bytes that
// cannot become a character are returned as U+FFFD. Control words are left out.
//
// The tokenizer must outlive the stream. Thread-compatible. Memory: some of the
// last ids, and those of a character that never ends. Each call decodes these.

#ifndef FOOTPRINT_LOWMEM_TEXT_TEXT_STREAM_H_
#define FOOTPRINT_LOWMEM_TEXT_TEXT_STREAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/lowmem/text/tokenizer.h"

namespace footprint {

class TextStream {
 public:
  explicit TextStream(const Tokenizer* tokenizer) : tokenizer_(tokenizer) {}

  // Returns the text that the id adds.
  std::string Add(int32_t id);
  // Returns the remaining bytes, which did not become a character, as U+FFFD.
  // The stream may then be used for another text.
  std::string Finish();

 private:
  // Forgets the first ids, whose text was returned.
  void Forget();

  const Tokenizer* tokenizer_;
  std::vector<int32_t> ids_;
  size_t shown_ = 0;  // bytes of their decoded text that were returned
  // The number of ids after which all text was returned.
  size_t whole_ids_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TEXT_STREAM_H_
