// Residuals and products with vectors whose sums are exact (ExactSum: no rounding, whatever the range of the terms),
// kept as two words. An Exact gemm drops what lies 62 bits below the largest element of a row or column; times a large
// inverse that would spoil a proof. O(n^2) sums per column, in software: about 20 ns a term.
#pragma once

#include "certify/bounded.hpp"

namespace trn::solver::certify {

template <Wide D> struct TwoWords {
  Columns<D> high, low;
  Columns<double> radius;  // |exact - (high + low)| <= radius: 2^-106 of it, and what the operands brought
  TwoWords(std::int64_t rows, std::int64_t columns) : high(rows, columns), low(rows, columns), radius(rows, columns) {}
};

// B - A (x_high + x_low).
template <Wide D>
TwoWords<D> exact_residual(const Columns<D>& a, const Columns<D>& b, const Columns<D>& x_high, const Columns<D>& x_low);

// W (v.high + v.low), with the radius of v carried through.
template <Wide D> TwoWords<D> exact_times(const Executor& executor, const Columns<D>& w, const TwoWords<D>& v);

}  // namespace trn::solver::certify
