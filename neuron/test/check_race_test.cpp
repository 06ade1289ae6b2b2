// Parallel iterations that touch the same element: "hazard-without-edge", with controls that must pass.
#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

std::string outcome(const std::function<void(Rig&)>& record, bool checked = true) {
  return check_of([&] {
    Rig rig;
    rig.options.check_races = checked;
    record(rig);
    rig.run();
  });
}
constexpr const char* kRace = "hazard-without-edge";

void fill(Rig& rig, const Access& t) { rig.b.memset(t, 1, Engine::Vector); }

TEST(Race, TwoIterationsWriteTheSameOutput) {
  const auto record = [](std::int64_t step, bool parallel) {
    return [=](Rig& rig) {
      const Access y = rig.output("y", DType::Float32, {4, 2});
      const auto body = [&](Affine i) {
        const Access t = rig.b.sbuf("t", step == 1 ? 2 : 1, {2}, DType::Float32);
        fill(rig, t);
        rig.b.dma_copy(y(ds(i, step == 1 ? 2 : 1), all), t);
      };
      parallel ? rig.b.parallel("i", step == 1 ? 3 : 4, body) : rig.b.sequential("i", step == 1 ? 3 : 4, body);
    };
  };
  EXPECT_EQ(outcome(record(1, true)), kRace);      // rows i and i+1
  EXPECT_EQ(outcome(record(2, true)), "");         // its own row
  EXPECT_EQ(outcome(record(1, false)), "");        // sequential
  EXPECT_EQ(outcome(record(1, true), false), "");  // not asked for
}

TEST(Race, TileAllocatedOutsideTheLoop) {
  for (const bool inside : {true, false}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access y = rig.output("y", DType::Float32, {4, 1, 2});
                Access t;
                if (!inside) t = rig.b.sbuf("t", 1, {2}, DType::Float32);
                rig.b.parallel("i", 4, [&](Affine i) {
                  if (inside) t = rig.b.sbuf("t", 1, {2}, DType::Float32);
                  fill(rig, t);
                  rig.b.dma_copy(y(ds(i, 1), all, all), t);
                });
              }),
              inside ? "" : kRace);
  }
}

TEST(Race, AccumulationAcrossParallelIterations) {
  for (const LoopKind kind : {LoopKind::Parallel, LoopKind::Sequential}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access one = rig.tile("one", DType::Float32, 1, 1, {1}), c = rig.b.psum("c", 1, {1});
                const auto body = [&](Affine k) { rig.b.nc_matmul(c, one, one, {.accumulate = k}); };
                kind == LoopKind::Parallel ? rig.b.parallel("k", 4, body) : rig.b.sequential("k", 4, body);
                rig.emit("out", c, Space::Psum);
              }),
              kind == LoopKind::Parallel ? kRace : "");
  }
}

// All iterations read row 0 of the scratch tensor; the last one, or none, then writes it.
TEST(Race, AWriteAfterReadsOfOtherIterations) {
  for (const bool writes : {false, true}) {
    EXPECT_EQ(
        outcome([&](Rig& rig) {
          const Access h = rig.b.scratch("h", DType::Float32, {3, 2}), y = rig.output("y", DType::Float32, {3, 1, 2});
          const Access zero = rig.b.sbuf("zero", 3, {2}, DType::Float32);
          fill(rig, zero);
          rig.b.dma_copy(h, zero);
          rig.b.parallel("i", 3, [&](Affine i) {
            const Access t = rig.b.sbuf("t", 1, {2}, DType::Float32);
            rig.b.dma_copy(t, h(ds(0, 1), all));
            rig.b.dma_copy(y(ds(i, 1), all, all), t);
            // Iteration 2 writes row 0: 2 - i.
            if (writes) rig.b.dma_copy(h(ds(Affine(2) - i, 1), all), t);
          });
        }),
        writes ? kRace : "");
  }
}

// The writer is the last reader itself; only the readers before it make the race.
TEST(Race, EarlierReadersAreNotForgotten) {
  for (const std::int64_t trip : {1, 3}) {
    EXPECT_EQ(
        outcome([&](Rig& rig) {
          const Access t = rig.b.sbuf("t", 1, {8}, DType::Float32), y = rig.output("y", DType::Float32, {3, 1, 1});
          fill(rig, t);
          const Access zero = rig.b.sbuf("zero", 3, {1}, DType::Float32);
          fill(rig, zero);
          rig.b.dma_copy(y, zero);
          rig.b.parallel("i", trip, [&](Affine i) {
            const Access u = rig.b.sbuf("u", 1, {1}, DType::Float32);
            rig.b.tensor_copy(u, t(all, ds(0, 1)), Engine::Vector);
            rig.b.tensor_copy(t(all, ds(Affine(2) - i, 1)), u,
                              Engine::Vector);  // element 0 when i = 2
          });
        }),
        trip == 1 ? "" : kRace);
  }
}

TEST(Race, SequentialLoopAroundOrdersItsParallelLoops) {
  EXPECT_EQ(outcome([](Rig& rig) {
              const Access y = rig.output("y", DType::Float32, {4, 1, 2});
              rig.b.sequential("o", 3, [&](Affine) {
                rig.b.parallel("i", 4, [&](Affine i) {
                  const Access t = rig.b.sbuf("t", 1, {2}, DType::Float32);
                  fill(rig, t);
                  rig.b.dma_copy(y(ds(i, 1), all, all), t);
                });
              });
              // A later loop may touch everything again.
              rig.b.parallel("j", 4, [&](Affine j) {
                const Access t = rig.b.sbuf("u", 1, {2}, DType::Float32);
                fill(rig, t);
                rig.b.dma_copy(y(ds(Affine(3) - j, 1), all, all), t);
              });
            }),
            "");
}

// Every iteration writes its own rows again and again; row 1 belongs to iteration 1 alone, unless all write it.
TEST(Race, ParallelLoopAroundASequentialOne) {
  for (const bool own : {true, false}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access y = rig.output("y", DType::Float32, {2, 3, 2});
                rig.b.parallel("i", 2, [&](Affine i) {
                  rig.b.sequential("k", 3, [&](Affine k) {
                    const Access t = rig.b.sbuf("t", 1, {2}, DType::Float32);
                    fill(rig, t);
                    rig.b.dma_copy(y(ds(i, 1), ds(k, 1), all), t);
                    rig.b.dma_copy(y(own ? ds(i, 1) : ds(1, 1), ds(0, 1), all), t);
                  });
                });
              }),
              own ? "" : kRace);
  }
}

TEST(Race, NamesBothIterations) {
  Rig rig;
  rig.options.check_races = true;
  const Access t = rig.b.sbuf("shared", 1, {2}, DType::Float32);
  rig.b.parallel("tile_row", 4, [&](Affine) { fill(rig, t); });
  try {
    rig.run();
    FAIL();
  } catch (const DeviceError& e) {
    const std::string text = e.what();
    for (const char* part : {"'shared'", "tile_row=1", "tile_row=0"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

// Iterations share the Scalar Engine's accumulators: each may begin its own sums, none may go on with another's.
TEST(Race, SumsOfAnotherIteration) {
  const auto run = [](ReduceCmd first) {
    Rig rig;
    rig.options.check_races = true;
    const Access x = rig.tile("x", DType::Float32, 4, 4, normals(16, 1)), y = rig.output("y", DType::Float32, {8, 1});
    const Access begin = rig.b.sbuf("begin", 4, {4}, DType::Float32);
    rig.b.activation(begin, ActFunction::Copy, x, {.reduce_cmd = ReduceCmd::ResetReduce});
    rig.b.parallel("i", 2, [&](const Affine& i) {
      const Access t = rig.b.sbuf("t", 4, {4}, DType::Float32), sum = rig.b.sbuf("sum", 4, {1}, DType::Float32);
      rig.b.activation(t, ActFunction::Copy, x, {.reduce_cmd = first});
      rig.b.activation(t, ActFunction::Copy, x, {.reduce_res = sum, .reduce_cmd = ReduceCmd::Reduce});
      rig.b.dma_copy(y(ds(i * 4, 4), all), sum);
    });
    rig.run();
  };
  EXPECT_NO_THROW(run(ReduceCmd::ResetReduce));
  EXPECT_EQ(check_of([&] { run(ReduceCmd::Reduce); }), "hazard-without-edge");
}

}  // namespace
}  // namespace trn::neuron::sim
