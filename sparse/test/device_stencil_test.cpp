// Stencils with constant coefficients on simulated devices: componentwise against 113-bit sums, grids across the edges
// of tiles, what is a stencil and what is not, the order of the engines, modelled times, emitted text.
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/tile_programs.hpp>

#include "device_products.hpp"
#include "support/nki_run.hpp"

namespace trn::sparse {
namespace {

constexpr SpmmOptions kStencil{.kernel = Kernel::Stencil};

// Coefficient (dz, dy, dx) of `stencil` at every point of its grid.
Csr<float> matrix_of(const Stencil& s) {
  std::vector<std::int64_t> is, js;
  std::vector<float> values;
  for (std::int64_t z = 0, i = 0; z < s.nz; ++z) {
    for (std::int64_t y = 0; y < s.ny; ++y) {
      for (std::int64_t x = 0; x < s.nx; ++x, ++i) {
        for (std::int64_t p = 0; p < 27; ++p) {
          const std::int64_t a = x + p % 3 - 1, b = y + p / 3 % 3 - 1, c = z + p / 9 - 1;
          const float v = s.coefficients[static_cast<std::size_t>(p)];
          if (v == 0 || a < 0 || a >= s.nx || b < 0 || b >= s.ny || c < 0 || c >= s.nz) continue;
          is.push_back(i), js.push_back((c * s.ny + b) * s.nx + a), values.push_back(v);
        }
      }
    }
  }
  const std::int64_t n = s.nx * s.ny * s.nz;
  return Csr<float>::from_triplets(Executor::host(), {n, n}, {is, js, values});
}
// Different coefficients for all neighbours, or the same ones in front and behind.
Stencil uneven(std::int64_t nx, std::int64_t ny, std::int64_t nz, bool even = false) {
  Stencil s{nx, ny, nz, {}};
  for (std::size_t p = 0; p < 27; ++p) {
    const std::size_t q = even && p > 13 ? 26 - p : p;
    s.coefficients[p] = 0.1f + static_cast<float>(q * q % 17) / 7;
  }
  return s;
}

TEST(DeviceStencil, GridsAcrossTheEdgesFactorsAndMachines) {
  for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor& e = device(machine);
    check(e, poisson<float>(20, 20), {.n = 1, .options = kStencil});
    check(e, poisson<float>(7, 129), {.n = 1, .options = kStencil, .alpha = -2, .beta = 0.5f});
    check(e, poisson<float>(6, 5, 130), {.n = 1, .options = kStencil, .beta = 1});
    check(e, stencil27<float>(5, 6, 7), {.n = 1, .options = kStencil, .alpha = 3});
  }
  const Executor& e = device("sim:trn2");
  check(e, poisson<float>(3, 300), {.n = 1, .options = kStencil});
  check(e, poisson<float>(600, 3, 4), {.n = 1, .options = kStencil});
  check(e, poisson<float>(2100, 4), {.n = 1, .options = kStencil});
  check(e, stencil27<float>(3, 90, 3), {.n = 1, .options = kStencil});
  check(e, matrix_of(uneven(9, 8, 7)), {.n = 1, .options = kStencil});
  check(e, matrix_of(uneven(5, 40, 140, true)), {.n = 1, .options = kStencil, .alpha = 2, .beta = -1});
  check(e, matrix_of(uneven(9, 8, 7)), {.op = Op::T, .n = 1, .options = kStencil});
  for (const bool row_major : {true, false})
    check(e, matrix_of(uneven(9, 8, 7)), {.n = 3, .options = kStencil, .row_major = row_major, .pad = 2});
}

TEST(DeviceStencil, WhatIsOneAndWhatIsNot) {
  const auto found = [](const Csr<float>& a) { return stencil_of(a); };
  const auto grid = [&](const Csr<float>& a) {
    const auto s = found(a);
    return s ? std::vector<std::int64_t>{s->nx, s->ny, s->nz} : std::vector<std::int64_t>{};
  };
  EXPECT_EQ(grid(poisson<float>(12, 13)), (std::vector<std::int64_t>{12, 1, 13}));
  EXPECT_EQ(grid(poisson<float>(5, 6, 7)), (std::vector<std::int64_t>{5, 6, 7}));
  EXPECT_EQ(grid(stencil27<float>(5, 6, 7)), (std::vector<std::int64_t>{5, 6, 7}));
  EXPECT_EQ(grid(stencil27<float>(2, 3, 2)), (std::vector<std::int64_t>{2, 3, 2}));
  const Stencil s = uneven(6, 5, 4);
  EXPECT_EQ(found(matrix_of(s))->coefficients, s.coefficients);
  EXPECT_FALSE(found(poisson<float>(50)));  // one dimension: nothing to put on partitions
  EXPECT_FALSE(found(random_csr<float>(60, 60, 4, 3)));
  const Csr<float> a = poisson<float>(12, 13);
  std::vector<float> values(a.values().data(), a.values().data() + a.nnz());
  values[77] += 1;
  EXPECT_FALSE(found(a.with_values(VectorView<const float>(Executor::host(), values.data(), a.nnz()))));
  EXPECT_FALSE(found(add<float>(1, a, 0.5f,
                                Csr<float>::from_triplets(Executor::host(), {156, 156},
                                                          {std::vector<std::int64_t>{11}, std::vector<std::int64_t>{12},
                                                           std::vector<float>{1}}))));  // around the edge
}

TEST(DeviceStencil, ThePlanTakesItForGridsInFullPrecision) {
  const Executor& e = device("sim:trn2");
  const Csr<float> a = poisson<float>(32, 32, 32).to(e);
  const SpmmPlan<float> plan(e, a);
  EXPECT_EQ(plan.report().kernel, Kernel::Stencil);
  EXPECT_EQ(plan.report().diagonals, 7);
  EXPECT_EQ(plan.report().tiles, 0);
  for (const auto& other : plan.report().alternatives) EXPECT_GE(other.seconds, plan.report().modelled_seconds);
  EXPECT_NE(SpmmPlan<float>(e, a, {.columns = 2}).report().kernel, Kernel::Stencil);
  EXPECT_NE(SpmmPlan<float>(e, a, {.precision = Mode::Bf16}).report().kernel, Kernel::Stencil);
  EXPECT_EQ(SpmmPlan<float>(e, a, {.precision = Precision::target(2e-6)}).report().kernel, Kernel::Stencil);
  EXPECT_THROW(SpmmPlan<float>(e, a, {.kernel = Kernel::Stencil, .precision = Mode::Bf16}), NotImplemented);
  EXPECT_IN("every point of a grid", message_of<NotImplemented>([&] {
              SpmmPlan<float>(e, random_csr<float>(90, 90, 2, 3).to(e), {.kernel = Kernel::Stencil});
            }));
}

TEST(DeviceStencil, ShuffledOrderGivesTheSameBitsAndNothingRaces) {
  const Csr<float> a = matrix_of(uneven(10, 9, 130, true));
  const Case p{.n = 1, .options = kStencil, .alpha = 3, .beta = -1};
  const auto run = [&](const neuron::SimOptions& o) { return check(neuron::open_simulator("trn2", o), a, p); };
  const auto timed = run({});
  EXPECT_FALSE(timed.empty());
  for (const std::uint64_t seed : {1, 2}) EXPECT_EQ(timed, run({.order = neuron::Order::shuffled(seed)}));
  EXPECT_EQ(timed, run({.order = neuron::Order::in_order(), .check_races = true}));
}

// Recorded loops give the bits of the written-out program.
TEST(DeviceStencil, LoopsOverRows) {
  const Stencil s = uneven(4, 1700, 3, true);
  const tile::Machine& trn2 = tile::machine("trn2");
  const std::int64_t n = s.nx * s.ny * s.nz, columns = 70;
  const std::vector<float> x = random_vector<float>(n * columns, 1);
  std::vector<std::vector<float>> results;
  for (const std::int64_t many : {columns, std::int64_t{1}}) {
    const StencilShape shape = stencil_shape({n, n, many, 1, n, 1, n, Mode::Native, false, false}, s);
    const std::vector<float> bands = stencil_bands(shape, s);
    const tile::Program program = stencil_program(shape, trn2);
    EXPECT_EQ(program.loops().empty(), many == 1);
    std::vector<float> c(static_cast<std::size_t>(n * many), std::nanf(""));
    const tile::Binding bindings[] = {{"a", static_cast<const void*>(bands.data())},
                                      {"b", static_cast<const void*>(x.data())},
                                      {"c", static_cast<void*>(c.data())}};
    (void)neuron::simulate(program, trn2, bindings, {});
    results.push_back({c.begin(), c.begin() + n});
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(DeviceStencil, EmittedKernelsGiveTheSimulatorsBits) {
  const Stencil s = uneven(7, 5, 131, true);
  const std::int64_t n = s.nx * s.ny * s.nz;
  for (const char* machine : {"trn1", "trn2"})
    neuron::testing::expect_agreement(
        stencil_program(stencil_shape({n, n, 1, 1, 1, 1, 1, Mode::Native, true, true}, s), tile::machine(machine)));
}

// 504 x 512^2; the design had 5.1 and 8.7 ms in two words of tf32.
TEST(DeviceStencil, ModelledTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto micros = [&](std::array<float, 27> coefficients) {
    const Stencil s{512, 512, 504, coefficients};
    constexpr std::int64_t kPoints = 512 * 512 * 504;
    const StencilShape shape = stencil_shape({kPoints, kPoints, 1, 1, 1, 1, 1, Mode::Native, false, false}, s);
    return 1e6 * neuron::estimate(stencil_program(shape, trn2), trn2).seconds;
  };
  const auto near = [](double got, double stated) { EXPECT_NEAR(got / stated, 1, 0.05) << got << " us"; };
  std::array<float, 27> seven{}, all;
  for (const std::size_t p : {4, 10, 12, 14, 16, 22}) seven[p] = -1;
  seven[13] = 6;
  all.fill(-1);
  all[13] = 26;
  near(micros(seven), 5110);
  near(micros(all), 6340);
  seven[10] = seven[16] = -2;  // another spacing in y
  near(micros(seven), 5300);
}

}  // namespace
}  // namespace trn::sparse
