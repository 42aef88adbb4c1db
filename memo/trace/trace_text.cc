#include "footprint/memo/trace/trace_text.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/message_json.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/text_table.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/trace/plan_in_words.h"

namespace footprint {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Returns the table after an empty line; an empty string if there are no rows.
std::string TableText(std::vector<TextTable::Column> columns,
                      const Rows& rows) {
  if (rows.empty()) return "";
  TextTable table(std::move(columns));
  for (const auto& row : rows) table.Fit(row);
  std::string text = absl::StrCat("\n", table.Headings());
  for (const auto& row : rows) text += table.Row(row);
  return text;
}

template <typename Names>
std::string List(const Names& names) {
  return EscapeForTerminal(absl::StrJoin(names, ", "));
}

std::string DescribeSource(const MemoPlanValue& value) {
  if (value.is_unknown()) return "unknown";
  if (value.is_guessed()) return "guessed";
  return value.is_measured() ? "measured" : "declared";
}

}  // namespace

std::string PlanText(const MemoPlan& plan) {
  const std::string words = PlanInWords(plan);
  Rows values;
  for (const MemoPlanValue& value : plan.values()) {
    values.push_back({EscapeForTerminal(value.name()),
                      value.is_unknown() ? "?" : FormatBytes(value.bytes()),
                      DescribeSource(value)});
  }
  Rows steps;
  for (const MemoPlanStep& step : plan.steps()) {
    steps.push_back({absl::StrCat(steps.size() + 1), List(step.loads()),
                     EscapeForTerminal(step.cell()), List(step.evictions())});
  }
  return absl::StrCat(
      words.empty() ? "no values, so nothing to load" : words, "\n",
      TableText({{"value"}, {"size", TextTable::kFigures}, {"known as"}},
                values),
      TableText({{"step", TextTable::kFigures},
                 {"loads before"},
                 {"benchmark"},
                 {"evicted after"}},
                steps));
}

std::string PlanJson(const MemoPlan& plan) { return MessageJson(plan); }

std::string TraceText(const MemoTrace& trace) {
  Rows events;
  for (const MemoEvent& event : trace.events()) {
    events.push_back({std::string(MemoEvent::Kind_Name(event.kind())),
                      event.bytes() == 0 ? "" : FormatBytes(event.bytes()),
                      FormatBytes(event.live_bytes()),
                      EscapeForTerminal(event.name()),
                      EscapeForTerminal(event.detail())});
  }
  return absl::StrCat(PlanText(trace.plan()),
                      TableText({{"event"},
                                 {"size", TextTable::kFigures},
                                 {"then alive", TextTable::kFigures},
                                 {"of"},
                                 {"detail"}},
                                events),
                      "\n", trace.load_count(), " loads, ",
                      trace.failed_load_count(), " failed; at most ",
                      FormatBytes(trace.peak_bytes()), " alive\n");
}

std::string TraceJson(const MemoTrace& trace) {
  MemoTrace versioned = trace;
  versioned.set_schema_version(kMemoTraceSchemaVersion);
  return MessageJson(versioned);
}

absl::Status WriteTrace(const MemoTrace& trace, const std::string& path) {
  if (absl::EndsWith(path, ".json")) {
    return WriteOutputFile(path, TraceJson(trace));
  }
  if (absl::EndsWith(path, ".txt")) {
    return WriteOutputFile(path, TraceText(trace));
  }
  return WriteMemoTraceFile(trace, path);
}

}  // namespace footprint
