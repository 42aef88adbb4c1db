#include "footprint/lowmem/checkpoints/model_family.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {
namespace {

struct FamilyNames {
  ModelFamily family;
  const char* model_type;
  const char* classes;  // how the names of its classes begin
};

constexpr FamilyNames kFamilies[] = {
    {ModelFamily::kBert, "bert", "Bert"},
    {ModelFamily::kDistilBert, "distilbert", "DistilBert"},
    {ModelFamily::kGpt2, "gpt2", "GPT2"},
};

// Classes with BERT's keys whose positions do not begin at 0.
constexpr const char* kRobertaClasses[] = {
    "Roberta",    "XLMRoberta",   "XLMRobertaXL", "Camembert", "MPNet",
    "Longformer", "Data2VecText", "IBert",        "Luke",      "Xmod"};

constexpr char kKnown[] = "\"bert\", \"distilbert\" and \"gpt2\"";

absl::optional<ModelFamily> FamilyOfClass(absl::string_view name) {
  for (const FamilyNames& names : kFamilies) {
    if (absl::StartsWith(name, names.classes)) return names.family;
  }
  return absl::nullopt;
}

bool IsRoberta(absl::string_view name) {
  for (const char* begin : kRobertaClasses) {
    if (absl::StartsWith(name, begin)) return true;
  }
  return false;
}

// A class of another family is a contradiction; an unknown one, which many
// export under, is none.
void CheckClasses(const std::vector<std::string>& classes, ModelFamily family,
                  ConfigReader& reader) {
  for (const std::string& name : classes) {
    const absl::optional<ModelFamily> other = FamilyOfClass(name);
    if (IsRoberta(name) || (other.has_value() && *other != family)) {
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
  reader.Refuse("model_type", type, kKnown);
  return ModelFamily::kBert;
}

ModelFamily FromClasses(const std::vector<std::string>& classes,
                        ConfigReader& reader) {
  const absl::optional<ModelFamily> family = FamilyOfClass(classes[0]);
  if (!family.has_value()) {
    reader.Refuse("architectures", classes[0],
                  absl::StrCat("those of ", kKnown));
    return ModelFamily::kBert;
  }
  CheckClasses(classes, *family, reader);
  return *family;
}

// RoBERTa's padding is 1, and its positions begin after that.
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
                           ": add the one that it is, of ", kKnown));
  return ModelFamily::kBert;
}

}  // namespace

const char* ModelFamilyName(ModelFamily family) {
  return kFamilies[static_cast<size_t>(family)].model_type;
}

ModelFamily FindModelFamily(ConfigReader& reader) {
  const std::vector<std::string> classes = reader.TextsOr("architectures", {});
  const std::string type = reader.TextOr("model_type", "");
  if (!type.empty()) return FromModelType(type, classes, reader);
  if (!classes.empty()) return FromClasses(classes, reader);
  return FromPadding(reader);
}

}  // namespace footprint
