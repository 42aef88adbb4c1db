#include "footprint/gates/explaining/scaling_charts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "footprint/base/scaling/scaling_law.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/law_judgement.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

// The most lines whose colours a reader can tell apart.
constexpr size_t kMostLines = 8;

using Point = std::pair<double, double>;

std::string SizeText(double size) {
  return size == std::round(size) ? FormatCount(static_cast<int64_t>(size))
                                  : absl::StrFormat("%g", size);
}

LineChart ChartOfBytes(const std::string& title, const std::string& x_label,
                       MetricKind metric) {
  LineChart chart;
  chart.title = title;
  chart.x_label = x_label;
  chart.y_label = std::string(ShortNameOfMetric(metric));
  chart.has_logarithmic_x = true;
  chart.has_logarithmic_y = true;
  chart.format_x = SizeText;
  chart.format_y = AbbreviateBytes;
  return chart;
}

// Returns the values of the law's arguments, in its order; nullopt if one is
// missing.
absl::optional<std::vector<double>> FindSizes(
    const google::protobuf::RepeatedPtrField<std::string>& names,
    const google::protobuf::RepeatedPtrField<Argument>& arguments) {
  std::vector<double> sizes;
  for (const std::string& name : names) {
    for (const Argument& argument : arguments) {
      if (argument.name() != name) continue;
      const absl::optional<double> size = ParseSize(argument.value());
      if (!size.has_value()) return absl::nullopt;
      sizes.push_back(*size);
      break;
    }
  }
  if (sizes.size() != static_cast<size_t>(names.size())) return absl::nullopt;
  return sizes;
}

double Product(const std::vector<double>& sizes) {
  double product = 1;
  for (const double size : sizes) product *= size;
  return product;
}

// ---- Rules ----

std::vector<ScalingPoint> CollectPoints(const Threshold& threshold, int profile,
                                        const MeasurementIndex& index) {
  std::vector<ScalingPoint> points;
  for (const int benchmark :
       index.FindBenchmarks(profile, threshold.selector())) {
    std::vector<Measurement> found;
    index.AppendMeasurements(profile, benchmark, threshold.selector(),
                             threshold.metric(), &found);
    for (const Measurement& measurement : found) {
      const absl::optional<std::vector<double>> sizes =
          FindSizes(threshold.scaling().argument(),
                    index.BenchmarkAt(measurement).arguments());
      if (measurement.metric == nullptr || !sizes.has_value()) continue;
      points.push_back(
          {*sizes, static_cast<double>(measurement.metric->value())});
    }
  }
  return points;
}

LineChart RuleChart(const ThresholdSource& source, int threshold_index,
                    const std::string& label,
                    const std::vector<ScalingPoint>& points) {
  const Threshold& threshold = source.file.threshold(threshold_index);
  const Scaling& scaling = threshold.scaling();
  const std::vector<std::string> names(scaling.argument().begin(),
                                       scaling.argument().end());
  LineChart chart =
      ChartOfBytes(absl::StrCat(label, " ", threshold.selector().benchmark()),
                   absl::StrJoin(names, " x "), threshold.metric());
  LineChart::Line measured{"measured", {}};
  LineChart::Line by_law{"the law", {}};
  LineChart::Line limits{"limit", {}};
  const absl::optional<ScalingLaw> law = FitScalingLaw(points);
  const auto add_law = [&](const std::vector<double>& sizes) {
    if (law.has_value()) {
      by_law.points.emplace_back(Product(sizes), law->At(sizes));
    }
  };
  for (const ScalingPoint& point : points) {
    measured.points.emplace_back(Product(point.variables), point.value);
    add_law(point.variables);
  }
  for (const SizeLimit& limit : scaling.at()) {
    const absl::optional<std::vector<double>> sizes =
        FindSizes(scaling.argument(), limit.argument());
    if (!sizes.has_value()) continue;
    limits.points.emplace_back(Product(*sizes),
                               static_cast<double>(limit.max_bytes()));
    add_law(*sizes);
  }
  chart.description = absl::StrCat(
      source.DescribeLocation(threshold_index), ": ",
      law.has_value() ? absl::StrCat("the law is ", LawText(*law, names))
                      : "no law describes what was measured");
  for (LineChart::Line* line : {&measured, &by_law, &limits}) {
    std::sort(line->points.begin(), line->points.end());
    if (!line->points.empty()) chart.lines.push_back(std::move(*line));
  }
  return chart;
}

void AddRuleCharts(const GateInput& input, std::vector<LineChart>* charts) {
  const MeasurementIndex index(input.profiles);
  for (const ThresholdSource& source : input.thresholds) {
    for (int i = 0; i < source.file.threshold_size(); ++i) {
      const Threshold& threshold = source.file.threshold(i);
      if (!threshold.has_scaling()) continue;
      for (const int profile :
           index.FindProfiles(threshold.selector().label())) {
        const std::vector<ScalingPoint> points =
            CollectPoints(threshold, profile, index);
        if (points.empty()) continue;
        charts->push_back(
            RuleChart(source, i, index.ProfileAt(profile).label(), points));
      }
    }
  }
}

// ---- Families ----

// Benchmarks of a deployment that have an argument. Those whose names differ
// only in its value form one member.
struct Family {
  std::string label;
  std::string argument;
  // Sizes and bytes of each member, by the name without the argument's value.
  std::map<std::string, std::vector<Point>> members;
};

// Returns "BM_Plan/tensors:*" for "BM_Plan/tensors:300"; "" if the name lacks
// the argument.
std::string NameWithout(const std::string& name, const Argument& argument) {
  const std::string part =
      absl::StrCat("/", argument.name(), ":", argument.value());
  const size_t at = name.find(part);
  const size_t end = at == std::string::npos ? 0 : at + part.size();
  if (end == 0 || (end < name.size() && name[end] != '/')) return "";
  return absl::StrCat(name.substr(0, at), "/", argument.name(), ":*",
                      name.substr(end));
}

std::vector<Family> Families(const GateInput& input) {
  std::map<std::pair<std::string, std::string>, Family> families;
  for (const MemoryProfile& profile : input.profiles) {
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      const absl::optional<int64_t> peak =
          ReadMetric(benchmark, PEAK_LIVE_USABLE_BYTES).bytes_or_count;
      if (!peak.has_value() || *peak <= 0) continue;
      for (const Argument& argument : benchmark.arguments()) {
        const absl::optional<double> size = ParseSize(argument.value());
        const std::string left = NameWithout(benchmark.name(), argument);
        if (!size.has_value() || left.empty()) continue;
        Family& family = families[{profile.label(), argument.name()}];
        family.label = profile.label();
        family.argument = argument.name();
        family.members[left].emplace_back(*size, static_cast<double>(*peak));
      }
    }
  }
  std::vector<Family> result;
  for (auto& [key, family] : families) result.push_back(std::move(family));
  return result;
}

// Returns the name with the law, if the points show one.
std::string NameWithLaw(const std::string& name, const std::string& argument,
                        const std::vector<Point>& points) {
  if (points.size() < kFewestSizes) return name;
  std::vector<ScalingPoint> fitted;
  for (const auto& [size, bytes] : points) fitted.push_back({{size}, bytes});
  const absl::optional<ScalingLaw> law = FitScalingLaw(fitted);
  if (!law.has_value() || law->left_out_error > kMostLawError) return name;
  return absl::StrCat(name, ": ", LawText(*law, {argument}));
}

// The least ratio of the largest to the smallest size. Numbers closer together
// are hardly sizes: "backend:2".
constexpr double kLeastSpread = 4;

// Returns the number of sizes among sorted points; 0 if they are too close
// together.
size_t SizeCount(const std::vector<Point>& points) {
  if (points.back().first < kLeastSpread * points.front().first) return 0;
  size_t count = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == 0 || points[i].first != points[i - 1].first) ++count;
  }
  return count;
}

void AddFamilyCharts(const GateInput& input, std::vector<LineChart>* charts) {
  for (Family& family : Families(input)) {
    LineChart chart =
        ChartOfBytes(absl::StrCat(family.label, " by ", family.argument),
                     family.argument, PEAK_LIVE_USABLE_BYTES);
    size_t left_out = 0;
    for (auto& [name, points] : family.members) {
      std::sort(points.begin(), points.end());
      if (SizeCount(points) < kFewestValues) continue;
      if (chart.lines.size() == kMostLines) {
        ++left_out;
        continue;
      }
      chart.lines.push_back(
          {NameWithLaw(name, family.argument, points), points});
    }
    if (chart.lines.empty()) continue;
    if (left_out > 0) {
      chart.description = absl::StrCat("and ", left_out, " families more");
    }
    charts->push_back(std::move(chart));
  }
}

}  // namespace

std::vector<LineChart> ScalingCharts(const GateInput& input) {
  std::vector<LineChart> charts;
  AddRuleCharts(input, &charts);
  AddFamilyCharts(input, &charts);
  return charts;
}

}  // namespace footprint
