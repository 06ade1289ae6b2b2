// The simulated device as an executor: its memory, its limits, and what a program run on it may touch.
#include <gtest/gtest.h>

#include <functional>
#include <trn/core/array.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>

namespace trn::neuron {
namespace {

using namespace trn::tile;

std::string check_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const DeviceError& e) {
    return e.check();
  }
  return "none";
}

TEST(SimDevice, UnknownNamesListTheKnownOnes) {
  for (const char* name : {"sim:trn9", "gpu", "sim", "host:0", "neuron"}) {
    try {
      (void)Executor::open(name);
      ADD_FAILURE() << name;
    } catch (const InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find("host, sim:trn1, sim:trn2, sim:trn3"), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW((void)open_simulator("trn9"), InvalidArgument);
}

TEST(SimDevice, EveryKnownNameOpens) {
  for (const std::string& name : Executor::known()) EXPECT_EQ(Executor::open(name).name(), name);
  EXPECT_EQ(Executor::open().name(), "host");
}

TEST(SimDevice, MemoryIsTheMachinesAndComesBack) {
  const Executor e = Executor::open("sim:trn1");
  const std::int64_t all_of_it = tile::machine("trn1").hbm_bytes_per_stack();
  EXPECT_EQ(all_of_it, std::int64_t{16} << 30);
  {
    const Buffer whole(e, all_of_it);  // lazily backed: asking costs nothing
    EXPECT_EQ(check_of([&] { const Buffer one_more(e, 1); }), "over-capacity");
  }
  EXPECT_EQ(check_of([&] { const Buffer again(e, all_of_it); }), "none");
}

TEST(SimDevice, TheCoresOfAStackShareItsMemory) {
  const std::vector<Executor> chip = open_simulated_chip("trn2");
  ASSERT_EQ(chip.size(), 8u);
  EXPECT_EQ(chip[3].name(), "sim:trn2#3");
  const std::int64_t gib = std::int64_t{1} << 30;
  const Buffer first(chip[0], 20 * gib), second(chip[1], 4 * gib), elsewhere(chip[2], 24 * gib);
  EXPECT_EQ(check_of([&] { const Buffer one_more(chip[1], 1); }), "over-capacity");
  EXPECT_EQ(check_of([&] { const Buffer one_more(chip[0], 1); }), "over-capacity");
  EXPECT_NE(chip[0], chip[1]);  // not one memory space all the same
  std::byte byte{};
  EXPECT_EQ(check_of([&] { chip[1].backend().copy_out(&byte, first.data(), 1); }), "out-of-bounds");
}

TEST(SimDevice, CopiesStayInsideOneArray) {
  const Executor e = Executor::open("sim:trn2");
  const Buffer buffer(e, 64);
  std::vector<std::byte> host(128);
  EXPECT_EQ(check_of([&] { e.backend().copy_in(buffer.data(), host.data(), 64); }), "none");
  EXPECT_EQ(check_of([&] { e.backend().copy_in(buffer.data(), host.data(), 65); }), "out-of-bounds");
  EXPECT_EQ(check_of([&] { e.backend().copy_out(host.data(), static_cast<std::byte*>(buffer.data()) + 1, 64); }),
            "out-of-bounds");
  EXPECT_EQ(check_of([&] { e.backend().copy_out(host.data(), host.data(), 1); }), "out-of-bounds");
}

// y = x on the device, for a listener to play with.
Program copy_program(const Machine& machine) {
  Builder b("copy", machine);
  const Access x = b.input("x", DType::Float32, {4, 4}), y = b.output("y", DType::Float32, {4, 4}),
               t = b.sbuf("t", 4, {4}, DType::Float32);
  b.dma_copy(t, x);
  b.dma_copy(y, t);
  return b.finish();
}

TEST(SimDevice, BindingsMustHoldTheirTensors) {
  const Executor e = Executor::open("sim:trn2");
  Device& device = device_of(e);
  const Program program = copy_program(device.machine());
  const auto x = Array<float>::from_host(e, {4, 4}, std::vector<float>(16, 2));
  const Array<float> y(e, {4, 4}), small(e, {3, 5});
  const auto run = [&](const void* in, void* out) {
    return check_of([&] { launch(e, program, std::vector<Argument>{{"x", in}, {"y", out}}); });
  };
  EXPECT_EQ(run(x.data(), y.data()), "none");
  EXPECT_EQ(y.to_host(), std::vector<float>(16, 2));
  EXPECT_EQ(run(x.data(), small.data()), "out-of-bounds");
  EXPECT_EQ(run(x.data() + 1, y.data()), "out-of-bounds");
  EXPECT_EQ(check_of([&] {
              launch(e, program, std::vector<Argument>{{"x", x.data(), 4}, {"y", y.data()}});
            }),
            "out-of-bounds");
  EXPECT_THROW(launch(e, program, std::vector<Argument>{{"x", x.data()}}), InvalidArgument);
  const float* read_only = y.data();
  EXPECT_THROW(launch(e, program, std::vector<Argument>{{"x", x.data()}, {"y", read_only}}), InvalidArgument);
}

struct Number {
  int n;
  bool operator==(const Number&) const = default;
};
Program numbered_copy(const Number&, const Machine& machine) { return copy_program(machine); }

// A listener may use the device again while it is being told.
TEST(SimDevice, ListenersMayUseTheProgramCache) {
  const Executor e = Executor::open("sim:trn2");
  int nested = 0;
  const int id = e.backend().events().subscribe([&](const Event& event) {
    if (event.kind != EventKind::Build || nested++ > 0) return;
    (void)load(e, numbered_copy, Number{2});
  });
  (void)load(e, numbered_copy, Number{1});
  e.backend().events().unsubscribe(id);
  EXPECT_EQ(nested, 2);
}

}  // namespace
}  // namespace trn::neuron
