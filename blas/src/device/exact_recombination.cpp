// Recombination: the loops and the instructions.
//
// Tiles of 128 x 128 elements (128 x 64 beside products) follow one another in four stages, so that no engine waits for
// what another has just begun. Time on trn2 per tile of 128 x 128 with 16 moduli (5 limbs): Vector 3 instructions,
// 2.6 us; Scalar 10, 2.8 us; GpSimd 3, 2.9 us; Tensor 16 matmuls of 96 columns, 0.7 us (1.4 us cold); DMA 0.52 MB in
// and 0.33 MB out, 2.1 us.
#include "exact_recombination.hpp"

#include <algorithm>
#include <cmath>

#include <trn/tile/blocks/loops.hpp>

#include "exact_slices.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {
constexpr double kDigit = 1 << exact::Recombination::kDigitBits;

// Tiles of SBUF are (words, banks, 32), those of PSUM (banks, words, 32).
Access by_word(const Access& sums) { return sums.permute({1, 0, 2}); }
Access word(const Access& x, std::int64_t k, std::int64_t count = 1) { return x(all, ds(k, count), all, all); }
// The even (0) or odd (1) words of `count` pairs.
Access half(const Access& words, std::int64_t which, std::int64_t count) {
  return drop(words.split(0, 2)(all, ds(0, count), ds(which, 1), all, all), 1);
}
}  // namespace

std::int64_t Recombine::group(int moduli, const Machine& machine) {
  std::int64_t g = kBankColumns;
  while (g * moduli > machine.partitions) g /= 2;
  return g;
}

std::int64_t Recombine::bytes_beside(int moduli, std::int64_t rows, const Machine& machine) {
  const std::int64_t limbs = exact::recombination(moduli).limbs, words = 2 + 2 * limbs + 2 * (limbs - 1) + limbs;
  return 2 * ceil_div(kColumnsBeside, group(moduli, machine)) * rows * size_bytes(DType::Float16) +
         kStages * words * kColumnsBeside * size_bytes(DType::Float32);
}

Recombine::Recombine(Builder& b, int moduli, const Access& digits, const Access& weights, const Access& limbs)
    : b_(b),
      constants_(exact::recombination(moduli)),
      side_(b.machine().partitions),
      group_(group(moduli, b.machine())),
      words_(2 * constants_.limbs),
      own_words_(words_ * 2 / 5),
      digits_(digits),
      limbs_(limbs) {
  weights_ = b_.sbuf("weights", group_ * moduli, {words_ + 2, group_}, DType::Float16);
  b_.dma_copy(weights_, weights);
  if (own_words_ == 0) return;
  minus_p_ = b_.sbuf("minus_p", side_, {words_}, DType::Float32);
  for (std::int64_t k = 0; k < words_; ++k)
    b_.memset(minus_p_(all, ds(k, 1)), -static_cast<double>(constants_.product[static_cast<std::size_t>(k)]));
}

void Recombine::build(const Part& part) {
  for_blocks(b_, "jc", part.columns, kColumns, LoopKind::Parallel, [&](const Affine& j0, std::int64_t count) {
    // Rows per load: two buffers of digits leave a third of SBUF to the rest.
    std::int64_t block = kTilesMax * side_;
    while (ceil_div(count, group_) * block * size_bytes(DType::Float16) > b_.machine().sbuf_bytes_per_partition / 3)
      block /= 2;
    for_blocks(b_, "rw", part.rows, block, LoopKind::Parallel, [&](const Affine& rw, std::int64_t width) {
      for (const auto& step : steps({j0 + part.column, count, rw + part.row, width}, kColumns)) step();
    });
  });
}

Recombine::Steps Recombine::steps(const Part& part, std::int64_t wide) {
  const std::int64_t moduli = constants_.moduli, strips = ceil_div(part.columns, wide);
  // Digits are loaded for `wide` columns at a time, the first ones now, the others a few steps before they are needed:
  // then the ring never waits for a tile that is still in use, and one buffer each is enough.
  std::vector<Access> loaded;
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const std::int64_t columns = std::min(wide, part.columns - strip * wide);
    loaded.push_back(b_.sbuf("digits_in", std::min(group_, columns) * moduli, {ceil_div(columns, group_), part.rows},
                             DType::Float16, strips > 1 ? 1 : 2));
  }
  const auto load = [this, part, wide, moduli, loaded](std::int64_t strip) {
    const std::int64_t columns = std::min(wide, part.columns - strip * wide), whole = columns / group_,
                       rest = columns % group_;
    const Access& digits = loaded[static_cast<std::size_t>(strip)];
    const Access from = digits_(ds(part.column + strip * wide, columns), all, ds(part.row, part.rows));
    if (whole > 0) {  // (groups, group, moduli, width) -> (group, moduli, groups, width)
      b_.dma_copy(digits(ds(0, group_ * moduli), ds(0, whole), all),
                  from(ds(0, whole * group_)).split(0, group_).permute({1, 2, 0, 3}));
    }
    if (rest > 0) b_.dma_copy(digits(ds(0, rest * moduli), ds(whole, 1), all), from(ds(whole * group_, rest)));
  };
  load(0);

  const std::int64_t down = ceil_div(part.rows, side_), tiles = down * strips, high = std::min(part.rows, side_),
                     banks = ceil_div(std::min(part.columns, wide), kBankColumns);
  std::vector<Access> sums;
  std::vector<Slot> slots;
  for (std::int64_t t = 0; t < std::min(kStages, tiles); ++t) {
    if (t < 2) sums.push_back(b_.psum("sums_of_words", high, {banks, kSums, kBankColumns}));
    const auto tile = [&](const char* name, std::int64_t words, DType dtype) {
      return words > 0 ? b_.sbuf(name, high, {words, banks, kBankColumns}, dtype) : Access{};
    };
    const std::int64_t limbs = constants_.limbs;
    slots.push_back({tile("fraction_of_p", 1, DType::Float32), tile("quotient_of_p", 1, DType::Int32),
                     tile("words", words_, DType::Float32), tile("carry", limbs - 1, DType::Int32),
                     tile("carried", limbs - 1, DType::Float32), tile("limbs_out", limbs, DType::Float32)});
  }
  std::vector<Tile> all_tiles;
  for (std::int64_t t = 0; t < tiles; ++t) {
    Tile tile;
    const std::int64_t column = t / down * wide;
    tile.first_row = t % down * side_;
    tile.rows = std::min(side_, part.rows - tile.first_row), tile.columns = std::min(wide, part.columns - column);
    tile.row = part.row + tile.first_row, tile.column = part.column + column;
    const auto cut = [&](const Access& x) { return x.present() ? x(ds(0, tile.rows)) : x; };
    const Slot& s = slots[static_cast<std::size_t>(t % kStages)];
    tile.sums = cut(sums[static_cast<std::size_t>(t % 2)]);
    tile.slot = {cut(s.fraction), cut(s.quotient), cut(s.words), cut(s.carry), cut(s.carried), cut(s.out)};
    all_tiles.push_back(std::move(tile));
  }
  Steps result;
  for (std::int64_t step = 0; step < tiles + kStages - 1; ++step) {
    result.push_back([this, step, tiles, down, strips, load, loaded, all_tiles] {
      for (std::int64_t strip = 1; strip < strips; ++strip) {
        if (step == std::max<std::int64_t>(0, strip * down - kAhead)) load(strip);
      }
      const auto stage = [&](std::int64_t behind, const auto& work) {
        if (step >= behind && step - behind < tiles) work(all_tiles[static_cast<std::size_t>(step - behind)]);
      };
      stage(1, [&](const Tile& t) { subtract(t); });
      stage(0, [&](const Tile& t) { multiply(t, loaded[static_cast<std::size_t>(step / down)]), begin(t); });
      stage(0, [&](const Tile& t) { multiply_product(t); });
      stage(1, [&](const Tile& t) { carry(t); });
      stage(2, [&](const Tile& t) { take_carry(t); });
      stage(3, [&](const Tile& t) { finish(t); });
    });
  }
  return result;
}

void Recombine::multiply(const Tile& t, const Access& digits) {
  for (std::int64_t c0 = 0; c0 < t.columns; c0 += group_) {
    const std::int64_t columns = std::min(group_, t.columns - c0), deep = columns * constants_.moduli;
    b_.nc_matmul(drop(t.sums(all, ds(c0 / kBankColumns, 1), ds(0, words_ + 2), ds(c0 % kBankColumns, columns)), 0),
                 drop(digits(ds(0, deep), ds(c0 / group_, 1), ds(t.first_row, t.rows)), 0),
                 weights_(ds(0, deep), all, ds(0, columns)));
  }
}

template <class Step> void Recombine::each_part(std::int64_t count, const Step& step) const {
  const std::int64_t whole = count / kBankColumns, rest = count % kBankColumns;
  if (whole > 0) step([&](const Access& x) { return x(all, all, ds(0, whole), all); }, whole, kBankColumns);
  if (rest > 0) step([&](const Access& x) { return x(all, all, ds(whole, 1), ds(0, rest)); }, 1, rest);
}

// fraction = S_high + S_low / 2^12, quotient = round(fraction / 2^12)
void Recombine::begin(const Tile& t) {
  each_part(t.columns, [&](const auto& pick, std::int64_t, std::int64_t) {
    const Access sums = pick(by_word(t.sums)), fraction = pick(t.slot.fraction);
    b_.activation(fraction, ActFunction::Copy, word(sums, words_ + 1), {.scale = 1 / kDigit});
    b_.tensor_tensor(fraction, word(sums, words_), fraction, AluOp::Add, Engine::Vector);
    b_.activation(pick(t.slot.quotient), ActFunction::Copy, fraction, {.scale = 1 / kDigit});
  });
}

// words[k] = -q P_k: the last own_words_ by GpSimd at once, the others by Scalar.
void Recombine::multiply_product(const Tile& t) {
  each_part(t.columns, [&](const auto& pick, std::int64_t banks, std::int64_t columns) {
    const Access q = pick(t.slot.quotient), words = pick(t.slot.words);
    const std::int64_t first = words_ - own_words_;
    if (own_words_ > 0) {
      const Access p = minus_p_(ds(0, t.rows), ds(first, own_words_)).broadcast(1, banks).broadcast(2, columns);
      b_.tensor_tensor(word(words, first, own_words_), drop(q, 0).broadcast(0, own_words_), p, AluOp::Multiply,
                       Engine::GpSimd);
    }
    for (std::int64_t k = 0; k < first; ++k) {
      b_.activation(word(words, k), ActFunction::Copy, q,
                    {.scale = -static_cast<double>(constants_.product[static_cast<std::size_t>(k)])});
    }
  });
}

// words = S - q P: the words that Scalar makes first, then the others, so that Vector need not wait for them all.
void Recombine::subtract(const Tile& t) {
  const std::int64_t early = (words_ - own_words_) / 2;
  each_part(t.columns, [&](const auto& pick, std::int64_t, std::int64_t) {
    const Access sums = pick(by_word(t.sums)), words = pick(t.slot.words);
    const auto some = [&](std::int64_t first, std::int64_t n) {
      b_.tensor_tensor(word(words, first, n), word(sums, first, n), word(words, first, n), AluOp::Add, Engine::Vector);
    };
    some(0, early);
    some(early, words_ - early);
  });
}

// carry = c, carried = 2^12 c
void Recombine::carry(const Tile& t) {
  if (constants_.limbs == 1) return;
  each_part(t.columns, [&](const auto& pick, std::int64_t, std::int64_t) {
    b_.activation(pick(t.slot.carry), ActFunction::Copy, half(pick(t.slot.words), 1, constants_.limbs - 1),
                  {.scale = 1 / kDigit});
    b_.activation(pick(t.slot.carried), ActFunction::Copy, pick(t.slot.carry), {.scale = kDigit});
  });
}

void Recombine::take_carry(const Tile& t) {
  if (constants_.limbs == 1) return;
  each_part(t.columns, [&](const auto& pick, std::int64_t, std::int64_t) {
    const Access odd = half(pick(t.slot.words), 1, constants_.limbs - 1);
    b_.tensor_tensor(odd, odd, pick(t.slot.carried), AluOp::Subtract, Engine::GpSimd);
  });
}

void Recombine::finish(const Tile& t) {
  const std::int64_t limbs = constants_.limbs;
  each_part(t.columns, [&](const auto& pick, std::int64_t, std::int64_t) {
    const Access words = pick(t.slot.words), out = pick(t.slot.out);
    b_.scalar_tensor_tensor(out, half(words, 1, limbs), AluOp::Multiply, kDigit, AluOp::Add, half(words, 0, limbs));
    if (limbs > 1)
      b_.tensor_tensor(word(out, 1, limbs - 1), word(out, 1, limbs - 1), pick(t.slot.carry), AluOp::Add,
                       Engine::GpSimd);
  });
  const std::int64_t whole = t.columns / kBankColumns * kBankColumns;
  if (whole > 0)
    b_.dma_copy(limbs_(ds(t.row, t.rows), all, ds(t.column, whole)),
                t.slot.out(all, all, ds(0, whole / kBankColumns), all), apart(b_.machine()));
  if (whole < t.columns) {
    b_.dma_copy(limbs_(ds(t.row, t.rows), all, ds(t.column + whole, t.columns - whole)),
                t.slot.out(all, all, ds(whole / kBankColumns, 1), ds(0, t.columns - whole)), apart(b_.machine()));
  }
}

}  // namespace trn::blas::device
