// Cosine and sine of 2 pi k/n in a wide type, by Taylor series on an angle reduced in integers: the roots of unity of
// the tests, which share nothing with the product's.
#pragma once

#include <cstdint>

namespace trn::fft::test {

__extension__ using Quad = __float128;

// L is long double or Quad. pi to 2^-160 as the sum of three doubles.
template <class L> struct Turn { L c, s; };
template <class L> Turn<L> turn(std::int64_t k, std::int64_t n) {
  k = ((k % n) + n) % n;
  if (2 * k > n) {
    const Turn<L> t = turn<L>(n - k, n);
    return {t.c, -t.s};
  }
  if (4 * k > n) {  // mirrored at the vertical axis: cos(pi - x) with pi - x = 2 pi (n - 2k)/(2n)
    const Turn<L> t = turn<L>(n - 2 * k, 2 * n);
    return {-t.c, t.s};
  }
  const L pi = static_cast<L>(3.141592653589793116) + static_cast<L>(1.2246467991473532072e-16) +
               static_cast<L>(-2.9947698097183396659e-33);
  const L x = 2 * pi * static_cast<L>(k) / static_cast<L>(n);  // <= pi/2
  L c = 0, s = 0, term = 1;
  for (int i = 0; i < 44; ++i) {
    ((i % 2) ? s : c) += (i % 4 < 2) ? term : -term;
    term = term * x / static_cast<L>(i + 1);
  }
  return {c, s};
}

template <class L> struct Wide { L re = 0, im = 0; };

}  // namespace trn::fft::test
