// What compute types and element types of the Ex routines mean.
#pragma once

#include <trn/blas/gemm_ex.hpp>
#include <trn/core/dtype.hpp>

#include "handle.hpp"

namespace trn::capi::blas {

// wide: alpha, beta and the matrices are double; otherwise float or narrower.
struct Compute {
  bool wide;
  Precision precision;
};
[[nodiscard]] DType dtype(trnDataType type);
// A column-major matrix of any type: bytes are looked up, nothing is read.
[[nodiscard]] tb::TypedMatrix typed_matrix(const Call& c, const char* what, const void* data, DType type,
                                           std::int64_t rows, std::int64_t columns, std::int64_t ld);
[[nodiscard]] Compute compute_of(const Call& c, trnblasComputeType_t type);

}  // namespace trn::capi::blas
