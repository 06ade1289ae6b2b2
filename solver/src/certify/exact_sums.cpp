// Exact sums of products, one for the real and one for the imaginary part.
#include "certify/exact_sums.hpp"

#include <trn/core/exact_sum.hpp>

namespace trn::solver::certify {

namespace {

// Takes two words out of an exact sum; what stays behind is at most 2^-53 of the second, or an underflow.
void take(ExactSum& sum, double& high, double& low, double& radius) {
  high = sum.to_double();
  sum.add(-high);
  low = sum.to_double();
  radius = 0x1p-52 * std::abs(low);
  if (high != 0 || sum.scaled().mantissa != 0) radius += kTiny;
}

struct RealSum {
  ExactSum sum;
  void add(double x) { sum.add(x); }
  void add_product(double x, double y) { sum.add_product(x, y); }
  double take(double& high, double& low) {
    double radius;
    certify::take(sum, high, low, radius);
    return radius;
  }
};
struct ComplexSum {
  using Z = std::complex<double>;
  ExactSum re, im;
  void add(const Z& x) { re.add(x.real()), im.add(x.imag()); }
  void add_product(const Z& x, const Z& y) {
    re.add_product(x.real(), y.real()), re.add_product(-x.imag(), y.imag());
    im.add_product(x.real(), y.imag()), im.add_product(x.imag(), y.real());
  }
  double take(Z& high, Z& low) {
    double parts[2][3];
    certify::take(re, parts[0][0], parts[0][1], parts[0][2]);
    certify::take(im, parts[1][0], parts[1][1], parts[1][2]);
    high = {parts[0][0], parts[1][0]}, low = {parts[0][1], parts[1][1]};
    return up(parts[0][2] + parts[1][2], 1);
  }
};
template <class D> using SumOf = std::conditional_t<std::same_as<D, double>, RealSum, ComplexSum>;

// b (or nothing) + sign A (high + low), without the radius of the operands.
template <class D>
TwoWords<D> sums(const Columns<D>* b, double sign, const Columns<D>& a, const Columns<D>& high, const Columns<D>& low) {
  TwoWords<D> result(a.rows(), high.columns());
  for (std::int64_t j = 0; j < high.columns(); ++j) {
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      SumOf<D> sum;
      if (b) sum.add((*b)(i, j));
      for (std::int64_t k = 0; k < a.columns(); ++k) {
        const D factor = sign * a(i, k);
        sum.add_product(factor, high(k, j));
        if (low(k, j) != D(0)) sum.add_product(factor, low(k, j));
      }
      result.radius(i, j) = sum.take(result.high(i, j), result.low(i, j));
    }
  }
  return result;
}

}  // namespace

template <Wide D> TwoWords<D> exact_residual(const Columns<D>& a, const Columns<D>& b, const Columns<D>& x_high,
                                             const Columns<D>& x_low) {
  return sums(&b, -1.0, a, x_high, x_low);
}

template <Wide D> TwoWords<D> exact_times(const Executor& executor, const Columns<D>& w, const TwoWords<D>& v) {
  TwoWords<D> product = sums<D>(nullptr, 1.0, w, v.high, v.low);
  const Columns<double> carried = magnitude_product(executor, w, v.radius);
  for (std::int64_t j = 0; j < carried.columns(); ++j) {
    for (std::int64_t i = 0; i < carried.rows(); ++i) {
      product.radius(i, j) = up(product.radius(i, j) + carried(i, j), 1);
    }
  }
  return product;
}

#define TRN_EXACT_SUMS(D)                                                                                          \
  template TwoWords<D> exact_residual(const Columns<D>&, const Columns<D>&, const Columns<D>&, const Columns<D>&); \
  template TwoWords<D> exact_times(const Executor&, const Columns<D>&, const TwoWords<D>&);
TRN_EXACT_SUMS(double)
TRN_EXACT_SUMS(std::complex<double>)
#undef TRN_EXACT_SUMS

}  // namespace trn::solver::certify
