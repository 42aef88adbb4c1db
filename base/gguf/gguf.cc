#include "footprint/base/gguf/gguf.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"

namespace footprint {
namespace {

constexpr absl::string_view kMagic("GGUF", 4);
constexpr int64_t kDefaultAlignmentBytes = 32;
constexpr uint32_t kMostDimensions = 4;
// Published files have no lists nested deeper than this.
constexpr int kMostListDepth = 4;
constexpr absl::string_view kConvert = "convert the file, or update Footprint";

constexpr absl::string_view kTypeNames[] = {
    "u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
    "bool", "string", "array", "u64", "i64", "f64"};
// The size of a value; 0 for texts and lists, which have their own sizes.
constexpr int64_t kTypeBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct TensorType {
  uint32_t number;
  absl::string_view name;
  absl::optional<DType> dtype = absl::nullopt;
};

// The types of tensors in published files, including those that are refused.
constexpr TensorType kTensorTypes[] = {
    {0, "F32", DType::kF32},
    {1, "F16", DType::kF16},
    {2, "Q4_0", DType::kQ4_0},
    {3, "Q4_1", DType::kQ4_1},
    {6, "Q5_0", DType::kQ5_0},
    {7, "Q5_1", DType::kQ5_1},
    {8, "Q8_0", DType::kQ8_0},
    {9, "Q8_1"},
    {10, "Q2_K"},
    {11, "Q3_K"},
    {12, "Q4_K", DType::kQ4K},
    {13, "Q5_K", DType::kQ5K},
    {14, "Q6_K", DType::kQ6K},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS"},
    {24, "I8", DType::kI8},
    {25, "I16", DType::kI16},
    {26, "I32", DType::kI32},
    {27, "I64", DType::kI64},
    {28, "F64", DType::kF64},
    {29, "IQ1_M"},
    {30, "BF16", DType::kBF16},
    // ggml has removed these three.
    {31, "Q4_0_4_4"},
    {32, "Q4_0_4_8"},
    {33, "Q4_0_8_8"},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4"},
    {40, "NVFP4"},
    {41, "Q1_0"},
};

bool IsInteger(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kU16:
    case GgufType::kI16:
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kU64:
    case GgufType::kI64:
      return true;
    default:
      return false;
  }
}
bool IsFloat(GgufType type) {
  return type == GgufType::kF32 || type == GgufType::kF64;
}
bool IsNumber(GgufType type) { return IsInteger(type) || IsFloat(type); }
bool IsText(GgufType type) { return type == GgufType::kString; }
bool IsFlag(GgufType type) { return type == GgufType::kBool; }
bool IsList(GgufType type) { return type == GgufType::kArray; }

template <class T>
T FromBytes(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

// Sets a value of a type with a fixed size.
void SetNumber(const char* bytes, GgufValue* value) {
  switch (value->type) {
    case GgufType::kU8:
    case GgufType::kBool:
      value->integer = FromBytes<uint8_t>(bytes);
      break;
    case GgufType::kI8:
      value->integer = FromBytes<int8_t>(bytes);
      break;
    case GgufType::kU16:
      value->integer = FromBytes<uint16_t>(bytes);
      break;
    case GgufType::kI16:
      value->integer = FromBytes<int16_t>(bytes);
      break;
    case GgufType::kU32:
      value->integer = FromBytes<uint32_t>(bytes);
      break;
    case GgufType::kI32:
      value->integer = FromBytes<int32_t>(bytes);
      break;
    case GgufType::kU64:
      value->integer = static_cast<int64_t>(std::min<uint64_t>(
          FromBytes<uint64_t>(bytes), std::numeric_limits<int64_t>::max()));
      break;
    case GgufType::kI64:
      value->integer = FromBytes<int64_t>(bytes);
      break;
    case GgufType::kF32:
      value->number = static_cast<double>(FromBytes<float>(bytes));
      break;
    case GgufType::kF64:
      value->number = FromBytes<double>(bytes);
      break;
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  if (!IsFloat(value->type))
    value->number = static_cast<double>(value->integer);
}

// Reads the bytes of a header in order, one piece of the file at a time. After
// an error they are zeros.
class HeaderBytes {
 protected:
  HeaderBytes(int descriptor, absl::string_view name, int64_t file_bytes)
      : descriptor_(descriptor), file_bytes_(file_bytes), name_(name) {}

  void Fail(absl::string_view what) {
    status_.Update(absl::InvalidArgumentError(Describe(
        absl::StrCat(what, ". The file is damaged: download it again"))));
  }
  // A file beyond a limit of this reader need not be damaged.
  void Exceed(absl::string_view what, absl::string_view next_step) {
    status_.Update(absl::InvalidArgumentError(
        Describe(absl::StrCat(what, "; ", next_step))));
  }
  void Refuse(absl::string_view what) {
    status_.Update(absl::UnimplementedError(Describe(what)));
  }
  std::string Describe(absl::string_view what) const {
    return absl::StrCat(name_, ": near byte ", position_, ": ", subject_, what);
  }

  // Returns `count` bytes, at most the size of the buffer; null after an error.
  const char* Take(int64_t count) {
    if (!status_.ok()) return nullptr;
    // Checks the bounds, and refills the buffer if needed.
    if (count > file_bytes_ - position_) {
      Fail(absl::StrCat("the header goes on beyond the file's ", file_bytes_,
                        " bytes"));
      return nullptr;
    }
    if (position_ + count > buffer_begin_ + buffer_size_) {
      buffer_begin_ = position_;
      buffer_size_ = std::min<int64_t>(kBufferBytes, file_bytes_ - position_);
      status_ = ReadFully(descriptor_, name_, buffer_begin_, buffer_size_,
                          buffer_.get());
      if (!status_.ok()) return nullptr;
    }
    const char* const bytes = buffer_.get() + (position_ - buffer_begin_);
    position_ += count;
    return bytes;
  }

  template <class T>
  T TakeNumber() {
    const char* const bytes = Take(sizeof(T));
    return bytes == nullptr ? T() : FromBytes<T>(bytes);
  }

  // Returns a count or a length. Fails if the file has no room for so many,
  // each of at least `least_bytes`.
  int64_t TakeCount(int64_t least_bytes, absl::string_view what) {
    const auto count = TakeNumber<uint64_t>();
    const int64_t most = (file_bytes_ - position_) / least_bytes;
    if (!status_.ok()) return 0;
    if (count > static_cast<uint64_t>(most)) {
      Fail(absl::StrCat(count, " ", what, " do not fit into the file's ",
                        file_bytes_, " bytes"));
      return 0;
    }
    return static_cast<int64_t>(count);
  }

  void Skip(int64_t count) {
    if (status_.ok()) position_ += count;  // TakeCount has checked
  }

  std::string TakeText(int64_t most_bytes) {
    const int64_t length = TakeCount(1, "bytes of text");
    if (length > most_bytes) {
      Exceed(absl::StrCat("a text of ", length, " bytes is above the limit of ",
                          most_bytes),
             kConvert);
    }
    std::string text;
    while (status_.ok() && static_cast<int64_t>(text.size()) < length) {
      const int64_t part = std::min<int64_t>(
          kBufferBytes, length - static_cast<int64_t>(text.size()));
      const char* const bytes = Take(part);
      if (bytes != nullptr) text.append(bytes, static_cast<size_t>(part));
    }
    return text;
  }

  static constexpr int64_t kBufferBytes = 64 << 10;

  const int descriptor_;
  const int64_t file_bytes_;
  const std::string name_;
  absl::Status status_;
  std::string subject_;  // what is being read, for messages
  int64_t position_ = 0;

 private:
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(kBufferBytes);
  int64_t buffer_begin_ = 0;
  int64_t buffer_size_ = 0;
};

}  // namespace

// Reads a header, and places the tensors that it names.
class GgufReader : private HeaderBytes {
 public:
  GgufReader(int descriptor, absl::string_view name, int64_t file_bytes)
      : HeaderBytes(descriptor, name, file_bytes) {
    index_.file_name_ = name_;
    index_.file_bytes_ = file_bytes;
  }

  absl::StatusOr<GgufIndex> Read() {
    ReadCounts();
    for (int64_t i = 0; i < keys_ && status_.ok(); ++i) ReadKey();
    subject_.clear();
    SetAlignment();
    for (int64_t i = 0; i < tensors_ && status_.ok(); ++i) ReadTensor();
    if (status_.ok()) PlaceTensors();
    if (status_.ok()) status_ = index_.SortByName();
    if (!status_.ok()) return status_;
    return std::move(index_);
  }

 private:
  void ReadCounts() {
    const char* const magic = Take(kMagic.size());
    // A file that is too short is of another format; one that cannot be read
    // may be right.
    if (!status_.ok() && !absl::IsInvalidArgument(status_)) return;
    if (magic == nullptr || !GgufIndex::HasMagic({magic, kMagic.size()})) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat(index_.file_name_,
                       ": does not begin with \"GGUF\", so it is not a "
                       "GGUF file; download it again, or name another"));
      return;
    }
    const auto version = TakeNumber<uint32_t>();
    if (version != 2 && version != 3) {
      Refuse(version == 0x02000000 || version == 0x03000000
                 ? "the file is big-endian; convert it to little-endian"
                 : absl::StrCat("the format has version ", version,
                                ", and this program reads 2 and 3; convert "
                                "the file, or update Footprint"));
      return;
    }
    // A tensor has at least the length of its name, dimensions, a type and an
    // offset; a key has at least the length of its name, a type and a byte.
    tensors_ = TakeCount(24, "tensors");
    keys_ = TakeCount(13, "keys");
    if (tensors_ > GgufIndex::kMaximumTensors ||
        keys_ > GgufIndex::kMaximumKeys) {
      Exceed(absl::StrCat(tensors_, " tensors and ", keys_,
                          " keys are above the limits of ",
                          GgufIndex::kMaximumTensors, " and ",
                          GgufIndex::kMaximumKeys),
             kConvert);
    }
  }

  GgufType TakeType() {
    const auto number = TakeNumber<uint32_t>();
    if (number >= std::size(kTypeNames)) {
      Fail(absl::StrCat("its value has the unknown type ", number));
      return GgufType::kU8;
    }
    return static_cast<GgufType>(number);
  }

  void ReadKey() {
    constexpr int64_t kMostKeyBytes = 65535;  // the format's own limit
    subject_ = "key: ";
    std::string key = TakeText(kMostKeyBytes);
    subject_ = absl::StrCat("key \"", key, "\": ");
    GgufValue value;
    value.type = TakeType();
    if (value.type == GgufType::kString) {
      value.text = TakeText(GgufIndex::kMaximumTextBytes);
    } else if (value.type == GgufType::kArray) {
      ReadList(&value);
    } else {
      const char* const bytes =
          Take(kTypeBytes[static_cast<size_t>(value.type)]);
      if (bytes != nullptr) SetNumber(bytes, &value);
      if (value.type == GgufType::kBool && value.integer > 1) {
        Fail(
            absl::StrCat("the truth value is ", value.integer, ", not 0 or 1"));
      }
    }
    if (status_.ok() &&
        !index_.values_.emplace(std::move(key), std::move(value)).second) {
      Fail("it occurs twice");
    }
  }

  void ReadList(GgufValue* value) {
    value->element_type = TakeType();
    const int64_t least = std::max<int64_t>(1, LeastBytes(value->element_type));
    value->count = TakeCount(least, "elements of a list");
    value->offset_bytes = position_;
    SkipElements(value->element_type, value->count, /*depth=*/1);
    value->size_bytes = position_ - value->offset_bytes;
  }

  static int64_t LeastBytes(GgufType type) {
    if (type == GgufType::kString) return 8;
    if (type == GgufType::kArray) return 12;
    return kTypeBytes[static_cast<size_t>(type)];
  }

  void SkipElements(GgufType type, int64_t count, int depth) {
    if (type == GgufType::kString) {
      for (int64_t i = 0; i < count && status_.ok(); ++i) {
        Skip(TakeCount(1, "bytes of text"));
      }
      return;
    }
    if (type != GgufType::kArray) {
      Skip(count * LeastBytes(type));
      return;
    }
    if (depth == kMostListDepth) {
      Exceed(
          absl::StrCat("lists are nested more than ", kMostListDepth, " deep"),
          kConvert);
    }
    for (int64_t i = 0; i < count && status_.ok(); ++i) {
      const GgufType inner = TakeType();
      const int64_t inner_count =
          TakeCount(LeastBytes(inner), "elements of a list");
      SkipElements(inner, inner_count, depth + 1);
    }
  }

  void SetAlignment() {
    const GgufValue* const value = index_.FindValue("general.alignment");
    if (value == nullptr) return;
    alignment_ = value->integer;
    if (!IsInteger(value->type) || alignment_ < 1 || alignment_ > 1 << 20 ||
        (alignment_ & (alignment_ - 1)) != 0) {
      Fail(absl::StrCat("general.alignment is ", alignment_,
                        ", which is not a power of two up to ", 1 << 20));
    }
  }

  void ReadTensor() {
    constexpr int64_t kMostNameBytes = 1024;
    TensorInfo tensor;
    subject_ = "tensor: ";
    tensor.name = TakeText(kMostNameBytes);
    subject_ = absl::StrCat("tensor \"", tensor.name, "\": ");
    const auto dimensions = TakeNumber<uint32_t>();
    if (dimensions > kMostDimensions) {
      Exceed(absl::StrCat("it has ", dimensions, " dimensions, more than ",
                          kMostDimensions),
             kConvert);
      return;
    }
    std::array<int64_t, kMostDimensions> extents = {};
    // The file has the fastest dimension first.
    for (uint32_t i = 0; i < dimensions; ++i) {
      const auto extent = TakeNumber<uint64_t>();
      if (extent == 0 || extent > (uint64_t{1} << 40)) {
        Fail(absl::StrCat("a dimension is ", extent));
        return;
      }
      extents[i] = static_cast<int64_t>(extent);
    }
    for (uint32_t i = dimensions; i > 0; --i)
      tensor.shape.Append(extents[i - 1]);
    SetType(TakeNumber<uint32_t>(), &tensor);
    const auto offset = TakeNumber<uint64_t>();
    if (!status_.ok()) return;
    // Checks where the tensor lies.
    if (offset > static_cast<uint64_t>(file_bytes_) ||
        offset % static_cast<uint64_t>(alignment_) != 0) {
      Fail(absl::StrCat("it begins at byte ", offset,
                        " of the data, which is outside of the file or no "
                        "multiple of the alignment, ",
                        alignment_));
      return;
    }
    tensor.offset_bytes = static_cast<int64_t>(offset);
    const absl::StatusOr<int64_t> bytes =
        TensorBytes(tensor.dtype, tensor.shape);
    if (!bytes.ok()) {
      Fail(bytes.status().message());
      return;
    }
    tensor.size_bytes = *bytes;
    index_.tensors_.push_back(std::move(tensor));
  }

  void SetType(uint32_t number, TensorInfo* tensor) {
    constexpr absl::string_view kTakeAnother =
        "take the file in Q8_0, Q6_K, Q5_K, Q4_K or Q4_0";
    if (!status_.ok()) return;
    for (const TensorType& type : kTensorTypes) {
      if (type.number != number) continue;
      if (type.dtype.has_value()) {
        tensor->dtype = *type.dtype;
      } else {
        Refuse(absl::StrCat("it is of type ", type.name,
                            ", which is not read; ", kTakeAnother));
      }
      return;
    }
    Exceed(absl::StrCat("it has the type ", number,
                        ", which this program does not know"),
           absl::StrCat("update Footprint, or ", kTakeAnother));
  }

  // Offsets count from the start of the data. No two tensors may share a byte.
  void PlaceTensors() {
    const int64_t data = (position_ + alignment_ - 1) / alignment_ * alignment_;
    std::stable_sort(index_.tensors_.begin(), index_.tensors_.end(),
                     [](const TensorInfo& a, const TensorInfo& b) {
                       return a.offset_bytes < b.offset_bytes;
                     });
    int64_t end = data;
    for (TensorInfo& tensor : index_.tensors_) {
      subject_ = absl::StrCat("tensor \"", tensor.name, "\": ");
      tensor.offset_bytes += data;
      if (tensor.offset_bytes < end) {
        Fail(absl::StrCat("it begins at byte ", tensor.offset_bytes,
                          ", inside the tensor before it, which ends at ",
                          end));
        return;
      }
      if (tensor.offset_bytes > file_bytes_ ||
          tensor.size_bytes > file_bytes_ - tensor.offset_bytes) {
        Fail(absl::StrCat("its ", tensor.size_bytes, " bytes from byte ",
                          tensor.offset_bytes, " on end beyond the file's ",
                          file_bytes_));
        return;
      }
      end = tensor.offset_bytes + tensor.size_bytes;
    }
  }

  GgufIndex index_;
  int64_t tensors_ = 0;
  int64_t keys_ = 0;
  int64_t alignment_ = kDefaultAlignmentBytes;
};

absl::string_view GgufTypeName(GgufType type) {
  return kTypeNames[static_cast<size_t>(type)];
}

bool GgufIndex::HasMagic(absl::string_view begin) {
  return begin.substr(0, kMagic.size()) == kMagic;
}

absl::StatusOr<GgufIndex> GgufIndex::Open(absl::string_view path) {
  const std::string name(path);
  const absl::StatusOr<FileDescriptor> file = OpenRegularFile(name);
  if (!file.ok()) return file.status();
  return Read(file->get(), name);
}

absl::StatusOr<GgufIndex> GgufIndex::Read(int descriptor,
                                          absl::string_view name) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    return FileError(errno, name, "no status");
  }
  return GgufReader(descriptor, name, status.st_size).Read();
}

const GgufValue* GgufIndex::FindValue(absl::string_view key) const {
  const auto found = values_.find(std::string(key));
  return found == values_.end() ? nullptr : &found->second;
}

absl::StatusOr<const GgufValue*> GgufIndex::FindOfKind(
    absl::string_view key, absl::string_view kind,
    bool (*is_kind)(GgufType)) const {
  const GgufValue* const value = FindValue(key);
  if (value == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(file_name(), ": there is no key \"", key, "\""));
  }
  if (!is_kind(value->type)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name(), ": key \"", key, "\" is a value of type ",
                     GgufTypeName(value->type), ", not ", kind));
  }
  return value;
}

absl::StatusOr<int64_t> GgufIndex::Integer(absl::string_view key) const {
  const auto value = FindOfKind(key, "a whole number", IsInteger);
  if (!value.ok()) return value.status();
  return (*value)->integer;
}

absl::StatusOr<double> GgufIndex::Number(absl::string_view key) const {
  const auto value = FindOfKind(key, "a number", IsNumber);
  if (!value.ok()) return value.status();
  return (*value)->number;
}

absl::StatusOr<std::string> GgufIndex::Text(absl::string_view key) const {
  const auto value = FindOfKind(key, "a text", IsText);
  if (!value.ok()) return value.status();
  return (*value)->text;
}

absl::StatusOr<bool> GgufIndex::Flag(absl::string_view key) const {
  const auto value = FindOfKind(key, "a truth value", IsFlag);
  if (!value.ok()) return value.status();
  return (*value)->integer != 0;
}

absl::StatusOr<const GgufValue*> GgufIndex::List(absl::string_view key,
                                                 GgufType element_type) const {
  const auto value = FindOfKind(key, "a list", IsList);
  if (!value.ok()) return value.status();
  if ((*value)->element_type != element_type) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name(), ": key \"", key, "\" is a list of ",
                     GgufTypeName((*value)->element_type), ", not of ",
                     GgufTypeName(element_type)));
  }
  return *value;
}

}  // namespace footprint
