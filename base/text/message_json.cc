#include "footprint/base/text/message_json.h"

#include "google/protobuf/descriptor.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

using Json = nlohmann::ordered_json;

Json ToJson(const Message& message);

// Returns a field's value, or the value at `index` of a list.
Json JsonOfValue(const Message& message, const FieldDescriptor* field,
                 int index) {
  const auto* reflection = message.GetReflection();
  const bool is_list = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(is_list
                        ? reflection->GetRepeatedMessage(message, field, index)
                        : reflection->GetMessage(message, field));
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number =
          is_list ? reflection->GetRepeatedEnumValue(message, field, index)
                  : reflection->GetEnumValue(message, field);
      const auto* value = field->enum_type()->FindValueByNumber(number);
      return value == nullptr ? Json(number) : Json(std::string(value->name()));
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return is_list ? reflection->GetRepeatedString(message, field, index)
                     : reflection->GetString(message, field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return is_list ? reflection->GetRepeatedBool(message, field, index)
                     : reflection->GetBool(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return is_list ? reflection->GetRepeatedInt64(message, field, index)
                     : reflection->GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return is_list ? reflection->GetRepeatedUInt64(message, field, index)
                     : reflection->GetUInt64(message, field);
    case FieldDescriptor::CPPTYPE_INT32:
      return is_list ? reflection->GetRepeatedInt32(message, field, index)
                     : reflection->GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return is_list ? reflection->GetRepeatedUInt32(message, field, index)
                     : reflection->GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return is_list ? reflection->GetRepeatedDouble(message, field, index)
                     : reflection->GetDouble(message, field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return is_list ? reflection->GetRepeatedFloat(message, field, index)
                     : reflection->GetFloat(message, field);
  }
  return nullptr;
}

Json ToJson(const Message& message) {
  const auto* reflection = message.GetReflection();
  Json object = Json::object();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const bool is_absent =
        field->has_presence() && !reflection->HasField(message, field);
    if (is_absent || field->name() == "complete") continue;
    Json& value = object[std::string(field->name())];
    if (!field->is_repeated()) {
      value = JsonOfValue(message, field, 0);
      continue;
    }
    value = Json::array();
    for (int j = 0; j < reflection->FieldSize(message, field); ++j) {
      value.push_back(JsonOfValue(message, field, j));
    }
  }
  return object;
}

}  // namespace

std::string MessageJson(const Message& message) {
  constexpr int kIndent = 2;
  return ToJson(message).dump(kIndent, ' ', /*ensure_ascii=*/true,
                              Json::error_handler_t::replace) +
         "\n";
}

}  // namespace footprint
