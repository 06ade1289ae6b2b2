// Lengths with a prime factor above 128, by a convolution (Bluestein): with jk = (j^2 + k^2 - (k-j)^2)/2 and c_j =
// exp(-+ pi i j^2/n),
//
//   y_k = c_k sum over j of (x_j c_j) conj(c_(k-j))
//
// a convolution of n points with 2 n - 1, cyclic of any length M >= 2 n - 1; of M >= 3 n/2 for a real line, of which
// half the points are wanted or given. Five programs on the device: times c with zeros behind, forward, times the
// transform of conj(c), inverse, times c. Angles are exact: j^2 is reduced modulo 2 n in integers. The transform of
// conj(c) is computed here, in long double, once per plan.
//
// Errors: the two transforms work on vectors whose norms are those of x and of the whole convolution; through the
// multiplication by B = F(conj c) both count up to max |B| / sqrt(n) of the result, which is computed with B and is
// between 1 and about 2.
#include <algorithm>
#include <cmath>

#include "../long_dft.hpp"
#include "../roots.hpp"
#include "planner.hpp"

namespace trn::fft::device {

namespace {

using Complex = std::complex<long double>;

// The least work among the lengths from `least` to the next power of two.
std::int64_t convolution_length(std::int64_t least, std::int64_t limit) {
  std::int64_t power = 1;
  while (power < least) power *= 2;
  if (power > limit * limit) {
    std::int64_t best = power;
    for (const std::int64_t odd : {3, 5, 7, 9, 15, 25, 27, 45}) {
      std::int64_t m = odd;
      while (m < least) m *= 2;
      if (m < best && levels(m, limit) > 0 && levels(m, limit) <= levels(best, limit)) best = m;
    }
    return best;
  }
  const auto fill = [&](std::int64_t f) { return static_cast<double>(limit / f * f) / static_cast<double>(limit); };
  std::int64_t best = power;
  double cost = 1e300;
  for (std::int64_t m = power; m >= least; --m) {
    const Factors f = block_factors(m, limit);
    if (f.n1 == 0) continue;
    const double here = static_cast<double>(m) / (fill(f.n1) * fill(f.n2));
    if (here < cost) cost = here, best = m;
  }
  return best;
}

}  // namespace

Chirp make_chirp(std::int64_t n, Direction direction, std::int64_t limit, std::int64_t in, std::int64_t out) {
  Chirp made;
  const std::int64_t m = made.length = convolution_length(in + out - 1, limit);
  made.chirp.resize(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    __extension__ using Int128 = __int128;
    const Complex w = long_root(static_cast<std::int64_t>(Int128{j} * j % (2 * n)), 2 * n);
    made.chirp[static_cast<std::size_t>(j)] = direction == Direction::Forward ? w : std::conj(w);
  }
  std::vector<Complex> wrapped(static_cast<std::size_t>(m));
  const auto conjugate = [&](std::int64_t j) { return std::conj(made.chirp[static_cast<std::size_t>(j)]); };
  for (std::int64_t k = 0; k < out; ++k) wrapped[static_cast<std::size_t>(k)] = conjugate(k);
  for (std::int64_t j = 1; j < in; ++j) wrapped[static_cast<std::size_t>(m - j)] = conjugate(j);
  made.spectrum = long_dft(wrapped);
  for (const Complex& b : made.spectrum) made.largest = std::max(made.largest, std::abs(b));
  return made;
}

void Planner::bluestein(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                        Direction direction, long double factor) {
  auto [m, chirp, spectrum, largest] =
      make_chirp(n, direction, device_.machine().partitions, in.layout.points, out.layout.points);
  const std::int64_t before = mark();
  for (Complex& b : spectrum) b /= static_cast<long double>(m);

  std::vector<LineDim> first = lines, second = lines, there = lines;
  const Field work = workspace_lines(m, first, As::Output);
  for (std::size_t i = 0; i < lines.size(); ++i) second[i].in = there[i].in = there[i].out = first[i].out;
  pointwise(in, work, first, {chirp.begin(), chirp.begin() + in.layout.points});
  const double outside = bound_;
  transform(work, work, there, m, Direction::Forward, 1);
  pointwise(work, work, there, spectrum);
  transform(work, work, there, m, Direction::Inverse, 1);
  bound_ = outside +
           (bound_ - outside) * std::max(1.0, static_cast<double>(largest / std::sqrt(static_cast<long double>(n))));
  for (Complex& c : chirp) c *= factor;
  if (out.layout.points < n) chirp.resize(static_cast<std::size_t>(out.layout.points));
  pointwise(work, out, second, chirp);
  release(before);
}

}  // namespace trn::fft::device
