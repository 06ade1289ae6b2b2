// Emitted kernels, executed: every instruction of the Vector, Scalar and GpSimd Engines, every operator and activation
// function, over the dtypes. Bit for bit, except transcendental functions: those are within 2 ulp of float32.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "support/nki_run.hpp"
#include "test_paths.hpp"

namespace trn::neuron::testing {
namespace {

using tile::Access;
using tile::ActFunction;
using tile::Affine;
using tile::all;
using tile::AluOp;
using tile::ds;
using tile::Engine;
using enum DType;

const std::vector<DType> kDTypes{Float32, TFloat32, BFloat16, Float16, Float8E4M3, Float8E5M2,
                                 Int32,   Int16,    Int8,     UInt32,  UInt16,     UInt8};
const std::vector<AluOp> kBinary{AluOp::Add,       AluOp::Subtract,  AluOp::Multiply, AluOp::Maximum,
                                 AluOp::Minimum,   AluOp::Equal,     AluOp::NotEqual, AluOp::GreaterEqual,
                                 AluOp::Greater,   AluOp::LessEqual, AluOp::Less,     AluOp::LogicalAnd,
                                 AluOp::LogicalOr, AluOp::LogicalXor};
const std::vector<AluOp> kBits{AluOp::BitwiseAnd, AluOp::BitwiseOr, AluOp::BitwiseXor, AluOp::LeftShift,
                               AluOp::RightShift};

std::string label(AluOp op) { return std::string(name(op)); }
std::string label(DType dtype) { return std::string(name(dtype)); }

// Small integers, so that equal values and zeros occur.
double small(std::int64_t i) { return static_cast<double>(i * 7 % 5 - 2); }
double shift(std::int64_t i) { return static_cast<double>(i % 8); }

TEST(NkiExecuteAlu, TensorTensorOperators) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 32, {20}), y = k.load("y", Float32, 32, {20});
  const Access u = k.load("u", UInt16, 32, {20}), v = k.load("v", UInt16, 32, {20});
  for (const AluOp op : kBinary) {
    const Access o = k.tile("o", Float32, 32, {20});
    k.b.tensor_tensor(o, x, y, op);
    k.store(label(op), o);
  }
  for (const AluOp op : kBits) {
    const Access o = k.tile("o", UInt16, 32, {20});
    k.b.tensor_tensor(o, u, v, op);
    k.store(label(op), o);
  }
  expect_agreement(k.b.finish(), {{"x", small}, {"y", [](std::int64_t i) { return small(3 * i + 1); }}, {"v", shift}});
}

TEST(NkiExecuteAlu, AbsMaxAndMinOnTrn3) {
  Kernel k("trn3");
  const Access x = k.load("x", Float32, 32, {20}), y = k.load("y", Float32, 32, {20});
  for (const AluOp op : {AluOp::AbsMax, AluOp::AbsMin}) {
    const Access o = k.tile("o", Float32, 32, {20});
    k.b.tensor_tensor(o, x, y, op);
    k.store(label(op), o);
  }
  for (const AluOp op : {AluOp::Square, AluOp::Relu}) {
    const Access o = k.tile("o", Float32, 32, {20});
    k.b.tensor_scalar(o, x, op, 0.0);
    k.store(label(op), o);
  }
  expect_agreement(k.b.finish(), {{"x", small}, {"y", [](std::int64_t i) { return small(2 * i); }}});
}

// Through fp32 whatever the dtypes; the result rounds or saturates to dst.
TEST(NkiExecuteAlu, TensorTensorDtypes) {
  Kernel k("trn2");
  const Access y = k.load("y", Float32, 32, {20});
  for (const DType from : kDTypes) {
    const Access x = k.load("x_" + label(from), from, 32, {20});
    for (const DType to : kDTypes) {
      const Access o = k.tile("o", to, 32, {20});
      k.b.tensor_tensor(o, x, y, AluOp::Multiply, Engine::Vector);
      k.store(label(from) + "_" + label(to), o);
    }
  }
  expect_agreement(k.b.finish());
}

// GpSimd computes 32-bit integers exactly, modulo 2^32; the Vector Engine goes through fp32.
TEST(NkiExecuteAlu, IntegersOnBothEngines) {
  for (const DType dtype : {Int32, UInt32}) {
    Kernel k("trn2");
    const Access x = k.load("x", dtype, 32, {20}), y = k.load("y", dtype, 32, {20});
    for (const Engine engine : {Engine::Any, Engine::GpSimd, Engine::Vector}) {
      for (const AluOp op : {AluOp::Add, AluOp::Subtract, AluOp::Multiply, AluOp::Maximum, AluOp::Less}) {
        const Access o = k.tile("o", dtype, 32, {20});
        k.b.tensor_tensor(o, x, y, op, engine);
        k.store(label(op) + "_" + std::string(name(engine)), o);
      }
    }
    const double low = dtype == Int32 ? -2147483648.0 : 0.0;
    const auto values = [low](std::int64_t step) {
      return [=](std::int64_t i) { return low + static_cast<double>((i + 1) * step % 4294967296); };
    };
    expect_agreement(k.b.finish(), {{"x", values(987654321)}, {"y", values(123456789123)}});
  }
}

TEST(NkiExecuteAlu, TensorScalarOperators) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 32, {20}), s = k.load("s", Float32, 32, {3}), u = k.load("u", Int32, 32, {20});
  const auto run = [&](const std::string& as, AluOp op, tile::ScalarOrTile operand, tile::TensorScalarOptions options) {
    const Access o = k.tile("o", Float32, 32, {20});
    k.b.tensor_scalar(o, x, op, operand, options);
    k.store(as, o);
  };
  for (const AluOp op : kBinary) {
    run(label(op), op, 1.0, {.engine = Engine::Vector});
    run(label(op) + "_tile", op, s(all, ds(1, 1)), {.reverse0 = true});
  }
  run("two", AluOp::Subtract, 0.3, {.op1 = AluOp::Multiply, .operand1 = s(all, ds(2, 1)), .reverse0 = true});
  run("two_reversed", AluOp::Multiply, 0.1, {.op1 = AluOp::Subtract, .operand1 = 1e-3, .reverse1 = true});
  run("unary", AluOp::Abs, 0.0, {.op1 = AluOp::Add, .operand1 = 1.0});
  run("scalar_engine", AluOp::Multiply, 0.7,
      {.op1 = AluOp::Add, .operand1 = s(all, ds(0, 1)), .engine = Engine::Scalar});
  for (const AluOp op : kBits) {
    const Access o = k.tile("o", Int32, 32, {20});
    k.b.tensor_scalar(o, u, op, 5.0, {.op1 = AluOp::BitwiseXor, .operand1 = -2.0});
    k.store(label(op), o);
  }
  const Access o = k.tile("o", Int32, 32, {20});
  k.b.tensor_scalar(o, u, AluOp::Invert, 0.0);
  k.store("invert", o);
  expect_agreement(k.b.finish(), {{"x", small}});
}

TEST(NkiExecuteAlu, RootsAndPowersWithin2Ulp) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 32, {20}), y = k.load("y", Float32, 32, {20});
  const Access a = k.tile("a", Float32, 32, {20}), c = k.tile("c", Float32, 32, {20}),
               d = k.tile("d", Float32, 32, {20});
  k.b.tensor_scalar(a, x, AluOp::Rsqrt, 0.0, {.engine = Engine::GpSimd});
  k.b.tensor_scalar(c, x, AluOp::Power, -0.5);
  k.b.tensor_tensor(d, x, y, AluOp::Power);
  k.store("rsqrt", a);
  k.store("power", c);
  k.store("tile_power", d);
  expect_agreement(k.b.finish(), {{"x", [](std::int64_t i) { return 0.01 + 0.37 * static_cast<double>(i); }}}, 2);
}

TEST(NkiExecuteAlu, ReciprocalIsRoundedOnce) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 32, {20}), o = k.tile("o", Float32, 32, {20}),
               h = k.tile("h", BFloat16, 32, {20});
  k.b.reciprocal(o, x);
  k.b.tensor_scalar(h, x, AluOp::Reciprocal, 0.0);
  k.store("out", o);
  k.store("half", h);
  expect_agreement(k.b.finish());
}

TEST(NkiExecuteAlu, ScalarTensorTensor) {
  Kernel k("trn1");
  const Access x = k.load("x", BFloat16, 64, {20}), y = k.load("y", Float32, 64, {20}),
               s = k.load("s", Float32, 64, {1});
  const Access a = k.tile("a", Float32, 64, {20}), c = k.tile("c", BFloat16, 64, {20});
  k.b.scalar_tensor_tensor(a, x, AluOp::Multiply, s, AluOp::Subtract, y);
  k.b.scalar_tensor_tensor(c, y, AluOp::Add, 0.1, AluOp::Maximum, x);
  k.store("a", a);
  k.store("c", c);
  expect_agreement(k.b.finish());
}

TEST(NkiExecuteAlu, Reductions) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 32, {3, 4, 5}), u = k.load("u", UInt16, 32, {6}),
               i = k.load("i", Int32, 32, {6});
  for (const AluOp op : {AluOp::Add, AluOp::Subtract, AluOp::Multiply, AluOp::Maximum, AluOp::Minimum,
                         AluOp::LogicalAnd, AluOp::LogicalOr, AluOp::LogicalXor}) {
    const Access one = k.tile("one", Float32, 32, {3, 4}), two = k.tile("two", BFloat16, 32, {3});
    k.b.tensor_reduce(one, op, x, 1, op == AluOp::Add);
    k.b.tensor_reduce(two, op, x, 2);
    k.store(label(op) + "_1", one);
    k.store(label(op) + "_2", two);
  }
  for (const AluOp op : {AluOp::BitwiseAnd, AluOp::BitwiseOr, AluOp::BitwiseXor}) {
    const Access o = k.tile("o", UInt16, 32, {1});
    k.b.tensor_reduce(o, op, u);
    k.store(label(op), o);
  }
  const Access sum = k.tile("sum", Int32, 32, {1});
  k.b.tensor_reduce(sum, AluOp::Add, i);
  k.store("integers", sum);
  expect_agreement(k.b.finish());
}

TEST(NkiExecuteAlu, AcrossPartitions) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 64, {12}), u = k.load("u", UInt32, 64, {12}), i = k.load("i", Int32, 64, {12});
  const auto run = [&](const std::string& as, AluOp op, const Access& data) {
    const Access o = k.tile("o", data.dtype, 1, {12});
    k.b.tensor_partition_reduce(o, op, data);
    k.store(as, o);
  };
  run("add", AluOp::Add, x);
  run("maximum", AluOp::Maximum, x);
  run("or", AluOp::BitwiseOr, u);
  run("and", AluOp::BitwiseAnd, u);
  run("integers", AluOp::Add, i);
  expect_agreement(k.b.finish(),
                   {{"i", [](std::int64_t n) { return static_cast<double>((n + 1) * 123457 % 100000007); }}});
}

TEST(NkiExecuteAlu, Scans) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 32, {40}), y = k.load("y", BFloat16, 32, {40}),
               s = k.load("s", Float32, 32, {1});
  const Access a = k.tile("a", Float32, 32, {40}), c = k.tile("c", BFloat16, 32, {40});
  k.b.tensor_tensor_scan(a, x, y, 0.25, AluOp::Multiply, AluOp::Add);
  k.b.tensor_tensor_scan(c, y, x, s, AluOp::Maximum, AluOp::Subtract);
  k.store("a", a);
  k.store("c", c);
  expect_agreement(k.b.finish());
}

TEST(NkiExecuteAlu, CopiesOnEveryEngine) {
  Kernel k("trn2");
  for (const DType from : kDTypes) {
    const Access x = k.load("x_" + label(from), from, 32, {10});
    for (const DType to : kDTypes) {
      for (const Engine engine : {Engine::Vector, Engine::Scalar, Engine::GpSimd}) {
        const Access o = k.tile("o", to, 32, {10});
        k.b.tensor_copy(o, x, engine);
        k.store(label(from) + "_" + label(to) + "_" + std::string(name(engine)), o);
      }
    }
  }
  expect_agreement(k.b.finish());
}

TEST(NkiExecuteAlu, PredicatedCopy) {
  Kernel k("trn2");
  const Access x = k.load("x", Float16, 32, {20}), p = k.load("p", UInt8, 32, {20});
  for (const bool reverse : {false, true}) {
    const Access o = k.tile("o", Float16, 32, {20});
    k.b.memset(o, 9.0);
    k.b.tensor_copy_predicated(o, x, p, reverse);
    k.store(reverse ? "reversed" : "plain", o);
  }
  expect_agreement(k.b.finish(), {{"p", [](std::int64_t i) { return static_cast<double>(i % 3); }}});
}

TEST(NkiExecuteAlu, Memset) {
  Kernel k("trn2");
  for (const DType dtype : kDTypes) {
    const Access o = k.tile("o", dtype, 16, {5});
    k.b.memset(o, is_float(dtype) ? 0.3 : 77.0, Engine::GpSimd);
    k.b.memset(o(all, ds(2, 2)), is_float(dtype) ? -1e30 : 0.0, Engine::Vector);
    k.store(label(dtype), o);
  }
  expect_agreement(k.b.finish());
}

TEST(NkiExecuteAlu, ActivationFunctionsWithin2Ulp) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 32, {50}), positive = k.load("positive", Float32, 32, {50});
  for (int f = 0; !name(static_cast<ActFunction>(f)).empty(); ++f) {
    const auto function = static_cast<ActFunction>(f);
    const bool from_positive = function == ActFunction::Log || function == ActFunction::Sqrt ||
                               function == ActFunction::Rsqrt || function == ActFunction::Reciprocal;
    const bool narrow = function == ActFunction::Arctan;
    const Access o = k.tile("o", Float32, 32, {50});
    k.b.activation(o, function, from_positive ? positive : x, {.scale = narrow ? 0.5 : 1.0});
    k.store(std::string(name(function)), o);
  }
  expect_agreement(k.b.finish(),
                   {{"x", [](std::int64_t i) { return 3.0 * (static_cast<double>(i * 131 % 1600) / 800 - 1); }},
                    {"positive", [](std::int64_t i) { return 0.01 + 0.02 * static_cast<double>(i); }}},
                   2);
}

class NkiActivationOn : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Machines, NkiActivationOn, ::testing::Values("trn1", "trn2", "trn3"),
                         [](const auto& i) { return std::string(i.param); });

// Scale, bias and the row sum, with functions that round nothing themselves: bit for bit.
TEST_P(NkiActivationOn, ScaleBiasAndSum) {
  Kernel k(GetParam());
  const Access x = k.load("x", BFloat16, 32, {3, 10}), bias = k.load("bias", BFloat16, 32, {1}),
               scale = k.load("scale", Float32, 32, {1});
  const Access a = k.tile("a", BFloat16, 32, {3, 10}), sum = k.tile("sum", Float32, 32, {1});
  k.b.activation(a, ActFunction::Relu, x, {.bias = bias, .scale = scale, .reduce_res = sum});
  k.store("a", a);
  k.store("sum", sum);
  const Access c = k.tile("c", Float32, 32, {30});
  k.b.activation(c, ActFunction::Copy, x, {.bias = bias, .scale = 0.3});
  k.store("c", c);
  if (std::string(GetParam()) != "trn1") {
    const Access d = k.tile("d", Int32, 32, {30});
    k.b.activation(d, ActFunction::Abs, x, {.bias = -0.7, .scale = 100.0});
    k.store("d", d);
  }
  expect_agreement(k.b.finish());
}

TEST(NkiExecuteAlu, IotaAndAffineSelect) {
  Kernel k("trn2");
  for (const DType dtype : {Float32, Int32, UInt32, Int16, UInt8}) {
    const Access o = k.tile("o", dtype, 32, {3, 4});
    k.b.iota(o, {{16, 3}, {1, 4}}, 5, 100);
    k.store("iota_" + label(dtype), o);
  }
  const Access x = k.load("x", Float32, 32, {3, 10});
  for (const AluOp op :
       {AluOp::Equal, AluOp::NotEqual, AluOp::GreaterEqual, AluOp::Greater, AluOp::LessEqual, AluOp::Less}) {
    const Access o = k.tile("o", Float32, 32, {3, 10}), h = k.tile("h", BFloat16, 32, {30});
    k.b.affine_select(o, {{-4, 3}, {-1, 10}}, 2, 1, op, x, -1e9);
    k.b.affine_select(h, {{1, 30}}, -15, 0, op, x, 0.1);
    k.store(label(op), o);
    k.store(label(op) + "_half", h);
  }
  expect_agreement(k.b.finish());
}

TEST(NkiExecuteAlu, LocalGather) {
  Kernel k("trn2");
  const Access x = k.load("x", Float32, 64, {40}), index = k.load("index", UInt16, 64, {2});
  const Access whole = k.tile("whole", Float32, 64, {32}), some = k.tile("some", Float32, 64, {4, 5});
  k.b.local_gather(whole, x, index);
  k.b.local_gather(some, x, index);
  const Access runs = k.tile("runs", Float32, 64, {20, 2});
  k.b.local_gather(runs, x, index, 2);
  k.store("runs", runs);
  k.store("whole", whole);
  k.store("some", some);
  expect_agreement(k.b.finish(), {{"index", [](std::int64_t i) { return static_cast<double>(i * 11 % 37); }}});
}

const double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kSpecials = 16;
// Zeros, subnormals of every format, ties, the ends of the ranges, infinities and NaN.
double special(std::int64_t i) {
  const double values[kSpecials] = {0.0,  -0.0, 1.0,    -1.5,    1e-40,   -1e-40,  0x1p-149, 0x1.01p0,
                                    kInf, kNaN, 3.4e38, -3.4e38, 65520.0, 0x1p-25, 464.0,    248.0};
  return values[i % kSpecials];
}

// All pairs of special values: x varies along the row, y from row to row.
TEST(NkiExecuteAlu, SpecialValues) {
  Kernel k("trn3");
  const Access x = k.load("x", Float32, kSpecials, {kSpecials}), y = k.load("y", Float32, kSpecials, {kSpecials});
  std::vector<AluOp> operators = kBinary;
  operators.insert(operators.end(), {AluOp::AbsMax, AluOp::AbsMin});
  for (const AluOp op : operators) {
    const Access o = k.tile("o", Float32, kSpecials, {kSpecials});
    k.b.tensor_tensor(o, x, y, op);
    k.store(label(op), o);
  }
  for (const AluOp op : {AluOp::Abs, AluOp::Square, AluOp::Relu, AluOp::Reciprocal}) {
    const Access o = k.tile("o", Float32, kSpecials, {kSpecials});
    k.b.tensor_scalar(o, x, op, 0.0);
    k.store(label(op), o);
  }
  for (const ActFunction f : {ActFunction::Copy, ActFunction::Relu, ActFunction::Abs, ActFunction::Square}) {
    const Access o = k.tile("o", Float32, kSpecials, {kSpecials});
    k.b.activation(o, f, x);
    k.store("activation_" + std::string(name(f)), o);
  }
  for (const AluOp op : {AluOp::Add, AluOp::Maximum, AluOp::Minimum, AluOp::Multiply, AluOp::LogicalOr}) {
    const Access o = k.tile("o", Float32, kSpecials, {kSpecials});
    k.b.tensor_reduce(o, op, y.split(0, 1));
    k.store("reduce_" + label(op), o);
  }
  std::vector<DType> dtypes = kDTypes;
  dtypes.push_back(Float8E4M3FN);
  for (const DType to : dtypes) {
    const Access o = k.tile("o", to, kSpecials, {kSpecials}), back = k.tile("back", Float32, kSpecials, {kSpecials});
    k.b.tensor_copy(o, x, Engine::Vector);
    k.b.tensor_copy(back, o, Engine::Vector);
    k.store("to_" + label(to), o);
    k.store("back_" + label(to), back);
  }
  expect_agreement(k.b.finish(), {{"x", special}, {"y", [](std::int64_t i) { return special(i / kSpecials); }}});
}

// The stand-in checks itself against literal values, and each of its rules with a good and a bad text.
TEST(NkiStandIn, SelfTest) {
  for (const char* script : {"selftest.py", "rules_test.py"}) {
    const std::string command =
        std::string(TRN_PYTHON) + " -B " + TRN_SOURCE_DIR + "/tests/nki_standin/" + script + " 2>/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
}

}  // namespace
}  // namespace trn::neuron::testing
