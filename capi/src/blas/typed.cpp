// The Ex routines beside GemmEx: they choose the template by the operands' type.
#include "blas.hpp"
#include "compute_types.hpp"

namespace trn::capi::blas {

namespace {

// Calls f with a value of the type; all types of the call have to be the same.
template <class F> void by_type(std::initializer_list<Type> types, const F& f) {
  const Type type = *types.begin();
  for (const Type other : types)
    if (other != type) fail<NotImplemented>("operands, scalars and arithmetic of different types");
  switch (type) {
    case TRN_R_32F:
      return f(float{});
    case TRN_R_64F:
      return f(double{});
    case TRN_C_32F:
      return f(std::complex<float>{});
    case TRN_C_64F:
      return f(std::complex<double>{});
    case TRN_R_16F:
    case TRN_R_16BF:
    case TRN_R_8I:
    case TRN_R_32I:
    case TRN_R_8F_E4M3:
    case TRN_R_8F_E4M3_240:
    case TRN_R_8F_E5M2:
    case TRN_R_4F_E2M1:
      fail<NotImplemented>("this routine for data type {}", static_cast<int>(type));
  }
  fail<InvalidArgument>("data type {} is not known", static_cast<int>(type));
}
Type real_of(Type type) { return type == TRN_C_32F ? TRN_R_32F : type == TRN_C_64F ? TRN_R_64F : type; }

// The precision of a compute type for the time of one call.
class PrecisionScope {
 public:
  PrecisionScope(Call& c, Precision precision) : c_(c), before_(c.handle.precision) { c.handle.precision = precision; }
  ~PrecisionScope() { c_.handle.precision = before_; }
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  Call& c_;
  std::optional<Precision> before_;
};

// Batches: A, B and C of one type, whose arithmetic the compute type names.
template <class F> void batched_by_type(Call& c, Type a, Type b, Type to, trnblasComputeType_t compute, const F& f) {
  const Compute how = compute_of(c, compute);
  by_type({a, b, to}, [&](auto value) {
    using T = decltype(value);
    if (how.wide != (sizeof(Real<T>) == 8)) fail<NotImplemented>("this compute type with matrices of this type");
    const PrecisionScope scope(c, how.precision);
    f(value);
  });
}

}  // namespace

void copy_ex(Call& c, Int n, const void* x, Type x_type, Int incx, void* y, Type y_type, Int incy) {
  by_type({x_type, y_type}, [&](auto value) {
    using T = decltype(value);
    copy<T>(c, n, static_cast<const T*>(x), incx, static_cast<T*>(y), incy);
  });
}
void swap_ex(Call& c, Int n, void* x, Type x_type, Int incx, void* y, Type y_type, Int incy) {
  by_type({x_type, y_type}, [&](auto value) {
    using T = decltype(value);
    swap<T>(c, n, static_cast<T*>(x), incx, static_cast<T*>(y), incy);
  });
}
void asum_ex(Call& c, Int n, const void* x, Type x_type, Int incx, void* result, Type result_type, Type execution) {
  if (result_type != real_of(x_type)) fail<NotImplemented>("a sum of another type than the vector's");
  by_type({x_type, execution}, [&](auto value) {
    using T = decltype(value);
    asum<T>(c, n, static_cast<const T*>(x), incx, static_cast<Real<T>*>(result));
  });
}

void axpy_ex(Call& c, Int n, const void* alpha, Type alpha_type, const void* x, Type x_type, Int incx, void* y,
             Type y_type, Int incy, Type execution) {
  by_type({x_type, y_type, alpha_type, execution}, [&](auto value) {
    using T = decltype(value);
    axpy(c, n, static_cast<const T*>(alpha), static_cast<const T*>(x), incx, static_cast<T*>(y), incy);
  });
}
void dot_ex(Call& c, Int n, const void* x, Type x_type, Int incx, const void* y, Type y_type, Int incy, void* result,
            Type result_type, Type execution) {
  by_type({x_type, y_type, result_type, execution}, [&](auto value) {
    using T = decltype(value);
    dot(c, n, static_cast<const T*>(x), incx, static_cast<const T*>(y), incy, static_cast<T*>(result));
  });
}
void dotc_ex(Call& c, Int n, const void* x, Type x_type, Int incx, const void* y, Type y_type, Int incy, void* result,
             Type result_type, Type execution) {
  by_type({x_type, y_type, result_type, execution}, [&](auto value) {
    using T = decltype(value);
    dotc(c, n, static_cast<const T*>(x), incx, static_cast<const T*>(y), incy, static_cast<T*>(result));
  });
}
void scal_ex(Call& c, Int n, const void* alpha, Type alpha_type, void* x, Type x_type, Int incx, Type execution) {
  by_type({x_type, alpha_type, execution}, [&](auto value) {
    using T = decltype(value);
    scal(c, n, static_cast<const T*>(alpha), static_cast<T*>(x), incx);
  });
}
void nrm2_ex(Call& c, Int n, const void* x, Type x_type, Int incx, void* result, Type result_type, Type execution) {
  if (real_of(x_type) != result_type || (execution != x_type && execution != result_type))
    fail<NotImplemented>("operands, scalars and arithmetic of different types");
  by_type({x_type}, [&](auto value) {
    using T = decltype(value);
    nrm2(c, n, static_cast<const T*>(x), incx, static_cast<Real<T>*>(result));
  });
}
void rot_ex(Call& c, Int n, void* x, Type x_type, Int incx, void* y, Type y_type, Int incy, const void* cosine,
            const void* sine, Type cs_type, Type execution) {
  const bool real_factors = cs_type == real_of(x_type);
  by_type({x_type, y_type, real_factors ? x_type : cs_type, execution}, [&](auto value) {
    using T = decltype(value);
    if (real_factors) {
      rot_real(c, n, static_cast<T*>(x), incx, static_cast<T*>(y), incy, static_cast<const Real<T>*>(cosine),
               static_cast<const Real<T>*>(sine));
    } else {  // a complex cosine has no imaginary part
      rot(c, n, static_cast<T*>(x), incx, static_cast<T*>(y), incy, static_cast<const Real<T>*>(cosine),
          static_cast<const T*>(sine));
    }
  });
}
void syrk_ex(Call& c, UploArg uplo, OpArg trans, Int n, Int k, const std::complex<float>* alpha, const void* a,
             Type a_type, Int lda, const std::complex<float>* beta, void* to, Type c_type, Int ldc) {
  if (a_type != TRN_C_32F || c_type != TRN_C_32F) fail<NotImplemented>("matrices that are not complex floats");
  using T = std::complex<float>;
  syrk(c, uplo, trans, n, k, alpha, static_cast<const T*>(a), lda, beta, static_cast<T*>(to), ldc);
}
void herk_ex(Call& c, UploArg uplo, OpArg trans, Int n, Int k, const float* alpha, const void* a, Type a_type, Int lda,
             const float* beta, void* to, Type c_type, Int ldc) {
  if (a_type != TRN_C_32F || c_type != TRN_C_32F) fail<NotImplemented>("matrices that are not complex floats");
  using T = std::complex<float>;
  herk(c, uplo, trans, n, k, alpha, static_cast<const T*>(a), lda, beta, static_cast<T*>(to), ldc);
}
void gemm_batched_ex(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const void* alpha, const void* const* a,
                     Type a_type, Int lda, const void* const* b, Type b_type, Int ldb, const void* beta,
                     void* const* to, Type c_type, Int ldc, Int count, trnblasComputeType_t compute,
                     trnblasGemmAlgo_t) {
  batched_by_type(c, a_type, b_type, c_type, compute, [&](auto value) {
    using T = decltype(value);
    gemm_batched(c, transa, transb, m, n, k, static_cast<const T*>(alpha), reinterpret_cast<const T* const*>(a), lda,
                 reinterpret_cast<const T* const*>(b), ldb, static_cast<const T*>(beta),
                 reinterpret_cast<T* const*>(to), ldc, count);
  });
}
void gemm_strided_batched_ex(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const void* alpha, const void* a,
                             Type a_type, Int lda, Int stride_a, const void* b, Type b_type, Int ldb, Int stride_b,
                             const void* beta, void* to, Type c_type, Int ldc, Int stride_c, Int count,
                             trnblasComputeType_t compute, trnblasGemmAlgo_t) {
  batched_by_type(c, a_type, b_type, c_type, compute, [&](auto value) {
    using T = decltype(value);
    gemm_strided_batched(c, transa, transb, m, n, k, static_cast<const T*>(alpha), static_cast<const T*>(a), lda,
                         stride_a, static_cast<const T*>(b), ldb, stride_b, static_cast<const T*>(beta),
                         static_cast<T*>(to), ldc, stride_c, count);
  });
}
void gemm_grouped_batched_ex(Call& c, const OpArg* transa, const OpArg* transb, const int* m, const int* n,
                             const int* k, const void* alpha, const void* const* a, Type a_type, const int* lda,
                             const void* const* b, Type b_type, const int* ldb, const void* beta, void* const* to,
                             Type c_type, const int* ldc, Int groups, const int* sizes, trnblasComputeType_t compute) {
  batched_by_type(c, a_type, b_type, c_type, compute, [&](auto value) {
    using T = decltype(value);
    gemm_grouped_batched(c, transa, transb, m, n, k, static_cast<const T*>(alpha), reinterpret_cast<const T* const*>(a),
                         lda, reinterpret_cast<const T* const*>(b), ldb, static_cast<const T*>(beta),
                         reinterpret_cast<T* const*>(to), ldc, groups, sizes);
  });
}

}  // namespace trn::capi::blas
