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
                                      const Weight& expand,
                                      const Weight& contract) {
  const IndexRange all = {0, shape_.hidden};
  const IndexRange outputs = Share(shape_.hidden, shape_.output_unit);
  absl::Status status = Add(attention_output, outputs, all);
  for (int64_t begin = 0; begin < shape_.intermediate;
       begin += shape_.chunk_features) {
    const IndexRange chunk = {
        begin, std::min(shape_.intermediate, begin + shape_.chunk_features)};
    const IndexRange wide = Share(chunk.size(), shape_.output_unit);
    status.Update(Add(expand, {begin + wide.begin, begin + wide.end}, all));
    status.Update(Add(contract, outputs, chunk));
  }
  return status;
}

}  // namespace footprint::lowmem_internal
