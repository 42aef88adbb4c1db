#include "footprint/gates/test_memory/test_record.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 1;

constexpr std::pair<TestRecord::End, const char*> kEnds[] = {
    {TestRecord::End::kRunning, "running"},
    {TestRecord::End::kExited, "exited"},
    {TestRecord::End::kSignalled, "signalled"},
};

// The figures by their names in the file.
constexpr std::pair<const char*, int64_t TestRecord::*> kFigures[] = {
    {"peak_resident_bytes", &TestRecord::peak_resident_bytes},
    {"anonymous_bytes", &TestRecord::anonymous_bytes},
    {"file_bytes", &TestRecord::file_bytes},
    {"shared_bytes", &TestRecord::shared_bytes},
    {"process_count", &TestRecord::process_count},
    {"end_number", &TestRecord::end_number},
};

absl::Status Damaged(absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("the record is damaged: ", why, "; run the test again"));
}

absl::StatusOr<int64_t> TakeFigure(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned() ||
      found->get<uint64_t>() > uint64_t{INT64_MAX}) {
    return Damaged(absl::StrCat(name, " is no number of bytes or things"));
  }
  return found->get<int64_t>();
}

}  // namespace

std::string WriteTestRecord(const TestRecord& record) {
  Json json = {{"schema_version", kVersion}, {"target", record.target}};
  for (const auto& [name, figure] : kFigures) json[name] = record.*figure;
  for (const auto& [end, name] : kEnds) {
    if (end == record.end) json["end"] = name;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<TestRecord> ParseTestRecord(absl::string_view text) {
  if (static_cast<int64_t>(text.size()) > kMostTestRecordBytes) {
    return Damaged("it is too large");
  }
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return Damaged("it is no object of JSON");
  const absl::StatusOr<int64_t> version = TakeFigure(json, "schema_version");
  if (!version.ok()) return version.status();
  if (*version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("the record has version ", *version, ", and ", kVersion,
                     " is read here; run the tests and the report with the "
                     "same version of Footprint"));
  }
  TestRecord record;
  const auto target = json.find("target");
  const auto end = json.find("end");
  if (target == json.end() || !target->is_string() || end == json.end()) {
    return Damaged("it names no target or no end");
  }
  record.target = target->get<std::string>();
  bool has_end = false;
  for (const auto& [each, name] : kEnds) {
    if (*end != name) continue;
    record.end = each;
    has_end = true;
  }
  if (!has_end) return Damaged("its end is none that is known");
  for (const auto& [name, figure] : kFigures) {
    const absl::StatusOr<int64_t> value = TakeFigure(json, name);
    if (!value.ok()) return value.status();
    record.*figure = *value;
  }
  return record;
}

std::string DescribeTestEnd(const TestRecord& record) {
  switch (record.end) {
    case TestRecord::End::kRunning:
      return "not ended";
    case TestRecord::End::kExited:
      return record.end_number == 0
                 ? ""
                 : absl::StrCat("exit status ", record.end_number);
    case TestRecord::End::kSignalled:
      return absl::StrCat("killed by signal ", record.end_number);
  }
  return "";
}

}  // namespace footprint
