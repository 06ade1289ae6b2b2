// Incomplete LU and Cholesky factorisations: patterns, numbers, solves.
#include <trn/sparse/ilu.hpp>

#include <algorithm>
#include <map>

#include <trn/core/linear_operator.hpp>
#include <trn/sparse/structure.hpp>

#include "operators.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace detail {
template <Scalar T> struct IluData {
  host::Triangle<T> lower, upper;
  Array<T> work;
};
template <Scalar T> struct IcData {
  host::Triangle<T> lower;
  Array<T> work;
};
}  // namespace detail

namespace {

void check_factorable(const char* operation, const Executor& executor, Extents e) {
  host_only(operation, executor);
  check_square(operation, e);
}

// Rows of L U as they grow: sorted columns, values, where the diagonal stands (-1: nowhere).
template <Scalar T> struct Rows {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  std::vector<std::int64_t> diagonal;
};

template <Scalar T> T boosted(T pivot, const Boost& boost, Outcome& outcome) {
  if (boost.tolerance < 0 || std::abs(pivot) > boost.tolerance) return pivot;
  ++outcome.boosted;
  return T(static_cast<Real<T>>(boost.value));
}

// Splits rows into L and U, and gives both as matrices.
template <Scalar T> Ilu<T> split(std::int64_t n, const Rows<T>& rows, const Outcome& outcome) {
  CsrParts<T, std::int32_t> lower({n, n}), upper({n, n});
  const auto each = [&](const auto& low, const auto& high) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = rows.offsets[static_cast<std::size_t>(i)];
           k < rows.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        if (rows.indices[static_cast<std::size_t>(k)] < i)
          low(i, k);
        else
          high(i, k);
      }
    }
  };
  std::fill_n(lower.offsets.data(), n + 1, 0), std::fill_n(upper.offsets.data(), n + 1, 0);
  each([&](std::int64_t i, std::int64_t) { ++lower.offsets.data()[i]; },
       [&](std::int64_t i, std::int64_t) { ++upper.offsets.data()[i]; });
  lower.allocate(), upper.allocate();
  std::int64_t at = 0, to = 0;
  const auto put = [&](CsrParts<T, std::int32_t>& parts, std::int64_t& next, std::int64_t k) {
    parts.indices.data()[next] = rows.indices[static_cast<std::size_t>(k)];
    parts.values.data()[next++] = rows.values[static_cast<std::size_t>(k)];
  };
  each([&](std::int64_t, std::int64_t k) { put(lower, at, k); },
       [&](std::int64_t, std::int64_t k) { put(upper, to, k); });
  return Ilu<T>(detail::Trusted{}, lower.done(), upper.done(), outcome);
}

// The pattern of ILU(k): fill has the level 1 + the sum of the levels that made it; A's own entries have level 0.
template <Scalar T> Rows<T> fill_pattern(const CsrRef<T, std::int32_t>& a, int most) {
  Rows<T> rows;
  std::vector<std::vector<std::pair<std::int32_t, int>>> upper(static_cast<std::size_t>(a.rows));
  std::map<std::int32_t, int> level;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    level.clear();
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) level[a.indices[k]] = 0;
    for (auto at = level.begin(); at != level.end() && at->first < i; ++at) {
      if (most == 0 || at->second >= most) continue;
      for (const auto& [column, above] : upper[static_cast<std::size_t>(at->first)]) {
        const int own = at->second + above + 1;
        if (own > most) continue;
        const auto [place, fresh] = level.emplace(column, own);
        if (!fresh) place->second = std::min(place->second, own);
      }
    }
    for (const auto& [column, own] : level) {
      rows.indices.push_back(column);
      if (column > i) upper[static_cast<std::size_t>(i)].emplace_back(column, own);
    }
    rows.offsets.push_back(static_cast<std::int64_t>(rows.indices.size()));
  }
  return rows;
}

// Numbers on a pattern that holds A's: row by row, each minus multiples of earlier rows.
template <Scalar T> Outcome factor_numbers(const CsrRef<T, std::int32_t>& a, Rows<T>& rows, const Boost& boost) {
  const std::int64_t n = a.rows;
  Outcome outcome;
  rows.values.assign(rows.indices.size(), T(0));
  rows.diagonal.assign(static_cast<std::size_t>(n), -1);
  std::vector<std::int64_t> place(static_cast<std::size_t>(n), -1);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t begin = rows.offsets[static_cast<std::size_t>(i)],
                       end = rows.offsets[static_cast<std::size_t>(i) + 1];
    for (std::int64_t k = begin; k < end; ++k)
      place[static_cast<std::size_t>(rows.indices[static_cast<std::size_t>(k)])] = k;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      rows.values[static_cast<std::size_t>(place[static_cast<std::size_t>(a.indices[k])])] = a.values[k];
    for (std::int64_t k = begin; k < end && rows.indices[static_cast<std::size_t>(k)] < i; ++k) {
      const auto j = static_cast<std::size_t>(rows.indices[static_cast<std::size_t>(k)]);
      const T factor = rows.values[static_cast<std::size_t>(k)] /=
          rows.values[static_cast<std::size_t>(rows.diagonal[j])];
      for (std::int64_t l = rows.diagonal[j] + 1; l < rows.offsets[j + 1]; ++l) {
        const std::int64_t to = place[static_cast<std::size_t>(rows.indices[static_cast<std::size_t>(l)])];
        if (to >= 0)
          rows.values[static_cast<std::size_t>(to)] -= host::times(factor, rows.values[static_cast<std::size_t>(l)]);
      }
    }
    const std::int64_t own = place[static_cast<std::size_t>(i)];
    for (std::int64_t k = begin; k < end; ++k)
      place[static_cast<std::size_t>(rows.indices[static_cast<std::size_t>(k)])] = -1;
    if (own >= 0)
      rows.values[static_cast<std::size_t>(own)] = boosted(rows.values[static_cast<std::size_t>(own)], boost, outcome);
    if (own < 0 || !host::usable_pivot(rows.values[static_cast<std::size_t>(own)])) {
      outcome.status = Status::ZeroPivot, outcome.index = i;
      return outcome;
    }
    rows.diagonal[static_cast<std::size_t>(i)] = own;
  }
  return outcome;
}

}  // namespace

template <Scalar T> Ilu<T>::Ilu(detail::Trusted, Csr<T> lower, Csr<T> upper, const Outcome& outcome)
    : n_(lower.rows()), lower_(std::move(lower)), upper_(std::move(upper)), outcome_(outcome) {
  data_ = std::make_shared<const detail::IluData<T>>(
      detail::IluData<T>{host::Triangle<T>(host_ref(lower_), true, true),
                         host::Triangle<T>(host_ref(upper_), false, false), host_array<T>(n_)});
}

template <Scalar T>
void Ilu<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  apply_in_place("sparse.ilu.apply", executor(), n_, data_->work, alpha, x, beta, y, [&](const host::Columns<T>& c) {
    if (!outcome_.ok()) return fill_columns(n_, c, not_a_number<T>());
    if (op == Op::N) {
      data_->lower.solve(c), data_->upper.solve(c);
    } else {
      data_->upper.solve(op, c), data_->lower.solve(op, c);
    }
  });
}

template <Scalar T> Ilu<T> ilu(const Csr<T>& a, const IluOptions& options) {
  check_factorable("sparse.ilu", a.executor(), a.extents());
  require(options.level >= 0 && options.level <= 1000, "sparse.ilu: level {}; it must be 0 to 1000", options.level);
  Rows<T> rows = fill_pattern(host_ref(a), options.level);
  const Outcome outcome = factor_numbers(host_ref(a), rows, options.boost);
  return split(a.rows(), rows, outcome);
}

template <Scalar T> Ilu<T> refactor(const Ilu<T>& factor, const Csr<T>& a, const Boost& boost) {
  constexpr const char* operation = "sparse.refactor";
  check_factorable(operation, a.executor(), a.extents());
  require(a.rows() == factor.rows(), "{}: A has {} rows and the factor {}", operation, a.rows(), factor.rows());
  const CsrRef<T, std::int32_t> s = host_ref(a), l = host_ref(factor.lower()), u = host_ref(factor.upper());
  Rows<T> rows;
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const std::size_t begin = rows.indices.size();
    rows.indices.insert(rows.indices.end(), l.indices + l.offsets[i], l.indices + l.offsets[i + 1]);
    rows.indices.insert(rows.indices.end(), u.indices + u.offsets[i], u.indices + u.offsets[i + 1]);
    rows.offsets.push_back(static_cast<std::int64_t>(rows.indices.size()));
    require(std::includes(rows.indices.begin() + static_cast<std::ptrdiff_t>(begin), rows.indices.end(),
                          s.indices + s.offsets[i], s.indices + s.offsets[i + 1]),
            "{}: row {} of A has entries outside the factor's pattern", operation, i);
  }
  const Outcome outcome = factor_numbers(s, rows, boost);
  return split(s.rows, rows, outcome);
}

template <Scalar T> Ilu<T> ilut(const Csr<T>& a, const IlutOptions& o) {
  constexpr const char* operation = "sparse.ilut";
  check_factorable(operation, a.executor(), a.extents());
  require(o.drop >= 0 && o.largest >= 0, "{}: drop {} and largest {}; both must be >= 0", operation, o.drop, o.largest);
  const CsrRef<T, std::int32_t> s = host_ref(a);
  Rows<T> rows;
  Outcome outcome;
  std::map<std::int32_t, T> row;
  for (std::int64_t i = 0; i < s.rows && outcome.ok(); ++i) {
    row.clear();
    double norm = 0;
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      row[s.indices[k]] = s.values[k];
      norm = std::hypot(norm, static_cast<double>(std::abs(s.values[k])));
    }
    const double limit = o.drop * norm;
    for (auto at = row.begin(); at != row.end() && at->first < i;) {
      const auto j = static_cast<std::size_t>(at->first);
      at->second /= rows.values[static_cast<std::size_t>(rows.diagonal[j])];
      if (static_cast<double>(std::abs(at->second)) <= limit) {
        at = row.erase(at);
        continue;
      }
      for (std::int64_t l = rows.diagonal[j] + 1; l < rows.offsets[j + 1]; ++l)
        row[rows.indices[static_cast<std::size_t>(l)]] -=
            host::times(at->second, rows.values[static_cast<std::size_t>(l)]);
      ++at;
    }
    // The largest of either side, and the diagonal always; ties go to the lower column.
    std::vector<std::pair<std::int32_t, T>> kept[2];
    T pivot(0);
    bool present = false;
    for (const auto& [column, value] : row) {
      if (column == i)
        pivot = value, present = true;
      else if (static_cast<double>(std::abs(value)) > limit)
        kept[column > i].emplace_back(column, value);
    }
    for (auto& side : kept) {
      if (static_cast<std::int64_t>(side.size()) <= o.largest) continue;
      std::stable_sort(side.begin(), side.end(),
                       [](const auto& x, const auto& y) { return std::abs(x.second) > std::abs(y.second); });
      side.resize(static_cast<std::size_t>(o.largest));
      std::sort(side.begin(), side.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    }
    pivot = boosted(pivot, o.boost, outcome);
    present = present || o.boost.tolerance >= 0;
    const auto put = [&](std::int32_t column, T value) {
      rows.indices.push_back(column), rows.values.push_back(value);
    };
    for (const auto& [column, value] : kept[0]) put(column, value);
    rows.diagonal.push_back(static_cast<std::int64_t>(rows.indices.size()));
    put(static_cast<std::int32_t>(i), pivot);
    for (const auto& [column, value] : kept[1]) put(column, value);
    rows.offsets.push_back(static_cast<std::int64_t>(rows.indices.size()));
    if (!present || !host::usable_pivot(pivot)) outcome.status = Status::ZeroPivot, outcome.index = i;
  }
  rows.offsets.resize(static_cast<std::size_t>(s.rows) + 1, rows.offsets.back());
  return split(s.rows, rows, outcome);
}

template <Scalar T> Ic<T>::Ic(detail::Trusted, Csr<T> lower, const Outcome& outcome)
    : lower_(std::move(lower)), outcome_(outcome) {
  data_ = std::make_shared<const detail::IcData<T>>(
      detail::IcData<T>{host::Triangle<T>(host_ref(lower_), true, false), host_array<T>(lower_.rows())});
}

template <Scalar T>
void Ic<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  if (ComplexScalar<T> && op == Op::T)
    fail<NotImplemented>("sparse.ic.apply: the factor is Hermitian; its transpose without conjugation is not offered");
  apply_in_place("sparse.ic.apply", executor(), rows(), data_->work, alpha, x, beta, y, [&](const host::Columns<T>& c) {
    if (!outcome_.ok()) return fill_columns(rows(), c, not_a_number<T>());
    data_->lower.solve(c), data_->lower.solve(Op::C, c);
  });
}

template <Scalar T> Ic<T> ic0(const Csr<T>& a, double shift) {
  check_factorable("sparse.ic0", a.executor(), a.extents());
  require(std::isfinite(shift), "sparse.ic0: a shift of {}; it must be finite", shift);
  const Csr<T> part = triangle(a, Uplo::Lower);
  const CsrRef<T, std::int32_t> s = host_ref(part);
  Array<T> values = host_array<T>(s.nnz());
  std::copy_n(s.values, s.nnz(), values.data());
  T* v = values.data();
  Outcome outcome;
  // l_ij = (a_ij - sum_{m < j} l_im conj(l_jm)) / l_jj over the entries that both rows have.
  for (std::int64_t i = 0; i < s.rows && outcome.ok(); ++i) {
    const std::int64_t begin = s.offsets[i], end = s.offsets[i + 1];
    if (begin == end || s.indices[end - 1] != i) {
      outcome = {Status::ZeroPivot, i};
      break;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t j = s.indices[k], last = s.offsets[j + 1] - 1;
      T sum = v[k];
      if (j == i) sum *= static_cast<Real<T>>(1 + shift);
      for (std::int64_t p = begin, q = s.offsets[j]; p < k && q < last;) {
        if (s.indices[p] < s.indices[q])
          ++p;
        else if (s.indices[q] < s.indices[p])
          ++q;
        else
          sum -= host::times(v[p++], conjugate_of(v[q++]));
      }
      if (j < i) {
        v[k] = sum / v[last];
        continue;
      }
      const auto pivot = std::real(sum);
      if (!std::isfinite(pivot))
        outcome = {Status::NotFinite, i};
      else if (pivot == 0)
        outcome = {Status::ZeroPivot, i};
      else if (pivot < 0 || std::imag(s.values[k]) != 0)  // or a diagonal that is not real
        outcome = {Status::NotPositive, i};
      v[k] = T(std::sqrt(outcome.ok() ? pivot : Real<T>(1)));
    }
  }
  return Ic<T>(detail::Trusted{}, Csr<T>(detail::Trusted{}, part.pattern(), std::move(values)), outcome);
}

#define TRN_ILU(T)                                                      \
  template class Ilu<T>;                                                \
  template class Ic<T>;                                                 \
  template Ilu<T> ilu(const Csr<T>&, const IluOptions&);                \
  template Ilu<T> ilut(const Csr<T>&, const IlutOptions&);              \
  template Ilu<T> refactor(const Ilu<T>&, const Csr<T>&, const Boost&); \
  template Ic<T> ic0(const Csr<T>&, double);                            \
  static_assert(LinearOperator<Ilu<T>, T> && LinearOperator<Ic<T>, T>);
TRN_SPARSE_SCALARS(TRN_ILU)
#undef TRN_ILU

}  // namespace trn::sparse
