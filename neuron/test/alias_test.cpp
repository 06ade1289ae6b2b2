// An output in the memory of an input, simulated: how it is bound, that what is not written keeps its values, and that
// an element is not loaded after it was replaced.
#include <gtest/gtest.h>

#include <functional>
#include <trn/core/error.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>

#include "support/nki_run.hpp"

namespace trn::neuron {
namespace {

using namespace trn::tile;

constexpr auto F32 = DType::Float32;

// y = 2 x on the first `rows` of four rows, in x's memory.
Program doubled(std::int64_t rows) {
  Builder b("doubled", machine("trn2"));
  const Access x = b.input("x", F32, {4, 3}), y = rows == 4 ? b.output_over("y", x) : b.partial_output("y", x);
  const Access t = b.sbuf("t", rows, {3}, F32);
  b.dma_copy(t, x(ds(0, rows)));
  b.tensor_scalar(t, t, AluOp::Multiply, 2.0);
  b.dma_copy(y(ds(0, rows)), t);
  return b.finish();
}

std::vector<float> run(const Program& program, const std::function<std::vector<Binding>(float*)>& bind,
                       const SimOptions& options = {}) {
  std::vector<float> memory(12);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  simulate(program, machine("trn2"), bind(memory.data()), options);
  return memory;
}

TEST(AliasRun, OneNameIsEnoughAndTwoAddressesAreRefused) {
  const Program p = doubled(2);
  std::vector<float> expected(12);
  for (std::size_t i = 0; i < 12; ++i) expected[i] = static_cast<float>(i < 6 ? 2 * i : i);
  for (const char* name : {"x", "y"}) {
    EXPECT_EQ(run(p, [&](float* m) { return std::vector<Binding>{{name, m}}; }), expected) << name;
  }
  EXPECT_EQ(run(p, [](float* m) { return std::vector<Binding>{{"x", m}, {"y", m}}; }), expected);
  std::vector<float> other(12);
  EXPECT_THROW((void)run(p,
                         [&](float* m) {
                           return std::vector<Binding>{{"x", m}, {"y", other.data()}};
                         }),
               InvalidArgument);
  EXPECT_THROW((void)run(p, [](float*) { return std::vector<Binding>{}; }), InvalidArgument);
}

// Two tensors are two arrays: the compiler relies on it.
TEST(AliasRun, OneArrayForTwoTensorsIsRefused) {
  Builder b("two", machine("trn2"));
  const Access x = b.input("x", F32, {4, 3}), y = b.output("y", F32, {4, 3}), t = b.sbuf("t", 4, {3}, F32);
  b.dma_copy(t, x);
  b.dma_copy(y, t);
  const Program p = b.finish();
  const Executor e = Executor::open("sim:trn2");
  const auto a = Array<float>::from_host(e, {24}, std::vector<float>(24, 1));
  const auto go = [&](std::int64_t x_at, std::int64_t y_at) {
    tile::launch(e, p, std::vector<Argument>{{"x", a.view().data() + x_at}, {"y", a.view().data() + y_at}});
  };
  EXPECT_THROW(go(0, 0), InvalidArgument);
  EXPECT_THROW(go(0, 11), InvalidArgument);
  EXPECT_THROW(go(12, 1), InvalidArgument);
  EXPECT_NO_THROW(go(0, 12));
  EXPECT_NO_THROW(go(12, 0));
}

TEST(AliasRun, APartThatIsNotDeclaredPartialMustBeWritten) {
  Program::Parts parts = doubled(2).parts();
  parts.tensors[1].partial = false;
  try {
    (void)run(Program(parts), [](float* m) { return std::vector<Binding>{{"y", m}}; });
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_EQ(e.check(), "output-not-written");
  }
}

// Loads `first` rows apart from the store that came before: row 0 is replaced, row 2 is not.
Program load_after_store(std::int64_t row) {
  Builder b("late", machine("trn2"));
  const Access x = b.input("x", F32, {4, 3}), y = b.partial_output("y", x);
  const Access t = b.sbuf("t", 1, {3}, F32), u = b.sbuf("u", 1, {3}, F32);
  b.memset(t, 1, Engine::Vector);
  b.dma_copy(y(ds(0, 1)), t);
  b.dma_copy(u, x(ds(row, 1)));
  b.dma_copy(y(ds(3, 1)), u);
  return b.finish();
}

TEST(AliasRun, AReplacedElementIsNotLoaded) {
  const auto bind = [](float* m) { return std::vector<Binding>{{"y", m}}; };
  EXPECT_EQ(run(load_after_store(2), bind), (std::vector<float>{1, 1, 1, 3, 4, 5, 6, 7, 8, 6, 7, 8}));
  for (const Order order : {Order::in_order(), Order::timed(), Order::shuffled(3)}) {
    try {
      (void)run(load_after_store(0), bind, {.order = order});
      FAIL();
    } catch (const DeviceError& e) {
      EXPECT_EQ(e.check(), "replaced-input");
      EXPECT_NE(std::string(e.what()).find("'src' reads row 0, element 0"), std::string::npos) << e.what();
    }
  }
}

TEST(AliasRun, AParallelLoopMayNotShareElements) {
  const auto program = [](LoopKind kind) {
    Builder b("shift", machine("trn2"));
    const Access x = b.input("x", F32, {4, 3}), y = b.partial_output("y", x);
    const auto body = [&](const Affine& i) {  // row i goes to row i - 1 of the memory
      const Access t = b.sbuf("t", 1, {3}, F32);
      b.dma_copy(t, x(ds(i + 1, 1)));
      b.dma_copy(y(ds(i, 1)), t);
    };
    if (kind == LoopKind::Parallel)
      b.parallel("i", 3, body);
    else
      b.sequential("i", 3, body);
    return b.finish();
  };
  const auto bind = [](float* m) { return std::vector<Binding>{{"x", m}}; };
  const SimOptions options{.order = Order::in_order(), .check_races = true};
  EXPECT_EQ(run(program(LoopKind::Sequential), bind, options),
            (std::vector<float>{3, 4, 5, 6, 7, 8, 9, 10, 11, 9, 10, 11}));
  EXPECT_THROW((void)run(program(LoopKind::Parallel), bind, options), DeviceError);
}

TEST(AliasText, TheArgumentIsStoredIntoAndReturned) {
  const std::string text = emit_nki(doubled(2));
  EXPECT_NE(text.find("#   y: float32 (4, 3), stored into and returned; what is not written keeps its values\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("def doubled(y):\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    return y\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("shared_hbm"), std::string::npos) << text;
  testing::expect_agreement(doubled(2));
  testing::expect_agreement(doubled(4));
}

// Between the rows of a strided output lie numbers that are not the kernel's: its memory is an argument too.
TEST(AliasText, AnOutputWithGapsIsAnArgument) {
  const auto program = [](Strides strides) {
    Builder b("gaps", machine("trn2"));
    const Access x = b.input("x", F32, {4, 3}), y = b.output("y", F32, {4, 3}, std::move(strides)),
                 t = b.sbuf("t", 4, {3}, F32);
    b.dma_copy(t, x);
    b.dma_copy(y, t);
    return b.finish();
  };
  EXPECT_NE(emit_nki(program({5, 1})).find("def gaps(x, y):"), std::string::npos);
  EXPECT_NE(emit_nki(program({1, 4})).find("def gaps(x):"), std::string::npos) << "flat, but without gaps";
  EXPECT_EQ(nki_tensors(program({5, 1})).arguments, (std::vector<std::int32_t>{0, 1}));
  testing::expect_agreement(program({5, 1}));
  testing::expect_agreement(program({1, 4}));
}

}  // namespace
}  // namespace trn::neuron
