// hermite_rows, compiled for every instruction set; the best one of this machine is chosen at the first call.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hermite.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "hermite.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::mp2::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, kLanes>;
using V = hn::Vec<D>;

struct Scratch {
  alignas(64) double seeds[(kMostOrder + 1) * kLanes];  // (-2a)^n F_n / sqrt(p + g)
  alignas(64) double xyz[3 * kLanes];                   // P - C
  alignas(64) double r[hermites(kMostOrder) * kLanes];
};

// F_order ... F_0 of a vector of t into f, by table and by the form for large t.
HWY_INLINE void boys_values(D d, V t, int order, const double* terms, const double* decay, V* f) {
  const auto far = hn::Gt(t, hn::Set(d, BoysTable::kFar));
  if (!hn::AllTrue(d, far)) {
    // Adding 1.5 * 2^52 rounds to an integer, which the low bits then hold.
    const hn::RebindToSigned<D> di;
    const V magic = hn::Set(d, 0x1.8p52);
    const V near = hn::Min(t, hn::Set(d, BoysTable::kFar));
    const V shifted = hn::MulAdd(near, hn::Set(d, BoysTable::kPerUnit), magic);
    const auto point = hn::And(hn::BitCast(di, shifted), hn::Set(di, 0xfffff));
    const V step = hn::NegMulAdd(hn::Set(d, 1), near,
                                 hn::Mul(hn::Sub(shifted, magic), hn::Set(d, 1 / BoysTable::kPerUnit)));  // t0 - t
    const auto row = hn::ShiftLeft<3>(point);
    V sum = hn::GatherIndex(d, terms + BoysTable::kTerms - 1, row);
    for (int k = BoysTable::kTerms - 2; k >= 0; --k) sum = hn::MulAdd(sum, step, hn::GatherIndex(d, terms + k, row));
    V e = hn::Set(d, 1.0 / 5040);
    for (const double c : {1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
      e = hn::MulAdd(e, step, hn::Set(d, c));
    e = hn::Mul(e, hn::GatherIndex(d, decay, point));
    f[order] = sum;
    const V twice = hn::Add(near, near);
    for (int n = order - 1; n >= 0; --n) f[n] = hn::Mul(hn::MulAdd(twice, f[n + 1], e), hn::Set(d, 1.0 / (2 * n + 1)));
  }
  if (!hn::AllFalse(d, far)) {
    const V inverse = hn::Div(hn::Set(d, 1), hn::Max(t, hn::Set(d, 1)));
    V value = hn::Sqrt(hn::Mul(hn::Set(d, 0.785398163397448309615660845819875721), inverse));
    f[0] = hn::AllTrue(d, far) ? value : hn::IfThenElse(far, value, f[0]);
    for (int n = 1; n <= order; ++n) {
      value = hn::Mul(value, hn::Mul(hn::Set(d, n - 0.5), inverse));
      f[n] = hn::AllTrue(d, far) ? value : hn::IfThenElse(far, value, f[n]);
    }
  }
}

HWY_INLINE void seed(D d, const HermiteRecipe& recipe, const BoysTable& boys, const KetLanes& ket, double p,
                     const std::array<double, 3>& centre, std::int64_t lane, Scratch& s) {
  V f[kMostOrder + 1];
  for (std::int64_t i = 0; i < kLanes; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const std::int64_t at = lane + i;
    const V x = hn::Sub(hn::Set(d, centre[0]), hn::LoadU(d, ket.x.data() + at));
    const V y = hn::Sub(hn::Set(d, centre[1]), hn::LoadU(d, ket.y.data() + at));
    const V z = hn::Sub(hn::Set(d, centre[2]), hn::LoadU(d, ket.z.data() + at));
    const V g = hn::LoadU(d, ket.exponent.data() + at), sum = hn::Add(g, hn::Set(d, p));
    const V inverse = hn::Div(hn::Set(d, 1), sum), a = hn::Mul(hn::Mul(g, hn::Set(d, p)), inverse);
    const V t = hn::Mul(a, hn::MulAdd(x, x, hn::MulAdd(y, y, hn::Mul(z, z))));
    boys_values(d, t, recipe.order, boys.terms(recipe.order), boys.decay(), f);
    V scale = hn::Mul(hn::LoadU(d, ket.factor.data() + at), hn::Sqrt(inverse));
    const V next = hn::Mul(hn::Set(d, -2), a);
    for (int n = 0; n <= recipe.order; ++n) {
      hn::Store(hn::Mul(scale, f[n]), d, s.seeds + n * kLanes + i);
      scale = hn::Mul(scale, next);
    }
    hn::Store(x, d, s.xyz + i);
    hn::Store(y, d, s.xyz + kLanes + i);
    hn::Store(z, d, s.xyz + 2 * kLanes + i);
  }
}

HWY_INLINE void copy_lanes(D d, const double* HWY_RESTRICT from, double* HWY_RESTRICT to) {
  for (std::int64_t i = 0; i < kLanes; i += static_cast<std::int64_t>(hn::Lanes(d)))
    hn::Store(hn::Load(d, from + i), d, to + i);
}

// Level n of the recursion replaces level n + 1 in place, highest degree first: a step reads only lower degrees.
HWY_INLINE void recur(D d, const HermiteRecipe& recipe, Scratch& s) {
  copy_lanes(d, s.seeds + recipe.order * kLanes, s.r);
  for (int n = recipe.order - 1; n >= 0; --n) {
    const std::size_t end = recipe.steps.size();
    for (std::size_t k = recipe.begin[static_cast<std::size_t>(recipe.order - n)]; k < end; ++k) {
      const HermiteRecipe::Step& step = recipe.steps[k];
      const double *x = s.xyz + step.axis * kLanes, *from = s.r + step.from * kLanes,
                   *below = s.r + step.below * kLanes;
      double* to = s.r + step.to * kLanes;
      if (step.count == 0) {
        for (std::int64_t i = 0; i < kLanes; i += static_cast<std::int64_t>(hn::Lanes(d)))
          hn::Store(hn::Mul(hn::Load(d, x + i), hn::Load(d, from + i)), d, to + i);
      } else {
        const V count = hn::Set(d, step.count);
        for (std::int64_t i = 0; i < kLanes; i += static_cast<std::int64_t>(hn::Lanes(d))) {
          hn::Store(hn::MulAdd(count, hn::Load(d, below + i), hn::Mul(hn::Load(d, x + i), hn::Load(d, from + i))), d,
                    to + i);
        }
      }
    }
    copy_lanes(d, s.seeds + n * kLanes, s.r);
  }
}

HWY_INLINE void gather(D d, const HermiteRecipe& recipe, const KetLanes& ket, std::int64_t lane, const Scratch& s,
                       double* rows, std::int64_t stride) {
  std::size_t k = 0, value = 0;
  for (int row = 0; row < recipe.rows; ++row) {
    for (int component = 0; component < recipe.components; ++component, ++value) {
      double* to = rows + row * stride + component * ket.lanes + lane;
      const std::size_t first = k;
      k = recipe.term_end[value];
      for (std::int64_t i = 0; i < kLanes; i += static_cast<std::int64_t>(hn::Lanes(d))) {
        V sum = hn::Zero(d);
        for (std::size_t j = first; j < k; ++j) {
          const HermiteRecipe::Term& term = recipe.terms[j];
          V x = hn::Load(d, s.r + term.from * kLanes + i);
          if (term.power > 0) x = hn::Mul(x, hn::LoadU(d, ket.powers.data() + term.power * ket.lanes + lane + i));
          sum = hn::MulAdd(hn::Set(d, term.factor), x, sum);
        }
        hn::StoreU(sum, d, to + i);
      }
    }
  }
}

void hermite_rows_here(const HermiteRecipe& recipe, const BoysTable& boys, const KetLanes& ket, double p,
                       const std::array<double, 3>& centre, double* rows, std::int64_t stride) {
  const D d;
  Scratch s;
  for (std::int64_t lane = 0; lane < ket.lanes; lane += kLanes) {
    seed(d, recipe, boys, ket, p, centre, lane, s);
    recur(d, recipe, s);
    gather(d, recipe, ket, lane, s, rows, stride);
  }
}

}  // namespace trn::mp2::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::mp2 {

HWY_EXPORT(hermite_rows_here);

void hermite_rows(const HermiteRecipe& recipe, const BoysTable& boys, const KetLanes& ket, double p,
                  const std::array<double, 3>& centre, double* rows, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(hermite_rows_here)(recipe, boys, ket, p, centre, rows, stride);
}

}  // namespace trn::mp2
#endif
