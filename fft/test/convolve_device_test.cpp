// Convolutions and correlations on simulated devices against sums in long double, within the header's bound; every
// program runs there.
#include <trn/fft/convolve.hpp>
#include <trn/fft/frequencies.hpp>

#include "fft_support.hpp"

namespace trn::fft::test {
namespace {

using C = std::complex<float>;
using LC = std::complex<long double>;
constexpr double u = 0x1p-24;

template <class E> std::vector<E> random_values(std::int64_t n, std::uint32_t seed) {
  if constexpr (std::is_same_v<E, float>)
    return random_real<float>(n, seed);
  else
    return random_complex<float>(n, seed);
}

// Full convolution of matrices, along both axes or the last one (the first one then is the same, or 1 on one side).
template <class E> std::vector<LC> sums(const std::vector<E>& a, const Shape& sa, const std::vector<E>& b,
                                        const Shape& sb, bool both, Shape& full) {
  full = {both ? sa[0] + sb[0] - 1 : std::max(sa[0], sb[0]), sa[1] + sb[1] - 1};
  std::vector<LC> y(static_cast<std::size_t>(full[0] * full[1]));
  for (std::int64_t i = 0; i < sa[0]; ++i) {
    for (std::int64_t k = 0; k < sb[0]; ++k) {
      if (!both && sa[0] != 1 && sb[0] != 1 && i != k) continue;
      const std::int64_t row = both ? i + k : std::max(i, k);
      for (std::int64_t j = 0; j < sa[1]; ++j) {
        for (std::int64_t l = 0; l < sb[1]; ++l)
          y[static_cast<std::size_t>(row * full[1] + j + l)] +=
              LC(a[static_cast<std::size_t>(i * sa[1] + j)]) * LC(b[static_cast<std::size_t>(k * sb[1] + l)]);
      }
    }
  }
  return y;
}

class ConvolveOnDevice : public ::testing::TestWithParam<const char*> {
 protected:
  const Executor e_ = Executor::open(GetParam());

  template <class F> auto observed(F call, const char* operation = "fft.elementwise") const {
    Recorder device(e_), host(Executor::host());
    auto y = call();
    EXPECT_EQ(device.family_of(operation), "device");
    EXPECT_EQ(host.count(EventKind::Dispatch), 0);
    // Padding and cutting are programs, too, or copies of runs of memory on the device.
    EXPECT_EQ(device.count(EventKind::Copy), device.count(EventKind::Copy, e_.name() + " -> " + e_.name()));
    return y;
  }
  // (3 B + 6 u) || a ||_2 || b ||_1 per line, B of the padded transform; over lines the norms only grow.
  template <class E> double bound(const std::vector<E>& a, const std::vector<E>& b, const Shape& lengths) const {
    const Kind kind = std::is_same_v<E, float> ? Kind::RealToComplex : Kind::ComplexToComplex;
    const double plan = Plan<float>(e_, dense(kind, Direction::Forward, lengths, {.batch = 2})).accuracy().bound;
    double two = 0, one = 0;
    for (const E& v : a) two += std::norm(v);
    for (const E& v : b) one += std::abs(v);
    return (3 * plan + 6 * u) * std::sqrt(two) * one;
  }
  template <class E> static double distance(const std::vector<E>& y, const std::vector<LC>& want) {
    long double sum = 0;
    EXPECT_EQ(y.size(), want.size());
    for (std::size_t i = 0; i < std::min(y.size(), want.size()); ++i) sum += std::norm(LC(y[i]) - want[i]);
    return static_cast<double>(std::sqrt(sum));
  }
  static std::vector<LC> middle(const std::vector<LC>& y, std::int64_t rows, std::int64_t from, std::int64_t count) {
    const auto columns = static_cast<std::int64_t>(y.size()) / rows;
    std::vector<LC> part;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < count; ++j) part.push_back(y[static_cast<std::size_t>(i * columns + from + j)]);
    }
    return part;
  }

  template <class E> void lengths_and_modes() const {
    for (const auto& [n, m] : {std::pair{64, 65}, {127, 2}, {129, 128}, {513, 100}, {1000, 37}, {31, 700}}) {
      const auto a = random_values<E>(2 * n, 1), b = random_values<E>(2 * m, 2);
      const auto da = Array<E>::from_host(e_, {2, n}, a), db = Array<E>::from_host(e_, {2, m}, b);
      Shape full;
      const auto want = sums(a, {2, n}, b, {2, m}, false, full);
      const double limit = bound(a, b, {next_fast_len(full[1])});
      const auto y = observed([&] { return fftconvolve(e_, da, db, {.axes = {{-1}}}); });
      ASSERT_EQ(y.shape(), full);
      EXPECT_LE(distance(y.to_host(), want), limit) << n << " with " << m;
      const auto same = observed([&] { return fftconvolve(e_, da, db, {.mode = ConvolveMode::Same, .axes = {{1}}}); });
      EXPECT_LE(distance(same.to_host(), middle(want, 2, (full[1] - n) / 2, n)), limit) << n << " with " << m;
      const std::int64_t least = std::min(n, m), count = std::max(n, m) - least + 1;
      const auto valid = observed([&] { return convolve(e_, da, db, {.mode = ConvolveMode::Valid, .axes = {{1}}}); });
      EXPECT_LE(distance(valid.to_host(), middle(want, 2, least - 1, count)), limit) << n << " with " << m;
      // Turned round and conjugated, a correlation is a convolution.
      std::vector<E> turned(b);
      for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t j = 0; j < m; ++j) {
          const E v = b[static_cast<std::size_t>(i * m + m - 1 - j)];
          if constexpr (std::is_same_v<E, float>)
            turned[static_cast<std::size_t>(i * m + j)] = v;
          else
            turned[static_cast<std::size_t>(i * m + j)] = std::conj(v);
        }
      }
      const auto y2 = observed([&] { return correlate(e_, da, db, {.axes = {{1}}}); });
      EXPECT_LE(distance(y2.to_host(), sums(a, {2, n}, turned, {2, m}, false, full)), limit) << n << " with " << m;
    }
  }
};

TEST_P(ConvolveOnDevice, RealLengthsAndModes) { lengths_and_modes<float>(); }
TEST_P(ConvolveOnDevice, ComplexLengthsAndModes) { lengths_and_modes<C>(); }

TEST_P(ConvolveOnDevice, SeveralAxesAndBroadcast) {
  const auto a = random_values<float>(20 * 33, 3), b = random_values<float>(5 * 4, 4),
             row = random_values<float>(40, 5);
  const auto da = Array<float>::from_host(e_, {20, 33}, a), db = Array<float>::from_host(e_, {5, 4}, b);
  Shape full;
  const auto want = sums(a, {20, 33}, b, {5, 4}, true, full);
  const auto y = observed([&] { return fftconvolve(e_, da, db); });
  ASSERT_EQ(y.shape(), full);
  EXPECT_LE(distance(y.to_host(), want), bound(a, b, {next_fast_len(24), next_fast_len(36)}));
  const auto dr = Array<float>::from_host(e_, {1, 40}, row);
  const auto wide = observed([&] { return fftconvolve(e_, da, dr, {.axes = {{1}}}); });
  EXPECT_LE(distance(wide.to_host(), sums(a, {20, 33}, row, {1, 40}, false, full)), bound(a, row, {next_fast_len(72)}));
}

TEST_P(ConvolveOnDevice, InBlocks) {
  for (const auto& [n, m] : {std::pair{5000, 17}, {40, 3000}, {128, 128}}) {
    const auto a = random_values<C>(n, 6), b = random_values<C>(m, 7);
    const auto da = Array<C>::from_host(e_, {n}, a), db = Array<C>::from_host(e_, {m}, b);
    const auto y = observed([&] { return oaconvolve(e_, da, db); });
    Shape full;
    // A block's transform is at most as long as the whole one; its errors add up like its norms.
    EXPECT_LE(distance(y.to_host(), sums(a, {1, n}, b, {1, m}, false, full)), bound(a, b, {next_fast_len(n + m - 1)}))
        << n << " with " << m;
  }
}

// Sums of k terms: (k + 1) u times the sum of moduli each.
TEST_P(ConvolveOnDevice, DirectSums) {
  const auto a = random_values<float>(300, 8), b = random_values<float>(7, 9);
  const auto da = Array<float>::from_host(e_, {300}, a), db = Array<float>::from_host(e_, {7}, b);
  std::vector<float> pa(a), pb(b);
  for (float& v : pa) v = std::abs(v);
  for (float& v : pb) v = std::abs(v);
  Shape full;
  const auto want = sums(a, {1, 300}, b, {1, 7}, false, full), moduli = sums(pa, {1, 300}, pb, {1, 7}, false, full);
  const auto check = [&](const Array<float>& y) {
    const auto values = y.to_host();
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_LE(std::abs(values[i] - want[i].real()), 8 * u * moduli[i].real()) << i;
  };
  check(observed([&] { return convolve(e_, da, db, {.method = ConvolveMethod::Direct}); }, "fft.matrix"));
  check(observed([&] { return convolve(e_, db, da, {.method = ConvolveMethod::Direct}); }, "fft.matrix"));
  // Other values for every line, and several axes: a term after the other.
  const auto two = random_values<float>(2 * 300, 13), kernels = random_values<float>(2 * 7, 14);
  const auto d2 = Array<float>::from_host(e_, {2, 300}, two), dk = Array<float>::from_host(e_, {2, 7}, kernels);
  const auto y =
      observed([&] { return convolve(e_, d2, dk, {.axes = {{1}}, .method = ConvolveMethod::Direct}); }).to_host();
  const auto w2 = sums(two, {2, 300}, kernels, {2, 7}, false, full);
  std::vector<float> p2(two), pk(kernels);
  for (float& v : p2) v = std::abs(v);
  for (float& v : pk) v = std::abs(v);
  const auto m2 = sums(p2, {2, 300}, pk, {2, 7}, false, full);
  for (std::size_t i = 0; i < w2.size(); ++i) ASSERT_LE(std::abs(y[i] - w2[i].real()), 8 * u * m2[i].real()) << i;
}

// One axis, the same values for every line: a band on the Tensor Engine. Lines behind one another and side by side,
// more and fewer results than a block has.
TEST_P(ConvolveOnDevice, Bands) {
  const auto check = [&](auto tag, std::int64_t n, std::int64_t m, bool first_axis) {
    using E = decltype(tag);
    const auto a = random_values<E>(3 * n, 11), b = random_values<E>(m, 12);
    const auto along = [&](std::int64_t extent, std::int64_t lines) {
      return first_axis ? Shape{extent, lines} : Shape{lines, extent};
    };
    const auto da = Array<E>::from_host(e_, along(n, 3), a), db = Array<E>::from_host(e_, along(m, 1), b);
    Recorder device(e_);
    const auto y = observed(
        [&] { return correlate(e_, da, db, {.axes = {{first_axis ? 0 : 1}}, .method = ConvolveMethod::Direct}); },
        "fft.matrix");
    ASSERT_EQ(y.shape(), along(n + m - 1, 3));
    const auto values = y.to_host();
    for (std::int64_t line = 0; line < 3; ++line) {
      const auto at = [&](std::int64_t i, std::int64_t extent) {
        return static_cast<std::size_t>(first_axis ? i * 3 + line : line * extent + i);
      };
      for (std::int64_t k = 0; k < n + m - 1; ++k) {
        LC sum = 0;
        long double moduli = 0;
        for (std::int64_t j = 0; j < m; ++j) {
          const std::int64_t i = k - (m - 1) + j;
          if (i < 0 || i >= n) continue;
          const LC term = LC(a[at(i, n)]) * std::conj(LC(b[static_cast<std::size_t>(j)]));
          sum += term;
          moduli += std::abs(term);
        }
        const double units =
            std::is_same_v<E, float> ? static_cast<double>(m + 1) : std::sqrt(2.0) * static_cast<double>(m + 3);
        ASSERT_LE(std::abs(LC(values[at(k, n + m - 1)]) - sum), units * u * moduli)
            << n << " with " << m << " at " << k;
      }
    }
  };
  for (const auto& [n, m] : {std::pair{2, 2}, {100, 3}, {400, 64}, {129, 120}, {1000, 17}}) {
    for (const bool first_axis : {false, true}) {
      check(float{}, n, m, first_axis);
      check(C{}, n, m, first_axis);
    }
  }
}

// What Method::Auto takes.
TEST_P(ConvolveOnDevice, Choice) {
  const auto family = [&](const Shape& sa, const Shape& sb, const char* operation) {
    const auto a = Array<float>::from_host(e_, sa, random_values<float>(element_count(sa), 1)),
               b = Array<float>::from_host(e_, sb, random_values<float>(element_count(sb), 2));
    Recorder device(e_);
    (void)convolve(e_, a, b);
    return device.family_of(operation);
  };
  EXPECT_EQ(family({300}, {64}, "fft.matrix"), "device");
  EXPECT_EQ(family({64}, {300}, "fft.matrix"), "device");
  EXPECT_EQ(family({300}, {65}, "fft.r2c"), "device");
  EXPECT_EQ(family({20, 20}, {2, 2}, "fft.r2c"), "device");
  EXPECT_EQ(family({20, 20}, {1, 1}, "fft.r2c"), "");
}

TEST_P(ConvolveOnDevice, Refusals) {
  const Array<double> x(e_, {8});
  EXPECT_IN("fft.fftconvolve: executor 'sim:trn", message_of<NotImplemented>([&] { (void)fftconvolve(e_, x, x); }));
  EXPECT_IN("fft.correlate: executor 'sim:trn", message_of<NotImplemented>([&] { (void)correlate(e_, x, x); }));
  const Array<float> a(e_, {8}), b(e_, {2, 8}), none(e_, {0});
  EXPECT_IN("give arrays of the same rank", message_of<InvalidArgument>([&] { (void)convolve(e_, a, b); }));
  EXPECT_IN("need at least one element", message_of<InvalidArgument>([&] { (void)oaconvolve(e_, a, none); }));
}

INSTANTIATE_TEST_SUITE_P(Simulators, ConvolveOnDevice, ::testing::Values("sim:trn1", "sim:trn2", "sim:trn3"),
                         [](const auto& machine) { return std::string(machine.param).substr(4); });

}  // namespace
}  // namespace trn::fft::test
