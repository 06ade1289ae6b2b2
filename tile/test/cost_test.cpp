// The cost formulas against literals worked out from the machine tables: trn2's clocks are 2.4, 0.96, 1.2 and 1.2 GHz.
#include <gtest/gtest.h>

#include <functional>
#include <trn/tile/builder.hpp>
#include <trn/tile/cost.hpp>
#include <trn/tile/schedule.hpp>

namespace trn::tile {
namespace {

constexpr auto F32 = DType::Float32, BF16 = DType::BFloat16;

// Nanoseconds of the last instruction on its engine.
double last(Builder& b) {
  const Program p = schedule(b.finish(), b.machine());
  const Instruction& i = p.instructions().back();
  return 1e9 * compute_seconds(p, i, i.engine, b.machine());
}

template <class Record> double cost(const char* machine_name, Record record) {
  Builder b("p", machine(machine_name));
  record(b);
  return last(b);
}

double matmul(DType dtype, std::int64_t n, const char* machine_name = "trn2") {
  return cost(machine_name, [&](Builder& b) {
    b.nc_matmul(b.psum("acc", 128, {n}), b.sbuf("s", 128, {128}, dtype), b.sbuf("m", 128, {n}, dtype));
  });
}

TEST(Cost, Matmul) {
  EXPECT_NEAR(matmul(BF16, 512), 217.375, 1e-3);          // (512 + 9.7) / 2.4
  EXPECT_NEAR(matmul(BF16, 32), 26.667, 1e-3);            // 64 / 2.4: the minimum
  EXPECT_NEAR(matmul(F32, 512), 859.167, 1e-3);           // 2 (2 * 512 + 7) / 2.4
  EXPECT_NEAR(matmul(BF16, 512, "trn1"), 186.321, 1e-3);  // (512 + 9.7) / 2.8, before the sustained cap
}

TEST(Cost, DoubleRowsTakeHalf) {
  const double ns = cost("trn2", [](Builder& b) {
    const Access s = b.sbuf("s", 128, {2, 128}, DType::Float8E4M3), m = b.sbuf("m", 128, {2, 512}, DType::Float8E4M3);
    b.nc_matmul(b.psum("acc", 128, {512}), s, m, {.perf_mode = MatmulMode::DoubleRow});
  });
  EXPECT_NEAR(ns, 217.375, 1e-3);  // 1024 streamed values in pairs
}

// Copies and tensor_scalar of 16-bit floats on the Vector Engine: four elements a cycle where both tiles are dense and
// in SBUF, two with a stride or with one of them in PSUM, one with both.
TEST(Cost, SixteenBitModes) {
  struct Case {
    std::int64_t stride;
    bool psum, scalar;
    double cycles;
  };
  const auto ns = [](const Case& c, const char* machine_name = "trn2") {
    return cost(machine_name, [&](Builder& b) {
      const std::int64_t n = 512 * c.stride;
      const Access whole = c.psum ? b.psum("x", 128, {n}, BF16) : b.sbuf("x", 128, {n}, BF16);
      Access x = whole(all, ds(0, 512));
      x.dims.back().stride = c.stride;
      const Access y = b.sbuf("y", 128, {512}, BF16);
      if (c.scalar) return b.tensor_scalar(y, x, AluOp::Add, 1.0, {.engine = Engine::Vector});
      b.tensor_copy(y, x, Engine::Vector);
    });
  };
  for (const Case& c : {Case{1, false, false, 128},
                        {1, false, true, 128},
                        {2, false, false, 256},
                        {2, false, true, 256},
                        {1, true, false, 256},
                        {1, true, true, 256},
                        {2, true, false, 512},
                        {16, false, false, 512}}) {
    EXPECT_NEAR(ns(c), (c.cycles + 60) / 0.96, 1e-3) << c.stride << ' ' << c.psum << ' ' << c.scalar;
  }
  EXPECT_NEAR(ns({1, false, false, 0}, "trn1"), (512 + 60) / 1.12, 1e-3);
  EXPECT_NEAR(ns({2, true, false, 0}, "trn1"), (512 + 60) / 1.12, 1e-3);
}

// Documented for sums and maxima of bfloat16 into bfloat16 alone.
TEST(Cost, ReductionsOfBfloat16TakeHalf) {
  const auto ns = [](DType out, DType in, AluOp op) {
    return cost("trn2",
                [&](Builder& b) { b.tensor_reduce(b.sbuf("y", 128, {1}, out), op, b.sbuf("x", 128, {512}, in)); });
  };
  const double half = (256 + 60) / 0.96, whole = (512 + 60) / 0.96;
  EXPECT_NEAR(ns(BF16, BF16, AluOp::Add), half, 1e-3);
  EXPECT_NEAR(ns(BF16, BF16, AluOp::Maximum), half, 1e-3);
  EXPECT_NEAR(ns(BF16, BF16, AluOp::Minimum), whole, 1e-3);
  EXPECT_NEAR(ns(F32, BF16, AluOp::Add), whole, 1e-3);
  EXPECT_NEAR(ns(DType::Float16, DType::Float16, AluOp::Add), whole, 1e-3);
  EXPECT_NEAR(ns(DType::Int16, DType::Int16, AluOp::Maximum), whole, 1e-3);
}

// The part of the array does not change the time of a matmul, only what runs beside it.
TEST(Cost, MatmulInAPartOfTheArray) {
  const double ns = cost("trn2", [](Builder& b) {
    const Access s = b.sbuf("s", 128, {32}, BF16), m = b.sbuf("m", 128, {512}, BF16), d = b.psum("acc", 128, {512});
    b.nc_matmul(d(ds(64, 32), all), s(ds(32, 32), all), m(ds(32, 32), all),
                {.tile = {.row = 32, .column = 64, .rows = 32, .columns = 32}});
  });
  EXPECT_NEAR(ns, 217.375, 1e-3);
}

// Four values in an element: a matmul of 512 columns contracts up to 512 values in the time of a bf16 one.
TEST(Cost, Microscaling) {
  const auto ns = [](std::int64_t n) {
    return cost("trn3", [&](Builder& b) {
      const Access s = b.sbuf("s", 128, {128}, DType::UInt32), m = b.sbuf("m", 128, {n}, DType::UInt32);
      const Access t = b.sbuf("t", 128, {n}, DType::UInt8);
      b.nc_matmul_mx(b.psum("acc", 128, {n}), s, m, b.sbuf("ss", 128, {128}, DType::UInt8), t);
      EXPECT_EQ(b.machine().mx_flops() / b.machine().tensor_flops(BF16), 4);
    });
  };
  EXPECT_NEAR(ns(512), 217.375, 1e-3);  // (512 + 9.7) / 2.4
  EXPECT_NEAR(ns(32), 26.667, 1e-3);    // 64 / 2.4
  const auto quantize = [](std::int64_t n) {
    return cost("trn3", [&](Builder& b) {
      b.quantize_mx(b.sbuf("d", 128, {n / 4}, DType::UInt32), b.sbuf("s", 128, {n}, BF16),
                    b.sbuf("t", 128, {n / 4}, DType::UInt8));
    });
  };
  EXPECT_NEAR(quantize(2048), 476.667, 1e-3);  // (2048 / 4 + 60) / 1.2
  EXPECT_NEAR(quantize(512), 156.667, 1e-3);
}

TEST(Cost, DoubleRowsOnTrn3) {
  const double ns = cost("trn3", [](Builder& b) {
    const DType fp8 = DType::Float8E4M3FN;
    const Access s = b.sbuf("s", 128, {2, 128}, fp8), m = b.sbuf("m", 128, {2, 512}, fp8);
    b.nc_matmul(b.psum("acc", 128, {512}), s, m, {.perf_mode = MatmulMode::DoubleRow});
  });
  EXPECT_NEAR(ns, 217.375, 1e-3);
}

TEST(Cost, Exponential) {
  const auto ns = [](DType dtype, std::int64_t n, bool sums = false, bool psum = false, bool column = false) {
    return cost("trn3", [&](Builder& b) {
      const Access src = psum ? b.psum("s", 128, {n}) : b.sbuf("s", 128, {n}, dtype);
      ExponentialOptions options;
      if (sums) options.reduce_res = b.sbuf("r", 128, {1}, F32);
      if (column) options.max_value = b.sbuf("c", 128, {1}, F32);
      b.exponential(b.sbuf("d", 128, {n}, dtype), src, options);
    });
  };
  EXPECT_NEAR(ns(BF16, 2048), 476.667, 1e-3);                      // (2048 / 4 + 60) / 1.2
  EXPECT_NEAR(ns(BF16, 512), 156.667, 1e-3);                       // (128 + 60) / 1.2
  EXPECT_NEAR(ns(F32, 2048), 903.333, 1e-3);                       // fp32 streams two elements a cycle
  EXPECT_NEAR(ns(F32, 512, false, true), 476.667, 1e-3);           // PSUM one
  EXPECT_NEAR(ns(BF16, 2048, true), 530, 1e-3);                    // 64 cycles to read the sums out
  EXPECT_NEAR(ns(BF16, 2048, false, false, true), 526.667, 1e-3);  // 60 cycles to read max_value
}

TEST(Cost, Statistics) {
  const auto stats = [](std::int64_t n) {
    return cost("trn2", [&](Builder& b) { b.bn_stats(b.sbuf("d", 128, {6}, F32), b.sbuf("s", 128, {n}, F32)); });
  };
  EXPECT_NEAR(stats(512), 595.833, 1e-3);  // (512 + 60) / 0.96
  EXPECT_NEAR(stats(128), 195.833, 1e-3);
  const auto aggr = [](std::int64_t n) {
    return cost("trn2", [&](Builder& b) { b.bn_aggr(b.sbuf("d", 128, {2}, F32), b.sbuf("s", 128, {n}, F32)); });
  };
  EXPECT_NEAR(aggr(48), 279.167, 1e-3);  // (13 * 48 / 3 + 60) / 0.96
  EXPECT_NEAR(aggr(6), 89.583, 1e-3);    // (26 + 60) / 0.96
}

TEST(Cost, Transpose) {
  const auto ns = [](DType dtype) {
    return cost("trn2",
                [&](Builder& b) { b.nc_transpose(b.psum("d", 128, {128}, dtype), b.sbuf("s", 128, {128}, dtype)); });
  };
  EXPECT_NEAR(ns(BF16), 57.375, 1e-3);  // (128 + 9.7) / 2.4
  EXPECT_NEAR(ns(F32), 112.5, 1e-3);    // 2 (128 + 7) / 2.4
}

double copy(DType dtype, bool psum, const char* machine_name = "trn2") {
  return cost(machine_name, [&](Builder& b) {
    const Access from = psum ? b.psum("s", 128, {512}) : b.sbuf("s", 128, {512}, dtype);
    b.tensor_copy(b.sbuf("t", 128, {512}, dtype), from, Engine::Vector);
  });
}

TEST(Cost, VectorCopies) {
  EXPECT_NEAR(copy(F32, true), 595.833, 1e-3);           // (512 + 60) / 0.96
  EXPECT_NEAR(copy(F32, false), 329.167, 1e-3);          // two elements a cycle
  EXPECT_NEAR(copy(BF16, false), 195.833, 1e-3);         // four elements a cycle
  EXPECT_NEAR(copy(F32, false, "trn1"), 510.714, 1e-3);  // (512 + 60) / 1.12
}

TEST(Cost, TwoInputsTakeTurns) {
  const auto ns = [](DType dtype, const char* name) {
    return cost(name, [&](Builder& b) {
      b.tensor_tensor(b.sbuf("d", 128, {512}, dtype), b.sbuf("s", 128, {512}, dtype), b.sbuf("t", 128, {512}, dtype),
                      AluOp::Add, Engine::Vector);
    });
  };
  EXPECT_NEAR(ns(F32, "trn2"), 595.833, 1e-3);   // (512 + 60) / 0.96
  EXPECT_NEAR(ns(BF16, "trn2"), 329.167, 1e-3);  // (256 + 60) / 0.96
  EXPECT_NEAR(ns(F32, "trn1"), 967.857, 1e-3);   // (1024 + 60) / 1.12
}

TEST(Cost, ShortInstructionsPayTheMinimum) {
  const auto small = [](Engine e) {
    return cost("trn2", [&](Builder& b) { b.tensor_copy(b.sbuf("t", 128, {1}, F32), b.sbuf("s", 128, {1}, F32), e); });
  };
  EXPECT_NEAR(small(Engine::Vector), 66.667, 1e-3);  // 64 / 0.96
  EXPECT_NEAR(small(Engine::Scalar), 53.333, 1e-3);  // 64 / 1.2
}

// One value per partition is read before the stream: another 60 cycles on the Vector Engine.
TEST(Cost, ValuesPerPartitionAreReadFirst) {
  const auto ns = [](bool per_partition) {
    return cost("trn2", [&](Builder& b) {
      const Access s = b.sbuf("s", 128, {512}, F32), v = b.sbuf("v", 128, {1}, F32);
      b.tensor_scalar(s, s, AluOp::Multiply, per_partition ? ScalarOrTile(v) : ScalarOrTile(2.0),
                      {.engine = Engine::Vector});
    });
  };
  EXPECT_NEAR(ns(false), 329.167, 1e-3);
  EXPECT_NEAR(ns(true), 391.667, 1e-3);
}

// The operator costs what the instruction of its name costs.
TEST(Cost, ReciprocalAsAnOperator) {
  const auto ns = [](auto record) {
    return cost("trn2", [&](Builder& b) { record(b, b.sbuf("s", 128, {512}, F32)); });
  };
  const double instruction = ns([](Builder& b, const Access& s) { b.reciprocal(s, s); });
  EXPECT_NEAR(ns([](Builder& b, const Access& s) {
                b.tensor_scalar(s, s, AluOp::Reciprocal, 0.0, {.engine = Engine::Vector});
              }),
              instruction, 1e-3);
  EXPECT_LT(ns([](Builder& b, const Access& s) { b.tensor_scalar(s, s, AluOp::Abs, 0.0, {.engine = Engine::Vector}); }),
            instruction / 10);
}

TEST(Cost, LongStridesHalveTheBandwidth) {
  const double ns = cost("trn2", [](Builder& b) {
    const Access s = b.sbuf("s", 128, {512, 8}, F32);
    b.tensor_copy(b.sbuf("t", 128, {512, 1}, F32), s(all, all, ds(0, 1)), Engine::Vector);  // 32 bytes apart
  });
  EXPECT_NEAR(ns, 595.833, 1e-3);
}

TEST(Cost, VectorExceptions) {
  const auto on = [](auto record) {
    return cost("trn2", [&](Builder& b) { record(b, b.sbuf("s", 128, {960}, F32), b.sbuf("t", 128, {960}, F32)); });
  };
  EXPECT_NEAR(on([](Builder& b, const Access& s, const Access& t) { b.reciprocal(t, s); }), 8062.5, 1e-3);  // 8 N
  EXPECT_NEAR(on([](Builder& b, const Access& s, const Access& t) {
                b.tensor_tensor_scan(t, s, s, 0.0, AluOp::Multiply, AluOp::Add);
              }),
              2062.5, 1e-3);  // 2 N
  EXPECT_NEAR(
      on([](Builder& b, const Access& s, const Access& t) { b.tensor_reduce(t(all, ds(0, 1)), AluOp::Add, s); }),
      1062.5, 1e-3);
}

// One element a cycle, 64 cycles more to read the registers out, 60 more for values per partition.
TEST(Cost, ReductionsIntoRegisters) {
  using Record = std::function<void(Builder&, const Access& data, const Access& column)>;
  const auto ns = [](std::int64_t n, const Record& record, const char* name = "trn2") {
    return cost(name, [&](Builder& b) { record(b, b.sbuf("s", 128, {n}, F32), b.sbuf("c", 128, {1}, F32)); });
  };
  const auto reduce = [](bool tile, bool read_out, AluOp op0 = AluOp::Multiply) -> Record {
    return [=](Builder& b, const Access& s, const Access& c) {
      b.tensor_scalar_reduce(s, s, op0, tile ? ScalarOrTile(c) : ScalarOrTile(0.0), AluOp::Add,
                             {.reduce_res = read_out ? c : Access{}});
    };
  };
  EXPECT_NEAR(ns(960, reduce(false, false)), 1062.5, 1e-3);                     // (960 + 60) / 0.96
  EXPECT_NEAR(ns(960, reduce(false, true)), 1129.167, 1e-3);                    // (960 + 64 + 60) / 0.96
  EXPECT_NEAR(ns(16, reduce(false, true)), 195.833, 1e-3);                      // (64 + 64 + 60) / 0.96
  EXPECT_NEAR(ns(960, reduce(true, false)), 1125.0, 1e-3);                      // (960 + 60 + 60) / 0.96
  EXPECT_NEAR(ns(960, reduce(false, false, AluOp::Reciprocal)), 8062.5, 1e-3);  // (8 * 960 + 60) / 0.96

  const auto cumulative = [](bool tile) -> Record {
    return [=](Builder& b, const Access& s, const Access& c) {
      b.tensor_scalar_cumulative(s, s, AluOp::Add, tile ? ScalarOrTile(c) : ScalarOrTile(1.0), AluOp::Add);
    };
  };
  EXPECT_NEAR(ns(960, cumulative(false)), 1062.5, 1e-3);
  EXPECT_NEAR(ns(480, cumulative(true)), 625.0, 1e-3);  // (480 + 60 + 60) / 0.96

  const auto select = [](bool read_out) -> Record {
    return [=](Builder& b, const Access& s, const Access& c) {
      b.select_reduce(s, b.sbuf("p", 128, {s.free_size()}, DType::UInt8), s, 0.0,
                      {.reduce_res = read_out ? c : Access{}});
    };
  };
  EXPECT_NEAR(ns(960, select(false)), 1062.5, 1e-3);            // two inputs take turns: N cycles
  EXPECT_NEAR(ns(960, select(true)), 1129.167, 1e-3);           // 64 more
  EXPECT_NEAR(ns(960, select(false), "trn1"), 1767.857, 1e-3);  // (2 * 960 + 60) / 1.12

  const auto range = [](bool read_out) -> Record {
    return [=](Builder& b, const Access& s, const Access& c) {
      b.range_select(s, s, AluOp::Less, c, AluOp::Less, c, {.reduce_res = read_out ? c : Access{}});
    };
  };
  EXPECT_NEAR(ns(960, range(false)), 1125.0, 1e-3);   // (960 + 60 + 60) / 0.96
  EXPECT_NEAR(ns(960, range(true)), 1191.667, 1e-3);  // (960 + 64 + 60 + 60) / 0.96
}

TEST(Cost, Searches) {
  const auto ns = [](std::int64_t n, auto record) {
    return cost("trn2", [&](Builder& b) {
      record(b, b.sbuf("s", 128, {n}, F32), b.sbuf("v", 128, {8}, F32), b.sbuf("i", 128, {8}, DType::UInt32));
    });
  };
  const auto largest = [](Builder& b, const Access& s, const Access& v, const Access&) { b.max8(v, s); };
  const auto find = [](Builder& b, const Access& s, const Access& v, const Access& i) { b.nc_find_index8(i, s, v); };
  const auto replace = [](Builder& b, const Access& s, const Access& v, const Access& i) {
    b.nc_match_replace8(s, s, v, 0.0, i);
  };
  EXPECT_NEAR(ns(960, largest), 1062.5, 1e-3);  // (960 + 60) / 0.96
  EXPECT_NEAR(ns(8, largest), 70.833, 1e-3);    // (8 + 60) / 0.96
  EXPECT_NEAR(ns(960, find), 1062.5, 1e-3);
  EXPECT_NEAR(ns(480, find), 562.5, 1e-3);
  EXPECT_NEAR(ns(960, replace), 1062.5, 1e-3);
  EXPECT_NEAR(ns(480, replace), 562.5, 1e-3);
  const auto nonzero = [](std::int64_t n) {
    return cost("trn2", [&](Builder& b) {
      b.nonzero_with_count(b.sbuf("d", 128, {n + 1}, DType::Int32), b.sbuf("s", 128, {n}, F32));
    });
  };
  EXPECT_NEAR(nonzero(449), 500.0, 1e-3);  // (150 + 450) / 1.2
  EXPECT_NEAR(nonzero(929), 900.0, 1e-3);  // (150 + 930) / 1.2
}

TEST(Cost, ScalarActivation) {
  const auto ns = [](bool reduce) {
    return cost("trn2", [&](Builder& b) {
      const Access s = b.sbuf("s", 128, {1200}, F32);
      b.activation(s, ActFunction::Exp, s, {.reduce_res = reduce ? b.sbuf("r", 128, {1}, F32) : Access()});
    });
  };
  EXPECT_NEAR(ns(false), 1161.667, 1e-3);  // (1200 + 54 + 140) / 1.2
  EXPECT_NEAR(ns(true), 1215, 1e-3);       // and 64 cycles to read the sum out
}

TEST(Cost, GpSimd) {
  const auto ns = [](auto record) {
    return cost("trn2", [&](Builder& b) { record(b, b.sbuf("s", 128, {1050}, F32)); });
  };
  EXPECT_NEAR(ns([](Builder& b, const Access& s) { b.memset(s, 0, Engine::GpSimd); }), 1000,
              1e-3);  // (150 + 1050) / 1.2
  EXPECT_NEAR(ns([](Builder& b, const Access& s) { b.tensor_tensor(s, s, s, AluOp::Add, Engine::GpSimd); }), 1875,
              1e-3);  // 2 N
}

DmaCost dma(const char* machine_name, std::int64_t rows, std::int64_t columns, DType dtype, DmaOptions options = {}) {
  Builder b("p", machine(machine_name));
  b.dma_copy(b.sbuf("t", rows, {columns}, dtype), b.input("x", dtype, {rows, columns}), options);
  const Program p = schedule(b.finish(), b.machine());
  return dma_cost(p.instructions().back(), b.machine());
}

TEST(Cost, Dma) {
  const DmaCost c = dma("trn2", 128, 512, BF16);
  EXPECT_EQ(c.bytes, 131072);
  EXPECT_NEAR(c.transfer_s * 1e9, 393.774, 1e-3);  // 8 rows each of 4.7 + 1024 / 23 ns
  EXPECT_NEAR(c.ring_s * 1e9, 620, 1e-9);
  EXPECT_NEAR(dma("trn2", 17, 512, BF16).transfer_s * 1e9, 2 * 49.222, 1e-2);  // 9 shares of 2 KiB: two rows at most
  EXPECT_NEAR(dma("trn2", 128, 512, BF16, {.dge = DgeMode::Static}).ring_s * 1e9, 30, 1e-9);
  EXPECT_NEAR(dma("trn2", 128, 512, BF16, {.dge = DgeMode::Software}).ring_s * 1e9, 580, 1e-9);
  const DmaCost trn1 = dma("trn1", 128, 512, BF16);
  EXPECT_NEAR(trn1.transfer_s * 1e9, 493.879, 1e-3);        // 8 (2.2 + 1024 / 17.2)
  EXPECT_NEAR(trn1.ring_s * 1e9, 30 + 493.879 + 85, 1e-3);  // one run in HBM
}

TEST(Cost, StoresLeaveFasterThanLoadsArrive) {
  Builder b("p", machine("trn2"));
  b.dma_copy(b.output("y", BF16, {128, 512}), b.sbuf("t", 128, {512}, BF16));
  const Program p = schedule(b.finish(), b.machine());
  EXPECT_NEAR(dma_cost(p.instructions()[0], b.machine()).transfer_s * 1e9, 8 * (4.7 + 1024 / 27.2), 1e-3);
}

// Tiny transfers stay on one engine; from 32 KiB on all sixteen share.
TEST(Cost, TransfersAreSpreadByTheirSize) {
  EXPECT_NEAR(dma("trn2", 128, 1, F32).transfer_s * 1e9, 128 * (4.7 + 4 / 23.0), 1e-3);
  EXPECT_NEAR(dma("trn2", 128, 64, F32).transfer_s * 1e9, 8 * (4.7 + 256 / 23.0), 1e-3);
}

// trn1: rows of a wide matrix lie apart in HBM, and their ring waits for each; rows of a narrow one do not.
TEST(Cost, RowsApartHoldUpTheirRing) {
  const auto ring = [](const char* machine_name, std::int64_t width) {
    Builder b("p", machine(machine_name));
    b.dma_copy(b.sbuf("t", 128, {128}, BF16), b.input("x", BF16, {128, width})(all, ds(0, 128)),
               {.dge = DgeMode::Static});
    const Program p = schedule(b.finish(), b.machine());
    return 1e9 * dma_cost(p.instructions()[0], b.machine()).ring_s;
  };
  const double transfer = 8 * (2.2 + 256 / 17.2);
  EXPECT_NEAR(ring("trn1", 8192), 30 + transfer + 8 * 85, 1e-3);
  EXPECT_NEAR(ring("trn1", 400), 30 + transfer + 85, 1e-3);
  EXPECT_NEAR(ring("trn2", 8192), 30, 1e-3);
}

// Columns of a row-major matrix: every element is a run of its own.
TEST(Cost, ScatteredElementsAreSlow) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", F32, {64, 128});
  b.dma_copy(b.sbuf("t", 128, {64}, F32), x.permute({1, 0}));
  const Program p = schedule(b.finish(), b.machine());
  EXPECT_NEAR(dma_cost(p.instructions()[0], b.machine()).transfer_s * 1e9, 512 * (4.7 + 4 / 23.0),
              1e-3);  // 8192 runs / 16
}

TEST(Cost, DmaTransposeRunsAtAFraction) {
  Builder b("p", machine("trn2"));
  b.dma_transpose(b.sbuf("t", 128, {64}, BF16), b.input("x", BF16, {64, 128}));
  const Program p = schedule(b.finish(), b.machine());
  EXPECT_NEAR(dma_cost(p.instructions()[0], b.machine()).transfer_s * 1e9, 16384 / (16 * 23 * 0.9), 1e-3);
}

TEST(Cost, FlopsOfAMatmul) {
  Builder b("p", machine("trn2"));
  const Access s = b.sbuf("s", 96, {64}, BF16), m = b.sbuf("m", 96, {500}, BF16), i = b.sbuf("i", 96, {96}, BF16);
  b.nc_matmul(b.psum("acc", 64, {500}), s, m);
  b.nc_matmul(b.psum("turned", 64, {96}, BF16), s, i, {.is_transpose = true});
  b.tensor_copy(m, m, Engine::Vector);
  const Program p = b.finish();
  EXPECT_EQ(matmul_flops(p.instructions()[0]), 2.0 * 96 * 64 * 500);
  EXPECT_EQ(matmul_flops(p.instructions()[1]), 0);
  EXPECT_EQ(matmul_flops(p.instructions()[2]), 0);
}

// A gather moves the rows it fetches, however long the table.
TEST(Cost, GatherDoesNotPayForTheTable) {
  const Machine& m = machine("trn2");
  const auto cost = [&](std::int64_t rows) {
    Builder b("gather", m);
    const Access table = b.input("table", DType::Float32, {rows, 64}), index = b.sbuf("i", 128, {1}, DType::UInt32),
                 d = b.sbuf("d", 128, {64}, DType::Float32);
    b.iota(index, {{0, 1}}, 0, 1);
    b.dma_gather(d, table, index);
    const Program p = schedule(b.finish(), m);
    return dma_cost(p.instructions()[1], m);
  };
  EXPECT_EQ(cost(1000).bytes, 128 * 64 * 4);
  EXPECT_EQ(cost(1000000).bytes, 128 * 64 * 4);
  EXPECT_EQ(cost(1000).transfer_s, cost(1000000).transfer_s);
}

// Two 16-bit inputs: N cycles on trn1 (nki.isa's table), half of it on trn2.
TEST(Cost, TwoNarrowInputs) {
  for (const auto& [name, cycles] : {std::pair("trn1", 4096.0), std::pair("trn2", 2048.0)}) {
    const Machine& m = machine(name);
    Builder b("add", m);
    const Access x = b.sbuf("x", 128, {4096}, DType::BFloat16), y = b.sbuf("y", 128, {4096}, DType::BFloat16);
    b.tensor_tensor(x, x, y, AluOp::Add, Engine::Vector);
    const Program p = b.finish();
    EXPECT_NEAR(compute_seconds(p, p.instructions()[0], Engine::Vector, m),
                cycles / m.vector_hz + m.timing.vector_fixed_s, 1e-15)
        << name;
  }
}

// One unit divides, whichever instruction asks for it: 8 N cycles.
TEST(Cost, ReciprocalCostsTheSameAsAnOperator) {
  const auto tile = [](Builder& b) { return b.sbuf("t", 128, {512}, F32); };
  const double own = cost("trn2", [&](Builder& b) {
    const Access t = tile(b);
    b.reciprocal(t, t);
  });
  EXPECT_GT(own, 8 * 512 / 0.96);
  EXPECT_EQ(own, cost("trn2", [&](Builder& b) {
              const Access t = tile(b);
              b.tensor_scalar(t, t, AluOp::Reciprocal, 0.0);
            }));
  EXPECT_EQ(own, cost("trn2", [&](Builder& b) {
              const Access t = tile(b);
              b.tensor_scalar(t, t, AluOp::Add, 1.0, {.op1 = AluOp::Reciprocal});
            }));
}

// GpSimd, 1.2 GHz: 150 cycles for each group of 512 elements, 8 cycles an element.
TEST(Cost, GatherByListsOfTheirOwn) {
  const auto ns = [](std::int64_t n) {
    return cost("trn2", [&](Builder& b) {
      b.nc_n_gather(b.sbuf("d", 128, {n}, F32), b.sbuf("s", 128, {64}, F32), b.sbuf("i", 128, {n}, DType::UInt32));
    });
  };
  EXPECT_NEAR(ns(100), (150 + 800) / 1.2, 1e-3);
  EXPECT_NEAR(ns(1000), (300 + 8000) / 1.2, 1e-3);
}

// Vector, 0.96 GHz: a copy of fp32, two elements a cycle, and 60 cycles.
TEST(Cost, ShuffleIsACopy) {
  const auto ns = [](std::int64_t n) {
    return cost("trn2", [&](Builder& b) {
      b.nc_stream_shuffle(b.sbuf("d", 128, {n}, F32), b.sbuf("s", 128, {n}, F32), std::vector<std::int64_t>(32, 3));
    });
  };
  EXPECT_NEAR(ns(512), (256 + 60) / 0.96, 1e-3);
  EXPECT_NEAR(ns(2), 64 / 0.96, 1e-3);
}

TEST(Cost, Registers) {
  const auto ns = [](bool hbm) {
    return cost("trn2", [&](Builder& b) {
      const Access from = hbm ? b.input("x", DType::Int32, {4})(ds(2, 1)) : b.sbuf("t", 1, {1}, DType::Int32);
      b.register_load(b.register_alloc("r"), from);
    });
  };
  EXPECT_NEAR(ns(false), 600 / 1.2, 1e-3);
  EXPECT_NEAR(ns(true), 600 / 1.2 + 1300 + 500, 1e-3);
  EXPECT_NEAR(cost("trn2", [](Builder& b) { b.register_move(b.register_alloc("r"), 3); }), 64 / 1.2, 1e-3);
}

// Each source at half the rate of a copy, at the full rate on trn3.
TEST(Cost, AddingDma) {
  const auto of = [](const char* name, std::size_t sources) {
    const Machine& m = machine(name);
    Builder b("p", m);
    const Access x = b.input("x", F32, {128, 512}), t = b.sbuf("t", 128, {512}, F32);
    if (sources == 0) b.dma_copy(t, x, {.dge = DgeMode::Static});
    if (sources > 0) b.dma_compute(t, std::vector<Access>(sources, x));
    return dma_cost(schedule(b.finish(), m).instructions().back(), m);
  };
  EXPECT_DOUBLE_EQ(of("trn2", 2).transfer_s, 4 * of("trn2", 0).transfer_s);
  EXPECT_DOUBLE_EQ(of("trn2", 3).transfer_s, 6 * of("trn2", 0).transfer_s);
  EXPECT_DOUBLE_EQ(of("trn3", 2).transfer_s, 2 * of("trn3", 0).transfer_s);
  EXPECT_EQ(of("trn2", 3).hbm_read_bytes, 3 * 128 * 512 * 4);
  EXPECT_EQ(of("trn2", 3).hbm_write_bytes, 0);
}

}  // namespace
}  // namespace trn::tile
