// The first program: multiply two matrices on the host and on a simulated Trainium2, and see that the device kernel
// ran.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <trn/trn.hpp>

int main() {
  const std::int64_t n = 300;
  std::vector<float> a(n * n), b(n * n);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = std::sin(static_cast<float>(i));
    b[i] = std::cos(static_cast<float>(i));
  }
  std::vector<float> results[2];
  int which = 0;
  bool right = true;
  for (const char* name : {"host", "sim:trn2"}) {
    const auto exec = trn::Executor::open(name);
    trn::Recorder recorder(exec);
    const auto da = trn::Matrix<float>::from_host(exec, n, n, a);
    const auto db = trn::Matrix<float>::from_host(exec, n, n, b);
    const auto dc = trn::blas::gemm(exec, da, db);
    results[which++] = dc.to_host();
    const std::string family = recorder.family_of("blas.gemm");
    std::printf("%-9s ran the %s kernel, modelled %.1f us\n", name, family.c_str(), recorder.modelled_seconds() * 1e6);
    const bool device = exec.family() == trn::Family::Device;  // only a simulator has a modelled time
    right = right && family == (device ? "device" : "host") && (recorder.modelled_seconds() > 0) == device;
  }
  float largest = 0;
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    const float difference = std::abs(results[0][i] - results[1][i]);
    if (!(difference <= largest)) largest = difference;  // a NaN counts
  }
  std::printf("largest difference %.2e\n", static_cast<double>(largest));
  // Both are within (k + 3) u |A||B| of the exact product, and |A||B| <= k here.
  right = right && results[0].size() == a.size() && results[1].size() == a.size() && largest <= 2 * (n + 3) * 6e-8f * n;
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}
