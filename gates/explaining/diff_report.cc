#include "footprint/gates/explaining/diff_report.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

using Kind = DiffNode::Kind;
using Presence = DiffNode::Presence;

bool IsBytes(MetricKind metric) {
  return UnitOfMetric(metric) == MetricUnit::kBytes;
}

std::string ExactText(MetricKind metric, const absl::optional<int64_t>& value) {
  if (!value.has_value()) return "unknown";
  return absl::StrCat(FormatCount(*value), IsBytes(metric) ? " B" : "");
}

// Returns "+1.00 MiB (+1,048,576 B, +50.0 %)", or "-12 (-3.0 %)" for a count.
std::string GrowthText(MetricKind metric, int64_t growth,
                       const absl::optional<int64_t>& before) {
  const std::string sign = growth > 0 ? "+" : "";
  std::vector<std::string> details;
  std::string text = absl::StrCat(sign, FormatCount(growth));
  if (IsBytes(metric)) {
    const std::string exact = absl::StrCat(text, " B");
    text = absl::StrCat(sign, FormatRoundedBytes(growth));
    if (text != exact) details.push_back(exact);
  }
  if (before.has_value() && *before != 0) {
    details.push_back(absl::StrFormat(
        "%+.1f %%", 100.0 * static_cast<double>(growth) /
                        std::fabs(static_cast<double>(*before))));
  }
  if (details.empty()) return text;
  return absl::StrCat(text, " (", details[0], details.size() > 1 ? ", " : "",
                      details.size() > 1 ? details[1] : "", ")");
}

const char* PresenceWord(Presence presence) {
  switch (presence) {
    case Presence::kBoth:
      return "both";
    case Presence::kAdded:
      return "added";
    case Presence::kRemoved:
      return "removed";
  }
  return "";
}

std::string FormatHead(const DiffNode& node) {
  return absl::StrCat(node.kind == Kind::kPhase ? "phase " : "", node.name,
                      node.presence == Presence::kAdded     ? "  (new)"
                      : node.presence == Presence::kRemoved ? "  (gone)"
                                                            : "");
}

bool IsSite(const DiffNode& node) {
  return node.kind == Kind::kSite || node.kind == Kind::kMapping;
}

// The lines of a tree as rows of a table.
class TreeRows {
 public:
  explicit TreeRows(ReportTable* table) : table_(*table) {}

  void Add(const DiffNode& node, size_t depth) {
    if (IsSite(node)) {
      // A site has one figure, which is on the same line.
      for (const MetricChange& change : node.changes) {
        const std::string words = DescribeChange(node, change);
        AddRow(node, depth,
               absl::StrCat(
                   FormatHead(node), "  ",
                   words.substr(words.find(' ', words.find(' ') + 1) + 1)),
               &change);
      }
      return;
    }
    AddRow(node, depth, FormatHead(node));
    for (const std::string& note : node.notes) {
      for (absl::string_view line : absl::StrSplit(note, '\n')) {
        AddRow(node, depth + 1, absl::StrCat("! ", line));
      }
    }
    for (const MetricChange& change : node.changes) {
      AddRow(node, depth + 1, DescribeChange(node, change), &change);
    }
    Kind last_kind = Kind::kPhase;
    for (const DiffNode& child : node.children) {
      if (IsSite(child) && child.kind != last_kind) {
        AddRow(node, depth + 1,
               child.kind == Kind::kSite ? "held at the peak:"
                                         : "mapped at the peak:");
      }
      last_kind = child.kind;
      Add(child, depth + (IsSite(child) ? 2 : 1));
    }
  }

 private:
  static ReportValue ToValue(MetricKind metric,
                             const absl::optional<int64_t>& value) {
    if (!value.has_value()) return ReportValue();
    return IsBytes(metric) ? BytesValue(*value) : CountValue(*value);
  }

  void AddRow(const DiffNode& node, size_t depth, const std::string& line,
              const MetricChange* change = nullptr) {
    static constexpr const char* kKinds[] = {"deployment", "benchmark", "phase",
                                             "site", "mapping"};
    ReportRow row;
    row.depth = depth;
    row.cells = {TextValue(line),
                 TextValue(kKinds[static_cast<int>(node.kind)]),
                 TextValue(node.name), TextValue(PresenceWord(node.presence))};
    row.cells.resize(table_.columns.size());
    if (change != nullptr) {
      row.cells[4] = TextValue(MetricKind_Name(change->metric));
      row.cells[5] = ToValue(change->metric, change->before);
      row.cells[6] = ToValue(change->metric, change->after);
      row.cells[7] = ToValue(change->metric, ComputeGrowth(node, *change));
    }
    table_.rows.push_back(std::move(row));
  }

  ReportTable& table_;
};

}  // namespace

std::string DescribeChange(const DiffNode& node, const MetricChange& change) {
  const absl::string_view metric = ShortNameOfMetric(change.metric);
  if (node.presence != Presence::kBoth) {
    const bool is_new = node.presence == Presence::kAdded;
    return absl::StrCat(
        metric, " ",
        FormatMetricValue(change.metric,
                          (is_new ? change.after : change.before).value_or(0)));
  }
  const std::string values =
      absl::StrCat(ExactText(change.metric, change.before), " -> ",
                   ExactText(change.metric, change.after));
  const absl::optional<int64_t> growth = ComputeGrowth(node, change);
  if (!growth.has_value()) return absl::StrCat(metric, " ", values);
  return absl::StrCat(metric, " ",
                      GrowthText(change.metric, *growth, change.before), ": ",
                      values);
}

ReportTable MakeDiffTable(const DiffNode& node) {
  ReportTable table;
  table.heading = node.name;
  table.is_list = true;
  table.columns = {{"line"}};
  for (const char* name :
       {"kind", "name", "presence", "metric", "before", "after", "growth"}) {
    table.columns.push_back({name, ReportUnit::kText, /*is_detail=*/true});
  }
  TreeRows(&table).Add(node, 0);
  table.text_rows = table.rows.size();
  return table;
}

Report MakeDiffReport(const ProfileDiff& diff) {
  Report report;
  int grown = 0;
  int shrunk = 0;
  for (const DiffNode& deployment : diff.deployments) {
    report.tables.push_back(MakeDiffTable(deployment));
    const MetricChange* const change = MainChange(deployment);
    if (change == nullptr) continue;
    const int64_t growth = ComputeGrowth(deployment, *change).value_or(0);
    grown += growth > 0 ? 1 : 0;
    shrunk += growth < 0 ? 1 : 0;
  }
  const size_t count = diff.deployments.size();
  report.figures.push_back({"same deployments", CountValue(diff.same_count)});
  report.figures.back().is_detail = true;
  report.summary =
      count == 0 ? absl::StrCat("same: ", diff.same_count, " deployments")
                 : absl::StrCat("differs: ", count, " of ",
                                count + static_cast<size_t>(diff.same_count),
                                " deployments; the highest peak of ", grown,
                                " grew, of ", shrunk, " shrank");
  return report;
}

}  // namespace footprint
