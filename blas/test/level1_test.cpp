// Level 1 on the host against loops in __float128, every type and increment; special values as the reference has them;
// memory around the vectors untouched; every refusal.
#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>

#include "vector_support.hpp"

namespace trn::blas::test {
namespace {

constexpr std::int64_t kStrides[] = {1, 2, -1, -3};
constexpr std::int64_t kSizes[] = {0, 1, 2, 5, 16, 17, 64, 513, 1030};

template <class T> class Level1 : public ::testing::Test {
 protected:
  Executor host_ = Executor::host();
  std::mt19937_64 random_{11};
  // f(n, incx, incy)
  template <class F> void each(F f) {
    for (const std::int64_t n : kSizes) {
      for (const std::int64_t incx : kStrides) {
        for (const std::int64_t incy : kStrides) {
          SCOPED_TRACE(::testing::Message() << "n " << n << " incx " << incx << " incy " << incy);
          f(n, incx, incy);
        }
      }
    }
  }
};
TYPED_TEST_SUITE(Level1, ScalarTypes);

TYPED_TEST(Level1, Axpy) {
  using T = TypeParam;
  this->each([&](std::int64_t n, std::int64_t incx, std::int64_t incy) {
    for (const T alpha : {number<T>(0.7, -0.3), T(0), T(-1), T(1)}) {
      Vec<T> x(n, incx, this->random_), y(n, incy, this->random_);
      const Vec<T> x0 = x, y0 = y;
      Recorder recorder(this->host_);
      axpy(this->host_, alpha, x.view(), y.view());
      EXPECT_EQ(recorder.family_of("blas.axpy"), n == 0 || alpha == T(0) ? "" : "host");
      for (std::int64_t i = 0; i < n; ++i) {
        expect_close(y.at(i), wide(alpha) * x(i) + y0(i), sum_bound<T>(2), size(wide(alpha)) * size(x(i)) + size(y0(i)),
                     "axpy", i);
      }
      EXPECT_TRUE(y.surroundings_intact(y0) && x.same(x0));
    }
  });
}

TYPED_TEST(Level1, CopyAndSwap) {
  using T = TypeParam;
  this->each([&](std::int64_t n, std::int64_t incx, std::int64_t incy) {
    Vec<T> x(n, incx, this->random_), y(n, incy, this->random_);
    const Vec<T> x0 = x, y0 = y;
    swap(this->host_, x.view(), y.view());
    for (std::int64_t i = 0; i < n; ++i) EXPECT_TRUE(same_bits(x.at(i), y0.at(i)) && same_bits(y.at(i), x0.at(i))) << i;
    EXPECT_TRUE(x.surroundings_intact(x0) && y.surroundings_intact(y0));
    copy(this->host_, x.view(), y.view());
    for (std::int64_t i = 0; i < n; ++i) EXPECT_TRUE(same_bits(y.at(i), y0.at(i))) << i;
    EXPECT_TRUE(y.surroundings_intact(y0));
  });
}

TYPED_TEST(Level1, Scal) {
  using T = TypeParam;
  for (const std::int64_t n : kSizes) {
    for (const std::int64_t incx : kStrides) {
      for (const T alpha : {number<T>(0.7, -0.3), T(0), T(1), T(-2)}) {
        Vec<T> x(n, incx, this->random_);
        const Vec<T> x0 = x;
        scal(this->host_, alpha, x.view());
        for (std::int64_t i = 0; i < n; ++i) {
          expect_close(x.at(i), wide(alpha) * x0(i), sum_bound<T>(1), size(wide(alpha)) * size(x0(i)), "scal", i);
        }
        EXPECT_TRUE(x.surroundings_intact(x0));
        if constexpr (ComplexScalar<T>) {
          Vec<T> z = x0;
          scal_real(this->host_, alpha.real(), z.view());
          for (std::int64_t i = 0; i < n; ++i)
            EXPECT_EQ(z.at(i), T(x0.at(i).real() * alpha.real(), x0.at(i).imag() * alpha.real()));
          EXPECT_TRUE(z.surroundings_intact(x0));
        }
      }
    }
  }
}

// 0 * NaN and 0 * infinity are NaN, at every length and stride (OpenBLAS fills with zeros).
TYPED_TEST(Level1, ScalByZeroKeepsNan) {
  using T = TypeParam;
  for (const std::int64_t n : {3, 64}) {
    for (const std::int64_t inc : {1, 2, -1}) {
      Vec<T> x(n, inc, this->random_);
      x.at(1) = number<T>(NAN, 1), x.at(2) = number<T>(INFINITY, 1);
      scal(this->host_, T(0), x.view());
      const auto re = [&](std::int64_t i) { return static_cast<double>(x(i).re); };
      EXPECT_EQ(re(0), 0);
      EXPECT_TRUE(std::isnan(re(1)) && std::isnan(re(2)));
    }
  }
}

TYPED_TEST(Level1, Dot) {
  using T = TypeParam;
  this->each([&](std::int64_t n, std::int64_t incx, std::int64_t incy) {
    Vec<T> x(n, incx, this->random_), y(n, incy, this->random_);
    for (const bool conjugate : {false, true}) {
      Wide want;
      double scale = 0, xx = 0, yy = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        want = want + (conjugate ? conj(x(i)) : x(i)) * y(i);
        scale += size(x(i)) * size(y(i));
        xx += size(x(i)) * size(x(i)), yy += size(y(i)) * size(y(i));
      }
      const auto native = conjugate ? dotc(this->host_, x.view(), y.view(), Mode::Native)
                                    : dot(this->host_, x.view(), y.view(), Mode::Native);
      expect_close(native.value, want, sum_bound<T>(static_cast<double>(n) + 1), scale, "dot", n);
      EXPECT_LE(size(wide(native.value) - want), native.accuracy.bound * std::sqrt(xx) * std::sqrt(yy));
      EXPECT_EQ(native.value,
                (conjugate ? dotc(this->host_, x.view(), y.view()) : dot(this->host_, x.view(), y.view())));
      // Exact: each part the nearest number (the oracle's own error is 2^-100 of the terms).
      const auto exact = conjugate ? dotc(this->host_, x.view(), y.view(), Mode::Exact)
                                   : dot(this->host_, x.view(), y.view(), Mode::Exact);
      EXPECT_EQ(exact.value, (number<T>(static_cast<double>(static_cast<Real<T>>(want.re)),
                                        static_cast<double>(static_cast<Real<T>>(want.im)))));
      EXPECT_EQ(exact.accuracy.mode, Mode::Exact);
      EXPECT_LE(exact.accuracy.bound, 2 * kUnit<T>);
    }
  });
}

// A sum whose terms cancel to nothing: native loses all digits, exact none.
TYPED_TEST(Level1, ExactSurvivesCancellation) {
  using T = TypeParam;
  using R = Real<T>;
  Vec<T> x(4, 1), y(4, 1);
  const R big = std::is_same_v<R, float> ? R(1e15) : R(1e160);
  x.at(0) = T(big), x.at(1) = T(1), x.at(2) = T(big), x.at(3) = T(R(0.5));
  y.at(0) = T(big), y.at(1) = T(3), y.at(2) = T(-big), y.at(3) = T(R(0.25));
  EXPECT_EQ(dot(this->host_, x.view(), y.view(), Mode::Exact).value, T(R(3.125)));
}

TYPED_TEST(Level1, AsumAndNrm2) {
  using T = TypeParam;
  for (const std::int64_t n : kSizes) {
    for (const std::int64_t incx : kStrides) {
      Vec<T> x(n, incx, this->random_);
      Quad sum = 0, squares = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        sum += magnitude(x(i).re) + magnitude(x(i).im);
        squares += x(i).re * x(i).re + x(i).im * x(i).im;
      }
      const auto a = asum(this->host_, x.view(), Mode::Native);
      EXPECT_LE(std::abs(static_cast<double>(static_cast<Quad>(a.value) - sum)),
                a.accuracy.bound * static_cast<double>(sum) * 1.001);
      EXPECT_EQ(asum(this->host_, x.view(), Mode::Exact).value, static_cast<Real<T>>(sum));
      const auto r = nrm2(this->host_, x.view(), Mode::Native);
      const long double root = std::sqrt(static_cast<long double>(squares));
      EXPECT_LE(std::abs(static_cast<double>(static_cast<long double>(r.value) - root)),
                r.accuracy.bound * static_cast<double>(root) * 1.001);
      EXPECT_LE(std::abs(static_cast<double>(static_cast<long double>(nrm2(this->host_, x.view(), Mode::Exact).value) -
                                             root)),
                1.01 * kUnit<T> * static_cast<double>(root));
    }
  }
}

// Squares overflow and underflow; the norm does not. Infinity gives infinity, NaN gives NaN.
TYPED_TEST(Level1, Nrm2AtTheEndsOfTheRange) {
  using T = TypeParam;
  using R = Real<T>;
  using Limits = std::numeric_limits<R>;
  for (const std::int64_t n : {5, 100}) {
    for (const R value : {Limits::max() / 64, Limits::min(), Limits::denorm_min() * 5, std::sqrt(Limits::min()),
                          std::sqrt(Limits::max())}) {
      Vec<T> x(n, 2);
      for (std::int64_t i = 0; i < n; ++i) x.at(i) = T(value);
      const long double want = static_cast<long double>(value) * std::sqrt(static_cast<long double>(n));
      const auto r = nrm2(this->host_, x.view(), Mode::Native);
      EXPECT_LE(std::abs(static_cast<long double>(r.value) - want), r.accuracy.bound * want + Limits::denorm_min())
          << value;
      EXPECT_EQ(nrm2(this->host_, x.view(), Mode::Exact).value, static_cast<R>(want)) << value;
    }
    Vec<T> x(n, 1);
    for (std::int64_t i = 0; i < n; ++i) x.at(i) = T(R(1));
    x.at(2) = T(Limits::max()), x.at(3) = T(Limits::denorm_min());
    EXPECT_EQ(nrm2(this->host_, x.view()), Limits::max());
    x.at(1) = number<T>(1, INFINITY), x.at(0) = number<T>(-INFINITY, 1);
    for (const Mode mode : {Mode::Native, Mode::Exact})
      EXPECT_EQ(nrm2(this->host_, x.view(), mode).value, Limits::infinity());
    x.at(4) = T(Limits::quiet_NaN());
    for (const Mode mode : {Mode::Native, Mode::Exact}) {
      EXPECT_TRUE(std::isnan(nrm2(this->host_, x.view(), mode).value));
      EXPECT_TRUE(std::isnan(asum(this->host_, x.view(), mode).value));
    }
  }
}

// Large enough for several threads.
TYPED_TEST(Level1, LongVectors) {
  using T = TypeParam;
  const std::int64_t n = 300'001;
  Vec<T> x(n, 1);
  for (std::int64_t i = 0; i < n; ++i)
    x.at(i) = number<T>(static_cast<double>(i % 7) - 3, static_cast<double>(i % 5) - 2);
  Quad squares = 0;
  Wide product;
  for (std::int64_t i = 0; i < n; ++i)
    squares += x(i).re * x(i).re + x(i).im * x(i).im, product = product + x(i) * x(i);
  const double root = std::sqrt(static_cast<double>(squares));
  EXPECT_NEAR(nrm2(this->host_, x.view()), root, root * (static_cast<double>(n) / 16 + 8) * kUnit<T>);
  EXPECT_EQ(wide(dot(this->host_, x.view(), x.view(), Mode::Exact).value).re,
            static_cast<Quad>(static_cast<Real<T>>(product.re)));
}

TYPED_TEST(Level1, AmaxAndAmin) {
  using T = TypeParam;
  const auto size_of = [](T x) {
    if constexpr (RealScalar<T>) {
      return std::abs(x);
    } else {
      return std::abs(x.real()) + std::abs(x.imag());
    }
  };
  for (const std::int64_t n : {1, 2, 5, 17, 512, 513, 1600}) {
    for (const std::int64_t incx : kStrides) {
      Vec<T> x(n, incx, this->random_);
      for (int round = 0; round < 4; ++round) {
        if (round == 1 && n > 2)
          x.at(n - 1) = x.at(n / 2) = T(100), x.at(n - 2) = x.at(n / 3) = T(0);  // ties: the first one
        if (round == 2 && n > 4) x.at(n / 2 - 1) = T(Real<T>(NAN));              // does not compare larger
        if (round == 3) x.at(0) = T(Real<T>(NAN));                               // nothing compares larger
        std::int64_t largest = 0, smallest = 0;
        auto high = size_of(x.at(0)), low = high;
        for (std::int64_t i = 1; i < n; ++i) {
          const auto v = size_of(x.at(i));
          if (v > high) high = v, largest = i;
          if (v < low) low = v, smallest = i;
        }
        EXPECT_EQ(amax(this->host_, x.view()), largest) << n << ' ' << incx << ' ' << round;
        EXPECT_EQ(amin(this->host_, x.view()), smallest) << n << ' ' << incx << ' ' << round;
      }
    }
  }
  Vec<T> empty(0, 1);
  EXPECT_EQ(amax(this->host_, empty.view()), -1);
  EXPECT_EQ(amin(this->host_, empty.view()), -1);
}

TYPED_TEST(Level1, StrideZeroIsReadAsAConstant) {
  using T = TypeParam;
  const T seven = number<T>(7, 1);
  const VectorView<const T> x(this->host_, &seven, 5, 0);
  Vec<T> y(5, 2);
  copy(this->host_, x, y.view());
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(y.at(i), seven);
  axpy(this->host_, T(2), x, y.view());
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(y.at(i), T(3) * seven);
  EXPECT_EQ(dot(this->host_, y.view(), x), T(15) * seven * seven);
  EXPECT_EQ(asum(this->host_, x), 5 * asum(this->host_, VectorView<const T>(this->host_, &seven, 1)));
  EXPECT_EQ(amax(this->host_, x), 0);
}

TYPED_TEST(Level1, Refusals) {
  using T = TypeParam;
  const Executor& e = this->host_;
  Vec<T> three(3, 1, this->random_), four(4, 1, this->random_);
  const Vec<T> before = four;
  EXPECT_IN("blas.axpy: x has 3 elements, y has 4",
            message_of<InvalidArgument>([&] { axpy(e, T(1), three.view(), four.view()); }));
  EXPECT_IN("blas.copy: x has 3 elements, y has 4",
            message_of<InvalidArgument>([&] { copy(e, three.view(), four.view()); }));
  EXPECT_IN("blas.swap: x has 3 elements, y has 4",
            message_of<InvalidArgument>([&] { swap(e, three.view(), four.view()); }));
  EXPECT_IN("blas.dot: x has 3 elements, y has 4",
            message_of<InvalidArgument>([&] { (void)dot(e, three.view(), four.view()); }));
  EXPECT_IN("blas.dot: x has 3 elements, y has 4",
            message_of<InvalidArgument>([&] { (void)dotc(e, three.view(), four.view()); }));
  EXPECT_IN("blas.rot: x has 3 elements, y has 4",
            message_of<InvalidArgument>([&] { rot(e, three.view(), four.view(), Real<T>(1), T(0)); }));
  const VectorView<T> null(e, nullptr, 4);
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] { axpy(e, T(1), null, four.view()); }));
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] { scal(e, T(1), null); }));
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] { (void)amax(e, null); }));
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] { (void)amin(e, null); }));
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] { (void)asum(e, null); }));
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] { (void)nrm2(e, null); }));
  const VectorView<T> squeezed(e, four.view().data(), 4, 0);
  EXPECT_IN("elements share places", message_of<InvalidArgument>([&] {
              axpy(e, T(1), three.view(), VectorView<T>(e, four.view().data(), 3, 0));
            }));
  EXPECT_IN("elements share places", message_of<InvalidArgument>([&] { scal(e, T(2), squeezed); }));
  const VectorView<T> head(e, four.view().data(), 3), tail(e, four.view().data() + 1, 3);
  EXPECT_IN("y shares memory with x", message_of<InvalidArgument>([&] { axpy(e, T(1), head, tail); }));
  EXPECT_IN("y shares memory with x", message_of<InvalidArgument>([&] { copy(e, head, tail); }));
  EXPECT_IN("y shares memory with x", message_of<InvalidArgument>([&] { swap(e, head, tail); }));
  EXPECT_IN("y shares memory with x", message_of<InvalidArgument>([&] { rot(e, head, head, Real<T>(1), T(0)); }));
  EXPECT_IN("precision tf32 is for products of matrices",
            message_of<InvalidArgument>([&] { (void)nrm2(e, four.view(), Mode::Tf32); }));
  EXPECT_IN("is below",
            message_of<InvalidArgument>([&] { (void)dot(e, four.view(), four.view(), Precision::target(1e-30)); }));
  EXPECT_TRUE(four.same(before));
  // Identical views are fine where the result is plain.
  copy(e, four.view(), four.view());
  swap(e, four.view(), four.view());
  EXPECT_TRUE(four.same(before));
  EXPECT_EQ(dot(e, four.view(), four.view(), Precision::target(0.5)).accuracy.mode, Mode::Native);
  EXPECT_EQ(dot(e, four.view(), four.view(), Precision::target(2 * kUnit<T>)).accuracy.mode, Mode::Exact);
}

}  // namespace
}  // namespace trn::blas::test
