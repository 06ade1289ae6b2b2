// The counts of trn/fft/counts.hpp against the radix-2 algorithm, and the bounds of trn/fft/bounds.hpp against errors:
// functions on the host and on a simulated device beside their definitions in long double.
#include <trn/fft/bounds.hpp>
#include <trn/fft/counts.hpp>
#include <trn/fft/stft.hpp>

#include "fft_support.hpp"

namespace trn::fft::test {
namespace {

// Butterflies of the radix-2 algorithm: a complex product and two complex sums each.
double butterflies(int n) { return n == 1 ? 0 : 2 * butterflies(n / 2) + n / 2 * (6 + 2 + 2); }

TEST(FftCounts, Radix2) {
  for (const int n : {2, 8, 1024}) {
    EXPECT_EQ(counts::transform_flops(Kind::ComplexToComplex, n), butterflies(n));
    EXPECT_EQ(counts::transform_flops(Kind::RealToComplex, n, 3), 1.5 * butterflies(n));
    EXPECT_EQ(counts::stft_flops(n, 5, 2), 5 * butterflies(n));
  }
  EXPECT_EQ(counts::transform_bytes(Kind::ComplexToComplex, 100, 10, 2, 4), 2 * 2 * 100 * 8);
  EXPECT_EQ(counts::transform_bytes(Kind::RealToComplex, 100, 10, 1, 8), 100 * 8 + 10 * 6 * 16);
  EXPECT_EQ(counts::transform_bytes(Kind::ComplexToReal, 9, 9, 1, 4), 9 * 4 + 5 * 8);
}

class FunctionBounds : public ::testing::TestWithParam<const char*> {
 protected:
  const Executor e_ = Executor::open(GetParam());
  const std::vector<float> x_ = random_real<float>(500, 3), k_ = random_real<float>(40, 4);
  Array<float> on(const std::vector<float>& v, Shape shape) const { return Array<float>::from_host(e_, shape, v); }
  static long double norm(const std::vector<long double>& v) {
    long double sum = 0;
    for (const long double x : v) sum += x * x;
    return std::sqrt(sum);
  }
  static void expect_within(long double error, double bound, const std::string& what) {
    EXPECT_LE(static_cast<double>(error), bound) << what;
    EXPECT_GT(static_cast<double>(error), bound / 3000) << what;  // a bound, not a guess far away
  }
};

TEST_P(FunctionBounds, CosineTransforms) {
  for (const std::int64_t n : {100, 500}) {
    const std::vector<float> x(x_.begin(), x_.begin() + n);
    const std::vector<float> y = dct(e_, on(x, {1, n})).to_host();
    std::vector<long double> want, off;
    for (std::int64_t k = 0; k < n; ++k) {
      long double sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += 2 * x[static_cast<std::size_t>(j)] * turn<long double>(k * (2 * j + 1) % (4 * n), 4 * n).c;
      want.push_back(sum), off.push_back(y[static_cast<std::size_t>(k)] - sum);
    }
    expect_within(norm(off) / norm(want), dct_error_bound(e_, CosineType::II, n, 1, DType::Float32, Mode::Native),
                  std::to_string(n));
  }
}

TEST_P(FunctionBounds, Convolutions) {
  const auto a = on(x_, {1, 500}), b = on(k_, {1, 40});
  std::vector<long double> want(539), moduli(539), off(539);
  for (std::size_t i = 0; i < x_.size(); ++i) {
    for (std::size_t j = 0; j < k_.size(); ++j) {
      const long double term = static_cast<long double>(x_[i]) * k_[j];
      want[i + j] += term, moduli[i + j] += std::abs(term);
    }
  }
  long double kernel = 0;
  for (const float v : k_) kernel += std::abs(v);
  const long double scale = kernel * norm(std::vector<long double>(x_.begin(), x_.end()));
  const ConvolveOptions along{.axes = {{1}}}, sums{.axes = {{1}}, .method = ConvolveMethod::Direct};
  const auto bound = [&](ConvolveWay way) {
    return convolve_error_bound(e_, way, 500, 40, 1, DType::Float32, Mode::Native);
  };
  const auto error = [&](const std::vector<float>& y) {
    for (std::size_t i = 0; i < off.size(); ++i) off[i] = y[i] - want[i];
    return norm(off) / scale;
  };
  expect_within(error(fftconvolve(e_, a, b, along).to_host()), bound(ConvolveWay::Transform), "transform");
  expect_within(error(oaconvolve(e_, a, b, along).to_host()), bound(ConvolveWay::Blocks), "blocks");
  (void)error(convolve(e_, a, b, sums).to_host());
  long double worst = 0;
  for (std::size_t i = 0; i < off.size(); ++i) worst = std::max(worst, std::abs(off[i]) / moduli[i]);
  expect_within(worst, bound(ConvolveWay::Sums), "sums");
}

TEST_P(FunctionBounds, ShortTimeTransforms) {
  for (const std::int64_t n : {64, 250}) {
    const StftOptions o{.n_fft = n, .hop = 50, .boundary = Boundary::None};
    const auto frames = stft_frames(500, o);
    const auto y = stft(e_, on(x_, {500}), o).to_host();
    const std::vector<double> w = window(WindowKind::Hann, n);
    std::vector<long double> want, off;
    for (std::int64_t k = 0; k <= n / 2; ++k) {  // of the second frame
      long double re = 0, im = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto root = turn<long double>(j * k % n, n);
        const long double v =
            static_cast<long double>(w[static_cast<std::size_t>(j)]) * x_[static_cast<std::size_t>(50 + j)];
        re += v * root.c, im -= v * root.s;
      }
      const auto z = y[static_cast<std::size_t>(k * frames + 1)];
      want.insert(want.end(), {re, im}), off.insert(off.end(), {z.real() - re, z.imag() - im});
    }
    expect_within(norm(off) / norm(want), stft_error_bound(e_, n, frames, DType::Float32, Mode::Native),
                  std::to_string(n));
  }
}

INSTANTIATE_TEST_SUITE_P(Executors, FunctionBounds, ::testing::Values("host", "sim:trn2"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace trn::fft::test
