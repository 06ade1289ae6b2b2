// The modelled times that sparse/README.md states, within 5 %, and programs that the tests of products are too small
// for: gathers in recorded loops; emitted NKI text.
#include <gtest/gtest.h>

#include <trn/neuron/sim.hpp>
#include <trn/sparse/attention_programs.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/structure.hpp>
#include <trn/sparse/tile_programs.hpp>

#include "../src/device/tiling.hpp"
#include "sparse_support.hpp"
#include "support/nki_run.hpp"

namespace trn::sparse {
namespace {

const tile::Machine& trn2() { return tile::machine("trn2"); }
double micros(const tile::Program& p) { return 1e6 * neuron::estimate(p, trn2()).seconds; }

// 16384^2 with a share of its blocks.
ResidentShape random_blocks(double share, Mode mode, std::int64_t n) {
  ResidentShape s;
  s.product = {16384, 16384, n, n, 1, n, 1, mode, false, false};
  std::uint64_t state = 1;
  s.offsets.push_back(0);
  for (int w = 0; w < 128; ++w) {
    for (int c = 0; c < 128; ++c) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      if (static_cast<double>(state >> 40) * 0x1p-24 < share) s.blocks.push_back(c);
    }
    s.offsets.push_back(static_cast<std::int64_t>(s.blocks.size()));
  }
  return s;
}

GatherShape gathers(const Csr<float>& a, std::int64_t n, Mode mode, std::int64_t most_written_out) {
  const device::GatherTiles t = device::gather_tiles(host_ref(a.pattern()), most_written_out);
  return {{a.rows(), a.columns(), n, n, 1, n, 1, mode, false, false}, t.own, t.written_out, t.runs};
}

TEST(DeviceFigures, ResidentAndGather) {
  const auto near = [](double got, double stated) { EXPECT_NEAR(got / stated, 1, 0.05) << got << " us"; };
  const auto resident = [](double share, Mode mode, std::int64_t n) {
    return micros(resident_program(random_blocks(share, mode, n), trn2()));
  };
  near(resident(0.05, Mode::Bf16, 512), 306);
  near(resident(0.2, Mode::Bf16, 512), 834);
  const auto narrow = [](double share) {  // B in bfloat16, too
    ResidentShape s = random_blocks(share, Mode::Bf16, 512);
    s.product.narrow = true;
    return micros(resident_program(s, trn2()));
  };
  near(narrow(0.05), 260);
  near(narrow(0.2), 790);
  near(resident(0.05, Mode::Native, 128), 231);
  near(resident(0.2, Mode::Native, 128), 763);
  near(resident(0.05, Mode::Tf32x3, 128), 373);
  near(resident(0.2, Mode::Tf32x3, 128), 1249);
  near(resident(0.2, Mode::Native, 1), 615);
  near(resident(0.2, Mode::Native, 32), 626);
  const Csr<float> grid = stencil27<float>(32, 32, 32);
  const Permutation order = partition(grid.pattern(), 128);
  const Csr<float> a = permute(grid, order, order);
  near(micros(gather_program(gathers(a, 512, Mode::Native, 5000), trn2())), 987);
  near(micros(gather_program(gathers(a, 512, Mode::Native, 0), trn2())), 991);
}

TEST(DeviceFigures, AttentionOfABand) {
  AttentionShape s;
  s.queries = s.keys = 8192, s.d = s.dv = 128, s.mode = Mode::Bf16;
  for (std::int32_t i = 0; i < 64; ++i) {
    for (std::int32_t j = 0; j < 64; ++j) {
      if (std::abs(i - j) < 8) s.blocks.push_back({i, j, -1});
    }
  }
  ASSERT_EQ(s.blocks.size(), 904u);
  EXPECT_NEAR(micros(attention_program(s, trn2())) / 263, 1, 0.05);
  EXPECT_NEAR(micros(attention_backward_program(s, trn2())) / 450, 1, 0.05);
}

// A plan's time leaves waiting out, and little else.
TEST(DeviceFigures, TheRoofIsBelowTheModelAndCloseToIt) {
  for (const std::int64_t n : {1, 32, 128}) {
    const tile::Program p = resident_program(random_blocks(0.2, Mode::Native, n), trn2());
    const double ratio = 1e-6 * micros(p) / roof_seconds(p, trn2());
    EXPECT_GE(ratio, 0.98) << n;
    EXPECT_LE(ratio, 1.1) << n;
  }
}

// Recorded loops compute what the written-out program computes, in the same order for each element.
TEST(DeviceFigures, LoopsGiveTheBitsOfTheWrittenOutProgram) {
  const Csr<float> a = stencil27<float>(9, 9, 9);
  for (const Mode mode : {Mode::Native, Mode::Bf16x6}) {
    for (const std::int64_t n : {20, 600}) {
      const std::vector<float> b = random_vector<float>(729 * n, 3);
      std::vector<std::vector<float>> results;
      for (const std::int64_t limit : {0, 1000}) {
        const device::GatherTiles t = device::gather_tiles(host_ref(a.pattern()), limit);
        GatherShape s = gathers(a, n, mode, limit);
        ASSERT_EQ(s.written_out, limit > 0);
        const std::vector<std::byte> values = device::tile_values(host_ref(a), t, mode);
        const std::vector<std::uint32_t> numbers = device::tile_numbers(host_ref(a.pattern()), t);
        std::vector<float> c(static_cast<std::size_t>(729 * n));
        const tile::Binding bindings[] = {{"a", static_cast<const void*>(values.data())},
                                          {"index", static_cast<const void*>(numbers.data())},
                                          {"b", static_cast<const void*>(b.data())},
                                          {"c", static_cast<void*>(c.data())}};
        for (const neuron::Order order : {neuron::Order::timed(), neuron::Order::shuffled(4)}) {
          (void)neuron::simulate(gather_program(s, trn2()), trn2(), bindings, {.order = order});
          results.push_back(c);
        }
      }
      for (const auto& r : results) EXPECT_EQ(r, results.front());
    }
  }
}

TEST(DeviceFigures, EmittedKernelsGiveTheSimulatorsBits) {
  const Csr<float> a = poisson<float>(18, 18);
  const device::BlockTiles t = device::block_tiles(host_ref(a.pattern()));
  for (const char* machine : {"trn1", "trn2"}) {
    ResidentShape s{{324, 324, 7, 7, 1, 7, 1, Mode::Tf32x3, true, true}, false, t.offsets, t.blocks};
    neuron::testing::expect_agreement(resident_program(s, tile::machine(machine)));
  }
  // Numbers of rows are below the 324 that there are.
  for (const std::int64_t limit : {0, 1000})
    neuron::testing::expect_agreement(gather_program(gathers(a, 5, Mode::Native, limit), trn2()),
                                      {{"index", [](std::int64_t i) { return static_cast<double>(i * 7 % 324); }}});
}

}  // namespace
}  // namespace trn::sparse
