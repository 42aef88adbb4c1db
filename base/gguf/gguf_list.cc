#include "footprint/base/gguf/gguf_list.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int64_t kBufferBytes = 64 << 10;

absl::Status ChangedError(const WatchedFile& file) {
  return absl::DataLossError(absl::StrCat(
      file.name(),
      ": a list has changed since the file was opened; open it again"));
}

template <class T>
absl::StatusOr<std::vector<T>> ReadValues(const WatchedFile& file,
                                          const GgufValue& list) {
  const auto bytes = list.count * static_cast<int64_t>(sizeof(T));
  if (bytes != list.size_bytes) return ChangedError(file);
  std::vector<T> values(static_cast<size_t>(list.count));
  const absl::Status status =
      file.Read(list.offset_bytes, bytes, values.data());
  if (!status.ok()) return status;
  return values;
}

}  // namespace

GgufTexts::GgufTexts(const WatchedFile& file, const GgufValue& list)
    : file_(file),
      left_(list.count),
      position_(list.offset_bytes),
      end_(list.offset_bytes + list.size_bytes) {}

const char* GgufTexts::Take(int64_t count) {
  if (count < 0 || count > end_ - position_) {
    status_.Update(ChangedError(file_));
    return nullptr;
  }
  const auto buffered = static_cast<int64_t>(buffer_.size());
  if (position_ + count > buffer_begin_ + buffered) {
    buffer_begin_ = position_;
    buffer_.resize(static_cast<size_t>(
        std::max(count, std::min(kBufferBytes, end_ - position_))));
    status_.Update(file_.Read(position_, static_cast<int64_t>(buffer_.size()),
                              &buffer_[0]));
    if (!status_.ok()) return nullptr;
  }
  const char* const bytes = buffer_.data() + (position_ - buffer_begin_);
  position_ += count;
  return bytes;
}

bool GgufTexts::Next(std::string* text) {
  if (left_ == 0 || !status_.ok()) return false;
  --left_;
  const char* bytes = Take(sizeof(uint64_t));
  if (bytes == nullptr) return false;
  uint64_t length = 0;
  std::memcpy(&length, bytes, sizeof(length));
  bytes = Take(static_cast<int64_t>(length));
  if (bytes == nullptr) return false;
  text->assign(bytes, static_cast<size_t>(length));
  return true;
}

absl::StatusOr<std::vector<int32_t>> ReadGgufIntegers(const WatchedFile& file,
                                                      const GgufValue& list) {
  return ReadValues<int32_t>(file, list);
}

absl::StatusOr<std::vector<float>> ReadGgufNumbers(const WatchedFile& file,
                                                   const GgufValue& list) {
  return ReadValues<float>(file, list);
}

}  // namespace footprint
