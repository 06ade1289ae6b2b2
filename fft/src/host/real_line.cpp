// Builds the data of a single real line: the choice of the way, its tables and its bound.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "../roots.hpp"
#include "real_plan.hpp"
#include "schedule.hpp"

namespace trn::fft::host {
namespace {

std::int64_t round_up(std::int64_t n) { return (n + 15) / 16 * 16; }

template <class T>
void add_halved(RealLine<T>& line) {
  const std::int64_t count = line.n / 4 + 1;
  line.twiddles.resize(static_cast<std::size_t>(2 * count));
  for (std::int64_t k = 0; k < count; ++k) {
    const std::complex<long double> w = long_root(k, line.n);
    line.twiddles[static_cast<std::size_t>(k)] = static_cast<T>(w.real() / 2);
    line.twiddles[static_cast<std::size_t>(count + k)] = static_cast<T>(w.imag() / 2);
  }
}

}  // namespace

template <class T>
std::int64_t RealLine<T>::shared_reals() const {
  switch (kind) {
    case RealKind::Codelet: return 0;
    case RealKind::Halved:
    case RealKind::Full: return 2 * round_up(n + 32) + complex->shared_reals();
  }
  return 0;
}
template <class T>
std::int64_t RealLine<T>::private_reals() const { return complex ? complex->private_reals() : 0; }

template <class T>
std::shared_ptr<const RealLine<T>> make_real_line(EngineKind direction, std::int64_t n, int max_lanes) {
  const double u = std::numeric_limits<T>::epsilon() / 2;
  auto line = std::make_shared<RealLine<T>>();
  line->direction = direction;
  line->n = n;
  if (has_real_codelet(n)) {
    line->cost = 2 * static_cast<double>(n) + 10;
    line->bound = direct_sum_bound<T>(n);
    return line;
  }
  line->kind = n % 2 == 0 ? RealKind::Halved : RealKind::Full;
  line->complex = make_line_plan<T>(n % 2 == 0 ? n / 2 : n, max_lanes);
  line->run_complex = one_line<T>();
  line->cost = 1.25 * line->complex->cost + 100;
  // Packing a real line as a complex one of half the length costs one more twiddle and two additions.
  line->bound = line->complex->bound + (n % 2 == 0 ? 6 * u : 0);
  if (n % 2 == 0) add_halved(*line);
  return line;
}

template struct RealLine<float>;
template struct RealLine<double>;
template std::shared_ptr<const RealLine<float>> make_real_line<float>(EngineKind, std::int64_t, int);
template std::shared_ptr<const RealLine<double>> make_real_line<double>(EngineKind, std::int64_t, int);

}  // namespace trn::fft::host
