// Random cases of level 1.
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
    sum.add(wide(alpha), wide(x.at(i, 0)));
    return sum + identity(y.at(i, 0));
  });
}

template <class T> void scal_case(Case& c) {
  const std::int64_t n = c.extent();
  const T alpha = c.factor<T>();
  const Field<T> x(c, n, 1);
  scal(c.executor, alpha, x.vector());
  compare(c, "x", x, everywhere, native_bound<T>(1), 1, [&](std::int64_t i, std::int64_t) { return identity(x.at(i, 0)).times(wide(alpha)); });
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
    if (m > largest) largest = m, largest_at = i;
    if (m < smallest) smallest = m, smallest_at = i;
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

}  // namespace

std::vector<FuzzRow> level1() {
  return {{"axpy", TRN_FUZZ_FOUR(axpy_case)},
          {"scal", TRN_FUZZ_FOUR(scal_case)},
          {"copy", TRN_FUZZ_FOUR(copy_and_swap)},
          {"reductions", TRN_FUZZ_FOUR(reductions)},
          {"rot", TRN_FUZZ_FOUR(rot_case)}};
}

}  // namespace trn::tools::fuzz
