// Every function in the NumPy manner against SciPy in long double (scipy_reference.py), in float and in double, with
// inputs in several layouts, within analysed bounds.
#include "fft_support.hpp"
#include "test_paths.hpp"

#include <cstdio>

#include <nlohmann/json.hpp>

#include <trn/fft/convolve.hpp>
#include <trn/fft/cosine.hpp>
#include <trn/fft/frequencies.hpp>
#include <trn/fft/stft.hpp>
#include <trn/fft/transforms.hpp>

namespace trn::fft::test {
namespace {

using nlohmann::json;

std::vector<json> reference(const std::string& family) {
  const std::string command =
      std::string(TRN_PYTHON) + " -B " + TRN_SOURCE_DIR + "/fft/test/scipy_reference.py " + family;
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[65536];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::vector<json> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = text.find('\n', from);
    lines.push_back(json::parse(text.substr(from, to - from)));
    from = to + 1;
  }
  return lines;
}

template <class E> struct Scalar { using type = E; };
template <class T> struct Scalar<std::complex<T>> { using type = T; };

// An array of a reference line. Layout 0 is dense; 1 has its axes in reverse order in memory; 2 has gaps and runs
// backwards.
template <class E> struct Stored {
  std::vector<E> memory;
  Shape shape;
  Strides strides;
  std::int64_t first = 0;
  View<const E> view() const { return {Executor::host(), memory.data() + first, shape, strides}; }
};
template <class E> Stored<E> stored(const json& a, int layout) {
  using T = typename Scalar<E>::type;
  Stored<E> s;
  s.shape = a["shape"].get<Shape>();
  s.strides = layout == 1 ? column_major_strides(s.shape) : row_major_strides(s.shape);
  if (layout == 2) {
    for (std::int64_t& stride : s.strides) stride *= -2;
  }
  const OffsetRange range = offset_range(s.shape, s.strides);
  s.first = -range.lowest;
  s.memory.assign(static_cast<std::size_t>(range.highest - range.lowest + 1), E(T(1e30)));
  each_index(s.shape, [&](const Shape& index, std::size_t i) {
    E& e = s.memory[static_cast<std::size_t>(s.first + offset(index, s.strides))];
    if constexpr (std::is_same_v<E, T>)
      e = static_cast<T>(a["re"][i].get<double>());
    else
      e = {static_cast<T>(a["re"][i].get<double>()), static_cast<T>(a["im"][i].get<double>())};
  });
  return s;
}

template <class T> constexpr double kU = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;

double norm2(const json& a) {
  double sum = 0;
  for (const double v : a["re"]) sum += v * v;
  if (a.contains("im")) {
    for (const double v : a["im"]) sum += v * v;
  }
  return std::sqrt(sum);
}

// || y - want || <= bound, the shapes being equal. Both sums are over at most a few thousand numbers: their own errors
//   vanish beside u.
template <class E> void compare(const Array<E>& y, const json& want, double bound) {
  ASSERT_EQ(y.shape(), want["shape"].get<Shape>());
  const std::vector<E> values = y.to_host();
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double re = std::real(values[i]) - want["re"][i].get<double>();
    const double im = want.contains("im") ? std::imag(values[i]) - want["im"][i].get<double>() : 0;
    sum += re * re + im * im;
  }
  // The reference itself is rounded to double.
  ASSERT_LE(std::sqrt(sum), bound + 0x1p-53 * norm2(want));
}

Norm norm_of(const json& o) {
  const std::string n = o.value("norm", "backward");
  return n == "ortho" ? Norm::Ortho : n == "forward" ? Norm::Forward : Norm::Backward;
}
template <class T> std::optional<T> maybe(const json& o, const char* key) {
  if (!o.contains(key)) return std::nullopt;
  return o[key].get<T>();
}
using Lengths = std::vector<std::int64_t>;

// Bound of a transform of these lengths, relative to the norm of its result.
template <class T> double bound(Kind kind, const Lengths& lengths) {
  Description d = dense(kind, kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, lengths);
  d.scale = Scale::ByLength;
  return Plan<T>(Executor::host(), d).accuracy().bound;
}

template <class T> void check_transform(const json& c, int layout, PlanCache& cache) {
  const Executor e = Executor::host();
  const std::string f = c["f"];
  const json &o = c["o"], &x = c["in"][0], &want = c["out"];
  const TransformOptions one{.n = maybe<std::int64_t>(o, "n"),
                             .axis = o.value("axis", -1),
                             .norm = norm_of(o),
                             .cache = layout ? &cache : nullptr};
  const TransformNOptions many{.s = maybe<Lengths>(o, "s"),
                               .axes = maybe<Lengths>(o, "axes"),
                               .norm = norm_of(o),
                               .cache = layout ? &cache : nullptr};
  // The real side's (or the only) shape has the logical lengths; transform all of it for the bound: more axes, larger
  // bound.
  const bool half_in = f[0] == 'h' || f.substr(0, 3) == "irf";
  const bool half_out = f.substr(0, 2) == "ih" || f.substr(0, 2) == "rf";
  const Shape out = want["shape"];
  Lengths lengths;
  const auto axis = [&](std::int64_t a) {
    return static_cast<std::size_t>(a < 0 ? a + static_cast<std::int64_t>(out.size()) : a);
  };
  std::vector<std::size_t> axes;
  if (f.back() == '2' && !many.axes)
    axes = {out.size() - 2, out.size() - 1};
  else if (f.back() == '2' || f.back() == 'n') {
    if (many.axes)
      for (const std::int64_t a : *many.axes) axes.push_back(axis(a));
    else
      for (std::size_t d = many.s ? out.size() - many.s->size() : 0; d < out.size(); ++d) axes.push_back(d);
  } else
    axes = {axis(one.axis)};
  for (const std::size_t a : axes) lengths.push_back(out[a]);
  if (half_out) {
    const Shape in = x["shape"];
    lengths.back() = many.s ? many.s->back() : one.n ? *one.n : in[axes.back()];
  }
  const Kind kind = half_in ? Kind::ComplexToReal : half_out ? Kind::RealToComplex : Kind::ComplexToComplex;
  // A spectrum that was cut or padded or is not Hermitian at all is still read as a Hermitian one: SciPy does the same,
  // so only roundings differ. But the c2c passes before work on the numbers given, whose norm may exceed that of the
  // part that is used: relative to it, then.
  double size = norm2(want);
  if (kind == Kind::ComplexToReal) {
    double points = 1;
    for (const std::int64_t n : lengths) points *= static_cast<double>(n);
    const double scale = one.norm == Norm::Ortho                          ? 1 / std::sqrt(points)
                         : ((one.norm == Norm::Forward) == (f[0] == 'h')) ? 1 / points
                                                                          : 1;
    size = std::sqrt(2 * points) * norm2(x) * scale;
  }
  const double limit = bound<T>(kind, lengths) * size;
  using C = std::complex<T>;
  const auto run = [&](const auto& v) {
    using V = std::decay_t<decltype(v)>;
    if (f == "fft") return compare(fft(e, v, one), want, limit);
    if (f == "ifft") return compare(ifft(e, v, one), want, limit);
    if (f == "fft2") return compare(fft2(e, v, many), want, limit);
    if (f == "ifft2") return compare(ifft2(e, v, many), want, limit);
    if (f == "fftn") return compare(fftn(e, v, many), want, limit);
    if (f == "ifftn") return compare(ifftn(e, v, many), want, limit);
    if constexpr (std::is_same_v<ElementOf<V>, T>) {
      if (f == "rfft") return compare(rfft(e, v, one), want, limit);
      if (f == "ihfft") return compare(ihfft(e, v, one), want, limit);
      if (f == "rfft2") return compare(rfft2(e, v, many), want, limit);
      if (f == "ihfft2") return compare(ihfft2(e, v, many), want, limit);
      if (f == "rfftn") return compare(rfftn(e, v, many), want, limit);
      if (f == "ihfftn") return compare(ihfftn(e, v, many), want, limit);
    } else {
      if (f == "irfft") return compare(irfft(e, v, one), want, limit);
      if (f == "hfft") return compare(hfft(e, v, one), want, limit);
      if (f == "irfft2") return compare(irfft2(e, v, many), want, limit);
      if (f == "hfft2") return compare(hfft2(e, v, many), want, limit);
      if (f == "irfftn") return compare(irfftn(e, v, many), want, limit);
      if (f == "hfftn") return compare(hfftn(e, v, many), want, limit);
    }
    FAIL() << "unknown function " << f;
  };
  if (x.contains("im"))
    run(stored<C>(x, layout).view());
  else
    run(stored<T>(x, layout).view());
}

#define TRACE_CASE(c)                                                         \
  SCOPED_TRACE((c)["f"].get<std::string>() + " " + (c)["o"].dump() + " of " + \
               ((c)["in"].empty() ? json() : (c)["in"][0]["shape"]).dump())

TEST(SciPy, Transforms) {
  PlanCache cache(16);
  int number = 0;
  for (const json& c : reference("transforms")) {
    TRACE_CASE(c);
    check_transform<double>(c, number % 3, cache);
    check_transform<float>(c, (number + 1) % 3, cache);
    ++number;
    if (HasFailure()) return;
  }
  EXPECT_GE(number, 250);
  EXPECT_GT(cache.misses(), 100u);
}

template <class E> void check_shift(const json& c, int layout) {
  const Executor e = Executor::host();
  const Stored<E> x = stored<E>(c["in"][0], layout);
  const ShiftOptions o{.axes = maybe<Lengths>(c["o"], "axes")};
  compare(c["f"] == "fftshift" ? fftshift(e, x.view(), o) : ifftshift(e, x.view(), o), c["out"], 0);
}

TEST(SciPy, FrequenciesAndShifts) {
  const Executor e = Executor::host();
  int number = 0;
  for (const json& c : reference("shifts")) {
    TRACE_CASE(c);
    const json& o = c["o"];
    if (c["f"] == "fftfreq" || c["f"] == "rfftfreq") {
      const std::int64_t n = o["n"];
      const double d = o["spacing"];
      const bool full = c["f"] == "fftfreq";
      compare(full ? fftfreq(e, n, d) : rfftfreq(e, n, d), c["out"], 2 * kU<double> * norm2(c["out"]));
      compare(full ? fftfreq<float>(e, n, d) : rfftfreq<float>(e, n, d), c["out"], kU<float> * norm2(c["out"]));
    } else if (c["out"].contains("im")) {
      check_shift<std::complex<float>>(c, number % 3);
      check_shift<std::complex<double>>(c, number % 3);
    } else {
      check_shift<float>(c, number % 3);
      check_shift<double>(c, number % 3);
    }
    ++number;
  }
  EXPECT_GE(number, 60);
}

template <class T> void check_cosine(const json& c, int layout, PlanCache* cache) {
  const Executor e = Executor::host();
  const std::string f = c["f"];
  const json& o = c["o"];
  const auto type = static_cast<CosineType>(o["type"].get<int>());
  const CosineOptions one{
      type, maybe<std::int64_t>(o, "n"), o.value("axis", -1), norm_of(o), maybe<bool>(o, "orthogonalize"), {}, cache};
  const CosineNOptions many{
      type, maybe<Lengths>(o, "s"), maybe<Lengths>(o, "axes"), norm_of(o), maybe<bool>(o, "orthogonalize"), {}, cache};
  const Stored<T> x = stored<T>(c["in"][0], layout);
  // cosine.hpp: 2 B + 12 u for each axis, B of the transform it is made of (2n + 2 points at most). Not orthogonal, its
  // condition number is at most sqrt(2) per axis.
  const Shape out = c["out"]["shape"];
  double limit = 0;
  for (const std::int64_t n : out) {
    double b = 0;
    for (const std::int64_t m : {n, 2 * n, 2 * n + 2, std::max<std::int64_t>(2 * n - 2, 1)})
      b = std::max(b, bound<T>(Kind::ComplexToComplex, {m}));
    limit += 1.4143 * (2 * b + 12 * kU<T>);
  }
  limit *= norm2(c["out"]);
  if (f == "dct") return compare(dct(e, x.view(), one), c["out"], limit);
  if (f == "idct") return compare(idct(e, x.view(), one), c["out"], limit);
  if (f == "dst") return compare(dst(e, x.view(), one), c["out"], limit);
  if (f == "idst") return compare(idst(e, x.view(), one), c["out"], limit);
  if (f == "dctn") return compare(dctn(e, x.view(), many), c["out"], limit);
  if (f == "idctn") return compare(idctn(e, x.view(), many), c["out"], limit);
  if (f == "dstn") return compare(dstn(e, x.view(), many), c["out"], limit);
  if (f == "idstn") return compare(idstn(e, x.view(), many), c["out"], limit);
  FAIL() << f;
}

TEST(SciPy, CosineAndSine) {
  PlanCache cache;
  int number = 0;
  for (const json& c : reference("cosine")) {
    TRACE_CASE(c);
    check_cosine<double>(c, number % 3, number % 2 ? &cache : nullptr);
    check_cosine<float>(c, (number + 1) % 3, nullptr);
    ++number;
    if (HasFailure()) return;
  }
  EXPECT_GE(number, 400);
}

template <class E> void check_convolve(const json& c, int layout, PlanCache* cache) {
  using T = typename Scalar<E>::type;
  const Executor e = Executor::host();
  const std::string f = c["f"], mode = c["o"]["mode"], method = c["o"].value("method", "auto");
  const ConvolveOptions o{.mode = mode == "full"   ? ConvolveMode::Full
                                  : mode == "same" ? ConvolveMode::Same
                                                   : ConvolveMode::Valid,
                          .axes = maybe<Lengths>(c["o"], "axes"),
                          .method = method == "direct" ? ConvolveMethod::Direct
                                    : method == "fft"  ? ConvolveMethod::Fft
                                                       : ConvolveMethod::Auto,
                          .cache = cache};
  const Stored<E> a = stored<E>(c["in"][0], layout), b = stored<E>(c["in"][1], (layout + 1) % 3);
  // convolve.hpp: (3 B + 6 u) ||a||_2 ||b||_1, of whichever is the shorter; sums of m terms, (m + 4) sqrt(2) u, lie
  // below the same with the terms counted.
  const auto norm1 = [](const json& x) {
    double sum = 0;
    for (std::size_t i = 0; i < x["re"].size(); ++i)
      sum += std::hypot(x["re"][i].get<double>(), x.contains("im") ? x["im"][i].get<double>() : 0.0);
    return sum;
  };
  const json &ja = c["in"][0], &jb = c["in"][1];
  double terms = 1;
  Lengths lengths;
  for (std::size_t d = 0; d < a.shape.size(); ++d) {
    lengths.push_back(next_fast_len(4 * (a.shape[d] + b.shape[d])));  // at least what any of them takes
    terms *= static_cast<double>(std::min(a.shape[d], b.shape[d]));
  }
  const bool direct = method == "direct" || (method == "auto" && f != "fftconvolve" && f != "oaconvolve");
  const double relative =
      std::max(3 * bound<T>(Kind::ComplexToComplex, lengths) + 6 * kU<T>, direct ? 1.4143 * (terms + 4) * kU<T> : 0);
  const double limit = relative * std::min(norm2(ja) * norm1(jb), norm1(ja) * norm2(jb));
  if (f == "fftconvolve") return compare(fftconvolve(e, a.view(), b.view(), o), c["out"], limit);
  if (f == "oaconvolve") return compare(oaconvolve(e, a.view(), b.view(), o), c["out"], limit);
  if (f == "convolve") return compare(convolve(e, a.view(), b.view(), o), c["out"], limit);
  if (f == "correlate") return compare(correlate(e, a.view(), b.view(), o), c["out"], limit);
  FAIL() << f;
}

TEST(SciPy, Convolutions) {
  PlanCache cache;
  int number = 0;
  for (const json& c : reference("convolve")) {
    TRACE_CASE(c);
    SCOPED_TRACE(c["in"][1]["shape"].dump());
    if (c["out"].contains("im")) {
      if (number % 2)
        check_convolve<std::complex<double>>(c, number % 3, &cache);
      else
        check_convolve<std::complex<float>>(c, number % 3, nullptr);
    } else {
      if (number % 2)
        check_convolve<double>(c, number % 3, nullptr);
      else
        check_convolve<float>(c, number % 3, &cache);
    }
    ++number;
    if (HasFailure()) return;
  }
  EXPECT_GE(number, 400);
}

template <class T> void check_stft(const json& c, int layout) {
  const Executor e = Executor::host();
  const json& o = c["o"];
  const std::string boundary = o["boundary"];
  const std::int64_t nperseg = o["nperseg"];
  const StftOptions options{.n_fft = o["nfft"],
                            .hop = nperseg - o["noverlap"].get<std::int64_t>(),
                            .window = o["window"].get<std::vector<double>>(),
                            .place = WindowPlace::Start,
                            .boundary = boundary == "none"    ? Boundary::None
                                        : boundary == "zeros" ? Boundary::Zeros
                                        : boundary == "even"  ? Boundary::Reflect
                                        : boundary == "odd"   ? Boundary::Odd
                                                              : Boundary::Replicate,
                            .tail = o["padded"].get<bool>() ? Tail::Complete : Tail::Drop,
                            .scaling = o["scaling"] == "psd" ? StftScaling::Density : StftScaling::Spectrum,
                            .sample_rate = o["fs"],
                            .sides = o["onesided"].get<bool>() ? Sides::One : Sides::Two};
  const json &x = c["in"][0], &want = c["out"];
  using C = std::complex<T>;
  const double b = bound<T>(Kind::RealToComplex, {options.n_fft}) + 3 * kU<T>;
  if (c["f"] == "stft") {
    // SciPy divides by the window's sum in long double of doubles; ours rounds window * scale once.
    const double limit = (b + 2 * kU<T>)*norm2(want);
    if (x.contains("im"))
      compare(stft(e, stored<C>(x, layout).view(), options), want, limit);
    else
      compare(stft(e, stored<T>(x, layout).view(), options), want, limit);
    return;
  }
  // x_p = scale * sum_t w f_t / sum_t w^2. Frames f with relative error b give a sum with error b max|w| sqrt(overlap)
  // ||f||, and ||f|| <= sqrt(2/n_fft) ||Y||.
  double sum = 0, squares = 0, most = 0;
  for (const double w : options.window) sum += w, squares += w * w, most = std::max(most, std::abs(w));
  const double scale = options.scaling == StftScaling::Density ? std::sqrt(options.sample_rate * squares) : sum;
  const double overlap = static_cast<double>((nperseg + *options.hop - 1) / *options.hop);
  const std::int64_t points = want["shape"].back(), frame_count = x["shape"].back();
  double least = 1e300;
  for (std::int64_t p = 0; p < points; ++p) {
    double envelope = 0;
    for (std::int64_t t = 0; t < frame_count; ++t) {
      const std::int64_t j = p + nperseg / 2 - t * *options.hop;
      if (j >= 0 && j < nperseg)
        envelope += options.window[static_cast<std::size_t>(j)] * options.window[static_cast<std::size_t>(j)];
    }
    least = std::min(least, envelope);
  }
  const double limit = (b + (overlap + 4) * kU<T>)*most * std::sqrt(overlap) *
                       std::sqrt(2.0 / static_cast<double>(options.n_fft)) * norm2(x) * scale / least;
  const Stored<C> y = stored<C>(x, layout);
  const std::int64_t length = want["shape"].back();
  if (want.contains("im"))
    compare(complex_istft(e, y.view(), options, {.length = length}), want, limit);
  else
    compare(istft(e, y.view(), options, {.length = length}), want, limit);
}

TEST(SciPy, ShortTimeTransforms) {
  int number = 0, back = 0;
  for (const json& c : reference("stft")) {
    TRACE_CASE(c);
    check_stft<double>(c, number % 3);
    check_stft<float>(c, (number + 1) % 3);
    ++number;
    back += c["f"] == "istft";
    if (HasFailure()) return;
  }
  EXPECT_GE(number, 50);
  EXPECT_GE(back, 10);
}

TEST(SciPy, Windows) {
  int number = 0;
  for (const json& c : reference("windows")) {
    TRACE_CASE(c);
    const json& o = c["o"];
    WindowKind kind = WindowKind::Boxcar;
    while (o["kind"] != name(kind)) kind = static_cast<WindowKind>(static_cast<int>(kind) + 1);
    const bool periodic = o.value("periodic", true);
    const std::vector<double> w = window(
        kind, o["n"], {.form = periodic ? WindowForm::Periodic : WindowForm::Symmetric, .beta = o.value("beta", 12.0)});
    ++number;
    if (c["f"] == "overlap") {
      EXPECT_EQ(satisfies_cola(w, o["hop"]), o["cola"].get<bool>());
      EXPECT_EQ(satisfies_nola(w, o["hop"]), o["nola"].get<bool>());
      continue;
    }
    // SciPy computes in double: cosines of rounded angles near 1 (2 u), Bessel functions of rounded arguments up to 40
    // (41 u relative).
    const std::vector<double> want = c["out"]["re"];
    ASSERT_EQ(w.size(), want.size());
    for (std::size_t j = 0; j < w.size(); ++j)
      EXPECT_NEAR(w[j], want[j], (kind == WindowKind::Kaiser ? 60 : 4) * kU<double>) << j;
  }
  EXPECT_GE(number, 100);
}

}  // namespace
}  // namespace trn::fft::test
