// Refactorisation: see solverrf.hpp.
#include "solverrf.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "../solversp/arrays.hpp"

namespace trn::capi::solverrf {

using solversp::get, solversp::put, solversp::Where;

namespace {

std::size_t at(Int i) { return static_cast<std::size_t>(i); }

// CSR arrays of an n x n matrix, checked.
struct Rows {
  std::vector<int> offsets, columns;
};
Rows rows_of(Call& c, Where where, const char* what, int n, int nnz, const int* offsets, const int* columns) {
  Rows r{get(c, where, what, offsets, Int{n} + 1), {}};
  require(r.offsets.front() == 0 && r.offsets.back() == nnz && std::is_sorted(r.offsets.begin(), r.offsets.end()),
          "the offsets of {} must rise from 0 to {}", what, nnz);
  r.columns = get(c, where, what, columns, nnz);  // as many as the offsets say: the host's have no extent to look up
  for (const int j : r.columns) require(j >= 0 && j < n, "{} has column {} of {}, counted from 0", what, j, n);
  return r;
}
std::vector<int> permutation_of(Call& c, Where where, const char* what, int n, const int* from) {
  auto p = get(c, where, what, from, n);
  std::vector<char> seen(at(n), 0);
  for (const int i : p)
    require(i >= 0 && i < n && !std::exchange(seen[at(i)], 1), "{} is not a permutation of 0 to {}", what, n - 1);
  return p;
}

void set_pattern(Call& c, int n, const Rows& l, const Rows& u) {
  auto& rf = c.rf;
  rf.offsets.assign(1, 0), rf.columns.clear(), rf.diagonals.clear();
  for (int i = 0; i < n; ++i) {
    std::vector<int> row;
    for (int k = l.offsets[at(i)]; k < l.offsets[at(i) + 1]; ++k) {
      const int j = l.columns[at(k)];
      require(j <= i, "L has an entry at ({}, {}), above its diagonal", i, j);
      if (j < i) row.push_back(j);
    }
    bool diagonal = false;
    for (int k = u.offsets[at(i)]; k < u.offsets[at(i) + 1]; ++k) {
      const int j = u.columns[at(k)];
      require(j >= i, "U has an entry at ({}, {}), below its diagonal", i, j);
      row.push_back(j);
      diagonal = diagonal || j == i;
    }
    require(diagonal, "U has no diagonal entry in row {}", i);
    std::sort(row.begin(), row.end());
    require(std::adjacent_find(row.begin(), row.end()) == row.end(), "row {} of L or U has an entry twice", i);
    const auto d = std::lower_bound(row.begin(), row.end(), i) - row.begin();
    rf.diagonals.push_back(rf.offsets.back() + static_cast<int>(d));
    rf.columns.insert(rf.columns.end(), row.begin(), row.end());
    rf.offsets.push_back(static_cast<int>(rf.columns.size()));
  }
  rf.n = n;
}
// The places of A's entries: row i of the factors is row p[i] of A, column j is its column q[j].
void put_values(Call& c, int n, const Rows& a, const std::vector<std::vector<double>>& values,
                const std::vector<int>& p, const std::vector<int>& q) {
  auto& rf = c.rf;
  std::vector<int> column_of(at(n));
  for (int j = 0; j < n; ++j) column_of[at(q[at(j)])] = j;
  std::vector<trnsolverRfCommon::Factors> batch(values.size());
  for (auto& f : batch) f.values.assign(rf.columns.size(), 0.0);
  for (int i = 0; i < n; ++i) {
    const auto begin = rf.columns.begin() + rf.offsets[at(i)], end = rf.columns.begin() + rf.offsets[at(i) + 1];
    for (int k = a.offsets[at(p[at(i)])]; k < a.offsets[at(p[at(i)]) + 1]; ++k) {
      const int j = column_of[at(a.columns[at(k)])];
      const auto place = std::lower_bound(begin, end, j);
      require(place != end && *place == j, "A's entry ({}, {}) has no place in L and U", p[at(i)], a.columns[at(k)]);
      for (std::size_t b = 0; b < batch.size(); ++b)
        batch[b].values[at(place - rf.columns.begin())] += values[b][at(k)];
    }
  }
  rf.batch = std::move(batch);
}
void require_set_up(const Call& c) {
  if (c.rf.n < 0) throw BadHandle("the factors are not set up: call RfSetupHost or RfSetupDevice first");
  sparse::host_only(c, "cusolverRf");
}

void setup(Call& c, Where where, int n, int nnz_a, int* ap, int* ai, const std::vector<double*>& ax, int nnz_l, int* lp,
           int* li, double* lx, int nnz_u, int* up, int* ui, double* ux, int* p, int* q) {
  sparse::host_only(c, "cusolverRf");
  require(n >= 0, "n is {}; it must be >= 0", n);
  const auto a = rows_of(c, where, "A", n, nnz_a, ap, ai);
  const auto l = rows_of(c, where, "L", n, nnz_l, lp, li), u = rows_of(c, where, "U", n, nnz_u, up, ui);
  (void)get(c, where, "the values of L", lx, nnz_l), (void)get(c, where, "the values of U", ux, nnz_u);
  const auto rows = permutation_of(c, where, "P", n, p), columns = permutation_of(c, where, "Q", n, q);
  std::vector<std::vector<double>> values;
  for (double* x : ax) values.push_back(get(c, where, "the values of A", x, nnz_a));
  set_pattern(c, n, l, u);
  put_values(c, n, a, values, rows, columns);
}
void reset(Call& c, int n, int nnz, int* offsets, int* columns, const std::vector<double*>& x, int* p, int* q) {
  require_set_up(c);
  require(n == c.rf.n, "n is {}, and the factors were set up for {}", n, c.rf.n);
  require(x.size() == c.rf.batch.size(), "{} matrices, and the factors were set up for {}", x.size(),
          c.rf.batch.size());
  const auto a = rows_of(c, Where::Device, "A", n, nnz, offsets, columns);
  std::vector<std::vector<double>> values;
  for (double* v : x) values.push_back(get(c, Where::Device, "the values of A", v, nnz));
  put_values(c, n, a, values, permutation_of(c, Where::Device, "P", n, p), permutation_of(c, Where::Device, "Q", n, q));
}
std::vector<double*> list_of(double** array, int count) {
  require(count >= 1 && array != nullptr, "{} matrices; the address of their list is null, or there is none", count);
  return {array, array + count};
}

// Row by row; where fill has no place the pattern is not that of the factors, and nothing can be right.
void eliminate(trnsolverRfCommon& rf, trnsolverRfCommon::Factors& f) {
  std::vector<int> place(at(rf.n), -1);
  for (int i = 0; i < rf.n; ++i) {
    const int begin = rf.offsets[at(i)], end = rf.offsets[at(i) + 1], diagonal = rf.diagonals[at(i)];
    for (int k = begin; k < end; ++k) place[at(rf.columns[at(k)])] = k;
    for (int k = begin; k < diagonal; ++k) {
      const int row = rf.columns[at(k)];
      const double factor = f.values[at(k)] /= f.values[at(rf.diagonals[at(row)])];
      for (int m = rf.diagonals[at(row)] + 1; m < rf.offsets[at(row) + 1]; ++m) {
        const int to = place[at(rf.columns[at(m)])];
        const double change = factor * f.values[at(m)];
        if (to >= 0)
          f.values[at(to)] -= change;
        else
          require(change == 0, "the pattern of L and U has no place for ({}, {})", i, rf.columns[at(m)]);
      }
    }
    for (int k = begin; k < end; ++k) place[at(rf.columns[at(k)])] = -1;
    double& pivot = f.values[at(diagonal)];
    if (std::abs(pivot) > rf.zero) continue;
    if (rf.boost > 0)
      pivot = rf.boost, rf.boosted = true;
    else if (f.zero_pivot < 0)
      f.zero_pivot = i;
  }
  f.factored = true;
}

void solve_one(Call& c, const trnsolverRfCommon::Factors& f, const std::vector<int>& p, const std::vector<int>& q,
               double* x) {
  const auto& rf = c.rf;
  require(f.factored, "nothing is factored: call RfRefactor first");
  if (f.zero_pivot >= 0)
    throw WithStatus(TRNSOLVER_STATUS_ZERO_PIVOT, fmt::format("the pivot of row {} is zero", f.zero_pivot));
  auto right = get(c, Where::Device, "XF", x, rf.n);
  std::vector<double> y(right.size());
  for (int i = 0; i < rf.n; ++i) {
    double sum = right[at(p[at(i)])];
    for (int k = rf.offsets[at(i)]; k < rf.diagonals[at(i)]; ++k) sum -= f.values[at(k)] * y[at(rf.columns[at(k)])];
    y[at(i)] = sum;
  }
  for (int i = rf.n - 1; i >= 0; --i) {
    for (int k = rf.diagonals[at(i)] + 1; k < rf.offsets[at(i) + 1]; ++k)
      y[at(i)] -= f.values[at(k)] * y[at(rf.columns[at(k)])];
    y[at(i)] /= f.values[at(rf.diagonals[at(i)])];
  }
  for (int j = 0; j < rf.n; ++j) right[at(q[at(j)])] = y[at(j)];
  put(c, Where::Device, "XF", x, right);
}
void solve_all(Call& c, int* p, int* q, int nrhs, int ldxf, const std::vector<double*>& x) {
  require_set_up(c);
  require(nrhs >= 0 && ldxf >= std::max(1, c.rf.n), "{} right-hand sides {} elements apart", nrhs, ldxf);
  const auto rows = permutation_of(c, Where::Device, "P", c.rf.n, p),
             columns = permutation_of(c, Where::Device, "Q", c.rf.n, q);
  for (std::size_t b = 0; b < x.size(); ++b)
    for (int k = 0; k < nrhs; ++k) solve_one(c, c.rf.batch.at(b), rows, columns, x[b] + Int{k} * ldxf);
}
template <class T> T& result(T* address) {
  require(address != nullptr, "the address of a result is null");
  return *address;
}
// The caller frees it with free().
template <class T> void give(T** to, const std::vector<T>& from) {
  T* const made = static_cast<T*>(std::malloc(std::max<std::size_t>(1, from.size()) * sizeof(T)));
  if (!made) throw std::bad_alloc();
  std::copy(from.begin(), from.end(), made);
  result(to) = made;
}
const trnsolverRfCommon::Factors& single(const Call& c) {
  require_set_up(c);
  require(c.rf.batch.size() == 1, "the factors are those of {} matrices", c.rf.batch.size());
  return c.rf.batch.front();
}

}  // namespace

void create(trnsolverRfHandle_t* handle) { create_handle(handle); }
void destroy(Call& c) { alive<trnsolverRfCommon>().remove(&c.rf); }

void get_matrix_format(Call& c, trnsolverRfMatrixFormat_t* format, trnsolverRfUnitDiagonal_t* diagonal) {
  result(format) = TRNSOLVERRF_MATRIX_FORMAT_CSR, result(diagonal) = c.rf.diagonal;
}
void set_matrix_format(Call& c, trnsolverRfMatrixFormat_t format, trnsolverRfUnitDiagonal_t diagonal) {
  require(format >= TRNSOLVERRF_MATRIX_FORMAT_CSR && format <= TRNSOLVERRF_MATRIX_FORMAT_CSC &&
              diagonal >= TRNSOLVERRF_UNIT_DIAGONAL_STORED_L && diagonal <= TRNSOLVERRF_UNIT_DIAGONAL_ASSUMED_U,
          "format {}, diagonal {}", static_cast<int>(format), static_cast<int>(diagonal));
  if (format == TRNSOLVERRF_MATRIX_FORMAT_CSC) fail<NotImplemented>("factors by columns (CSC)");
  if (diagonal != TRNSOLVERRF_UNIT_DIAGONAL_STORED_L && diagonal != TRNSOLVERRF_UNIT_DIAGONAL_ASSUMED_L)
    fail<NotImplemented>("a unit diagonal in U");
  c.rf.diagonal = diagonal;
}
void set_numeric_properties(Call& c, double zero, double boost) {
  require(zero >= 0, "the limit of a zero pivot is {}; it must be >= 0", zero);
  c.rf.zero = zero, c.rf.boost = boost;
}
void get_numeric_properties(Call& c, double* zero, double* boost) {
  result(zero) = c.rf.zero, result(boost) = c.rf.boost;
}
void get_numeric_boost_report(Call& c, trnsolverRfNumericBoostReport_t* report) {
  result(report) = c.rf.boosted ? TRNSOLVERRF_NUMERIC_BOOST_USED : TRNSOLVERRF_NUMERIC_BOOST_NOT_USED;
}
// There is one algorithm of each.
void set_algs(Call& c, trnsolverRfFactorization_t factorization, trnsolverRfTriangularSolve_t triangular) {
  require(factorization >= TRNSOLVERRF_FACTORIZATION_ALG0 && factorization <= TRNSOLVERRF_FACTORIZATION_ALG2 &&
              triangular >= TRNSOLVERRF_TRIANGULAR_SOLVE_ALG1 && triangular <= TRNSOLVERRF_TRIANGULAR_SOLVE_ALG3,
          "algorithms {} and {}", static_cast<int>(factorization), static_cast<int>(triangular));
  c.rf.factorization = factorization, c.rf.triangular = triangular;
}
void get_algs(Call& c, trnsolverRfFactorization_t* factorization, trnsolverRfTriangularSolve_t* triangular) {
  result(factorization) = c.rf.factorization, result(triangular) = c.rf.triangular;
}
void set_fast_mode(Call& c, trnsolverRfResetValuesFastMode_t mode) {
  require(mode == TRNSOLVERRF_RESET_VALUES_FAST_MODE_OFF || mode == TRNSOLVERRF_RESET_VALUES_FAST_MODE_ON,
          "the mode is {}; it must be 0 or 1", static_cast<int>(mode));
  c.rf.fast = mode;
}
void get_fast_mode(Call& c, trnsolverRfResetValuesFastMode_t* mode) { result(mode) = c.rf.fast; }

void setup_host(Call& c, int n, int nnz_a, int* ap, int* ai, double* ax, int nnz_l, int* lp, int* li, double* lx,
                int nnz_u, int* up, int* ui, double* ux, int* p, int* q) {
  setup(c, Where::Host, n, nnz_a, ap, ai, {ax}, nnz_l, lp, li, lx, nnz_u, up, ui, ux, p, q);
}
void setup_device(Call& c, int n, int nnz_a, int* ap, int* ai, double* ax, int nnz_l, int* lp, int* li, double* lx,
                  int nnz_u, int* up, int* ui, double* ux, int* p, int* q) {
  setup(c, Where::Device, n, nnz_a, ap, ai, {ax}, nnz_l, lp, li, lx, nnz_u, up, ui, ux, p, q);
}
void batch_setup_host(Call& c, int count, int n, int nnz_a, int* ap, int* ai, double** ax, int nnz_l, int* lp, int* li,
                      double* lx, int nnz_u, int* up, int* ui, double* ux, int* p, int* q) {
  setup(c, Where::Host, n, nnz_a, ap, ai, list_of(ax, count), nnz_l, lp, li, lx, nnz_u, up, ui, ux, p, q);
}
void reset_values(Call& c, int n, int nnz, int* offsets, int* columns, double* values, int* p, int* q) {
  reset(c, n, nnz, offsets, columns, {values}, p, q);
}
void batch_reset_values(Call& c, int count, int n, int nnz, int* offsets, int* columns, double** values, int* p,
                        int* q) {
  reset(c, n, nnz, offsets, columns, list_of(values, count), p, q);
}
void analyze(Call& c) { require_set_up(c); }
void refactor(Call& c) {
  require_set_up(c);
  c.rf.boosted = false;
  for (auto& f : c.rf.batch) {
    require(!f.factored, "the values are factored already: call RfResetValues first");
    eliminate(c.rf, f);
  }
  if (c.rf.batch.size() == 1 && c.rf.batch.front().zero_pivot >= 0)
    throw WithStatus(TRNSOLVER_STATUS_ZERO_PIVOT,
                     fmt::format("the pivot of row {} is zero", c.rf.batch.front().zero_pivot));
}
void extract_bundled(Call& c, int* nnz, int** offsets, int** columns, double** values) {
  const auto& f = single(c);
  result(nnz) = c.rf.offsets.back();
  give(offsets, c.rf.offsets), give(columns, c.rf.columns), give(values, f.values);
}
void extract_split(Call& c, int* nnz_l, int** lp, int** li, double** lx, int* nnz_u, int** up, int** ui, double** ux) {
  const auto& f = single(c);
  std::vector<int> l{0}, u{0}, l_columns, u_columns;
  std::vector<double> l_values, u_values;
  for (int i = 0; i < c.rf.n; ++i) {
    for (int k = c.rf.offsets[at(i)]; k < c.rf.offsets[at(i) + 1]; ++k) {
      const bool lower = k < c.rf.diagonals[at(i)];
      (lower ? l_columns : u_columns).push_back(c.rf.columns[at(k)]);
      (lower ? l_values : u_values).push_back(f.values[at(k)]);
    }
    if (c.rf.diagonal == TRNSOLVERRF_UNIT_DIAGONAL_STORED_L) l_columns.push_back(i), l_values.push_back(1);
    l.push_back(static_cast<int>(l_columns.size())), u.push_back(static_cast<int>(u_columns.size()));
  }
  result(nnz_l) = l.back(), result(nnz_u) = u.back();
  give(lp, l), give(li, l_columns), give(lx, l_values);
  give(up, u), give(ui, u_columns), give(ux, u_values);
}
void solve(Call& c, int* p, int* q, int nrhs, double*, int, double* x, int ldxf) {
  (void)single(c);
  solve_all(c, p, q, nrhs, ldxf, {x});
}
void batch_solve(Call& c, int* p, int* q, int nrhs, double*, int, double** x, int ldxf) {
  require_set_up(c);
  solve_all(c, p, q, nrhs, ldxf, list_of(x, static_cast<int>(c.rf.batch.size())));
}
void batch_zero_pivot(Call& c, int* position) {
  require_set_up(c);
  require(position != nullptr, "position is null; it receives a row or -1 for each matrix");
  bool any = false;
  for (std::size_t b = 0; b < c.rf.batch.size(); ++b) {
    position[b] = c.rf.batch[b].zero_pivot;
    any = any || position[b] >= 0;
  }
  if (any) throw WithStatus(TRNSOLVER_STATUS_ZERO_PIVOT, "a matrix of the batch has a zero pivot");
}

}  // namespace trn::capi::solverrf
