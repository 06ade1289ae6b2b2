// Plans on devices: lengths across every edge of the machine, layouts, several axes, real transforms, in place.
#include <numeric>

#include "device_plan_support.hpp"

namespace trn::fft::device_test {
namespace {

constexpr double kSingle = 1e-6;

Executor trn2() { return Executor::open("sim:trn2"); }

TEST(DevicePlan, LengthsAcrossEveryEdge) {
  for (const std::int64_t n :
       {1, 2, 3, 5, 31, 32, 64, 97, 127, 128, 129, 131, 243, 256, 500, 1000, 1024, 4096, 8192, 16384}) {
    expect_plan<float>(trn2(), dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = n < 300 ? 5 : 2}),
                       kSingle);
  }
}

TEST(DevicePlan, ThreeFactorsAndMore) {
  for (const std::int64_t n : {14645, 16400, 32768, 59049}) {
    expect_plan<float>(trn2(), dense(Kind::ComplexToComplex, Direction::Inverse, {n}, {.batch = n == 16400 ? 3 : 1}),
                       kSingle);
  }
}

TEST(DevicePlan, LengthsWithLargePrimes) {
  for (const std::int64_t n : {131, 262, 509, 1021, 4099}) {
    Description d =
        dense(Kind::ComplexToComplex, n % 2 == 0 ? Direction::Inverse : Direction::Forward, {n}, {.batch = 3});
    d.scale = Scale::ByLength;
    expect_plan<float>(trn2(), d, 2e-6);
  }
}

TEST(DevicePlan, RealTransforms) {
  for (const std::int64_t n : {1,   2,   3,   4,   8,   10,  32,  31,  64,   97,    127,   128,
                               129, 130, 131, 200, 243, 256, 262, 375, 1000, 14645, 16384, 32768}) {
    const DenseOptions options{.batch = n < 300 ? 5 : 2, .padded_real = n % 4 == 0};
    expect_plan<float>(trn2(), dense(Kind::RealToComplex, Direction::Forward, {n}, options), 2e-6);
    expect_plan<float>(trn2(), dense(Kind::ComplexToReal, Direction::Inverse, {n}, options), 2e-6);
  }
}

// Imaginary parts of points that are their own mirror image are not used, whatever they are.
TEST(DevicePlan, MirrorImagesOfThemselvesHaveNoImaginaryPart) {
  const Executor executor = trn2();
  for (const std::int64_t n : {8, 128, 135, 144, 150, 154, 256, 262, 16384, 32768}) {
    const std::int64_t half = n / 2 + 1;
    const Plan<float> plan(executor, dense(Kind::ComplexToReal, Direction::Inverse, {n}));
    std::vector<std::complex<float>> x(static_cast<std::size_t>(half));
    for (std::int64_t k = 0; k < half; ++k)
      x[static_cast<std::size_t>(k)] = {static_cast<float>(k % 7) - 3, static_cast<float>(k % 5) - 2};
    const auto result = [&](float at_ends) {
      x.front().imag(at_ends);
      if (n % 2 == 0) x.back().imag(at_ends);
      const auto in = Array<std::complex<float>>::from_host(executor, {half}, x);
      const auto out = Array<float>::from_host(executor, {n}, std::vector<float>(static_cast<std::size_t>(n)));
      plan.execute(in.view(), out.view());
      return out.to_host();
    };
    const std::vector<float> expected = result(0);
    for (const float v : expected) ASSERT_TRUE(std::isfinite(v));
    EXPECT_EQ(result(std::numeric_limits<float>::quiet_NaN()), expected) << n;
    EXPECT_EQ(result(1e30F), expected) << n;
  }
}

TEST(DevicePlan, SeveralAxes) {
  for (const std::vector<std::int64_t>& axes :
       std::vector<std::vector<std::int64_t>>{{12, 20}, {130, 7}, {3, 131}, {150, 140}, {5, 6, 7}, {64, 3, 66}}) {
    for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) {
      Description d =
          dense(kind, kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, axes, {.batch = 2});
      d.scale = Scale::Orthonormal;
      expect_plan<float>(trn2(), d, 2e-6);
    }
  }
}

// Lines that are neighbours, gaps, transposed results, planes, backward strides, one input for a whole batch.
TEST(DevicePlan, Layouts) {
  for (const std::int64_t n : {6, 100, 128, 150}) {
    Description d{Kind::ComplexToComplex, Direction::Inverse, {{n, 7, 7}}, {{7, 1, 1}}};
    expect_plan<float>(trn2(), d, kSingle);                                                    // columns
    expect_plan<float>(trn2(), d, kSingle, true);                                              // the same in place
    expect_plan<float>(trn2(), {d.kind, d.direction, {{n, 1, 9}}, {{9, n + 3, 1}}}, kSingle);  // rows to columns
    expect_plan<float>(trn2(), {d.kind, d.direction, {{n, 12, 2}}, {{4, 3, 2 * n + 1}, {3, 1, 9 * n}}}, kSingle);
    expect_plan<float>(trn2(), {d.kind, d.direction, {{n, -1, 1}}, {{5, n, -n}}}, kSingle);
    expect_plan<float>(trn2(), {d.kind, d.direction, {{n, 1, 1}}, {{5, 0, n}}}, kSingle);
    d.input_format = d.output_format = Format::Planar;
    expect_plan<float>(trn2(), d, kSingle);
    expect_plan<float>(
        trn2(), {d.kind, d.direction, {{n, 1, 1}}, {{130, n, n}}, Scale::None, {}, Format::Planar, Format::Planar},
        kSingle, true);
  }
}

// Real lines that take several programs: pairs, planes, gaps, lines as neighbours.
TEST(DevicePlan, LongRealLayouts) {
  for (const Kind kind : {Kind::RealToComplex, Kind::ComplexToReal}) {
    const bool out = kind == Kind::RealToComplex;
    const std::int64_t n = 32768;
    Description d{kind, Direction::Forward, {{n, out ? 1 : 2, out ? 2 : 1}}, {{3, 65600, 65540}}, Scale::ByLength};
    expect_plan<float>(trn2(), d, 2e-6);
    (out ? d.output_format : d.input_format) = Format::Planar;
    expect_plan<float>(trn2(), d, 2e-6);
    expect_plan<float>(trn2(), {kind, Direction::Inverse, {{n, 2, 2}}, {{2, 1, 1}}}, 2e-6);
    expect_plan<float>(trn2(), {kind, Direction::Inverse, {{16400, 1, 1}}, {{2, 16400, 16401}}}, 2e-6);  // 2^4 5^2 41
  }
}

TEST(DevicePlan, RealLayouts) {
  for (const std::int64_t n : {10, 128, 129, 150}) {
    const std::int64_t half = n / 2 + 1;
    const Description padded =
        dense(Kind::RealToComplex, Direction::Forward, {3, n}, {.batch = 2, .padded_real = true});
    expect_plan<float>(trn2(), padded, kSingle, true);
    expect_plan<float>(
        trn2(), dense(Kind::ComplexToReal, Direction::Inverse, {3, n}, {.batch = 2, .padded_real = true}), 2e-6, true);
    expect_plan<float>(trn2(),
                       {Kind::RealToComplex,
                        Direction::Inverse,
                        {{n, 3, 4}},
                        {{3, 1, 1}},
                        Scale::ByLength,
                        {},
                        Format::Interleaved,
                        Format::Planar},
                       kSingle);
    expect_plan<float>(trn2(),
                       {Kind::ComplexToReal,
                        Direction::Forward,
                        {{n, 2, 1}},
                        {{6, 2 * half, n}},
                        Scale::None,
                        {},
                        Format::Planar,
                        Format::Interleaved},
                       kSingle);
  }
}

// Nested strides in a random order of dimensions, with gaps and signs.
std::vector<std::int64_t> random_strides(const Shape& extents, std::mt19937& random) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1 + static_cast<std::int64_t>(random() % 2);
  for (const std::size_t d : order) {
    strides[d] = random() % 5 == 0 ? -stride : stride;
    stride = stride * extents[d] + static_cast<std::int64_t>(random() % 3);
  }
  return strides;
}

TEST(DevicePlan, RandomLayouts) {
  std::mt19937 random(20261115);
  const auto pick = [&](std::initializer_list<std::int64_t> list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(random() % list.size()));
  };
  for (int round = 0; round < 70; ++round) {
    // After thirty of every kind, real ones of the lengths that take two steps.
    const Kind kind = round < 30          ? static_cast<Kind>(random() % 3)
                      : random() % 2 == 0 ? Kind::RealToComplex
                                          : Kind::ComplexToReal;
    const std::size_t axes = 1 + random() % 3, batch = random() % 3;
    Shape full;
    for (std::size_t i = 0; i < axes; ++i)
      full.push_back(axes == 1 && round >= 30 ? pick({129, 130, 132, 135, 150, 168, 189, 192, 253, 256, 300, 343})
                     : axes == 1              ? pick({1, 2, 7, 64, 65, 90, 127, 130, 131, 144, 200})
                                 : pick({1, 2, 3, 8, 17, axes == 2 ? 66 : 5, round >= 30 && i == 0 ? 140 : 4}));
    for (std::size_t i = 0; i < batch; ++i) full.push_back(pick({1, 2, 3, 9, 33}));
    Shape in = full, out = full;
    if (kind == Kind::ComplexToReal) in[axes - 1] = full[axes - 1] / 2 + 1;
    if (kind == Kind::RealToComplex) out[axes - 1] = full[axes - 1] / 2 + 1;
    const bool in_place = kind == Kind::ComplexToComplex && random() % 4 == 0;
    const std::vector<std::int64_t> from = random_strides(in, random),
                                    to = in_place ? from : random_strides(out, random);
    Description d{
        kind, random() % 2 == 0 ? Direction::Forward : Direction::Inverse, {}, {}, static_cast<Scale>(random() % 3)};
    for (std::size_t i = 0; i < full.size(); ++i) (i < axes ? d.axes : d.batch).push_back({full[i], from[i], to[i]});
    if (random() % 3 == 0) {
      if (kind != Kind::RealToComplex) d.input_format = Format::Planar;
      if (kind != Kind::ComplexToReal) d.output_format = Format::Planar;
    }
    expect_plan<float>(trn2(), d, 2e-6, in_place);
  }
}

TEST(DevicePlan, EveryMachine) {
  for (const char* name : {"sim:trn1", "sim:trn3"}) {
    for (const std::int64_t n : {24, 97, 128, 250, 4096, 131, 32768}) {
      if (n > 1000)
        expect_plan<float>(Executor::open(name), dense(Kind::ComplexToReal, Direction::Inverse, {n}, {.batch = 3}),
                           2e-6);
      expect_plan<float>(Executor::open(name), dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = 3}),
                         2e-6);
      expect_plan<float>(Executor::open(name), dense(Kind::RealToComplex, Direction::Forward, {n}, {.batch = 3}), 2e-6);
    }
  }
}

// The accuracy of each mode at 2^14 points, and what numerics says it should be.
TEST(DevicePlan, Modes) {
  struct Case {
    Mode mode;
    double limit;
  };
  for (const auto& [mode, limit] : {Case{Mode::Native, 5e-7}, Case{Mode::Tf32x3, 5e-7}, Case{Mode::Bf16x6, 1.6e-7},
                                    Case{Mode::Tf32, 1e-3}, Case{Mode::Bf16, 8e-3}}) {
    for (const std::int64_t n : {1, 60, 128, 1000, 16384}) {
      Description d = dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = 3});
      d.precision = mode;
      SCOPED_TRACE(std::string(trn::name(mode)));
      expect_plan<float>(trn2(), d, limit);
    }
    for (const std::int64_t n : {150, 1024, 2000}) {
      for (const Kind kind : {Kind::RealToComplex, Kind::ComplexToReal}) {
        Description d = dense(kind, Direction::Forward, {n}, {.batch = 19});
        d.precision = mode;
        expect_plan<float>(trn2(), d, limit);
      }
    }
    // Lines as neighbours, as many as fill the tiles: what SBUF holds.
    for (const char* machine : {"sim:trn1", "sim:trn2"}) {
      if (mode == Mode::Tf32 || mode == Mode::Bf16) continue;
      Description d{Kind::ComplexToComplex, Direction::Forward, {{16384, 17, 17}}, {{17, 1, 1}}};
      d.precision = mode;
      expect_plan<float>(Executor::open(machine), d, limit);
    }
    Description columns = dense(Kind::ComplexToComplex, Direction::Forward, {97, 9});
    columns.precision = mode;
    expect_plan<float>(trn2(), columns, limit);
  }
}

TEST(DevicePlan, ATargetTakesTheCheapestModeThatMeetsIt) {
  const auto mode_for = [](double error) {
    Description d = dense(Kind::ComplexToComplex, Direction::Forward, {1024});
    d.precision = Precision::target(error);
    const Accuracy a = Plan<float>(trn2(), d).accuracy();
    EXPECT_LE(a.bound, error);
    return a.mode;
  };
  EXPECT_EQ(mode_for(0.5), Mode::Bf16);
  EXPECT_EQ(mode_for(2e-2), Mode::Tf32);
  EXPECT_EQ(mode_for(1e-4), Mode::Tf32x3);
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, {1024});
  d.precision = Precision::target(1e-12);
  EXPECT_THROW(Plan<float>(trn2(), d), InvalidArgument);
}

}  // namespace
}  // namespace trn::fft::device_test
