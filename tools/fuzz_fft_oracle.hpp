// Single results of a transform by the definition, in long double or __float128, with the roots of unity of the tests
// (fft/test/turn.hpp), which share nothing with the product's.
//
// Sums go in blocks of 256 terms, so that a sum of n products errs by about (256 + n/256) units of the type times the
// sum of moduli: below 2^-51 of it in long double for 2^20 points, which is for float, and below 2^-99 in __float128.
#pragma once

#include <vector>

#include <trn/core/view.hpp>

#include "../fft/test/turn.hpp"

namespace trn::tools::fuzz {

using fft::test::Quad;
template <class L> using Point = fft::test::Wide<L>;

template <class L> Point<L> product(const Point<L>& a, const Point<L>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// exp(sign 2 pi i jk/n) for j < n: products of the roots for multiples of a step near sqrt(n) and those below it.
template <class L> std::vector<Point<L>> weights(std::int64_t k, std::int64_t n, int sign) {
  std::int64_t step = 1;
  while (step * step < n) ++step;
  const auto root = [&](std::int64_t j) -> Point<L> {
    const auto t = fft::test::turn<L>(j * k % n, n);
    return {t.c, sign < 0 ? -t.s : t.s};
  };
  std::vector<Point<L>> fine, all;
  for (std::int64_t j = 0; j < step; ++j) fine.push_back(root(j));
  for (std::int64_t first = 0; first < n; first += step) {
    const Point<L> coarse = root(first);
    for (std::int64_t j = 0; j < step && first + j < n; ++j)
      all.push_back(product(coarse, fine[static_cast<std::size_t>(j)]));
  }
  return all;
}

// Result k of the dense row-major array x, transformed over all its axes.
template <class L> Point<L> result(std::vector<Point<L>> x, const Shape& axes, const Shape& k, int sign) {
  for (std::size_t d = axes.size(); d-- > 0;) {
    const auto n = static_cast<std::size_t>(axes[d]), rows = x.size() / n;
    const std::vector<Point<L>> w = weights<L>(k[d], axes[d], sign);
    for (std::size_t row = 0; row < rows; ++row) {
      Point<L> sum;
      for (std::size_t first = 0; first < n; first += 256) {
        Point<L> block;
        for (std::size_t j = first; j < n && j < first + 256; ++j) {
          const Point<L> p = product(x[row * n + j], w[j]);
          block = {block.re + p.re, block.im + p.im};
        }
        sum = {sum.re + block.re, sum.im + block.im};
      }
      x[row] = sum;
    }
    x.resize(rows);
  }
  return x[0];
}

}  // namespace trn::tools::fuzz
