#include "footprint/lowmem/peers/peers_report.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/page/outcome_grid.h"
#include "footprint/base/page/page.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_markdown.h"
#include "footprint/base/report/report_page.h"
#include "footprint/base/report/report_text.h"
#include "footprint/base/text/format_bytes.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::json;

constexpr char kRan[] = "ran";

PeerRun ReadRun(const Json& json) {
  PeerRun run;
  run.limit_bytes = json.at("limit_bytes").get<int64_t>();
  run.verdict = json.at("verdict").get<std::string>();
  run.detail = json.value("detail", "");
  run.wall_seconds = json.value("wall_seconds", 0.0);
  run.read_bytes = json.value("read_bytes", int64_t{0});
  const auto peak = json.find("peak_bytes");
  if (peak != json.end() && peak->is_number()) {
    run.peak_bytes = peak->get<int64_t>();
  }
  run.tokens_per_second = json.value("tokens_per_second", 0.0);
  return run;
}

PeersModel ReadModel(const Json& json) {
  PeersModel model;
  model.name = json.at("name").get<std::string>();
  model.kind = json.at("kind").get<std::string>();
  model.bytes = json.at("bytes").get<int64_t>();
  model.tokens = json.at("tokens").get<int64_t>();
  for (const Json& peer : json.at("peers")) {
    PeerRow row;
    row.peer = peer.at("peer").get<std::string>();
    row.version = peer.value("version", "");
    row.missing = peer.value("missing", "");
    row.install = peer.value("install", "");
    for (const Json& run : peer.at("runs")) row.runs.push_back(ReadRun(run));
    model.peers.push_back(std::move(row));
  }
  return model;
}

// Returns three significant digits: "0.534", "12.3", "1234".
std::string Rate(double tokens_per_second) {
  if (tokens_per_second >= 100)
    return absl::StrFormat("%.0f", tokens_per_second);
  if (tokens_per_second >= 10)
    return absl::StrFormat("%.1f", tokens_per_second);
  if (tokens_per_second >= 1) return absl::StrFormat("%.2f", tokens_per_second);
  return absl::StrFormat("%.3f", tokens_per_second);
}

const PeerRun* FindRun(const PeerRow& row, int64_t limit_bytes) {
  for (const PeerRun& run : row.runs) {
    if (run.limit_bytes == limit_bytes) return &run;
  }
  return nullptr;
}

// Returns how a run ended: its tokens a second, or its verdict.
std::string Outcome(const PeerRow& row, int64_t limit_bytes) {
  if (!row.missing.empty()) return "absent";
  const PeerRun* const run = FindRun(row, limit_bytes);
  if (run == nullptr) return "-";
  return run->verdict == kRan ? Rate(run->tokens_per_second) : run->verdict;
}

std::string ModelHeading(const PeersModel& model) {
  return absl::StrCat(
      model.name, ", ", AbbreviateBytes(static_cast<double>(model.bytes)), ": ",
      model.kind == "encoder"
          ? absl::StrCat("a text of ", model.tokens, " tokens")
          : absl::StrCat(model.tokens, " tokens after a prompt"));
}

OutcomeGrid MakeGrid(const PeersTable& table) {
  OutcomeGrid grid;
  grid.title = "Tokens a second inside a limit on memory, by peer";
  grid.description = absl::StrCat(
      "The kernel enforces the limit and counts the page cache; no answer: "
      "none "
      "in ",
      absl::StrFormat("%g", table.most_seconds), " s.");
  for (const int64_t limit : table.limits) {
    grid.columns.push_back(AbbreviateBytes(static_cast<double>(limit)));
  }
  for (const PeersModel& model : table.models) {
    grid.sections.push_back({ModelHeading(model), {}});
    for (const PeerRow& row : model.peers) {
      OutcomeGrid::Row drawn{row.peer, {}};
      for (const int64_t limit : table.limits) {
        const PeerRun* const run = FindRun(row, limit);
        const bool ran = run != nullptr && run->verdict == kRan;
        drawn.cells.push_back(
            {Outcome(row, limit),
             run == nullptr
                 ? ""
                 : absl::StrCat("read ", AbbreviateBytes(static_cast<double>(
                                             run->read_bytes))),
             ran});
      }
      grid.sections.back().rows.push_back(std::move(drawn));
    }
  }
  return grid;
}

// The peers by limits: what a reader wants first.
ReportTable MakeOverview(const PeersTable& table, const PeersModel& model) {
  ReportTable overview;
  overview.heading = ModelHeading(model);
  overview.lead = overview.heading;
  overview.row_name = "peer";
  overview.columns.push_back({"tokens a second within"});
  for (const int64_t limit : table.limits) {
    overview.columns.push_back({AbbreviateBytes(static_cast<double>(limit))});
  }
  for (const PeerRow& row : model.peers) {
    ReportRow cells;
    cells.cells.push_back(TextValue(row.peer));
    for (const int64_t limit : table.limits) {
      cells.cells.push_back(TextValue(Outcome(row, limit)));
    }
    overview.rows.push_back(std::move(cells));
  }
  return overview;
}

bool HasReasons(const PeersModel& model) {
  for (const PeerRow& row : model.peers) {
    for (const PeerRun& run : row.runs) {
      if (!run.detail.empty()) return true;
    }
  }
  return false;
}

// Every run with its figures.
ReportTable MakeDetails(const PeersModel& model) {
  ReportTable details;
  details.heading = absl::StrCat(model.name, ", every run");
  details.row_name = "run";
  details.is_detail = true;  // a terminal shows the runs as they end
  details.columns = {{"limit", ReportUnit::kBytes},
                     {"time", ReportUnit::kNanoseconds},
                     {"read", ReportUnit::kBytes},
                     {"peak", ReportUnit::kBytes},
                     {"peer"},
                     {"verdict"},
                     {"tokens a second"}};
  const bool has_reasons = HasReasons(model);
  if (has_reasons) details.columns.push_back({"why"});
  for (const PeerRow& row : model.peers) {
    for (const PeerRun& run : row.runs) {
      ReportRow cells;
      cells.cells = {
          BytesValue(run.limit_bytes),
          TimeValue(static_cast<int64_t>(run.wall_seconds * 1e9)),
          BytesValue(run.read_bytes),
          run.peak_bytes < 0 ? ReportValue() : BytesValue(run.peak_bytes),
          TextValue(row.peer),
          TextValue(run.verdict),
          TextValue(run.verdict == kRan ? Rate(run.tokens_per_second) : "-")};
      if (has_reasons) cells.cells.push_back(TextValue(run.detail));
      details.rows.push_back(std::move(cells));
    }
  }
  return details;
}

// Returns the peers that did not run, each once.
std::vector<std::string> DescribeAbsent(const PeersTable& table) {
  std::vector<std::string> absent;
  for (const PeersModel& model : table.models) {
    for (const PeerRow& row : model.peers) {
      if (row.missing.empty()) continue;
      std::string text = absl::StrCat(row.peer, " is absent: ", row.missing,
                                      "; next step: ", row.install);
      if (std::find(absent.begin(), absent.end(), text) == absent.end()) {
        absent.push_back(std::move(text));
      }
    }
  }
  return absent;
}

std::vector<std::string> Remarks(const PeersTable& table) {
  return {
      "Each run is a process of its own in a control group with the limit, "
      "without swap. The group counts the page cache, and the model's files "
      "leave the page cache before each run",
      absl::StrCat("killed: the kernel killed the process for the limit; no "
                   "answer: it did not end in ",
                   absl::StrFormat("%g", table.most_seconds),
                   " s, and was ended; error: it failed otherwise; absent: it "
                   "is not installed"),
      "Tokens a second are those after the first token, or of the second pass "
      "of an encoder. The time is that of the whole process, in which it also "
      "starts and loads. Read are the bytes that came from the disk. The peak "
      "is the control group's",
      "Programs and libraries may be in the page cache already, and then count "
      "for no run"};
}

Report MakeReport(const PeersTable& table) {
  Report report;
  report.title = "lowmem and its peers inside a limit on memory";
  for (const std::string& text : DescribeAbsent(table)) {
    report.warnings.push_back({text});
  }
  report.remarks = Remarks(table);
  for (const PeersModel& model : table.models) {
    report.tables.push_back(MakeOverview(table, model));
  }
  for (const PeersModel& model : table.models) {
    report.tables.push_back(MakeDetails(model));
  }
  for (const auto& [name, text] : table.facts) {
    report.facts.push_back({name, TextValue(text)});
  }
  for (const PeersModel& model : table.models) {
    for (const PeerRow& row : model.peers) {
      const auto has_name = [&](const ReportFigure& fact) {
        return fact.name == row.peer;
      };
      if (row.version.empty() ||
          std::any_of(report.facts.begin(), report.facts.end(), has_name)) {
        continue;
      }
      report.facts.push_back({row.peer, TextValue(row.version)});
    }
  }
  report.facts.push_back({"command", CommandValue(table.command)});
  return report;
}

}  // namespace

absl::StatusOr<PeersTable> ReadPeersTable(absl::string_view text) {
  try {
    const Json json = Json::parse(text.begin(), text.end());
    PeersTable table;
    table.limits = json.at("limits").get<std::vector<int64_t>>();
    table.most_seconds = json.at("most_seconds").get<double>();
    table.command = json.at("command").get<std::string>();
    for (const Json& fact : json.at("facts")) {
      table.facts.emplace_back(fact.at(0).get<std::string>(),
                               fact.at(1).get<std::string>());
    }
    for (const Json& model : json.at("models")) {
      table.models.push_back(ReadModel(model));
    }
    return table;
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("this is not the table of lowmem_peers: ", error.what(),
                     "; give the peers.json that it wrote"));
  }
}

std::string PeersText(const PeersTable& table) {
  const Report report = MakeReport(table);
  std::string text = absl::StrCat(ReportText(report), "\n");
  for (const std::string& remark : report.remarks) {
    absl::StrAppend(&text, remark, ".\n");
  }
  return text;
}

std::string PeersMarkdown(const PeersTable& table) {
  return ReportMarkdown(MakeReport(table));
}

std::string PeersSvg(const PeersTable& table) {
  return OutcomeGridSvg(MakeGrid(table));
}

std::string PeersPage(const PeersTable& table) {
  constexpr size_t kMostRows = 500;
  const Report report = MakeReport(table);
  Page page(report.title,
            "The time, the bytes read and the end of each peer, in less and "
            "less memory.");
  AddWarnings(report, &page);
  page.AddOutcomeGrid(MakeGrid(table));
  for (const PeersModel& model : table.models) {
    AddTable(MakeDetails(model), kMostRows, &page);
  }
  AddRemarks(report, &page);
  return page.Html();
}

}  // namespace footprint
