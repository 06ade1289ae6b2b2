// The GpSimd Engine: patterns, gathers, reductions across partitions and exact integers.
#include <cmath>
#include <functional>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

TEST(Iota, AffineValuesCastToTheDestination) {
  for (const DType dtype : {DType::Int32, DType::Float32, DType::UInt8, DType::Int16}) {
    Rig rig;
    const Access o = rig.b.sbuf("o", 33, {6}, dtype);
    rig.b.iota(o, {{100, 2}, {-3, 3}}, 7, 20);
    rig.emit("out", o);
    rig.run();
    Values expected;
    for (int p = 0; p < 33; ++p) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) expected.push_back(7 + 20 * p + 100 * i - 3 * j);
      }
    }
    EXPECT_EQ(rig.values("out"), rounded(expected, dtype)) << name(dtype);
  }
}

TEST(AffineSelect, ComparesTheAffineValueWithZero) {
  const std::vector<std::pair<AluOp, std::function<bool(int)>>> comparisons{
      {AluOp::Equal, [](int v) { return v == 0; }},        {AluOp::NotEqual, [](int v) { return v != 0; }},
      {AluOp::GreaterEqual, [](int v) { return v >= 0; }}, {AluOp::Greater, [](int v) { return v > 0; }},
      {AluOp::LessEqual, [](int v) { return v <= 0; }},    {AluOp::Less, [](int v) { return v < 0; }}};
  for (const auto& [op, holds] : comparisons) {
    Rig rig;
    const Values x = rounded(normals(31 * 40, 1), DType::BFloat16);
    const Access o = rig.b.sbuf("o", 31, {40}, DType::BFloat16);
    rig.b.affine_select(o, {{-1, 40}}, 2, 1, op, rig.tile("x", DType::BFloat16, 31, 40, x), -5.0);
    rig.emit("out", o);
    rig.run();
    for (int p = 0; p < 31; ++p) {
      for (int i = 0; i < 40; ++i) {
        const auto at = static_cast<std::size_t>(p * 40 + i);
        EXPECT_EQ(rig.values("out")[at], holds(2 + p - i) ? x[at] : -5.0) << name(op);
      }
    }
  }
}

// Each group of 16 partitions has its own list, read partition first.
TEST(LocalGather, ListsPerCoreWithSeveralElements) {
  for (const std::int64_t each : {1, 4}) {
    Rig rig;
    const std::int64_t p = 32, positions = 10, indices = 40;
    Values x(static_cast<std::size_t>(p * positions * each)), index(static_cast<std::size_t>(p * 3));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
    for (std::size_t i = 0; i < index.size(); ++i)
      index[i] = static_cast<double>(i * 7 % 10 * static_cast<std::size_t>(each));
    const Access o = rig.b.sbuf("o", p, {indices * each}, DType::Float32);
    rig.b.local_gather(o, rig.tile("x", DType::Float32, p, positions * each, x),
                       rig.tile("i", DType::UInt16, p, 3, index), each);
    rig.emit("out", o);
    rig.run();
    for (std::int64_t q = 0; q < p; ++q) {
      for (std::int64_t i = 0; i < indices; ++i) {
        const double at = index[static_cast<std::size_t>((q / 16 * 16 + i % 16) * 3 + i / 16)];
        for (std::int64_t j = 0; j < each; ++j) {
          ASSERT_EQ(rig.values("out")[static_cast<std::size_t>((q * indices + i) * each + j)],
                    static_cast<double>(q * positions * each + static_cast<std::int64_t>(at) + j));
        }
      }
    }
  }
}

TEST(LocalGather, RefusesAnIndexOutsideTheBuffer) {
  const auto run = [](double index) {
    Rig rig;
    const Access o = rig.b.sbuf("o", 16, {16}, DType::Float32);
    rig.b.local_gather(o, rig.tile("x", DType::Float32, 16, 8, Values(128, 1.0)),
                       rig.tile("i", DType::UInt16, 16, 1, Values(16, index)));
    rig.emit("out", o);
    rig.run();
  };
  EXPECT_EQ(check_of([&] { run(8); }), "index-out-of-range");
  EXPECT_EQ(check_of([&] { run(7); }), "");
}

TEST(TensorTensorOnGpSimd, IntegersAreExactModulo32Bits) {
  const Values x{2147483647, -2147483648.0, 65537, -5, 16777217, 123456789};
  const Values y{1, -1, 65537, 3, 16777217, -987654321};
  const std::vector<std::pair<AluOp, std::function<std::int64_t(std::int64_t, std::int64_t)>>> formulas{
      {AluOp::Add, [](auto a, auto b) { return a + b; }},
      {AluOp::Subtract, [](auto a, auto b) { return a - b; }},
      {AluOp::Multiply, [](auto a, auto b) { return a * b; }},
      {AluOp::Maximum, [](auto a, auto b) { return std::max(a, b); }},
      {AluOp::Minimum, [](auto a, auto b) { return std::min(a, b); }},
      {AluOp::Less, [](auto a, auto b) { return std::int64_t{a < b}; }},
      {AluOp::GreaterEqual, [](auto a, auto b) { return std::int64_t{a >= b}; }},
      {AluOp::Equal, [](auto a, auto b) { return std::int64_t{a == b}; }},
      {AluOp::LogicalXor, [](auto a, auto b) { return std::int64_t{(a != 0) != (b != 0)}; }}};
  for (const Storage storage : {Storage::Exact, Storage::Wide}) {
    for (const auto& [op, formula] : formulas) {
      Rig rig;
      rig.options.storage = storage;
      const auto n = static_cast<std::int64_t>(x.size());
      const Access o = rig.b.sbuf("o", 1, {n}, DType::Int32), u = rig.b.sbuf("u", 1, {n}, DType::Int16);
      const Access a = rig.tile("a", DType::Int32, 1, n, x), c = rig.tile("c", DType::Int32, 1, n, y);
      rig.b.tensor_tensor(o, a, c, op, Engine::GpSimd);
      rig.b.tensor_tensor(u, a, c, op, Engine::GpSimd);
      rig.emit("out", o);
      rig.emit("narrow", u);
      rig.run();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto wrapped =
            static_cast<std::int32_t>(formula(static_cast<std::int64_t>(x[i]), static_cast<std::int64_t>(y[i])));
        EXPECT_EQ(rig.values("out")[i], wrapped) << name(op) << i;
        EXPECT_EQ(rig.values("narrow")[i], std::clamp(wrapped, -32768, 32767)) << name(op) << i;
      }
    }
  }
}

TEST(TensorTensorOnGpSimd, UnsignedOrderAndProducts) {
  Rig rig;
  const Access a = rig.tile("a", DType::UInt32, 1, 2, {4294967295.0, 0xD2511F53});
  const Access c = rig.tile("c", DType::UInt32, 1, 2, {1, 0xCD9E8D57});
  const Access max = rig.b.sbuf("max", 1, {2}, DType::UInt32), product = rig.b.sbuf("product", 1, {2}, DType::UInt32);
  rig.b.tensor_tensor(max, a, c, AluOp::Maximum, Engine::GpSimd);
  rig.b.tensor_tensor(product, a, c,
                      AluOp::Multiply);  // all 32-bit integers in SBUF: GpSimd by default
  rig.emit("max", max);
  rig.emit("product", product);
  rig.run();
  EXPECT_EQ(rig.values("max"), (Values{4294967295.0, 0xD2511F53}));
  EXPECT_EQ(rig.values("product"),
            (Values{4294967295.0, static_cast<double>(0xD2511F53ull * 0xCD9E8D57ull & 0xffffffffull)}));
}

TEST(TensorTensorOnGpSimd, FloatsAreTheVectorEngines) {
  Rig rig;
  const Access a = rig.tile("a", DType::Float32, 1, 2, {2, 9}), c = rig.tile("c", DType::Float32, 1, 2, {10, 0.5});
  const Access o = rig.b.sbuf("o", 1, {2}, DType::Float32);
  rig.b.tensor_tensor(o, a, c, AluOp::Power, Engine::GpSimd);
  rig.emit("out", o);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{1024, 3}));
}

TEST(TensorPartitionReduce, EveryOperatorInPartitionOrder) {
  for (const std::int64_t p : {1, 31, 128}) {
    Rig rig;
    const std::int64_t n = 33;
    const Values x = rounded(normals(p * n, 4), DType::Float32);
    const Access t = rig.tile("x", DType::Float32, p, n, x);
    for (const auto& [op, text] :
         {std::pair{AluOp::Add, "add"}, {AluOp::Average, "average"}, {AluOp::Maximum, "max"}}) {
      const Access o = rig.b.sbuf(text, 1, {n}, DType::Float32);
      rig.b.tensor_partition_reduce(o, op, t);
      rig.emit(std::string(text) + "_out", o);
    }
    rig.run();
    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
      float sum = static_cast<float>(x[j]);
      double max = x[j];
      for (std::size_t i = 1; i < static_cast<std::size_t>(p); ++i) {
        sum += static_cast<float>(x[i * 33 + j]);
        max = std::max(max, x[i * 33 + j]);
      }
      EXPECT_EQ(rig.values("add_out")[j], sum);
      EXPECT_EQ(rig.values("average_out")[j], sum / static_cast<float>(p));
      EXPECT_EQ(rig.values("max_out")[j], max);
    }
  }
}

TEST(TensorPartitionReduce, IntegersAreExactAndBitsAreBits) {
  Rig rig;
  const Access t = rig.tile("x", DType::Int32, 3, 2, {16777217, 0x0f, 16777217, 0x33, 1, 0x55});
  const Access sum = rig.b.sbuf("sum", 1, {2}, DType::Int32), both = rig.b.sbuf("both", 1, {2}, DType::Int32);
  rig.b.tensor_partition_reduce(sum, AluOp::Add, t);
  rig.b.tensor_partition_reduce(both, AluOp::BitwiseAnd, t);
  rig.emit("sum_out", sum);
  rig.emit("and_out", both);
  rig.run();
  EXPECT_EQ(rig.values("sum_out"), (Values{33554435, 0x0f + 0x33 + 0x55}));
  EXPECT_EQ(rig.values("and_out"), (Values{1, 0x01}));
}

// Equal dtypes do not pass through fp32: every digit of a 32-bit integer survives.
TEST(AffineSelect, EqualDtypesKeepAllDigits) {
  for (const DType dtype : {DType::Int32, DType::UInt32}) {
    Rig rig;
    const Values x{16777217, 2147483647, 123456789, 3};
    const Access o = rig.b.sbuf("o", 1, {4}, dtype);
    rig.b.affine_select(o, {{1, 4}}, 0, 0, AluOp::NotEqual, rig.tile("x", dtype, 1, 4, x), 7.0);
    rig.emit("out", o);
    rig.run();
    EXPECT_EQ(rig.values("out"), (Values{7, 2147483647, 123456789, 3})) << name(dtype);
  }
}

TEST(AffineSelect, OtherDtypesPassThroughFloat32) {
  Rig rig;
  const Access o = rig.b.sbuf("o", 1, {2}, DType::UInt32);
  rig.b.affine_select(o, {{1, 2}}, 0, 0, AluOp::Equal, rig.tile("x", DType::Int32, 1, 2, {16777217, 5}), 9.0);
  rig.emit("out", o);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{16777216, 9}));
}

TEST(Iota, IntoNarrowFloats) {
  Rig rig;
  const Access o = rig.b.sbuf("o", 2, {3}, DType::BFloat16);
  rig.b.iota(o, {{1, 3}}, 256, 1000);
  rig.emit("out", o);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{256, 256, 258, 1256, 1256, 1256})) << "257 and 1257, 1258 round to even";
}

// The documented example, and what counts as zero.
TEST(NonzeroWithCount, OnePartitionOfEachCore) {
  const std::int64_t p = 48, n = 8;
  Values x(static_cast<std::size_t>(p * n), 1.0);
  const Values example{0, 1, 1, 0, 0, 1, 0, 0}, special{-0.0, std::nan(""), 1e-45, 0, INFINITY, -1, 0, 0};
  std::copy(example.begin(), example.end(), x.begin());
  std::copy(special.begin(), special.end(), x.begin() + 16 * n);
  std::fill(x.begin() + 32 * n, x.begin() + 33 * n, 0.0);
  Rig rig;
  const Access o = rig.b.sbuf("o", p, {n + 1}, DType::Int32);
  rig.b.memset(o, -9.0);
  rig.b.nonzero_with_count(o, rig.tile("x", DType::Float32, p, n, x), 16, -1);
  rig.emit("out", o);
  rig.run();
  const Values got = rig.values("out");
  const auto row = [&](std::int64_t i) { return Values(got.begin() + i * (n + 1), got.begin() + (i + 1) * (n + 1)); };
  EXPECT_EQ(row(0), (Values{17, 18, 21, -1, -1, -1, -1, -1, 3}));
  EXPECT_EQ(row(16), (Values{17, 18, 20, 21, -1, -1, -1, -1, 4}));
  EXPECT_EQ(row(32), (Values{-1, -1, -1, -1, -1, -1, -1, -1, 0}));
  for (const std::int64_t i : {1, 15, 17, 33, 47}) EXPECT_EQ(row(i), Values(9, -9.0)) << i;
}

TEST(NonzeroWithCount, IntegersAndLargePlaces) {
  for (const Storage storage : {Storage::Exact, Storage::Wide}) {
    Rig rig;
    rig.options.storage = storage;
    const Access x = rig.tile("x", DType::Int32, 1, 4, {0, -2147483648.0, 1, 16777217});
    const Access o = rig.b.sbuf("o", 1, {5}, DType::Int32);
    rig.b.nonzero_with_count(o, x, 2147483644, 2147483647);
    rig.emit("out", o);
    rig.run();
    EXPECT_EQ(rig.values("out"), (Values{2147483645, 2147483646, 2147483647, 2147483647, 3}));
  }
}

// Partitions in between are neither read nor written.
TEST(NonzeroWithCount, OtherPartitionsHaveNoState) {
  const auto run = [](std::int64_t written, bool fill) {
    return check_of([&] {
      Rig rig;
      const Access x = rig.b.sbuf("x", 32, {4}, DType::Float32), o = rig.b.sbuf("o", 32, {5}, DType::Int32);
      rig.b.memset(x(ds(0, written), all), 1.0, Engine::Vector);
      if (fill) rig.b.memset(o, 0.0, Engine::Vector);
      rig.b.nonzero_with_count(o, x);
      rig.emit("out", o);
      rig.run();
    });
  };
  EXPECT_EQ(run(16, true), "uninitialised-read") << "partition 16 is read";
  EXPECT_EQ(run(17, true), "") << "partitions 17 to 31 are not";
  EXPECT_EQ(run(32, false), "uninitialised-read") << "dst keeps what it had, and it had nothing";
}

}  // namespace
}  // namespace trn::neuron::sim
