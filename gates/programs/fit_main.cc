// Checks whether the deployments of a device fit it together. The rule
// memory_fleet_fit of gates/defs.bzl runs it and gives it a fleet and a
// manifest.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/fleet/device_fit.h"
#include "footprint/gates/fleet/fleet_file.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Adds the worst peaks of a device's deployments, and says whether they fit.

  bazel run //gates:fit -- edge_box
  bazel run //gates:fit -- edge_box --with=price_model --without=ranker
  bazel run //gates:fit -- edge_box --ram=1GiB

Flags
  --with=NAME      also count this deployment of the fleet
  --without=NAME   do not count this deployment of the device
  --ram=BYTES      judge by this much RAM, such as 512MiB, in place of the
                   device's
  --help           print this text

Exit status: 0 they fit; 1 they do not; 2 the device, a deployment or a flag is
wrong; 3 a peak is not known.
)";

int Complain(absl::string_view message) {
  std::fprintf(stderr, "fit: %s\n", std::string(message).c_str());
  return BAD_CONFIGURATION;
}

struct FitFlags {
  std::string device;
  std::string fleet;
  std::string manifest;
  WhatIf what_if;
  bool wants_help = false;
};

absl::StatusOr<FitFlags> ParseFitFlags(
    const std::vector<std::string>& arguments) {
  FitFlags fit;
  std::vector<std::string> rest;
  for (const std::string& argument : arguments) {
    if (argument.compare(0, 2, "--") == 0) {
      rest.push_back(argument);
    } else if (fit.device.empty()) {
      fit.device = argument;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("names two devices, ", fit.device, " and ", argument,
                       "; ask for one at a time"));
    }
  }
  const absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      rest, {"fleet", "manifest", "with", "without", "ram"}, {"help"});
  if (!flags.ok()) return flags.status();
  fit.wants_help = flags->Has("help");
  fit.fleet = flags->Value("fleet", "");
  fit.manifest = flags->Value("manifest", "");
  fit.what_if.with = flags->Values("with");
  fit.what_if.without = flags->Values("without");
  if (flags->Has("ram")) {
    const absl::StatusOr<int64_t> ram = ParseBytes(flags->Value("ram", ""));
    if (!ram.ok()) return ram.status();
    fit.what_if.ram_bytes = *ram;
  }
  return fit;
}

int Complain(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) Complain(problem);
  return BAD_CONFIGURATION;
}

int Fit(const FitFlags& flags) {
  const absl::StatusOr<std::string> text = ReadWholeFile(flags.fleet);
  if (!text.ok()) return Complain(text.status().message());
  const FleetSource source = ParseFleetFile(flags.fleet, *text);
  if (!source.problems.empty()) return Complain(source.problems);
  if (flags.device.empty()) {
    std::string names;
    for (const Device& device : source.fleet.device()) {
      absl::StrAppend(&names, " ", device.name());
    }
    return Complain(absl::StrCat("name a device of ", flags.fleet, ":", names));
  }
  const GateInput input = ReadGateInput(flags.manifest, SamplesToRead::kAll);
  for (const Problem& problem : input.problems) {
    Complain(absl::StrCat(problem.location(), ": ", problem.message()));
  }
  if (!input.problems.empty()) return BAD_CONFIGURATION;
  const absl::StatusOr<DeviceFit> fit = FitDevice(
      source, flags.device, flags.what_if, input.profiles, input.samples);
  if (!fit.ok()) {
    Complain(fit.status().message());
    return absl::IsFailedPrecondition(fit.status()) ? PRODUCER_FAILED
                                                    : BAD_CONFIGURATION;
  }
  std::fputs(FitText(*fit).c_str(), stdout);
  return fit->margin_bytes() >= 0 ? ACCEPT : REJECT;
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<FitFlags> flags = ParseFitFlags(arguments);
  if (!flags.ok()) return Complain(flags.status().message());
  if (flags->wants_help) {
    std::fputs(NameGateTargets(kHelp).c_str(), stdout);
    return ACCEPT;
  }
  if (flags->fleet.empty() || flags->manifest.empty()) {
    return Complain(
        "no --fleet or no --manifest; run a memory_fleet_fit target, which "
        "gives them");
  }
  return Fit(*flags);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
