// pair_energy of float64 operands on a machine without float64: exact sums of integer slices on the Tensor Engine, everything after
// them in float-float on the Vector Engine.
//
//   once             the largest exponent of B (a program of its own; the host reads it), then every element of B / 2^e as six slices
//                    of 7 bits, integers of at most 65, in bfloat16:  b = 2^e sum_k d_k 2^(1 - 7 k) + r,  |r| <= 2^(e - 42)
//   for each pair    for each group of 640 auxiliary functions, for each row tile of T: the products d_k d_l of each order k + l in one
//                    PSUM bank. Orders 0 to 5 sum to less than 2^24: they are exact integers. T (hi, lo) += sum_order L_order 2^(-7 order)
//                    then 1 / D, T^2 / D and (T - T^T)^2 / D in float-float, sums along the row in four words
//
// Bits of double arrive as pairs of 32-bit words; sign, exponent and two parts of the mantissa are taken apart by bit operations. Exponents
// and orbital energies enter as inputs in two words. 26 products a multiplication and about 250 passes of the Vector Engine over T: the
// Vector Engine binds.
//
// Errors, with M = 2^e >= |B|: the remainders r, |dT_ab| <= 2^-42 M (||b_a||_1 + ||b_b||_1); products beyond order 6, 2^-46 K M^2;
// fp32 rounding of orders 4 and beyond and of the sum's low word, 2^-39 M^2 a group; float-float sums of groups, 2^-44 of them.
#include <algorithm>
#include <cmath>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/core/eft.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>

#include "../kernels.hpp"
#include "double_words.hpp"
#include "pair_energy_sliced.hpp"
#include "vectors.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::DoubleWords;
using device::Piece;
using device::WordPair;

namespace {

constexpr int kSlices = 6, kOrders = 7;
constexpr std::int64_t kGroupTiles = 5;  // 6 products of |d| <= 65 over 640 rows: 6 * 640 * 65^2 < 2^24
constexpr std::int64_t kPieceColumns = 1024;
constexpr std::int64_t kColumns = 8;         // of "sums": four words of squares, four of exchange
constexpr double kRoundingMagic = 0x1.8p23;  // x + magic - magic is x rounded to an integer

Access drop(Access access) {
  access.dims.erase(access.dims.begin());
  return access;
}

// Exponent fields of all elements: output "largest" (128), 2^20 times the largest biased exponent of each partition's.
struct ExponentShape {
  std::int64_t n;
  bool operator==(const ExponentShape&) const = default;
};
Program exponent_program(const ExponentShape& s, const Machine& machine) {
  Builder b("blas_pair_energy_exponents", machine);
  const Access words = b.input("b", DType::UInt32, {s.n, 2});
  const Access out = b.output("largest", DType::Float32, {machine.partitions, device::piece_count(s.n, kPieceColumns, machine)});
  const Access tile = b.sbuf("largest_tile", machine.partitions, {device::piece_count(s.n, kPieceColumns, machine)}, DType::Float32);
  b.memset(tile, 0);
  device::for_pieces(b, s.n, kPieceColumns, [&](const Piece& p) {
    const Access raw = b.sbuf("raw", p.partitions, {p.columns, 2}, DType::UInt32, 2),
                 field = b.sbuf("field", p.partitions, {p.columns}, DType::UInt32, 2);
    b.dma_copy(raw, p.of(words));
    b.tensor_scalar(field, device::part(raw, 1), AluOp::BitwiseAnd, double{0x7ff00000}, {.engine = Engine::Vector});
    b.tensor_reduce(tile(ds(0, p.partitions), ds(p.number, 1)), AluOp::Maximum, field);
  });
  b.dma_copy(out, tile);
  return b.finish();
}

class SlicedKernel {
 public:
  SlicedKernel(const SlicedPairEnergyShape& shape, const Machine& machine)
      : s_(shape),
        b_("blas_pair_energy_sliced", machine),
        side_(machine.partitions),
        bank_(blocks::bank_columns(machine)),
        tiles_(ceil_div(shape.nvir, machine.stationary_free_max)),
        height_(ceil_div(shape.nvir, tiles_)),
        words_of_(b_) {}

  Program build() {
    const std::int64_t n = s_.naux * s_.nvir;
    const PairRange range{s_.nocc, s_.left};
    const Access b = b_.input("b", DType::UInt32, {s_.nocc, n, 2});
    const Access occupied = b_.input("occupied", DType::Float32, {2, s_.nocc}),
                 virtuals = b_.input("virtuals", DType::Float32, {2, s_.nvir});
    sums_ = b_.output("sums", DType::Float32, {range.count(), side_, tiles_ * kColumns});
    const Access norms = b_.output("norms", DType::Float32, {s_.nocc, side_, device::piece_count(n, kPieceColumns, b_.machine())});
    for (int k = 0; k < kSlices; ++k) slices_.push_back(b_.scratch("slice" + std::to_string(k), DType::BFloat16, {s_.nocc, n}));
    slice(b, norms);
    load_energies(occupied, virtuals);
    for (std::int64_t i = 0; i < range.rows(); ++i) {
      b_.parallel("j", s_.nocc - range.first(i), [&](Affine j) { pair(Affine(i), j + range.first(i), j + range.row(i)); });
    }
    return b_.finish();
  }

 private:
  void slice(const Access& b, const Access& norms) {
    const device::Factors exponent(b_, 1);  // 126 - the largest biased exponent
    const std::int64_t n = s_.naux * s_.nvir, pieces = device::piece_count(n, kPieceColumns, b_.machine());
    b_.parallel("i", s_.nocc, [&](Affine i) {
      const Access norm = b_.sbuf("norm", side_, {pieces}, DType::Float32, 2);
      b_.memset(norm, 0, Engine::GpSimd);
      device::for_pieces(b_, n, kPieceColumns, [&](const Piece& p) {
        const auto fresh = [&](DType dtype) { return b_.sbuf("piece", p.partitions, {p.columns}, dtype); };
        const Access raw = b_.sbuf("raw", p.partitions, {p.columns, 2}, DType::UInt32, 2);
        b_.dma_copy(raw, p.of(drop(b(ds(i, 1), all, all))));
        auto [x, rest] = decode(raw, exponent(0, p.partitions), fresh);
        b_.activation(fresh(DType::BFloat16), ActFunction::Square, x, {.reduce_res = norm(ds(0, p.partitions), ds(p.number, 1))});
        for (int k = 0; k < kSlices; ++k) {
          const Access d = b_.sbuf("digit", p.partitions, {p.columns}, DType::BFloat16, 2);
          b_.tensor_tensor(d, cut(x, fresh), cut(rest, fresh), AluOp::Add, Engine::Vector);
          b_.dma_copy(p.of(drop(slices_[static_cast<std::size_t>(k)](ds(i, 1), all))), d);
          for (const Access& word : {x, rest}) b_.tensor_scalar(word, word, AluOp::Multiply, 128.0, {.engine = Engine::Vector});
        }
      });
      b_.dma_copy(drop(norms(ds(i, 1), all, all)), norm);
    });
  }
  // The integer next to x; x keeps the rest.
  template <class Fresh>
  Access cut(const Access& x, const Fresh& fresh) {
    const Access whole = fresh(DType::Float32);
    b_.tensor_scalar(whole, x, AluOp::Add, kRoundingMagic, {.op1 = AluOp::Subtract, .operand1 = kRoundingMagic, .engine = Engine::Vector});
    b_.tensor_tensor(x, x, whole, AluOp::Subtract, Engine::Vector);
    return whole;
  }

  // 64 b / 2^e in two words: sign, exponent and 20 bits of mantissa from the high word, 24 more from the low one.
  template <class Fresh>
  std::pair<Access, Access> decode(const Access& raw, const Access& exponent, const Fresh& fresh) {
    const Access low = device::part(raw, 0), high = device::part(raw, 1);
    const auto bits = [&](const Access& dst, const Access& src, AluOp op0, double operand0, AluOp op1 = AluOp::None, double operand1 = 0) {
      b_.tensor_scalar(dst, src, op0, operand0, {.op1 = op1, .operand1 = operand1, .engine = Engine::Vector});
    };
    const Access field = fresh(DType::UInt32), number = fresh(DType::Float32), shifted = fresh(DType::UInt32);
    bits(field, high, AluOp::RightShift, 20, AluOp::BitwiseAnd, 0x7ff);
    b_.tensor_copy(number, field, Engine::Vector);
    b_.tensor_scalar(shifted, number, AluOp::Add, exponent, {.op1 = AluOp::Maximum, .operand1 = 0.0, .engine = Engine::Vector});
    bits(shifted, shifted, AluOp::LeftShift, 23);
    const Access sign = fresh(DType::UInt32), scale = fresh(DType::Float32);  // +-1, +-2^(exponent - e - 1)
    bits(sign, high, AluOp::BitwiseAnd, 0x80000000, AluOp::BitwiseOr, 0x3f800000);
    b_.tensor_tensor(scale, sign.view(DType::Float32), shifted.view(DType::Float32), AluOp::Multiply, Engine::Vector);
    const Access mantissa = fresh(DType::UInt32), x = fresh(DType::Float32), rest = fresh(DType::Float32);
    bits(mantissa, high, AluOp::BitwiseAnd, 0xfffff, AluOp::LeftShift, 3);
    bits(mantissa, mantissa, AluOp::BitwiseOr, 0x3f800000);
    b_.scalar_tensor_tensor(x, mantissa.view(DType::Float32), AluOp::Multiply, 64.0, AluOp::Multiply, scale);
    const Access tail = fresh(DType::UInt32), fraction = fresh(DType::Float32);
    bits(tail, low, AluOp::RightShift, 8);
    b_.tensor_copy(fraction, tail, Engine::Vector);
    b_.scalar_tensor_tensor(rest, fraction, AluOp::Multiply, 0x1p-38, AluOp::Multiply, scale);  // 64 * 2^-44
    return {x, rest};
  }

  void load_energies(const Access& occupied, const Access& virtuals) {
    const std::int64_t whole = s_.nvir / height_, last = s_.nvir % height_;
    for (std::int64_t w = 0; w < 2; ++w) {
      const Access o = b_.sbuf("e_occupied", side_, {s_.nocc}, DType::Float32), r = b_.sbuf("e_row", side_, {s_.nvir}, DType::Float32);
      b_.dma_copy(o, drop(occupied(ds(w, 1), all)).broadcast(0, side_));
      b_.dma_copy(r, drop(virtuals(ds(w, 1), all)).broadcast(0, side_));
      const Access c = b_.sbuf("e_column", height_, {tiles_}, DType::Float32);
      b_.memset(c, 0);
      const Access row = drop(virtuals(ds(w, 1), all));
      if (whole > 0) b_.dma_copy(c(all, ds(0, whole)), row(ds(0, whole * height_)).split(0, height_).permute({1, 0}));
      if (last > 0) b_.dma_copy(c(ds(0, last), ds(whole, 1)), row(ds(whole * height_, last)).split(0, last).permute({1, 0}));
      (w == 0 ? occupied_.hi : occupied_.lo) = o;
      (w == 0 ? row_.hi : row_.lo) = r;
      (w == 0 ? column_.hi : column_.lo) = c;
    }
  }

  void pair(const Affine& i, const Affine& j, const Affine& number) {
    const Access hi = b_.sbuf("t_hi", height_, {tiles_, s_.nvir}, DType::Float32),
                 lo = b_.sbuf("t_lo", height_, {tiles_, s_.nvir}, DType::Float32);
    b_.memset(hi, 0);
    b_.memset(lo, 0);
    const std::int64_t k_tiles = ceil_div(s_.naux, side_), groups = (s_.naux / side_) / kGroupTiles, rest = k_tiles - groups * kGroupTiles;
    b_.sequential("group", groups, [&](Affine g) { add_group(i, j, g * kGroupTiles, kGroupTiles, false, hi, lo); });
    if (rest > 0) add_group(i, j, Affine(groups * kGroupTiles), rest, s_.naux % side_ > 0, hi, lo);
    // e_a - e_i - e_j for every row tile
    const auto energy = [&](const Affine& of) {
      const auto spread = [&](const Access& word) {
        Access one = word(ds(0, height_), ds(of, 1));
        one.dims = {{0, tiles_}};
        return one;
      };
      return WordPair{spread(occupied_.hi), spread(occupied_.lo)};
    };
    const WordPair offset = words_of_.subtract(words_of_.subtract(column_, energy(i)), energy(j));
    const Access columns = b_.sbuf("columns", side_, {tiles_, kColumns}, DType::Float32);
    b_.memset(columns, 0, Engine::GpSimd);
    row_tiles([&](const Affine& t, std::int64_t rows) { energies(t, rows, {hi, lo}, offset, columns); });
    b_.dma_copy(drop(sums_(ds(number, 1), all, all)), device::flat(columns));
  }
  void row_tiles(const std::function<void(const Affine&, std::int64_t)>& body) {
    const std::int64_t whole = s_.nvir / height_, last = s_.nvir % height_;
    b_.sequential("t", whole, [&](Affine t) { body(t, height_); });
    if (last > 0) body(Affine(whole), last);
  }

  // T += the products of k tiles [first, first + tiles) of slices of B_i and B_j.
  void add_group(const Affine& i, const Affine& j, const Affine& first, std::int64_t tiles, bool ragged, const Access& hi,
                 const Access& lo) {
    const std::vector<Access> left = load("left", i, first, tiles, ragged), right = load("right", j, first, tiles, ragged);
    row_tiles([&](const Affine& t, std::int64_t rows) {
      std::vector<Access> orders;
      for (int order = 0; order < kOrders; ++order) {
        orders.push_back(b_.psum("order", rows, {bank_})(all, ds(0, s_.nvir)));
        bool fresh = true;
        for (int k = std::max(0, order - kSlices + 1); k <= std::min(order, kSlices - 1); ++k) {
          const Access &x = left[static_cast<std::size_t>(k)], &y = right[static_cast<std::size_t>(order - k)];
          const auto at = [&](const Affine& tile, std::int64_t depth) {
            b_.nc_matmul(orders.back(), drop(x(ds(0, depth), ds(tile, 1), ds(t * height_, rows))), drop(y(ds(0, depth), ds(tile, 1), all)),
                         {.accumulate = fresh ? tile : Affine(1)});
          };
          b_.sequential("k", ragged ? tiles - 1 : tiles, [&](Affine tile) { at(tile, side_); });
          if (ragged) at(Affine(tiles - 1), s_.naux % side_);
          fresh = false;
        }
      }
      const WordPair sum = assemble(orders);
      const WordPair old{drop(hi(ds(0, rows), ds(t, 1), all)), drop(lo(ds(0, rows), ds(t, 1), all))};
      const WordPair total = words_of_.add(old, sum);
      b_.activation(old.hi, ActFunction::Copy, total.hi);
      b_.activation(old.lo, ActFunction::Copy, total.lo);
    });
  }

  // (tile, columns of all virtuals) of each slice: k on partitions.
  std::vector<Access> load(const std::string& name, const Affine& i, const Affine& first, std::int64_t tiles, bool ragged) {
    std::vector<Access> panel;
    const std::int64_t whole = ragged ? tiles - 1 : tiles, depth = s_.naux % side_, n = s_.nvir;
    for (int k = 0; k < kSlices; ++k) {
      const Access tile = b_.sbuf(name, std::min(side_, s_.naux), {tiles, n}, DType::BFloat16);
      const auto rows = [&](const Affine& row, std::int64_t count) {
        return drop(slices_[static_cast<std::size_t>(k)](ds(i, 1), ds(row * n, count * n))).split(0, n);
      };
      if (whole > 0) b_.dma_copy(tile(all, ds(0, whole), all), rows(first * side_, whole * side_).split(0, side_).permute({1, 0, 2}));
      if (ragged) b_.dma_copy(drop(tile(ds(0, depth), ds(whole, 1), all)), rows((first + whole) * side_, depth));
      panel.push_back(tile);
    }
    return panel;
  }

  // sum over orders of L 2^(-7 order), from the finest on: orders 0 to 3 enter exactly, 4 to 6 as one fp32 number.
  WordPair assemble(const std::vector<Access>& orders) {
    const auto in_sbuf = [&](std::size_t order) {
      const Access copy = b_.sbuf("level", orders[order].partitions, {orders[order].free_size()}, DType::Float32);
      b_.activation(copy, ActFunction::Copy, orders[order], {.scale = std::ldexp(1.0, -7 * static_cast<int>(order))});
      return copy;
    };
    Access sum = in_sbuf(6), errors;
    for (const std::size_t order : {5, 4}) sum = words_of_.add(in_sbuf(order), sum);
    for (const std::size_t order : {3, 2, 1, 0}) {
      const WordPair next = words_of_.two_sum(in_sbuf(order), sum);
      sum = next.hi;
      errors = errors.present() ? words_of_.add(next.lo, errors) : next.lo;
    }
    return {sum, errors};
  }

  // Row tile t of T: T^2 / D and (T - T^T)^2 / D, summed along the row; the second has each pair of virtuals twice.
  void energies(const Affine& t, std::int64_t rows, const WordPair& all_t, const WordPair& offset, const Access& columns) {
    const auto tile_of = [&](const Access& word) { return drop(word(ds(0, rows), ds(t, 1), all)); };
    const WordPair x{tile_of(all_t.hi), tile_of(all_t.lo)};
    const auto spread = [&](const Access& word) {
      Access one = word(ds(0, rows), ds(t, 1));
      one.dims = {{0, s_.nvir}};
      return one;
    };
    const WordPair row{row_.hi(ds(0, rows), all), row_.lo(ds(0, rows), all)};
    const WordPair weight = words_of_.reciprocal(words_of_.add(row, {spread(offset.hi), spread(offset.lo)}));
    const auto to = [&](std::int64_t first) { return drop(columns(ds(0, rows), ds(t, 1), ds(first, 4))); };
    words_of_.sum_row(to(0), words_of_.multiply(x, words_of_.multiply(x, weight)));
    const WordPair difference = words_of_.subtract(x, {turned(all_t.hi, t, rows), turned(all_t.lo, t, rows)});
    words_of_.sum_row(to(4), words_of_.multiply(difference, words_of_.multiply(difference, weight)));
  }

  // Rows [t height, ...) of T^T.
  Access turned(const Access& word, const Affine& t, std::int64_t rows) {
    const Access bank = b_.psum("turned", rows, {bank_}), copy = b_.sbuf("turned_words", rows, {s_.nvir}, DType::Float32);
    for (std::int64_t u = 0; u < tiles_; ++u) {
      const std::int64_t from = std::min(height_, s_.nvir - u * height_);
      b_.nc_transpose(bank(all, ds(u * height_, from)), drop(word(ds(0, from), ds(u, 1), ds(t * height_, rows))));
    }
    b_.tensor_copy(copy, bank(all, ds(0, s_.nvir)), Engine::Vector);
    return copy;
  }

  SlicedPairEnergyShape s_;
  Builder b_;
  std::int64_t side_, bank_, tiles_, height_;
  DoubleWords words_of_;
  std::vector<Access> slices_;
  Access sums_;
  WordPair occupied_, row_, column_;
};

}  // namespace

tile::Program sliced_pair_energy_program(const SlicedPairEnergyShape& shape, const Machine& machine) {
  const std::int64_t most = blocks::bank_columns(machine);
  require(shape.nocc >= 1 && shape.naux >= 1 && shape.nvir >= 1,
          "blas.pair_energy: a program needs extents >= 1, got nocc {}, naux {}, nvir {}", shape.nocc, shape.naux, shape.nvir);
  require(shape.left >= 0 && shape.left < shape.nocc, "blas.pair_energy: left is {} of {} orbitals; it must be less", shape.left, shape.nocc);
  if (shape.nvir > most) {
    fail<NotImplemented>(
        "blas.pair_energy: float64 on {} takes up to {} virtual orbitals, got {}; use float32 and Tf32x3, or the host executor",
        machine.name, most, shape.nvir);
  }
  return SlicedKernel(shape, machine).build();
}

double sliced_pair_product_norm(std::int64_t naux, std::int64_t nvir, double scale, double norm_i, double norm_j) {
  const auto k = static_cast<double>(naux), v = static_cast<double>(nvir);
  const double groups = std::ceil(k / (128.0 * kGroupTiles)) + 1;
  return 0x1p-42 * scale * std::sqrt(k * v) * (norm_i + norm_j) + v * scale * scale * (0x1p-46 * k + 0x1p-39 * groups) +
         0x1p-44 * groups * norm_i * norm_j;
}

namespace device {

void pair_energy_sliced(const Executor& executor, const PairEnergyArgs& g) {
  Device& device = device_of(executor);
  const Machine& machine = device.machine();
  const std::int64_t n = g.naux * g.nvir, side = machine.partitions, pairs = PairRange{g.nocc, g.left}.count();
  const SlicedPairEnergyShape shape{g.nocc, g.naux, g.nvir, g.left};
  const auto program = device.programs().get(shape, [&](const SlicedPairEnergyShape& s) { return sliced_pair_energy_program(s, machine); });
  void* b = const_cast<void*>(g.b);

  const Array<float> largest(executor, {side, piece_count(g.nocc * n, kPieceColumns, machine)});
  const auto exponents =
      device.programs().get(ExponentShape{g.nocc * n}, [&](const ExponentShape& s) { return exponent_program(s, machine); });
  device.run(*exponents, std::vector<Binding>{{"b", b}, {"largest", largest.data()}});
  const std::vector<float> fields = largest.to_host();
  int exponent = static_cast<int>(std::ldexp(static_cast<double>(*std::max_element(fields.begin(), fields.end())), -20));
  if (g.largest > 0) {
    int given = 0;  // g.largest = f 2^given, 1/2 <= f < 1
    (void)std::frexp(g.largest, &given);
    given += 1022;  // the exponent field of a double
    require(exponent <= given || exponent == 0x7ff, "blas.pair_energy: `largest` is {} but B has elements of {} and more; give the largest |B| of all blocks",
            g.largest, std::ldexp(1.0, exponent - 1023));
    exponent = std::max(exponent, given);
  }
  constexpr int kInfinite = 0x7ff, kTiny = 200;  // 2^-823: T^2 underflows in double, too
  *g.scale = std::ldexp(1.0, exponent - 1022);
  std::fill_n(g.pairs, pairs, exponent == kInfinite ? PairSums{NAN, NAN} : PairSums{});
  std::fill_n(g.norms2, g.nocc, exponent == kInfinite ? NAN : 0);
  if (exponent == kInfinite || exponent < kTiny) return;

  // Energies in two words each, the high words first.
  const auto words = [&](const void* from, std::int64_t count, std::int64_t stride) {
    std::vector<double> values(static_cast<std::size_t>(count));
    trn::copy(View<const double>(executor, static_cast<const double*>(from), {count}, {stride}),
              View<double>(Executor::host(), values.data(), {count}));
    std::vector<float> parts(static_cast<std::size_t>(2 * count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const FloatFloat f = split(values[i]);
      parts[i] = f.hi;
      parts[i + values.size()] = f.lo;
    }
    return Array<float>::from_host(executor, {2, count}, parts);
  };
  const Array<float> occupied = words(g.occupied, g.nocc, g.occupied_stride), virtuals = words(g.virtuals, g.nvir, g.virtual_stride);
  const std::int64_t columns = ceil_div(g.nvir, machine.stationary_free_max) * kColumns, pieces = piece_count(n, kPieceColumns, machine);
  const Array<float> sums(executor, {pairs, side * columns}), norms(executor, {g.nocc, side * pieces});
  launch(executor, *program,
         {{"b", b}, {"occupied", occupied.data()}, {"virtuals", virtuals.data()}, {"sums", sums.data()}, {"norms", norms.data()}},
         {126.0 - exponent});

  // T is in units of 2^-12 scale^2, the norms in units of scale / 64.
  const double unit = std::ldexp(std::pow(*g.scale, 4), -24);
  const std::vector<float> parts = sums.to_host(), squares = norms.to_host();
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    DoubleDouble total[2];
    for (std::int64_t at = 0; at < side * columns; ++at) {
      DoubleDouble& sum = total[at % kColumns < 4 ? 0 : 1];
      sum = sum + DoubleDouble(parts[static_cast<std::size_t>(pair * side * columns + at)]);
    }
    g.pairs[pair] = {unit * static_cast<double>(total[0]), unit * static_cast<double>(total[1]) / 2};
  }
  for (std::int64_t i = 0; i < g.nocc; ++i) {
    double sum = 0;
    for (std::int64_t at = 0; at < side * pieces; ++at) sum += squares[static_cast<std::size_t>(i * side * pieces + at)];
    g.norms2[i] = sum * *g.scale * *g.scale / 4096;
  }
}

}  // namespace device

}  // namespace trn::blas
