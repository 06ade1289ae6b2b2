// Derivatives by Fourier transform: of f(x) = exp(sin x), which is periodic, so that the error falls faster than any
// power of the spacing until roundings are left.
//
//   f(x) = sum of c_k exp(ikx)   =>   f'(x) = sum of ik c_k exp(ikx)
//
// The transforms run on the executor (`--exec host`, `--exec sim:trn2`; default both); the product with ik, n/2 + 1
// numbers, is made here.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include <trn/trn.hpp>

namespace {

// The largest error of f' on n points.
double error(const trn::Executor& exec, std::int64_t n) {
  std::vector<float> f;
  for (std::int64_t j = 0; j < n; ++j)
    f.push_back(
        static_cast<float>(std::exp(std::sin(2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n)))));
  auto spectrum = trn::fft::rfft(exec, trn::Array<float>::from_host(exec, {n}, f)).to_host();
  for (std::size_t k = 0; k < spectrum.size(); ++k) spectrum[k] *= std::complex<float>(0, static_cast<float>(k));
  if (n % 2 == 0) spectrum.back() = 0;  // cos(nx/2) has the derivative 0 at every point of the grid
  const auto slope =
      trn::fft::irfft(exec, trn::Array<std::complex<float>>::from_host(exec, {n / 2 + 1}, spectrum), {.n = n})
          .to_host();
  double worst = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double x = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
    const double off = std::abs(slope[static_cast<std::size_t>(j)] - std::cos(x) * std::exp(std::sin(x)));
    if (!(off <= worst)) worst = off;  // a NaN counts
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names{"host", "sim:trn2"};
  if (argc == 3 && std::strcmp(argv[1], "--exec") == 0) names = {argv[2]};
  bool right = true;
  for (const std::string& name : names) {
    const auto exec = trn::Executor::open(name);
    trn::Recorder recorder(exec);
    std::printf("%s:\n", name.c_str());
    for (const std::int64_t n : {4, 6, 8, 12, 16, 24, 100}) {
      const double e = error(exec, n);
      std::printf("  %3lld points  error %.1e\n", static_cast<long long>(n), e);
      // c_k falls like 1/(2^k k!); with 24 points roundings are left: f has norm 1.5 sqrt(n), float32 keeps 6e-8 of it,
      // and ik multiplies by up to n/2.
      if (n >= 24 && !(e <= 6e-8 * 10 * static_cast<double>(n) / 2)) right = false;
    }
    right = right && recorder.family_of("fft.r2c") == trn::name(exec.family()) &&
            recorder.family_of("fft.c2r") == trn::name(exec.family());
  }
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}
