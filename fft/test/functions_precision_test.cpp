// The precision of cosine transforms, convolutions, short-time transforms and planar products on simulated devices:
// every mode against the definition in long double within the header's bound, targets, double precision in mode exact,
// and what is refused.
#include <trn/blas/gemm.hpp>
#include <trn/fft/complex_arithmetic.hpp>
#include <trn/fft/convolve.hpp>
#include <trn/fft/cosine.hpp>
#include <trn/fft/frequencies.hpp>
#include <trn/fft/matrix_program.hpp>
#include <trn/fft/stft.hpp>

#include "fft_support.hpp"

namespace trn::fft::test {
namespace {

using LC = std::complex<long double>;
constexpr double u = 0x1p-24;
constexpr Mode kModes[] = {Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6};

template <class E> std::vector<E> random_values(std::int64_t n, std::uint32_t seed) {
  if constexpr (std::is_floating_point_v<E>)
    return random_real<E>(n, seed);
  else
    return random_complex<typename E::value_type>(n, seed);
}

// dct II: 2 sum x_j cos(pi k (2j + 1)/(2n)).
std::vector<long double> dct_two(const float* x, std::int64_t n) {
  std::vector<long double> y;
  for (std::int64_t k = 0; k < n; ++k) {
    long double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += 2 * x[j] * turn<long double>(k * (2 * j + 1) % (4 * n), 4 * n).c;
    y.push_back(sum);
  }
  return y;
}
template <class E> std::vector<LC> convolution(const std::vector<E>& a, const std::vector<E>& b) {
  std::vector<LC> y(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) y[i + j] += LC(a[i]) * LC(b[j]);
  return y;
}
template <class Y, class W> long double distance(const std::vector<Y>& y, const std::vector<W>& want) {
  long double sum = 0;
  EXPECT_EQ(y.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) sum += std::norm(LC(y[i]) - LC(want[i]));
  return std::sqrt(sum);
}
template <class Y> long double norm(const std::vector<Y>& y) { return distance(y, std::vector<LC>(y.size())); }

class FunctionPrecision : public ::testing::TestWithParam<const char*> {
 protected:
  const Executor e_ = Executor::open(GetParam());

  // `exact`: doubles go to the host and back.
  template <class F> auto observed(const char* operation, F call, bool exact = false) const {
    Recorder device(e_), host(Executor::host());
    auto y = call();
    EXPECT_EQ(device.family_of(operation), "device");
    EXPECT_GE(device.count(EventKind::Run), 1);
    EXPECT_EQ(host.count(EventKind::Dispatch), 0);
    if (!exact) {
      EXPECT_EQ(device.count(EventKind::Copy), device.count(EventKind::Copy, e_.name() + " -> " + e_.name()));
    }
    return y;
  }
  template <class T = float> double plan_bound(Kind kind, std::int64_t n, Mode mode, std::int64_t batch = 1) const {
    Description d =
        dense(kind, kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, {n}, {.batch = batch});
    d.precision = mode;
    return Plan<T>(e_, d).accuracy().bound;
  }
  // stft and istft with Hann windows a quarter apart and a reflection at the ends. Squares of such windows sum to 1.5,
  // so all frames together have a norm of at most sqrt(1.5 * 2) || x ||, and at the ends, where one of four windows is
  // missing, they sum to 1.25. Spectra err by `there` of half spectra, whose norms are up to sqrt(2) of what istft
  // sees; frames by `back`; four products and sums follow.
  static double round_trip(double there, double back, double unit) {
    const double layers = 4;
    return ((there * std::sqrt(2.0) + back) * (1 + there) + (layers + 4) * unit) * std::sqrt(layers) / 1.25 *
           std::sqrt(3.0);
  }
  // A mode must show: one word of 11 or 8 bits errs more than two or three of them could.
  static void expect_shows(Mode mode, long double relative) {
    const bool one_word = mode == Mode::Tf32 || mode == Mode::Bf16;
    EXPECT_GE(relative, mode == Mode::Tf32 ? 1e-5L : mode == Mode::Bf16 ? 1e-4L : 0.0L) << name(mode);
    EXPECT_LE(relative, one_word ? 0.1L : 1e-5L) << name(mode);
  }
};

TEST_P(FunctionPrecision, CosineTransforms) {
  for (const std::int64_t n : {16, 100, 128, 300}) {
    const auto x = random_real<float>(2 * n, static_cast<std::uint32_t>(n));
    const auto dx = Array<float>::from_host(e_, {2, n}, x);
    const auto first = dct_two(x.data(), n);
    for (const Mode mode : kModes) {
      const double bound =
          n <= 128 ? matrix_error_bound(n, mode) : 2 * plan_bound(Kind::RealToComplex, 2 * n, mode, 2) + 12 * u;
      const auto y = observed("fft.dct", [&] { return dct(e_, dx, {.precision = mode}); }).to_host();
      const std::vector<float> line(y.begin(), y.begin() + n);
      const long double relative = distance(line, first) / norm(first);
      EXPECT_LE(relative, bound) << n << " " << name(mode);
      expect_shows(mode, relative);
      // There and back: idct is dct III over 2n.
      const auto back = observed("fft.dct", [&] {
                          return idct(e_, dct(e_, dx, {.precision = mode}), {.precision = mode});
                        }).to_host();
      const double three = n <= 128 ? bound : 2 * plan_bound(Kind::ComplexToReal, 2 * n, mode, 2) + 12 * u;
      EXPECT_LE(distance(back, x), (bound * std::sqrt(2.0) + three) * (1 + bound) * norm(x)) << n << " " << name(mode);
    }
  }
}

TEST_P(FunctionPrecision, SineTransformsOfEveryType) {
  for (const std::int64_t n : {20, 150}) {
    const auto x = random_real<float>(3 * n, 5);
    const auto dx = Array<float>::from_host(e_, {3, n}, x);
    const auto wide = Array<double>::from_host(Executor::host(), {3, n}, std::vector<double>(x.begin(), x.end()));
    for (const CosineType type : {CosineType::I, CosineType::II, CosineType::III, CosineType::IV}) {
      const auto want = dst(Executor::host(), wide, {.type = type}).to_host();  // held to SciPy elsewhere, to 1e-15
      const Kind kind = type == CosineType::IV    ? Kind::ComplexToComplex
                        : type == CosineType::III ? Kind::ComplexToReal
                                                  : Kind::RealToComplex;
      for (const Mode mode : {Mode::Tf32x3, Mode::Bf16x6, Mode::Tf32}) {
        const double bound = n <= 128
                                 ? matrix_error_bound(n, mode)
                                 : 2 * plan_bound(kind, type == CosineType::I ? 2 * (n + 1) : 2 * n, mode, 3) + 12 * u;
        const auto y = observed("fft.dst", [&] { return dst(e_, dx, {.type = type, .precision = mode}); }).to_host();
        EXPECT_LE(distance(y, want), bound * norm(want)) << n << " " << static_cast<int>(type) << " " << name(mode);
      }
    }
  }
}

TEST_P(FunctionPrecision, Convolutions) {
  const auto check = [&](auto tag) {
    using E = decltype(tag);
    constexpr bool complex = !std::is_same_v<E, float>;
    const std::int64_t n = 300, m = 40;
    const auto a = random_values<E>(n, 1), b = random_values<E>(m, 2);
    const auto da = Array<E>::from_host(e_, {n}, a), db = Array<E>::from_host(e_, {m}, b);
    const auto want = convolution(a, b);
    std::vector<float> pa, pb;
    for (const E& v : a) pa.push_back(std::abs(v));
    for (const E& v : b) pb.push_back(std::abs(v));
    const auto moduli = convolution(pa, pb);
    long double one = 0;
    for (const float v : pb) one += v;
    for (const Mode mode : kModes) {
      const auto limit = [&](std::int64_t points) {
        const double there = 1 + plan_bound(complex ? Kind::ComplexToComplex : Kind::RealToComplex, points, mode),
                     back = 1 + plan_bound(complex ? Kind::ComplexToComplex : Kind::ComplexToReal, points, mode);
        return (there * there * back * (1 + 6 * u) - 1) * norm(a) * one;
      };
      const char* transform = complex ? "fft.c2c" : "fft.r2c";
      const auto whole = observed(transform, [&] { return fftconvolve(e_, da, db, {.precision = mode}); }).to_host();
      EXPECT_LE(distance(whole, want), limit(next_fast_len(n + m - 1))) << name(mode);
      expect_shows(mode, distance(whole, want) / norm(want));
      const auto blocks = observed(transform, [&] { return oaconvolve(e_, da, db, {.precision = mode}); }).to_host();
      EXPECT_LE(distance(blocks, want), limit(next_fast_len(n + m - 1))) << name(mode);
      // A band: elementwise.
      const auto band = observed("fft.matrix", [&] {
                          return convolve(e_, da, db, {.method = ConvolveMethod::Direct, .precision = mode});
                        }).to_host();
      const auto [error, products] = product_error(mode);
      const double sums = static_cast<double>(m + products + (complex ? 2 : 0)) * u + error,
                   units = complex ? std::sqrt(2.0) * sums : sums;
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_LE(std::abs(LC(band[i]) - want[i]), units * moduli[i].real()) << i << " " << name(mode);
      expect_shows(mode, distance(band, want) / norm(want));
    }
  };
  check(float{});
  check(std::complex<float>{});
}

// One signal, frame by frame; the way back within both bounds.
TEST_P(FunctionPrecision, ShortTimeTransforms) {
  for (const std::int64_t n : {64, 128, 160}) {
    const std::int64_t hop = n / 4, length = 6 * n;
    const auto x = random_real<float>(length, 3);
    const auto dx = Array<float>::from_host(e_, {length}, x);
    const auto w = window(WindowKind::Hann, n);
    for (const Mode mode : kModes) {
      const StftOptions o{.n_fft = n, .hop = hop, .boundary = Boundary::None, .precision = mode};
      const auto y = observed("fft.stft", [&] { return stft(e_, dx, o); });
      const auto values = y.to_host();
      const std::int64_t bins = n / 2 + 1, count = y.shape()[1];
      const double there = (n <= 128 ? matrix_error_bound(n, mode) : plan_bound(Kind::RealToComplex, n, mode, count)) +
                           3 * u,
                   back = n <= 128 ? matrix_error_bound(n, mode) : plan_bound(Kind::ComplexToReal, n, mode, count);
      for (std::int64_t t = 0; t < count; t += 7) {
        std::vector<LC> want, got;
        for (std::int64_t k = 0; k < bins; ++k) {
          LC sum = 0;
          for (std::int64_t j = 0; j < n; ++j) {
            const auto r = turn<long double>(j * k % n, n);
            sum += static_cast<long double>(w[static_cast<std::size_t>(j)]) * x[static_cast<std::size_t>(t * hop + j)] *
                   LC(r.c, -r.s);
          }
          want.push_back(sum);
          got.push_back(values[static_cast<std::size_t>(k * count + t)]);
        }
        ASSERT_LE(distance(got, want), there * norm(want)) << n << " frame " << t << " " << name(mode);
        expect_shows(mode, distance(got, want) / norm(want));
      }
      StftOptions inverse = o;
      inverse.boundary = Boundary::Reflect;  // so that every point is under a window
      const auto spectrogram = stft(e_, dx, inverse);
      const auto again =
          observed("fft.istft", [&] { return istft(e_, spectrogram, inverse, {.length = length}); }).to_host();
      EXPECT_LE(distance(again, x), round_trip(there, back, u) * norm(x)) << n << " " << name(mode);
    }
  }
}

TEST_P(FunctionPrecision, PlanarProducts) {
  const std::int64_t m = 40, k = 70, n = 30;
  const auto a = random_complex<float>(m * k, 6), b = random_complex<float>(k * n, 7);
  const auto da = to_planar(e_, Array<std::complex<float>>::from_host(e_, {m, k}, a)),
             db = to_planar(e_, Array<std::complex<float>>::from_host(e_, {k, n}, b));
  for (const Mode mode : kModes) {
    const auto y = observed("blas.gemm", [&] { return matmul(e_, da, db, {.precision = mode}); });
    const auto re = y.re.to_host(), im = y.im.to_host();
    const double bound = blas::gemm_error_bound(Family::Device, DType::Float32, DType::Float32, k, mode);
    long double worst = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        LC sum = 0;
        long double row = 0, column = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const LC p(a[static_cast<std::size_t>(i * k + l)]), q(b[static_cast<std::size_t>(l * n + j)]);
          sum += p * q, row += std::norm(p), column += std::norm(q);
        }
        const auto at = static_cast<std::size_t>(i * n + j);
        const long double relative = std::abs(LC(re[at], im[at]) - sum) / std::sqrt(row * column);
        ASSERT_LE(relative, 2 * std::sqrt(2.0) * bound) << name(mode);
        worst = std::max(worst, relative);
      }
    }
    expect_shows(mode, worst * 10);
  }
}

// The cheapest mode whose bound suffices, seen by its bits.
TEST_P(FunctionPrecision, TargetsTakeTheCheapestMode) {
  const auto x = random_real<float>(4 * 100, 8);
  const auto dx = Array<float>::from_host(e_, {4, 100}, x);
  for (const Mode mode : {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native}) {
    const double bound = matrix_error_bound(100, mode);
    const auto y = dct(e_, dx, {.precision = Precision::target(bound * 1.0001)}).to_host();
    EXPECT_EQ(y, dct(e_, dx, {.precision = mode}).to_host()) << name(mode);
    const auto z = Array<float>::from_host(e_, {400}, x),
               kernel = Array<float>::from_host(e_, {9}, std::vector(x.begin(), x.begin() + 9));
    const auto [error, products] = product_error(mode);
    const double band = static_cast<double>(9 + products) * u + error;
    EXPECT_EQ(convolve(e_, z, kernel, {.precision = Precision::target(band * 1.0001)}).to_host(),
              convolve(e_, z, kernel, {.precision = mode}).to_host());
    const double whole = plan_bound(Kind::RealToComplex, next_fast_len(408), mode),
                 back = plan_bound(Kind::ComplexToReal, next_fast_len(408), mode);
    if (whole < 0.2) {
      const double bound_here = (1 + whole) * (1 + whole) * (1 + back) * (1 + 6 * u) - 1;
      EXPECT_EQ(fftconvolve(e_, z, kernel, {.precision = Precision::target(bound_here * 1.0001)}).to_host(),
                fftconvolve(e_, z, kernel, {.precision = mode}).to_host());
    }
    const StftOptions o{.n_fft = 64, .hop = 16, .precision = Precision::target(matrix_error_bound(64, mode) + 4 * u)};
    StftOptions same = o;
    same.precision = mode;
    EXPECT_EQ(stft(e_, z, o).to_host(), stft(e_, z, same).to_host());
  }
  // Two axes share one mode: their bounds together.
  const double both = (1 + matrix_error_bound(4, Mode::Tf32)) * (1 + matrix_error_bound(100, Mode::Tf32)) - 1;
  EXPECT_EQ(dctn(e_, dx, {.precision = Precision::target(both * 1.0001)}).to_host(),
            dctn(e_, dx, {.precision = Mode::Tf32}).to_host());
}

template <class E> void convolve_exactly(const Executor& e, const auto& observed, const auto& plan_bound) {
  constexpr bool complex = !std::is_same_v<E, double>;
  const std::int64_t n = 400, m = 30;
  const auto a = random_values<E>(n, 1), b = random_values<E>(m, 2);
  const auto da = Array<E>::from_host(e, {n}, a), db = Array<E>::from_host(e, {m}, b);
  const auto want = convolution(a, b);
  long double one = 0;
  for (const E& v : b) one += std::abs(v);
  const double plan = plan_bound(complex ? Kind::ComplexToComplex : Kind::RealToComplex, next_fast_len(n + m - 1));
  const char* transform = complex ? "fft.c2c" : "fft.r2c";
  for (const bool blocks : {false, true}) {
    const ConvolveOptions o{.precision = Mode::Exact};
    const auto y =
        observed(transform, [&] { return blocks ? oaconvolve(e, da, db, o) : fftconvolve(e, da, db, o); }).to_host();
    EXPECT_LE(distance(y, want), (3 * plan + 6 * 0x1p-53) * norm(a) * one) << blocks;
  }
}
TEST_P(FunctionPrecision, ConvolutionsInExactArithmetic) {
  const auto run = [&](const char* operation, const auto& call) { return observed(operation, call, true); };
  const auto bound = [&](Kind kind, std::int64_t n) { return plan_bound<double>(kind, n, Mode::Exact); };
  convolve_exactly<double>(e_, run, bound);
  convolve_exactly<std::complex<double>>(e_, run, bound);
  // Method::Auto goes by transforms, and one value is a product.
  const auto x = random_real<double>(50, 3);
  const auto dx = Array<double>::from_host(e_, {50}, x), two = Array<double>::from_host(e_, {1}, std::vector{2.0});
  const auto y = convolve(e_, dx, two, {.precision = Mode::Exact}).to_host();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 2 * x[i]);
}

TEST_P(FunctionPrecision, ShortTimeTransformsInExactArithmetic) {
  const std::int64_t n = 48, hop = 12, length = 300;
  for (const Boundary boundary :
       {Boundary::None, Boundary::Zeros, Boundary::Reflect, Boundary::Odd, Boundary::Replicate, Boundary::Circular}) {
    for (const Sides sides : {Sides::One, Sides::Two}) {
      const auto x = random_real<double>(2 * length, 4);
      const auto dx = Array<double>::from_host(e_, {length, 2}, x);
      const View<const double> columns(e_, dx.data(), {2, length}, {1, 2});
      const StftOptions o{.n_fft = n, .hop = hop, .boundary = boundary, .sides = sides, .precision = Mode::Exact};
      const auto y = observed(
          "fft.stft", [&] { return stft(e_, columns, o); }, true);
      // The host's doubles, which other tests hold to SciPy: two such results differ by both bounds.
      StftOptions native = o;
      native.precision = {};
      const auto hx = Array<double>::from_host(Executor::host(), {length, 2}, x);
      const auto want =
          stft(Executor::host(), View<const double>(Executor::host(), hx.data(), {2, length}, {1, 2}), native)
              .to_host();
      const Kind kind = sides == Sides::One ? Kind::RealToComplex : Kind::ComplexToComplex;
      const double there = plan_bound<double>(kind, n, Mode::Exact) + 3 * 0x1p-53,
                   host = Plan<double>(Executor::host(), dense(kind, Direction::Forward, {n})).accuracy().bound +
                          3 * 0x1p-53;
      EXPECT_LE(distance(y.to_host(), want), (there + host) * norm(want)) << static_cast<int>(boundary);
      if (boundary != Boundary::Reflect) continue;
      const auto back = observed(
                            "fft.istft", [&] { return istft(e_, y, o, {.length = length}); }, true)
                            .to_host();
      std::vector<double> signal;
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t i = 0; i < length; ++i) signal.push_back(x[static_cast<std::size_t>(2 * i + b)]);
      const double inverse =
          plan_bound<double>(sides == Sides::One ? Kind::ComplexToReal : Kind::ComplexToComplex, n, Mode::Exact);
      EXPECT_LE(distance(back, signal), round_trip(there, inverse, 0x1p-53) * norm(signal));
    }
  }
  using Z = std::complex<double>;
  const auto z = random_complex<double>(length, 5);
  const StftOptions o{.n_fft = n, .hop = hop, .sides = Sides::Two, .precision = Mode::Exact};
  const auto y = stft(e_, Array<Z>::from_host(e_, {length}, z), o);
  const double plan = plan_bound<double>(Kind::ComplexToComplex, n, Mode::Exact);
  EXPECT_LE(distance(complex_istft(e_, y, o, {.length = length}).to_host(), z),
            round_trip(plan + 3 * 0x1p-53, plan, 0x1p-53) * norm(z));
}

TEST_P(FunctionPrecision, Refusals) {
  const auto x = Array<float>::from_host(e_, {64}, random_real<float>(64, 1)),
             k = Array<float>::from_host(e_, {5}, random_real<float>(5, 2));
  const auto wide = Array<double>::from_host(e_, {64}, random_real<double>(64, 1)),
             few = Array<double>::from_host(e_, {5}, random_real<double>(5, 2));
  const auto refused = [&](const auto& call) { return message_of<NotImplemented>(call); };
  EXPECT_IN("has mode exact for float64 only", refused([&] { (void)dct(e_, x, {.precision = Mode::Exact}); }));
  EXPECT_IN("has mode exact for float64 only",
            refused([&] { (void)fftconvolve(e_, x, k, {.precision = Mode::Exact}); }));
  EXPECT_IN("has mode exact for float64 only",
            refused([&] { (void)stft(e_, x, {.n_fft = 16, .precision = Mode::Exact}); }));
  EXPECT_IN("in float32 only", refused([&] { (void)dct(e_, wide, {.precision = Mode::Exact}); }));
  EXPECT_IN("in mode exact only, not native", refused([&] { (void)oaconvolve(e_, wide, few); }));
  EXPECT_IN("in mode exact only, not tf32",
            refused([&] { (void)stft(e_, wide, {.n_fft = 16, .precision = Mode::Tf32}); }));
  EXPECT_IN("no direct sums in mode exact", refused([&] {
              (void)convolve(e_, wide, few, {.method = ConvolveMethod::Direct, .precision = Mode::Exact});
            }));
  EXPECT_IN("in float32 only", refused([&] { (void)correlate(e_, wide, few, {.precision = Mode::Exact}); }));
  const auto wrong = [&](const auto& call) { return message_of<InvalidArgument>(call); };
  const Precision tiny = Precision::target(1e-12);
  EXPECT_IN("fft.dct: an error of 1e-12 is asked for", wrong([&] { (void)dct(e_, x, {.precision = tiny}); }));
  EXPECT_IN("fft.fftconvolve: an error of 1e-12", wrong([&] { (void)fftconvolve(e_, x, k, {.precision = tiny}); }));
  EXPECT_IN("fft.convolve: an error of 1e-12", wrong([&] { (void)convolve(e_, x, k, {.precision = tiny}); }));
  EXPECT_IN("fft.stft: an error of 1e-12", wrong([&] { (void)stft(e_, x, {.n_fft = 16, .precision = tiny}); }));
  const auto y = stft(e_, x, {.n_fft = 16});
  EXPECT_IN("fft.istft: an error of 1e-12", wrong([&] { (void)istft(e_, y, {.n_fft = 16, .precision = tiny}); }));
  EXPECT_IN("an error of 1e-17",
            wrong([&] { (void)fftconvolve(e_, wide, few, {.precision = Precision::target(1e-17)}); }));
  EXPECT_EQ(fftconvolve(e_, wide, few, {.precision = Precision::target(1e-14)}).shape(), (Shape{68}));
}

INSTANTIATE_TEST_SUITE_P(Simulators, FunctionPrecision, ::testing::Values("sim:trn1", "sim:trn2", "sim:trn3"),
                         [](const auto& machine) { return std::string(machine.param).substr(4); });

// The host computes in the operands' type: Native, and targets that it meets.
TEST(FunctionPrecisionOnHost, NativeAndTargets) {
  const Executor e = Executor::host();
  const Array<double> x = Array<double>::from_host(e, {64}, random_real<double>(64, 1)),
                      k = Array<double>::from_host(e, {20}, random_real<double>(20, 2));
  const Precision met = Precision::target(1e-13), missed = Precision::target(1e-17);
  EXPECT_EQ(dct(e, x, {.precision = met}).to_host(), dct(e, x).to_host());
  EXPECT_EQ(dctn(e, x, {.type = CosineType::IV, .precision = met}).to_host(),
            dctn(e, x, {.type = CosineType::IV}).to_host());
  EXPECT_EQ(fftconvolve(e, x, k, {.precision = met}).to_host(), fftconvolve(e, x, k).to_host());
  EXPECT_EQ(convolve(e, x, k, {.method = ConvolveMethod::Direct, .precision = met}).to_host(),
            convolve(e, x, k, {.method = ConvolveMethod::Direct}).to_host());
  const auto y = stft(e, x, {.n_fft = 16, .precision = met});
  EXPECT_EQ(y.to_host(), stft(e, x, {.n_fft = 16}).to_host());
  EXPECT_EQ(istft(e, y, {.n_fft = 16, .precision = met}).to_host(), istft(e, y, {.n_fft = 16}).to_host());
  const auto wrong = [&](const auto& call) { return message_of<InvalidArgument>(call); };
  EXPECT_IN("fft.dct: an error of 1e-17", wrong([&] { (void)dct(e, x, {.precision = missed}); }));
  EXPECT_IN("fft.oaconvolve: an error of 1e-17", wrong([&] { (void)oaconvolve(e, x, k, {.precision = missed}); }));
  EXPECT_IN("fft.convolve: an error of 1e-17",
            wrong([&] { (void)convolve(e, x, k, {.method = ConvolveMethod::Direct, .precision = missed}); }));
  EXPECT_IN("fft.stft: an error of 1e-17", wrong([&] { (void)stft(e, x, {.n_fft = 16, .precision = missed}); }));
  EXPECT_IN("fft.istft: an error of 1e-17", wrong([&] { (void)istft(e, y, {.n_fft = 16, .precision = missed}); }));
  const auto refused = [&](const auto& call) { return message_of<NotImplemented>(call); };
  EXPECT_IN("fft.dst: precision 'tf32' is not offered on the host",
            refused([&] { (void)dst(e, x, {.precision = Mode::Tf32}); }));
  EXPECT_IN("fft.correlate: precision 'exact'", refused([&] { (void)correlate(e, x, k, {.precision = Mode::Exact}); }));
  EXPECT_IN("fft.stft: precision 'bf16'", refused([&] { (void)stft(e, x, {.n_fft = 16, .precision = Mode::Bf16}); }));
}

}  // namespace
}  // namespace trn::fft::test
