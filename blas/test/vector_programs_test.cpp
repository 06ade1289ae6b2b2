// The device programs of level 1, gemv and ger as programs: the same bits in every legal order, no races, the emitted
// NKI text, and how near the modelled time comes to that of moving the bytes.
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include <trn/blas/vector_programs.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>

#include "support/nki_run.hpp"

namespace trn::blas {
namespace {

using neuron::Order;
using tile::Machine;
using tile::Program;

std::vector<std::function<Program(const Machine&)>> programs(std::int64_t n) {
  using V = VectorOperation;
  std::vector<std::function<Program(const Machine&)>> all;
  for (const V operation : {V::Axpy, V::Copy, V::Swap, V::Scal, V::ScalReal, V::Mix}) {
    all.push_back([=](const Machine& m) {
      return vector_program(
          {operation, operation != V::Mix, n, 1, operation == V::Scal || operation == V::ScalReal ? 1 : 2}, m);
    });
  }
  all.push_back([=](const Machine& m) { return vector_program({V::MixComplex, true, n, 1, 1}, m); });
  for (const Reduction r : {Reduction::Asum, Reduction::Nrm2, Reduction::Dot, Reduction::Amax, Reduction::Amin}) {
    all.push_back([=](const Machine& m) {
      return reduction_program({r, r != Reduction::Nrm2, r == Reduction::Amin, n, 2, 1}, m);
    });
  }
  all.push_back([=](const Machine& m) { return gemv_program({true, true, true, 131, n / 3 + 1, 2 * n, 1, 1, 1}, m); });
  all.push_back([=](const Machine& m) { return gemv_program({true, false, true, 131, n / 3 + 1, 1, 140, 2, 1}, m); });
  all.push_back([=](const Machine& m) { return ger_program({true, false, true, 131, n / 3 + 1, n, 1, 1, 1}, m); });
  return all;
}

// Memory for every tensor, changed vectors once: "x_in" and "x" are the same.
std::vector<std::vector<float>> run(const Program& program, const Machine& machine, const neuron::SimOptions& options) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> memory;
  std::vector<tile::Binding> bindings;
  memory.reserve(program.tensors().size());
  for (const auto& tensor : program.tensors()) {
    const auto twin = [&]() -> void* {
      for (const tile::Binding& b : bindings) {
        if (b.name == tensor.name + "_in") return const_cast<void*>(b.address());
      }
      return nullptr;
    }();
    if (twin) {
      bindings.push_back({tensor.name, twin});
      continue;
    }
    std::int64_t span = 1;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) span += (tensor.shape[d] - 1) * tensor.strides[d];
    memory.emplace_back(static_cast<std::size_t>(span));
    for (float& x : memory.back()) x = normal(random);
    bindings.push_back({tensor.name, memory.back().data()});
  }
  (void)neuron::simulate(program, machine, bindings, options);
  return memory;
}

bool same_bits(const std::vector<std::vector<float>>& x, const std::vector<std::vector<float>>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i].size() != y[i].size() || std::memcmp(x[i].data(), y[i].data(), x[i].size() * sizeof(float)) != 0)
      return false;
  }
  return x.size() == y.size();
}

TEST(VectorPrograms, ShuffledEqualsInOrder) {
  for (const char* name : {"trn1", "trn2"}) {
    const Machine& machine = tile::machine(name);
    int number = 0;
    for (const auto& make : programs(128 * 5 + 9)) {
      const Program program = make(machine);
      const auto in_order = run(program, machine, {.order = Order::in_order()});
      EXPECT_TRUE(same_bits(in_order, run(program, machine, {.order = Order::timed()})))
          << name << " program " << number;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        EXPECT_TRUE(same_bits(in_order, run(program, machine, {.order = Order::shuffled(seed)})))
            << name << " program " << number << " seed " << seed;
      }
      ++number;
    }
  }
}

// Long enough for several pieces, so that there are parallel iterations.
TEST(VectorPrograms, NoTwoParallelIterationsTouchTheSameBytes) {
  const Machine& trn2 = tile::machine("trn2");
  const std::int64_t n = 128 * 2048 * 2 + 5;
  for (const VectorOperation operation : {VectorOperation::Axpy, VectorOperation::Swap}) {
    EXPECT_NO_THROW((void)run(vector_program({operation, false, n, 1, 1}, trn2), trn2,
                              {.order = Order::in_order(), .check_races = true}));
  }
  EXPECT_NO_THROW((void)run(reduction_program({Reduction::Nrm2, false, false, n}, trn2), trn2,
                            {.order = Order::in_order(), .check_races = true}));
  for (const bool columns : {false, true}) {
    const GemvShape shape{false, false, true, 700, 300, columns ? 1 : 300, columns ? 700 : 1, 1, 1};
    EXPECT_NO_THROW((void)run(gemv_program(shape, trn2), trn2, {.order = Order::in_order(), .check_races = true}));
  }
  EXPECT_NO_THROW((void)run(ger_program({false, false, false, 700, 300, 300, 1, 1, 1}, trn2), trn2,
                            {.order = Order::in_order(), .check_races = true}));
}

TEST(VectorPrograms, EmittedKernelsGiveTheSimulatorsBits) {
  const Machine& trn2 = tile::machine("trn2");
  int number = 0;
  for (const auto& make : programs(128 * 2 + 9)) {
    SCOPED_TRACE(number++);
    neuron::testing::expect_agreement(make(trn2));
  }
}

TEST(VectorPrograms, AreBoundByMovingTheBytes) {
  const Machine& trn2 = tile::machine("trn2");
  const std::int64_t n = std::int64_t{1} << 24;
  const auto share = [&](const Program& program, double bytes) {
    const neuron::RunReport report = neuron::estimate(program, trn2);
    return bytes / trn2.dma_bytes_per_s() / report.seconds;
  };
  const double vector = 4.0 * static_cast<double>(n);
  EXPECT_GE(share(vector_program({VectorOperation::Axpy, false, n}, trn2), 3 * vector), 0.85);
  EXPECT_GE(share(vector_program({VectorOperation::Copy, false, n}, trn2), vector), 0.85);
  EXPECT_GE(share(vector_program({VectorOperation::Swap, false, n}, trn2), 4 * vector), 0.85);
  EXPECT_GE(share(vector_program({VectorOperation::Mix, false, n}, trn2), 4 * vector), 0.85);
  EXPECT_GE(share(reduction_program({Reduction::Dot, false, false, n}, trn2), 2 * vector), 0.85);
  EXPECT_GE(share(reduction_program({Reduction::Asum, false, false, n}, trn2), vector), 0.85);
  EXPECT_GE(share(reduction_program({Reduction::Nrm2, false, false, n}, trn2), vector),
            0.5);  // one and a half passes of the Vector Engine
  EXPECT_GE(share(reduction_program({Reduction::Amax, false, false, n}, trn2), vector),
            0.3);  // three of the Vector Engine
  EXPECT_GE(share(gemv_program({false, false, false, 4096, 4096, 4096, 1, 1, 1}, trn2), vector), 0.8);
  EXPECT_GE(share(gemv_program({false, false, false, 4096, 4096, 1, 4096, 1, 1}, trn2), vector), 0.85);
  EXPECT_GE(share(ger_program({false, false, false, 4096, 4096, 4096, 1, 1, 1}, trn2), 2 * vector), 0.85);
}

}  // namespace
}  // namespace trn::blas
