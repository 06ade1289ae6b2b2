// gemm with an epilogue, and gemm3m, against 80-bit arithmetic within the bounds of their headers.
#include <omp.h>

#include <trn/blas/gemm_epilogue.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

long double exact_activation(Activation activation, long double x) {
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return std::max(x, 0.0L);
    case Activation::Gelu:
      return 0.5L * x * std::erfc(-x / std::sqrt(2.0L));
    case Activation::GeluTanh:
      return 0.5L * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x)));
  }
  return x;
}

template <class In, class Out>
void check_epilogue(Activation activation, std::optional<Bias> bias, Layout layout, bool read, std::uint64_t seed) {
  const Executor e = Executor::host();
  SCOPED_TRACE(::testing::Message() << name(dtype_of<In>) << " -> " << name(dtype_of<Out>) << " activation "
                                    << static_cast<int>(activation) << " bias " << (bias ? static_cast<int>(*bias) : -1)
                                    << " layout " << static_cast<int>(layout) << " seed " << seed);
  std::mt19937_64 random(seed);
  const std::int64_t m = 19, n = 33, k = 21;
  auto a = stored<In>(k, m, Layout::RowMajor), b = stored<In>(k, n, layout);
  auto c = stored<Out>(m, n, layout);
  auto x = stored<Out>(1, 2 * n, Layout::RowMajor);
  fill(a, random), fill(b, random), fill(x, random);
  if (read) fill(c, random);
  const std::int64_t size = bias == Bias::PerColumn ? n : m;
  const OnDevice<In> da(e, a), db(e, b);
  const OnDevice<Out> dc(e, c), dx(e, x);
  const Compute<Out> alpha = Compute<Out>(0.25), beta = read ? Compute<Out>(-0.5) : Compute<Out>(0);
  Epilogue<Out> epilogue{activation, {}, bias.value_or(Bias::PerRow), Compute<Out>(1.5)};
  if (bias) epilogue.bias = VectorView<const Out>(e, dx.array.data(), size, 2);
  Recorder recorder(e);
  const Accuracy accuracy = gemm_epilogue(e, Op::T, Op::N, alpha, da.view, db.view, beta, dc.view, epilogue);
  EXPECT_EQ(recorder.family_of("blas.gemm_epilogue"), "host");
  auto after = c;
  after.storage = dc.array.to_host();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Sum sum;
      for (std::int64_t p = 0; p < k; ++p)
        sum.add({static_cast<long double>(alpha) * static_cast<double>(a.at(p, i)), 0},
                {static_cast<double>(b.at(p, j)), 0});
      if (read) sum.add({static_cast<long double>(beta), 0}, {static_cast<double>(c.at(i, j)), 0});
      if (bias) sum.add({1, 0}, {static_cast<double>(x.at(0, 2 * (*bias == Bias::PerRow ? i : j))), 0});
      const long double expected = 1.5L * exact_activation(activation, sum.value.re);
      const long double error = std::abs(static_cast<double>(after.at(i, j)) - expected);
      ASSERT_LE(error, accuracy.bound * kOracle * 1.5L * sum.scale)
          << i << ' ' << j << ' ' << static_cast<double>(expected);
    }
  }
}

TEST(GemmEpilogue, EveryActivationBiasAndType) {
  std::uint64_t seed = 0;
  for (const Activation activation : {Activation::None, Activation::Relu, Activation::Gelu, Activation::GeluTanh}) {
    for (const std::optional<Bias> bias :
         {std::optional<Bias>(), std::optional(Bias::PerRow), std::optional(Bias::PerColumn)}) {
      for (const Layout layout : {Layout::RowMajor, Layout::ColumnMajor, Layout::PaddedRows, Layout::Scattered}) {
        ++seed;
        const bool read = seed % 2 == 0;
        check_epilogue<float, float>(activation, bias, layout, read, seed);
        check_epilogue<double, double>(activation, bias, layout, read, seed);
        check_epilogue<bfloat16, bfloat16>(activation, bias, layout, read, seed);
        check_epilogue<bfloat16, float>(activation, bias, layout, read, seed);
        check_epilogue<float16, float16>(activation, bias, layout, read, seed);
        check_epilogue<tfloat32, float>(activation, bias, layout, read, seed);
      }
    }
  }
}

// The functions themselves, over their whole range: C = I x + 0.
TEST(GemmEpilogue, ActivationsOverTheirRange) {
  const Executor e = Executor::host();
  for (double x = -40; x < 40; x += 0.0371) {
    for (const Activation activation : {Activation::Relu, Activation::Gelu, Activation::GeluTanh}) {
      double one = 1, value = x, c = 0;
      gemm_epilogue(e, Op::N, Op::N, 1, MatrixView<double>::row_major(e, &one, 1, 1),
                    MatrixView<double>::row_major(e, &value, 1, 1), 0, MatrixView<double>::row_major(e, &c, 1, 1),
                    {activation});
      EXPECT_LE(std::abs(c - exact_activation(activation, x)), 10 * 0x1p-53L * std::abs(x)) << x;
    }
  }
}

TEST(GemmEpilogue, NanStaysAndEdges) {
  const Executor e = Executor::host();
  const auto one_by_one = [&](double x, Activation activation) {
    double one = 1, c = 0;
    gemm_epilogue(e, Op::N, Op::N, 1, MatrixView<double>::row_major(e, &one, 1, 1),
                  MatrixView<double>::row_major(e, &x, 1, 1), 0, MatrixView<double>::row_major(e, &c, 1, 1),
                  {activation});
    return c;
  };
  for (const Activation a : {Activation::None, Activation::Relu, Activation::Gelu, Activation::GeluTanh}) {
    EXPECT_TRUE(std::isnan(one_by_one(NAN, a)));
    EXPECT_EQ(one_by_one(INFINITY, a), INFINITY);
  }
  EXPECT_EQ(one_by_one(-INFINITY, Activation::Relu), 0);
  EXPECT_TRUE(std::isnan(one_by_one(-INFINITY, Activation::Gelu)));
}

TEST(GemmEpilogue, Refusals) {
  const Executor e = Executor::host();
  const Matrix<float> a(e, 3, 4), b(e, 4, 5), c(e, 3, 5);
  const Array<float> bias(e, {3});
  Epilogue<float> epilogue{Activation::Relu, VectorView<const float>(bias.view()), Bias::PerColumn};
  const auto text = [&](const MatrixView<float>& x, const MatrixView<float>& y) {
    return message_of<InvalidArgument>([&] { gemm_epilogue(e, Op::N, Op::N, 1, x, b.view(), 0, y, epilogue); });
  };
  EXPECT_IN("bias has 3 elements, C is 3 x 5 and the bias is per column; it must have 5", text(a.view(), c.view()));
  epilogue.bias_along = Bias::PerRow;
  EXPECT_IN("op(A) is 4 x 5 (op N)", text(b.view(), c.view()));
  EXPECT_IN("C shares memory with A", text(MatrixView<float>(e, c.data(), 3, 4, 5, 1), c.view()));
  epilogue.bias = VectorView<const float>(e, c.data(), 3, 5);
  EXPECT_IN("C shares memory with bias", text(a.view(), c.view()));
  epilogue.bias = VectorView<const float>(e, nullptr, 3);
  EXPECT_IN("bias is not empty but its pointer is null", text(a.view(), c.view()));
}

TEST(Gemm3m, EveryOpAndLayoutWithinItsBound) {
  const Executor e = Executor::host();
  for_complex([&]<class T>(T) {
    std::uint64_t seed = 0;
    for (const Op op_a : kAllOps) {
      for (const Op op_b : kAllOps) {
        for (const Layout layout : kLayouts) {
          SCOPED_TRACE(::testing::Message() << name(dtype_of<T>) << " ops " << static_cast<int>(op_a)
                                            << static_cast<int>(op_b) << " layout " << static_cast<int>(layout));
          std::mt19937_64 random(++seed);
          const std::int64_t m = seed % 4 == 0 ? 65 : 5, n = 17, k = seed % 3 == 0 ? 64 : 3;
          const auto a = full<T>(op_a == Op::N ? m : k, op_a == Op::N ? k : m, layout, random);
          const auto b = full<T>(op_b == Op::N ? k : n, op_b == Op::N ? n : k, kLayouts[seed % 6], random);
          const bool read = seed % 2;
          const auto c = output<T>(m, n, kLayouts[seed / 6 % 6], read, random);
          const T alpha = number<T>(0.75, -1.25), beta = read ? number<T>(-0.5, 2) : T(0);
          const OnDevice<T> da(e, a), db(e, b), dc(e, c);
          Recorder recorder(e);
          const Accuracy accuracy = gemm3m(e, op_a, op_b, alpha, da.view, db.view, beta, dc.view);
          EXPECT_EQ(recorder.family_of("blas.gemm3m"), "host");
          expect_elements(c, fetched(c, dc), accuracy.bound, [&](std::int64_t i, std::int64_t j) {
            Sum sum, old;
            for (std::int64_t p = 0; p < k; ++p) sum.add(op_at(op_a, a, i, p), op_at(op_b, b, p, j));
            if (read) old.add(wide(beta), wide(c.at(i, j)));
            return sum.times(wide(alpha)) + old;
          });
        }
      }
    }
  });
}

// With two threads, whatever the environment says: it must return (OpenBLAS's own threads do not), and be right.
TEST(Gemm3m, WithThreads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(2);
  const Executor e = Executor::host();
  using T = std::complex<double>;
  struct Size {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Size{64, 70, 60}, Size{1, 1, 30000}, Size{90, 1, 500}}) {
    const auto a = Matrix<T>::from_host(e, m, k, std::vector<T>(static_cast<std::size_t>(m * k), T(1, 2)));
    const auto b = Matrix<T>::from_host(e, k, n, std::vector<T>(static_cast<std::size_t>(k * n), T(3, -1)));
    const Matrix<T> c(e, m, n);
    gemm3m(e, Op::N, Op::N, T(1), a.view(), b.view(), T(0), c.view());
    for (const T x : c.to_host()) ASSERT_EQ(x, T(5, 5) * static_cast<double>(k));  // small integers: exact
  }
  omp_set_num_threads(before);
}

TEST(Gemm3m, Refusals) {
  using C = std::complex<float>;
  const Executor e = Executor::host();
  const Matrix<C> a(e, 3, 4), b(e, 5, 6), c(e, 3, 6), square(e, 3, 3);
  EXPECT_IN("blas.gemm3m: op(A) is 3 x 4 (op N), op(B) is 5 x 6 (op N), C is 3 x 6",
            message_of<InvalidArgument>([&] { gemm3m(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view()); }));
  EXPECT_IN("C shares memory with A", message_of<InvalidArgument>([&] {
              gemm3m(e, Op::N, Op::N, 1, square.view(), square.view(), 0, square.view());
            }));
}

}  // namespace
}  // namespace trn::blas::test
