// The certificate of Precision Exact: bounds that hold and are tight, with factors, cancellation, wide exponents,
// subnormal numbers and results near the ends of the range; the same bits on every executor. Oracle: sums without
// rounding (support/fixed_point.hpp).
#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>
#include <trn/blas/exactness.hpp>

#include "support/exact_case.hpp"
#include "support/message_of.hpp"

namespace trn::test {
namespace {

using blas::Op;
using blas::Uplo;
using Complex = std::complex<double>;

const std::vector<Executor>& executors() {
  static const std::vector<Executor> all{Executor::host(), Executor::open("sim:trn1"), Executor::open("sim:trn2"),
                                         Executor::open("sim:trn3")};
  return all;
}

// The host's outcome, judged; every machine gives the same bits and bounds.
template <class T> ExactVerdict check(const ExactCase<T>& s) {
  const ExactOutcome<T> host = run(executors().front(), s);
  for (std::size_t i = 1; i < executors().size(); ++i)
    EXPECT_TRUE(same_bits(run(executors()[i], s), host)) << executors()[i].name();
  const ExactVerdict v = judge(s, host);
  EXPECT_EQ(v.finding, "") << kOperationNames[static_cast<int>(s.operation)];
  return v;
}

double median(std::vector<double> x) {
  if (x.empty()) return 1;
  std::ranges::sort(x);
  return x[x.size() / 2];
}

template <class T> T draw(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  using R = blas::Real<T>;
  if constexpr (blas::ComplexScalar<T>) {
    const auto re = static_cast<R>(normal(random));
    return T(re, static_cast<R>(normal(random)));
  } else {
    return static_cast<T>(normal(random));
  }
}
template <class T> std::vector<T> draws(std::pair<std::int64_t, std::int64_t> shape, std::mt19937_64& random) {
  std::vector<T> x(static_cast<std::size_t>(shape.first * shape.second));
  for (T& v : x) v = draw<T>(random);
  return x;
}
template <class T>
ExactCase<T> random_case(Operation operation, std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ExactCase<T> s;
  s.operation = operation, s.m = m, s.n = n, s.k = k;
  s.a = draws<T>(s.shape_a(), random), s.b = draws<T>(s.shape_b(), random), s.c = draws<T>(s.shape_c(), random);
  return s;
}
ExactCase<double> product(std::int64_t m, std::int64_t n, std::int64_t k, std::vector<double> a,
                          std::vector<double> b) {
  ExactCase<double> s;
  s.m = m, s.n = n, s.k = k, s.a = std::move(a), s.b = std::move(b);
  s.c.resize(static_cast<std::size_t>(m * n));
  return s;
}

// alpha A B and beta C agree in all their leading digits.
template <class T> void cancelling_with_c(Operation operation) {
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> uniform(1, 2);
  ExactCase<T> s = random_case<T>(operation, 20, 20, 16, 31);
  for (auto* x : {&s.a, &s.b}) {
    for (T& v : *x) v = T(static_cast<blas::Real<T>>(uniform(random)));
  }
  ExactCase<T> first = s;
  first.beta = 0;
  s.c = run(Executor::host(), first).c;
  s.beta = -1;
  check(s);
}
TEST(ExactCertificate, CancellationWithC) {
  for (const Operation op : {Operation::Gemm, Operation::Syrk, Operation::Syr2k, Operation::Symm}) {
    cancelling_with_c<double>(op);
    cancelling_with_c<float>(op);
    cancelling_with_c<Complex>(op);
  }
  for (const Operation op : {Operation::Herk, Operation::Her2k, Operation::Hemm}) cancelling_with_c<Complex>(op);
}

TEST(ExactCertificate, VeryWideExponents) {
  const auto value = [](std::vector<double> a, std::vector<double> b) {
    const auto k = static_cast<std::int64_t>(a.size());
    const auto s = product(1, 1, k, std::move(a), std::move(b));
    check(s);
    return run(Executor::host(), s).c.front();
  };
  EXPECT_EQ(value({1e200, 1e-200}, {1e-200, 1e200}), 2);
  EXPECT_EQ(value({1e150, 1, 1e-150}, {1e-150, 1, 1e150}), 3);
  EXPECT_EQ(value({0x1p1000, 0x1p-1000}, {0, 0x1p-60}), 0x1p-1060);
  EXPECT_EQ(value({1e20, 1e-20}, {0, 1}), 1e-20);
}

// Rows of exponents between 2^-e and 2^e, sparse ones too: no element is worse than a sum in the type, and an overflow
// is one.
TEST(ExactCertificate, GradedRowsAndColumns) {
  for (const int e : {30, 100, 300, 520, 1000}) {
    ExactCase<double> s = random_case<double>(Operation::Gemm, 9, 8, 21, static_cast<std::uint64_t>(e));
    std::mt19937_64 random(static_cast<std::uint64_t>(e));
    std::uniform_int_distribution<int> exponent(-e, e);
    for (auto* x : {&s.a, &s.b}) {
      for (double& v : *x) v = random() % 4 == 0 ? 0 : std::ldexp(v, exponent(random));
    }
    check(s);
    s.alpha = 1.7, s.beta = -0.3;
    check(s);
  }
}

TEST(ExactCertificate, SubnormalRowsOfDifferentSize) {
  check(product(2, 1, 1, {-0x0.36d8fb727fac6p-1022, 0x0.000000cf6bc78p-1022}, {0x1.9aeb4cb13127bp+1018}));
  check(product(2, 1, 2, {0x1p-1074, 0x1.8p-1060, 0x0.00000000ffff1p-1022, 0x1p-1073},
                {0x1.9aeb4cb13127bp+1018, -0x1.1p1017}));
}

// The two products of a rank-2k update overflow apart, their sum does not.
TEST(ExactCertificate, TwoProductsThatOverflowApart) {
  const auto both = [](auto zero, double size) {
    using T = decltype(zero);
    using R = blas::Real<T>;
    ExactCase<T> s;
    s.operation = Operation::Syr2k, s.n = 2, s.k = 1;
    s.a = {T(static_cast<R>(size)), T(static_cast<R>(size / 3))}, s.b = {T(R(1.5)), T(R(-1.5))};
    s.c.resize(4);
    const auto o = run(Executor::host(), s);
    EXPECT_TRUE(std::isfinite(std::abs(Complex(o.c[2])))) << size;  // a_1 b_0 + b_1 a_0 = (1.5 / 3 - 1.5) size
    check(s);
    if constexpr (blas::ComplexScalar<T>) {
      s.operation = Operation::Her2k;
      check(s);
    }
  };
  both(float{}, 3e38);
  both(double{}, 1.6e308);
  both(std::complex<float>{}, 3e38);
  both(Complex{}, 1.6e308);
}

TEST(ExactCertificate, TinyAndHugeFactors) {
  for (const double alpha : {1e290, 1e-290, 0x1p-1074, 0x1.fffffffffffffp1023}) {
    for (const double size : {1.0, 1e-290, 1e150}) {
      ExactCase<double> s = random_case<double>(Operation::Gemm, 5, 4, 9, 41);
      for (double& v : s.a) v *= size;
      s.alpha = alpha;
      check(s);
      s.beta = 1 / alpha;
      check(s);
      ExactCase<Complex> z = random_case<Complex>(Operation::Gemm, 4, 3, 7, 42);
      for (Complex& v : z.a) v *= size;
      z.alpha = {alpha, -1.0 / 3}, z.beta = {0.5, alpha};
      check(z);
    }
  }
  for (const float alpha : {1e37F, 1e-37F, 0x1p-149F}) {
    ExactCase<float> s = random_case<float>(Operation::Gemm, 5, 4, 9, 43);
    s.alpha = alpha, s.beta = 3;
    check(s);
  }
}

// Elements whose products are all zero are zero, and their bounds say so.
TEST(ExactCertificate, ZerosAreExact) {
  std::mt19937_64 random(52);
  ExactCase<double> s = random_case<double>(Operation::Gemm, 7, 6, 300, 52);
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t p = i % 2; p < s.k; p += 2) s.a[static_cast<std::size_t>(i * s.k + p)] = 0;
  }
  for (std::int64_t p = 0; p < s.k; p += 2) {
    for (std::int64_t j = 0; j < s.n; ++j) s.b[static_cast<std::size_t>(p * s.n + j)] = 0;
  }
  const auto o = run(Executor::host(), s);
  check(s);
  for (std::int64_t i = 1; i < s.m; i += 2) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      EXPECT_EQ(o.c[static_cast<std::size_t>(i * s.n + j)], 0);
      EXPECT_EQ(o.bounds[static_cast<std::size_t>(i * s.n + j)], 0);
    }
  }
  ExactCase<Complex> z = random_case<Complex>(Operation::Gemm, 5, 4, 200, 53);
  for (auto* x : {&z.a, &z.b}) {
    for (Complex& v : *x) v = v.real();
  }
  check(z);
}

// Infinities and NaN outside of the sums of a triangle change nothing, and the rest stays certified.
TEST(ExactCertificate, SpecialValuesBesideATriangle) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const Operation op : {Operation::Trmm, Operation::TrmmInPlace}) {
    ExactCase<double> s = random_case<double>(op, 6, 5, 0, 51);
    s.b[5 * 5 + 1] = inf, s.b[3 * 5 + 2] = nan;
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      s.uplo = uplo;
      check(s);
    }
  }
}

// Random data: the median of bound over error. Accuracy::bound is one number for all elements, so it is that of the
// element with the largest error over its norms (of syrk: one on the diagonal), which is eight times larger than the
// usual one here: it is near the error of that element, and cannot be near the others'.
TEST(ExactCertificate, BoundsAreTight) {
  for (const std::int64_t k : {16, 200, 1000}) {
    const auto s = random_case<double>(Operation::Gemm, 12, 12, k, 61);
    const auto v = judge(s, run(Executor::host(), s));
    EXPECT_EQ(v.finding, "");
    EXPECT_LE(median(v.bound_over_error), 4) << "k " << k;
    EXPECT_LE(median(v.norm_bound_over_error), 20) << "k " << k;
    EXPECT_LE(std::ranges::min(v.norm_bound_over_error), 4) << "k " << k;
  }
  for (const Operation op : {Operation::Syrk, Operation::Syr2k, Operation::Symm, Operation::Trmm}) {
    const auto s = random_case<double>(op, 64, 12, 64, 62);
    const auto v = judge(s, run(Executor::host(), s));
    EXPECT_EQ(v.finding, "");
    EXPECT_LE(median(v.bound_over_error), 4) << kOperationNames[static_cast<int>(op)];
    EXPECT_LE(median(v.norm_bound_over_error), op == Operation::Syrk ? 30 : 20)
        << kOperationNames[static_cast<int>(op)];
    EXPECT_LE(std::ranges::min(v.norm_bound_over_error), 4) << kOperationNames[static_cast<int>(op)];
  }
}

// Bounds of elements stand where C's do, whichever triangle and side; what is not written keeps its bound too.
TEST(ExactCertificate, BoundsOfTrianglesAndSides) {
  for (const Operation op : {Operation::Herk, Operation::Her2k, Operation::Herkx, Operation::Hemm, Operation::Trmm,
                             Operation::TrmmInPlace}) {
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      auto s = random_case<Complex>(op, 9, 7, 33, 63);
      s.uplo = uplo, s.alpha = s.rank_k() ? 0.5 : Complex(0.5, 2), s.beta = s.rank_k() ? 3 : Complex(-1, 0.25);
      if (s.square()) {
        s.side = blas::Side::Right;
        std::mt19937_64 random(64);
        s.a = draws<Complex>(s.shape_a(), random);
      }
      const auto v = check(s);
      EXPECT_LE(median(v.bound_over_error), 4) << kOperationNames[static_cast<int>(op)];
    }
  }
}

// A call that changes nothing has no error, one in another precision no such bounds, and a wrong shape is refused.
TEST(ExactCertificate, BoundsOfLevel3AtTheEdges) {
  const Executor e = Executor::host();
  const Matrix<float> a(e, 3, 3), c(e, 3, 3);
  std::vector<double> bounds(9, -1);
  const auto view = MatrixView<double>::row_major(e, bounds.data(), 3, 3);
  blas::syrk(e, Uplo::Lower, Op::N, 0.0F, a.view(), 1.0F, c.view(), {Mode::Exact, view});
  EXPECT_EQ(bounds, (std::vector<double>{0, -1, -1, 0, 0, -1, 0, 0, 0}));
  blas::symm(e, blas::Side::Left, Uplo::Lower, 0.0F, a.view(), a.view(), 1.0F, c.view(), {Mode::Exact, view});
  EXPECT_EQ(bounds, std::vector<double>(9, 0));
  for (const Precision& other : {Precision(Mode::Native), Precision(Mode::Tf32x3), Precision::target(1e-3)}) {
    EXPECT_THROW(blas::syrk(e, Uplo::Lower, Op::N, 1.0F, a.view(), 0.0F, c.view(), {other, view}), NotImplemented);
  }
  const auto wrong = MatrixView<double>::row_major(e, bounds.data(), 3, 2);
  EXPECT_THROW(blas::syrk(e, Uplo::Lower, Op::N, 1.0F, a.view(), 0.0F, c.view(), {Mode::Exact, wrong}),
               InvalidArgument);
}

// With a target that ends in Exact every operand comes to the host once: to be measured. The rest of what comes are the
// words of the result. Without a target the scaling's errors take a second look.
TEST(ExactCertificate, ATargetDownloadsOperandsOnce) {
  const Executor e = Executor::open("sim:trn2");
  (void)blas::probe_exactness(e);
  for (const Operation op :
       {Operation::Gemm, Operation::Syrk, Operation::Syr2k, Operation::Syrkx, Operation::Symm, Operation::Trmm}) {
    for (const double beta : {0.0, 2.0}) {
      auto s = random_case<float>(op, 30, 20, 37, 65);
      s.beta = static_cast<float>(beta), s.precision = Precision::target(2e-7);
      const auto upload = [&](const std::vector<float>& x, std::pair<std::int64_t, std::int64_t> shape) {
        return Matrix<float>::from_host(e, shape.first, shape.second, x);
      };
      const auto a = upload(s.a, s.shape_a()), b = upload(s.b, s.shape_b()), c = upload(s.c, s.shape_c());
      const Recorder events(e);
      Accuracy kept;
      const blas::GemmOptions options{s.precision};
      switch (op) {
        case Operation::Gemm:
          kept = blas::gemm(e, Op::N, Op::N, s.alpha, a.view(), b.view(), s.beta, c.view(), options);
          break;
        case Operation::Syrk:
          kept = blas::syrk(e, s.uplo, Op::N, s.alpha, a.view(), s.beta, c.view(), options);
          break;
        case Operation::Syr2k:
          kept = blas::syr2k(e, s.uplo, Op::N, s.alpha, a.view(), b.view(), s.beta, c.view(), options);
          break;
        case Operation::Syrkx:
          kept = blas::syrkx(e, s.uplo, Op::N, s.alpha, a.view(), b.view(), s.beta, c.view(), options);
          break;
        case Operation::Symm:
          kept = blas::symm(e, s.side, s.uplo, s.alpha, a.view(), b.view(), s.beta, c.view(), options);
          break;
        default:
          kept = blas::trmm(e, s.side, s.uplo, Op::N, s.diag, s.alpha, a.view(), b.view(), c.view(), options);
      }
      SCOPED_TRACE(::testing::Message() << kOperationNames[static_cast<int>(op)] << ", beta " << beta);
      EXPECT_EQ(kept.mode, Mode::Exact);
      EXPECT_LE(kept.bound, 2e-7);
      const auto downloads = [&](const std::vector<float>& x) {
        const auto bytes = static_cast<std::int64_t>(x.size() * sizeof(float));
        return std::ranges::count_if(events.events(), [&](const Event& event) {
          return event.kind == EventKind::Copy && event.subject == "sim:trn2 -> host" && event.bytes == bytes;
        });
      };
      const bool alike = s.a.size() == s.b.size() && op != Operation::Syrk;
      EXPECT_EQ(downloads(s.a), alike ? 2 : 1);
      const bool with_c = op == Operation::Symm && beta != 0;  // which has B's size
      if (op != Operation::Syrk && !alike) {
        EXPECT_EQ(downloads(s.b), with_c ? 2 : 1);
      }
      EXPECT_EQ(judge(s, {c.to_host(), {}, kept}).finding, "");
    }
  }
}

// A target that an underflow of the result misses is refused. An overflow is infinite.
TEST(ExactCertificate, TargetsAndTheRangeOfTheResult) {
  const Executor e = Executor::open("sim:trn2");
  const auto square = [&](double size, double& result) {
    const auto a = Matrix<double>::from_host(e, 1, 1, std::vector{size}),
               c = Matrix<double>::from_host(e, 1, 1, std::vector{7.0});
    const Accuracy kept =
        blas::gemm(e, Op::N, Op::N, 1.0, a.view(), a.view(), 0.0, c.view(), {.precision = Precision::target(1e-10)});
    result = c.to_host().front();
    return kept.bound;
  };
  double result = 0;
  EXPECT_IN("bound of 1e-10", testing_support::message_of<InvalidArgument>([&] { (void)square(1e-170, result); }));
  EXPECT_LE(square(1e170, result), 1e-10);
  EXPECT_EQ(result, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace trn::test
