// The arithmetic of the Vector, Scalar and GpSimd Engines on rows: nl.* operators in fp32 (Exact) or double (Wide), and
// on 32-bit words for bit operations and for GpSimd's integers. The operator is chosen once per row, never per element.
//
// Where the documentation is silent: maximum and minimum give NaN when either operand is NaN and the second operand on
// a tie; comparisons and logical operators give 1 or 0; a logical operand is true when it is not 0, NaN included;
// power, rsqrt and exp-like functions are computed in double and rounded once.
#pragma once

#include <cstdint>
#include <trn/tile/instruction.hpp>

namespace trn::neuron::sim {

// A row of operands: one value per element, or the same value for all.
template <class T> struct Term {
  const T* values = nullptr;  // null: `value` for every element
  T value = 0;
};

// out[i] = f(a[i], b[i]); out may be a's or b's row.
template <class T, class F> void map_terms(const Term<T>& a, const Term<T>& b, T* out, std::int64_t n, F f) {
  const T *x = a.values, *y = b.values;
  const T u = a.value, v = b.value;
  if (x && y) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(x[i], y[i]);
  } else if (x) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(x[i], v);
  } else if (y) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(u, y[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(u, v);
  }
}

// out[i] = a[i] op b[i]; out may be a's or b's row. Average is not an elementwise operator.
template <class Real> void combine(tile::AluOp op, const Term<Real>& a, const Term<Real>& b, Real* out, std::int64_t n);

// The same on single values: for scans and reductions.
template <class Real> using BinaryFunction = Real (*)(Real, Real);
template <class Real> [[nodiscard]] BinaryFunction<Real> binary_function(tile::AluOp op);

enum class Signedness : std::uint8_t { Signed, Unsigned };

// Words: add, subtract and multiply are modulo 2^32; order and comparisons by `signedness`; shifts by `width_bits` or
// more give 0; right_shift is logical. Operators without an integer meaning (power, rsqrt, reciprocal) throw
// NotImplemented.
void combine_words(tile::AluOp op, Signedness signedness, int width_bits, const Term<std::uint32_t>& a,
                   const Term<std::uint32_t>& b, std::uint32_t* out, std::int64_t n);

}  // namespace trn::neuron::sim
