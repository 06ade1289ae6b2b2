// The Ex routines beside GemmEx: they choose the template by the operands' type.
#include "blas.hpp"
#include "compute_types.hpp"

namespace trn::capi::blas {

namespace {

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
  by_type({a, b, to}, {}, [&]<class T>(T* type) {
    if (how.wide != (sizeof(Real<T>) == 8)) fail<NotImplemented>("this compute type with matrices of this type");
    const PrecisionScope scope(c, how.precision);
    f(type);
  });
}

}  // namespace

void nrm2_ex(Call& c, Int n, const void* x, Type x_type, Int incx, void* result, Type result_type, Type execution) {
  if (real_of(x_type) != result_type || (execution != x_type && execution != result_type))
    fail<NotImplemented>("operands, scalars and arithmetic of different types");
  with_type(x_type, [&]<class T>(T*) { nrm2(c, n, as<T>(x), incx, as<Real<T>>(result)); });
}
void rot_ex(Call& c, Int n, void* x, Type x_type, Int incx, void* y, Type y_type, Int incy, const void* cosine,
            const void* sine, Type cs_type, Type execution) {
  const bool real_factors = cs_type == real_of(x_type);
  by_type({x_type, y_type, real_factors ? x_type : cs_type, execution}, {}, [&]<class T>(T*) {
    if (real_factors) {
      rot_real(c, n, as<T>(x), incx, as<T>(y), incy, as<Real<T>>(cosine), as<Real<T>>(sine));
    } else {  // a complex cosine has no imaginary part
      rot(c, n, as<T>(x), incx, as<T>(y), incy, as<Real<T>>(cosine), as<T>(sine));
    }
  });
}
void gemm_batched_ex(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const void* alpha, const void* const* a,
                     Type a_type, Int lda, const void* const* b, Type b_type, Int ldb, const void* beta,
                     void* const* to, Type c_type, Int ldc, Int count, trnblasComputeType_t compute,
                     trnblasGemmAlgo_t) {
  batched_by_type(c, a_type, b_type, c_type, compute, [&]<class T>(T*) {
    gemm_batched(c, transa, transb, m, n, k, as<T>(alpha), reinterpret_cast<const T* const*>(a), lda,
                 reinterpret_cast<const T* const*>(b), ldb, as<T>(beta), reinterpret_cast<T* const*>(to), ldc, count);
  });
}
void gemm_strided_batched_ex(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const void* alpha, const void* a,
                             Type a_type, Int lda, long long stride_a, const void* b, Type b_type, Int ldb,
                             long long stride_b, const void* beta, void* to, Type c_type, Int ldc, long long stride_c,
                             Int count, trnblasComputeType_t compute, trnblasGemmAlgo_t) {
  batched_by_type(c, a_type, b_type, c_type, compute, [&]<class T>(T*) {
    gemm_strided_batched(c, transa, transb, m, n, k, as<T>(alpha), as<T>(a), lda, stride_a, as<T>(b), ldb, stride_b,
                         as<T>(beta), as<T>(to), ldc, stride_c, count);
  });
}
void gemm_grouped_batched_ex(Call& c, const OpArg* transa, const OpArg* transb, const int* m, const int* n,
                             const int* k, const void* alpha, const void* const* a, Type a_type, const int* lda,
                             const void* const* b, Type b_type, const int* ldb, const void* beta, void* const* to,
                             Type c_type, const int* ldc, Int groups, const int* sizes, trnblasComputeType_t compute) {
  batched_by_type(c, a_type, b_type, c_type, compute, [&]<class T>(T*) {
    gemm_grouped_batched(c, transa, transb, m, n, k, as<T>(alpha), reinterpret_cast<const T* const*>(a), lda,
                         reinterpret_cast<const T* const*>(b), ldb, as<T>(beta), reinterpret_cast<T* const*>(to), ldc,
                         groups, sizes);
  });
}

}  // namespace trn::capi::blas
