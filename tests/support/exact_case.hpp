// One product in Precision Exact, on any executor, and its judgement: are the bounds true, is it as good as a sum in
// the type, are infinities where they belong. Used by the tests and by `trnsci fuzz exact`; the oracle is FixedPoint.
#pragma once

#include <complex>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/core/array.hpp>

#include "fixed_point.hpp"

namespace trn::test {

enum class Operation { Gemm, Syrk, Herk, Syr2k, Her2k, Syrkx, Herkx, Symm, Hemm, Trmm, TrmmInPlace };
inline constexpr const char* kOperationNames[] = {"gemm",  "syrk", "herk", "syr2k", "her2k",        "syrkx",
                                                  "herkx", "symm", "hemm", "trmm",  "trmm in place"};

// Dense row-major operands. gemm: op(A) m x k, op(B) k x n. Rank-k: op(A), op(B) n x k (op_a for both). symm, trmm: B
// is m x n, A square.
template <class T> struct ExactCase {
  Operation operation = Operation::Gemm;
  std::int64_t m = 1, n = 1, k = 1;
  blas::Op op_a = blas::Op::N, op_b = blas::Op::N;
  blas::Uplo uplo = blas::Uplo::Lower;
  blas::Side side = blas::Side::Left;
  blas::Diag diag = blas::Diag::NonUnit;
  T alpha = 1, beta = 0;
  std::vector<T> a, b, c;
  Precision precision = Mode::Exact;

  [[nodiscard]] bool rank_k() const { return operation >= Operation::Syrk && operation <= Operation::Herkx; }
  [[nodiscard]] bool hermitian() const {
    return operation == Operation::Herk || operation == Operation::Her2k || operation == Operation::Herkx ||
           operation == Operation::Hemm;
  }
  [[nodiscard]] bool square() const { return operation >= Operation::Symm; }
  [[nodiscard]] std::int64_t order() const { return side == blas::Side::Left ? m : n; }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> shape_a() const {
    if (square()) return {order(), order()};
    const std::int64_t rows = rank_k() ? n : m;
    return op_a == blas::Op::N ? std::pair(rows, k) : std::pair(k, rows);
  }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> shape_b() const {
    if (square()) return {m, n};
    if (rank_k()) return shape_a();
    return op_b == blas::Op::N ? std::pair(k, n) : std::pair(n, k);
  }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> shape_c() const { return {rank_k() ? n : m, n}; }
};

template <class T> struct ExactOutcome {
  std::vector<T> c;
  std::vector<double> bounds;  // componentwise; with a target of gemm only
  Accuracy accuracy;
};

template <class T> ExactOutcome<T> run(const Executor& e, const ExactCase<T>& s) {
  using namespace blas;
  const auto upload = [&](const std::vector<T>& x, std::pair<std::int64_t, std::int64_t> shape) {
    return Matrix<T>::from_host(e, shape.first, shape.second, x);
  };
  const Matrix<T> a = upload(s.a, s.shape_a()), b = upload(s.b, s.shape_b()), c = upload(s.c, s.shape_c());
  const auto va = a.view(), vb = b.view(), vc = c.view();
  ExactOutcome<T> o;
  GemmOptions options{s.precision};
  if (s.operation == Operation::Gemm || !s.precision.has_target()) {
    o.bounds.resize(s.c.size());
    const auto [rows, columns] = s.shape_c();
    options.componentwise = MatrixView<double>::row_major(Executor::host(), o.bounds.data(), rows, columns);
  }
  const auto real = [](const T& x) { return std::real(x); };
  switch (s.operation) {
    case Operation::Gemm:
      o.accuracy = gemm(e, s.op_a, s.op_b, s.alpha, va, vb, s.beta, vc, options);
      break;
    case Operation::Syrk:
      o.accuracy = syrk<T>(e, s.uplo, s.op_a, s.alpha, va, s.beta, vc, options);
      break;
    case Operation::Syr2k:
      o.accuracy = syr2k<T>(e, s.uplo, s.op_a, s.alpha, va, vb, s.beta, vc, options);
      break;
    case Operation::Syrkx:
      o.accuracy = syrkx<T>(e, s.uplo, s.op_a, s.alpha, va, vb, s.beta, vc, options);
      break;
    case Operation::Symm:
      o.accuracy = symm<T>(e, s.side, s.uplo, s.alpha, va, vb, s.beta, vc, options);
      break;
    case Operation::Trmm:
      o.accuracy = trmm<T>(e, s.side, s.uplo, s.op_a, s.diag, s.alpha, va, vb, vc, options);
      break;
    case Operation::TrmmInPlace:
      o.accuracy = trmm<T>(e, s.side, s.uplo, s.op_a, s.diag, s.alpha, va, vb, options);
      break;
    default:
      if constexpr (ComplexScalar<T>) {
        if (s.operation == Operation::Herk)
          o.accuracy = herk<T>(e, s.uplo, s.op_a, real(s.alpha), va, real(s.beta), vc, options);
        if (s.operation == Operation::Her2k)
          o.accuracy = her2k<T>(e, s.uplo, s.op_a, s.alpha, va, vb, real(s.beta), vc, options);
        if (s.operation == Operation::Herkx)
          o.accuracy = herkx<T>(e, s.uplo, s.op_a, s.alpha, va, vb, real(s.beta), vc, options);
        if (s.operation == Operation::Hemm)
          o.accuracy = hemm<T>(e, s.side, s.uplo, s.alpha, va, vb, s.beta, vc, options);
      }
  }
  o.c = s.operation == Operation::TrmmInPlace ? b.to_host() : c.to_host();
  return o;
}

// The exact value of an element, and the scales its error is measured by.
struct ExactElement {
  FixedPoint re, im;
  long double norms = 0;  // |alpha| ||a_i|| ||b_j|| + |beta c|, both products
  long double sizes = 0;  // |alpha| (|A||B|)_ij + |beta c|
  std::int64_t terms = 0;
  bool finite = true;               // every number that takes part is
  std::complex<long double> naive;  // the sum in long double, for infinities
};

template <class T> class ExactOracle {
 public:
  using C = std::complex<double>;
  explicit ExactOracle(const ExactCase<T>& s) : s_(s), alpha_(s.alpha), beta_(s.beta) {
    if (s.operation == Operation::Herk) alpha_ = alpha_.real();
    if (s.hermitian() && s.rank_k()) beta_ = beta_.real();
    if (s.operation >= Operation::Trmm) beta_ = 0;
  }

  // Whether (i, j) is written.
  [[nodiscard]] bool exists(std::int64_t i, std::int64_t j) const {
    return !s_.rank_k() || (s_.uplo == blas::Uplo::Lower ? i >= j : i <= j);
  }
  // As in BLAS, an update that changes nothing leaves C as it is.
  [[nodiscard]] bool nothing() const {
    return (s_.rank_k() || s_.operation == Operation::Symm || s_.operation == Operation::Hemm) && beta_ == 1.0 &&
           (alpha_ == 0.0 || (s_.rank_k() && s_.k == 0));
  }

  [[nodiscard]] ExactElement element(std::int64_t i, std::int64_t j) const {
    ExactElement e;
    const bool diagonal = s_.hermitian() && s_.rank_k() && i == j;
    if (alpha_ != 0.0) {
      add_product(e, i, j, false);
      if (s_.operation == Operation::Syr2k || s_.operation == Operation::Her2k) add_product(e, i, j, true);
    }
    if (beta_ != 0.0) {
      C c(s_.c[static_cast<std::size_t>(i * s_.shape_c().second + j)]);
      if (diagonal) c = c.real();
      add(e, beta_, c, 1.0);
      e.naive += times(beta_, std::complex<long double>(c));
      const long double size = modulus(beta_) * modulus(c);
      e.norms += size;
      e.sizes += size;
    }
    if (diagonal) e.im = {}, e.naive = e.naive.real();
    return e;
  }

 private:
  static long double modulus(C z) {
    return std::hypot(static_cast<long double>(z.real()), static_cast<long double>(z.imag()));
  }
  static std::complex<long double> times(C f, std::complex<long double> z) {
    const long double re = f.real(), im = f.imag();
    if (im == 0) return {re * z.real(), z.imag() == 0 ? 0 : re * z.imag()};
    return {re * z.real() - im * z.imag(), re * z.imag() + im * z.real()};
  }
  // |z|^2 of the parts that are finite.
  static long double finite_square(C z) {
    const auto square = [](long double x) { return std::isfinite(x) ? x * x : 0; };
    return square(z.real()) + square(z.imag());
  }
  static C conj(C z, bool really) { return really ? std::conj(z) : z; }

  // e += f x y
  static void add(ExactElement& e, C f, C x, C y) {
    for (const double part : {f.real(), f.imag(), x.real(), x.imag(), y.real(), y.imag()}) {
      if (!std::isfinite(part)) e.finite = false;
    }
    if (!e.finite) return;
    const double fr = f.real(), fi = f.imag(), xr = x.real(), xi = x.imag(), yr = y.real(), yi = y.imag();
    e.re.add(fr, xr, yr), e.re.add(-fr, xi, yi), e.re.add(-fi, xr, yi), e.re.add(-fi, xi, yr);
    if (!blas::ComplexScalar<T>) return;
    e.im.add(fr, xr, yi), e.im.add(fr, xi, yr), e.im.add(fi, xr, yr), e.im.add(-fi, xi, yi);
  }

  C at(const std::vector<T>& x, std::int64_t columns, std::int64_t i, std::int64_t j) const {
    return C(x[static_cast<std::size_t>(i * columns + j)]);
  }
  // Element (i, p) of op(X) for an n x k matrix of a rank-k update or gemm.
  C op_at(const std::vector<T>& x, std::pair<std::int64_t, std::int64_t> shape, blas::Op op, std::int64_t i,
          std::int64_t p) const {
    return op == blas::Op::N ? at(x, shape.second, i, p) : conj(at(x, shape.second, p, i), op == blas::Op::C);
  }
  // Element (i, j) of the square matrix, and whether it is stored at all.
  C square_at(std::int64_t i, std::int64_t j, bool& stored) const {
    const std::int64_t n = s_.order();
    const bool lower = s_.uplo == blas::Uplo::Lower;
    stored = true;
    if (s_.operation == Operation::Symm || s_.operation == Operation::Hemm) {
      if (i == j && s_.hermitian()) return at(s_.a, n, i, i).real();
      return i == j || (i > j) == lower ? at(s_.a, n, i, j) : conj(at(s_.a, n, j, i), s_.hermitian());
    }
    if (i == j && s_.diag == blas::Diag::Unit) return 1.0;
    const std::int64_t r = s_.op_a == blas::Op::N ? i : j, c = s_.op_a == blas::Op::N ? j : i;
    stored = r == c || (r > c) == lower;
    return stored ? op_at(s_.a, {n, n}, s_.op_a, i, j) : 0.0;
  }

  // exchanged: the second product of a rank-2k update.
  void add_product(ExactElement& e, std::int64_t i, std::int64_t j, bool exchanged) const {
    const C factor = exchanged && s_.hermitian() ? std::conj(alpha_) : alpha_;
    const std::int64_t terms = s_.square() ? s_.order() : s_.k;
    std::complex<long double> sum = 0;
    long double xx = 0, yy = 0, xy = 0;
    for (std::int64_t p = 0; p < terms; ++p) {
      C x, y;
      bool stored = true;
      if (s_.square()) {
        const bool left = s_.side == blas::Side::Left;
        x = left ? square_at(i, p, stored) : at(s_.b, s_.n, i, p);
        y = left ? at(s_.b, s_.n, p, j) : square_at(p, j, stored);
      } else if (s_.rank_k()) {
        const bool one = s_.operation == Operation::Syrk || s_.operation == Operation::Herk;
        const auto &first = exchanged ? s_.b : s_.a, &second = one || exchanged ? s_.a : s_.b;
        x = op_at(first, s_.shape_a(), s_.op_a, i, p);
        y = conj(op_at(second, s_.shape_a(), s_.op_a, j, p), s_.hermitian());
      } else {
        x = op_at(s_.a, s_.shape_a(), s_.op_a, i, p);
        y = s_.op_b == blas::Op::N ? at(s_.b, s_.n, p, j) : conj(at(s_.b, s_.k, j, p), s_.op_b == blas::Op::C);
      }
      xx += finite_square(x), yy += finite_square(y);
      if (!stored) continue;
      xy += modulus(x) * modulus(y);
      add(e, factor, x, y);
      sum += times(x, std::complex<long double>(y));
    }
    e.naive += times(factor, sum);
    e.norms += modulus(factor) * std::sqrt(xx) * std::sqrt(yy);
    e.sizes += modulus(factor) * xy;
    e.terms += terms;
  }

  const ExactCase<T>& s_;
  C alpha_, beta_;
};

struct ExactVerdict {
  std::int64_t elements = 0;
  std::vector<double> bound_over_error, norm_bound_over_error;  // of the elements with an error
  std::string finding;                                          // empty: none
};

// Checks every element; the first that is wrong is described.
template <class T> ExactVerdict judge(const ExactCase<T>& s, const ExactOutcome<T>& o) {
  using R = blas::Real<T>;
  ExactVerdict v;
  const ExactOracle<T> oracle(s);
  const auto [rows, columns] = s.shape_c();
  const long double u = std::numeric_limits<R>::epsilon() / 2, tiny = std::numeric_limits<R>::denorm_min(),
                    most = std::numeric_limits<R>::max();
  const auto say = [&](std::int64_t i, std::int64_t j, const std::string& text) {
    if (!v.finding.empty()) return;
    std::ostringstream out;
    out.precision(21);
    out << "element (" << i << ", " << j << ") is " << o.c[static_cast<std::size_t>(i * columns + j)] << ": " << text;
    v.finding = out.str();
  };
  const auto number = [](long double x) {
    std::ostringstream out;
    out.precision(21);
    out << x;
    return out.str();
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(i * columns + j);
      if (!oracle.exists(i, j) || oracle.nothing()) {
        const auto& before = s.operation == Operation::TrmmInPlace ? s.b : s.c;
        if (std::memcmp(&o.c[at], &before[at], sizeof(T)) != 0) say(i, j, "it was changed");
        continue;
      }
      ++v.elements;
      ExactElement e = oracle.element(i, j);
      const std::complex<double> got(o.c[at]);
      const bool got_finite = std::isfinite(got.real()) && std::isfinite(got.imag());
      if (!e.finite) {
        if (got_finite) say(i, j, "finite although NaN or an infinity takes part");
        const auto kind = [](long double x) { return std::isnan(x) ? 0 : std::isinf(x) ? (x > 0 ? 1 : -1) : 2; };
        if (!blas::ComplexScalar<T> && kind(got.real()) != kind(e.naive.real()))
          say(i, j, "a sum in long double gives " + number(e.naive.real()));
        continue;
      }
      const long double re = e.re.value(), im = e.im.value();
      const long double as_good =
          (static_cast<long double>(std::max<std::int64_t>(2 * e.terms, 64)) + 4) * 2 * u * e.sizes + 2 * tiny;
      if (!got_finite) {
        const auto fits = [&](double part, long double exact) {
          return std::isfinite(part) || (std::isinf(part) && (part > 0 ? exact : -exact) + as_good > most * (1 - u));
        };
        if (!fits(got.real(), re) || !fits(got.imag(), im))
          say(i, j, "the exact value is (" + number(re) + ", " + number(im) + ")");
        if (!o.bounds.empty() && !std::isinf(o.bounds[at]))
          say(i, j, "overflow with a finite bound " + number(o.bounds[at]));
        continue;
      }
      FixedPoint dre = e.re, dim = e.im;
      dre.add(-got.real());
      dim.add(-got.imag());
      const long double error = std::hypot(dre.value(), dim.value()) * (1 - 0x1p-60L);
      const auto detail = [&](const std::string& what, long double bound) {
        return what + " " + number(bound) + ", error " + number(error) + ", exact (" + number(re) + ", " + number(im) +
               "), norms " + number(e.norms);
      };
      if (!o.bounds.empty() && !(error <= o.bounds[at])) say(i, j, detail("componentwise bound", o.bounds[at]));
      const long double by_norm = static_cast<long double>(o.accuracy.bound) * e.norms * (1 + 0x1p-40L);
      if (error > 0 && !(error <= by_norm)) say(i, j, detail("Accuracy::bound", o.accuracy.bound));
      if (!s.precision.has_target() && error > as_good) say(i, j, detail("worse than a sum in the type,", as_good));
      if (error > 0) {
        if (!o.bounds.empty()) v.bound_over_error.push_back(static_cast<double>(o.bounds[at] / error));
        v.norm_bound_over_error.push_back(static_cast<double>(by_norm / error));
      }
    }
  }
  return v;
}

// Results, and bounds where a product was made (a call that changes nothing reports the executor's native bound).
template <class T> bool same_bits(const ExactOutcome<T>& x, const ExactOutcome<T>& y) {
  const bool same_accuracy = x.accuracy.mode == y.accuracy.mode &&
                             (x.accuracy.mode != Mode::Exact ||
                              (x.accuracy.bound == y.accuracy.bound && x.accuracy.passes == y.accuracy.passes));
  return x.c.size() == y.c.size() && std::memcmp(x.c.data(), y.c.data(), x.c.size() * sizeof(T)) == 0 &&
         same_accuracy && x.bounds.size() == y.bounds.size() &&
         std::memcmp(x.bounds.data(), y.bounds.data(), x.bounds.size() * sizeof(double)) == 0;
}

}  // namespace trn::test
