// The door of gemm: checks arguments, folds transposes into strides, dispatches.
#include <trn/blas/gemm.hpp>

#include <algorithm>
#include <cstdint>

#include <trn/tile/machine.hpp>

#include "kernels.hpp"

namespace trn::blas {

namespace {

template <class T> void check_operand(const Executor& executor, const MatrixView<T>& view, const char* operand) {
  require(view.executor() == executor, "blas.gemm: {} lives on executor '{}', the call runs on '{}'; copy it there with to() first",
          operand, view.executor().name(), executor.name());
  require(view.data() != nullptr || view.rows() == 0 || view.columns() == 0, "blas.gemm: {} is {} x {} but its pointer is null",
          operand, view.rows(), view.columns());
}

__extension__ using Wide = __int128;  // products of extents and strides

// Two elements of C may not share an address, or the result would depend on the order of writes: one direction's stride
// must clear the whole extent of the other.
template <class T> void check_output_strides(const MatrixView<T>& c) {
  const auto clears = [](Wide outer, Wide count, Wide inner, Wide inner_count) {
    outer = outer < 0 ? -outer : outer;
    inner = inner < 0 ? -inner : inner;
    return (count == 1 || outer > inner * (inner_count - 1)) && (inner_count == 1 || inner >= 1);
  };
  require(clears(c.row_stride(), c.rows(), c.column_stride(), c.columns()) || clears(c.column_stride(), c.columns(), c.row_stride(), c.rows()),
          "blas.gemm: C is {} x {} with strides ({}, {}), so elements overlap or rows interleave; give it a leading dimension "
          "that separates them",
          c.rows(), c.columns(), c.row_stride(), c.column_stride());
}

// Whether an input shares elements with C, where that can be told: the same first address, or blocks of one row-major or
// column-major matrix.
template <class In, class Out> bool overlaps(const MatrixView<const In>& x, const MatrixView<Out>& c) {
  if (x.rows() == 0 || x.columns() == 0) return false;
  const auto from = reinterpret_cast<std::uintptr_t>(x.data()), to = reinterpret_cast<std::uintptr_t>(c.data());
  if (from == to) return true;
  if constexpr (!std::is_same_v<In, Out>) return false;
  if (x.row_stride() != c.row_stride() || x.column_stride() != c.column_stride()) return false;
  const bool row_major = c.column_stride() == 1;
  const Wide ld = row_major ? c.row_stride() : c.column_stride();
  if ((!row_major && c.row_stride() != 1) || ld < 1 || (to > from ? to - from : from - to) % sizeof(Out) != 0) return false;
  const Wide distance = (static_cast<Wide>(to) - static_cast<Wide>(from)) / static_cast<Wide>(sizeof(Out));
  const Wide x_major = row_major ? x.rows() : x.columns(), x_minor = row_major ? x.columns() : x.rows();
  const Wide c_major = row_major ? c.rows() : c.columns(), c_minor = row_major ? c.columns() : c.rows();
  // C starts `major` lines and `minor` elements after x; the two ways to write that differ by one line.
  const Wide floor = distance >= 0 ? distance / ld : -((-distance + ld - 1) / ld);
  for (const Wide major : {floor, floor + 1}) {
    const Wide minor = distance - major * ld;
    if (major < x_major && -major < c_major && minor < x_minor && -minor < c_minor) return true;
  }
  return false;
}

const char* letter(Op op) { return op == Op::N ? "N" : "T"; }

}  // namespace

template <Element In, Element Out>
void detail::gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<const In>& a, const MatrixView<const In>& b,
          Compute<Out> beta, const MatrixView<Out>& c) {
  check_operand(executor, a, "A");
  check_operand(executor, b, "B");
  check_operand(executor, c, "C");
  const MatrixView<const In> ta = op_a == Op::N ? a : a.transposed(), tb = op_b == Op::N ? b : b.transposed();
  require(ta.rows() == c.rows() && tb.columns() == c.columns() && ta.columns() == tb.rows(),
          "blas.gemm: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n and m x n",
          ta.rows(), ta.columns(), letter(op_a), tb.rows(), tb.columns(), letter(op_b), c.rows(), c.columns());
  if (c.rows() == 0 || c.columns() == 0) return;
  check_output_strides(c);
  require(!overlaps(a, c) && !overlaps(b, c), "blas.gemm: C shares memory with {}; the product needs a C of its own",
          overlaps(a, c) ? "A" : "B");
  dispatch(kGemm, executor,
           {dtype_of<In>, dtype_of<Out>, c.rows(), c.columns(), ta.columns(), ta.data(), ta.row_stride(), ta.column_stride(),
            tb.data(), tb.row_stride(), tb.column_stride(), c.data(), c.row_stride(), c.column_stride(), alpha, beta});
}

double gemm_error_bound(Family family, DType in, DType out, std::int64_t k) {
  const double u = in == DType::Float64 ? unit_roundoff(DType::Float64) : unit_roundoff(DType::Float32);
  const double w = out == in && (in == DType::Float64 || in == DType::Float32) ? 0
                   : out == DType::Float32                                     ? 0
                                                                               : unit_roundoff(out);
  const std::int64_t group = tile::machines().front().partitions;  // products that one matmul sums; the same on every machine
  const double terms = family == Family::Host ? static_cast<double>(k) : static_cast<double>(std::min(k, group) + (k + group - 1) / group);
  return (terms + 3) * u + w;
}

#define TRN_GEMM(In, Out)                                                                                                \
  template void detail::gemm<In, Out>(const Executor&, Op, Op, Compute<Out>, const MatrixView<const In>&, const MatrixView<const In>&, \
                              Compute<Out>, const MatrixView<Out>&);
TRN_GEMM(float, float)
TRN_GEMM(double, double)
TRN_GEMM(bfloat16, bfloat16)
TRN_GEMM(bfloat16, float)
TRN_GEMM(float16, float16)
TRN_GEMM(float16, float)
TRN_GEMM(tfloat32, float)
#undef TRN_GEMM

}  // namespace trn::blas
