#include "footprint/gates/explaining/diff_text.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/wrap_text.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;
using Kind = DiffNode::Kind;
using Presence = DiffNode::Presence;

constexpr size_t kStep = 2;

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
  return absl::StrCat(node.kind == Kind::kPhase ? "phase " : "",
                      EscapeForTerminal(node.name),
                      node.presence == Presence::kAdded     ? "  (new)"
                      : node.presence == Presence::kRemoved ? "  (gone)"
                                                            : "");
}

void AppendLines(const DiffNode& node, size_t indent,
                 std::vector<std::string>* lines) {
  const std::string blanks(indent, ' ');
  if (node.kind == Kind::kSite) {
    // A site has one figure, which is on the same line.
    for (const MetricChange& change : node.changes) {
      const std::string words = DescribeChange(node, change);
      lines->push_back(
          absl::StrCat(blanks, FormatHead(node), "  ",
                       words.substr(words.find(' ', words.find(' ') + 1) + 1)));
    }
    return;
  }
  lines->push_back(blanks + FormatHead(node));
  const std::string inner(indent + kStep, ' ');
  for (const std::string& note : node.notes) {
    for (absl::string_view line : absl::StrSplit(note, '\n')) {
      lines->push_back(absl::StrCat(inner, "! ", EscapeForTerminal(line)));
    }
  }
  for (const MetricChange& change : node.changes) {
    lines->push_back(inner + DescribeChange(node, change));
  }
  bool has_sites = false;
  for (const DiffNode& child : node.children) {
    const bool is_site = child.kind == Kind::kSite;
    if (is_site && !has_sites) lines->push_back(inner + "held at the peak:");
    has_sites |= is_site;
    AppendLines(child, indent + (is_site ? 2 * kStep : kStep), lines);
  }
}

Json ToJson(const absl::optional<int64_t>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

Json ToJson(const DiffNode& node) {
  static constexpr const char* kKinds[] = {"deployment", "benchmark", "phase",
                                           "site"};
  Json changes = Json::array();
  for (const MetricChange& change : node.changes) {
    changes.push_back({{"metric", MetricKind_Name(change.metric)},
                       {"before", ToJson(change.before)},
                       {"after", ToJson(change.after)},
                       {"growth", ToJson(ComputeGrowth(node, change))}});
  }
  Json children = Json::array();
  for (const DiffNode& child : node.children) children.push_back(ToJson(child));
  return {{"kind", kKinds[static_cast<int>(node.kind)]},
          {"name", node.name},
          {"presence", PresenceWord(node.presence)},
          {"changes", changes},
          {"children", children},
          {"notes", node.notes}};
}

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

std::vector<std::string> DiffLines(const DiffNode& node, size_t indent) {
  std::vector<std::string> lines;
  AppendLines(node, indent, &lines);
  return lines;
}

std::string WriteDiffText(const ProfileDiff& diff,
                          const ReportTextOptions& options) {
  constexpr char kBold[] = "\x1b[1m";
  constexpr char kPlain[] = "\x1b[0m";
  std::string text;
  int grown = 0;
  int shrunk = 0;
  for (const DiffNode& deployment : diff.deployments) {
    for (const std::string& line : DiffLines(deployment, 0)) {
      const bool is_head = line[0] != ' ' && options.has_colour;
      const size_t indent = line.find_first_not_of(' ');
      absl::StrAppend(&text, is_head ? kBold : "",
                      WrapText(line, options.width, indent + 2 * kStep),
                      is_head ? kPlain : "", "\n");
    }
    text += "\n";
    const MetricChange* const change = MainChange(deployment);
    if (change == nullptr) continue;
    const int64_t growth = ComputeGrowth(deployment, *change).value_or(0);
    grown += growth > 0 ? 1 : 0;
    shrunk += growth < 0 ? 1 : 0;
  }
  const size_t count = diff.deployments.size();
  if (count == 0) {
    return absl::StrCat("same: ", diff.same_count, " deployments\n");
  }
  absl::StrAppend(
      &text,
      WrapText(absl::StrCat("differs: ", count, " of ",
                            count + static_cast<size_t>(diff.same_count),
                            " deployments; the highest peak of ", grown,
                            " grew, of ", shrunk, " shrank"),
               options.width, kStep),
      "\n");
  return text;
}

std::string WriteDiffJson(const ProfileDiff& diff) {
  constexpr int kIndent = 2;
  Json deployments = Json::array();
  for (const DiffNode& node : diff.deployments) {
    deployments.push_back(ToJson(node));
  }
  const Json json = {{"deployments", deployments},
                     {"same_deployments", diff.same_count}};
  return json.dump(kIndent, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace footprint
