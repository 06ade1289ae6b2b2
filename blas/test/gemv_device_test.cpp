// gemv and ger on the simulated machines: both directions of A, ragged edges, real and complex, conjugated, against
// long double.
#include <cmath>
#include <complex>
#include <random>

#include <gtest/gtest.h>

#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>
#include <trn/core/array.hpp>

namespace trn::blas::test {
namespace {

using Wide = std::complex<long double>;
constexpr double kU = 0x1p-24;

Wide wide(float x) { return x; }
Wide wide(std::complex<float> x) { return {x.real(), x.imag()}; }
long double size(Wide z) { return std::abs(z.real()) + std::abs(z.imag()); }

template <class T> std::vector<T> random(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& x : values) {
    if constexpr (std::is_same_v<T, float>)
      x = normal(engine);
    else
      x = {normal(engine), normal(engine)};
  }
  return values;
}
template <class T> T number(double re, double im) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(re);
  else
    return {static_cast<float>(re), static_cast<float>(im)};
}

struct Case {
  std::int64_t m, n;  // of A as it is stored
  bool column_major;
  Op op;
  std::int64_t incx = 1, incy = 1;
};

template <class T> void product(const Executor& e, const Case& c, T alpha, T beta) {
  SCOPED_TRACE(::testing::Message() << e.name() << " " << c.m << " x " << c.n << (c.column_major ? " columns" : " rows")
                                    << " op " << static_cast<int>(c.op));
  const std::int64_t ld = (c.column_major ? c.m : c.n) + 3, lines = c.column_major ? c.n : c.m;
  const std::vector<T> a = random<T>(lines * ld, 1);
  const std::int64_t rows = c.op == Op::N ? c.m : c.n, columns = c.op == Op::N ? c.n : c.m;
  const std::vector<T> x = random<T>(columns * std::abs(c.incx), 2);
  std::vector<T> y = random<T>(rows * std::abs(c.incy), 3);
  if (beta == T(0)) std::fill(y.begin(), y.end(), number<T>(NAN, NAN));
  const auto da = Array<T>::from_host(e, {lines * ld}, a),
             dx = Array<T>::from_host(e, {static_cast<std::int64_t>(x.size())}, x),
             dy = Array<T>::from_host(e, {static_cast<std::int64_t>(y.size())}, y);
  const auto view = c.column_major ? MatrixView<const T>::column_major(e, da.data(), c.m, c.n, ld)
                                   : MatrixView<const T>::row_major(e, da.data(), c.m, c.n, ld);
  const std::int64_t x0 = c.incx < 0 ? (1 - columns) * c.incx : 0, y0 = c.incy < 0 ? (1 - rows) * c.incy : 0;
  Recorder recorder(e);
  gemv(e, c.op, alpha, view, VectorView<const T>(e, dx.data() + x0, columns, c.incx), beta,
       VectorView<T>(e, dy.data() + y0, rows, c.incy));
  EXPECT_EQ(recorder.family_of("blas.gemv"), "device");
  const std::vector<T> result = dy.to_host();
  const auto element = [&](std::int64_t i, std::int64_t j) {
    const std::int64_t r = c.op == Op::N ? i : j, s = c.op == Op::N ? j : i;
    const Wide z = wide(a[static_cast<std::size_t>(c.column_major ? s * ld + r : r * ld + s)]);
    return c.op == Op::C ? std::conj(z) : z;
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    Wide sum = 0;
    long double scale = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const Wide z = wide(x[static_cast<std::size_t>(x0 + j * c.incx)]);
      sum += element(i, j) * z;
      scale += size(element(i, j)) * size(z);
    }
    const auto at = static_cast<std::size_t>(y0 + i * c.incy);
    Wide exact = wide(alpha) * sum;
    scale *= size(wide(alpha));
    if (beta != T(0)) {
      exact += wide(beta) * wide(y[at]);
      scale += size(wide(beta)) * size(wide(y[at]));
    }
    const Wide error = wide(result[at]) - exact;
    // A sum of at most 2048 products per chunk; complex: two of them.
    ASSERT_LE(std::max(std::abs(error.real()), std::abs(error.imag())),
              (static_cast<double>(2 * std::min<std::int64_t>(columns, 2048)) + 6) * kU * scale)
        << "row " << i;
  }
}

template <class T> void products(const Executor& e) {
  const T alpha = number<T>(0.7, 0.2), beta = number<T>(-0.4, 1.1);
  for (const bool columns : {false, true}) {
    for (const Op op : {Op::N, Op::T, Op::C}) {
      product<T>(e, {5, 3, columns, op}, alpha, beta);
      product<T>(e, {130, 257, columns, op, -2, 3}, alpha, beta);
      product<T>(e, {257, 128, columns, op, 1, -1}, alpha, T(0));
    }
    product<T>(e, {1, 300, columns, Op::N}, alpha, T(0));
    product<T>(e, {300, 1, columns, Op::N}, T(1), T(1));
  }
}

TEST(GemvDevice, RealAndComplexInBothLayouts) {
  for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor e = Executor::open(machine);
    products<float>(e);
    products<std::complex<float>>(e);
  }
}
// Several chunks of columns, several panels of rows.
TEST(GemvDevice, Large) {
  const Executor e = Executor::open("sim:trn2");
  product<float>(e, {140, 5000, false, Op::N}, 1, 0.5f);
  product<float>(e, {5000, 140, true, Op::N}, 1, 0.5f);
  product<std::complex<float>>(e, {130, 2500, false, Op::C}, 1, 0);
  product<std::complex<float>>(e, {2500, 130, true, Op::N}, 1, 0);
}
// alpha = 0: A and x are not read, not even NaN; beta = 0: nor is y.
TEST(GemvDevice, FactorsOfZero) {
  const Executor e = Executor::open("sim:trn2");
  const std::vector<float> nan(200 * 3, NAN);
  const auto a = Array<float>::from_host(e, {600}, nan),
             x = Array<float>::from_host(e, {3}, std::vector<float>(3, NAN));
  const auto view = MatrixView<const float>::row_major(e, a.data(), 200, 3);
  const auto y = Array<float>::from_host(e, {200}, std::vector<float>(200, 3));
  gemv(e, Op::N, 0.0f, view, VectorView<const float>(e, x.data(), 3), 2.0f, VectorView<float>(y.view()));
  EXPECT_EQ(y.to_host(), std::vector<float>(200, 6));
  const auto z = Array<float>::from_host(e, {200}, std::vector<float>(200, NAN));
  gemv(e, Op::N, 0.0f, view, VectorView<const float>(e, x.data(), 3), 0.0f, VectorView<float>(z.view()));
  EXPECT_EQ(z.to_host(), std::vector<float>(200, 0));
}

template <class T> void update(const Executor& e, std::int64_t m, std::int64_t n, bool column_major, bool conj,
                               std::int64_t incx, std::int64_t incy) {
  SCOPED_TRACE(::testing::Message() << e.name() << " " << m << " x " << n << (column_major ? " columns" : " rows")
                                    << " conj " << conj);
  const std::int64_t ld = (column_major ? m : n) + 2, lines = column_major ? n : m;
  const std::vector<T> a = random<T>(lines * ld, 1), x = random<T>(m * std::abs(incx), 2),
                       y = random<T>(n * std::abs(incy), 3);
  const auto da = Array<T>::from_host(e, {lines * ld}, a),
             dx = Array<T>::from_host(e, {static_cast<std::int64_t>(x.size())}, x),
             dy = Array<T>::from_host(e, {static_cast<std::int64_t>(y.size())}, y);
  const auto view = column_major ? MatrixView<T>::column_major(e, da.data(), m, n, ld)
                                 : MatrixView<T>::row_major(e, da.data(), m, n, ld);
  const std::int64_t x0 = incx < 0 ? (1 - m) * incx : 0, y0 = incy < 0 ? (1 - n) * incy : 0;
  const T alpha = number<T>(0.7, 0.2);
  const VectorView<const T> vx(e, dx.data() + x0, m, incx), vy(e, dy.data() + y0, n, incy);
  Recorder recorder(e);
  if (conj)
    gerc(e, alpha, vx, vy, view);
  else
    ger(e, alpha, vx, vy, view);
  EXPECT_EQ(recorder.family_of("blas.ger"), "device");
  const std::vector<T> result = da.to_host();
  for (std::int64_t line = 0; line < lines; ++line) {
    for (std::int64_t k = 0; k < ld; ++k) {
      const auto at = static_cast<std::size_t>(line * ld + k);
      const std::int64_t i = column_major ? k : line, j = column_major ? line : k;
      if (k >= ld - 2) {
        ASSERT_EQ(result[at], a[at]) << "padding changed";
        continue;
      }
      Wide right = wide(y[static_cast<std::size_t>(y0 + j * incy)]);
      if (conj) right = std::conj(right);
      const Wide left = wide(alpha) * wide(x[static_cast<std::size_t>(x0 + i * incx)]);
      const Wide error = wide(result[at]) - (wide(a[at]) + left * right);
      const long double scale = size(wide(a[at])) + 2 * size(wide(alpha)) *
                                                        size(wide(x[static_cast<std::size_t>(x0 + i * incx)])) *
                                                        size(right);
      ASSERT_LE(std::max(std::abs(error.real()), std::abs(error.imag())), 6 * kU * scale) << i << ", " << j;
    }
  }
}

TEST(GerDevice, RealAndComplexInBothLayouts) {
  for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor e = Executor::open(machine);
    for (const bool columns : {false, true}) {
      update<float>(e, 3, 5, columns, false, 1, 1);
      update<float>(e, 260, 131, columns, false, -1, 2);
      update<std::complex<float>>(e, 130, 67, columns, false, 2, -1);
      update<std::complex<float>>(e, 67, 130, columns, true, 1, 1);
    }
  }
  update<float>(Executor::open("sim:trn2"), 150, 4500, false, false, 1, 1);
}

}  // namespace
}  // namespace trn::blas::test
