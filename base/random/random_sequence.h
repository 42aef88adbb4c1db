// Random numbers that depend only on the seed, on every machine (splitmix64);
// Normal also depends on the C library.
//
//   footprint::RandomSequence random(/*seed=*/7);
//   const double share = random.Uniform();
//   const uint64_t row = random.Below(row_count);
//
// Do not use it for secrets. It is a value of eight bytes; a copy continues by
// itself from where it was copied. Thread-compatible.

#ifndef FOOTPRINT_BASE_RANDOM_RANDOM_SEQUENCE_H_
#define FOOTPRINT_BASE_RANDOM_RANDOM_SEQUENCE_H_

#include <cmath>
#include <cstdint>

namespace footprint {

// Returns a well mixed function of its argument: the finaliser of splitmix64.
inline uint64_t MixBits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

constexpr uint64_t kRandomStep = 0x9e3779b97f4a7c15u;

// Returns the number at place `index`, counted from 1, of the sequence of
// `seed`, without computing those before it.
inline uint64_t RandomAt(uint64_t seed, uint64_t index) {
  return MixBits(seed + index * kRandomStep);
}

class RandomSequence {
 public:
  explicit RandomSequence(uint64_t seed) : state_(seed) {}

  // Returns the next number, of which all 64 bits are random.
  uint64_t Next() { return MixBits(state_ += kRandomStep); }
  // Skips as many numbers of Next. Each other function takes one of them, and
  // Normal takes two.
  void Skip(uint64_t count) { state_ += count * kRandomStep; }
  // Returns a number from 0 to below `limit`, which must be above 0. Smaller
  // numbers are more likely, by a share of at most limit / 2^64.
  uint64_t Below(uint64_t limit) { return Next() % limit; }
  // Returns a number from 0 to below 1.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // Returns a number from -1 to below 1. It is a multiple of 2^-23, so it is
  // exact in a float.
  float SignedUnit() {
    return static_cast<float>(Next() >> 40) * 0x1p-23f - 1.0f;
  }
  // Returns a number from the normal distribution of mean 0 and deviation 1.
  // Its last bits depend on the C library's log and cos.
  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    return radius * std::cos(6.283185307179586 * Uniform());
  }

 private:
  uint64_t state_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_RANDOM_RANDOM_SEQUENCE_H_
