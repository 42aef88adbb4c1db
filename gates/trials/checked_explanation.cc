#include "footprint/gates/trials/checked_explanation.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace footprint {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kMostPeakSites = 20;
constexpr int kMostOfOneField = 10000;

absl::Status CheckText(const std::string& text, const FieldDescriptor& field) {
  if (static_cast<int64_t>(text.size()) > kMostTextBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a text of ", text.size(), " bytes as ", std::string(field.name())));
  }
  if (text != EscapeForProto(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("control characters in ", std::string(field.name())));
  }
  return absl::OkStatus();
}

absl::Status CheckMessage(const Message& message);

absl::Status CheckField(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const int count =
      field.is_repeated() ? reflection.FieldSize(message, &field) : 1;
  if (count > kMostOfOneField) {
    return absl::InvalidArgumentError(
        absl::StrCat(count, " of ", std::string(field.name())));
  }
  absl::Status status;
  for (int i = 0; i < count && status.ok(); ++i) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      status =
          CheckMessage(field.is_repeated()
                           ? reflection.GetRepeatedMessage(message, &field, i)
                           : reflection.GetMessage(message, &field));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      status = CheckText(field.is_repeated()
                             ? reflection.GetRepeatedString(message, &field, i)
                             : reflection.GetString(message, &field),
                         field);
    }
  }
  return status;
}

// Checks a message and those inside it. The recursion is bounded, since no
// message type contains itself.
absl::Status CheckMessage(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* each : fields) {
    const absl::Status status = CheckField(message, *each);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrialExplanation> CheckedExplanation(absl::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) > kMostExplanationBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "more than ", kMostExplanationBytes, " bytes were written"));
  }
  TrialExplanation explanation;
  if (!explanation.ParseFromArray(bytes.data(),
                                  static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("no explanation was written");
  }
  explanation.DiscardUnknownFields();
  if (explanation.heap_peak_bytes() < 0 ||
      explanation.peak_sites_size() > kMostPeakSites) {
    return absl::InvalidArgumentError("a figure that cannot be");
  }
  const absl::Status status = CheckMessage(explanation);
  if (!status.ok()) return status;
  return explanation;
}

}  // namespace footprint
