// Properties of the functions in the NumPy manner that hold for every input, conventions that SciPy does not have, and
// everything they refuse.
#include "fft_support.hpp"

#include <algorithm>

#include <trn/fft/convolve.hpp>
#include <trn/fft/cosine.hpp>
#include <trn/fft/frequencies.hpp>
#include <trn/fft/stft.hpp>
#include <trn/fft/transforms.hpp>

namespace trn::fft::test {
namespace {

template <class T> constexpr double kU = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
template <class T> using C = std::complex<T>;

template <class E> double norm2(const std::vector<E>& x) {
  double sum = 0;
  for (const E& v : x) sum += static_cast<double>(std::norm(v));
  return std::sqrt(sum);
}
template <class E> double distance(const std::vector<E>& x, const std::vector<E>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(std::norm(x[i] - y[i]));
  return std::sqrt(sum);
}
template <class T> double bound(const Shape& lengths) {
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, lengths);
  d.scale = Scale::ByLength;
  return Plan<T>(Executor::host(), d).accuracy().bound;
}

template <class T> void check_properties(const Shape& shape, std::uint32_t seed) {
  SCOPED_TRACE(to_string(shape));
  const Executor e = Executor::host();
  const std::int64_t n = element_count(shape);
  const auto x = random_complex<T>(n, seed), y = random_complex<T>(n, seed + 1);
  const auto ax = Array<C<T>>::from_host(e, shape, x), ay = Array<C<T>>::from_host(e, shape, y);
  const double b = bound<T>(shape), nx = norm2(x), ny = norm2(y), root = std::sqrt(static_cast<double>(n));
  const auto fx = fftn(e, ax).to_host(), fy = fftn(e, ay).to_host();

  // Round trips, each direction's error counted once.
  for (const Norm norm : {Norm::Backward, Norm::Ortho, Norm::Forward}) {
    EXPECT_LE(distance(ifftn(e, fftn(e, ax, {.norm = norm}), {.norm = norm}).to_host(), x), 2.01 * b * nx);
  }
  const auto r = random_real<T>(n, seed + 2);
  const auto ar = Array<T>::from_host(e, shape, r);
  EXPECT_LE(distance(irfftn(e, rfftn(e, ar), {.s = shape}).to_host(), r), 3.5 * b * norm2(r));
  EXPECT_LE(distance(hfftn(e, ihfftn(e, ar), {.s = shape}).to_host(), r), 3.5 * b * norm2(r));

  // Parseval: || fft(x) ||^2 = n || x ||^2.
  EXPECT_NEAR(norm2(fx), root * nx, b * root * nx);

  // Linearity: fft(2x - y) = 2 fft(x) - fft(y); 2x is exact, the difference of the inputs rounds once.
  std::vector<C<T>> z(x.size()), fz(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) z[i] = T(2) * x[i] - y[i], fz[i] = T(2) * fx[i] - fy[i];
  EXPECT_LE(distance(fftn(e, Array<C<T>>::from_host(e, shape, z)).to_host(), fz),
            (2 * b + 2 * kU<T>)*root * (2 * nx + ny) * 1.01);

  // A cyclic shift by one along the first axis turns every point by its frequency.
  std::vector<C<T>> moved(x.size());
  const std::int64_t row = n / shape[0];
  for (std::int64_t i = 0; i < n; ++i) moved[static_cast<std::size_t>((i + row) % n)] = x[static_cast<std::size_t>(i)];
  std::vector<C<T>> turned(fx);
  for (std::int64_t i = 0; i < n; ++i) {
    const Turn<long double> w = turn<long double>(i / row, shape[0]);
    turned[static_cast<std::size_t>(i)] *= C<T>(static_cast<T>(w.c), static_cast<T>(-w.s));
  }
  EXPECT_LE(distance(fftn(e, Array<C<T>>::from_host(e, shape, moved)).to_host(), turned),
            (2 * b + 4 * kU<T>)*root * nx);
}

TEST(Functions, RoundTripsLinearityShiftAndParseval) {
  std::uint32_t seed = 1;
  for (const Shape& shape :
       {Shape{1}, {2}, {17}, {64}, {100}, {3, 5}, {8, 8}, {2, 3, 4}, {1, 6}, {7, 1, 2}, {2, 2, 2, 3}}) {
    check_properties<float>(shape, seed);
    check_properties<double>(shape, seed += 10);
  }
}

// Matrices, arrays, their views: the same transform, by functions and by plans.
TEST(Functions, MatricesArraysAndViewsAlike) {
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(name);
    const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8};
    const auto matrix = Matrix<float>::from_host(e, 2, 4, values);
    const auto array = Array<float>::from_host(e, {2, 4}, values);
    const std::vector<C<float>> expected{10, C<float>(-2, 2), -2, 26, C<float>(-2, 2), -2};
    const Plan<float> plan(e, dense(Kind::RealToComplex, Direction::Forward, {4}, {.batch = 2}));
    const auto check = [&](const auto& x) {
      EXPECT_EQ(rfft(e, x).to_host(), expected) << name;
      const Matrix<C<float>> y(e, 2, 3);
      plan.execute(x, y);
      EXPECT_EQ(y.to_host(), expected) << name;
      const Array<C<float>> z(e, {2, 3}), w(e, {2, 3});
      plan.execute(x, z, Buffer(e, plan.workspace_bytes()));
      EXPECT_EQ(z.to_host(), expected) << name;
      plan.execute(x, w.view());
      EXPECT_EQ(w.to_host(), expected) << name;
    };
    check(matrix);
    check(matrix.view());
    check(array);
    check(array.view());
    EXPECT_EQ(rfft(e, matrix.view().row(1)).to_host(), std::vector(expected.begin() + 3, expected.end())) << name;
  }
}

TEST(Functions, EmptyArrays) {
  const Executor e = Executor::host();
  const Array<double> none(e, {0, 8}), flat(e, {3, 0});
  EXPECT_EQ(rfft(e, none).shape(), (Shape{0, 5}));
  EXPECT_EQ(fft(e, none).shape(), (Shape{0, 8}));
  EXPECT_EQ(dct(e, none).shape(), (Shape{0, 8}));
  EXPECT_EQ(fftshift(e, none).shape(), (Shape{0, 8}));
  EXPECT_EQ(fft(e, flat, {.n = 4}).to_host(), std::vector<C<double>>(12, 0));  // nothing, padded with zeros
  EXPECT_EQ(rfft(e, flat, {.n = 4}).to_host(), std::vector<C<double>>(9, 0));
  EXPECT_EQ(stft(e, Array<double>(e, {0, 64}), {.n_fft = 16}).shape(), (Shape{0, 9, 17}));
}

TEST(Functions, OrthogonalCosines) {
  const Executor e = Executor::host();
  for (const std::int64_t n : {2, 3, 8, 9}) {
    std::vector<double> unit(static_cast<std::size_t>(n * n), 0);
    for (std::int64_t i = 0; i < n; ++i) unit[static_cast<std::size_t>(i * n + i)] = 1;
    const auto identity = Array<double>::from_host(e, {n, n}, unit);
    for (const CosineType type : {CosineType::I, CosineType::II, CosineType::III, CosineType::IV}) {
      for (const bool sine : {false, true}) {
        const CosineOptions o{.type = type, .norm = Norm::Ortho};
        const auto m = (sine ? dst(e, identity, o) : dct(e, identity, o)).to_host();
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t k = 0; k < n; ++k)
              sum += m[static_cast<std::size_t>(i * n + k)] * m[static_cast<std::size_t>(j * n + k)];
            EXPECT_NEAR(sum, i == j ? 1 : 0, 4e-15) << n << " type " << static_cast<int>(type) << (sine ? " sine" : "");
          }
        }
        EXPECT_LE(distance((sine ? idst(e, dst(e, identity, o), o) : idct(e, dct(e, identity, o), o)).to_host(), unit),
                  1e-14);
      }
    }
  }
}

TEST(Functions, NextFastLength) {
  const auto smooth = [](std::int64_t n) {
    for (const std::int64_t p : {2, 3, 5, 7}) {
      while (n % p == 0) n /= p;
    }
    return n == 1;
  };
  for (std::int64_t n = 1, expected = 1; n <= 5000; ++n) {
    while (expected < n || !smooth(expected)) ++expected;
    ASSERT_EQ(next_fast_len(n), expected);
  }
  EXPECT_EQ(next_fast_len((std::int64_t{1} << 60) - 1), std::int64_t{1} << 60);
}

// torch.stft's definition, in long double: reflection, a window in the middle of the frame, n_fft^(-1/2).
TEST(Functions, StftInTorchsManner) {
  const Executor e = Executor::host();
  const std::int64_t n = 50;
  const auto x = random_real<double>(n, 9);
  for (const Boundary boundary :
       {Boundary::None, Boundary::Zeros, Boundary::Reflect, Boundary::Replicate, Boundary::Circular}) {
    const StftOptions o{.n_fft = 12,
                        .hop = 5,
                        .window = window(WindowKind::Hamming, 9),
                        .boundary = boundary,
                        .scaling = StftScaling::Unitary};
    const auto y = stft(e, Array<double>::from_host(e, {n}, x), o);
    const std::int64_t extension = boundary == Boundary::None ? 0 : 6, frames = 1 + (n + 2 * extension - 12) / 5;
    ASSERT_EQ(y.shape(), (Shape{7, frames}));
    ASSERT_EQ(stft_frames(n, o), frames);
    const auto at = [&](std::int64_t p) -> long double {
      if (p >= 0 && p < n) return x[static_cast<std::size_t>(p)];
      if (boundary == Boundary::Zeros) return 0;
      if (boundary == Boundary::Reflect) return x[static_cast<std::size_t>(p < 0 ? -p : 2 * n - 2 - p)];
      if (boundary == Boundary::Replicate) return p < 0 ? x.front() : x.back();
      return x[static_cast<std::size_t>((p + n) % n)];
    };
    const auto values = y.to_host();
    for (std::int64_t t = 0; t < frames; ++t) {
      for (std::int64_t k = 0; k < 7; ++k) {
        long double re = 0, im = 0;
        for (std::int64_t j = 0; j < 9; ++j) {
          const long double v = at(t * 5 + j + 1 - extension) *
                                static_cast<long double>(o.window[static_cast<std::size_t>(j)]) / std::sqrt(12.0L);
          const Turn<long double> w = turn<long double>((j + 1) * k, 12);
          re += v * w.c;
          im -= v * w.s;
        }
        const auto z = values[static_cast<std::size_t>(k * frames + t)];
        ASSERT_LE(std::hypot(z.real() - re, z.imag() - im), 1e-14) << k << "," << t;
      }
    }
  }
}

// Frames f come back with error at most 2 b || f ||, || f ||^2 = sum_p e_p x_p^2 with the envelope e = sum of squared
// windows over the extended signal (at most 3 || x || long: the odd extension adds 2 x_0); the sum of `overlap`
// windowed frames is divided by e.
template <class T> double reconstruction_bound(const StftOptions& o, std::int64_t n, double norm) {
  const std::vector<double> w = o.window.empty() ? window(WindowKind::Hann, o.n_fft) : o.window;
  const std::int64_t hop = *o.hop, size = static_cast<std::int64_t>(w.size()),
                     extension = (o.place == WindowPlace::Centre ? o.n_fft : size) / 2;
  const std::int64_t left = o.place == WindowPlace::Centre ? (o.n_fft - size) / 2 : 0;
  const std::int64_t frames = stft_frames(n, o);
  double least = 1e300, most = 0, largest = 0;
  for (const double v : w) largest = std::max(largest, v);
  for (std::int64_t p = 0; p < n; ++p) {
    double sum = 0;
    for (std::int64_t t = 0; t < frames; ++t) {
      const std::int64_t j = p + extension - t * hop - left;
      if (j >= 0 && j < size) sum += w[static_cast<std::size_t>(j)] * w[static_cast<std::size_t>(j)];
    }
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  const double overlap = static_cast<double>((size + hop - 1) / hop);
  return (2 * 1.4143 * bound<T>({o.n_fft}) + (overlap + 8) * kU<T>)*largest * std::sqrt(overlap * most) / least * 3 *
         norm;
}

TEST(Functions, StftGivesTheSignalBack) {
  const Executor e = Executor::host();
  const std::int64_t n = 333;
  const auto x = Array<float>::from_host(e, {2, n}, random_real<float>(2 * n, 4));
  const auto z = Array<C<double>>::from_host(e, {n}, random_complex<double>(n, 5));
  const auto check = [&](const StftOptions& o) {
    const double limit = reconstruction_bound<float>(o, n, norm2(x.to_host()));
    EXPECT_LE(distance(istft(e, stft(e, x, o), o, {.length = n}).to_host(), x.to_host()), limit);
    StftOptions two = o;
    two.sides = Sides::Two;
    EXPECT_LE(distance(istft(e, stft(e, x, two), two, {.length = n}).to_host(), x.to_host()), limit);
    EXPECT_LE(distance(complex_istft(e, stft(e, z, two), two, {.length = n}).to_host(), z.to_host()),
              reconstruction_bound<double>(o, n, norm2(z.to_host())));
  };
  for (const std::int64_t hop : {4, 8, 13}) {
    for (const WindowKind kind : {WindowKind::Hann, WindowKind::Kaiser, WindowKind::Boxcar}) {
      for (const Boundary boundary : {Boundary::Reflect, Boundary::Zeros, Boundary::Odd}) {
        check({.n_fft = 32,
               .hop = hop,
               .window = window(kind, 26, {.beta = 4}),
               .boundary = boundary,
               .tail = Tail::Complete,
               .scaling = StftScaling::Spectrum});
      }
    }
  }
  check(scipy_stft(64));
}

TEST(Functions, OverlapAddEqualsOneLongTransform) {
  const Executor e = Executor::host();
  const auto a = Array<double>::from_host(e, {3, 5000}, random_real<double>(15000, 1)),
             b = Array<double>::from_host(e, {1, 21}, random_real<double>(21, 2));
  const ConvolveOptions o{.axes = {{1}}};
  Recorder recorder(e);
  const auto blocks = oaconvolve(e, a, b, o).to_host();
  EXPECT_EQ(recorder.count(EventKind::Dispatch, "fft.r2c"), 2);
  EXPECT_EQ(recorder.count(EventKind::Dispatch, "fft.c2r"), 1);
  const auto direct = convolve(e, a, b, {.axes = {{1}}, .method = ConvolveMethod::Direct}).to_host();
  EXPECT_LE(distance(blocks, direct), 3 * bound<double>({256}) * norm2(a.to_host()) * 21);
  EXPECT_LE(distance(fftconvolve(e, a, b, o).to_host(), direct), 3 * bound<double>({5040}) * norm2(a.to_host()) * 21);
}

std::string refused(const std::function<void()>& call) { return message_of<InvalidArgument>(call); }

TEST(FunctionArguments, Transforms) {
  const Executor e = Executor::host(), sim = Executor::open("sim:trn2");
  const Array<C<double>> x(e, {3, 4});
  const Array<double> r(e, {3, 4});
  EXPECT_IN("fft.fft: axis 2 of an array of rank 2; use -2 to 1", refused([&] { (void)fft(e, x, {.axis = 2}); }));
  EXPECT_IN("fft.ifft: the transform along axis 1 has 0 points", refused([&] { (void)ifft(e, x, {.n = 0}); }));
  EXPECT_IN("fft.rfft: the transform along axis 1 has -4 points", refused([&] { (void)rfft(e, r, {.n = -4}); }));
  EXPECT_IN("fft.irfft: the transform along axis 1 has 0 points (2 (m - 1) for m given ones)", refused([&] {
              (void)irfft(e, Array<C<double>>(e, {3, 1}));
            }));
  EXPECT_IN("fft.fftn: axis 1 is given twice", refused([&] { (void)fftn(e, x, {.axes = {{1, -1}}}); }));
  EXPECT_IN("fft.fftn: no axes", refused([&] { (void)fftn(e, x, {.axes = {std::vector<std::int64_t>{}}}); }));
  EXPECT_IN("fft.rfftn: 1 lengths for 2 axes", refused([&] { (void)rfftn(e, r, {.s = {{4}}, .axes = {{0, 1}}}); }));
  EXPECT_IN("fft.fftn: 3 lengths for an array of rank 2", refused([&] { (void)fftn(e, x, {.s = {{1, 2, 3}}}); }));
  EXPECT_IN("fft.fft2: axis -2 of an array of rank 1", refused([&] { (void)fft2(e, Array<C<double>>(e, {4})); }));
  EXPECT_IN("fft.fft: the array has rank 0", refused([&] { (void)fft(e, Array<C<double>>(e, {})); }));
  EXPECT_IN("fft.fft: x lives on executor 'host', the call runs on 'sim:trn2'",
            refused([&] { (void)fft(sim, x, {.n = 8}); }));
  EXPECT_IN("not offered on the host",
            message_of<NotImplemented>([&] { (void)fft(e, x, {.precision = Mode::Exact}); }));
  EXPECT_IN("fft.fftfreq: n is 0", refused([&] { (void)fftfreq(e, 0); }));
  EXPECT_IN("fft.rfftfreq: the spacing is 0", refused([&] { (void)rfftfreq(e, 4, 0); }));
  EXPECT_IN("fft.ifftshift: axis 5", refused([&] { (void)ifftshift(e, x, {.axes = {{5}}}); }));
  EXPECT_IN("fft.next_fast_len: n is 0", refused([&] { (void)next_fast_len(0); }));
}

TEST(FunctionArguments, CosinesAndConvolutions) {
  const Executor e = Executor::host(), sim = Executor::open("sim:trn2");
  const Array<float> x(e, {3, 4}), y(e, {4, 3}), v(e, {4}), one(e, {3, 1}), none(e, {3, 0});
  EXPECT_IN("fft.dct: the transform along axis 1 has 1 points; it needs at least 2",
            refused([&] { (void)dct(e, one, {.type = CosineType::I}); }));
  EXPECT_IN("fft.idst: the transform along axis 0 has 0 points; it needs at least 1",
            refused([&] { (void)idst(e, x, {.n = 0, .axis = 0}); }));
  EXPECT_IN("fft.dctn: axis 0 is given twice", refused([&] { (void)dctn(e, x, {.axes = {{0, 0}}}); }));
  EXPECT_IN("fft.dstn: 1 lengths for 2 axes", refused([&] { (void)dstn(e, x, {.s = {{3}}, .axes = {{0, 1}}}); }));
  EXPECT_IN("fft.dct: type is 9", refused([&] { (void)dct(e, x, {.type = static_cast<CosineType>(9)}); }));
  EXPECT_IN("fft.dct: x lives on executor 'host'", refused([&] { (void)dct(sim, x); }));
  EXPECT_IN("fft.fftconvolve: a has shape (3, 4), b (4); give arrays of the same rank",
            refused([&] { (void)fftconvolve(e, x, v); }));
  EXPECT_IN("mode valid with shapes (3, 4) and (4, 3)",
            refused([&] { (void)oaconvolve(e, x, y, {.mode = ConvolveMode::Valid}); }));
  EXPECT_IN("along axis 0, which is not convolved, extents must be equal or 1",
            refused([&] { (void)fftconvolve(e, x, y, {.axes = {{1}}}); }));
  EXPECT_IN("fft.correlate: a has shape (3, 4), b (3, 0); along axis 1 both need at least one element",
            refused([&] { (void)correlate(e, x, none); }));
  EXPECT_IN("fft.convolve: b lives on executor 'host'", refused([&] { (void)convolve(sim, x.to(sim), y); }));
}

TEST(FunctionArguments, ShortTime) {
  const Executor e = Executor::host();
  const Array<float> x(e, {40});
  EXPECT_IN("fft.stft: n_fft is 0", refused([&] { (void)stft(e, x, {.n_fft = 0}); }));
  EXPECT_IN("fft.stft: the hop is 0", refused([&] { (void)stft(e, x, {.n_fft = 8, .hop = 0}); }));
  EXPECT_IN("fft.stft: the window has 9 points, n_fft is 8",
            refused([&] { (void)stft(e, x, {.n_fft = 8, .win_length = 9}); }));
  EXPECT_IN("win_length is 8 but 3 window values", refused([&] {
              (void)stft(e, x, {.n_fft = 8, .win_length = 8, .window = {1, 1, 1}});
            }));
  EXPECT_IN("a window value is nan", refused([&] { (void)stft(e, x, {.n_fft = 8, .window = {1, std::nan("")}}); }));
  EXPECT_IN("the signal has 40 points, 40 with its extension; a frame needs 64",
            refused([&] { (void)stft(e, x, {.n_fft = 64, .boundary = Boundary::None}); }));
  EXPECT_IN("its reflection by 64 points needs at least 65", refused([&] { (void)stft(e, x, {.n_fft = 128}); }));
  EXPECT_IN("a circular extension by 64 needs as many",
            refused([&] { (void)stft(e, x, {.n_fft = 128, .boundary = Boundary::Circular}); }));
  EXPECT_IN("a complex signal has no symmetric spectrum",
            refused([&] { (void)stft(e, Array<C<float>>(e, {40}), {.n_fft = 8}); }));
  EXPECT_IN("the window's values sum to 0", refused([&] {
              (void)stft(e, x, {.n_fft = 2, .window = {1, -1}, .scaling = StftScaling::Spectrum});
            }));
  EXPECT_IN("the sample rate is -1",
            refused([&] { (void)stft(e, x, {.n_fft = 8, .scaling = StftScaling::Density, .sample_rate = -1}); }));
  EXPECT_IN("the signal has rank 0", refused([&] { (void)stft(e, Array<float>(e, {}), {.n_fft = 8}); }));

  const Array<C<float>> y(e, {5, 9});
  EXPECT_IN("fft.istft: the spectrogram has rank 1",
            refused([&] { (void)istft(e, Array<C<float>>(e, {5}), {.n_fft = 8}); }));
  EXPECT_IN("the spectrogram has 5 frequencies; n_fft 16 with one side has 9",
            refused([&] { (void)istft(e, y, {.n_fft = 16}); }));
  EXPECT_IN("the length 99 must be 1 to that", refused([&] { (void)istft(e, y, {.n_fft = 8}, {.length = 99}); }));
  EXPECT_IN("the spectrogram has no frames", refused([&] {
              (void)istft(e, Array<C<float>>(e, {5, 0}), {.n_fft = 8});
            }));
  EXPECT_IN("a complex signal needs all frequencies", refused([&] { (void)complex_istft(e, y, {.n_fft = 8}); }));
  // Hann windows begin with 0, so without an extension the first point is covered by nothing; hops longer than the
  // window leave gaps.
  EXPECT_IN("the squared windows sum to 0 of their largest value squared at point 0",
            refused([&] { (void)istft(e, y, {.n_fft = 8, .hop = 2, .boundary = Boundary::None}); }));
  EXPECT_IN("cannot be reconstructed",
            refused([&] { (void)istft(e, y, {.n_fft = 8, .hop = 9, .window = std::vector<double>(8, 1.0)}); }));

  EXPECT_IN("fft.window: n is 0", refused([&] { (void)window(WindowKind::Hann, 0); }));
  EXPECT_IN("fft.window: beta is -1", refused([&] { (void)window(WindowKind::Kaiser, 4, {.beta = -1}); }));
  EXPECT_IN("fft.window: the hop is 0", refused([&] { (void)satisfies_nola({1, 1}, 0); }));
  EXPECT_IN("fft.window: the window is empty", refused([&] { (void)satisfies_cola({}, 1); }));
}

// What has no device kernel says so; nothing is computed on the host instead.
TEST(FunctionArguments, NoSilentFallback) {
  const Executor sim = Executor::open("sim:trn2");
  const Array<double> x(sim, {40});
  const Array<C<double>> y(sim, {5, 9});
  Recorder recorder(sim), host(Executor::host());
  EXPECT_IN("fft.dct: executor 'sim:trn2' computes", message_of<NotImplemented>([&] { (void)dct(sim, x); }));
  EXPECT_IN("fft.idst: executor 'sim:trn2' computes", message_of<NotImplemented>([&] { (void)idst(sim, x); }));
  EXPECT_IN("fft.stft: executor 'sim:trn2' computes",
            message_of<NotImplemented>([&] { (void)stft(sim, x, {.n_fft = 8}); }));
  EXPECT_IN("fft.istft: executor 'sim:trn2' computes",
            message_of<NotImplemented>([&] { (void)istft(sim, y, {.n_fft = 8}); }));
  EXPECT_EQ(recorder.count(EventKind::Dispatch), 0);
  EXPECT_EQ(host.count(EventKind::Dispatch), 0);
  // Tables and copies work everywhere.
  EXPECT_EQ(fftfreq<float>(sim, 5).to_host(), fftfreq<float>(Executor::host(), 5).to_host());
  const auto odd = Array<float>::from_host(sim, {5}, std::vector<float>{0, 1, 2, 3, 4});
  EXPECT_EQ(fftshift(sim, odd).to_host(), (std::vector<float>{3, 4, 0, 1, 2}));
}

}  // namespace
}  // namespace trn::fft::test
