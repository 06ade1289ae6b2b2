// Cholesky's factorisation on many ranks: the steps of trnsolver's potrf on distributed matrices (solver/src/dist), one
// after the other, of the rank that has the most to do in each: the one that has the next block of the diagonal.
//
//   block K of the diagonal is factored by its owner and goes down its column of the grid, whose ranks solve with it
//   the panel goes along the rows; the blocks of it that a rank needs for its columns come along the columns, one grid
//   row after the other
//   the trailing matrix is updated in groups of four block columns
//
// Blocks are brought into packed buffers before kernels read them.
#include <algorithm>
#include <cmath>

#include <trn/solver/operand_program.hpp>
#include <trn/solver/potrf_program.hpp>

#include "scale_steps.hpp"

namespace trn::tools::scale {

namespace {

constexpr std::int64_t kTogether = 4;  // block columns in an update

// The time of one step, of one rank.
class Step : public Steps {
 public:
  Step(Kernels& kernels, const Setting& s, const LevelGrid& g)
      : Steps(kernels, s), down_(line_of(s, g, false)), along_(line_of(s, g, true)) {}

  // `local`: rows of the rank's part of the matrix.
  void factor(std::int64_t n, std::int64_t local) {
    const tile::Machine& machine = setting().machine;
    copy(n, n, local, n);
    panel_s += by_rows("potrf", n, n, [&](std::int64_t order) {
      return solver::potrf_program({order, order, 1}, machine);
    });
    // Whether it is finite.
    panel_s += by_rows("finite", n, n, [&](std::int64_t order) {
      return solver::finite_program({order, order, 1, order, solver::MatrixPart::Lower}, machine);
    });
    copy(n, n, n, local);
  }
  // Of `rows` rows, which leaves them packed.
  void solve_rows(std::int64_t n, std::int64_t rows, std::int64_t local) {
    if (rows <= 0) return;
    copy(rows, n, local, rows);
    panel_s += solve(Operand::by_columns(n, n, n), Operand::by_columns(rows, n, rows).transposed(), false);
    copy(rows, n, rows, local);
  }
  // C (rows x columns) -= A B^T, depth deep, all stored by columns.
  void update(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
    product_s +=
        product(Operand::by_columns(rows, depth, rows), Operand::by_columns(columns, depth, columns).transposed(),
                false, true, Operand::by_columns(rows, columns, rows));
  }
  void send_down(double b) { collective(tile::CollectiveKind::Broadcast, b, down_); }
  void send_along(double b) { collective(tile::CollectiveKind::Broadcast, b, along_); }

 private:
  tile::Members down_, along_;
};

class Cholesky final : public Operation {
 public:
  std::string name() const override { return "cholesky"; }
  std::string summary() const override {
    return "A = L L^T in fp32, blocks of 512 go around a grid of ranks, a step after the other";
  }
  void add_options(Options& o) override { o.number("--n", n_, "order", kBlockSize, std::int64_t{1} << 22); }
  std::string shape() const override { return fmt::format("cholesky fp32 {}", n_); }
  double work() const override { return std::pow(static_cast<double>(n_), 3); }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Cholesky>(*this);
    larger->n_ = static_cast<std::int64_t>(std::llround(static_cast<double>(n_) * std::sqrt(chips)));
    return larger;
  }
  Result model(const Setting& s) override {
    const LevelGrid grid = best_grid(s, 1e9, 1e9);
    const auto pr = static_cast<int>(grid.rows()), pc = static_cast<int>(grid.columns());
    const dist::Cyclic row{n_, kBlockSize, pr}, column{n_, kBlockSize, pc};
    Result r;
    double panels = 0, moved = 0;
    std::string update, wire;
    for (std::int64_t k = 0; k < row.blocks(); ++k) {
      Step step(*kernels_, s, grid);
      one(step, row, column, k);
      r.compute_s += step.product_s + step.panel_s;
      panels += step.panel_s;
      moved += step.moved_s;
      r.communication_s += step.sent_s;
      r.bytes += step.bytes;
      r.seconds += step.seconds();
      if (!step.binding.empty()) update = step.binding, wire = step.wire;
    }
    // What the ranks agree on in the end: three bounds.
    if (s.placement.size() > 1) {
      const auto bound =
          tile::collective_cost(s.fabric, tile::CollectiveKind::AllReduce, 8, tile::members(s.placement), s.eta);
      r.communication_s += 3 * bound.seconds();
      r.seconds += 3 * bound.seconds();
    }
    const double products = r.compute_s - panels;
    r.binding = products >= std::max({panels, moved, r.communication_s}) ? update
                : panels >= std::max(moved, r.communication_s)           ? "panels"
                : moved >= r.communication_s                             ? "packing"
                                                                         : wire;
    r.memory = 4 * static_cast<double>(n_) * static_cast<double>(n_) / static_cast<double>(s.placement.size());
    r.note = fmt::format("grid {} x {}; panels {:.3g} ms, packing {:.3g} ms", pr, pc, panels * 1e3, moved * 1e3);
    return r;
  }

 private:
  // Elements of this rank's part that lie behind block k.
  static std::int64_t behind(const dist::Cyclic& cut, std::int64_t k, int me) {
    std::int64_t count = 0;
    const std::int64_t blocks = cut.blocks(), first = k + 1 + ((me - (k + 1)) % cut.ranks + cut.ranks) % cut.ranks;
    if (first >= blocks) return 0;
    count = ((blocks - 1 - first) / cut.ranks + 1) * cut.block;
    const bool last = (blocks - 1 - first) % cut.ranks == 0;
    return last ? count - cut.block + cut.block_extent(blocks - 1) : count;
  }
  void one(Step& step, const dist::Cyclic& row, const dist::Cyclic& column, std::int64_t k) const {
    const std::int64_t depth = row.block_extent(k), blocks = row.blocks();
    const int owner = static_cast<int>(k % row.ranks);
    step.factor(depth, row.local_extent(owner));
    if (k + 1 == blocks) return;
    const int r = static_cast<int>((k + 1) % row.ranks);
    const std::int64_t rows = behind(row, k, r), local = row.local_extent(r);
    step.send_down(4.0 * static_cast<double>(depth * depth));
    step.solve_rows(depth, rows, local);
    step.send_along(4.0 * static_cast<double>(rows * depth));
    // Block columns of this rank by the grid row that has them as rows.
    std::vector<std::int64_t> of_row(static_cast<std::size_t>(row.ranks), 0);
    std::int64_t columns = 0;
    for (std::int64_t j = k + 1; j < blocks; j += column.ranks) {
      of_row[static_cast<std::size_t>(j % row.ranks)] += column.block_extent(j);
      columns += column.block_extent(j);
    }
    for (const std::int64_t count : of_row) {
      for (std::int64_t at = 0; at < count; at += kBlockSize)
        step.copy(std::min(kBlockSize, count - at), depth, rows, count);
      step.send_down(4.0 * static_cast<double>(count * depth));
      for (std::int64_t at = 0; at < count; at += kBlockSize)
        step.copy(std::min(kBlockSize, count - at), depth, count, columns);
    }
    for (std::int64_t begin = k + 1; begin < blocks; begin += kTogether * column.ranks) {
      std::int64_t wide = 0, last = begin;
      for (std::int64_t t = 0; t < kTogether && begin + t * column.ranks < blocks; ++t) {
        last = begin + t * column.ranks;
        wide += column.block_extent(last);
      }
      const std::int64_t below = behind(row, last, r);  // rows beyond all of them
      for (std::int64_t j = begin; j <= last; j += column.ranks) {
        const std::int64_t width = column.block_extent(j);
        if (j % row.ranks == r) {
          step.copy(width, width, local, width);
          step.update(width, width, depth);
        }
        step.update(behind(row, j, r) - below, width, depth);
      }
      step.update(below, wide, depth);
    }
  }
  std::int64_t n_ = 262144;
};

}  // namespace

std::unique_ptr<Operation> cholesky() { return std::make_unique<Cholesky>(); }

}  // namespace trn::tools::scale
