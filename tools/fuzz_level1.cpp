// Random cases of level 1.
#include <fmt/core.h>

#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>

#include "fuzz_support.hpp"

namespace trn::tools::fuzz {

namespace {

using namespace blas;

template <class T> Sum identity(T x) { return {wide(x), size(wide(x))}; }

template <class T> void axpy_case(Case& c) {
  const std::int64_t n = c.extent();
  const T alpha = c.factor<T>();
  const Field<T> x(c, n, 1), y(c, n, 1);
  axpy(c.executor, alpha, x.vector(), y.vector());
  compare(c, "y", y, everywhere, native_bound<T>(1), 1, [&](std::int64_t i, std::int64_t) {
    Sum sum;
    if (alpha != T(0)) sum.add(wide(alpha), wide(x.at(i, 0)));  // alpha = 0 does not read x
    return sum + identity(y.at(i, 0));
  });
}

template <class T> void scal_case(Case& c) {
  const std::int64_t n = c.extent();
  const T alpha = c.factor<T>();
  const Field<T> x(c, n, 1);
  scal(c.executor, alpha, x.vector());
  compare(c, "x", x, everywhere, native_bound<T>(1), 1,
          [&](std::int64_t i, std::int64_t) { return identity(x.at(i, 0)).times(wide(alpha)); });
}

template <class T> void copy_and_swap(Case& c) {
  const std::int64_t n = c.extent();
  const Field<T> x(c, n, 1), y(c, n, 1), z(c, n, 1, [](auto, auto) { return false; });
  copy(c.executor, x.vector(), z.vector());
  swap(c.executor, x.vector(), y.vector());
  compare(c, "copy", z, everywhere, 0, 1, [&](std::int64_t i, std::int64_t) { return identity(x.at(i, 0)); });
  compare(c, "x", x, everywhere, 0, 1, [&](std::int64_t i, std::int64_t) { return identity(y.at(i, 0)); });
  compare(c, "y", y, everywhere, 0, 1, [&](std::int64_t i, std::int64_t) { return identity(x.at(i, 0)); });
}

template <class T> void reductions(Case& c) {
  const std::int64_t n = c.extent();
  const Field<T> x(c, n, 1), y(c, n, 1);
  Sum u, h, one, square;
  long double largest = -1, smallest = INFINITY;
  std::int64_t largest_at = -1, smallest_at = -1;
  for (std::int64_t i = 0; i < n; ++i) {
    const Wide a = wide(x.at(i, 0)), b = wide(y.at(i, 0));
    u.add(a, b);
    h.add(conj(a, true), b);
    one.add({std::abs(a.re) + std::abs(a.im), 0}, {1, 0});
    square.add(a, conj(a, true));
    // The sum that is compared is formed in T.
    using R = Real<T>;
    const long double m = static_cast<R>(static_cast<R>(std::abs(a.re)) + static_cast<R>(std::abs(a.im)));
    // A NaN wins in first place and loses elsewhere, as in the reference.
    if (i == 0 || m > largest) largest = m, largest_at = i;
    if (i == 0 || m < smallest) smallest = m, smallest_at = i;
  }
  const double bound = native_bound<T>(n);
  expect(c, "dot", 0, 0, dot(c.executor, x.vector(), y.vector()), u, bound);
  expect(c, "dotc", 0, 0, dotc(c.executor, x.vector(), y.vector()), h, bound);
  expect(c, "asum", 0, 0, asum(c.executor, x.vector()), one, bound);
  const Sum norm{{std::sqrt(square.value.re), 0}, std::sqrt(square.scale)};
  expect(c, "nrm2", 0, 0, nrm2(c.executor, x.vector()), norm, bound);
  if (amax(c.executor, x.vector()) != largest_at) report(c, "amax: not " + std::to_string(largest_at));
  if (amin(c.executor, x.vector()) != smallest_at) report(c, "amin: not " + std::to_string(smallest_at));
}

template <class T> void rot_case(Case& c) {
  const std::int64_t n = c.extent();
  const Real<T> cosine = c.number<Real<T>>();
  const T sine = c.number<T>();
  const Field<T> x(c, n, 1), y(c, n, 1);
  rot(c.executor, x.vector(), y.vector(), cosine, sine);
  compare(c, "x", x, everywhere, native_bound<T>(2), 2, [&](std::int64_t i, std::int64_t) {
    return identity(x.at(i, 0)).times({cosine, 0}) + identity(y.at(i, 0)).times(wide(sine));
  });
  const Wide other = conj(wide(sine), true);
  compare(c, "y", y, everywhere, native_bound<T>(2), 2, [&](std::int64_t i, std::int64_t) {
    return identity(y.at(i, 0)).times({cosine, 0}) + identity(x.at(i, 0)).times({-other.re, -other.im});
  });
}

template <class T> void rotm_case(Case& c) {
  const std::int64_t n = c.extent();
  const T flag = static_cast<T>(c.below(4) - 2);
  const ModifiedRotation<T> h{flag, c.number<T>(), c.number<T>(), c.number<T>(), c.number<T>()};
  const Field<T> x(c, n, 1), y(c, n, 1);
  rotm(c.executor, x.vector(), y.vector(), h);
  const Wide h11 = flag == 0 || flag == -2 ? Wide{1, 0} : wide(h.h11),
             h22 = flag == 0 || flag == -2 ? Wide{1, 0} : wide(h.h22);
  const Wide h12 = flag == 1 ? Wide{1, 0} : wide(h.h12), h21 = flag == 1 ? Wide{-1, 0} : wide(h.h21);
  const auto row = [&](Wide by_x, Wide by_y, std::int64_t i) {
    Sum sum;
    sum.add(by_x, wide(x.at(i, 0)));
    sum.add(by_y, wide(y.at(i, 0)));
    return sum;
  };
  compare(c, "x", x, everywhere, native_bound<T>(2), 2,
          [&](auto i, auto) { return flag == -2 ? identity(x.at(i, 0)) : row(h11, h12, i); });
  compare(c, "y", y, everywhere, native_bound<T>(2), 2,
          [&](auto i, auto) { return flag == -2 ? identity(y.at(i, 0)) : row(h21, h22, i); });
}

// H with H (x1, y1) = (x1', 0) and H^T diag(d1', d2') H = diag(d1, d2), whatever the scaling; all zero where d1 < 0 or
// no such H exists.
template <class T> void rotmg_case(Case& c) {
  // Far enough for the scaling by powers of 4096, near enough for d x^2 in float.
  const auto number = [&](std::int64_t far) {
    if (c.chance(12)) return T(0);
    return std::ldexp(c.number<T>(), static_cast<int>(c.chance(2) ? c.below(2 * far + 1) - far : c.below(4)));
  };
  const T d1 = c.chance(4) ? number(40) : std::abs(number(40)), d2 = number(40), x1 = number(20), y1 = number(20);
  const ModifiedRotationSetup<T> r = rotmg(d1, d2, x1, y1);
  c.what += fmt::format(" of {}, {}, {}, {}: flag {}, H {}, {}, {}, {}, then {}, {}, {}", d1, d2, x1, y1, r.h.flag,
                        r.h.h11, r.h.h12, r.h.h21, r.h.h22, r.d1, r.d2, r.x1);
  const T flag = r.h.flag;
  if (flag == -2) {
    if (!(d2 * y1 == 0 && r.d1 == d1 && r.d2 == d2 && r.x1 == x1))
      report(c, "rotmg: flag -2 although the second element is not zero already");
    return;
  }
  const auto is = [](T x) { return static_cast<long double>(x); };
  const long double h11 = flag == 0 ? 1 : is(r.h.h11), h22 = flag == 0 ? 1 : is(r.h.h22),
                    h12 = flag == 1 ? 1 : is(r.h.h12), h21 = flag == 1 ? -1 : is(r.h.h21);
  if (flag == -1 && h11 == 0 && h12 == 0 && h21 == 0 && h22 == 0) {
    // d1 x1^2 + d2 y1^2 and the d of the larger term must then disagree in sign, or d1 be negative.
    const long double p = is(d1) * is(x1) * is(x1), q = is(d2) * is(y1) * is(y1);
    if (d1 >= 0 && (q > 0 || p > -q * (1 + 0x1p-20L))) report(c, "rotmg: zeros although a rotation exists");
    if (r.d1 != 0 || r.d2 != 0 || r.x1 != 0) report(c, "rotmg: zeros in H but not in d1, d2, x1");
    return;
  }
  const auto near = [&](const char* what, long double a, long double b, long double want) {
    const double bound = 16 * unit_roundoff(dtype_of<T>);
    if (!(std::abs(a + b - want) <= bound * (std::abs(a) + std::abs(b) + std::abs(want))))
      report(c, std::string("rotmg: ") + what);
  };
  const long double e1 = is(r.d1), e2 = is(r.d2);
  near("H does not zero y1", h21 * is(x1), h22 * is(y1), 0);
  near("x1 is not the first element of H (x1, y1)", h11 * is(x1), h12 * is(y1), is(r.x1));
  near("(1, 1) of H^T D H", e1 * h11 * h11, e2 * h21 * h21, is(d1));
  near("(2, 2) of H^T D H", e1 * h12 * h12, e2 * h22 * h22, is(d2));
  near("(1, 2) of H^T D H", e1 * h11 * h12, e2 * h21 * h22, 0);
}

}  // namespace

std::vector<FuzzRow> level1() {
  return {{"axpy", TRN_FUZZ_FOUR(axpy_case)},     {"scal", TRN_FUZZ_FOUR(scal_case)},
          {"copy", TRN_FUZZ_FOUR(copy_and_swap)}, {"reductions", TRN_FUZZ_FOUR(reductions)},
          {"rot", TRN_FUZZ_FOUR(rot_case)},       {"rotm", TRN_FUZZ_REAL(rotm_case)},
          {"rotmg", TRN_FUZZ_REAL(rotmg_case)}};
}

}  // namespace trn::tools::fuzz
