// uniform: out(i) = a uniformly distributed number between 0 and 1. cuRAND: curandGenerateUniform for float,
// curandGenerateUniformDouble for double.
//
// OpenClosed is (0, 1], with cuRAND's bits for the generators that cuRAND has:
//
//   float     one word x: float(x) * 2^-32 + 2^-33, float(x) and the sum rounded to nearest even. Of Mt19937
//             float(x * 2^-32 + 2^-33), the exact sum rounded once; 0.8 % differ in the last place. Of Mrg32k3a the
//               number
//             r behind the word, 1 <= r <= m = 2^32 - 209: float(r * f), f = 0x1.000000d00000bp-32, nearly 1/m.
//   double    Mt19937: one word, x * 2^-32 + 2^-33, exact. Mrg32k3a: one word, r * f. The others: two words x and y,
//             (x ^ (y << 21)) * 2^-53 + 2^-54. Threefry pairs neighbours, words p + 2 i and p + 2 i + 1. Xorwow and
//             Philox draw both words from one subsequence as cuRAND does: Xorwow takes two steps of the subsequence
//               whose
//             turn it is, Philox two blocks for four doubles. The pairing starts at State::origin; a draw begins at the
//             next even distance from there, and after n doubles the position is 2 n further.
//
// HalfOpen is [0, 1), every multiple of 2^-24 or 2^-53 equally likely, of the same words for every pseudo-random
// algorithm: float (x >> 8) * 2^-24 of one word, double (z >> 11) * 2^-53 of z = x + 2^32 y, words p + 2 i and p + 2 i
// + 1.
//
// Quasi-random coordinates: see quasi.hpp. The bits are the same on every executor; devices have no doubles and throw
// NotImplemented. Order, strides, advancing and refusals are those of raw32.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

enum class Interval : std::uint8_t { OpenClosed, HalfOpen };

void uniform(const Executor& executor, Generator& generator, const View<float>& out,
             Interval interval = Interval::OpenClosed);
void uniform(const Executor& executor, Generator& generator, const View<double>& out,
             Interval interval = Interval::OpenClosed);

}  // namespace trn::rand
