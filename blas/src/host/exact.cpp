// The integer product of Precision Exact on the host: integers in three balanced limbs of 21 bits, nine dgemms per 2048
// of k whose sums stay below 2^53, added in 192 bits. The same integers as the device's, so the same bits in the end.
//
// Limbs are made panel by panel; the last panel of either operand is kept, or the last two (exact::Partition).
#include <cblas.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include <trn/core/parallel.hpp>

#include "../exact.hpp"

namespace trn::blas::host {

namespace {

using exact::Block;
using exact::Wide;

constexpr std::int64_t kChunk = 2048;  // three products of 2^40 each, 2048 times: below 2^53
constexpr int kLimbs = 3, kLimbBits = 21;

struct Panel {
  std::int64_t first = -1, count = 0;            // rows of the operand; of each plane in turn
  std::array<std::vector<double>, kLimbs> limb;  // planes x count x depth each; empty when zero everywhere
};

Panel split(const exact::Operand& s, std::span<const std::int32_t> shift, std::int64_t first, std::int64_t count) {
  Panel panel{first, count, {}};
  const std::vector<double> x = s.read(first, count);
  std::atomic<bool> used[kLimbs] = {};
  for (auto& limb : panel.limb) limb.resize(x.size());
  const bool wide = s.wide();
  parallel_for(s.planes() * count, x.size() > 1 << 14, [&](std::int64_t r) {
    bool used_here[kLimbs] = {};
    const int by = shift[static_cast<std::size_t>(first + r % count)];
    for (std::int64_t p = 0; p < s.depth(); ++p) {
      const auto at = static_cast<std::size_t>(r * s.depth() + p);
      std::int64_t q = exact::integer(wide ? exact::slice(x[at], by) : exact::slice(static_cast<float>(x[at]), by));
      for (int l = 0; l < kLimbs; ++l) {
        std::int64_t low = q;
        if (l + 1 < kLimbs) {
          constexpr std::int64_t half = std::int64_t{1} << (kLimbBits - 1);
          low = ((q + half) & (2 * half - 1)) - half;
          q = (q - low) >> kLimbBits;
        }
        panel.limb[static_cast<std::size_t>(l)][at] = static_cast<double>(low);
        used_here[l] = used_here[l] || low != 0;
      }
    }
    for (int l = 0; l < kLimbs; ++l) {
      if (used_here[l]) used[l].store(true, std::memory_order_relaxed);
    }
  });
  for (int l = 0; l < kLimbs; ++l) {
    if (!used[l]) panel.limb[static_cast<std::size_t>(l)] = {};
  }
  return panel;
}

// The panels of one operand, the last ones of them in memory, the latest first.
class Panels {
 public:
  Panels(const exact::Operand& operand, std::span<const std::int32_t> shift, std::int64_t size, std::size_t kept)
      : operand_(operand), shift_(shift), size_(size), kept_(kept) {}
  const Panel& holding(std::int64_t row) {
    const std::int64_t first = row / size_ * size_;
    if (kept_.front().first == first) return kept_.front();
    std::swap(kept_.front(), kept_.back());
    if (kept_.front().first == first) return kept_.front();
    kept_.front() = {};
    return kept_.front() = split(operand_, shift_, first, std::min(size_, operand_.rows() - first));
  }

 private:
  const exact::Operand& operand_;
  std::span<const std::int32_t> shift_;
  std::int64_t size_;
  std::vector<Panel> kept_;
};

class HostSource final : public exact::Source {
 public:
  explicit HostSource(const ExactArgs& args)
      : depth_(args.a.depth()),
        planes_(args.a.planes()),
        left_(args.a, args.shift_a, args.partition.rows, args.partition.kept),
        right_(args.b, args.shift_b, args.partition.columns, args.partition.kept) {}

  void fetch(const Block& block, Wide* x) override {
    std::fill(x, x + planes_ * block.rows * block.columns, Wide{});
    if (depth_ == 0) return;
    const Panel &a = left_.holding(block.row), &b = right_.holding(block.column);
    constexpr std::int64_t kRows = exact::Partition::kStrip;
    sums_.resize(static_cast<std::size_t>(std::min(kRows, block.rows) * block.columns));
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      for (std::int64_t r = 0; r < block.rows; r += kRows) {
        const std::int64_t rows = std::min(kRows, block.rows - r);
        multiply(a, plane * a.count + block.row + r - a.first, rows, b, block.column - b.first, block.columns,
                 x + (plane * block.rows + r) * block.columns);
      }
    }
  }

 private:
  // Rows [r, r + rows) of a panel by columns [c, c + columns) of the other.
  void multiply(const Panel& a, std::int64_t r, std::int64_t rows, const Panel& b, std::int64_t c, std::int64_t columns,
                Wide* x) {
    for (std::int64_t k = 0; k < depth_; k += kChunk) {
      const std::int64_t deep = std::min(kChunk, depth_ - k);
      for (int weight = 0; weight <= 2 * (kLimbs - 1); ++weight) {
        bool first = true;
        for (int i = std::max(0, weight - kLimbs + 1); i <= std::min(weight, kLimbs - 1); ++i) {
          const auto &left = a.limb[static_cast<std::size_t>(i)], &right = b.limb[static_cast<std::size_t>(weight - i)];
          if (left.empty() || right.empty()) continue;
          cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows), static_cast<int>(columns),
                      static_cast<int>(deep), 1, left.data() + r * depth_ + k, static_cast<int>(depth_),
                      right.data() + c * depth_ + k, static_cast<int>(depth_), first ? 0 : 1, sums_.data(),
                      static_cast<int>(columns));
          first = false;
        }
        if (first) continue;
        parallel_for(rows * columns, rows * columns > 1 << 14, [&](std::int64_t i) {
          x[i].add(static_cast<std::int64_t>(sums_[static_cast<std::size_t>(i)]), kLimbBits * weight);
        });
      }
    }
  }

  std::int64_t depth_, planes_;
  Panels left_, right_;
  std::vector<double> sums_;
};

}  // namespace

// exact_gemm has checked that extents fit in an int.
void exact_product(const Executor&, const ExactArgs& args) {
  HostSource source(args);
  args.consume(source);
}

}  // namespace trn::blas::host
