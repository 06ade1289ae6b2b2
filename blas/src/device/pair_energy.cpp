// pair_energy on the device: the program and its launch.
//
//   once:            B split into words of a matmul type, into HBM scratch; ||B_i||^2 by the Scalar Engine
//   for each i:      words of B_i in SBUF, k on partitions                      (128, k tiles, nvir) per word
//     for j >= i:    words of B_j in SBUF, two buffers
//       for each tile of up to 128 rows of T:
//         Tensor     T = B_i^T B_j in one PSUM bank                             (a <= 128, b <= 512)
//         Scalar     weight = rsqrt(e_b + (e_a - e_i - e_j))
//         Vector     Z = T * weight                                             PSUM -> SBUF
//         Scalar     squares of Z, summed along b
//         Tensor     blocks of Z left of the diagonal turned, Z^T in PSUM
//         Vector     W = Z - Z^T
//         Scalar     squares of W, summed along b
//
// a is on partitions. Per pair the Tensor Engine multiplies for products * k tiles * row tiles * (nvir + 10) cycles;
// the Vector Engine reads nvir^2 (T) + half as many (Z^T) elements on 128 lanes, the Scalar Engine nvir^2 more for the
// weights: rsqrt is an activation (the Vector Engine has none), its bias one number per partition, its data a row of
// energies. At nvir 448, naux 1536 in Tf32x3: 27.5, 3.9 and 6.1 us. The words of B_j arrive in 14 us.
//
// The exchange needs Z^T below 512 virtuals once per pair of row tiles: 10 transposes for 4 x 4 tiles, 1.1 us, where a
// second product with the roles of i and j exchanged would cost as much as the first. More than 512 virtuals are cut
// into blocks I <= J of equal width; T_IJ and T_JI are then computed one after the other. Where the words of three
// panels do not fit in SBUF, k is streamed in chunks.
#include <algorithm>
#include <vector>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/core/array.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels.hpp"
#include "pair_energy_sliced.hpp"
#include "words.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

WordScheme word_scheme(Mode mode) {
  const device::Words words = device::words_of(mode, "blas.pair_energy");
  return {words.dtype, static_cast<int>(words.count), static_cast<int>(words.products.size())};
}

double pair_product_bound(Mode mode, std::int64_t naux) {
  return device::words_error_bound(device::words_of(mode, "blas.pair_energy"), naux);
}

namespace {

// Virtual orbitals [start, start + size), whose T has row tiles of `height` rows, the last one perhaps shorter.
struct Block {
  std::int64_t start, size, tiles, height;
  [[nodiscard]] std::int64_t row(std::int64_t t) const { return t * height; }
  [[nodiscard]] std::int64_t rows(std::int64_t t) const { return std::min(height, size - t * height); }
};

// How the virtual index is cut, what "sums" holds per pair, and which words there are.
struct Cut {
  std::int64_t blocks, width, tiles,
      columns;  // columns of "sums": three per row tile, for T_IJ and, if it exists, T_JI
  Cut(std::int64_t nvir, const Machine& machine) {
    blocks = ceil_div(nvir, blocks::bank_columns(machine));
    width = ceil_div(nvir, blocks);
    tiles = ceil_div(width, machine.stationary_free_max);
    columns = 3 * tiles * (blocks > 1 ? 2 : 1);
  }
  [[nodiscard]] std::int64_t block_pairs() const { return blocks * (blocks + 1) / 2; }
  [[nodiscard]] Block block(std::int64_t i, std::int64_t nvir, const Machine& machine) const {
    const std::int64_t start = i * width, size = std::min(width, nvir - start),
                       count = ceil_div(size, machine.stationary_free_max);
    return {start, size, count, ceil_div(size, count)};
  }
};

// B_i in pieces for the splitting pass: `tiles` times 128 rows of `columns` columns.
struct SplitPieces {
  static constexpr std::int64_t kElements = 4096;  // per partition: float32, words and squares twice fill half of SBUF
  static constexpr std::int64_t kColumns = 512;    // squares are summed down the rows in one PSUM bank
  std::int64_t columns, tiles;
  SplitPieces(std::int64_t naux, std::int64_t nvir, std::int64_t side)
      : columns(std::min(nvir, kColumns)),
        tiles(std::clamp<std::int64_t>(kElements / columns, 1, std::max<std::int64_t>(1, naux / side))) {}
  // Pieces one below the other.
  [[nodiscard]] std::int64_t count(std::int64_t naux, std::int64_t side) const {
    return ceil_div(naux / side, tiles) + (naux % side > 0 ? 1 : 0);
  }
};

class PairEnergyKernel {
 public:
  PairEnergyKernel(const PairEnergyShape& shape, const Machine& machine)
      : s_(shape),
        range_{shape.nocc, shape.left},
        m_(machine),
        b_("blas_pair_energy", machine),
        side_(machine.partitions),
        scheme_(device::words_of(shape.mode, "blas.pair_energy")),
        cut_(shape.nvir, machine),
        pieces_(shape.naux, shape.nvir, machine.partitions) {
    const std::int64_t panel = k_tiles() * cut_.width * size_bytes(scheme_.dtype) * scheme_.count;
    // Beside the panels: Z twice, weights, W, squares, the row of energies.
    const std::int64_t z = 2 * cut_.tiles * cut_.width * size_bytes(DType::Float32) * (cut_.blocks > 1 ? 2 : 1);
    const std::int64_t rest = z + 12 * cut_.width * size_bytes(DType::Float32) +
                              (s_.nvir + s_.nocc) * size_bytes(DType::Float32) + kSlackBytes;
    const std::int64_t room = m_.sbuf_bytes_per_partition - rest, of_i = cut_.blocks > 1 ? 2 : 1;
    resident_ = 3 * of_i * panel <= room;
    i_panels_ = of_i * (4 * of_i * panel <= room ? 2 : 1);
    chunk_ = k_tiles();
    while (!resident_ && chunk_ > 1 && 4 * chunk_ * cut_.width * size_bytes(scheme_.dtype) * scheme_.count > room)
      chunk_ = ceil_div(chunk_, 2);
  }

  Program build() {
    const Access b = b_.input("b", DType::Float32, {s_.nocc, s_.naux, s_.nvir});
    const Access occupied = b_.input("occupied", DType::Float32, {s_.nocc}, {s_.occupied_stride});
    const Access virtuals = b_.input("virtuals", DType::Float32, {s_.nvir}, {s_.virtual_stride});
    sums_ = b_.output("sums", DType::Float32, {range_.count(), cut_.block_pairs(), side_, cut_.columns});
    const Access norms = b_.output("norms", DType::Float32, {s_.nocc, pieces_.count(s_.naux, side_), s_.nvir});
    if (s_.mode == Mode::Native) {
      words_.push_back(b);
    } else {
      for (std::int64_t w = 0; w < scheme_.count; ++w)
        words_.push_back(b_.scratch("word" + std::to_string(w), scheme_.dtype, {s_.nocc, s_.naux, s_.nvir}));
    }
    split(b, norms);
    load_energies(occupied, virtuals);
    if (resident_) {
      for (std::size_t w = 0; w < words_.size(); ++w) {
        i_words_.push_back(b_.sbuf("i_panel" + std::to_string(w), std::min(side_, s_.naux),
                                   {i_panels_, k_tiles(), cut_.width}, scheme_.dtype));
      }
    }
    shifted_ = b_.sbuf("e_shifted", side_, {2, cut_.blocks, cut_.tiles}, DType::Float32);
    for (std::int64_t i = 0; i < range_.rows(); ++i) pairs_of(i);
    return tile::static_stores(b_.finish());
  }

 private:
  static constexpr std::int64_t kSlackBytes = 4096;
  using Panel = std::vector<Access>;  // one tile per word: (128, k tiles, columns)

  std::int64_t k_tiles() const { return ceil_div(s_.naux, side_); }

  static Access drop(Access access) {  // the free dimension of size 1 in front removed
    access.dims.erase(access.dims.begin());
    return access;
  }

  // word_0 = x rounded, word_1 = (x - word_0) rounded, ... ; the differences are exact. And the squares of x.
  void split(const Access& b, const Access& norms) {
    const Access ones = b_.sbuf("ones", side_, {1}, DType::BFloat16);
    b_.memset(ones, 1);
    b_.parallel("i", s_.nocc, [&](Affine i) {
      std::int64_t piece = 0;
      const auto piece_of = [&](const Affine& k0, std::int64_t tiles, std::int64_t depth, const Affine& c0,
                                std::int64_t columns, const Affine& at) {
        const auto part = [&](const Access& from) {  // (depth, tiles, columns)
          return drop(from(ds(i, 1), ds(k0, tiles * depth), ds(c0, columns))).split(0, depth).permute({1, 0, 2});
        };
        const Access x = b_.sbuf("x", depth, {tiles, columns}, DType::Float32, 2);
        b_.dma_copy(x, part(b));
        const Access squares = b_.sbuf("x_squares", depth, {tiles, columns}, DType::BFloat16),
                     down = b_.psum("norm_sums", 1, {columns}, DType::Float32, 2);
        b_.activation(squares, ActFunction::Square, x);
        for (std::int64_t t = 0; t < tiles; ++t) {
          b_.nc_matmul(down, ones(ds(0, depth), all), drop(squares(all, ds(t, 1), all)),
                       {.accumulate = Affine(t > 0 ? 1 : 0)});
        }
        const Access norm = b_.sbuf("norm", 1, {columns}, DType::Float32, 2);
        b_.activation(norm, ActFunction::Copy, down);
        b_.dma_copy(drop(norms(ds(i, 1), ds(at, 1), ds(c0, columns))), norm);
        if (s_.mode == Mode::Native) return;
        std::vector<Access> made;
        for (std::size_t w = 0; w < words_.size(); ++w)
          made.push_back(b_.sbuf("x_word", depth, {tiles, columns}, scheme_.dtype, 2));
        device::split_words(
            b_, scheme_, [&](std::int64_t w) { return made[static_cast<std::size_t>(w)]; }, x);
        for (std::size_t w = 0; w < words_.size(); ++w) b_.dma_copy(part(words_[w]), made[w]);
      };
      for_blocks(b_, "c", s_.nvir, pieces_.columns, LoopKind::Parallel, [&](const Affine& c0, std::int64_t columns) {
        const std::int64_t whole = s_.naux / side_, full = whole / pieces_.tiles, rest = whole % pieces_.tiles;
        b_.parallel("kt", full,
                    [&](Affine k) { piece_of(k * (pieces_.tiles * side_), pieces_.tiles, side_, c0, columns, k); });
        piece = full;
        if (rest > 0) piece_of(Affine(full * pieces_.tiles * side_), rest, side_, c0, columns, Affine(piece++));
        if (s_.naux % side_ > 0) piece_of(Affine(whole * side_), 1, s_.naux % side_, c0, columns, Affine(piece));
      });
    });
  }

  // The energies in every partition, and those of the virtuals also down the partitions of each row tile.
  void load_energies(const Access& occupied, const Access& virtuals) {
    occupied_ = b_.sbuf("e_occupied", side_, {s_.nocc}, DType::Float32);
    b_.dma_copy(occupied_, occupied.broadcast(0, side_));
    row_ = b_.sbuf("e_row", side_, {s_.nvir}, DType::Float32);
    b_.dma_copy(row_, virtuals.broadcast(0, side_));
    column_ = b_.sbuf("e_column", side_, {cut_.blocks, cut_.tiles}, DType::Float32);
    b_.memset(column_, 0);
    for (std::int64_t i = 0; i < cut_.blocks; ++i) {
      const Block block = cut_.block(i, s_.nvir, m_);
      for (std::int64_t t = 0; t < block.tiles; ++t) {
        Access one = column_(ds(0, block.rows(t)), ds(i, 1), ds(t, 1));
        one.dims = {one.dims.back()};
        b_.dma_copy(one, virtuals(ds(block.start + block.row(t), block.rows(t))).split(0, 1));
      }
    }
  }

  // All pairs (i, j) of one i.
  void pairs_of(std::int64_t i) {
    const std::int64_t first = range_.first(i);
    // e_a - e_i, for every row tile
    const Access shifted = drop(shifted_(all, ds(i % 2, 1), all, all));
    b_.tensor_scalar(shifted, column_, AluOp::Subtract, occupied_(all, ds(i, 1)), {.engine = Engine::Vector});
    std::int64_t number = 0;
    for (std::int64_t bi = 0; bi < cut_.blocks; ++bi) {
      for (std::int64_t bj = bi; bj < cut_.blocks; ++bj, ++number) {
        const Block x = cut_.block(bi, s_.nvir, m_), y = cut_.block(bj, s_.nvir, m_);
        Panel ix, iy;
        if (resident_) ix = resident_panel(i, x);
        if (resident_ && bj > bi) iy = resident_panel(i, y);
        b_.parallel("j", s_.nocc - first, [&](Affine j) {
          const Access columns = b_.sbuf("columns", side_, {cut_.columns}, DType::Float32, 2);
          b_.memset(columns, 0, Engine::GpSimd);
          // e_a - e_i - e_j
          const Access offset = b_.sbuf("e_offset", side_, {cut_.blocks, cut_.tiles}, DType::Float32, 2);
          b_.tensor_scalar(offset, shifted, AluOp::Subtract, occupied_(all, ds(j + first, 1)),
                           {.engine = Engine::Vector});
          const auto of = [&](std::int64_t block) {
            Access one = offset(all, ds(block, 1), all);
            return drop(one);
          };
          if (bi == bj)
            diagonal(ix, Affine(i), j + first, x, of(bi), columns);
          else
            off_diagonal(ix, iy, Affine(i), j + first, x, y, of(bi), of(bj), columns);
          b_.dma_copy(drop(drop(sums_(ds(j + range_.row(i), 1), ds(number, 1), all, all))), columns);
        });
      }
    }
  }

  // The panels of B_i take turns in tiles that live as long as the program.
  Panel resident_panel(std::int64_t i, const Block& block) {
    Panel panel;
    for (const Access& tile : i_words_) panel.push_back(drop(tile(all, ds(i_turn_, 1), all, ds(0, block.size))));
    i_turn_ = (i_turn_ + 1) % i_words_.front().dims.front().size;
    fill(panel, Affine(i), block, 0);
    return panel;
  }

  // Tiles for the words of k tiles [first, first + tiles) of B_i, the columns of a block, loaded.
  Panel load(const std::string& name, const Affine& i, const Block& block, const Affine& first, std::int64_t tiles,
             std::int64_t buffers) {
    Panel panel;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      panel.push_back(
          b_.sbuf(name + std::to_string(w), std::min(side_, s_.naux), {tiles, block.size}, scheme_.dtype, buffers));
    }
    fill(panel, i, block, first);
    return panel;
  }

  void fill(const Panel& panel, const Affine& i, const Block& block, const Affine& first) {
    const std::int64_t tiles = panel.front().dims.front().size;
    const bool last = !first.is_constant() || first.constant() + tiles < k_tiles() ? false : s_.naux % side_ > 0;
    const std::int64_t whole = last ? tiles - 1 : tiles;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      const Access& tile = panel[w];
      if (whole > 0) {
        b_.dma_copy(tile(all, ds(0, whole), all),
                    drop(words_[w](ds(i, 1), ds(first * side_, whole * side_), ds(block.start, block.size)))
                        .split(0, side_)
                        .permute({1, 0, 2}));
      }
      if (last) {
        const std::int64_t depth = s_.naux % side_;
        b_.dma_copy(drop(tile(ds(0, depth), ds(whole, 1), all)),
                    drop(words_[w](ds(i, 1), ds((first + whole) * side_, depth), ds(block.start, block.size))));
      }
    }
  }

  // sums (rows of tile t of x, columns of y) += the k tiles of two panels; `first` numbers the first of them.
  void multiply(const Access& sums, const Panel& left, const Block& x, std::int64_t t, const Panel& right,
                const Affine& first, bool last) {
    const std::int64_t tiles = left.front().dims.front().size, rest = last ? s_.naux % side_ : 0,
                       whole = rest > 0 ? tiles - 1 : tiles;
    const auto at = [&](const Affine& k, std::int64_t depth, const Affine& count) {
      for (std::size_t p = 0; p < scheme_.products.size(); ++p) {
        const auto [l, r] = scheme_.products[p];
        b_.nc_matmul(sums, drop(left[static_cast<std::size_t>(l)](ds(0, depth), ds(k, 1), ds(x.row(t), x.rows(t)))),
                     drop(right[static_cast<std::size_t>(r)](ds(0, depth), ds(k, 1), all)),
                     {.accumulate = p == 0 ? count : Affine(1)});
      }
    };
    b_.sequential("k", whole, [&](Affine k) { at(k, side_, first + k); });
    if (rest > 0) at(Affine(whole), rest, first + whole);
  }

  // Z_xy of pair (i, j): one (height, columns of y) piece per row tile; done(t) is called when tile t is recorded.
  template <class Done> Access weighted(const Panel& left, const Affine& i, const Affine& j, const Block& x,
                                        const Block& y, const Access& offset, const Access& columns, Done done) {
    const Access z = b_.sbuf("z", x.height, {x.tiles, y.size}, DType::Float32, 2);
    std::vector<Access> sums;
    const auto bank = [&](std::int64_t t) {
      return b_.psum("t", x.rows(t), {blocks::bank_columns(m_)}, DType::Float32, bank_buffers(x))(all, ds(0, y.size));
    };
    Panel right;
    if (resident_) {
      right = load("j_panel", j, y, 0, k_tiles(), 2);
    } else {
      for (std::int64_t t = 0; t < x.tiles; ++t)
        sums.push_back(b_.psum("t", x.rows(t), {blocks::bank_columns(m_)})(all, ds(0, y.size)));
      const std::int64_t full = k_tiles() / chunk_ - (k_tiles() % chunk_ == 0 && s_.naux % side_ > 0 ? 1 : 0),
                         rest = k_tiles() - full * chunk_;
      const auto step = [&](const Affine& first, std::int64_t tiles, bool last) {
        const Panel l = load("i_chunk", i, x, first, tiles, 2), r = load("j_chunk", j, y, first, tiles, 2);
        for (std::int64_t t = 0; t < x.tiles; ++t) multiply(sums[static_cast<std::size_t>(t)], l, x, t, r, first, last);
      };
      b_.sequential("kc", full, [&](Affine c) { step(c * chunk_, chunk_, false); });
      if (rest > 0) step(Affine(full * chunk_), rest, true);
    }
    for (std::int64_t t = 0; t < x.tiles; ++t) {
      const std::int64_t rows = x.rows(t);
      const Access weight = b_.sbuf("weight", rows, {y.size}, DType::Float32);
      b_.activation(weight, ActFunction::Rsqrt, row_(ds(0, rows), ds(y.start, y.size)),
                    {.bias = offset(ds(0, rows), ds(t, 1))});
      if (resident_) {
        sums.push_back(bank(t));
        multiply(sums.back(), left, x, t, right, 0, true);
      }
      b_.tensor_tensor(piece(z, x, t), sums[static_cast<std::size_t>(t)], weight, AluOp::Multiply, Engine::Vector);
      sum_squares(piece(z, x, t), columns(ds(0, rows), ds(3 * t, 1)));
      done(z, t);
    }
    return z;
  }
  // Each row tile has banks of its own for T and for Z^T: all of PSUM together.
  std::int64_t bank_buffers(const Block& x) const { return std::max<std::int64_t>(1, m_.psum_banks / (2 * x.tiles)); }
  static Access piece(const Access& z, const Block& x, std::int64_t t) {
    return drop(z(ds(0, x.rows(t)), ds(t, 1), all));
  }

  void sum_squares(const Access& of, const Access& to) {
    const Access squares = b_.sbuf("squares", of.partitions, {of.free_size()}, DType::BFloat16);
    b_.activation(squares, ActFunction::Square, of, {.reduce_res = to});
  }

  // Row tile t of x: columns [0, end of tile t), the blocks on and left of the diagonal, minus those above it turned.
  void diagonal(const Panel& left, const Affine& i, const Affine& j, const Block& x, const Access& offset,
                const Access& columns) {
    const auto exchange = [&](const Access& z, std::int64_t t) {
      const std::int64_t rows = x.rows(t), before = x.row(t);
      const Access turned = b_.psum("turned", rows, {blocks::bank_columns(m_)}, DType::Float32, bank_buffers(x));
      for (std::int64_t u = 0; u <= t; ++u)
        b_.nc_transpose(turned(all, ds(x.row(u), x.rows(u))), piece(z, x, u)(all, ds(before, rows)));
      const Access w = b_.sbuf("w", rows, {before + rows}, DType::Float32);
      b_.tensor_tensor(w, piece(z, x, t)(all, ds(0, before + rows)), turned(all, ds(0, before + rows)), AluOp::Subtract,
                       Engine::Vector);
      if (before > 0) sum_squares(w(all, ds(0, before)), columns(ds(0, rows), ds(3 * t + 1, 1)));
      sum_squares(w(all, ds(before, rows)), columns(ds(0, rows), ds(3 * t + 2, 1)));
    };
    // One tile late, so that the Tensor Engine multiplies the next tile while Z is made.
    const Access z = weighted(left, i, j, x, x, offset, columns, [&](const Access& so_far, std::int64_t t) {
      if (t > 0) exchange(so_far, t - 1);
    });
    exchange(z, x.tiles - 1);
  }

  // T_xy and T_yx, x before y: every element of one against one of the other.
  void off_diagonal(const Panel& ix, const Panel& iy, const Affine& i, const Affine& j, const Block& x, const Block& y,
                    const Access& offset_x, const Access& offset_y, const Access& columns) {
    const auto nothing = [](const Access&, std::int64_t) {};
    const Access upper = weighted(ix, i, j, x, y, offset_x, columns, nothing);
    const Access lower = weighted(iy, i, j, y, x, offset_y, columns(all, ds(3 * cut_.tiles, 3 * cut_.tiles)), nothing);
    for (std::int64_t t = 0; t < x.tiles; ++t) {
      const std::int64_t rows = x.rows(t);
      const Access turned = b_.psum("turned", rows, {blocks::bank_columns(m_)}, DType::Float32, bank_buffers(x));
      for (std::int64_t u = 0; u < y.tiles; ++u)
        b_.nc_transpose(turned(all, ds(y.row(u), y.rows(u))), piece(lower, y, u)(all, ds(x.row(t), rows)));
      const Access w = b_.sbuf("w", rows, {y.size}, DType::Float32);
      b_.tensor_tensor(w, piece(upper, x, t), turned(all, ds(0, y.size)), AluOp::Subtract, Engine::Vector);
      sum_squares(w, columns(ds(0, rows), ds(3 * t + 1, 1)));
    }
  }

  PairEnergyShape s_;
  PairRange range_;
  const Machine& m_;
  Builder b_;
  std::int64_t side_;
  device::Words scheme_;
  Cut cut_;
  SplitPieces pieces_;
  bool resident_ = true;
  std::int64_t i_panels_ = 1, i_turn_ = 0, chunk_ = 1;
  Panel i_words_;
  std::vector<Access> words_;
  Access sums_, occupied_, row_, column_, shifted_;
};

}  // namespace

tile::Program pair_energy_program(const PairEnergyShape& shape, const Machine& machine) {
  require(shape.nocc >= 1 && shape.naux >= 1 && shape.nvir >= 1,
          "blas.pair_energy: a program needs extents >= 1, got nocc {}, naux {}, nvir {}", shape.nocc, shape.naux,
          shape.nvir);
  require(shape.left >= 0 && shape.left < shape.nocc, "blas.pair_energy: left is {} of {} orbitals; it must be less",
          shape.left, shape.nocc);
  return PairEnergyKernel(shape, machine).build();
}

namespace device {

void pair_energy(const Executor& executor, const PairEnergyArgs& g) {
  if (g.dtype == DType::Float64) return pair_energy_sliced(executor, g);
  const Machine& machine = device_of(executor).machine();
  const PairEnergyShape shape{g.mode, g.nocc, g.naux, g.nvir, g.occupied_stride, g.virtual_stride, g.left};
  const Cut cut(g.nvir, machine);
  const std::int64_t side = machine.partitions, pairs = PairRange{g.nocc, g.left}.count(),
                     pieces = SplitPieces(g.naux, g.nvir, side).count(g.naux, side);
  const Array<float> sums(executor, {pairs, cut.block_pairs() * side, cut.columns}),
      norms(executor, {g.nocc, pieces, g.nvir});
  launch(
      executor, pair_energy_program, shape,
      {{"b", g.b}, {"occupied", g.occupied}, {"virtuals", g.virtuals}, {"sums", sums.data()}, {"norms", norms.data()}});
  // Sums over partitions, in double and in order.
  const std::vector<float> parts = sums.to_host(), squares = norms.to_host();
  std::size_t at = 0;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    PairSums total;
    for (std::int64_t row = 0; row < cut.block_pairs() * side; ++row) {
      for (std::int64_t column = 0; column < cut.columns; ++column) {
        const double value = parts[at++];
        if (column % 3 == 0)
          total.squares += value;
        else
          total.exchange += column % 3 == 1 ? value : value / 2;
      }
    }
    g.pairs[pair] = total;
  }
  std::fill_n(g.norms2, g.nocc * g.nvir, 0.0);
  for (std::int64_t row = 0; row < g.nocc * pieces; ++row) {
    for (std::int64_t a = 0; a < g.nvir; ++a)
      g.norms2[row / pieces * g.nvir + a] += squares[static_cast<std::size_t>(row * g.nvir + a)];
  }
}

}  // namespace device

}  // namespace trn::blas
