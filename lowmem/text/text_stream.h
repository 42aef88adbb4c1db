// The text of ids that come one after the other, as soon as it is certain.
//
//   footprint::TextStream stream(&tokenizer);
//   fputs(stream.Add(id).c_str(), stdout);
//
// A character that takes several ids comes when its last one does; what can be
// no character comes as U+FFFD. Signs to the model are left out.
//
// The tokenizer outlives the stream. Thread-compatible. Memory: the ids. Time
// of an id: that of decoding all before it, some microseconds for a page of
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
  // Returns what is left: bytes that no id made a character of.
  std::string Finish();

 private:
  const Tokenizer* tokenizer_;
  std::vector<int32_t> ids_;
  size_t shown_ = 0;  // bytes of their text
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TEXT_STREAM_H_
