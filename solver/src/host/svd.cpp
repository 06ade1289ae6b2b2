// Singular values on the host: LAPACK's gesdd on a copy of A. Row-major U and V^H are written from copies.
#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

template <Scalar T> Outcome svd(const Executor&, const SvdArgs<T>& g) {
  const std::int64_t m = g.a.rows(), n = g.a.columns(), k = std::min(m, n), longer = std::max(m, n);
  const bool full = g.u && (g.u->columns() > k || g.vh->rows() > k);
  const char job = !g.u ? 'N' : full ? 'A' : 'S';
  std::int64_t least, reals = 0;
  if constexpr (blas::ComplexScalar<T>) {
    least = g.u ? k * k + 3 * k + longer : 2 * k + longer;
    reals = g.u ? std::max(5 * k * k + 5 * k, 2 * longer * k + 2 * k * k + k) : 7 * k;
  } else {
    least = g.u ? 4 * k * k + 7 * k + longer : 3 * k + std::max(longer, 7 * k);
  }
  countable_workspace("solver.svd", least);
  countable_workspace("solver.svd", reals);

  Outcome outcome = finite(g.a);
  std::vector<Real<T>> s(static_cast<std::size_t>(k) + 1);
  Columns<T> u(m, g.u ? g.u->columns() : 0), vh(g.u ? g.vh->rows() : 0, n);
  if (outcome.ok() && k > 0) {
    Columns<T> a(g.a);
    std::vector<Real<T>> real(static_cast<std::size_t>(reals) + 1);
    std::vector<int> integers(static_cast<std::size_t>(8 * k));
    int info = 0;
    const auto call = [&](T* work, int size) {
      if constexpr (blas::ComplexScalar<T>) {
        Lapack<T>::gesdd(job, to_int(m), to_int(n), a.data(), a.ld(), s.data(), u.data(), u.ld(), vh.data(), vh.ld(),
                         work, size, real.data(), integers.data(), info, 1);
      } else {
        Lapack<T>::gesdd(job, to_int(m), to_int(n), a.data(), a.ld(), s.data(), u.data(), u.ld(), vh.data(), vh.ld(),
                         work, size, integers.data(), info, 1);
      }
    };
    T query{};
    call(&query, -1);
    const int size = best_workspace(least, query);
    std::vector<T> work = workspace<T>(size, longer);
    call(work.data(), size);
    expect_legal("gesdd", info);
    outcome = info > 0 ? Outcome{Status::NotConverged, info - 1} : finite_results(s, k);
    if (g.report) g.report->accuracy.bound += underflow(g.a);
  } else if (outcome.ok()) {  // nothing to decompose: any unitary matrices will do
    for (std::int64_t i = 0; i < u.columns(); ++i) u(i, i) = T(1);
    for (std::int64_t i = 0; i < vh.rows(); ++i) vh(i, i) = T(1);
  }
  const bool ok = outcome.ok();
  for (std::int64_t i = 0; i < k; ++i) {
    g.s.data()[i * g.s.stride()] = ok ? s[static_cast<std::size_t>(i)] : not_a_number<Real<T>>();
  }
  if (g.u && ok) {
    copy_part(u.view(), *g.u);
    copy_part(vh.view(), *g.vh);
  } else if (g.u) {
    fill(*g.u, not_a_number<T>());
    fill(*g.vh, not_a_number<T>());
  }
  return outcome;
}

#define TRN_SVD(T) template Outcome svd(const Executor&, const SvdArgs<T>&);
TRN_SOLVER_SCALARS(TRN_SVD)
#undef TRN_SVD

}  // namespace trn::solver::host
