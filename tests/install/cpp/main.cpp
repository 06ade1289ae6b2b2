// Uses the C++ libraries as an installed package, on the host and on a simulated Trainium2: a product, a transform and
// random numbers whose values are known. Prints one line for each executor.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/core/array.hpp>
#include <trn/fft/plan.hpp>
#include <trn/rand/raw32.hpp>

namespace {

// A product of ones: every element is the number of terms.
float product(const trn::Executor& exec) {
  const std::vector<float> ones(30 * 30, 1.0f);
  const auto a = trn::Matrix<float>::from_host(exec, 30, 30, ones);
  return trn::blas::gemm(exec, a, a).to_host()[7];
}

// The transform of ones: all of it is in the first coefficient.
float transform(const trn::Executor& exec) {
  using namespace trn::fft;
  const std::vector<std::complex<float>> ones(4, 1.0f);
  const auto in = trn::Array<std::complex<float>>::from_host(exec, {4}, ones);
  trn::Array<std::complex<float>> out(exec, {4});
  Plan<float>(exec, dense(Kind::ComplexToComplex, Direction::Forward, {4})).execute(in.data(), out.data());
  return out.to_host()[0].real();
}

// The first word of Philox4x32-10 with seed and counter 0, 6627e8d5 in its authors' list.
std::uint32_t word(const trn::Executor& exec) {
  trn::rand::Generator generator;  // Philox4x32-10
  trn::Array<std::uint32_t> words(exec, {4});
  trn::rand::raw32(exec, generator, words.view());
  return words.to_host()[0];
}

}  // namespace

int main() {
  for (const char* name : {"host", "sim:trn2"}) {
    const auto exec = trn::Executor::open(name);
    std::printf("%s: %g %g %x\n", name, product(exec), transform(exec), word(exec));
  }
}
