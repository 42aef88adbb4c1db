#include "footprint/lowmem/testing/test_checkpoint.h"

#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/test_file.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/reference_kernels.h"
#include "footprint/lowmem/weights/column_blocks.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

bool IsBert(const EncoderConfig& config) {
  return config.family == EncoderFamily::kBert;
}

// The names of a layer's parts, in the order of EncodeReference.
struct Names {
  std::string layer, query, key, value, output, norm, expand, contract,
      last_norm;
};

Names FindFamilyNames(const EncoderConfig& config) {
  if (IsBert(config)) {
    return {"encoder.layer.",         "attention.self.query",
            "attention.self.key",     "attention.self.value",
            "attention.output.dense", "attention.output.LayerNorm",
            "intermediate.dense",     "output.dense",
            "output.LayerNorm"};
  }
  return {"transformer.layer.", "attention.q_lin",   "attention.k_lin",
          "attention.v_lin",    "attention.out_lin", "sa_layer_norm",
          "ffn.lin1",           "ffn.lin2",          "output_layer_norm"};
}

uint32_t ToBits(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return bits;
}

// Rounds a number to `type`. Numbers of tests are neither tiny nor huge nor
// infinite.
uint16_t Narrow(DType type, float number) {
  const uint32_t bits = ToBits(number);
  if (type == DType::kBF16) return static_cast<uint16_t>(bits >> 16);
  const int exponent = static_cast<int>(bits >> 23 & 255) - 127 + 15;
  if (exponent < 1) return static_cast<uint16_t>(bits >> 16 & 0x8000);
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | exponent << 10 |
                               (bits >> 13 & 1023));
}

float Rounded(DType type, float number) {
  if (type == DType::kF32) return number;
  const uint16_t stored = Narrow(type, number);
  float wide;
  WidenToFloat(type, &stored, 1, &wide);
  return wide;
}

std::string ConfigJson(const EncoderConfig& config) {
  const std::string activation = config.activation == Activation::kGelu ? "gelu"
                                 : config.activation == Activation::kRelu
                                     ? "relu"
                                     : "gelu_new";
  if (IsBert(config)) {
    return absl::StrCat(
        R"({"model_type": "bert", "num_hidden_layers": )", config.layers,
        R"(, "hidden_size": )", config.hidden, R"(, "num_attention_heads": )",
        config.heads, R"(, "intermediate_size": )", config.intermediate,
        R"(, "vocab_size": )", config.vocabulary,
        R"(, "max_position_embeddings": )", config.positions,
        R"(, "type_vocab_size": )", config.token_types,
        R"(, "layer_norm_eps": 1e-12, "hidden_act": ")", activation, "\"}");
  }
  return absl::StrCat(
      R"({"model_type": "distilbert", "n_layers": )", config.layers,
      R"(, "dim": )", config.hidden, R"(, "n_heads": )", config.heads,
      R"(, "hidden_dim": )", config.intermediate, R"(, "vocab_size": )",
      config.vocabulary, R"(, "max_position_embeddings": )", config.positions,
      R"(, "activation": ")", activation, "\"}");
}

// One row for each position; the queries, keys and values of all heads are
// columns.
using Rows = std::vector<std::vector<double>>;

class ReferenceModel {
 public:
  explicit ReferenceModel(const TestCheckpoint& checkpoint)
      : checkpoint_(checkpoint), names_(FindFamilyNames(checkpoint.config)) {}

  Rows Embed(const std::vector<int32_t>& ids,
             const std::vector<int32_t>& token_types) const {
    const int64_t hidden = checkpoint_.config.hidden;
    const auto& words = Values("embeddings.word_embeddings.weight");
    const auto& positions = Values("embeddings.position_embeddings.weight");
    Rows states;
    for (size_t token = 0; token < ids.size(); ++token) {
      std::vector<double> state(hidden);
      for (int64_t i = 0; i < hidden; ++i) {
        state[i] = static_cast<double>(words[ids[token] * hidden + i]) +
                   positions[token * hidden + i];
        if (IsBert(checkpoint_.config)) {
          const int64_t type = token_types.empty() ? 0 : token_types[token];
          state[i] += Values(
              "embeddings.token_type_embeddings.weight")[type * hidden + i];
        }
      }
      states.push_back(state);
    }
    return Norm(states, "embeddings.LayerNorm");
  }

  Rows Layer(const Rows& states, int64_t index) const {
    const std::string begin = absl::StrCat(names_.layer, index, ".");
    const Rows context = Attend(Linear(states, begin + names_.query),
                                Linear(states, begin + names_.key),
                                Linear(states, begin + names_.value));
    const Rows attended =
        Norm(Sum(states, Linear(context, begin + names_.output)),
             begin + names_.norm);
    Rows inner = Linear(attended, begin + names_.expand);
    for (auto& row : inner) {
      for (double& x : row) {
        x = ReferenceActivation(checkpoint_.config.activation, x);
      }
    }
    return Norm(Sum(attended, Linear(inner, begin + names_.contract)),
                begin + names_.last_norm);
  }

 private:
  const std::vector<float>& Values(const std::string& name) const {
    return checkpoint_.tensors.at(name).values;
  }

  Rows Linear(const Rows& input, const std::string& name) const {
    const auto& matrix = Values(name + ".weight");
    const auto& bias = Values(name + ".bias");
    Rows output;
    for (const auto& row : input) {
      std::vector<double> result(bias.begin(), bias.end());
      for (size_t i = 0; i < result.size(); ++i) {
        for (size_t j = 0; j < row.size(); ++j) {
          result[i] += matrix[i * row.size() + j] * row[j];
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
                                          checkpoint_.config.epsilon));
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

  Rows Attend(const Rows& query, const Rows& key, const Rows& value) const {
    const int64_t features = checkpoint_.config.head_features();
    const int64_t tokens = static_cast<int64_t>(query.size());
    Rows context(tokens, std::vector<double>(checkpoint_.config.hidden));
    for (int64_t first = 0; first < checkpoint_.config.hidden;
         first += features) {
      for (int64_t token = 0; token < tokens; ++token) {
        std::vector<double> scores(tokens);
        for (int64_t other = 0; other < tokens; ++other) {
          for (int64_t i = first; i < first + features; ++i) {
            scores[other] += query[token][i] * key[other][i];
          }
        }
        const std::vector<double> shares = SoftmaxReference(
            scores, tokens, 1 / std::sqrt(static_cast<double>(features)));
        for (int64_t other = 0; other < tokens; ++other) {
          for (int64_t i = first; i < first + features; ++i) {
            context[token][i] += shares[other] * value[other][i];
          }
        }
      }
    }
    return context;
  }

  const TestCheckpoint& checkpoint_;
  Names names_;
};

TestTensor InPanels(const TestTensor& matrix, int64_t block_columns) {
  const int64_t rows = matrix.shape[0];
  const int64_t columns = matrix.shape[1];
  const int64_t panels = (columns + block_columns - 1) / block_columns;
  TestTensor packed;
  packed.shape = {panels, rows, block_columns};
  for (int64_t panel = 0; panel < panels; ++panel) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = 0; i < block_columns; ++i) {
        const int64_t column = panel * block_columns + i;
        packed.values.push_back(
            column < columns ? matrix.values[row * columns + column] : 0);
      }
    }
  }
  return packed;
}

void AppendStored(const std::vector<float>& values, DType type,
                  std::string* data) {
  for (const float value : values) {
    if (type == DType::kF32) {
      data->append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      const uint16_t stored = Narrow(type, value);
      data->append(reinterpret_cast<const char*>(&stored), sizeof(stored));
    }
  }
}

const char* StoredName(DType type) {
  return type == DType::kF32 ? "F32" : type == DType::kBF16 ? "BF16" : "F16";
}

}  // namespace

void RandomTensors::Matrix(const std::string& name, int64_t rows,
                           int64_t columns) {
  Add(name, {rows, columns}, 0, 0.3f, type_);
}

void RandomTensors::Linear(const std::string& name, int64_t rows,
                           int64_t columns, int64_t biases) {
  Matrix(name + ".weight", rows, columns);
  Add(name + ".bias", {biases}, 0, 0.1f, DType::kF32);
}

void RandomTensors::Norm(const std::string& name, int64_t count) {
  Add(name + ".weight", {count}, 1, 0.2f, DType::kF32);
  Add(name + ".bias", {count}, 0, 0.1f, DType::kF32);
}

void RandomTensors::Vector(const std::string& name, int64_t count) {
  Add(name, {count}, 0, 0.5f, DType::kF32);
}

void RandomTensors::Add(const std::string& name,
                        const std::vector<int64_t>& shape, float mean,
                        float deviation, DType type) {
  std::normal_distribution<float> normal(mean, deviation);
  TestTensor& tensor = tensors_[name];
  tensor.shape = shape;
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    tensor.values.push_back(Rounded(type, normal(random_)));
  }
}

std::vector<int32_t> RandomIds(std::mt19937& random, int64_t count,
                               int64_t end) {
  std::uniform_int_distribution<int32_t> id(0, static_cast<int32_t>(end - 1));
  std::vector<int32_t> ids(count);
  for (int32_t& one : ids) one = id(random);
  return ids;
}

TestCheckpoint RandomCheckpoint(const EncoderConfig& config, DType type,
                                uint32_t seed) {
  TestCheckpoint checkpoint;
  checkpoint.config = config;
  RandomTensors make(type, seed);
  const int64_t hidden = config.hidden;
  make.Matrix("embeddings.word_embeddings.weight", config.vocabulary, hidden);
  make.Matrix("embeddings.position_embeddings.weight", config.positions,
              hidden);
  if (IsBert(config)) {
    make.Matrix("embeddings.token_type_embeddings.weight", config.token_types,
                hidden);
  }
  make.Norm("embeddings.LayerNorm", hidden);
  const Names names = FindFamilyNames(config);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string begin = absl::StrCat(names.layer, layer, ".");
    make.Linear(begin + names.query, hidden, hidden, hidden);
    make.Linear(begin + names.key, hidden, hidden, hidden);
    make.Linear(begin + names.value, hidden, hidden, hidden);
    make.Linear(begin + names.output, hidden, hidden, hidden);
    make.Norm(begin + names.norm, hidden);
    make.Linear(begin + names.expand, config.intermediate, hidden,
                config.intermediate);
    make.Linear(begin + names.contract, hidden, config.intermediate, hidden);
    make.Norm(begin + names.last_norm, hidden);
  }
  checkpoint.tensors = make.tensors();
  return checkpoint;
}

std::string WriteCheckpoint(const TestCheckpoint& checkpoint, DType type,
                            const std::string& name, int64_t block_columns) {
  return WriteCheckpoint(ConfigJson(checkpoint.config), checkpoint.tensors,
                         type, name, block_columns);
}

std::string WriteCheckpoint(const std::string& config_json,
                            const TestTensors& tensors, DType type,
                            const std::string& name, int64_t block_columns) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/", name);
  mkdir(folder.c_str(), 0755);
  std::ofstream(folder + "/config.json") << config_json;
  std::string metadata;
  std::string header;
  std::string data;
  for (const auto& [tensor_name, original] : tensors) {
    const bool is_matrix = original.shape.size() == 2;
    const bool packs = is_matrix && block_columns > 0 &&
                       original.shape[1] > block_columns &&
                       !absl::StrContains(tensor_name, "embeddings") &&
                       !absl::StrContains(tensor_name, "wte") &&
                       !absl::StrContains(tensor_name, "wpe");
    const TestTensor tensor =
        packs ? InPanels(original, block_columns) : original;
    if (packs) {
      absl::StrAppend(
          &metadata, metadata.empty() ? "" : ",", "\"",
          ColumnBlocksKey(tensor_name), "\":\"",
          ColumnBlocksText(original.shape[0], original.shape[1], block_columns),
          "\"");
    }
    const DType stored = is_matrix ? type : DType::kF32;
    const size_t begin = data.size();
    AppendStored(tensor.values, stored, &data);
    absl::StrAppend(&header, ",\"", tensor_name, "\":{\"dtype\":\"",
                    StoredName(stored), "\",\"shape\":[",
                    absl::StrJoin(tensor.shape, ","), "],\"data_offsets\":[",
                    begin, ",", data.size(), "]}");
  }
  header = absl::StrCat("{\"__metadata__\":{", metadata, "}", header, "}");
  while (header.size() % 8 != 0) header += ' ';
  std::ofstream(folder + "/model.safetensors", std::ios::binary)
      << SafetensorsBytes(header, data);
  return folder;
}

std::vector<double> EncodeReference(const TestCheckpoint& checkpoint,
                                    const std::vector<int32_t>& ids,
                                    const std::vector<int32_t>& token_types) {
  const ReferenceModel model(checkpoint);
  Rows states = model.Embed(ids, token_types);
  for (int64_t layer = 0; layer < checkpoint.config.layers; ++layer) {
    states = model.Layer(states, layer);
  }
  std::vector<double> flat;
  for (const auto& row : states) {
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

}  // namespace footprint
