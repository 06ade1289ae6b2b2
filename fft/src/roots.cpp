#include "roots.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace trn::fft {

std::complex<long double> long_root(std::int64_t k, std::int64_t n) {
  k %= n;
  if (k < 0) k += n;
  // The angle 2 pi k/n is (octant + rest/n) pi/4 with 0 <= rest < n.
  const std::int64_t octant = 8 * k / n;
  const std::int64_t rest = 8 * k - octant * n;
  const bool odd = octant % 2 != 0;  // measured back from the next multiple of pi/2
  const long double angle = std::numbers::pi_v<long double> / 4 *
                            (static_cast<long double>(odd ? n - rest : rest) / static_cast<long double>(n));
  long double c = std::cos(angle), s = std::sin(angle);
  if (odd) std::swap(c, s);
  for (std::int64_t quarter = octant / 2; quarter > 0; --quarter) {
    const long double t = c;
    c = -s;
    s = t;
  }
  return {c, -s};
}

}  // namespace trn::fft
