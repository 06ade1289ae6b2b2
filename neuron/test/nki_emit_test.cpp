// The text of emitted kernels: three whole kernels against golden files, the forms an operand can take, and what is
// refused. TRN_UPDATE_GOLDEN=1 rewrites the golden files instead of comparing.
#include <gtest/gtest.h>

#include <functional>
#include <trn/core/error.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/tile/builder.hpp>

#include "support/nki_run.hpp"

namespace trn::neuron {
namespace {

using tile::Access;
using tile::Affine;
using tile::all;
using tile::AluOp;
using tile::Builder;
using tile::ds;
using tile::Engine;
using tile::machine;
using tile::Program;

using testing::expect_golden;
using testing::expect_python_accepts;

// c = a^T b, with a (K, M) and b (K, N) bf16 and c float32: 4 x 2 x 2 tiles.
Program tiled_matmul() {
  Builder b("matmul", machine("trn2"));
  const Access lhs = b.input("lhsT", DType::BFloat16, {512, 256}), rhs = b.input("rhs", DType::BFloat16, {512, 1024});
  const Access out = b.output("out", DType::Float32, {256, 1024});
  b.parallel("m", 2, [&](Affine m) {
    b.parallel("n", 2, [&](Affine n) {
      const Access ps = b.psum("ps", 128, {512});
      b.sequential("k", 4, [&](Affine k) {
        const Access x = b.sbuf("x", 128, {128}, DType::BFloat16, 2), y = b.sbuf("y", 128, {512}, DType::BFloat16, 2);
        b.dma_copy(x, lhs(ds(k * 128, 128), ds(m * 128, 128)));
        b.dma_copy(y, rhs(ds(k * 128, 128), ds(n * 512, 512)));
        b.nc_matmul(ps, x, y, {.accumulate = k});
      });
      const Access o = b.sbuf("o", 128, {512}, DType::Float32, 2);
      b.tensor_copy(o, ps, Engine::Vector);
      b.dma_copy(out(ds(m * 128, 128), ds(n * 512, 512)), o);
    });
  });
  return b.finish();
}

// y = (x * scale[row] + shift) on a matrix of any row stride, with a scalar and a per-partition operand.
Program scale_and_shift() {
  Builder b("scale_and_shift", machine("trn2"));
  const Access x = b.input("x", DType::Float32, {200, 300}, {320, 1}),
               scale = b.input("scale", DType::Float32, {200, 1});
  const Access y = b.output("y", DType::BFloat16, {200, 300});
  const auto rows = [&](Affine first, std::int64_t count) {
    const Access t = b.sbuf("t", count, {300}, DType::Float32, 2), s = b.sbuf("s", count, {1}, DType::Float32, 2);
    const Access o = b.sbuf("o", count, {300}, DType::BFloat16, 2);
    b.dma_copy(t, x(ds(first, count), all));
    b.dma_copy(s, scale(ds(first, count), all));
    b.tensor_scalar(o, t, AluOp::Multiply, s, {.op1 = AluOp::Add, .operand1 = 0.5, .engine = Engine::Vector});
    b.dma_copy(y(ds(first, count), all), o);
  };
  rows(0, 128);
  rows(128, 72);
  return b.finish();
}

// out = in^T by 128 x 128 tiles on the Tensor Engine; in is column-major.
Program transpose() {
  Builder b("transpose", machine("trn3"));
  const Access in = b.input("in", DType::Float32, {256, 128}, {1, 256});
  const Access out = b.output("out", DType::Float32, {128, 256});
  b.parallel("i", 2, [&](Affine i) {
    const Access t = b.sbuf("t", 128, {128}, DType::Float32, 2);
    const Access ps = b.psum("ps", 128, {128});
    const Access o = b.sbuf("o", 128, {128}, DType::Float32, 2);
    b.dma_copy(t, in(ds(i * 128, 128), all));
    b.nc_transpose(ps, t);
    b.tensor_copy(o, ps);
    b.dma_copy(out(all, ds(i * 128, 128)), o);
  });
  return b.finish();
}

TEST(NkiGolden, TiledMatmul) { expect_golden(tiled_matmul(), "neuron/test/golden/matmul.py"); }
TEST(NkiGolden, ScaleAndShift) { expect_golden(scale_and_shift(), "neuron/test/golden/scale_and_shift.py"); }
TEST(NkiGolden, Transpose) { expect_golden(transpose(), "neuron/test/golden/transpose.py"); }

// One memset whose dst is `access` of a (128, 4, 16) float32 tile.
std::string operand_text(const std::function<Access(const Access&)>& access) {
  Builder b("operand", machine("trn2"));
  const Access out = b.output("out", DType::Float32, {1});
  const Access t = b.sbuf("t", 128, {4, 16}, DType::Float32);
  b.memset(access(t), 0.0);
  b.dma_copy(out, t(ds(0, 1), ds(0, 1), ds(0, 1)));
  const std::string text = emit_nki(b.finish_unverified());
  expect_python_accepts(text);
  const std::size_t from = text.find("dst=") + 4;
  return text.substr(from, text.find(", value=") - from);
}

TEST(NkiOperand, SlicesWhereTheAccessIsOne) {
  EXPECT_EQ(operand_text([](const Access& t) { return t; }), "t");
  EXPECT_EQ(operand_text([](const Access& t) { return t(ds(32, 32), all, ds(3, 1)); }), "t[32:64, 0:4, 3:4]");
  EXPECT_EQ(operand_text([](const Access& t) { return t.view(DType::Int32); }), "t.view(nl.int32)");
  EXPECT_EQ(operand_text([](const Access& t) { return t(all, ds(1, 2), all).view(DType::BFloat16); }),
            "t.view(nl.bfloat16)[0:128, 1:3, 0:32]");
}

TEST(NkiOperand, PatternsElsewhere) {
  EXPECT_EQ(operand_text([](const Access& t) {
              return t.permute({1, 0});
            }),
            "t.ap(pattern=[[64, 128], [1, 16], [16, 4]])");
  EXPECT_EQ(operand_text([](const Access& t) { return t(ds(64, 64)).split(1, 4)(all, ds(1, 1), all, ds(2, 1)); }),
            "t.ap(pattern=[[64, 64], [16, 1], [4, 4], [1, 1]], offset=4114)");
  EXPECT_EQ(operand_text([](const Access& t) { return t.broadcast(2, 3).view(DType::Float32); }),
            "t.ap(pattern=[[64, 128], [16, 4], [1, 16], [0, 3]])");
  EXPECT_EQ(operand_text([](const Access& t) {
              return t.permute({1, 0}).view(DType::Int32);
            }),
            "t.ap(pattern=[[64, 128], [1, 16], [16, 4]], dtype=nl.int32)");
}

TEST(NkiOperand, IndexArithmeticOverSeveralLoops) {
  Builder b("indices", machine("trn2"));
  const Access x = b.input("x", DType::Float32, {512, 64}), y = b.output("y", DType::Float32, {512, 64});
  b.parallel("i", 2, [&](Affine i) {
    b.parallel("j", 2, [&](Affine j) {
      const Access t = b.sbuf("t", 128, {32}, DType::Float32);
      b.dma_copy(t, x(ds(384 - i * 256 - j * 128, 128), ds(j * 32, 32)));
      b.dma_copy(y(ds(i * 256 + j * 128, 128), ds(32, 32)), t);
      b.dma_copy(y(ds(i * 256 + j * 128, 128), ds(0, 32)), t);
    });
  });
  const std::string text = emit_nki(b.finish());
  EXPECT_NE(text.find("src=x[nl.ds(-i*256 - j*128 + 384, 128), nl.ds(j*32, 32)])"), std::string::npos) << text;
  EXPECT_NE(text.find("dst=y[nl.ds(i*256 + j*128, 128), 32:64]"), std::string::npos) << text;
  expect_python_accepts(text);
}

TEST(NkiNames, AreLegalAndUnique) {
  Builder b("2 fast-kernel", machine("trn2"));
  const Access x = b.input("lambda", DType::Float32, {4, 8}), z = b.input("nl", DType::Float32, {4, 8});
  const Access y = b.output("a b", DType::Float32, {4, 8}), w = b.output("a_b", DType::Float32, {4, 8});
  for (int i = 0; i < 2; ++i) {
    const Access t = b.sbuf("t", 4, {8}, DType::Float32);
    b.dma_copy(t, i == 0 ? x : z);
    b.dma_copy(i == 0 ? y : w, t);
  }
  const std::string text = emit_nki(b.finish());
  EXPECT_NE(text.find("def _2_fast_kernel(lambda_2, nl_2):"), std::string::npos) << text;
  EXPECT_NE(text.find("    return a_b, a_b_2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("t_2 = nl.ndarray((4, 8)"), std::string::npos) << text;
  expect_python_accepts(text);
}

// Records `body` between the load of a (32, 32) float32 tile x and the store of it, and expects emit_nki to refuse the
// program with a message that holds every one of `words`.
void expect_refused(const char* machine_name, const std::function<void(Builder&, const Access&)>& body,
                    std::initializer_list<const char*> words) {
  Builder b("refused", machine(machine_name));
  const Access in = b.input("in", DType::Float32, {32, 32}), out = b.output("out", DType::Float32, {32, 32});
  const Access x = b.sbuf("x", 32, {32}, DType::Float32);
  b.dma_copy(x, in);
  body(b, x);
  b.dma_copy(out, x);
  const Program program = b.finish_unverified();
  try {
    const std::string text = emit_nki(program);
    ADD_FAILURE() << "emitted\n" << text;
  } catch (const NotImplemented& e) {
    for (const char* word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << word << " in " << e.what();
  }
}

TEST(NkiRefusals, Float64) {
  expect_refused("trn2", [](Builder& b, const Access&) { (void)b.input("wide", DType::Float64, {4}); },
                 {"'wide'", "float64"});
  expect_refused("trn2", [](Builder& b, const Access&) { (void)b.sbuf("acc", 4, {4}, DType::Float64); },
                 {"'acc'", "float64"});
  expect_refused("trn2", [](Builder& b, const Access& x) { b.memset(x.view(DType::Float64), 0); },
                 {"memset", "float64"});
}

TEST(NkiRefusals, NoOutput) {
  Builder b("silent", machine("trn2"));
  const Program program = b.finish_unverified();
  EXPECT_THROW((void)emit_nki(program), NotImplemented);
}

TEST(NkiRefusals, Operators) {
  using Op = AluOp;
  expect_refused("trn2", [](Builder& b, const Access& x) { b.tensor_scalar(x, x, Op::AbsMax, 1.0); },
                 {"instruction 1 (tensor_scalar)", "abs_max", "trn3"});
  expect_refused("trn2", [](Builder& b, const Access& x) { b.tensor_scalar(x, x, Op::Square, 0.0); },
                 {"square", "activation"});
  expect_refused("trn2", [](Builder& b, const Access& x) { b.tensor_tensor(x, x, x, Op::Power, Engine::Vector); },
                 {"tensor_tensor", "power", "GpSimd"});
  expect_refused("trn2", [](Builder& b, const Access& x) { b.tensor_tensor(x, x, x, Op::Abs); },
                 {"abs", "tensor_scalar"});
  expect_refused("trn2", [](Builder& b, const Access& x) { b.tensor_reduce(x(all, ds(0, 1)), Op::Equal, x); },
                 {"tensor_reduce", "equal"});
  expect_refused("trn3", [](Builder& b, const Access& x) { b.tensor_partition_reduce(x(ds(0, 1)), Op::Average, x); },
                 {"tensor_partition_reduce", "average", "scale"});
  expect_refused("trn2",
                 [](Builder& b, const Access& x) {
                   b.tensor_scalar(x.view(DType::Int32), x.view(DType::Int32), Op::BitwiseAnd, 1.5);
                 },
                 {"operand0 = 1.5", "integer"});
  expect_refused("trn2",
                 [](Builder& b, const Access& x) {
                   b.tensor_scalar(x.view(DType::UInt32), x.view(DType::UInt32), Op::BitwiseAnd, double{0x7fffffff});
                 },
                 {"operand0 = 2147483647", "not an fp32 number", "shift"});
  expect_refused("trn2", [](Builder& b, const Access& x) { b.memset(x.view(DType::Int32), 0.5); },
                 {"value = 0.5", "integer"});
}

TEST(NkiRefusals, Engines) {
  expect_refused(
      "trn2", [](Builder& b, const Access& x) { b.tensor_scalar(x, x, AluOp::Add, 1.0, {.engine = Engine::GpSimd}); },
      {"tensor_scalar", "GpSimd", "rsqrt"});
  expect_refused(
      "trn2",
      [](Builder& b, const Access& x) { b.tensor_scalar(x, x, AluOp::Maximum, 1.0, {.engine = Engine::Scalar}); },
      {"maximum", "Scalar Engine of trn2"});
  expect_refused("trn1", [](Builder& b, const Access& x) { b.tensor_copy(x, x, Engine::Scalar); },
                 {"trn1", "activation"});
  expect_refused("trn1", [](Builder& b, const Access& x) { b.activation(x, tile::ActFunction::Exp, x, {.bias = 1.0}); },
                 {"activation", "bias = 1", "[P, 1]"});
}

TEST(NkiRefusals, Addresses) {
  const auto gather = [](Shape shape, Strides strides, tile::OobMode oob, std::int64_t rows) {
    return [=](Builder& b, const Access& x) {
      const Access table = b.input("table", DType::Float32, shape, strides);
      const Access index = b.sbuf("index", 32, {1}, DType::UInt32);
      b.iota(index, {{0, 1}}, 0, 1);
      b.dma_gather(x, table(ds(0, rows), all), index, {.oob = oob});
    };
  };
  expect_refused("trn2", gather({64, 32}, {1, 64}, tile::OobMode::Error, 64), {"dma_copy", "'table'", "row-major"});
  expect_refused("trn2", gather({64, 32}, {}, tile::OobMode::Skip, 40), {"oob_mode.skip", "40 of the 64 rows"});
  expect_refused("trn2",
                 [](Builder& b, const Access& x) {
                   b.dma_copy(x, b.input("back", DType::Float32, {32, 32}, {-32, 1}));
                 },
                 {"'back'", "step -32"});
  expect_refused("trn2",
                 [](Builder& b, const Access& x) {
                   const Access half = b.sbuf("half", 32, {32}, DType::BFloat16);
                   b.dma_copy(half, x, {.dge = tile::DgeMode::Hardware});
                 },
                 {"hwdge", "equal dtypes"});
  expect_refused("trn2",
                 [](Builder& b, const Access&) {
                   const Access odd = b.sbuf("odd", 32, {6}, DType::UInt8);
                   b.memset(odd(all, ds(0, 4)).view(DType::Float32), 0.0);
                 },
                 {"'odd'", "6 bytes", "pad"});
}

}  // namespace
}  // namespace trn::neuron
