#include "footprint/base/safetensors/safetensors.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr uint64_t kMaximumInt64 = std::numeric_limits<int64_t>::max();

// An iterator over the characters of the header. It records the furthest
// position that the parser reached, which error messages give.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* position, const char** furthest)
      : position_(position), furthest_(furthest) {}
  reference operator*() const { return *position_; }
  CountingIterator& operator++() {
    ++position_;
    *furthest_ = position_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const {
    return position_ == other.position_;
  }
  bool operator!=(const CountingIterator& other) const {
    return position_ != other.position_;
  }

 private:
  const char* position_;
  const char** furthest_;
};

// The parser's SAX handler. It keeps only the tensors and the metadata, so that
// the header is never in memory as a tree. A key or value that the state does
// not expect is an error.
class HeaderHandler {
 public:
  using number_integer_t = int64_t;
  using number_unsigned_t = uint64_t;
  using number_float_t = double;
  using string_t = std::string;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return Unexpected("null"); }
  bool boolean(bool) { return Unexpected("a boolean"); }
  bool number_float(double, const std::string& text) {
    return Unexpected(absl::StrCat("the number ", text));
  }
  bool number_integer(int64_t value) {
    return Unexpected(absl::StrCat("the negative number ", value));
  }
  bool binary(binary_t&) { return Unexpected("binary data"); }

  bool number_unsigned(uint64_t value) {
    if (value > kMaximumInt64) {
      return Fail(absl::StrCat("the number ", value, " exceeds 63 bits"));
    }
    if (state_ == State::kShape) {
      tensor_.shape.Append(static_cast<int64_t>(value));
      return true;
    }
    if (state_ != State::kOffsets || offset_count_ == 2) {
      return Unexpected(absl::StrCat("the number ", value));
    }
    offsets_[offset_count_++] = static_cast<int64_t>(value);
    return true;
  }

  bool string(std::string& value) {
    if (state_ == State::kMetadata) {
      metadata_[key_] = std::move(value);
      return true;
    }
    if (state_ != State::kDType) return Unexpected("a string");
    const absl::optional<DType> dtype = DTypeFromName(value);
    if (!dtype.has_value()) {
      return Fail(absl::StrCat("dtype \"", value,
                               "\" is not one of the format's whole-byte types "
                               "(F32, BF16, F16, ...)"));
    }
    tensor_.dtype = *dtype;
    state_ = State::kTensor;
    return true;
  }

  bool start_object(size_t) {
    if (state_ == State::kBeforeHeader) {
      state_ = State::kHeader;
      return true;
    }
    if (state_ == State::kMetadataValue) {
      state_ = State::kMetadata;
      return true;
    }
    if (state_ != State::kTensorValue) return Unexpected("an object");
    state_ = State::kTensor;
    return true;
  }

  bool key(std::string& key) {
    if (state_ == State::kHeader) return HeaderKey(key);
    if (state_ == State::kMetadata) {
      if (metadata_.count(key) > 0) {
        return Fail(absl::StrCat("__metadata__ has \"", key, "\" twice"));
      }
      key_ = std::move(key);
      return true;
    }
    if (state_ != State::kTensor) return Unexpected("a key");
    return TensorKey(key);
  }

  bool start_array(size_t) {
    if (state_ == State::kShapeValue) {
      state_ = State::kShape;
    } else if (state_ == State::kOffsetsValue) {
      state_ = State::kOffsets;
    } else {
      return Unexpected("an array");
    }
    return true;
  }

  bool end_array() {
    if (state_ == State::kOffsets && offset_count_ != 2) {
      return Fail("data_offsets wants two numbers");
    }
    state_ = State::kTensor;
    return true;
  }

  bool end_object() {
    if (state_ == State::kTensor) return EndTensor();
    state_ = state_ == State::kMetadata ? State::kHeader : State::kAfterHeader;
    return true;
  }

  bool parse_error(size_t, const std::string& token,
                   const nlohmann::json::exception&) {
    return Fail(absl::StrCat("not valid JSON at \"",
                             absl::string_view(token).substr(0, 40), "\""));
  }

  const std::string& error() const { return error_; }
  std::vector<TensorInfo>& tensors() { return tensors_; }
  std::map<std::string, std::string>& metadata() { return metadata_; }

 private:
  // The place in the header, which determines the tokens that may come next.
  enum class State {
    kBeforeHeader,
    kHeader,
    kMetadataValue,
    kMetadata,
    kTensorValue,
    kTensor,
    kDType,
    kShapeValue,
    kShape,
    kOffsetsValue,
    kOffsets,
    kAfterHeader,
  };

  bool Fail(std::string what) {
    error_ = in_tensor_ ? absl::StrCat("tensor \"", tensor_.name, "\": ", what)
                        : std::move(what);
    return false;
  }

  bool Unexpected(absl::string_view what) {
    return Fail(absl::StrCat(what, " which the format does not allow here"));
  }

  bool HeaderKey(std::string& key) {
    if (key == "__metadata__") {
      if (has_metadata_) return Fail("__metadata__ occurs twice");
      has_metadata_ = true;
      state_ = State::kMetadataValue;
      return true;
    }
    if (tensors_.size() == SafetensorsIndex::kMaximumTensors) {
      return Fail(absl::StrCat("more than ", SafetensorsIndex::kMaximumTensors,
                               " tensors"));
    }
    tensor_ = TensorInfo();
    tensor_.name = std::move(key);
    in_tensor_ = true;
    has_dtype_ = has_shape_ = false;
    offset_count_ = 0;
    has_offsets_ = false;
    state_ = State::kTensorValue;
    return true;
  }

  bool TensorKey(const std::string& key) {
    if (key == "dtype") return Once(&has_dtype_, State::kDType, key);
    if (key == "shape") return Once(&has_shape_, State::kShapeValue, key);
    if (key == "data_offsets") {
      return Once(&has_offsets_, State::kOffsetsValue, key);
    }
    return Fail(absl::StrCat("unknown key \"", key, "\""));
  }

  bool Once(bool* has, State state, const std::string& key) {
    if (*has) return Fail(absl::StrCat("\"", key, "\" occurs twice"));
    *has = true;
    state_ = state;
    return true;
  }

  bool EndTensor() {
    if (!has_dtype_) return Fail("no dtype");
    if (!has_shape_) return Fail("no shape");
    if (!has_offsets_) return Fail("no data_offsets");
    if (offsets_[0] > offsets_[1]) {
      return Fail(absl::StrCat("data_offsets end at ", offsets_[1],
                               ", before they begin at ", offsets_[0]));
    }
    const absl::StatusOr<int64_t> bytes =
        TensorBytes(tensor_.dtype, tensor_.shape);
    if (!bytes.ok()) return Fail(std::string(bytes.status().message()));
    tensor_.offset_bytes = offsets_[0];
    tensor_.size_bytes = offsets_[1] - offsets_[0];
    if (*bytes != tensor_.size_bytes) {
      return Fail(absl::StrCat("data_offsets [", offsets_[0], ", ", offsets_[1],
                               "] hold ", tensor_.size_bytes, " bytes, but ",
                               DTypeName(tensor_.dtype), " ",
                               tensor_.shape.ToString(), " takes ", *bytes));
    }
    tensors_.push_back(std::move(tensor_));
    in_tensor_ = false;
    state_ = State::kHeader;
    return true;
  }

  State state_ = State::kBeforeHeader;
  bool has_metadata_ = false;
  bool in_tensor_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  int offset_count_ = 0;
  int64_t offsets_[2] = {0, 0};
  TensorInfo tensor_;
  std::string key_;
  std::string error_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Returns the end of the message for a file whose first 8 bytes are not the
// length of a header. Git LFS's pointer files begin with "version ".
absl::string_view NotSafetensorsText(const unsigned char* begin) {
  return memcmp(begin, "version ", kLengthBytes) == 0
             ? ": it is Git LFS's pointer to the file; run: git lfs pull"
             : ": not a safetensors file?";
}

absl::Status HeaderError(absl::string_view name, int64_t byte,
                         absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": header, near byte ", byte, ": ", what,
                   ". The file is damaged or not safetensors: download or "
                   "export it again"));
}

}  // namespace

absl::StatusOr<SafetensorsIndex> SafetensorsIndex::Open(
    absl::string_view path) {
  const std::string name(path);
  const absl::StatusOr<FileDescriptor> file = OpenRegularFile(name);
  if (!file.ok()) return file.status();
  return Read(file->get(), name);
}

absl::StatusOr<SafetensorsIndex> SafetensorsIndex::Read(
    int descriptor, absl::string_view name) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    return FileError(errno, name, "no status");
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not a regular file; name the .safetensors file"));
  }
  // Reads the header's length, and checks that the file can hold it.
  if (status.st_size < kLengthBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": has ", status.st_size,
                     " bytes, and a safetensors file begins with a length of ",
                     kLengthBytes));
  }
  unsigned char bytes[kLengthBytes];
  absl::Status read = ReadFully(descriptor, name, 0, kLengthBytes, bytes);
  if (!read.ok()) return read;
  uint64_t length = 0;
  // The length is little-endian.
  for (int i = kLengthBytes - 1; i >= 0; --i) length = length << 8 | bytes[i];
  if (length > static_cast<uint64_t>(kMaximumHeaderBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": byte 0 promises a header of ", length,
                     " bytes, above the format's limit of ",
                     kMaximumHeaderBytes, NotSafetensorsText(bytes)));
  }
  if (length > static_cast<uint64_t>(status.st_size - kLengthBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": byte 0 promises a header of ", length,
                     " bytes, but the file ends at byte ", status.st_size,
                     ": the file is truncated, download it again"));
  }
  // Reads the header itself.
  std::string header(length, '\0');
  read = ReadFully(descriptor, name, kLengthBytes, static_cast<int64_t>(length),
                   &header[0]);
  if (!read.ok()) return read;
  return Parse(header, status.st_size, name);
}

absl::StatusOr<SafetensorsIndex> SafetensorsIndex::Parse(
    absl::string_view header, int64_t file_bytes, absl::string_view name) {
  if (header.empty() || header.front() != '{') {
    return HeaderError(name, kLengthBytes, "does not begin with '{'");
  }
  const size_t last = header.find_last_not_of(' ');
  if (header[last] != '}') {
    return HeaderError(name, kLengthBytes + static_cast<int64_t>(last),
                       "does not end with '}' and spaces");
  }
  const absl::string_view object = header.substr(0, last + 1);
  HeaderHandler handler;
  const char* furthest = object.data();
  const bool parsed = nlohmann::json::sax_parse(
      CountingIterator(object.data(), &furthest),
      CountingIterator(object.data() + object.size(), &furthest), &handler);
  if (!parsed) {
    return HeaderError(name, kLengthBytes + (furthest - object.data()),
                       handler.error());
  }
  SafetensorsIndex index;
  index.file_name_ = std::string(name);
  index.file_bytes_ = file_bytes;
  index.data_offset_bytes_ = kLengthBytes + static_cast<int64_t>(header.size());
  index.tensors_ = std::move(handler.tensors());
  index.metadata_ = std::move(handler.metadata());
  absl::Status layout = index.CheckLayout();
  if (!layout.ok()) return layout;
  return index;
}

absl::Status SafetensorsIndex::CheckLayout() {
  absl::Status status = CheckRanges();
  if (status.ok()) status = CheckNames();
  return status;
}

// Checks that every byte of the data belongs to exactly one tensor.
absl::Status SafetensorsIndex::CheckRanges() {
  const auto is_before = [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.offset_bytes, a.size_bytes) <
           std::tie(b.offset_bytes, b.size_bytes);
  };
  // Most files have their tensors in this order already. The sort is stable, so
  // tensors without bytes keep their order if they share an offset.
  if (!std::is_sorted(tensors_.begin(), tensors_.end(), is_before)) {
    std::stable_sort(tensors_.begin(), tensors_.end(), is_before);
  }
  // Each tensor must begin where the one before it ends.
  const int64_t data_bytes = file_bytes_ - data_offset_bytes_;
  int64_t end = 0;
  const TensorInfo* before = nullptr;
  for (TensorInfo& tensor : tensors_) {
    if (tensor.offset_bytes != end) {
      return absl::InvalidArgumentError(absl::StrCat(
          file_name_, ": tensor \"", tensor.name, "\" begins at data offset ",
          tensor.offset_bytes,
          tensor.offset_bytes < end ? ", inside " : ", leaving a gap after ",
          before == nullptr ? "the header"
                            : absl::StrCat("\"", before->name, "\""),
          ", which ends at ", end,
          ". The file is damaged or made to mislead: export it again"));
    }
    // The sum is the tensor's end in data_offsets, which fits into 63 bits.
    end += tensor.size_bytes;
    if (end > data_bytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          file_name_, ": tensor \"", tensor.name, "\" ends at data offset ",
          end, ", but the file has ", data_bytes,
          " bytes of data: it is truncated, download it again"));
    }
    // Replaces the offset in the data by the offset in the file.
    tensor.offset_bytes += data_offset_bytes_;
    before = &tensor;
  }
  if (end != data_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        file_name_, ": bytes ", data_offset_bytes_ + end, " to ", file_bytes_,
        " belong to no tensor: the file is damaged, download it again"));
  }
  return absl::OkStatus();
}

// Checks that no name occurs twice, and removes the tensors that are padding.
absl::Status SafetensorsIndex::CheckNames() {
  absl::Status status = SortByName();
  if (!status.ok()) return status;
  const auto is_padding = [](const TensorInfo& tensor) {
    return absl::StartsWith(tensor.name, kPaddingPrefix);
  };
  const auto kept =
      std::remove_if(tensors_.begin(), tensors_.end(), is_padding);
  if (kept == tensors_.end()) return status;
  tensors_.erase(kept, tensors_.end());
  // The removal changed the positions to which the sorted names refer.
  return SortByName();
}

}  // namespace footprint
