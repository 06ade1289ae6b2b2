// The functions in the NumPy manner on simulated devices: the plan's device kernels run, padding and cutting happen
// there by copies and layouts, nothing is computed on the host, and the result is within the plan's bound of the
// oracle.
#include "fft_support.hpp"

#include <trn/fft/transforms.hpp>

namespace trn::fft::test {
namespace {

using C = std::complex<float>;

class OnDevice : public ::testing::TestWithParam<const char*> {
 protected:
  // `call` on the device, with what it must and must not do there. Exact arithmetic makes and reads its integers on the
  // host; nothing else goes back there.
  template <class F> auto observed(const Executor& e, const char* operation, F call, bool exact = false) {
    Recorder device(e), host(Executor::host());
    auto y = call();
    EXPECT_EQ(device.family_of(operation), "device");
    EXPECT_GE(device.count(EventKind::Run), 1);
    EXPECT_EQ(host.count(EventKind::Dispatch), 0);
    for (const Event& event : device.events()) {
      const bool to_host = event.kind == EventKind::Copy && event.subject.find("-> host") != std::string::npos;
      EXPECT_FALSE(to_host && !exact) << event.subject;
    }
    return y;
  }
};

double relative_error(const std::vector<C>& y, const std::vector<Wide<long double>>& want) {
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    error += (y[i].real() - want[i].re) * (y[i].real() - want[i].re) +
             (y[i].imag() - want[i].im) * (y[i].imag() - want[i].im);
    norm += want[i].re * want[i].re + want[i].im * want[i].im;
  }
  return static_cast<double>(std::sqrt(error / norm));
}
double bound(const Executor& e, Kind kind, Direction direction, const Shape& lengths) {
  return Plan<float>(e, dense(kind, direction, lengths, {.batch = 2})).accuracy().bound;
}

TEST_P(OnDevice, ComplexWithPaddingAndCut) {
  const Executor e = Executor::open(GetParam());
  const auto x = random_complex<float>(5 * 12, 1);
  const auto dx = Array<C>::from_host(e, {5, 12}, x);
  for (const std::int64_t n : {12, 7, 20}) {  // as it is, cut, padded, along the last axis
    const auto y = observed(e, "fft.c2c", [&] { return fft(e, dx, {.n = n}); });
    std::vector<Wide<long double>> want(static_cast<std::size_t>(5 * n));
    for (std::int64_t i = 0; i < 5; ++i) {
      for (std::int64_t j = 0; j < std::min<std::int64_t>(n, 12); ++j) {
        const C z = x[static_cast<std::size_t>(i * 12 + j)];
        want[static_cast<std::size_t>(i * n + j)] = {z.real(), z.imag()};
      }
    }
    oracle_axis(want, {5, n}, 1, -1);
    EXPECT_LE(relative_error(y.to_host(), want), bound(e, Kind::ComplexToComplex, Direction::Forward, {n})) << n;
  }
  // Both axes, the first one padded.
  const auto y = observed(e, "fft.c2c", [&] { return ifftn(e, dx, {.s = {{8, 12}}, .norm = Norm::Forward}); });
  std::vector<Wide<long double>> want(8 * 12);
  for (std::size_t i = 0; i < x.size(); ++i) want[i] = {x[i].real(), x[i].imag()};
  oracle(want, {8, 12}, {0, 1}, 1);
  EXPECT_LE(relative_error(y.to_host(), want), bound(e, Kind::ComplexToComplex, Direction::Inverse, {8, 12}));
}

TEST_P(OnDevice, RealThereAndBack) {
  const Executor e = Executor::open(GetParam());
  const auto x = random_real<float>(6 * 10, 2);
  const auto dx = Array<float>::from_host(e, {6, 10}, x);
  for (const std::int64_t axis : {0, 1}) {
    const std::int64_t extent = axis == 0 ? 6 : 10;
    for (const std::int64_t n : {extent, extent - 3, extent + 5}) {
      const auto y = observed(e, "fft.r2c", [&] { return rfft(e, dx, {.n = n, .axis = axis}); });
      Shape full{6, 10}, half{6, 10};
      full[static_cast<std::size_t>(axis)] = n;
      half[static_cast<std::size_t>(axis)] = n / 2 + 1;
      ASSERT_EQ(y.shape(), half);
      std::vector<Wide<long double>> all(static_cast<std::size_t>(element_count(full))), want;
      each_index(full, [&](const Shape& i, std::size_t at) {
        if (i[0] < 6 && i[1] < 10) all[at].re = x[static_cast<std::size_t>(i[0] * 10 + i[1])];
      });
      oracle_axis(all, full, static_cast<std::size_t>(axis), -1);
      each_index(half, [&](const Shape& i, std::size_t) {
        want.push_back(all[static_cast<std::size_t>(offset(i, row_major_strides(full)))]);
      });
      EXPECT_LE(relative_error(y.to_host(), want), bound(e, Kind::RealToComplex, Direction::Forward, {n}))
          << n << " along " << axis;
      if (n != extent) continue;
      const auto back = observed(e, "fft.c2r", [&] { return irfft(e, y, {.n = n, .axis = axis}); }).to_host();
      double error = 0, norm = 0;
      for (std::size_t i = 0; i < x.size(); ++i) error += (back[i] - x[i]) * (back[i] - x[i]), norm += x[i] * x[i];
      EXPECT_LE(std::sqrt(error / norm), bound(e, Kind::RealToComplex, Direction::Forward, {n}) +
                                             bound(e, Kind::ComplexToReal, Direction::Inverse, {n}));
    }
  }
  // A real array through the complex transform, and a plan from a cache the second time.
  PlanCache cache;
  const auto one = fft(e, dx, {.cache = &cache}).to_host(), two = fft(e, dx, {.cache = &cache}).to_host();
  EXPECT_EQ(one, two);
  EXPECT_EQ(cache.hits(), 1u);
}

// Double precision has no fp64 engine to run on: it is refused unless exact integer arithmetic is asked for, which is
// as accurate as the host.
TEST_P(OnDevice, DoubleInExactArithmetic) {
  const Executor e = Executor::open(GetParam());
  using Z = std::complex<double>;
  const auto x = random_complex<double>(3 * 12, 3);
  const auto dx = Array<Z>::from_host(e, {3, 12}, x);
  EXPECT_IN("mode exact only", message_of<NotImplemented>([&] { (void)fft(e, dx); }));
  const auto y = observed(
                     e, "fft.c2c", [&] { return fft(e, dx, {.precision = Mode::Exact}); }, true)
                     .to_host();
  std::vector<Wide<long double>> want(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) want[i] = {x[i].real(), x[i].imag()};
  oracle_axis(want, {3, 12}, 1, -1);
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    error += (y[i].real() - want[i].re) * (y[i].real() - want[i].re) +
             (y[i].imag() - want[i].im) * (y[i].imag() - want[i].im);
    norm += want[i].re * want[i].re + want[i].im * want[i].im;
  }
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, {12}, {.batch = 3});
  d.precision = Mode::Exact;
  const double bound = Plan<double>(e, d).accuracy().bound;
  EXPECT_LE(static_cast<double>(std::sqrt(error / norm)), bound);
  EXPECT_LE(bound, 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Simulators, OnDevice, ::testing::Values("sim:trn1", "sim:trn2", "sim:trn3"),
                         [](const auto& machine) { return std::string(machine.param).substr(4); });

}  // namespace
}  // namespace trn::fft::test
