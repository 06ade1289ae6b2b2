// gemm on matrices whose element types are known at run time only. cuBLAS: cublasGemmEx, cublasGemmStridedBatchedEx.
//
// A and B have one type `in`, C has type `out`, and the computation is `options.precision`. The pairs (in, out) are
// those of gemm.hpp; any other is NotImplemented and the message lists them. alpha and beta are rounded to the compute
// type.
#pragma once

#include <trn/blas/gemm.hpp>

namespace trn::blas {

struct TypedMatrix {
  Executor executor;
  DType dtype;
  void* data;  // of operands that are only read: never written
  std::int64_t rows, columns, row_stride, column_stride;

  template <Element T> TypedMatrix(const MatrixView<T>& view)
      : executor(view.executor()),
        dtype(dtype_of<T>),
        data(const_cast<std::remove_const_t<T>*>(view.data())),
        rows(view.rows()),
        columns(view.columns()),
        row_stride(view.row_stride()),
        column_stride(view.column_stride()) {}
  TypedMatrix(Executor e, DType type, void* address, std::int64_t row_count, std::int64_t column_count, std::int64_t rs,
              std::int64_t cs)
      : executor(std::move(e)),
        dtype(type),
        data(address),
        rows(row_count),
        columns(column_count),
        row_stride(rs),
        column_stride(cs) {}
};

Accuracy gemm_ex(const Executor& executor, Op op_a, Op op_b, std::complex<double> alpha, const TypedMatrix& a,
                 const TypedMatrix& b, std::complex<double> beta, const TypedMatrix& c,
                 const ProductOptions& options = {});

}  // namespace trn::blas
