#include "footprint/lowmem/testing/test_decoder.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/kernels/reference_kernels.h"

namespace footprint {
namespace {

using Rows = std::vector<std::vector<double>>;

class Reference {
 public:
  explicit Reference(const TestDecoder& decoder) : decoder_(decoder) {}

  Rows Embed(const std::vector<int32_t>& ids) const {
    const auto& words = Values("wte.weight");
    const auto& positions = Values("wpe.weight");
    const int64_t hidden = decoder_.config.hidden;
    Rows states;
    for (size_t token = 0; token < ids.size(); ++token) {
      std::vector<double> state;
      for (int64_t i = 0; i < hidden; ++i) {
        state.push_back(static_cast<double>(words[ids[token] * hidden + i]) +
                        positions[token * hidden + i]);
      }
      states.push_back(state);
    }
    return states;
  }

  Rows Layer(const Rows& states, int64_t index) const {
    const std::string begin = absl::StrCat("h.", index, ".");
    const Rows context =
        Attend(Linear(Norm(states, begin + "ln_1"), begin + "attn.c_attn"));
    const Rows attended = Sum(states, Linear(context, begin + "attn.c_proj"));
    Rows inner = Linear(Norm(attended, begin + "ln_2"), begin + "mlp.c_fc");
    for (auto& row : inner) {
      for (double& x : row) {
        x = ReferenceActivation(decoder_.config.activation, x);
      }
    }
    return Sum(attended, Linear(inner, begin + "mlp.c_proj"));
  }

  std::vector<double> Output(const std::vector<double>& state) const {
    const std::vector<double> normed = Norm({state}, "ln_f")[0];
    const auto& words = Values("wte.weight");
    std::vector<double> logits(decoder_.config.vocabulary);
    for (size_t i = 0; i < logits.size(); ++i) {
      for (size_t j = 0; j < normed.size(); ++j) {
        logits[i] += words[i * normed.size() + j] * normed[j];
      }
    }
    return logits;
  }

 private:
  const std::vector<float>& Values(const std::string& name) const {
    return decoder_.tensors.at(name).values;
  }

  // The matrix is [inputs, outputs].
  Rows Linear(const Rows& input, const std::string& name) const {
    const auto& matrix = Values(name + ".weight");
    const auto& bias = Values(name + ".bias");
    Rows output;
    for (const auto& row : input) {
      std::vector<double> result(bias.begin(), bias.end());
      for (size_t i = 0; i < result.size(); ++i) {
        for (size_t j = 0; j < row.size(); ++j) {
          result[i] += matrix[j * result.size() + i] * row[j];
        }
      }
      output.push_back(result);
    }
    return output;
  }

  Rows Norm(const Rows& input, const std::string& name) const {
    Rows output;
    for (const auto& row : input) {
      output.push_back(LayerNormReference(row, Values(name + ".weight"),
                                          Values(name + ".bias"),
                                          decoder_.config.epsilon));
    }
    return output;
  }

  static Rows Sum(const Rows& a, const Rows& b) {
    Rows sum = a;
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < a[i].size(); ++j) sum[i][j] += b[i][j];
    }
    return sum;
  }

  // Each row holds queries, keys and values, one after the other.
  Rows Attend(const Rows& rows) const {
    const int64_t hidden = decoder_.config.hidden;
    const int64_t features = decoder_.config.head_features();
    const double scale = 1 / std::sqrt(static_cast<double>(features));
    Rows context(rows.size(), std::vector<double>(hidden));
    for (int64_t first = 0; first < hidden; first += features) {
      for (size_t token = 0; token < rows.size(); ++token) {
        std::vector<double> scores(token + 1);
        for (size_t other = 0; other <= token; ++other) {
          for (int64_t i = first; i < first + features; ++i) {
            scores[other] += rows[token][i] * rows[other][hidden + i];
          }
        }
        const std::vector<double> shares = SoftmaxReference(
            scores, static_cast<int64_t>(scores.size()), scale);
        for (size_t other = 0; other <= token; ++other) {
          for (int64_t i = first; i < first + features; ++i) {
            context[token][i] += shares[other] * rows[other][2 * hidden + i];
          }
        }
      }
    }
    return context;
  }

  const TestDecoder& decoder_;
};

std::string ConfigJson(const DecoderConfig& config) {
  return absl::StrCat(
      R"({"model_type": "gpt2", "n_layer": )", config.layers, R"(, "n_embd": )",
      config.hidden, R"(, "n_head": )", config.heads, R"(, "n_inner": )",
      config.intermediate, R"(, "vocab_size": )", config.vocabulary,
      R"(, "n_positions": )", config.positions, R"(, "tie_word_embeddings": )",
      config.ties_output ? "true" : "false",
      R"(, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"})");
}

}  // namespace

TestDecoder RandomDecoder(const DecoderConfig& config, DType type,
                          uint32_t seed) {
  RandomTensors make(type, seed);
  const int64_t hidden = config.hidden;
  make.Matrix("wte.weight", config.vocabulary, hidden);
  make.Matrix("wpe.weight", config.positions, hidden);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string begin = absl::StrCat("h.", layer, ".");
    make.Norm(begin + "ln_1", hidden);
    make.Linear(begin + "attn.c_attn", hidden, 3 * hidden, 3 * hidden);
    make.Linear(begin + "attn.c_proj", hidden, hidden, hidden);
    make.Norm(begin + "ln_2", hidden);
    make.Linear(begin + "mlp.c_fc", hidden, config.intermediate,
                config.intermediate);
    make.Linear(begin + "mlp.c_proj", config.intermediate, hidden, hidden);
  }
  make.Norm("ln_f", hidden);
  return {config, make.tensors()};
}

std::string WriteDecoder(const TestDecoder& decoder, DType type,
                         const std::string& name, int64_t block_columns) {
  return WriteCheckpoint(ConfigJson(decoder.config), decoder.tensors, type,
                         name, block_columns);
}

std::vector<double> DecodeReference(const TestDecoder& decoder,
                                    const std::vector<int32_t>& ids) {
  const Reference reference(decoder);
  Rows states = reference.Embed(ids);
  for (int64_t layer = 0; layer < decoder.config.layers; ++layer) {
    states = reference.Layer(states, layer);
  }
  return reference.Output(states.back());
}

}  // namespace footprint
