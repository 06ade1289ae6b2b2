// GemmEx: element types and arithmetic chosen at run time.
#include <trn/blas/gemm_ex.hpp>
#include <trn/core/dtype.hpp>

#include "blas.hpp"
#include "compute_types.hpp"

namespace trn::capi::blas {

DType dtype(trnDataType type) {
  switch (type) {
    case TRN_R_32F:
      return DType::Float32;
    case TRN_R_64F:
      return DType::Float64;
    case TRN_C_32F:
      return DType::Complex64;
    case TRN_C_64F:
      return DType::Complex128;
    case TRN_R_16F:
      return DType::Float16;
    case TRN_R_16BF:
      return DType::BFloat16;
    case TRN_R_8F_E4M3:
      return DType::Float8E4M3FN;
    case TRN_R_8F_E4M3_240:
      return DType::Float8E4M3;
    case TRN_R_8F_E5M2:
      return DType::Float8E5M2;
    case TRN_R_4F_E2M1:
      fail<NotImplemented>("4-bit matrices that are not microscaling ones (Mx)");
    case TRN_R_8I:
    case TRN_R_32I:
      fail<NotImplemented>("integer matrices");
  }
  fail<InvalidArgument>("data type {} is not known", static_cast<int>(type));
}

namespace {
std::complex<double> scalar(const Call& c, const void* address, bool wide, bool complex) {
  if (wide && complex) return c.read(static_cast<const std::complex<double>*>(address));
  if (wide) return c.read(static_cast<const double*>(address));
  if (complex) return c.read(static_cast<const std::complex<float>*>(address));
  return c.read(static_cast<const float*>(address));
}

}  // namespace

tb::TypedMatrix typed_matrix(const Call& c, const char* what, const void* data, DType type, Int rows, Int columns,
                             Int ld) {
  check_leading(what, ld, rows);
  if (rows > 0 && columns > 0) {
    require_aligned(what, data, static_cast<std::size_t>(size_bytes(type) / (is_complex(type) ? 2 : 1)));
    data = device_memory(*c.handle.device, what, data, span_bytes(columns, ld, rows, size_bytes(type)));
  }
  return {c.executor, type, const_cast<void*>(data), rows, columns, 1, ld};
}

Compute compute_of(const Call& c, trnblasComputeType_t type) {
  const Precision wide = c.precision<double>(), narrow = c.precision<float>();
  switch (type) {
    case TRNBLAS_COMPUTE_32F:
      return {false, narrow};
    case TRNBLAS_COMPUTE_32F_PEDANTIC:
      return {false, Mode::Native};
    case TRNBLAS_COMPUTE_32F_FAST_TF32:
      return {false, Mode::Tf32};
    case TRNBLAS_COMPUTE_32F_FAST_16BF:
      return {false, Mode::Bf16};
    case TRNBLAS_COMPUTE_32F_EMULATED_16BFX9:
      return {false, Mode::Bf16x6};
    case TRNBLAS_COMPUTE_64F:
    case TRNBLAS_COMPUTE_64F_PEDANTIC:
      return {true, wide};
    case TRNBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return {true, Mode::Exact};
    case TRNBLAS_COMPUTE_32F_FAST_16F:
      fail<NotImplemented>("sums of products rounded to half precision");
    case TRNBLAS_COMPUTE_16F:
    case TRNBLAS_COMPUTE_16F_PEDANTIC:
      fail<NotImplemented>("sums in half precision");
    case TRNBLAS_COMPUTE_32I:
    case TRNBLAS_COMPUTE_32I_PEDANTIC:
      fail<NotImplemented>("integer products");
  }
  fail<InvalidArgument>("compute type {} is not known", static_cast<int>(type));
}

void gemm_ex(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const void* alpha, const void* a,
             trnDataType a_type, Int lda, const void* b, trnDataType b_type, Int ldb, const void* beta, void* to,
             trnDataType c_type, Int ldc, trnblasComputeType_t compute, trnblasGemmAlgo_t) {
  const Op oa = op_of(transa), ob = op_of(transb);
  check_extents(m, n, k);
  const DType ta = dtype(a_type), tc = dtype(c_type);
  if (a_type != b_type) fail<NotImplemented>("A and B of different types");
  const Compute how = compute_of(c, compute);
  const bool complex = tc == DType::Complex64 || tc == DType::Complex128;
  const bool wide_matrix = tc == DType::Float64 || tc == DType::Complex128;
  if (how.wide != wide_matrix) fail<NotImplemented>("this compute type with matrices of {} and {}", name(ta), name(tc));
  c.keep(tb::gemm_ex(c.executor, oa, ob, scalar(c, alpha, how.wide, complex),
                     typed_matrix(c, "A", a, ta, oa == Op::N ? m : k, oa == Op::N ? k : m, lda),
                     typed_matrix(c, "B", b, ta, ob == Op::N ? k : n, ob == Op::N ? n : k, ldb),
                     scalar(c, beta, how.wide, complex), typed_matrix(c, "C", to, tc, m, n, ldc), {how.precision}));
}

}  // namespace trn::capi::blas
