// Decodes ids one at a time and returns text as soon as it is final.
//
//   footprint::TextStream stream(&tokenizer);
//   fputs(stream.Add(id).c_str(), stdout);
//
// A character that takes several ids is returned with its last id. Bytes that
// cannot become a character are returned as U+FFFD. Control words are left out.
//
// The tokenizer must outlive the stream. Thread-compatible. Memory: the ids.
// Each call decodes all ids so far, which takes some microseconds for a page of
// text.

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
  std::string Finish();

 private:
  const Tokenizer* tokenizer_;
  std::vector<int32_t> ids_;
  size_t shown_ = 0;  // bytes of the decoded text that were returned
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TEXT_STREAM_H_
