// The bounds of trn/blas/error_bounds.hpp, on the host and on a simulated device, against long double: kept, and within
// a factor of ten of what occurs.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <trn/blas/error_bounds.hpp>
#include <trn/blas/ger.hpp>
#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>
#include <trn/blas/trsm_batched.hpp>
#include <trn/core/array.hpp>

namespace trn::blas::test {
namespace {

std::vector<float> numbers(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(static_cast<std::size_t>(count));
  for (float& x : v) x = normal(engine);
  return v;
}

class ErrorBounds : public ::testing::TestWithParam<const char*> {
 protected:
  // The largest error of results in units of the sizes of their terms; exact(i) = {value, size}.
  template <class Exact> static double worst(const std::vector<float>& result, const Exact& exact) {
    long double most = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto [value, size] = exact(i);
      most = std::max(most, std::abs(result[i] - value) / size);
    }
    return static_cast<double>(most);
  }
  static void expect_within(double error, double bound, const char* what) {
    EXPECT_LE(error, bound) << what;
    EXPECT_GT(error, bound / 10) << what;
  }
};

TEST_P(ErrorBounds, ElementsOneByOne) {
  using Pair = std::pair<long double, long double>;
  const Executor e = Executor::open(GetParam());
  constexpr std::int64_t n = 6000, m = 60;
  constexpr double u = 0x1p-24;
  constexpr float alpha = 0.7f, c = 0.8f, s = 0.6f;
  const std::vector<float> x = numbers(n, 1), y = numbers(n, 2);
  const auto on = [&](const std::vector<float>& v) { return Array<float>::from_host(e, {n}, v); };
  const auto view = [](const Array<float>& a) { return VectorView<float>(a.view()); };
  const long double wa = alpha, wc = c, ws = s;
  {
    const auto a = on(x);
    scal(e, alpha, view(a));
    expect_within(worst(a.to_host(), [&](std::size_t i) { return Pair(wa * x[i], std::abs(wa * x[i])); }),
                  scal_error_bound(u), "scal");
  }
  {
    const auto a = on(x), b = on(y);
    axpy(e, alpha, view(a), view(b));
    expect_within(
        worst(b.to_host(), [&](std::size_t i) { return Pair(wa * x[i] + y[i], std::abs(wa * x[i]) + std::abs(y[i])); }),
        axpy_error_bound(u), "axpy");
  }
  {
    const auto a = on(x), b = on(y);
    rot(e, view(a), view(b), c, s);
    expect_within(
        worst(a.to_host(),
              [&](std::size_t i) { return Pair(wc * x[i] + ws * y[i], std::abs(wc * x[i]) + std::abs(ws * y[i])); }),
        rot_error_bound(u), "rot");
  }
  {
    const std::vector<float> left(x.begin(), x.begin() + m), right(y.begin(), y.begin() + n / m);
    const auto a = Matrix<float>::from_host(e, m, n / m, numbers(n, 3));
    const auto before = a.to_host();
    const auto l = Array<float>::from_host(e, {m}, left), r = Array<float>::from_host(e, {n / m}, right);
    ger(e, alpha, view(l), view(r), a.view());
    expect_within(worst(a.to_host(),
                        [&](std::size_t i) {
                          const long double term = wa * left[i / (n / m)] * right[i % (n / m)];
                          return Pair(before[i] + term, std::abs(before[i]) + std::abs(term));
                        }),
                  ger_error_bound(u), "ger");
  }
}
INSTANTIATE_TEST_SUITE_P(Executors, ErrorBounds, ::testing::Values("host", "sim:trn2"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

// Substitution up to 64 rows, blocks beyond.
TEST(RoundingOfBatches, TriangularSolvesOnTheHost) {
  const Executor e = Executor::host();
  for (const std::int64_t m : {1, 5, 64, 65, 300}) {
    std::vector<float> a = numbers(m * m, 4);
    for (std::int64_t i = 0; i < m; ++i) a[static_cast<std::size_t>(i * m + i)] += i % 2 ? 3.0f : -3.0f;
    for (float& v : a) v /= static_cast<float>(std::sqrt(static_cast<double>(m)));
    const std::vector<float> b = numbers(m * 3, 5);
    std::vector<float> x = b;
    const std::vector<const float*> la{a.data()};
    const std::vector<float*> lx{x.data()};
    TrsmBatchShape shape;
    shape.m = m, shape.n = 3, shape.layout = trn::blas::Layout::RowMajor;
    trsm_batched<float>(e, shape, 1, la, lx);
    long double most = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        long double residual = b[static_cast<std::size_t>(i * 3 + j)], size = 0;
        for (std::int64_t k = 0; k <= i; ++k) {
          const long double term =
              static_cast<long double>(a[static_cast<std::size_t>(i * m + k)]) * x[static_cast<std::size_t>(k * 3 + j)];
          residual -= term, size += std::abs(term);
        }
        if (size > 0) most = std::max(most, std::abs(residual) / size);
      }
    }
    EXPECT_LE(static_cast<double>(most), trsm_batched_error_bound(DType::Float32, m)) << m;
  }
}

}  // namespace
}  // namespace trn::blas::test
