#include "footprint/gates/judge/gate_input.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {
namespace {

void AddProblem(const std::string& location, absl::string_view message,
                GateInput* input) {
  Problem problem;
  problem.set_decision(BAD_CONFIGURATION);
  problem.set_location(location);
  problem.set_message(std::string(message));
  input->problems.push_back(problem);
}

void ReadProfile(const std::string& path, const std::string& label,
                 GateInput* input) {
  absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(path);
  if (profile.ok() && profile->label() != label) {
    // The rules are for the label that the gate names, so they would not judge
    // this profile.
    AddProblem(label,
               absl::StrCat(path, ": is a profile of \"", profile->label(),
                            "\", so ", label,
                            " is not judged; name the memory_profile target "
                            "of ",
                            label, " in the gate, and measure again"),
               input);
  } else if (profile.ok()) {
    input->profiles.push_back(*std::move(profile));
  } else if (absl::IsDataLoss(profile.status())) {
    MemoryProfile failed;
    failed.set_label(label);
    failed.mutable_failure()->set_kind(ProducerFailure::WROTE_BAD_PROFILE);
    failed.mutable_failure()->set_detail(
        std::string(profile.status().message()));
    input->profiles.push_back(failed);
  } else {
    AddProblem(label, profile.status().message(), input);
  }
}

// Reads a whole process and adds it to the profile that was read last.
void ReadWholeProcess(const std::string& path, const std::string& label,
                      GateInput* input) {
  const absl::StatusOr<MemoryProfile> whole = ReadMemoryProfileFile(path);
  if (!whole.ok()) {
    AddProblem(label, whole.status().message(), input);
  } else if (whole->label() != label) {
    AddProblem(label,
               absl::StrCat(path, ": is the whole process of \"",
                            whole->label(), "\"; measure ", label, " again"),
               input);
  } else if (!input->profiles.empty() &&
             input->profiles.back().label() == label) {
    AddWholeProcess(*whole, &input->profiles.back());
  }
}

void ReadThresholds(const std::string& path, GateInput* input) {
  absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) {
    AddProblem(path, text.status().message(), input);
    return;
  }
  input->thresholds.push_back(ParseThresholdFile(path, *text));
}

struct LabelledPath {
  std::string path;
  std::string label;
};

bool HasSampledRule(const GateInput& input) {
  for (const ThresholdSource& source : input.thresholds) {
    for (const Threshold& threshold : source.file.threshold()) {
      if (ComputeScope(threshold) == RuleScope::kSamples) return true;
    }
  }
  return false;
}

void ReadSamples(const LabelledPath& file, GateInput* input) {
  absl::StatusOr<MemorySamples> samples = ReadMemorySamplesFile(file.path);
  if (!samples.ok()) {
    AddProblem(file.label, samples.status().message(), input);
  } else if (samples->label() != file.label) {
    AddProblem(file.label,
               absl::StrCat(file.path, ": has samples of \"", samples->label(),
                            "\"; measure ", file.label, " again"),
               input);
  } else {
    input->samples.push_back(*std::move(samples));
  }
}

}  // namespace

GateInput ReadGateInput(const std::string& manifest_path,
                        SamplesToRead wanted) {
  GateInput input;
  absl::StatusOr<std::string> manifest = ReadWholeFile(manifest_path);
  if (!manifest.ok()) {
    AddProblem(manifest_path, manifest.status().message(), &input);
    return input;
  }
  // Reads the files that the lines name, but only notes those of samples.
  int number = 0;
  std::vector<LabelledPath> samples;
  for (absl::string_view line : absl::StrSplit(*manifest, '\n')) {
    ++number;
    if (line.empty()) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (fields[0] == "profile" && fields.size() == 3) {
      ReadProfile(fields[1], fields[2], &input);
    } else if (fields[0] == "whole_process" && fields.size() == 3) {
      ReadWholeProcess(fields[1], fields[2], &input);
    } else if (fields[0] == "thresholds" && fields.size() == 2) {
      ReadThresholds(fields[1], &input);
    } else if (fields[0] == "samples" && fields.size() == 3) {
      samples.push_back({fields[1], fields[2]});
    } else {
      AddProblem(
          absl::StrCat(manifest_path, ":", number),
          "is not a line of a gate's manifest; run the gate by its Bazel "
          "target, which writes it",
          &input);
    }
  }
  // Reads the samples only if a rule needs them. Samples that are given twice
  // would count twice.
  if (wanted != SamplesToRead::kAll && !HasSampledRule(input)) return input;
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!IsSameFile(samples[i].path, samples[j].path)) continue;
      AddProblem(samples[i].label,
                 absl::StrCat(samples[i].path,
                              ": its samples are given twice, so each run "
                              "would count twice; give the gate each profile "
                              "once"),
                 &input);
      return input;
    }
    ReadSamples(samples[i], &input);
  }
  return input;
}

Verdict Judge(const GateInput& input, const EvaluationOptions& options) {
  if (input.problems.empty()) {
    EvaluationOptions with_samples = options;
    with_samples.samples = input.samples;
    return Evaluate(input.profiles, input.thresholds, with_samples);
  }
  Verdict verdict;
  verdict.set_decision(BAD_CONFIGURATION);
  for (const Problem& problem : input.problems) {
    *verdict.add_problems() = problem;
  }
  for (const ThresholdSource& source : input.thresholds) {
    for (const Problem& problem : source.problems) {
      *verdict.add_problems() = problem;
    }
  }
  return verdict;
}

}  // namespace footprint
