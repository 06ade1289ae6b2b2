// Emitted kernels, executed: the Vector Engine's reductions into its registers, the searches, and nonzero_with_count,
// bit for bit against the simulator.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/nki_run.hpp"

namespace trn::neuron::testing {
namespace {

using tile::Access;
using tile::all;
using tile::AluOp;
using tile::ds;
using tile::ReduceCmd;
using enum DType;

// Small integers with many ties, zeros of both signs, infinities and NaN.
double special(std::int64_t i) {
  static const double values[] = {3, -1, 0, -0.0, 2, 3, std::numeric_limits<double>::infinity(), 1, 3, -2, 5, 2};
  return i % 97 == 60 ? std::nan("") : values[i * 5 % 12];
}
double zero_or_more(std::int64_t i) { return static_cast<double>(i * 7 % 3); }

class NkiReduceOn : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Machines, NkiReduceOn, ::testing::Values("trn1", "trn2", "trn3"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(NkiReduceOn, TensorScalarReduce) {
  Kernel k(GetParam());
  const Access x = k.load("x", Float32, 32, {4, 10}), c = k.load("c", Float32, 32, {1}),
               s = k.load("s", Int16, 32, {40});
  for (const AluOp op : {AluOp::Add, AluOp::Multiply, AluOp::Maximum, AluOp::Minimum}) {
    const Access o = k.tile("o", BFloat16, 32, {40}), r = k.tile("r", Float32, 32, {3});
    const auto column = [&](std::int64_t i) { return r(all, ds(i, 1)); };
    k.b.tensor_scalar_reduce(o, x, AluOp::Multiply, 0.75, op);
    k.b.tensor_scalar_reduce(o, x, AluOp::Add, c, op, {.reduce_res = column(0), .reduce_cmd = ReduceCmd::Reduce});
    k.b.tensor_scalar_reduce(
        o, s, AluOp::Abs, 0.0, op,
        {.reduce_res = column(1), .reduce_cmd = ReduceCmd::LoadReduce, .reduce_init = c, .negate = true});
    k.b.tensor_scalar_reduce(o, s, AluOp::Reciprocal, 0.0, op,
                             {.reduce_res = column(2), .reduce_cmd = ReduceCmd::LoadReduce, .reduce_init = -1.5});
    k.store("o_" + std::string(name(op)), o);
    k.store("r_" + std::string(name(op)), r);
  }
  expect_agreement(k.b.finish());
}

TEST_P(NkiReduceOn, TensorScalarReduceOfSpecialValues) {
  Kernel k(GetParam());
  const Access x = k.load("x", Float32, 64, {20}), o = k.tile("o", Float16, 64, {20}),
               r = k.tile("r", Float32, 64, {2});
  k.b.tensor_scalar_reduce(o, x, AluOp::Add, 1.0, AluOp::Maximum, {.reduce_res = r(all, ds(0, 1))});
  k.b.tensor_scalar_reduce(o, x, AluOp::Less, 1.0, AluOp::Add, {.reduce_res = r(all, ds(1, 1))});
  k.store("o_out", o);
  k.store("r_out", r);
  expect_agreement(k.b.finish(), {{"x", special}});
}

TEST_P(NkiReduceOn, TensorScalarCumulative) {
  Kernel k(GetParam());
  const Access c = k.load("c", Float32, 32, {1});
  for (const DType from : {Float32, BFloat16, Float8E5M2, Int8, UInt16}) {
    const Access x = k.load("x_" + std::string(name(from)), from, 32, {24});
    for (const AluOp op : {AluOp::Add, AluOp::Subtract, AluOp::Multiply, AluOp::Maximum, AluOp::Minimum}) {
      const Access o = k.tile("o", op == AluOp::Add ? Float16 : Float32, 32, {3, 24});
      const auto part = [&](std::int64_t i) { return o(all, ds(i, 1), all); };
      k.b.tensor_scalar_cumulative(part(0), x, AluOp::Multiply, 0.5, op);
      k.b.tensor_scalar_cumulative(part(1), x, AluOp::Multiply, c, op, {.reduce_cmd = ReduceCmd::Reduce});
      k.b.tensor_scalar_cumulative(part(2), x, AluOp::Abs, 0.0, op, {.reduce_cmd = ReduceCmd::LoadReduce, .imm1 = c});
      k.store(std::string(name(from)) + "_" + std::string(name(op)), o);
    }
  }
  expect_agreement(k.b.finish());
}

TEST_P(NkiReduceOn, SelectReduce) {
  Kernel k(GetParam());
  const Access x = k.load("x", Float32, 64, {20}), c = k.load("c", BFloat16, 64, {1});
  for (const DType predicate : {Int8, UInt8, Int16, UInt16}) {
    const Access m = k.load("m_" + std::string(name(predicate)), predicate, 64, {20});
    const Access o = k.tile("o", Float16, 64, {20}), u = k.tile("u", Float32, 64, {20}),
                 r = k.tile("r", Float32, 64, {2});
    k.b.select_reduce(o, m, x, -2.5);
    k.b.select_reduce(u, m, x, c, {.reduce_res = r(all, ds(0, 1)), .reverse_pred = true});
    k.b.select_reduce(u, m, u, 0.5, {.reduce_res = r(all, ds(1, 1)), .reduce_cmd = ReduceCmd::Reduce});
    k.store("o_" + std::string(name(predicate)), o);
    k.store("u_" + std::string(name(predicate)), u);
    k.store("r_" + std::string(name(predicate)), r);
  }
  expect_agreement(k.b.finish(), {{"x", special},
                                  {"m_int8", zero_or_more},
                                  {"m_uint8", zero_or_more},
                                  {"m_int16", zero_or_more},
                                  {"m_uint16", zero_or_more}});
}

TEST(NkiReduce, RangeSelect) {
  for (const char* machine : {"trn2", "trn3"}) {
    Kernel k(machine);
    const Access x = k.load("x", BFloat16, 32, {4, 6}), low = k.load("low", Float32, 32, {1});
    const Access high = k.load("high", Float32, 32, {1});
    for (const AluOp op : {AluOp::Equal, AluOp::Less, AluOp::LessEqual, AluOp::Greater, AluOp::GreaterEqual}) {
      const Access o = k.tile("o", Float32, 32, {24}), h = k.tile("h", BFloat16, 32, {24}),
                   r = k.tile("r", Float32, 32, {2});
      k.b.range_select(o, x, op, low, AluOp::LessEqual, high, {.reduce_res = r(all, ds(0, 1))});
      k.b.range_select(o, x, op, low, AluOp::Less, high, {.reduce_cmd = ReduceCmd::Reset});
      k.b.range_select(h, x, AluOp::GreaterEqual, low, op, high,
                       {.reduce_res = r(all, ds(1, 1)), .reduce_cmd = ReduceCmd::Reduce, .range_start = -7});
      k.b.range_select(o, x, op, low, AluOp::Less, high, {.reduce_cmd = ReduceCmd::Idle, .range_start = 2});
      k.store("o_" + std::string(name(op)), o);
      k.store("h_" + std::string(name(op)), h);
      k.store("r_" + std::string(name(op)), r);
    }
    expect_agreement(k.b.finish(), {{"low", [](std::int64_t i) { return double(i % 9); }},
                                    {"high", [](std::int64_t i) { return 0.5 * double(i); }}});
  }
}

TEST_P(NkiReduceOn, Searches) {
  Kernel k(GetParam());
  for (const DType dtype : {Float32, BFloat16, Float8E4M3, Int32, UInt8}) {
    const std::string label(name(dtype));
    const Access x = k.load("x_" + label, dtype, 64, {3, 12}), v = k.load("v_" + label, dtype, 64, {8});
    const Access top = k.tile("top", Float32, 64, {8}), o = k.tile("o", dtype, 64, {36}),
                 f = k.tile("f", Float16, 64, {36});
    const Access p = k.tile("p", UInt32, 64, {8}), q = k.tile("q", UInt16, 64, {8}), w = k.tile("w", UInt16, 64, {8});
    k.b.max8(top, x);
    k.b.nc_find_index8(p, x, top);
    k.b.nc_find_index8(q, x, v);
    k.b.nc_match_replace8(o, x, v, 3.0, w);
    k.b.nc_match_replace8(f, x, top, -1.5);
    for (const auto& [name, t] :
         std::map<std::string, Access>{{"top", top}, {"o", o}, {"f", f}, {"p", p}, {"q", q}, {"w", w}}) {
      k.store(name + "_" + label, t);
    }
  }
  const auto small = [](std::int64_t i) { return double(i * 11 % 13); };
  expect_agreement(k.b.finish(), {{"x_float32", special},
                                  {"v_float32", special},
                                  {"x_bfloat16", special},
                                  {"v_bfloat16", small},
                                  {"x_float8_e4m3", small},
                                  {"v_float8_e4m3", small},
                                  {"x_uint8", small},
                                  {"v_uint8", small}});
}

TEST(NkiReduce, NonzeroWithCount) {
  for (const char* machine : {"trn2", "trn3"}) {
    Kernel k(machine);
    const Access x = k.load("x", Float32, 128, {30}), n = k.load("n", Int32, 64, {2, 8});
    const Access o = k.tile("o", Int32, 128, {31}), m = k.tile("m", Int32, 64, {17});
    k.b.memset(o, -7.0);
    k.b.memset(m, -7.0);
    k.b.nonzero_with_count(o, x, 100, -1);
    k.b.nonzero_with_count(m, n, -3, 2147483647);
    k.store("o_out", o);
    k.store("m_out", m);
    expect_agreement(k.b.finish(), {{"x", special}, {"n", zero_or_more}});
  }
}

}  // namespace
}  // namespace trn::neuron::testing
