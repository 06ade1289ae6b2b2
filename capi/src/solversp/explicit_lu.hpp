// A = L U Q with L and U as sparse rows, for callers who take the factors out (csrluExtract, cusolverRf): one row after
// another, the pivot of a row chosen among its columns. Every pivot is at least `threshold` times the largest element
// that is left of its row; the diagonal is taken where it is large enough. trn::sparse::Lu is the solver to use where
// the factors stay inside: it orders, works on dense fronts and refines.
#pragma once

#include <cmath>
#include <functional>
#include <queue>

#include <trn/sparse/csr.hpp>

namespace trn::capi::solversp {

template <class T> struct ExplicitLu {
  using Int = std::int64_t;
  struct Line {
    std::vector<int> columns;
    std::vector<T> values;
  };
  // Columns count pivots: column k of L and U is column order[k] of A. L has no diagonal, which is 1; that of U comes
  // first in its row.
  std::vector<Line> l, u;
  std::vector<int> order;
  int singular = -1;  // the row in which no pivot was left

  ExplicitLu(const trn::sparse::Csr<T>& a, double threshold) {
    const auto n = static_cast<std::size_t>(a.rows());
    const auto offsets = a.pattern().offsets();
    const auto indices = a.pattern().indices();
    const auto values = a.values();
    l.resize(n), u.resize(n);
    std::vector<int> position(n, -1);
    std::vector<char> filled(n, 0);
    std::vector<T> work(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::priority_queue<int, std::vector<int>, std::greater<>> pivots;  // to eliminate with, in order
      std::vector<int> rest;                                              // columns without a pivot
      const auto add = [&](int j) -> T& {
        const auto at = static_cast<std::size_t>(j);
        if (!std::exchange(filled[at], 1)) {
          work[at] = T(0);
          if (position[at] >= 0)
            pivots.push(position[at]);
          else
            rest.push_back(j);
        }
        return work[at];
      };
      for (Int k = offsets.data()[i]; k < offsets.data()[i + 1]; ++k) add(indices.data()[k]) += values.data()[k];
      while (!pivots.empty()) {
        const auto k = static_cast<std::size_t>(pivots.top());
        pivots.pop();
        const auto column = static_cast<std::size_t>(order[k]);
        const T factor = work[column] / u[k].values.front();
        filled[column] = 0;
        l[i].columns.push_back(static_cast<int>(k)), l[i].values.push_back(factor);
        for (std::size_t m = 1; m < u[k].columns.size(); ++m) add(u[k].columns[m]) -= factor * u[k].values[m];
      }
      double largest = 0;
      int pivot = -1;
      for (const int j : rest) {
        const double size = std::abs(work[static_cast<std::size_t>(j)]);
        filled[static_cast<std::size_t>(j)] = 0;
        if (size > largest) largest = size, pivot = j;
      }
      const auto own = std::find(rest.begin(), rest.end(), static_cast<int>(i));
      if (own != rest.end() && std::abs(work[i]) >= threshold * largest && largest > 0) pivot = static_cast<int>(i);
      if (pivot < 0 || !std::isfinite(largest)) {
        singular = static_cast<int>(i);
        return;
      }
      position[static_cast<std::size_t>(pivot)] = static_cast<int>(i);
      order.push_back(pivot);
      u[i].columns.push_back(pivot), u[i].values.push_back(work[static_cast<std::size_t>(pivot)]);
      for (const int j : rest)
        if (j != pivot) u[i].columns.push_back(j), u[i].values.push_back(work[static_cast<std::size_t>(j)]);
    }
    for (Line& line : u) sort(line, position);
  }

  [[nodiscard]] std::vector<T> solve(const std::vector<T>& b) const {
    std::vector<T> y = b, x(b.size());
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t k = 0; k < l[i].columns.size(); ++k)
        y[i] -= l[i].values[k] * y[static_cast<std::size_t>(l[i].columns[k])];
    for (std::size_t i = y.size(); i-- > 0;) {
      for (std::size_t k = 1; k < u[i].columns.size(); ++k)
        y[i] -= u[i].values[k] * y[static_cast<std::size_t>(u[i].columns[k])];
      y[i] /= u[i].values.front();
    }
    for (std::size_t k = 0; k < x.size(); ++k) x[static_cast<std::size_t>(order[k])] = y[k];
    return x;
  }
  [[nodiscard]] static int entries(const std::vector<Line>& lines) {
    std::size_t count = 0;
    for (const Line& line : lines) count += line.columns.size();
    return static_cast<int>(count);
  }

 private:
  // A row of U with its columns numbered as pivots, ascending.
  static void sort(Line& line, const std::vector<int>& position) {
    std::vector<std::pair<int, T>> row;
    for (std::size_t k = 0; k < line.columns.size(); ++k)
      row.emplace_back(position[static_cast<std::size_t>(line.columns[k])], line.values[k]);
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < row.size(); ++k) line.columns[k] = row[k].first, line.values[k] = row[k].second;
  }
};

}  // namespace trn::capi::solversp
