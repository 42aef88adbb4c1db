#include "footprint/gates/judge/environment_difference.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;

std::string FormatField(const Environment& environment,
                        const FieldDescriptor* field) {
  const auto* reflection = environment.GetReflection();
  return field->cpp_type() == FieldDescriptor::CPPTYPE_STRING
             ? reflection->GetString(environment, field)
             : std::to_string(reflection->GetInt64(environment, field));
}

std::vector<const FieldDescriptor*> DifferingFields(const Environment& a,
                                                    const Environment& b) {
  std::vector<const FieldDescriptor*> fields;
  for (int i = 0; i < Environment::descriptor()->field_count(); ++i) {
    const FieldDescriptor* field = Environment::descriptor()->field(i);
    if (FormatField(a, field) != FormatField(b, field)) fields.push_back(field);
  }
  return fields;
}

// Keeps letters, digits and dots, and replaces each run of other characters by
// one '-'.
std::string ForFileName(absl::string_view value) {
  std::string name;
  for (char c : value) {
    const bool is_plain =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.';
    if (is_plain) {
      name += absl::ascii_tolower(static_cast<unsigned char>(c));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "none" : name;
}

}  // namespace

int CountDifferences(const Environment& a, const Environment& b) {
  // Fast path: this runs for every profile and file, and most are equal.
  const bool is_equal = a.allocator() == b.allocator() &&
                        a.SerializeAsString() == b.SerializeAsString();
  return is_equal ? 0 : static_cast<int>(DifferingFields(a, b).size());
}

std::string DescribeDifference(const Environment& here,
                               const Environment& there) {
  std::string text;
  for (const FieldDescriptor* field : DifferingFields(here, there)) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", std::string(field->name()),
                    " is \"", FormatField(here, field), "\", not \"",
                    FormatField(there, field), "\"");
  }
  return text;
}

std::string PathForEnvironment(absl::string_view path, const Environment& here,
                               const Environment& there) {
  std::string name;
  for (const FieldDescriptor* field : DifferingFields(here, there)) {
    absl::StrAppend(&name, ".", ForFileName(FormatField(here, field)));
  }
  const size_t slash = path.rfind('/');
  const size_t folder = slash == absl::string_view::npos ? 0 : slash + 1;
  const absl::string_view base = path.substr(folder);
  return absl::StrCat(path.substr(0, folder), base.substr(0, base.find('.')),
                      name, ".textproto");
}

}  // namespace footprint
