// Bounds at the ends of the range: words that overflow, sums that overflow before they are scaled, denormals, very wide
// rows, NaN and infinities. Whatever a call with a target or a componentwise bound returns must hold, element by
// element, on the host and on a device.
#include <cstring>
#include <trn/blas/gemm.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

using Complex32 = std::complex<float>;

class Range : public ::testing::TestWithParam<const char*> {
 protected:
  Executor e_ = Executor::open(GetParam());
  std::mt19937_64 random_{17};
};
INSTANTIATE_TEST_SUITE_P(On, Range, ::testing::Values("host", "sim:trn1", "sim:trn2"), [](const auto& test) {
  return std::string(test.param) == "host" ? "host" : std::string(test.param).substr(4);
});

// The leading bfloat16 word of 3.4e38 is infinite: no mode of words may be taken, whatever the target.
TEST_P(Range, WordsThatOverflowAreNotTaken) {
  const auto a = Matrix<float>::from_host(e_, 1, 1, std::vector{3.4e38f}),
             b = Matrix<float>::from_host(e_, 1, 1, std::vector{1e-20f});
  for (const double target : {1e-1, 1e-2, 1e-3, 1e-5}) {
    const Matrix<float> c(e_, 1, 1);
    const Accuracy kept =
        gemm(e_, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view(), {.precision = Precision::target(target)});
    EXPECT_LE(kept.bound, target);
    EXPECT_NEAR(c.to_host()[0] / (3.4e38 * static_cast<double>(1e-20f)), 1, kept.bound * 1.01) << name(kept.mode);
    // The same through symm, trmm, syrkx and a batch.
    const auto check = [&](const char* what, const Accuracy& accuracy, const Matrix<float>& result) {
      EXPECT_NEAR(result.to_host()[0] / (3.4e38 * static_cast<double>(1e-20f)), 1, accuracy.bound * 1.01)
          << what << ' ' << name(accuracy.mode);
    };
    const Precision p = Precision::target(target);
    const Matrix<float> s(e_, 1, 1), t(e_, 1, 1), k(e_, 1, 1), g(e_, 1, 1);
    check("symm", symm(e_, Side::Left, Uplo::Lower, 1.0f, a.view(), b.view(), 0.0f, s.view(), {p}), s);
    check("trmm", trmm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0f, a.view(), b.view(), t.view(), {p}), t);
    check("syrkx", syrkx(e_, Uplo::Lower, Op::N, 1.0f, a.view(), b.view(), 0.0f, k.view(), {p}), k);
    check("batched",
          gemm_strided_batched(e_, {Op::N, Op::N, 1, 1, 1}, 1.0f, a.data(), 1, b.data(), 1, 0.0f, g.data(), 1, 1, {p}),
          g);
  }
}

// A NaN or an infinity makes the same choice wherever it stands, and its row alone is not finite.
TEST_P(Range, WhereANaNStandsDoesNotMatter) {
  for (const float wild : {NAN, INFINITY}) {
    std::optional<Mode> mode;
    for (std::int64_t row = 0; row < 4; ++row) {
      for (const std::int64_t column : {0, 2}) {
        std::vector<float> a(12, 1.5f);
        a[static_cast<std::size_t>(row * 3 + column)] = wild;
        const auto da = Matrix<float>::from_host(e_, 4, 3, a),
                   db = Matrix<float>::from_host(e_, 3, 2, std::vector<float>(6, 2.0f));
        const Matrix<float> c(e_, 4, 2);
        const Accuracy kept =
            gemm(e_, Op::N, Op::N, 1, da.view(), db.view(), 0, c.view(), {.precision = Precision::target(1e-2)});
        EXPECT_EQ(mode.value_or(kept.mode), kept.mode) << row << ' ' << column;
        mode = kept.mode;
        const auto values = c.to_host();
        for (std::int64_t i = 0; i < 4; ++i)
          EXPECT_EQ(std::isfinite(values[static_cast<std::size_t>(2 * i)]), i != row) << row << ' ' << i;
      }
    }
  }
}

// Sums that are in range although a part of them, or their product with alpha, is not.
TEST_P(Range, IntermediateSumsThatOverflow) {
  const auto expect = [&](const char* what, double exact, auto call) {
    for (const double target : {1e-1, 1e-2, 1e-5}) {
      const Matrix<float> c = Matrix<float>::from_host(e_, 1, 1, std::vector{-2e38f});
      const Accuracy kept = call(Precision::target(target), c);
      const double got = c.to_host()[0];
      if (std::isinf(kept.bound)) continue;
      EXPECT_LE(std::abs(got - exact), 4e38 * 4 * kept.bound)
          << what << " target " << target << ' ' << name(kept.mode) << ' ' << got;
    }
  };
  const float big = 2e19f;
  const auto a = Matrix<float>::from_host(e_, 1, 3, std::vector{big, big, big}),
             b = Matrix<float>::from_host(e_, 3, 1, std::vector{big, -big, big * 0.5f});
  const double product = static_cast<double>(big) * big * 0.5;
  // The first product overflows, the sum of all three does not.
  expect("gemm", product, [&](Precision p, const Matrix<float>& c) {
    return gemm(e_, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view(), {.precision = p});
  });
  // The product with alpha overflows, beta C takes it back.
  const auto one = Matrix<float>::from_host(e_, 1, 1, std::vector{1e19f});
  expect("alpha and beta", 4.0 * 1e38 - 2e38, [&](Precision p, const Matrix<float>& c) {
    return gemm(e_, Op::N, Op::N, 4.0f, one.view(), one.view(), 1.0f, c.view(), {.precision = p});
  });
  // alpha brings a sum back that has left the range.
  expect("small alpha", 4e38 * 0.25, [&](Precision p, const Matrix<float>& c) {
    const auto two = Matrix<float>::from_host(e_, 1, 1, std::vector{2e19f});
    return gemm(e_, Op::N, Op::N, 0.25f, two.view(), two.view(), 0.0f, c.view(), {.precision = p});
  });
}

// A complex product whose parts are near the largest float: a mode that may round them to infinity has no bound.
TEST_P(Range, ComplexTrmmNearOverflow) {
  for (int repeat = 0; repeat < 40; ++repeat) {
    const std::int64_t n = 1 + repeat % 5;
    const auto a = triangle<Complex32>(n, Uplo::Lower, Layout::RowMajor, random_);
    auto b = full<Complex32>(n, 3, Layout::RowMajor, random_);
    for (Complex32& x : b.storage) x *= 6e37f;
    const OnDevice<Complex32> da(e_, a);
    for (const double target : {3e-2, 1e-3, 1e-5}) {
      const OnDevice<Complex32> db(e_, b);
      const Complex32 alpha(0.7f, -0.4f);
      const Accuracy kept =
          trmm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, alpha, da.view, db.view, {Precision::target(target)});
      ASSERT_LE(kept.bound, target);
      const auto c = fetched(b, db);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) {
          Sum sum;
          for (std::int64_t p = 0; p < n; ++p)
            sum.add(triangular_at(Uplo::Lower, Op::N, Diag::NonUnit, a, i, p), wide(b.at(p, j)));
          const Sum exact = sum.normwise().times(wide(alpha));
          const long double top = std::numeric_limits<float>::max();
          if (std::abs(exact.value.re) > top * (1 - 1e-6L) || std::abs(exact.value.im) > top * (1 - 1e-6L))
            continue;  // overflows by itself
          EXPECT_LE(size(wide(c.at(i, j)) - exact.value), kept.bound * kOracle * exact.scale)
              << name(kept.mode) << ' ' << exact.value.re;
        }
      }
    }
  }
}

// The first product of a rank-2k update leaves the range, the second brings the sum back: no mode that stores it in
// between is taken.
TEST_P(Range, Syr2kWhoseFirstProductOverflows) {
  const auto a = Matrix<float>::from_host(e_, 2, 1, std::vector{1e10f, 1.8e19f});
  const auto b = Matrix<float>::from_host(e_, 2, 1, std::vector{1.44e19f, -2.592e28f});
  for (const double target : {1e-1, 1e-2, 1e-5}) {
    const auto c = Matrix<float>::from_host(e_, 2, 2, std::vector{1.0f, NAN, 2e38f, 1.0f});
    const Accuracy kept =
        syr2k(e_, Uplo::Lower, Op::N, 1.0f, a.view(), b.view(), 1.0f, c.view(), {Precision::target(target)});
    EXPECT_EQ(kept.mode, Mode::Exact) << target;
  }
}

// Operands of every magnitude: componentwise bounds hold in every mode, and so does the bound of a target.
enum class Sizes { NearOverflow, Wide, Denormal, Cancelling, Mixed };
float sized(Sizes sizes, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(1, 2);
  const double sign = random() % 2 ? 1 : -1;
  const auto power = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  switch (sizes) {
    case Sizes::NearOverflow:
      return static_cast<float>(sign * std::ldexp(uniform(random), power(61, 63)));
    case Sizes::Wide:
      return static_cast<float>(sign * std::ldexp(uniform(random), power(-126, 62)));
    case Sizes::Denormal:
      return static_cast<float>(sign * std::ldexp(uniform(random), power(-149, -70)));
    case Sizes::Cancelling:
      return static_cast<float>(sign * (1 + (uniform(random) - 1) * 0x1p-10));
    default:
      return random() % 8 == 0 ? 0.0f : static_cast<float>(sign * std::ldexp(uniform(random), power(-149, 126)));
  }
}

template <class T> T sized_number(Sizes sizes, std::mt19937_64& random) {
  if constexpr (ComplexScalar<T>) {
    const float re = sized(sizes, random);
    return T(re, sized(sizes, random));
  } else {
    return sized(sizes, random);
  }
}

template <class T>
void expect_componentwise(const Executor& e, std::mt19937_64& random, std::int64_t& finite, std::int64_t& elements) {
  constexpr Sizes kSizes[] = {Sizes::NearOverflow, Sizes::Wide, Sizes::Denormal, Sizes::Cancelling, Sizes::Mixed};
  for (const Sizes sizes : kSizes) {
    for (const Mode mode : {Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6}) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        const std::int64_t m = 3, n = 4, k = repeat == 0 ? 1 : repeat == 1 ? 7 : 140;
        auto a = full<T>(m, k, Layout::RowMajor, random), b = full<T>(k, n, Layout::RowMajor, random),
             c = full<T>(m, n, Layout::RowMajor, random);
        for (auto* s : {&a, &b, &c}) {
          for (T& x : s->storage) x = sized_number<T>(sizes, random);
        }
        const bool target = repeat == 1;
        const T alpha = repeat == 0 ? T(1) : sized_number<T>(repeat == 2 ? Sizes::Cancelling : Sizes::Mixed, random),
                beta = T(repeat == 2 ? -1.0f : 0.75f);
        const OnDevice<T> da(e, a), db(e, b), dc(e, c);
        std::vector<double> bounds(static_cast<std::size_t>(m * n));
        GemmOptions options{.precision = mode,
                            .componentwise = MatrixView<double>::row_major(Executor::host(), bounds.data(), m, n)};
        if (target) options.precision = Precision::target(mode == Mode::Bf16 ? 2e-2 : 1e-3);
        Accuracy kept;
        try {
          kept = gemm(e, Op::N, Op::N, alpha, da.view, db.view, beta, dc.view, options);
        } catch (const InvalidArgument& refused) {  // results so small that even Exact misses the target
          EXPECT_TRUE(target) << refused.what();
          EXPECT_EQ(0, std::memcmp(fetched(c, dc).storage.data(), c.storage.data(), c.storage.size() * sizeof(T)));
          continue;
        }
        const auto result = fetched(c, dc);
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            Sum sum, old;
            for (std::int64_t p = 0; p < k; ++p) sum.add(wide(a.at(i, p)), wide(b.at(p, j)));
            old.add(wide(beta), wide(c.at(i, j)));
            const Sum exact = sum.normwise().times(wide(alpha)) + old;
            const double bound = bounds[static_cast<std::size_t>(i * n + j)];
            ++elements;
            const long double top = std::numeric_limits<float>::max();
            if (std::abs(exact.value.re) > top || std::abs(exact.value.im) > top || kept.mode == Mode::Exact) continue;
            const long double error = size(wide(result.at(i, j)) - exact.value);
            finite += std::isfinite(bound) ? 1 : 0;
            EXPECT_TRUE(error <= bound * kOracle || std::isinf(bound))
                << name(kept.mode) << " sizes " << static_cast<int>(sizes) << " k " << k << ": error " << error
                << " bound " << bound << " value " << wide(result.at(i, j)).re << " exact " << exact.value.re;
            if (target) {
              EXPECT_LE(error, kept.bound * kOracle * exact.scale)
                  << name(kept.mode) << " target, sizes " << static_cast<int>(sizes);
            }
          }
        }
      }
    }
  }
}
TEST_P(Range, ComponentwiseBoundsOfAnySize) {
  std::int64_t finite = 0, elements = 0;
  expect_componentwise<float>(e_, random_, finite, elements);
  expect_componentwise<Complex32>(e_, random_, finite, elements);
  EXPECT_GT(finite, elements / 4) << "most bounds say nothing";
}

}  // namespace
}  // namespace trn::blas::test
