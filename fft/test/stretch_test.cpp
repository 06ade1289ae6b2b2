// What a line's rounded constants stretch, predicted from the constants (host/stretch.cpp), against what is measured:
// the part of the error along the exact transform, as an oracle in long double has it. The other roundings put noise of
// a few u on that, divided by the square root of twice the number of points.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "dft_oracle.hpp"
#include "host/line_plan.hpp"

namespace trn::fft::host {
namespace {

template <class T> double measured_stretch(std::int64_t n) {
  const auto plan = make_line_plan<T>(n, widest_lanes<T>());
  const auto size = static_cast<std::size_t>(n);
  std::mt19937_64 generator(static_cast<std::uint64_t>(n));
  std::uniform_real_distribution<T> uniform(-1, 1);
  Aligned<T> x(2 * size), y(2 * size),
      scratch(static_cast<std::size_t>(plan->shared_reals() + plan->private_reals() + 64));
  std::vector<testing::Long> points(size);
  for (std::size_t j = 0; j < size; ++j) points[j] = {x[2 * j] = uniform(generator), x[2 * j + 1] = uniform(generator)};
  line_functions<T>().one_line(*plan, x.data(), x.data() + 1, 2, y.data(), y.data() + 1, 2, T(1), scratch.data(), 1);
  const std::vector<testing::Long> exact = testing::oracle_dft(points);
  long double along = 0, square = 0;
  for (std::size_t k = 0; k < size; ++k) {
    along += (y[2 * k] - exact[k].real()) * exact[k].real() + (y[2 * k + 1] - exact[k].imag()) * exact[k].imag();
    square += std::norm(exact[k]);
  }
  return static_cast<double>(along / square);
}

template <class T> void expect_stretch(std::int64_t n) {
  const double u = std::numeric_limits<T>::epsilon() / 2, noise = 4 * 3 * u / std::sqrt(2 * static_cast<double>(n));
  const double predicted = stretch(*make_line_plan<T>(n, widest_lanes<T>()));
  EXPECT_NEAR(measured_stretch<T>(n) / u, predicted / u, noise / u) << "n = " << n;
}

// Every radix: alone with itself, and in the lengths convolutions use.
constexpr std::int64_t kLengths[] = {729,  1024,  1331,  2048,  2197,  2400,  2401,  3125,  3375,  4096,  4913,
                                     6561, 10000, 14641, 20736, 29791, 50625, 59049, 65536, 68921, 131072};

TEST(Stretch, OfDoubleIsAsPredicted) {
  for (const std::int64_t n : kLengths) expect_stretch<double>(n);
  EXPECT_LT(stretch(*make_line_plan<double>(59049, widest_lanes<double>())),
            -1.9e-16);  // the test above is no test of nothing
}
TEST(Stretch, OfFloatIsAsPredicted) {
  for (const std::int64_t n : kLengths) expect_stretch<float>(n);
}

}  // namespace
}  // namespace trn::fft::host
