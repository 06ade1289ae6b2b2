// Steps inside of factorisations on the host: exchanges of rows as a loop for any strides, LAPACK's lauum in place for
// column-major views and larft on a copy of V, in which the zeros and the ones that V does not hold are written out.
#include "kernels/factor_steps.hpp"

#include <trn/blas/syrk.hpp>

#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "host/vectors.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

// Column by column, so that every column is in the cache while its elements are exchanged.
template <Scalar T> Outcome laswp(const Executor&, const LaswpArgs<T>& g) {
  const std::int64_t count = g.pivots.size();
  const auto pivot = [&](std::int64_t i) { return g.pivots.data()[i * g.pivots.stride()]; };
  for (std::int64_t i = 0; i < count; ++i) {
    require(pivot(i) >= 0 && pivot(i) < g.a.rows(), "solver.laswp: pivots[{}] is {}; A has {} rows, counted from 0", i,
            pivot(i), g.a.rows());
  }
  const bool forward = g.exchanges == Exchanges::Forward;
  for (std::int64_t j = 0; j < g.a.columns(); ++j) {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t i = forward ? k : count - 1 - k;
      std::swap(element(g.a, g.first + i, j), element(g.a, pivot(i), j));
    }
  }
  return {};
}

// LAPACK's lauum leaves out the imaginary parts of the diagonal, which Cholesky's factors do not have. With them the
// triangle is multiplied as a whole matrix.
template <ComplexScalar T> bool real_diagonal(const MatrixView<T>& a) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    if (element(a, i, i).imag() != 0) return false;
  }
  return true;
}
template <ComplexScalar T> void whole_product(const Executor& executor, const LauumArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  std::vector<T> factor(static_cast<std::size_t>(n * n)), product(factor.size());
  const MatrixView<T> f(executor, factor.data(), n, n, 1, n), p(executor, product.data(), n, n, 1, n);
  copy_part(g.a, f, part_of(g.uplo));
  blas::herk<T>(executor, g.uplo, g.uplo == Uplo::Upper ? Op::N : Op::C, 1, f, 0, p);
  copy_part(p, g.a, part_of(g.uplo));
}

template <Scalar T> Outcome lauum(const Executor& executor, const LauumArgs<T>& g) {
  if (const Outcome bad = finite(g.a, part_of(g.uplo)); !bad.ok()) {
    fill(g.a, not_a_number<T>(), part_of(g.uplo));
    return bad;
  }
  const int n = to_int(g.a.rows());
  if (n == 0) return {};
  if constexpr (ComplexScalar<T>) {
    if (!real_diagonal(g.a)) {
      whole_product(executor, g);
      return finite(g.a, part_of(g.uplo));
    }
  }
  Inout<T> a(g.a, part_of(g.uplo));
  int info = 0;
  Lapack<T>::lauum(letter(g.uplo), n, a.data(), a.ld(), info, 1);
  expect_legal("lauum", info);
  a.write_back();
  return finite(g.a, part_of(g.uplo));
}

template <Scalar T> Outcome larft(const Executor&, const LarftArgs<T>& g) {
  const bool columns = g.storage == ReflectionStorage::Columns, forward = g.order == ReflectionOrder::Forward;
  const std::int64_t n = columns ? g.v.rows() : g.v.columns(), k = columns ? g.v.columns() : g.v.rows();
  const Part triangle = forward ? Part::Upper : Part::Lower;
  // Element i of vector p as V has it, column-major n x k or k x n.
  std::vector<T> whole(static_cast<std::size_t>(n * k) + 1);
  Outcome bad;
  for (std::int64_t p = 0; p < k; ++p) {
    const std::int64_t one = forward ? p : n - k + p;
    for (std::int64_t i = 0; i < n; ++i) {
      T value = i == one ? T(1) : T(0);
      if (forward ? i > one : i < one) {
        const std::int64_t row = columns ? i : p, column = columns ? p : i;
        value = element(g.v, row, column);
        const std::int64_t place = row * g.v.columns() + column;
        if (!is_finite(value) && (bad.ok() || place < bad.index)) bad = {Status::NotFinite, place};
      }
      whole[static_cast<std::size_t>(columns ? p * n + i : i * k + p)] = value;
    }
  }
  if (bad.ok()) bad = finite(g.tau);
  if (!bad.ok()) {
    fill(g.t, not_a_number<T>(), triangle);
    return bad;
  }
  if (k == 0) return {};
  const std::vector<T> tau = packed(g.tau);
  std::vector<T> t(static_cast<std::size_t>(k * k));
  Lapack<T>::larft(forward ? 'F' : 'B', columns ? 'C' : 'R', to_int(n), to_int(k), whole.data(),
                   to_int(columns ? n : k), tau.data(), t.data(), to_int(k), 1, 1);
  copy_part(MatrixView<const T>(g.t.executor(), t.data(), k, k, 1, k), g.t, triangle);
  return {};
}

#define TRN_FACTOR_STEPS(T)                                     \
  template Outcome laswp(const Executor&, const LaswpArgs<T>&); \
  template Outcome lauum(const Executor&, const LauumArgs<T>&); \
  template Outcome larft(const Executor&, const LarftArgs<T>&);
TRN_SOLVER_SCALARS(TRN_FACTOR_STEPS)
#undef TRN_FACTOR_STEPS

}  // namespace trn::solver::host
