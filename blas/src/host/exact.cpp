// The integer product of Precision Exact on the host: integers in three balanced limbs of 21 bits, nine dgemms per 2048 of k whose
// sums stay below 2^53, added in 192 bits. The same integers as the device's, so the same bits in the end.
#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "../exact.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kChunk = 2048;  // three products of 2^40 each, 2048 times: below 2^53
constexpr int kLimbs = 3, kLimbBits = 21;

struct Split {
  std::vector<double> limb[kLimbs];  // rows x depth each; empty when zero everywhere
};

Split split(std::span<const double> x, std::span<const std::int32_t> shift, std::int64_t depth, bool wide) {
  Split s;
  bool used[kLimbs] = {};
  for (auto& limb : s.limb) limb.resize(x.size());
#pragma omp parallel for reduction(|| : used[:kLimbs]) if (x.size() > 1 << 14)
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int by = shift[static_cast<std::size_t>(i / depth)];
    std::int64_t q = exact::integer(wide ? exact::slice(x[at], by) : exact::slice(static_cast<float>(x[at]), by));
    for (int l = 0; l < kLimbs; ++l) {
      std::int64_t low = q;
      if (l + 1 < kLimbs) {
        constexpr std::int64_t half = std::int64_t{1} << (kLimbBits - 1);
        low = ((q + half) & (2 * half - 1)) - half;
        q = (q - low) >> kLimbBits;
      }
      s.limb[l][at] = static_cast<double>(low);
      used[l] = used[l] || low != 0;
    }
  }
  for (int l = 0; l < kLimbs; ++l) {
    if (!used[l]) s.limb[l].clear();
  }
  return s;
}

}  // namespace

// exact_gemm has checked that extents fit in an int.
void exact_product(const Executor&, const ExactArgs& args) {
  const bool wide = real_of(args.g.in) == DType::Float64;
  const Split a = split(args.a, args.shift_a, args.depth, wide), b = split(args.b, args.shift_b, args.depth, wide);
  constexpr std::int64_t kRows = 256;
  const std::int64_t n = args.columns;
  std::vector<double> sums(static_cast<std::size_t>(std::min(kRows, args.rows) * n));
  std::vector<exact::Wide> x(sums.size());
  for (std::int64_t r0 = 0; r0 < args.rows; r0 += kRows) {
    const std::int64_t rows = std::min(kRows, args.rows - r0);
    std::fill(x.begin(), x.end(), exact::Wide{});
    for (std::int64_t k0 = 0; k0 < args.depth; k0 += kChunk) {
      const std::int64_t depth = std::min(kChunk, args.depth - k0);
      for (int weight = 0; weight <= 2 * (kLimbs - 1); ++weight) {
        bool first = true;
        for (int i = std::max(0, weight - kLimbs + 1); i <= std::min(weight, kLimbs - 1); ++i) {
          const auto &left = a.limb[i], &right = b.limb[weight - i];
          if (left.empty() || right.empty()) continue;
          cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows), static_cast<int>(n), static_cast<int>(depth), 1,
                      left.data() + r0 * args.depth + k0, static_cast<int>(args.depth), right.data() + k0, static_cast<int>(args.depth),
                      first ? 0 : 1, sums.data(), static_cast<int>(n));
          first = false;
        }
        if (first) continue;
#pragma omp parallel for if (rows * n > 1 << 14)
        for (std::int64_t i = 0; i < rows * n; ++i) {
          x[static_cast<std::size_t>(i)].add(static_cast<std::int64_t>(sums[static_cast<std::size_t>(i)]), kLimbBits * weight);
        }
      }
    }
#pragma omp parallel for if (rows * n > 1 << 12)
    for (std::int64_t i = 0; i < rows; ++i) args.sink(r0 + i, x.data() + i * n);
  }
}

}  // namespace trn::blas::host
