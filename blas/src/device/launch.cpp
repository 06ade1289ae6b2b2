// Running products on the device.
#include "launch.hpp"

#include <array>
#include <trn/blas/gemm.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/launch.hpp>

namespace trn::blas::device {

using namespace trn::tile;

namespace {

Factor kind_of(std::complex<double> value, bool complex) {
  const std::complex<float> f(value);
  if (complex && f.imag() != 0) return Factor::ComplexInput;
  return f.real() == 0 ? Factor::Zero : f.real() == 1 ? Factor::One : Factor::Input;
}

// What the programs of products bind, each of them a part of it.
std::vector<Argument> arguments_of(const ProductCall& call) {
  const std::complex<float> alpha(call.alpha), beta(call.beta);
  return {{"a", call.a},
          {"b", call.b},
          {"c", call.c},
          constant("alpha", std::array{alpha}),
          constant("beta", std::array{beta})};
}

}  // namespace

void run_product(const Executor& executor, const ProductCall& call) {
  GemmShape s = call.shape;
  const bool complex = is_complex(s.in);
  if (complex) {
    for (std::int64_t* stride : {&s.am, &s.ak, &s.bk, &s.bn, &s.cm, &s.cn}) *stride *= 2;
  }
  s.alpha = kind_of(call.alpha, complex), s.beta = kind_of(call.beta, complex);
  if (real_of(s.in) != DType::Float64 && (s.k == 0 || s.alpha == Factor::Zero)) {
    if (s.beta == Factor::One && !s.hermitian) return;
    const ScaleShape scale{s.out, s.m, s.n, s.cm, s.cn, s.beta, s.region, s.hermitian};
    return launch(executor, scale_program, scale, arguments_of(call));
  }
  launch(executor, gemm_program, s, arguments_of(call));
}

}  // namespace trn::blas::device
