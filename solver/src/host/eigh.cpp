// Hermitian eigenproblems on the host: LAPACK's syevd (heevd) for whole spectra, syevr (heevr) for ranges, sygvd
// (hegvd) for the generalised problem, on copies of the named triangles.
#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

// The workspaces that divide and conquer needs at least.
struct Workspace {
  std::int64_t work, reals, integers;
};
template <class T> Workspace divide_and_conquer(std::int64_t n, Vectors vectors) {
  if (n <= 1) return {1, 1, 1};
  const bool yes = vectors == Vectors::Yes;
  const std::int64_t real = yes ? 1 + 6 * n + 2 * n * n : 2 * n + 1, integers = yes ? 3 + 5 * n : 1;
  if constexpr (blas::ComplexScalar<T>) {
    return {yes ? 2 * n + n * n : n + 1, yes ? 1 + 5 * n + 2 * n * n : n, integers};
  } else {
    return {real, 0, integers};
  }
}
void check(const char* operation, const Workspace& w) {
  for (const std::int64_t size : {w.work, w.reals, w.integers}) countable_workspace(operation, size);
}
char job(Vectors vectors) { return vectors == Vectors::Yes ? 'V' : 'N'; }

// Calls routine(work, size, reals, real_size, integers, integer_size) for the best sizes, then for the result.
template <class T, class F> void with_workspace(const Workspace& least, std::int64_t n, F routine) {
  T work{};
  Real<T> real{};
  int integer = 0;
  routine(&work, -1, &real, -1, &integer, -1);
  const int size = best_workspace(least.work, work);
  const int reals = best_workspace(least.reals, static_cast<double>(real));
  const int integers = best_workspace(least.integers, static_cast<double>(integer));
  std::vector<T> w = workspace<T>(size, n);
  std::vector<Real<T>> r(static_cast<std::size_t>(reals));
  std::vector<int> i(static_cast<std::size_t>(integers));
  routine(w.data(), size, r.data(), reals, i.data(), integers);
}

template <class T> int whole_spectrum(Columns<T>& a, std::vector<Real<T>>& w, const EighOptions& options) {
  int info = 0;
  const int n = to_int(a.rows());
  with_workspace<T>(divide_and_conquer<T>(n, options.vectors), n,
                    [&](T* work, int size, [[maybe_unused]] Real<T>* reals, [[maybe_unused]] int real_size,
                        int* integers, int integer_size) {
                      if constexpr (blas::ComplexScalar<T>) {
                        Lapack<T>::syevd(job(options.vectors), letter(options.uplo), n, a.data(), a.ld(), w.data(),
                                         work, size, reals, real_size, integers, integer_size, info, 1, 1);
                      } else {
                        Lapack<T>::syevd(job(options.vectors), letter(options.uplo), n, a.data(), a.ld(), w.data(),
                                         work, size, integers, integer_size, info, 1, 1);
                      }
                    });
  expect_legal("syevd", info);
  return info;
}

// The eigenvectors go to z.
template <class T>
int part_of_spectrum(Columns<T>& a, std::vector<Real<T>>& w, Columns<T>& z, int& found, const EighOptions& options) {
  using R = Real<T>;
  const int n = to_int(a.rows());
  const Range& range = options.range;
  const char kind = range.kind == Range::Kind::Values ? 'V' : 'I';
  const auto lo = static_cast<R>(range.lo), hi = static_cast<R>(range.hi);
  const int first = to_int(range.first) + 1, last = to_int(range.last);
  std::vector<int> support(2 * static_cast<std::size_t>(n));
  int info = 0;
  const std::int64_t work_size = (blas::ComplexScalar<T> ? 2 : 26) * std::int64_t{n};
  with_workspace<T>({work_size, 24 * std::int64_t{n}, 10 * std::int64_t{n}}, n,
                    [&](T* work, int size, [[maybe_unused]] R* reals, [[maybe_unused]] int real_size, int* integers,
                        int integer_size) {
                      if constexpr (blas::ComplexScalar<T>) {
                        Lapack<T>::syevr(job(options.vectors), kind, letter(options.uplo), n, a.data(), a.ld(), lo, hi,
                                         first, last, R(0), found, w.data(), z.data(), z.ld(), support.data(), work,
                                         size, reals, real_size, integers, integer_size, info, 1, 1, 1);
                      } else {
                        Lapack<T>::syevr(job(options.vectors), kind, letter(options.uplo), n, a.data(), a.ld(), lo, hi,
                                         first, last, R(0), found, w.data(), z.data(), z.ld(), support.data(), work,
                                         size, integers, integer_size, info, 1, 1, 1);
                      }
                    });
  expect_legal("syevr", info);
  return info;
}

// Eigenvalues and vectors, then NaN.
template <class T> void write(const std::vector<Real<T>>& w, const Columns<T>& z, std::int64_t found, Vectors vectors,
                              const VectorView<Real<T>>& to_w, const MatrixView<T>& to_a) {
  for (std::int64_t i = 0; i < to_w.size(); ++i) {
    to_w.data()[i * to_w.stride()] = i < found ? w[static_cast<std::size_t>(i)] : not_a_number<Real<T>>();
  }
  if (vectors == Vectors::No) return;
  const std::int64_t n = to_a.rows();
  copy_part(z.view().block(0, 0, n, found), to_a.block(0, 0, n, found));
  fill(to_a.block(0, found, n, n - found), not_a_number<T>());
}

}  // namespace

template <Scalar T> Outcome eigh(const Executor&, const EighArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  const Range& range = g.options.range;
  const bool all = range.kind == Range::Kind::All;
  if (all) check("solver.eigh", divide_and_conquer<T>(n, g.options.vectors));
  *g.found = 0;
  Outcome outcome = finite(g.a, part_of(g.options.uplo));
  std::vector<Real<T>> w(static_cast<std::size_t>(n) + 1);
  Columns<T> none(n, 0);
  const bool empty = n == 0 || (range.kind == Range::Kind::Indices && range.first == range.last) ||
                     (range.kind == Range::Kind::Values && !(range.lo < range.hi));
  if (!outcome.ok() || empty) {
    write(w, none, 0, g.options.vectors, g.w, g.a);
    return outcome;
  }
  Columns<T> a(g.a, part_of(g.options.uplo));
  if (g.report) g.report->accuracy.bound += underflow(g.a, part_of(g.options.uplo));
  int found = to_int(n);
  Columns<T> z(all || g.options.vectors == Vectors::No ? 1 : n, all ? 0 : n);
  const int info = all ? whole_spectrum(a, w, g.options) : part_of_spectrum(a, w, z, found, g.options);
  if (info > 0) {
    outcome = {Status::NotConverged, info - 1};
  } else {
    outcome = finite_results(w, found);
  }
  if (!outcome.ok()) found = 0;
  *g.found = found;
  write(w, all ? a : z, found, g.options.vectors, g.w, g.a);
  return outcome;
}

template <Scalar T> Outcome sygvd(const Executor&, const SygvdArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  const Workspace least = divide_and_conquer<T>(n, g.options.vectors);
  check("solver.eigh_generalized", least);
  const Part part = part_of(g.options.uplo);
  Outcome outcome = finite(g.a, part);
  if (outcome.ok()) outcome = finite(g.b, part);
  std::vector<Real<T>> w(static_cast<std::size_t>(n) + 1);
  Columns<T> a(n, n);
  if (outcome.ok() && n > 0) {
    copy_part(g.a, a.view(), part);
    Columns<T> b(g.b, part);
    int info = 0;
    const int form = 1 + static_cast<int>(g.options.form);
    with_workspace<T>(least, n,
                      [&](T* work, int size, [[maybe_unused]] Real<T>* reals, [[maybe_unused]] int real_size,
                          int* integers, int integer_size) {
                        if constexpr (blas::ComplexScalar<T>) {
                          Lapack<T>::sygvd(form, job(g.options.vectors), letter(g.options.uplo), to_int(n), a.data(),
                                           a.ld(), b.data(), b.ld(), w.data(), work, size, reals, real_size, integers,
                                           integer_size, info, 1, 1);
                        } else {
                          Lapack<T>::sygvd(form, job(g.options.vectors), letter(g.options.uplo), to_int(n), a.data(),
                                           a.ld(), b.data(), b.ld(), w.data(), work, size, integers, integer_size, info,
                                           1, 1);
                        }
                      });
    expect_legal("sygvd", info);
    if (info > n) {
      outcome = {Status::NotPositiveDefinite, info - n - 1};
    } else if (info > 0) {
      outcome = {Status::NotConverged, info - 1};
    } else {
      outcome = finite_results(w, n);
    }
  }
  write(w, a, outcome.ok() ? n : 0, g.options.vectors, g.w, g.a);
  return outcome;
}

#define TRN_EIGH(T)                                           \
  template Outcome eigh(const Executor&, const EighArgs<T>&); \
  template Outcome sygvd(const Executor&, const SygvdArgs<T>&);
TRN_SOLVER_SCALARS(TRN_EIGH)
#undef TRN_EIGH

}  // namespace trn::solver::host
