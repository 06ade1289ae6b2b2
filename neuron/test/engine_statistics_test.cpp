// exponential, bn_stats and bn_aggr against long double formulas and plain loops in float.
#include <cmath>
#include <limits>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Exponential, ToTheLastPlaceAfterTheSubtractionRounded) {
  Rig rig("trn3");
  const std::int64_t p = 2, n = 301;
  Values x(static_cast<std::size_t>(p * n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(-60 + 0.2037 * static_cast<double>(i));
  const Access o = rig.b.sbuf("o", p, {n}, DType::Float32);
  rig.b.exponential(o, rig.tile("x", DType::Float32, p, n, x),
                    {.max_value = rig.tile("m", DType::Float32, p, 1, {0.1, 62})});
  rig.emit("out", o);
  rig.run();
  const Values got = rig.values("out");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float argument = static_cast<float>(x[i]) - (i < static_cast<std::size_t>(n) ? 0.1f : 62.0f);
    const long double exact = expl(argument);
    const float near = static_cast<float>(exact);
    const long double ulp = std::nextafter(near, std::numeric_limits<float>::infinity()) - near;
    ASSERT_LE(fabsl(got[i] - exact), 0.501L * ulp) << argument;
  }
}

// Each partition its own sum, in element order, of the values before dst rounds them.
TEST(Exponential, SumsInOrderBeforeRounding) {
  Rig rig("trn3");
  const std::int64_t p = 33, n = 257;
  const Values x = rounded(normals(p * n, 3), DType::BFloat16);
  const Access o = rig.b.sbuf("o", p, {n}, DType::BFloat16), r = rig.b.sbuf("r", p, {1}, DType::Float32);
  const Access plain = rig.b.sbuf("plain", p, {n}, DType::Float32), in = rig.tile("x", DType::BFloat16, p, n, x);
  rig.b.exponential(plain, in, {.max_value = 1.5});
  rig.b.exponential(o, in, {.max_value = 1.5, .reduce_res = r});
  rig.emit("out", o);
  rig.emit("plain_out", plain);
  rig.emit("sums", r);
  rig.run();
  const Values values = rig.values("plain_out");
  for (std::size_t i = 0; i < static_cast<std::size_t>(p); ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) sum += static_cast<float>(values[i * 257 + j]);
    EXPECT_EQ(rig.values("sums")[i], sum);
    EXPECT_EQ(rig.values("out")[i * 257 + 9], rounded(static_cast<float>(values[i * 257 + 9]), DType::BFloat16));
  }
}

TEST(Exponential, SumsStayInTheVectorEnginesRegisters) {
  Rig rig("trn3");
  const Access zeros = rig.tile("x", DType::Float32, 2, 3, Values(6, 0.0));
  const Access o = rig.b.sbuf("o", 2, {3}, DType::Float32);
  const auto column = [&](const char* name) { return rig.b.sbuf(name, 2, {1}, DType::Float32); };
  const Access first = column("first"), second = column("second"), third = column("third"), scalar = column("scalar");
  using enum ReduceCmd;
  rig.b.exponential(o, zeros, {.reduce_cmd = ResetReduce});
  rig.b.activation(o, ActFunction::Copy, zeros, {.bias = 10.0, .reduce_cmd = ResetReduce});  // other registers
  rig.b.exponential(o, zeros, {.reduce_res = first, .reduce_cmd = Reduce});
  rig.b.exponential(o, zeros, {.reduce_res = second, .reduce_cmd = LoadReduce, .reduce_init = 100.0});
  rig.b.exponential(o, zeros,
                    {.reduce_res = third,
                     .reduce_cmd = LoadReduce,
                     .reduce_init = rig.tile("i", DType::Float32, 2, 1, {1000, 2000})});
  rig.b.activation(o, ActFunction::Copy, zeros, {.reduce_res = scalar, .reduce_cmd = Reduce});
  for (const auto& [name, t] :
       {std::pair("a", first), std::pair("b", second), std::pair("c", third), std::pair("d", scalar)})
    rig.emit(name, t);
  rig.run();
  EXPECT_EQ(rig.values("a"), (Values{6, 6}));
  EXPECT_EQ(rig.values("b"), (Values{103, 103}));
  EXPECT_EQ(rig.values("c"), (Values{1003, 2003}));
  EXPECT_EQ(rig.values("d"), (Values{30, 30}));
}

TEST(Exponential, IdleLeavesTheRegistersUndefined) {
  const auto check = [](bool idle) {
    Rig rig("trn3");
    const Access x = rig.tile("x", DType::Float32, 2, 3, Values(6, 0.0)), o = rig.b.sbuf("o", 2, {3}, DType::Float32);
    rig.b.exponential(o, x, {.reduce_cmd = ReduceCmd::ResetReduce});
    if (idle) rig.b.exponential(o(ds(0, 1), all), x(ds(0, 1), all));
    rig.b.exponential(o, x, {.reduce_cmd = ReduceCmd::Reduce});
    rig.emit("out", o);
    return check_of([&] { rig.run(); });
  };
  EXPECT_EQ(check(false), "");
  EXPECT_EQ(check(true), "uninitialised-read");
}

TEST(Exponential, LimitsAndIntegers) {
  Rig rig("trn3");
  const Access o = rig.b.sbuf("o", 1, {3}, DType::Float32), k = rig.b.sbuf("k", 1, {3}, DType::Int8);
  rig.b.exponential(o, rig.tile("x", DType::Float32, 1, 3, {-kInf, kInf, std::nan("")}));
  rig.b.exponential(k, rig.tile("y", DType::Int16, 1, 3, {0, 3, 9}));  // 1, 20.09, 8103
  rig.emit("out", o);
  rig.emit("integers", k);
  rig.run();
  EXPECT_EQ(rig.values("out")[0], 0);
  EXPECT_EQ(rig.values("out")[1], kInf);
  EXPECT_TRUE(std::isnan(rig.values("out")[2]));
  EXPECT_EQ(rig.values("integers"), (Values{1, 20, 127}));
}

// Long double over the elements with even, then with odd numbers. Two passes in fp32: the mean is off by n u max|x| at
// most, which changes the sum of squares in second order; its own additions by n u.
TEST(BnStats, EvenAndOddElements) {
  for (const std::int64_t n : {1, 2, 3, 64, 511, 512}) {
    Rig rig;
    const std::int64_t p = 5;
    const Values x = rounded(normals(p * n, 11), DType::Float32);
    const Access o = rig.b.sbuf("o", p, {6}, DType::Float32);
    rig.b.bn_stats(o, rig.tile("x", DType::Float32, p, n, x));
    rig.emit("out", o);
    rig.run();
    const Values got = rig.values("out");
    for (std::int64_t i = 0; i < p; ++i) {
      for (std::int64_t half = 0; half < 2; ++half) {
        long double sum = 0, squares = 0, count = 0;
        for (std::int64_t j = half; j < n; j += 2) sum += x[static_cast<std::size_t>(i * n + j)], count += 1;
        const long double mean = count == 0 ? 0 : sum / count;
        for (std::int64_t j = half; j < n; j += 2) {
          const long double d = x[static_cast<std::size_t>(i * n + j)] - mean;
          squares += d * d;
        }
        const auto at = static_cast<std::size_t>(i * 6 + half * 3);
        const long double u = 0x1p-24L, c = count + 4;
        EXPECT_EQ(got[at], static_cast<double>(count));
        EXPECT_LE(fabsl(got[at + 1] - mean), c * u * 6) << n;
        EXPECT_LE(fabsl(got[at + 2] - squares), c * u * (squares + c * u * 36) + c * c * c * u * u * 36) << n;
      }
    }
  }
}

// The aggregate of several pieces is the mean and the variance (divided by the count) of all elements.
TEST(BnAggr, MeanAndVarianceOfEverything) {
  Rig rig;
  const std::int64_t p = 3, n = 1100;
  Values x = normals(p * n, 12);
  for (double& v : x) v = static_cast<float>(v * 3 + 40);
  const Access data = rig.tile("x", DType::Float32, p, n, x);
  const Access stats = rig.b.sbuf("stats", p, {18}, DType::Float32), o = rig.b.sbuf("o", p, {2}, DType::Float32);
  rig.b.bn_stats(stats(all, ds(0, 6)), data(all, ds(0, 512)));
  rig.b.bn_stats(stats(all, ds(6, 6)), data(all, ds(512, 512)));
  rig.b.bn_stats(stats(all, ds(12, 6)), data(all, ds(1024, 76)));
  rig.b.bn_aggr(o, stats);
  rig.emit("out", o);
  rig.run();
  for (std::int64_t i = 0; i < p; ++i) {
    long double sum = 0, squares = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += x[static_cast<std::size_t>(i * n + j)];
    const long double mean = sum / n;
    for (std::int64_t j = 0; j < n; ++j) {
      const long double d = x[static_cast<std::size_t>(i * n + j)] - mean;
      squares += d * d;
    }
    const double u = 0x1p-24;
    EXPECT_NEAR(rig.values("out")[static_cast<std::size_t>(2 * i)], static_cast<double>(mean), 264 * u * 55);
    EXPECT_NEAR(rig.values("out")[static_cast<std::size_t>(2 * i + 1)], static_cast<double>(squares / n),
                270 * u * 9 * 2);
  }
}

// A piece of one element has no odd half: count 0 does not disturb the aggregate.
TEST(BnAggr, OneElement) {
  Rig rig;
  const Access stats = rig.b.sbuf("stats", 1, {6}, DType::Float32), o = rig.b.sbuf("o", 1, {2}, DType::BFloat16);
  rig.b.bn_stats(stats, rig.tile("x", DType::Float16, 1, 1, {7}));
  rig.b.bn_aggr(o, stats);
  rig.emit("stats_out", stats);
  rig.emit("out", o);
  rig.run();
  EXPECT_EQ(rig.values("stats_out"), (Values{1, 7, 0, 0, 0, 0}));
  EXPECT_EQ(rig.values("out"), (Values{7, 0}));
}

TEST(BnStats, NotANumberStaysInItsHalf) {
  Rig rig;
  const Access o = rig.b.sbuf("o", 1, {6}, DType::Float32);
  rig.b.bn_stats(o, rig.tile("x", DType::Float32, 1, 4, {1, std::nan(""), 3, 4}));
  rig.emit("out", o);
  rig.run();
  const Values got = rig.values("out");
  EXPECT_EQ((Values{got[0], got[1], got[2], got[3]}), (Values{2, 2, 2, 2}));
  EXPECT_TRUE(std::isnan(got[4]) && std::isnan(got[5]));
}

}  // namespace
}  // namespace trn::neuron::sim
