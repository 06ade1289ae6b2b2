// Running products on the device.
#include "launch.hpp"

#include <trn/blas/gemm.hpp>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/device.hpp>

namespace trn::blas::device {

using namespace trn::tile;

namespace {

Factor kind_of(std::complex<double> value, bool complex) {
  const std::complex<float> f(value);
  if (complex && f.imag() != 0) return Factor::ComplexInput;
  return f.real() == 0 ? Factor::Zero : f.real() == 1 ? Factor::One : Factor::Input;
}

// Runs `program` with A, B and C bound, and with the factors it asks for.
void launch(const Executor& executor, const Program& program, const ProductCall& call) {
  Device& device = device_of(executor);
  std::vector<Binding> bindings{{"c", call.c}};
  std::vector<Buffer> factors;  // on the device while the program runs
  for (const TensorDecl& tensor : program.tensors()) {
    if (tensor.name == "a") bindings.push_back({"a", const_cast<void*>(call.a)});
    if (tensor.name == "b") bindings.push_back({"b", const_cast<void*>(call.b)});
    if (tensor.name != "alpha" && tensor.name != "beta") continue;
    const std::complex<float> value(tensor.name == "alpha" ? call.alpha : call.beta);
    factors.emplace_back(executor, static_cast<std::int64_t>(sizeof value));
    device.copy_in(factors.back().data(), &value, sizeof value);
    bindings.push_back({tensor.name, factors.back().data()});
  }
  device.run(program, bindings);
}

}  // namespace

void run_product(const Executor& executor, const ProductCall& call) {
  Device& device = device_of(executor);
  const Machine& machine = device.machine();
  GemmShape s = call.shape;
  const bool complex = is_complex(s.in);
  if (complex) {
    for (std::int64_t* stride : {&s.am, &s.ak, &s.bk, &s.bn, &s.cm, &s.cn}) *stride *= 2;
  }
  s.alpha = kind_of(call.alpha, complex), s.beta = kind_of(call.beta, complex);
  if (real_of(s.in) != DType::Float64 && (s.k == 0 || s.alpha == Factor::Zero)) {
    if (s.beta == Factor::One && !s.hermitian) return;
    const ScaleShape scale{s.out, s.m, s.n, s.cm, s.cn, s.beta, s.region, s.hermitian};
    return launch(executor, *device.programs().get(scale, [&](const ScaleShape& x) { return scale_program(x, machine); }), call);
  }
  launch(executor, *device.programs().get(s, [&](const GemmShape& x) { return gemm_program(x, machine); }), call);
}

}  // namespace trn::blas::device
