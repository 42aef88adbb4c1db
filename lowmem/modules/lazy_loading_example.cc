// The example of README.md:
//
//   lowmem_generate --shape=minilm minilm
//   bazel run //lowmem/modules:lazy_loading_example --
//   $PWD/minilm/model.safetensors

#include <cstdint>
#include <iostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/modules/embedding_modules.h"
#include "footprint/lowmem/modules/lazy_loading.h"
#include "footprint/lowmem/modules/module.h"
#include "footprint/lowmem/modules/panel_activations.h"
#include "footprint/lowmem/modules/panel_modules.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace {

// region model
// Words, then the feed-forward part of a MiniLM's first layer.
class WordFeatures : public footprint::Module {
 public:
  WordFeatures()
      : Module("WordFeatures"),
        words_({30522, 384}, /*chunk_rows=*/0),
        expand_(384, 1536),
        gelu_(footprint::Activation::kGelu),
        contract_(1536, 384) {
    // Names as in the checkpoint.
    AddChild("embeddings.word_embeddings", &words_);
    AddChild("encoder.layer.0.intermediate.dense", &expand_);
    AddChild("encoder.layer.0.output.dense", &contract_);
  }

  absl::StatusOr<footprint::PanelActivations> Run(
      absl::Span<const int32_t> ids) {
    auto states = words_.Run(ids);
    if (states.ok()) states = expand_.Run(*states);
    if (states.ok()) states = gelu_.Run(*states);
    if (states.ok()) states = contract_.Run(*states);
    return states;
  }

 private:
  footprint::ChunkedEmbedding words_;
  footprint::LinearModule expand_;
  footprint::ActivationModule gelu_;
  footprint::LinearModule contract_;
};

// The first feature of the first token, with one module in memory at a time.
absl::Status PrintFirst(const char* checkpoint,
                        const std::vector<int32_t>& ids) {
  WordFeatures model;
  footprint::LazyLoadingOptions options;
  options.storage = footprint::WeightBackend::kDirect;
  options.prefetch_bytes = 3 << 20;  // the next one, while one computes
  const auto loaded = footprint::LazyLoading(&model, checkpoint, options);
  if (!loaded.ok()) return loaded.status();
  const auto states = model.Run(ids);
  if (!states.ok()) return states.status();
  std::cout << states->At(0, 0) << " in " << (*loaded)->peak_bytes() << " of "
            << (*loaded)->parameter_bytes() << " bytes\n";
  return (*loaded)->CheckFile();
}
// endregion

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status =
      argc == 2 ? PrintFirst(argv[1], {101, 7592, 102})
                : absl::InvalidArgumentError(
                      "usage: lazy_loading_example MODEL.SAFETENSORS");
  if (status.ok())
    return footprint::FinishStandardOutput("lazy_loading_example");
  std::cerr << status << "\n";
  return 1;
}
