// The table of words and the error terms that follow from it: words.hpp derives them.
#include <trn/tile/words.hpp>

#include <algorithm>
#include <array>

#include <trn/core/error.hpp>
#include <trn/tile/machine.hpp>

namespace trn::tile {

namespace {

constexpr double kUnit = 0x1p-24;
constexpr WordProduct kOne[] = {{0, 0}}, kThree[] = {{1, 0}, {0, 1}, {0, 0}},
                      kSix[] = {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};

// A word type overflows halfway between its largest number and 2^128: at 2^128 (1 - 2^-(bits + 1)).
constexpr double kTf32Overflow = 0x1p128 - 0x1p116, kBf16Overflow = 0x1p128 - 0x1p119;
constexpr double kTf32Lost = 0x1p-137, kBf16Lost = 0x1p-134;
constexpr double kNever = 0x1p128;

constexpr std::array kTable{
    Words{Mode::Native, DType::Float32, 24, 1, kOne, 0, kNever, 0, 2, 3},
    Words{Mode::Tf32, DType::TFloat32, 11, 1, kOne, 0x1p-10 + 0x1p-22, kTf32Overflow, kTf32Lost, 1, 0},
    Words{Mode::Bf16, DType::BFloat16, 8, 1, kOne, 0x1p-7 + 0x1p-16, kBf16Overflow, kBf16Lost, 1, 0},
    Words{Mode::Tf32x3, DType::TFloat32, 11, 2, kThree, 0x1p-21 + 0x1p-46, kTf32Overflow, kTf32Lost, 3, 0},
    Words{Mode::Bf16x6, DType::BFloat16, 8, 3, kSix, 0x1p-24 + 0x1p-34, kBf16Overflow, kBf16Lost, 6, 0},
};

// Products that one matmul sums, and the matmuls of k products; the same on every machine.
double inside(std::int64_t k) { return static_cast<double>(std::min(k, machines().front().partitions)); }
double groups(std::int64_t k) {
  const std::int64_t side = machines().front().partitions;
  return static_cast<double>((k + side - 1) / side);
}

}  // namespace

const Words& words_of(Mode mode) {
  const auto found = std::ranges::find(kTable, mode, &Words::mode);
  ensure(found != kTable.end(), "precision: mode {} is not made of words", name(mode));
  return *found;
}

double chain_roundings(const Words& words, double terms) {
  const auto side = static_cast<double>(machines().front().partitions);
  return terms + words.psum_additions + words.extra_roundings * std::max(1.0, terms / side);
}

double sum_roundings(const Words& words, std::int64_t k) {
  return inside(k) + words.psum_additions * groups(k) + words.extra_roundings;
}

double sum_error(const Words& words, std::int64_t k) {
  return k == 0 ? 0 : sum_roundings(words, k) * kUnit + words.product_error;
}

double narrow_roundings(std::int64_t k) { return inside(k) + groups(k); }

double split_sum_error(const Words& words, std::int64_t k) {
  if (k == 0 || words.count == 1) return sum_error(words, k);
  const double others = inside(k) + static_cast<double>(words.products.size() - 1) * groups(k);
  const bool three = words.count == 3;
  const double size = three ? 0x1p-7 + 0x1p-15 : 0x1p-10 + 0x1p-21;
  const double leading = three ? std::min(inside(k), 64.0) + 8 + 2 + 6 : inside(k) + groups(k) + 2;
  return (leading + size * others) * kUnit + words.product_error;
}

double host_sum_error(const Words& words, std::int64_t k) {
  if (k == 0) return 0;
  const auto products = static_cast<double>(words.products.size());
  const double roundings = words.count == 3 ? inside(k) + products + 1 : static_cast<double>(k) + products - 1;
  return roundings * kUnit + words.product_error;
}

}  // namespace trn::tile
