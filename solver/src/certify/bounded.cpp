// Exact products with radii, and norms rounded upwards.
#include "certify/bounded.hpp"

#include <trn/blas/gemm.hpp>

#include "copies.hpp"

namespace trn::solver::certify {

double size(double x) { return std::abs(x); }
// hypot errs by less than an ulp.
double size(const std::complex<double>& x) {
  if (x.real() == 0 || x.imag() == 0) return std::abs(x.real()) + std::abs(x.imag());
  return up(std::abs(x), 0) + kTiny;
}

template <Wide D> Bounded<D> exact_product(const Executor& executor, Op op, D alpha, const Columns<D>& a,
                                           const Columns<D>& b, D beta, const Columns<D>& c) {
  Bounded<D> product{Columns<D>(c.view())};
  blas::GemmOptions options{Mode::Exact};
  if (executor.family() == Family::Device) {  // operands go there, the value comes back
    const Matrix<D> da = copies::on(executor, a.view()), db = copies::on(executor, b.view()),
                    dc = copies::on(executor, c.view());
    options.componentwise = product.radius.view();  // host memory, wherever C is
    blas::gemm(executor, op, Op::N, alpha, da.view(), db.view(), beta, dc.view(), options);
    copies::move(MatrixView<const D>(dc.view()), product.value.view());
    return product;
  }
  options.componentwise = product.radius.view();
  blas::gemm(executor, op, Op::N, alpha, a.view(), b.view(), beta, product.value.view(), options);
  return product;
}
template <Wide D> Bounded<D> exact_product(const Executor& executor, Op op, const Columns<D>& a, const Columns<D>& b) {
  return exact_product<D>(executor, op, D(1), a, b, D(0),
                          Columns<D>(op == Op::N ? a.rows() : a.columns(), b.columns()));
}

template <Wide D>
Columns<double> magnitude_product(const Executor& executor, const Columns<D>& a, const Columns<double>& e) {
  Columns<double> sizes(a.rows(), a.columns()), product(a.rows(), e.columns());
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    for (std::int64_t i = 0; i < a.rows(); ++i) sizes(i, j) = size(a(i, j));
  }
  if (executor.family() == Family::Device) {  // exact up to a radius, which is added
    const Bounded<double> exact = exact_product<double>(executor, Op::N, sizes, e);
    product = magnitudes(exact);
  } else {
    blas::gemm(executor, Op::N, Op::N, 1.0, sizes.view(), e.view(), 0.0, product.view());
  }
  for (std::int64_t j = 0; j < e.columns(); ++j) {
    bool zero = true;
    for (std::int64_t k = 0; k < e.rows(); ++k) zero = zero && e(k, j) == 0;
    for (std::int64_t i = 0; !zero && i < a.rows(); ++i) {
      product(i, j) = up(product(i, j), a.columns()) + static_cast<double>(a.columns()) * kTiny;
    }
  }
  return product;
}

template <Wide D> Columns<double> magnitudes(const Bounded<D>& a) {
  Columns<double> sizes(a.value.rows(), a.value.columns());
  for (std::int64_t j = 0; j < sizes.columns(); ++j) {
    for (std::int64_t i = 0; i < sizes.rows(); ++i) sizes(i, j) = up(size(a.value(i, j)) + a.radius(i, j), 1);
  }
  return sizes;
}

namespace {

// NaN if one of them is.
double most(double x, double y) { return y <= x ? x : y; }

double largest_sum(const Columns<double>& a, bool of_rows) {
  const std::int64_t outer = of_rows ? a.rows() : a.columns(), inner = of_rows ? a.columns() : a.rows();
  double result = 0;
  for (std::int64_t i = 0; i < outer; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < inner; ++j) sum += of_rows ? a(i, j) : a(j, i);
    if (std::isnan(sum)) return sum;
    result = most(result, up(sum, inner));
  }
  return result;
}

}  // namespace

double infinity_norm(const Columns<double>& a) { return largest_sum(a, true); }
double two_norm(const Columns<double>& a) {
  // Roots first, so that the product neither over- nor underflows.
  return up(std::sqrt(largest_sum(a, true)) * std::sqrt(largest_sum(a, false)), 3);
}
double column_two_norm(const Columns<double>& a, std::int64_t j) {
  double largest = 0, sum = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) largest = std::max(largest, a(i, j));
  if (largest == 0) return 0;
  // A power of two as the scale; what underflows after the division is below kTiny each.
  const double scale = std::ldexp(1.0, std::ilogb(largest));
  for (std::int64_t i = 0; i < a.rows(); ++i) sum += (a(i, j) / scale) * (a(i, j) / scale) + kTiny;
  return up(std::sqrt(up(sum, 4 * a.rows())) * scale, 2);
}

template <Wide D> Columns<D> unit_matrix(std::int64_t n) {
  Columns<D> unit(n, n);
  for (std::int64_t i = 0; i < n; ++i) unit(i, i) = D(1);
  return unit;
}
template <Scalar T> Columns<WideOf<T>> widened(const MatrixView<const T>& a) { return Columns<WideOf<T>>(a); }

#define TRN_BOUNDED(D)                                                                                    \
  template Bounded<D> exact_product(const Executor&, Op, const Columns<D>&, const Columns<D>&);           \
  template Bounded<D> exact_product(const Executor&, Op, D, const Columns<D>&, const Columns<D>&, D,      \
                                    const Columns<D>&);                                                   \
  template Columns<double> magnitude_product(const Executor&, const Columns<D>&, const Columns<double>&); \
  template Columns<double> magnitudes(const Bounded<D>&);                                                 \
  template Columns<D> unit_matrix(std::int64_t);
TRN_BOUNDED(double)
TRN_BOUNDED(std::complex<double>)
#undef TRN_BOUNDED
template Columns<double> widened(const MatrixView<const float>&);
template Columns<double> widened(const MatrixView<const double>&);
template Columns<std::complex<double>> widened(const MatrixView<const std::complex<float>>&);
template Columns<std::complex<double>> widened(const MatrixView<const std::complex<double>>&);

}  // namespace trn::solver::certify
