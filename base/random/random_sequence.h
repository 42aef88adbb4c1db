// Random numbers that depend on the seed alone, on every machine (splitmix64).
//
//   footprint::RandomSequence random(/*seed=*/7);
//   const double value = random.Uniform();
//
// A value of eight bytes; thread-compatible.

#ifndef FOOTPRINT_BASE_RANDOM_RANDOM_SEQUENCE_H_
#define FOOTPRINT_BASE_RANDOM_RANDOM_SEQUENCE_H_

#include <cmath>
#include <cstdint>

namespace footprint {

// A well mixed function of its argument: the finaliser of splitmix64.
inline uint64_t MixBits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

class RandomSequence {
 public:
  explicit RandomSequence(uint64_t seed) : state_(seed) {}

  uint64_t Next() { return MixBits(state_ += 0x9e3779b97f4a7c15u); }
  // From 0 to below 1.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // Of mean 0 and deviation 1.
  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    return radius * std::cos(6.283185307179586 * Uniform());
  }

 private:
  uint64_t state_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_RANDOM_RANDOM_SEQUENCE_H_
