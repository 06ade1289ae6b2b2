// The far ends: lengths and strides near the limits of 64 bits, empty batches, windows of any size, one plan and one
// cache in several threads.
#include "fft_support.hpp"

#include <limits>
#include <thread>

#include <trn/fft/frequencies.hpp>
#include <trn/fft/plan_cache.hpp>
#include <trn/fft/stft.hpp>

namespace trn::fft::test {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(Edges, AnAxisThatNobodyCanHoldIsRefusedAtOnce) {
  const Executor e = Executor::host();
  const Description d = dense(Kind::ComplexToComplex, Direction::Forward, {(std::int64_t{1} << 36) + 1});
  EXPECT_IN("the longest that is planned is 2^36", message_of<InvalidArgument>([&] { Plan<float>(e, d); }));
  EXPECT_IN("the longest that is planned is 2^36",
            message_of<InvalidArgument>([&] { Plan<float>(Executor::open("sim:trn2"), d); }));
}

TEST(Edges, StridesOfSinglePointsMayBeAnything) {
  const Executor e = Executor::host();
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, {4});
  d.batch = {{1, kMax, std::numeric_limits<std::int64_t>::min()}};
  d.axes.insert(d.axes.begin(), {1, std::numeric_limits<std::int64_t>::min(), kMax});
  const std::vector<std::complex<double>> x{1, 2, 3, 4};
  std::vector<std::complex<double>> y(4);
  Plan<double>(e, d).execute(View<const std::complex<double>>(e, x.data(), {4}),
                             View<std::complex<double>>(e, y.data(), {4}));
  EXPECT_EQ(y[0], 10.0);
  EXPECT_EQ(y[1], std::complex<double>(-2, 2));
}

// 2^62 transforms 2^62 elements apart: the bytes between the ends do not fit 128 bits, and taken modulo 2^128 they are
// few.
TEST(Edges, SpansBeyond128BitsAreRefused) {
  const std::int64_t huge = std::int64_t{1} << 62;
  const auto refused = [](const Description& d) {
    return message_of<InvalidArgument>([&] { Plan<double>(Executor::host(), d); });
  };
  EXPECT_IN("spans more than 2^63 - 1 bytes",
            refused({Kind::ComplexToComplex, Direction::Forward, {{1, 1, 1}}, {{huge, huge, 1}}}));
  EXPECT_IN("spans more than 2^63 - 1 bytes",
            refused({Kind::ComplexToComplex, Direction::Forward, {{1, 1, 1}}, {{huge, 0, huge}}}));
  EXPECT_IN("spans more than 2^63 - 1 bytes",
            refused({Kind::ComplexToComplex, Direction::Forward, {{1, 1, 1}}, {{huge, 0, -huge}}}));
  EXPECT_IN("more than 2^63 - 1 points",
            refused({Kind::ComplexToComplex, Direction::Forward, {{2, 1, 1}}, {{huge, 2, 2}}}));
}

TEST(Edges, AnEmptyBatchDoesNotHideStrides) {
  const Description d{Kind::ComplexToComplex, Direction::Forward, {{4, kMax, kMax}}, {{0, 1, 1}}};
  EXPECT_IN("spans more than 2^63 - 1 bytes", message_of<InvalidArgument>([&] { Plan<float>(Executor::host(), d); }));
}

TEST(Edges, PaddedRowsOfTheLongestLengthOverflow) {
  EXPECT_IN("overflow 64 bits", message_of<InvalidArgument>([] {
              (void)dense(Kind::RealToComplex, Direction::Forward, {kMax}, {.padded_real = true});
            }));
}

TEST(Edges, APlanThatWasMovedFromSaysSo) {
  const Executor e = Executor::host();
  using C = std::complex<double>;
  Plan<double> plan(e, dense(Kind::ComplexToComplex, Direction::Forward, {4}));
  const Plan<double> moved = std::move(plan);
  const std::vector<C> x{1, 2, 3, 4};
  std::vector<C> y(4);
  const auto refused = [&](const auto& call) {
    EXPECT_IN("this plan was moved from", message_of<InvalidArgument>(call));
  };
  refused([&] { plan.execute(x.data(), y.data()); });
  refused([&] { plan.execute(View<const C>(e, x.data(), {4}), View<C>(e, y.data(), {4})); });
  refused([&] { (void)plan.accuracy(); });
  refused([&] { (void)plan.workspace_bytes(); });
  refused([&] { (void)plan.description(); });
  moved.execute(x.data(), y.data());
  EXPECT_EQ(y[0], 10.0);
}

// Inputs may repeat (stride 0) and run backwards; outputs may run backwards.
TEST(Edges, StridesOfZeroAndBackwards) {
  const Executor e = Executor::host();
  const std::complex<double> one[] = {{2, 1}};
  std::vector<std::complex<double>> y(12, -1);
  const Plan<double> equal(e, {Kind::ComplexToComplex, Direction::Forward, {{3, 0, -1}}, {{4, 0, 3}}});
  equal.execute(View<const std::complex<double>>(e, one, {1}),
                View<std::complex<double>>(e, y.data() + 2, {10, 3}, {1, -1}));
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(y[i], i % 3 == 2 ? std::complex<double>(6, 3) : 0.0) << i;
  EXPECT_IN("elements that overlap", message_of<InvalidArgument>([&] {
              Plan<double>(e, {Kind::ComplexToComplex, Direction::Forward, {{3, 1, 0}}});
            }));
}

// The definition says NaN or infinity in every result; which is not promised, but not that nothing shows.
TEST(Edges, ValuesThatAreNotFiniteShowInTheirTransformAlone) {
  const Executor e = Executor::host();
  for (const std::int64_t n : {1, 2, 7, 16, 61, 67, 100, 257, 1000, 1021, 4096}) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      std::vector<double> x(static_cast<std::size_t>(3 * n), 1.0);
      x[static_cast<std::size_t>(n + n / 2)] = bad;
      std::vector<std::complex<double>> y(static_cast<std::size_t>(3 * (n / 2 + 1)));
      Plan<double>(e, dense(Kind::RealToComplex, Direction::Forward, {n}, {.batch = 3})).execute(x.data(), y.data());
      for (std::int64_t b = 0; b < 3; ++b) {
        for (std::int64_t k = 0; k <= n / 2; ++k) {
          const auto z = y[static_cast<std::size_t>(b * (n / 2 + 1) + k)];
          EXPECT_EQ(std::isfinite(z.real()) && std::isfinite(z.imag()), b != 1)
              << "n = " << n << ", " << b << ", " << k;
        }
      }
    }
  }
}

TEST(Edges, KaiserWindowsOfAnyBetaEnd) {
  EXPECT_IN("beta is 1e+300",
            message_of<InvalidArgument>([] { (void)window(WindowKind::Kaiser, 8, {.beta = 1e300}); }));
  EXPECT_IN("beta is nan",
            message_of<InvalidArgument>([] { (void)window(WindowKind::Kaiser, 8, {.beta = std::nan("")}); }));
  EXPECT_EQ(window(WindowKind::Kaiser, 9, {.beta = 1e8})[0], 0);
}

// Two pieces an axis would be 2^40 copies.
TEST(Edges, ShiftsOfManyShortAxes) {
  const Executor e = Executor::host();
  Shape shape(40, 1);
  shape[3] = 3;
  const auto x = Array<double>::from_host(e, shape, std::vector<double>{1, 2, 3});
  EXPECT_EQ(fftshift(e, x).to_host(), (std::vector<double>{3, 1, 2}));
}

TEST(Edges, AnEmptyBatchRefusesWhatAnyOtherDoes) {
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, {8}, {.batch = 0});
  EXPECT_NO_THROW(Plan<float>(Executor::host(), d));
  d.precision = Mode::Exact;
  EXPECT_THROW(Plan<float>(Executor::host(), d), NotImplemented);
}

TEST(Edges, FramesOfHugeSizes) {
  EXPECT_EQ(stft_frames(100, {.n_fft = 16, .hop = kMax, .tail = Tail::Complete}), 2);
  EXPECT_EQ(stft_frames(100, {.n_fft = 16, .hop = kMax, .tail = Tail::Drop}), 1);
  EXPECT_IN("it must be 1 to 2^30",
            message_of<InvalidArgument>([] { (void)stft_frames(10, {.n_fft = std::int64_t{1} << 62}); }));
  EXPECT_IN("it must have 0 to 2^60", message_of<InvalidArgument>([] { (void)stft_frames(kMax, {.n_fft = 8}); }));
  const Executor e = Executor::host();
  const Array<std::complex<double>> y(e, {9, 3});
  EXPECT_IN("cover more than 2^60 points",
            message_of<InvalidArgument>([&] { (void)istft(e, y, {.n_fft = 16, .hop = kMax / 2}); }));
}

// Squares of such windows vanish or overflow; the windows themselves do not.
TEST(Edges, WindowsOfAnySizeAreInverted) {
  const Executor e = Executor::host();
  const std::vector<double> values = random_real<double>(200, 3);
  const auto x = Array<double>::from_host(e, {200}, values);
  for (const double size : {1e-200, 1.0, 1e200}) {
    std::vector<double> w = window(WindowKind::Hamming, 32);
    for (double& v : w) v *= size;
    const StftOptions o{.n_fft = 32, .hop = 8, .window = w};
    const std::vector<double> back = istft(e, stft(e, x, o), o, {.length = 200}).to_host();
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(back[i], values[i], 1e-14) << size << " " << i;
  }
}

// SciPy: a signal of 100 points in segments of 256 gives shape (51, 3).
TEST(Edges, ScipysShortSignals) {
  const Executor e = Executor::host();
  const auto x = Array<double>::from_host(e, {100}, random_real<double>(100, 4));
  EXPECT_EQ(stft(e, x, scipy_stft(256, 100)).shape(), (Shape{51, 3}));
}

TEST(Edges, OnePlanInFourThreads) {
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(name);
    const Plan<float> plan(e, dense(Kind::ComplexToComplex, Direction::Forward, {600}, {.batch = 5}));
    const auto x = Array<std::complex<float>>::from_host(e, {5, 600}, random_complex<float>(3000, 9));
    std::vector<Array<std::complex<float>>> y;
    for (int i = 0; i < 4; ++i) y.emplace_back(e, Shape{5, 600});
    std::vector<std::thread> threads;
    for (auto& out : y)
      threads.emplace_back(
          [&plan, &x, view = out.view()] { plan.execute(View<const std::complex<float>>(x.view()), view); });
    for (std::thread& t : threads) t.join();
    for (int i = 1; i < 4; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)].to_host(), y[0].to_host()) << name;
  }
}

TEST(Edges, OneCacheInFourThreads) {
  const Executor e = Executor::host();
  PlanCache cache(3);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const std::int64_t n = 1 + i % 7;
        EXPECT_EQ(
            cache.get<double>(e, dense(Kind::ComplexToComplex, Direction::Forward, {n})).description().axes[0].extent,
            n);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(cache.size(), 3u);
  EXPECT_EQ(cache.hits() + cache.misses(), 800u);
}

}  // namespace
}  // namespace trn::fft::test
