// Fourier transforms on many ranks: local transforms by trnfft's plans and exchanges of everything with everybody.
// Slabs while there are no more ranks than planes: one exchange; pencils beyond: two; one dimension by four steps:
// three exchanges in natural order, two where the result may stay transposed. Nothing overlaps.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

#include <trn/core/error.hpp>
#include <trn/fft/plan_programs.hpp>

#include "scale_model.hpp"

namespace trn::tools::scale {

namespace {

class Fft final : public Operation {
 public:
  std::string name() const override { return "fft"; }
  std::string summary() const override { return "complex transforms in fp32 of one, two or three dimensions"; }
  void add_options(Options& o) override {
    o.numbers("--n", lengths_, "lengths, one per axis, at most three", 2, std::int64_t{1} << 36);
    o.flag("--transposed", transposed_, "one dimension: leave the result transposed, one exchange less");
  }
  void check() const override {
    require(lengths_.size() <= 3, "scale fft: {} axes; give one, two or three lengths", lengths_.size());
    require(!transposed_ || lengths_.size() == 1, "scale fft: --transposed is for one dimension");
    require(points() <= 1e15, "scale fft: {:.1e} points are more than any of these machines holds", points());
    if (lengths_.size() > 1) {
      for (const std::int64_t n : lengths_)
        require(n <= kLine, "scale fft: an axis of {} points; with several axes at most {}", n, kLine);
      return;
    }
    (void)factors();
  }
  std::string shape() const override { return fmt::format("fft c2c fp32 {}", fmt::join(lengths_, " x ")); }
  double work() const override { return points() * std::log2(points()); }
  std::unique_ptr<Operation> weak(double chips) const override {
    auto larger = std::make_unique<Fft>(*this);
    // Powers of two go to the axes in turn.
    double left = chips;
    for (std::size_t axis = 0; left >= 2; left /= 2) larger->lengths_[axis] *= 2, axis = (axis + 1) % lengths_.size();
    return larger;
  }
  Result model(const Setting& s) override {
    const auto p = static_cast<double>(s.placement.size());
    Result r;
    r.memory = 2 * 8 * points() / p;
    if (lengths_.size() == 1) {
      const auto [n1, n2] = factors();
      local(r, s, {n1}, static_cast<double>(n2) / p);
      local(r, s, {n2}, static_cast<double>(n1) / p);
      for (int i = 0; i < (transposed_ ? 2 : 3); ++i) exchange(r, s, p);
      r.note = fmt::format("four steps, {} x {}", n1, n2);
    } else if (lengths_.size() == 2) {
      local(r, s, {lengths_[1]}, static_cast<double>(lengths_[0]) / p);
      local(r, s, {lengths_[0]}, static_cast<double>(lengths_[1]) / p);
      exchange(r, s, p);
      r.note = "slabs";
    } else if (p <= static_cast<double>(std::min(lengths_[0], lengths_[1]))) {
      local(r, s, {lengths_[1], lengths_[2]}, static_cast<double>(lengths_[0]) / p);
      local(r, s, {lengths_[0]}, static_cast<double>(lengths_[1]) * static_cast<double>(lengths_[2]) / p);
      exchange(r, s, p);
      r.note = "slabs";
    } else {
      for (std::size_t axis = 0; axis < 3; ++axis)
        local(r, s, {lengths_[axis]}, points() / static_cast<double>(lengths_[axis]) / p);
      pencils(r, s, p);
      r.note = "pencils";
    }
    r.seconds = r.compute_s + r.communication_s;
    if (r.communication_s > r.compute_s) r.binding = wire_;
    return r;
  }

 private:
  static constexpr std::int64_t kLine = 16384;  // that one program transforms
  double points() const {
    return std::accumulate(lengths_.begin(), lengths_.end(), 1.0,
                           [](double a, std::int64_t b) { return a * static_cast<double>(b); });
  }
  // n = n1 n2, near the square root: from n alone, so that bits do not depend on the ranks.
  std::pair<std::int64_t, std::int64_t> factors() const {
    const std::int64_t n = lengths_[0];
    for (auto d = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))); d >= 2; --d) {
      if (n % d == 0 && n / d <= kLine * 16) return {d, n / d};
    }
    fail<InvalidArgument>("scale fft: {} has no two factors near its root; give a length with small factors", n);
  }
  // So many transforms of these lengths on one rank.
  void local(Result& r, const Setting& s, const std::vector<std::int64_t>& lengths, double count) {
    const double size = std::accumulate(lengths.begin(), lengths.end(), 1.0,
                                        [](double a, std::int64_t b) { return a * static_cast<double>(b); });
    constexpr double kSample = 1 << 22;  // points of the programs that are estimated
    const auto batch = static_cast<std::int64_t>(std::max(1.0, std::min(std::ceil(count), kSample / size)));
    const LaunchTime p = kernels_->run(
        fmt::format("{} fft {} {}", s.machine.name, fmt::join(lengths, "x"), batch), s,
        [&] {
          std::vector<neuron::RunReport> reports;
          const Executor e = Executor::open(fmt::format("sim:{}", s.machine.name));
          const auto d = fft::dense(fft::Kind::ComplexToComplex, fft::Direction::Forward, lengths, {.batch = batch});
          for (const auto& program : fft::plan_programs(e, d, DType::Float32))
            reports.push_back(neuron::estimate(*program, s.machine));
          return reports;
        },
        count / static_cast<double>(batch));
    r.compute_s += p.seconds;
    r.binding = p.binding;
  }
  void add(Result& r, const tile::CollectiveCost& c) {
    r.communication_s += c.seconds();
    r.bytes += c.wire_bytes;
    wire_ = c.binding;
  }
  void exchange(Result& r, const Setting& s, double p) {
    add(r, tile::collective_cost(s.fabric, tile::CollectiveKind::AllToAll, 8 * points() / p, tile::members(s.placement),
                                 s.eta));
  }
  // A grid with all ranks of a chip, or as many more as fit below the root of p, in its rows: one exchange stays within
  // the chips or the node, one goes between.
  void pencils(Result& r, const Setting& s, double p) {
    const tile::Placement& at = s.placement;
    const double bytes = 8 * points() / p;
    const tile::Members rows{.per_chip = at.ranks, .chips = at.chips, .nodes = 1, .sharing = 1, .lnc = at.lnc};
    if (at.nodes == 1) {
      const tile::Members row{.per_chip = at.ranks, .chips = 1, .lnc = at.lnc},
          column{.per_chip = 1, .chips = at.chips, .sharing = at.ranks, .lnc = at.lnc};
      add(r, tile::collective_cost(s.fabric, tile::CollectiveKind::AllToAll, bytes, row, s.eta));
      add(r, tile::collective_cost(s.fabric, tile::CollectiveKind::AllToAll, bytes, column, s.eta));
      return;
    }
    add(r, tile::collective_cost(s.fabric, tile::CollectiveKind::AllToAll, bytes, rows, s.eta));
    const tile::Members column{.per_chip = 1, .chips = 1, .nodes = at.nodes, .sharing = at.ranks, .lnc = at.lnc};
    add(r, tile::collective_cost(s.fabric, tile::CollectiveKind::AllToAll, bytes, column, s.eta));
  }

  std::vector<std::int64_t> lengths_{2048, 2048, 2048};
  bool transposed_ = false;
  std::string wire_;
};

}  // namespace

std::unique_ptr<Operation> fft() { return std::make_unique<Fft>(); }

}  // namespace trn::tools::scale
