// The `neuron` executor over the fake runtime: memory, runs, order and events, in every flavour of the library.
#include <gtest/gtest.h>

#include <array>
#include <trn/core/array.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>

#include "silicon/programs.hpp"
#include "support/fake_nrt.hpp"

namespace trn::neuron::testing {
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

class NeuronDevice : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flavours, NeuronDevice, ::testing::ValuesIn(kFlavours),
                         [](const auto& flavour) { return std::string(flavour.param); });

NeuronOptions options() {
  NeuronOptions o;
  o.machine = "trn2";  // the bare library does not say
  return o;
}

TEST_P(NeuronDevice, RunsAProgramWithTheBitsOfTheSimulator) {
  FakeRuntime fake("", GetParam());
  const std::vector<float> values = numbers(1);
  std::vector<float> wanted;
  {
    const Executor sim = open_simulator("trn2");
    const auto x = Array<float>::from_host(sim, {kRows, kColumns}, values);
    const Array<float> y(sim, {kRows, kColumns});
    twice(sim, x, y);
    wanted = y.to_host();
  }
  const Executor e = open_fake(options());
  EXPECT_EQ(e.name(), "neuron");
  EXPECT_EQ(device_of(e).machine().name, "trn2");
  const Recorder recorder(e);
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, values);
  const Array<float> y(e, {kRows, kColumns});
  twice(e, x, y);
  EXPECT_EQ(y.to_host(), wanted);
  EXPECT_EQ(fake.count("nrta_execute_schedule"), GetParam() == std::string_view("new") ? 1u : 0u);
  EXPECT_EQ(fake.count("nrt_execute"), GetParam() == std::string_view("new") ? 0u : 1u);
  for (const EventKind kind : {EventKind::Compile, EventKind::Load, EventKind::Complete, EventKind::Run}) {
    EXPECT_EQ(recorder.count(kind, "twice"), 1) << name(kind);
  }
}

TEST_P(NeuronDevice, RunsFollowOneAnotherAndCopiesKeepTheirPlaces) {
  FakeRuntime fake("", GetParam());
  const Executor e = open_fake(options());
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns});
  auto gone = Array<float>::from_host(e, {kRows, kColumns}, filled(5));
  for (int i = 0; i < 5; ++i) {
    twice(e, x, y);
    twice(e, y, x);  // x = 4 x
  }
  twice(e, gone, y);
  copy(View<const float>(Executor::host(), filled(3).data(), {kRows, kColumns}), gone.view());
  copy(gone.view(), x.view());
  { const Array<float> temporary = std::move(gone); }
  EXPECT_EQ(y.to_host(), filled(10));
  EXPECT_EQ(x.to_host(), filled(3));
  EXPECT_EQ(fake.count("runs"), 11u);
}

TEST_P(NeuronDevice, ViewsAreSlicesAndAliasesAreOneTensor) {
  FakeRuntime fake("", GetParam());
  const Executor e = open_fake(options());
  std::vector<float> values(4 * kRows * kColumns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto all = Array<float>::from_host(e, {4 * kRows, kColumns}, values);
  float* part = all.data() + kRows * kColumns;
  launch(e, add_into_program, AddInto{}, {{"x", static_cast<const float*>(all.data())}, {"y", part}});
  for (std::size_t i = 0; i < kRows * kColumns; ++i) values[kRows * kColumns + i] += values[i];
  EXPECT_EQ(all.to_host(), values);
  EXPECT_EQ(fake.count("nrt_tensor_allocate_slice"), 2u);
  // The second time nothing is made anew.
  launch(e, add_into_program, AddInto{}, {{"x", static_cast<const float*>(all.data())}, {"y", part}});
  (void)all.to_host();
  EXPECT_EQ(fake.count("nrt_tensor_allocate_slice"), 2u);
  EXPECT_EQ(fake.count("nrt_allocate_tensor_set"), 2u);
  // One array for an input and an output that are two tensors to the program.
  EXPECT_THROW(launch(e, twice_program, Twice{}, {{"x", all.data()}, {"y", all.data()}}), InvalidArgument);
}

TEST_P(NeuronDevice, AddressesAreHandles) {
  FakeRuntime fake("memory=1MiB", GetParam());
  const Executor e = open_fake(options());
  std::byte byte{};
  void* stale = nullptr;
  {
    const Buffer first(e, 64), second(e, 64), none(e, 0);
    EXPECT_NE(first.data(), second.data());
    EXPECT_NE(none.data(), nullptr);
    stale = second.data();
    EXPECT_EQ(check_of([&] { e.backend().copy_in(first.data(), std::vector<std::byte>(65).data(), 65); }),
              "out-of-bounds");
    EXPECT_EQ(check_of([&] { e.backend().copy_out(&byte, static_cast<std::byte*>(first.data()) + 64, 1); }),
              "out-of-bounds");
    EXPECT_DEATH(*static_cast<volatile char*>(first.data()) = 1, "");
  }
  const Buffer another(e, 64);
  EXPECT_NE(another.data(), stale);
  EXPECT_EQ(check_of([&] { e.backend().copy_out(&byte, stale, 1); }), "out-of-bounds");
  EXPECT_EQ(check_of([&] { const Buffer large(e, 2 << 20); }), "over-capacity");
  EXPECT_NO_THROW(const Buffer fits(e, 1 << 19));
}

TEST_P(NeuronDevice, FreshMemoryIsNotZero) {
  FakeRuntime fake("", GetParam());
  const Executor e = open_fake(options());
  const Array<float> x(e, {4});
  for (const float v : x.to_host()) EXPECT_TRUE(std::isnan(v));
}

TEST(NeuronCores, EachIsOneExecutor) {
  FakeRuntime fake("cores=4");
  const Executor first = open_fake(), third = open_fake({.core = 2}), again = open_fake({.core = 2});
  EXPECT_EQ(third.name(), "neuron:2");
  EXPECT_NE(first, third);
  EXPECT_EQ(third, again);
  EXPECT_THROW(open_fake({.core = 2, .nan = Nan::Refuse}), InvalidArgument);
  EXPECT_THROW(open_fake({.core = 4}), InvalidArgument);
  EXPECT_THROW(open_fake({.core = 1, .lnc = 2}), InvalidArgument);
  EXPECT_THROW(open_fake({.core = 1, .machine = "trn3"}), InvalidArgument);
  const auto x = Array<float>::from_host(first, {kRows, kColumns}, filled(1));
  const Array<float> y = x.to(third), z(third, {kRows, kColumns});
  twice(third, y, z);
  EXPECT_EQ(z.to_host(), filled(2));
  EXPECT_THROW(twice(third, x, z), DeviceError);  // memory of the other core
}

TEST(NeuronCores, AnUnknownFamilyMustBeNamed) {
  FakeRuntime fake("family=99 any_machine");
  EXPECT_THROW(open_fake(), InvalidArgument);
  EXPECT_EQ(device_of(open_fake({.machine = "trn3"})).machine().name, "trn3");
}

}  // namespace
}  // namespace trn::neuron::testing
