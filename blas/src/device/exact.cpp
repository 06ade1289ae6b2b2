// Precision Exact on the device: the program that slices, multiplies modulo every p, reduces and recombines, and its launch.
//
//   slices       the numbers of both operands become limbs, limbs become residues: exact_slices.hpp
//   product      per modulus and block of C: up to 2048 products of residues are exact in a PSUM sum, because 2048 * 90^2 < 2^24; then the
//                sum leaves PSUM reduced mod p (Scalar rounds the quotient, Vector subtracts). Longer sums go in chunks of 2048, and what
//                the chunks before left, |r| <= 92, is added to the sum before it is reduced
//   recombination the digits become integers, limbs of 24 bits: exact_recombination.hpp
//
// C is computed as its transpose, op(B)^T on partitions, so that the recombined integers come out row by row.
//
// The moduli are taken one after another over all of C, in groups of 1, 2, 4, 4, ...: a group's residues come from one load of limbs, and
// are made while the group before it multiplies, a step between any two blocks, so that no engine's queue holds up another. The Tensor
// Engine waits for the residues of the first modulus only.
//
// What remains for the launch, on the host side: joining the limbs of an integer, its scaling by a power of two, alpha, beta and the one
// rounding.
#include <algorithm>
#include <cmath>
#include <optional>

#include <trn/core/array.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/device.hpp>

#include "../exact.hpp"
#include "exact_recombination.hpp"
#include "exact_slices.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::drop;
using device::Recombine;
using device::Slices;

namespace {

class ExactKernel {
 public:
  ExactKernel(const ExactShape& shape, const Machine& machine)
      : s_(shape), b_("blas_exact", machine), side_(machine.partitions), bank_(blocks::bank_columns(machine)),
        depth_(shape.depth()), k_tiles_(ceil_div(depth_, side_)) {
    // The block of columns of op(B) whose panel leaves room for the rest.
    const std::int64_t room = machine.sbuf_bytes_per_partition / 5 * 2, two = size_bytes(DType::BFloat16);
    block_ = 4 * side_;
    while (block_ > side_ && k_tiles_ * block_ * two > room / 2) block_ /= 2;
    panel_buffers_ = 2 * k_tiles_ * block_ * two <= room ? 2 : 1;
    if (k_tiles_ * block_ * two > room) {
      fail<NotImplemented>("blas.gemm: precision 'exact' takes products of up to {} terms on {}, this one has {}; split k", room / two / side_ * side_,
                           machine.name, depth_);
    }
  }

  Program build() {
    const bool complex = is_complex(s_.in);
    const std::int64_t words = real_of(s_.in) == DType::Float64 ? 2 : 1, all_words = words * (complex ? 2 : 1), rows = s_.rows();
    const Access a = b_.input("a", DType::UInt32, {s_.m, s_.k, all_words}, {s_.am * all_words, s_.ak * all_words, 1});
    const Access b = b_.input("b", DType::UInt32, {s_.n, s_.k, all_words}, {s_.bn * all_words, s_.bk * all_words, 1});
    const Access offsets = b_.input("offsets", DType::Float32, {s_.n + rows, 1});
    const Access table = b_.input("table", DType::Float32, {device::kTableRows, s_.moduli});
    const exact::Recombination constants = exact::recombination(s_.moduli);
    const std::int64_t group = Recombine::group(s_.moduli, b_.machine());
    const Access weights = b_.input("weights", DType::Float16, {group * s_.moduli, (2 * constants.limbs + 2) * group});
    const Access limbs = b_.output("limbs", DType::Float32, {rows, constants.limbs, s_.n});
    rows_ = {s_.n + rows, b_.scratch("operand_limbs", DType::Float32, {4, s_.n + rows, depth_}),
             b_.scratch("residues", DType::BFloat16, {s_.moduli, s_.n + rows, depth_})};
    digits_ = b_.scratch("digits", DType::Float16, {s_.n, s_.moduli, rows});

    slices_.emplace(b_, s_, rows_, offsets, table);
    slices_->limbs({{b, {0, false, 0, 0}}, {a, {0, false, s_.n, 0}}});
    if (complex) {
      slices_->limbs({{b, {words, s_.conj_b, 0, s_.k}}, {a, {words, !s_.conj_a, s_.n, s_.k}}});
      slices_->limbs({{a, {words, s_.conj_a, s_.n + s_.m, 0}}, {a, {0, false, s_.n + s_.m, s_.k}}});
    }
    slices_->residues({0, 1}, {0, rows_.count}, 0, depth_);
    products();
    Recombine(b_, s_.moduli, digits_, weights, limbs).build();
    return b_.finish();
  }

 private:
  // Residues that are made beside a product: `share` rows from `first` on while the first panel multiplies, and so on.
  struct Beside { Slices::Moduli moduli; Affine first; std::int64_t share = 0; };

  // Groups of 1, 2, 4, 4, ... moduli.
  void products() {
    const auto several = [&](const Affine& first, std::int64_t count, const std::optional<Slices::Moduli>& next) {
      const std::int64_t passes = count * (s_.n / block_), share = passes > 0 && next ? rows_.count / passes / side_ * side_ : 0, done = share * passes;
      if (next && done < rows_.count) slices_->residues(*next, {done, rows_.count - done}, 0, depth_);
      b_.sequential("modulus", count, [&](Affine h) {
        product(first + h, share > 0 ? std::optional(Beside{*next, h * (s_.n / block_ * share), share}) : std::nullopt);
      });
    };
    std::vector<std::int64_t> groups;
    for (std::int64_t left = s_.moduli; left > 0; left -= groups.back()) {
      groups.push_back(std::min({left, kGroup, groups.empty() ? 1 : 2 * groups.back()}));
    }
    const auto next = [&](std::size_t g, const Affine& first) {
      return g + 1 < groups.size() ? std::optional(Slices::Moduli{first + groups[g], groups[g + 1]}) : std::nullopt;
    };
    std::int64_t first = 0;
    for (std::size_t g = 0; g < groups.size();) {
      std::size_t alike = g;  // groups that are followed by one of their size are one loop
      while (alike + 1 < groups.size() && groups[alike] == kGroup && groups[alike + 1] == kGroup) ++alike;
      const std::size_t repeats = std::max<std::size_t>(1, alike - g);
      b_.sequential("group", static_cast<std::int64_t>(repeats), [&](Affine i) { several(i * groups[g] + first, groups[g], next(g, i * groups[g] + first)); });
      first += static_cast<std::int64_t>(repeats) * groups[g];
      g += repeats;
    }
  }

  // digits = C mod p_i. Beside it residues are made, a piece of k per block of a panel and the rest of k before the panel's first block.
  void product(const Affine& i, const std::optional<Beside>& beside) {
    constexpr std::int64_t kPiece = Slices::kResidueColumns;
    const std::int64_t rows = s_.rows(), blocks = rows / bank_, panels = s_.n / block_;
    const auto panel = [&](const Affine& l0, std::int64_t count, const std::optional<Slices::Rows>& made) {
      const Access tile = b_.sbuf("panel", std::min(side_, depth_), {k_tiles_, count}, DType::BFloat16, panel_buffers_);
      load(tile, i, l0, count, 0, k_tiles_);
      const std::int64_t shared = made ? std::min(blocks, depth_ / kPiece) : 0, done = shared * kPiece;
      if (made && done < depth_) slices_->residues(beside->moduli, *made, done, depth_ - done);
      b_.parallel("rb", shared, [&](Affine rb) {
        slices_->residues(beside->moduli, *made, rb * kPiece, kPiece);
        block(tile, i, l0, count, rb * bank_, bank_);
      });
      for_blocks(b_, "rb", rows - shared * bank_, bank_, LoopKind::Parallel,
                 [&](const Affine& r0, std::int64_t columns) { block(tile, i, l0, count, r0 + shared * bank_, columns); });
    };
    b_.parallel("lb", panels, [&](Affine lb) {
      panel(lb * block_, block_, beside ? std::optional(Slices::Rows{beside->first + lb * beside->share, beside->share}) : std::nullopt);
    });
    if (s_.n > panels * block_) panel(panels * block_, s_.n - panels * block_, std::nullopt);
  }

  // dst (128, tiles, rows) <- residues of rows [r0, r0 + rows), tiles [first, first + tiles) of k; the last tile of all may be
  // shorter.
  void load(const Access& dst, const Affine& i, const Affine& r0, std::int64_t rows, const Affine& first, std::int64_t tiles) {
    const Access plane = drop(rows_.residues(ds(i, 1), all, all), 0);
    const std::int64_t rest = short_tile(first, tiles), whole = tiles - (rest > 0 ? 1 : 0);
    if (whole > 0) {
      const Access src = plane(ds(r0, rows), ds(first * side_, whole * side_)).split(1, side_);  // (rows, tiles, 128)
      b_.dma_transpose(dst(all, ds(0, whole), all), src);
    }
    if (rest > 0) {
      const Access src = plane(ds(r0, rows), ds((first + whole) * side_, rest)).split(1, rest);
      b_.dma_transpose(dst(ds(0, rest), ds(whole, 1), all), src);
    }
  }

  // The depth of the last of these tiles when it is the short one at the end of k, else 0.
  std::int64_t short_tile(const Affine& first, std::int64_t tiles) const {
    return first.is_constant() && first.constant() + tiles == k_tiles_ ? depth_ % side_ : 0;
  }

  // The transpose of rows [r0, r0 + columns) x columns [l0, l0 + rows) of C mod p_i.
  void block(const Access& panel, const Affine& i, const Affine& l0, std::int64_t rows, const Affine& r0, std::int64_t columns) {
    const std::int64_t pieces = ceil_div(rows, side_), height = std::min(rows, side_), whole = depth_ / exact::kTermsMax;
    const std::int64_t tiles = exact::kTermsMax / side_, rest = k_tiles_ - whole * tiles;
    const Access digits = b_.sbuf("digit", height, {pieces, columns}, DType::Float16, 2);
    // Two buffers where one chunk follows another through the same tile.
    const auto chunk = [&](const Affine& first, std::int64_t count, bool adds, std::int64_t buffers) {
      const Access right = b_.sbuf("chunk", std::min(side_, depth_), {count, columns}, DType::BFloat16, buffers);
      load(right, i, r0 + s_.n, columns, first, count);
      const Access sums = b_.psum("sums", height, {pieces, bank_}, DType::Float32, buffers);
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        multiply(drop(sums(ds(0, rows_of(piece, rows)), ds(piece, 1), ds(0, columns)), 0), panel, right, piece, rows, first, count);
      }
      // All pieces at once when they are equally high.
      const bool even = rows % side_ == 0 || pieces == 1;
      const Access quotient = b_.sbuf("quotient", height, {pieces, columns}, DType::Int32, buffers);
      const Access total = adds ? b_.sbuf("total", height, {pieces, columns}, DType::Float32, buffers) : Access{};
      for (std::int64_t piece = 0; piece < (even ? 1 : pieces); ++piece) {
        const auto here = [&](const Access& x) { return x(ds(0, even ? height : rows_of(piece, rows)), ds(piece, even ? pieces : 1), ds(0, columns)); };
        if (adds) b_.tensor_tensor(here(total), here(sums), here(digits), AluOp::Add, Engine::Vector);
        const Access x = here(adds ? total : sums), q = here(quotient);
        slices_->divide(q, x, i);
        slices_->subtract(here(digits), x, q, i);
      }
    };
    const std::int64_t more = std::max<std::int64_t>(0, whole - 1);
    chunk(0, std::min(tiles, k_tiles_), false, k_tiles_ > tiles ? 1 : 2);
    b_.sequential("kc", more, [&](Affine c) { chunk((c + 1) * tiles, tiles, true, more > 1 ? 2 : 1); });
    if (whole > 0 && rest > 0) chunk(Affine(whole * tiles), rest, true, 1);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t tall = rows_of(piece, rows);
      b_.dma_copy(drop(digits_(ds(l0 + piece * side_, tall), ds(i, 1), ds(r0, columns)), 1), drop(digits(ds(0, tall), ds(piece, 1), all), 0));
    }
  }

  std::int64_t rows_of(std::int64_t piece, std::int64_t rows) const { return std::min(side_, rows - piece * side_); }

  void multiply(const Access& sums, const Access& panel, const Access& right, std::int64_t piece, std::int64_t rows, const Affine& first,
                std::int64_t tiles) {
    const std::int64_t rest = short_tile(first, tiles);
    const auto one = [&](const Affine& t, std::int64_t deep) {
      b_.nc_matmul(sums, drop(panel(ds(0, deep), ds(t + first, 1), ds(piece * side_, rows_of(piece, rows))), 0),
                   drop(right(ds(0, deep), ds(t, 1), all), 0), {.accumulate = t});
    };
    b_.sequential("kt", tiles - (rest > 0 ? 1 : 0), [&](Affine t) { one(t, side_); });
    if (rest > 0) one(Affine(tiles - 1), rest);
  }

  static constexpr std::int64_t kGroup = 4;

  ExactShape s_;
  Builder b_;
  std::int64_t side_, bank_, depth_, k_tiles_, block_ = 0, panel_buffers_ = 1;
  Slices::Numbers rows_;  // the columns of op(B), then the rows of op(A)
  Access digits_;
  std::optional<Slices> slices_;
};

}  // namespace

tile::Program exact_program(const ExactShape& shape, const Machine& machine) {
  require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1, "blas.gemm: a program needs m, n, k >= 1, got {} x {} x {}", shape.m, shape.n, shape.k);
  require(shape.moduli >= 1 && shape.moduli <= exact::kModuliMax, "blas.gemm: {} moduli; there are {}", shape.moduli, exact::kModuliMax);
  const DType real = real_of(shape.in);
  require(real == DType::Float64 || real == DType::Float32, "blas.gemm: precision 'exact' takes float64 and float32, not {}", name(shape.in));
  return ExactKernel(shape, machine).build();
}

std::vector<float> exact_table(int moduli) {
  std::vector<float> table(static_cast<std::size_t>(device::kTableRows * moduli));
  for (int i = 0; i < moduli; ++i) {
    const int p = exact::moduli()[static_cast<std::size_t>(i)];
    const auto at = [&](int row) -> float& { return table[static_cast<std::size_t>(row * moduli + i)]; };
    std::int64_t power = 1;
    for (int l = 1; l <= 3; ++l) {
      power = (power << 16) % p;
      const std::int64_t balanced = 2 * power > p ? power - p : power;
      at(device::kC1 + l - 1) = std::ldexp(static_cast<float>(balanced), -16 * l);
    }
    at(device::kInverse) = 1.0F / static_cast<float>(p);
    at(device::kMinusP) = -static_cast<float>(p);
  }
  return table;
}

std::vector<float16> exact_weights(int moduli, const Machine& machine) {
  const exact::Recombination constants = exact::recombination(moduli);
  const auto group = static_cast<std::size_t>(Recombine::group(moduli, machine)), words = static_cast<std::size_t>(2 * constants.limbs + 2);
  std::vector<float16> weights(group * static_cast<std::size_t>(moduli) * words * group, float16(0.0F));
  for (std::size_t j = 0; j < group; ++j) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(moduli); ++i) {
      for (std::size_t k = 0; k < words; ++k) {
        weights[((j * static_cast<std::size_t>(moduli) + i) * words + k) * group + j] = float16(static_cast<float>(constants.weight[i][k]));
      }
    }
  }
  return weights;
}

namespace device {

void exact_product(const Executor& executor, const ExactArgs& args) {
  const GemmArgs& g = args.g;
  std::vector<exact::Wide> row(static_cast<std::size_t>(args.columns));
  if (args.depth == 0) {
    for (std::int64_t i = 0; i < args.rows; ++i) args.sink(i, row.data());
    return;
  }
  Device& device = device_of(executor);
  const ExactShape shape{g.in, args.moduli, g.m, g.n, g.k, g.am, g.ak, g.bk, g.bn, g.conj_a, g.conj_b};
  const auto program = device.programs().get(shape, [&](const ExactShape& s) { return exact_program(s, device.machine()); });
  const bool wide = real_of(g.in) == DType::Float64;
  std::vector<float> offset;
  for (const auto& shifts : {args.shift_b, args.shift_a}) {
    for (const std::int32_t s : shifts) offset.push_back(static_cast<float>(exact::exponent_offset(wide, s)));
  }
  const Array<float> offsets = Array<float>::from_host(executor, {static_cast<std::int64_t>(offset.size())}, offset);
  const Array<float> table = Array<float>::from_host(executor, {kTableRows * args.moduli}, exact_table(args.moduli));
  const std::vector<float16> constants = exact_weights(args.moduli, device.machine());
  const Array<float16> weights = Array<float16>::from_host(executor, {static_cast<std::int64_t>(constants.size())}, constants);
  const int limbs = exact::recombination(args.moduli).limbs;
  const Array<float> words(executor, {args.rows * limbs * args.columns});
  device.run(*program, std::vector<Binding>{{"a", const_cast<void*>(g.a)}, {"b", const_cast<void*>(g.b)}, {"offsets", offsets.data()}, {"table", table.data()}, {"weights", weights.data()}, {"limbs", words.data()}});
  const std::vector<float> host = words.to_host();
#pragma omp parallel for firstprivate(row) if (args.rows * args.columns > 1 << 12)
  for (std::int64_t i = 0; i < args.rows; ++i) {
    const float* first = host.data() + i * limbs * args.columns;
    for (std::int64_t j = 0; j < args.columns; ++j) row[static_cast<std::size_t>(j)] = exact::join(first + j, args.columns, limbs);
    args.sink(i, row.data());
  }
}

}  // namespace device

}  // namespace trn::blas
