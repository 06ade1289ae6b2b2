// Random cases of level 3 at the ends of the range. Bounds are held to what the headers promise: with a target the
// bound of the result counts over- and underflow, and so does a componentwise bound in any mode; a bound without either
// is barring both and is held only where neither happens. Elements whose exact value does not fit the type are left
// out: they must overflow.
#include "fuzz_range.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <trn/blas/gemm.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

namespace trn::tools::fuzz {

namespace {

using namespace blas;

enum class Sizes : std::uint8_t { Plain, NearOverflow, Wide, Denormal, Cancelling, Mixed };
constexpr const char* kSizes[] = {"plain", "near overflow", "wide", "denormal", "cancelling", "mixed"};

// One real number of a sort, in float or double.
template <class R> R part(Case& c, Sizes sizes) {
  constexpr int top = std::numeric_limits<R>::max_exponent - 1, half = top / 2,
                bottom = std::numeric_limits<R>::min_exponent - 1, last = bottom - std::numeric_limits<R>::digits + 1;
  const auto power = [&](int low, int high) { return low + static_cast<int>(c.below(high - low + 1)); };
  const R sign = c.chance(2) ? R(1) : R(-1), digits = 1 + std::abs(c.number<R>()) / 2;
  switch (sizes) {
    case Sizes::NearOverflow:
      return sign * std::ldexp(digits, power(half - 2, half));
    case Sizes::Wide:
      return sign * std::ldexp(digits, power(bottom, half));
    case Sizes::Denormal:
      return sign * std::ldexp(digits, power(last, bottom / 2));
    case Sizes::Cancelling:
      return sign * (1 + (digits - 1) * static_cast<R>(0x1p-10));
    case Sizes::Mixed:
      return c.chance(8) ? R(0) : sign * std::ldexp(digits, power(last, top));
    default:
      return sign * digits;
  }
}
template <class T> T sized(Case& c, Sizes sizes) {
  using R = Real<T>;
  if constexpr (ComplexScalar<T>) {
    const R re = part<R>(c, sizes);
    return T(re, part<R>(c, sizes));
  } else {
    return part<R>(c, sizes);
  }
}

// An operand of a sort: rows share it, or each row and each column has a size of its own.
template <class T>
Field<T> operand(Case& c, std::int64_t rows, std::int64_t columns, Sizes sizes, const Mask& in = everywhere) {
  Field<T> x(c, rows, columns, in);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (in(i, j)) x.at(i, j) = sized<T>(c, sizes);
    }
  }
  x.upload();
  return x;
}

// What a case asks for, and whether its bound counts over- and underflow.
struct Asked {
  Precision precision;
  bool target = false;
};
template <class T> Asked asked(Case& c, bool target_only) {
  constexpr bool wide = std::is_same_v<Real<T>, double>;
  if (target_only || c.chance(2))
    return {
        Precision::target(wide ? c.pick({1e-2, 1e-10, 1e-13, 1e-14}) : c.pick({5e-2, 2e-2, 2e-3, 1e-4, 3e-5, 1e-6})),
        true};
  if (wide) return {c.executor.family() == Family::Host ? Mode::Native : Mode::Exact};
  return {c.pick({Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6})};
}

// Value and normwise scale of a sum.
struct Normed {
  Wide value;
  long double xx = 0, yy = 0;
  void add(Wide x, Wide y) {
    value = value + x * y;
    xx += x.re * x.re + x.im * x.im, yy += y.re * y.re + y.im * y.im;
  }
  [[nodiscard]] Sum times(Wide alpha) const { return {alpha * value, size(alpha) * std::sqrt(xx) * std::sqrt(yy)}; }
};

// Holds one element; terms: of the 80-bit sum. Exact rounds once to the result's type, a denormal one too: that is not
// in its norm-wise bound.
template <class T> void hold(Case& c, T got, const Sum& want, std::int64_t terms, const Accuracy& accuracy,
                             bool counted, double componentwise = INFINITY) {
  const long double top = std::numeric_limits<Real<T>>::max(),
                    least = accuracy.mode == Mode::Exact
                                ? 3 * static_cast<long double>(std::numeric_limits<Real<T>>::denorm_min())
                                : 0;
  const long double oracle = static_cast<long double>(terms + 4) * 0x1p-63L * want.scale + least;
  const double bound = accuracy.bound;
  if (std::abs(want.value.re) > top || std::abs(want.value.im) > top) return;
  const long double error = size(wide(got) - want.value);
  if (counted && !(error <= bound * (1 + 0x1p-9L) * want.scale + oracle)) {
    report(c, fmt::format("{}: error {} of the scale {}, bound {}, value {} exact {}", name(accuracy.mode),
                          static_cast<double>(error / want.scale), static_cast<double>(want.scale), bound,
                          static_cast<double>(wide(got).re), static_cast<double>(want.value.re)));
  }
  if (!std::isinf(componentwise) && !(error <= componentwise * (1 + 0x1p-9L) + oracle)) {
    report(c, fmt::format("{}: error {}, componentwise bound {}, value {} exact {}", name(accuracy.mode),
                          static_cast<double>(error), componentwise, static_cast<double>(wide(got).re),
                          static_cast<double>(want.value.re)));
  }
}

// A refusal is an answer: no mode has that bound. Everything must be as it was.
template <class T, class Call> std::optional<Accuracy> kept(Case& c, const Field<T>& out, const Call& call) {
  try {
    return call();
  } catch (const InvalidArgument&) {
    if (std::memcmp(out.after().host.data(), out.host.data(), out.host.size() * sizeof(T)) != 0)
      report(c, "refused, but memory was changed");
    return std::nullopt;
  }
}

std::int64_t small(Case& c, std::int64_t most) { return 1 + c.below(most); }
template <class T> T factor_of(Case& c, Sizes sizes) {
  return c.chance(2) ? T(1) : sized<T>(c, c.chance(3) ? sizes : Sizes::Plain);
}
void describe(Case& c, Sizes sizes, const Asked& a, const std::string& rest) {
  c.special = false;
  c.what += fmt::format(
      " {} {}{}", kSizes[static_cast<int>(sizes)],
      a.target ? fmt::format("target {}", a.precision.target_error()) : std::string(name(a.precision.mode())), rest);
}
Sizes any_sizes(Case& c) { return static_cast<Sizes>(c.below(6)); }

template <class T> void gemm_range(Case& c) {
  c.special = false;
  const Sizes sizes = any_sizes(c);
  const Asked p = asked<T>(c, false);
  const std::int64_t m = small(c, 6), n = small(c, 6), k = c.chance(4) ? small(c, 300) : small(c, 20);
  const T alpha = factor_of<T>(c, sizes), beta = c.chance(2) ? T(0) : factor_of<T>(c, Sizes::Plain);
  describe(c, sizes, p, fmt::format(" m {} n {} k {}", m, n, k));
  const auto a = operand<T>(c, m, k, sizes), b = operand<T>(c, k, n, c.chance(3) ? any_sizes(c) : sizes),
             out = operand<T>(c, m, n, sizes);
  std::vector<double> bounds(static_cast<std::size_t>(m * n));
  const GemmOptions options{p.precision, MatrixView<double>::row_major(Executor::host(), bounds.data(), m, n)};
  const auto accuracy = kept(
      c, out, [&] { return gemm(c.executor, Op::N, Op::N, alpha, a.view(), b.view(), beta, out.view(), options); });
  if (!accuracy) return;
  const Field<T> after = out.after();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Normed sum;
      for (std::int64_t q = 0; q < k; ++q) sum.add(wide(a.at(i, q)), wide(b.at(q, j)));
      hold(c, after.at(i, j), sum.times(wide(alpha)) + old(beta, out, i, j), k, *accuracy, p.target,
           bounds[static_cast<std::size_t>(i * n + j)]);
    }
  }
}

template <class T> void symm_range(Case& c) {
  c.special = false;
  const Sizes sizes = any_sizes(c);
  const Asked p = asked<T>(c, true);
  const std::int64_t m = small(c, 12), n = small(c, 6);
  const Uplo uplo = c.uplo();
  const T alpha = factor_of<T>(c, sizes), beta = c.chance(2) ? T(0) : factor_of<T>(c, Sizes::Plain);
  describe(c, sizes, p, fmt::format(" m {} n {}", m, n));
  const auto a = operand<T>(c, m, m, sizes, triangle(uplo)), b = operand<T>(c, m, n, sizes),
             out = operand<T>(c, m, n, sizes);
  const auto accuracy = kept(c, out, [&] {
    return symm(c.executor, Side::Left, uplo, alpha, a.view(), b.view(), beta, out.view(), {p.precision});
  });
  if (!accuracy) return;
  const Field<T> after = out.after();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Normed sum;
      for (std::int64_t q = 0; q < m; ++q)
        sum.add(wide(triangle(uplo)(i, q) ? a.at(i, q) : a.at(q, i)), wide(b.at(q, j)));
      hold(c, after.at(i, j), sum.times(wide(alpha)) + old(beta, out, i, j), m, *accuracy, true);
    }
  }
}

template <class T, bool kTwo> void rank_k_range(Case& c) {
  c.special = false;
  const Sizes sizes = any_sizes(c);
  const Asked p = asked<T>(c, true);
  const std::int64_t n = small(c, 6), k = small(c, 12);
  const Uplo uplo = c.uplo();
  const T alpha = factor_of<T>(c, sizes), beta = c.chance(2) ? T(0) : factor_of<T>(c, Sizes::Plain);
  describe(c, sizes, p, fmt::format(" n {} k {}", n, k));
  const auto a = operand<T>(c, n, k, sizes), b = operand<T>(c, n, k, sizes),
             out = operand<T>(c, n, n, sizes, triangle(uplo));
  const auto accuracy = kept(c, out, [&] {
    return kTwo ? syr2k(c.executor, uplo, Op::N, alpha, a.view(), b.view(), beta, out.view(), {p.precision})
                : syrk(c.executor, uplo, Op::N, alpha, a.view(), beta, out.view(), {p.precision});
  });
  if (!accuracy) return;
  const Field<T> after = out.after();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (!triangle(uplo)(i, j)) continue;
      Normed one, two;
      for (std::int64_t q = 0; q < k; ++q) {
        one.add(wide(a.at(i, q)), wide((kTwo ? b : a).at(j, q)));
        if (kTwo) two.add(wide(b.at(i, q)), wide(a.at(j, q)));
      }
      hold(c, after.at(i, j), one.times(wide(alpha)) + two.times(wide(alpha)) + old(beta, out, i, j), 2 * k, *accuracy,
           true);
    }
  }
}
template <class T> void syrk_range(Case& c) { rank_k_range<T, false>(c); }
template <class T> void syr2k_range(Case& c) { rank_k_range<T, true>(c); }

template <class T> void trmm_range(Case& c) {
  c.special = false;
  const Sizes sizes = any_sizes(c);
  const Asked p = asked<T>(c, true);
  const std::int64_t m = small(c, 12), n = small(c, 6);
  const Uplo uplo = c.uplo();
  const Op op = c.op();
  const Diag diag = c.diag();
  const T alpha = factor_of<T>(c, sizes);
  describe(c, sizes, p, fmt::format(" m {} n {}", m, n));
  const auto a = operand<T>(c, m, m, sizes,
                            [&](auto i, auto j) { return triangle(uplo)(i, j) && (i != j || diag == Diag::NonUnit); });
  const auto b = operand<T>(c, m, n, sizes);
  const auto accuracy = kept(
      c, b, [&] { return trmm(c.executor, Side::Left, uplo, op, diag, alpha, a.view(), b.view(), {p.precision}); });
  if (!accuracy) return;
  const Field<T> after = b.after();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Normed sum;
      for (std::int64_t q = 0; q < m; ++q) sum.add(triangular(a, uplo, op, diag, i, q), wide(b.at(q, j)));
      hold(c, after.at(i, j), sum.times(wide(alpha)), m, *accuracy, true);
    }
  }
}

// Triangles from well to badly conditioned: rows and columns scaled, small pivots. Solutions that leave the range, or
// come near denormals, are left out.
template <class T> void trsm_range(Case& c) {
  c.special = false;
  using R = Real<T>;
  const Asked p = c.chance(4) && c.executor.family() == Family::Host ? Asked{Mode::Exact} : asked<T>(c, false);
  const std::int64_t m = c.chance(6) ? small(c, 300) : small(c, 80), n = small(c, 5);
  const Uplo uplo = c.uplo();
  const Op op = c.op();
  const Diag diag = c.diag();
  const int wide_rows = c.chance(2) ? 12 : 0, pivots = c.chance(2) ? 8 : 0;
  const T alpha = c.factor<T>();
  describe(c, Sizes::Plain, p, fmt::format(" m {} n {} rows 2^{} pivots 2^-{}", m, n, wide_rows, pivots));
  Field<T> a(c, m, m, triangle(uplo));
  tame(a, diag);
  for (std::int64_t i = 0; i < m; ++i) {
    const R scale = std::ldexp(R(1), static_cast<int>(c.below(wide_rows + 1)));
    for (std::int64_t j = 0; j < m; ++j) {
      if (i == j && diag == Diag::NonUnit && pivots > 0)
        a.at(i, i) *= std::ldexp(R(1), -static_cast<int>(c.below(pivots)));
      if (diag == Diag::NonUnit) a.at(i, j) *= scale;
    }
  }
  a.upload();
  const Field<T> b(c, m, n);
  const auto accuracy = kept(
      c, b, [&] { return trsm(c.executor, Side::Left, uplo, op, diag, alpha, a.view(), b.view(), {p.precision}); });
  if (!accuracy || alpha == T(0)) return;
  const Field<T> x = b.after();
  for (std::int64_t j = 0; j < n; ++j) {
    bool regular = true;
    for (std::int64_t i = 0; i < m; ++i)
      regular = regular && std::isfinite(size(wide(x.at(i, j)))) && size(wide(x.at(i, j))) < 1e30L &&
                size(wide(x.at(i, j))) > 1e-30L;
    for (std::int64_t i = 0; i < m && regular; ++i) {
      Normed sum;
      for (std::int64_t q = 0; q < m; ++q) sum.add(triangular(a, uplo, op, diag, i, q), wide(x.at(q, j)));
      const Sum product = sum.times({1, 0});
      const long double residual = size(wide(alpha) * wide(b.at(i, j)) - product.value),
                        oracle = static_cast<long double>(m + 4) * 0x1p-63L;
      if (!(residual <= (accuracy->bound * (1 + 0x1p-9L) + oracle) * product.scale)) {
        report(c, fmt::format("residual {} of the scale, bound {}", static_cast<double>(residual / product.scale),
                              accuracy->bound));
      }
    }
  }
}

}  // namespace

std::vector<FuzzRow> range_rows() {
  return {{"gemm_range", TRN_FUZZ_FOUR(gemm_range)}, {"symm_range", TRN_FUZZ_FOUR(symm_range)},
          {"syrk_range", TRN_FUZZ_FOUR(syrk_range)}, {"syr2k_range", TRN_FUZZ_FOUR(syr2k_range)},
          {"trmm_range", TRN_FUZZ_FOUR(trmm_range)}, {"trsm_range", TRN_FUZZ_FOUR(trsm_range)}};
}

}  // namespace trn::tools::fuzz
