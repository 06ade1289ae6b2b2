// What the partial eigensolvers share: checks, Rayleigh-Ritz, residuals recomputed at the end.
#pragma once

#include <trn/solver/partial_spectra.hpp>

#include "iterative/orthonormal.hpp"
#include "iterative/sketch.hpp"

namespace trn::solver::spectra {

using iterative::add_product;
using iterative::assign;
using iterative::at;
using iterative::Block;
using iterative::inner;
using iterative::norms;
using iterative::Norms;
using iterative::orthonormal;
using iterative::Small;
using iterative::small_eigh;

// An operator, its sign (so that the wanted end is always the lower one), and the count of its products.
template <Scalar T> struct Search {
  OperatorRef<T> a;
  T sign;
  std::int64_t k;
  double tolerance;
  std::int64_t max_iterations;
  std::uint64_t seed;
  std::int64_t products = 0;
  double norm = 0;  // the largest Ritz value seen

  [[nodiscard]] Block<T> block(std::int64_t columns) const { return {a.executor(), a.rows(), columns}; }
  // y = sign A x.
  void product(const MatrixView<const T>& x, const MatrixView<T>& y) {
    products += x.columns();
    if (x.columns() > 0) a.apply(Op::N, sign, x, T(0), y);
  }
  [[nodiscard]] Block<T> random_block(std::int64_t columns, std::uint64_t stream = 0) const {
    Block<T> x = block(columns);
    assign(iterative::gaussian<T>(a.rows(), columns, seed, stream), x.view());
    return x;
  }
  // Ritz values (ascending) of sign A on the span of the orthonormal q, aq = sign A q; turned becomes the vectors'
  // coefficients. False: NaN.
  bool ritz(const MatrixView<const T>& q, const MatrixView<const T>& aq, std::vector<Real<T>>& values,
            Small<T>& turned) {
    turned = inner<T>(q, aq);
    if (!host::finite(turned.view()).ok() || !small_eigh(turned, values)) return false;
    for (const Real<T> value : values) norm = std::max(norm, std::abs(static_cast<double>(value)));
    return true;
  }
};

template <Scalar T> Search<T> checked(const char* operation, const OperatorRef<T>& a, const VectorView<Real<T>>& w,
                                      const MatrixView<T>& v, const SpectrumOptions& options);

// Writes w and v (the first k columns of x, Ritz values ascending in sign A) and the report.
template <Scalar T> SpectrumReport finish(Search<T>& search, std::string_view algorithm, Outcome outcome,
                                          int iterations, const MatrixView<const T>& x, const VectorView<Real<T>>& w,
                                          const MatrixView<T>& v);

}  // namespace trn::solver::spectra
