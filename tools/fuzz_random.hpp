// Random choices of a fuzz case: everything a case does is a function of its seed.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace trn::tools::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t word() { return engine_(); }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  std::size_t index(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class X> X pick(std::initializer_list<X> list) { return list.begin()[index(list.size())]; }
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  // From 1 to `most`, all magnitudes alike.
  std::int64_t size(std::int64_t most) {
    return std::min(most, static_cast<std::int64_t>(std::exp2(uniform(0, std::log2(static_cast<double>(most) + 1)))));
  }

 private:
  std::mt19937_64 engine_;
};

// f(T{}, name of T) for one of the four element types.
template <class F> void with_a_scalar(Random& r, F f) {
  switch (r.below(4)) {
    case 0:
      return f(float{}, "float");
    case 1:
      return f(double{}, "double");
    case 2:
      return f(std::complex<float>{}, "complex64");
    default:
      return f(std::complex<double>{}, "complex128");
  }
}

}  // namespace trn::tools::fuzz
