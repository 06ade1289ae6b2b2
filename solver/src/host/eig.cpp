// General eigenproblems on the host: LAPACK's geev and gees on copies of A. The real routines give conjugate pairs of
// vectors as real and imaginary part in two columns; they are joined here.
#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

template <class T> void store(const std::vector<T>& from, const VectorView<T>& to) {
  for (std::int64_t i = 0; i < to.size(); ++i) to.data()[i * to.stride()] = from[static_cast<std::size_t>(i)];
}

// Eigenvalues of a real matrix from their parts.
template <class R> std::vector<std::complex<R>> joined(const std::vector<R>& re, const std::vector<R>& im) {
  std::vector<std::complex<R>> w(re.size());
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = {re[i], im[i]};
  return w;
}

// Columns j and j + 1 of v hold the parts of the vector of w[j] when its imaginary part is positive.
template <class T>
void store_vectors(const Columns<T>& v, const std::vector<ComplexOf<T>>& w, const MatrixView<ComplexOf<T>>& to) {
  if constexpr (blas::ComplexScalar<T>) {
    copy_part(v.view(), to);
  } else {
    const std::int64_t n = to.rows();
    for (std::int64_t j = 0; j < n; ++j) {
      const bool pair = w[static_cast<std::size_t>(j)].imag() != 0;
      for (std::int64_t i = 0; i < n; ++i) {
        element(to, i, j) = pair ? ComplexOf<T>(v(i, j), v(i, j + 1)) : ComplexOf<T>(v(i, j));
        if (pair) element(to, i, j + 1) = std::conj(element(to, i, j));
      }
      j += pair;
    }
  }
}

}  // namespace

template <Scalar T> Outcome eig(const Executor&, const EigArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  Outcome outcome = finite(g.a);
  if (n == 0) return outcome;
  Columns<T> left(g.vectors.left ? n : 1, g.vectors.left ? n : 1);
  Columns<T> right(g.vectors.right ? n : 1, g.vectors.right ? n : 1);
  const auto count = static_cast<std::size_t>(n);
  std::vector<ComplexOf<T>> w(count);
  if (outcome.ok()) {
    Columns<T> a(g.a);
    std::vector<Real<T>> re(count), im(count), reals(2 * count);
    const char l = g.vectors.left ? 'V' : 'N', r = g.vectors.right ? 'V' : 'N';
    int info = 0;
    const auto call = [&](T* work, int size) {
      if constexpr (blas::ComplexScalar<T>) {
        Lapack<T>::geev(l, r, to_int(n), a.data(), a.ld(), w.data(), left.data(), left.ld(), right.data(), right.ld(),
                        work, size, reals.data(), info, 1, 1);
      } else {
        Lapack<T>::geev(l, r, to_int(n), a.data(), a.ld(), re.data(), im.data(), left.data(), left.ld(), right.data(),
                        right.ld(), work, size, info, 1, 1);
      }
    };
    T query{};
    call(&query, -1);
    countable_workspace("solver.eig", 4 * n);
    const int size = best_workspace(4 * n, query);
    std::vector<T> work = workspace<T>(size, n);
    call(work.data(), size);
    expect_legal("geev", info);
    if constexpr (!blas::ComplexScalar<T>) w = joined(re, im);
    if (info > 0) outcome = {Status::NotConverged, info - 1};
  }
  if (outcome.ok()) {
    store(w, g.w);
    if (g.vectors.left) store_vectors(left, w, *g.vectors.left);
    if (g.vectors.right) store_vectors(right, w, *g.vectors.right);
  } else {
    fill(g.w, not_a_number<ComplexOf<T>>());
    if (g.vectors.left) fill(*g.vectors.left, not_a_number<ComplexOf<T>>());
    if (g.vectors.right) fill(*g.vectors.right, not_a_number<ComplexOf<T>>());
  }
  return outcome;
}

template <Scalar T> Outcome schur(const Executor&, const SchurArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  Outcome outcome = finite(g.a);
  if (n == 0) return outcome;
  const auto count = static_cast<std::size_t>(n);
  std::vector<ComplexOf<T>> w(count);
  Columns<T> a(n, n), z(g.z ? n : 1, g.z ? n : 1);
  if (outcome.ok()) {
    copy_part(g.a, a.view());
    std::vector<Real<T>> re(count), im(count), reals(count);
    int selected = 0, info = 0;
    const char job = g.z ? 'V' : 'N';
    const auto call = [&](T* work, int size) {
      if constexpr (blas::ComplexScalar<T>) {
        Lapack<T>::gees(job, 'N', nullptr, to_int(n), a.data(), a.ld(), selected, w.data(), z.data(), z.ld(), work,
                        size, reals.data(), nullptr, info, 1, 1);
      } else {
        Lapack<T>::gees(job, 'N', nullptr, to_int(n), a.data(), a.ld(), selected, re.data(), im.data(), z.data(),
                        z.ld(), work, size, nullptr, info, 1, 1);
      }
    };
    T query{};
    call(&query, -1);
    countable_workspace("solver.schur", 3 * n);
    const int size = best_workspace(3 * n, query);
    std::vector<T> work = workspace<T>(size, n);
    call(work.data(), size);
    expect_legal("gees", info);
    if constexpr (!blas::ComplexScalar<T>) w = joined(re, im);
    if (info > 0) outcome = {Status::NotConverged, info - 1};
  }
  if (outcome.ok()) {
    store(w, g.w);
    copy_part(a.view(), g.a);
    if (g.z) copy_part(z.view(), *g.z);
  } else {
    fill(g.w, not_a_number<ComplexOf<T>>());
    fill(g.a, not_a_number<T>());
    if (g.z) fill(*g.z, not_a_number<T>());
  }
  return outcome;
}

#define TRN_EIG(T)                                          \
  template Outcome eig(const Executor&, const EigArgs<T>&); \
  template Outcome schur(const Executor&, const SchurArgs<T>&);
TRN_SOLVER_SCALARS(TRN_EIG)
#undef TRN_EIG

}  // namespace trn::solver::host
