// Precision Exact against __float128: accuracy, the certificate, the same bits everywhere, and what dgemm does with
// special values.
#include "gemm_support.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>

#include <trn/neuron/sim.hpp>

namespace trn::blas::test {
namespace {

using Complex = std::complex<double>;

// Dense row-major operands of one product.
struct Problem {
  std::int64_t m, n, k;
  std::vector<double> a, b;
};

enum class Kind { Random, Graded, Hilbert, Cancelling };

Problem problem(Kind kind, std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed) {
  Problem p{m, n, k, std::vector<double>(static_cast<std::size_t>(m * k)),
            std::vector<double>(static_cast<std::size_t>(k * n))};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> exponent(-200, 200);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t q = 0; q < k; ++q) {
      double& x = p.a[static_cast<std::size_t>(i * k + q)];
      x = kind == Kind::Hilbert ? 1.0 / static_cast<double>(i + q + 1) : normal(random);
      if (kind == Kind::Graded) x = std::ldexp(x, exponent(random));
    }
  }
  for (std::int64_t q = 0; q < k; ++q) {
    for (std::int64_t j = 0; j < n; ++j) {
      double& x = p.b[static_cast<std::size_t>(q * n + j)];
      x = kind == Kind::Hilbert ? 1.0 / static_cast<double>(q + j + 1) : normal(random);
      if (kind == Kind::Graded) x = std::ldexp(x, exponent(random));
      // The second half of a row of A repeats the first with a perturbation of 1e-10, the second half of B its
      // negative.
      if (kind == Kind::Cancelling && q >= k / 2 && q - k / 2 < k / 2)
        x = -p.b[static_cast<std::size_t>((q - k / 2) * n + j)];
    }
  }
  if (kind == Kind::Cancelling) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t q = k / 2; q < 2 * (k / 2); ++q) {
        p.a[static_cast<std::size_t>(i * k + q)] =
            p.a[static_cast<std::size_t>(i * k + q - k / 2)] * (1 + 1e-10 * normal(random));
      }
    }
  }
  return p;
}

struct Outcome {
  std::vector<double> c, bounds;
  Accuracy accuracy;
};

Outcome multiply(const Executor& e, const Problem& p, Precision precision = Mode::Exact) {
  const auto a = Matrix<double>::from_host(e, p.m, p.k, p.a), b = Matrix<double>::from_host(e, p.k, p.n, p.b);
  const Matrix<double> c(e, p.m, p.n);
  Outcome o;
  o.bounds.resize(static_cast<std::size_t>(p.m * p.n));
  Recorder recorder(e);
  o.accuracy = gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view(),
                    {precision, MatrixView<double>::row_major(Executor::host(), o.bounds.data(), p.m, p.n)});
  EXPECT_EQ(recorder.family_of("blas.gemm"), name(e.family()));
  EXPECT_EQ(recorder.count(EventKind::Run, "blas_exact") > 0, e.family() == Family::Device);
  o.c = c.to_host();
  return o;
}

std::vector<Quad> reference(const Problem& p) {
  std::vector<Quad> c(static_cast<std::size_t>(p.m * p.n), 0);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t q = 0; q < p.k; ++q) {
      const Quad x = p.a[static_cast<std::size_t>(i * p.k + q)];
      for (std::int64_t j = 0; j < p.n; ++j)
        c[static_cast<std::size_t>(i * p.n + j)] += x * p.b[static_cast<std::size_t>(q * p.n + j)];
    }
  }
  return c;
}

double magnitude(Quad x) { return static_cast<double>(x < 0 ? -x : x); }

// Frobenius error, the bound kept everywhere, and its median overestimate.
struct Judgement {
  double frobenius, worst_of_bound, median_overestimate;
};
Judgement judge(const Problem& p, const Outcome& o) {
  const auto exact = reference(p);
  double squares = 0, size = 0, worst = 0;
  std::vector<double> ratios;
  double unit = 0;  // of the norms, so that squares of 2^400 do not overflow
  for (const Quad x : exact) unit = std::max(unit, magnitude(x));
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = magnitude(exact[i] - static_cast<Quad>(o.c[i]));
    squares += (error / unit) * (error / unit);
    size += magnitude(exact[i] / unit) * magnitude(exact[i] / unit);
    worst = std::max(worst, error / o.bounds[i]);
    if (error > 0) ratios.push_back(o.bounds[i] / error);
  }
  std::ranges::sort(ratios);
  return {std::sqrt(squares / size), worst, ratios.empty() ? 1 : ratios[ratios.size() / 2]};
}

TEST(Exact, HostErrorAndCertificate) {
  for (const Kind kind : {Kind::Random, Kind::Graded, Kind::Hilbert, Kind::Cancelling}) {
    for (const std::int64_t k : {1, 7, 130, 2049, 16384}) {
      const Problem p = problem(kind, 6, 7, k, 11);
      const Outcome o = multiply(Executor::host(), p);
      const Judgement j = judge(p, o);
      SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(kind) << " k " << k << " moduli "
                                        << o.accuracy.passes);
      EXPECT_LE(j.worst_of_bound, 1.0);
      EXPECT_LE(j.median_overestimate, 100.0);
      EXPECT_LE(j.frobenius, kind == Kind::Cancelling ? 1 : 2e-16);
      EXPECT_LE(o.accuracy.bound, 2e-16);
    }
  }
}

TEST(Exact, DeviceErrorAndCertificate) {
  const Executor e = Executor::open("sim:trn2");
  for (const Kind kind : {Kind::Random, Kind::Graded, Kind::Hilbert, Kind::Cancelling}) {
    for (const std::int64_t k : {3, 300}) {
      const Problem p = problem(kind, 130, 5, k, 12);
      const Outcome o = multiply(e, p);
      const Judgement j = judge(p, o);
      SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(kind) << " k " << k << " moduli "
                                        << o.accuracy.passes);
      EXPECT_LE(j.worst_of_bound, 1.0);
      EXPECT_LE(j.median_overestimate, 100.0);
      EXPECT_LE(j.frobenius, kind == Kind::Cancelling ? 1 : 2e-16);
    }
  }
  const Problem deep = problem(Kind::Random, 3, 4, 16384, 13);
  const Judgement j = judge(deep, multiply(e, deep));
  EXPECT_LE(j.worst_of_bound, 1.0);
  EXPECT_LE(j.frobenius, 2e-16);
}

// One answer, whatever computes it: every executor, order and tiling (the machines' programs differ).
TEST(Exact, TheSameBitsEverywhere) {
  for (const Kind kind : {Kind::Random, Kind::Graded, Kind::Cancelling}) {
    const Problem p = kind == Kind::Random ? problem(kind, 12, 6, 2100, 14) : problem(kind, 130, 17, 140, 14);
    const Outcome host = multiply(Executor::host(), p);
    const auto same = [&](const Executor& e) {
      const Outcome o = multiply(e, p);
      EXPECT_EQ(std::memcmp(o.c.data(), host.c.data(), o.c.size() * sizeof(double)), 0)
          << e.name() << " kind " << static_cast<int>(kind);
      EXPECT_EQ(o.accuracy.bound, host.accuracy.bound);
      EXPECT_EQ(o.accuracy.passes, host.accuracy.passes);
    };
    for (const char* machine : {"trn1", "trn2", "trn3"})
      same(neuron::open_simulator(machine, {.order = neuron::Order::in_order()}));
    if (kind != Kind::Random) continue;
    for (const std::uint64_t seed : {1, 2, 3})
      same(neuron::open_simulator("trn2", {.order = neuron::Order::shuffled(seed)}));
    same(neuron::open_simulator("trn2", {.order = neuron::Order::in_order(), .check_races = true}));
  }
}

// Extents around the edges of tiles, banks and blocks, with alpha and beta: the device's bits are the host's.
TEST(Exact, TheSameBitsAcrossTheEdges) {
  const Executor host = Executor::host();
  for (const auto& extents : {std::array<std::int64_t, 3>{1, 1, 1},
                              {127, 128, 129},
                              {129, 31, 128},
                              {33, 127, 256},
                              {2, 513, 511},
                              {513, 2, 512},
                              {511, 129, 3}}) {
    const std::int64_t m = extents[0], n = extents[1], k = extents[2];
    const Problem p = problem(Kind::Graded, m, n, k, 19);
    const std::vector<double> old = problem(Kind::Random, m, 1, n, 20).a;
    const auto run = [&](const Executor& e) {
      const auto a = Matrix<double>::from_host(e, m, k, p.a), b = Matrix<double>::from_host(e, k, n, p.b),
                 c = Matrix<double>::from_host(e, m, n, old);
      Recorder recorder(e);
      gemm(e, Op::N, Op::N, 1.1, a.view(), b.view(), -0.3, c.view(), {.precision = Mode::Exact});
      EXPECT_EQ(recorder.family_of("blas.gemm"), name(e.family()));
      return c.to_host();
    };
    const auto expected = run(host);
    for (const char* machine : {"sim:trn2", "sim:trn1", "sim:trn3"}) {
      if (n > 128 && std::string_view(machine) != "sim:trn2") continue;
      const auto got = run(Executor::open(machine));
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)), 0)
          << machine << " " << m << " x " << n << " x " << k;
    }
  }
}

TEST(Exact, TargetsTakeFewerModuli) {
  const Problem p = problem(Kind::Random, 9, 9, 200, 15);
  const Executor e = Executor::open("sim:trn2");
  int last = 0;
  for (const double target : {1e-3, 1e-6, 1e-9, 1e-12, 3e-16}) {
    const Outcome o = multiply(e, p, Precision::target(target));
    EXPECT_EQ(o.accuracy.mode, Mode::Exact);
    EXPECT_LE(o.accuracy.bound, target);
    EXPECT_LE(judge(p, o).worst_of_bound, 1.0);
    EXPECT_GT(o.accuracy.passes, last);
    last = o.accuracy.passes;
  }
  EXPECT_THROW(multiply(e, p, Precision::target(1e-17)), InvalidArgument);
}

// Small integers need few moduli and have no error but the rounding, which is none.
TEST(Exact, IntegersAreExact) {
  Problem p = problem(Kind::Random, 20, 20, 64, 16);
  for (auto* x : {&p.a, &p.b}) std::ranges::transform(*x, x->begin(), [](double v) { return std::nearbyint(100 * v); });
  const Outcome o = multiply(Executor::open("sim:trn2"), p);
  EXPECT_LE(o.accuracy.passes, 5);
  const auto exact = reference(p);
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_EQ(o.c[i], static_cast<double>(exact[i]));
}

// Several blocks in every direction, whole ones and a rest; sums of integers below 2^53 are exact in double.
TEST(Exact, BlocksInEveryDirection) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1030, 515, 520}, {5, 1050, 1100}, {515, 3, 4200}}) {
    Problem p = problem(Kind::Random, m, n, k, 18);
    for (auto* x : {&p.a, &p.b})
      std::ranges::transform(*x, x->begin(), [](double v) { return std::nearbyint(30 * v); });
    const auto native = multiply(Executor::host(), p, Mode::Native).c;
    EXPECT_EQ(multiply(Executor::open("sim:trn2"), p).c, native) << m << " x " << n << " x " << k;
  }
}

template <class T> void general(const Executor& e, Op op_a, Op op_b, test::Layout layout) {
  const std::int64_t m = 37, n = 21, k = 29;
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  auto a = stored<T>(op_a == Op::N ? m : k, op_a == Op::N ? k : m, layout),
       b = stored<T>(op_b == Op::N ? k : n, op_b == Op::N ? n : k, layout);
  auto c = stored<T>(m, n, layout);
  using Part = Real<T>;
  const auto draw = [&] {
    if constexpr (ComplexScalar<T>)
      return T(static_cast<Part>(normal(random)), static_cast<Part>(normal(random)));
    else
      return static_cast<T>(normal(random));
  };
  for (auto* s : {&a, &b, &c}) std::ranges::generate(s->storage, draw);
  const OnDevice<T> da(e, a), db(e, b), dc(e, c);
  const T alpha = draw(), beta = draw();
  std::vector<double> bounds(static_cast<std::size_t>(m * n));
  const Accuracy accuracy = gemm(e, op_a, op_b, alpha, da.view, db.view, beta, dc.view,
                                 {Mode::Exact, MatrixView<double>::row_major(Executor::host(), bounds.data(), m, n)});
  EXPECT_EQ(accuracy.mode, Mode::Exact);
  auto result = c;
  result.storage = dc.array.to_host();
  using Long = std::complex<long double>;  // 64 bits resolve the errors of 53: the sums are short
  const auto element = [](const Stored<T>& x, Op op, std::int64_t i, std::int64_t j) {
    const T v = op == Op::N ? x.at(i, j) : x.at(j, i);
    if constexpr (ComplexScalar<T>)
      return op == Op::C ? std::conj(Long(v)) : Long(v);
    else
      return Long(v);
  };
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Long sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += element(a, op_a, i, p) * element(b, op_b, p, j);
      const Long expected = Long(alpha) * sum + Long(beta) * Long(c.at(i, j));
      const auto error = static_cast<double>(std::abs(expected - Long(result.at(i, j))));
      ASSERT_LE(error, 1.01 * bounds[static_cast<std::size_t>(i * n + j)] + 1e-18) << i << ", " << j;
    }
  }
}

TEST(Exact, EveryTypeTransposeAndLayout) {
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(name);
    for (const Op a : {Op::N, Op::T, Op::C}) {
      for (const Op b : {Op::N, Op::T, Op::C}) {
        const auto layout = kLayouts[(static_cast<int>(a) * 3 + static_cast<int>(b)) % std::size(kLayouts)];
        SCOPED_TRACE(::testing::Message() << name << " ops " << static_cast<int>(a) << static_cast<int>(b));
        general<double>(e, a, b, layout);
        general<Complex>(e, a, b, layout);
        general<float>(e, a, b, layout);
        general<std::complex<float>>(e, a, b, layout);
      }
    }
  }
}

// The ends of the exponent range, subnormals, infinities and NaN, as dgemm would have them.
TEST(Exact, SpecialValues) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN(),
                   tiny = 0x1p-1074, huge = 0x1p1023;
  for (const char* name : {"host", "sim:trn2"}) {
    SCOPED_TRACE(name);
    const Executor e = Executor::open(name);
    const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::vector<double> a,
                             std::vector<double> b) {
      return multiply(e, {m, n, k, std::move(a), std::move(b)}).c;
    };
    EXPECT_EQ(product(2, 1, 2, {3 * tiny, tiny, 1, 2}, {1, 2}), (std::vector<double>{5 * tiny, 5}));
    EXPECT_EQ(product(1, 1, 2, {tiny, 0x1p-1030}, {huge, huge}), (std::vector<double>{0x1p-51 + 0x1p-7}));
    EXPECT_EQ(product(1, 2, 1, {huge}, {2, 0x1p-1}), (std::vector<double>{inf, 0x1p1022}));
    EXPECT_EQ(product(1, 1, 2, {huge, -huge}, {4, 4}), (std::vector<double>{0}));  // no intermediate overflow
    const auto c = product(3, 2, 2, {inf, 1, 2, 3, nan, 1}, {1, 1, 1, -1});
    EXPECT_EQ(c[0], inf);
    EXPECT_EQ(c[1], inf);
    EXPECT_EQ(c[2], 5);
    EXPECT_EQ(c[3], -1);
    EXPECT_TRUE(std::isnan(c[4]) && std::isnan(c[5]));
    EXPECT_TRUE(std::isnan(product(1, 1, 2, {inf, 1}, {0, 1})[0]));
  }
}

// Extents that the host's dgemm cannot count are refused before anything is read.
TEST(Exact, ExtentsBeyondTheHostBlas) {
  const Executor e = Executor::host();
  double c = 7;
  const auto* nowhere = reinterpret_cast<const double*>(64);  // not to be read
  const std::int64_t k = std::int64_t{1} << 31;
  const MatrixView<const double> a(e, nowhere, 1, k, 0, 0), b(e, nowhere, k, 1, 0, 0);
  try {
    gemm(e, Op::N, Op::N, 1.0, a, b, 0.0, MatrixView<double>(e, &c, 1, 1, 1, 1), {.precision = Mode::Exact});
    FAIL() << "not refused";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("needs extents of 2147483648, the host BLAS takes at most 2147483647"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(c, 7);
}

TEST(Exact, ScalarsAndEmptyExtents) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(name);
    const auto run = [&](std::int64_t k, double alpha, double beta, double old) {
      const std::vector<double> x(static_cast<std::size_t>(4 * k), alpha == 0 ? nan : 1.5), c0(16, old);
      const auto a = Matrix<double>::from_host(e, 4, k, x), b = Matrix<double>::from_host(e, k, 4, x);
      const auto c = Matrix<double>::from_host(e, 4, 4, c0);
      gemm(e, Op::N, Op::N, alpha, a.view(), b.view(), beta, c.view(), {.precision = Mode::Exact});
      return c.to_host()[5];
    };
    EXPECT_EQ(run(0, 1, -2, 3), -6);
    EXPECT_EQ(run(0, 1, 0, nan), 0);
    EXPECT_EQ(run(3, 0, 2, 3), 6);
    EXPECT_EQ(run(3, 2, 0, nan), 13.5);
    EXPECT_EQ(run(3, 2, 1, 1), 14.5);
  }
}

}  // namespace
}  // namespace trn::blas::test
