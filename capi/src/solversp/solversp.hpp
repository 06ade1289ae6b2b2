// The bodies of cusolverSp: sparse direct solvers, their low-level steps, and orderings, over trn::sparse's Cholesky,
// Lu and Qr. All of it is computed on the host: names in Host take host memory on every executor, the others device
// memory of the host executor.
#pragma once

#include <any>

#include <trn/sparse/direct.hpp>
#include <trn/sparse/structure.hpp>

#include <trnsolver_sp.h>

#include "../solver/solver.hpp"
#include "arrays.hpp"
#include "explicit_lu.hpp"

struct trnsolverSpContext : trnblasContext {
  using trnblasContext::trnblasContext;
};

namespace trn::capi::solversp {

namespace ts = trn::sparse;
using blas::Real;
using Description = trnsparseMatDescr_t;

// The steps of a factorisation: the pattern from the analysis, then a matrix and factors of one element type.
struct Steps {
  bool analysed = false;
  sparse::Entries pattern{};
  std::any matrix{}, factors{};
  int lower = 0, upper = 0;  // entries of LU factors
};

}  // namespace trn::capi::solversp

struct trnsolvercsrqrInfo : trn::capi::solversp::Steps {};
struct trnsolvercsrqrInfoHost : trn::capi::solversp::Steps {};
struct trnsolvercsrcholInfo : trn::capi::solversp::Steps {};
struct trnsolvercsrcholInfoHost : trn::capi::solversp::Steps {};
struct trnsolvercsrluInfoHost : trn::capi::solversp::Steps {};

namespace trn::capi::solversp {

using sparse::look;

template <std::derived_from<Steps> I> void create(I** info) { sparse::create(info); }
template <std::derived_from<Steps> I> void destroy(I* info) { sparse::destroy(info); }

struct Face : solver::Face {
  static auto find(trnsolverSpHandle_t handle) { return living(handle); }
};
using blas::get_stream, blas::set_stream;

// Of a general matrix in CSR; throws for an address that is not where its name says.
[[nodiscard]] sparse::Entries pattern_of(Call& c, Where where, Int m, Int n, Int nnz, Description d, const int* offsets,
                                         const int* indices);
[[nodiscard]] ts::DirectOptions ordering_of(int reorder);
void reached(Call& c, Where where, const char* what);

template <class I> [[nodiscard]] constexpr Where where_of(const I*) {
  const bool host = !std::is_same_v<I, trnsolvercsrqrInfo> && !std::is_same_v<I, trnsolvercsrcholInfo>;
  return host ? Where::Host : Where::Device;
}

// Buffers: a few bytes each.
template <class... A> void buffer_size(Call&, A... arguments) { solver::one_size<std::size_t>(16, arguments...); }
template <class... A> void buffer_info(Call&, A... arguments) {
  (solver::check_size(arguments), ...);
  const auto all = std::tuple(arguments...);
  std::size_t *const internal = std::get<sizeof...(A) - 2>(all), *const work = std::get<sizeof...(A) - 1>(all);
  require(internal != nullptr && work != nullptr, "the address of a buffer's size is null");
  *internal = 16, *work = 16;
}

template <class T> [[nodiscard]] ts::Csr<T> matrix_of(const sparse::Entries& e, const std::vector<T>& all) {
  std::vector<T> values;
  for (const Int at : e.places) values.push_back(all[static_cast<std::size_t>(at)]);
  return {ts::Pattern<>(Executor::host(), {e.rows, e.columns}, e.offsets, e.indices), sparse::host_view(values)};
}
template <class T> [[nodiscard]] ts::Csr<T> matrix_of(Call& c, Where where, Int m, Int n, Int nnz, Description d,
                                                      const T* values, const int* offsets, const int* indices) {
  const auto pattern = pattern_of(c, where, m, n, nnz, d, offsets, indices);  // first: the offsets confirm nnz
  return matrix_of(pattern, get(c, where, "csrVal", values, nnz));
}
template <class T> [[nodiscard]] MatrixView<T> column(std::vector<T>& v) {
  const auto n = static_cast<Int>(v.size());
  return {Executor::host(), v.data(), n, 1, 1, std::max<Int>(n, 1)};
}
template <class F, class T> [[nodiscard]] std::vector<T> solved(const F& factors, std::vector<T> b) {
  std::vector<T> x(static_cast<std::size_t>(factors.columns()));
  if (!x.empty()) (void)factors.solve(column(b), column(x));
  return x;
}
// The diagonal of R or L.
template <class T> [[nodiscard]] std::vector<T> diagonal_of(const ts::Qr<T>& f) { return ts::diagonal(f.r()); }
template <class T> [[nodiscard]] std::vector<T> diagonal_of(const ts::Cholesky<T>& f) {
  return ts::diagonal(f.lower());
}
// The first column in trouble, or whose diagonal element is at most `tolerance`; -1 if there is none. LU, whose fronts
// keep no single diagonal, reports exact singularity alone.
template <class F> [[nodiscard]] int singularity_of(const F& factors, double tolerance) {
  if (!factors.outcome().ok()) return static_cast<int>(std::max<Int>(factors.outcome().index, 0));
  if constexpr (requires { diagonal_of(factors); }) {
    const auto diagonal = diagonal_of(factors);
    for (std::size_t k = 0; k < diagonal.size(); ++k)
      if (std::abs(diagonal[k]) < tolerance) return static_cast<int>(k);
  }
  return -1;
}

template <class F> struct OptionsOf;
template <class T> struct OptionsOf<ts::Lu<T>> { using Type = ts::LuOptions; };
template <class T> struct OptionsOf<ts::Qr<T>> { using Type = ts::QrOptions; };
template <class T> struct OptionsOf<ts::Cholesky<T>> { using Type = ts::CholeskyOptions; };

// A x = b; x is left as it was where A is singular.
template <class F, class T> void solve(Call& c, Where where, Int n, Int nnz, Description d, const T* values,
                                       const int* offsets, const int* indices, const T* b, Real<T> tolerance,
                                       int reorder, T* x, int* singularity) {
  reached(c, where, "a sparse direct solver");
  require(singularity != nullptr, "singularity is null; it receives -1 or a column");
  typename OptionsOf<F>::Type options;
  static_cast<ts::DirectOptions&>(options) = ordering_of(reorder);
  const auto a = matrix_of(c, where, n, n, nnz, d, values, offsets, indices);
  const auto right = get(c, where, "b", b, n);
  *singularity = -1;
  if (n == 0) return;
  const F factors(a, options);
  *singularity = singularity_of(factors, static_cast<double>(tolerance));
  if (*singularity < 0) put(c, where, "x", x, solved(factors, right));
}
template <class T, class... A> void csrlsvlu_host(Call& c, A... a) { solve<ts::Lu<T>, T>(c, Where::Host, a...); }
template <class T, class... A> void csrlsvqr_host(Call& c, A... a) { solve<ts::Qr<T>, T>(c, Where::Host, a...); }
template <class T, class... A> void csrlsvqr(Call& c, A... a) { solve<ts::Qr<T>, T>(c, Where::Device, a...); }
template <class T, class... A> void csrlsvchol_host(Call& c, A... a) {
  solve<ts::Cholesky<T>, T>(c, Where::Host, a...);
}
template <class T, class... A> void csrlsvchol(Call& c, A... a) { solve<ts::Cholesky<T>, T>(c, Where::Device, a...); }

// A x, row by row.
template <class T> [[nodiscard]] std::vector<T> product(const ts::Csr<T>& a, const std::vector<T>& x) {
  std::vector<T> y(static_cast<std::size_t>(a.rows()));
  const auto offsets = a.pattern().offsets();
  const auto indices = a.pattern().indices();
  for (std::size_t i = 0; i < y.size(); ++i)
    for (Int k = offsets.data()[i]; k < offsets.data()[i + 1]; ++k)
      y[i] += a.values().data()[k] * x[static_cast<std::size_t>(indices.data()[k])];
  return y;
}
template <class T> [[nodiscard]] Real<T> norm(const std::vector<T>& x) {
  double sum = 0;
  for (const T v : x) sum += static_cast<double>(std::abs(v)) * static_cast<double>(std::abs(v));
  return static_cast<Real<T>>(std::sqrt(sum));
}

// Least squares of a matrix whose columns are independent; the order of the columns is p.
template <class T> void csrlsqvqr_host(Call& c, Int m, Int n, Int nnz, Description d, const T* values,
                                       const int* offsets, const int* indices, const T* b, Real<T>, int* rank, T* x,
                                       int* p, Real<T>* min_norm) {
  require(m >= n && n >= 1, "A is {} x {}; it must have as many rows as columns, or more, and a column", m, n);
  require(rank != nullptr && p != nullptr && min_norm != nullptr, "the address of a result is null");
  const auto a = matrix_of(c, Where::Host, m, n, nnz, d, values, offsets, indices);
  const auto right = get(c, Where::Host, "b", b, m);
  const ts::Qr<T> factors(a);
  if (!factors.outcome().ok())
    fail<NotImplemented>("a least-squares problem whose column {} depends on others", factors.outcome().index);
  const auto found = solved(factors, right);
  auto rest = product(a, found);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = right[i] - rest[i];
  put(c, Where::Host, "x", x, found);
  *rank = static_cast<int>(n), *min_norm = norm(rest);
  std::copy(factors.order().begin(), factors.order().end(), p);
}

// The eigenvalue nearest to mu0, by inverse iteration from x0.
template <class T> void nearest_eigenvalue(Call& c, Where where, Int m, Int nnz, Description d, const T* values,
                                           const int* offsets, const int* indices, T mu0, const T* x0, int iterations,
                                           Real<T> tolerance, T* mu, T* x) {
  reached(c, where, "an eigenvalue of a sparse matrix");
  const auto a = matrix_of(c, where, m, m, nnz, d, values, offsets, indices);
  auto vector = get(c, where, "x0", x0, m);
  const auto unit = [&] {
    const Real<T> size = norm(vector);
    require(size > 0 && std::isfinite(size), "the vector's norm is {}", size);
    for (T& v : vector) v /= size;
  };
  unit();
  const ts::Lu<T> factors(ts::add(T(1), a, -mu0, ts::identity<T>(Executor::host(), m)));
  if (!factors.outcome().ok()) fail<NotImplemented>("a shift mu0 that is an eigenvalue itself");
  T value = mu0;
  for (int i = 0; i < iterations; ++i) {
    vector = solved(factors, vector);
    unit();
    const auto image = product(a, vector);
    value = T(0);
    for (std::size_t k = 0; k < image.size(); ++k) {
      if constexpr (std::is_floating_point_v<T>)
        value += vector[k] * image[k];
      else
        value += std::conj(vector[k]) * image[k];
    }
    auto rest = image;
    for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= value * vector[k];
    if (norm(rest) < tolerance) break;
  }
  put(c, where, "mu", mu, std::vector<T>{value});
  put(c, where, "x", x, vector);
}
template <class T, class... A> void csreigvsi_host(Call& c, A... a) { nearest_eigenvalue<T>(c, Where::Host, a...); }
template <class T, class... A> void csreigvsi(Call& c, A... a) { nearest_eigenvalue<T>(c, Where::Device, a...); }

template <class I>
void analysis(Call& c, Int m, Int n, Int nnz, Description d, const int* offsets, const int* indices, I* info) {
  reached(c, where_of(info), "a sparse factorisation");
  const auto i = look(info);
  static_cast<Steps&>(*i) = {true, pattern_of(c, where_of(info), m, n, nnz, d, offsets, indices)};
}
template <class I>
void analysis(Call& c, Int n, Int nnz, Description d, const int* offsets, const int* indices, I* info) {
  analysis(c, n, n, nnz, d, offsets, indices, info);
}
// The values of a matrix that was analysed.
template <class T, class I>
[[nodiscard]] ts::Csr<T> analysed(Call& c, Int m, Int n, Int nnz, const I* info, const T* values, Int batch = 0) {
  reached(c, where_of(info), "a sparse factorisation");
  const auto i = look(info);
  require(i->analysed && i->pattern.rows == m && i->pattern.columns == n &&
              static_cast<Int>(i->pattern.places.size()) <= nnz,
          "the analysis was of another matrix, or did not take place");
  return matrix_of(i->pattern, get(c, where_of(info), "csrVal", values + batch * nnz, nnz));
}
// What an earlier step left.
template <class D> [[nodiscard]] const D& left(const std::any& held, const char* step) {
  const auto* const found = std::any_cast<D>(&held);
  require(found != nullptr, "{} comes first, for the same element type", step);
  return *found;
}
template <class F> void zero_pivot(const F& factors, double tolerance, int* position) {
  require(position != nullptr, "position is null; it receives -1 or a column");
  *position = singularity_of(factors, tolerance);
}
template <class F, class T>
void solve_with(Call& c, Where where, const F& factors, Int rows, Int columns, const T* b, T* x) {
  require(rows == factors.rows() && columns == factors.columns(), "the factors are of a matrix of {} x {}",
          factors.rows(), factors.columns());
  const auto right = get(c, where, "b", b, rows);
  if (!factors.outcome().ok())
    throw WithStatus(TRNSOLVER_STATUS_ZERO_PIVOT, fmt::format("column {} has no pivot", factors.outcome().index));
  put(c, where, "x", x, solved(factors, right));
}

template <class T, class I>
void csrqr_setup(Call& c, Int m, Int n, Int nnz, Description, const T* values, const int*, const int*, T mu, I* info) {
  auto a = analysed(c, m, n, nnz, info, values);
  if (mu != T(0)) {
    require(m == n, "a shift of a matrix of {} x {}", m, n);
    a = ts::add(T(1), a, -mu, ts::identity<T>(Executor::host(), n));
  }
  look(info)->matrix = std::move(a);
}
template <class T, class I> void csrqr_solve(Call& c, Int m, Int n, const T* b, T* x, I* info, void*) {
  solve_with(c, where_of(info), left<ts::Qr<T>>(look(info)->factors, "Factor"), m, n, b, x);
}
template <class T, class I> void csrqr_factor(Call& c, Int m, Int n, Int, const T* b, T* x, I* info, void* buffer) {
  const auto i = look(info);
  i->factors = ts::Qr<T>(left<ts::Csr<T>>(i->matrix, "Setup"));
  if (b && x) csrqr_solve(c, m, n, b, x, info, buffer);
}
template <class T, class I> void csrqr_zero_pivot(Call&, I* info, Real<T> tolerance, int* position) {
  zero_pivot(left<ts::Qr<T>>(look(info)->factors, "Factor"), static_cast<double>(tolerance), position);
}
// Matrices of one pattern, one after another; a singular one has a solution of NaN.
template <class T> void csrqrsv_batched(Call& c, Int m, Int n, Int nnz, Description, const T* values, const int*,
                                        const int*, const T* b, T* x, int count, trnsolvercsrqrInfo* info, void*) {
  require(count >= 0, "the batch has {} systems; it must have >= 0", count);
  for (int k = 0; k < count; ++k) {
    const ts::Qr<T> factors(analysed(c, m, n, nnz, info, values, k));
    put(c, Where::Device, "x", x + k * n, solved(factors, get(c, Where::Device, "b", b + k * m, m)));
  }
}

template <class T, class I>
void csrchol_factor(Call& c, Int n, Int nnz, Description, const T* values, const int*, const int*, I* info, void*) {
  look(info)->factors = ts::Cholesky<T>(analysed(c, n, n, nnz, info, values));
}
template <class T, class I> void csrchol_zero_pivot(Call&, I* info, Real<T> tolerance, int* position) {
  zero_pivot(left<ts::Cholesky<T>>(look(info)->factors, "Factor"), static_cast<double>(tolerance), position);
}
template <class T, class I> void csrchol_solve(Call& c, Int n, const T* b, T* x, I* info, void*) {
  solve_with(c, where_of(info), left<ts::Cholesky<T>>(look(info)->factors, "Factor"), n, n, b, x);
}
// L's diagonal, in the factor's order.
template <class T> void csrchol_diag(Call& c, trnsolvercsrcholInfo* info, Real<T>* diagonal) {
  std::vector<Real<T>> found;
  for (const T v : diagonal_of(left<ts::Cholesky<T>>(look(info)->factors, "Factor"))) found.push_back(std::real(v));
  put(c, Where::Device, "diag", diagonal, found);
}

template <class T> void csrlu_factor(Call& c, Int n, Int nnz, Description, const T* values, const int*, const int*,
                                     trnsolvercsrluInfoHost* info, Real<T> threshold, void*) {
  require(threshold >= 0 && threshold <= 1, "the threshold of pivots is {}; it must be between 0 and 1", threshold);
  const auto i = look(info);
  ExplicitLu<T> made(analysed(c, n, n, nnz, info, values), static_cast<double>(threshold));
  i->lower = made.entries(made.l), i->upper = made.entries(made.u);
  i->factors = std::move(made);
}
template <class T> void csrlu_zero_pivot(Call&, trnsolvercsrluInfoHost* info, Real<T> tolerance, int* position) {
  require(position != nullptr, "position is null; it receives -1 or a row");
  const auto i = look(info);
  const auto& f = left<ExplicitLu<T>>(i->factors, "Factor");
  *position = f.singular;
  for (std::size_t k = 0; *position < 0 && k < f.u.size(); ++k)
    if (std::abs(f.u[k].values.front()) < tolerance) *position = static_cast<int>(k);
}
template <class T> [[nodiscard]] const ExplicitLu<T>& whole(const std::any& held) {
  const auto& f = left<ExplicitLu<T>>(held, "Factor");
  if (f.singular >= 0) throw WithStatus(TRNSOLVER_STATUS_ZERO_PIVOT, fmt::format("row {} has no pivot", f.singular));
  return f;
}
template <class T> void csrlu_solve(Call& c, Int n, const T* b, T* x, trnsolvercsrluInfoHost* info, void*) {
  const auto i = look(info);
  const auto& f = whole<T>(i->factors);
  require(n == static_cast<Int>(f.u.size()), "the factors are of order {}", f.u.size());
  put(c, Where::Host, "x", x, f.solve(get(c, Where::Host, "b", b, n)));
}
// P A Q^T = L U: rows stay where they are, columns come in the order Q. L is without its diagonal.
template <class T> void csrlu_extract(Call& c, int* p, int* q, Description dl, T* lv, int* lp, int* li, Description du,
                                      T* uv, int* up, int* ui, trnsolvercsrluInfoHost* info, void*) {
  const auto held = look(info);
  const auto& f = whole<T>(held->factors);
  const auto give = [&](const auto& lines, Description d, T* values, int* offsets, int* indices) {
    const int base = look(d)->base;
    std::vector<int> o{base}, columns;
    std::vector<T> all;
    for (const auto& line : lines) {
      for (const int j : line.columns) columns.push_back(j + base);
      all.insert(all.end(), line.values.begin(), line.values.end());
      o.push_back(static_cast<int>(columns.size()) + base);
    }
    put(c, Where::Host, "csrVal", values, all), put(c, Where::Host, "csrRowPtr", offsets, o);
    put(c, Where::Host, "csrColInd", indices, columns);
  };
  give(f.l, dl, lv, lp, li), give(f.u, du, uv, up, ui);
  std::vector<int> rows;
  for (std::size_t i = 0; i < f.u.size(); ++i) rows.push_back(static_cast<int>(i));
  put(c, Where::Host, "P", p, rows), put(c, Where::Host, "Q", q, f.order);
}

}  // namespace trn::capi::solversp

#include "solversp_bodies.hpp"
