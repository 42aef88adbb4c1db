// Finds the keys of a GGUF file and the place of each of its tensors, and
// checks every bound.
//
//   absl::StatusOr<footprint::GgufIndex> index =
//       footprint::GgufIndex::Open("model-Q4_K_M.gguf");
//   absl::StatusOr<std::string> kind = index->Text("general.architecture");
//   absl::StatusOr<int64_t> layers = index->Integer("llama.block_count");
//   absl::StatusOr<const footprint::TensorInfo*> words =
//       index->Find("token_embd.weight");
//
// Reads versions 2 and 3 of the format (as ggml defines it), little-endian. It
// reads only the header, never the tensors. It does not keep the elements of a
// list, such as a tokenizer's words, either: GgufValue says where they are in
// the file. A tensor's shape has the fastest dimension last, as everywhere in
// this tree.
//
// An index owns its strings and refers to no file. Thread-safe once made.
// Memory: 64 KiB while reading; then that of the index (tensor_index.h), about
// 150 bytes per key, and the texts. Time: O(n log n) in the tensors; the header
// is read once.
//
// InvalidArgument: the file is not a GGUF file, breaks the format, has a type
// of tensor that this reader does not know (a newer ggml may define it), or
// exceeds a limit of this reader; the message names the file and the byte, and
// the key or the tensor. Unimplemented: the file has another version, is
// big-endian, or has a known type of tensor that is not in DType, which the
// message names. NotFound: no such file, key or tensor. DataLoss: the file was
// shortened while it was read. Other errors are those of FileError.

#ifndef FOOTPRINT_BASE_GGUF_GGUF_H_
#define FOOTPRINT_BASE_GGUF_GGUF_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/tensor/tensor_index.h"

namespace footprint {

// The types of values, with the format's own numbers.
enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// Returns the type's name, such as "u32", "string" or "array".
absl::string_view GgufTypeName(GgufType type);

// The value of a key. Its type says which of the fields are set.
struct GgufValue {
  GgufType type = GgufType::kU8;
  // An integer, or 0 or 1 for a truth value. A u64 above 2^63 - 1 becomes 2^63
  // - 1.
  int64_t integer = 0;
  // The value of any number, also of an integer or a truth value.
  double number = 0;
  std::string text;
  // The fields of a list: the type and the number of its elements, and their
  // place in the file.
  GgufType element_type = GgufType::kU8;
  int64_t count = 0;
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;
};

class GgufIndex : public TensorIndex {
 public:
  // The limits of this reader. A chat template has some 10 KiB; the largest
  // models have some thousand tensors and a hundred keys. A tensor may also
  // have at most 4 dimensions and a name of 1 KiB, and a list 4 levels.
  static constexpr int64_t kMaximumTextBytes = 1 << 20;
  static constexpr int64_t kMaximumKeys = 1 << 16;
  static constexpr int64_t kMaximumTensors = 1 << 19;

  // Returns whether these bytes, the first of a file, begin with GGUF's magic
  // number.
  static bool HasMagic(absl::string_view begin);

  // Reads the header of the file at `path`.
  static absl::StatusOr<GgufIndex> Open(absl::string_view path);

  // Reads the header of an open file, which stays open. Messages call it
  // `name`.
  static absl::StatusOr<GgufIndex> Read(int descriptor, absl::string_view name);

  const std::map<std::string, GgufValue>& values() const { return values_; }

  // Returns the value of a key, which lives as long as the index, or null if
  // the key does not exist.
  const GgufValue* FindValue(absl::string_view key) const;
  bool Has(absl::string_view key) const { return FindValue(key) != nullptr; }

  // Each returns the value of a key. Returns NotFound if the key does not
  // exist, InvalidArgument if its value is of another kind. Number also accepts
  // an integer.
  absl::StatusOr<int64_t> Integer(absl::string_view key) const;
  absl::StatusOr<double> Number(absl::string_view key) const;
  absl::StatusOr<std::string> Text(absl::string_view key) const;
  absl::StatusOr<bool> Flag(absl::string_view key) const;
  // Returns the list of this key, with the place of its elements in the file.
  // It lives as long as the index. Returns InvalidArgument also if its elements
  // are of another type.
  absl::StatusOr<const GgufValue*> List(absl::string_view key,
                                        GgufType element_type) const;

 private:
  friend class GgufReader;
  absl::StatusOr<const GgufValue*> FindOfKind(absl::string_view key,
                                              absl::string_view kind,
                                              bool (*is_kind)(GgufType)) const;

  std::map<std::string, GgufValue> values_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_GGUF_GGUF_H_
