// What the fft tests share: a discrete Fourier transform written down plainly in a wide type, random data, norms, and
// messages of errors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/fft/plan.hpp>

#include "support/message_of.hpp"
#include "turn.hpp"

namespace trn::fft::test {

// A dense row-major complex array, transformed along one axis: sign -1 forward, +1 inverse.
template <class L> void oracle_axis(std::vector<Wide<L>>& x, const Shape& shape, std::size_t axis, int sign) {
  const std::int64_t n = shape[axis];
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  std::vector<Turn<L>> root;
  for (std::int64_t k = 0; k < n; ++k) root.push_back(turn<L>(k, n));
  std::vector<Wide<L>> line(static_cast<std::size_t>(n));
  const std::int64_t outer = static_cast<std::int64_t>(x.size()) / (n * inner);
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      Wide<L>* const at = x.data() + o * n * inner + i;
      for (std::int64_t k = 0; k < n; ++k) {
        Wide<L> sum;
        for (std::int64_t j = 0; j < n; ++j) {
          const Turn<L>& w = root[static_cast<std::size_t>(j * k % n)];
          const L s = sign < 0 ? -w.s : w.s;
          const Wide<L>& z = at[j * inner];
          sum.re += z.re * w.c - z.im * s;
          sum.im += z.re * s + z.im * w.c;
        }
        line[static_cast<std::size_t>(k)] = sum;
      }
      for (std::int64_t k = 0; k < n; ++k) at[k * inner] = line[static_cast<std::size_t>(k)];
    }
  }
}
template <class L>
void oracle(std::vector<Wide<L>>& x, const Shape& shape, const std::vector<std::size_t>& axes, int sign) {
  for (const std::size_t axis : axes) oracle_axis(x, shape, axis, sign);
}

// Calls f(index tuple, position in row-major order) for every element.
template <class F> void each_index(const Shape& shape, const F& f) {
  Shape index(shape.size(), 0);
  const std::int64_t count = element_count(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    f(index, static_cast<std::size_t>(i));
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}
inline std::int64_t offset(const Shape& index, const Strides& strides) {
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < index.size(); ++d) sum += index[d] * strides[d];
  return sum;
}

template <class T> std::vector<std::complex<T>> random_complex(std::int64_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<std::complex<T>> x(static_cast<std::size_t>(n));
  for (auto& z : x) {
    const double re = normal(engine);
    z = {static_cast<T>(re), static_cast<T>(normal(engine))};
  }
  return x;
}
template <class T> std::vector<T> random_real(std::int64_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) v = static_cast<T>(normal(engine));
  return x;
}

using testing_support::message_of;

}  // namespace trn::fft::test
