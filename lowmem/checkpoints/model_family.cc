#include "footprint/lowmem/checkpoints/model_family.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"

namespace footprint {
namespace {

struct FamilyNames {
  ModelFamily family;
  const char* model_type;
  const char* classes;  // the beginning of the names of its classes
  // Other families, such as mixtures of experts, have classes that begin with
  // the same letters. Then the rest of the name must be one of kClassEnds.
  bool shares_classes = true;
};

constexpr FamilyNames kFamilies[] = {
    {ModelFamily::kBert, "bert", "Bert", false},
    {ModelFamily::kDistilBert, "distilbert", "DistilBert", false},
    {ModelFamily::kRoberta, "roberta", "Roberta"},
    {ModelFamily::kXlmRoberta, "xlm-roberta", "XLMRoberta"},
    {ModelFamily::kCamembert, "camembert", "Camembert"},
    {ModelFamily::kMpnet, "mpnet", "MPNet"},
    {ModelFamily::kModernBert, "modernbert", "ModernBert"},
    {ModelFamily::kNomicBert, "nomic_bert", "NomicBert"},
    {ModelFamily::kGpt2, "gpt2", "GPT2", false},
    {ModelFamily::kLlama, "llama", "Llama"},
    {ModelFamily::kMistral, "mistral", "Mistral"},
    {ModelFamily::kQwen2, "qwen2", "Qwen2"},
    {ModelFamily::kQwen3, "qwen3", "Qwen3"},
    {ModelFamily::kGemma3, "gemma3_text", "Gemma3"},
    {ModelFamily::kPhi3, "phi3", "Phi3"},
    {ModelFamily::kGemma, "gemma", "Gemma"},
    {ModelFamily::kOlmo2, "olmo2", "Olmo2"},
    {ModelFamily::kSmolLm3, "smollm3", "SmolLM3"},
    {ModelFamily::kGranite, "granite", "Granite"},
};

static_assert(sizeof(kFamilies) / sizeof(kFamilies[0]) == kModelFamilies,
              "Each family has one row, in the order of ModelFamily.");

constexpr const char* kClassEnds[] = {"Model",
                                      "ForMaskedLM",
                                      "TextModel",
                                      "ForCausalLM",
                                      "ForSequenceClassification",
                                      "ForQuestionAnswering",
                                      "ForTokenClassification"};

// Classes with BERT's keys and with positions that do not begin at 0.
constexpr const char* kRobertaClasses[] = {
    "Roberta",    "XLMRoberta",   "XLMRobertaXL", "Camembert", "MPNet",
    "Longformer", "Data2VecText", "IBert",        "Luke",      "Xmod"};

// Returns the names of the families for which `counts` is true, as text.
template <class Counts>
std::string JoinNames(const Counts& counts) {
  std::vector<std::string> names;
  for (const FamilyNames& family : kFamilies) {
    if (counts(family.family)) {
      names.push_back(absl::StrCat("\"", family.model_type, "\""));
    }
  }
  const std::string last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

std::string KnownNames() {
  return JoinNames([](ModelFamily) { return true; });
}

bool IsClassOf(absl::string_view name, const FamilyNames& family) {
  if (!absl::ConsumePrefix(&name, family.classes)) return false;
  if (!family.shares_classes) return true;
  for (const char* end : kClassEnds) {
    if (name == end) return true;
  }
  return false;
}

absl::optional<ModelFamily> FamilyOfClass(absl::string_view name) {
  for (const FamilyNames& names : kFamilies) {
    if (IsClassOf(name, names)) return names.family;
  }
  return absl::nullopt;
}

bool IsRoberta(absl::string_view name) {
  for (const char* begin : kRobertaClasses) {
    if (absl::StartsWith(name, begin)) return true;
  }
  return false;
}

// Returns whether the family's positions begin at 0.
bool HasBertsPositions(ModelFamily family) {
  return family != ModelFamily::kRoberta &&
         family != ModelFamily::kXlmRoberta &&
         family != ModelFamily::kCamembert && family != ModelFamily::kMpnet;
}

// Reports a class of another family as a contradiction. An unknown class is
// allowed, since many models are exported under one.
void CheckClasses(const std::vector<std::string>& classes, ModelFamily family,
                  ConfigReader& reader) {
  for (const std::string& name : classes) {
    const absl::optional<ModelFamily> other = FamilyOfClass(name);
    const bool is_odd = HasBertsPositions(family) && IsRoberta(name);
    if (is_odd || (other.has_value() && *other != family)) {
      reader.Fail("model_type",
                  absl::StrCat("is \"", ModelFamilyName(family),
                               "\", but architectures name \"", name,
                               "\": correct the one that is wrong"));
      return;
    }
  }
}

ModelFamily FromModelType(const std::string& type,
                          const std::vector<std::string>& classes,
                          ConfigReader& reader) {
  for (const FamilyNames& names : kFamilies) {
    if (type != names.model_type) continue;
    CheckClasses(classes, names.family, reader);
    return names.family;
  }
  reader.Refuse("model_type", type, KnownNames());
  return ModelFamily::kBert;
}

ModelFamily FromClasses(const std::vector<std::string>& classes,
                        ConfigReader& reader) {
  const absl::optional<ModelFamily> family = FamilyOfClass(classes[0]);
  if (!family.has_value()) {
    reader.Refuse("architectures", classes[0],
                  absl::StrCat("those of ", KnownNames()));
    return ModelFamily::kBert;
  }
  CheckClasses(classes, *family, reader);
  return *family;
}

// Refuses the files of other libraries' quantisation. Their tensors have other
// names and types, so the error of a missing tensor would not say why.
void RefuseQuantised(ConfigReader& reader) {
  constexpr char kKey[] = "quantization_config";
  if (!reader.Has(kKey)) return;
  ConfigReader section = reader.Section(kKey);
  const std::string method = section.TextOr("quant_method", "set");
  reader.Take(section);
  reader.Refuse(kKey, method,
                "checkpoints without it, of F32, BF16 or F16, and GGUF files: "
                "download one of these");
}

// RoBERTa's padding id is 1, and its positions begin after it.
ModelFamily FromPadding(ConfigReader& reader) {
  const bool has_berts_keys =
      reader.Has("hidden_size") && reader.Has("num_hidden_layers");
  if (has_berts_keys && reader.Has("pad_token_id") &&
      reader.NumberOr("pad_token_id", -1) == 0) {
    return ModelFamily::kBert;
  }
  reader.Fail("model_type",
              absl::StrCat("is missing, and so is architectures",
                           has_berts_keys
                               ? "; without pad_token_id 0 it may be RoBERTa, "
                                 "whose positions are others"
                               : "",
                           ": add the one that it is, of ", KnownNames()));
  return ModelFamily::kBert;
}

}  // namespace

const char* ModelFamilyName(ModelFamily family) {
  return kFamilies[static_cast<size_t>(family)].model_type;
}

std::string CausalClassName(ModelFamily family) {
  return absl::StrCat(kFamilies[static_cast<size_t>(family)].classes,
                      "ForCausalLM");
}

bool IsDecoderFamily(ModelFamily family) {
  return static_cast<int>(family) >= static_cast<int>(ModelFamily::kGpt2);
}

bool HasDecoderLayers(ModelFamily family) {
  return static_cast<int>(family) >= static_cast<int>(ModelFamily::kModernBert);
}

std::string DecoderFamilyNames() { return JoinNames(IsDecoderFamily); }

ModelFamily FindModelFamily(ConfigReader& reader) {
  RefuseQuantised(reader);
  const std::vector<std::string> classes = reader.TextsOr("architectures", {});
  const std::string type = reader.TextOr("model_type", "");
  if (!type.empty()) return FromModelType(type, classes, reader);
  if (!classes.empty()) return FromClasses(classes, reader);
  return FromPadding(reader);
}

}  // namespace footprint
