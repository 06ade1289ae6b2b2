// Incomplete factorisations as preconditioners. cuSPARSE: csrilu02, csric02, their boost and zeroPivot calls.
//
// A factor is a trn::LinearOperator: apply() solves with it. A pivot that is absent, zero or not finite is a result
// (outcome(), with the row), and apply() then fills with NaN; with a boost, pivots of modulus at most the tolerance are
// replaced and counted. Symbolic work is done once: refactor() takes new values on the same pattern.
#pragma once

#include <trn/sparse/csr.hpp>
#include <trn/sparse/outcome.hpp>

namespace trn::sparse {

namespace detail {
template <Scalar T> struct IluData;
template <Scalar T> struct IcData;
}  // namespace detail

struct Boost {
  double tolerance = -1;  // negative: pivots are never replaced
  double value = 1;
};
struct IluOptions {
  int level = 0;  // ILU(k): fill of this level and below is kept
  Boost boost = {};
};
struct IlutOptions {
  double drop = 1e-3;         // relative to the row's 2-norm
  std::int64_t largest = 10;  // entries kept in each row of L and of U besides the diagonal
  Boost boost = {};
};

// A ~ L U, L unit lower triangular.
template <Scalar T> class Ilu {
 public:
  using Value = T;
  [[nodiscard]] std::int64_t rows() const { return n_; }
  [[nodiscard]] std::int64_t columns() const { return n_; }
  [[nodiscard]] const Executor& executor() const { return lower_.executor(); }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] const Csr<T>& lower() const { return lower_; }  // strictly lower part; the diagonal is 1
  [[nodiscard]] const Csr<T>& upper() const { return upper_; }  // with the diagonal
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

  Ilu(detail::Trusted, Csr<T> lower, Csr<T> upper, const Outcome& outcome);

 private:
  std::int64_t n_;
  Csr<T> lower_, upper_;
  Outcome outcome_;
  std::shared_ptr<const detail::IluData<T>> data_;
};

template <Scalar T> [[nodiscard]] Ilu<T> ilu(const Csr<T>& a, const IluOptions& options = {});
template <Scalar T> [[nodiscard]] Ilu<T> ilut(const Csr<T>& a, const IlutOptions& options = {});
// ILU on the pattern of `factor` with the values of `a`, whose entries must lie in it.
template <Scalar T> [[nodiscard]] Ilu<T> refactor(const Ilu<T>& factor, const Csr<T>& a, const Boost& boost = {});

// A ~ L L^H on the pattern of A's lower triangle; the upper triangle is not read. NotPositive is a result.
template <Scalar T> class Ic {
 public:
  using Value = T;
  [[nodiscard]] std::int64_t rows() const { return lower_.rows(); }
  [[nodiscard]] std::int64_t columns() const { return lower_.rows(); }
  [[nodiscard]] const Executor& executor() const { return lower_.executor(); }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] const Csr<T>& lower() const { return lower_; }
  // The preconditioner is Hermitian; op T of complex types is not offered.
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

  Ic(detail::Trusted, Csr<T> lower, const Outcome& outcome);

 private:
  Csr<T> lower_;
  Outcome outcome_;
  std::shared_ptr<const detail::IcData<T>> data_;
};
// `shift` is added to the diagonal, relative to it, before the factorisation: a remedy for NotPositive.
template <Scalar T> [[nodiscard]] Ic<T> ic0(const Csr<T>& a, double shift = 0);

}  // namespace trn::sparse
