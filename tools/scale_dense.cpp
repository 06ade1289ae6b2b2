// Products on many ranks: stationary-C SUMMA, as docs/scale.md describes it.
#include <algorithm>
#include <cmath>

#include <trn/blas/exact_program.hpp>
#include <trn/blas/gemm_program.hpp>
#include <trn/core/error.hpp>

#include "scale_model.hpp"

namespace trn::tools::scale {

namespace {

// Programs are estimated for at most this many rows and columns; larger ones take as much longer as they are larger.
constexpr std::int64_t kBlock = 4096;
// Of k. 2048 as in blas/src/dist, a launch each; Exact is quickest with 4096, and adding its panels up is not priced.
constexpr std::int64_t kPanel = 2048, kExactPanel = 4096;

std::int64_t share(std::int64_t n, std::int64_t parts) { return (n + parts - 1) / parts; }

// C (m x n) += A B, k deep.
LaunchTime local_product(Kernels& kernels, const Setting& s, DType dtype, bool exact, int moduli, std::int64_t m,
                         std::int64_t n, std::int64_t k, double part = 1) {
  const std::int64_t bm = std::min(m, kBlock), bn = std::min(n, kBlock);
  const double times =
      part * static_cast<double>(m) / static_cast<double>(bm) * (static_cast<double>(n) / static_cast<double>(bn));
  const auto build = [&] {
    if (exact) {
      const blas::ExactShape shape{
          .in = dtype, .moduli = moduli, .m = bm, .n = bn, .k = k, .am = k, .ak = 1, .bk = bn, .bn = 1};
      return Kernels::one(blas::exact_program(shape, s.machine), s.machine);
    }
    blas::GemmShape shape{dtype, DType::Float32, bm, bn, k};
    if (dtype != DType::Float32) shape.out = dtype;
    shape.am = k, shape.ak = 1, shape.bk = bn, shape.bn = 1, shape.cm = bn, shape.cn = 1;
    shape.beta = blas::Factor::One;
    return Kernels::one(blas::gemm_program(shape, s.machine), s.machine);
  };
  return kernels.run(
      fmt::format("{} gemm {} {} {} {} {} {}", s.machine.name, trn::name(dtype), exact, moduli, bm, bn, k), s, build,
      times);
}

class Gemm final : public Operation {
 public:
  std::string name() const override { return "gemm"; }
  std::string summary() const override {
    return "C = A B, C stationary, panels of A and B broadcast along a grid of ranks";
  }
  void add_options(Options& o) override {
    constexpr std::int64_t kMost = std::int64_t{1} << 22;
    o.number("--n", n_, "columns of C, and its rows and the inner dimension unless given", 1, kMost);
    o.number("--m", m_, "rows of C; 0: n", 0, kMost);
    o.number("--k", k_, "inner dimension; 0: n", 0, kMost);
    o.text("--dtype", dtype_, "fp32, bf16, or fp64, which is Exact", {"fp32", "bf16", "fp64"});
    o.number("--moduli", moduli_, "of Exact: 16 are as accurate as dgemm", 1, 20);
  }
  std::string shape() const override { return fmt::format("gemm {} {} x {} x {}", dtype_, rows(), n_, depth()); }
  std::string dtype() const override { return exact() ? "fp64, exact" : dtype_; }
  double work() const override {
    return static_cast<double>(rows()) * static_cast<double>(n_) * static_cast<double>(depth());
  }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Gemm>(*this);
    const auto grown = [&](std::int64_t x) {
      return static_cast<std::int64_t>(std::llround(static_cast<double>(x) * std::sqrt(chips)));
    };
    larger->m_ = grown(rows()), larger->n_ = grown(n_), larger->k_ = grown(depth());
    return larger;
  }
  Result model(const Setting& s) override {
    const auto m = static_cast<double>(rows()), n = static_cast<double>(n_), k = static_cast<double>(depth());
    const double size = dtype_ == "bf16" ? 2 : dtype_ == "fp64" ? 8 : 4;
    const LevelGrid grid = best_grid(s, m * k * size, k * n * size);
    const std::int64_t ml = share(rows(), grid.rows()), nl = share(n_, grid.columns()),
                       width = std::min(depth(), exact() ? kExactPanel : kPanel);
    const double panels = k / static_cast<double>(width);
    const DType dtype = exact() ? DType::Float64 : dtype_ == "bf16" ? DType::BFloat16 : DType::Float32;
    const LaunchTime panel = local_product(*kernels_, s, dtype, exact(), moduli_, ml, nl, width);
    const tile::Traffic t = summa_traffic(grid, m * k * size, k * n * size);
    const tile::TrafficCost wire = tile::traffic_cost(s.fabric, t, s.placement, s.eta);
    Result r;
    r.compute_s = panels * panel.seconds;
    if (exact()) {
      r.communication_s = gathers(s, grid, static_cast<double>(ml) * k * size, static_cast<double>(nl) * k * size);
    } else {
      r.communication_s = wire.seconds + (s.placement.size() > 1 ? panels * broadcast_steps(s) : 0);
    }
    r.bytes = t.core;
    // Exact has all of k before it multiplies. Elsewhere the panel after the one that is multiplied is on its way: the
    // first is waited for, the last product waits.
    const double held = exact() ? k : 2 * static_cast<double>(width);
    r.memory = size * (m * k + k * n + m * n) / static_cast<double>(s.placement.size()) +
               size * held * static_cast<double>(ml + nl);
    const double first = (r.communication_s + r.compute_s) / panels;
    r.seconds = exact() ? r.compute_s + r.communication_s
                        : first + std::max(0.0, panels - 1) / panels * std::max(r.compute_s, r.communication_s);
    r.binding = r.compute_s >= r.communication_s ? panel.binding : wire.binding;
    r.note = fmt::format("grid {} x {}, {} x {} of C a rank, {:.0f} panels of {}", grid.rows(), grid.columns(), ml, nl,
                         std::ceil(panels), width);
    return r;
  }
  bool exact() const { return dtype_ == "fp64"; }
  // Of one panel's broadcast along a row and one along a column, at the same time.
  static double broadcast_steps(const Setting& s) {
    tile::Members row{
        .per_chip = s.placement.ranks, .chips = s.placement.chips, .nodes = s.placement.nodes, .lnc = s.placement.lnc};
    return tile::collective_cost(s.fabric, tile::CollectiveKind::Broadcast, 1 << 20, row, 1).alpha_s;
  }

 private:
  // All of k for the rows and columns of a rank, `left` and `right` bytes: a broadcast from every rank of its row and
  // column of the grid, one after the other, and what the ranks agree on, the reach of the operands and two bounds.
  static double gathers(const Setting& s, const LevelGrid& g, double left, double right) {
    if (s.placement.size() == 1) return 0;
    const auto along = [&](bool row, double bytes) {
      const auto side = [&](const LevelGrid::Level& level) { return row ? level.columns : level.rows; };
      const tile::Members m{.per_chip = side(g.core),
                            .chips = side(g.chip) * side(g.instance),
                            .nodes = side(g.node),
                            .sharing = row ? g.core.rows : g.core.columns,
                            .lnc = s.placement.lnc};
      const auto ranks = static_cast<double>(m.size());
      return ranks == 1
                 ? 0
                 : ranks * tile::collective_cost(s.fabric, tile::CollectiveKind::Broadcast, bytes / ranks, m, s.eta)
                               .seconds();
    };
    const auto agreed = [&](double bytes) {
      return tile::collective_cost(s.fabric, tile::CollectiveKind::AllReduce, bytes, tile::members(s.placement), s.eta)
          .seconds();
    };
    return along(true, left) + along(false, right) + agreed(48) + 2 * agreed(8);
  }
  std::int64_t rows() const { return m_ > 0 ? m_ : n_; }
  std::int64_t depth() const { return k_ > 0 ? k_ : n_; }
  std::int64_t m_ = 0, n_ = 65536, k_ = 0;
  std::string dtype_ = "fp32";
  int moduli_ = 16;
};

}  // namespace

std::unique_ptr<Operation> gemm() { return std::make_unique<Gemm>(); }

}  // namespace trn::tools::scale
