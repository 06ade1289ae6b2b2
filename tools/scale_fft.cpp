// Fourier transforms on many ranks: the programs and exchanges of trnfft's distributed plans. Slabs while there are no
// more ranks than planes: one exchange; pencils beyond: two; one dimension by four steps: three exchanges in natural
// order, two where the result may stay transposed. Nothing overlaps.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

#include <trn/core/error.hpp>
#include <trn/fft/dist_programs.hpp>

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
    const auto p = static_cast<int>(s.placement.size());
    const Work& work = work_of(s, p);
    Result r;
    r.memory = 2 * 8 * points() / p;
    for (std::size_t i = 0; i < work.lines.size(); ++i) {
      const LaunchTime t = kernels_->run(
          fmt::format("{} fft {} {} {} {}", s.machine.name, fmt::join(lengths_, "x"), transposed_, p, i), s,
          [&] { return work.lines[i].reports; }, work.lines[i].times);
      r.compute_s += t.seconds;
      r.binding = t.binding;
    }
    std::string wire;
    for (const std::vector<int>& partners : work.exchanges) {
      const tile::CollectiveCost c = tile::collective_cost(s.fabric, tile::CollectiveKind::AllToAll, 8 * points() / p,
                                                           tile::members(s.placement, partners), s.eta);
      r.communication_s += c.seconds();
      r.bytes += c.wire_bytes;
      wire = c.binding;
    }
    r.seconds = r.compute_s + r.communication_s;
    if (r.communication_s > r.compute_s) r.binding = wire;
    r.note = work.note;
    return r;
  }

 private:
  static constexpr std::int64_t kLine = 16384;  // that one program transforms
  // What trnfft's distributed plan does on the first rank.
  struct Work {
    struct Lines {
      std::vector<neuron::RunReport> reports;
      double times;
    };
    std::vector<Lines> lines;
    std::vector<std::vector<int>> exchanges;
    std::string note;
  };
  const Work& work_of(const Setting& s, int ranks) {
    const std::string key = fmt::format("{} {} {} {}", s.machine.name, fmt::join(lengths_, "x"), transposed_, ranks);
    const auto [found, added] = work_->try_emplace(key);
    if (!added) return found->second;
    constexpr std::int64_t kSample = 1 << 22;  // points of the programs that are estimated
    fft::DistDescription d{fft::Kind::ComplexToComplex, fft::Direction::Forward, lengths_};
    if (transposed_) d.order = fft::SpectrumOrder::Transposed;
    const fft::DistWork made =
        fft::dist_programs(Executor::open(fmt::format("sim:{}", s.machine.name)), d, ranks, kSample);
    Work& work = found->second;
    for (const fft::DistPrograms& some : made.lines) {
      Work::Lines lines{{}, some.times};
      for (const auto& program : some.programs) lines.reports.push_back(neuron::estimate(*program, s.machine));
      work.lines.push_back(std::move(lines));
    }
    work.exchanges = made.exchanges;
    if (lengths_.size() == 1) {
      const auto [n1, n2] = factors();
      work.note = fmt::format("four steps, {} x {}", n1, n2);
    } else {
      work.note = made.exchanges.size() > 1 ? "pencils" : "slabs";
    }
    return work;
  }
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

  std::vector<std::int64_t> lengths_{2048, 2048, 2048};
  bool transposed_ = false;
  std::shared_ptr<std::map<std::string, Work>> work_ = std::make_shared<std::map<std::string, Work>>();
};

}  // namespace

std::unique_ptr<Operation> fft() { return std::make_unique<Fft>(); }

}  // namespace trn::tools::scale
