// Coulomb integrals between a Hermite Gaussian and primitive fitting functions, many fitting functions at a time.
//
// With D^tuv = (d/dP_x)^t (d/dP_y)^u (d/dP_z)^v and T = a |P - C|^2, a = p g / (p + g),
//
//   int int D^tuv exp(-p (r-P)^2) exp(-g (s-C)^2) / |r-s| = 2 pi^(5/2) / (p g sqrt(p+g)) R_tuv,      R_tuv = D^tuv
//     F_0(T),
//   R^n_000 = (-2a)^n F_n(T),     R^n_(t+1,u,v) = (P-C)_x R^(n+1)_tuv + t R^(n+1)_(t-1,u,v),     R = R^0.
//
// A fitting function is a sum of derivatives of exp(-g (s-C)^2) by C, too: a solid harmonic is S_lm(d/dC) (2g)^-l exp
// (the lower derivatives cancel), and of x^i the derivatives t = i, i-2, ... with e_(i+1,t) = e_(i,t-1) + (t+1)
// e_(i,t+1), e_00 = 1, times (2g)^-((i+t)/2). Since d/dC = -d/dP, its integral is a sum of R_(t+x,u+y,v+z). Lanes of a
// vector are fitting functions of the same angular momentum.
#pragma once

#include <array>

#include <trn/mp2/basis.hpp>

#include "boys.hpp"

namespace trn::mp2 {

inline constexpr int kMostMomentum = 6, kMostOrder = 3 * kMostMomentum;
inline constexpr std::int64_t kLanes = 16;

// Hermite indices by degree, then by u + v, then by v.
constexpr std::int32_t hermite_index(int t, int u, int v) {
  const int degree = t + u + v, k = u + v;
  return degree * (degree + 1) * (degree + 2) / 6 + k * (k + 1) / 2 + v;
}
constexpr std::int32_t hermites(int degree) {
  return (degree + 1) * (degree + 2) * (degree + 3) / 6;
}  // of at most this degree

// How the integrals of all D^tuv with t + u + v <= bra and fitting functions of momentum l come about.
struct HermiteRecipe {
  // R_to = x_axis R_from + count R_below.
  struct Step {
    std::int32_t to, from, below, axis;
    double count;
  };
  // factor (2g)^power R_from
  struct Term {
    std::int32_t from, power;
    double factor;
  };

  HermiteRecipe(int bra, int l, Functions functions);

  int order, rows, components;
  std::vector<Step> steps;            // by falling degree
  std::vector<std::size_t> begin;     // the first step of degree d or less
  std::vector<std::size_t> term_end;  // of value row * components + component
  std::vector<Term> terms;
};

// Primitive fitting functions of one momentum, as many as whole vectors hold; spare ones have factor zero.
struct KetLanes {
  std::int64_t lanes = 0;
  std::vector<double> x, y, z, exponent;
  std::vector<double> factor;  // coefficient (-1)^l (2g)^-l / g
  std::vector<double> powers;  // (2g)^s at [s * lanes + lane]
};

// sum of terms / sqrt(p + g) at rows[row * stride + component * lanes + lane], for the derivatives of exp(-p (r-P)^2).
void hermite_rows(const HermiteRecipe& recipe, const BoysTable& boys, const KetLanes& ket, double p,
                  const std::array<double, 3>& centre, double* rows, std::int64_t stride);

}  // namespace trn::mp2
