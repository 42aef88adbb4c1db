#include "footprint/lowmem/kernels/machine_peak.h"

#include <time.h>

#include <algorithm>

#include "footprint/base/simd/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lowmem/kernels/machine_peak.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// Highway's main header must come after foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using FloatVector = hn::Vec<FloatTag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));

// Returns the number of operations. The sum prevents the compiler from removing
// them.
double MultiplyAdds(int64_t rounds, float* sum) {
  const FloatTag d;
  // Enough variables to hide an instruction's latency; separate names keep them
  // in registers.
  FloatVector a = hn::Set(d, 1.0f), b = hn::Set(d, 2.0f), c = hn::Set(d, 3.0f);
  FloatVector e = hn::Set(d, 4.0f), f = hn::Set(d, 5.0f), g = hn::Set(d, 6.0f);
  FloatVector h = hn::Set(d, 7.0f), i = hn::Set(d, 8.0f), j = hn::Set(d, 9.0f);
  FloatVector k = hn::Set(d, 0.5f);
  const FloatVector x = hn::Set(d, sum[0] + 0.999f);
  const FloatVector y = hn::Set(d, sum[0] + 0.001f);
  for (int64_t round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, x, y);
    b = hn::MulAdd(b, x, y);
    c = hn::MulAdd(c, x, y);
    e = hn::MulAdd(e, x, y);
    f = hn::MulAdd(f, x, y);
    g = hn::MulAdd(g, x, y);
    h = hn::MulAdd(h, x, y);
    i = hn::MulAdd(i, x, y);
    j = hn::MulAdd(j, x, y);
    k = hn::MulAdd(k, x, y);
  }
  a = hn::Add(hn::Add(a, b), hn::Add(c, e));
  f = hn::Add(hn::Add(f, g), hn::Add(h, i));
  sum[1] = hn::GetLane(hn::Add(hn::Add(a, f), hn::Add(j, k)));
  return 2.0 * 10 * kLanes * static_cast<double>(rounds);
}

void AddUp(const float* numbers, int64_t count, float* sum) {
  const FloatTag d;
  FloatVector a = hn::Zero(d), b = a, c = a, e = a;
  for (int64_t i = 0; i + 4 * kLanes <= count; i += 4 * kLanes) {
    a = hn::Add(a, hn::LoadU(d, numbers + i));
    b = hn::Add(b, hn::LoadU(d, numbers + i + kLanes));
    c = hn::Add(c, hn::LoadU(d, numbers + i + 2 * kLanes));
    e = hn::Add(e, hn::LoadU(d, numbers + i + 3 * kLanes));
  }
  *sum = hn::GetLane(hn::Add(hn::Add(a, b), hn::Add(c, e)));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {

HWY_EXPORT(MultiplyAdds);
HWY_EXPORT(AddUp);

namespace {

constexpr int kTrials = 8;

}  // namespace

double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

double MeasureMultiplyAddFlops() {
  volatile float zero = 0;
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    float sum[2] = {zero, 0};
    const double begin = ThreadSeconds();
    const double operations = HWY_DYNAMIC_DISPATCH(MultiplyAdds)(2000000, sum);
    best = std::max(best, operations / (ThreadSeconds() - begin));
    zero = sum[1] * 0;
  }
  return best;
}

double MeasureReadBandwidth(absl::Span<const float> numbers) {
  volatile float sink = 0;
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    float sum = 0;
    const double begin = ThreadSeconds();
    HWY_DYNAMIC_DISPATCH(AddUp)
    (numbers.data(), static_cast<int64_t>(numbers.size()), &sum);
    const double seconds = ThreadSeconds() - begin;
    best = std::max(
        best, static_cast<double>(numbers.size()) * sizeof(float) / seconds);
    sink = sink + sum;
  }
  return best;
}

}  // namespace footprint
#endif  // HWY_ONCE
