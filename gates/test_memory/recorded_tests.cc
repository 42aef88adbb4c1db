#include "footprint/gates/test_memory/recorded_tests.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/test_memory/test_outputs.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kOutputs[] = "test.outputs";

// Takes digits from the front of a text; empty if there are none.
absl::string_view ConsumeDigits(absl::string_view* text) {
  size_t count = 0;
  while (count < text->size() &&
         absl::ascii_isdigit(static_cast<unsigned char>((*text)[count]))) {
    ++count;
  }
  const absl::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

// Returns "shard 1 of 3, run 2 of 2" for a folder "shard_1_of_3_run_2_of_2",
// and nothing for the folder of a whole test.
std::string NamePart(absl::string_view folder) {
  std::vector<std::string> parts;
  for (const char* const kind : {"shard", "run"}) {
    absl::string_view rest = folder;
    if (!parts.empty()) absl::ConsumePrefix(&rest, "_");
    if (!absl::ConsumePrefix(&rest, absl::StrCat(kind, "_"))) continue;
    const absl::string_view number = ConsumeDigits(&rest);
    if (number.empty() || !absl::ConsumePrefix(&rest, "_of_")) return "";
    const absl::string_view count = ConsumeDigits(&rest);
    if (count.empty()) return "";
    parts.push_back(absl::StrCat(kind, " ", number, " of ", count));
    folder = rest;
  }
  return folder.empty() ? absl::StrJoin(parts, ", ") : "";
}

// Returns the target that a folder of test logs seems to be named for. A slash
// in its name cannot be told from one in its package's.
std::string GuessTarget(const fs::path& testlogs, fs::path folder) {
  if (!NamePart(folder.filename().string()).empty()) {
    folder = folder.parent_path();
  }
  const fs::path name = folder.lexically_relative(testlogs);
  const std::string package = name.parent_path().generic_string();
  absl::string_view inside = package;
  if (!absl::ConsumePrefix(&inside, "external/")) {
    return absl::StrCat("//", package, ":", name.filename().string());
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(inside, absl::MaxSplits('/', 1));
  return absl::StrCat("@", parts.first, "//", parts.second, ":",
                      name.filename().string());
}

// Returns the path of a target's folder below the test logs of its repository.
std::string PathOfTarget(absl::string_view target) {
  const size_t slashes = target.find("//");
  if (slashes != absl::string_view::npos) target.remove_prefix(slashes + 2);
  absl::ConsumePrefix(&target, ":");
  return absl::StrReplaceAll(target, {{":", "/"}});
}

void SetRecord(absl::StatusOr<TestRecord> record, RecordedTest* test) {
  if (!record.ok()) {
    test->why_none = std::string(record.status().message());
    return;
  }
  test->record = *std::move(record);
}

// Names a test by its record, and by its folder where it has no record.
void SetName(const fs::path& testlogs, const fs::path& folder,
             RecordedTest* test) {
  test->part = NamePart(folder.filename().string());
  if (!test->record.has_value() || test->record->target.empty()) {
    test->target = GuessTarget(testlogs, folder);
    return;
  }
  test->target = test->record->target;
  // A test may itself have the name of a part.
  if (absl::EndsWith(folder.generic_string(),
                     absl::StrCat("/", PathOfTarget(test->target)))) {
    test->part.clear();
  }
}

// The text of a member of an object of JSON; empty if there is none.
std::string TextIn(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : "";
}

bool IsTrue(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && *found == true;
}

// Bazel writes numbers that are zero as nothing.
int64_t NumberIn(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer()
             ? found->get<int64_t>()
             : 0;
}

// Returns the path of a URL "file:///a%20b".
absl::StatusOr<std::string> PathOfUri(absl::string_view uri) {
  if (!absl::ConsumePrefix(&uri, "file://")) {
    return absl::NotFoundError(
        "its outputs are not on this machine; use --remote_download_outputs=all"
        " or a local run");
  }
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    const auto is_digit = [&](size_t at) {
      return at < uri.size() &&
             absl::ascii_isxdigit(static_cast<unsigned char>(uri[at]));
    };
    if (uri[i] == '%' && is_digit(i + 1) && is_digit(i + 2)) {
      absl::StrAppend(&path, absl::HexStringToBytes(uri.substr(i + 1, 2)));
      i += 2;
    } else {
      path.push_back(uri[i]);
    }
  }
  return path;
}

// Sets the record from the outputs that an event names.
void SetRecordOfEvent(const json& result, RecordedTest* test) {
  test->why_none = "its outputs have no record";
  const auto outputs = result.find("testActionOutput");
  if (outputs == result.end() || !outputs->is_array()) return;
  for (const json& output : *outputs) {
    if (!absl::StartsWith(TextIn(output, "name"), kOutputs)) continue;
    const std::string uri = TextIn(output, "uri");
    const absl::StatusOr<std::string> path = PathOfUri(uri);
    if (!path.ok()) {
      test->why_none = std::string(path.status().message());
      continue;
    }
    const fs::path file = *path;
    test->why_none.clear();
    SetRecord(ReadRecordOfOutputs(file.filename() == kOutputs
                                      ? file.string()
                                      : file.parent_path().string()),
              test);
    if (test->record.has_value()) return;
  }
}

// How many shards, runs and attempts a target has.
using PartCounts = std::map<std::string, std::map<std::string, int64_t>>;

constexpr const char* kParts[] = {"shard", "run", "attempt"};

std::string NamePartOfEvent(const json& id, const PartCounts& counts) {
  std::vector<std::string> parts;
  for (const char* const part : kParts) {
    const int64_t count = counts.at(TextIn(id, "label")).at(part);
    if (count < 2) continue;
    parts.push_back(absl::StrCat(part, " ", NumberIn(id, part), " of ", count));
  }
  return absl::StrJoin(parts, ", ");
}

RecordedTest ToTest(const json& event, const PartCounts& counts) {
  const json& id = event["id"]["testResult"];
  const json& result = event["testResult"];
  RecordedTest test;
  test.target = TextIn(id, "label");
  test.part = NamePartOfEvent(id, counts);
  test.status = TextIn(result, "status");
  const auto execution = result.find("executionInfo");
  test.is_cached =
      IsTrue(result, "cachedLocally") ||
      (execution != result.end() && IsTrue(*execution, "cachedRemotely"));
  SetRecordOfEvent(result, &test);
  return test;
}

absl::StatusOr<json> ParseEvent(const std::string& path, size_t line,
                                absl::string_view text) {
  json event = json::parse(text.begin(), text.end(), nullptr, false);
  if (event.is_object() && event.contains("id") && event["id"].is_object()) {
    return event;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      EscapeForTerminal(path), ":", line,
      ": is no event of Bazel's, or is cut short; name the file that "
      "--build_event_json_file= wrote, when Bazel has ended"));
}

// Returns the folders of outputs below `root`, in the order of their paths.
absl::StatusOr<std::vector<fs::path>> FindOutputs(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code error;
  fs::recursive_directory_iterator each(root, error);
  for (; !error && each != fs::recursive_directory_iterator();
       each.increment(error)) {
    if (each->path().filename() != kOutputs) continue;
    each.disable_recursion_pending();
    folders.push_back(each->path());
  }
  // A table of a part of the tests would look like one of all.
  if (error) return FileError(error.value(), root.string(), "cannot be read");
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

absl::StatusOr<std::vector<RecordedTest>> FindRecordedTests(
    const std::string& testlogs) {
  std::error_code error;
  // The folder is a link in a workspace.
  const fs::path root = fs::canonical(testlogs, error);
  if (error) {
    return absl::NotFoundError(
        absl::StrCat(EscapeForTerminal(testlogs),
                     ": there is no folder of test logs; run bazel test "
                     "--config=memory_report first, or name the folder that "
                     "`bazel info bazel-testlogs` prints"));
  }
  const absl::StatusOr<std::vector<fs::path>> folders = FindOutputs(root);
  if (!folders.ok()) return folders.status();
  std::vector<RecordedTest> tests;
  for (const fs::path& folder : *folders) {
    absl::StatusOr<TestRecord> record = ReadRecordOfOutputs(folder.string());
    if (absl::IsNotFound(record.status())) continue;
    RecordedTest test;
    SetRecord(std::move(record), &test);
    SetName(root, folder.parent_path(), &test);
    tests.push_back(std::move(test));
  }
  return tests;
}

absl::StatusOr<std::vector<RecordedTest>> ReadTestEvents(
    const std::string& path) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return text.status();
  std::vector<json> results;
  PartCounts counts;
  size_t line = 0;
  bool is_whole = false;
  for (const absl::string_view each : absl::StrSplit(*text, '\n')) {
    ++line;
    if (each.empty()) continue;
    absl::StatusOr<json> event = ParseEvent(path, line, each);
    if (!event.ok()) return event.status();
    is_whole = is_whole || IsTrue(*event, "lastMessage");
    const json& ids = (*event)["id"];
    const auto id = ids.find("testResult");
    if (id == ids.end() || !event->contains("testResult")) continue;
    for (const char* const part : kParts) {
      int64_t& count = counts[TextIn(*id, "label")][part];
      count = std::max(count, NumberIn(*id, part));
    }
    results.push_back(*std::move(event));
  }
  if (!is_whole) {
    return absl::InvalidArgumentError(
        absl::StrCat(EscapeForTerminal(path),
                     ": has no last event: Bazel has not ended, or was killed; "
                     "wait for it"));
  }
  std::vector<RecordedTest> tests;
  for (const json& result : results) tests.push_back(ToTest(result, counts));
  return tests;
}

}  // namespace footprint
