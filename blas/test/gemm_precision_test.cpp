// The precision contract of gemm: every mode of float32 and complex64 keeps its bound, targets choose the cheapest mode
// that meets them, the componentwise bound holds, and a mode that the operands' type lacks is refused.
#include "gemm_support.hpp"

#include <complex>

namespace trn::blas::test {
namespace {

using Complex32 = std::complex<float>;

template <class T> std::vector<T> random(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& x : values) {
    if constexpr (std::is_same_v<T, float>)
      x = normal(engine);
    else
      x = T(normal(engine), normal(engine));
  }
  return values;
}

template <class T> using WideOf = std::conditional_t<std::is_same_v<T, float>, long double, std::complex<long double>>;

struct Errors {
  double largest_of_norms = 0, of_componentwise = 0;
};  // errors divided by what they are bounded by

// One product with alpha and beta on the host or the device, all elements against long double.
template <class T> Errors measure(const Executor& e, std::int64_t m, std::int64_t n, std::int64_t k,
                                  GemmOptions options, Accuracy* result = nullptr) {
  const auto a = random<T>(m * k, 1), b = random<T>(k * n, 2), c0 = random<T>(m * n, 3);
  const auto da = Matrix<T>::from_host(e, m, k, a), db = Matrix<T>::from_host(e, k, n, b);
  const auto dc = Matrix<T>::from_host(e, m, n, c0);
  const T alpha(0.75F), beta(-1.25F);
  std::vector<double> bounds(static_cast<std::size_t>(m * n));
  options.componentwise = MatrixView<double>::row_major(Executor::host(), bounds.data(), m, n);
  const Accuracy accuracy = gemm(e, Op::N, Op::N, alpha, da.view(), db.view(), beta, dc.view(), options);
  if (result) *result = accuracy;
  const auto c = dc.to_host();
  using Wide = WideOf<T>;
  Errors errors;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Wide sum = 0;
      long double aa = 0, bb = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        const Wide x(a[static_cast<std::size_t>(i * k + p)]), y(b[static_cast<std::size_t>(p * n + j)]);
        sum += x * y;
        aa += std::abs(x) * std::abs(x);
        bb += std::abs(y) * std::abs(y);
      }
      const auto at = static_cast<std::size_t>(i * n + j);
      const Wide old = Wide(beta) * Wide(c0[at]);
      const auto error = static_cast<double>(std::abs(Wide(alpha) * sum + old - Wide(c[at])));
      const auto scale = static_cast<double>(std::abs(alpha) * std::sqrt(aa) * std::sqrt(bb) + std::abs(old));
      errors.largest_of_norms = std::max(errors.largest_of_norms, error / scale);
      errors.of_componentwise = std::max(errors.of_componentwise, error / bounds[at]);
    }
  }
  return errors;
}

TEST(GemmPrecision, EveryModeKeepsItsBoundOnTheHost) {
  const Executor e = Executor::host();
  for (const Mode mode : {Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6}) {
    for (const std::int64_t k : {1, 128, 700}) {
      SCOPED_TRACE(::testing::Message() << name(mode) << " k " << k);
      Accuracy accuracy;
      const Errors real = measure<float>(e, 23, 17, k, {.precision = mode}, &accuracy);
      EXPECT_EQ(accuracy.mode, mode);
      EXPECT_LE(real.largest_of_norms, accuracy.bound);
      EXPECT_LE(real.of_componentwise, 1.0);
      const Errors complex = measure<Complex32>(e, 9, 13, k, {.precision = mode}, &accuracy);
      EXPECT_LE(complex.largest_of_norms, accuracy.bound);
      EXPECT_LE(complex.of_componentwise, 1.0);
    }
  }
}

// The modes are what their names say: errors of the expected size, not only below a bound.
TEST(GemmPrecision, ModesDifferAsTheyShould) {
  const Executor e = Executor::host();
  const auto error = [&](Mode mode) { return measure<float>(e, 20, 20, 2048, {.precision = mode}).largest_of_norms; };
  const double native = error(Mode::Native), tf32 = error(Mode::Tf32), bf16 = error(Mode::Bf16),
               tf32x3 = error(Mode::Tf32x3), bf16x6 = error(Mode::Bf16x6);
  EXPECT_GT(bf16, 4 * tf32);
  EXPECT_GT(tf32, 100 * native);
  EXPECT_LE(tf32x3, 1.2 * native);
  EXPECT_LE(bf16x6, 1e-7);
}

TEST(GemmPrecision, ATargetTakesTheCheapestModeThatMeetsIt) {
  const Executor e = Executor::host();
  const auto chosen = [&](double target) {
    Accuracy accuracy;
    const Errors errors = measure<float>(e, 8, 8, 300, {.precision = Precision::target(target)}, &accuracy);
    EXPECT_LE(accuracy.bound, target);
    EXPECT_LE(errors.largest_of_norms, accuracy.bound);
    return accuracy.mode;
  };
  EXPECT_EQ(chosen(1e-2), Mode::Native);  // on the host nothing is cheaper
  EXPECT_EQ(chosen(1e-5), Mode::Bf16x6);
}

TEST(GemmPrecision, TypesWithoutAModeRefuseIt) {
  const Executor e = Executor::host();
  const Matrix<double> a(e, 3, 3), c(e, 3, 3);
  const Matrix<bfloat16> h(e, 3, 3), hc(e, 3, 3);
  EXPECT_THROW(gemm(e, Op::N, Op::N, 1, a.view(), a.view(), 0, c.view(), {.precision = Mode::Tf32}), NotImplemented);
  EXPECT_THROW(gemm(e, Op::N, Op::N, 1, h.view(), h.view(), 0, hc.view(), {.precision = Mode::Exact}), NotImplemented);
  std::vector<double> bounds(4);
  EXPECT_THROW(gemm(e, Op::N, Op::N, 1, a.view(), a.view(), 0, c.view(),
                    {.componentwise = MatrixView<double>::row_major(e, bounds.data(), 2, 2)}),
               InvalidArgument);
}

}  // namespace
}  // namespace trn::blas::test
