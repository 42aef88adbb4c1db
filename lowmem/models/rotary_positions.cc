#include "footprint/lowmem/models/rotary_positions.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace footprint {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr char kScalings[] =
    "\"default\", \"linear\", \"llama3\", \"yarn\" and \"longrope\"";

// Returns the wave lengths divided by 2 pi, before scaling.
std::vector<float> Periods(double theta, int64_t features) {
  std::vector<float> periods;
  for (int64_t i = 0; i < features; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(features);
    periods.push_back(
        static_cast<float>(std::pow(theta, static_cast<double>(exponent))));
  }
  return periods;
}

// Reads a number above zero that a scaling requires.
double Positive(ConfigReader& parameters, const char* key) {
  const double value = parameters.NumberOr(key, 0);
  if (value > 0 && std::isfinite(value)) return value;
  parameters.Fail(key, "is not a number above zero, which this scaling needs");
  return 1;
}

double OriginalPositions(ConfigReader& parameters,
                         const RotaryDefaults& defaults) {
  constexpr char kKey[] = "original_max_position_embeddings";
  if (parameters.Has(kKey) || defaults.original_positions == 0) {
    return static_cast<double>(parameters.Extent(kKey));
  }
  return static_cast<double>(defaults.original_positions);
}

void ScaleAsLlama3(ConfigReader& parameters, const RotaryDefaults& defaults,
                   std::vector<float>& frequencies) {
  const auto factor = static_cast<float>(Positive(parameters, "factor"));
  const double low = Positive(parameters, "low_freq_factor");
  const double high = Positive(parameters, "high_freq_factor");
  const double original = OriginalPositions(parameters, defaults);
  if (low >= high) {
    parameters.Fail("low_freq_factor", "is not below high_freq_factor");
    return;
  }
  for (float& frequency : frequencies) {
    const float wave_length = static_cast<float>(2 * kPi) / frequency;
    if (wave_length < static_cast<float>(original / high)) continue;
    if (wave_length > static_cast<float>(original / low)) {
      frequency /= factor;
      continue;
    }
    const float smooth =
        (static_cast<float>(original) / wave_length - static_cast<float>(low)) /
        static_cast<float>(high - low);
    frequency = (1 - smooth) * frequency / factor + smooth * frequency;
  }
}

double YarnScale(double factor, double times) {
  return factor <= 1 ? 1.0 : 0.1 * times * std::log(factor) + 1.0;
}

double YarnAttentionFactor(ConfigReader& parameters, double factor) {
  if (parameters.Has("attention_factor")) {
    return Positive(parameters, "attention_factor");
  }
  const double times = parameters.NumberOr("mscale", 0);
  const double times_all = parameters.NumberOr("mscale_all_dim", 0);
  if (times != 0 && times_all != 0) {
    return YarnScale(factor, times) / YarnScale(factor, times_all);
  }
  return YarnScale(factor, 1);
}

// Pairs that rotate fast keep their frequency, slow ones are divided by the
// factor, and a linear ramp connects the two.
void ScaleAsYarn(ConfigReader& parameters, const RotaryDefaults& defaults,
                 double theta, const std::vector<float>& periods,
                 RotaryPositions* rotary) {
  const double original = OriginalPositions(parameters, defaults);
  const double factor =
      parameters.Has("factor")
          ? Positive(parameters, "factor")
          : static_cast<double>(defaults.positions) / original;
  const double features = 2.0 * static_cast<double>(periods.size());
  const auto pair_of_turns = [&](double turns) {
    return features * std::log(original / (turns * 2 * kPi)) /
           (2 * std::log(theta));
  };
  double low = pair_of_turns(parameters.NumberOr("beta_fast", 32));
  double high = pair_of_turns(parameters.NumberOr("beta_slow", 1));
  if (parameters.FlagOr("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, features - 1);
  if (low == high) high += 0.001;
  for (size_t i = 0; i < periods.size(); ++i) {
    const float ramp = std::min(
        1.0f, std::max(0.0f, (static_cast<float>(i) - static_cast<float>(low)) /
                                 static_cast<float>(high - low)));
    const float kept = 1 - ramp;
    const float slow = 1 / (static_cast<float>(factor) * periods[i]);
    rotary->frequencies[i] = slow * (1 - kept) + 1 / periods[i] * kept;
  }
  rotary->scale = static_cast<float>(YarnAttentionFactor(parameters, factor));
}

void ScaleAsLongRope(ConfigReader& parameters, const RotaryDefaults& defaults,
                     const std::vector<float>& periods,
                     RotaryPositions* rotary) {
  const std::vector<double> factors = parameters.NumbersOr("short_factor", {});
  if (factors.size() != periods.size()) {
    parameters.Fail("short_factor",
                    absl::StrCat("has ", factors.size(), " numbers, not the ",
                                 periods.size(), " of a head"));
    return;
  }
  const double original = OriginalPositions(parameters, defaults);
  for (size_t i = 0; i < periods.size(); ++i) {
    if (!(factors[i] > 0)) {
      parameters.Fail("short_factor", "has a number that is not above zero");
      return;
    }
    rotary->frequencies[i] = 1 / (static_cast<float>(factors[i]) * periods[i]);
  }
  const double factor =
      parameters.Has("factor")
          ? Positive(parameters, "factor")
          : static_cast<double>(defaults.positions) / original;
  if (parameters.Has("attention_factor")) {
    rotary->scale =
        static_cast<float>(Positive(parameters, "attention_factor"));
  } else if (factor > 1) {
    rotary->scale = static_cast<float>(
        std::sqrt(1 + std::log(factor) / std::log(original)));
  }
  rotary->most_positions = static_cast<int64_t>(original);
}

// Returns the object of the scaling, under its current or its older name.
absl::optional<ConfigReader> FindParameters(ConfigReader& config) {
  if (config.Has("rope_parameters")) return config.Section("rope_parameters");
  if (config.Has("rope_scaling")) return config.Section("rope_scaling");
  return absl::nullopt;
}

}  // namespace

bool operator==(const RotaryPositions& a, const RotaryPositions& b) {
  return a.frequencies == b.frequencies && a.scale == b.scale &&
         a.has_neighbours == b.has_neighbours &&
         a.most_positions == b.most_positions;
}

RotaryPositions ReadRotaryParameters(ConfigReader& parameters,
                                     const RotaryDefaults& defaults) {
  RotaryPositions rotary;
  // Reads the base, and the number of features of a head that rotate.
  const double theta = parameters.NumberOr("rope_theta", defaults.theta);
  const double share = parameters.NumberOr("partial_rotary_factor", 1);
  if (!(theta > 1)) parameters.Fail("rope_theta", "is not above 1");
  if (!(share > 0 && share <= 1)) {
    parameters.Fail("partial_rotary_factor", "is not above 0 and at most 1");
  }
  if (!parameters.status().ok()) return rotary;
  const auto features =
      static_cast<int64_t>(static_cast<double>(defaults.head_features) * share);
  if (features < 2 || features % 2 != 0) {
    parameters.Fail("head_dim", absl::StrCat("leaves ", features,
                                             " features to rotate, which are "
                                             "not pairs"));
    return rotary;
  }
  // This is far more than any head has, and the list still stays small.
  constexpr int64_t kMostFeatures = 1 << 16;
  if (features > kMostFeatures) {
    parameters.Fail("head_dim",
                    absl::StrCat("of ", features, " features is no head's"));
    return rotary;
  }
  const std::vector<float> periods = Periods(theta, features);
  for (const float period : periods) rotary.frequencies.push_back(1 / period);
  // Scales the frequencies. Older configs say "type".
  const std::string type =
      parameters.TextOr("rope_type", parameters.TextOr("type", "default"));
  if (type == "linear") {
    const auto factor = static_cast<float>(Positive(parameters, "factor"));
    for (float& frequency : rotary.frequencies) frequency /= factor;
  } else if (type == "llama3") {
    ScaleAsLlama3(parameters, defaults, rotary.frequencies);
  } else if (type == "yarn") {
    ScaleAsYarn(parameters, defaults, theta, periods, &rotary);
  } else if (type == "longrope" || type == "su") {
    ScaleAsLongRope(parameters, defaults, periods, &rotary);
  } else if (type != "default") {
    parameters.Refuse("rope_type", type, kScalings);
  }
  return rotary;
}

RotaryPositions ReadRotaryPositions(ConfigReader& config,
                                    const RotaryDefaults& defaults) {
  RotaryDefaults own = defaults;
  own.theta = config.NumberOr("rope_theta", defaults.theta);
  own.original_positions = config.ExtentOr("original_max_position_embeddings",
                                           defaults.original_positions);
  absl::optional<ConfigReader> parameters = FindParameters(config);
  // Keys outside the object count if the object does not have them.
  ConfigReader merged = parameters.has_value()
                            ? *parameters
                            : config.EmptySection("rope_parameters");
  merged.Inherit("rope_theta", config);
  merged.Inherit("partial_rotary_factor", config);
  RotaryPositions rotary = ReadRotaryParameters(merged, own);
  config.Take(merged);
  return rotary;
}

LayerRotations ReadLayerRotations(ConfigReader& config,
                                  const RotaryDefaults& defaults,
                                  double sliding_theta) {
  LayerRotations rotations;
  RotaryDefaults sliding = defaults;
  sliding.theta = sliding_theta;
  ConfigReader parameters = config.Has("rope_parameters")
                                ? config.Section("rope_parameters")
                                : config.EmptySection("rope_parameters");
  if (parameters.Has("full_attention")) {
    ConfigReader full = parameters.Section("full_attention");
    rotations.full = ReadRotaryParameters(full, defaults);
    parameters.Take(full);
    config.Take(parameters);
  } else {
    rotations.full = ReadRotaryPositions(config, defaults);
  }
  ConfigReader own = parameters.Has("sliding_attention")
                         ? parameters.Section("sliding_attention")
                         : parameters.EmptySection("sliding_attention");
  rotations.sliding = ReadRotaryParameters(own, sliding);
  config.Take(own);
  return rotations;
}

}  // namespace footprint
