// Reads the elements of a list in a GGUF file. The index has only the list's
// place in the file.
//
//   absl::StatusOr<const footprint::GgufValue*> list =
//       index.List("tokenizer.ggml.tokens", footprint::GgufType::kString);
//   footprint::GgufTexts texts(file, **list);
//   std::string text;
//   while (texts.Next(&text)) Use(text);
//   if (!texts.status().ok()) return texts.status();
//
// The file must outlive the reader, which refers to nothing else.
// Thread-compatible. Memory: 64 KiB, or the longest text if that is more; a
// list of numbers is read as a whole.
//
// DataLoss: the list has changed since the index was made. Other errors are
// those of WatchedFile::Read.

#ifndef FOOTPRINT_BASE_GGUF_GGUF_LIST_H_
#define FOOTPRINT_BASE_GGUF_GGUF_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/watched_file.h"
#include "footprint/base/gguf/gguf.h"

namespace footprint {

class GgufTexts {
 public:
  // Reads a list whose elements are of type kString.
  GgufTexts(const WatchedFile& file, const GgufValue& list);

  // Returns false after the last text or an error; see status().
  bool Next(std::string* text);
  const absl::Status& status() const { return status_; }

 private:
  // Returns the next `count` bytes; null after an error.
  const char* Take(int64_t count);

  const WatchedFile& file_;
  int64_t left_;
  int64_t position_;
  const int64_t end_;
  absl::Status status_;
  std::string buffer_;
  int64_t buffer_begin_ = 0;
};

// Return all elements of a list: ReadGgufIntegers of i32 or u32, where a u32
// above 2^31 - 1 becomes negative, and ReadGgufNumbers of f32. Return DataLoss
// if the elements have another size. The caller must have checked the type of
// the elements.
absl::StatusOr<std::vector<int32_t>> ReadGgufIntegers(const WatchedFile& file,
                                                      const GgufValue& list);
absl::StatusOr<std::vector<float>> ReadGgufNumbers(const WatchedFile& file,
                                                   const GgufValue& list);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_GGUF_GGUF_LIST_H_
