#include "footprint/gates/explaining/explanation_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/wrap_text.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/diff_text.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

// The most parts in a list; the rest is added up.
constexpr size_t kMostParts = 8;

const char* WordsOfSeverity(Severity severity) {
  return severity == WARN    ? "warns"
         : severity == AUDIT ? "is recorded only"
                             : "blocks";
}

template <typename Value, typename Format>
void AppendStep(bool has_old, Value old_value, bool has_new, Value new_value,
                const char* name, const Format& format,
                std::vector<std::string>* steps) {
  if (!has_new) return;
  steps->push_back(absl::StrCat(name, has_old ? format(old_value) : "",
                                has_old ? " -> " : "", format(new_value)));
}

class ExplanationText {
 public:
  ExplanationText(const GateExplanation& explanation,
                  const ReportOptions& options)
      : explanation_(explanation),
        judgement_(explanation.judgement),
        options_(options) {}

  std::string Write() {
    WriteHead();
    WriteRule();
    WriteHistory();
    WriteParts("phases", explanation_.phases);
    WriteParts("at the peak", explanation_.held_at_peak);
    WriteGrowth();
    WriteCommand();
    return text_ + "\n";
  }

 private:
  static constexpr size_t kColumn = 14;

  // Adds a line whose first column is `about`.
  void Add(const std::string& about, const std::string& text) {
    if (text.empty()) return;
    const std::string begin =
        absl::StrCat("  ", about, std::string(kColumn - 2 - about.size(), ' '));
    const std::string shown = EscapeForTerminal(text);
    absl::StrAppend(
        &text_, WrapText(absl::StrCat(begin, shown), options_.width, kColumn),
        "\n");
  }

  void AddLines(const char* about, const std::vector<std::string>& lines) {
    const size_t shown = std::min(lines.size(), kMostParts);
    for (size_t i = 0; i < shown; ++i) Add(i == 0 ? about : "", lines[i]);
    if (shown < lines.size()) {
      Add("", absl::StrCat("and ", lines.size() - shown, " more"));
    }
  }

  void WriteHead() {
    const Outcome outcome = FindOutcome(judgement_);
    const char* const colour = outcome == Outcome::kHolds     ? "\x1b[32m"
                               : outcome == Outcome::kRejects ? "\x1b[31m"
                                                              : "\x1b[33m";
    const std::string word = WordOfOutcome(outcome);
    const std::string head = WrapText(
        absl::StrCat(word, " ", EscapeForTerminal(judgement_.label()), " ",
                     EscapeForTerminal(DescribeMeasured(judgement_))),
        options_.width, 4);
    absl::StrAppend(&text_, options_.has_colour ? colour : "", word,
                    options_.has_colour ? "\x1b[0m" : "",
                    head.substr(word.size()), "\n");
  }

  void WriteRule() {
    const MetricKind metric = judgement_.metric();
    Add("rule", absl::StrCat(ShortNameOfMetric(metric), " ",
                             FindWords(judgement_.rule()).sentence, " ",
                             FormatMetricValue(metric, judgement_.limit()),
                             "; ", WordsOfSeverity(judgement_.severity())));
    Add("where", judgement_.threshold_location());
    AddLines("wins over", explanation_.wins_over);
    AddLines("gives way", explanation_.gives_way);
    Add("owner", explanation_.threshold.owner());
    Add("because", explanation_.threshold.reason());
    const std::string determinism(Determinism_Name(judgement_.determinism()));
    Add("measured",
        absl::StrCat(FormatMetricValue(metric, judgement_.measured()), ", ",
                     determinism, " over ", explanation_.process_count,
                     " processes"));
    Add("margin", MakeReportRow(judgement_)[4]);
  }

  void WriteHistory() {
    const auto& history = explanation_.threshold.history();
    for (int i = 0; i < history.size(); ++i) {
      Add(i == 0 ? "history" : "",
          DescribeHistoryEntry(history[i], judgement_.metric()));
    }
    if (history.empty()) Add("history", "none is kept");
  }

  void WriteParts(const char* about,
                  const std::vector<GateExplanation::Part>& parts) {
    const size_t shown = std::min(parts.size(), kMostParts);
    for (size_t i = 0; i < shown; ++i) {
      Add(i == 0 ? about : "",
          absl::StrCat(FormatMetricValue(judgement_.metric(), parts[i].value),
                       "  ", parts[i].name));
    }
    if (shown < parts.size()) {
      Add("", absl::StrCat("and ", parts.size() - shown, " smaller ones"));
    }
  }

  void WriteGrowth() {
    const char* about = "what grew";
    // Earlier profiles show best what grew.
    if (explanation_.difference.has_value()) {
      const std::vector<std::string> lines =
          explanation_.difference->children.empty()
              ? std::vector<std::string>{"nothing since the earlier profile"}
              : DiffLines(explanation_.difference->children.front(), 0);
      for (const std::string& line : lines) {
        Add(about, line);
        about = "";
      }
      return;
    }
    // Exact values that no longer hold show the growth if there are no earlier
    // profiles.
    for (const Judgement& moved : explanation_.moved_exact_values) {
      MetricChange change;
      change.metric = moved.metric();
      change.before = moved.limit();
      change.after = moved.measured();
      Add(about, absl::StrCat(moved.phase().empty()
                                  ? "the whole: "
                                  : absl::StrCat("phase ", moved.phase(), ": "),
                              DescribeChange(DiffNode(), change),
                              ", exact value at ", moved.threshold_location()));
      about = "";
    }
    if (!explanation_.moved_exact_values.empty()) return;
    if (explanation_.kept_exact_values > 0) {
      Add(about, absl::StrCat("nothing: ", explanation_.kept_exact_values,
                              " exact values of this benchmark hold"));
      return;
    }
    Add(about,
        absl::StrCat(
            "not known: no exact value of this benchmark is kept, and no "
            "--before=FOLDER is given; `bazel run ",
            GateTarget("diff"),
            " -- --save=FOLDER` keeps profiles to compare with"));
  }

  void WriteCommand() {
    const bool holds = judgement_.decision() == ACCEPT;
    if (explanation_.command.empty()) {
      Add("accept", "it holds, to the byte");
      return;
    }
    Add(holds ? "tighten" : "accept",
        holds ? "it holds; to what was measured it comes by"
              : "the measured value becomes the limit by");
    absl::StrAppend(&text_, std::string(kColumn, ' '),
                    WrapCommand(EscapeForTerminal(explanation_.command),
                                options_.width, kColumn + 4, kColumn),
                    "\n");
  }

  const GateExplanation& explanation_;
  const Judgement& judgement_;
  const ReportOptions& options_;
  std::string text_;
};

Json PartsToJson(const std::vector<GateExplanation::Part>& parts) {
  Json json = Json::array();
  for (const GateExplanation::Part& part : parts) {
    json.push_back({{"name", part.name}, {"value", part.value}});
  }
  return json;
}

Json ToJson(const GateExplanation& explanation) {
  const Judgement& judgement = explanation.judgement;
  Json history = Json::array();
  for (const HistoryEntry& entry : explanation.threshold.history()) {
    history.push_back(
        {{"date", entry.date()},
         {"change", DescribeHistoryEntry(entry, judgement.metric())},
         {"reason", entry.reason()}});
  }
  Json moved = Json::array();
  for (const Judgement& each : explanation.moved_exact_values) {
    moved.push_back({{"phase", each.phase()},
                     {"metric", MetricKind_Name(each.metric())},
                     {"before", each.limit()},
                     {"after", each.measured()},
                     {"threshold_location", each.threshold_location()}});
  }
  return {{"label", judgement.label()},
          {"benchmark", judgement.benchmark()},
          {"phase", judgement.phase()},
          {"metric", MetricKind_Name(judgement.metric())},
          {"rule", RuleKind_Name(judgement.rule())},
          {"measured", judgement.measured()},
          {"limit", judgement.limit()},
          {"decision", Decision_Name(judgement.decision())},
          {"threshold_location", judgement.threshold_location()},
          {"owner", explanation.threshold.owner()},
          {"reason", explanation.threshold.reason()},
          {"wins_over", explanation.wins_over},
          {"gives_way", explanation.gives_way},
          {"processes", explanation.process_count},
          {"history", history},
          {"phases", PartsToJson(explanation.phases)},
          {"held_at_peak", PartsToJson(explanation.held_at_peak)},
          {"moved_exact_values", moved},
          {"command", explanation.command}};
}

}  // namespace

std::string DescribeHistoryEntry(const HistoryEntry& entry, MetricKind metric) {
  std::vector<std::string> steps;
  const auto number = [metric](int64_t value) {
    return FormatMetricValue(metric, value);
  };
  AppendStep(entry.has_old_value(), entry.old_value(), entry.has_new_value(),
             entry.new_value(), "", number, &steps);
  AppendStep(entry.has_old_ratio(), entry.old_ratio(), entry.has_new_ratio(),
             entry.new_ratio(), "ratio ", RatioText, &steps);
  AppendStep(entry.has_old_minimum(), entry.old_minimum(),
             entry.has_new_minimum(), entry.new_minimum(), "minimum ", number,
             &steps);
  std::string text = entry.date();
  for (const std::string& step : steps) absl::StrAppend(&text, "  ", step);
  return absl::StrCat(text, "  ", entry.reason());
}

std::string WriteExplanationText(
    const std::vector<GateExplanation>& explanations,
    const ReportOptions& options) {
  std::string text;
  for (const GateExplanation& explanation : explanations) {
    text += ExplanationText(explanation, options).Write();
  }
  return text;
}

std::string WriteExplanationJson(
    const std::vector<GateExplanation>& explanations) {
  constexpr int kIndent = 2;
  Json gates = Json::array();
  for (const GateExplanation& explanation : explanations) {
    gates.push_back(ToJson(explanation));
  }
  const Json json = {{"gates", gates}};
  return json.dump(kIndent, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace footprint
