// Products on many ranks: stationary-C SUMMA, and in Exact layers of it that divide k, as docs/scale.md describes them.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <trn/blas/exact_program.hpp>
#include <trn/blas/gemm_program.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/cost.hpp>

#include "scale_model.hpp"

namespace trn::tools::scale {

namespace {

// Programs are estimated for at most this many rows and columns; larger ones take as much longer as they are larger.
constexpr std::int64_t kBlock = 4096;
// Of k. 2048 as in blas/src/dist, a launch each; Exact is quickest with 4096, and adding its panels up is not priced.
constexpr std::int64_t kPanel = 2048, kExactPanel = 4096;

std::int64_t share(std::int64_t n, std::int64_t parts) { return (n + parts - 1) / parts; }

// Of Exact: moduli, and limbs of a number; 0: as many as the moduli have room for in both operands.
struct Residues {
  int moduli = 16, limbs = 0;
};

// C (m x n) += A B, k deep.
LaunchTime local_product(Kernels& kernels, const Setting& s, DType dtype, bool exact, const Residues& residues,
                         std::int64_t m, std::int64_t n, std::int64_t k, double part = 1) {
  const std::int64_t bm = std::min(m, kBlock), bn = std::min(n, kBlock);
  const double times =
      part * static_cast<double>(m) / static_cast<double>(bm) * (static_cast<double>(n) / static_cast<double>(bn));
  const auto build = [&] {
    if (exact) {
      blas::ExactShape shape{
          .in = dtype, .moduli = residues.moduli, .m = bm, .n = bn, .k = k, .am = k, .ak = 1, .bk = bn, .bn = 1};
      shape.limbs = residues.limbs > 0 ? residues.limbs : blas::exact_limbs(residues.moduli, shape.depth());
      return Kernels::one(blas::exact_program(shape, s.machine), s.machine);
    }
    blas::GemmShape shape{dtype, DType::Float32, bm, bn, k};
    if (dtype != DType::Float32) shape.out = dtype;
    shape.am = k, shape.ak = 1, shape.bk = bn, shape.bn = 1, shape.cm = bn, shape.cn = 1;
    shape.beta = blas::Factor::One;
    return Kernels::one(blas::gemm_program(shape, s.machine), s.machine);
  };
  return kernels.run(fmt::format("{} gemm {} {} {} {} {} {} {}", s.machine.name, trn::name(dtype), exact,
                                 residues.moduli, residues.limbs, bm, bn, k),
                     s, build, times);
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
    o.number("--moduli", residues_.moduli, "of Exact: 16 are as accurate as dgemm", 1, 20);
    o.number("--limbs", residues_.limbs,
             "of Exact: limbs of a number, 2, 3 or 4; 0: as many as the moduli have room for in both operands", 0, 4);
    o.number("--layers", layers_, "of Exact: layers of ranks that divide k; 0: the quickest of 1, 2, 4, 8 and 16", 0,
             64);
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
  void check() const override {
    require(residues_.limbs != 1, "scale gemm: --limbs 1; numbers have 2, 3 or 4 limbs");
    require(layers_ <= 1 || exact(),
            "scale gemm: --layers {} with --dtype {}; k is divided in fp64 only, which is Exact", layers_, dtype_);
  }
  Result model(const Setting& s) override {
    if (!exact() || layers_ == 1) return in_one_layer(s);
    std::optional<Result> best;
    if (layers_ == 0) best = in_one_layer(s);
    for (const int layers : layers_ > 0 ? std::vector<int>{layers_} : std::vector<int>{2, 4, 8, 16}) {
      const std::optional<tile::Placement> part = layer(s.placement, layers);
      require(part || layers_ == 0, "scale gemm: {} layers do not divide {} ranks of {} chips in {} nodes", layers,
              s.placement.ranks, s.placement.chips, s.placement.nodes);
      if (!part) continue;
      const Result r = in_layers(s, *part, layers);
      if (!best || r.seconds < best->seconds) best = r;
    }
    return *best;
  }

 private:
  // The ranks of one of `layers` equal parts, one after another as ranks are numbered.
  static std::optional<tile::Placement> layer(tile::Placement p, int layers) {
    int& largest = p.nodes > 1 ? p.nodes : p.chips > 1 ? p.chips : p.ranks;
    if (largest % layers != 0) return {};
    largest /= layers;
    return p;
  }
  // Every rank's lines of A and B, then its slices of them; panels of a part of k in the layer; the words of the
  // integers among layers; blocks of C to the first one. Packing and what the host adds are not priced.
  Result in_layers(const Setting& s, const tile::Placement& part, int layers) {
    const Setting one{s.fabric, s.machine, part, s.eta};
    const auto m = static_cast<double>(rows()), n = static_cast<double>(n_);
    const std::int64_t deep = share(depth(), layers), width = std::min(deep, kExactPanel);
    const auto k = static_cast<double>(deep);
    const LevelGrid grid = best_grid(one, m * k * 8, k * n * 8);
    const std::int64_t ml = share(rows(), grid.rows()), nl = share(n_, grid.columns());
    const double panels = k / static_cast<double>(width), ranks = static_cast<double>(s.placement.size()),
                 part_c = static_cast<double>(ml) * static_cast<double>(nl);
    const LaunchTime panel = local_product(*kernels_, s, DType::Float64, true, residues_, ml, nl, width);
    Result r;
    r.compute_s = panels * panel.seconds;
    double busiest = 0;
    std::string wire = "chip links";
    const auto add = [&](tile::CollectiveKind kind, double bytes, const tile::Members& who, double times) {
      const tile::CollectiveCost c = tile::collective_cost(s.fabric, kind, bytes, who, s.eta);
      r.communication_s += times * c.seconds();
      r.bytes += times * c.wire_bytes;
      if (times * c.seconds() > busiest) busiest = times * c.seconds(), wire = c.binding;
    };
    const tile::Members all = tile::members(s.placement);
    using enum tile::CollectiveKind;
    const double whole = static_cast<double>(depth());
    add(AllToAll, 8 * m * whole / ranks, all, 2);
    add(AllToAll, 8 * n * whole / ranks, all, 2);
    add(AllReduce, 48, all, 1);
    const double before = r.communication_s;
    const int beside = s.placement.ranks / part.ranks;  // layers on a chip
    r.communication_s += along(one, grid, true, 8 * static_cast<double>(ml) * k, nl, beside) +
                         along(one, grid, false, 8 * static_cast<double>(nl) * k, nl, beside);
    if (r.communication_s - before > busiest) busiest = r.communication_s - before, wire = "panels";
    r.bytes += summa_traffic(grid, m * k * 8, k * n * 8).core;
    std::vector<int> fiber;
    for (int l = 0; l < layers; ++l) fiber.push_back(static_cast<int>(l * part.size()));
    const tile::Members across = tile::members(s.placement, fiber);
    add(AllToAll, 4 * limbs(s.machine) * part_c, across, 1);
    // Blocks of 256 x 1024: a look in each round whether anybody misses whole lines; they return one after another.
    const double blocks = std::ceil(static_cast<double>(ml) / 256) * std::ceil(static_cast<double>(nl) / 1024),
                 returned = blocks - std::ceil(blocks / layers);
    add(AllReduce, 8, all, 3 + std::ceil(blocks / layers));
    if (returned > 0) {
      tile::Members pair = tile::members(s.placement, std::vector<int>{fiber[0], fiber[1]});
      pair.sharing = 1;
      add(SendReceive, 8 * part_c / blocks, pair, returned);
    }
    r.memory = 8 * (2 * m * whole + 2 * whole * n + m * n) / ranks + 8 * k * static_cast<double>(ml + nl) +
               4 * limbs(s.machine) * part_c + 8 * part_c;
    r.seconds = r.compute_s + r.communication_s;
    r.binding = r.compute_s >= r.communication_s ? panel.binding : wire;
    r.note = fmt::format("{} layers of a grid {} x {}, {} x {} of C a rank, {:.0f} panels of {}", layers, grid.rows(),
                         grid.columns(), ml, nl, std::ceil(panels), width);
    return r;
  }
  // Of 24 bits, of an element's integer.
  double limbs(const tile::Machine& machine) const {
    const tile::Program small = blas::exact_program({.moduli = residues_.moduli}, machine);
    for (const auto& tensor : small.tensors()) {
      if (tensor.name == "limbs") return static_cast<double>(element_count(tensor.shape));
    }
    fail<InternalError>("the program of Exact has no limbs");
  }

  Result in_one_layer(const Setting& s) {
    const auto m = static_cast<double>(rows()), n = static_cast<double>(n_), k = static_cast<double>(depth());
    const double size = dtype_ == "bf16" ? 2 : dtype_ == "fp64" ? 8 : 4;
    const LevelGrid grid = best_grid(s, m * k * size, k * n * size);
    const std::int64_t ml = share(rows(), grid.rows()), nl = share(n_, grid.columns()),
                       width = std::min(depth(), exact() ? kExactPanel : kPanel);
    const double panels = k / static_cast<double>(width);
    const DType dtype = exact() ? DType::Float64 : dtype_ == "bf16" ? DType::BFloat16 : DType::Float32;
    const LaunchTime panel = local_product(*kernels_, s, dtype, exact(), residues_, ml, nl, width);
    const tile::Traffic t = summa_traffic(grid, m * k * size, k * n * size);
    const tile::TrafficCost wire = tile::traffic_cost(s.fabric, t, s.placement, s.eta);
    Result r;
    r.compute_s = panels * panel.seconds;
    if (exact()) {
      r.communication_s = gathers(s, grid, static_cast<double>(ml) * k * size, static_cast<double>(nl) * k * size, nl);
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

  // All of k for the rows and columns of a rank, `left` and `right` bytes: a broadcast from every rank of its row and
  // column of the grid, one after the other, and what the ranks agree on, the reach of the operands and two bounds.
  static double gathers(const Setting& s, const LevelGrid& g, double left, double right, std::int64_t columns) {
    if (s.placement.size() == 1) return 0;
    const auto agreed = [&](double bytes) {
      return tile::collective_cost(s.fabric, tile::CollectiveKind::AllReduce, bytes, tile::members(s.placement), s.eta)
          .seconds();
    };
    return along(s, g, true, left, columns) + along(s, g, false, right, columns) + agreed(48) + 2 * agreed(8);
  }
  // `bytes` on every rank of a row or column of the grid, of which each has had a part; so many grids on a chip.
  static double along(const Setting& s, const LevelGrid& g, bool row, double bytes, std::int64_t columns,
                      int beside = 1) {
    const auto side = [&](const LevelGrid::Level& level) { return row ? level.columns : level.rows; };
    const tile::Members m{.per_chip = side(g.core),
                          .chips = side(g.chip) * side(g.instance),
                          .nodes = side(g.node),
                          .sharing = beside * (row ? g.core.rows : g.core.columns),
                          .lnc = s.placement.lnc};
    const auto ranks = static_cast<double>(m.size());
    if (ranks == 1) return 0;
    // A rank's own part is copied into the panel: of A as one run, of B a run for each column.
    const double own = bytes / ranks, runs = row ? 1 : static_cast<double>(columns);
    const tile::DmaCost copy = tile::memory_copy_cost(static_cast<std::int64_t>(own / runs), s.machine);
    const tile::Timing& t = s.machine.timing;
    const double packed = row || own / runs >= 4096 ? t.dma_start_s + copy.transfer_s + t.dma_end_s +
                                                          (runs - 1) * std::max(copy.transfer_s, copy.ring_s)
                                                    : 0;
    return packed + ranks * tile::collective_cost(s.fabric, tile::CollectiveKind::Broadcast, own, m, s.eta).seconds();
  }
  std::int64_t rows() const { return m_ > 0 ? m_ : n_; }
  std::int64_t depth() const { return k_ > 0 ? k_ : n_; }
  std::int64_t m_ = 0, n_ = 65536, k_ = 0;
  std::string dtype_ = "fp32";
  Residues residues_;
  int layers_ = 0;
};

}  // namespace

std::unique_ptr<Operation> gemm() { return std::make_unique<Gemm>(); }

}  // namespace trn::tools::scale
