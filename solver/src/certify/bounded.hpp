// Matrices whose elements are known up to a radius, and bounds that rounding cannot break.
//
// A certificate computes in double and never trusts a rounding: products are Exact, with a bound for every element, and
// sums of non-negative numbers are enlarged by more than all their roundings could have lost. NaN fails every
// comparison, so a bound that overflowed proves nothing.
#pragma once

#include <vector>

#include "host/column_major.hpp"

namespace trn::solver::certify {

using host::Columns;

template <class D>
concept Wide = std::same_as<D, double> || std::same_as<D, std::complex<double>>;

// The type in which certificates of T are computed; every T converts to it exactly.
template <class T> using WideOf = std::conditional_t<blas::ComplexScalar<T>, std::complex<double>, double>;

// At least the exact value of what `operations` operations on non-negative numbers, no product among them that
// underflowed, computed as x: each of them lost at most a factor 1 - 2^-53.
inline double up(double x, std::int64_t operations) { return x * (1 + static_cast<double>(operations + 4) * 0x1p-52); }
// At most that value.
inline double down(double x, std::int64_t operations) {
  return x * (1 - static_cast<double>(operations + 4) * 0x1p-52);
}
// What a product of two numbers may lose by underflow.
inline constexpr double kTiny = 0x1p-1070;

// |x| <= this.
double size(double x);
double size(const std::complex<double>& x);

template <Wide D> struct Bounded {
  Columns<D> value;
  Columns<double> radius;  // |exact - value| <= radius, elementwise
  explicit Bounded(Columns<D> v) : value(std::move(v)), radius(value.rows(), value.columns()) {}
};

// op(A) B + beta C with one rounding per element; beta is 1 or -1, or C is absent.
template <Wide D> Bounded<D> exact_product(const Executor& executor, Op op, const Columns<D>& a, const Columns<D>& b);
template <Wide D> Bounded<D> exact_product(const Executor& executor, Op op, D alpha, const Columns<D>& a,
                                           const Columns<D>& b, D beta, const Columns<D>& c);

// |A| E, rounded upwards, for E >= 0.
template <Wide D>
Columns<double> magnitude_product(const Executor& executor, const Columns<D>& a, const Columns<double>& e);

// Upper bounds of |value| + radius, elementwise, and of norms of such a matrix.
template <Wide D> Columns<double> magnitudes(const Bounded<D>& a);
double infinity_norm(const Columns<double>& a);
double two_norm(const Columns<double>& a);  // (||A||_1 ||A||_inf)^(1/2) >= ||A||_2
double column_two_norm(const Columns<double>& a, std::int64_t j);

template <Wide D> Columns<D> unit_matrix(std::int64_t n);
// The same numbers in the wide type.
template <Scalar T> Columns<WideOf<T>> widened(const MatrixView<const T>& a);

}  // namespace trn::solver::certify
