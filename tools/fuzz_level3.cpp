// Random cases of level 3. An element of a product costs its inner dimension, so a few elements are recomputed even
// where the whole product would take minutes in 80-bit arithmetic; trsm is checked by its residual in the same way.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <trn/blas/gemm.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "fuzz_range.hpp"
#include "fuzz_support.hpp"

namespace trn::tools::fuzz {

namespace {

using namespace blas;
template <class T> using Complex = std::bool_constant<ComplexScalar<T>>;

template <class T, bool k3M> void gemm_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent(), k = c.extent();
  const Op oa = c.op(), ob = c.op();
  const T alpha = c.factor<T>(), beta = c.factor<T>();
  const Field<T> a(c, oa == Op::N ? m : k, oa == Op::N ? k : m), b(c, ob == Op::N ? k : n, ob == Op::N ? n : k),
      out = output(c, m, n, beta);
  c.what += fmt::format(" m {} n {} k {} ops {}{} alpha {} beta {}", m, n, k, static_cast<int>(oa),
                        static_cast<int>(ob), static_cast<double>(wide(alpha).re), static_cast<double>(wide(beta).re));
  Accuracy accuracy;
  if constexpr (k3M) {
    accuracy = gemm3m(c.executor, oa, ob, alpha, a.view(), b.view(), beta, out.view());
  } else {
    accuracy = gemm(c.executor, oa, ob, alpha, a.view(), b.view(), beta, out.view());
  }
  compare(c, "C", out, everywhere, accuracy.bound, k, [&](std::int64_t i, std::int64_t j) {
    Sum sum;
    for (std::int64_t p = 0; p < k && alpha != T(0); ++p) sum.add(a.op(oa, i, p), b.op(ob, p, j));
    return scaled(alpha, sum) + old(beta, out, i, j);
  });
}
template <class T> void gemm_plain(Case& c) { gemm_case<T, false>(c); }
template <class T> void gemm_3m(Case& c) { gemm_case<T, true>(c); }

template <class T, bool kHermitian> void symm_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Side side = c.side();
  const std::int64_t order = side == Side::Left ? m : n;
  if (order > 512) return;  // the square is not charged to the case's work
  const Uplo uplo = c.uplo();
  const T alpha = c.factor<T>(), beta = c.factor<T>();
  const Field<T> a(c, order, order, triangle(uplo)), b(c, m, n), out = output(c, m, n, beta);
  Accuracy accuracy;
  if constexpr (kHermitian) {
    accuracy = hemm(c.executor, side, uplo, alpha, a.view(), b.view(), beta, out.view());
  } else {
    accuracy = symm(c.executor, side, uplo, alpha, a.view(), b.view(), beta, out.view());
  }
  const auto whole = [&](std::int64_t i, std::int64_t j) -> Wide {
    if (kHermitian && i == j) return {wide(a.at(i, i)).re, 0};
    return triangle(uplo)(i, j) ? wide(a.at(i, j)) : conj(wide(a.at(j, i)), kHermitian);
  };
  compare(c, "C", out, everywhere, accuracy.bound, order, [&](std::int64_t i, std::int64_t j) {
    Sum sum;
    for (std::int64_t p = 0; p < order && alpha != T(0); ++p) {
      side == Side::Left ? sum.add(whole(i, p), wide(b.at(p, j))) : sum.add(wide(b.at(i, p)), whole(p, j));
    }
    return scaled(alpha, sum) + old(beta, out, i, j);
  });
}
template <class T> void symmetric(Case& c) { symm_case<T, false>(c); }
template <class T> void hermitian(Case& c) { symm_case<T, true>(c); }

enum class Kind : std::uint8_t { Single, Double, Pair };

template <class T, Kind kKind, bool kHermitian> void syrk_case(Case& c) {
  const std::int64_t n = std::min<std::int64_t>(c.extent(), 700), k = c.extent();
  const Uplo uplo = c.uplo();
  const Op op = c.chance(2) ? Op::N : kHermitian ? Op::C : Op::T;
  T alpha = c.factor<T>(), beta = c.factor<T>();
  if constexpr (kHermitian) {
    beta = beta.real();
    if (kKind == Kind::Single) alpha = alpha.real();
  }
  const Field<T> a(c, op == Op::N ? n : k, op == Op::N ? k : n), b(c, op == Op::N ? n : k, op == Op::N ? k : n),
      out = output(c, n, n, beta, triangle(uplo));
  Accuracy accuracy;
  const auto& e = c.executor;
  if constexpr (kHermitian) {
    if constexpr (kKind == Kind::Single) accuracy = herk(e, uplo, op, alpha.real(), a.view(), beta.real(), out.view());
    if constexpr (kKind == Kind::Double)
      accuracy = her2k(e, uplo, op, alpha, a.view(), b.view(), beta.real(), out.view());
    if constexpr (kKind == Kind::Pair)
      accuracy = herkx(e, uplo, op, alpha, a.view(), b.view(), beta.real(), out.view());
  } else {
    if constexpr (kKind == Kind::Single) accuracy = syrk(e, uplo, op, alpha, a.view(), beta, out.view());
    if constexpr (kKind == Kind::Double) accuracy = syr2k(e, uplo, op, alpha, a.view(), b.view(), beta, out.view());
    if constexpr (kKind == Kind::Pair) accuracy = syrkx(e, uplo, op, alpha, a.view(), b.view(), beta, out.view());
  }
  const bool idle = beta == T(1) && (alpha == T(0) || k == 0);  // then not even the diagonal is touched
  const Field<T>& second = kKind == Kind::Single ? a : b;
  compare(c, "C", out, triangle(uplo), accuracy.bound, 2 * k, [&](std::int64_t i, std::int64_t j) {
    Sum one, two;
    for (std::int64_t p = 0; p < k && alpha != T(0); ++p) {
      one.add(a.op(op, i, p), conj(second.op(op, j, p), kHermitian));
      if (kKind == Kind::Double) two.add(b.op(op, i, p), conj(a.op(op, j, p), kHermitian));
    }
    const Sum product = one.times(wide(alpha)) + two.times(conj(wide(alpha), kHermitian));
    if (!kHermitian || i != j || idle) return product + old(beta, out, i, j);
    Sum before;  // of the diagonal only the real part is read
    if (beta != T(0)) before.add({wide(beta).re, 0}, {wide(out.at(i, i)).re, 0});
    Sum sum = product + before;
    sum.value.im = 0;
    return sum;
  });
}
template <class T> void syrk_one(Case& c) { syrk_case<T, Kind::Single, false>(c); }
template <class T> void syrk_two(Case& c) { syrk_case<T, Kind::Double, false>(c); }
template <class T> void syrk_pair(Case& c) { syrk_case<T, Kind::Pair, false>(c); }
template <class T> void herk_one(Case& c) { syrk_case<T, Kind::Single, true>(c); }
template <class T> void herk_two(Case& c) { syrk_case<T, Kind::Double, true>(c); }
template <class T> void herk_pair(Case& c) { syrk_case<T, Kind::Pair, true>(c); }

template <class T> Sum triangular_product(const Field<T>& a, const Field<T>& x, Side side, Uplo uplo, Op op, Diag diag,
                                          std::int64_t i, std::int64_t j) {
  Sum sum;
  for (std::int64_t p = 0; p < a.rows; ++p) {
    const Wide element = side == Side::Left ? triangular(a, uplo, op, diag, i, p) : triangular(a, uplo, op, diag, p, j);
    if (!zero(element)) sum.add(element, wide(side == Side::Left ? x.at(p, j) : x.at(i, p)));  // the triangle alone
  }
  return sum;
}

template <class T> void trmm_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Side side = c.side();
  const std::int64_t order = side == Side::Left ? m : n;
  if (order > 512) return;
  const Uplo uplo = c.uplo();
  const Op op = c.op();
  const Diag diag = c.diag();
  const T alpha = c.factor<T>();
  const Field<T> a(c, order, order,
                   [&](auto i, auto j) { return triangle(uplo)(i, j) && (i != j || diag == Diag::NonUnit); });
  const Field<T> b(c, m, n), out = output(c, m, n, T(0));
  const bool in_place = c.chance(2);
  const Accuracy accuracy = in_place ? trmm(c.executor, side, uplo, op, diag, alpha, a.view(), b.view())
                                     : trmm(c.executor, side, uplo, op, diag, alpha, a.view(), b.view(), out.view());
  compare(c, "C", in_place ? b : out, everywhere, accuracy.bound, order, [&](std::int64_t i, std::int64_t j) {
    return alpha == T(0) ? Sum{} : triangular_product(a, b, side, uplo, op, diag, i, j).times(wide(alpha));
  });
}

// The first row of a solution, in the order of substitution, that depends on a NaN or an infinity, and with it all
// later ones: no element of the triangle is zero.
template <class T> struct Spoiled {
  const Field<T>& b;
  Side side;
  bool lower;
  std::int64_t order, first;  // step of the first bad row of op(A)
  Spoiled(const Field<T>& a, const Field<T>& rhs, Side s, Uplo uplo, Op op, Diag diag)
      : b(rhs),
        side(s),
        lower((uplo == Uplo::Lower) == ((op == Op::N) == (s == Side::Left))),
        order(a.rows),
        first(a.rows) {
    for (std::int64_t step = order - 1; step >= 0; --step) {
      const std::int64_t i = at(step);
      for (std::int64_t p = 0; p < order; ++p) {
        if (!finite(side == Side::Left ? triangular(a, uplo, op, diag, i, p) : triangular(a, uplo, op, diag, p, i)))
          first = step;
      }
    }
  }
  [[nodiscard]] std::int64_t at(std::int64_t step) const { return lower ? step : order - 1 - step; }
  // Element (i, j) of the solution.
  [[nodiscard]] bool operator()(std::int64_t i, std::int64_t j) const {
    const std::int64_t row = side == Side::Left ? i : j, step = at(row);
    if (step >= first) return true;
    for (std::int64_t s = 0; s <= step; ++s) {
      if (!finite(wide(side == Side::Left ? b.at(at(s), j) : b.at(i, at(s))))) return true;
    }
    return false;
  }
};

template <class T> void trsm_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Side side = c.side();
  const std::int64_t order = side == Side::Left ? m : n;
  if (order > 512) return;
  const Uplo uplo = c.uplo();
  const Op op = c.op();
  const Diag diag = c.diag();
  const T alpha = c.factor<T>();
  const bool special = std::exchange(c.special, false);
  Field<T> a(c, order, order, triangle(uplo));
  tame(a, diag);
  c.special = special;
  a.spoil(c, [&](auto i, auto j) { return i != j && triangle(uplo)(i, j); });
  const Field<T> b(c, m, n);
  const Accuracy accuracy = trsm(c.executor, side, uplo, op, diag, alpha, a.view(), b.view());
  const Field<T> x = b.after();
  const Spoiled<T> spoiled(a, b, side, uplo, op, diag);
  compare(c, "B", b, everywhere, 0, order, [&](std::int64_t i, std::int64_t j) {
    if (alpha == T(0)) return Sum{};
    if (c.special && spoiled(i, j)) {
      if (finite(wide(x.at(i, j))))
        report(c, "X(" + std::to_string(i) + ", " + std::to_string(j) +
                      ") is finite although it depends on a NaN or an infinity");
      return Sum{wide(x.at(i, j)), 0};
    }
    const Sum product = triangular_product(a, x, side, uplo, op, diag, i, j);
    const long double residual = size(wide(alpha) * wide(b.at(i, j)) - product.value);
    if (!(residual <= accuracy.bound * (1 + 0x1p-9L) * product.scale))
      report(c, "residual " + std::to_string(static_cast<double>(residual / product.scale)));
    return Sum{wide(x.at(i, j)), 0};
  });
}

}  // namespace

std::vector<FuzzRow> level3() {
  std::vector<FuzzRow> rows{{"gemm", TRN_FUZZ_FOUR(gemm_plain)},   {"gemm3m", TRN_FUZZ_COMPLEX(gemm_3m)},
                            {"symm", TRN_FUZZ_FOUR(symmetric)},    {"hemm", TRN_FUZZ_COMPLEX(hermitian)},
                            {"syrk", TRN_FUZZ_FOUR(syrk_one)},     {"syr2k", TRN_FUZZ_FOUR(syrk_two)},
                            {"syrkx", TRN_FUZZ_FOUR(syrk_pair)},   {"herk", TRN_FUZZ_COMPLEX(herk_one)},
                            {"her2k", TRN_FUZZ_COMPLEX(herk_two)}, {"herkx", TRN_FUZZ_COMPLEX(herk_pair)},
                            {"trmm", TRN_FUZZ_FOUR(trmm_case)},    {"trsm", TRN_FUZZ_FOUR(trsm_case)}};
  for (const FuzzRow& row : range_rows()) rows.push_back(row);
  return rows;
}

}  // namespace trn::tools::fuzz
