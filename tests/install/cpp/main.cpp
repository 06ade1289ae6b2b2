// Uses the C++ libraries as an installed package: one product, whose value is known.
#include <cstdio>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/fft/plan.hpp>

int main() {
  const auto exec = trn::Executor::host();
  const std::vector<float> ones(30 * 30, 1.0f);
  const auto a = trn::Matrix<float>::from_host(exec, 30, 30, ones);
  const auto c = trn::blas::gemm(exec, a, a);
  const trn::fft::Plan<double> plan(
      exec, trn::fft::dense(trn::fft::Kind::ComplexToComplex, trn::fft::Direction::Forward, {4}));
  const std::complex<double> in[4] = {1, 1, 1, 1};
  std::complex<double> out[4];
  plan.execute(in, out);
  std::printf("%g %g\n", c.to_host()[7], out[0].real());
}
