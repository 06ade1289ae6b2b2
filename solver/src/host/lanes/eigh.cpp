// Symmetric eigenproblems in lanes: Householder's tridiagonal form, then implicit QL steps with Wilkinson's shift.
//
// Lanes converge at different times, and their matrices split at different places: a lane that has nothing to do takes
// part with the identity. A rotation is applied to the vectors of all lanes at once.
#include "host/lanes/lanes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// AVX-512, AVX2 and plain SSE2: every instruction set more is compiled as well.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/lanes/eigh.cpp"
#include <hwy/foreach_target.h>
#include "host/lanes/reflector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::solver::host::lanes::HWY_NAMESPACE {

// A = Q T Q^T. T's diagonal goes to d, what stands below it to e; Q's reflections stay below A's subdiagonal, their
// factors go to tau. w is scratch. All of n elements. Both triangles are given and updated.
template <class R, class M>
HWY_INLINE void tridiagonal(const Grid<Real1<R>>& a, R* d_, R* e_, R* tau_, R* w_, M& good) {
  using N = Real1<R>;
  const Tag<R> tag;
  const std::int64_t n = a.rows, step = a.step;
  const auto half = hn::Set(tag, R(0.5));
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const N tau = reflector(a, k + 1, n, k, good, true);
    tau.store(tau_ + k * step);
    a.load(k + 1, k).store(e_ + k * step);  // beta
    a.store(k + 1, k, N{hn::Set(tag, R(1))});
    // w = tau A v, and v^T w.
    auto product = hn::Zero(tag);
    for (std::int64_t i = k + 1; i < n; ++i) {
      auto s0 = hn::Zero(tag), s1 = s0;  // column i is row i
      std::int64_t r = k + 1;
      for (; r + 1 < n; r += 2) {
        s0 = hn::MulAdd(a.load(r, i).re, a.load(r, k).re, s0);
        s1 = hn::MulAdd(a.load(r + 1, i).re, a.load(r + 1, k).re, s1);
      }
      if (r < n) s0 = hn::MulAdd(a.load(r, i).re, a.load(r, k).re, s0);
      const auto w = hn::Mul(tau.re, hn::Add(s0, s1));
      hn::Store(w, tag, w_ + i * step);
      product = hn::MulAdd(w, a.load(i, k).re, product);
    }
    const auto share = hn::Mul(hn::Mul(half, tau.re), product);
    for (std::int64_t i = k + 1; i < n; ++i) {
      const auto w = hn::Load(tag, w_ + i * step);
      hn::Store(hn::NegMulAdd(share, a.load(i, k).re, w), tag, w_ + i * step);
    }
    for (std::int64_t j = k + 1; j < n; ++j) {
      const auto v = a.load(j, k).re, w = hn::Load(tag, w_ + j * step);
      for (std::int64_t i = k + 1; i < n; ++i) {
        auto x = a.load(i, j).re;
        x = hn::NegMulAdd(a.load(i, k).re, w, x);
        x = hn::NegMulAdd(hn::Load(tag, w_ + i * step), v, x);
        a.store(i, j, N{x});
      }
    }
  }
  for (std::int64_t k = 0; k < n; ++k) a.load(k, k).store(d_ + k * step);
  hn::Store(hn::Zero(tag), tag, e_ + (n - 1) * step);
}

// Q itself, from the reflections, in z.
template <class R> HWY_INLINE void accumulate(const Grid<Real1<R>>& a, const R* tau_, const Grid<Real1<R>>& z) {
  using N = Real1<R>;
  const Tag<R> tag;
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) z.store(i, j, N{hn::Set(tag, R(i == j))});
  }
  for (std::int64_t k = n - 2; k >= 0; --k) {
    const N tau = N::load(tau_ + k * a.step);
    std::int64_t j = k + 1;
    for (; j + 4 <= n; j += 4) reflect<N, 4>(a, k + 1, z, k + 1, n, k, tau, j);
    for (; j < n; ++j) reflect<N, 1>(a, k + 1, z, k + 1, n, k, tau, j);
  }
}

// Columns i and i + 1 of z: (c x - s y, s x + c y).
template <class R> HWY_INLINE void rotate(const Grid<Real1<R>>& z, std::int64_t i, Vec<R> c, Vec<R> s) {
  for (std::int64_t r = 0; r < z.rows; ++r) {
    const auto x = z.load(r, i).re, y = z.load(r, i + 1).re;
    z.store(r, i, Real1<R>{hn::NegMulAdd(s, y, hn::Mul(c, x))});
    z.store(r, i + 1, Real1<R>{hn::MulAdd(s, x, hn::Mul(c, y))});
  }
}

// One QL step of the lanes in `active` on rows l .. m, each lane with its own m > l; most is the largest of them.
template <class R, class M> HWY_INLINE void ql_step(R* d_, R* e_, std::int64_t step, std::int64_t l, Vec<R> m,
                                                    std::int64_t most, M active, const Grid<Real1<R>>* z) {
  const Tag<R> tag;
  const auto at = [&](const R* p, std::int64_t i) HWY_ATTR { return hn::Load(tag, p + i * step); };
  const auto set = [&](R* p, std::int64_t i, Vec<R> v) HWY_ATTR { hn::Store(v, tag, p + i * step); };
  const auto one = hn::Set(tag, R(1)), zero = hn::Zero(tag), two = hn::Set(tag, R(2));
  const auto tiny = hn::Set(tag, kSmall<R> / 8);
  auto end = zero;  // d[m]
  for (std::int64_t i = l + 1; i <= most; ++i) {
    end = hn::IfThenElse(hn::Eq(m, hn::Set(tag, static_cast<R>(i))), at(d_, i), end);
  }
  // Lanes that rest divide by one.
  const auto first = hn::IfThenElse(active, at(e_, l), one);
  auto g = hn::Div(hn::Sub(at(d_, l + 1), at(d_, l)), hn::Mul(two, first));
  auto r = hn::Sqrt(hn::MulAdd(g, g, one));
  g = hn::Add(hn::Sub(end, at(d_, l)), hn::Div(first, hn::Add(g, hn::CopySign(r, g))));
  auto s = one, c = one, p = zero;
  auto going = active;
  for (std::int64_t i = most - 1; i >= l; --i) {
    const auto part = hn::And(going, hn::Gt(m, hn::Set(tag, static_cast<R>(i))));
    const auto f = hn::Mul(s, at(e_, i)), b = hn::Mul(c, at(e_, i));
    r = hn::Sqrt(hn::MulAdd(f, f, hn::Mul(g, g)));
    // Both too small to be told from zero: the matrix splits here.
    const auto gone = hn::And(part, hn::Lt(hn::Max(hn::Abs(f), hn::Abs(g)), tiny));
    const auto turn = hn::AndNot(gone, part);
    set(e_, i + 1, hn::IfThenElse(gone, zero, hn::IfThenElse(turn, r, at(e_, i + 1))));
    set(d_, i + 1, hn::IfThenElse(gone, hn::Sub(at(d_, i + 1), p), at(d_, i + 1)));
    going = hn::AndNot(gone, going);
    const auto safe = hn::IfThenElse(turn, r, one);
    const auto sn = hn::IfThenElse(turn, hn::Div(f, safe), zero), cn = hn::IfThenElse(turn, hn::Div(g, safe), one);
    const auto h = hn::Sub(at(d_, i + 1), p);
    const auto q = hn::MulAdd(hn::Sub(at(d_, i), h), sn, hn::Mul(hn::Mul(two, cn), b));
    const auto pn = hn::Mul(sn, q);
    set(d_, i + 1, hn::IfThenElse(turn, hn::Add(h, pn), at(d_, i + 1)));
    s = hn::IfThenElse(turn, sn, s);
    c = hn::IfThenElse(turn, cn, c);
    p = hn::IfThenElse(turn, pn, p);
    g = hn::IfThenElse(turn, hn::Sub(hn::Mul(cn, q), b), g);
    if (z && !hn::AllFalse(tag, turn)) rotate(*z, i, cn, sn);
  }
  set(d_, l, hn::IfThenElse(going, hn::Sub(at(d_, l), p), at(d_, l)));
  set(e_, l, hn::IfThenElse(going, g, at(e_, l)));
  for (std::int64_t i = l + 1; i <= most; ++i) {
    const auto here = hn::And(active, hn::Eq(m, hn::Set(tag, static_cast<R>(i))));
    set(e_, i, hn::IfThenElse(here, zero, at(e_, i)));
  }
}

template <class R> void eigh_of(std::int64_t n, R* data, R* w, bool vectors, R* scratch, unsigned char* bad) {
  using N = Real1<R>;
  const Tag<R> tag;
  const Grid<N> a(data, n), z(scratch, n);
  const std::int64_t step = a.step;
  R *d_ = w, *e_ = scratch + n * n * step, *tau_ = e_ + n * step, *w_ = tau_ + n * step;
  auto sum = hn::Zero(tag), largest = sum;
  for (std::int64_t e = 0; e < n * n; ++e) {
    const N x = N::load(data + e * step);
    look(x, sum);
    largest = hn::Max(largest, x.size());
  }
  const auto zero = hn::Zero(tag);
  auto good = hn::And(hn::Eq(sum, zero),
                      hn::And(hn::Gt(largest, hn::Set(tag, kSmall<R>)), hn::Lt(largest, hn::Set(tag, kLarge<R>))));
  // By a power of two to a largest element between 1/2 and 1: every threshold below is then relative to the norm.
  HWY_ALIGN R powers[HWY_MAX_BYTES / sizeof(R)];
  hn::Store(hn::IfThenElse(good, largest, hn::Set(tag, R(1))), tag, powers);
  for (std::int64_t l = 0; l < step; ++l) {
    int exponent = 0;
    (void)std::frexp(powers[l], &exponent);
    powers[l] = std::ldexp(R(1), exponent);
  }
  const auto safe = hn::Load(tag, powers), inverse = hn::Div(hn::Set(tag, R(1)), safe);
  for (std::int64_t e = 0; e < n * n; ++e) {
    N{hn::Mul(N::load(data + e * step).re, inverse)}.store(data + e * step);
  }
  auto kept = good;
  tridiagonal<R>(a, d_, e_, tau_, w_, kept);
  if (vectors) accumulate<R>(a, tau_, z);
  const auto eps = hn::Set(tag, std::numeric_limits<R>::epsilon()), floor = hn::Set(tag, kSmall<R>);
  constexpr int kSteps = 40;
  for (std::int64_t l = 0; l + 1 < n; ++l) {
    for (int steps = 0;; ++steps) {
      // m: the first row from l on below which nothing is left.
      auto m = hn::Set(tag, static_cast<R>(n - 1));
      for (std::int64_t i = n - 2; i >= l; --i) {
        const auto e = hn::Abs(hn::Load(tag, e_ + i * step));
        const auto around = hn::Add(hn::Abs(hn::Load(tag, d_ + i * step)), hn::Abs(hn::Load(tag, d_ + (i + 1) * step)));
        const auto small = hn::Or(hn::Le(e, hn::Mul(eps, around)), hn::Le(e, floor));
        m = hn::IfThenElse(small, hn::Set(tag, static_cast<R>(i)), m);
      }
      const auto active = hn::And(kept, hn::Gt(m, hn::Set(tag, static_cast<R>(l))));
      if (hn::AllFalse(tag, active)) break;
      if (steps == kSteps) {
        kept = hn::AndNot(active, kept);
        break;
      }
      const auto most = static_cast<std::int64_t>(
          hn::GetLane(hn::MaxOfLanes(tag, hn::IfThenElse(active, m, hn::Set(tag, static_cast<R>(l))))));
      ql_step<R>(d_, e_, step, l, m, most, active, vectors ? &z : nullptr);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    hn::Store(hn::Mul(hn::Load(tag, d_ + i * step), safe), tag, d_ + i * step);
  }
  if (vectors) std::copy(scratch, scratch + n * n * step, data);
  tell<R>(kept, bad);
}
void eigh_s(std::int64_t n, float* a, float* w, bool vectors, float* scratch, unsigned char* bad) {
  eigh_of<float>(n, a, w, vectors, scratch, bad);
}
void eigh_d(std::int64_t n, double* a, double* w, bool vectors, double* scratch, unsigned char* bad) {
  eigh_of<double>(n, a, w, vectors, scratch, bad);
}

}  // namespace trn::solver::host::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::solver::host::lanes {
HWY_EXPORT(eigh_s);
HWY_EXPORT(eigh_d);

template <> void eigh<float>(std::int64_t n, float* a, float* w, bool vectors, float* scratch, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(eigh_s)(n, a, w, vectors, scratch, bad);
}
template <> void eigh<double>(std::int64_t n, double* a, double* w, bool vectors, double* scratch, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(eigh_d)(n, a, w, vectors, scratch, bad);
}
}  // namespace trn::solver::host::lanes
#endif
