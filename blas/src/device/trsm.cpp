// trsm on the device: the launch, and the bound of what it left.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <trn/blas/gemm.hpp>
#include <trn/core/array.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels.hpp"
#include "trsm_launch.hpp"
#include "words.hpp"

namespace trn::blas {

using namespace trn::tile;

namespace {

// What the arithmetic can hide from the measured residual. S, sums of the mode's words over the blocks left of the
// diagonal, and the float32 product with the diagonal block that measures, each relative to its own part of (|T||x|)_i
// <= ||t_i|| ||x||: the larger of the two; R = alpha B - S, the difference that is measured and its scaling are six
// roundings more.
double rounding_bound(const TrsmShape& s) {
  const bool complex = is_complex(s.dtype);
  const std::int64_t side = tile::machines().front().partitions, rows = complex ? 2 * s.m : s.m;
  const double u = unit_roundoff(DType::Float32),
               measured = sum_error(tile::words_of(Mode::Native), std::min(rows, side)),
               before = rows > side ? sum_error(device::words_of(s.mode, "blas.trsm"), rows) : 0;
  const double bound = std::max(before, measured) + 6 * u;
  return complex ? std::sqrt(2.0) * (bound + 2 * u) : bound;
}

}  // namespace

double trsm_residual_bound(const TrsmShape& shape, const float* residual, const float* largest) {
  double measured = 0;
  for (std::int64_t j = 0; j < shape.n; ++j) {
    const double r = residual[j], x = largest[j];
    if (!std::isfinite(r) || !std::isfinite(x)) return std::numeric_limits<double>::infinity();
    if (r > 0) measured = std::max(measured, x > 0 ? r / x : std::numeric_limits<double>::infinity());
  }
  if (is_complex(shape.dtype)) measured *= std::sqrt(2.0);  // the larger of two parts was measured
  return measured + rounding_bound(shape);
}

namespace device {

Program zero_program(const ZeroShape& z, const Machine& machine) {
  constexpr std::int64_t kColumns = 4096;
  Builder b("blas_trsm_zero", machine);
  const std::int64_t planes =
      size_bytes(z.dtype) / size_bytes(DType::Float32);  // words: 0 is all bits zero in every type
  const bool by_columns = z.bm == 1 && z.bn != 1;
  Shape shape{z.m, z.n};
  Strides strides{z.bm * planes, z.bn * planes};
  if (by_columns) std::swap(shape[0], shape[1]), std::swap(strides[0], strides[1]);
  if (planes > 1) shape.push_back(planes), strides.push_back(1);
  const Access zeros =
      b.sbuf("zeros", std::min(shape[0], machine.partitions), {std::min(shape[1], kColumns) * planes}, DType::Float32);
  b.memset(zeros, 0);
  for (std::int64_t p = 0; p < z.count; ++p) {
    const Access x = b.output(fmt::format("x{}", p), DType::Float32, shape, strides);
    blocks::for_blocks(
        b, "rows", shape[0], machine.partitions, LoopKind::Parallel, [&](const Affine& r, std::int64_t rows) {
          blocks::for_blocks(b, "columns", shape[1], kColumns, LoopKind::Parallel,
                             [&](const Affine& c, std::int64_t columns) {
                               b.dma_copy(x(ds(r, rows), ds(c, columns)), zeros(ds(0, rows), ds(0, columns * planes)));
                             });
        });
  }
  return tile::static_stores(b.finish());
}

void trsm(const Executor& executor, const TrsmArgs& args) {
  if (args.alpha == 0.0) {
    return launch(executor, zero_program, ZeroShape{args.dtype, args.m, args.n, args.bm, args.bn, 1}, {{"x0", args.b}});
  }
  TrsmShape shape{args.dtype, args.m, args.n, args.am, args.an, args.bm, args.bn, args.lower, args.unit, args.conj_a};
  shape.alpha = args.alpha == 1.0 ? Factor::One : Factor::Input;
  shape.mode = args.precision.mode();
  const Array<float> residual(executor, {args.n}), largest(executor, {args.n});
  launch(executor, trsm_program, shape,
         {{"a", args.a},
          {"x", args.b},
          {"residual", residual.data()},
          {"largest", largest.data()},
          constant("alpha", std::array{std::complex<float>(args.alpha)})});
  if (args.accuracy) {
    *args.accuracy = {shape.mode, static_cast<int>(words_of(shape.mode, "blas.trsm").products.size()),
                      trsm_residual_bound(shape, residual.to_host().data(), largest.to_host().data())};
  }
}

}  // namespace device

}  // namespace trn::blas
