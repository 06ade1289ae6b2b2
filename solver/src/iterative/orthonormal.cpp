// Orthonormal bases by Gram matrices.
#include "iterative/orthonormal.hpp"

#include "scalars.hpp"

namespace trn::solver::iterative {

template <Scalar T> bool small_eigh(Small<T>& a, std::vector<Real<T>>& values) {
  const std::int64_t n = a.rows();
  for (std::int64_t i = 0; i < n; ++i) {  // rounding may have left it a little unsymmetric
    for (std::int64_t j = 0; j < i; ++j) a(i, j) = (a(i, j) + conjugate(a(j, i))) * Real<T>(0.5);
  }
  values.assign(at(n), 0);
  return eigh(Executor::host(), a.view(), VectorView<Real<T>>(Executor::host(), values.data(), n)).outcome.ok();
}

namespace {

// The columns longer than `least`, made unit.
template <class T> Block<T> unit_columns(const MatrixView<const T>& w, double least) {
  const Norms length = norms<T>(w);
  std::vector<std::int64_t> kept;
  for (std::int64_t j = 0; j < w.columns(); ++j) {
    if (!(length[at(j)] <= least)) kept.push_back(j);  // NaN stays, for the caller to see
  }
  Block<T> result(w.executor(), w.rows(), static_cast<std::int64_t>(kept.size()));
  for (std::size_t j = 0; j < kept.size(); ++j) {
    const VectorView<T> column = result.view().column(static_cast<std::int64_t>(j));
    blas::copy(w.executor(), w.column(kept[j]), column);
    blas::scal(w.executor(), T(static_cast<Real<T>>(1 / length[at(kept[j])])), column);
  }
  return result;
}

}  // namespace

template <Scalar T> Block<T> orthonormal(const MatrixView<const T>& from, const MatrixView<const T>* against) {
  const double unit = std::numeric_limits<Real<T>>::epsilon();
  const double least = 16 * unit * static_cast<double>(std::max<std::int64_t>(from.columns(), 1));
  Block<T> w = unit_columns(from, 0);
  for (int pass = 0; pass < 5 && w.columns() > 0; ++pass) {
    double coupling = 0;
    if (against && against->columns() > 0) {
      const Small<T> overlap = inner<T>(*against, w);
      add_product<T>(T(-1), *against, overlap, T(1), w.view());
      for (std::int64_t j = 0; j < overlap.columns(); ++j) {
        for (std::int64_t i = 0; i < overlap.rows(); ++i) {
          coupling = std::max(coupling, static_cast<double>(std::abs(overlap(i, j))));
        }
      }
      w = unit_columns<T>(w, least);
    }
    Small<T> gram = inner<T>(w, w);
    for (std::int64_t j = 0; j < gram.columns(); ++j) {
      for (std::int64_t i = 0; i < j; ++i) coupling = std::max(coupling, static_cast<double>(std::abs(gram(i, j))));
    }
    if (coupling <= 4 * unit * std::sqrt(static_cast<double>(from.rows()))) break;
    std::vector<Real<T>> values;
    if (!small_eigh(gram, values)) break;  // NaN: the caller's norms will show it
    const Block<T> turned(w.view().executor(), w.rows(), w.columns());
    add_product<T>(T(1), w, gram, T(0), turned.view());
    w = unit_columns<T>(turned, least);
  }
  return w;
}

#define TRN_ORTHONORMAL(T)                                                                  \
  template Block<T> orthonormal<T>(const MatrixView<const T>&, const MatrixView<const T>*); \
  template bool small_eigh(Small<T>&, std::vector<Real<T>>&);
TRN_SOLVER_SCALARS(TRN_ORTHONORMAL)
#undef TRN_ORTHONORMAL

}  // namespace trn::solver::iterative
