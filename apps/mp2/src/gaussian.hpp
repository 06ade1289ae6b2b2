// Contracted Gaussians as polynomials times exponentials: the components of a shell, and its coefficients with every
// normalisation in them.
#pragma once

#include <trn/mp2/basis.hpp>

namespace trn::mp2 {

// c x^i y^j z^k.
struct Monomial {
  int x = 0, y = 0, z = 0;
  double c = 0;
};
using Polynomial = std::vector<Monomial>;

// The components of angular momentum l in libint's order: x^l, x^(l-1) y, ... with coefficient one, or the real solid
// harmonics m = -l ... l in Racah's normalisation (z for l = 1, m = 0), whose functions have the norm that x^l has with
// the same radial part.
[[nodiscard]] std::vector<Polynomial> components(int l, Functions functions);

// Coefficients of exp(-a r^2) without a norm of its own, such that the function x^l sum_k c_k exp(-a_k r^2) has norm
// one.
[[nodiscard]] std::vector<double> normalised(const Contraction& contraction);

}  // namespace trn::mp2
