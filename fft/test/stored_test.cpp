// Transforms stored in 16 bits: every number of the plan's float32 result rounded by the rule, errors against sums in
// long double, the same bits where results are exact, who ran what, and a loop that stands still to nearest.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include <trn/blas/narrow.hpp>
#include <trn/fft/stored.hpp>

#include "fft_support.hpp"

namespace trn::fft::test {
namespace {

template <class T> std::vector<T> random_numbers(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i) x.emplace_back(normal(random));
  return x;
}
template <class T> std::vector<float> widened(const std::vector<T>& x) { return {x.begin(), x.end()}; }

template <class T> std::vector<T> stored(const Plan<float>& plan, const std::vector<T>& in, std::int64_t outs,
                                         const Rounding& rounding, Accuracy* accuracy = nullptr) {
  const Executor& e = plan.executor();
  const auto x = Array<T>::from_host(e, {std::ssize(in)}, in);
  const Array<T> y(e, {outs});
  const Accuracy got =
      execute_stored(plan, VectorView<T>(e, x.data(), x.size()), VectorView<T>(e, y.data(), outs), rounding);
  if (accuracy) *accuracy = got;
  return y.to_host();
}

// What the plan itself makes of the same numbers in float32.
std::vector<float> plain(const Plan<float>& plan, const std::vector<float>& in, std::int64_t outs) {
  using C = std::complex<float>;
  const Executor& e = plan.executor();
  const auto x = Array<float>::from_host(e, {std::ssize(in)}, in);
  const Array<float> y(e, {outs});
  const auto points = [](const Array<float>& a) { return reinterpret_cast<C*>(a.data()); };
  const Kind kind = plan.description().kind;
  if (kind == Kind::ComplexToComplex)
    plan.execute(points(x), points(y));
  else if (kind == Kind::RealToComplex)
    plan.execute(x.data(), points(y));
  else
    plan.execute(points(x), y.data());
  return y.to_host();
}

struct Shapes {
  Kind kind;
  Direction direction;
  std::vector<std::int64_t> lengths;
  std::int64_t batch, ins, outs;  // numbers
};
const Shapes kShapes[] = {{Kind::ComplexToComplex, Direction::Forward, {60}, 3, 360, 360},
                          {Kind::RealToComplex, Direction::Forward, {50}, 2, 100, 104},
                          {Kind::ComplexToReal, Direction::Inverse, {51}, 2, 104, 102},
                          {Kind::ComplexToComplex, Direction::Inverse, {6, 10}, 2, 240, 240}};

template <class T> void every_shape(const char* machine) {
  const Executor e = Executor::open(machine);
  for (const Shapes& s : kShapes) {
    const Plan<float> plan(e, dense(s.kind, s.direction, s.lengths, {.batch = s.batch}));
    const auto in = random_numbers<T>(s.ins, 3);
    const auto exact = plain(plan, widened(in), s.outs);
    for (const Rounding& rounding : {Rounding(), Rounding(Rounding::Stochastic{5, 2})}) {
      const Recorder recorder(e);
      Accuracy accuracy;
      const auto got = stored(plan, in, s.outs, rounding, &accuracy);
      EXPECT_EQ(recorder.family_of("blas.round"), name(e.family()));
      EXPECT_EQ(recorder.family_of(s.kind == Kind::ComplexToComplex ? "fft.c2c"
                                   : s.kind == Kind::RealToComplex  ? "fft.r2c"
                                                                    : "fft.c2r"),
                name(e.family()));
      std::vector<T> want(exact.size());
      from_float(exact.data(), dtype_of<T>, want.data(), s.outs, rounding);
      EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(T)), 0) << machine << " " << name(s.kind);
      const double unit = (rounding.is_stochastic() ? 2 : 1) * unit_roundoff(dtype_of<T>);
      EXPECT_DOUBLE_EQ(accuracy.bound, plan.accuracy().bound + unit * (1 + plan.accuracy().bound));
    }
  }
}
TEST(Stored, RoundsWhatThePlanMakes) {
  every_shape<bfloat16>("host"), every_shape<float16>("host");
  every_shape<bfloat16>("sim:trn1"), every_shape<bfloat16>("sim:trn2"), every_shape<float16>("sim:trn3");
}

TEST(Stored, KeepsItsBound) {
  for (const char* machine : {"host", "sim:trn2"}) {
    const Plan<float> plan(Executor::open(machine), dense(Kind::ComplexToComplex, Direction::Forward, {100}));
    const auto in = random_numbers<bfloat16>(200, 9);
    std::vector<Wide<long double>> x;
    for (std::size_t i = 0; i < in.size(); i += 2)
      x.push_back({static_cast<long double>(static_cast<float>(in[i])),
                   static_cast<long double>(static_cast<float>(in[i + 1]))});
    oracle_axis(x, {100}, 0, -1);
    Accuracy accuracy;
    const auto got = stored(plan, in, 200, Rounding::Stochastic{1}, &accuracy);
    long double off = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double re = static_cast<float>(got[2 * i]) - x[i].re,
                        im = static_cast<float>(got[2 * i + 1]) - x[i].im;
      off += re * re + im * im, size += x[i].re * x[i].re + x[i].im * x[i].im;
    }
    const auto error = static_cast<double>(std::sqrt(off / size));
    EXPECT_LE(error, accuracy.bound);
    EXPECT_GT(error, accuracy.bound / 20);
  }
}

// Four points of whole numbers: sums are exact, so that host and devices round equal numbers, to equal bits.
TEST(Stored, SameBitsWhereTransformsAreExact) {
  std::vector<bfloat16> in;
  std::mt19937 random(2);
  for (int i = 0; i < 8 * 64; ++i) in.emplace_back(static_cast<float>(random() % 255) - 127);
  const Description d = dense(Kind::ComplexToComplex, Direction::Forward, {4}, {.batch = 64});
  const auto of = [&](const char* machine, std::uint64_t seed) {
    return stored(Plan<float>(Executor::open(machine), d), in, 8 * 64, Rounding::Stochastic{seed});
  };
  const auto host = of("host", 4), other = of("host", 5);
  const auto same = [](const std::vector<bfloat16>& a, const std::vector<bfloat16>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(bfloat16)) == 0;
  };
  EXPECT_TRUE(same(of("sim:trn1", 4), host) && same(of("sim:trn2", 4), host) && same(of("sim:trn3", 4), host));
  EXPECT_FALSE(same(other, host));
}

// A wave whose spectrum loses 0.12 % in a step, less than half a unit: field and spectrum in bfloat16.
double height_after(int steps, bool stochastic, std::uint64_t seed) {
  constexpr std::int64_t kN = 16;
  const Executor e = Executor::host();
  const Plan<float> there(e, dense(Kind::RealToComplex, Direction::Forward, {kN}));
  Description inverse = dense(Kind::ComplexToReal, Direction::Inverse, {kN});
  inverse.scale = Scale::ByLength;
  const Plan<float> back(e, inverse);
  std::vector<bfloat16> field, spectrum(kN + 2);
  for (std::int64_t i = 0; i < kN; ++i)
    field.emplace_back(static_cast<float>(std::cos(2 * std::numbers::pi * static_cast<double>(i) / kN)));
  const VectorView<bfloat16> x(e, field.data(), kN), y(e, spectrum.data(), kN + 2);
  const auto height = [&] {
    double sum = 0;
    for (std::int64_t i = 0; i < kN; ++i)
      sum += static_cast<float>(field[static_cast<std::size_t>(i)]) *
             std::cos(2 * std::numbers::pi * static_cast<double>(i) / kN);
    return sum / (kN / 2);
  };
  const double before = height();
  for (int step = 0; step < steps; ++step) {
    const auto how = [&](int part) {
      return stochastic ? Rounding(Rounding::Stochastic{seed, static_cast<std::uint64_t>(3 * step + part)})
                        : Rounding();
    };
    execute_stored(there, x, y, how(0));
    blas::scal(e, 0.9988F, y, how(1));
    execute_stored(back, y, x, how(2));
  }
  return height() / before;
}
TEST(Stored, ALoopThatStandsStillToNearest) {
  constexpr int kSteps = 200, kSeeds = 24;
  const double exact = std::pow(0.9988, kSteps);
  EXPECT_GT(height_after(kSteps, false, 0), 0.99);
  double mean = 0, squares = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const double h = height_after(kSteps, true, seed);
    mean += h / kSeeds, squares += h * h / kSeeds;
  }
  const double deviation = std::sqrt(squares - mean * mean);
  EXPECT_LT(deviation, 0.1);
  EXPECT_NEAR(mean, exact, 5 * deviation / std::sqrt(kSeeds));
}

TEST(Stored, RefusesWhatDoesNotFit) {
  const Executor e = Executor::host();
  const Plan<float> plan(e, dense(Kind::RealToComplex, Direction::Forward, {8}));
  std::vector<bfloat16> x(8), y(10);
  const VectorView<bfloat16> in(e, x.data(), 8), out(e, y.data(), 10);
  EXPECT_NO_THROW(execute_stored(plan, in, out));
  const auto text = testing_support::message_of<InvalidArgument>([&] { execute_stored(plan, out, in); });
  EXPECT_IN("the input has 10 numbers and the output 8; this plan needs 8 and 10", text);
  EXPECT_THROW(execute_stored(plan, VectorView<bfloat16>(Executor::open("sim:trn2"), x.data(), 8), out),
               InvalidArgument);
  Description planar = dense(Kind::RealToComplex, Direction::Forward, {8});
  planar.output_format = Format::Planar;
  EXPECT_THROW(execute_stored(Plan<float>(e, planar), in, out), InvalidArgument);
  const Plan<float> gaps(e, dense(Kind::RealToComplex, Direction::Forward, {8}, {.batch = 2, .padded_real = true}));
  std::vector<bfloat16> u(16), v(20);
  EXPECT_THROW(execute_stored(gaps, VectorView<bfloat16>(e, u.data(), 16), VectorView<bfloat16>(e, v.data(), 20)),
               InvalidArgument);
  // The same memory on both sides, strides of the vectors.
  const Plan<float> same(e, dense(Kind::ComplexToComplex, Direction::Forward, {4}));
  auto z = random_numbers<float16>(16, 1), w = z;
  execute_stored(same, VectorView<float16>(e, z.data(), 8, 2), VectorView<float16>(e, z.data(), 8, 2));
  std::vector<float16> packed, result(8);
  for (std::size_t i = 0; i < 16; i += 2) packed.push_back(w[i]);
  execute_stored(same, VectorView<float16>(e, packed.data(), 8), VectorView<float16>(e, result.data(), 8));
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(z[2 * i].bits, result[i].bits);
  for (std::size_t i = 1; i < 16; i += 2) EXPECT_EQ(z[i].bits, w[i].bits);
}

}  // namespace
}  // namespace trn::fft::test
