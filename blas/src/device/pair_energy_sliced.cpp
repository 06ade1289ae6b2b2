// pair_energy of float64 operands on a machine without float64: exact sums of integer slices on the Tensor Engine, two
// fp32 words after them.
//
//   once             column_exponents (a program of its own; the host reads them), then B as six slices of 7 bits below
//     each column's largest element
//   for each i, for a batch of j (as many as give instructions about 768 elements in a partition):
//     GpSimd         weights (e_a + e_b - e_i - e_j)^-1/2 in three words, ahead of everything else
//       pair_weights.hpp
//     for each group of up to 768 auxiliary functions, row tile of T and bank of PSUM, that is up to 512 columns (j,
//       b):
//       Tensor       products d_k d_l of each order k + l = 0 .. 6 in one bank: 26 matmuls for 128 rows
//       Scalar       sums L_o of the orders to SBUF
//       Vector       T = sum_o L_o 2^(-7 o) in two words, hi a multiple of 2^-f
//     Vector         Z = T * weight, then the sums of Z^2; DMA turns Z; (Z - Z^T)^2 and its sums
//       double_words.hpp
//
// a is on partitions. Nothing that the Tensor Engine does waits for the batch before it, except for the copies of seven
// banks. At nvir 448, naux 1536 a pair takes the Tensor Engine 233 us and the others less than half of that; at nvir
// 152, naux 672 the Vector Engine's 75 passes bind, 25 us a pair.
//
// Errors, s_a and s_b the scales of two columns, K = naux. Orders 0 to 4 are exact: 5 * 768 * 65^2 < 2^24. In units of
// s_a s_b 2^-12:
//   slices          |dT| <= 1.25 * 2^-42 (s_a ||b_b||_1 + s_b ||b_a||_1)
//   orders >= 7     4.1 * 65^2 K 2^-49
//   orders 5, 6     at most 6 * 768 - 2^24 / 65^2 < 700 sums of a group exceed 2^24 and lose 1: 700 * 2^-35 a group
//   assembly        hi is exact, lo errs by 3.1 * 2^(-24-f) a group and, summed over G groups, by 1.7 G^2 2^(-24-f)
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/stores.hpp>

#include "pair_energy_sliced.hpp"
#include "pair_weights.hpp"
#include "panel_slices.hpp"
#include "vectors.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using device::DoubleWords;
using device::drop;
using device::EnergyWords;
using device::kSlices;
using device::TilePool;
using device::Weight;
using device::Word;
using device::WordPair;

namespace {

constexpr int kOrders = 7;
constexpr std::int64_t kElements = 768;      // of a batch, in a partition; sum_squares takes no more than 1024
constexpr std::int64_t kMostGroupTiles = 6;  // 768 auxiliary functions
constexpr std::int64_t kSlackBytes = 4096;   // energies of the occupied orbitals, tiles of the slicing
constexpr std::int64_t kExactRows = 3990;    // sums of hi over all groups are below 2^24

class SlicedKernel {
 public:
  SlicedKernel(const SlicedPairEnergyShape& shape, const Machine& machine)
      : s_(shape),
        cut_(shape, machine),
        range_{shape.nocc, shape.left},
        b_("blas_pair_energy_sliced", machine),
        side_(machine.partitions),
        fraction_(sliced_fraction_bits(shape.naux)) {}

  Program build() {
    const Access b = b_.input("b", DType::UInt32, {s_.nocc, s_.naux, s_.nvir, 2});
    const Access exponents = b_.input("exponents", DType::Float32, {s_.nocc, s_.nvir});
    powers_ = b_.input("powers", DType::Float32, {s_.nocc, s_.nvir});
    const Access occupied = b_.input("occupied", DType::Float32, {3, s_.nocc}),
                 virtuals = b_.input("virtuals", DType::Float32, {3, s_.nvir});
    sums_ = b_.output("sums", DType::Float32, {range_.count(), cut_.height, cut_.columns()});
    const Access norms = b_.output("norms", DType::Float32, {s_.nocc, s_.nvir});
    slices_ = device::slice_panels(b_, {s_.nocc, s_.naux, s_.nvir}, b, exponents, norms);
    declare();
    load_energies(occupied, virtuals);
    for (std::int64_t i = 0; i < range_.rows(); ++i) pairs_of(i);
    for (const Step& step : pending_) step();
    return tile::static_stores(b_.finish());
  }

 private:
  using Step = std::function<void()>;
  // Pairs (i, j) .. (i, j + pairs - 1), rows [number, number + pairs) of the sums.
  struct Batch {
    std::int64_t i;
    Affine j;
    std::int64_t pairs;
    Affine number;
    std::int64_t slot;
  };

  // Tiles live as long as the program: the code below is recorded for every i. What one batch leaves to the next engine
  // has two slots, and batches take turns.
  void declare() {
    const std::int64_t depth = std::min(side_, s_.naux), n = s_.nvir, batch = cut_.pairs * n, bank = cut_.per_bank * n;
    const auto tile = [&](const std::string& name, Shape shape) {
      return b_.sbuf(name, cut_.height, std::move(shape), DType::Float32);
    };
    for (int k = 0; k < kSlices; ++k) {
      left_.push_back(
          b_.sbuf("left" + std::to_string(k), depth, {cut_.left_slots, cut_.group_tiles, n}, DType::BFloat16));
      right_.push_back(b_.sbuf("right" + std::to_string(k), depth, {2, cut_.group_tiles, bank}, DType::BFloat16));
    }
    for (int order = 0; order < kOrders; ++order) {
      banks_.push_back(b_.psum("order" + std::to_string(order), cut_.height, {blocks::bank_columns(b_.machine())}));
      levels_.push_back(tile("level" + std::to_string(order), {bank}));
    }
    for (int slot = 0; slot < 2; ++slot) {
      t_[static_cast<std::size_t>(slot)] = {tile("t_hi", {cut_.tiles * batch}), tile("t_lo", {cut_.tiles * batch})};
      if (slot < cut_.weight_slots())
        weight_[static_cast<std::size_t>(slot)] = {
            tile("weight_w", {cut_.part * batch}),
            b_.sbuf("weight_a", cut_.height, {cut_.part * batch}, DType::TFloat32),
            tile("weight_b", {cut_.part * batch})};
    }
    turned_ = {tile("turned_hi", {cut_.part * batch}), tile("turned_lo", {cut_.part * batch})};
    columns_out_ = tile("columns", {2, cut_.pairs * cut_.columns()});
    row_powers_ = tile("row_powers", {2, batch});
    column_powers_ = tile("column_powers", {2, cut_.tiles});
    one_ = tile("one", {1});
    b_.memset(one_, 1);
    three_eighths_ = tile("three_eighths", {1});
    b_.memset(three_eighths_, 0.375);
    words_.emplace(b_, TilePool(b_, "word", cut_.height, std::max(cut_.part * batch, bank), DoubleWords::kWords));
    weights_.emplace(b_, "weight", cut_.height, cut_.part * batch, device::kWeightWords + (cut_.parts > 1 ? 6 : 0));
  }

  // Energies in every partition; those of the virtuals also down the partitions of each row tile.
  void load_energies(const Access& occupied, const Access& virtuals) {
    for (std::int64_t w = 0; w < 3; ++w) {
      const auto at = static_cast<std::size_t>(w);
      occupied_[at] = b_.sbuf("e_occupied", cut_.height, {s_.nocc}, DType::Float32);
      rows_[at] = b_.sbuf("e_row", cut_.height, {s_.nvir}, DType::Float32);
      columns_[at] = b_.sbuf("e_column", cut_.height, {cut_.tiles}, DType::Float32);
      b_.dma_copy(occupied_[at], drop(occupied(ds(w, 1), all)).broadcast(0, cut_.height));
      b_.dma_copy(rows_[at], drop(virtuals(ds(w, 1), all)).broadcast(0, cut_.height));
      load_column(columns_[at], drop(virtuals(ds(w, 1), all)));
    }
  }
  // (height, tiles) from nvir numbers; rows past the last one repeat the first number.
  void load_column(const Access& to, const Access& from) {
    const std::int64_t height = cut_.height, whole = s_.nvir / height, last = s_.nvir % height;
    if (last > 0) b_.dma_copy(to(all, ds(whole, 1)), from(ds(0, 1)).broadcast(0, height));
    if (whole > 0) b_.dma_copy(to(all, ds(0, whole)), from(ds(0, whole * height)).split(0, height).permute({1, 0}));
    if (last > 0)
      b_.dma_copy(to(ds(0, last), ds(whole, 1)), from(ds(whole * height, last)).split(0, last).permute({1, 0}));
  }

  // Engines run in program order, so the products of a batch are recorded between the steps of the batch before it: the
  // Tensor Engine would otherwise wait for its banks until the Scalar Engine is done with everything else.
  void pairs_of(std::int64_t i) {
    const std::int64_t first = range_.first(i), count = s_.nocc - first, size = cut_.pairs, whole = count / size,
                       rest = count % size;
    load_column(column_power(i), drop(powers_(ds(i, 1), all)));
    if (cut_.groups == 1) fill(slot(left_, i % cut_.left_slots, cut_.group_tiles, s_.nvir), Affine(i), 1, 0);
    const auto make = [&](const Affine& b, std::int64_t pairs, std::int64_t at) {
      return Batch{i, b * size + first, pairs, b * size + range_.row(i), at};
    };
    const auto next = [&](const Batch& batch) {
      record(batch, pending_);
      pending_ = steps(batch);
      turn_ = 1 - batch.slot;
    };
    next(make(Affine(0), whole > 0 ? size : rest, turn_));
    if (whole == 0) return;
    const std::int64_t at = 1 - turn_, twice = (whole - 1) / 2;
    b_.sequential("j", twice, [&](Affine m) {
      record(make(m * 2 + 1, size, 1 - at), steps(make(m * 2, size, at)));
      record(make(m * 2 + 2, size, at), steps(make(m * 2 + 1, size, 1 - at)));
    });
    if (twice > 0) pending_ = steps(make(Affine(2 * twice), size, at));
    if (whole - 1 > 2 * twice) next(make(Affine(whole - 1), size, 1 - at));
    if (rest > 0) next(make(Affine(whole), rest, turn_));
  }
  [[nodiscard]] Access column_power(std::int64_t i) const { return drop(column_powers_(all, ds(i % 2, 1), all)); }

  // Weights and products of a batch, and between them the steps of another.
  void record(const Batch& batch, const std::vector<Step>& between) {
    // The Vector Engine weighs the other batch while the Scalar Engine waits for weights (before, where there are
    // parts, whose weights come from the same pool); the other steps are spread over the products.
    std::size_t done = 0, paused = 0;
    const auto pauses = static_cast<std::size_t>(cut_.groups * ceil_div(batch.pairs, cut_.per_bank) * cut_.tiles);
    const Step at_weights = [&] {
      if (done == 0 && cut_.parts == 1 && !between.empty()) between[done++]();
    };
    const Step pause = [&] {
      for (++paused; done < between.size() && (done - 1) * pauses < (between.size() - 1) * paused; ++done)
        between[done]();
    };
    if (cut_.parts > 1 && !between.empty()) between[done++]();
    const Access row_powers = row_power(batch);
    b_.dma_copy(row_powers, powers_(ds(batch.j, batch.pairs), all).broadcast(0, cut_.height));
    device::pair_weights(b_, *weights_, weight_input(batch), 0, cut_.part, weight_slot(batch), at_weights);
    products(batch, pause);
    while (done < between.size()) between[done++]();
  }
  [[nodiscard]] Access row_power(const Batch& batch) const {
    return drop(row_powers_(all, ds(batch.slot, 1), ds(0, batch.pairs * s_.nvir))).split(0, s_.nvir);
  }
  [[nodiscard]] device::WeightInput weight_input(const Batch& batch) const {
    device::WeightInput in{rows_, columns_, {}, {}, column_power(batch.i), row_power(batch), one_, three_eighths_};
    for (std::size_t w = 0; w < 3; ++w) {
      in.first[w] = occupied_[w](all, ds(batch.i, 1));
      in.second[w] = occupied_[w](all, ds(batch.j, batch.pairs));
    }
    return in;
  }
  // Weights of the first part, as three dimensions.
  [[nodiscard]] Weight weight_slot(const Batch& batch) const {
    const auto shaped = [&](const Access& a) {
      return Word(a(all, ds(0, batch.pairs * cut_.part * s_.nvir)).split(0, s_.nvir));
    };
    const Weight& weight = weight_[static_cast<std::size_t>(batch.slot % cut_.weight_slots())];
    return {shaped(weight.w), shaped(weight.a), shaped(weight.b)};
  }

  // A slot of every tile in a list: (128, tiles, columns).
  static std::vector<Access> slot(const std::vector<Access>& tiles, std::int64_t at, std::int64_t k_tiles,
                                  std::int64_t columns) {
    std::vector<Access> slots;
    for (const Access& tile : tiles) slots.push_back(drop(tile(all, ds(at, 1), ds(0, k_tiles), ds(0, columns))));
    return slots;
  }

  // (pairs, tiles, n) of the two words of a batch, and row tiles of one pair, or all of every pair, as (rows, n).
  [[nodiscard]] Access shaped(const Access& a, std::int64_t pairs) const {
    return a(all, ds(0, pairs * cut_.tiles * s_.nvir)).split(0, s_.nvir).split(0, cut_.tiles);
  }
  [[nodiscard]] WordPair part(const WordPair& x, std::int64_t pairs, std::int64_t first, std::int64_t count) const {
    const auto rows = [&](const Access& a) {
      return a(all, ds(first * s_.nvir, pairs * count * s_.nvir)).split(0, s_.nvir);
    };
    return {rows(x.hi), rows(x.lo)};
  }

  // Everything after the products of a batch.
  std::vector<Step> steps(const Batch& batch) {
    std::vector<Step> all_steps;
    const WordPair z = t_[static_cast<std::size_t>(batch.slot)];  // T, and Z where it was
    const auto weights = std::make_shared<std::vector<Weight>>(static_cast<std::size_t>(cut_.parts));
    const auto count_of = [this](std::int64_t p) { return std::min(cut_.part, cut_.tiles - p * cut_.part); };
    for (std::int64_t p = 0; p < cut_.parts; ++p) {
      all_steps.push_back([=, this] {
        if (p + 1 < cut_.parts) {  // the weights of the next part, one step ahead
          const Shape shape{batch.pairs * count_of(p + 1), s_.nvir};
          Weight& next = (*weights)[static_cast<std::size_t>(p + 1)];
          next = {weights_->take(cut_.height, shape), weights_->take(cut_.height, shape, DType::TFloat32),
                  weights_->take(cut_.height, shape)};
          device::pair_weights(b_, *weights_, weight_input(batch), (p + 1) * cut_.part, count_of(p + 1), next, [] {});
        }
        Weight& weight = (*weights)[static_cast<std::size_t>(p)];
        const WordPair x = part(z, batch.pairs, p * cut_.part, count_of(p));
        words_->weigh(x, x, p == 0 ? weight_slot(batch) : weight);
        weight = {};
      });
    }
    const Access columns = drop(columns_out_(all, ds(batch.slot, 1), ds(0, batch.pairs * cut_.columns())));
    const auto column = [=, this](std::int64_t p, std::int64_t which) {
      return [=, this](std::int64_t r, std::int64_t word) {
        return columns(all, ds(r * cut_.columns() + 8 * p + 4 * which + word, 1));
      };
    };
    for (std::int64_t p = 0; p < cut_.parts; ++p) {
      const std::int64_t first = p * cut_.part;
      all_steps.push_back([=, this] {
        turn_tiles(turned_.hi, shaped(z.hi, batch.pairs), batch.pairs, first, count_of(p));
        turn_tiles(turned_.lo, shaped(z.lo, batch.pairs), batch.pairs, first, count_of(p));
        words_->sum_squares(column(p, 0), part(z, batch.pairs, first, count_of(p)), batch.pairs);
      });
      all_steps.push_back([=, this] {
        const WordPair x = part(z, batch.pairs, first, count_of(p)),
                       turned = part(turned_, batch.pairs, 0, count_of(p));
        words_->sum_squares(column(p, 1), words_->difference(x, turned), batch.pairs);
      });
    }
    all_steps.push_back([=, this] {
      b_.dma_copy(sums_(ds(batch.number, batch.pairs), all, all).permute({1, 0, 2}), columns.split(0, cut_.columns()));
    });
    return all_steps;
  }

  // Row tiles [first, first + count) of Z^T, pair by pair: (height, pairs, count, n).
  void turn_tiles(const Access& to, const Access& z, std::int64_t pairs, std::int64_t first, std::int64_t count) {
    const std::int64_t n = s_.nvir, height = cut_.height;
    const Access turned = to(all, ds(0, pairs * count * n)).split(0, n).split(0, count);
    if (n % height > 0 && first + count == cut_.tiles) b_.memset(turned, 0, Engine::GpSimd);
    const auto middle = [](Access a) {  // the row tile's dimension of size 1 removed
      a.dims.erase(a.dims.begin() + 1);
      return a;
    };
    for (std::int64_t t = first; t < first + count; ++t) {
      const std::int64_t rows = std::min(height, n - t * height);
      for (std::int64_t u = 0; u < cut_.tiles; ++u) {
        const std::int64_t from = std::min(height, n - u * height);
        b_.dma_transpose(middle(turned(ds(0, rows), all, ds(t - first, 1), ds(u * height, from))),
                         middle(z(ds(0, from), all, ds(u, 1), ds(t * height, rows))));
      }
    }
  }

  // T of a batch, group after group.
  void products(const Batch& batch, const Step& pause) {
    const std::int64_t all_tiles = ceil_div(s_.naux, side_), pairs = batch.pairs,
                       panels = cut_.groups * ceil_div(pairs, cut_.per_bank);
    const WordPair& words = t_[static_cast<std::size_t>(batch.slot)];
    const Access hi = shaped(words.hi, pairs), lo = shaped(words.lo, pairs);
    if (s_.nvir % cut_.height > 0) {
      b_.memset(hi, 0, Engine::GpSimd);
      b_.memset(lo, 0, Engine::GpSimd);
    }
    std::int64_t panel = panels % 2 * batch.slot;  // slots take turns from batch to batch, too
    for (std::int64_t g = 0; g < cut_.groups; ++g) {
      const std::int64_t first = g * cut_.group_tiles, tiles = std::min(cut_.group_tiles, all_tiles - first);
      const std::vector<Access> left = slot(left_, (cut_.groups == 1 ? batch.i : g) % cut_.left_slots, tiles, s_.nvir);
      if (cut_.groups > 1) fill(left, Affine(batch.i), 1, first);
      for (std::int64_t p = 0; p < pairs; p += cut_.per_bank, ++panel) {
        const std::int64_t some = std::min(cut_.per_bank, pairs - p);
        const std::vector<Access> right = slot(right_, panel % 2, tiles, some * s_.nvir);
        fill(right, batch.j + p, some, first);
        for (std::int64_t at = 0; at < cut_.tiles; ++at) {
          const std::int64_t rows = std::min(cut_.height, s_.nvir - at * cut_.height);
          const WordPair to{hi(ds(0, rows), ds(p, some), ds(at, 1), all), lo(ds(0, rows), ds(p, some), ds(at, 1), all)};
          assemble(to, orders(left, right, some, first + tiles == all_tiles, Affine(at), rows), g > 0);
          pause();
        }
      }
    }
  }

  // Orbitals i .. i + pairs - 1, k tiles from `first` on, k on partitions.
  void fill(const std::vector<Access>& to, const Affine& i, std::int64_t pairs, std::int64_t first) {
    const std::int64_t n = s_.nvir, tiles = to.front().dims.front().size;
    const bool ragged = s_.naux % side_ > 0 && first + tiles == ceil_div(s_.naux, side_);
    const std::int64_t whole = ragged ? tiles - 1 : tiles;
    for (std::size_t k = 0; k < to.size(); ++k) {
      for (std::int64_t p = 0; p < pairs; ++p) {
        const auto rows = [&](std::int64_t from, std::int64_t count) {
          return drop(slices_[k](ds(i + p, 1), ds(from, count), all));
        };
        const Access one = to[k](all, all, ds(p * n, n));
        if (whole > 0)
          b_.dma_copy(one(all, ds(0, whole), all),
                      rows(first * side_, whole * side_).split(0, side_).permute({1, 0, 2}));
        if (ragged)
          b_.dma_copy(drop(one(ds(0, s_.naux % side_), ds(whole, 1), all)),
                      rows((first + whole) * side_, s_.naux % side_));
      }
    }
  }

  // Sums of each order, in SBUF: rows [at * height, ...) of T.
  std::vector<Word> orders(const std::vector<Access>& left, const std::vector<Access>& right, std::int64_t pairs,
                           bool last, const Affine& at, std::int64_t rows) {
    const std::int64_t depth = s_.naux % side_, n = pairs * s_.nvir, tiles = left.front().dims.front().size,
                       whole = last && depth > 0 ? tiles - 1 : tiles;
    std::vector<Word> sums;
    for (int order = 0; order < kOrders; ++order) {
      const Access bank = banks_[static_cast<std::size_t>(order)](ds(0, rows), ds(0, n));
      bool fresh = true;
      for (int k = std::max(0, order - kSlices + 1); k <= std::min(order, kSlices - 1); ++k) {
        const Access &x = left[static_cast<std::size_t>(k)], &y = right[static_cast<std::size_t>(order - k)];
        const auto multiply = [&](const Affine& tile, std::int64_t k_rows) {
          b_.nc_matmul(bank, drop(x(ds(0, k_rows), ds(tile, 1), ds(at * cut_.height, rows))),
                       drop(y(ds(0, k_rows), ds(tile, 1), all)), {.accumulate = fresh ? tile : Affine(1)});
        };
        b_.sequential("k", whole, [&](Affine tile) { multiply(tile, side_); });
        if (whole < tiles) multiply(Affine(whole), depth);
        fresh = false;
      }
      const Access sum = levels_[static_cast<std::size_t>(order)](ds(0, rows), ds(0, n));
      b_.activation(sum, ActFunction::Copy, bank);
      sums.push_back(sum);
    }
    return sums;
  }

  // to (+)= sum over orders of L 2^(-7 order). What exceeds 2^-f is cut off L_1, L_2 and L_3 and added to L_0, exactly.
  void assemble(const WordPair& to, const std::vector<Word>& l, bool add) {
    DoubleWords& words = *words_;
    Word low = words.scaled_add(words.scaled_add(l[6], 0x1p-7, l[5]), 0x1p-7, l[4]), high = l[0];
    for (int order = 3; order >= 1; --order) {
      const Word& sum = l[static_cast<std::size_t>(order)];
      const Word whole = words.rounded(sum, std::ldexp(1.0, 7 * order - fraction_));
      high = words.scaled_add(whole, std::ldexp(1.0, -7 * order), high);
      low = words.scaled_add(low, 0x1p-7, words.subtract(sum, whole));
    }
    if (!add) {
      b_.activation(to.hi, ActFunction::Copy, high);
      b_.activation(to.lo, ActFunction::Copy, low, {.scale = 0x1p-7});
      return;
    }
    if (s_.naux > kExactRows) {
      const WordPair sum = words.two_sum(high, to.hi);
      low = words.scaled_add(sum.lo, 0x1p7, low);
      b_.tensor_copy(to.hi, sum.hi, Engine::Vector);
    } else {
      b_.tensor_tensor(to.hi, to.hi, high, AluOp::Add, Engine::Vector);
    }
    b_.scalar_tensor_tensor(to.lo, low, AluOp::Multiply, 0x1p-7, AluOp::Add, to.lo);
  }

  SlicedPairEnergyShape s_;
  SlicedCut cut_;
  PairRange range_;
  Builder b_;
  std::int64_t side_;
  int fraction_;
  std::optional<DoubleWords> words_;
  std::optional<TilePool> weights_;
  std::vector<Access> slices_, left_, right_, levels_, banks_;
  Access sums_, powers_, columns_out_, row_powers_, column_powers_, one_, three_eighths_;
  WordPair t_[2], turned_;
  Weight weight_[2];
  std::vector<Step> pending_;
  std::int64_t turn_ = 0;
  EnergyWords occupied_, rows_, columns_;
};

}  // namespace

SlicedCut::SlicedCut(const SlicedPairEnergyShape& s, const Machine& machine) {
  const std::int64_t bank = blocks::bank_columns(machine), k_tiles = ceil_div(s.naux, machine.partitions);
  tiles = ceil_div(s.nvir, machine.stationary_free_max);
  height = ceil_div(s.nvir, tiles);
  part = std::clamp<std::int64_t>(kElements / s.nvir, 1, tiles);
  parts = ceil_div(tiles, part);
  pairs = std::max<std::int64_t>(1, kElements / (tiles * s.nvir));
  per_bank = ceil_div(pairs, ceil_div(pairs * s.nvir, bank / s.nvir * s.nvir));
  // What the kernel declares besides the slices, and one k tile of those.
  const std::int64_t batch = pairs * s.nvir,
                     words = DoubleWords::kWords + device::kWeightWords + (parts > 1 ? 6 : 0) + 3 * weight_slots() + 2;
  const std::int64_t elements = 4 * tiles * batch + words * std::max(part * batch, per_bank * s.nvir) +
                                kOrders * per_bank * s.nvir + 2 * batch + 3 * s.nvir + 2 * (pairs * columns() + tiles);
  const std::int64_t room = machine.sbuf_bytes_per_partition - elements * size_bytes(DType::Float32) - kSlackBytes;
  const std::int64_t slice = kSlices * s.nvir * size_bytes(DType::BFloat16);
  const std::int64_t most = std::min(kMostGroupTiles, k_tiles);
  left_slots = room / (slice * 2 * (1 + per_bank)) >= k_tiles && most == k_tiles ? 2 : 1;
  group_tiles = std::clamp<std::int64_t>(room / (slice * (left_slots + 2 * per_bank)), 1, most);
  groups = ceil_div(k_tiles, group_tiles);
  pairs = std::min(pairs, s.nocc);
}

int sliced_fraction_bits(std::int64_t naux) {
  // |hi| < 4200 naux stays below 2^24 units of 2^-f.
  return std::clamp(23 - static_cast<int>(std::floor(std::log2(4200.0 * static_cast<double>(naux)))), 0, 7);
}

tile::Program sliced_pair_energy_program(const SlicedPairEnergyShape& shape, const Machine& machine) {
  const std::int64_t most = blocks::bank_columns(machine);
  require(shape.nocc >= 1 && shape.naux >= 1 && shape.nvir >= 1,
          "blas.pair_energy: a program needs extents >= 1, got nocc {}, naux {}, nvir {}", shape.nocc, shape.naux,
          shape.nvir);
  require(shape.left >= 0 && shape.left < shape.nocc, "blas.pair_energy: left is {} of {} orbitals; it must be less",
          shape.left, shape.nocc);
  if (shape.nvir > most) {
    fail<NotImplemented>(
        "blas.pair_energy: float64 on {} takes up to {} virtual orbitals, got {}; use float32 and Tf32x3, or the host "
        "executor",
        machine.name, most, shape.nvir);
  }
  return SlicedKernel(shape, machine).build();
}

}  // namespace trn::blas
