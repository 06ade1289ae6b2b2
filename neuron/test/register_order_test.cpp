// Chains in the Vector and the Scalar Engine's registers give the same bits in every legal order. Each call has
// operands of its own, so that nothing but the registers orders a chain.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <trn/core/convert.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/reorder.hpp>

namespace trn::neuron {
namespace {

using namespace trn::tile;
using Outputs = std::map<std::string, std::vector<std::uint8_t>>;

constexpr std::int64_t kCalls = 8, kRows = 32, kColumns = 40;

// `kCalls` random calls in each of four parallel iterations; call k leaves the registers in column k of "r".
Program random_chains(const Machine& machine, unsigned seed) {
  std::mt19937 random(seed);
  Builder b("chains", machine);
  const Access x = b.input("x", DType::Float32, {4 * kRows, kColumns});
  const Access y = b.output("y", DType::Float32, {4 * kRows, kCalls * kColumns});
  const Access r = b.output("r", DType::Float32, {4 * kRows, kCalls});
  b.parallel("i", 4, [&](const Affine& i) {
    const Access t = b.sbuf("t", kRows, {kColumns}, DType::Float32, 2),
                 m = b.sbuf("m", kRows, {kColumns}, DType::UInt8, 2);
    const Access out = b.sbuf("out", kRows, {kCalls, kColumns}, DType::Float32, 2);
    const Access res = b.sbuf("res", kRows, {kCalls}, DType::Float32, 2),
                 low = b.sbuf("low", kRows, {1}, DType::Float32, 2);
    b.dma_copy(t, x(ds(i * kRows, kRows), all));
    b.tensor_scalar(m, t, AluOp::Greater, 0.25);
    b.memset(low, 3.0);
    bool vector_began = false, scalar_began = false;
    for (std::int64_t k = 0; k < kCalls; ++k) {
      const Access o = out(all, ds(k, 1), all), c = res(all, ds(k, 1));
      const bool fresh = random() % 4 == 0;
      const auto cmd = [&](bool& began) {
        const ReduceCmd chosen = began && !fresh ? ReduceCmd::Reduce : ReduceCmd::ResetReduce;
        began = true;
        return chosen;
      };
      switch (random() % 5) {
        case 0:
          b.tensor_scalar_reduce(o, t, AluOp::Multiply, 1.1, AluOp::Add,
                                 {.reduce_res = c, .reduce_cmd = cmd(vector_began)});
          break;
        case 1:
          b.tensor_scalar_cumulative(o, t, AluOp::Add, 0.3, AluOp::Add, {.reduce_cmd = cmd(vector_began)});
          b.tensor_copy(c, o(all, all, ds(kColumns - 1, 1)), Engine::Vector);
          break;
        case 2:
          b.select_reduce(o, m, t, -0.5, {.reduce_res = c, .reduce_cmd = cmd(vector_began)});
          break;
        case 3:
          b.range_select(o, t, AluOp::GreaterEqual, low, AluOp::Greater, low,
                         {.reduce_res = c, .reduce_cmd = cmd(vector_began)});
          break;
        default:
          b.activation(o, ActFunction::Square, t, {.reduce_res = c, .reduce_cmd = cmd(scalar_began)});
          break;
      }
    }
    b.dma_copy(y(ds(i * kRows, kRows), all), out);
    b.dma_copy(r(ds(i * kRows, kRows), all), res);
  });
  return b.finish();
}

Outputs run(const Program& program, const Machine& machine, const Order& order) {
  Outputs memory;
  std::vector<Binding> bindings;
  for (const TensorDecl& t : program.tensors()) {
    std::vector<std::uint8_t>& bytes = memory[t.name];
    bytes.assign(static_cast<std::size_t>(element_count(t.shape) * size_bytes(t.dtype)), 0);
    if (t.kind == TensorKind::Input) {
      std::mt19937 random(7);
      std::normal_distribution<double> normal;
      std::vector<double> values(static_cast<std::size_t>(element_count(t.shape)));
      for (double& v : values) v = normal(random);
      from_double(values.data(), t.dtype, bytes.data(), element_count(t.shape));
    }
    bindings.push_back({t.name, bytes.data()});
  }
  (void)simulate(program, machine, bindings, {.order = order});
  return memory;
}

TEST(RegisterOrder, EveryLegalOrderGivesTheSameBits) {
  for (const char* name : {"trn2", "trn3"}) {
    const Machine& m = machine(name);
    for (unsigned seed = 0; seed < 12; ++seed) {
      const Program program = random_chains(m, seed);
      const Outputs expected = run(program, m, Order::in_order());
      EXPECT_EQ(run(program, m, Order::timed()), expected) << name << " " << seed;
      EXPECT_EQ(run(reorder(program, m), m, Order::in_order()), expected) << name << " " << seed;
      for (const unsigned order : {1u, 2u, 3u}) {
        EXPECT_EQ(run(program, m, Order::shuffled(order)), expected) << name << " " << seed << " " << order;
      }
    }
  }
}

}  // namespace
}  // namespace trn::neuron
