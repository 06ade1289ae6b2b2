// The sign function of symmetric matrices: see sign_program.hpp and polynomial_steps.hpp.
#include <trn/solver/sign_program.hpp>

#include <vector>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/stores.hpp>

#include "device/diagonal_blocks.hpp"
#include "device/polynomial_steps.hpp"

namespace trn::solver {

using namespace trn::tile;
using device::BlockProducts, device::RowStrip;

namespace {

constexpr std::int64_t kMatrices = 5;       // of the split, which needs most
constexpr std::int64_t kOthers = 32 << 10;  // bytes of a partition besides them

Access of_tile(const Access& x, std::int64_t t) {
  Access one = x(ds(t, 1));
  one.dims.erase(one.dims.begin());
  return one;
}

}  // namespace

std::int64_t resident_order(const Machine& machine) {
  const std::int64_t side = machine.partitions, room = machine.sbuf_bytes_per_partition - kOthers;
  std::int64_t n = side;
  while (n < 8 * side && kMatrices * (n + side) * (n + side) / side * 4 <= room) n += side;
  return n;
}

Program sign_program(const SignShape& shape, const Machine& machine) {
  const std::int64_t n = shape.n, side = machine.partitions, tiles = shape.tiles, most = resident_order(machine);
  require(n >= side && n % side == 0 && n <= most, "solver.sign: order {}; it must be a multiple of {}, at most {}", n,
          side, most);
  require(tiles == 1 || (n == side && tiles >= 1 && tiles <= 8), "solver.sign: {} matrices of order {}", tiles, n);
  Builder b("solver_sign", machine);
  const Access a = b.input("a", DType::Float32, {tiles, n, n}), s = b.output("s", DType::Float32, {tiles, n, n}),
               departure = b.output("departure", DType::Float32, {tiles, n});
  const bool begins = shape.stage == SignStage::First;
  BlockProducts products(b);
  device::PolynomialSteps steps(b, products, tiles, n, n, true);
  for (std::size_t t = 0; t < steps.count(); ++t) products.load(steps.x(t), of_tile(a, static_cast<std::int64_t>(t)));
  if (begins) {
    device::DiagonalBlocks blocks(b, b.input("ids", DType::Float32, {tiles, n}));
    const Access shift = b.input("shift", DType::Float32, {tiles, n}),
                 less = b.sbuf("less", side, {2, side}, DType::Float32);
    for (std::size_t t = 0; t < steps.count(); ++t) {
      const Access shifts = device::along_partitions(b, "shifts", shift, static_cast<std::int64_t>(t));
      for (std::int64_t i = 0; i < n / side; ++i) {
        const Access row = BlockProducts::part(steps.x(t), {i, 0, n}),
                     diagonal = BlockProducts::part(steps.x(t), {i, i * side, side});
        Access shifted = less(all, ds(i % 2, 1));
        shifted.dims.erase(shifted.dims.begin());
        b.tensor_tensor(row, row, blocks.together(t, i), AluOp::Multiply, Engine::Vector);
        blocks::scale(b, shifted, products.unit(), shifts(all, ds(i, 1)), Engine::Scalar);
        b.tensor_tensor(diagonal, diagonal, shifted, AluOp::Subtract, Engine::Vector);
      }
    }
    const auto together = [&](std::size_t t, std::int64_t block) { return blocks.together(t, block); };
    for (std::size_t i = 0; i < device::kFirst.size(); ++i) {
      if (i == 0)
        steps.first(device::kFirst[i], together);
      else
        steps.step(device::kFirst[i]);
    }
  }
  if (shape.stage == SignStage::Short) {
    for (std::size_t i = 0; i < device::kShort.size(); ++i) {
      steps.step(i == 0 ? device::rescaled(device::kShort[i], device::kRescale) : device::kShort[i]);
    }
  }
  std::vector<Access> sums;
  for (std::size_t t = 0; t < steps.count(); ++t)
    sums.push_back(b.sbuf(fmt::format("departures{}", t), side, {n / side}, DType::Float32));
  steps.departure(sums);
  steps.apply(device::about_one(device::kClosing));
  for (std::size_t t = 0; t < steps.count(); ++t) {
    const auto at = static_cast<std::int64_t>(t);
    b.dma_copy(of_tile(departure, at).split(0, side).permute({1, 0}), sums[t]);
    products.store(of_tile(s, at), steps.x(t));
  }
  return static_stores(b.finish());
}

}  // namespace trn::solver
