// Planar complex arithmetic against long double, also at the ends of the range, where naive formulas overflow.
#include "fft_support.hpp"

#include <limits>

#include <trn/fft/complex_arithmetic.hpp>

namespace trn::fft::test {
namespace {

using LC = std::complex<long double>;

template <class T> PlanarArray<T> planar(const Shape& shape, const std::vector<std::complex<T>>& z) {
  const Executor e = Executor::host();
  return to_planar(e, Array<std::complex<T>>::from_host(e, shape, z));
}

template <class T> void check_elementwise() {
  const Executor e = Executor::host();
  constexpr double u = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
  const auto a = random_complex<T>(60, 1), b = random_complex<T>(60, 2);
  const auto pa = planar<T>({5, 12}, a), pb = planar<T>({5, 12}, b);
  const auto check = [&](const PlanarArray<T>& y, auto exact, double bound) {
    const auto z = to_interleaved(e, y).to_host();
    for (std::size_t i = 0; i < z.size(); ++i) {
      const LC want = exact(LC(a[i]), LC(b[i]));
      ASSERT_LE(std::abs(LC(z[i]) - want), bound * std::abs(want)) << i;
    }
  };
  check(
      add(e, pa, pb), [](LC x, LC y) { return x + y; }, u);
  check(
      subtract(e, pa, pb), [](LC x, LC y) { return x - y; }, u);
  check(
      multiply(e, pa, pb), [](LC x, LC y) { return x * y; }, std::sqrt(8.0) * u * 1.0001);
  check(
      multiply_conjugate(e, pa, pb), [](LC x, LC y) { return x * std::conj(y); }, std::sqrt(8.0) * u * 1.0001);
  check(
      divide(e, pa, pb), [](LC x, LC y) { return x / y; }, 7 * u);
  check(
      conj(e, pa), [](LC x, LC) { return std::conj(x); }, 0);
  const auto moduli = abs(e, pa).to_host(), angles = angle(e, pa).to_host();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_LE(std::abs(static_cast<double>(moduli[i] - std::abs(LC(a[i])))), 2 * u * static_cast<double>(moduli[i]));
    ASSERT_LE(std::abs(static_cast<double>(angles[i] - std::arg(LC(a[i])))),
              2 * u * std::abs(static_cast<double>(angles[i])));
  }
  // The angle's own rounding, at most u pi, turns the number by as much.
  check(
      from_polar(e, abs(e, pa), angle(e, pa)), [](LC x, LC) { return x; }, 12 * u);
}

TEST(Complex, ElementwiseWithinBounds) {
  check_elementwise<float>();
  check_elementwise<double>();
}

// |q| is a normal number although |b|^2, and often a * conj(b), is not.
template <class T> void check_extreme_quotients() {
  const Executor e = Executor::host();
  const T big = std::numeric_limits<T>::max(), small = std::numeric_limits<T>::min(),
          tiny = std::numeric_limits<T>::denorm_min();
  using C = std::complex<T>;
  const std::vector<C> a{{big, big}, {big, -big / 2}, {small, small}, {big / 4, 1}, {1, 1},
                         {tiny, 0},  {1, 0},          {big, 0},       {0, 0}},
      b{{big, big},   {big, big},     {small, -small},   {small, big}, {big / 2, big / 2},
        {tiny, tiny}, {small * 4, 0}, {T(1.5), T(-0.5)}, {big, small}};
  const auto q = to_interleaved(e, divide(e, planar<T>({9}, a), planar<T>({9}, b))).to_host();
  for (std::size_t i = 0; i < a.size(); ++i) {
    // The same in long double after scaling, exact to 2^-60.
    const int shift = -std::ilogb(std::max(std::abs(b[i].real()), std::abs(b[i].imag())));
    const LC sb(std::scalbn(static_cast<long double>(b[i].real()), shift),
                std::scalbn(static_cast<long double>(b[i].imag()), shift));
    const LC want = LC(a[i]) * std::scalbn(1.0L, shift) / sb;
    const double u = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
    EXPECT_LE(std::abs(LC(q[i]) - want), 7 * u * std::abs(want) + static_cast<long double>(tiny)) << i;
  }
  const T inf = std::numeric_limits<T>::infinity();
  const auto special = to_interleaved(e, divide(e, planar<T>({3}, {{1, 1}, {inf, 0}, {1, 0}}),
                                                planar<T>({3}, {{0, 0}, {1, 1}, {inf, inf}})))
                           .to_host();
  EXPECT_TRUE(std::isinf(special[0].real()) || std::isinf(special[0].imag()));
  EXPECT_TRUE(std::isinf(special[1].real()) || std::isinf(special[1].imag()));
  EXPECT_EQ(std::abs(special[2]), T(0));
  EXPECT_FALSE(std::isinf(abs(e, planar<T>({1}, {{big / 2, big / 2}})).to_host()[0]));
}

TEST(Complex, DivisionDoesNotOverflow) {
  check_extreme_quotients<float>();
  check_extreme_quotients<double>();
}

TEST(Complex, BroadcastsAndViews) {
  const Executor e = Executor::host();
  const auto a = random_complex<double>(12, 3), b = random_complex<double>(4, 4);
  const auto pa = planar<double>({3, 4}, a), pb = planar<double>({4}, b);
  const auto z = to_interleaved(e, multiply(e, pa, pb)).to_host();
  for (std::size_t i = 0; i < 12; ++i) EXPECT_LE(std::abs(z[i] - a[i] * b[i % 4]), 4e-16 * std::abs(z[i]));
  // A transposed view of the parts.
  const PlanarView<const double> t{View<const double>(e, pa.re.data(), {4, 3}, {1, 4}),
                                   View<const double>(e, pa.im.data(), {4, 3}, {1, 4})};
  const auto c = to_interleaved(e, conj(e, t)).to_host();
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(c[i], std::conj(a[i % 3 * 4 + i / 3]));
  EXPECT_EQ(to_interleaved(e, add(e, planar<double>({0, 4}, {}), pb)).shape(), (Shape{0, 4}));
}

template <class T> void check_matmul(std::int64_t m, std::int64_t k, std::int64_t n) {
  const Executor e = Executor::host();
  const double u = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
  const auto a = random_complex<T>(m * k, 5), b = random_complex<T>(k * n, 6);
  const auto pa = planar<T>({m, k}, a), pb = planar<T>({k, n}, b);
  // B also as the transpose of a stored matrix.
  std::vector<std::complex<T>> bt(b.size());
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      bt[static_cast<std::size_t>(j * k + i)] = b[static_cast<std::size_t>(i * n + j)];
  }
  const auto pt = planar<T>({n, k}, bt);
  const PlanarView<const T> turned{View<const T>(e, pt.re.data(), {k, n}, {1, k}),
                                   View<const T>(e, pt.im.data(), {k, n}, {1, k})};
  double norm_a = 0, norm_b = 0;
  for (const auto& z : a) norm_a += std::norm(z);
  for (const auto& z : b) norm_b += std::norm(z);
  for (const bool three : {false, true}) {
    const auto y =
        to_interleaved(e, three ? matmul(e, pa, turned, {.products = Products::Three}) : matmul(e, pa, pb)).to_host();
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        LC sum = 0;
        long double moduli = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const LC x(a[static_cast<std::size_t>(i * k + l)]), w(b[static_cast<std::size_t>(l * n + j)]);
          sum += x * w;
          moduli += std::abs(x) * std::abs(w);
        }
        const double kk = static_cast<double>(k);
        const double limit = three ? 4 * (kk + 6) * u * std::sqrt(norm_a * norm_b)
                                   : (2 * kk + 2) * std::sqrt(2.0) * u * static_cast<double>(moduli);
        ASSERT_LE(std::abs(LC(y[static_cast<std::size_t>(i * n + j)]) - sum), limit) << i << "," << j;
      }
    }
  }
}

TEST(Complex, MatrixProduct) {
  check_matmul<float>(7, 19, 5);
  check_matmul<double>(33, 40, 29);
  check_matmul<double>(1, 1, 1);
  const Executor e = Executor::host();
  const auto none = to_interleaved(e, matmul(e, planar<float>({2, 0}, {}), planar<float>({0, 3}, {}))).to_host();
  EXPECT_EQ(none, std::vector<std::complex<float>>(6, {0, 0}));
}

TEST(Complex, Refusals) {
  const Executor e = Executor::host(), sim = Executor::open("sim:trn2");
  const auto a = planar<float>({2, 3}, random_complex<float>(6, 1)),
             b = planar<float>({2, 2}, random_complex<float>(4, 1));
  EXPECT_IN("fft.add: shapes (2, 3) and (2, 2) cannot be broadcast",
            message_of<InvalidArgument>([&] { (void)add(e, a, b); }));
  EXPECT_IN("fft.matmul: a has shape (2, 3), b (2, 2)", message_of<InvalidArgument>([&] { (void)matmul(e, a, b); }));
  EXPECT_IN("fft.abs: a lives on executor 'host', the call runs on 'sim:trn2'",
            message_of<InvalidArgument>([&] { (void)abs(sim, a); }));
  const PlanarView<float> wrong{a.re.view(), b.im.view()};
  EXPECT_IN("the real part of a has shape (2, 3), the imaginary part (2, 2)",
            message_of<InvalidArgument>([&] { (void)conj(e, wrong); }));
}

}  // namespace
}  // namespace trn::fft::test
