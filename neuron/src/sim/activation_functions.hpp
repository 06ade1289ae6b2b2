// The Scalar Engine's functions on rows. Silicon evaluates piecewise polynomials of unpublished accuracy; here the
// function itself is evaluated in double and rounded once, so a result is the mathematical value to the last bit or its
// neighbour and does not depend on the host's vector library.
//
//   sigmoid             1 / (1 + e^-x)
//   silu                x * sigmoid(x)
//   silu_dx             s * (1 + x * (1 - s)), s = sigmoid(x)
//   gelu                x * Phi(x), Phi and phi: the standard normal distribution and density
//   gelu_dx             Phi(x) + x * phi(x)
//   gelu_apprx_tanh     x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
//   gelu_apprx_sigmoid  x * sigmoid(1.702 x)
//   softplus            log(1 + e^x)
//   mish                x * tanh(softplus(x))
//   erf_dx              2/sqrt(pi) * e^(-x^2)
//   sign                -1, 0 or 1; NaN for NaN
//
// Outside the documented domains the result on silicon is unspecified. sin extrapolates a cubic there, the one
// behaviour that is documented; the other functions (log, arctan, sqrt, rsqrt, reciprocal) keep their mathematical
// value.
#pragma once

#include <cstdint>
#include <trn/tile/instruction.hpp>

namespace trn::neuron::sim {

// out[i] = function(x[i]); out may be x.
template <class Real> void activate(tile::ActFunction function, const Real* x, Real* out, std::int64_t n);

}  // namespace trn::neuron::sim
