// The Vector Engine's reductions into its registers against plain loops: tensor_scalar_reduce,
// tensor_scalar_cumulative, select_reduce and range_select.
#include <cfloat>
#include <cmath>
#include <limits>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

using enum DType;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();

// The operators as the documentation has them; NaN propagates, a tie gives the second.
float apply(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::Add:
      return a + b;
    case AluOp::Subtract:
      return a - b;
    case AluOp::Multiply:
      return a * b;
    case AluOp::Maximum:
      return a != a || b != b ? std::nanf("") : (a > b ? a : b);
    case AluOp::Minimum:
      return a != a || b != b ? std::nanf("") : (a < b ? a : b);
    default:
      ADD_FAILURE() << "no formula for " << name(op);
      return 0;
  }
}
float identity(AluOp op) {
  return op == AluOp::Multiply ? 1.f : op == AluOp::Maximum ? -kInfF : op == AluOp::Minimum ? kInfF : 0.f;
}

Access column(Rig& rig, const char* name, std::int64_t p, DType dtype = Float32) {
  return rig.b.sbuf(name, p, {1}, dtype);
}

TEST(TensorScalarReduce, EveryReductionAtEverySize) {
  for (const AluOp op : {AluOp::Add, AluOp::Multiply, AluOp::Maximum, AluOp::Minimum}) {
    for (const auto& [p, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {33, 257}, {128, 512}}) {
      Rig rig;
      Values x = rounded(normals(p * n, 3), Float32);
      if (op == AluOp::Multiply) {
        for (double& v : x) v = 1 + v * 0x1p-10;  // products that stay near 1
        x = rounded(x, Float32);
      }
      const Access o = rig.b.sbuf("o", p, {n}, BFloat16), r = column(rig, "r", p);
      rig.b.tensor_scalar_reduce(o, rig.tile("x", Float32, p, n, x), AluOp::Multiply, 1.5, op, {.reduce_res = r});
      rig.emit("out", o);
      rig.emit("res", r);
      rig.run();
      const Values out = rig.values("out"), res = rig.values("res");
      for (std::int64_t i = 0; i < p; ++i) {
        float sum = identity(op);
        for (std::int64_t j = 0; j < n; ++j) {  // fp32, in element order, before the rounding to bfloat16
          const float y = static_cast<float>(x[static_cast<std::size_t>(i * n + j)]) * 1.5f;
          sum = apply(op, y, sum);
          ASSERT_TRUE(same(out[static_cast<std::size_t>(i * n + j)], rounded(y, BFloat16)));
        }
        ASSERT_TRUE(same(res[static_cast<std::size_t>(i)], sum)) << name(op) << " " << p << "x" << n;
      }
    }
  }
}

TEST(TensorScalarReduce, SpecialValues) {
  const auto reduced = [](AluOp op, const Values& x, AluOp op0 = AluOp::Add) {
    Rig rig;
    const auto n = static_cast<std::int64_t>(x.size());
    const Access o = rig.b.sbuf("o", 1, {n}, Float32), r = column(rig, "r", 1);
    rig.b.tensor_scalar_reduce(o, rig.tile("x", Float32, 1, n, x), op0, 0.0, op, {.reduce_res = r});
    rig.emit("out", o);
    rig.emit("res", r);
    rig.run();
    return rig.values("res")[0];
  };
  EXPECT_TRUE(std::isnan(reduced(AluOp::Maximum, {1, kNan, 3})));
  EXPECT_TRUE(std::isnan(reduced(AluOp::Minimum, {kNan, 1, 3})));
  EXPECT_TRUE(std::isnan(reduced(AluOp::Add, {kInf, -kInf})));
  EXPECT_EQ(reduced(AluOp::Maximum, {-kInf, -kInf}), -kInf);
  EXPECT_EQ(reduced(AluOp::Maximum, {-3, -2}), -2) << "begins at -infinity, not at 0";
  EXPECT_EQ(reduced(AluOp::Minimum, {3, 2}), 2);
  EXPECT_EQ(reduced(AluOp::Add, {1e8, 1, -1e8}), 0) << "fp32: 1 is lost";
  EXPECT_EQ(reduced(AluOp::Add, {-3, 4}, AluOp::Abs), 7) << "a unary operator";
}

// Three calls share the registers; reduce_res is negated, the registers are not.
TEST(TensorScalarReduce, ChainsAndLoads) {
  Rig rig;
  const Access x = rig.tile("x", Float32, 2, 3, {1, 2, 3, 10, 20, 30}), o = rig.b.sbuf("o", 2, {3}, Float32);
  const Access init = rig.tile("init", Float32, 2, 1, {100, 200});
  const Access first = column(rig, "first", 2), second = column(rig, "second", 2), third = column(rig, "third", 2);
  const Access fourth = column(rig, "fourth", 2, BFloat16);
  const auto reduce = [&](AluOp op, ReduceOptions options) {
    rig.b.tensor_scalar_reduce(o, x, AluOp::Add, 1.0, op, std::move(options));
  };
  reduce(AluOp::Add, {});
  reduce(AluOp::Add, {.reduce_res = first, .reduce_cmd = ReduceCmd::Reduce, .negate = true});
  reduce(AluOp::Maximum, {.reduce_res = second, .reduce_cmd = ReduceCmd::Reduce});  // another operator goes on
  reduce(AluOp::Add, {.reduce_res = third, .reduce_cmd = ReduceCmd::LoadReduce, .reduce_init = init});
  reduce(AluOp::Minimum, {.reduce_res = fourth, .reduce_cmd = ReduceCmd::LoadReduce, .reduce_init = 2.5});
  rig.emit("a", first), rig.emit("b", second), rig.emit("c", third), rig.emit("d", fourth), rig.emit("o_out", o);
  rig.run();
  EXPECT_EQ(rig.values("a"), (Values{-18, -126}));
  EXPECT_EQ(rig.values("b"), (Values{18, 126}));
  EXPECT_EQ(rig.values("c"), (Values{109, 263}));
  EXPECT_EQ(rig.values("d"), (Values{2, 2.5}));
}

TEST(TensorScalarReduce, AllFreeDimensionsInPlaceAndOtherLanes) {
  Rig rig;
  const Access x = rig.tile("x", Float32, 64, 12, normals(64 * 12, 9));
  const Access view = x(ds(32, 32), all).split(0, 4), r = rig.b.sbuf("r", 64, {1}, Float32);
  rig.b.tensor_scalar_reduce(view, view, AluOp::Subtract, 1.0, AluOp::Add, {.reduce_res = r(ds(0, 32), all)});
  // Registers belong to data's partitions 32..63.
  rig.b.tensor_scalar_reduce(view, view, AluOp::Add, 0.0, AluOp::Add,
                             {.reduce_res = r(ds(32, 32), all), .reduce_cmd = ReduceCmd::Reduce});
  rig.emit("out", x);
  rig.emit("res", r);
  rig.run();
  const Values in = rounded(normals(64 * 12, 9), Float32);
  for (std::size_t p = 0; p < 32; ++p) {
    float once = 0, twice = 0;
    for (std::size_t j = 0; j < 12; ++j) once += static_cast<float>(in[(32 + p) * 12 + j]) - 1.f;
    twice = once;
    for (std::size_t j = 0; j < 12; ++j) twice += static_cast<float>(in[(32 + p) * 12 + j]) - 1.f;
    EXPECT_TRUE(same(rig.values("res")[p], once));
    EXPECT_TRUE(same(rig.values("res")[32 + p], twice));
    EXPECT_EQ(rig.values("out")[p * 12], in[p * 12]);
  }
}

TEST(TensorScalarReduce, WideStorageReducesInDouble) {
  Rig rig;
  rig.options.storage = Storage::Wide;
  const Access x = rig.tile("x", Float32, 1, 3, {1e8, 1, -1e8}), o = rig.b.sbuf("o", 1, {3}, Float32);
  const Access r = column(rig, "r", 1);
  rig.b.tensor_scalar_reduce(o, x, AluOp::Add, 0.0, AluOp::Add, {.reduce_res = r});
  rig.emit("out", o);
  rig.emit("res", r);
  rig.run();
  EXPECT_EQ(rig.values("res")[0], 1);
}

TEST(VectorRegisters, WhatNothingBeganIsReported) {
  const auto run = [](bool begin, bool idle, std::int64_t lanes) {
    return check_of([&] {
      Rig rig;
      const Access x = rig.tile("x", Float32, 4, 2, Values(8, 1.0)), r = column(rig, "r", 4);
      const Access m = rig.tile("m", UInt8, 4, 2, Values(8, 1.0)), part = x(ds(0, lanes), all);
      if (begin) rig.b.tensor_scalar_reduce(part, part, AluOp::Add, 1.0, AluOp::Add);
      if (idle) rig.b.select_reduce(x, m, x, 0.0);
      rig.b.tensor_scalar_reduce(x, x, AluOp::Add, 1.0, AluOp::Add, {.reduce_res = r, .reduce_cmd = ReduceCmd::Reduce});
      rig.emit("out", x);
      rig.emit("res", r);
      rig.run();
    });
  };
  EXPECT_EQ(run(false, false, 4), "uninitialised-read");
  EXPECT_EQ(run(true, true, 4), "uninitialised-read") << "an idle instruction may change the registers";
  EXPECT_EQ(run(true, false, 2), "uninitialised-read") << "begun for two of four partitions";
  EXPECT_EQ(run(true, false, 4), "");
}

TEST(VectorRegisters, AreNotTheScalarEngines) {
  Rig rig;
  const Access x = rig.tile("x", Float32, 1, 2, {1, 2}), o = rig.b.sbuf("o", 1, {2}, Float32);
  const Access v = column(rig, "v", 1), s = column(rig, "s", 1);
  rig.b.tensor_scalar_reduce(o, x, AluOp::Multiply, 10.0, AluOp::Add);
  rig.b.activation(o, ActFunction::Copy, x, {.reduce_cmd = ReduceCmd::ResetReduce});
  rig.b.tensor_scalar_reduce(o, x, AluOp::Multiply, 100.0, AluOp::Add,
                             {.reduce_res = v, .reduce_cmd = ReduceCmd::Reduce});
  rig.b.activation(o, ActFunction::Copy, x, {.reduce_res = s, .reduce_cmd = ReduceCmd::Reduce});
  rig.emit("out", o), rig.emit("vector", v), rig.emit("scalar", s);
  rig.run();
  EXPECT_EQ(rig.values("vector")[0], 330);
  EXPECT_EQ(rig.values("scalar")[0], 6);
}

// reg = op1(op0(x, imm0), reg): subtract takes the register from the value.
TEST(TensorScalarCumulative, EveryOperator) {
  const std::int64_t p = 33, n = 65;
  const Values x = rounded(normals(p * n, 5), Float32);
  for (const AluOp op : {AluOp::Add, AluOp::Subtract, AluOp::Multiply, AluOp::Maximum, AluOp::Minimum}) {
    for (const DType to : {Float32, BFloat16, Float8E4M3, Int16, UInt8}) {
      Rig rig;
      const Access imm0 = rig.tile("imm0", Float32, p, 1, normals(p, 6)), o = rig.b.sbuf("o", p, {n}, to);
      rig.b.tensor_scalar_cumulative(o, rig.tile("x", Float32, p, n, x), AluOp::Add, imm0, op);
      rig.emit("out", o);
      rig.run();
      const Values shift = rounded(normals(p, 6), Float32), got = rig.values("out");
      for (std::int64_t i = 0; i < p; ++i) {
        float reg = identity(op);
        for (std::int64_t j = 0; j < n; ++j) {
          const auto at = static_cast<std::size_t>(i * n + j);
          reg = apply(op, static_cast<float>(x[at]) + static_cast<float>(shift[static_cast<std::size_t>(i)]), reg);
          ASSERT_TRUE(same(got[at], rounded(reg, to))) << name(op) << " to " << name(to) << " at " << at;
        }
      }
    }
  }
}

TEST(TensorScalarCumulative, GoesOnAndLoads) {
  Rig rig;
  const Access x = rig.tile("x", Float32, 1, 3, {1, 2, 3}), o = rig.b.sbuf("o", 1, {4, 3}, Float32);
  const auto part = [&](std::int64_t i) { return o(all, ds(i, 1), all); };
  rig.b.tensor_scalar_cumulative(part(0), x, AluOp::Multiply, 2.0, AluOp::Add);
  rig.b.tensor_scalar_cumulative(part(1), x, AluOp::Multiply, 1.0, AluOp::Add, {.reduce_cmd = ReduceCmd::Reduce});
  rig.b.tensor_scalar_cumulative(part(2), x, AluOp::Multiply, 1.0, AluOp::Subtract,
                                 {.reduce_cmd = ReduceCmd::LoadReduce, .imm1 = 10.0});
  rig.b.tensor_scalar_cumulative(part(3), x, AluOp::Multiply, 1.0, AluOp::Maximum, {.reduce_cmd = ReduceCmd::Reduce});
  rig.emit("out", o);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{2, 6, 12, 13, 15, 18, -9, 11, -8, 1, 2, 3}));
}

TEST(TensorScalarCumulative, NanStaysAndPlaceIsNotSpecial) {
  Rig rig;
  const Access x = rig.tile("x", Float32, 1, 4, {1, kNan, 5, 2}), o = rig.b.sbuf("o", 1, {4}, Float32);
  rig.b.tensor_scalar_cumulative(o, x, AluOp::Add, 0.0, AluOp::Maximum);
  rig.b.tensor_scalar_cumulative(x, x, AluOp::Equal, 5.0, AluOp::Add);  // in place: counts the fives
  rig.emit("out", o);
  rig.emit("count", x);
  rig.run();
  EXPECT_EQ(rig.values("out")[0], 1);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(rig.values("out")[i]));
  EXPECT_EQ(rig.values("count"), (Values{0, 0, 1, 1}));
}

TEST(SelectReduce, EveryPredicateDType) {
  const std::int64_t p = 33, n = 50;
  const Values x = rounded(normals(p * n, 7), BFloat16), otherwise = rounded(normals(p, 8), Float32);
  for (const DType dtype : {Int8, UInt8, Int16, UInt16}) {
    for (const bool reverse : {false, true}) {
      Rig rig;
      Values chosen(x.size());
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const bool narrow = dtype == UInt8 || dtype == Int8;
        const double some[] = {0, 1, narrow ? 64.0 : 256.0, dtype == Int8 || dtype == Int16 ? -1.0 : 2.0};
        chosen[i] = some[i * 7 % 4];
      }
      const Access on_false = rig.tile("f", Float32, p, 1, otherwise), r = column(rig, "r", p);
      const Access o = rig.b.sbuf("o", p, {n}, Float16);
      rig.b.select_reduce(o, rig.tile("m", dtype, p, n, chosen), rig.tile("x", BFloat16, p, n, x), on_false,
                          {.reduce_res = r, .reverse_pred = reverse});
      rig.emit("out", o);
      rig.emit("res", r);
      rig.run();
      const Values out = rig.values("out"), res = rig.values("res");
      for (std::size_t i = 0; i < static_cast<std::size_t>(p); ++i) {
        float most = -kInfF;
        for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
          const std::size_t at = i * static_cast<std::size_t>(n) + j;
          const auto y = static_cast<float>((chosen[at] != 0) != reverse ? x[at] : otherwise[i]);
          most = apply(AluOp::Maximum, y, most);
          ASSERT_TRUE(same(out[at], rounded(y, Float16))) << name(dtype) << " " << at;
        }
        ASSERT_TRUE(same(res[i], most));
      }
    }
  }
}

TEST(SelectReduce, ChainsAndNan) {
  Rig rig;
  const Access x = rig.tile("x", Float32, 1, 2, {3, kNan}), m = rig.tile("m", UInt8, 1, 2, {1, 0});
  const Access o = rig.b.sbuf("o", 1, {2}, Float32);
  const Access a = column(rig, "a", 1), c = column(rig, "c", 1), n = column(rig, "n", 1);
  rig.b.select_reduce(o, m, x, -5.0, {.reduce_res = a});  // the NaN is not chosen
  rig.b.select_reduce(o, m, x, 7.0, {.reduce_cmd = ReduceCmd::Reduce});
  rig.b.select_reduce(o, m, x, -5.0, {.reduce_res = c, .reduce_cmd = ReduceCmd::Reduce});
  rig.b.select_reduce(o, m, x, -5.0, {.reduce_res = n, .reduce_cmd = ReduceCmd::Reduce, .reverse_pred = true});
  rig.emit("o_out", o), rig.emit("first", a), rig.emit("third", c), rig.emit("nan", n);
  rig.run();
  EXPECT_EQ(rig.values("first")[0], 3);
  EXPECT_EQ(rig.values("third")[0], 7);
  EXPECT_TRUE(std::isnan(rig.values("nan")[0]));
}

TEST(RangeSelect, EveryComparison) {
  const std::vector<std::pair<AluOp, bool (*)(float, float)>> comparisons{
      {AluOp::Equal, [](float k, float b) { return k == b; }},
      {AluOp::Less, [](float k, float b) { return k < b; }},
      {AluOp::LessEqual, [](float k, float b) { return k <= b; }},
      {AluOp::Greater, [](float k, float b) { return k > b; }},
      {AluOp::GreaterEqual, [](float k, float b) { return k >= b; }}};
  const std::int64_t p = 5, n = 24, start = -3;
  const Values x = rounded(normals(p * n, 11), Float32), low{2, -10, 4.5, kNan, 30}, high{9, 12, 20.5, 5, -kInf};
  for (const auto& [op0, first] : comparisons) {
    for (const auto& [op1, second] : comparisons) {
      Rig rig;
      const Access r = column(rig, "r", p), o = rig.b.sbuf("o", p, {n}, Float32);
      const Access bound0 = rig.tile("low", Float32, p, 1, low), bound1 = rig.tile("high", Float32, p, 1, high);
      rig.b.range_select(o, rig.tile("x", Float32, p, n, x), op0, bound0, op1, bound1,
                         {.reduce_res = r, .range_start = start});
      rig.emit("out", o);
      rig.emit("res", r);
      rig.run();
      const Values out = rig.values("out"), res = rig.values("res");
      for (std::int64_t i = 0; i < p; ++i) {
        float most = -kInfF;
        for (std::int64_t j = 0; j < n; ++j) {
          const auto at = static_cast<std::size_t>(i * n + j), row = static_cast<std::size_t>(i);
          const auto k = static_cast<float>(start + j);
          const bool take = first(k, static_cast<float>(low[row])) && second(k, static_cast<float>(high[row]));
          const float y = take ? static_cast<float>(x[at]) : -FLT_MAX;
          most = apply(AluOp::Maximum, y, most);
          ASSERT_TRUE(same(out[at], y)) << name(op0) << " " << name(op1) << " " << at;
        }
        ASSERT_TRUE(same(res[static_cast<std::size_t>(i)], most));
      }
    }
  }
}

// A row without any element in range: -infinity in a 16-bit dst, and finite in a float32 reduce_res.
TEST(RangeSelect, TheFillIsReducedBeforeItIsRounded) {
  Rig rig;
  const Access x = rig.tile("x", BFloat16, 1, 4, {1, 2, 3, 4}), o = rig.b.sbuf("o", 1, {4}, BFloat16);
  const Access bound = rig.tile("bound", Float32, 1, 1, {-1}), r = column(rig, "r", 1);
  rig.b.range_select(o, x, AluOp::Less, bound, AluOp::Less, bound, {.reduce_res = r});
  rig.emit("out", o);
  rig.emit("res", r);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{-kInf, -kInf, -kInf, -kInf}));
  EXPECT_EQ(rig.values("res")[0], -static_cast<double>(FLT_MAX));
}

// Two tiles of a row, counted on; a reset in between forgets.
TEST(RangeSelect, ChainsOverTiles) {
  Rig rig;
  const Access x = rig.tile("x", Float32, 1, 2, {5, 6}), y = rig.tile("y", Float32, 1, 2, {9, 3});
  const Access o = rig.b.sbuf("o", 1, {2}, Float32), r = column(rig, "r", 1), s = column(rig, "s", 1);
  const Access low = rig.tile("low", Float32, 1, 1, {1}), high = rig.tile("high", Float32, 1, 1, {3});
  const auto range = [&](const Access& t, RangeOptions options) {
    rig.b.range_select(o, t, AluOp::GreaterEqual, low, AluOp::LessEqual, high, std::move(options));
  };
  range(x, {});                                                                    // places 0, 1: 6
  range(y, {.reduce_res = r, .reduce_cmd = ReduceCmd::Reduce, .range_start = 2});  // places 2, 3: 9, 3
  range(x, {.reduce_cmd = ReduceCmd::Reset});                                      // forgets the 9
  range(y, {.reduce_res = s, .reduce_cmd = ReduceCmd::Reduce});                    // place 1 alone: 3
  rig.emit("out", o), rig.emit("res", r), rig.emit("after", s);
  rig.run();
  EXPECT_EQ(rig.values("res")[0], 9);
  EXPECT_EQ(rig.values("after")[0], 3);
  EXPECT_EQ(rig.values("out"), (Values{-static_cast<double>(FLT_MAX), 3}));
}

}  // namespace
}  // namespace trn::neuron::sim
