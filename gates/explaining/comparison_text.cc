#include "footprint/gates/explaining/comparison_text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/wrap_text.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Change = ComparedFigure::Change;
using Json = nlohmann::ordered_json;

constexpr size_t kIndent = 4;

const char* WordOfChange(Change change) {
  switch (change) {
    case Change::kGrown:
      return "grown";
    case Change::kShrunk:
      return "shrunk";
    case Change::kNew:
      return "new";
    case Change::kGone:
      return "gone";
    case Change::kOther:
      return "other";
  }
  return "";
}

std::string NameOf(const ComparedFigure& figure) {
  return figure.benchmark.empty()
             ? figure.label
             : absl::StrCat(figure.label, " ", figure.benchmark);
}

const char* MarkOf(const ComparedFigure& figure) {
  return figure.is_over_limit ? "REJECT" : WordOfChange(figure.change);
}

Json ToJson(const ComparedFigure& figure) {
  return {{"change", WordOfChange(figure.change)},
          {"over_limit", figure.is_over_limit},
          {"label", figure.label},
          {"benchmark", figure.benchmark},
          {"description", figure.description},
          {"reasons", figure.reasons}};
}

}  // namespace

std::string SummarizeComparison(const BaseComparison& comparison) {
  const std::string word(Decision_Name(comparison.verdict.decision()));
  const size_t differing = comparison.diff.deployments.size();
  const size_t all =
      differing + static_cast<size_t>(comparison.diff.same_count);
  const std::string deployments =
      absl::StrCat(all, all == 1 ? " deployment" : " deployments");
  if (differing == 0) {
    return absl::StrCat(word, " nothing differs in ", deployments);
  }
  std::string text = absl::StrCat(word, " ", differing, " of ", deployments,
                                  differing == 1 ? " differs" : " differ");
  std::vector<std::string> counts;
  const auto over = std::count_if(
      comparison.figures.begin(), comparison.figures.end(),
      [](const ComparedFigure& figure) { return figure.is_over_limit; });
  if (over > 0) counts.push_back(absl::StrCat(over, " over the limit"));
  for (const Change change : {Change::kGrown, Change::kShrunk, Change::kNew,
                              Change::kGone, Change::kOther}) {
    const auto count = std::count_if(
        comparison.figures.begin(), comparison.figures.end(),
        [change](const ComparedFigure& each) { return each.change == change; });
    if (count > 0)
      counts.push_back(absl::StrCat(count, " ", WordOfChange(change)));
  }
  if (!counts.empty())
    absl::StrAppend(&text, ": ", absl::StrJoin(counts, ", "));
  return text;
}

std::string WriteComparisonText(const BaseComparison& comparison,
                                const ReportTextOptions& options) {
  std::string text;
  const auto add = [&](const std::string& paragraph) {
    absl::StrAppend(
        &text, WrapText(EscapeForTerminal(paragraph), options.width, kIndent),
        "\n");
  };
  if (!comparison.diff.deployments.empty()) {
    text = WriteDiffText(comparison.diff, options) + "\n";
  }
  for (const ComparedFigure& figure : comparison.figures) {
    if (!figure.is_over_limit) continue;
    add(absl::StrCat(MarkOf(figure), " ", NameOf(figure), ": ",
                     figure.description));
    for (const std::string& reason : figure.reasons) {
      add(absl::StrCat("    ", reason));
    }
  }
  for (const Problem& problem : comparison.verdict.problems()) {
    add(absl::StrCat(std::string(Decision_Name(problem.decision())), " ",
                     problem.location(), ": ", problem.message()));
  }
  for (const std::string& hint : comparison.hints) add("hint: " + hint);
  add(SummarizeComparison(comparison));
  return text;
}

std::string WriteComparisonMarkdown(const BaseComparison& comparison) {
  std::string text = absl::StrCat(
      "## Memory: ", EscapeForMarkdown(SummarizeComparison(comparison)), "\n");
  if (!comparison.figures.empty()) {
    text += "\n| | benchmark | figure | why |\n|---|---|---|---|\n";
  }
  for (const ComparedFigure& figure : comparison.figures) {
    const std::string mark = MarkOf(figure);
    absl::StrAppend(
        &text, "| ",
        figure.is_over_limit ? absl::StrCat("**", mark, "**") : mark, " | ",
        EscapeForMarkdown(NameOf(figure)), " | ",
        EscapeForMarkdown(figure.description), " | ",
        EscapeForMarkdown(absl::StrJoin(figure.reasons, "; ")), " |\n");
  }
  for (const Problem& problem : comparison.verdict.problems()) {
    absl::StrAppend(&text, "\n- **",
                    std::string(Decision_Name(problem.decision())), "** ",
                    EscapeForMarkdown(problem.location()), ": ",
                    EscapeForMarkdown(problem.message()), "\n");
  }
  for (const std::string& hint : comparison.hints) {
    absl::StrAppend(&text, "\n- ", EscapeForMarkdown(hint), "\n");
  }
  return text;
}

std::string WriteComparisonJson(const BaseComparison& comparison) {
  constexpr int kSpaces = 2;
  Json figures = Json::array();
  for (const ComparedFigure& figure : comparison.figures) {
    figures.push_back(ToJson(figure));
  }
  Json problems = Json::array();
  for (const Problem& problem : comparison.verdict.problems()) {
    problems.push_back({{"decision", Decision_Name(problem.decision())},
                        {"location", problem.location()},
                        {"message", problem.message()}});
  }
  const Json json = {{"decision", Decision_Name(comparison.verdict.decision())},
                     {"summary", SummarizeComparison(comparison)},
                     {"figures", figures},
                     {"problems", problems},
                     {"hints", comparison.hints},
                     {"diff", Json::parse(WriteDiffJson(comparison.diff))}};
  return json.dump(kSpaces, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace footprint
