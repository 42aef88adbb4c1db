#include "footprint/lowmem/text/text_template.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/text/json_pattern.h"

namespace footprint {
namespace {

using Json = nlohmann::json;

int32_t TypeOf(const Json& part) {
  return JsonId(JsonMember(part, "type_id")).value_or(0);
}

}  // namespace

absl::StatusOr<TextTemplate> TextTemplate::Parse(const Json& json) {
  TextTemplate around;
  const absl::Status status = around.Add(json);
  if (!status.ok()) return status;
  return around;
}

absl::Status TextTemplate::Add(const Json& json) {
  if (json.is_null()) return absl::OkStatus();
  const std::string type = JsonTextOr(json, "type", "");
  if (type == "ByteLevel") return absl::OkStatus();
  if (type == "Sequence") {
    for (const Json& step : JsonMember(json, "processors")) {
      const absl::Status status = Add(step);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  if (type == "BertProcessing") return AddPairOfIds(json, false);
  if (type == "RobertaProcessing") return AddPairOfIds(json, true);
  if (type != "TemplateProcessing") {
    return absl::UnimplementedError(absl::StrCat(
        "post_processor \"", type,
        "\" is unknown; known are Sequence, ByteLevel, TemplateProcessing, "
        "BertProcessing and RobertaProcessing"));
  }
  const Json& special = JsonMember(json, "special_tokens");
  const auto text = ReadParts(JsonMember(json, "single"), special);
  if (!text.ok()) return text.status();
  // A GGUF file has no template for a pair: the texts follow each other.
  const Json& pair_json = JsonMember(json, "pair");
  const absl::StatusOr<Parts> pair =
      pair_json.is_null() ? Parts{{}, {Part::Kind::kSecond, 0, 1}}
                          : ReadParts(pair_json, special);
  if (!pair.ok()) return pair.status();
  Surround(*text, *pair);
  return absl::OkStatus();
}

// Reads a list such as
//
//   [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A"}}]
absl::StatusOr<TextTemplate::Parts> TextTemplate::ReadParts(
    const Json& list, const Json& special) {
  Parts parts;
  for (const Json& json : list) {
    const Json& sequence = JsonMember(json, "Sequence");
    if (!sequence.is_null()) {
      const bool is_second = JsonTextOr(sequence, "id", "A") == "B";
      parts.push_back({is_second ? Part::Kind::kSecond : Part::Kind::kFirst, 0,
                       TypeOf(sequence)});
      continue;
    }
    const Json& token = JsonMember(json, "SpecialToken");
    const std::string name = JsonTextOr(token, "id", "");
    const Json& ids = JsonMember(JsonMember(special, name), "ids");
    for (const Json& json_id : ids) {
      const absl::optional<int32_t> id = JsonId(json_id);
      if (!id.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrCat("post_processor has an id of its special token \"",
                         name, "\" that is no number of a word"));
      }
      parts.push_back({Part::Kind::kId, *id, TypeOf(token)});
    }
    if (ids.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "post_processor has no ids of its special token \"", name, "\""));
    }
  }
  return parts;
}

absl::Status TextTemplate::AddPairOfIds(const Json& json, bool is_roberta) {
  const auto id_of = [&json](const char* key) {
    const Json& word = JsonMember(json, key);
    return word.is_array() && word.size() == 2 ? JsonId(word[1])
                                               : absl::nullopt;
  };
  const absl::optional<int32_t> cls = id_of("cls");
  const absl::optional<int32_t> sep = id_of("sep");
  if (!cls.has_value() || !sep.has_value()) {
    return absl::InvalidArgumentError("post_processor has no cls and sep");
  }
  const Parts text = {
      {Part::Kind::kId, *cls, 0}, {}, {Part::Kind::kId, *sep, 0}};
  // RoBERTa puts one more separator between the texts of a pair, and has no
  // types.
  const int32_t type = is_roberta ? 0 : 1;
  Parts pair = text;
  if (is_roberta) pair.push_back({Part::Kind::kId, *sep, 0});
  pair.push_back({Part::Kind::kSecond, 0, type});
  pair.push_back({Part::Kind::kId, *sep, type});
  Surround(text, pair);
  return absl::OkStatus();
}

// Puts the new parts around the existing ones, which take the place of the
// text.
void TextTemplate::Surround(const Parts& text, const Parts& pair) {
  Parts whole;
  for (const Part& part : text) {
    if (part.kind == Part::Kind::kId) {
      whole.push_back(part);
      continue;
    }
    for (Part inner : text_) {
      inner.type = part.type;
      whole.push_back(inner);
    }
  }
  text_ = std::move(whole);
  pair_ = pair;
  ++templates_;
}

TypedIds TextTemplate::JoinParts(const Parts& parts,
                                 absl::Span<const int32_t> first,
                                 absl::Span<const int32_t> second) {
  TypedIds joined;
  for (const Part& part : parts) {
    const absl::Span<const int32_t> ids =
        part.kind == Part::Kind::kId      ? absl::MakeConstSpan(&part.id, 1)
        : part.kind == Part::Kind::kFirst ? first
                                          : second;
    joined.ids.insert(joined.ids.end(), ids.begin(), ids.end());
    joined.types.insert(joined.types.end(), ids.size(), part.type);
  }
  return joined;
}

TypedIds TextTemplate::Join(absl::Span<const int32_t> text) const {
  return JoinParts(text_, text, {});
}

absl::StatusOr<TypedIds> TextTemplate::Join(
    absl::Span<const int32_t> first, absl::Span<const int32_t> second) const {
  if (templates_ > 1) {
    return absl::UnimplementedError(
        "the tokenizer has several templates one after the other; a pair of "
        "texts can only be encoded with one");
  }
  return JoinParts(pair_, first, second);
}

int64_t TextTemplate::CountAdded(bool is_pair) const {
  int64_t count = 0;
  for (const Part& part : is_pair ? pair_ : text_) {
    count += part.kind == Part::Kind::kId ? 1 : 0;
  }
  return count;
}

}  // namespace footprint
