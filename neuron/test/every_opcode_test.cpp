// The shared program that uses every opcode and every attribute, run: its emitted text gives the simulator's bits, and
// so does every legal order.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <trn/core/convert.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/reorder.hpp>

#include "../../tile/test/programs.hpp"
#include "support/nki_run.hpp"

namespace trn::neuron::testing {
namespace {

using Memory = std::map<std::string, std::vector<std::uint8_t>>;

// Every tensor of the program by its name; inputs hold the same normal values every time.
Memory run(const tile::Program& program, const tile::Machine& machine, Order order) {
  Memory memory;
  std::vector<tile::Binding> bindings;
  for (const tile::TensorDecl& tensor : program.tensors()) {
    if (tensor.kind == tile::TensorKind::Scratch) continue;
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    std::vector<double> values(static_cast<std::size_t>(element_count(tensor.shape)));
    for (double& v : values) v = tensor.kind == tile::TensorKind::Input ? normal(random) : 0;
    auto& bytes = memory[tensor.name];
    bytes.resize(values.size() * static_cast<std::size_t>(size_bytes(tensor.dtype)));
    from_double(values.data(), tensor.dtype, bytes.data(), static_cast<std::int64_t>(values.size()));
    bindings.push_back({tensor.name, bytes.data()});
  }
  (void)simulate(program, machine, bindings, {.order = order});
  return memory;
}

class EveryOpcode : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Machines, EveryOpcode, ::testing::Values("trn1", "trn2", "trn3"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(EveryOpcode, TheTextGivesTheSimulatorsBits) {
  expect_agreement(tile::test::every_opcode(tile::machine(GetParam())));
}

TEST_P(EveryOpcode, SameBitsInEveryOrder) {
  const tile::Machine& machine = tile::machine(GetParam());
  const tile::Program program = tile::test::every_opcode(machine);
  const Memory expected = run(program, machine, Order::in_order());
  EXPECT_EQ(run(program, machine, Order::timed()), expected);
  EXPECT_EQ(run(tile::reorder(program, machine), machine, Order::in_order()), expected);
  for (unsigned seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(run(program, machine, Order::shuffled(seed)), expected) << "shuffled, seed " << seed;
  }
}

}  // namespace
}  // namespace trn::neuron::testing
