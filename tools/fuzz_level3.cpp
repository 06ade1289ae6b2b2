// Random cases of level 3 and the extensions. An element of a product costs its inner dimension, so a few elements are recomputed even
// where the whole product would take minutes in 80-bit arithmetic; trsm is checked by its residual in the same way.
#include <algorithm>

#include <trn/blas/dgmm.hpp>
#include <trn/blas/geam.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/packed.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/blas/trsm_batched.hpp>

#include "fuzz_support.hpp"

namespace trn::tools::fuzz {

namespace {

using namespace blas;
template <class T> using Complex = std::bool_constant<ComplexScalar<T>>;

// A C of which nothing may be read when beta is 0.
template <class T> Field<T> output(Case& c, std::int64_t rows, std::int64_t columns, T beta, const Mask& in = everywhere) {
  return Field<T>(c, rows, columns, [&](std::int64_t i, std::int64_t j) { return beta != T(0) && in(i, j); });
}
template <class T> Sum old(T beta, const Field<T>& before, std::int64_t i, std::int64_t j) {
  Sum sum;
  if (beta != T(0)) sum.add(wide(beta), wide(before.at(i, j)));
  return sum;
}
// alpha = 0 reads neither A nor B.
template <class T> Sum scaled(T alpha, const Sum& sum) { return alpha == T(0) ? Sum{} : sum.times(wide(alpha)); }

template <class T, bool k3M> void gemm_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent(), k = c.extent();
  const Op oa = c.op(), ob = c.op();
  const T alpha = c.factor<T>(), beta = c.factor<T>();
  const Field<T> a(c, oa == Op::N ? m : k, oa == Op::N ? k : m), b(c, ob == Op::N ? k : n, ob == Op::N ? n : k), out = output(c, m, n, beta);
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
  const Field<T> a(c, op == Op::N ? n : k, op == Op::N ? k : n), b(c, op == Op::N ? n : k, op == Op::N ? k : n), out = output(c, n, n, beta, triangle(uplo));
  Accuracy accuracy;
  const auto &e = c.executor;
  if constexpr (kHermitian) {
    if constexpr (kKind == Kind::Single) accuracy = herk(e, uplo, op, alpha.real(), a.view(), beta.real(), out.view());
    if constexpr (kKind == Kind::Double) accuracy = her2k(e, uplo, op, alpha, a.view(), b.view(), beta.real(), out.view());
    if constexpr (kKind == Kind::Pair) accuracy = herkx(e, uplo, op, alpha, a.view(), b.view(), beta.real(), out.view());
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
    Sum sum = one.times(wide(alpha)) + two.times(conj(wide(alpha), kHermitian)) + old(beta, out, i, j);
    if (kHermitian && i == j && !idle) sum.value.im = 0;
    return sum;
  });
}
template <class T> void syrk_one(Case& c) { syrk_case<T, Kind::Single, false>(c); }
template <class T> void syrk_two(Case& c) { syrk_case<T, Kind::Double, false>(c); }
template <class T> void syrk_pair(Case& c) { syrk_case<T, Kind::Pair, false>(c); }
template <class T> void herk_one(Case& c) { syrk_case<T, Kind::Single, true>(c); }
template <class T> void herk_two(Case& c) { syrk_case<T, Kind::Double, true>(c); }
template <class T> void herk_pair(Case& c) { syrk_case<T, Kind::Pair, true>(c); }

template <class T> Sum triangular_product(const Field<T>& a, const Field<T>& x, Side side, Uplo uplo, Op op, Diag diag, std::int64_t i, std::int64_t j) {
  Sum sum;
  for (std::int64_t p = 0; p < a.rows; ++p) {
    side == Side::Left ? sum.add(triangular(a, uplo, op, diag, i, p), wide(x.at(p, j))) : sum.add(wide(x.at(i, p)), triangular(a, uplo, op, diag, p, j));
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
  const Field<T> a(c, order, order, [&](auto i, auto j) { return triangle(uplo)(i, j) && (i != j || diag == Diag::NonUnit); });
  const Field<T> b(c, m, n), out = output(c, m, n, T(0));
  const bool in_place = c.chance(2);
  const Accuracy accuracy = in_place ? trmm(c.executor, side, uplo, op, diag, alpha, a.view(), b.view())
                                     : trmm(c.executor, side, uplo, op, diag, alpha, a.view(), b.view(), out.view());
  compare(c, "C", in_place ? b : out, everywhere, accuracy.bound, order,
          [&](std::int64_t i, std::int64_t j) { return scaled(alpha, triangular_product(a, b, side, uplo, op, diag, i, j)); });
}

template <class T> void trsm_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Side side = c.side();
  const std::int64_t order = side == Side::Left ? m : n;
  if (order > 512) return;
  const Uplo uplo = c.uplo();
  const Op op = c.op();
  const Diag diag = c.diag();
  const T alpha = c.factor<T>();
  Field<T> a(c, order, order, triangle(uplo));
  tame(a, diag);
  const Field<T> b(c, m, n);
  const Accuracy accuracy = trsm(c.executor, side, uplo, op, diag, alpha, a.view(), b.view());
  const Field<T> x = b.after();
  compare(c, "B", b, everywhere, 0, order, [&](std::int64_t i, std::int64_t j) {
    const Sum product = triangular_product(a, x, side, uplo, op, diag, i, j);
    const long double residual = size(wide(alpha) * wide(b.at(i, j)) - product.value);
    if (!(residual <= accuracy.bound * (1 + 0x1p-9L) * product.scale)) report(c, "residual " + std::to_string(static_cast<double>(residual / product.scale)));
    return Sum{wide(x.at(i, j)), 0};
  });
}

template <class T> void geam_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Op oa = c.op(), ob = c.op();
  const T alpha = c.factor<T>(), beta = c.factor<T>();
  const Field<T> a(c, oa == Op::N ? m : n, oa == Op::N ? n : m), b(c, ob == Op::N ? m : n, ob == Op::N ? n : m), out = output(c, m, n, T(0));
  geam(c.executor, oa, ob, alpha, a.view(), beta, b.view(), out.view());
  compare(c, "C", out, everywhere, native_bound<T>(2), 2, [&](std::int64_t i, std::int64_t j) {
    Sum sum;
    sum.add(wide(alpha), a.op(oa, i, j));
    sum.add(wide(beta), b.op(ob, i, j));
    return sum;
  });
}

template <class T> void dgmm_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Side side = c.side();
  const Field<T> a(c, m, n), x(c, side == Side::Left ? m : n, 1), out = output(c, m, n, T(0));
  dgmm(c.executor, side, a.view(), x.vector(), out.view());
  compare(c, "C", out, everywhere, native_bound<T>(1), 1, [&](std::int64_t i, std::int64_t j) {
    Sum sum;
    sum.add(wide(x.at(side == Side::Left ? i : j, 0)), wide(a.at(i, j)));
    return sum;
  });
}

template <class T> void packed_case(Case& c) {
  const std::int64_t n = std::min<std::int64_t>(c.extent(), 700);
  const Uplo uplo = c.uplo();
  const Layout layout = c.chance(2) ? Layout::RowMajor : Layout::ColumnMajor;
  const Field<T> a(c, n, n, triangle(uplo)), back = output(c, n, n, T(0));
  const Array<T> packed(c.executor, {n * (n + 1) / 2});
  trttp(c.executor, a.view(), PackedView<T>(c.executor, packed.data(), n, uplo, layout));
  tpttr(c.executor, PackedView<T>(c.executor, packed.data(), n, uplo, layout), back.view());
  compare(c, "A", back, triangle(uplo), 0, 1, [&](std::int64_t i, std::int64_t j) { return Sum{wide(a.at(i, j)), 0}; });
}

// Row-major or column-major packed matrices one after another, as columns of a field.
template <class T> void batched_case(Case& c) {
  const std::int64_t m = c.extent() % 80, n = c.extent() % 80, k = c.extent() % 80, count = c.below(12);
  BatchShape s{c.op(), c.op(), m, n, k};
  s.layout = c.chance(2) ? Layout::RowMajor : Layout::ColumnMajor;
  const T alpha = c.factor<T>(), beta = c.factor<T>();
  const auto batch = [&](std::int64_t size) { return std::max<std::int64_t>(1, size) * count; };
  const auto array = [&](std::int64_t size) {
    std::vector<T> values(static_cast<std::size_t>(size));
    for (T& x : values) x = c.number<T>();
    return values;
  };
  const std::vector<T> a = array(batch(m * k)), b = array(batch(k * n)), before = array(batch(m * n));
  const auto on = [&](const std::vector<T>& v) { return Array<T>::from_host(c.executor, {static_cast<std::int64_t>(v.size())}, v); };
  const Array<T> da = on(a), db = on(b), dc = on(before);
  const Accuracy accuracy = gemm_strided_batched(c.executor, s, alpha, da.data(), m * k, db.data(), k * n, beta, dc.data(), m * n, count);
  const std::vector<T> after = dc.to_host();
  const auto at = [&](const std::vector<T>& v, Op op, std::int64_t p, std::int64_t rows, std::int64_t columns, std::int64_t i, std::int64_t j) {
    if (op != Op::N) std::swap(i, j), std::swap(rows, columns);  // now of the stored matrix
    const Wide x = wide(v[static_cast<std::size_t>(p * rows * columns + (s.layout == Layout::RowMajor ? i * columns + j : i + j * rows))]);
    return conj(x, op == Op::C);
  };
  for (int sample = 0; sample < 64 && m * n * count > 0; ++sample) {
    const std::int64_t p = c.below(count), i = c.below(m), j = c.below(n);
    Sum sum;
    for (std::int64_t q = 0; q < k; ++q) sum.add(at(a, s.op_a, p, m, k, i, q), at(b, s.op_b, p, k, n, q, j));
    sum = scaled(alpha, sum);
    const auto index = static_cast<std::size_t>(p * m * n + (s.layout == Layout::RowMajor ? i * n + j : i + j * m));
    Sum rest;
    if (beta != T(0)) rest.add(wide(beta), wide(before[index]));
    expect(c, "C", i, j, after[index], sum + rest, accuracy.bound);
  }
}

}  // namespace

std::vector<FuzzRow> level3() {
  return {{"gemm", TRN_FUZZ_FOUR(gemm_plain)},      {"gemm3m", TRN_FUZZ_COMPLEX(gemm_3m)},  {"symm", TRN_FUZZ_FOUR(symmetric)},
          {"hemm", TRN_FUZZ_COMPLEX(hermitian)},    {"syrk", TRN_FUZZ_FOUR(syrk_one)},      {"syr2k", TRN_FUZZ_FOUR(syrk_two)},
          {"syrkx", TRN_FUZZ_FOUR(syrk_pair)},      {"herk", TRN_FUZZ_COMPLEX(herk_one)},   {"her2k", TRN_FUZZ_COMPLEX(herk_two)},
          {"herkx", TRN_FUZZ_COMPLEX(herk_pair)},   {"trmm", TRN_FUZZ_FOUR(trmm_case)},     {"trsm", TRN_FUZZ_FOUR(trsm_case)},
          {"geam", TRN_FUZZ_FOUR(geam_case)},       {"dgmm", TRN_FUZZ_FOUR(dgmm_case)},     {"packed", TRN_FUZZ_FOUR(packed_case)},
          {"gemm_batched", TRN_FUZZ_FOUR(batched_case)}};
}

}  // namespace trn::tools::fuzz
