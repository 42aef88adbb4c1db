// The sum of exponentials of numbers, such as the logits of a vocabulary, that
// has the same bits in whatever order they are added.
//
//   footprint::ExponentialSum sum;
//   for (const float logit : logits) sum.Add(logit);
//   double log_probability = logits[id] - sum.Log();
//
// An exponential is rounded to 53 bits, with a power of two of any size, and
// added as a whole number, exactly: in three limbs of 64 bits, the highest of
// which is set by the largest exponential. Bits below the lowest limb are left
// out, which is less than 2^-64 of the sum. So parts of a vocabulary may be
// added by any threads and merged in any order.
//
// Plain data of 64 bytes, thread-compatible. Error of Log: about 1e-15, and
// 1e-15 times the largest number's magnitude. Time: about 20 ns a number.

#ifndef FOOTPRINT_LOWMEM_MODELS_EXPONENTIAL_SUM_H_
#define FOOTPRINT_LOWMEM_MODELS_EXPONENTIAL_SUM_H_

#include <limits>

namespace footprint {

class ExponentialSum {
 public:
  // Returns whether Add takes the number: NaNs, infinities and magnitudes above
  // 2^49 are refused.
  static bool Takes(float x) { return x >= -0x1p49f && x <= 0x1p49f; }
  // Adds the exponential of a number that it takes.
  void Add(float x);
  // Adds the exponentials of another sum.
  void Merge(const ExponentialSum& other);

  // Returns the sum's natural logarithm; minus infinity if nothing was added.
  double Log() const;

 private:
  using Wide = unsigned __int128;

  void RaiseTop(double top);

  // Limb i counts units of 2^(64 (top_ - i)). Its bits beyond 64 are not
  // carried to the next limb, so that the sum in each limb does not depend on
  // the order.
  Wide limbs_[3] = {};
  double top_ = -std::numeric_limits<double>::infinity();
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_EXPONENTIAL_SUM_H_
