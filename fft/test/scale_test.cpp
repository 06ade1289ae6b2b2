// Scales: the bound of a plan counts every rounding of its scale. All three scales in both directions, all kinds, on
// the host in float and double and on a device in mode exact, whose bound is so close to the last rounding that a
// factor rounded to double would break it; on inputs that gather roundings, against __float128.
#include "dft_oracle.hpp"
#include "fft_support.hpp"

#include <limits>

namespace trn::fft::test {
namespace {

using testing::quad_dft;
using testing::QuadPoint;

// 1/sqrt(x): Newton's steps from long double.
Quad inverse_root(Quad x) {
  Quad r = 1 / std::sqrt(static_cast<long double>(x));
  for (int i = 0; i < 2; ++i) r = r * (3 - x * r * r) / 2;
  return r;
}

// Transforms of n points each: noise, spikes, equal points, alternating signs, a tone, wide magnitudes, numbers with a
// last bit, one point far above the others.
template <class T> std::vector<std::vector<std::complex<T>>> inputs(std::int64_t n, std::uint32_t seed) {
  using C = std::complex<T>;
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto number = [&] { return static_cast<T>(uniform(engine)); };
  const auto point = [&] {
    const T re = number();
    return C(re, number());
  };
  const C value = point();
  const auto spike = static_cast<std::int64_t>(engine() % static_cast<std::uint32_t>(n));
  const int far = std::is_same_v<T, float> ? 20 : 150;
  std::vector<std::vector<C>> all(8);
  for (std::int64_t j = 0; j < n; ++j) {
    const double angle =
        6.283185307179586 * static_cast<double>(j) * static_cast<double>(spike) / static_cast<double>(n);
    const T last = T(1) + std::numeric_limits<T>::epsilon() * static_cast<T>(engine() % 8);
    const auto wide = [&] {
      return static_cast<T>(
          std::ldexp(uniform(engine), static_cast<int>(engine() % static_cast<unsigned>(2 * far)) - far));
    };
    const T wide_re = wide();
    all[0].push_back(point());
    all[1].push_back(j == spike ? value : C(0));
    all[2].push_back(value);
    all[3].push_back(j % 2 == 0 ? value : -value);
    all[4].push_back({static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))});
    all[5].push_back({wide_re, wide()});
    all[6].push_back({last, -last});
    all[7].push_back(point() * static_cast<T>(j == spike ? 1e6 : 1));
  }
  return all;
}

// The results of a plan for a batch of transforms one behind the other, as complex numbers.
template <class T> std::vector<std::complex<T>> results(const Plan<T>& plan, Kind kind,
                                                        const std::vector<std::complex<T>>& x, std::int64_t count) {
  using C = std::complex<T>;
  const Executor& executor = plan.executor();
  const auto in = static_cast<std::int64_t>(x.size());
  if (kind == Kind::ComplexToReal) {
    const auto dx = Array<C>::from_host(executor, {in}, x);
    const Array<T> dy(executor, {count});
    plan.execute(View<const C>(dx.view()), dy.view());
    const std::vector<T> real = dy.to_host();
    return {real.begin(), real.end()};
  }
  const Array<C> dy(executor, {count});
  if (kind == Kind::ComplexToComplex) {
    const auto dx = Array<C>::from_host(executor, {in}, x);
    plan.execute(View<const C>(dx.view()), dy.view());
    return dy.to_host();
  }
  std::vector<T> real;
  for (const C& z : x) real.push_back(z.real());
  const auto dx = Array<T>::from_host(executor, {in}, real);
  plan.execute(View<const T>(dx.view()), dy.view());
  return dy.to_host();
}

// Every transform of inputs() is within the bound of its plan, with each of the scales.
template <class T>
void expect_bounds(const Executor& executor, Kind kind, Direction direction, std::int64_t n, Precision precision,
                   const std::vector<Scale>& scales = {Scale::None, Scale::ByLength, Scale::Orthonormal}) {
  using C = std::complex<T>;
  const auto all = inputs<T>(n, static_cast<std::uint32_t>(n));
  const auto batch = static_cast<std::int64_t>(all.size());
  const std::int64_t half = n / 2 + 1, in = kind == Kind::ComplexToReal ? half : n,
                     out = kind == Kind::RealToComplex ? half : n;
  std::vector<C> x;
  std::vector<std::vector<QuadPoint>> exact;
  const Quad sign =
      direction == Direction::Forward ? 1 : -1;  // the inverse is the forward transform of conjugates, conjugated
  for (const auto& transform : all) {
    x.insert(x.end(), transform.begin(), transform.begin() + in);
    std::vector<QuadPoint> points;
    for (std::int64_t j = 0; j < n; ++j) {
      const bool mirrored = kind == Kind::ComplexToReal && j >= half;
      const C z = transform[static_cast<std::size_t>(mirrored ? n - j : j)];
      const bool real = kind == Kind::RealToComplex || (kind == Kind::ComplexToReal && (j == 0 || 2 * j == n));
      points.push_back({z.real(), real ? Quad(0) : sign * (mirrored ? -Quad(z.imag()) : Quad(z.imag()))});
    }
    exact.push_back(quad_dft(points));
  }
  for (const Scale scale : scales) {
    Description d = dense(kind, direction, {n}, {.batch = batch});
    d.scale = scale;
    d.precision = precision;
    const Plan<T> plan(executor, d);
    const std::vector<C> y = results(plan, kind, x, batch * out);
    const Quad points = static_cast<Quad>(n), factor = scale == Scale::None       ? Quad(1)
                                                       : scale == Scale::ByLength ? 1 / points
                                                                                  : inverse_root(points);
    for (std::int64_t b = 0; b < batch; ++b) {
      Quad errors = 0, squares = 0;
      for (std::int64_t k = 0; k < out; ++k) {
        const C got = y[static_cast<std::size_t>(b * out + k)];
        const QuadPoint& z = exact[static_cast<std::size_t>(b)][static_cast<std::size_t>(k)];
        const Quad re = got.real() - z.re * factor,
                   im = kind == Kind::ComplexToReal ? Quad(0) : got.imag() - sign * z.im * factor;
        errors += re * re + im * im;
        squares += (z.re * z.re + (kind == Kind::ComplexToReal ? Quad(0) : z.im * z.im)) * factor * factor;
      }
      EXPECT_LE(std::sqrt(static_cast<long double>(errors)),
                plan.accuracy().bound * std::sqrt(static_cast<long double>(squares)))
          << name(kind) << " " << name(direction) << " " << name(scale) << " n = " << n << " input " << b;
    }
  }
}

template <class T> void expect_all(const Executor& executor, std::int64_t n, Precision precision) {
  for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) {
    for (const Direction direction : {Direction::Forward, Direction::Inverse})
      expect_bounds<T>(executor, kind, direction, n, precision);
  }
}

TEST(Scales, BoundsOnTheHost) {
  for (const std::int64_t n : {1, 2, 3, 5, 7, 12, 16, 31, 48, 59, 67, 100, 127}) {
    expect_all<float>(Executor::host(), n, {});
    expect_all<double>(Executor::host(), n, {});
  }
  for (const std::int64_t n : {236, 1021})
    expect_bounds<double>(Executor::host(), Kind::ComplexToComplex, Direction::Forward, n, {});
}

TEST(Scales, BoundsOfExactOnADevice) {
  const Executor trn2 = Executor::open("sim:trn2");
  for (const std::int64_t n : {1, 2, 3, 48, 59}) expect_all<double>(trn2, n, Mode::Exact);
  for (std::int64_t n = 4; n <= 128; n += 7)
    expect_bounds<double>(trn2, Kind::ComplexToComplex, Direction::Forward, n, Mode::Exact, {Scale::Orthonormal});
  for (const std::int64_t n : {131, 236, 1000}) {
    expect_bounds<double>(trn2, Kind::ComplexToComplex, Direction::Inverse, n, Mode::Exact, {Scale::Orthonormal});
    expect_bounds<double>(trn2, Kind::RealToComplex, Direction::Forward, n, Mode::Exact, {Scale::ByLength});
  }
}

}  // namespace
}  // namespace trn::fft::test
