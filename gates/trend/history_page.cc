#include "footprint/gates/trend/history_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/page/page.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/trend/commit_history.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

constexpr size_t kMostCharts = 50;
constexpr size_t kMostRaises = 200;
constexpr size_t kShortHash = 10;

// The figure that stands for a benchmark's need: the first that it has.
constexpr MetricKind kPeaks[] = {PEAK_LIVE_USABLE_BYTES,
                                 PEAK_LIVE_ABSOLUTE_USABLE_BYTES,
                                 SUM_THREAD_PEAK_USABLE_BYTES,
                                 PEAK_LIVE_REQUESTED_BYTES,
                                 PEAK_MAPPED_BYTES,
                                 PEAK_RESIDENT_BYTES};

struct Peak {
  int64_t bytes = 0;
  absl::optional<int64_t> limit;
  std::string benchmark;
};

const Metric* FindPeakMetric(const BenchmarkMemory& benchmark) {
  for (const MetricKind kind : kPeaks) {
    const Metric* const metric = FindMetric(benchmark.metrics(), kind);
    if (metric != nullptr) return metric;
  }
  return nullptr;
}

absl::optional<int64_t> FindLimit(const CommitProfiles& profiles,
                                  const std::string& label,
                                  const std::string& benchmark,
                                  MetricKind metric) {
  for (const CommitLimit& limit : profiles.limits()) {
    if (limit.label() == label && limit.benchmark() == benchmark &&
        limit.metric() == metric) {
      return limit.limit();
    }
  }
  return absl::nullopt;
}

// The highest peak of each deployment's benchmarks.
std::map<std::string, Peak> FindPeaks(const CommitProfiles& profiles) {
  std::map<std::string, Peak> peaks;
  for (const MemoryProfile& profile : profiles.profiles()) {
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      const Metric* const metric = FindPeakMetric(benchmark);
      if (metric == nullptr) continue;
      Peak& peak = peaks[profile.label()];
      if (!peak.benchmark.empty() && metric->value() <= peak.bytes) continue;
      peak = {metric->value(),
              FindLimit(profiles, profile.label(), benchmark.name(),
                        metric->kind()),
              benchmark.name()};
    }
  }
  return peaks;
}

// Returns why a label's growth says nothing of the code, if the two commits
// were measured in different environments; else "".
std::string FindDoubt(const BaseComparison& comparison,
                      const std::string& label) {
  for (const auto& problem : comparison.verdict.problems()) {
    if (problem.decision() == ENVIRONMENT_MISMATCH &&
        problem.location() == label) {
      return problem.message();
    }
  }
  return "";
}

// One page's content.
class PageWriter {
 public:
  PageWriter(absl::string_view gate, absl::Span<const HistoryCommit> commits)
      : gate_(gate), commits_(commits) {}

  absl::StatusOr<std::string> Write(const std::vector<std::string>& warnings) {
    const absl::Status status = ReadCommits();
    if (!status.ok()) return status;
    Page page("Memory over commits", DescribeRange());
    page.AddWarnings(warnings);
    AddRaises(&page);
    AddCharts(&page);
    return page.Html();
  }

 private:
  struct Point {
    size_t commit = 0;
    Peak peak;
  };

  absl::Status ReadCommits() {
    const HistoryCommit* before = nullptr;
    size_t before_index = 0;
    for (size_t i = 0; i < commits_.size(); ++i) {
      if (!commits_[i].profiles.has_value()) continue;
      ++recorded_count_;
      for (auto& [label, peak] : FindPeaks(*commits_[i].profiles)) {
        points_[label].push_back({i, std::move(peak)});
      }
      if (before != nullptr) {
        const absl::Status status = NoteRaises(*before, before_index, i);
        if (!status.ok()) return status;
      }
      before = &commits_[i];
      before_index = i;
    }
    return absl::OkStatus();
  }

  absl::Status NoteRaises(const HistoryCommit& before, size_t before_index,
                          size_t index) {
    const HistoryCommit& after = commits_[index];
    const absl::StatusOr<BaseComparison> comparison = CompareWithBase(
        ProfilesOf(*before.profiles), ProfilesOf(*after.profiles), {});
    if (!comparison.ok()) return comparison.status();
    const size_t unknown = index - before_index - 1;
    for (const ComparedFigure& figure : comparison->figures) {
      if (!figure.is_over_limit) continue;
      std::string who = after.commit.author;
      const std::string doubt = FindDoubt(*comparison, figure.label);
      if (!doubt.empty()) {
        who = absl::StrCat("perhaps nobody: it ", doubt);
      } else if (unknown > 0) {
        absl::StrAppend(&who, ", or ", unknown, " before that ",
                        unknown == 1 ? "is" : "are", " not recorded");
      }
      raises_.push_back(
          {absl::StrCat(figure.label, " ", figure.benchmark),
           absl::StrCat(figure.description, figure.reasons.empty() ? "" : "; ",
                        absl::StrJoin(figure.reasons, "; ")),
           absl::StrCat(after.commit.hash.substr(0, kShortHash), " ",
                        after.commit.subject, "; ", after.commit.date, ", ",
                        who)});
    }
    return absl::OkStatus();
  }

  std::string DescribeRange() const {
    if (commits_.empty()) return absl::StrCat(gate_, ": no commits");
    return absl::StrCat(gate_, ", ", commits_.size(),
                        commits_.size() == 1 ? " commit" : " commits", " from ",
                        commits_.front().commit.date, " to ",
                        commits_.back().commit.date, ", of which ",
                        recorded_count_, recorded_count_ == 1 ? " is" : " are",
                        " recorded.");
  }

  // The newest first.
  void AddRaises(Page* page) const {
    page->AddSection("Who raised them");
    if (raises_.empty()) {
      page->AddParagraph("No figure grew between two recorded commits.");
      return;
    }
    PageTable table;
    table.caption = "What grew, the newest commit first";
    table.header = {"benchmark", "growth", "by"};
    table.text_columns = table.header.size();
    table.wraps_text = true;
    const size_t shown = std::min(kMostRaises, raises_.size());
    table.rows.assign(raises_.rbegin(),
                      raises_.rbegin() + static_cast<std::ptrdiff_t>(shown));
    page->AddTable(table);
    if (shown < raises_.size()) {
      page->AddParagraph(
          absl::StrCat("And ", raises_.size() - shown, " older ones."));
    }
  }

  // Returns the labels, sorted by the growth of the peak from the first to the
  // last commit, the largest first.
  std::vector<std::string> SortLabels() const {
    std::vector<std::pair<int64_t, std::string>> growths;
    for (const auto& [label, points] : points_) {
      growths.emplace_back(points.front().peak.bytes - points.back().peak.bytes,
                           label);
    }
    std::sort(growths.begin(), growths.end());
    std::vector<std::string> labels;
    for (auto& growth : growths) labels.push_back(std::move(growth.second));
    return labels;
  }

  void AddCharts(Page* page) const {
    page->AddSection("Peaks and limits");
    if (points_.empty()) {
      page->AddParagraph("No commit is recorded.");
      return;
    }
    const std::vector<std::string> labels = SortLabels();
    for (size_t i = 0; i < labels.size() && i < kMostCharts; ++i) {
      page->AddLineChart(MakeChart(labels[i], points_.at(labels[i])));
    }
    if (labels.size() > kMostCharts) {
      page->AddParagraph(absl::StrCat("And ", labels.size() - kMostCharts,
                                      " deployments that grew less."));
    }
  }

  LineChart MakeChart(const std::string& label,
                      const std::vector<Point>& points) const {
    LineChart chart;
    chart.title = label;
    const Peak& last = points.back().peak;
    chart.description = absl::StrCat(
        "The highest peak of its benchmarks at each recorded commit; now ",
        FormatBytes(last.bytes), " in ", last.benchmark,
        last.limit.has_value()
            ? absl::StrCat(", of at most ", FormatBytes(*last.limit))
            : "",
        ".");
    chart.x_label = "commits";
    chart.y_label = "peak";
    chart.may_leave_zero_out = true;
    chart.format_y = AbbreviateBytes;
    chart.format_x = [this](double at) {
      const double last_commit = static_cast<double>(commits_.size() - 1);
      return commits_[static_cast<size_t>(std::clamp(at, 0.0, last_commit))]
          .commit.date;
    };
    LineChart::Line peak;
    peak.name = "peak";
    LineChart::Line limit;
    limit.name = "limit";
    for (const Point& point : points) {
      const double x = static_cast<double>(point.commit);
      peak.points.emplace_back(x, static_cast<double>(point.peak.bytes));
      if (point.peak.limit.has_value()) {
        limit.points.emplace_back(x, static_cast<double>(*point.peak.limit));
      }
    }
    chart.lines.push_back(std::move(peak));
    if (!limit.points.empty()) chart.lines.push_back(std::move(limit));
    return chart;
  }

  const absl::string_view gate_;
  const absl::Span<const HistoryCommit> commits_;
  size_t recorded_count_ = 0;
  std::map<std::string, std::vector<Point>> points_;  // by label
  std::vector<std::vector<std::string>> raises_;      // rows, oldest first
};

}  // namespace

absl::StatusOr<std::string> WriteHistoryPage(
    absl::string_view gate, absl::Span<const HistoryCommit> commits,
    const std::vector<std::string>& warnings) {
  return PageWriter(gate, commits).Write(warnings);
}

}  // namespace footprint
