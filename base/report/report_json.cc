#include "footprint/base/report/report_json.h"

#include <utility>

#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

Json ValueJson(const ReportValue& value) {
  switch (value.unit) {
    case ReportUnit::kNothing:
    case ReportUnit::kBlank:
      return nullptr;
    case ReportUnit::kText:
      return value.text;
    case ReportUnit::kShare:
      if (value.whole == 0) return nullptr;
      return static_cast<double>(value.number) /
             static_cast<double>(value.whole);
    default:
      return value.number;
  }
}

const char* UnitName(ReportUnit unit) {
  switch (unit) {
    case ReportUnit::kBytes:
      return "bytes";
    case ReportUnit::kCount:
      return "count";
    case ReportUnit::kNanoseconds:
      return "ns";
    case ReportUnit::kShare:
      return "share";
    default:
      return "value";
  }
}

Json FigureJson(const ReportFigure& figure) {
  Json json = {{UnitName(figure.value.unit), ValueJson(figure.value)}};
  if (!figure.detail.empty()) json["detail"] = figure.detail;
  if (!figure.notes.empty()) json["notes"] = figure.notes;
  return json;
}

Json TableJson(const ReportTable& table) {
  Json rows = Json::array();
  for (const ReportRow& row : table.rows) {
    Json cells = Json::object();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      std::string key = KeyOfColumn(table.columns[i]);
      // Two columns may have one name, such as "share" after two figures.
      while (cells.contains(key)) key += "_2";
      cells[key] = ValueJson(row.cells[i]);
    }
    if (row.depth > 0) cells["depth"] = row.depth;
    rows.push_back(std::move(cells));
  }
  Json json;
  if (!table.lead.empty()) json["lead"] = table.lead;
  json["rows"] = std::move(rows);
  if (table.other_count > 0) {
    json["other_count"] = table.other_count;
    if (table.sum_column != ComparedColumn::kNone) {
      json["other_sum"] = table.other_sum;
    }
  }
  if (!table.note.empty()) json["note"] = table.note;
  return json;
}

}  // namespace

Json ReportJson(const Report& report) {
  Json warnings = Json::array();
  for (const ReportWarning& each : report.warnings) {
    warnings.push_back(each.text);
  }
  Json figures = Json::object();
  for (const ReportFigure& each : report.figures) {
    figures[KeyOfName(each.name)] = FigureJson(each);
  }
  Json tables = Json::object();
  for (const ReportTable& each : report.tables) {
    tables[KeyOfName(each.heading)] = TableJson(each);
  }
  Json json;
  if (!report.title.empty()) json["title"] = report.title;
  json["warnings"] = std::move(warnings);
  json["figures"] = std::move(figures);
  json["tables"] = std::move(tables);
  for (const Report& part : report.parts) {
    json["parts"].push_back(ReportJson(part));
  }
  if (!report.summary.empty()) json["summary"] = report.summary;
  return json;
}

}  // namespace footprint
