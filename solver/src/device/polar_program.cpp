// The polar factor as one program: see polar_program.hpp and polynomial_steps.hpp.
#include <trn/solver/polar_program.hpp>

#include <trn/core/error.hpp>
#include <trn/tile/stores.hpp>

#include "device/polynomial_steps.hpp"

namespace trn::solver {

using namespace trn::tile;

bool polar_resident(const PolarShape& shape, const Machine& machine) {
  constexpr std::int64_t kOthers = 32 << 10;
  const std::int64_t elements = 2 * (shape.rows + shape.columns) * shape.columns / machine.partitions;
  return shape.rows <= 1024 && 4 * elements + kOthers <= machine.sbuf_bytes_per_partition;
}

Program polar_program(const PolarShape& shape, const Machine& machine) {
  const std::int64_t m = shape.rows, n = shape.columns, side = machine.partitions;
  require(m >= n && n >= side && m % side == 0 && n % side == 0 && polar_resident(shape, machine),
          "solver.polar: {} x {}; they must be multiples of {}, at least as many rows as columns, that fit in SBUF", m,
          n, side);
  Builder b("solver_polar", machine);
  const Access x = b.input("x", DType::Float32, {m, n}), u = b.output("u", DType::Float32, {m, n}),
               departure = b.output("departure", DType::Float32, {n}),
               diagonal = b.output("diagonal", DType::Float32, {n});
  device::BlockProducts products(b);
  device::PolynomialSteps steps(b, products, 1, m, n, false);
  products.load(steps.x(0), x);
  if (shape.stage == SignStage::First) {
    const Access ones = b.sbuf("all_ones", side, {n}, DType::Float32);
    b.memset(ones, 1, Engine::Vector);
    for (std::size_t i = 0; i < device::kFirst.size(); ++i) {
      if (i == 0)
        steps.first(device::kFirst[i], [&](std::size_t, std::int64_t) { return ones; });
      else
        steps.step(device::kFirst[i]);
    }
  }
  if (shape.stage == SignStage::Short) {
    for (std::size_t i = 0; i < device::kShort.size(); ++i) {
      steps.step(i == 0 ? device::rescaled(device::kShort[i], device::kRescale) : device::kShort[i]);
    }
  }
  const Access sums = b.sbuf("departures", side, {n / side}, DType::Float32),
               trace = b.sbuf("diagonals", side, {n / side}, DType::Float32);
  steps.departure({sums});
  products.diagonal(trace, steps.m(0));
  steps.apply(device::about_one(device::kClosing));
  b.dma_copy(departure.split(0, side).permute({1, 0}), sums);
  b.dma_copy(diagonal.split(0, side).permute({1, 0}), trace);
  products.store(u, steps.x(0));
  return static_stores(b.finish());
}

}  // namespace trn::solver
