#include "footprint/lowmem/models/exponential_sum.h"

#include <cmath>
#include <cstdint>

namespace footprint {
namespace {

constexpr double kLimbBits = 64;
constexpr int kFractionBits = 52;
constexpr double kLog2OfE = 1.4426950408889634;
constexpr double kLogOf2 = 0.6931471805599453;

}  // namespace

// Limbs that fall below the lowest are left out.
void ExponentialSum::RaiseTop(double top) {
  if (!(top > top_)) return;
  const double by = top - top_;
  for (int i = 2; i >= 0; --i) {
    limbs_[i] = by <= i ? limbs_[i - static_cast<int>(by)] : 0;
  }
  top_ = top;
}

void ExponentialSum::Add(float x) {
  // 2^(power + fraction), with a whole number of 53 bits for 2^fraction.
  const double binary = static_cast<double>(x) * kLog2OfE;
  const double power = std::floor(binary);
  const auto number = static_cast<uint64_t>(
      std::ldexp(std::exp2(binary - power), kFractionBits));
  const double lowest = power - kFractionBits;
  const double limb = std::floor(lowest / kLimbBits);
  const int shift = static_cast<int>(lowest - limb * kLimbBits);
  const Wide parts = static_cast<Wide>(number) << shift;
  RaiseTop(limb + 1);
  const double below = top_ - limb;  // at least 1
  if (below <= 2) {
    limbs_[static_cast<int>(below)] += static_cast<uint64_t>(parts);
  }
  if (below <= 3) {
    limbs_[static_cast<int>(below) - 1] += static_cast<uint64_t>(parts >> 64);
  }
}

void ExponentialSum::Merge(const ExponentialSum& other) {
  if (std::isinf(other.top_)) return;
  RaiseTop(other.top_);
  const double below = top_ - other.top_;
  for (int i = 0; i + below <= 2; ++i) {
    limbs_[i + static_cast<int>(below)] += other.limbs_[i];
  }
}

double ExponentialSum::Log() const {
  if (std::isinf(top_)) return top_;
  const double sum = std::ldexp(static_cast<double>(limbs_[0]), 64) +
                     (static_cast<double>(limbs_[1]) +
                      std::ldexp(static_cast<double>(limbs_[2]), -64));
  return std::log(sum) + (top_ - 1) * kLimbBits * kLogOf2;
}

}  // namespace footprint
