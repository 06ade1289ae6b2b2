// The entry point of geam.
#include <trn/blas/geam.hpp>

#include "fold.hpp"
#include "kernels.hpp"

namespace trn::blas {

namespace {

// C may be X itself, as it is; otherwise the two are apart.
template <class T> void check_place(const char* name, Op op, const MatrixView<const T>& x, const MatrixView<T>& c) {
  if (op == Op::N && same_view(x, c)) return;
  require(!checks::overlap(checks::extent(x), checks::extent(c)),
          "blas.geam: C shares memory with {} (op {}); in place C must be that very matrix with op N, otherwise give C "
          "memory of its own",
          name, letter(op));
}

}  // namespace

template <Scalar T> void geam(const Executor& executor, Op op_a, Op op_b, Number<T> alpha, const ConstMatrix<T>& a,
                              Number<T> beta, const ConstMatrix<T>& b, const MatrixView<T>& c) {
  checks::enumerators("blas.geam", op_a, op_b);
  checks::check_owner("blas.geam", "A", executor, a.executor());
  checks::check_owner("blas.geam", "B", executor, b.executor());
  checks::operand("blas.geam", "C", executor, c);
  const auto fa = folded(op_a, a), fb = folded(op_b, b);
  require(fa.rows() == c.rows() && fa.columns() == c.columns() && fb.rows() == c.rows() && fb.columns() == c.columns(),
          "blas.geam: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; all three must have one shape",
          fa.rows(), fa.columns(), letter(op_a), fb.rows(), fb.columns(), letter(op_b), c.rows(), c.columns());
  if (c.rows() == 0 || c.columns() == 0) return;
  if (alpha != T(0)) checks::check_address("blas.geam", "A", a.data(), false);
  if (beta != T(0)) checks::check_address("blas.geam", "B", b.data(), false);
  checks::distinct_elements("blas.geam", "C", checks::extent(c));
  if (alpha != T(0)) check_place<T>("A", op_a, a, c);
  if (beta != T(0)) check_place<T>("B", op_b, b, c);
  dispatch(kGeam, executor,
           {dtype_of<T>, c.rows(), c.columns(), fa.data(), fa.row_stride(), fa.column_stride(), fb.data(),
            fb.row_stride(), fb.column_stride(), c.data(), c.row_stride(), c.column_stride(), alpha, beta,
            conjugates<T>(op_a), conjugates<T>(op_b)});
}

#define TRN_GEAM(T)                                                                                                  \
  template void geam<T>(const Executor&, Op, Op, Number<T>, const ConstMatrix<T>&, Number<T>, const ConstMatrix<T>&, \
                        const MatrixView<T>&);
TRN_GEAM(float)
TRN_GEAM(double)
TRN_GEAM(std::complex<float>)
TRN_GEAM(std::complex<double>)
#undef TRN_GEAM

}  // namespace trn::blas
