// The choice of blocks: the least of the Tensor Engine's, the DMA engines' and the copies' time.
#include "skinny_blocks.hpp"

#include <algorithm>
#include <limits>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>

#include "array_rows.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::BoxGroup;
using blocks::BoxIndex;
using blocks::ceil_div;
using blocks::extent_of;

namespace {

constexpr std::size_t kD = 3;
constexpr std::ptrdiff_t kFreeDims = 3;  // of an engine's pattern: the stationary tile is one
constexpr double kOverlapLost = 0.15;    // engines work at the same time, but never quite
constexpr std::int64_t kNarrow = 48;
constexpr double kClearly = 0.85;  // of the other kernel's time: what is not, it may win

// Elements that lie in a row: dimensions of these strides and counts, in any order.
using Lengths = std::vector<std::pair<std::int64_t, std::int64_t>>;
std::int64_t run_of(Lengths lengths) {
  std::erase_if(lengths, [](const auto& d) { return d.second == 1; });
  std::sort(lengths.begin(), lengths.end());
  std::int64_t run = 1;
  for (const auto& [stride, count] : lengths) {
    if (stride != run) break;
    run *= count;
  }
  return run;
}

}  // namespace

BlocksOfLong::BlocksOfLong(const ProductShape& s, const Scheme& scheme, const Machine& machine)
    : m_(machine), by_(sides(s)), word_(scheme.word), reads_c_(s.beta != Factor::Zero) {
  columns_ = extent_of(by_.y), depth_ = extent_of(s.k), tiles_ = ceil_div(depth_, m_.partitions);
  in_bytes_ = size_bytes(scheme.real), out_bytes_ = size_bytes(real_of(s.out));
  parts_ = ArrayRows(depth_, m_).parts();
}

double BlocksOfLong::Costs::total() const {
  const double longest = std::max({tensor, dma, copies, issues});
  return longest + fill + kOverlapLost * (tensor + dma + copies - longest);
}

// Of a matmul.
double BlocksOfLong::cycles(std::int64_t columns) const {
  const Timing& t = m_.timing;
  const auto n = static_cast<double>(columns);
  if (word_ != DType::Float32) return std::max(n + t.matmul_overhead_cycles, t.matmul_min_cycles);
  return t.fp32_passes * std::max(t.fp32_factor * n + t.fp32_overhead_cycles, t.matmul_min_cycles);
}

// Of the array, cycles per second: below `warm_use` of its rows it stays cold.
double BlocksOfLong::rate(std::int64_t parts) const {
  const double rows = static_cast<double>(std::min(depth_, m_.partitions) * parts) / static_cast<double>(m_.partitions);
  return (rows < m_.timing.limiter_warm_use ? m_.timing.limiter_cold_rate : 1) * m_.tensor_hz;
}

// Seconds that `count` elements take in runs of that length.
double BlocksOfLong::moved(double count, std::int64_t run, std::int64_t bytes, double rate) const {
  return count / static_cast<double>(run * m_.dma_engines) *
         (m_.timing.dma_run_overhead_s + static_cast<double>(run * bytes) / rate);
}

// Of X's elements, or with `store` of D's. What blocks leave of an index moves in shorter runs.
double BlocksOfLong::all_moved(const BoxGroup& l, const Ranges& r, bool store) const {
  const auto run = [&](std::size_t shortened, std::int64_t rest) {
    Lengths lengths;
    for (std::size_t i = 0; i < l.size(); ++i) {
      const std::int64_t size = store ? r[i].f : r[i].size();
      lengths.emplace_back(std::abs(l[i].stride[store ? kD : by_.x_number]),
                           i == shortened ? std::min(size, rest) : size);
    }
    for (const BoxIndex& i : by_.y) {
      if (store) lengths.emplace_back(std::abs(i.stride[kD]), i.extent);
    }
    return run_of(lengths);
  };
  const std::int64_t bytes = store ? out_bytes_ : in_bytes_;
  const double rate = store ? m_.timing.dma_store_bytes_per_s : m_.timing.dma_engine_bytes_per_s;
  double seconds = 0, whole = static_cast<double>(extent_of(l) * (store ? columns_ : depth_));
  for (std::size_t i = 0; i < l.size(); ++i) {
    const std::int64_t rest = l[i].extent % r[i].size();
    if (rest == 0) continue;
    const double share = static_cast<double>(rest) / static_cast<double>(l[i].extent);
    seconds += moved(whole * share, run(i, rest), bytes, rate);
    whole *= 1 - share;
  }
  return seconds + moved(whole, run(l.size(), 0), bytes, rate);
}

BlocksOfLong::Costs BlocksOfLong::costs(const BoxGroup& l, const Ranges& r) const {
  const Timing& t = m_.timing;
  std::int64_t blocks = 1, f = 1;
  for (std::size_t i = 0; i < l.size(); ++i) blocks *= ceil_div(l[i].extent, r[i].size()), f *= r[i].f;
  // Parts of the array start one after another.
  const auto parts = static_cast<double>(parts_);
  const double matmul = std::max(cycles(columns_) / rate(parts_) / parts, t.matmul_min_cycles / m_.tensor_hz);
  const auto count = static_cast<double>(blocks), walked = count * static_cast<double>(f);
  const double dma = all_moved(l, r, false) + all_moved(l, r, true) * (reads_c_ ? 2 : 1);
  const std::int64_t together = std::min(r[inner_index(l, r)].f, bank_groups());
  const double copy = static_cast<double>(columns_) / m_.vector_hz + t.vector_fixed_s / static_cast<double>(together);
  return {walked * static_cast<double>(tiles_) * matmul, dma, walked * copy / 2, count * t.dge_hardware_s,
          dma / std::max(1.0, count / parts)};
}

std::int64_t BlocksOfLong::bank_groups() const { return blocks::bank_columns(m_) / columns_; }

std::size_t BlocksOfLong::inner_index(const BoxGroup& l, const Ranges& r) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < l.size(); ++i) {
    const bool walked = r[best].f > 1;
    if (r[i].f > 1 && (!walked || std::abs(l[i].stride[kD]) < std::abs(l[best].stride[kD]))) best = i;
  }
  return best;
}

// Two blocks, Y and two blocks of D, in nine tenths of SBUF.
bool BlocksOfLong::fits(std::int64_t p, std::int64_t f) const {
  const std::int64_t x = 2 * tiles_ * p * f * in_bytes_, y = tiles_ * columns_ * in_bytes_,
                     each = out_bytes_ + (reads_c_ ? out_bytes_ + size_bytes(DType::Float32) : 0);
  return 10 * (x + y + 2 * parts_ * f * columns_ * each) <= 9 * m_.sbuf_bytes_per_partition;
}

// Every index tries its divisors and what partitions hold, and walks of a few lengths.
Ranges BlocksOfLong::choose(const BoxGroup& l) const {
  Ranges now(l.size()), best(l.size());
  double least = std::numeric_limits<double>::infinity();
  const auto step = [&](const auto& self, std::size_t i, std::int64_t p, std::int64_t f) -> void {
    if (i == l.size()) {
      const auto parallel = std::count_if(now.begin(), now.end(), [](const Range& r) { return r.p > 1; });
      if (parallel > kFreeDims) return;
      const double cost = costs(l, now).total();
      if (cost < 0.999 * least) least = cost, best = now;
      return;
    }
    const std::int64_t extent = l[i].extent, most = std::min(extent, m_.partitions / p);
    for (std::int64_t pi = 1; pi <= most; ++pi) {
      const bool worth = pi == 1 || pi == most || (pi >= 8 && extent % pi == 0);
      for (std::int64_t fi = 1; worth && fi <= extent / pi && fits(p * pi, f * fi); ++fi) {
        const bool length = fi <= 2 || fi == extent / pi || (extent / pi) % fi == 0 || (fi % 8 == 0 && fi <= 128);
        if (!length) continue;
        now[i] = {pi, fi};
        self(self, i + 1, p * pi, f * fi);
      }
    }
    now[i] = {};
  };
  step(step, 0, 1, 1);
  return best;
}

// The product kernel for one index or several (product_kernel.cpp, product_groups.cpp): the operand with D's unit
// stride moves in banks of 512; a long one that does not is 128 rows of D at a time.
bool BlocksOfLong::worthwhile() const {
  const auto unit = [](const BoxGroup& group, std::size_t operand) {
    const auto at = std::find_if(group.begin(), group.end(),
                                 [&](const BoxIndex& i) { return i.extent > 1 && std::abs(i.stride[operand]) == 1; });
    return at - group.begin();
  };
  const auto in_d = unit(by_.x, kD), in_x = unit(by_.x, by_.x_number);
  const bool moves = in_d < static_cast<std::ptrdiff_t>(by_.x.size());
  if (moves && in_d != in_x) return true;  // it would be permuted first
  // Of 16 bits D's rows would be short, and the array takes 512 columns four times as quickly as float32's.
  if (moves && out_bytes_ == 2 && columns_ > kNarrow) return false;
  const Timing& t = m_.timing;
  const std::int64_t bank = blocks::bank_columns(m_), moving = moves ? bank : columns_;
  const auto l = static_cast<double>(extent_of(by_.x)), pieces = l / static_cast<double>(moves ? bank : m_.partitions);
  const double bytes = l * static_cast<double>(depth_ * in_bytes_ + columns_ * out_bytes_ * (reads_c_ ? 2 : 1));
  const Costs plain{pieces * static_cast<double>(tiles_) * cycles(moving) / rate(1), bytes / m_.dma_bytes_per_s(),
                    pieces * (static_cast<double>(moving) / m_.vector_hz + t.vector_fixed_s) / 2,
                    pieces * t.dge_hardware_s};
  return costs(by_.x, choose(by_.x)).total() < kClearly * plain.total();
}

}  // namespace trn::blas::device
