// The Vector Engine against scalar formulas written here: every operator, every dtype, edge sizes and special values.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const Values kSpecial{0.0, -0.0, 1, -1, 0.5, 3, -7.25, 1e30, -1e-30, kInf, -kInf, kNan};

using Formula = std::function<float(float, float)>;
float larger(float a, float b) { return a != a || b != b ? std::nanf("") : std::fmax(a, b); }
float smaller(float a, float b) { return a != a || b != b ? std::nanf("") : std::fmin(a, b); }
const std::vector<std::pair<AluOp, Formula>> kFormulas{
    {AluOp::Add, [](float a, float b) { return a + b; }},
    {AluOp::Subtract, [](float a, float b) { return a - b; }},
    {AluOp::Multiply, [](float a, float b) { return a * b; }},
    {AluOp::Maximum, larger},
    {AluOp::Minimum, smaller},
    {AluOp::Power, [](float a, float b) { return static_cast<float>(powl(a, b)); }},
    {AluOp::Equal, [](float a, float b) { return a == b ? 1.f : 0.f; }},
    {AluOp::NotEqual, [](float a, float b) { return a == b ? 0.f : 1.f; }},
    {AluOp::GreaterEqual, [](float a, float b) { return a >= b ? 1.f : 0.f; }},
    {AluOp::Greater, [](float a, float b) { return a > b ? 1.f : 0.f; }},
    {AluOp::LessEqual, [](float a, float b) { return a <= b ? 1.f : 0.f; }},
    {AluOp::Less, [](float a, float b) { return a < b ? 1.f : 0.f; }},
    {AluOp::LogicalAnd, [](float a, float b) { return a != 0 && b != 0 ? 1.f : 0.f; }},
    {AluOp::LogicalOr, [](float a, float b) { return a != 0 || b != 0 ? 1.f : 0.f; }},
    {AluOp::LogicalXor, [](float a, float b) { return (a != 0) != (b != 0) ? 1.f : 0.f; }},
};
const std::vector<std::pair<AluOp, Formula>> kUnary{
    {AluOp::Abs, [](float a, float) { return a < 0 || std::signbit(a) ? -a : a; }},
    {AluOp::Square, [](float a, float) { return a * a; }},
    {AluOp::Relu, [](float a, float) { return a != a || a > 0 ? a : 0.f; }},
    {AluOp::Rsqrt, [](float a, float) { return static_cast<float>(1.0L / sqrtl(a)); }},
    {AluOp::Reciprocal, [](float a, float) { return 1.f / a; }},
};

TEST(TensorTensor, EveryOperatorOnSpecialValues) {
  Values x, y;
  for (const double a : kSpecial) {
    for (const double b : kSpecial) x.push_back(a), y.push_back(b);
  }
  const auto n = static_cast<std::int64_t>(x.size());
  for (const auto& [op, formula] : kFormulas) {
    Rig rig;
    const Access a = rig.tile("a", DType::Float32, 1, n, x), c = rig.tile("c", DType::Float32, 1, n, y);
    const Access o = rig.b.sbuf("o", 1, {n}, DType::Float32);
    rig.b.tensor_tensor(o, a, c, op, Engine::Vector);
    rig.emit("out", o);
    rig.run();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = formula(static_cast<float>(x[i]), static_cast<float>(y[i])), got = rig.values("out")[i];
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : expected == got) << name(op) << " " << x[i] << " " << y[i];
    }
  }
}

TEST(TensorTensor, EveryFloatDTypeRoundsOnceAtEverySize) {
  for (const DType dtype : kDeviceFloats) {
    for (const auto& [p, f] : {std::pair{1, 1}, {31, 511}, {32, 512}, {33, 513}, {127, 3}, {128, 512}}) {
      Rig rig("trn3");
      const Values x = rounded(normals(p * f, 1), dtype), y = rounded(normals(p * f, 2), dtype);
      const Access o = rig.b.sbuf("o", p, {f}, dtype);
      rig.b.tensor_tensor(o, rig.tile("a", dtype, p, f, x), rig.tile("c", dtype, p, f, y), AluOp::Multiply,
                          Engine::Vector);
      rig.emit("out", o);
      rig.run();
      const Values got = rig.values("out");
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(same(got[i], rounded(static_cast<float>(x[i]) * static_cast<float>(y[i]), dtype))) << name(dtype);
      }
    }
  }
}

TEST(TensorTensor, IntegersGoThroughFloat) {
  Rig rig;
  const Access a = rig.tile("a", DType::Int32, 1, 3, {16777217, 2147483647, -5});
  const Access c = rig.tile("c", DType::Int32, 1, 3, {0, 2147483647, 3});
  const Access o = rig.b.sbuf("o", 1, {3}, DType::Int32), bytes = rig.b.sbuf("bytes", 1, {3}, DType::UInt8);
  rig.b.tensor_tensor(o, a, c, AluOp::Add, Engine::Vector);
  rig.b.tensor_tensor(bytes, a, c, AluOp::Add, Engine::Vector);
  rig.emit("out", o);
  rig.emit("narrow", bytes);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{16777216, 2147483647, -2}));
  EXPECT_EQ(rig.values("narrow"), (Values{255, 255, 0}));
}

TEST(TensorTensor, AbsMaxKeepsTheSign) {
  Rig rig("trn3");
  const Access a = rig.tile("a", DType::Float32, 1, 3, {-3, 2, 2}),
               c = rig.tile("c", DType::Float32, 1, 3, {2, -3, -2});
  const Access o = rig.b.sbuf("o", 1, {3}, DType::Float32), q = rig.b.sbuf("q", 1, {3}, DType::Float32);
  rig.b.tensor_tensor(o, a, c, AluOp::AbsMax, Engine::Vector);
  rig.b.tensor_tensor(q, a, c, AluOp::AbsMin, Engine::Vector);
  rig.emit("max", o);
  rig.emit("min", q);
  rig.run();
  EXPECT_EQ(rig.values("max"), (Values{-3, -3, -2}));
  EXPECT_EQ(rig.values("min"), (Values{2, 2, -2}));
}

TEST(BitOperations, ActOnRawBitsOfEveryWidth) {
  for (const DType dtype : kIntegers) {
    const auto bits = static_cast<int>(8 * size_bytes(dtype));
    const std::uint64_t mask = bits == 32 ? 0xffffffffull : (1ull << bits) - 1;
    const Values x = rounded({1, 2, 100, -1, -128, 85, 0, 127, 4e9, -2e9}, dtype);
    const Values y = rounded({3, 5, 7, 1, 2, 200, 31, 4, 1, 40}, dtype);
    const auto n = static_cast<std::int64_t>(x.size());
    const auto raw = [&](double v) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)) & mask; };
    const std::vector<std::pair<AluOp, std::function<std::uint64_t(std::uint64_t, std::uint64_t)>>> formulas{
        {AluOp::BitwiseAnd, [](auto a, auto b) { return a & b; }},
        {AluOp::BitwiseOr, [](auto a, auto b) { return a | b; }},
        {AluOp::BitwiseXor, [](auto a, auto b) { return a ^ b; }},
        {AluOp::LeftShift, [&](auto a, auto b) { return b >= static_cast<std::uint64_t>(bits) ? 0 : a << b; }},
        {AluOp::RightShift, [&](auto a, auto b) { return b >= static_cast<std::uint64_t>(bits) ? 0 : a >> b; }}};
    for (const Storage storage : {Storage::Exact, Storage::Wide}) {
      for (const auto& [op, formula] : formulas) {
        Rig rig;
        rig.options.storage = storage;
        const Access o = rig.b.sbuf("o", 1, {n}, dtype), inverted = rig.b.sbuf("i", 1, {n}, dtype);
        const Access a = rig.tile("a", dtype, 1, n, x);
        rig.b.tensor_tensor(o, a, rig.tile("c", dtype, 1, n, y), op, Engine::Vector);
        rig.b.tensor_scalar(inverted, a, AluOp::Invert, 0.0, {.engine = Engine::Vector});
        rig.emit("out", o);
        rig.emit("inverted", inverted);
        rig.run();
        for (std::size_t i = 0; i < x.size(); ++i) {
          EXPECT_EQ(raw(rig.values("out")[i]), formula(raw(x[i]), raw(y[i])) & mask) << name(dtype) << name(op) << i;
          EXPECT_EQ(raw(rig.values("inverted")[i]), ~raw(x[i]) & mask);
        }
      }
    }
  }
}

TEST(BitOperations, OnAFloatSeenAsWords) {
  Rig rig;
  const Access a = rig.tile("a", DType::Float32, 1, 3, {-1.5, 2, -0.0});
  rig.b.tensor_scalar(a.view(DType::UInt32), a.view(DType::UInt32), AluOp::BitwiseAnd, double(0x7fffffff),
                      {.op1 = AluOp::RightShift, .operand1 = 23.0, .engine = Engine::Vector});
  rig.emit("out", a.view(DType::UInt32));
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{127, 128, 0}));
}

TEST(TensorScalar, UnaryOperators) {
  const auto n = static_cast<std::int64_t>(kSpecial.size());
  for (const auto& [op, formula] : kUnary) {
    Rig rig("trn3");
    const Access o = rig.b.sbuf("o", 1, {n}, DType::Float32);
    rig.b.tensor_scalar(o, rig.tile("a", DType::Float32, 1, n, kSpecial), op, 0.0, {.engine = Engine::Vector});
    rig.emit("out", o);
    rig.run();
    for (std::size_t i = 0; i < kSpecial.size(); ++i) {
      EXPECT_TRUE(same(rig.values("out")[i], formula(static_cast<float>(kSpecial[i]), 0))) << name(op) << kSpecial[i];
    }
  }
}

TEST(TensorScalar, TwoOperatorsReversedWithColumns) {
  Rig rig;
  const Access x = rig.tile("x", DType::Float32, 3, 2, {1, 2, 3, 4, 5, 6});
  const Access column = rig.tile("c", DType::Float32, 3, 1, {10, 20, 30});
  const Access o = rig.b.sbuf("o", 3, {2}, DType::Float32), q = rig.b.sbuf("q", 3, {2}, DType::Float32);
  rig.b.tensor_scalar(o, x, AluOp::Subtract, column, {.op1 = AluOp::Multiply, .operand1 = 2.0, .reverse0 = true});
  rig.b.tensor_scalar(q, x, AluOp::Multiply, 2.0, {.op1 = AluOp::Subtract, .operand1 = column, .reverse1 = true});
  rig.emit("out", o);
  rig.emit("q", q);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{18, 16, 34, 32, 50, 48}));
  EXPECT_EQ(rig.values("q"), (Values{8, 6, 14, 12, 20, 18}));
}

TEST(ScalarTensorTensor, CombinesThreeOperands) {
  Rig rig;
  const Access x = rig.tile("x", DType::BFloat16, 2, 2, {1, 2, 3, 4}),
               y = rig.tile("y", DType::Float32, 2, 2, {5, 6, 7, 8});
  const Access o = rig.b.sbuf("o", 2, {2}, DType::Float32);
  rig.b.scalar_tensor_tensor(o, x, AluOp::Subtract, rig.tile("s", DType::Float32, 2, 1, {1, 10}), AluOp::Multiply, y);
  rig.emit("out", o);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{0, 6, -49, -48}));
}

TEST(TensorReduce, AddsInElementOrder) {
  for (const auto& [p, f] : {std::pair{1, 1}, {31, 513}, {128, 512}, {9, 33}}) {
    Rig rig;
    const Values x = rounded(normals(p * f, 7), DType::Float32);
    const Access o = rig.b.sbuf("o", p, {1}, DType::Float32), m = rig.b.sbuf("m", p, {1}, DType::Float32);
    const Access t = rig.tile("x", DType::Float32, p, f, x);
    rig.b.tensor_reduce(o, AluOp::Add, t);
    rig.b.tensor_reduce(m, AluOp::Maximum, t, 1, true);
    rig.emit("out", o);
    rig.emit("max", m);
    rig.run();
    for (std::size_t r = 0; r < static_cast<std::size_t>(p); ++r) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(r * static_cast<std::size_t>(f));
      float sum = static_cast<float>(*begin);
      for (auto v = begin + 1; v != begin + f; ++v) sum += static_cast<float>(*v);
      EXPECT_EQ(rig.values("out")[r], sum);
      EXPECT_EQ(rig.values("max")[r], -*std::max_element(begin, begin + f));
    }
  }
}

TEST(TensorReduce, InnermostDimensionsOnly) {
  Rig rig;
  Values x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const Access t = rig.tile("x", DType::Float32, 2, 12, x).split(0, 4).split(1, 2);  // [2, 3, 2, 2]
  const Access one = rig.b.sbuf("one", 2, {6}, DType::Float32), two = rig.b.sbuf("two", 2, {3}, DType::Int32);
  const Access turned = rig.b.sbuf("turned", 2, {4}, DType::Float32);
  rig.b.tensor_reduce(one, AluOp::Multiply, t, 1);
  rig.b.tensor_reduce(two, AluOp::Add, t, 2);
  rig.b.tensor_reduce(turned, AluOp::Add, t.permute({1, 2, 0}),
                      1);  // over the outer 3
  rig.emit("one", one);
  rig.emit("two", two);
  rig.emit("turned", turned);
  rig.run();
  EXPECT_EQ(rig.values("one"), (Values{0, 6, 20, 42, 72, 110, 156, 210, 272, 342, 420, 506}));
  EXPECT_EQ(rig.values("two"), (Values{6, 22, 38, 54, 70, 86}));
  EXPECT_EQ(rig.values("turned"), (Values{12, 15, 18, 21, 48, 51, 54, 57}));
}

TEST(TensorReduce, BitsOfIntegers) {
  Rig rig;
  const Access t = rig.tile("x", DType::UInt16, 1, 3, {0xff00, 0x0ff0, 0x00ff});
  const Access o = rig.b.sbuf("o", 1, {1}, DType::UInt16);
  rig.b.tensor_reduce(o, AluOp::BitwiseXor, t);
  rig.emit("out", o);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{0xff00 ^ 0x0ff0 ^ 0x00ff}));
}

TEST(TensorTensorScan, RunsTheRecurrenceInFloat) {
  Rig rig;
  const Values x = rounded(normals(2 * 33, 8), DType::Float32), y = rounded(normals(2 * 33, 9), DType::Float32);
  const Access a = rig.tile("a", DType::Float32, 2, 33, x), c = rig.tile("c", DType::Float32, 2, 33, y);
  const Access o = rig.b.sbuf("o", 2, {33}, DType::BFloat16), q = rig.b.sbuf("q", 2, {33}, DType::Float32);
  rig.b.tensor_tensor_scan(o, a, c, 0.5, AluOp::Multiply, AluOp::Add);
  rig.b.tensor_tensor_scan(q, a, c, rig.tile("i", DType::Float32, 2, 1, {3, -3}), AluOp::Maximum, AluOp::Subtract);
  rig.emit("out", o);
  rig.emit("q", q);
  rig.run();
  for (std::size_t r = 0; r < 2; ++r) {
    float running = 0.5f, other = r == 0 ? 3.f : -3.f;
    for (std::size_t i = r * 33; i < r * 33 + 33; ++i) {
      running = static_cast<float>(x[i]) * running + static_cast<float>(y[i]);
      other = std::fmax(static_cast<float>(x[i]), other) - static_cast<float>(y[i]);
      EXPECT_EQ(rig.values("out")[i], rounded(running, DType::BFloat16));
      EXPECT_EQ(rig.values("q")[i], other);
    }
  }
}

TEST(TensorCopy, MovesBitsOrConverts) {
  Rig rig;
  const Access source = rig.input_bytes("x", DType::Float32, {1, 2}, {1, 0, 0x80, 0x7f, 0xff, 0xff, 0xff, 0xff});
  const Access a = rig.b.sbuf("a", 1, {2}, DType::Float32), c = rig.b.sbuf("c", 1, {2}, DType::Float32);
  const Access n = rig.tile("n", DType::Int32, 1, 2, {16777217, -300}), kept = rig.b.sbuf("k", 1, {2}, DType::Int32);
  const Access bytes = rig.b.sbuf("bytes", 1, {2}, DType::Int8);
  rig.b.dma_copy(a, source);
  rig.b.tensor_copy(c, a, Engine::Vector);
  rig.b.tensor_copy(kept, n, Engine::Vector);
  rig.b.tensor_copy(bytes, n, Engine::Vector);
  rig.emit("out", c);
  rig.emit("kept", kept);
  rig.emit("bytes", bytes);
  rig.run();
  EXPECT_EQ(rig.bytes("out"),
            rig.bytes("x"));  // signalling NaN payload included
  EXPECT_EQ(rig.values("kept"), (Values{16777217, -300}));
  EXPECT_EQ(rig.values("bytes"), (Values{127, -128}));
}

TEST(TensorCopy, ScalarEngineWithoutItsOwnCopyGoesThroughFloat) {
  for (const bool own : {false, true}) {
    Rig rig;
    rig.machine.scalar_tensor_copy = own;
    const Access n = rig.tile("n", DType::Int32, 1, 1, {16777217}), o = rig.b.sbuf("o", 1, {1}, DType::Int32);
    rig.b.tensor_copy(o, n, Engine::Scalar);
    rig.emit("out", o);
    rig.run();
    EXPECT_EQ(rig.values("out")[0], own ? 16777217 : 16777216);
  }
}

TEST(TensorCopy, BroadcastsAndReordersByStrides) {
  Rig rig;
  const Access t = rig.tile("x", DType::Float16, 1, 6, {1, 2, 3, 4, 5, 6});
  const Access turned = rig.b.sbuf("t", 1, {6}, DType::Float16), wide = rig.b.sbuf("w", 1, {6}, DType::Float16);
  rig.b.tensor_copy(turned, t.split(0, 3).permute({1, 0}), Engine::Vector);
  rig.b.tensor_copy(wide, t(all, ds(2, 2)).broadcast(1, 3), Engine::Vector);
  rig.emit("turned", turned);
  rig.emit("wide", wide);
  rig.run();
  EXPECT_EQ(rig.values("turned"), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(rig.values("wide"), (Values{3, 3, 3, 4, 4, 4}));
}

TEST(TensorCopy, OverlappingRowReadsBeforeItWrites) {
  Rig rig;
  const Access t = rig.tile("x", DType::Float32, 1, 4, {1, 2, 3, 4});
  rig.b.tensor_scalar(t(all, ds(1, 3)), t(all, ds(0, 3)), AluOp::Add, 10.0, {.engine = Engine::Vector});
  rig.emit("out", t);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{1, 11, 12, 13}));
}

TEST(TensorCopyPredicated, LeavesTheRestAlone) {
  for (const bool reverse : {false, true}) {
    Rig rig;
    const Access o = rig.tile("o", DType::Float32, 1, 4, {1, 2, 3, 4});
    rig.b.tensor_copy_predicated(o, rig.tile("s", DType::Float32, 1, 4, {5, 6, 7, 8}),
                                 rig.tile("p", DType::UInt8, 1, 4, {1, 0, 255, 0}), reverse);
    rig.emit("out", o);
    rig.run();
    EXPECT_EQ(rig.values("out"), reverse ? (Values{1, 6, 3, 8}) : (Values{5, 2, 7, 4}));
  }
}

TEST(Reciprocal, DividesOne) {
  Rig rig;
  const Access o = rig.b.sbuf("o", 1, {4}, DType::Float32);
  rig.b.reciprocal(o, rig.tile("x", DType::Float32, 1, 4, {3, -0.0, kInf, 4}));
  rig.emit("out", o);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{1.f / 3.f, -kInf, 0, 0.25}));
}

TEST(Memset, EveryDType) {
  for (const Engine engine : {Engine::Vector, Engine::GpSimd}) {
    std::vector<DType> dtypes = kDeviceFloats;
    dtypes.insert(dtypes.end(), kIntegers.begin(), kIntegers.end());
    for (const DType dtype : dtypes) {
      Rig rig("trn3");
      const Access o = rig.b.sbuf("o", 33, {5}, dtype);
      rig.b.memset(o, 3.0, engine);
      rig.b.memset(o(ds(0, 32), ds(1, 1)), 7.0, engine);
      rig.emit("out", o);
      rig.run();
      for (std::size_t i = 0; i < 33 * 5; ++i) EXPECT_EQ(rig.values("out")[i], i % 5 == 1 && i < 160 ? 7 : 3);
    }
  }
}

// A row is read completely before it is written, copies included: spreading a row over itself works.
TEST(TensorCopy, MayOverlapItsOwnRow) {
  Rig rig;
  Values x(64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const Access t = rig.tile("t", DType::Float32, 1, 64, x);
  Access spread = t;
  spread.dims = {{2, 32}};
  rig.b.tensor_copy(spread, t(all, ds(0, 32)), Engine::Vector);
  rig.emit("out", t);
  rig.run();
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(rig.values("out")[2 * i], static_cast<double>(i)) << i;
}

TEST(ScalarTensorTensor, ReversedOperatorsTakeTheirOperandFirst) {
  for (const bool r0 : {false, true}) {
    for (const bool r1 : {false, true}) {
      Rig rig;
      const Access x = rig.tile("x", DType::Float32, 1, 2, {1, 5}), y = rig.tile("y", DType::Float32, 1, 2, {100, 7});
      rig.b.scalar_tensor_tensor(x, x, AluOp::Subtract, 3.0, AluOp::Subtract, y, {.reverse0 = r0, .reverse1 = r1});
      rig.emit("out", x);
      rig.run();
      Values expected;
      for (const auto& [a, b] : {std::pair{1.0, 100.0}, std::pair{5.0, 7.0}}) {
        const double t = r0 ? 3 - a : a - 3;
        expected.push_back(r1 ? b - t : t - b);
      }
      EXPECT_EQ(rig.values("out"), expected) << r0 << r1;
    }
  }
}

TEST(TensorTensorScan, ReversedOperatorsTakeTheirArgumentsTheOtherWay) {
  for (const bool r0 : {false, true}) {
    for (const bool r1 : {false, true}) {
      Rig rig;
      const Access x = rig.tile("x", DType::Float32, 1, 3, {1, 2, 4});
      const Access y = rig.tile("y", DType::Float32, 1, 3, {8, 1, 5});
      rig.b.tensor_tensor_scan(x, x, y, 10.0, AluOp::Subtract, AluOp::Subtract, {.reverse0 = r0, .reverse1 = r1});
      rig.emit("out", x);
      rig.run();
      Values expected;
      double r = 10;
      for (const auto& [a, b] : {std::pair{1.0, 8.0}, std::pair{2.0, 1.0}, std::pair{4.0, 5.0}}) {
        const double t = r0 ? r - a : a - r;
        expected.push_back(r = r1 ? b - t : t - b);
      }
      EXPECT_EQ(rig.values("out"), expected) << r0 << r1;
    }
  }
}

TEST(TensorCopyPredicated, OfANumber) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int32, DType::UInt8}) {
    for (const bool reverse : {false, true}) {
      Rig rig;
      const Access t = rig.tile("t", dtype, 2, 2, {1, 2, 3, 4});
      rig.b.tensor_copy_predicated(t, 100.0, rig.tile("m", DType::UInt8, 2, 2, {0, 1, 255, 0}), reverse);
      rig.emit("out", t);
      rig.run();
      EXPECT_EQ(rig.values("out"), reverse ? (Values{100, 2, 3, 100}) : (Values{1, 100, 100, 4})) << name(dtype);
    }
  }
}

}  // namespace
}  // namespace trn::neuron::sim
