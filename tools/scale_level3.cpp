// syrk and trsm on many ranks: the steps of trnblas's operations on distributed matrices (blas/src/dist), in float32,
// of the rank that has the most to do.
#include <cmath>

#include "scale_steps.hpp"

namespace trn::tools::scale {

namespace {

constexpr std::int64_t kDepth = 2048;  // of a panel of syrk, a launch for each chunk of C's columns
constexpr std::int64_t kChunk = 256;   // columns, at least

std::int64_t grown(std::int64_t x, double chips) {
  return static_cast<std::int64_t>(std::llround(static_cast<double>(x) * std::sqrt(chips)));
}

// Elements of a part of a cut that lie behind block k.
std::int64_t behind(const dist::Cyclic& cut, std::int64_t k, int part) {
  const std::int64_t blocks = k / cut.ranks + (k % cut.ranks >= part ? 1 : 0);
  return std::max<std::int64_t>(0, cut.local_extent(part) - blocks * cut.block);
}

// C = A A^T, its lower triangle. A^T comes once to where the columns of C are; then panels of both go along the rows
// and columns of the grid, one while the one before is multiplied.
class Syrk final : public Operation {
 public:
  std::string name() const override { return "syrk"; }
  std::string summary() const override {
    return "the lower triangle of C = A A^T in fp32, C stationary, panels of A broadcast along a grid of ranks";
  }
  void add_options(Options& o) override {
    o.number("--n", n_, "order of C, and the inner dimension unless given", 1, std::int64_t{1} << 22);
    o.number("--k", k_, "inner dimension; 0: n", 0, std::int64_t{1} << 22);
    o.number("--block", block_, "rows and columns of a block", 1, 4096);
  }
  std::string shape() const override { return fmt::format("syrk fp32 {} x {} x {}", n_, n_, depth()); }
  double work() const override { return std::pow(static_cast<double>(n_), 2) * static_cast<double>(depth()); }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Syrk>(*this);
    larger->n_ = grown(n_, chips), larger->k_ = grown(depth(), chips);
    return larger;
  }
  Result model(const Setting& s) override {
    const LevelGrid level = best_grid(s, 1e9, 1e9);
    const dist::Grid grid{static_cast<int>(level.rows()), static_cast<int>(level.columns())};
    const dist::Cyclic row{n_, block_, grid.rows}, column{n_, block_, grid.columns};
    const int rank = busiest(row, column, grid), r = grid.row_of(rank), c = grid.column_of(rank);
    const std::int64_t high = row.local_extent(r), wide = column.local_extent(c), k = depth();
    Steps total(*kernels_, s);
    if (s.placement.size() > 1)
      total.collective(tile::CollectiveKind::AllToAll, 4 * most_moved(row, column, grid), tile::members(s.placement));
    double programs = 0, sent = 0;
    const std::int64_t panels = (k + kDepth - 1) / kDepth;
    for (std::int64_t p = 0; p < panels; ++p) {
      const std::int64_t width = std::min(kDepth, k - p * kDepth);
      Steps fetched(*kernels_, s);
      double own = 0;  // copies of the pieces that are this rank's; each waits for the broadcast before it
      for (const bool left : {true, false}) {
        const std::int64_t other = left ? high : wide;
        const tile::Members line = line_of(s, level, left);
        for (std::int64_t at = 0; at < width; at += block_) {
          const std::int64_t piece = std::min(block_, width - at);
          const double before = fetched.moved_s;
          if (width > block_ && line.size() > 1) fetched.copy(other, piece, other, other);
          own += (fetched.moved_s - before) / static_cast<double>(line.size());
          fetched.collective(tile::CollectiveKind::Broadcast, 4.0 * static_cast<double>(other * piece), line);
        }
      }
      total.bytes += fetched.bytes;
      if (fetched.bytes > 0) total.wire = fetched.wire;
      sent += fetched.sent_s;
      // The first is waited for. The others come beside the copies and programs of the panel before.
      if (p == 0) {
        total.moved_s += fetched.moved_s;
        total.sent_s += fetched.sent_s;
      } else {
        total.moved_s += own;
        total.sent_s += std::max(0.0, fetched.sent_s - own - programs);
      }
      programs = multiply(total, row, column, r, c, high, wide, width, p > 0);
      total.product_s += programs;
    }
    // The triangle into C: what lies below its diagonal blocks; those go through the host.
    for (std::int64_t j = 0; j < wide; j += block_) {
      const std::int64_t block = column.to_global(j, c) / block_;
      total.copy(behind(row, block, r), std::min(block_, wide - j), high, high);
    }
    Result result;
    result.seconds = total.seconds();
    result.compute_s = total.programs();
    result.communication_s = sent;
    result.bytes = total.bytes;
    result.binding = total.product_s >= std::max(total.sent_s, total.moved_s) ? total.binding
                     : total.moved_s > total.sent_s                           ? "packing"
                                                                              : total.wire;
    result.memory = 4 * (static_cast<double>(high) * static_cast<double>(2 * wide) +
                         static_cast<double>(high + wide) *
                             (static_cast<double>(k) / grid.columns + 2 * static_cast<double>(std::min(k, kDepth))));
    result.note = fmt::format("grid {} x {}, {} panels of {}", grid.rows, grid.columns, panels, std::min(k, kDepth));
    return result;
  }

 private:
  std::int64_t depth() const { return k_ > 0 ? k_ : n_; }
  [[nodiscard]] std::int64_t chunk(std::int64_t wide) const {
    const std::int64_t width = std::max(kChunk, wide / 8);
    return (width + block_ - 1) / block_ * block_;
  }
  // Rows of a part from the first on that a chunk of columns wants.
  [[nodiscard]] std::int64_t wanted(const dist::Cyclic& row, const dist::Cyclic& column, int r, int c,
                                    std::int64_t begin) const {
    const std::int64_t block = column.to_global(begin, c) / block_;
    return behind(row, block, r) + (block % row.ranks == r ? row.block_extent(block) : 0);
  }
  [[nodiscard]] int busiest(const dist::Cyclic& row, const dist::Cyclic& column, const dist::Grid& grid) const {
    int best = 0;
    std::int64_t most = -1;
    for (int rank = 0; rank < grid.size(); ++rank) {
      const int r = grid.row_of(rank), c = grid.column_of(rank);
      std::int64_t area = 0;
      const std::int64_t wide = column.local_extent(c), step = chunk(wide);
      for (std::int64_t j = 0; j < wide; j += step) area += wanted(row, column, r, c, j) * std::min(step, wide - j);
      if (area > most) most = area, best = rank;
    }
    return best;
  }
  double multiply(Steps& s, const dist::Cyclic& row, const dist::Cyclic& column, int r, int c, std::int64_t high,
                  std::int64_t wide, std::int64_t depth, bool adds) const {
    double seconds = 0;
    const std::int64_t step = chunk(wide);
    for (std::int64_t j = 0; j < wide; j += step) {
      const std::int64_t rows = wanted(row, column, r, c, j), columns = std::min(step, wide - j);
      seconds +=
          s.product(Operand::by_columns(rows, depth, high), Operand::by_columns(columns, depth, wide).transposed(),
                    true, adds, Operand::by_columns(rows, columns, high));
    }
    return seconds;
  }
  // Of A, elements that the rank that has most to give or to take moves: (i, j) from part i of the rows and part j of
  // the columns to part j of the rows and part i of the columns.
  [[nodiscard]] double most_moved(const dist::Cyclic& row, const dist::Cyclic& column, const dist::Grid& grid) const {
    const std::int64_t k = depth();
    const dist::Cyclic along{k, block_, grid.columns}, across{k, block_, grid.rows};
    // Blocks of `cut` that are this part of one cut and that of the other.
    const auto common = [&](std::int64_t extent, int r, int c) {
      std::int64_t count = 0;
      for (std::int64_t b = 0; b * block_ < extent; ++b) {
        if (b % grid.rows == r && b % grid.columns == c) count += std::min(block_, extent - b * block_);
      }
      return count;
    };
    double most = 0;
    for (int rank = 0; rank < grid.size(); ++rank) {
      const int r = grid.row_of(rank), c = grid.column_of(rank);
      const auto stays = static_cast<double>(common(n_, r, c)) * static_cast<double>(common(k, r, c)),
                 gives = static_cast<double>(row.local_extent(r)) * static_cast<double>(along.local_extent(c)),
                 takes = static_cast<double>(column.local_extent(c)) * static_cast<double>(across.local_extent(r));
      most = std::max({most, gives - stays, takes - stays});
    }
    return most;
  }

  std::int64_t n_ = 65536, k_ = 0, block_ = kBlockSize;
};

// L X = B in place of B, block row after block row.
class Trsm final : public Operation {
 public:
  std::string name() const override { return "trsm"; }
  std::string summary() const override {
    return "L X = B in fp32, L lower, both in blocks that go around a grid of ranks, a block row after the other";
  }
  void add_options(Options& o) override {
    o.number("--n", n_, "order of L, and columns of B unless given", 1, std::int64_t{1} << 22);
    o.number("--columns", columns_, "of B; 0: n", 0, std::int64_t{1} << 22);
    o.number("--block", block_, "rows and columns of a block", 1, 4096);
  }
  std::string shape() const override { return fmt::format("trsm fp32 {} x {}", n_, right()); }
  double work() const override { return std::pow(static_cast<double>(n_), 2) * static_cast<double>(right()); }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Trsm>(*this);
    larger->n_ = grown(n_, chips), larger->columns_ = grown(right(), chips);
    return larger;
  }
  Result model(const Setting& s) override {
    const LevelGrid level = best_grid(s, 1e9, 1e9);
    const auto pr = static_cast<int>(level.rows()), pc = static_cast<int>(level.columns());
    const dist::Cyclic row{n_, block_, pr}, column{right(), block_, pc};
    const std::int64_t wide = column.local_extent(0), most_rows = row.local_extent(0);
    const tile::Members along = line_of(s, level, true), down = line_of(s, level, false);
    Steps t(*kernels_, s);
    t.copy(most_rows, wide, most_rows, most_rows);
    for (std::int64_t k = 0; k < row.blocks(); ++k) {
      const std::int64_t depth = row.block_extent(k);
      const int owner = static_cast<int>(k % pr);
      const std::int64_t local = row.local_extent(owner), left = behind(row, k, owner) + depth;
      // L's blocks from the diagonal on along the row, X down the column.
      if (pc > 1) t.copy(left, depth, local, left);
      t.collective(tile::CollectiveKind::Broadcast, 4.0 * static_cast<double>(left * depth), along);
      t.copy(depth, depth, pc > 1 ? left : local, depth);
      for (std::int64_t j = 0; j < wide; j += block_) {
        const std::int64_t w = std::min(block_, wide - j);
        t.copy(depth, w, local, depth);
        t.panel_s += t.solve(Operand::by_columns(depth, depth, depth), Operand::by_columns(depth, w, depth), false);
        t.copy(depth, w, depth, local);
      }
      if (pr > 1) t.copy(depth, wide, local, depth);
      t.collective(tile::CollectiveKind::Broadcast, 4.0 * static_cast<double>(depth * wide), down);
      const int next = static_cast<int>((k + 1) % pr);
      const std::int64_t rest = behind(row, k, next), high = row.local_extent(next);
      t.product_s += t.product(Operand::by_columns(rest, depth, rest), Operand::by_columns(depth, wide, depth), false,
                               true, Operand::by_columns(rest, wide, high));
    }
    t.copy(most_rows, wide, most_rows, most_rows);
    for (int i = 0; i < (row.blocks() > 1 ? 3 : 2); ++i)
      t.collective(tile::CollectiveKind::AllReduce, 8, tile::members(s.placement));
    Result r;
    r.seconds = t.seconds();
    r.compute_s = t.programs();
    r.communication_s = t.sent_s;
    r.bytes = t.bytes;
    r.binding = t.product_s >= std::max({t.panel_s, t.moved_s, t.sent_s}) ? t.binding
                : t.panel_s >= std::max(t.moved_s, t.sent_s)              ? "solves"
                : t.moved_s >= t.sent_s                                   ? "packing"
                                                                          : t.wire;
    r.memory = 4 * (static_cast<double>(most_rows) * static_cast<double>(2 * wide + block_) +
                    static_cast<double>(n_) * static_cast<double>(n_) / static_cast<double>(s.placement.size()));
    r.note = fmt::format("grid {} x {}; solves {:.3g} ms, packing {:.3g} ms", pr, pc, t.panel_s * 1e3, t.moved_s * 1e3);
    return r;
  }

 private:
  std::int64_t right() const { return columns_ > 0 ? columns_ : n_; }
  std::int64_t n_ = 65536, columns_ = 0, block_ = kBlockSize;
};

}  // namespace

std::unique_ptr<Operation> syrk() { return std::make_unique<Syrk>(); }
std::unique_ptr<Operation> trsm() { return std::make_unique<Trsm>(); }

}  // namespace trn::tools::scale
