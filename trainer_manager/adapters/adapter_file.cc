#include "footprint/trainer_manager/adapters/adapter_file.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::json;
// Keeps the order in which fields are written. It compares each new key with
// all before it, so it does not read what somebody else has written.
using OrderedJson = nlohmann::ordered_json;

// Far above any configuration.
constexpr int64_t kMostConfigBytes = int64_t{1} << 20;

// The key of the file's metadata that repeats what the configuration says, so
// that a save that was cut off between the two files is noticed.
constexpr char kOptionsKey[] = "footprint_lora";

std::string WeightsPath(absl::string_view folder) {
  return absl::StrCat(folder, "/adapter_model.safetensors");
}

std::string ConfigPath(absl::string_view folder) {
  return absl::StrCat(folder, "/adapter_config.json");
}

// An empty name would stand for the root of the file system.
absl::Status CheckFolder(absl::string_view folder) {
  if (!folder.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the folder of the adapters has no name: \".\" is the working folder");
}

// The parameters that files of adapters hold, in the model's order.
absl::StatusOr<std::vector<Parameters::Parameter>> FindFileParameters(
    const AdaptedNetwork& adapted, const Parameters& parameters) {
  std::vector<Parameters::Parameter> found;
  for (const Parameters::Parameter& parameter : parameters.all()) {
    if (adapted.file_tensors.tensors.count(std::string(parameter.name)) > 0) {
      found.push_back(parameter);
    }
  }
  if (found.size() == adapted.file_tensors.tensors.size()) return found;
  return absl::InvalidArgumentError(absl::StrCat(
      "the parameters have ", found.size(), " of the ",
      adapted.file_tensors.tensors.size(),
      " tensors that the adapters are made of: create them from a plan of "
      "AdaptedNetwork::network"));
}

std::vector<float> Transpose(const Parameters::Parameter& matrix) {
  const size_t rows = static_cast<size_t>(matrix.shape.extent(0));
  const size_t columns = static_cast<size_t>(matrix.shape.extent(1));
  std::vector<float> transposed(matrix.values.size());
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      transposed[c * rows + r] = matrix.values[r * columns + c];
    }
  }
  return transposed;
}

// The rank, alpha and scaling that matrices were trained with, for the file
// that holds them.
std::string DescribeOptions(const LoraOptions& options) {
  return absl::StrCat("r ", options.rank, ", lora_alpha ", options.alpha,
                      options.rank_stabilized ? ", use_rslora" : "");
}

absl::Status SaveWeights(const ParameterMap& map, const LoraOptions& lora,
                         absl::Span<const Parameters::Parameter> parameters,
                         const std::string& path) {
  std::vector<TensorSpec> specs;
  for (const Parameters::Parameter& parameter : parameters) {
    const absl::Status status = CheckLoadable(path, parameter);
    if (!status.ok()) return status;
    const FileTensor& in_file = map.tensors.at(std::string(parameter.name));
    Shape shape = parameter.shape;
    if (in_file.transposed) shape = {shape.extent(1), shape.extent(0)};
    specs.push_back({in_file.name, DType::kF32, shape});
  }
  SafetensorsWriterOptions options;
  options.metadata = {{"format", "pt"}, {kOptionsKey, DescribeOptions(lora)}};
  absl::StatusOr<SafetensorsWriter> writer =
      SafetensorsWriter::Create(path, specs, options);
  if (!writer.ok()) return writer.status();
  for (const Parameters::Parameter& parameter : parameters) {
    const int64_t bytes =
        static_cast<int64_t>(parameter.values.size() * sizeof(float));
    const bool transposed =
        map.tensors.at(std::string(parameter.name)).transposed;
    const absl::Status status =
        transposed ? writer->Append(Transpose(parameter).data(), bytes)
                   : writer->Append(parameter.values.data(), bytes);
    if (!status.ok()) return status;
  }
  return writer->Finish();
}

std::string WriteConfig(const AdaptedNetwork& adapted) {
  OrderedJson config;
  config["peft_type"] = "LORA";
  config["task_type"] = nullptr;
  config["base_model_name_or_path"] = nullptr;
  config["inference_mode"] = true;
  config["r"] = adapted.options.rank;
  // PEFT declares a whole number.
  const double alpha = adapted.options.alpha;
  if (alpha == std::floor(alpha) && alpha < 1e9) {
    config["lora_alpha"] = static_cast<int64_t>(alpha);
  } else {
    config["lora_alpha"] = alpha;
  }
  config["use_rslora"] = adapted.options.rank_stabilized;
  config["lora_dropout"] = 0.0;
  config["bias"] = "none";
  config["fan_in_fan_out"] = false;
  config["init_lora_weights"] = true;
  config["target_modules"] = OrderedJson::array();
  for (const Adapter& adapter : adapted.adapters) {
    config["target_modules"].push_back(adapter.module);
  }
  std::set<std::string> adapted_layers;
  std::set<std::string> others;
  for (const Adapter& adapter : adapted.adapters) {
    adapted_layers.insert(adapter.NameA());
    adapted_layers.insert(adapter.NameB());
  }
  for (const auto& entry : adapted.file_tensors.tensors) {
    if (adapted_layers.count(entry.first) > 0) continue;
    others.insert(entry.first.substr(0, entry.first.rfind('.')));
  }
  config["modules_to_save"] = nullptr;
  if (!others.empty()) config["modules_to_save"] = others;
  return config.dump(2) + "\n";
}

// Reads one field of a configuration; `*value` stays as it is if it is missing
// or null.
class ConfigReader {
 public:
  ConfigReader(const Json& config, const std::string& path)
      : config_(config), path_(path) {}

  void Read(const char* key, bool* value) {
    const Json* const field = Find(key);
    if (field == nullptr) return;
    if (!field->is_boolean()) return NoteWrong(key, "true or false");
    *value = field->get<bool>();
  }
  void Read(const char* key, int64_t* value) {
    const Json* const field = Find(key);
    if (field == nullptr) return;
    if (!field->is_number_integer()) return NoteWrong(key, "a whole number");
    *value = field->get<int64_t>();
  }
  void Read(const char* key, float* value) {
    const Json* const field = Find(key);
    if (field == nullptr) return;
    if (!field->is_number()) return NoteWrong(key, "a number");
    *value = field->get<float>();
  }
  void Read(const char* key, std::string* value) {
    const Json* const field = Find(key);
    if (field == nullptr) return;
    if (!field->is_string()) return NoteWrong(key, "a text");
    *value = field->get<std::string>();
  }
  // Notes an error if the field has another value than that of a kind that is
  // supported.
  void Require(const char* key, bool holds, absl::string_view needed) {
    if (!holds) NoteWrong(key, needed);
  }
  // Returns whether a field is missing, null, or an empty list or object.
  bool IsEmpty(const char* key) const {
    const Json* const field = Find(key);
    return field == nullptr || field->empty();
  }
  absl::Status status() const { return status_; }

 private:
  const Json* Find(const char* key) const {
    const auto found = config_.find(key);
    if (found == config_.end() || found->is_null()) return nullptr;
    return &*found;
  }
  void NoteWrong(const char* key, absl::string_view needed) {
    if (!status_.ok()) return;
    const Json* const field = Find(key);
    const std::string value =
        field == nullptr ? "missing"
        : field->is_structured()
            ? field->type_name()  // dump() would recurse as deep as the file
            : field->dump(-1, ' ', false, Json::error_handler_t::replace);
    status_ = absl::InvalidArgumentError(
        absl::StrCat(path_, ": \"", key, "\" is ", value.substr(0, 80), "; ",
                     needed, " is needed"));
  }

  const Json& config_;
  const std::string& path_;
  absl::Status status_;
};

// Returns whether PEFT changed the base's weights when it added adapters with
// this initialisation. Matrices that were trained with it are wrong beside the
// original base.
bool ChangesBase(absl::string_view initialisation) {
  for (absl::string_view prefix :
       {"pissa", "corda", "olora", "loftq", "lora_ga"}) {
    if (absl::StartsWithIgnoreCase(initialisation, prefix)) return true;
  }
  return false;
}

absl::Status CheckConfig(const AdapterConfig& config,
                         const LoraOptions& options, const std::string& path) {
  const auto refuse = [&path](absl::string_view what, auto there, auto here) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", what, " is ", there, ", and the network's is ",
                     here, ": add adapters with the file's LoraOptions"));
  };
  if (config.rank != options.rank) {
    return refuse("the rank", config.rank, options.rank);
  }
  if (config.alpha != options.alpha) {
    return refuse("alpha", config.alpha, options.alpha);
  }
  if (config.rank_stabilized != options.rank_stabilized) {
    const auto word = [](bool is_set) { return is_set ? "true" : "false"; };
    return refuse("use_rslora", word(config.rank_stabilized),
                  word(options.rank_stabilized));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AdapterConfig> ParseAdapterConfig(absl::string_view text,
                                                 const std::string& name) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is not a JSON object"));
  }
  AdapterConfig config;
  std::string type;
  std::string bias = "none";
  bool use_dora = false;
  bool lora_bias = false;
  ConfigReader reader(json, name);
  reader.Read("peft_type", &type);
  reader.Require("peft_type", type == "LORA", "LORA");
  reader.Read("r", &config.rank);
  reader.Require("r", config.rank >= 1, "a number above 0");
  reader.Read("lora_alpha", &config.alpha);
  reader.Require("lora_alpha", std::isfinite(config.alpha) && config.alpha > 0,
                 "a number above 0");
  reader.Read("use_rslora", &config.rank_stabilized);
  reader.Read("bias", &bias);
  reader.Require("bias", bias == "none", "none");
  reader.Read("use_dora", &use_dora);
  reader.Require("use_dora", !use_dora, "false");
  reader.Read("lora_bias", &lora_bias);
  reader.Require("lora_bias", !lora_bias, "false");
  // Other initialisations are true, false or the name of a distribution.
  const auto initialisation = json.find("init_lora_weights");
  if (initialisation != json.end() && initialisation->is_string()) {
    reader.Require(
        "init_lora_weights", !ChangesBase(initialisation->get<std::string>()),
        "one that leaves the base's weights as they are, or adapters "
        "that PEFT saved with path_initial_model_for_weight_"
        "conversion,");
  }
  for (const char* key : {"rank_pattern", "alpha_pattern"}) {
    reader.Require(key, reader.IsEmpty(key), "one rank and alpha for all");
  }
  if (!reader.status().ok()) return reader.status();
  const auto modules = json.find("target_modules");
  if (modules == json.end() || !modules->is_array()) return config;
  for (const Json& module : *modules) {
    if (module.is_string()) config.target_modules.push_back(module);
  }
  return config;
}

absl::StatusOr<AdapterConfig> ReadAdapterConfig(absl::string_view folder) {
  const absl::Status named = CheckFolder(folder);
  if (!named.ok()) return named;
  const std::string path = ConfigPath(folder);
  const absl::StatusOr<std::string> text =
      ReadWholeFile(path, kMostConfigBytes);
  if (!text.ok()) return text.status();
  return ParseAdapterConfig(*text, path);
}

absl::Status SaveAdapters(const AdaptedNetwork& adapted,
                          const Parameters& parameters,
                          absl::string_view folder) {
  absl::Status status = CheckFolder(folder);
  if (!status.ok()) return status;
  const auto found = FindFileParameters(adapted, parameters);
  if (!found.ok()) return found.status();
  status = SaveWeights(adapted.file_tensors, adapted.options, *found,
                       WeightsPath(folder));
  if (!status.ok()) return status;
  return ReplaceFile(ConfigPath(folder), WriteConfig(adapted), ToDisk::kFlush);
}

absl::Status LoadAdapters(absl::string_view folder,
                          const AdaptedNetwork& adapted,
                          Parameters* parameters) {
  const absl::StatusOr<AdapterConfig> config = ReadAdapterConfig(folder);
  if (!config.ok()) return config.status();
  const absl::Status status =
      CheckConfig(*config, adapted.options, ConfigPath(folder));
  if (!status.ok()) return status;
  const auto found = FindFileParameters(adapted, *parameters);
  if (!found.ok()) return found.status();
  const auto file = SafetensorsFile::Open(WeightsPath(folder));
  if (!file.ok()) return file.status();
  const auto& metadata = file->index().metadata();
  const auto saved = metadata.find(kOptionsKey);
  if (saved != metadata.end() &&
      saved->second != DescribeOptions(adapted.options)) {
    return absl::InvalidArgumentError(absl::StrCat(
        WeightsPath(folder), ": its matrices were trained with ", saved->second,
        ", and ", ConfigPath(folder), " says ",
        DescribeOptions(adapted.options),
        ": the two files are of different saves; save the adapters again"));
  }
  return LoadTensors(*file, adapted.file_tensors, *found);
}

absl::Status LoadBaseParameters(absl::string_view path, const ParameterMap& map,
                                const AdaptedNetwork& adapted,
                                Parameters* parameters) {
  absl::flat_hash_set<std::string> matrices;
  for (const Adapter& adapter : adapted.adapters) {
    matrices.insert(adapter.NameA());
    matrices.insert(adapter.NameB());
  }
  std::vector<Parameters::Parameter> base;
  for (const Parameters::Parameter& parameter : parameters->all()) {
    if (!matrices.contains(parameter.name)) base.push_back(parameter);
  }
  ParameterMap base_map = map;
  for (const std::string& name : matrices) base_map.tensors.erase(name);
  return LoadParameters(path, base_map, base);
}

}  // namespace footprint
