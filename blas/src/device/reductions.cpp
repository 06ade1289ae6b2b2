// dot, asum, nrm2, amax and amin on the device.
//
// Every piece of the vectors (vectors.hpp) leaves one or a few numbers per partition in the tile `partial`, stored once
// at the end; the host adds or compares the 128 * pieces partial results in a fixed order in double. Bytes: each vector
// once. The Scalar Engine takes magnitudes and squares, the Vector Engine products, extremes and sums (64 elements at a
// time, then the groups), so that the engines share the work: on trn2 a piece of 2048 columns arrives in 2.5 us, asum
// takes 1.8 us of Scalar and 2.2 us of Vector.
//
// nrm2: the Vector Engine finds the largest magnitude, the Scalar Engine squares and adds 512 elements at a time. A
// partition's squares are taken of s x with s = 2^-e, e the exponent of the partition's largest |x| held within +-100:
// no square overflows, and what underflows is below 2^-40 of the largest.
#include <algorithm>
#include <cmath>
#include <limits>

#include <trn/blas/vector_programs.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels.hpp"
#include "vectors.hpp"

namespace trn::blas {

using namespace trn::tile;
using device::flat;
using device::part;
using device::VectorPiece;

namespace {
constexpr std::int64_t kRuns = 4,
                       kRunColumns =
                           512;  // nrm2 adds this many squares in fp32; a piece has four times as many numbers
}  // namespace

std::int64_t reduction_columns(const ReductionShape& s) {
  switch (s.reduction) {
    case Reduction::Asum:
      return 1;
    case Reduction::Dot:
      return s.complex ? 4 : 1;
    case Reduction::Nrm2:
      return 1 + kRuns;
    case Reduction::Amax:
    case Reduction::Amin:
      return 2;
  }
  return 0;
}

namespace {

constexpr std::int64_t kBuffers = 2;

class ReductionKernel {
 public:
  ReductionKernel(const ReductionShape& shape, const Machine& machine) : s_(shape), b_("blas_reduction", machine) {}

  Program build() {
    const std::int64_t width = device::piece_width(s_.complex), pieces = device::piece_count(s_.n, width, b_.machine());
    const std::int64_t columns = reduction_columns(s_), side = b_.machine().partitions;
    const Access x = device::vector_input(b_, "x", s_.complex, s_.n, s_.incx);
    Access y;
    if (s_.reduction == Reduction::Dot) y = device::vector_input(b_, "y", s_.complex, s_.n, s_.incy);
    const Access out = b_.output("partial", DType::Float32, {side, pieces, columns});
    const Access partial = b_.sbuf("partial_tile", side, {pieces, columns}, DType::Float32);
    // A piece of fewer partitions leaves the others as they are: neutral.
    if (s_.n % side > 0 || s_.reduction == Reduction::Nrm2)
      b_.memset(partial, s_.reduction == Reduction::Amin   ? std::numeric_limits<float>::infinity()
                         : s_.reduction == Reduction::Amax ? -1.0
                                                           : 0.0);
    if (s_.reduction == Reduction::Amax || s_.reduction == Reduction::Amin)
      make_countdown(std::min(width, std::max(s_.n / side, s_.n % side)));
    device::for_pieces(b_, s_.n, width, [&](const VectorPiece& p) {
      const auto to = [&](std::int64_t column) {
        Access one = partial(ds(0, p.partitions), ds(p.number, 1), ds(column, 1));
        one.dims = {one.dims.back()};
        return one;
      };
      const Access xt = p.load(b_, "x_piece", x, 3);
      switch (s_.reduction) {
        case Reduction::Asum:
          device::sum_row(b_, to(0), magnitudes(p, xt));
          break;
        case Reduction::Nrm2:
          nrm2(p, flat(xt), to);
          break;
        case Reduction::Dot:
          dot(p, xt, p.load(b_, "y_piece", y, 3), to);
          break;
        case Reduction::Amax:
        case Reduction::Amin:
          extreme(p, xt, to(0), to(1));
          break;
      }
    });
    b_.dma_copy(out, partial);
    return tile::static_stores(b_.finish());
  }

 private:
  // |x|, all parts in a row.
  Access magnitudes(const VectorPiece& p, const Access& x) {
    const Access a = p.tile(b_, "magnitude", s_.complex, kBuffers);
    b_.activation(flat(a), ActFunction::Abs, flat(x));
    return flat(a);
  }

  void dot(const VectorPiece& p, const Access& x, const Access& y, const std::function<Access(std::int64_t)>& to) {
    const Access straight = p.tile(b_, "straight", s_.complex, kBuffers);
    b_.tensor_tensor(flat(straight), flat(x), flat(y), AluOp::Multiply, Engine::Vector);
    if (!s_.complex) return device::sum_row(b_, to(0), flat(straight));
    const Access crossed = p.tile(b_, "crossed", true, kBuffers);
    for (const std::int64_t i : {0, 1})
      b_.tensor_tensor(part(crossed, i), part(x, i), part(y, 1 - i), AluOp::Multiply, Engine::Vector);
    for (const std::int64_t i : {0, 1}) {
      device::sum_row(b_, to(i), part(straight, i));
      device::sum_row(b_, to(2 + i), part(crossed, i));
    }
  }

  // s, and the sums of squares of s x run by run.
  void nrm2(const VectorPiece& p, const Access& x, const std::function<Access(std::int64_t)>& to) {
    const std::int64_t n = x.free_size();
    const Access largest = b_.sbuf("largest", p.partitions, {1}, DType::Float32, kBuffers),
                 power = b_.sbuf("power", p.partitions, {1}, DType::Float32, kBuffers);
    const Access bits = b_.sbuf("magnitude", p.partitions, {n}, DType::UInt32, kBuffers),
                 squares = b_.sbuf("squares", p.partitions, {n}, DType::BFloat16, kBuffers);
    // All bits but the sign: shifted out and back in. A mask of 31 ones is not an fp32 number, and an immediate is one.
    b_.tensor_scalar(bits, x.view(DType::UInt32), AluOp::LeftShift, 1.0,
                     {.op1 = AluOp::RightShift, .operand1 = 1.0, .engine = Engine::Vector});
    b_.tensor_reduce(largest, AluOp::Maximum, bits.view(DType::Float32));
    // The exponent alone: of NaN and infinity that is infinity, which the bound turns into 2^100.
    b_.tensor_scalar(power.view(DType::UInt32), largest.view(DType::UInt32), AluOp::BitwiseAnd, double{0x7f800000},
                     {.engine = Engine::Vector});
    b_.tensor_scalar(power, power, AluOp::Maximum, 0x1p-100,
                     {.op1 = AluOp::Minimum, .operand1 = 0x1p100, .engine = Engine::Vector});
    b_.reciprocal(to(0), power);
    for (std::int64_t first = 0, run = 1; first < n; first += kRunColumns, ++run) {
      const Slice here = ds(first, std::min(kRunColumns, n - first));
      b_.activation(squares(all, here), ActFunction::Square, x(all, here), {.scale = to(0), .reduce_res = to(run)});
    }
  }

  // columns, columns - 1, ..., 1 in every partition.
  void make_countdown(std::int64_t columns) {
    countdown_ = b_.sbuf("countdown", b_.machine().partitions, {columns}, DType::Float32);
    b_.iota(countdown_, {{-1, columns}}, columns, 0);
  }

  void extreme(const VectorPiece& p, const Access& x, const Access& value, const Access& place) {
    const bool most = s_.reduction == Reduction::Amax;
    const Access all_parts = magnitudes(p, x);
    Access a = all_parts;
    if (s_.complex) {
      const Access pairs = all_parts.split(0, 2);
      a = b_.sbuf("sum_of_parts", p.partitions, {p.columns}, DType::Float32, kBuffers);
      b_.tensor_tensor(a, part(pairs, 0), part(pairs, 1), AluOp::Add, Engine::Vector);
    }
    if (s_.skip_nan) {  // replaced by what never wins against a number
      const Access is_nan = b_.sbuf("is_nan", p.partitions, {p.columns}, DType::UInt8, kBuffers);
      b_.tensor_tensor(is_nan, a, a, AluOp::NotEqual, Engine::Vector);
      const Access loser = b_.sbuf("loser", p.partitions, {p.columns}, DType::Float32);
      b_.memset(loser, most ? -1.0 : std::numeric_limits<float>::infinity());
      b_.tensor_copy_predicated(a, loser, is_nan);
    }
    b_.tensor_reduce(value, most ? AluOp::Maximum : AluOp::Minimum, a);
    // Where a equals the extreme value: how far from the end. The first place has the largest such number.
    const Access score = b_.sbuf("score", p.partitions, {p.columns}, DType::Float32, kBuffers);
    const std::int64_t skip = countdown_.free_size() - p.columns;
    b_.scalar_tensor_tensor(score, a, AluOp::Equal, value, AluOp::Multiply,
                            countdown_(ds(0, p.partitions), ds(skip, p.columns)));
    b_.tensor_reduce(place, AluOp::Maximum, score);
  }

  ReductionShape s_;
  Builder b_;
  Access countdown_;
};

}  // namespace

tile::Program reduction_program(const ReductionShape& shape, const Machine& machine) {
  require(shape.n >= 1, "blas: a reduction program needs n >= 1, got {}", shape.n);
  return ReductionKernel(shape, machine).build();
}

namespace device {

namespace {

struct Partial {
  std::int64_t pieces, columns;
  std::vector<float> values;
  double at(std::int64_t partition, std::int64_t piece, std::int64_t column) const {
    return values[static_cast<std::size_t>((partition * pieces + piece) * columns + column)];
  }
};

Partial run(const Executor& executor, const ReductionShape& shape, const Vectors& v) {
  const Machine& machine = device_of(executor).machine();
  const std::int64_t pieces = piece_count(shape.n, piece_width(shape.complex), machine),
                     columns = reduction_columns(shape);
  const Array<float> partial(executor, {machine.partitions, pieces, columns});
  launch(executor, reduction_program, shape, {{"x", v.x}, {"y", v.y}, {"partial", partial.data()}});
  return {pieces, columns, partial.to_host()};
}

// Sums of each column over partitions and pieces.
std::vector<double> column_sums(const Partial& p) {
  std::vector<double> sums(static_cast<std::size_t>(p.columns), 0);
  for (std::size_t i = 0; i < p.values.size(); ++i) sums[i % sums.size()] += p.values[i];
  return sums;
}

ReductionShape shape_of(Reduction reduction, DType dtype, const Vectors& v) {
  return {reduction, is_complex(dtype), false, v.n, v.incx, v.y ? v.incy : 1};
}

// The first element of vector order wins a tie, so the vector is not turned. Of NaN the reference says: it never
// compares greater or smaller, so it wins only as the first element. A NaN among the partial results means that there
// is one: the pass that skips them decides.
void extreme(const Executor& executor, Reduction reduction, const ExtremeArgs& g) {
  const bool most = reduction == Reduction::Amax;
  Vectors v(g.dtype, 1, g.x, 1, nullptr, 1);
  v.n = g.n;
  v.incx = g.incx;
  ReductionShape shape = shape_of(reduction, g.dtype, v);
  Partial partial = run(executor, shape, v);
  const bool has_nan =
      std::any_of(partial.values.begin(), partial.values.end(), [](float value) { return std::isnan(value); });
  *g.result = 0;
  if (has_nan) {
    float first[2] = {0, 0};
    copy_bytes(executor, g.x, Executor::host(), first, size_bytes(g.dtype));
    if (std::isnan(first[0]) || std::isnan(first[1])) return;
    shape.skip_nan = true;
    partial = run(executor, shape, v);
  }
  const Machine& machine = device_of(executor).machine();
  const std::int64_t side = machine.partitions, width = piece_width(shape.complex), whole = g.n / (side * width),
                     row = g.n / side - whole * width;
  double best = most ? -1 : std::numeric_limits<double>::infinity();
  std::int64_t place = g.n;
  for (std::int64_t p = 0; p < side; ++p) {
    for (std::int64_t i = 0; i < partial.pieces; ++i) {
      const bool tail = i == whole + (row > 0 ? 1 : 0);
      if (tail && p > 0) continue;
      const std::int64_t columns = tail        ? g.n % side
                                   : i < whole ? width
                                               : row,
                         first = tail ? g.n - columns : i * side * width + p * columns;
      const std::int64_t at = first + columns - static_cast<std::int64_t>(partial.at(p, i, 1));
      const double value = partial.at(p, i, 0);
      if ((most ? value > best : value < best) || (value == best && at < place)) {
        best = value;
        place = at;
      }
    }
  }
  *g.result = std::min(place, g.n - 1);
}

}  // namespace

void dot(const Executor& executor, const DotArgs& g) {
  require_single("blas.dot", executor, g.dtype);
  require_native("blas.dot", executor, g.mode);
  const Vectors v(g.dtype, g.n, g.x, g.incx, g.y, g.incy);
  const std::vector<double> s = column_sums(run(executor, shape_of(Reduction::Dot, g.dtype, v), v));
  if (!is_complex(g.dtype))
    *g.result = s[0];
  else
    *g.result =
        g.conj ? std::complex<double>(s[0] + s[1], s[2] - s[3]) : std::complex<double>(s[0] - s[1], s[2] + s[3]);
}

void asum(const Executor& executor, const NormArgs& g) {
  require_single("blas.asum", executor, g.dtype);
  require_native("blas.asum", executor, g.mode);
  const Vectors v(g.dtype, g.n, g.x, g.incx, nullptr, 1);
  *g.result = column_sums(run(executor, shape_of(Reduction::Asum, g.dtype, v), v))[0];
}

// Each partial sum belongs to its own power of two; in double none of them can overflow.
void nrm2(const Executor& executor, const NormArgs& g) {
  require_single("blas.nrm2", executor, g.dtype);
  require_native("blas.nrm2", executor, g.mode);
  const Vectors v(g.dtype, g.n, g.x, g.incx, nullptr, 1);
  const Partial partial = run(executor, shape_of(Reduction::Nrm2, g.dtype, v), v);
  double sum = 0;
  for (std::size_t i = 0; i < partial.values.size(); i += 1 + kRuns) {
    const double scale = partial.values[i];
    for (std::size_t run = 1; run <= kRuns && scale != 0; ++run)
      sum += partial.values[i + run] / (scale * scale);  // 0: a partition left out
  }
  *g.result = std::sqrt(sum);
}

void amax(const Executor& executor, const ExtremeArgs& g) {
  require_single("blas.amax", executor, g.dtype);
  extreme(executor, Reduction::Amax, g);
}
void amin(const Executor& executor, const ExtremeArgs& g) {
  require_single("blas.amin", executor, g.dtype);
  extreme(executor, Reduction::Amin, g);
}

}  // namespace device

}  // namespace trn::blas
