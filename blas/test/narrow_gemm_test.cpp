// gemm that rounds its 16-bit or 8-bit C stochastically: the rule in double, the same bits on host and devices where
// the sums are exact, whatever the transposes, leading dimensions and factors; the bound; what is refused.
#include "narrow_support.hpp"

#include <gtest/gtest.h>

#include <trn/core/event.hpp>

namespace trn::blas::test {
namespace {

const Executor kHost = Executor::host();

struct Case {
  std::int64_t m, n, k;
  Op op_a, op_b;
  float alpha, beta;
  std::int64_t gap = 0;       // beyond the rows of C
  bool column_major = false;  // C
};

// Small integers, so that every sum is exact in fp32 in any order; C is tenths rounded to T.
template <class T, class In = T> struct Problem {
  Case c;
  std::vector<In> a, b;
  std::vector<T> start;
  explicit Problem(const Case& given) : c(given) {
    std::mt19937_64 engine(17);
    const auto fill = [&]<class V>(std::vector<V>& v, std::int64_t size, float scale) {
      for (std::int64_t i = 0; i < size; ++i) v.emplace_back(static_cast<float>(engine() % 31) * scale - 15 * scale);
    };
    fill(a, c.m * c.k, 1), fill(b, c.k * c.n, 1), fill(start, c_size(), 0.1f);
  }
  std::int64_t ld() const { return (c.column_major ? c.m : c.n) + c.gap; }
  std::int64_t c_size() const { return ld() * (c.column_major ? c.n : c.m); }
  std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(c.column_major ? i + j * ld() : i * ld() + j);
  }

  std::vector<T> run(const Executor& e, const Rounding& rounding, Accuracy* accuracy = nullptr) const {
    const auto da = Array<In>::from_host(e, {std::ssize(a)}, a), db = Array<In>::from_host(e, {std::ssize(b)}, b);
    const auto dc = Array<T>::from_host(e, {std::ssize(start)}, start);
    const std::int64_t ar = c.op_a == Op::N ? c.m : c.k, ac = c.op_a == Op::N ? c.k : c.m,
                       br = c.op_b == Op::N ? c.k : c.n, bc = c.op_b == Op::N ? c.n : c.k;
    const MatrixView<T> out(e, dc.data(), c.m, c.n, c.column_major ? 1 : ld(), c.column_major ? ld() : 1);
    const Accuracy got = gemm(e, c.op_a, c.op_b, c.alpha, MatrixView<const In>::row_major(e, da.data(), ar, ac),
                              MatrixView<const In>::row_major(e, db.data(), br, bc), c.beta, out, rounding);
    if (accuracy) *accuracy = got;
    return dc.to_host();
  }

  // The number in fp32 that is rounded, and C after the rounding by the rule.
  float before(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t p = 0; p < c.k; ++p) {
      sum += static_cast<double>(
                 static_cast<float>(a[static_cast<std::size_t>(c.op_a == Op::N ? i * c.k + p : p * c.m + i)])) *
             static_cast<double>(
                 static_cast<float>(b[static_cast<std::size_t>(c.op_b == Op::N ? p * c.n + j : j * c.k + p)]));
    }
    const float product = c.alpha * static_cast<float>(sum), old = c.beta * static_cast<float>(start[at(i, j)]);
    if (c.alpha == 0 || c.k == 0) return c.beta == 0 ? 0.0f : old;
    return c.beta == 0 ? product : product + old;
  }
  std::vector<T> want(const Rounding::Stochastic& how) const {
    const std::int64_t row = (c.n + 3) / 4 * 4;
    const auto words = words_of(how.seed, how.step, c.m * row);
    std::vector<T> result = start;
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j)
        result[at(i, j)] =
            T(expected_rounding(before(i, j), format_of<T>(), words[static_cast<std::size_t>(i * row + j)]));
    }
    return result;
  }
};

constexpr Case kCases[] = {{1, 1, 1, Op::N, Op::N, 0.3f, 0},          {5, 7, 9, Op::N, Op::N, 0.3f, 1},
                           {130, 12, 40, Op::T, Op::N, 0.7f, 0},      {33, 130, 20, Op::N, Op::T, 0.7f, 0.3f},
                           {130, 10, 8, Op::N, Op::N, 0.1f, 0.9f, 3}, {17, 21, 6, Op::T, Op::T, 0.1f, 1, 2, true},
                           {9, 6, 0, Op::N, Op::N, 1, 0.3f},          {9, 6, 4, Op::N, Op::N, 0, 0}};

template <class T> void every_case(const char* machine) {
  const auto e = Executor::open(machine);
  const Rounding::Stochastic how{77, 2};
  for (const Case& c : kCases) {
    const Problem<T> problem(c);
    const Recorder recorder(e);
    Accuracy accuracy;
    const auto got = problem.run(e, how, &accuracy), want = problem.want(how);
    EXPECT_EQ(recorder.family_of("blas.gemm"), name(e.family()));
    EXPECT_EQ(recorder.family_of("blas.round"), name(e.family()));
    if (e.family() == Family::Device) {
      EXPECT_EQ(recorder.count(EventKind::Run), 2) << "product and rounding, both on the device";
    }
    const double u = unit_roundoff(dtype_of<T>);
    EXPECT_GT(accuracy.bound, 2 * u);
    EXPECT_LT(accuracy.bound, 2 * u + 1e-3 * u + 1e-4);
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(got[i].bits, want[i].bits) << e.name() << " " << c.m << " x " << c.n << " at " << i;
  }
}

TEST(NarrowGemm, FollowsTheRuleOnTheHost) { every_case<bfloat16>("host"), every_case<float16>("host"); }
TEST(NarrowGemm, SameBitsOnTrn1) { every_case<bfloat16>("sim:trn1"); }
TEST(NarrowGemm, SameBitsOnTrn2) { every_case<bfloat16>("sim:trn2"), every_case<float16>("sim:trn2"); }
TEST(NarrowGemm, SameBitsOnTrn3) { every_case<float16>("sim:trn3"); }

// C in 8 bits, of operands of the type In. Numbers beyond its largest are among the results.
template <class T, class In> void every_float8_case(const char* machine) {
  const auto e = Executor::open(machine);
  const Rounding::Stochastic how{78, 1};
  for (const Case& c : kCases) {
    const Problem<T, In> problem(c);
    const Recorder recorder(e);
    Accuracy accuracy;
    const auto got = problem.run(e, how, &accuracy), want = problem.want(how);
    EXPECT_EQ(recorder.family_of(sizeof(In) == 1 ? "blas.scaled_gemm" : "blas.gemm"), name(e.family()));
    EXPECT_EQ(recorder.family_of("blas.round"), name(e.family()));
    EXPECT_NEAR(accuracy.bound, 2 * unit_roundoff(dtype_of<T>), 1e-4);
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_TRUE(same_number(static_cast<float>(got[i]), static_cast<float>(want[i])))
          << e.name() << " " << c.m << " x " << c.n << " at " << i << ": " << static_cast<float>(got[i]) << " for "
          << static_cast<float>(want[i]);
  }
}
TEST(NarrowGemm, IntoEightBitsOnTheHost) {
  every_float8_case<float8_e4m3, bfloat16>("host"), every_float8_case<float8_e4m3fn, float>("host");
  every_float8_case<float8_e5m2, float16>("host"), every_float8_case<float8_e5m2, float8_e4m3>("host");
}
TEST(NarrowGemm, IntoEightBitsOnDevices) {
  every_float8_case<float8_e5m2, bfloat16>("sim:trn1"), every_float8_case<float8_e4m3, float>("sim:trn2");
  every_float8_case<float8_e4m3, float8_e4m3>("sim:trn2"), every_float8_case<float8_e4m3fn, float16>("sim:trn3");
}
// To nearest, and what is refused.
TEST(NarrowGemm, IntoEightBitsToNearestAndRefusals) {
  const Problem<float8_e4m3, bfloat16> problem({33, 13, 20, Op::N, Op::N, 0.07f, 0.3f});
  Accuracy accuracy;
  const auto got = problem.run(kHost, Rounding::Nearest{}, &accuracy);
  EXPECT_NEAR(accuracy.bound, unit_roundoff(DType::Float8E4M3), 1e-4);
  for (std::int64_t i = 0; i < 33; ++i) {
    for (std::int64_t j = 0; j < 13; ++j)
      EXPECT_EQ(got[problem.at(i, j)].bits, float8_e4m3(problem.before(i, j)).bits) << i << " " << j;
  }
  std::vector<float8_e4m3> x(4, float8_e4m3(1.0f)), w(4);
  const MatrixView<const float8_e4m3> a(kHost, x.data(), 2, 2, 2, 1);
  const auto multiply = [&](const MatrixView<float8_e4m3>& out) {
    return gemm(kHost, Op::N, Op::N, 1.0f, a, a, 0.0f, out, Rounding::Stochastic{1});
  };
  EXPECT_NO_THROW(multiply({kHost, w.data(), 2, 2, 2, 1}));
  EXPECT_THROW(multiply({kHost, w.data(), 2, 1, 2, 1}), InvalidArgument);
  EXPECT_THROW(multiply({kHost, w.data(), 2, 2, 0, 1}), InvalidArgument);
  EXPECT_THROW(multiply({kHost, x.data(), 2, 2, 2, 1}), InvalidArgument);
}

// Rows of C that are longer than a tile and do not follow one another in whole blocks are taken one by one.
TEST(NarrowGemm, LongRowsOnTheDevice) {
  const Problem<bfloat16> problem({3, 4099, 2, Op::N, Op::N, 0.3f, 1});
  const Rounding::Stochastic how{5};
  const auto got = problem.run(Executor::open("sim:trn2"), how), want = problem.want(how);
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(got[i].bits, want[i].bits) << i;
}

// The mean over steps of one element of C is its fp32 value: within five standard deviations, at most half a unit each.
TEST(NarrowGemm, MeanOverStepsIsTheProduct) {
  const Problem<bfloat16> problem({4, 4, 3, Op::N, Op::N, 0.013f, 0.7f});
  std::vector<double> mean(16);
  constexpr int kSteps = 4000;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    const auto c = problem.run(kHost, Rounding::Stochastic{21, step});
    for (std::size_t i = 0; i < 16; ++i) mean[i] += static_cast<double>(static_cast<float>(c[i])) / kSteps;
  }
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      const double exact = problem.before(i, j), unit = exact == 0 ? 0 : std::ldexp(1.0, std::ilogb(exact) - 7);
      EXPECT_NEAR(mean[problem.at(i, j)], exact, 5 * unit / 2 / std::sqrt(kSteps)) << i << " " << j;
    }
  }
}

TEST(NarrowGemm, NearestIsGemmAndTheRestIsRefused) {
  const Problem<bfloat16> problem({33, 13, 20, Op::N, Op::N, 0.7f, 0.3f});
  const auto got = problem.run(kHost, Rounding::Nearest{});
  for (std::int64_t i = 0; i < 33; ++i) {
    for (std::int64_t j = 0; j < 13; ++j)
      EXPECT_EQ(got[problem.at(i, j)].bits, bfloat16(problem.before(i, j)).bits) << i << " " << j;
  }
  std::vector<bfloat16> x(4, bfloat16(1.0f)), w(4);
  const MatrixView<const bfloat16> a(kHost, x.data(), 2, 2, 2, 1);
  const MatrixView<bfloat16> c(kHost, w.data(), 2, 2, 2, 1);
  const auto multiply = [&](const MatrixView<bfloat16>& out, Precision precision) {
    return gemm(kHost, Op::N, Op::N, 1.0f, a, a, 0.0f, out, Rounding::Stochastic{1}, precision);
  };
  EXPECT_THROW(multiply(c, Precision::target(0.1)), NotImplemented);
  EXPECT_THROW(multiply(c, Mode::Tf32), NotImplemented);
  EXPECT_THROW(multiply({kHost, w.data(), 2, 1, 2, 1}, {}), InvalidArgument);
  EXPECT_THROW(multiply({kHost, w.data(), 2, 2, 0, 1}, {}), InvalidArgument);
  EXPECT_THROW(multiply({kHost, x.data(), 2, 2, 2, 1}, {}), InvalidArgument);
}

// A copy back to float changes no number, whatever the strides.
template <class T> void widens(const char* machine) {
  const auto e = Executor::open(machine);
  std::vector<T> codes;
  for (const float x : every_kind<T>(1500, 3)) codes.emplace_back(x);
  for (const std::int64_t stride : {1, 3}) {
    const std::int64_t n = std::ssize(codes) / stride;
    const auto x = Array<T>::from_host(e, {std::ssize(codes)}, codes);
    const Array<float> y(e, {2 * n});
    const Recorder recorder(e);
    copy(e, VectorView<T>(e, x.data(), n, stride), VectorView<float>(e, y.data(), n, stride == 1 ? 1 : 2));
    EXPECT_EQ(recorder.family_of("blas.round"), name(e.family()));
    const auto got = y.to_host();
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_TRUE(same_number(got[static_cast<std::size_t>(stride == 1 ? i : 2 * i)],
                              static_cast<float>(codes[static_cast<std::size_t>(i * stride)])))
          << machine << " stride " << stride << " at " << i;
    }
  }
}
TEST(NarrowCopy, BackToFloatIsExact) {
  widens<bfloat16>("host"), widens<float8_e5m2>("host"), widens<float8_e4m3fn>("host");
  widens<bfloat16>("sim:trn1"), widens<float16>("sim:trn2"), widens<float8_e4m3>("sim:trn2");
  widens<float8_e4m3fn>("sim:trn3");
  EXPECT_THROW(widens<float8_e4m3fn>("sim:trn2"), NotImplemented);
}

// scaled_gemm and mx_gemm with a rounding: the rule applied to alpha S + beta C, S exact here because operands are
// small integers, which every format has, and scales powers of two.
struct Rounded {
  static constexpr std::int64_t kM = 9, kN = 14, kK = 160;
  std::vector<float> a, b, c;
  Rounded() {
    std::mt19937_64 engine(4);
    for (std::int64_t i = 0; i < kM * kK; ++i) a.push_back(static_cast<float>(engine() % 7) - 3);
    for (std::int64_t i = 0; i < kN * kK; ++i) b.push_back(static_cast<float>(engine() % 7) - 3);
    for (std::int64_t i = 0; i < kM * kN; ++i) c.push_back(static_cast<float>(engine() % 9) - 4);
  }
  // Rows of B^T along k; `scale` multiplies row i of A.
  float before(std::int64_t i, std::int64_t j, float scale, float alpha, float beta) const {
    double sum = 0;
    for (std::int64_t p = 0; p < kK; ++p)
      sum += static_cast<double>(a[static_cast<std::size_t>(i * kK + p)]) * b[static_cast<std::size_t>(j * kK + p)];
    return alpha * (scale * static_cast<float>(sum)) + beta * c[static_cast<std::size_t>(i * kN + j)];
  }
  template <class C> void expect(const char* machine, const std::vector<C>& got, float alpha, float beta,
                                 const Rounding::Stochastic& how, bool scaled) const {
    const auto words = words_of(how.seed, how.step, kM * 16);
    for (std::int64_t i = 0; i < kM; ++i) {
      for (std::int64_t j = 0; j < kN; ++j) {
        const float want =
            expected_rounding(before(i, j, scaled ? std::ldexp(1.0F, static_cast<int>(i % 3)) : 1, alpha, beta),
                              format_of<C>(), words[static_cast<std::size_t>(i * 16 + j)]);
        ASSERT_TRUE(same_number(static_cast<float>(got[static_cast<std::size_t>(i * kN + j)]), want))
            << machine << " " << i << " " << j;
      }
    }
  }
  template <class T> std::vector<T> as(const std::vector<float>& x) const { return {x.begin(), x.end()}; }
};

template <class C> void scaled_product(const char* machine, const Rounding& rounding, std::vector<C>& result) {
  const Rounded r;
  const auto e = Executor::open(machine);
  std::vector<float> scales;
  for (std::int64_t i = 0; i < r.kM; ++i) scales.push_back(std::ldexp(1.0F, static_cast<int>(i % 3)));
  const auto a = Array<float8_e4m3>::from_host(e, {r.kM, r.kK}, r.as<float8_e4m3>(r.a)),
             b = Array<float8_e4m3>::from_host(e, {r.kN, r.kK}, r.as<float8_e4m3>(r.b));
  const auto s = Array<float>::from_host(e, {r.kM}, scales);
  const auto c = Array<C>::from_host(e, {r.kM, r.kN}, r.as<C>(r.c));
  ScaledOptions options;
  options.scale_a = MatrixView<const float>::row_major(e, s.data(), r.kM, 1);
  const Recorder recorder(e);
  scaled_gemm(e, Op::N, Op::T, 0.3F, MatrixView<const float8_e4m3>::row_major(e, a.data(), r.kM, r.kK),
              MatrixView<const float8_e4m3>::row_major(e, b.data(), r.kN, r.kK), 0.7F,
              MatrixView<C>::row_major(e, c.data(), r.kM, r.kN), rounding, options);
  EXPECT_EQ(recorder.family_of("blas.scaled_gemm"), name(e.family()));
  EXPECT_EQ(recorder.count(EventKind::Dispatch, "blas.round"), rounding.is_stochastic() || sizeof(C) == 1 ? 1 : 0);
  result = c.to_host();
}
template <class C> void scaled_product(const char* machine) {
  std::vector<C> got;
  const Rounding::Stochastic how{9, 3};
  scaled_product<C>(machine, how, got);
  Rounded().expect<C>(machine, got, 0.3F, 0.7F, how, true);
}
TEST(NarrowGemm, ScaledProductsRoundStochastically) {
  scaled_product<bfloat16>("host"), scaled_product<float16>("host"), scaled_product<float8_e5m2>("host");
  scaled_product<bfloat16>("sim:trn2"), scaled_product<float8_e4m3>("sim:trn2"), scaled_product<float16>("sim:trn3");
  std::vector<bfloat16> nearest, there;
  scaled_product<bfloat16>("host", {}, nearest), scaled_product<bfloat16>("sim:trn2", {}, there);
  for (std::size_t i = 0; i < nearest.size(); ++i) EXPECT_EQ(nearest[i].bits, there[i].bits);
}

template <class C> void mx_product(const char* machine) {
  const Rounded r;
  const auto e = Executor::open(machine);
  const auto matrix = [&](const std::vector<float>& x, std::int64_t rows) {
    const auto narrow = Array<bfloat16>::from_host(e, {rows, r.kK}, r.as<bfloat16>(x));
    return mx_quantize(e, MatrixView<const bfloat16>::row_major(e, narrow.data(), rows, r.kK), MxType::Float8E4M3FN);
  };
  const auto c = Array<C>::from_host(e, {r.kM, r.kN}, r.as<C>(r.c));
  const Rounding::Stochastic how{11};
  const Recorder recorder(e);
  const Accuracy accuracy = mx_gemm(e, 0.3F, matrix(r.a, r.kM), matrix(r.b, r.kN), 0.7F,
                                    MatrixView<C>::row_major(e, c.data(), r.kM, r.kN), how);
  EXPECT_EQ(recorder.family_of("blas.mx_gemm"), name(e.family()));
  EXPECT_EQ(recorder.family_of("blas.round"), name(e.family()));
  EXPECT_NEAR(accuracy.bound, 2 * unit_roundoff(dtype_of<C>), 1e-4);
  Rounded().expect<C>(machine, c.to_host(), 0.3F, 0.7F, how, false);
}
TEST(NarrowGemm, MicroscalingProductsRoundStochastically) {
  mx_product<bfloat16>("host"), mx_product<float8_e5m2>("host");
  mx_product<bfloat16>("sim:trn3"), mx_product<float8_e4m3fn>("sim:trn3");
}

}  // namespace
}  // namespace trn::blas::test
