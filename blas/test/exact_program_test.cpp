// The program of Precision Exact: its emitted NKI text, its modelled speed, and the probe that guards it.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <set>

#include <trn/blas/exact_program.hpp>
#include <trn/blas/exactness.hpp>
#include <trn/blas/expand_program.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>

#include "support/nki_run.hpp"

namespace trn::blas {
namespace {

// Words of doubles around 1 (or of floats), by element number.
neuron::testing::Values words(bool wide, std::uint64_t seed) {
  return [wide, seed](std::int64_t e) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(wide ? e / 2 : e));
    const double x = std::normal_distribution<double>()(random);
    if (!wide) return static_cast<double>(std::bit_cast<std::uint32_t>(static_cast<float>(x)));
    const auto bits = std::bit_cast<std::uint64_t>(x);
    return static_cast<double>(static_cast<std::uint32_t>(e % 2 == 0 ? bits : bits >> 32));
  };
}

void expect_agreement(const ExactShape& s, const char* machine) {
  SCOPED_TRACE(::testing::Message() << machine << " " << name(s.in) << " k " << s.k);
  const bool wide = real_of(s.in) == DType::Float64;
  const auto table = exact_table(s.moduli, s.limbs);
  const auto weights = exact_weights(s.moduli, tile::machine(machine));
  const double offset = wide ? 40 - 1075 + 32 + 127 : 40 - 150 + 127;
  neuron::testing::Inputs inputs{
      {"a", words(wide, 1)},
      {"offsets", [=](std::int64_t) { return offset; }},
      {"table", [=](std::int64_t e) { return static_cast<double>(table[static_cast<std::size_t>(e)]); }},
      {"weights",
       [=](std::int64_t e) { return static_cast<double>(static_cast<float>(weights[static_cast<std::size_t>(e)])); }}};
  if (!s.same) inputs["b"] = words(wide, 100000);
  neuron::testing::expect_agreement(exact_program(s, tile::machine(machine)), inputs);
}

TEST(ExactProgram, EmittedKernelGivesTheSimulatorsBits) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const DType in : {DType::Float64, DType::Complex64}) {
      ExactShape s{in, 3, 40, 33, 150};
      s.am = s.k, s.bk = 1, s.bn = s.k;
      for (const int limbs : {3, 4}) {
        s.limbs = limbs;
        expect_agreement(s, machine);
      }
    }
  }
  ExactShape turned{DType::Float64, 4, 130, 40, 256};  // B by rows: the Tensor Engine turns it
  turned.am = turned.k, turned.bk = turned.n, turned.bn = 1, turned.limbs = 3;
  expect_agreement(turned, "trn2");
  ExactShape herk{DType::Complex64, 2, 40, 40, 30, 30};
  herk.conj_b = herk.lower = herk.same = true;
  expect_agreement(herk, "trn3");
}

TEST(ExpandProgram, EmittedKernelGivesTheSimulatorsBits) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    SCOPED_TRACE(machine);
    const ExpandShape hermitian{DType::Complex64, Expansion::Hermitian, 135, 135, 1, true, false, true};
    const ExpandShape triangular{DType::Float64, Expansion::Triangular, 20, 1, 23, false, true, false};
    neuron::testing::expect_agreement(expand_program(hermitian, tile::machine(machine)), {{"a", words(false, 5)}});
    neuron::testing::expect_agreement(expand_program(triangular, tile::machine(machine)), {{"a", words(true, 6)}});
  }
}

ExactShape square(std::int64_t n, int moduli) {
  ExactShape s{DType::Float64, moduli, n, n, n};
  s.am = n, s.ak = 1, s.bk = n, s.bn = 1;
  s.limbs = exact_limbs(moduli, n);
  return s;
}

TEST(ExactProgram, IsAPureFunctionThatDoesNotGrowWithTheShape) {
  const tile::Machine& machine = tile::machine("trn2");
  EXPECT_EQ(exact_program(square(300, 5), machine), exact_program(square(300, 5), machine));
  const auto instructions = [&](std::int64_t n) {
    ExactShape s = square(n, 16);
    s.k = 4096;
    return exact_program(s, machine).instructions().size();
  };
  // The more rows there are, the narrower the columns that are sliced beside eight blocks, down to a tile.
  EXPECT_LE(instructions(16384), instructions(8192));
  EXPECT_EQ(instructions(131072), instructions(65536));
}

// The longest sums still fit in SBUF; longer ones are refused.
TEST(ExactProgram, DepthIsLimitedByTheMachine) {
  for (const auto& [name, longest] : {std::pair("trn1", 35968), std::pair("trn2", 42496), std::pair("trn3", 49024)}) {
    const tile::Machine& machine = tile::machine(name);
    ExactShape s{DType::Float64, 5, 300, 600, longest};
    s.am = s.k, s.bn = s.k;
    EXPECT_GT(neuron::estimate(exact_program(s, machine), machine).seconds, 0);
    s.k = longest + 1;
    EXPECT_THROW((void)exact_program(s, machine), NotImplemented);
  }
}

TEST(ExactModel, Float64AccurateGemmReachesThreeTeraflops) {
  const tile::Machine& machine = tile::machine("trn2");
  const auto report = neuron::estimate(exact_program(square(4096, 16), machine), machine);
  const double flops = 2.0 * 4096 * 4096 * 4096;
  auto text = ::testing::Message() << report.seconds * 1e3 << " ms";
  for (const neuron::Lane& lane : report.lanes) text << ", " << lane.name << " " << lane.busy_s * 1e3;
  EXPECT_GE(flops / report.seconds, 3.55e12) << text;
}

// A device that rounds what a product writes to bfloat16, as hardware would that rounds on eviction.
class Rounding final : public tile::Device {
 public:
  Rounding() : Device("rounding", tile::machine("trn2")) {}
  ~Rounding() override {
    for (void* block : blocks_) ::operator delete(block, std::align_val_t(64));
  }
  void* allocate(std::int64_t bytes) override {
    return *blocks_
                .insert(
                    ::operator new(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)), std::align_val_t(64)))
                .first;
  }
  void deallocate(void* address, std::int64_t) noexcept override {
    blocks_.erase(address);
    ::operator delete(address, std::align_val_t(64));
  }
  void copy_in(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void copy_out(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void run(const std::shared_ptr<const tile::Executable>& executable,
           std::span<const tile::Binding> bindings) override {
    const tile::Program& program = executable->program();
    (void)neuron::simulate(program, machine(), bindings, {.order = neuron::Order::in_order()});
    for (const tile::TensorDecl& t : program.tensors()) {
      if (t.kind != tile::TensorKind::Output || t.dtype != DType::Float32) continue;
      for (const tile::Binding& b : bindings) {
        if (b.name != t.name) continue;
        auto* x = static_cast<float*>(const_cast<void*>(b.address()));
        for (std::int64_t i = 0; i < element_count(t.shape); ++i) x[i] = static_cast<float>(bfloat16(x[i]));
      }
    }
  }

 private:
  std::set<void*> blocks_;
};

TEST(Exactness, EveryExecutorPassesTheProbe) {
  for (const char* name : {"host", "sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Exactness answer = probe_exactness(Executor::open(name));
    EXPECT_TRUE(answer.exact) << name << ": " << answer.reason;
  }
}

TEST(Exactness, ARoundingDeviceIsFoundAndRefused) {
  const Executor e(std::make_shared<Rounding>());
  const Exactness answer = probe_exactness(e);
  EXPECT_FALSE(answer.exact);
  EXPECT_NE(answer.reason.find("bfloat16 integers up to 256 with k = 256"), std::string::npos) << answer.reason;
  const auto a = Matrix<double>::from_host(e, 1, 1, std::vector<double>{2}),
             c = Matrix<double>::from_host(e, 1, 1, std::vector<double>{7});
  try {
    gemm(e, Op::N, Op::N, 1, a.view(), a.view(), 0, c.view(), {.precision = Mode::Exact});
    FAIL() << "not refused";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.check(), "not-exact");
  }
  EXPECT_EQ(c.to_host().front(), 7);
}

// It runs once per executor.
TEST(Exactness, TheAnswerIsRemembered) {
  const Executor e = Executor::open("sim:trn2");
  (void)probe_exactness(e);
  Recorder recorder(e);
  (void)probe_exactness(e);
  EXPECT_EQ(recorder.count(EventKind::Run), 0);
}

}  // namespace
}  // namespace trn::blas
