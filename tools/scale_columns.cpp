// LU and QR on many ranks: the steps of trnsolver's getrf and geqrf on distributed matrices (solver/src/dist), in
// float32. Block columns go around the ranks, all rows of a column lie on one. Step k:
//
//   its owner factors the panel by the local operation, 128 columns at a time, while the others may still be at step
//   k - 1: a broadcast waits for the last of them
//   the panel goes to all ranks
//   every rank exchanges rows, solves and multiplies (LU), or applies the block reflector (QR), on what it has right of
//   the panel
#include <cmath>
#include <optional>

#include <trn/solver/getrf_program.hpp>
#include <trn/solver/operand_program.hpp>
#include <trn/solver/potrf_program.hpp>

#include "scale_steps.hpp"

namespace trn::tools::scale {

namespace {

constexpr std::int64_t kPanel = 128;         // of the local operations
constexpr std::int64_t kSome = 4096;         // rows of the largest programs that are estimated
constexpr std::int64_t kElements = 1 << 22;  // of those that read a matrix once

double finite(Steps& s, const Operand& a) {
  // Along the direction that is not contiguous.
  const bool by_rows = a.column_stride == 1;
  const std::int64_t line = by_rows ? a.columns : a.rows, lines = by_rows ? a.rows : a.columns,
                     most = std::max<std::int64_t>(256, kElements / std::max<std::int64_t>(1, line));
  return s.by_rows(fmt::format("finite {} {} {}", line, a.row_stride, a.column_stride), lines, most,
                   [&](std::int64_t n) {
                     const solver::FiniteShape shape{by_rows ? n : a.rows, by_rows ? a.columns : n, a.row_stride,
                                                     a.column_stride, solver::MatrixPart::All};
                     return solver::finite_program(shape, s.setting().machine);
                   });
}

// Right of step k: how many columns a rank has there, and in all.
struct Right {
  std::int64_t rest, all;
  bool operator==(const Right&) const = default;
};

class OnColumns : public Operation {
 public:
  void add_options(Options& o) override {
    o.number("--n", n_, "columns, and rows unless given", 1, std::int64_t{1} << 20);
    o.number("--m", m_, "rows; 0: n", 0, std::int64_t{1} << 20);
    o.number("--block", block_, "columns of a block", 1, 4096);
  }
  std::string shape() const override { return fmt::format("{} fp32 {} x {}", name(), rows(), n_); }
  double work() const override {
    const double order = static_cast<double>(std::min(rows(), n_));
    return static_cast<double>(rows()) * static_cast<double>(n_) * order;
  }
  Result model(const Setting& s) override {
    begin(s);
    const std::int64_t m = rows(), order = std::min(m, n_);
    const auto ranks = static_cast<int>(s.placement.size());
    const dist::Cyclic cut{n_, block_, ranks};
    const tile::Members all = tile::members(s.placement);
    Steps total(*kernels_, s);
    for (int i = 0; i < 2; ++i) {
      const tile::CollectiveCost moved = to_columns(s, m, n_, block_);
      total.sent_s += moved.seconds();
      total.bytes += moved.wire_bytes;
    }
    const std::int64_t widest = cut.local_extent(0);
    prepare(total, m, widest);
    // Ranks with most and with fewest columns behind a step, and the one that has the next panel.
    double longest = 0, next_owner = 0;
    for (std::int64_t k = 0; k * block_ < order; ++k) {
      const std::int64_t at = k * block_, depth = std::min(block_, order - at), high = m - at;
      Steps panel(*kernels_, s);
      factor(panel, high, depth, cut.local_extent(cut.owner(at)));
      const double wait = next_owner + panel.seconds();
      // What is waited for: the panel's owner, or the longest update of the step before.
      if (wait >= longest) {
        total.panel_s += panel.panel_s, total.moved_s += panel.moved_s;
        total.product_s += panel.product_s + next_owner;
      } else {
        total.product_s += longest;
      }
      total.collective(tile::CollectiveKind::Broadcast, 4.0 * static_cast<double>(high * depth), all);
      longest = next_owner = 0;
      std::vector<std::pair<Right, double>> known;
      for (int r = 0; r < std::min<std::int64_t>(ranks, cut.blocks()); ++r) {
        const bool here = cut.owner(at) == r;
        const Right right{columns_behind(cut, k, r) + (here ? cut.block_extent(k) - depth : 0), cut.local_extent(r)};
        auto found = std::ranges::find(known, right, &std::pair<Right, double>::first);
        if (found == known.end()) {
          Steps update(*kernels_, s);
          apply(update, high, depth, right);
          if (!update.binding.empty()) total.binding = update.binding;
          known.emplace_back(right, update.seconds());
          found = known.end() - 1;
        }
        const double seconds = found->second;
        longest = std::max(longest, seconds);
        if ((k + 1) * block_ < order && cut.owner((k + 1) * block_) == r) next_owner = seconds;
      }
    }
    total.product_s += longest;
    finish(total, m, widest);
    for (int i = 0; i < bounds(); ++i) total.collective(tile::CollectiveKind::AllReduce, 8, all);
    Result r;
    r.seconds = total.seconds();
    r.compute_s = total.programs();
    r.communication_s = total.sent_s;
    r.bytes = total.bytes;
    const double most = std::max({total.product_s, total.panel_s, total.moved_s, total.sent_s});
    r.binding = most == total.product_s ? total.binding
                : most == total.panel_s ? "panels"
                : most == total.moved_s ? "packing"
                                        : total.wire;
    r.memory = copies() * 4 * static_cast<double>(m) * static_cast<double>(widest) +
               4 * static_cast<double>(m) * static_cast<double>(block_);
    r.note = fmt::format("{} blocks of {} columns; panels {:.3g} ms", cut.blocks(), block_, total.panel_s * 1e3);
    return r;
  }

 protected:
  // On all ranks, before the first step and after the last.
  virtual void begin(const Setting&) const {}
  virtual void prepare(Steps&, std::int64_t, std::int64_t) const {}
  virtual void finish(Steps&, std::int64_t, std::int64_t) const {}
  virtual void factor(Steps& s, std::int64_t high, std::int64_t depth, std::int64_t local) const = 0;
  virtual void apply(Steps& s, std::int64_t high, std::int64_t depth, const Right& right) const = 0;
  [[nodiscard]] virtual int bounds() const = 0;
  [[nodiscard]] virtual double copies() const = 0;  // of a rank's columns, the caller's not counted
  [[nodiscard]] std::int64_t rows() const { return m_ > 0 ? m_ : n_; }

  template <class Self> std::unique_ptr<Operation> grown(const Self& self, double chips) const {
    auto larger = std::make_unique<Self>(self);
    const auto times = [&](std::int64_t x) {
      return static_cast<std::int64_t>(std::llround(static_cast<double>(x) * std::sqrt(chips)));
    };
    larger->n_ = times(n_), larger->m_ = m_ > 0 ? times(m_) : 0;
    return larger;
  }

  std::int64_t n_ = 32768, m_ = 0, block_ = kBlockSize;

 private:
  // Columns in blocks behind k.
  static std::int64_t columns_behind(const dist::Cyclic& cut, std::int64_t k, int rank) {
    const std::int64_t before = k / cut.ranks + (k % cut.ranks >= rank ? 1 : 0);  // its blocks up to k
    return std::max<std::int64_t>(0, cut.local_extent(rank) - before * cut.block);
  }
};

class Lu final : public OnColumns {
 public:
  Lu() { n_ = 24576; }  // of 32768 rows a panel does not fit into SBUF
  std::string name() const override { return "lu"; }
  std::string summary() const override {
    return "P A = L U in fp32, whole columns on a rank, a panel after the other to all ranks";
  }
  std::unique_ptr<Operation> weak(double chips) const override { return grown(*this, chips); }

 private:
  // The first panel stays in SBUF: an order for which it does not is refused with the program's own words.
  void begin(const Setting& s) const override {
    (void)solver::getrf_panel_program({rows(), std::min({kPanel, block_, n_, rows()}), block_, 1}, s.machine);
  }
  // Rows become contiguous, and columns again.
  void prepare(Steps& s, std::int64_t m, std::int64_t wide) const override { turn(s, wide, m, m, wide); }
  void finish(Steps& s, std::int64_t m, std::int64_t wide) const override { turn(s, m, wide, wide, m); }
  static void turn(Steps& s, std::int64_t rows, std::int64_t columns, std::int64_t from, std::int64_t to) {
    const std::int64_t some = std::min(columns, kSome);
    s.moved_s += static_cast<double>(columns) / static_cast<double>(std::max<std::int64_t>(1, some)) *
                 s.by_rows(fmt::format("turn {} {} {}", some, from, to), rows, kSome, [&](std::int64_t n) {
                   return solver::turn_program({n, some, from, to}, s.setting().machine);
                 });
  }
  static double move_rows(Steps& s, std::int64_t rows, std::int64_t columns) {
    // As many rows whatever the matrix has; the time goes with their length.
    return s.by_rows(fmt::format("move rows {} {}", rows, columns > kSome ? 0 : columns), columns, kSome,
                     [&](std::int64_t n) {
                       return solver::move_rows_program({rows, n, columns}, s.setting().machine);
                     });
  }
  void factor(Steps& s, std::int64_t high, std::int64_t depth, std::int64_t local) const override {
    s.copy(depth, high, local, depth);
    const Operand panel = Operand::by_rows(high, depth, depth);
    s.panel_s += finite(s, panel);
    for (std::int64_t first = 0; first < depth; first += kPanel) {
      const std::int64_t w = std::min(kPanel, depth - first), height = high - first, rest = depth - first - w;
      s.panel_s += s.by_rows(fmt::format("lu panel {} {}", w, depth), height, kSome, [&](std::int64_t n) {
        return solver::getrf_panel_program({n, w, depth, 1}, s.setting().machine);
      });
      s.panel_s += move_rows(s, high, depth);
      if (rest == 0) continue;
      const Operand right = Operand::by_rows(w, rest, depth);
      s.panel_s += s.solve(Operand::by_rows(w, w, depth), right, true);
      s.panel_s += s.product(Operand::by_rows(height - w, w, depth), right, false, true,
                             Operand::by_rows(height - w, rest, depth));
    }
    s.panel_s += finite(s, panel);
  }
  void apply(Steps& s, std::int64_t high, std::int64_t depth, const Right& right) const override {
    for (std::int64_t i = 0; i < depth; i += kPanel) s.product_s += move_rows(s, rows(), right.all);
    if (right.rest <= 0) return;
    const Operand u = Operand::by_rows(depth, right.rest, right.all);
    s.product_s += s.solve(Operand::by_rows(depth, depth, depth), u, true);
    s.product_s += s.product(Operand::by_rows(high - depth, depth, depth), u, false, true,
                             Operand::by_rows(high - depth, right.rest, right.all));
  }
  int bounds() const override { return 3; }
  double copies() const override { return 2; }
};

class Qr final : public OnColumns {
 public:
  std::string name() const override { return "qr"; }
  std::string summary() const override {
    return "A = Q R in fp32 by block reflectors, whole columns on a rank, a panel after the other to all ranks";
  }
  std::unique_ptr<Operation> weak(double chips) const override { return grown(*this, chips); }

 private:
  static constexpr int kPasses = 2;  // of CholeskyQR, of panels whose columns are far from dependent

  // C -= V op(T) (V^T C); W and X lie by columns or by rows.
  static double reflect(Steps& s, const Operand& v, const Operand& t, const Operand& c, bool by_columns) {
    const std::int64_t w = v.columns, n = c.columns;
    const Operand x = by_columns ? Operand::by_columns(w, n, w) : Operand::by_rows(w, n, n);
    return s.product(v.transposed(), c, true, false, x) + s.product(t.transposed(), x, true, false, x) +
           s.product(v, x, false, true, c);
  }
  // Rows of Q times the inverse of a triangle: of a whole panel, whose triangle is far from singular, a product.
  static void divide(Steps& s, std::int64_t rows, std::int64_t w) {
    const Operand q = Operand::by_rows(rows, w, w), triangle = Operand::by_rows(w, w, w);
    s.panel_s += w == kPanel ? s.product(q, triangle, true, false, q) : s.solve(triangle, q.transposed(), false);
  }
  void factor(Steps& s, std::int64_t high, std::int64_t depth, std::int64_t) const override {
    s.copy(high, depth, rows(), high);
    s.panel_s += finite(s, Operand::by_columns(high, depth, high));
    for (std::int64_t first = 0; first < depth; first += kPanel) {
      const std::int64_t w = std::min(kPanel, depth - first), height = high - first, rest = depth - first - w;
      const Operand q = Operand::by_rows(height, w, w), corner = Operand::by_rows(w, w, w);
      for (int pass = 0; pass < kPasses; ++pass) {
        s.panel_s += s.gram(q.transposed(), corner);
        s.panel_s += s.by_rows("potrf", w, kPanel, [&](std::int64_t n) {
          return solver::potrf_program({n, 1, n}, s.setting().machine);
        });
        divide(s, height, w);
      }
      s.copy(w, w, w, w);
      divide(s, height - w, w);
      if (rest > 0) s.panel_s += reflect(s, q, corner, Operand::by_columns(height, rest, high), false);
    }
    s.copy(high, depth, high, rows());
    const Operand v = Operand::by_columns(high, depth, high);
    s.panel_s += s.product(v.transposed(), v, true, false, Operand::by_columns(depth, depth, depth));
  }
  void apply(Steps& s, std::int64_t high, std::int64_t depth, const Right& right) const override {
    if (right.rest <= 0) return;
    s.product_s += reflect(s, Operand::by_columns(high, depth, high), Operand::by_columns(depth, depth, depth),
                           Operand::by_columns(high, right.rest, rows()), true);
  }
  int bounds() const override { return 0; }
  double copies() const override { return 1; }
};

}  // namespace

std::unique_ptr<Operation> lu() { return std::make_unique<Lu>(); }
std::unique_ptr<Operation> qr() { return std::make_unique<Qr>(); }

}  // namespace trn::tools::scale
