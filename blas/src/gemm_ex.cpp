// The entry point of gemm_ex: the element types become template arguments, and the call is gemm's.
#include <trn/blas/gemm_ex.hpp>

namespace trn::blas {

namespace {

template <class T> Compute<T> factor(const char* what, std::complex<double> x) {
  if constexpr (ComplexScalar<T>) {
    return T(x);
  } else {
    require(x.imag() == 0, "blas.gemm_ex: {} is ({}, {}) but C is real; give a real {}", what, x.real(), x.imag(),
            what);
    return static_cast<Compute<T>>(x.real());
  }
}

template <class T> MatrixView<T> view(const TypedMatrix& x) {
  return {x.executor, static_cast<T*>(x.data), x.rows, x.columns, x.row_stride, x.column_stride};
}

template <class In, class Out> struct Pair {
  static constexpr DType in = dtype_of<In>, out = dtype_of<Out>;
  static Accuracy multiply(const Executor& executor, Op op_a, Op op_b, std::complex<double> alpha, const TypedMatrix& a,
                           const TypedMatrix& b, std::complex<double> beta, const TypedMatrix& c,
                           const ProductOptions& options) {
    return detail::gemm<In, Out>(executor, op_a, op_b, factor<Out>("alpha", alpha), view<const In>(a),
                                 view<const In>(b), factor<Out>("beta", beta), view<Out>(c), {options.precision, {}});
  }
};

using Multiply = Accuracy (*)(const Executor&, Op, Op, std::complex<double>, const TypedMatrix&, const TypedMatrix&,
                              std::complex<double>, const TypedMatrix&, const ProductOptions&);
struct Row {
  DType in, out;
  Multiply multiply;
};
template <class In, class Out> constexpr Row row() {
  return {Pair<In, Out>::in, Pair<In, Out>::out, Pair<In, Out>::multiply};
}

constexpr Row kRows[] = {row<float, float>(),
                         row<double, double>(),
                         row<std::complex<float>, std::complex<float>>(),
                         row<std::complex<double>, std::complex<double>>(),
                         row<bfloat16, bfloat16>(),
                         row<bfloat16, float>(),
                         row<float16, float16>(),
                         row<float16, float>(),
                         row<tfloat32, float>()};

}  // namespace

Accuracy gemm_ex(const Executor& executor, Op op_a, Op op_b, std::complex<double> alpha, const TypedMatrix& a,
                 const TypedMatrix& b, std::complex<double> beta, const TypedMatrix& c, const ProductOptions& options) {
  require(a.dtype == b.dtype, "blas.gemm_ex: A is {}, B is {}; both must have one type", name(a.dtype), name(b.dtype));
  for (const Row& row : kRows) {
    if (row.in == a.dtype && row.out == c.dtype)
      return row.multiply(executor, op_a, op_b, alpha, a, b, beta, c, options);
  }
  std::string known;
  for (const Row& row : kRows)
    known += fmt::format("{}{} -> {}", known.empty() ? "" : ", ", name(row.in), name(row.out));
  fail<NotImplemented>("blas.gemm_ex: no kernel for {} -> {}; there are {}", name(a.dtype), name(c.dtype), known);
}

}  // namespace trn::blas
