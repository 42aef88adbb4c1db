#include "footprint/gates/updating/threshold_edit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/text_format_errors.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/limit_history.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::TextFormat;

// Replaces text[begin, end).
struct Splice {
  size_t begin = 0;
  size_t end = 0;
  std::string replacement;
};

// Offsets of lines and columns as text format counts them.
class TextOffsets {
 public:
  explicit TextOffsets(absl::string_view text) : text_(text) {
    line_begins_.push_back(static_cast<size_t>(ByteOrderMarkLength(text)));
    for (size_t i = line_begins_[0]; i < text.size(); ++i) {
      if (text[i] == '\n') line_begins_.push_back(i + 1);
    }
  }

  size_t FindOffset(const TextFormat::ParseLocation& location) const {
    constexpr int kTabWidth = 8;
    size_t offset = line_begins_[static_cast<size_t>(location.line)];
    for (int column = 0; column < location.column && offset < text_.size();
         ++offset) {
      column += text_[offset] == '\t' ? kTabWidth - column % kTabWidth : 1;
    }
    return offset;
  }

  size_t FindLineBegin(size_t offset) const {
    return *(
        std::upper_bound(line_begins_.begin(), line_begins_.end(), offset) - 1);
  }

 private:
  absl::string_view text_;
  std::vector<size_t> line_begins_;
};

size_t SkipSpaceAndComments(absl::string_view text, size_t at) {
  while (at < text.size()) {
    if (text[at] == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (absl::ascii_isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

size_t SkipWord(absl::string_view text, size_t at) {
  while (at < text.size() &&
         (absl::ascii_isalnum(static_cast<unsigned char>(text[at])) ||
          text[at] == '_' || text[at] == '.' || text[at] == '+' ||
          // The sign of an exponent: 1e-3.
          (text[at] == '-' && at > 0 && (text[at - 1] | 0x20) == 'e'))) {
    ++at;
  }
  return at;
}

// Returns where the quoted text at `at` ends; it may go on in further quotes.
size_t SkipText(absl::string_view text, size_t at) {
  size_t end = at;
  while (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\\') ++at;
    }
    end = std::min(at + 1, text.size());
    at = SkipSpaceAndComments(text, end);
  }
  return end;
}

// Returns the range of the value of the field "name: value" that begins at
// `at`.
Splice ValueAt(absl::string_view text, size_t at) {
  Splice splice;
  at = SkipSpaceAndComments(text, SkipWord(text, at));
  at = SkipSpaceAndComments(text, at + 1);  // the colon
  splice.begin = at;
  splice.end = SkipText(text, at);
  if (splice.end > at) return splice;
  if (at < text.size() && text[at] == '-') {
    at = SkipSpaceAndComments(text, at + 1);
  }
  splice.end = SkipWord(text, at);
  return splice;
}

std::string FindNewline(absl::string_view text) {
  return text.find("\r\n") == absl::string_view::npos ? "\n" : "\r\n";
}

// A text with its parsed messages and their locations.
class Editor {
 public:
  // When histories are checked: never, after the edit, or before and after it.
  enum class Check { kNever, kAfter, kBoth };

  Editor(absl::string_view path, absl::string_view text, Check check)
      : path_(path),
        text_(text),
        text_offsets_(text),
        is_result_checked_(check != Check::kNever),
        source_(ParseThresholdFile(path, text, &locations_,
                                   check == Check::kBoth)) {}

  // Returns the changes that make every history complete. Must be called before
  // Edit.
  std::vector<ThresholdChange> MissingEntries(absl::string_view date,
                                              absl::string_view reason) const {
    std::vector<ThresholdChange> changes;
    for (int i = 0; i < source_.file.threshold_size(); ++i) {
      ThresholdChange change;
      change.threshold = i;
      change.history = MissingEntry(source_.file.threshold(i),
                                    source_.file.recorded(), date, reason);
      if (change.history.has_value()) changes.push_back(change);
    }
    return changes;
  }

  const ThresholdSource& source() const { return source_; }

  // Fails if the text has a problem. Then thresholds may have no line.
  absl::Status CheckSource() const {
    if (source_.problems.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        source_.problems[0].location(), ": ", source_.problems[0].message()));
  }

  absl::StatusOr<std::string> Edit(
      const std::vector<ThresholdChange>& changes) {
    const absl::Status source = CheckSource();
    if (!source.ok()) return source;
    for (const ThresholdChange& change : changes) {
      absl::Status status = Apply(change);
      if (!status.ok()) return status;
    }
    std::sort(
        splices_.begin(), splices_.end(),
        [](const Splice& a, const Splice& b) { return a.begin < b.begin; });
    std::string edited;
    size_t at = 0;
    for (const Splice& splice : splices_) {
      absl::StrAppend(&edited, text_.substr(at, splice.begin - at),
                      splice.replacement);
      at = splice.end;
    }
    absl::StrAppend(&edited, text_.substr(at));
    return Verified(edited);
  }

 private:
  // Applies one change to the text (as splices) and to `source_.file`, which
  // must agree in the end.
  absl::Status Apply(const ThresholdChange& change) {
    if (change.threshold < 0 ||
        change.threshold >= source_.file.threshold_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": has no threshold number ", change.threshold));
    }
    Threshold* threshold = source_.file.mutable_threshold(change.threshold);
    absl::Status status;
    if (change.limit.has_value()) {
      status = SetNumber(change.threshold, *change.limit, change.written_limit,
                         FindLimit(*threshold), threshold);
    }
    if (status.ok() && change.minimum.has_value()) {
      status =
          SetNumber(change.threshold, *change.minimum, change.written_minimum,
                    FindNumber(*threshold, MINIMUM), threshold);
    }
    if (status.ok() && change.ratio.has_value()) {
      status = ReplaceNumber(change.threshold, "max_ratio",
                             RatioText(*change.ratio));
      threshold->mutable_max_ratio()->set_ratio(*change.ratio);
    }
    if (status.ok() && change.benchmark_count.has_value()) {
      const std::string count = absl::StrCat(*change.benchmark_count);
      status = threshold->has_benchmark_count()
                   ? ReplaceNumber(change.threshold, "benchmark_count", count)
                   : AppendField(change.threshold,
                                 absl::StrCat("benchmark_count: ", count));
      threshold->set_benchmark_count(*change.benchmark_count);
    }
    if (status.ok() && change.history.has_value()) {
      status = AppendHistory(change.threshold, *change.history);
      *threshold->add_history() = *change.history;
    }
    return status;
  }

  // Sets the number of `field`, and, if the threshold has it, the written limit
  // to `written`.
  absl::Status SetNumber(int number, int64_t value, const std::string& written,
                         const NumberField* field, Threshold* threshold) {
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(source_.DescribeLocation(number),
                       ": has no maximum or exact value, or no minimum"));
    }
    field->Set(value, threshold);
    const bool is_minimum = field->kind == MINIMUM;
    std::string* const text =
        is_minimum ? threshold->mutable_min() : threshold->mutable_max();
    if (text->empty()) {
      return ReplaceNumber(number, field->name, absl::StrCat(value));
    }
    *text = written;
    return ReplaceNumber(number, is_minimum ? "min" : "max",
                         absl::StrCat("\"", written, "\""));
  }

  const FieldDescriptor* ThresholdField() const {
    return ThresholdFile::descriptor()->FindFieldByName("threshold");
  }

  absl::Status ReplaceNumber(int number, const char* field,
                             const std::string& value) {
    const FieldDescriptor* descriptor =
        Threshold::descriptor()->FindFieldByName(field);
    const TextFormat::ParseInfoTree* tree =
        locations_.GetTreeForNested(ThresholdField(), number);
    if (descriptor->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      tree = tree->GetTreeForNested(descriptor, -1);
      descriptor = Ratio::descriptor()->FindFieldByName("ratio");
    }
    const TextFormat::ParseLocation location =
        tree == nullptr ? TextFormat::ParseLocation()
                        : tree->GetLocation(descriptor, -1);
    if (location.line < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          source_.DescribeLocation(number), ": has no ", field, " to change"));
    }
    splices_.push_back(ValueAt(text_, text_offsets_.FindOffset(location)));
    splices_.back().replacement = value;
    return absl::OkStatus();
  }

  absl::Status AppendHistory(int number, const HistoryEntry& entry) {
    TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    printer.SetUseUtf8StringEscaping(true);
    std::string fields;
    printer.PrintToString(entry, &fields);
    return AppendField(
        number,
        absl::StrCat("history { ", absl::StripAsciiWhitespace(fields), " }"));
  }

  // Inserts the line before the closing brace of the threshold: on its own line
  // if the brace has its own line.
  absl::Status AppendField(int number, const std::string& line) {
    size_t brace = text_offsets_.FindOffset(
        locations_.GetLocationRange(ThresholdField(), number).end);
    do {
      if (brace-- == 0) return absl::InternalError("no end of the threshold");
    } while (text_[brace] != '}' && text_[brace] != '>');
    const size_t line_begin = text_offsets_.FindLineBegin(brace);
    const absl::string_view indent =
        text_.substr(line_begin, brace - line_begin);
    Splice splice;
    if (absl::StripAsciiWhitespace(indent).empty()) {
      splice.begin = line_begin;
      splice.replacement = absl::StrCat(indent, "  ", line, FindNewline(text_));
    } else {
      splice.begin = brace;
      splice.replacement = absl::StrCat(
          absl::ascii_isspace(static_cast<unsigned char>(text_[brace - 1]))
              ? ""
              : " ",
          line, " ");
    }
    splice.end = splice.begin;
    splices_.push_back(splice);
    return absl::OkStatus();
  }

  // Checks that the edited text says what `source_.file` does, since a mistake
  // here would silently change a gate.
  absl::StatusOr<std::string> Verified(const std::string& edited) const {
    TextFormat::ParseInfoTree locations;
    const ThresholdSource again =
        ParseThresholdFile(path_, edited, &locations, is_result_checked_);
    if (!again.problems.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the change would make it wrong: ", again.problems[0].location(),
          ": ", again.problems[0].message()));
    }
    if (!google::protobuf::util::MessageDifferencer::Equals(again.file,
                                                            source_.file)) {
      return absl::InternalError(absl::StrCat(
          path_,
          ": the edited text differs from the requested change, so nothing was "
          "changed; edit it by hand and report this"));
    }
    return edited;
  }

  const absl::string_view path_;
  const absl::string_view text_;
  const TextOffsets text_offsets_;
  const bool is_result_checked_;
  TextFormat::ParseInfoTree locations_;
  ThresholdSource source_;
  std::vector<Splice> splices_;
};

constexpr char kHeader[] =
    "# proto-file: gates/judge/gate.proto\n"
    "# proto-message: footprint.ThresholdFile\n";

// Returns the fields of a text, which need not be a whole threshold file, or
// nullopt if it does not parse.
absl::optional<ThresholdFile> ReadFields(absl::string_view text) {
  class NoErrors : public TextFormatErrors {
    void Add(int, int, const std::string&) override {}
  };
  NoErrors errors;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  ThresholdFile file;
  if (!parser.ParseFromString(std::string(text), &file)) return absl::nullopt;
  return file;
}

std::string Print(const ThresholdFile& file) {
  TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(file, &text);
  return text;
}

}  // namespace

absl::StatusOr<std::string> EditThresholds(
    absl::string_view path, absl::string_view text,
    const std::vector<ThresholdChange>& changes) {
  return Editor(path, text, Editor::Check::kBoth).Edit(changes);
}

absl::StatusOr<RecordedChanges> RecordChangesByHand(
    absl::string_view path, absl::string_view text, absl::string_view date,
    absl::string_view reason,
    const std::function<std::string(const Threshold&)>& why_not) {
  Editor whole(path, text, Editor::Check::kAfter);
  const absl::Status source = whole.CheckSource();
  if (!source.ok()) return source;
  const std::vector<ThresholdChange> missing =
      whole.MissingEntries(date, reason);
  RecordedChanges recorded;
  std::vector<ThresholdChange> wanted;
  for (const ThresholdChange& change : missing) {
    const Threshold& threshold =
        whole.source().file.threshold(change.threshold);
    const std::string what =
        absl::StrCat(whole.source().DescribeLocation(change.threshold), ": ",
                     DescribeSelector(threshold.selector()));
    const std::string reason_against = why_not(threshold);
    if (reason_against.empty()) {
      wanted.push_back(change);
      recorded.descriptions.push_back(
          absl::StrCat(what, ": recorded what was changed by hand",
                       DescribeOtherDate(*change.history, date)));
    } else {
      recorded.left.push_back(absl::StrCat(
          what,
          " was changed by hand too, and is not recorded: ", reason_against));
    }
  }
  // Only the entries that were left out may be missing from the result.
  absl::StatusOr<std::string> edited = whole.Edit(missing);
  if (edited.ok() && !recorded.left.empty()) {
    edited = Editor(path, text, Editor::Check::kNever).Edit(wanted);
  }
  if (!edited.ok()) return edited.status();
  recorded.text = *std::move(edited);
  return recorded;
}

std::string AppendThresholds(absl::string_view text,
                             const std::vector<Threshold>& thresholds) {
  const std::string newline = FindNewline(text);
  std::string edited(text);
  if (!edited.empty() && edited.back() != '\n') edited += newline;
  for (const Threshold& threshold : thresholds) {
    ThresholdFile one;
    *one.add_threshold() = threshold;
    absl::StrAppend(&edited, newline,
                    absl::StrReplaceAll(Print(one), {{"\n", newline}}));
  }
  return edited;
}

std::string NewThresholdText(const absl::optional<Environment>& environment) {
  ThresholdFile file;
  file.set_schema_version(kThresholdSchemaVersion);
  if (environment.has_value()) *file.mutable_environment() = *environment;
  file.set_recorded(true);
  return absl::StrCat(kHeader, "\n", Print(file));
}

bool IsThresholdFileWithoutRules(absl::string_view text) {
  const absl::optional<ThresholdFile> file = ReadFields(text);
  return file.has_value() && file->threshold_size() == 0 &&
         file->exemption_size() == 0;
}

}  // namespace footprint
