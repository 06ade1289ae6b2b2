// A triangular matrix ready to be solved with: strict part by rows, diagonal apart, rows in levels. Shared by
// TriangularPlan, incomplete factors and SSOR.
#pragma once

#include <cmath>
#include <limits>

#include <trn/core/parallel.hpp>
#include <trn/sparse/outcome.hpp>

#include "host/spgemm.hpp"
#include "host_data.hpp"

namespace trn::sparse::host {

// A block of columns in place: element (i, j) at data[i * rs + j * cs].
template <Scalar T> struct Columns {
  T* data;
  std::int64_t count, rs, cs;
};

template <Scalar T> bool usable_pivot(T x) { return x != T(0) && std::isfinite(std::abs(x)); }

template <Scalar T> struct Triangle {
  bool lower = true, unit = false;
  std::int64_t n = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> indices;
  std::vector<T> values, diagonal;  // the diagonal is empty when unit
  std::vector<std::int64_t> level_offsets;
  std::vector<std::int32_t> order;  // rows, level by level
  Outcome outcome;

  // The named triangle of a row-compressed matrix.
  Triangle(const CsrRef<T, std::int32_t>& a, bool is_lower, bool is_unit) : lower(is_lower), unit(is_unit), n(a.rows) {
    offsets.reserve(static_cast<std::size_t>(n) + 1);
    offsets.push_back(0);
    if (!unit) diagonal.assign(static_cast<std::size_t>(n), T(0));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        const std::int64_t j = a.indices[k];
        if (j == i && !unit) diagonal[static_cast<std::size_t>(i)] = a.values[k];
        if (lower ? j >= i : j <= i) continue;
        indices.push_back(a.indices[k]);
        values.push_back(a.values[k]);
      }
      offsets.push_back(static_cast<std::int64_t>(indices.size()));
      if (!unit && outcome.ok() && !usable_pivot(diagonal[static_cast<std::size_t>(i)]))
        outcome = {Status::ZeroPivot, i};
    }
    find_levels();
  }

  void find_levels() {
    std::vector<std::int32_t> level(static_cast<std::size_t>(n), 0);
    std::int32_t most = -1;
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t i = lower ? step : n - 1 - step;
      std::int32_t own = 0;
      for (std::int64_t k = offsets[static_cast<std::size_t>(i)]; k < offsets[static_cast<std::size_t>(i) + 1]; ++k)
        own = std::max(own, level[static_cast<std::size_t>(indices[static_cast<std::size_t>(k)])] + 1);
      level[static_cast<std::size_t>(i)] = own;
      most = std::max(most, own);
    }
    level_offsets.assign(static_cast<std::size_t>(most) + 2, 0);
    for (const std::int32_t l : level) ++level_offsets[static_cast<std::size_t>(l) + 1];
    for (std::size_t l = 1; l < level_offsets.size(); ++l) level_offsets[l] += level_offsets[l - 1];
    std::vector<std::int64_t> next(level_offsets.begin(), level_offsets.end());
    order.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      order[static_cast<std::size_t>(next[static_cast<std::size_t>(level[static_cast<std::size_t>(i)])]++)] =
          static_cast<std::int32_t>(i);
  }

  [[nodiscard]] std::int64_t levels() const { return static_cast<std::int64_t>(level_offsets.size()) - 1; }

  // x_i = (x_i - sum_j a_ij x_j) / a_ii for columns [first, last).
  void solve_row(std::int64_t i, const Columns<T>& x, std::int64_t first, std::int64_t last) const {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t c = first; c < last; ++c) {
      T* column = x.data + c * x.cs;
      T sum = column[i * x.rs];
      for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k)
        sum -= times(values[static_cast<std::size_t>(k)], column[indices[static_cast<std::size_t>(k)] * x.rs]);
      column[i * x.rs] = unit ? sum : sum / diagonal[row];
    }
  }

  void solve(const Columns<T>& x) const {
    constexpr std::int64_t kWide = 512;  // rows of a level worth several threads
    const std::int64_t average = n / std::max<std::int64_t>(1, levels());
    const int threads = loop_threads(average >= kWide);
    if (threads <= 1) {
      const auto one = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t step = 0; step < n; ++step) solve_row(lower ? step : n - 1 - step, x, first, last);
      };
      if (x.cs == 1) return one(0, x.count);  // rows side by side
      for (std::int64_t c = 0; c < x.count; ++c) one(c, c + 1);
      return;
    }
    for (std::int64_t l = 0; l < levels(); ++l) {
      const std::int64_t begin = level_offsets[static_cast<std::size_t>(l)],
                         end = level_offsets[static_cast<std::size_t>(l) + 1];
      parallel_for(end - begin, end - begin >= kWide,
                   [&](std::int64_t k) { solve_row(order[static_cast<std::size_t>(begin + k)], x, 0, x.count); });
    }
  }

  // With the transpose (conjugated when `conjugated`), column by column of it: sequential.
  void solve_transposed(const Columns<T>& x, bool conjugated) const {
    const auto maybe = [&](T v) { return conjugated ? conjugate_of(v) : v; };
    for (std::int64_t c = 0; c < x.count; ++c) {
      T* column = x.data + c * x.cs;
      for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t i = lower ? n - 1 - step : step;
        const auto row = static_cast<std::size_t>(i);
        T& own = column[i * x.rs];
        if (!unit) own /= maybe(diagonal[row]);
        for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k)
          column[indices[static_cast<std::size_t>(k)] * x.rs] -= times(maybe(values[static_cast<std::size_t>(k)]), own);
      }
    }
  }

  void solve(Op op, const Columns<T>& x) const {
    if (op == Op::N)
      solve(x);
    else
      solve_transposed(x, op == Op::C);
  }
};

}  // namespace trn::sparse::host
