#include "footprint/gates/fleet/device_fit.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

template <typename Messages>
const typename Messages::value_type* FindByName(const Messages& messages,
                                                const std::string& name) {
  for (const auto& message : messages) {
    if (message.name() == name) return &message;
  }
  return nullptr;
}

template <typename Messages>
absl::Status NotFound(const FleetSource& source, const char* noun,
                      const std::string& name, const Messages& messages) {
  std::vector<std::string> known;
  for (const auto& message : messages) known.push_back(message.name());
  return absl::NotFoundError(absl::StrCat(
      source.path, ": has no ", noun, " \"", name, "\"",
      DidYouMean(name, known), "; it has ",
      known.empty() ? "none" : absl::StrCat("\"", known.front(), "\""),
      known.size() > 1 ? absl::StrCat(" and ", known.size() - 1, " more") : "",
      "; correct the name, or add it there"));
}

// Returns the heap at its peak, with mapped bytes and the program's image. The
// heap includes what was live before, if the profile has that figure; it is the
// sum of thread peaks if only that repeats.
absl::optional<int64_t> HeapBytes(const BenchmarkMemory& memory) {
  for (MetricKind kind :
       {PEAK_LIVE_ABSOLUTE_USABLE_BYTES, PEAK_LIVE_USABLE_BYTES,
        SUM_THREAD_PEAK_USABLE_BYTES}) {
    const MetricReading heap = ReadMetric(memory, kind);
    if (!heap.bytes_or_count.has_value()) continue;
    return *heap.bytes_or_count +
           ReadMetric(memory, PEAK_MAPPED_BYTES).bytes_or_count.value_or(0) +
           ReadMetric(memory, IMAGE_BYTES).bytes_or_count.value_or(0);
  }
  return absl::nullopt;
}

int64_t HighestResident(absl::Span<const MemorySamples> samples,
                        const std::string& label,
                        const std::string& benchmark) {
  int64_t highest = 0;
  for (const MemorySamples& file : samples) {
    const SampledBenchmark* const sampled =
        file.label() == label ? FindByName(file.benchmarks(), benchmark)
                              : nullptr;
    if (sampled == nullptr) continue;
    for (const SampledMetric& metric : sampled->metrics()) {
      if (metric.kind() != PEAK_RESIDENT_BYTES || !metric.phase().empty()) {
        continue;
      }
      for (int64_t value : metric.values()) highest = std::max(highest, value);
    }
  }
  return highest;
}

// One call of FitDevice.
class Fitter {
 public:
  Fitter(const FleetSource& source, absl::Span<const MemoryProfile> profiles,
         absl::Span<const MemorySamples> samples)
      : source_(source), profiles_(profiles), samples_(samples) {}

  absl::StatusOr<std::vector<std::string>> NamesOn(const Device& device,
                                                   const WhatIf& what_if) {
    std::vector<std::string> names(device.deployment().begin(),
                                   device.deployment().end());
    for (const std::string& name : what_if.without) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--without=", name, ": does not run on \"", device.name(), "\"",
            DidYouMean(name, names), "; name one that does"));
      }
      names.erase(found);
    }
    for (const std::string& name : what_if.with) {
      if (std::count(names.begin(), names.end(), name) > 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("--with=", name, ": runs on \"", device.name(),
                         "\" anyway; take the flag away"));
      }
      names.push_back(name);
    }
    return names;
  }

  // Returns the need of the deployment's worst benchmark.
  absl::StatusOr<DeploymentNeed> ReadNeed(const std::string& name) {
    const Deployment* const deployment =
        FindByName(source_.fleet.deployment(), name);
    if (deployment == nullptr) {
      return NotFound(source_, "deployment", name, source_.fleet.deployment());
    }
    DeploymentNeed worst;
    bool is_measured = false;
    for (const MemoryProfile& profile : profiles_) {
      if (profile.label() != deployment->label()) continue;
      if (profile.has_failure()) {
        return absl::FailedPreconditionError(
            absl::StrCat(source_.path, ": deployment \"", name,
                         "\": the profile of ", profile.label(),
                         " has a failure, so its peak is not known; bazel run ",
                         GateTarget("check"), " says why"));
      }
      for (const BenchmarkMemory& memory : profile.benchmarks()) {
        if (!deployment->benchmark().empty() &&
            !GlobMatches(deployment->benchmark(), memory.name())) {
          continue;
        }
        absl::Status status = Consider(*deployment, memory, &worst);
        if (!status.ok()) return status;
        is_measured = true;
      }
    }
    if (is_measured) return worst;
    return absl::NotFoundError(absl::StrCat(
        source_.path, ": deployment \"", name, "\" is ", deployment->label(),
        deployment->benchmark().empty()
            ? ""
            : absl::StrCat(", benchmark \"", deployment->benchmark(), "\""),
        ", of which no profile is given here; correct it, or add its "
        "memory_profile to the target"));
  }

 private:
  absl::Status Consider(const Deployment& deployment,
                        const BenchmarkMemory& memory, DeploymentNeed* worst) {
    const absl::optional<int64_t> heap = HeapBytes(memory);
    DeploymentNeed need;
    need.name = deployment.name();
    need.benchmark = memory.name();
    need.heap_bytes = heap.value_or(0);
    need.resident_bytes =
        HighestResident(samples_, deployment.label(), memory.name());
    if (!heap.has_value() && need.resident_bytes == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat(source_.path, ": deployment \"", deployment.name(),
                       "\": the peak of ", memory.name(),
                       " is not known, since it did not repeat"));
    }
    if (worst->name.empty() || need.peak_bytes() > worst->peak_bytes()) {
      *worst = need;
    }
    return absl::OkStatus();
  }

  const FleetSource& source_;
  const absl::Span<const MemoryProfile> profiles_;
  const absl::Span<const MemorySamples> samples_;
};

}  // namespace

int64_t DeviceFit::sum_bytes() const {
  int64_t sum = 0;
  for (const DeploymentNeed& need : needs) sum += need.peak_bytes();
  return sum;
}

int64_t DeviceFit::margin_bytes() const {
  return ram_bytes - reserve_bytes - sum_bytes();
}

absl::StatusOr<DeviceFit> FitDevice(const FleetSource& source,
                                    const std::string& device_name,
                                    const WhatIf& what_if,
                                    absl::Span<const MemoryProfile> profiles,
                                    absl::Span<const MemorySamples> samples) {
  const Device* const device = FindByName(source.fleet.device(), device_name);
  if (device == nullptr) {
    return NotFound(source, "device", device_name, source.fleet.device());
  }
  DeviceFit fit;
  fit.device = device_name;
  fit.ram_bytes =
      what_if.ram_bytes.value_or(ParseBytes(device->ram()).value_or(0));
  fit.reserve_bytes = ParseBytes(device->reserve()).value_or(0);
  if (fit.ram_bytes <= 0) {
    return absl::InvalidArgumentError(
        "--ram must be more than 0 bytes, such as --ram=512MiB");
  }
  Fitter fitter(source, profiles, samples);
  const absl::StatusOr<std::vector<std::string>> names =
      fitter.NamesOn(*device, what_if);
  if (!names.ok()) return names.status();
  // The room without any deployment is an answer only if the what-if removed
  // them all.
  if (names->empty() && what_if.without.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        source.path, ": no deployment runs on \"", device_name,
        "\", so there is nothing to add; give it one there, or --with=NAME"));
  }
  for (const std::string& name : *names) {
    absl::StatusOr<DeploymentNeed> need = fitter.ReadNeed(name);
    if (!need.ok()) return need.status();
    fit.needs.push_back(*std::move(need));
  }
  std::stable_sort(fit.needs.begin(), fit.needs.end(),
                   [](const DeploymentNeed& a, const DeploymentNeed& b) {
                     return a.peak_bytes() > b.peak_bytes();
                   });
  return fit;
}

std::string FitText(const DeviceFit& fit) {
  std::vector<std::vector<std::string>> rows;
  for (const DeploymentNeed& need : fit.needs) {
    rows.push_back({need.name, FormatRoundedBytes(need.peak_bytes()),
                    need.resident_bytes > need.heap_bytes ? "resident" : "heap",
                    need.benchmark});
  }
  rows.push_back({"reserve", FormatRoundedBytes(fit.reserve_bytes), "", ""});
  TextTable table({{"deployment"},
                   {"worst peak", TextTable::kFigures},
                   {"by"},
                   {"benchmark"}});
  for (const std::vector<std::string>& row : rows) table.Fit(row);
  std::string text = table.Headings();
  for (const std::vector<std::string>& row : rows) text += table.Row(row);
  const int64_t margin = fit.margin_bytes();
  absl::StrAppendFormat(&text, "%s %s, %s %s of %s (%.1f %%)\n",
                        margin >= 0 ? "FITS" : "DOES NOT FIT", fit.device,
                        FormatRoundedBytes(std::abs(margin)),
                        margin >= 0 ? "left" : "too much",
                        FormatRoundedBytes(fit.ram_bytes),
                        100.0 * std::fabs(static_cast<double>(margin)) /
                            static_cast<double>(fit.ram_bytes));
  return text;
}

}  // namespace footprint
