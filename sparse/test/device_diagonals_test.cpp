// Products with diagonals on simulated devices: componentwise against 113-bit sums, windows that leave the matrix,
// recorded loops, the order of the engines, the modelled times, emitted text.
#include <cstring>

#include <trn/sparse/gallery.hpp>
#include <trn/sparse/tile_programs.hpp>

#include "device_products.hpp"
#include "support/nki_run.hpp"

namespace trn::sparse {
namespace {

// Random entries on these diagonals, one in five left out.
Csr<float> on_diagonals(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t>& offsets) {
  std::mt19937_64 r(11);
  std::vector<std::int64_t> is, js;
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (const std::int64_t d : offsets) {
      if (i + d < 0 || i + d >= columns || (i > 0 && i + 1 < rows && r() % 5 == 0)) continue;
      is.push_back(i), js.push_back(i + d), values.push_back(random_value<float>(r));
    }
  }
  return Csr<float>::from_triplets(Executor::host(), {rows, columns}, {is, js, values});
}

const std::vector<std::int64_t> kNear{-3, -1, 0, 2, 5}, kFar{-400, -399, -20, 0, 1, 20, 377}, kOne{40}, kBelow{-7};
constexpr SpmmOptions kDia{.kernel = Kernel::Dia};

TEST(DeviceDiagonals, SizesAcrossTheEdgesFactorsAndMachines) {
  for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                               {127, 129},
                               {128, 128},
                               {129, 127},
                               {500, 260},
                               {260, 500},
                               {1000, 1000}}) {
      check(device(machine), on_diagonals(m, n, kNear), {.n = 1, .options = kDia});
      check(device(machine), on_diagonals(m, n, {0}), {.n = 1, .options = kDia, .alpha = -2, .beta = 0.5f});
      if (m > 400 || n > 400) check(device(machine), on_diagonals(m, n, kFar), {.n = 1, .options = kDia, .beta = 1});
    }
  }
  check(device("sim:trn2"), on_diagonals(300, 300, kOne), {.n = 1, .options = kDia});
  check(device("sim:trn2"), on_diagonals(300, 300, kBelow), {.n = 1, .options = kDia, .alpha = 3});
}

TEST(DeviceDiagonals, ColumnsLayoutsAndTransposes) {
  const Csr<float> a = on_diagonals(700, 650, kFar);
  for (const std::int64_t n : {2, 16, 37}) {
    for (const bool row_major : {true, false})
      check(device("sim:trn2"), a,
            {.n = n, .options = kDia, .alpha = 1.5f, .beta = -1, .row_major = row_major, .pad = 2});
    check(device("sim:trn2"), a, {.op = Op::T, .n = n, .options = kDia});
  }
}

// Pieces, several tiles, and tiles in a recorded loop.
TEST(DeviceDiagonals, ManyTiles) {
  DiagonalShape s{{90000, 90000, 1, 1, 1, 1, 1, Mode::Native, false, false}, {-300, -1, 0, 1, 300}, 0, 0, 0};
  const tile::Machine& trn2 = tile::machine("trn2");
  s = diagonal_shape(s.product, s.offsets, trn2);
  EXPECT_EQ(s.tiles, 1);
  const std::vector<float> x = random_vector<float>(90000, 1);
  std::vector<std::vector<float>> results;
  for (const auto& [pieces, piece] : {std::pair<std::int64_t, std::int64_t>{1, 704}, {2, 40}, {1, 1}, {3, 3}}) {
    s.pieces = pieces, s.piece = piece, s.tiles = (90000 + 128 * pieces * piece - 1) / (128 * pieces * piece);
    std::vector<float> a(static_cast<std::size_t>(s.tiles * 128 * s.stretch() * 5), 0.0f);
    const auto value = [](std::int64_t i, std::int64_t d) { return static_cast<float>((i * 7 + d * 3) % 64) - 31.5f; };
    for (std::int64_t i = 0; i < 90000; ++i) {
      for (std::int64_t d = 0; d < 5; ++d) {
        const std::int64_t lane = i / s.stretch(), at = i % s.stretch();
        a[static_cast<std::size_t>((((lane / 128 * pieces + at / piece) * 128 + lane % 128) * 5 + d) * piece +
                                   at % piece)] = value(i, d);
      }
    }
    for (const bool shuffled : {false, true}) {
      std::vector<float> c(90000, std::nanf(""));
      const tile::Binding bindings[] = {{"a", static_cast<const void*>(a.data())},
                                        {"b", static_cast<const void*>(x.data())},
                                        {"c", static_cast<void*>(c.data())}};
      (void)neuron::simulate(diagonal_program(s, trn2), trn2, bindings,
                             {.order = shuffled ? neuron::Order::shuffled(3) : neuron::Order::timed()});
      for (std::int64_t i = 0; i < 90000; i += 17) {
        Quad sum = 0;
        double size = 0;
        for (std::size_t d = 0; d < 5; ++d) {
          const std::int64_t j = i + s.offsets[d];
          if (j < 0 || j >= 90000) continue;
          const Quad term = static_cast<Quad>(value(i, static_cast<std::int64_t>(d))) * x[static_cast<std::size_t>(j)];
          sum += term, size += std::abs(static_cast<double>(term));
        }
        ASSERT_LE(std::abs(static_cast<double>(c[static_cast<std::size_t>(i)] - sum)), 6 * 0x1p-24 * size) << i;
      }
      results.push_back(c);
    }
  }
  for (const auto& r : results) EXPECT_EQ(r, results.front());
}

TEST(DeviceDiagonals, ThePlanTakesThemForBandsInFullPrecision) {
  const Executor& e = device("sim:trn2");
  const Csr<float> grid = poisson<float>(60, 60);  // other values: a stencil without coefficients is its own kernel
  const std::vector<float> values = random_vector<float>(grid.nnz(), 4);
  const Csr<float> here = grid.with_values(VectorView<const float>(Executor::host(), values.data(), grid.nnz()));
  const Csr<float> a = here.to(e);
  EXPECT_EQ(SpmmPlan<float>(e, a).report().kernel, Kernel::Dia);
  EXPECT_EQ(SpmmPlan<float>(e, a).report().diagonals, 5);
  EXPECT_EQ(SpmmPlan<float>(e, a).report().alternatives.size(), 4U);
  EXPECT_EQ(SpmmPlan<float>(e, a, {.columns = 16}).report().alternatives.size(), 4U);
  EXPECT_EQ(SpmmPlan<float>(e, a, {.columns = 17}).report().alternatives.size(), 3U);
  EXPECT_EQ(SpmmPlan<float>(e, convert<Dia<float>>(here).to(e)).report().kernel, Kernel::Dia);
  EXPECT_NE(SpmmPlan<float>(e, a, {.precision = Mode::Bf16}).report().kernel, Kernel::Dia);
  EXPECT_EQ(SpmmPlan<float>(e, a, {.precision = Precision::target(2e-6)}).report().kernel, Kernel::Dia);
  EXPECT_THROW(SpmmPlan<float>(e, a, {.kernel = Kernel::Dia, .precision = Mode::Bf16}), NotImplemented);
  const Csr<float> many = random_csr<float>(900, 900, 2, 3).to(e);
  EXPECT_THROW(SpmmPlan<float>(e, many, {.kernel = Kernel::Dia}), NotImplemented);
  EXPECT_NE(SpmmPlan<float>(e, many).report().kernel, Kernel::Dia);
}

TEST(DeviceDiagonals, ShuffledOrderGivesTheSameBitsAndNothingRaces) {
  const Csr<float> a = on_diagonals(3000, 3000, kFar);
  for (const std::int64_t n : {1, 5}) {
    const Case p{.n = n, .options = kDia, .alpha = 3, .beta = -1};
    const auto run = [&](const neuron::SimOptions& o) { return check(neuron::open_simulator("trn2", o), a, p); };
    const auto timed = run({});
    for (const std::uint64_t seed : {1, 2, 3}) EXPECT_EQ(timed, run({.order = neuron::Order::shuffled(seed)}));
    EXPECT_EQ(timed, run({.order = neuron::Order::in_order(), .check_races = true}));
  }
}

TEST(DeviceDiagonals, EmittedKernelsGiveTheSimulatorsBits) {
  for (const char* machine : {"trn1", "trn2"}) {
    const tile::Machine& m = tile::machine(machine);
    const TileProduct p{700, 650, 3, 3, 1, 3, 1, Mode::Native, true, true};
    neuron::testing::expect_agreement(diagonal_program(diagonal_shape(p, kFar, m), m));
  }
}

// 8.4 million rows; the design had 0.68, 1.09 and 5.7 ms.
TEST(DeviceDiagonals, ModelledTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto micros = [&](const std::vector<std::int64_t>& offsets) {
    constexpr std::int64_t kRows = 8400000;
    const DiagonalShape s = diagonal_shape({kRows, kRows, 1, 1, 1, 1, 1, Mode::Native, false, false}, offsets, trn2);
    return 1e6 * neuron::estimate(diagonal_program(s, trn2), trn2).seconds;
  };
  constexpr std::int64_t kSquare = 2898, kCube = 203, kPlane = kCube * kCube;
  std::vector<std::int64_t> cube;
  for (const std::int64_t z : {-1, 0, 1}) {
    for (const std::int64_t y : {-1, 0, 1}) {
      for (const std::int64_t x : {-1, 0, 1}) cube.push_back(z * kPlane + y * kCube + x);
    }
  }
  const auto near = [](double got, double stated) { EXPECT_NEAR(got / stated, 1, 0.05) << got << " us"; };
  near(micros({-kSquare, -1, 0, 1, kSquare}), 730);
  near(micros({-kPlane, -kCube, -1, 0, 1, kCube, kPlane}), 1069);
  near(micros(cube), 2945);
}

// The tiles of an operator are what fused solvers keep in SBUF: read back, they are the matrix.
TEST(DeviceDiagonals, AnOperatorHandsOutItsTiles) {
  const Executor& e = device("sim:trn2");
  const Csr<float> a = poisson<float>(14, 13);
  const SparseOperator<float> op(e, a.to(e), {.kernel = Kernel::Pinned});
  const BlockTiles t = op.block_tiles();
  ASSERT_EQ(t.order, 182);
  const auto count = static_cast<std::int64_t>(t.blocks.size());
  ASSERT_EQ(t.offsets, (std::vector<std::int64_t>{0, 2, 4}));
  std::vector<float> tiles(static_cast<std::size_t>(128 * count * 128)), d(182 * 182);
  copy(View<const float>(e, t.tiles, {128 * count * 128}),
       View<float>(Executor::host(), tiles.data(), {128 * count * 128}));
  for (std::size_t w = 0; w < 2; ++w) {
    for (std::int64_t n = t.offsets[w]; n < t.offsets[w + 1]; ++n) {
      for (std::int64_t k = 0; k < 128; ++k) {
        for (std::int64_t m = 0; m < 128; ++m) {
          const std::int64_t i = static_cast<std::int64_t>(w) * 128 + m,
                             j = t.blocks[static_cast<std::size_t>(n)] * 128 + k;
          const float value = tiles[static_cast<std::size_t>((k * count + n) * 128 + m)];
          if (i < 182 && j < 182)
            d[static_cast<std::size_t>(i * 182 + j)] = value;
          else
            EXPECT_EQ(value, 0);
        }
      }
    }
  }
  EXPECT_EQ(d, dense(a));
  EXPECT_THROW((void)SparseOperator<float>(e, a.to(e), {.kernel = Kernel::Dia}).block_tiles(), InvalidArgument);
  EXPECT_THROW((void)SparseOperator<float>(Executor::host(), a).block_tiles(), InvalidArgument);
}

}  // namespace
}  // namespace trn::sparse
