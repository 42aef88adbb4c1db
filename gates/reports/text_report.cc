#include "footprint/gates/reports/text_report.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/text_table.h"
#include "footprint/base/text/wrap_text.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

constexpr char kRed[] = "\x1b[31m";
constexpr char kGreen[] = "\x1b[32m";
constexpr char kYellow[] = "\x1b[33m";
constexpr char kPlain[] = "\x1b[0m";

// The indent of continued lines, and of lines below a deployment.
constexpr size_t kIndent = 4;
// The least width of a deployment's name, however narrow the terminal is.
constexpr size_t kLeastNameWidth = 16;

const char* FindColour(Outcome outcome) {
  return outcome == Outcome::kRejects ? kRed
         : outcome == Outcome::kHolds ? kGreen
                                      : kYellow;
}

// Returns the exact value, without a rounded one: it is shown next to its
// limit.
std::string ExactText(MetricKind metric, int64_t value) {
  return UnitOfMetric(metric) == MetricUnit::kBytes
             ? absl::StrCat(FormatCount(value), " B")
             : FormatCount(value);
}

// Formats text for this terminal.
class Style {
 public:
  explicit Style(const ReportOptions& options) : options_(options) {}

  size_t width() const { return options_.width; }

  std::string Colour(Outcome outcome, const std::string& text) const {
    return options_.has_colour ? absl::StrCat(FindColour(outcome), text, kPlain)
                               : text;
  }

  // Lines after the first begin with `indent` spaces.
  std::string Wrap(const std::string& text, size_t indent) const {
    return WrapText(text, options_.width, indent);
  }

  // Wraps a command so that it can still be copied. `begin` columns come before
  // it.
  std::string WrapCommand(const std::string& command, size_t begin) const {
    return footprint::WrapCommand(EscapeForTerminal(command), options_.width,
                                  2 * kIndent, begin);
  }

 private:
  const ReportOptions& options_;
};

// Writes the table with a line for each deployment.
class DeploymentsText {
 public:
  DeploymentsText(const Verdict& verdict, const Style& style)
      : verdict_(verdict), style_(style) {}

  std::string Write() {
    WriteDeployments();
    return std::move(text_);
  }

 private:
  struct Line {
    std::string name;
    std::vector<std::string> figures;
    Outcome outcome = Outcome::kHolds;
  };

  // Finds the folder that all limits have in common. It and the ending are
  // shown once, so locations are short.
  void FindCommonFolder(const std::vector<DeploymentSummary>& summaries) {
    absl::optional<std::string> common;
    for (const DeploymentSummary& summary : summaries) {
      if (summary.nearest < 0) continue;
      const std::string& location =
          verdict_.judgements(summary.nearest).threshold_location();
      const std::string folder = location.substr(0, location.rfind('/') + 1);
      if (!common.has_value()) common = folder;
      while (folder.compare(0, common->size(), *common) != 0) {
        common->pop_back();
        common->resize(common->rfind('/') + 1);
      }
    }
    common_folder_ = common.value_or("");
  }

  std::string ShortLocation(const std::string& location) const {
    std::string text = location.substr(common_folder_.size());
    const size_t ending = text.rfind(kEnding);
    if (ending != std::string::npos) {
      text.erase(ending, std::string(kEnding).size());
    }
    return text;
  }

  Line MakeLine(const DeploymentSummary& summary) const {
    Line line;
    line.name = EscapeForTerminal(summary.label);
    if (summary.nearest < 0) {
      line.outcome = Outcome::kRejects;
      line.figures = {"0", "not judged", ""};
      return line;
    }
    const Judgement& nearest = verdict_.judgements(summary.nearest);
    line.outcome = summary.rejected_count > 0 ? Outcome::kRejects
                   : summary.warned_count > 0 ? Outcome::kWarns
                                              : Outcome::kHolds;
    line.figures = {
        FormatCount(summary.rule_count), MarginText(nearest),
        EscapeForTerminal(ShortLocation(nearest.threshold_location()))};
    return line;
  }

  void WriteDeployments() {
    const std::vector<DeploymentSummary> summaries =
        SummarizeDeployments(verdict_);
    if (summaries.empty()) return;
    FindCommonFolder(summaries);
    std::vector<Line> lines;
    TextTable figures(
        {{"rules", TextTable::kFigures}, {"nearest margin"}, {"limit"}});
    size_t figures_width = std::string("rules").size();
    std::vector<size_t> widths = {5, 14, 5};
    for (const DeploymentSummary& summary : summaries) {
      lines.push_back(MakeLine(summary));
      figures.Fit(lines.back().figures);
      for (size_t i = 0; i < widths.size(); ++i) {
        widths[i] = std::max(widths[i], lines.back().figures[i].size());
      }
    }
    figures_width = widths[0] + widths[1] + widths[2] + 4;
    FitNames(style_.width() > figures_width + 2
                 ? style_.width() - figures_width - 2
                 : 0,
             &lines);
    WriteLines(lines, figures);
  }

  // Sets the width of the names' column, and shortens wider names where no two
  // become the same.
  void FitNames(size_t room, std::vector<Line>* lines) {
    room = std::max(room, kLeastNameWidth);
    name_width_ = std::string("deployment").size();
    std::map<std::string, int> uses;
    for (const Line& line : *lines) ++uses[ShortName(line.name, room)];
    for (Line& line : *lines) {
      const std::string shortened = ShortName(line.name, room);
      if (uses[shortened] == 1) line.name = shortened;
      if (DisplayWidth(line.name) <= room) {
        name_width_ = std::max(name_width_, DisplayWidth(line.name));
      }
    }
  }

  static std::string ShortName(const std::string& name, size_t room) {
    return ShortenMiddle(name, room).value_or(name);
  }

  void WriteLines(const std::vector<Line>& lines, const TextTable& figures) {
    const auto pad = [this](const std::string& name) {
      const size_t width = DisplayWidth(name);
      return std::string(name_width_ + 2 - std::min(width, name_width_), ' ');
    };
    absl::StrAppend(&text_, "deployment", pad("deployment"),
                    figures.Headings());
    for (const Line& line : lines) {
      std::string row = figures.Row(line.figures);
      row.pop_back();
      const bool is_wide = DisplayWidth(line.name) > name_width_;
      const std::string text =
          is_wide
              ? absl::StrCat(style_.Wrap(line.name, kIndent), "\n",
                             style_.Wrap(absl::StrCat(pad(""), row), kIndent))
              : style_.Wrap(absl::StrCat(line.name, pad(line.name), row),
                            kIndent);
      absl::StrAppend(&text_,
                      line.outcome == Outcome::kHolds
                          ? text
                          : style_.Colour(line.outcome, text),
                      "\n");
    }
    absl::StrAppend(
        &text_,
        style_.Wrap(absl::StrCat("(A limit is a line of ",
                                 EscapeForTerminal(common_folder_), "*",
                                 kEnding, "; --all shows every rule.)"),
                    1),
        "\n\n");
  }

  static constexpr char kEnding[] = ".textproto";

  const Verdict& verdict_;
  const Style& style_;
  std::string text_;
  std::string common_folder_;
  size_t name_width_ = 0;
};

// Writes every rule, below its deployment and its benchmark.
class RulesText {
 public:
  RulesText(const Verdict& verdict, const Style& style)
      : verdict_(verdict), style_(style) {}

  std::string Write() {
    WriteEveryRule();
    return std::move(text_);
  }

 private:
  static std::vector<std::string> FormatCells(const Judgement& judgement) {
    return {std::string(ShortNameOfMetric(judgement.metric())),
            ExactText(judgement.metric(), judgement.measured()),
            absl::StrCat(FindWords(judgement.rule()).limit, " ",
                         ExactText(judgement.metric(), judgement.limit()),
                         DeterminismSuffix(judgement)),
            ShortMargin(judgement), WordOfOutcome(FindOutcome(judgement))};
  }

  // Returns the margin without the limit, which has its own column.
  static std::string ShortMargin(const Judgement& judgement) {
    const std::string margin = MarginText(judgement);
    for (const char* word : {" of ", " over ", " under "}) {
      const size_t at = margin.find(word);
      if (at == std::string::npos) continue;
      return judgement.decision() == ACCEPT
                 ? margin.substr(0, at)
                 : absl::StrCat(margin.substr(0, at), word)
                       .substr(0, at + std::string(word).size() - 1);
    }
    return margin;
  }

  void WriteEveryRule() {
    TextTable table({{""},
                     {"", TextTable::kFigures},
                     {""},
                     {"", TextTable::kFigures},
                     {""}});
    std::vector<std::vector<std::string>> rows;
    for (const Judgement& judgement : verdict_.judgements()) {
      rows.push_back(FormatCells(judgement));
      table.Fit(rows.back());
    }
    std::string name;
    for (int i = 0; i < verdict_.judgements_size(); ++i) {
      const Judgement& judgement = verdict_.judgements(i);
      if (BeginsDeployment(verdict_, i)) {
        if (i > 0) text_ += "\n";
        WriteDeployment(judgement.label());
        name.clear();
      }
      if (name != DescribeMeasured(judgement)) {
        name = DescribeMeasured(judgement);
        absl::StrAppend(
            &text_,
            style_.Wrap(absl::StrCat("  ", EscapeForTerminal(name)), kIndent),
            "\n");
      }
      WriteRow(table, rows[static_cast<size_t>(i)], FindOutcome(judgement));
    }
    if (!rows.empty()) text_ += "\n";
    WriteUnjudged();
  }

  // Writes the labels that have remarks but no judgements.
  void WriteUnjudged() {
    std::set<std::string> labels;
    for (const ProducerRemark& remark : verdict_.remarks()) {
      labels.insert(remark.label());
    }
    for (const Judgement& judgement : verdict_.judgements()) {
      labels.erase(judgement.label());
    }
    for (const std::string& label : labels) {
      WriteDeployment(label);
      text_ += "\n";
    }
  }

  void WriteDeployment(const std::string& label) {
    absl::StrAppend(&text_, style_.Wrap(EscapeForTerminal(label), kIndent),
                    "\n");
    for (const std::string& remark : FindNotes(verdict_, label)) {
      absl::StrAppend(
          &text_,
          style_.Wrap(absl::StrCat("  ", EscapeForTerminal(remark)), kIndent),
          "\n");
    }
  }

  void WriteRow(const TextTable& table, const std::vector<std::string>& cells,
                Outcome outcome) {
    std::string row = absl::StrCat("    ", table.Row(cells));
    row.pop_back();
    row = style_.Wrap(row, 2 * kIndent);
    // The last word is the outcome, on whichever line it is after wrapping.
    const size_t begin = row.size() - cells.back().size();
    absl::StrAppend(&text_, row.substr(0, begin),
                    style_.Colour(outcome, row.substr(begin)), "\n");
  }

  const Verdict& verdict_;
  const Style& style_;
  std::string text_;
};

// Writes what did not hold, and the decision.
class ViolationsText {
 public:
  ViolationsText(const Verdict& verdict, const Style& style)
      : verdict_(verdict), style_(style) {}

  std::string Write() {
    for (const Judgement& judgement : verdict_.judgements()) {
      if (IsViolation(judgement)) WriteViolation(judgement);
    }
    for (const Problem& problem : verdict_.problems()) WriteProblem(problem);
    WriteSummary();
    return std::move(text_);
  }

 private:
  void WriteViolation(const Judgement& judgement) {
    constexpr char kHow[] = "    accept it with: ";
    const Outcome outcome = FindOutcome(judgement);
    WriteMarked(WordOfOutcome(outcome), outcome,
                EscapeForTerminal(DescribeViolation(judgement)));
    if (judgement.command_to_accept().empty()) {
      absl::StrAppend(&text_, "\n");
      return;
    }
    absl::StrAppend(&text_, kHow,
                    style_.WrapCommand(judgement.command_to_accept(),
                                       std::string(kHow).size()),
                    "\n\n");
  }

  // Writes a paragraph whose first word, `mark`, is coloured.
  void WriteMarked(const std::string& mark, Outcome outcome,
                   const std::string& text) {
    const std::string wrapped =
        style_.Wrap(absl::StrCat(mark, " ", text), kIndent);
    absl::StrAppend(&text_, style_.Colour(outcome, mark),
                    wrapped.substr(mark.size()), "\n");
  }

  void WriteProblem(const Problem& problem) {
    const Outcome outcome =
        problem.decision() == ACCEPT ? Outcome::kWarns : Outcome::kRejects;
    const std::vector<std::string> lines =
        absl::StrSplit(problem.message(), '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      // A command gets its own line, so that it can be copied whole.
      const size_t command = lines[i].find(kCommandBegin);
      const std::string words = EscapeForTerminal(
          command == std::string::npos ? lines[i]
                                       : lines[i].substr(0, command + 1));
      if (i == 0) {
        WriteMarked(
            WordOfProblem(problem), outcome,
            absl::StrCat(EscapeForTerminal(problem.location()), ": ", words));
      } else {
        absl::StrAppend(
            &text_, style_.Wrap(absl::StrCat("    ", words), kIndent), "\n");
      }
      if (command == std::string::npos) continue;
      absl::StrAppend(&text_, "    ",
                      style_.WrapCommand(lines[i].substr(command + 2), kIndent),
                      "\n");
    }
    text_ += "\n";
  }

  // Writes the last line, which begins with the decision.
  void WriteSummary() {
    const Outcome outcome =
        verdict_.decision() == ACCEPT ? Outcome::kHolds : Outcome::kRejects;
    const std::string summary = SummaryLine(verdict_);
    if (summary.size() <= style_.width()) {
      absl::StrAppend(&text_, style_.Colour(outcome, summary), "\n");
      return;
    }
    const std::string word(Decision_Name(verdict_.decision()));
    absl::StrAppend(&text_, style_.Wrap(summary.substr(word.size() + 1), 0),
                    "\n", style_.Colour(outcome, word), "\n");
  }

  static constexpr char kCommandBegin[] = ": bazel run ";

  const Verdict& verdict_;
  const Style& style_;
  std::string text_;
};

}  // namespace

std::string WriteTextReport(const Verdict& verdict,
                            const ReportOptions& options) {
  const Style style(options);
  return absl::StrCat(options.has_every_rule
                          ? RulesText(verdict, style).Write()
                          : DeploymentsText(verdict, style).Write(),
                      ViolationsText(verdict, style).Write());
}

}  // namespace footprint
