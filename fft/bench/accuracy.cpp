// The relative L2 errors of the host's 1-D engines against long double, as a Markdown table: the largest of every length in a range, and selected lengths.
//
//   fft_accuracy [first] [last] [step]     default: 1 4096 1 and the selected lengths to 2^22
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "engine_support.hpp"

using namespace trn::fft::testing;

namespace {

struct Errors {
  double value[2][3] = {};  // float, double; complex, real to half, half to real
  bool met() const {
    for (const double e : value[0])
      if (!(e <= kRequired<float>)) return false;
    for (const double e : value[1])
      if (!(e <= kRequired<double>)) return false;
    return true;
  }
};

template <class T>
void measure(std::int64_t n, std::int64_t lines, const std::vector<Long>& x, const std::vector<Long>& spectrum, const std::vector<Long>& half,
             const std::vector<Long>& line, double* result) {
  std::vector<Long> hermitian(static_cast<std::size_t>(n / 2 + 1));
  for (std::int64_t k = 0; k <= n / 2; ++k)
    hermitian[static_cast<std::size_t>(k)] = (spectrum[static_cast<std::size_t>(k)] + std::conj(spectrum[static_cast<std::size_t>((n - k) % n)])) / 2.0L;
  result[0] = static_cast<double>(relative_error(transform<T>(EngineKind::Complex, n, lines, x), spectrum));
  result[1] = static_cast<double>(relative_error(transform<T>(EngineKind::RealToHalf, n, lines, x), hermitian));
  result[2] = static_cast<double>(relative_error(transform<T>(EngineKind::HalfToReal, n, lines, half), line));
}

Errors measure(std::int64_t n, std::int64_t lines) {
  const std::vector<Long> x = random_points(n, static_cast<std::uint64_t>(n)), half = random_points(n / 2 + 1, static_cast<std::uint64_t>(n) + 1);
  const std::vector<Long> spectrum = oracle_dft(x), line = oracle_dft(hermitian_conjugate(half, n));
  Errors e;
  measure<float>(n, lines, x, spectrum, half, line, e.value[0]);
  measure<double>(n, lines, x, spectrum, half, line, e.value[1]);
  return e;
}

void print(const char* name, const Errors& e) {
  std::printf("| %s | %.2e | %.2e | %.2e | %.2e | %.2e | %.2e |%s\n", name, e.value[0][0], e.value[0][1], e.value[0][2], e.value[1][0], e.value[1][1], e.value[1][2],
              e.met() ? "" : " MISSED");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t first = argc > 1 ? std::atoll(argv[1]) : 1, last = argc > 2 ? std::atoll(argv[2]) : 4096, step = argc > 3 ? std::atoll(argv[3]) : 1;
  std::printf("| n | c2c float | r2c float | c2r float | c2c double | r2c double | c2r double |\n|---|---|---|---|---|---|---|\n");
  bool met = true;
  for (std::int64_t low = first; low <= last; low = std::max<std::int64_t>(2 * low, 16)) {
    const std::int64_t high = std::min(last, std::max<std::int64_t>(2 * low, 16) - 1);
    for (const std::int64_t lines : {1, 16}) {
      Errors worst;
      for (std::int64_t n = low; n <= high; n += step) {
        const Errors e = measure(n, lines);
        if (!e.met()) print(std::to_string(n).c_str(), e);
        for (int t = 0; t < 2; ++t)
          for (int k = 0; k < 3; ++k) worst.value[t][k] = std::max(worst.value[t][k], e.value[t][k]);
      }
      print((std::to_string(low) + " .. " + std::to_string(high) + (lines == 1 ? ", one line" : ", many lines")).c_str(), worst);
      met = met && worst.met();
    }
  }
  if (argc <= 1)
    for (const std::int64_t n : {8191, 8192, 8193, 10007, 16384, 19683, 20014, 65536, 65537, 78125, 99991, 131074, 177147, 262144, 524287, 823543, 1000000, 1048573, 1048576, 1048577, 2097152, 4194301, 4194304}) {
      const Errors e = measure(n, 1);
      print(std::to_string(n).c_str(), e);
      met = met && e.met();
    }
  return met ? 0 : 1;
}
