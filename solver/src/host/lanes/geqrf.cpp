// Householder QR in lanes: one reflection per column, applied to four columns at a time (complex: two).
#include "host/lanes/lanes.hpp"

#include <algorithm>

// AVX-512, AVX2 and plain SSE2: every instruction set more is compiled as well.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/lanes/geqrf.cpp"
#include <hwy/foreach_target.h>
#include "host/lanes/reflector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::solver::host::lanes::HWY_NAMESPACE {

template <class N>
void geqrf_of(std::int64_t m, std::int64_t n, typename N::R* data, typename N::R* taus, unsigned char* bad) {
  using R = typename N::R;
  const Tag<R> d;
  const Grid<N> a(data, m);
  constexpr int kColumns = N::kComplex ? 2 : 4;
  auto sum = hn::Zero(d);
  for (std::int64_t e = 0; e < m * n; ++e) look(N::load(data + e * a.step), sum);
  auto good = hn::Eq(sum, hn::Zero(d));
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    const N tau = reflector(a, k, m, k, good);
    tau.store(taus + k * a.step);
    const N factor = tau.conj();  // H^H is applied
    std::int64_t j = k + 1;
    for (; j + kColumns <= n; j += kColumns) reflect<N, kColumns>(a, k, a, k, m, k, factor, j);
    for (; j < n; ++j) reflect<N, 1>(a, k, a, k, m, k, factor, j);
  }
  sum = hn::Zero(d);
  for (std::int64_t e = 0; e < m * n; ++e) look(N::load(data + e * a.step), sum);
  tell<R>(hn::And(good, hn::Eq(sum, hn::Zero(d))), bad);
}
void geqrf_s(std::int64_t m, std::int64_t n, float* a, float* tau, unsigned char* bad) {
  geqrf_of<Real1<float>>(m, n, a, tau, bad);
}
void geqrf_d(std::int64_t m, std::int64_t n, double* a, double* tau, unsigned char* bad) {
  geqrf_of<Real1<double>>(m, n, a, tau, bad);
}
void geqrf_c(std::int64_t m, std::int64_t n, float* a, float* tau, unsigned char* bad) {
  geqrf_of<Complex1<float>>(m, n, a, tau, bad);
}
void geqrf_z(std::int64_t m, std::int64_t n, double* a, double* tau, unsigned char* bad) {
  geqrf_of<Complex1<double>>(m, n, a, tau, bad);
}

}  // namespace trn::solver::host::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::solver::host::lanes {
HWY_EXPORT(geqrf_s);
HWY_EXPORT(geqrf_d);
HWY_EXPORT(geqrf_c);
HWY_EXPORT(geqrf_z);

template <> void geqrf<float>(std::int64_t m, std::int64_t n, float* a, float* tau, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(geqrf_s)(m, n, a, tau, bad);
}
template <> void geqrf<double>(std::int64_t m, std::int64_t n, double* a, double* tau, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(geqrf_d)(m, n, a, tau, bad);
}
template <> void geqrf<std::complex<float>>(std::int64_t m, std::int64_t n, float* a, float* tau, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(geqrf_c)(m, n, a, tau, bad);
}
template <>
void geqrf<std::complex<double>>(std::int64_t m, std::int64_t n, double* a, double* tau, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(geqrf_z)(m, n, a, tau, bad);
}
}  // namespace trn::solver::host::lanes
#endif
