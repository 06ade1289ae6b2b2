// Householder reflections in lanes: I - tau v v^H with v(0) = 1, as LAPACK's larfg makes them.
#if defined(TRN_SOLVER_LANES_REFLECTOR) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_SOLVER_LANES_REFLECTOR
#undef TRN_SOLVER_LANES_REFLECTOR
#else
#define TRN_SOLVER_LANES_REFLECTOR
#endif

#include "host/lanes/number-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::solver::host::lanes::HWY_NAMESPACE {

// Rows i .. m - 1 of column j become beta, v(1), v(2), ..., where (I - tau v v^H)^H times the old column is beta times
// the first unit vector, beta real. Lanes whose squares leave the range are no longer good; with `drop` elements below
// kSmall count as zero instead (for matrices of norm about one).
template <class N, class M>
HWY_INLINE N reflector(const Grid<N>& a, std::int64_t i, std::int64_t m, std::int64_t j, M& good, bool drop = false) {
  using R = typename N::R;
  const Tag<R> d;
  const auto z = hn::Zero(d), one = hn::Set(d, R(1)), large = hn::Set(d, kLarge<R>);
  auto sum = z, most = z;  // of the elements below the first
  for (std::int64_t r = i + 1; r < m; ++r) {
    const N x = a.load(r, j);
    sum = hn::Add(sum, x.square());
    most = hn::Max(most, x.size());
  }
  const N alpha = a.load(i, j);
  if constexpr (N::kComplex) {
    most = hn::Max(most, hn::Abs(alpha.im));
  }
  const auto small = hn::Set(d, kSmall<R>);
  const auto idle = hn::Le(most, drop ? small : z);  // nothing to reflect: tau = 0
  const auto square = hn::Add(sum, alpha.square());
  good = hn::And(good, hn::Or(idle, hn::And(hn::Gt(most, small), hn::Lt(most, large))));
  good = hn::And(good, hn::Or(idle, hn::Lt(alpha.size(), large)));
  const auto beta = hn::Neg(hn::CopySign(hn::Sqrt(square), alpha.re));
  N tau = zero<N>(), factor = zero<N>();
  tau.re = hn::IfThenElse(idle, z, hn::Div(hn::Sub(beta, alpha.re), beta));
  N off = alpha;  // alpha - beta
  off.re = hn::Sub(alpha.re, beta);
  if constexpr (N::kComplex) {
    tau.im = hn::IfThenElse(idle, z, hn::Neg(hn::Div(alpha.im, beta)));
  }
  off.re = hn::IfThenElse(idle, one, off.re);
  factor = reciprocal(off);
  factor.re = hn::IfThenElse(idle, z, factor.re);
  if constexpr (N::kComplex) factor.im = hn::IfThenElse(idle, z, factor.im);
  N first = zero<N>();
  first.re = hn::IfThenElse(idle, alpha.re, beta);
  a.store(i, j, first);
  for (std::int64_t r = i + 1; r < m; ++r) a.store(r, j, mul(a.load(r, j), factor));
  return tau;
}

// Columns j .. j + CB - 1 of b, rows bi .. : x -= factor v (v^H x), v being rows i .. m - 1 of column k of a, its first
// element taken as 1.
template <class N, int CB> HWY_INLINE void reflect(const Grid<N>& a, std::int64_t i, const Grid<N>& b, std::int64_t bi,
                                                   std::int64_t m, std::int64_t k, N factor, std::int64_t j) {
  N w[CB];
  for (int c = 0; c < CB; ++c) w[c] = b.load(bi, j + c);
  const std::int64_t shift = bi - i;
  for (std::int64_t r = i + 1; r < m; ++r) {
    const N v = a.load(r, k).conj();
    for (int c = 0; c < CB; ++c) w[c] = add_mul(w[c], v, b.load(r + shift, j + c));
  }
  for (int c = 0; c < CB; ++c) {
    w[c] = mul(w[c], factor);
    N x = b.load(bi, j + c);
    x.re = hn::Sub(x.re, w[c].re);
    if constexpr (N::kComplex) x.im = hn::Sub(x.im, w[c].im);
    b.store(bi, j + c, x);
  }
  for (std::int64_t r = i + 1; r < m; ++r) {
    const N v = a.load(r, k);
    for (int c = 0; c < CB; ++c) b.store(r + shift, j + c, sub_mul(b.load(r + shift, j + c), v, w[c]));
  }
}

}  // namespace trn::solver::host::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
