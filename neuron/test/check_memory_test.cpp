// The run-time checks on memory, each with a failing program and a passing control.
#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

std::string outcome(const std::function<void(Rig&)>& record) {
  return check_of([&] {
    Rig rig;
    record(rig);
    rig.run();
  });
}

TEST(UninitialisedRead, OfSbuf) {
  for (const std::int64_t written : {8, 7}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access t = rig.b.sbuf("t", 4, {8}, DType::BFloat16);
                rig.b.memset(t(all, ds(0, written)), 1, Engine::Vector);
                rig.emit("out", t);
              }),
              written == 8 ? "" : "uninitialised-read");
  }
}

TEST(UninitialisedRead, OfOnePartition) {
  for (const std::int64_t written : {4, 3}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access t = rig.b.sbuf("t", 4, {8}, DType::Float32);
                rig.b.memset(t(ds(0, written), all), 1, Engine::Vector);
                rig.emit("out", t);
              }),
              written == 4 ? "" : "uninitialised-read");
  }
}

TEST(UninitialisedRead, NamesOperandAndElement) {
  Rig rig;
  const Access t = rig.b.sbuf("t", 4, {8}, DType::Float32);
  rig.b.memset(t(all, ds(0, 5)), 1, Engine::Vector);
  rig.emit("out", t);
  try {
    rig.run();
    FAIL();
  } catch (const DeviceError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("'src'"), std::string::npos) << text;
    EXPECT_NE(text.find("row 0, element 5"), std::string::npos) << text;
  }
}

// Of memory that the caller gave the argument is named, by the name that the caller knows.
TEST(UninitialisedRead, NamesTheArgument) {
  struct Known : HbmShadow {
    std::vector<std::uint8_t> states = std::vector<std::uint8_t>(16, 0);
    const void* known = nullptr;
    std::uint8_t* state(const void* address) override { return address == known ? states.data() : nullptr; }
  };
  for (const char* name : {"x", "c_in", "x_im"}) {
    Rig rig;
    Known known;
    const Access x = rig.input(name, DType::Float32, {1, 4}, {1, 2, 3, 4});
    known.known = rig.bytes(name).data();
    rig.shadow = &known;
    rig.b.dma_copy(rig.output("y", DType::Float32, {1, 4}), x);
    try {
      rig.run();
      ADD_FAILURE() << name;
    } catch (const DeviceError& e) {
      const std::string text = e.what(), argument(name, 1);
      EXPECT_NE(text.find("argument '" + argument + "' is read, and nothing has written it"), std::string::npos)
          << text;
    }
  }
}

TEST(UninitialisedRead, StridedAccessSeesOnlyItsElements) {
  for (const std::int64_t start : {0, 1}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access t = rig.b.sbuf("t", 1, {8}, DType::Float32), o = rig.b.sbuf("o", 1, {4}, DType::Float32);
                rig.b.memset(t.split(0, 2)(all, all, ds(0, 1)), 1, Engine::Vector);
                rig.b.tensor_copy(o, t.split(0, 2)(all, all, ds(start, 1)), Engine::Vector);
                rig.emit("out", o);
              }),
              start == 0 ? "" : "uninitialised-read");
  }
}

TEST(UninitialisedRead, OfABufferHandedOutAgain) {
  for (const bool rewrites : {true, false}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access x = rig.input("x", DType::Float32, {2, 2}, {1, 2, 3, 4});
                const Access y = rig.output("y", DType::Float32, {4, 2, 2});
                rig.b.sequential("i", 4, [&](Affine i) {
                  const Access t = rig.b.sbuf("t", 2, {2}, DType::Float32, 2);
                  // Written in the first iterations only when `rewrites` is false: i / 4 of the rows.
                  rig.b.dma_copy(t(ds(0, 1), all), x(ds(0, 1), all));
                  if (rewrites) rig.b.dma_copy(t(ds(1, 1), all), x(ds(1, 1), all));
                  rig.b.dma_copy(y(ds(i, 1), all, all), t);
                });
              }),
              rewrites ? "" : "uninitialised-read");
  }
}

TEST(UninitialisedRead, SecondAllocForgetsTheFirst) {
  // The tile is written when i = 0 through an index that stays inside it, and only read later in the same iteration.
  Rig rig;
  const Access y = rig.output("y", DType::Float32, {2, 1, 1});
  const Access x = rig.input("x", DType::Float32, {2}, {1, 2});
  rig.b.sequential("i", 2, [&](Affine i) {
    const Access t = rig.b.sbuf("t", 1, {2}, DType::Float32);
    rig.b.dma_copy(t(all, ds(i, 1)), x(ds(i, 1)));
    rig.b.dma_copy(y(ds(i, 1), all, all), t(all, ds(0, 1)));  // at i = 1 element 0 is old
  });
  EXPECT_EQ(check_of([&] { rig.run(); }), "uninitialised-read");
}

TEST(UninitialisedRead, OfScratchAndOfHbmTheDeviceKnows) {
  for (const bool writes : {true, false}) {
    EXPECT_EQ(
        outcome([&](Rig& rig) {
          const Access h = rig.b.scratch("h", DType::Float32, {1, 4}), t = rig.b.sbuf("t", 1, {4}, DType::Float32);
          rig.b.memset(t, 1, Engine::Vector);
          if (writes) rig.b.dma_copy(h, t);
          rig.b.dma_copy(rig.output("y", DType::Float32, {1, 4}), h);
        }),
        writes ? "" : "uninitialised-read");
  }
  struct Known : HbmShadow {
    std::vector<std::uint8_t> states = std::vector<std::uint8_t>(16, 1);
    const void* known = nullptr;
    std::uint8_t* state(const void* address) override { return address == known ? states.data() : nullptr; }
  };
  for (const bool hole : {false, true}) {
    Rig rig;
    Known known;
    const Access x = rig.input("x", DType::Float32, {1, 4}, {1, 2, 3, 4});
    known.known = rig.bytes("x").data();
    if (hole) known.states[9] = 0;
    rig.shadow = &known;
    rig.b.dma_copy(rig.output("y", DType::Float32, {1, 4}), x);
    EXPECT_EQ(check_of([&] { rig.run(); }), hole ? "uninitialised-read" : "");
  }
}

TEST(UninitialisedRead, HbmBecomesInitialisedByWriting) {
  struct Known : HbmShadow {
    std::vector<std::uint8_t> states = std::vector<std::uint8_t>(8, 0);
    std::uint8_t* state(const void*) override { return states.data(); }
  } known;
  Rig rig;
  const Access y = rig.output("y", DType::Float32, {1, 2}), t = rig.b.sbuf("t", 1, {2}, DType::Float32);
  rig.b.memset(t, 1, Engine::Vector);
  rig.b.dma_copy(y, t);
  rig.b.dma_copy(t, y);
  rig.shadow = &known;
  rig.run();
  for (const std::uint8_t state : known.states) EXPECT_NE(state, 0);
}

TEST(UninitialisedRead, PredicatedCopyWritesOnlyChosenElements) {
  for (const double second : {1.0, 0.0}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access o = rig.b.sbuf("o", 1, {2}, DType::Float32);
                rig.b.tensor_copy_predicated(o, rig.tile("s", DType::Float32, 1, 2, {1, 2}),
                                             rig.tile("p", DType::UInt8, 1, 2, {1, second}));
                rig.emit("out", o);
              }),
              second == 1 ? "" : "uninitialised-read");
  }
}

// accumulate onto: nothing, a memset, a copy, a matmul; all of the tile or a part of it.
TEST(Accumulate, OnlyOntoTheTensorEnginesOwnResults) {
  const auto run = [](const std::function<void(Rig&, Access, Access)>& first) {
    return outcome([&](Rig& rig) {
      const Access one = rig.tile("one", DType::Float32, 2, 2, {1, 2, 3, 4}), c = rig.b.psum("c", 2, {2});
      first(rig, one, c);
      rig.b.nc_matmul(c, one, one, {.accumulate = 1});
      rig.emit("out", c, Space::Psum);
    });
  };
  EXPECT_EQ(run([](Rig&, Access, Access) {}), "uninitialised-read");
  EXPECT_EQ(run([](Rig& rig, Access, Access c) { rig.b.memset(c, 0, Engine::Vector); }), "accumulate-onto-memset");
  EXPECT_EQ(run([](Rig& rig, Access one, Access c) { rig.b.tensor_copy(c, one, Engine::Vector); }),
            "accumulate-onto-memset");
  EXPECT_EQ(run([](Rig& rig, Access one, Access c) { rig.b.nc_matmul(c, one, one); }), "");
  EXPECT_EQ(run([](Rig& rig, Access one, Access c) {
              rig.b.nc_matmul(c, one, one);
              rig.b.memset(c(all, ds(1, 1)), 0, Engine::Vector);
            }),
            "accumulate-onto-memset");
  EXPECT_EQ(run([](Rig& rig, Access one, Access c) { rig.b.nc_matmul(c(all, ds(0, 1)), one, one(all, ds(0, 1))); }),
            "uninitialised-read");
}

// The ban names trn1 and trn2 only.
TEST(Accumulate, OntoOtherEnginesResultsOnTrn3) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    for (const bool written : {false, true}) {
      Rig rig(name);
      const Access one = rig.tile("one", DType::Float32, 2, 2, {1, 2, 3, 4}), c = rig.b.psum("c", 2, {2});
      if (written) rig.b.memset(c, 0.5, Engine::Vector);
      rig.b.nc_matmul(c, one, one, {.accumulate = 1});
      rig.b.nc_matmul(c, one, one, {.accumulate = 1});
      rig.emit("out", c, Space::Psum);
      const std::string check = check_of([&] { rig.run(); });
      const char* onto_memset = std::string(name) == "trn3" ? "" : "accumulate-onto-memset";
      EXPECT_EQ(check, written ? onto_memset : "uninitialised-read") << name;
      if (check.empty()) {
        EXPECT_EQ(rig.values("out"), (Values{20.5, 28.5, 28.5, 40.5}));
      }
    }
  }
}

// A tile written in pieces, some of them twice and by different engines, knows when it is complete.
TEST(UninitialisedRead, OfATileWrittenInPieces) {
  for (const bool spoiled : {false, true}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access one = rig.tile("one", DType::Float32, 4, 4, Values(16, 1.0)), c = rig.b.psum("c", 4, {4});
                rig.b.memset(c(all, ds(0, 2)), 0, Engine::Vector);
                rig.b.nc_matmul(c(all, ds(1, 2)), one, one(all, ds(1, 2)));
                rig.b.nc_matmul(c(all, ds(0, 2)), one, one(all, ds(0, 2)));
                rig.b.nc_matmul(c(all, ds(3, 1)), one, one(all, ds(3, 1)));
                if (spoiled) rig.b.memset(c(ds(0, 1), ds(3, 1)), 0, Engine::Vector);
                rig.b.nc_matmul(c, one, one, {.accumulate = 1});
                rig.emit("out", c, Space::Psum);
              }),
              spoiled ? "accumulate-onto-memset" : "");
  }
}

TEST(OutputNotWritten, CountsAndNamesTheFirstElement) {
  for (const std::int64_t rows : {4, 3}) {
    Rig rig;
    const Access y = rig.output("y", DType::BFloat16, {4, 5}), t = rig.b.sbuf("t", rows, {5}, DType::BFloat16);
    rig.b.memset(t, 1, Engine::Vector);
    rig.b.dma_copy(y(ds(0, rows), all), t);
    if (rows == 4) {
      EXPECT_NO_THROW(rig.run());
      continue;
    }
    try {
      rig.run();
      FAIL();
    } catch (const DeviceError& e) {
      EXPECT_EQ(e.check(), "output-not-written");
      const std::string text = e.what();
      EXPECT_NE(text.find("5 of the 20 elements of output 'y'"), std::string::npos) << text;
      EXPECT_NE(text.find("(3, 0)"), std::string::npos) << text;
    }
  }
}

TEST(OutOfBounds, LeavesTileOrTensor) {
  for (const std::int64_t size : {4, 5}) {
    EXPECT_EQ(outcome([&](Rig& rig) {
                const Access t = rig.b.sbuf("t", 1, {4}, DType::Float32), u = rig.b.sbuf("u", 1, {8}, DType::Float32);
                Access beyond = t;
                beyond.dims[0].size = size;
                rig.b.memset(u, 0, Engine::Vector);
                rig.b.memset(beyond, 1, Engine::Vector);
                rig.emit("out", u);
              }),
              size == 4 ? "" : "out-of-bounds");
    EXPECT_EQ(outcome([&](Rig& rig) {
                Access x = rig.input("x", DType::Float32, {4}, {1, 2, 3, 4});
                x.dims[0].size = size;
                const Access t = rig.b.sbuf("t", 1, {size}, DType::Float32);
                rig.b.dma_copy(t, x);
                rig.emit("out", t);
              }),
              size == 4 ? "" : "out-of-bounds");
  }
}

TEST(Bindings, EveryTensorMustBeBound) {
  Rig rig;
  const Access x = rig.b.input("x", DType::Float32, {1, 4});
  const Access t = rig.b.sbuf("t", 1, {4}, DType::Float32);
  rig.b.dma_copy(t, x);
  EXPECT_THROW(rig.run(), InvalidArgument);
}

}  // namespace
}  // namespace trn::neuron::sim
