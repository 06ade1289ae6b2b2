// Programs of a step: see scale_steps.hpp.
#include "scale_steps.hpp"

#include <cmath>

#include <trn/tile/cost.hpp>

namespace trn::tools::scale {

namespace {
constexpr std::int64_t kMost = 4096;  // rows and columns of the largest program that is estimated
}

double Steps::product(const Operand& a, const Operand& b, bool unit_alpha, bool adds, const Operand& c) {
  if (c.rows <= 0 || c.columns <= 0) return 0;
  copying_ = false;
  // The kernel stores rows.
  if (c.row_stride == 1 && c.column_stride != 1 && c.columns > 1)
    return product(b.transposed(), a.transposed(), unit_alpha, adds, c.transposed());
  const std::int64_t m = std::min(c.rows, kMost), n = std::min(c.columns, kMost);
  blas::GemmShape shape{DType::Float32, DType::Float32, m, n, a.columns};
  shape.am = a.row_stride, shape.ak = a.column_stride, shape.bk = b.row_stride, shape.bn = b.column_stride;
  shape.cm = c.row_stride, shape.cn = c.column_stride;
  shape.alpha = unit_alpha ? blas::Factor::One : blas::Factor::Input;
  shape.beta = adds ? blas::Factor::One : blas::Factor::Zero;
  const LaunchTime t = kernels_.run(
      fmt::format("{} product {} {} {} {} {} {} {} {} {} {} {}", s_.machine.name, m, n, a.columns, shape.am, shape.ak,
                  shape.bk, shape.bn, shape.cm, shape.cn, unit_alpha, adds),
      s_, [&] { return Kernels::one(blas::gemm_program(shape, s_.machine), s_.machine); },
      static_cast<double>(c.rows) / static_cast<double>(m) * static_cast<double>(c.columns) / static_cast<double>(n));
  binding = t.binding;
  return t.seconds;
}

double Steps::gram(const Operand& a, const Operand& c) {
  blas::GemmShape shape{DType::Float32, DType::Float32, c.rows, c.rows, a.columns};
  shape.am = shape.bn = a.row_stride, shape.ak = shape.bk = a.column_stride;
  shape.cm = c.row_stride, shape.cn = c.column_stride;
  shape.region = blas::Region::Lower, shape.same_operand = true;
  return by_rows(fmt::format("gram {} {} {}", c.rows, shape.am, shape.ak), a.columns, 2 * kMost, [&](std::int64_t k) {
    shape.k = k;
    return blas::gemm_program(shape, s_.machine);
  });
}

double Steps::solve(const Operand& t, const Operand& b, bool unit) {
  blas::TrsmShape shape{.m = b.rows,
                        .n = b.columns,
                        .am = t.row_stride,
                        .an = t.column_stride,
                        .bm = b.row_stride,
                        .bn = b.column_stride,
                        .lower = true,
                        .unit = unit};
  return by_rows(fmt::format("trsm {} {} {} {} {} {}", b.rows, shape.am, shape.an, shape.bm, shape.bn, unit), b.columns,
                 kMost, [&](std::int64_t n) {
                   shape.n = n;
                   return blas::trsm_program(shape, s_.machine);
                 });
}

void Steps::copy(std::int64_t run, std::int64_t runs, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t kShortestRun = 4096;
  if (run <= 0 || runs <= 0) return;
  const bool whole = runs == 1 || (from == run && to == run);
  const std::int64_t count = whole ? 1 : runs, run_bytes = 4 * run * (whole ? runs : 1);
  if (!whole && run_bytes < kShortestRun) return;
  const tile::DmaCost cost = tile::memory_copy_cost(run_bytes, s_.machine);
  const double next = std::max(cost.transfer_s, cost.ring_s);
  const tile::Timing& t = s_.machine.timing;
  moved_s += copying_ ? next : t.dma_start_s + cost.transfer_s + t.dma_end_s;
  moved_s += static_cast<double>(count - 1) * next;
  copying_ = true;
}

void Steps::collective(tile::CollectiveKind kind, double b, const tile::Members& m) {
  if (m.size() == 1 || b <= 0) return;
  const auto c = tile::collective_cost(s_.fabric, kind, b, m, s_.eta);
  sent_s += c.seconds();
  bytes += c.wire_bytes;
  wire = c.binding;
  copying_ = false;
}

tile::Members line_of(const Setting& s, const LevelGrid& g, bool row) {
  const auto side = [&](const LevelGrid::Level& level) { return row ? level.columns : level.rows; };
  return {.per_chip = side(g.core),
          .chips = side(g.chip) * side(g.instance),
          .nodes = side(g.node),
          .sharing = row ? g.core.rows : g.core.columns,
          .lnc = s.placement.lnc};
}

tile::CollectiveCost to_columns(const Setting& s, std::int64_t rows, std::int64_t columns, std::int64_t block) {
  const LevelGrid level = best_grid(s, 1e9, 1e9);
  const dist::Grid grid{static_cast<int>(level.rows()), static_cast<int>(level.columns())};
  const int ranks = grid.size();
  if (ranks == 1) return {};
  const dist::Cyclic row{rows, block, grid.rows}, column{columns, block, grid.columns}, whole{columns, block, ranks};
  // Of its columns a rank has its rows already: block j is rank j % ranks', and in column j % columns of the grid.
  double most = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto high = static_cast<double>(row.local_extent(grid.row_of(rank))),
               wide = static_cast<double>(column.local_extent(grid.column_of(rank))),
               own = static_cast<double>(whole.local_extent(rank)), stays = high * own;
    most = std::max({most, high * wide - stays, static_cast<double>(rows) * own - stays});
  }
  return tile::collective_cost(s.fabric, tile::CollectiveKind::AllToAll, 4 * most, tile::members(s.placement), s.eta);
}

}  // namespace trn::tools::scale
