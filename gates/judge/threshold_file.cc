#include "footprint/gates/judge/threshold_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "footprint/base/text/octal_numbers.h"
#include "footprint/base/text/text_format_errors.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/limit_history.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/written_limit.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"

namespace footprint {
namespace {

using ::google::protobuf::TextFormat;

constexpr char kByteOrderMark[] = "\xEF\xBB\xBF";

// Converts the errors of text format to problems of one file.
class ProblemCollector : public TextFormatErrors {
 public:
  explicit ProblemCollector(ThresholdSource* source) : source_(source) {}

  // Line and column count from 0; a negative line stands for the whole file.
  void Add(int line, int column, const std::string& message) override {
    Problem problem;
    problem.set_decision(BAD_CONFIGURATION);
    problem.set_location(
        line < 0 ? source_->path
                 : absl::StrCat(source_->path, ":", line + 1, ":", column + 1));
    problem.set_message(message);
    source_->problems.push_back(problem);
  }

 private:
  ThresholdSource* source_;
};

// Returns the value of "# KEY value" among the comments at the start of a text,
// or nullopt.
absl::optional<std::string> FindHeader(absl::string_view text,
                                       absl::string_view key) {
  absl::ConsumePrefix(&text, kByteOrderMark);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    if (!absl::ConsumePrefix(&line, "#")) break;
    line = absl::StripLeadingAsciiWhitespace(line);
    if (!absl::ConsumePrefix(&line, key)) continue;
    return std::string(absl::StripAsciiWhitespace(line));
  }
  return absl::nullopt;
}

constexpr char kSchemaKey[] = "proto-file:";
constexpr char kMessageKey[] = "proto-message:";

constexpr char kSchema[] = "gates/judge/gate.proto";
constexpr char kMessage[] = "footprint.ThresholdFile";

bool IsSchema(const std::string& name) {
  return name == kSchema || name == absl::StrCat("footprint/", kSchema);
}

bool IsMessage(const std::string& name) { return name == kMessage; }

// Checks line ends and header before the parser meets fields that it may not
// know. Returns false if the text must not be parsed.
bool CheckFileKind(absl::string_view text, ProblemCollector* problems) {
  for (size_t at = text.find('\r'); at != absl::string_view::npos;
       at = text.find('\r', at + 1)) {
    if (text.substr(at, 2) == absl::string_view("\r\n")) continue;
    problems->Add(-1, 0,
                  "has a carriage return that ends no CRLF line, so a comment "
                  "might swallow what follows; save it with LF or CRLF");
    return false;
  }
  if (!IsSchema(FindHeader(text, kSchemaKey).value_or(kSchema)) ||
      !IsMessage(FindHeader(text, kMessageKey).value_or(kMessage))) {
    problems->Add(
        0, 0,
        absl::StrCat("is marked as another file; a threshold file "
                     "says \"# ",
                     kSchemaKey, " ", kSchema, "\" and \"# ", kMessageKey, " ",
                     kMessage, "\" in its first lines, or nothing"));
    return false;
  }
  return true;
}

// Reports a file of a newer schema as newer, not as full of unknown fields.
bool IsNewer(const std::string& text, ProblemCollector* problems) {
  ThresholdSource ignored;
  ProblemCollector ignored_problems(&ignored);
  ThresholdFile file;
  TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.RecordErrorsTo(&ignored_problems);
  parser.ParseFromString(text, &file);
  if (file.schema_version() <= kThresholdSchemaVersion) return false;
  problems->Add(
      -1, 0,
      absl::StrCat("has schema version ", file.schema_version(),
                   ", and this program reads up to ", kThresholdSchemaVersion,
                   "; update Footprint to the version that wrote it"));
  return true;
}

// Returns false if the parser would read a number with leading zeros as octal.
bool CheckNumbers(absl::string_view text, ProblemCollector* problems) {
  const std::vector<OctalNumber> numbers = FindOctalNumbers(text);
  for (const OctalNumber& number : numbers) {
    problems->Add(number.line, number.column, number.message);
  }
  return numbers.empty();
}

// Checks one threshold after the other; a problem has the location of its
// field.
class ThresholdChecker {
 public:
  // Sets the numbers of the written limits in `file`.
  ThresholdChecker(ThresholdFile* file,
                   const TextFormat::ParseInfoTree& locations,
                   bool is_history_checked, ThresholdSource* source,
                   ProblemCollector* problems)
      : file_(*file),
        locations_(locations),
        is_history_checked_(is_history_checked),
        source_(source),
        problems_(problems) {}

  void CheckAll() {
    CheckFile();
    const auto* field =
        ThresholdFile::descriptor()->FindFieldByName("threshold");
    for (int i = 0; i < file_.threshold_size(); ++i) {
      const auto location = locations_.GetLocation(field, i);
      fields_ = locations_.GetTreeForNested(field, i);
      location_ = location;
      source_->lines.push_back(location.line + 1);
      if (location.line < 0 || fields_ == nullptr) {
        problems_->Add(-1, 0,
                       "has thresholds in a list; write each as a block of its "
                       "own: threshold { ... }");
        return;
      }
      if (Resolve(file_.mutable_threshold(i))) Check(file_.threshold(i), i);
    }
    for (int i = 0; i < file_.exemption_size(); ++i) CheckExemption(i);
  }

 private:
  void CheckFile() {
    if (file_.schema_version() < 0) {
      problems_->Add(-1, 0,
                     "has a schema version below zero; write \"schema_version: "
                     "1\", or leave it out");
    }
    if (file_.threshold_size() == 0 && file_.exemption_size() == 0) {
      problems_->Add(-1, 0,
                     "holds no threshold, so it would judge nothing; add one, "
                     "or take the file out of the gate");
    }
    if (file_.has_environment() && file_.environment().ByteSizeLong() == 0) {
      problems_->Add(-1, 0,
                     "has an empty environment; copy it from a profile with "
                     "the update command's --environment");
    }
    CheckHeadroom();
  }

  void CheckHeadroom() {
    const Headroom& headroom = file_.headroom();
    // A comparison with NaN is false, so NaN is not good.
    const bool is_good = !file_.has_headroom() || headroom.exact() ||
                         (headroom.has_percent() && headroom.percent() >= 0 &&
                          std::isfinite(headroom.percent())) ||
                         (headroom.has_bytes() && headroom.bytes() >= 0);
    if (is_good) return;
    const auto location = locations_.GetLocation(
        ThresholdFile::descriptor()->FindFieldByName("headroom"), -1);
    problems_->Add(location.line, location.column,
                   "headroom is not a policy; give exact: true, percent: 10 or "
                   "bytes: 4096, none below zero, or take it away: then a "
                   "maximum that holds stays as it is");
  }

  void CheckExemption(int index) {
    const Exemption& exemption = file_.exemption(index);
    const auto* field =
        ThresholdFile::descriptor()->FindFieldByName("exemption");
    location_ = locations_.GetLocation(field, index);
    fields_ = locations_.GetTreeForNested(field, index);
    source_->exemption_lines.push_back(location_.line + 1);
    if (location_.line < 0 || fields_ == nullptr) {
      problems_->Add(-1, 0,
                     "has exemptions in a list; write each as a block of its "
                     "own: exemption { ... }");
      return;
    }
    if (exemption.selector().label().empty() ||
        !exemption.selector().phase().empty()) {
      Add("",
          "exempts no benchmark: give selector { label: \"//package:target\" "
          "benchmark: \"...\" }, without a phase");
    }
    CheckGlobs("", exemption.selector());
    if (!IsReason(exemption.reason())) {
      Add("", "gives no reason; say why this needs no limit");
    }
  }

  // Sets the numbers that written limits mean. Returns false if there is a
  // mistake in them.
  bool Resolve(Threshold* threshold) {
    const std::vector<RuleMistake> mistakes = ResolveWrittenLimits(threshold);
    for (const RuleMistake& mistake : mistakes) {
      Add(mistake.field, mistake.message);
    }
    return mistakes.empty();
  }

  void Check(const Threshold& threshold, int index) {
    if (threshold.selector().label().empty()) {
      Add("selector",
          "selects nothing: give selector { label: \"//package:target\" }");
    }
    CheckGlobs("selector", threshold.selector());
    if (UnitOfMetric(threshold.metric()) == MetricUnit::kNone) {
      Add("metric",
          "names no known metric; for example metric: PEAK_LIVE_USABLE_BYTES");
      return;
    }
    if (!Severity_IsValid(threshold.severity())) {
      Add("severity", "is not a severity; use BLOCK, WARN or AUDIT");
    }
    if (threshold.has_benchmark_count() && threshold.benchmark_count() < 1) {
      Add("benchmark_count",
          absl::StrCat("benchmark_count is ", threshold.benchmark_count(),
                       "; it is the number of benchmarks that the selector "
                       "names, at least 1"));
    }
    CheckRules(threshold);
    CheckUnique(threshold, index);
    if (!is_history_checked_) return;
    for (const HistoryProblem& problem :
         CheckHistory(threshold, file_.recorded())) {
      AddOfHistory(problem);
    }
  }

  void CheckGlobs(const char* field, const Selector& selector) {
    for (const std::string* glob :
         {&selector.label(), &selector.benchmark(), &selector.phase()}) {
      if (IsGlob(*glob)) continue;
      Add(field,
          absl::StrCat(field, field[0] == '\0' ? "" : " ", "names ", *glob,
                       ", which has a backslash before what needs none; a name "
                       "with a star has \\*, one with a backslash \\\\, in the "
                       "file's quotes \"\\\\*\" and \"\\\\\\\\\""));
    }
  }

  void CheckRules(const Threshold& threshold) {
    const Selector* const baseline = FindBaseline(threshold);
    if (baseline != nullptr) CheckGlobs("max_ratio", *baseline);
    for (const RuleMistake& mistake :
         FindRuleMistakes(threshold, file_.has_environment())) {
      Add(mistake.field, mistake.message);
    }
  }

  static std::string MakeHeldKey(const Threshold& threshold, const char* sort) {
    std::vector<std::string> arguments;
    for (const Argument& argument : threshold.selector().arguments()) {
      arguments.push_back(
          absl::StrCat(argument.name(), "\n", argument.value()));
    }
    std::sort(arguments.begin(), arguments.end());
    std::string key = absl::StrCat(sort, "\n", threshold.metric(), "\n",
                                   threshold.selector().label(), "\n",
                                   threshold.selector().benchmark(), "\n",
                                   threshold.selector().phase());
    for (const std::string& argument : arguments) {
      absl::StrAppend(&key, "\n", argument);
    }
    return key;
  }

  // Reports only the first rule that two thresholds share: the same two
  // thresholds may share more.
  void CheckUnique(const Threshold& threshold, int index) {
    for (const Rule* rule : AllRules()) {
      if (!rule->IsIn(threshold)) continue;
      const auto [first, is_new] =
          index_by_key_.emplace(MakeHeldKey(threshold, rule->name()), index);
      if (is_new) continue;
      Add("", absl::StrCat("is a second ", rule->name(), " for ",
                           DescribeSelector(threshold.selector()), " ",
                           SchemaNameOfMetric(threshold.metric()),
                           "; the first is at ",
                           source_->DescribeLocation(first->second),
                           "; keep one of them"));
      return;
    }
  }

  void AddOfHistory(const HistoryProblem& problem) {
    auto location = location_;
    if (problem.entry >= 0) {
      const auto of_entry = fields_->GetLocation(
          Threshold::descriptor()->FindFieldByName("history"), problem.entry);
      if (of_entry.line >= 0) location = of_entry;
    }
    problems_->Add(location.line, location.column, problem.message);
  }

  // Adds a problem at `field` of the current threshold if that is written, else
  // at the threshold's start.
  void Add(const std::string& field, const std::string& message) {
    auto location = location_;
    const auto* descriptor = Threshold::descriptor()->FindFieldByName(field);
    if (descriptor != nullptr) {
      const auto of_field =
          fields_->GetLocation(descriptor, descriptor->is_repeated() ? 0 : -1);
      if (of_field.line >= 0) location = of_field;
    }
    problems_->Add(location.line, location.column, message);
  }

  ThresholdFile& file_;
  const TextFormat::ParseInfoTree& locations_;
  const bool is_history_checked_;
  ThresholdSource* const source_;
  ProblemCollector* const problems_;
  TextFormat::ParseInfoTree* fields_ = nullptr;
  TextFormat::ParseLocation location_;
  std::map<std::string, int> index_by_key_;
};

}  // namespace

std::string ThresholdSource::DescribeLocation(int threshold) const {
  return absl::StrCat(path, ":", lines[static_cast<size_t>(threshold)]);
}

std::string ThresholdSource::LocationOfExemption(int exemption) const {
  return absl::StrCat(path, ":",
                      exemption_lines[static_cast<size_t>(exemption)]);
}

bool IsMarkedAsThresholds(absl::string_view text) {
  return IsSchema(FindHeader(text, kSchemaKey).value_or("")) &&
         IsMessage(FindHeader(text, kMessageKey).value_or(""));
}

int ByteOrderMarkLength(absl::string_view text) {
  return absl::ConsumePrefix(&text, kByteOrderMark) ? 3 : 0;
}

ThresholdSource ParseThresholdFile(absl::string_view path,
                                   absl::string_view text,
                                   TextFormat::ParseInfoTree* locations,
                                   bool is_history_checked) {
  ThresholdSource source;
  source.path = std::string(path);
  ProblemCollector problems(&source);
  absl::ConsumePrefix(&text, kByteOrderMark);
  if (text.empty()) {
    problems.Add(-1, 0, "is empty; restore it, or take it out of the gate");
    return source;
  }
  const std::string copy(text);
  if (!CheckFileKind(text, &problems) || IsNewer(copy, &problems) ||
      !CheckNumbers(copy, &problems)) {
    return source;
  }
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&problems);
  parser.WriteLocationsTo(locations);
  if (!parser.ParseFromString(copy, &source.file)) {
    if (source.problems.empty()) problems.Add(-1, 0, "cannot be parsed");
    return source;
  }
  ThresholdChecker(&source.file, *locations, is_history_checked, &source,
                   &problems)
      .CheckAll();
  return source;
}

ThresholdSource ParseThresholdFile(absl::string_view path,
                                   absl::string_view text) {
  TextFormat::ParseInfoTree locations;
  return ParseThresholdFile(path, text, &locations);
}

}  // namespace footprint
