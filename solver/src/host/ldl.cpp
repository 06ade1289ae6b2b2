// Bunch-Kaufman factorisation on the host: LAPACK's sytrf, sytrs, sytri, sycon and their Hermitian forms; in place for
// column-major views, through a copy for others.
#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "host/pivots.hpp"
#include "kernels/factorisations.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

template <Scalar T> Outcome sytrf(const Executor&, const SytrfArgs<T>& g) {
  const Part part = part_of(g.uplo);
  if (const Outcome bad = finite(g.a, part); !bad.ok()) {
    fill(g.a, not_a_number<T>(), part);
    fill(g.pivots, std::int64_t{0});
    return bad;
  }
  const int n = to_int(g.a.rows());
  if (n == 0) return {};
  const auto routine = g.symmetry == Symmetry::Hermitian ? Lapack<T>::hetrf : Lapack<T>::sytrf;
  Inout<T> a(g.a, part);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  T query{};
  int info = 0;
  routine(letter(g.uplo), n, a.data(), a.ld(), pivots.data(), &query, -1, info, 1);
  const int size = best_workspace(n, query);
  std::vector<T> work = workspace<T>(size, n);
  routine(letter(g.uplo), n, a.data(), a.ld(), pivots.data(), work.data(), size, info, 1);
  expect_legal("sytrf", info);
  a.write_back();
  from_lapack(pivots, g.pivots);
  if (info > 0) return {Status::Singular, info - 1};
  return finite(g.a, part);
}

namespace {

// The first 1 x 1 block of D that is exactly zero; sytrf makes no singular 2 x 2 blocks.
template <class T> Outcome zero_block(const MatrixView<T>& factor, const ConstPivots& pivots) {
  for (std::int64_t i = 0; i < factor.rows(); ++i) {
    if (pivots.data()[i * pivots.stride()] >= 0 && element(factor, i, i) == std::remove_const_t<T>(0)) {
      return {Status::Singular, i};
    }
  }
  return {};
}

}  // namespace

template <Scalar T> Outcome sytrs(const Executor&, const SytrsArgs<T>& g) {
  Outcome bad = finite(g.factor, part_of(g.uplo));
  if (bad.ok()) bad = finite(g.b);
  if (bad.ok()) bad = zero_block(g.factor, g.pivots);
  if (!bad.ok()) {
    fill(g.b, not_a_number<T>());
    return bad;
  }
  const int n = to_int(g.factor.rows()), columns = to_int(g.b.columns());
  if (n == 0 || columns == 0) return {};
  const auto routine = g.symmetry == Symmetry::Hermitian ? Lapack<T>::hetrs : Lapack<T>::sytrs;
  const Input<T> a(g.factor, part_of(g.uplo));
  Inout<T> b(g.b);
  int info = 0;
  routine(letter(g.uplo), n, columns, a.data(), a.ld(), to_lapack(g.pivots).data(), b.data(), b.ld(), info, 1);
  expect_legal("sytrs", info);
  b.write_back();
  return {};
}

template <Scalar T> Outcome sytri(const Executor&, const SytriArgs<T>& g) {
  const Part part = part_of(g.uplo);
  if (const Outcome bad = finite(g.factor, part); !bad.ok()) {
    fill(g.factor, not_a_number<T>(), part);
    return bad;
  }
  if (const Outcome bad = zero_block(g.factor, g.pivots); !bad.ok()) return bad;
  const int n = to_int(g.factor.rows());
  if (n == 0) return {};
  const auto routine = g.symmetry == Symmetry::Hermitian ? Lapack<T>::hetri : Lapack<T>::sytri;
  Inout<T> a(g.factor, part);
  std::vector<T> work(2 * static_cast<std::size_t>(n));
  int info = 0;
  routine(letter(g.uplo), n, a.data(), a.ld(), to_lapack(g.pivots).data(), work.data(), info, 1);
  expect_legal("sytri", info);
  a.write_back();
  return finite(g.factor, part);
}

template <Scalar T> Real<T> sycon(const Executor&, const ConditionArgs<T>& g) {
  if (!finite(g.factor, part_of(g.uplo)).ok() || !std::isfinite(g.norm)) return not_a_number<Real<T>>();
  const Input<T> a(g.factor, part_of(g.uplo));
  const int n = to_int(g.factor.rows());
  const std::vector<int> pivots = to_lapack(g.pivots);
  std::vector<T> work(2 * static_cast<std::size_t>(n) + 1);
  Real<T> reciprocal = 0;
  int info = 0;
  if constexpr (blas::ComplexScalar<T>) {
    const auto routine = g.symmetry == Symmetry::Hermitian ? Lapack<T>::hecon : Lapack<T>::sycon;
    routine(letter(g.uplo), n, a.data(), a.ld(), pivots.data(), g.norm, reciprocal, work.data(), info, 1);
  } else {
    std::vector<int> integers(static_cast<std::size_t>(n) + 1);
    Lapack<T>::sycon(letter(g.uplo), n, a.data(), a.ld(), pivots.data(), g.norm, reciprocal, work.data(),
                     integers.data(), info, 1);
  }
  expect_legal("sycon", info);
  return reciprocal;
}

#define TRN_LDL(T)                                              \
  template Outcome sytrf(const Executor&, const SytrfArgs<T>&); \
  template Outcome sytrs(const Executor&, const SytrsArgs<T>&); \
  template Outcome sytri(const Executor&, const SytriArgs<T>&); \
  template Real<T> sycon(const Executor&, const ConditionArgs<T>&);
TRN_SOLVER_SCALARS(TRN_LDL)
#undef TRN_LDL

}  // namespace trn::solver::host
