// Emitted kernels, executed: matrix multiplication, transposes, data movement and addressing, on the three machines.
// Every comparison is bit for bit.
#include <gtest/gtest.h>

#include <trn/tile/schedule.hpp>

#include "support/nki_run.hpp"

namespace trn::neuron::testing {
namespace {

using tile::Access;
using tile::Affine;
using tile::all;
using tile::AluOp;
using tile::Builder;
using tile::DgeMode;
using tile::ds;
using tile::Engine;
using tile::machine;

class NkiExecuteOn : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Machines, NkiExecuteOn, ::testing::Values("trn1", "trn2", "trn3"),
                         [](const auto& i) { return std::string(i.param); });

// Double-buffered loads, accumulation over a loop variable, a ragged last row of tiles.
TEST_P(NkiExecuteOn, TiledMatmul) {
  Builder b("matmul", machine(GetParam()));
  const Access lhs = b.input("lhsT", DType::BFloat16, {384, 80}), rhs = b.input("rhs", DType::BFloat16, {384, 96});
  const Access out = b.output("out", DType::BFloat16, {80, 96});
  const auto rows = [&](Affine first, std::int64_t m) {
    b.parallel("n", 2, [&](Affine n) {
      const Access ps = b.psum("ps", m, {48}, DType::Float32, 2);
      b.sequential("k", 3, [&](Affine k) {
        const Access x = b.sbuf("x", 128, {m}, DType::BFloat16, 2), y = b.sbuf("y", 128, {48}, DType::BFloat16, 2);
        b.dma_copy(x, lhs(ds(k * 128, 128), ds(first, m)));
        b.dma_copy(y, rhs(ds(k * 128, 128), ds(n * 48, 48)));
        b.nc_matmul(ps, x, y, {.accumulate = k});
      });
      const Access o = b.sbuf("o", m, {48}, DType::BFloat16, 2);
      b.tensor_copy(o, ps);
      b.dma_copy(out(ds(first, m), ds(n * 48, 48)), o);
    });
  };
  rows(0, 64);
  rows(64, 16);
  expect_agreement(b.finish());
}

// What schedule() settles (engines, descriptor modes, rings) changes the text, not the values.
TEST_P(NkiExecuteOn, ScheduledProgram) {
  Kernel k(GetParam());
  const Access x = k.load("x", DType::Float32, 64, {32}), index = k.load("index", DType::UInt32, 64, {1});
  const Access table = k.b.input("table", DType::Float32, {80, 32});
  const Access rows = k.tile("rows", DType::Float32, 64, {32}), half = k.tile("half", DType::BFloat16, 64, {32});
  const Access turned = k.tile("turned", DType::Float32, 32, {64});
  if (k.b.machine().indirect_dma) {
    k.b.memset(rows, 0.0);
    k.b.dma_gather(rows, table, index);
  } else {
    k.b.dma_copy(rows, table(ds(7, 64), all));
    k.store("index_back", index);
  }
  k.b.tensor_tensor(x, x, rows, AluOp::Add);
  k.b.tensor_copy(half, x);
  k.b.dma_transpose(turned, x);
  k.store("half", half);
  k.store("turned", turned);
  k.b.dma_copy(k.b.output("wide", DType::Float32, {64, 32}), half);
  const tile::Program program = k.b.finish();
  expect_agreement(tile::schedule(program, machine(GetParam())),
                   {{"index", [](std::int64_t i) { return double(79 - i); }}});
}

// Accumulation on values of an expression that is not just a variable, in both loop nests' directions.
TEST_P(NkiExecuteOn, AccumulateOverTwoLoops) {
  Kernel k(GetParam());
  const Access x = k.load("x", DType::Float32, 64, {4, 16}), y = k.load("y", DType::Float32, 64, {4, 24});
  const Access ps = k.b.psum("ps", 16, {24});
  k.b.sequential("i", 2, [&](Affine i) {
    k.b.sequential("j", 2, [&](Affine j) {
      const Affine which = i * 2 + j;
      k.b.nc_matmul(ps, x(all, ds(which, 1), all), y(all, ds(3 - which, 1), all), {.accumulate = which * -1});
    });
  });
  const Access o = k.tile("o", DType::Float32, 16, {24});
  k.b.tensor_copy(o, ps);
  k.store("out", o);
  expect_agreement(k.b.finish());
}

void expect_matmul(const char* on, DType stationary, DType moving, DType dst, const Shape& rows = {}) {
  SCOPED_TRACE(std::string(name(stationary)) + " x " + std::string(name(moving)));
  Kernel k(on);
  Shape m = rows, n = rows;
  m.push_back(20);
  n.push_back(33);
  const Access x = k.load("x", stationary, 96, m), y = k.load("y", moving, 96, n);
  const Access ps = k.b.psum("ps", 20, {33}, dst), o = k.tile("o", dst, 20, {33});
  const auto mode = rows.empty() ? tile::MatmulMode::Normal : tile::MatmulMode::DoubleRow;
  k.b.nc_matmul(ps, x, y, {.perf_mode = mode});
  k.b.nc_matmul(ps, x, y, {.accumulate = 1, .perf_mode = mode});
  k.b.tensor_copy(o, ps, Engine::Vector);
  k.store("out", o);
  expect_agreement(k.b.finish());
}

TEST(NkiExecute, MatmulDtypes) {
  using enum DType;
  expect_matmul("trn1", Float32, Float32, Float32);
  expect_matmul("trn2", TFloat32, Float32, Float32);
  expect_matmul("trn2", BFloat16, Float16, Float32);
  expect_matmul("trn1", Float8E4M3, Float8E5M2, Float32);
  expect_matmul("trn2", Float8E5M2, BFloat16, Float32);
  expect_matmul("trn3", Float8E4M3FN, Float8E5M2, Float32);
  expect_matmul("trn3", Float32, Float32, BFloat16);
}

// Row 0 leaves c = 1 + 2^-23, row 1 adds 2^-24 - 2^-70: one rounding gives c, a second rounding on the way 1 + 2^-22.
TEST(NkiExecute, MatmulRoundsEachStepOnce) {
  Kernel k("trn2");
  const Access x = k.load("x", DType::Float32, 2, {1}), y = k.load("y", DType::Float32, 2, {1});
  const Access ps = k.b.psum("ps", 1, {1}), o = k.tile("o", DType::Float32, 1, {1});
  k.b.nc_matmul(ps, x, y);
  k.b.tensor_copy(o, ps);
  k.store("out", o);
  expect_agreement(k.b.finish(), {{"x", [](std::int64_t i) { return i == 0 ? 0x1.000002p0 : 0x1.000002p-24; }},
                                  {"y", [](std::int64_t i) { return i == 0 ? 1.0 : 0x1.fffffcp-1; }}});
}

TEST(NkiExecute, MatmulDoubleRow) {
  expect_matmul("trn2", DType::Float8E4M3, DType::Float8E5M2, DType::Float32, {2});
  expect_matmul("trn3", DType::Float8E4M3FN, DType::Float8E4M3FN, DType::Float32, {2});
}

// Parts of the array, named by numbers and by a loop variable.
TEST_P(NkiExecuteOn, PartsOfTheArray) {
  Kernel k(GetParam());
  const std::int64_t size = k.b.machine().array_tile_min, parts = 128 / size;
  const Access x = k.load("x", DType::BFloat16, 128, {size}), y = k.load("y", DType::Float16, 128, {40});
  const Access ps = k.b.psum("ps", 128, {40}), o = k.tile("o", DType::Float32, 128, {40});
  k.b.parallel("i", parts, [&](Affine i) {
    const tile::isa::ArrayTile part{
        .row = (parts - 1) * size - i * size, .column = i * size, .rows = size, .columns = size};
    const Access rows = x(ds(part.row, size), all);
    k.b.nc_matmul(ps(ds(part.column, size), all), rows, y(ds(part.row, size), all), {.tile = part});
  });
  k.b.nc_matmul(ps(ds(64, 20), all), x(ds(0, 64), ds(0, 20)), y(ds(0, 64), all),
                {.accumulate = 1, .tile = {.row = 0, .column = 64, .rows = 64, .columns = 64}});
  k.b.tensor_copy(o, ps, Engine::Vector);
  k.store("out", o);
  expect_agreement(k.b.finish());
}

TEST_P(NkiExecuteOn, Statistics) {
  Kernel k(GetParam());
  const Access x = k.load("x", DType::BFloat16, 50, {512}), y = k.load("y", DType::Float32, 50, {33});
  const Access stats = k.tile("stats", DType::Float32, 50, {12}), o = k.tile("o", DType::Float32, 50, {2});
  k.b.bn_stats(stats(all, ds(0, 6)), x);
  k.b.bn_stats(stats(all, ds(6, 6)), y);
  k.b.bn_aggr(o, stats);
  k.store("stats_out", stats);
  k.store("out", o);
  expect_agreement(k.b.finish());
}

TEST(NkiExecute, Exponential) {
  using enum tile::ReduceCmd;
  Kernel k("trn3");
  const Access x = k.load("x", DType::BFloat16, 40, {60}), m = k.load("m", DType::Float32, 40, {1});
  const Access a = k.tile("a", DType::Float32, 40, {60}), b = k.tile("b", DType::BFloat16, 40, {60});
  const Access r = k.tile("r", DType::Float32, 40, {1}), s = k.tile("s", DType::BFloat16, 40, {1});
  k.b.exponential(a, x, {.max_value = m, .reduce_cmd = LoadReduce, .reduce_init = m});
  k.b.exponential(b, x, {.max_value = 0.25, .reduce_res = r, .reduce_cmd = Reduce});
  k.store("a_out", a);
  k.b.exponential(a, a, {.reduce_res = s, .reduce_cmd = LoadReduce, .reduce_init = 3.0});
  k.b.exponential(a, a);
  k.store("aa_out", a);
  k.store("b_out", b);
  k.store("r_out", r);
  k.store("s_out", s);
  expect_agreement(k.b.finish());
}

// Quantized on the device and by the host, in every pair of formats, with scales of two tiles in one.
TEST(NkiExecute, Microscaling) {
  using tile::MxFormat;
  for (const MxFormat format : {MxFormat::Float8E4M3FN, MxFormat::Float8E5M2}) {
    for (const MxFormat other : {MxFormat::Float8E4M3FN, MxFormat::Float8E5M2, MxFormat::Float4E2M1FN}) {
      Kernel k("trn3");
      const DType packed = other == MxFormat::Float4E2M1FN ? DType::UInt16 : DType::UInt32;
      const Access x = k.load("x", DType::BFloat16, 64, {4 * 10}), y = k.load("y", packed, 128, {12});
      const Access t = k.load("t", DType::UInt8, 128, {12});
      const Access q = k.tile("q", DType::UInt32, 64, {10}), scales = k.tile("scales", DType::UInt8, 64, {10});
      const Access ps = k.b.psum("ps", 10, {12}), o = k.tile("o", DType::Float32, 10, {12});
      k.b.quantize_mx(q, x, scales(ds(4, 60), all), format);
      k.b.nc_matmul_mx(ps, q, y(ds(0, 64), all), scales(ds(4, 60), all), t(ds(0, 64), all),
                       {.stationary = format, .moving = other, .tile_rows = 64});
      k.b.tensor_copy(o, ps, Engine::Vector);
      k.store("sums", o);
      k.store("codes", q);
      const Access low = k.tile("low", DType::UInt8, 4, {10}), high = k.tile("high", DType::UInt8, 4, {10});
      k.b.dma_copy(low, scales(ds(4, 4), all));
      k.b.dma_copy(high, scales(ds(36, 4), all));
      k.store("low_out", low);
      k.store("high_out", high);
      expect_agreement(k.b.finish(),
                       {{"t", [](std::int64_t i) { return double(120 + i * 5 % 14); }},
                        {"x", [](std::int64_t i) { return double(i * 37 % 101 - 50) / 16 * (i % 9 ? 1 : 64); }}});
    }
  }
}

TEST_P(NkiExecuteOn, Transposes) {
  for (const DType dtype : {DType::Float32, DType::BFloat16}) {
    Kernel k(GetParam());
    const Access x = k.load("x", dtype, 96, {40}), small = k.load("small", dtype, 32, {2, 8});
    const Access ps = k.b.psum("ps", 40, {96}, dtype), o = k.tile("o", dtype, 40, {96});
    k.b.nc_transpose(ps, x, Engine::Tensor);
    k.b.tensor_copy(o, ps, Engine::Vector);
    k.store("tensor", o);
    const Access v = k.tile("v", dtype, 16, {32});
    k.b.nc_transpose(v, small, Engine::Vector);
    k.store("vector", v);
    const Access d = k.tile("d", dtype, 40, {96});
    k.b.dma_transpose(d, x);
    k.store("dma", d);
    const Access deep = k.b.input("deep", dtype, {24, 3, 40}), swapped = k.tile("swapped", dtype, 40, {3, 24});
    k.b.dma_transpose(swapped, deep);
    k.store("three_dimensions", swapped);
    expect_agreement(k.b.finish());
  }
}

TEST(NkiExecute, PassThroughTransposeKeepsSpecialValues) {
  Kernel k("trn2");
  const Access x = k.load("x", DType::Float32, 32, {16}), eye = k.load("eye", DType::Float32, 32, {32});
  const Access ps = k.b.psum("ps", 16, {32}), o = k.tile("o", DType::Float32, 16, {32});
  k.b.nc_matmul(ps, x, eye, {.is_transpose = true});
  k.b.tensor_copy(o, ps, Engine::Vector);
  k.store("out", o);
  const double inf = std::numeric_limits<double>::infinity();
  expect_agreement(k.b.finish(),
                   {{"x", [inf](std::int64_t i) { return i % 7 == 0   ? -inf
                                                         : i % 5 == 0 ? -0.0
                                                                      : double(i); }},
                    {"eye", [](std::int64_t i) { return i % 33 == 0 ? 1.0 : 0.0; }}});
}

TEST(NkiExecute, DmaConvertsThroughFloat32) {
  using enum DType;
  Kernel k("trn2");
  const std::vector<DType> dtypes{Float32, TFloat32, BFloat16, Float16, Float8E4M3, Float8E5M2,
                                  Int32,   Int16,    Int8,     UInt32,  UInt16,     UInt8};
  for (const DType from : dtypes) {
    const Access x = k.b.input("x_" + std::string(name(from)), from, {4, 40});
    for (const DType to : dtypes) {
      const std::string label = std::string(name(from)) + "_" + std::string(name(to));
      const Access t = k.tile("t_" + label, to, 4, {40});
      k.b.dma_copy(t, x);
      k.store(label, t);
    }
  }
  Inputs inputs;
  for (const DType from : dtypes) {
    if (is_float(from))
      inputs["x_" + std::string(name(from))] = [](std::int64_t i) { return (i - 80) * 1.37 * (i % 3 == 0 ? 40 : 1); };
  }
  expect_agreement(k.b.finish(), inputs);
}

TEST(NkiExecute, DescriptorModes) {
  Kernel k("trn2");
  const Access x = k.b.input("x", DType::BFloat16, {16, 128});
  const Access t = k.tile("t", DType::BFloat16, 16, {128}), turned = k.tile("turned", DType::BFloat16, 128, {16});
  k.b.dma_copy(t, x, {.dge = DgeMode::Hardware});
  k.b.dma_transpose(turned, x, {.dge = DgeMode::Hardware});
  k.b.dma_copy(k.b.output("a", DType::BFloat16, {16, 128}), t, {.dge = DgeMode::Software});
  k.b.dma_copy(k.b.output("b", DType::BFloat16, {128, 16}), turned, {.dge = DgeMode::Static});
  expect_agreement(k.b.finish());
}

// Column-major, padded and transposed HBM operands; scratch HBM; copies between two HBM tensors.
TEST_P(NkiExecuteOn, StridedTensors) {
  Builder b("strided", machine(GetParam()));
  const Access columns = b.input("columns", DType::Float32, {64, 24}, {1, 70});
  const Access padded = b.input("padded", DType::Float32, {64, 24}, {31, 1});
  const Access out = b.output("out", DType::Float32, {24, 64}, {1, 30}),
               copy = b.output("copy", DType::Float32, {64, 24}, {40, 1});
  const Access scratch = b.scratch("scratch", DType::Float32, {64, 24});
  b.dma_copy(scratch, columns);
  b.parallel("i", 2, [&](Affine i) {
    const Access x = b.sbuf("x", 32, {24}, DType::Float32, 2), y = b.sbuf("y", 32, {24}, DType::Float32, 2);
    b.dma_copy(x, scratch(ds(i * 32, 32), all));
    b.dma_copy(y, padded(ds(32 - i * 32, 32), all));
    b.tensor_tensor(x, x, y, AluOp::Subtract);
    b.dma_copy(out.permute({1, 0})(ds(i * 32, 32), all), x);
    b.dma_copy(copy(ds(i * 32, 32), all), y);
  });
  expect_agreement(b.finish());
}

TEST(NkiExecute, AccessPatterns) {
  Kernel k("trn2");
  const Access x = k.load("x", DType::Float32, 64, {4, 6}), col = k.load("col", DType::Float32, 64, {4});
  const Access turned = k.tile("turned", DType::Float32, 64, {6, 4}), sums = k.tile("sums", DType::Float32, 64, {4, 6});
  const Access pairs = k.tile("pairs", DType::Float32, 32, {2, 4, 3}),
               bits = k.tile("bits", DType::UInt16, 64, {4, 12});
  k.b.tensor_copy(turned, x.permute({1, 0}));
  k.b.tensor_tensor(sums, x, col.broadcast(1, 6), AluOp::Add);
  k.b.tensor_copy(pairs, x(ds(32, 32)).split(1, 3).permute({1, 0, 2}));
  k.b.parallel("i", 2, [&](Affine i) {
    k.b.tensor_copy(bits(ds(i * 32, 32)), x(ds(32 - i * 32, 32)).view(DType::UInt16));
    k.b.tensor_scalar(sums(ds(i * 32, 32), ds(i * 2, 2), ds(i * 3, 3)), x(ds(i * 32, 32), ds(2 - i * 2, 2), ds(1, 3)),
                      AluOp::Multiply, 3.0);
  });
  k.store("a", turned);
  k.store("b", sums);
  k.store("c", pairs);
  k.store("d", bits);
  expect_agreement(k.b.finish());
}

TEST(NkiExecute, GatherAndScatterRows) {
  for (const tile::OobMode oob : {tile::OobMode::Error, tile::OobMode::Skip}) {
    const int rows = oob == tile::OobMode::Skip ? 90 : 70;  // the table has 70
    Kernel k("trn2");
    const Access table = k.b.input("table", DType::Float32, {70, 3, 8});
    const Access index = k.load("index", DType::UInt32, 32, {1}), where = k.load("where", DType::Int32, 32, {2});
    const Access t = k.tile("t", DType::Float32, 32, {3, 8}), part = k.tile("part", DType::BFloat16, 32, {2, 8});
    k.b.memset(t, -1.0);
    k.b.memset(part, -2.0);
    k.b.dma_gather(t, table, index, {.oob = oob});
    k.b.dma_gather(part, table(all, ds(1, 2), all), index, {.oob = oob});
    k.store("gathered", t);
    k.store("part", part);
    const Access out = k.b.output("out", DType::Float32, {40, 24});
    const Access zero = k.tile("zero", DType::Float32, 40, {24});
    k.b.memset(zero, 0.0);
    k.b.dma_copy(out, zero);
    k.b.dma_scatter(out, t, where(all, ds(1, 1)), {.oob = oob});
    expect_agreement(
        k.b.finish(),
        {{"index", [rows](std::int64_t i) { return double(i * 37 % rows); }},
         {"where", [rows](std::int64_t i) { return i / 2 == 5 && rows > 70 ? -3.0 : double(39 - i / 2); }}});
  }
}

// Reversed operators, a number as predicated source, sums that stay in the registers, the engine that issues a DMA, fp8
// transposes and iota into bfloat16.
TEST(NkiExecute, OptionsOfInstructions) {
  for (const char* machine : {"trn2", "trn3"}) {
    Kernel k(machine);
    const Access x = k.b.input("x", DType::Float32, {32, 16}), y = k.load("y", DType::Float32, 32, {16});
    const Access t = k.tile("t", DType::Float32, 32, {16}), u = k.tile("u", DType::Float32, 32, {16});
    k.b.dma_copy(t, x, {.dge = DgeMode::Hardware, .issuer = tile::DmaIssuer::Scalar});
    k.b.scalar_tensor_tensor(u, t, AluOp::Subtract, 0.5, AluOp::Subtract, y, {.reverse0 = true, .reverse1 = true});
    k.store("reversed", u);
    k.b.tensor_tensor_scan(u, t, y, 1.0, AluOp::Subtract, AluOp::Subtract, {.reverse0 = true, .reverse1 = true});
    k.store("scan", u);
    const Access mask = k.tile("mask", DType::UInt8, 32, {16}), count = k.tile("count", DType::Int32, 32, {16});
    k.b.tensor_scalar(mask, t, AluOp::Greater, 0.0);
    k.b.tensor_copy_predicated(u, -2.5, mask);
    k.store("number", u);
    k.b.iota(count, {{1, 16}}, 0, 3);
    k.b.tensor_copy_predicated(count, 77.0, mask, true);
    k.store("integer", count);
    const Access sum = k.tile("sum", DType::Float32, 32, {1}), total = k.tile("total", DType::Float32, 32, {1});
    k.b.activation(u, tile::ActFunction::Square, t, {.reduce_cmd = tile::ReduceCmd::ResetReduce});
    k.b.activation(u, tile::ActFunction::Copy, y, {.reduce_res = sum, .reduce_cmd = tile::ReduceCmd::Reduce});
    k.b.activation(u, tile::ActFunction::Copy, t, {.reduce_res = total, .reduce_cmd = tile::ReduceCmd::Idle});
    k.store("sum", sum);
    k.store("total", total);
    const Access narrow = k.load("narrow", DType::Float8E4M3, 32, {16});
    const Access wide = k.b.psum("wide", 16, {32}, DType::UInt16), turned = k.tile("turned", DType::UInt16, 16, {32});
    k.b.nc_transpose(wide, narrow);
    k.b.tensor_copy(turned, wide, Engine::Vector);
    k.store("turned", turned);
    const Access ramp = k.tile("ramp", DType::BFloat16, 32, {16});
    k.b.iota(ramp, {{3, 16}}, 250, 100);
    k.store("ramp", ramp);
    expect_agreement(k.b.finish());
  }
}

}  // namespace
}  // namespace trn::neuron::testing
