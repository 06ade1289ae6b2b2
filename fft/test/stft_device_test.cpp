// Short-time transforms on simulated devices against their definition in long double, within the header's bounds:
// frames on either side of the hardware's edges, every boundary, real and complex signals, one and two sides; and the
// sum over frames in any order, as NKI text.
#include <trn/fft/overlap_program.hpp>
#include <trn/fft/stft.hpp>
#include <trn/neuron/sim.hpp>

#include "fft_support.hpp"
#include "support/nki_run.hpp"

namespace trn::fft::test {
namespace {

using C = std::complex<float>;
using LC = std::complex<long double>;
constexpr double u = 0x1p-24;

// Point p of a signal with its extension, by the header's words.
LC extended(const std::vector<LC>& x, std::int64_t p, std::int64_t extension, Boundary boundary) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto at = [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; };
  if (p >= 0 && p < n) return at(p);
  if (p < -extension || p >= n + extension) return 0;
  const std::int64_t mirror = p < 0 ? -p : 2 * (n - 1) - p;
  switch (boundary) {
    case Boundary::None:
    case Boundary::Zeros:
      return 0;
    case Boundary::Reflect:
      return at(mirror);
    case Boundary::Odd:
      return 2.0L * at(p < 0 ? 0 : n - 1) - at(mirror);
    case Boundary::Replicate:
      return at(p < 0 ? 0 : n - 1);
    case Boundary::Circular:
      return at(((p % n) + n) % n);
  }
  return 0;
}

struct Case {
  StftOptions o;
  std::int64_t length;
  [[nodiscard]] std::int64_t hop() const { return *o.hop; }
  [[nodiscard]] std::int64_t extension() const { return o.boundary == Boundary::None ? 0 : o.n_fft / 2; }
  [[nodiscard]] std::int64_t bins() const { return o.sides == Sides::One ? o.n_fft / 2 + 1 : o.n_fft; }
};

std::vector<Turn<long double>> roots_of(std::int64_t n) {
  std::vector<Turn<long double>> all;
  for (std::int64_t k = 0; k < n; ++k) all.push_back(turn<long double>(k, n));
  return all;
}

// (bins, count)
std::vector<LC> definition(const Case& c, const std::vector<LC>& x, std::int64_t count) {
  const std::int64_t n = c.o.n_fft;
  const std::vector<double> w = c.o.window.empty() ? window(WindowKind::Hann, n) : c.o.window;
  const auto roots = roots_of(n);
  std::vector<LC> y(static_cast<std::size_t>(c.bins() * count));
  for (std::int64_t t = 0; t < count; ++t) {
    std::vector<LC> frame;
    for (std::int64_t j = 0; j < n; ++j)
      frame.push_back(static_cast<long double>(w[static_cast<std::size_t>(j)]) *
                      extended(x, t * c.hop() + j - c.extension(), c.extension(), c.o.boundary));
    for (std::int64_t k = 0; k < c.bins(); ++k) {
      LC sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto& r = roots[static_cast<std::size_t>(j * k % n)];
        sum += frame[static_cast<std::size_t>(j)] * LC(r.c, -r.s);
      }
      y[static_cast<std::size_t>(k * count + t)] = sum;
    }
  }
  return y;
}

template <class E> std::vector<E> random_values(std::int64_t n, std::uint32_t seed) {
  if constexpr (std::is_same_v<E, float>)
    return random_real<float>(n, seed);
  else
    return random_complex<float>(n, seed);
}
template <class E> std::vector<LC> wide(const E* from, std::int64_t n) { return {from, from + n}; }

class StftOnDevice : public ::testing::TestWithParam<const char*> {
 protected:
  const Executor e_ = Executor::open(GetParam());
  mutable PlanCache cache_;

  template <class F> auto observed(const char* operation, F call) const {
    Recorder device(e_), host(Executor::host());
    auto y = call();
    EXPECT_EQ(device.family_of(operation), "device");
    EXPECT_GE(device.count(EventKind::Run), 1);
    EXPECT_EQ(host.count(EventKind::Dispatch), 0);
    EXPECT_EQ(device.count(EventKind::Copy), device.count(EventKind::Copy, e_.name() + " -> " + e_.name()));
    return y;
  }
  double transform_bound(std::int64_t n, Kind kind) const {
    if (n <= 128) return 2 * (n + std::sqrt(n) + 2) * u;
    const Direction d = kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
    return cache_.get<float>(e_, dense(kind, d, {n}, {.batch = 2})).accuracy().bound;
  }

  // Two signals against the definition, frame by frame.
  template <class E> void check(Case c) const {
    c.o.cache = &cache_;
    const auto x = random_values<E>(2 * c.length, static_cast<std::uint32_t>(c.length));
    const auto dx = Array<E>::from_host(e_, {2, c.length}, x);
    const auto y = observed("fft.stft", [&] { return stft(e_, dx, c.o); });
    const std::int64_t count = stft_frames(c.length, c.o);
    ASSERT_EQ(y.shape(), (Shape{2, c.bins(), count}));
    const auto got = y.to_host();
    const double bound =
        transform_bound(c.o.n_fft, std::is_same_v<E, float> && c.o.sides == Sides::One ? Kind::RealToComplex
                                                                                       : Kind::ComplexToComplex) +
        3 * u;
    for (std::int64_t b = 0; b < 2; ++b) {
      const auto want = definition(c, wide(x.data() + b * c.length, c.length), count);
      for (std::int64_t t = 0; t < count; ++t) {
        long double error = 0, norm = 0;
        for (std::int64_t k = 0; k < c.bins(); ++k) {
          const LC exact = want[static_cast<std::size_t>(k * count + t)];
          error += std::norm(LC(got[static_cast<std::size_t>((b * c.bins() + k) * count + t)]) - exact);
          norm += std::norm(exact);
        }
        ASSERT_LE(std::sqrt(error), bound * std::sqrt(norm))
            << "n_fft " << c.o.n_fft << ", frame " << t << " of " << count;
      }
    }
  }

  // An arbitrary spectrogram against x_p = sum of w_j frame_j / sum of w_j^2.
  template <class E> void check_inverse(Case c) const {
    c.o.cache = &cache_;
    const std::int64_t n = c.o.n_fft, count = stft_frames(c.length, c.o), covered = n + c.hop() * (count - 1);
    const auto y = random_complex<float>(2 * c.bins() * count, 9);
    const auto dy = Array<C>::from_host(e_, {2, c.bins(), count}, y);
    const auto x = observed("fft.istft", [&] {
      if constexpr (std::is_same_v<E, float>)
        return istft(e_, dy, c.o, {.length = c.length});
      else
        return complex_istft(e_, dy, c.o, {.length = c.length});
    });
    ASSERT_EQ(x.shape(), (Shape{2, c.length}));
    const auto got = x.to_host();
    const std::vector<double> w = c.o.window.empty() ? window(WindowKind::Hann, n) : c.o.window;
    const auto roots = roots_of(n);
    const Kind kind = c.o.sides == Sides::One ? Kind::ComplexToReal : Kind::ComplexToComplex;
    const double layers = std::ceil(static_cast<double>(n) / static_cast<double>(c.hop()));
    for (std::int64_t b = 0; b < 2; ++b) {
      std::vector<LC> sum(static_cast<std::size_t>(covered));
      std::vector<long double> weight(sum.size());
      long double frames = 0;
      for (std::int64_t t = 0; t < count; ++t) {
        for (std::int64_t j = 0; j < n; ++j) {
          LC v = 0;
          for (std::int64_t k = 0; k < n; ++k) {
            const bool mirrored = k >= c.bins();
            LC z(y[static_cast<std::size_t>((b * c.bins() + (mirrored ? n - k : k)) * count + t)]);
            if (mirrored) z = std::conj(z);
            if (c.o.sides == Sides::One && (k == 0 || 2 * k == n)) z = z.real();
            const auto& r = roots[static_cast<std::size_t>(j * k % n)];
            v += z * LC(r.c, r.s);
          }
          v /= static_cast<long double>(n);
          frames += std::norm(v);
          const auto at = static_cast<std::size_t>(t * c.hop() + j);
          const long double wj = w[static_cast<std::size_t>(j)];
          sum[at] += wj * v;
          weight[at] += wj * wj;
        }
      }
      long double error = 0, factor = 0;
      for (std::int64_t p = 0; p < c.length; ++p) {
        const auto at = static_cast<std::size_t>(p + c.extension());
        LC want = sum[at] / weight[at];
        if (std::is_same_v<E, float>) want = want.real();
        error += std::norm(LC(got[static_cast<std::size_t>(b * c.length + p)]) - want);
        factor = std::max(factor, 1 / weight[at]);
      }
      // Frames err by B of their norm, `layers` products and sums follow, and overlapping layers add up to sqrt(layers)
      // of the norm.
      const double bound =
          (transform_bound(n, kind) + (layers + 4) * u) * std::sqrt(layers) * static_cast<double>(factor);
      ASSERT_LE(std::sqrt(error), bound * std::sqrt(frames)) << "n_fft " << n << ", hop " << c.hop();
    }
  }
};

Case with(std::int64_t n, std::int64_t hop, std::int64_t length, Sides sides = Sides::One,
          Boundary boundary = Boundary::Reflect) {
  return {{.n_fft = n, .hop = hop, .boundary = boundary, .sides = sides}, length};
}

TEST_P(StftOnDevice, SizesOfFrames) {
  for (const auto& [n, hop] : {std::pair{2, 1}, {8, 3}, {127, 40}, {128, 32}, {129, 43}, {256, 64}, {513, 200}})
    check<float>(with(n, hop, 3 * n + 17));
  check<float>(with(16, 4, 5000));  // several blocks of frames
  for (const std::int64_t n : {9, 128, 130}) {
    check<float>(with(n, n / 2, 4 * n, Sides::Two));
    check<C>(with(n, n / 2, 4 * n + 1, Sides::Two));
  }
}

TEST_P(StftOnDevice, EveryBoundary) {
  for (const Boundary boundary :
       {Boundary::None, Boundary::Zeros, Boundary::Reflect, Boundary::Odd, Boundary::Replicate, Boundary::Circular}) {
    for (const std::int64_t n : {16, 140}) {
      check<float>(with(n, n / 3, 2 * n + 5, Sides::One, boundary));
      check<C>(with(n, n / 3, 2 * n + 5, Sides::Two, boundary));
      Case completed = with(n, n / 2 + 1, 2 * n + 3, Sides::One, boundary);
      completed.o.tail = Tail::Complete;
      check<float>(completed);
    }
  }
}

TEST_P(StftOnDevice, InverseSums) {
  for (const auto& [n, hop] : {std::pair{8, 1}, {16, 5}, {128, 32}, {129, 43}, {256, 64}, {140, 70}}) {
    check_inverse<float>(with(n, hop, 5 * n + 3));
    check_inverse<float>(with(n, hop, 4 * n, Sides::Two));
    check_inverse<C>(with(n, hop, 4 * n + 1, Sides::Two));
  }
  check_inverse<float>(with(16, 4, 5000));
  for (const std::int64_t n : {16, 150}) {  // whole frames side by side, without an extension
    Case c = with(n, n, 6 * n, Sides::One, Boundary::None);
    c.o.window = window(WindowKind::Boxcar, n);
    check_inverse<float>(c);
    c.length = n;  // a single frame
    check_inverse<float>(c);
  }
}

// Scalings and windows cancel; shorter windows at either place; results longer than what was asked for are cut.
TEST_P(StftOnDevice, ThereAndBack) {
  const std::int64_t n = 1000;
  const auto x = random_real<float>(n, 3);
  const auto dx = Array<float>::from_host(e_, {n}, x);
  for (const std::int64_t size : {100, 160}) {
    for (const StftScaling scaling :
         {StftScaling::None, StftScaling::Unitary, StftScaling::Spectrum, StftScaling::Density}) {
      const StftOptions o{
          .n_fft = size, .hop = size / 5, .win_length = size - 13, .scaling = scaling, .cache = &cache_};
      const auto back = istft(e_, stft(e_, dx, o), o, {.length = n}).to_host();
      double error = 0, norm = 0;
      for (std::size_t i = 0; i < x.size(); ++i) error += (back[i] - x[i]) * (back[i] - x[i]), norm += x[i] * x[i];
      // Both transforms, and weights at the ends that are as small as 0.4 of those in the middle.
      EXPECT_LE(std::sqrt(error),
                2 * std::sqrt(5.0) * 2.5 * (transform_bound(size, Kind::RealToComplex) + 12 * u) * std::sqrt(norm))
          << size;
    }
  }
  const StftOptions scipy = scipy_stft(64);
  const auto back = istft(e_, stft(e_, dx, scipy), scipy).to_host();
  ASSERT_GE(back.size(), x.size());
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) error += (back[i] - x[i]) * (back[i] - x[i]), norm += x[i] * x[i];
  EXPECT_LE(std::sqrt(error),
            2 * std::sqrt(2.0) * 2 * (transform_bound(64, Kind::RealToComplex) + 9 * u) * std::sqrt(norm));
}

// Every second point of columns; a spectrogram with time first.
TEST_P(StftOnDevice, Views) {
  const auto x = random_real<float>(400 * 3, 4);
  const auto dx = Array<float>::from_host(e_, {400, 3}, x);
  const View<const float> view(e_, dx.data(), {3, 200}, {1, 6});
  for (const Boundary boundary : {Boundary::None, Boundary::Reflect}) {
    for (const std::int64_t n : {20, 132}) {
      const StftOptions o{.n_fft = n, .hop = n / 4, .boundary = boundary};
      const auto y = observed("fft.stft", [&] { return stft(e_, view, o); });
      const std::int64_t count = y.shape()[2], bins = n / 2 + 1;
      const auto got = y.to_host();
      for (std::int64_t b = 0; b < 3; ++b) {
        std::vector<float> signal;
        for (std::size_t j = 0; j < 200; ++j) signal.push_back(x[6 * j + static_cast<std::size_t>(b)]);
        const auto alone = stft(e_, Array<float>::from_host(e_, {200}, signal), o).to_host();
        ASSERT_TRUE(std::equal(alone.begin(), alone.end(), got.begin() + b * static_cast<std::int64_t>(alone.size())))
            << n;
      }
      if (boundary == Boundary::None) continue;
      std::vector<C> turned(got.size());
      each_index({3, bins, count}, [&](const Shape& i, std::size_t at) {
        turned[static_cast<std::size_t>((i[2] * 3 + i[0]) * bins + i[1])] = got[at];
      });
      const auto dt = Array<C>::from_host(e_, {count, 3, bins}, turned);
      const View<const C> there(e_, dt.data(), {3, bins, count}, {bins, 1, 3 * bins});
      const auto one = istft(e_, y, o).to_host(), two = istft(e_, there, o).to_host();
      if (n <= 128) {
        EXPECT_EQ(one, two) << n;  // one matrix, the same sums in the same order
        continue;
      }
      double difference = 0, norm = 0;  // a longer transform may be factored in another way for another layout
      for (std::size_t i = 0; i < one.size(); ++i)
        difference += (one[i] - two[i]) * (one[i] - two[i]), norm += one[i] * one[i];
      EXPECT_LE(std::sqrt(difference),
                2 * std::sqrt(4.0) * 2.5 * (transform_bound(n, Kind::ComplexToReal) + 12 * u) * std::sqrt(norm))
          << n;
    }
  }
}

TEST_P(StftOnDevice, Refusals) {
  const Array<double> x(e_, {80});
  EXPECT_IN("fft.stft: executor 'sim:trn", message_of<NotImplemented>([&] { (void)stft(e_, x, {.n_fft = 8}); }));
  const Array<C> y(e_, {5, 9});
  EXPECT_IN("cannot be reconstructed",
            message_of<InvalidArgument>([&] { (void)istft(e_, y, {.n_fft = 8, .hop = 12}); }));
  EXPECT_IN("cannot be reconstructed",
            message_of<InvalidArgument>([&] { (void)istft(e_, y, {.n_fft = 8, .hop = 8}); }));
  const Array<float> little(e_, {4});
  EXPECT_IN("its reflection by 8 points needs at least 9",
            message_of<InvalidArgument>([&] { (void)stft(e_, little, {.n_fft = 16}); }));
  EXPECT_EQ(stft(e_, Array<float>(e_, {0, 64}), {.n_fft = 16}).shape(), (Shape{0, 9, 17}));
}

INSTANTIATE_TEST_SUITE_P(Simulators, StftOnDevice, ::testing::Values("sim:trn1", "sim:trn2", "sim:trn3"),
                         [](const auto& machine) { return std::string(machine.param).substr(4); });

std::vector<OverlapShape> shapes() {
  return {
      {2, 300, 16, 4, 8, 1190, 1, 1, true},     // many rows to a partition
      {1, 5, 700, 300, 350, 1500, 2, 2, true},  // pairs, hop does not divide
      {3, 20, 64, 16, 0, 360, 1, 2, false},     // every second number, no window
      {1, 1, 40, 40, 7, 30, 1, 1, true},       {1, 3, 2500, 2100, 0, 5000, 1, 1, true},  // columns longer than a tile
  };
}

std::vector<float> run(const OverlapShape& o, const char* name, const neuron::SimOptions& options,
                       std::vector<long double>* want = nullptr, std::vector<long double>* moduli = nullptr) {
  const OverlapRows rows = overlap_rows(o);
  std::vector<float> x = random_real<float>(o.signals * rows.rows * o.points * o.frame_step, 1),
                     w = random_real<float>(o.points, 2), factor = random_real<float>(o.length, 3),
                     y(static_cast<std::size_t>(o.signals * o.length * o.parts));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / (o.points * o.frame_step) % rows.rows - rows.first_row;
    if (row < 0 || row >= o.count) x[i] = 0;
  }
  const tile::Machine& machine = tile::machine(name);
  std::vector<tile::Binding> bindings{{"x", x.data()}, {"factor", factor.data()}, {"y", y.data()}};
  if (o.window) bindings.push_back({"window", w.data()});
  (void)neuron::simulate(overlap_program(o, machine), machine, bindings, options);
  if (want == nullptr) return y;
  want->assign(y.size(), 0);
  moduli->assign(y.size(), 0);
  for (std::int64_t b = 0; b < o.signals; ++b) {
    for (std::int64_t t = 0; t < o.count; ++t) {
      for (std::int64_t j = 0; j < o.points; ++j) {
        const std::int64_t p = t * o.hop + j - o.shift;
        if (p < 0 || p >= o.length) continue;
        for (std::int64_t part = 0; part < o.parts; ++part) {
          const long double v =
              x[static_cast<std::size_t>(((b * rows.rows + rows.first_row + t) * o.points + j) * o.frame_step + part)];
          const auto at = static_cast<std::size_t>((b * o.length + p) * o.parts + part);
          const long double term =
              v * (o.window ? w[static_cast<std::size_t>(j)] : 1) * factor[static_cast<std::size_t>(p)];
          (*want)[at] += term;
          (*moduli)[at] += std::abs(term);
        }
      }
    }
  }
  return y;
}

TEST(OverlapProgram, AddsFramesInAnyOrder) {
  for (const OverlapShape& o : shapes()) {
    for (const char* machine : {"trn1", "trn2", "trn3"}) {
      std::vector<long double> want, moduli;
      const auto reference = run(o, machine, {.order = neuron::Order::in_order(), .check_races = true}, &want, &moduli);
      const auto layers =
          static_cast<double>((o.points + o.hop - 1) / o.hop);  // products, sums, and the factor's product
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_LE(std::abs(reference[i] - want[i]), (layers + 3) * u * moduli[i]) << i << " " << machine;
      for (std::uint64_t seed = 1; seed <= (machine[3] == '2' ? 4 : 1); ++seed)
        EXPECT_TRUE(run(o, machine, {.order = neuron::Order::shuffled(seed)}) == reference) << "seed " << seed;
    }
    EXPECT_EQ(overlap_program(o, tile::machine("trn2")), overlap_program(o, tile::machine("trn2")));
  }
}

TEST(OverlapProgram, Refusals) {
  const tile::Machine& machine = tile::machine("trn2");
  EXPECT_IN("20000 frames of 20000 points lie over a point", message_of<NotImplemented>([&] {
              (void)overlap_program({1, 4, 20000, 1, 0, 100, 1, 1, true}, machine);
            }));
  EXPECT_IN("are not a sum of overlapping frames", message_of<InvalidArgument>([&] {
              (void)overlap_program({1, 4, 20, 0, 0, 100, 1, 1, true}, machine);
            }));
}

TEST(OverlapProgram, NkiGivesTheSimulatorsBits) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    neuron::testing::expect_agreement(overlap_program({2, 300, 16, 4, 8, 1190, 1, 1, true}, tile::machine(machine)));
    neuron::testing::expect_agreement(overlap_program({1, 5, 70, 30, 35, 150, 2, 2, true}, tile::machine(machine)));
  }
  neuron::testing::expect_agreement(overlap_program({3, 20, 64, 16, 0, 360, 1, 2, false}, tile::machine("trn2")));
}

}  // namespace
}  // namespace trn::fft::test
