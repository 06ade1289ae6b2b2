// Conjugate gradients on a 27-point stencil and the pair energies of MP2 on many ranks.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/blas/vector_programs.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/pair_deal.hpp>
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
    const bool whole = mine <= kWhole && depth() % static_cast<std::int64_t>(s.placement.size()) == 0;
    const LaunchTime product =
        whole ? kernels_->run(fmt::format("{} stencil {} {}", s.machine.name, n_, mine), s,
                              [&] { return own(s.machine, n_, std::llround(mine / plane)); })
              : kernels_->run(
                    fmt::format("{} stencil", s.machine.name), s, [&] { return sample(s.machine); }, mine / kSampled);
    constexpr std::int64_t kElements = 1 << 20;
    const std::int64_t some = std::min(kElements, static_cast<std::int64_t>(std::ceil(mine)));
    const auto vector = [&](const char* what, auto build) {
      return kernels_
          ->run(fmt::format("{} {} {}", s.machine.name, what, some), s, build, mine / static_cast<double>(some))
          .seconds;
    };
    const double axpy = vector("axpy", [&] {
      return Kernels::one(blas::vector_program({.operation = blas::VectorOperation::Axpy, .n = some}, s.machine),
                          s.machine);
    });
    const double dot = vector("dot", [&] {
      return Kernels::one(blas::reduction_program({.reduction = blas::Reduction::Dot, .n = some}, s.machine),
                          s.machine);
    });
    r.compute_s = product.seconds + 3 * axpy + 2 * dot;
    // Ranks that have whole planes need whole planes.
    const double halo = p > 1 ? 2 * 4 * (plane + (whole ? 0 : static_cast<double>(n_) + 1)) : 0;
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
    r.note = fmt::format("{:.3g} non-zeros, product {:.0f} us, five vector operations {:.0f} us", nonzeros(),
                         product.seconds * 1e6, (3 * axpy + 2 * dot) * 1e6);
    return r;
  }

 private:
  std::int64_t depth() const { return planes_ > 0 ? planes_ : n_; }
  double rows() const { return static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(depth()); }
  double nonzeros() const {
    const auto line = [](std::int64_t n) { return 3 * static_cast<double>(n) - 2; };
    return line(n_) * line(n_) * line(depth());
  }
  // Rows of few enough planes, with a plane of the neighbours' on both sides: the program that such a rank runs.
  static constexpr double kWhole = 1 << 16;
  static std::vector<neuron::RunReport> own(const tile::Machine& machine, std::int64_t n, std::int64_t planes) {
    std::vector<std::int64_t> rows, columns;
    const std::int64_t plane = n * n;
    for (std::int64_t at = 0; at < planes * plane; ++at) {
      const std::int64_t x = at % n, y = at / n % n, z = at / plane;
      for (std::int64_t k = z; k <= z + 2; ++k) {
        for (std::int64_t j = std::max<std::int64_t>(0, y - 1); j <= std::min(n - 1, y + 1); ++j) {
          for (std::int64_t i = std::max<std::int64_t>(0, x - 1); i <= std::min(n - 1, x + 1); ++i)
            rows.push_back(at), columns.push_back((k * n + j) * n + i);
        }
      }
    }
    const std::vector<float> ones(rows.size(), 1);
    const auto a = sparse::Csr<float>::from_triplets(Executor::host(), {planes * plane, (planes + 2) * plane},
                                                     {rows, columns, ones});
    return product_of(machine, a);
  }
  // A small grid by the library's own plan; rows of its interior have 27 entries, those of its faces fewer: it stands
  // for as many rows of the interior as have its entries.
  static constexpr std::int64_t kX = 256, kY = 6, kZ = 6;
  static constexpr double kSampled = static_cast<double>((3 * kX - 2) * (3 * kY - 2) * (3 * kZ - 2)) / 27;
  static std::vector<neuron::RunReport> sample(const tile::Machine& machine) {
    return product_of(machine, sparse::stencil27<float>(kX, kY, kZ));
  }
  static std::vector<neuron::RunReport> product_of(const tile::Machine& machine, const sparse::Csr<float>& a) {
    const Executor e = Executor::open(fmt::format("sim:{}", machine.name));
    const sparse::SpmmPlan<float> plan(e, a.to(e), {.columns = 1});
    return Kernels::one(sparse::spmm_program(plan, 1), machine);
  }
  std::int64_t n_ = 512, planes_ = 0;
};

// Pairs of blocks of orbitals as trn::mp2 deals them. The fit, which every rank makes whole, is not a part of it.
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
  // The deal of trn::mp2, of the rank that takes longest.
  Result model(const Setting& s) override {
    const auto p = static_cast<int>(s.placement.size());
    const mp2::PairDeal deal = mp2::deal_pairs(nocc_, p, nocc_);
    Result r;
    struct Share {
      double seconds = 0, pairs = 0;
    };
    std::vector<Share> shares(static_cast<std::size_t>(p));
    std::map<std::pair<std::int64_t, std::int64_t>, LaunchTime> calls;
    deal.deal(p, [&](int rank, const mp2::PairTask& task) {
      const std::int64_t left = deal.size(task.first), right = task.second == task.first ? 0 : deal.size(task.second);
      const auto [one, added] = calls.try_emplace({left, right});
      if (added) one->second = call(s, left, right);
      Share& share = shares[static_cast<std::size_t>(rank)];
      share.seconds += one->second.seconds;
      share.pairs += static_cast<double>(right > 0 ? left * right : left * (left + 1) / 2);
    });
    const Share busiest = *std::ranges::max_element(shares, {}, &Share::seconds);
    r.compute_s = busiest.seconds;
    r.binding = calls.begin()->second.binding;
    // Every rank has made all of B itself, and its blocks come from its own memory: the terms of pairs are what moves,
    // three numbers each.
    const tile::CollectiveCost sum = tile::collective_cost(s.fabric, tile::CollectiveKind::AllReduce, work() * 24,
                                                           tile::members(s.placement), s.eta);
    r.communication_s = p > 1 ? sum.seconds() : 0;
    r.bytes = p > 1 ? sum.wire_bytes : 0;
    r.seconds = r.compute_s + r.communication_s;
    if (r.compute_s < r.communication_s) r.binding = sum.binding;
    r.memory = 4 * static_cast<double>(nocc_) * static_cast<double>(naux_) * static_cast<double>(nvir_);
    r.note = fmt::format("{} blocks of {} orbitals, {:.0f} pairs on the busiest rank", deal.blocks(), deal.block,
                         busiest.pairs);
    return r;
  }

 private:
  // One call: pairs of `left` and `right` orbitals, or of those within `left`. A program of r x c pairs takes
  // r c x + (r + c) y + z; of more than a few orbitals three small ones give the numbers.
  LaunchTime call(const Setting& s, std::int64_t left, std::int64_t right) {
    const auto some = [&](std::int64_t rows, std::int64_t columns) {
      return kernels_->run(
          fmt::format("{} pairs {} {} {} {} {}", s.machine.name, naux_, nvir_, precision_, rows, columns), s, [&] {
            const blas::PairEnergyShape shape{.mode = Precision::parse(precision_).mode(),
                                              .nocc = rows + columns,
                                              .naux = naux_,
                                              .nvir = nvir_,
                                              .left = columns > 0 ? rows : 0};
            return Kernels::one(blas::pair_energy_program(shape, s.machine), s.machine);
          });
    };
    constexpr std::int64_t kFew = 4;
    if (left <= kFew && right <= kFew) return some(left, right);
    const LaunchTime small = some(2, 2), wide = some(2, 4), square = some(4, 4);
    const double x = ((square.seconds - wide.seconds) - (wide.seconds - small.seconds)) / 4;
    const double y = ((wide.seconds - small.seconds) - 4 * x) / 2, z = small.seconds - 4 * x - 4 * y;
    const auto l = static_cast<double>(left), r = static_cast<double>(right);
    const double pairs = right > 0 ? l * r : l * (l + 1) / 2;
    return {pairs * x + (l + r) * y + z, square.binding};
  }
  std::int64_t nocc_ = 256, naux_ = 6144, nvir_ = 1792;
  std::string precision_ = "tf32x3";
};

}  // namespace

std::unique_ptr<Operation> conjugate_gradients() { return std::make_unique<Cg>(); }
std::unique_ptr<Operation> mp2() { return std::make_unique<Mp2>(); }

}  // namespace trn::tools::scale
