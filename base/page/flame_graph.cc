#include "footprint/base/page/flame_graph.h"

#include <cmath>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "footprint/base/page/chart_drawing.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace page_internal {

const char kFlameGraphStyle[] = R"css(
.flame-tools { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem;
  align-items: center; margin: 0 0 .6rem; font-size: .9rem; }
.flame-tools fieldset { border: 0; margin: 0; padding: 0; display: flex;
  flex-wrap: wrap; gap: .35rem; }
.flame-tools legend { float: left; padding: .25rem .5rem .25rem 0;
  color: var(--soft); }
.flame-tools fieldset label { padding: .25rem .8rem; border-radius: 999px;
  border: 1px solid var(--rule); cursor: pointer; position: relative; }
.flame-tools fieldset input { position: absolute; opacity: 0; }
.flame-tools label:has(:checked) { background: var(--ink);
  color: var(--paper); border-color: var(--ink); }
.flame-tools label:has(:focus-visible) { outline: 2px solid var(--accent);
  outline-offset: 2px; }
.flame-tools input[type=search], .flame-tools button { font: inherit;
  color: inherit; background: var(--paper); border: 1px solid var(--rule);
  border-radius: 6px; padding: .25rem .6rem; }
.flame-tools input[type=search] { width: 11rem; }
.flame-moment { width: 11rem; align-self: center; }
.flame-tools button:disabled { color: var(--soft); }
.flame-found { color: var(--soft); }
.flame-told { min-height: 4.6em; font-size: .9rem; margin: 0 0 .5rem;
  overflow-wrap: anywhere; max-width: none; }
.flame-told b { font-weight: 600; }
.flame-told span { color: var(--soft); }
.flame-frame { max-height: 34rem; overflow: hidden auto; position: relative;
  border-top: 1px solid var(--rule); }
.flame-calls { position: relative; }
.flame-calls div { position: absolute; height: 21px; overflow: hidden;
  font-size: 12px; line-height: 20px; padding: 0 4px; white-space: nowrap;
  text-overflow: ellipsis; border-radius: 2px; cursor: pointer;
  border: solid var(--paper); border-width: 0 1px 1px 0; }
.flame-calls div.slim { padding: 0; }
.flame-calls div:focus { outline: none; }
.flame-calls div:focus-visible { outline: 2px solid var(--ink);
  outline-offset: -2px; }
.flame-calls div:hover { filter: brightness(1.12); }
.flame-calls .around { opacity: .55; }
.flame-calls .faded { opacity: .25; }
.flame-calls .hit { box-shadow: inset 0 0 0 2px var(--ink); }
.flame-keys { color: var(--soft); font-size: .85rem; margin: .5rem 0 0; }
@media (hover: none) { .flame-keys { display: none; } }
)css";

}  // namespace page_internal

namespace {

using page_internal::Caption;
using page_internal::kColourCount;
using page_internal::kFlameGraphBegin;
using page_internal::Legend;
using page_internal::ScriptText;

// Gives each distinct text an index in a list.
class TextList {
 public:
  size_t Add(const std::string& text) {
    const auto [found, is_new] = indices_.emplace(text, indices_.size());
    if (is_new) {
      absl::StrAppend(&list_, list_.empty() ? "" : ",\n", ScriptText(text));
    }
    return found->second;
  }

  const std::string& list() const { return list_; }

 private:
  std::map<std::string, size_t> indices_;
  std::string list_;
};

// Returns "[1,2,3]", one value per node.
template <typename Value>
std::string Column(const FlameGraph& graph, Value value) {
  std::string column = "[";
  for (const FlameGraph::Node& node : graph.nodes) {
    absl::StrAppend(&column, column.size() == 1 ? "" : ",", value(node));
  }
  return column + "]";
}

// Returns a column per measure, which is empty if `has_values` is false.
template <typename Value, typename HasValues>
std::string ColumnsOfMeasures(const FlameGraph& graph, Value value,
                              HasValues has_values) {
  std::string columns = "[";
  for (size_t i = 0; i < graph.measures.size(); ++i) {
    absl::StrAppend(&columns, i == 0 ? "" : ",\n");
    if (!has_values(graph.measures[i])) {
      absl::StrAppend(&columns, "[]");
      continue;
    }
    absl::StrAppend(&columns, Column(graph, [&](const FlameGraph::Node& node) {
      return value(node, i);
    }));
  }
  return columns + "]";
}

int64_t ComputeSigma(const FlameGraph::Node& node, size_t measure) {
  return measure < node.sigmas.size()
             ? static_cast<int64_t>(std::llround(node.sigmas[measure]))
             : 0;
}

int64_t ComputeValue(const FlameGraph::Node& node, size_t measure) {
  return measure < node.own_values.size() ? node.own_values[measure] : 0;
}

// Returns the data that the script draws. They are columns, since most own
// values are 0.
std::string Data(const FlameGraph& graph) {
  const auto has_all = [](const FlameGraph::Measure&) { return true; };
  const auto has_sigmas = [](const FlameGraph::Measure& measure) {
    return measure.moment_ns == FlameGraph::Measure::kAll;
  };
  TextList texts;
  const std::string names =
      Column(graph, [&](const auto& node) { return texts.Add(node.name); });
  const std::string details =
      Column(graph, [&](const auto& node) { return texts.Add(node.detail); });
  std::string measures;
  for (const FlameGraph::Measure& each : graph.measures) {
    absl::StrAppend(&measures, measures.empty() ? "" : ",",
                    "{\"name\":", ScriptText(each.name), ",\"unit\":\"",
                    each.unit == FlameGraph::Measure::Unit::kBytes ? "B" : "ns",
                    "\"");
    if (each.moment_ns != FlameGraph::Measure::kAll) {
      absl::StrAppend(&measures, ",\"moment\":", each.moment_ns);
    }
    absl::StrAppend(&measures, "}");
  }
  return absl::StrCat(
      "{\"comparison\":", graph.is_comparison ? "true" : "false",
      ",\n\"measures\":[", measures, "],\n\"texts\":[", texts.list(),
      "],\n\"parents\":",
      Column(graph, [](const auto& node) { return node.parent; }),
      ",\n\"names\":", names, ",\n\"details\":", details, ",\n\"kinds\":",
      Column(graph, [](const auto& node) { return node.kind % kColourCount; }),
      ",\n\"values\":", ColumnsOfMeasures(graph, ComputeValue, has_all),
      ",\n\"sigmas\":", ColumnsOfMeasures(graph, ComputeSigma, has_sigmas),
      "}");
}

}  // namespace

std::string DrawFlameGraph(const FlameGraph& graph) {
  return absl::StrCat(
      kFlameGraphBegin, "\n", Caption(graph.title, graph.description),
      graph.is_comparison ? "" : Legend(graph.kinds),
      "<div class=\"flame-tools\" hidden></div>\n"
      "<p class=\"flame-told\" role=\"status\">The picture needs a script, "
      "which this reader does not run; the tables hold the largest "
      "figures.</p>\n<div class=\"flame-frame\" hidden>"
      "<div class=\"flame-calls\" role=\"tree\" aria-label=\"",
      EscapeForXml(graph.title),
      "\"></div></div>\n<p class=\"flame-keys\" hidden>Keys: arrows move, "
      "Enter "
      "enlarges, Escape goes back.</p>\n"
      "<script type=\"application/json\">",
      Data(graph), "</script>\n</figure>\n");
}

}  // namespace footprint
