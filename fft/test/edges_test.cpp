// The far ends: lengths and strides near the limits of 64 bits, empty batches, windows of any size, one plan and one cache in several threads.
#include "fft_support.hpp"

#include <limits>
#include <thread>

#include <trn/fft/plan_cache.hpp>
#include <trn/fft/stft.hpp>

namespace trn::fft::test {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(Edges, AnAxisThatNobodyCanHoldIsRefusedAtOnce) {
  const Executor e = Executor::host();
  const Description d = dense(Kind::ComplexToComplex, Direction::Forward, {(std::int64_t{1} << 36) + 1});
  EXPECT_IN("the longest that is planned is 2^36", message_of<InvalidArgument>([&] { Plan<float>(e, d); }));
  EXPECT_IN("the longest that is planned is 2^36", message_of<InvalidArgument>([&] { Plan<float>(Executor::open("sim:trn2"), d); }));
}

TEST(Edges, StridesOfSinglePointsMayBeAnything) {
  const Executor e = Executor::host();
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, {4});
  d.batch = {{1, kMax, std::numeric_limits<std::int64_t>::min()}};
  d.axes.insert(d.axes.begin(), {1, std::numeric_limits<std::int64_t>::min(), kMax});
  const std::vector<std::complex<double>> x{1, 2, 3, 4};
  std::vector<std::complex<double>> y(4);
  Plan<double>(e, d).execute(View<const std::complex<double>>(e, x.data(), {4}), View<std::complex<double>>(e, y.data(), {4}));
  EXPECT_EQ(y[0], 10.0);
  EXPECT_EQ(y[1], std::complex<double>(-2, 2));
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
  EXPECT_IN("it must be 1 to 2^30", message_of<InvalidArgument>([] { (void)stft_frames(10, {.n_fft = std::int64_t{1} << 62}); }));
  EXPECT_IN("it must have 0 to 2^60", message_of<InvalidArgument>([] { (void)stft_frames(kMax, {.n_fft = 8}); }));
  const Executor e = Executor::host();
  const Array<std::complex<double>> y(e, {9, 3});
  EXPECT_IN("cover more than 2^60 points", message_of<InvalidArgument>([&] { (void)istft(e, y, {.n_fft = 16, .hop = kMax / 2}); }));
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
    for (auto& out : y) threads.emplace_back([&plan, &x, view = out.view()] { plan.execute(View<const std::complex<float>>(x.view()), view); });
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
        EXPECT_EQ(cache.get<double>(e, dense(Kind::ComplexToComplex, Direction::Forward, {n})).description().axes[0].extent, n);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(cache.size(), 3u);
  EXPECT_EQ(cache.hits() + cache.misses(), 800u);
}

}  // namespace
}  // namespace trn::fft::test
