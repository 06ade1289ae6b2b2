// Conjugate gradients on a 27-point stencil and the pair energies of MP2 on many ranks.
#include <algorithm>
#include <cmath>
#include <optional>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/blas/vector_programs.hpp>
#include <trn/core/error.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/tile_programs.hpp>

#include "scale_model.hpp"

namespace trn::tools::scale {

namespace {

// One iteration: a product with the rank's rows after its halo has come, two dot products and three updates, one fused
// reduction.
class Cg final : public Operation {
 public:
  std::string name() const override { return "cg"; }
  std::string summary() const override {
    return "one iteration of conjugate gradients, 27-point stencil, fp32, block rows";
  }
  void add_options(Options& o) override {
    o.number("--n", n_, "points of the grid along one side", 16, 1 << 15);
    o.number("--planes", planes_, "planes of the grid, which ranks share; 0: n", 0, 1 << 24);
  }
  std::string shape() const override { return fmt::format("cg 27-point {} x {} x {}", n_, n_, depth()); }
  double work() const override { return rows(); }
  const char* unit() const override { return "an iteration"; }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Cg>(*this);
    larger->planes_ = static_cast<std::int64_t>(std::llround(static_cast<double>(depth()) * chips));
    return larger;
  }
  Result model(const Setting& s) override {
    const auto p = static_cast<double>(s.placement.size());
    const double mine = rows() / p, plane = static_cast<double>(n_ * n_);
    Result r;
    const LaunchTime product = kernels_->run(
        fmt::format("{} stencil", s.machine.name), s, [&] { return sample(s.machine); }, mine / kSampled);
    constexpr std::int64_t kElements = 1 << 20;
    const auto vector = [&](const char* what, auto build) {
      return kernels_->run(fmt::format("{} {}", s.machine.name, what), s, build, mine / kElements).seconds;
    };
    const double axpy = vector("axpy", [&] {
      return Kernels::one(blas::vector_program({.operation = blas::VectorOperation::Axpy, .n = kElements}, s.machine),
                          s.machine);
    });
    const double dot = vector("dot", [&] {
      return Kernels::one(blas::reduction_program({.reduction = blas::Reduction::Dot, .n = kElements}, s.machine),
                          s.machine);
    });
    r.compute_s = product.seconds + 3 * axpy + 2 * dot;
    const double halo = p > 1 ? 2 * 4 * (plane + static_cast<double>(n_) + 1) : 0;
    if (p > 1) {
      const bool over = s.placement.nodes > 1, out = s.placement.chips > 1;
      const tile::Members pair{
          .per_chip = out || over ? 1 : 2, .chips = out ? 2 : 1, .nodes = over ? 2 : 1, .lnc = s.placement.lnc};
      // Neighbours are ranks side by side: one pair on each border of a chip or a node.
      const tile::CollectiveCost send =
          tile::collective_cost(s.fabric, tile::CollectiveKind::SendReceive, halo / 2, pair, s.eta);
      const tile::CollectiveCost sum =
          tile::collective_cost(s.fabric, tile::CollectiveKind::AllReduce, 16, tile::members(s.placement), s.eta);
      const double halo_s = 2 * send.seconds();
      r.communication_s = halo_s + sum.seconds();
      r.binding = sum.seconds() > halo_s ? "latency" : send.binding;
    }
    r.seconds = r.compute_s + r.communication_s;  // the product waits for its halo
    if (r.compute_s >= r.communication_s) r.binding = product.binding;
    r.bytes = halo + (p > 1 ? 16 : 0);
    r.memory = mine * (27 * 4 + 5 * 4);
    r.note = fmt::format("product {:.0f} us, five vector operations {:.0f} us", product.seconds * 1e6,
                         (3 * axpy + 2 * dot) * 1e6);
    return r;
  }

 private:
  std::int64_t depth() const { return planes_ > 0 ? planes_ : n_; }
  double rows() const { return static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(depth()); }
  // A small grid by the library's own plan; rows of its interior have 27 entries, those of its faces fewer: it stands
  // for as many rows of the interior as have its entries.
  static constexpr std::int64_t kX = 256, kY = 6, kZ = 6;
  static constexpr double kSampled = static_cast<double>((3 * kX - 2) * (3 * kY - 2) * (3 * kZ - 2)) / 27;
  static std::vector<neuron::RunReport> sample(const tile::Machine& machine) {
    const auto a = sparse::stencil27<float>(kX, kY, kZ);
    const Executor e = Executor::open(fmt::format("sim:{}", machine.name));
    const sparse::SpmmPlan<float> plan(e, a.to(e), {.columns = 1});
    return Kernels::one(sparse::spmm_program(plan, 1), machine);
  }
  std::int64_t n_ = 512, planes_ = 0;
};

// q = sqrt(2 p) blocks of orbitals; a rank has one pair of blocks, or the own pairs of two. The fit, which every rank
// makes whole, is not a part of it.
class Mp2 final : public Operation {
 public:
  std::string name() const override { return "mp2"; }
  std::string summary() const override { return "the pair energies of DF-MP2 by blocks of orbitals"; }
  void add_options(Options& o) override {
    constexpr std::int64_t kExtent = std::int64_t{1} << 16;
    o.number("--nocc", nocc_, "occupied orbitals", 1, kExtent);
    // Programs of these extents are written out to be timed.
    o.number("--naux", naux_, "fitting functions", 1, 8192);
    o.number("--nvir", nvir_, "virtual orbitals", 1, 2048);
    o.text("--precision", precision_, "tf32x3, native, bf16x6, tf32 or bf16",
           {"tf32x3", "native", "bf16x6", "tf32", "bf16"});
  }
  std::string dtype() const override { return "fp32, " + precision_; }
  std::string shape() const override {
    return fmt::format("mp2 nocc {}, naux {}, nvir {}, {}", nocc_, naux_, nvir_, precision_);
  }
  double work() const override { return static_cast<double>(nocc_) * static_cast<double>(nocc_ + 1) / 2; }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Mp2>(*this);
    larger->nocc_ = static_cast<std::int64_t>(std::llround(static_cast<double>(nocc_) * std::sqrt(chips)));
    return larger;
  }
  // The quickest number of blocks, around one pair of blocks for each rank.
  Result model(const Setting& s) override {
    const double one_each = std::sqrt(2.0 * static_cast<double>(s.placement.size()));
    const auto most = std::clamp<std::int64_t>(std::llround(3 * one_each) + 2, 1, nocc_);
    std::optional<Result> best;
    for (auto q = std::clamp<std::int64_t>(std::llround(one_each / 2), 1, most); q <= most; ++q) {
      const Result r = with_blocks(s, q);
      if (!best || r.seconds < best->seconds) best = r;
    }
    return *best;
  }

 private:
  Result with_blocks(const Setting& s, std::int64_t q) {
    const auto p = s.placement.size();
    const auto b = static_cast<double>((nocc_ + q - 1) / q), own = b * (b + 1) / 2;
    // Pairs of blocks, then own pairs two blocks at a time, go around the ranks.
    const std::int64_t tasks = q * (q - 1) / 2 + (q + 1) / 2, turns = (tasks + p - 1) / p;
    const double pairs = q == 1 ? own : static_cast<double>(turns) * std::max(b * b, 2 * own);
    const LaunchTime some =
        block(s, b, q == 1 ? own : pairs, static_cast<double>(turns) * (2 * own > b * b ? 4 : 2) * b);
    Result r;
    r.compute_s = some.seconds;
    // Every rank has made all of B itself, and its blocks come from its own memory: the terms of pairs are what moves.
    const tile::CollectiveCost sum = tile::collective_cost(s.fabric, tile::CollectiveKind::AllGather, work() * 16,
                                                           tile::members(s.placement), s.eta);
    r.communication_s = p > 1 ? sum.seconds() : 0;
    r.bytes = p > 1 ? sum.wire_bytes : 0;
    r.seconds = r.compute_s + r.communication_s;
    r.binding = r.compute_s >= r.communication_s ? some.binding : sum.binding;
    r.memory = 4 * static_cast<double>(nocc_) * static_cast<double>(naux_) * static_cast<double>(nvir_);
    r.note = fmt::format("{} blocks of {:.0f} orbitals, at most {:.0f} pairs a rank", q, b, pairs);
    return r;
  }

  // So many pairs whose kernels load `loads` orbitals. A program of r x c pairs takes r c x + (r + c) y + z; three
  // small ones give the numbers.
  LaunchTime block(const Setting& s, double b, double pairs, double loads) {
    const auto some = [&](std::int64_t rows, std::int64_t columns) {
      return kernels_->run(
          fmt::format("{} pairs {} {} {} {} {}", s.machine.name, naux_, nvir_, precision_, rows, columns), s, [&] {
            const blas::PairEnergyShape shape{.mode = Precision::parse(precision_).mode(),
                                              .nocc = rows + columns,
                                              .naux = naux_,
                                              .nvir = nvir_,
                                              .left = rows};
            return Kernels::one(blas::pair_energy_program(shape, s.machine), s.machine);
          });
    };
    if (b <= 1) return {some(1, 1).seconds * pairs, some(1, 1).binding};
    const LaunchTime small = some(2, 2), wide = some(2, 4), square = some(4, 4);
    const double x = ((square.seconds - wide.seconds) - (wide.seconds - small.seconds)) / 4;
    const double y = ((wide.seconds - small.seconds) - 4 * x) / 2, z = small.seconds - 4 * x - 4 * y;
    return {pairs * x + loads * y + z, square.binding};
  }
  std::int64_t nocc_ = 256, naux_ = 6144, nvir_ = 1792;
  std::string precision_ = "tf32x3";
};

}  // namespace

std::unique_ptr<Operation> conjugate_gradients() { return std::make_unique<Cg>(); }
std::unique_ptr<Operation> mp2() { return std::make_unique<Mp2>(); }

}  // namespace trn::tools::scale
