// scaled_gemm on the device: the program, and its launch.
//
// The Tensor Engine contracts 256 rows of 8-bit floats in the time of 128 (double rows): partition p of a tile holds
// the two neighbours k = 2p and 2p + 1, so that the sums run over k in its natural order. Both operands are streamed:
//
//   for each block of C (512 x 1024: all PSUM banks)
//     for each chunk of k                         A (chunk, 512) and B (chunk, 1024), the next ones on their way
//       8 matmuls per 256 of k
//     times the factor, plus beta C, rounded      one or two passes of the Vector Engine per piece
//
// With a scale for each 128 of k a matmul contracts 128 (64 partitions of pairs), and the Vector Engine adds factor
// times sum into SBUF after each. That binds: a pass over 512 columns takes 2.5 times as long as the matmul, and there
// are two, one where the columns share their scale. So scales that are powers of two, as quantize makes them, take
// another road, with the same bits: a number of 8 bits times such a scale is a bfloat16 (apply_scales.hpp), and a sum
// of 128 products with both scales in them is the scaled sum, because scaling by a power of two commutes with every
// rounding while nothing leaves the range of float. gemm's kernel adds sums of 128 in the same order, in PSUM. Whether
// the scales are such is read from them: ceil(k / 128) (m + n) numbers come to the host first.
//
// An operand whose k is the contiguous direction arrives by dma_transpose of pairs: two neighbours in k are one 16-bit
// number there. It needs an even number of them at even addresses; other layouts are loaded element by element, right
// and slow.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <trn/blas/scaled_gemm.hpp>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/device.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels/scaled.hpp"
#include "apply_scales.hpp"
#include "launch.hpp"
#include "views.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::without;

namespace {

constexpr std::int64_t kBlockRows = 512, kBlockColumns = 1024, kChunkTiles = 4;

// An operand as (k, x), x the rows of A or the columns of B.
class PairOperand {
 public:
  PairOperand(Builder& b, std::string name, Access hbm, std::int64_t partitions, bool even)
      : b_(b), name_(std::move(name)), hbm_(std::move(hbm)), half_(partitions) {
    const Dim k = hbm_.dims[0], x = hbm_.dims[1];
    turned_ = b.machine().dma_transpose && even && k.stride == 1 && k.size % 2 == 0 && x.size > 1 && x.stride != 1 &&
              x.stride % 2 == 0;
  }

  // k in [k0, k0 + tiles * 2 * partitions), or a ragged tile of `depth`.
  Access load(const Affine& k0, std::int64_t tiles, std::int64_t depth, const Affine& x0, std::int64_t width) const {
    const std::int64_t pairs = depth / 2, used = ceil_div(depth, 2);
    if (turned_) {
      const Access tile = b_.sbuf(name_ + "_pairs", used, {tiles, width}, DType::UInt16, 2);
      const Access from = hbm_.permute({1, 0})(ds(x0, width), ds(k0, tiles * depth)).view(DType::UInt16);
      b_.dma_transpose(tile, from.split(1, pairs));
      return tile;
    }
    const Access tile = b_.sbuf(name_ + "_tile", used, {tiles, 2, width}, hbm_.dtype, 2);
    if (pairs < used) b_.memset(tile.view(DType::UInt8), 0);
    if (pairs > 0) {
      const Access from = hbm_(ds(k0, tiles * 2 * pairs), ds(x0, width));
      b_.dma_copy(tile(ds(0, pairs)), from.split(0, 2 * pairs).split(1, 2).permute({1, 0, 2, 3}));
    }
    if (pairs < used)
      b_.dma_copy(without(without(tile(ds(pairs, 1), ds(0, 1), ds(0, 1)), 0), 0), last(k0, depth, x0, width));
    return tile;
  }

  // Columns [from, from + width) of tile t: (partitions, 2, width).
  [[nodiscard]] Access pairs(const Access& tile, std::int64_t t, std::int64_t from, std::int64_t width) const {
    if (!turned_) return without(tile(all, ds(t, 1), all, ds(from, width)), 0);
    return without(tile(all, ds(t, 1), ds(from, width)), 0).view(hbm_.dtype).split(0, 2).permute({1, 0});
  }

 private:
  Access last(const Affine& k0, std::int64_t depth, const Affine& x0, std::int64_t width) const {
    return hbm_(ds(k0 + (depth - 1), 1), ds(x0, width));
  }

  Builder& b_;
  std::string name_;
  Access hbm_;
  std::int64_t half_;
  bool turned_;
};

class ScaledKernel {
 public:
  ScaledKernel(const ScaledShape& shape, const Machine& machine)
      : s_(shape),
        b_("blas_scaled_gemm", machine),
        side_(machine.partitions),
        bank_(blocks::bank_columns(machine)),
        half_(shape.blocks ? kScaleBlock / 2 : side_),
        block_count_(shape.blocks ? ceil_div(shape.k, kScaleBlock) : 1) {}

  Program build() {
    Access a = b_.input("a", s_.a, {s_.m, s_.k}, {s_.am, s_.ak}), b = b_.input("b", s_.b, {s_.k, s_.n}, {s_.bk, s_.bn});
    std::swap(a.dims[0], a.dims[1]);
    a_.emplace(b_, "a", a, half_, s_.even_a);
    bb_.emplace(b_, "b", b, half_, s_.even_b);
    rows_ = scale("scale_a", s_.m, s_.a_row, s_.a_block);
    columns_ = scale("scale_b", s_.n, s_.b_column, s_.b_block);
    // Every partition takes them, once for each block of rows: side by side they are read in long runs.
    if (s_.b_column > 1) {
      const Access gathered = b_.scratch("column_scales", DType::Float32, {columns_.dims[1].size, s_.n});
      b_.dma_copy(gathered, columns_.permute({1, 0}));
      columns_ = gathered.permute({1, 0});
    }
    alpha_ = blocks::scalar_input(b_, "alpha");
    if (s_.beta == Factor::Input) beta_ = blocks::scalar_input(b_, "beta");
    if (s_.beta != Factor::Zero) c_in_ = b_.input("c_in", s_.out, {s_.m, s_.n}, {s_.cm, s_.cn});
    c_ = s_.beta == Factor::Zero ? b_.output("c", s_.out, {s_.m, s_.n}, {s_.cm, s_.cn}) : b_.output_over("c", c_in_);
    for_blocks(b_, "mb", s_.m, kBlockRows, LoopKind::Parallel, [&](const Affine& m0, std::int64_t rows) {
      const std::vector<Access> row_factors = factors_of_rows(m0, rows);
      for_blocks(b_, "nb", s_.n, kBlockColumns, LoopKind::Parallel,
                 [&](const Affine& n0, std::int64_t columns) { block(m0, rows, n0, columns, row_factors); });
    });
    return tile::static_stores(b_.finish());
  }

 private:
  // (x, blocks of k) as the host laid it out; extents of 1 where there is one for all.
  Access scale(const char* name, std::int64_t extent, std::int64_t stride, std::int64_t block_stride) {
    return b_.input(name, DType::Float32, {stride == 0 ? 1 : extent, block_stride == 0 ? 1 : block_count_},
                    {stride == 0 ? 1 : stride, block_stride == 0 ? 1 : block_stride});
  }

  // x[x0 ...) by blocks; what there is one of is repeated.
  Access part(const Access& scale, const Affine& x0, std::int64_t width, const Affine& t0, std::int64_t tiles) const {
    const bool one = scale.dims[0].size == 1, same = scale.dims[1].size == 1;
    Access x = scale(one ? ds(0, 1) : ds(x0, width), same ? ds(0, 1) : ds(t0, tiles));
    if (one) x.dims[0] = {0, width};
    if (same) x.dims[1] = {0, tiles};
    return x;
  }

  // For each 128 rows a (rows, blocks) tile of row scales, times alpha unless the columns take it. Where the columns
  // share their scales, it is the whole factor.
  std::vector<Access> factors_of_rows(const Affine& m0, std::int64_t rows) {
    const bool whole = s_.b_column == 0;
    const auto times_alpha = [&](const Access& t) {
      b_.tensor_scalar(t, t, AluOp::Multiply, alpha_(ds(0, t.partitions), all), {.engine = Engine::Vector});
    };
    std::vector<Access> result;
    for (std::int64_t r = 0; r < rows; r += side_) {
      const std::int64_t height = std::min(side_, rows - r);
      const std::string number = std::to_string(r / side_);
      const Access t = b_.sbuf("row_factors" + number, height, {block_count_}, DType::Float32, 2);
      b_.dma_copy(t, part(rows_, m0 + r, height, 0, block_count_));
      if (!s_.alpha_on_columns) times_alpha(t);
      if (whole) {
        const Access u = b_.sbuf("shared_factors" + number, height, {block_count_}, DType::Float32, 2);
        b_.dma_copy(u, part(columns_, 0, height, 0, block_count_));
        if (s_.alpha_on_columns) times_alpha(u);
        b_.tensor_tensor(t, t, u, AluOp::Multiply, Engine::Vector);
      }
      result.push_back(t);
    }
    return result;
  }

  // (128, tiles, columns) of column scales in every partition.
  Access factors_of_columns(const Affine& n0, std::int64_t columns, const Affine& t0, std::int64_t tiles) {
    const Access t = b_.sbuf("column_factors", side_, {tiles, columns}, DType::Float32, 2);
    Access from = part(columns_, n0, columns, t0, tiles).permute({1, 0});
    from.dims.insert(from.dims.begin(), Dim{0, side_});
    b_.dma_copy(t, from);
    if (s_.alpha_on_columns) b_.tensor_scalar(t, t, AluOp::Multiply, alpha_, {.engine = Engine::Vector});
    return t;
  }

  void block(const Affine& m0, std::int64_t rows, const Affine& n0, std::int64_t columns,
             const std::vector<Access>& row_factors) {
    const blocks::Accumulator sums = blocks::accumulator(b_, "sums", rows, columns);
    Access total, whole_k;
    if (s_.blocks) {
      total =
          b_.sbuf("total", std::min(side_, rows), {sums.row_pieces() * sums.column_pieces(), bank_}, DType::Float32, 2);
      b_.memset(total, 0, Engine::GpSimd);
    } else if (s_.b_column != 0) {
      whole_k = factors_of_columns(n0, columns, 0, 1);
    }
    const std::int64_t depth = 2 * half_, whole = s_.k / depth * depth, rest = s_.k - whole;
    const auto chunk = [&](const Affine& t0, std::int64_t tiles, std::int64_t deep) {
      const Affine k0 = t0 * depth;
      const Access a = a_->load(k0, tiles, deep, m0, rows), b = bb_->load(k0, tiles, deep, n0, columns);
      const Access factors = s_.blocks && s_.b_column != 0 ? factors_of_columns(n0, columns, t0, tiles) : Access{};
      for (std::int64_t t = 0; t < tiles; ++t) {
        for (std::int64_t i = 0; i < sums.row_pieces(); ++i) {
          for (std::int64_t j = 0; j < sums.column_pieces(); ++j) {
            const Access sum = sums.piece(i, j);
            b_.nc_matmul(sum, a_->pairs(a, t, i * side_, sums.rows_of(i)),
                         bb_->pairs(b, t, j * bank_, sums.columns_of(j)),
                         {.accumulate = s_.blocks ? Affine(0) : t0 + t, .perf_mode = MatmulMode::DoubleRow});
            if (s_.blocks) {
              add_scaled(piece_of(total, sums, i, j), sum, row_factors[static_cast<std::size_t>(i)](all, ds(t0 + t, 1)),
                         s_.b_column == 0 ? Access{} : entry(factors, t, sums.rows_of(i), j, sums.columns_of(j)));
            }
          }
        }
      }
    };
    for_blocks(b_, "kb", whole / depth, kChunkTiles, LoopKind::Sequential,
               [&](const Affine& t0, std::int64_t tiles) { chunk(t0, tiles, depth); });
    if (rest > 0) chunk(whole / depth, 1, rest);
    for (std::int64_t i = 0; i < sums.row_pieces(); ++i) {
      for (std::int64_t j = 0; j < sums.column_pieces(); ++j) {
        const std::int64_t height = sums.rows_of(i), width = sums.columns_of(j);
        if (s_.blocks) {
          finish(piece_of(total, sums, i, j), m0 + i * side_, n0 + j * bank_, height, width);
          continue;
        }
        const bool last = s_.beta == Factor::Zero;
        const Access x = b_.sbuf(last ? "out" : "product", height, {width}, last ? s_.out : DType::Float32, 3);
        times_factor(x, sums.piece(i, j), row_factors[static_cast<std::size_t>(i)](all, ds(0, 1)),
                     whole_k.present() ? entry(whole_k, 0, height, j, width) : Access{});
        if (last)
          b_.dma_copy(c_(ds(m0 + i * side_, height), ds(n0 + j * bank_, width)), x);
        else
          finish(x, m0 + i * side_, n0 + j * bank_, height, width);
      }
    }
  }

  Access piece_of(const Access& total, const blocks::Accumulator& sums, std::int64_t i, std::int64_t j) const {
    return without(total(ds(0, sums.rows_of(i)), ds(i * sums.column_pieces() + j, 1), ds(0, sums.columns_of(j))), 0);
  }

  // total += (column factors * row factor) * sum; without column factors the row's are the whole factor.
  void add_scaled(const Access& total, const Access& sum, const Access& row, const Access& columns) {
    if (!columns.present()) return b_.scalar_tensor_tensor(total, sum, AluOp::Multiply, row, AluOp::Add, total);
    const Access scaled = b_.sbuf("scaled", total.partitions, {total.dims[0].size}, DType::Float32, 2);
    times_factor(scaled, sum, row, columns);
    b_.tensor_tensor(total, total, scaled, AluOp::Add, Engine::Vector);
  }

  // Tile t of the column factors for piece column j.
  Access entry(const Access& factors, std::int64_t t, std::int64_t height, std::int64_t j, std::int64_t width) const {
    return without(factors(ds(0, height), ds(t, 1), ds(j * bank_, width)), 0);
  }

  // dst = (column factors * row factor) * sum
  void times_factor(const Access& dst, const Access& sum, const Access& row, const Access& columns) {
    if (!columns.present()) return b_.tensor_scalar(dst, sum, AluOp::Multiply, row, {.engine = Engine::Vector});
    b_.scalar_tensor_tensor(dst, columns, AluOp::Multiply, row, AluOp::Multiply, sum);
  }

  // C = beta C + x
  void finish(const Access& x, const Affine& m, const Affine& n, std::int64_t height, std::int64_t width) {
    const Access out = b_.sbuf("out", height, {width}, s_.out, 3);
    if (s_.beta == Factor::Zero) {
      b_.tensor_copy(out, x, Engine::Scalar);
    } else {
      const Access old = b_.sbuf("old", height, {width}, s_.out, 3);
      b_.dma_copy(old, c_in_(ds(m, height), ds(n, width)));
      const ScalarOrTile beta = s_.beta == Factor::One ? ScalarOrTile(1.0) : ScalarOrTile(beta_(ds(0, height), all));
      b_.scalar_tensor_tensor(out, old, AluOp::Multiply, beta, AluOp::Add, x);
    }
    b_.dma_copy(c_(ds(m, height), ds(n, width)), out);
  }

  ScaledShape s_;
  Builder b_;
  std::int64_t side_, bank_, half_, block_count_;
  std::optional<PairOperand> a_, bb_;
  Access rows_, columns_, alpha_, beta_, c_in_, c_;
};

void require_multiplies(const ScaledShape& shape, const Machine& machine) {
  if (!machine.double_row)
    fail<NotImplemented>(
        "blas.scaled_gemm: {} multiplies 8-bit floats at the rate of 16-bit ones; use gemm in bfloat16, "
        "or trn2 and later",
        machine.name);
  if (!machine.float8_e4m3fn && (shape.a == DType::Float8E4M3FN || shape.b == DType::Float8E4M3FN))
    fail<NotImplemented>("blas.scaled_gemm: {} has no float8_e4m3fn; use float8_e4m3", machine.name);
}

}  // namespace

tile::Program scaled_gemm_program(const ScaledShape& shape, const Machine& machine) {
  require_multiplies(shape, machine);
  require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1,
          "blas.scaled_gemm: a program needs m, n, k >= 1, got {}, {}, {}", shape.m, shape.n, shape.k);
  return ScaledKernel(shape, machine).build();
}

namespace device {

namespace {

// Below this number of sums of 128 x 512 x 128 the launches of three programs cost more than they save.
constexpr std::int64_t kSumsWorthAProduct = 64;
// Exponents for which no product or sum of 8-bit floats with both scales in them leaves float's range or loses bits
// below it: 2^(2 (16 + 30)) times k, and 2^(-2 (16 + 30)).
constexpr int kScaleExponent = 30, kAlphaExponent = 20;

bool power_of_two(float x, int most) {
  int exponent = 0;
  return std::isfinite(x) && std::abs(std::frexp(x, &exponent)) == 0.5F && std::abs(exponent - 1) <= most;
}

// Of the scales of `rows` rows and `blocks` blocks with strides (row, block), 0 where one is for all.
bool powers_of_two(const Executor& executor, const float* scale, std::int64_t rows, std::int64_t row,
                   std::int64_t blocks, std::int64_t block) {
  if (scale == nullptr) return true;
  const Shape shape{row == 0 ? 1 : rows, block == 0 ? 1 : blocks};
  const Strides from{row, block}, to = row_major_strides(shape);
  std::vector<float> values(static_cast<std::size_t>(shape[0] * shape[1]));
  const Executor host = Executor::host();
  trn::detail::copy_elements({&executor, const_cast<float*>(scale), &shape, &from}, {&host, values.data(), &shape, &to},
                             sizeof(float));
  return std::all_of(values.begin(), values.end(), [](float x) { return power_of_two(x, kScaleExponent); });
}

// C = alpha (A with its scales) (B with its scales) + beta C in bfloat16; see the top of the file.
void product_of_scaled(const Executor& executor, const ScaledArgs& args) {
  const ScaledShape& s = args.shape;
  const ApplyScalesShape a{s.a, s.m, s.k, s.am, s.ak, s.a_row, s.a_block},
      b{s.b, s.n, s.k, s.bn, s.bk, s.b_column, s.b_block};
  const Array<bfloat16> wide_a(executor, {s.m, s.k}), wide_b(executor, {s.n, s.k});
  const auto apply = [&](const ApplyScalesShape& shape, const void* x, const float* scale, const Array<bfloat16>& y) {
    launch(executor, apply_scales_program, shape,
           {{"x", x}, scale ? Argument("scale", scale) : constant("scale", std::array{1.0F}), {"y", y.data()}});
  };
  apply(a, args.a, args.scale_a, wide_a);
  apply(b, args.b, args.scale_b, wide_b);
  GemmShape product{DType::BFloat16, s.out, s.m, s.n, s.k, a.yr(), a.yk(), b.yk(), b.yr(), s.cm, s.cn};
  ProductCall call{product, wide_a.data(), wide_b.data(), args.c, args.alpha, args.beta};
  if (s.cm == 1 && s.cn != 1 && s.n > 1) {  // rows are stored
    call.shape = {DType::BFloat16, s.out, s.n, s.m, s.k, b.yr(), b.yk(), a.yk(), a.yr(), s.cn, s.cm};
    std::swap(call.a, call.b);
  }
  run_product(executor, call);
}

}  // namespace

void scaled_gemm(const Executor& executor, const ScaledArgs& args) {
  ScaledShape s = args.shape;
  if (s.k == 0 || args.alpha == 0) {
    if (s.beta == Factor::One) return;
    const ScaleShape scale{s.out, s.m, s.n, s.cm, s.cn, s.beta};
    return launch(executor, scale_program, scale, {{"c", args.c}, constant("beta", std::array{args.beta})});
  }
  const Machine& machine = device_of(executor).machine();
  require_multiplies(s, machine);
  const std::int64_t groups = ceil_div(s.k, kScaleBlock);
  if (s.blocks &&
      ceil_div(s.m, machine.partitions) * ceil_div(s.n, blocks::bank_columns(machine)) * groups >= kSumsWorthAProduct &&
      power_of_two(args.alpha, kAlphaExponent) &&
      powers_of_two(executor, args.scale_a, s.m, s.a_row, groups, s.a_block) &&
      powers_of_two(executor, args.scale_b, s.n, s.b_column, groups, s.b_block))
    return product_of_scaled(executor, args);
  const void *a = args.a, *b = args.b, *scale_a = args.scale_a, *scale_b = args.scale_b;
  // Rows are stored, so where columns are the contiguous direction of C its transpose is computed.
  if (s.cm == 1 && s.cn != 1 && s.n > 1) {
    std::swap(s.a, s.b), std::swap(s.m, s.n), std::swap(s.am, s.bn), std::swap(s.ak, s.bk), std::swap(s.cm, s.cn);
    std::swap(s.even_a, s.even_b), std::swap(s.a_row, s.b_column), std::swap(s.a_block, s.b_block);
    std::swap(a, b), std::swap(scale_a, scale_b);
    s.alpha_on_columns = true;
  }
  std::vector<Argument> arguments{{"a", a}, {"b", b}, {"c", args.c}};
  arguments.push_back(constant("alpha", std::array{args.alpha}));
  arguments.push_back(constant("beta", std::array{args.beta}));
  for (const auto& [name, scale] : {std::pair("scale_a", scale_a), std::pair("scale_b", scale_b)})
    arguments.push_back(scale ? Argument(name, scale) : constant(name, std::array{1.0F}));
  launch(executor, scaled_gemm_program, s, arguments);
}

}  // namespace device

}  // namespace trn::blas
