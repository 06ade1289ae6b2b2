// What has programs without exchanges, or exchanges without programs: random numbers on many ranks, and one
// distribution into another.
#include <algorithm>
#include <cmath>

#include <trn/rand/fill_program.hpp>

#include "scale_steps.hpp"

namespace trn::tools::scale {

namespace {

// The same values whatever the ranks are: each makes those of its own part, from its place in the stream.
class Rand final : public Operation {
 public:
  std::string name() const override { return "rand"; }
  std::string summary() const override { return "uniform fp32 values of Philox, each rank its own part"; }
  void add_options(Options& o) override { o.number("--n", n_, "values", 1, std::int64_t{1} << 46); }
  std::string shape() const override { return fmt::format("rand uniform fp32 {}", n_); }
  double work() const override { return static_cast<double>(n_); }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Rand>(*this);
    larger->n_ = static_cast<std::int64_t>(std::llround(static_cast<double>(n_) * chips));
    return larger;
  }
  Result model(const Setting& s) override {
    constexpr std::int64_t kSample = 1 << 24;  // values of the program that is estimated
    const std::int64_t ranks = s.placement.size(), share = (n_ + ranks - 1) / ranks, some = std::min(share, kSample);
    const rand::FillShape shape{.draw = rand::Draw::OpenClosed, .count = some};
    const LaunchTime t = kernels_->run(
        fmt::format("{} rand {}", s.machine.name, some), s,
        [&] { return Kernels::one(rand::fill_program(shape, s.machine), s.machine); },
        static_cast<double>(share) / static_cast<double>(some));
    Result r;
    r.seconds = r.compute_s = t.seconds;
    r.memory = 4 * static_cast<double>(share);
    r.binding = t.binding;
    r.note = fmt::format("{} values a rank", share);
    return r;
  }

 private:
  std::int64_t n_ = std::int64_t{1} << 36;
};

// From blocks on a grid, where products and Cholesky want them, to whole columns, where LU and QR do.
class Redistribute final : public Operation {
 public:
  std::string name() const override { return "redistribute"; }
  std::string summary() const override { return "an fp32 matrix from blocks of 512 on a grid to whole columns"; }
  void add_options(Options& o) override { o.number("--n", n_, "order", 1, std::int64_t{1} << 22); }
  std::string shape() const override { return fmt::format("redistribute fp32 {} x {}", n_, n_); }
  double work() const override { return static_cast<double>(n_) * static_cast<double>(n_); }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Redistribute>(*this);
    larger->n_ = static_cast<std::int64_t>(std::llround(static_cast<double>(n_) * std::sqrt(chips)));
    return larger;
  }
  Result model(const Setting& s) override {
    const LevelGrid grid = best_grid(s, 1e9, 1e9);
    const auto ranks = static_cast<double>(s.placement.size());
    Result r;
    r.binding = "nothing";
    if (s.placement.size() > 1) {
      const tile::CollectiveCost c = to_columns(s, n_, n_, kBlockSize);
      r.seconds = r.communication_s = c.seconds();
      r.bytes = c.wire_bytes;
      r.binding = c.binding;
    }
    r.memory = 2 * 4 * static_cast<double>(n_) * static_cast<double>(n_) / ranks;
    r.note = fmt::format("from a grid of {} x {} to 1 x {}; packing is the host's, and not priced", grid.rows(),
                         grid.columns(), s.placement.size());
    return r;
  }

 private:
  std::int64_t n_ = 65536;
};

}  // namespace

std::unique_ptr<Operation> rand() { return std::make_unique<Rand>(); }
std::unique_ptr<Operation> redistribute() { return std::make_unique<Redistribute>(); }

}  // namespace trn::tools::scale
