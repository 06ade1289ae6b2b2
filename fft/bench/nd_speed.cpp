// Plans over several axes, and over strided lines, beside FFTW (FFTW_MEASURE, the same number of threads) in one run,
// as a Markdown table.
//
//   fft_nd_speed [float|double] [c2c|r2c|c2r] [out|in] [threads] [seconds per number] [shapes]
//
// A shape is 8x8x8 (dense, as many transforms one behind the other as make about 2^19 points, at least one), 8x8x8*5
// (five of them), or c64x1000: the 1000 columns of a 64 x 1000 matrix, FFTW's guru layout with stride 1000 and distance
// 1. "in" works in place, real rows padded; there are no real columns in place. Ours runs through the public
// Plan::execute with addresses. Every shape is timed in turn, ours and FFTW's interleaved, in the same memory; the
// smallest time of all rounds counts. The ratio is FFTW's time over ours: above 1 we are ahead.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <trn/fft/plan.hpp>

#include "race.hpp"
#ifdef TRN_HAVE_FFTW
#include <fftw3.h>
#endif

namespace {

using namespace trn::fft;

struct Shape {
  std::string name;
  std::vector<std::int64_t> axes;
  std::int64_t batch = 1;
  bool columns = false;
};

Shape parse(std::string text) {
  Shape s;
  if (text[0] == 'c') s.columns = true, text.erase(0, 1);
  s.name = text;
  std::int64_t points = 1;
  const char* at = text.c_str();
  for (char* end = nullptr; *at != '\0' && *at != '*'; at = *end == 'x' ? end + 1 : end) {
    s.axes.push_back(std::strtoll(at, &end, 10));
    points *= s.axes.back();
  }
  if (s.columns) {
    s.name += ", columns";
    s.batch = s.axes.back();
    s.axes.pop_back();
  } else {
    s.batch = *at == '*' ? std::atoll(at + 1) : std::max<std::int64_t>(1, (std::int64_t{1} << 19) / points);
  }
  return s;
}

struct Options {
  Kind kind = Kind::ComplexToComplex;
  bool in_place = false;
  int threads = 1;
  double seconds = 0.05;
};

Description describe(const Shape& s, const Options& o) {
  const Direction direction = o.kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
  if (!s.columns)
    return dense(o.kind, direction, s.axes,
                 {.batch = s.batch, .padded_real = o.in_place && o.kind != Kind::ComplexToComplex});
  return {o.kind, direction, {{s.axes[0], s.batch, s.batch}}, {{s.batch, 1, 1}}};
}

// Reals of a side that holds either.
std::int64_t reals(const Shape& s) {
  std::int64_t points = s.batch;
  for (std::size_t a = 0; a < s.axes.size(); ++a) points *= a + 1 == s.axes.size() ? s.axes[a] + 2 : s.axes[a];
  return 2 * points;
}

template <class T> std::shared_ptr<T> memory(std::int64_t count) {
  const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 4095) / 4096 * 4096;
  const std::shared_ptr<T> p(static_cast<T*>(std::aligned_alloc(4096, bytes)), std::free);
  std::fill(p.get(), p.get() + count, T(0));
  return p;
}
template <class T> void refill(T* p, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) p[i] = static_cast<T>(i % 97) / 97 - T(0.5);
}

// Both sides of a transform, or the same twice.
template <class T> struct Sides { std::shared_ptr<T> in, out; };

template <class T> std::function<void()> ours(const Shape& s, const Options& o, const Sides<T>& sides) {
  using C = std::complex<T>;
  const trn::Executor host = trn::Executor::host();
  const auto [in, out] = sides;
  const Plan<T> plan(host, describe(s, o));
  const auto workspace = std::make_shared<const trn::Buffer>(host, plan.workspace_bytes());
  return [=, kind = o.kind] {
    const C* pair_in = reinterpret_cast<const C*>(in.get());
    C* pair_out = reinterpret_cast<C*>(out.get());
    if (kind == Kind::ComplexToComplex)
      plan.execute(pair_in, pair_out, workspace->data());
    else if (kind == Kind::RealToComplex)
      plan.execute(static_cast<const T*>(in.get()), pair_out, workspace->data());
    else
      plan.execute(pair_in, out.get(), workspace->data());
  };
}

#ifdef TRN_HAVE_FFTW
// The two precisions of FFTW differ in their prefix.
#define TRN_FFTW(T, P)                                                                                         \
  std::function<void()> fftw(const Shape& s, const Options& o, const Sides<T>& sides) {                        \
    P##_plan_with_nthreads(o.threads);                                                                         \
    T *in = sides.in.get(), *out = sides.out.get();                                                            \
    const Description d = describe(s, o);                                                                      \
    std::vector<P##_iodim64> axes, batch;                                                                      \
    for (const Dimension& a : d.axes) axes.push_back({a.extent, a.input_stride, a.output_stride});             \
    for (const Dimension& b : d.batch) batch.push_back({b.extent, b.input_stride, b.output_stride});           \
    const int rank = static_cast<int>(axes.size()), many = static_cast<int>(batch.size());                     \
    auto *pair_in = reinterpret_cast<P##_complex*>(in), *pair_out = reinterpret_cast<P##_complex*>(out);       \
    const P##_plan plan =                                                                                      \
        o.kind == Kind::ComplexToComplex ? P##_plan_guru64_dft(rank, axes.data(), many, batch.data(), pair_in, \
                                                               pair_out, FFTW_FORWARD, FFTW_MEASURE)           \
        : o.kind == Kind::RealToComplex                                                                        \
            ? P##_plan_guru64_dft_r2c(rank, axes.data(), many, batch.data(), in, pair_out, FFTW_MEASURE)       \
            : P##_plan_guru64_dft_c2r(rank, axes.data(), many, batch.data(), pair_in, out, FFTW_MEASURE);      \
    const std::shared_ptr<void> owner(nullptr, [plan](void*) { P##_destroy_plan(plan); });                     \
    return [plan, owner] { P##_execute(plan); };                                                               \
  }
TRN_FFTW(float, fftwf)
TRN_FFTW(double, fftw)
#endif

const char* const kShapes[] = {"4x4x4",     "8x8x8",     "16x16x16",  "32x32x32",  "64x64x64", "128x128x128",
                               "8x8",       "16x16",     "32x32",     "64x64",     "128x128",  "256x256",
                               "512x512",   "1024x1024", "60x60x60",  "100x100",   "96x48x30", "8x8x8*1",
                               "16x16*1",   "32x32*1",   "c8x65536",  "c16x4096",  "c64x64",   "c64x1000",
                               "c100x1000", "c256x2048", "c1000x500", "c1024x1024"};

template <class T> void table(const Options& o, std::vector<std::string> names) {
  if (names.empty()) names.assign(std::begin(kShapes), std::end(kShapes));
  std::printf("| shape | batch | ours, us | GFlop/s | FFTW / ours |\n|---|---|---|---|---|\n");
  double log_sum = 0, worst = std::numeric_limits<double>::infinity();
  int count = 0;
  for (const std::string& text : names) {
    const Shape s = parse(text);
    if (s.columns && o.in_place && o.kind != Kind::ComplexToComplex) continue;
    std::vector<std::function<void()>> candidates(2);
    const std::int64_t size = reals(s);
    const auto in = memory<T>(size);
    const Sides<T> sides{in, o.in_place ? in : memory<T>(size)};
    candidates[0] = ours<T>(s, o, sides);
#ifdef TRN_HAVE_FFTW
    candidates[1] = fftw(s, o, sides);
#endif
    refill(in.get(), size);  // FFTW_MEASURE has written here
    const std::vector<double> t = race(candidates, o.seconds);
    double points = 1;
    for (const std::int64_t n : s.axes) points *= static_cast<double>(n);
    const double flops =
        (o.kind == Kind::ComplexToComplex ? 5 : 2.5) * points * static_cast<double>(s.batch) * std::log2(points);
    std::printf("| %s | %lld | %.4g | %.1f | ", s.name.c_str(), static_cast<long long>(s.batch), t[0] * 1e6,
                flops / t[0] / 1e9);
    if (std::isfinite(t[1])) {
      std::printf("%.2f |\n", t[1] / t[0]);
      log_sum += std::log(t[1] / t[0]);
      worst = std::min(worst, t[1] / t[0]);
      ++count;
    } else {
      std::printf("- |\n");
    }
    std::fflush(stdout);
  }
  if (count > 0) std::printf("\nFFTW / ours: geometric mean %.2f, smallest %.2f.\n", std::exp(log_sum / count), worst);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) { return std::string(argc > i ? argv[i] : otherwise); };
  Options o;
  const bool is_double = argument(1, "float") == "double";
  o.kind = argument(2, "c2c") == "c2c"   ? Kind::ComplexToComplex
           : argument(2, "c2c") == "r2c" ? Kind::RealToComplex
                                         : Kind::ComplexToReal;
  o.in_place = argument(3, "out") == "in";
  o.threads = std::atoi(argument(4, "1").c_str());
  o.seconds = std::atof(argument(5, "0.05").c_str());
  std::vector<std::string> shapes;
  for (int i = 6; i < argc; ++i) shapes.emplace_back(argv[i]);
  omp_set_num_threads(o.threads);
#ifdef TRN_HAVE_FFTW
  fftwf_init_threads();
  fftw_init_threads();
#endif
  if (is_double)
    table<double>(o, shapes);
  else
    table<float>(o, shapes);
}
