#include "footprint/lowmem/streaming/tile_recorder.h"

#include <algorithm>

namespace footprint::lowmem_internal {

TileRecorder::TileRecorder(const LayerShape& shape, int worker,
                           WeightStore* store, const ProductMemory& sizes,
                           TileList* list)
    : shape_(shape), worker_(worker), product_(store, sizes) {
  product_.Record(list);
}

absl::Status TileRecorder::Add(const Weight& matrix, const IndexRange& outputs,
                               const IndexRange& inputs) {
  return shape_.is_transposed
             ? product_.MultiplyTransposed(matrix, outputs, inputs, {}, 0, {},
                                           {})
             : product_.Multiply(matrix, outputs, inputs, {}, 0, {}, {});
}

absl::Status TileRecorder::AfterHeads(const Weight& attention_output,
                                      const MatrixPart& gate,
                                      const MatrixPart& expand,
                                      const Weight& contract) {
  const IndexRange all = {0, shape_.hidden};
  const IndexRange outputs = Share(shape_.hidden, shape_.output_unit);
  absl::Status status = Add(attention_output, outputs, {0, shape_.attended});
  for (int64_t begin = 0; begin < shape_.intermediate;
       begin += shape_.chunk_features) {
    const IndexRange chunk = {
        begin, std::min(shape_.intermediate, begin + shape_.chunk_features)};
    const IndexRange wide = Share(chunk.size(), shape_.output_unit);
    for (const MatrixPart& part : {gate, expand}) {
      if (part.matrix == nullptr) continue;
      const int64_t first = part.first_output + begin;
      status.Update(
          Add(*part.matrix, {first + wide.begin, first + wide.end}, all));
    }
    status.Update(Add(contract, outputs, chunk));
  }
  return status;
}

}  // namespace footprint::lowmem_internal
