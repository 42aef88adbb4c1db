// Builds the header of a GGUF file, key by key and tensor by tensor.
//
//   footprint::GgufHeader header;
//   header.AddText("general.architecture", "llama");
//   header.AddInteger("llama.block_count", 16);
//   header.AddTensor("token_embd.weight", footprint::DType::kQ8_0, {256, 64});
//   std::string bytes = header.Build();
//   // The first tensor's values follow, then zeros up to the next multiple of
//   // GgufHeader::kAlignmentBytes, then the next tensor's values.
//
// Writes version 3. Keys, names and types are not checked: this class accepts a
// key that is added twice, and a type of tensor that GGUF does not have, but
// GgufIndex refuses the file. A tensor's shape has the fastest dimension last,
// as everywhere in this tree; TensorBytes must accept it.
//
// Owns copies of everything. Thread-compatible. Memory: the header's bytes,
// twice while Build runs.

#ifndef FOOTPRINT_BASE_GGUF_GGUF_HEADER_H_
#define FOOTPRINT_BASE_GGUF_GGUF_HEADER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/tensor/shape.h"

namespace footprint {

class GgufHeader {
 public:
  // The data and each tensor begin at a multiple of this, the default of the
  // format.
  static constexpr int64_t kAlignmentBytes = 32;

  void AddText(absl::string_view key, absl::string_view text);
  // Writes a u32.
  void AddInteger(absl::string_view key, uint32_t value);
  // Writes an f32.
  void AddNumber(absl::string_view key, float value);
  void AddFlag(absl::string_view key, bool value);
  void AddTexts(absl::string_view key, absl::Span<const std::string> texts);
  // Writes a list of i32.
  void AddIntegers(absl::string_view key, absl::Span<const int32_t> values);
  // Writes a list of f32.
  void AddNumbers(absl::string_view key, absl::Span<const float> values);

  // Returns where the tensor's values begin, counted from the start of the
  // data.
  int64_t AddTensor(absl::string_view name, DType dtype, const Shape& shape);

  // Returns the header, padded with zeros to the start of the data.
  std::string Build() const;

  // Returns the bytes of all tensors, with the padding after each.
  int64_t data_bytes() const { return data_bytes_; }

 private:
  void BeginKey(absl::string_view key, GgufType type);
  void BeginList(absl::string_view key, GgufType type, size_t count);

  std::string keys_;
  std::string tensors_;
  uint64_t key_count_ = 0;
  uint64_t tensor_count_ = 0;
  int64_t data_bytes_ = 0;
};

}  // namespace footprint

// Tested by gguf_test.

#endif  // FOOTPRINT_BASE_GGUF_GGUF_HEADER_H_
