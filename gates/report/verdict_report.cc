#include "footprint/gates/report/verdict_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

constexpr char kRed[] = "\x1b[31m";
constexpr char kGreen[] = "\x1b[32m";
constexpr char kYellow[] = "\x1b[33m";
constexpr char kPlain[] = "\x1b[0m";

// What a judgement amounts to.
enum class Outcome { kHolds, kRejects, kWarns, kIsRecorded };

Outcome OutcomeOf(const Judgement& judgement) {
  if (judgement.decision() == ACCEPT) return Outcome::kHolds;
  if (judgement.severity() == WARN) return Outcome::kWarns;
  return judgement.severity() == AUDIT ? Outcome::kIsRecorded
                                       : Outcome::kRejects;
}

const char* WordOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHolds:
      return "accept";
    case Outcome::kRejects:
      return "REJECT";
    case Outcome::kWarns:
      return "WARN";
    case Outcome::kIsRecorded:
      return "audit";
  }
  return "";
}

const char* ColourOf(Outcome outcome) {
  return outcome == Outcome::kRejects ? kRed
         : outcome == Outcome::kHolds ? kGreen
                                      : kYellow;
}

const char* WordOf(RuleKind rule) {
  switch (rule) {
    case MAXIMUM:
      return "max";
    case EXACT_VALUE:
      return "exact";
    case MAXIMUM_RATIO:
      return "max by ratio";
    case MINIMUM:
      return "min";
    default:
      return "rule";
  }
}

int64_t DifferenceOf(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

std::string FormatShort(MetricKind metric, int64_t value) {
  return UnitOfMetric(metric) == MetricUnit::kBytes ? FormatRoundedBytes(value)
                                                    : FormatCount(value);
}

// The distance to the limit: "512 KiB left (25.0 %)", "16 B over", "exact".
std::string DescribeMargin(const Judgement& judgement) {
  const int64_t over = DifferenceOf(judgement.measured(), judgement.limit());
  if (over == 0) return judgement.rule() == EXACT_VALUE ? "exact" : "none left";
  const std::string size =
      FormatShort(judgement.metric(), over < 0 ? DifferenceOf(0, over) : over);
  if (judgement.decision() != ACCEPT) {
    return size + (over > 0 ? " over" : " under");
  }
  if (judgement.limit() <= 0) return size + " left";
  const double percent = 100.0 * std::fabs(static_cast<double>(over)) /
                         static_cast<double>(judgement.limit());
  return absl::StrFormat("%s left (%.1f %%)", size, percent);
}

std::string NameOf(const Judgement& judgement) {
  return judgement.phase().empty() ? judgement.benchmark()
                                   : absl::StrCat(judgement.benchmark(), " [",
                                                  judgement.phase(), "]");
}

// With the class of the metric, unless that is EXACT, as most are.
std::string LimitOf(const Judgement& judgement) {
  const bool is_weaker = judgement.determinism() == BOUNDED ||
                         judgement.determinism() == STATISTICAL;
  return absl::StrCat(
      WordOf(judgement.rule()), " ",
      FormatMetricValue(judgement.metric(), judgement.limit()),
      is_weaker ? " of " : "",
      is_weaker ? std::string(Determinism_Name(judgement.determinism())) : "");
}

// Figures of one judgement, as the tables show them.
using Row = std::array<std::string, 6>;
constexpr std::array<const char*, 6> kHeadings = {
    "benchmark", "metric", "measured", "limit", "margin", "verdict"};

Row RowOf(const Judgement& judgement) {
  return {NameOf(judgement),
          std::string(ShortNameOfMetric(judgement.metric())),
          FormatMetricValue(judgement.metric(), judgement.measured()),
          LimitOf(judgement),
          DescribeMargin(judgement),
          WordOf(OutcomeOf(judgement))};
}

// "deployment benchmark metric: value, limit, excess".
std::string DescribeViolation(const Judgement& judgement) {
  return absl::StrCat(
      judgement.label(), " ", NameOf(judgement), ": ",
      absl::string_view(ShortNameOfMetric(judgement.metric())), " is ",
      FormatMetricValue(judgement.metric(), judgement.measured()), ", limit ",
      LimitOf(judgement), ", ", DescribeMargin(judgement), " (",
      judgement.threshold_location(), ")");
}

int CountOf(const Verdict& verdict, Outcome outcome) {
  return static_cast<int>(
      std::count_if(verdict.judgements().begin(), verdict.judgements().end(),
                    [outcome](const Judgement& judgement) {
                      return OutcomeOf(judgement) == outcome;
                    }));
}

std::string Plural(size_t count, const char* noun) {
  return absl::StrCat(FormatCount(static_cast<int64_t>(count)), " ", noun,
                      count == 1 ? "" : "s");
}

// "memo plan: 5 values, 5 loads planned", one a remark of this producer.
std::vector<std::string> RemarksOf(const Verdict& verdict,
                                   const std::string& label) {
  std::vector<std::string> remarks;
  for (const ProducerRemark& remark : verdict.remarks()) {
    if (remark.label() != label) continue;
    remarks.push_back(
        absl::StrCat(remark.remark().about(), ": ", remark.remark().text()));
  }
  return remarks;
}

// ---- text ----

class TextReport {
 public:
  TextReport(const Verdict& verdict, bool has_colour)
      : verdict_(verdict), has_colour_(has_colour) {}

  std::string Write() {
    WriteTable();
    WriteViolations();
    for (const Problem& problem : verdict_.problems()) WriteProblem(problem);
    const Outcome outcome =
        verdict_.decision() == ACCEPT ? Outcome::kHolds : Outcome::kRejects;
    absl::StrAppend(&text_, Colour(outcome, SummaryLine(verdict_)), "\n");
    return std::move(text_);
  }

 private:
  std::string Colour(Outcome outcome, const std::string& text) const {
    return has_colour_ ? absl::StrCat(ColourOf(outcome), text, kPlain) : text;
  }

  void WriteTable() {
    std::vector<Row> rows;
    std::array<size_t, 6> widths;
    for (size_t i = 0; i < 6; ++i) {
      widths[i] = absl::string_view(kHeadings[i]).size();
    }
    for (const Judgement& judgement : verdict_.judgements()) {
      rows.push_back(RowOf(judgement));
      for (size_t i = 0; i < 6; ++i) {
        rows.back()[i] = EscapeForTerminal(rows.back()[i]);
        widths[i] = std::max(widths[i], rows.back()[i].size());
      }
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const Judgement& judgement = verdict_.judgements(static_cast<int>(i));
      if (i == 0 || verdict_.judgements(static_cast<int>(i) - 1).label() !=
                        judgement.label()) {
        absl::StrAppend(&text_, i == 0 ? "" : "\n",
                        EscapeForTerminal(judgement.label()), "\n");
        for (const std::string& remark :
             RemarksOf(verdict_, judgement.label())) {
          absl::StrAppend(&text_, "  ", EscapeForTerminal(remark), "\n");
        }
        WriteRow(Row{kHeadings[0], kHeadings[1], kHeadings[2], kHeadings[3],
                     kHeadings[4], kHeadings[5]},
                 widths, nullptr);
      }
      WriteRow(rows[i], widths, &judgement);
    }
    if (!rows.empty()) text_ += "\n";
  }

  void WriteRow(const Row& row, const std::array<size_t, 6>& widths,
                const Judgement* judgement) {
    for (size_t i = 0; i < 5; ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      // Figures to the right, names and words to the left.
      const bool is_figure = i == 2 || i == 3;
      absl::StrAppend(&text_, "  ", is_figure ? padding : "", row[i],
                      is_figure ? "" : padding);
    }
    absl::StrAppend(
        &text_, "  ",
        judgement == nullptr ? row[5] : Colour(OutcomeOf(*judgement), row[5]),
        "\n");
  }

  void WriteViolations() {
    for (const Judgement& judgement : verdict_.judgements()) {
      const Outcome outcome = OutcomeOf(judgement);
      if (outcome == Outcome::kHolds || outcome == Outcome::kIsRecorded) {
        continue;
      }
      absl::StrAppend(&text_, Colour(outcome, WordOf(outcome)), " ",
                      EscapeForTerminal(DescribeViolation(judgement)),
                      "\n    accept it with: ",
                      EscapeForTerminal(judgement.command_to_accept()), "\n\n");
    }
  }

  void WriteProblem(const Problem& problem) {
    const Outcome outcome =
        problem.decision() == ACCEPT ? Outcome::kWarns : Outcome::kRejects;
    const std::string word =
        problem.decision() == ACCEPT
            ? "NOT JUDGED"
            : std::string(Decision_Name(problem.decision()));
    absl::StrAppend(&text_, Colour(outcome, word), " ",
                    EscapeForTerminal(problem.location()), ":");
    const char* separator = " ";
    for (absl::string_view line : absl::StrSplit(problem.message(), '\n')) {
      absl::StrAppend(&text_, separator, EscapeForTerminal(line), "\n");
      separator = "    ";
    }
    text_ += "\n";
  }

  const Verdict& verdict_;
  const bool has_colour_;
  std::string text_;
};

// ---- json ----

std::string JsonOf(const Judgement& judgement) {
  return absl::StrCat(
      "{\"label\": ", QuoteForJson(judgement.label()),
      ", \"benchmark\": ", QuoteForJson(judgement.benchmark()),
      ", \"phase\": ", QuoteForJson(judgement.phase()), ", \"metric\": ",
      QuoteForJson(std::string(MetricKind_Name(judgement.metric()))),
      ", \"measured\": ", judgement.measured(),
      ", \"limit\": ", judgement.limit(), ", \"rule\": ",
      QuoteForJson(std::string(RuleKind_Name(judgement.rule()))),
      ", \"severity\": ",
      QuoteForJson(std::string(Severity_Name(judgement.severity()))),
      ", \"determinism\": ",
      QuoteForJson(std::string(Determinism_Name(judgement.determinism()))),
      ", \"decision\": ",
      QuoteForJson(std::string(Decision_Name(judgement.decision()))),
      ", \"threshold_location\": ",
      QuoteForJson(judgement.threshold_location()),
      ", \"command_to_accept\": ", QuoteForJson(judgement.command_to_accept()),
      "}");
}

std::string JsonOf(const Problem& problem) {
  return absl::StrCat(
      "{\"decision\": ",
      QuoteForJson(std::string(Decision_Name(problem.decision()))),
      ", \"location\": ", QuoteForJson(problem.location()),
      ", \"message\": ", QuoteForJson(problem.message()), "}");
}

std::string JsonOf(const ProducerRemark& remark) {
  return absl::StrCat("{\"label\": ", QuoteForJson(remark.label()),
                      ", \"about\": ", QuoteForJson(remark.remark().about()),
                      ", \"text\": ", QuoteForJson(remark.remark().text()),
                      "}");
}

template <typename Messages>
std::string JsonArrayOf(const Messages& messages) {
  std::string json = "[";
  const char* separator = "\n    ";
  for (const auto& message : messages) {
    absl::StrAppend(&json, separator, JsonOf(message));
    separator = ",\n    ";
  }
  return json + (messages.empty() ? "]" : "\n  ]");
}

std::string WriteJson(const Verdict& verdict) {
  return absl::StrCat(
      "{\n  \"decision\": ",
      QuoteForJson(std::string(Decision_Name(verdict.decision()))),
      ",\n  \"judgements\": ", JsonArrayOf(verdict.judgements()),
      ",\n  \"problems\": ", JsonArrayOf(verdict.problems()),
      ",\n  \"remarks\": ", JsonArrayOf(verdict.remarks()), "\n}\n");
}

// ---- junit ----

std::string JunitCaseOf(const Judgement& judgement) {
  const Outcome outcome = OutcomeOf(judgement);
  const std::string begin = absl::StrCat(
      "    <testcase classname=\"", EscapeForXml(judgement.label()),
      "\" name=\"",
      EscapeForXml(absl::StrCat(NameOf(judgement), " ",
                                SchemaNameOfMetric(judgement.metric()), " ",
                                WordOf(judgement.rule()))),
      "\"");
  if (outcome == Outcome::kHolds) return begin + "/>\n";
  const std::string what = EscapeForXml(DescribeViolation(judgement));
  const std::string how = EscapeForXml(judgement.command_to_accept());
  if (outcome == Outcome::kRejects) {
    return absl::StrCat(begin, "><failure type=\"REJECT\" message=\"", what,
                        "\">accept it with: ", how, "</failure></testcase>\n");
  }
  return absl::StrCat(begin, "><system-out>", WordOf(outcome), " ", what,
                      "&#10;accept it with: ", how,
                      "</system-out></testcase>\n");
}

std::string JunitCaseOf(const Problem& problem) {
  const std::string begin =
      absl::StrCat("    <testcase classname=\"problems\" name=\"",
                   EscapeForXml(problem.location()), "\">");
  const std::string message = EscapeForXml(problem.message());
  if (problem.decision() == ACCEPT) {
    return absl::StrCat(begin, "<system-out>", message,
                        "</system-out></testcase>\n");
  }
  return absl::StrCat(begin, "<error type=\"",
                      std::string(Decision_Name(problem.decision())),
                      "\" message=\"", message, "\"/></testcase>\n");
}

std::string JunitSuite(const std::string& name, const std::string& cases,
                       int tests, int failures, int errors) {
  return absl::StrCat("  <testsuite name=\"", EscapeForXml(name), "\" tests=\"",
                      tests, "\" failures=\"", failures, "\" errors=\"", errors,
                      "\">\n", cases, "  </testsuite>\n");
}

std::string WriteJunit(const Verdict& verdict) {
  std::string suites;
  for (int i = 0; i < verdict.judgements_size();) {
    const std::string& label = verdict.judgements(i).label();
    std::string cases;
    int tests = 0;
    int failures = 0;
    for (; i < verdict.judgements_size() &&
           verdict.judgements(i).label() == label;
         ++i) {
      cases += JunitCaseOf(verdict.judgements(i));
      ++tests;
      failures += OutcomeOf(verdict.judgements(i)) == Outcome::kRejects ? 1 : 0;
    }
    const std::vector<std::string> remarks = RemarksOf(verdict, label);
    if (!remarks.empty()) {
      absl::StrAppend(&cases, "    <system-out>",
                      EscapeForXml(absl::StrJoin(remarks, "\n")),
                      "</system-out>\n");
    }
    suites += JunitSuite(label, cases, tests, failures, 0);
  }
  std::string cases;
  int errors = 0;
  for (const Problem& problem : verdict.problems()) {
    cases += JunitCaseOf(problem);
    errors += problem.decision() == ACCEPT ? 0 : 1;
  }
  if (!cases.empty()) {
    suites += JunitSuite("problems", cases, verdict.problems_size(), 0, errors);
  }
  return absl::StrCat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"",
      verdict.judgements_size() + verdict.problems_size(), "\" failures=\"",
      CountOf(verdict, Outcome::kRejects), "\" errors=\"", errors, "\">\n",
      suites, "</testsuites>\n");
}

// ---- markdown ----

std::string MarkdownRow(const Row& row) {
  std::string text = "|";
  for (const std::string& cell : row) {
    absl::StrAppend(&text, " ", EscapeForMarkdown(cell), " |");
  }
  return text + "\n";
}

std::string WriteMarkdown(const Verdict& verdict) {
  std::string text =
      absl::StrCat("## ", EscapeForMarkdown(SummaryLine(verdict)), "\n");
  for (int i = 0; i < verdict.judgements_size(); ++i) {
    const Judgement& judgement = verdict.judgements(i);
    if (i == 0 || verdict.judgements(i - 1).label() != judgement.label()) {
      absl::StrAppend(&text, "\n### ", EscapeForMarkdown(judgement.label()),
                      "\n");
      for (const std::string& remark : RemarksOf(verdict, judgement.label())) {
        absl::StrAppend(&text, "\n", EscapeForMarkdown(remark), "\n");
      }
      absl::StrAppend(&text,
                      "\n| benchmark | metric | measured | limit | margin | "
                      "verdict |\n|---|---|---:|---:|---|---|\n");
    }
    text += MarkdownRow(RowOf(judgement));
  }
  for (const Judgement& judgement : verdict.judgements()) {
    const Outcome outcome = OutcomeOf(judgement);
    if (outcome == Outcome::kHolds || outcome == Outcome::kIsRecorded) continue;
    absl::StrAppend(&text, "\n- **", WordOf(outcome), "** ",
                    EscapeForMarkdown(DescribeViolation(judgement)),
                    "<br>accept it with: ",
                    EscapeForMarkdown(judgement.command_to_accept()), "\n");
  }
  for (const Problem& problem : verdict.problems()) {
    absl::StrAppend(
        &text, "\n- **",
        EscapeForMarkdown(problem.decision() == ACCEPT
                              ? "NOT JUDGED"
                              : std::string(Decision_Name(problem.decision()))),
        "** ", EscapeForMarkdown(problem.location()), ": ",
        EscapeForMarkdown(problem.message()), "\n");
  }
  return text;
}

}  // namespace

std::string SummaryLine(const Verdict& verdict) {
  std::set<std::string> labels;
  std::set<std::pair<std::string, std::string>> benchmarks;
  for (const Judgement& judgement : verdict.judgements()) {
    labels.insert(judgement.label());
    benchmarks.emplace(judgement.label(), judgement.benchmark());
  }
  const auto rules = static_cast<size_t>(verdict.judgements_size());
  const int rejected = CountOf(verdict, Outcome::kRejects);
  const int warned = CountOf(verdict, Outcome::kWarns);
  std::string line(Decision_Name(verdict.decision()));
  absl::StrAppend(&line, " ", Plural(labels.size(), "deployment"), ", ",
                  Plural(benchmarks.size(), "benchmark"), ", ",
                  Plural(rules, "rule"));
  if (rejected > 0) absl::StrAppend(&line, ", ", rejected, " rejected");
  if (warned > 0) absl::StrAppend(&line, ", ", warned, " warned");
  if (verdict.problems_size() > 0) {
    absl::StrAppend(
        &line, ", ",
        Plural(static_cast<size_t>(verdict.problems_size()), "problem"));
  }
  return line;
}

absl::StatusOr<ReportFormat> ParseReportFormat(absl::string_view name) {
  if (name == "text") return ReportFormat::kText;
  if (name == "json") return ReportFormat::kJson;
  if (name == "junit") return ReportFormat::kJunit;
  if (name == "markdown") return ReportFormat::kMarkdown;
  return absl::InvalidArgumentError(
      absl::StrCat("there is no format \"", EscapeForTerminal(name),
                   "\"; use text, json, junit or markdown"));
}

std::string WriteReport(const Verdict& verdict, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kText:
      return TextReport(verdict, options.has_colour).Write();
    case ReportFormat::kJson:
      return WriteJson(verdict);
    case ReportFormat::kJunit:
      return WriteJunit(verdict);
    case ReportFormat::kMarkdown:
      return WriteMarkdown(verdict);
  }
  return "";
}

}  // namespace footprint
