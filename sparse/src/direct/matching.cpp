// Matching by shortest augmenting paths. Costs c_ij = log2(max_j |a_ij| / |a_ij|) >= 0; dual variables u, v with
// c_ij - u_i - v_j >= 0, equal to zero on matched entries, prove that the matching is best and are the scaling.
#include "direct/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "scalars.hpp"

namespace trn::sparse::direct {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// log2 of the modulus; minus infinity for zero. In double: hypot neither overflows nor loses small parts there.
template <Scalar T> double log_modulus(T x) {
  if constexpr (ComplexScalar<T>) {
    int exponent = 0;
    const double largest = std::max(std::abs(double(x.real())), std::abs(double(x.imag())));
    if (largest == 0) return -kNever;
    (void)std::frexp(largest, &exponent);
    const double re = std::ldexp(double(x.real()), -exponent), im = std::ldexp(double(x.imag()), -exponent);
    return exponent + std::log2(re * re + im * im) / 2;
  } else {
    return std::log2(std::abs(double(x)));
  }
}

class Matcher {
 public:
  Matcher(std::int64_t n, const std::int64_t* offsets, const std::int32_t* indices, std::vector<double> cost)
      : n_(n),
        offsets_(offsets),
        indices_(indices),
        cost_(std::move(cost)),
        u_(at(n), 0),
        v_(at(n), kNever),
        row_(at(n), -1),
        column_(at(n), -1),
        distance_(at(n), kNever),
        before_(at(n), -1),
        state_(at(n), 0) {}

  void run() {
    for (std::int64_t k = 0; k < offsets_[n_]; ++k) v_[at(indices_[k])] = std::min(v_[at(indices_[k])], cost_[at(k)]);
    for (double& v : v_) {
      if (v == kNever) v = 0;
    }
    for (std::int32_t i = 0; i < n_; ++i) {
      double least = kNever;
      for (std::int64_t k = offsets_[i]; k < offsets_[i + 1]; ++k)
        least = std::min(least, cost_[at(k)] - v_[at(indices_[k])]);
      u_[at(i)] = least == kNever ? 0 : least;
    }
    // The diagonal where it is as good as anything else, then any column that is free.
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int32_t i = 0; i < n_; ++i) {
        for (std::int64_t k = offsets_[i]; k < offsets_[i + 1] && column_[at(i)] < 0; ++k) {
          const std::int32_t j = indices_[k];
          if ((pass == 1 || i == j) && row_[at(j)] < 0 && cost_[at(k)] - v_[at(j)] - u_[at(i)] == 0) pair(i, j);
        }
      }
    }
    for (std::int32_t i = 0; i < n_; ++i) {
      if (column_[at(i)] < 0) augment(i);
    }
  }
  std::vector<std::int32_t>& columns() { return column_; }
  [[nodiscard]] const std::vector<std::int32_t>& rows() const { return row_; }
  [[nodiscard]] double u(std::int64_t i) const { return u_[at(i)]; }
  [[nodiscard]] double v(std::int64_t j) const { return v_[at(j)]; }

 private:
  void pair(std::int32_t i, std::int32_t j) { column_[at(i)] = j, row_[at(j)] = i; }

  // The cheapest path from row `start` to a free column, over columns whose rows can be matched elsewhere.
  void augment(std::int32_t start) {
    using Item = std::pair<double, std::int32_t>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
    double shortest = kNever, reached = 0;
    std::int32_t end = -1, i = start;
    done_.clear(), touched_.clear();
    for (;;) {
      for (std::int64_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
        const std::int32_t j = indices_[k];
        if (state_[at(j)] != 0 || cost_[at(k)] == kNever) continue;
        const double d = reached + std::max(0.0, cost_[at(k)] - u_[at(i)] - v_[at(j)]);
        if (!(d < shortest) || !(d < distance_[at(j)])) continue;
        if (distance_[at(j)] == kNever) touched_.push_back(j);
        distance_[at(j)] = d, before_[at(j)] = i;
        if (row_[at(j)] < 0)
          shortest = d, end = j;
        else
          queue.emplace(d, j);
      }
      std::int32_t next = -1;
      while (!queue.empty() && next < 0) {
        const auto [d, j] = queue.top();
        if (!(d < shortest)) break;
        queue.pop();
        if (state_[at(j)] == 0 && d == distance_[at(j)]) next = j;
      }
      if (next < 0) break;
      state_[at(next)] = 1;
      done_.push_back(next);
      reached = distance_[at(next)];
      i = row_[at(next)];
    }
    if (end >= 0) {
      for (const std::int32_t j : done_) {
        const double shift = shortest - distance_[at(j)];
        v_[at(j)] -= shift, u_[at(row_[at(j)])] += shift;
      }
      u_[at(start)] += shortest;
      for (std::int32_t j = end;;) {
        const std::int32_t row = before_[at(j)], was = column_[at(row)];
        pair(row, j);
        if (row == start) break;
        j = was;
      }
    }
    for (const std::int32_t j : touched_) distance_[at(j)] = kNever, state_[at(j)] = 0;
  }

  std::int64_t n_;
  const std::int64_t* offsets_;
  const std::int32_t* indices_;
  std::vector<double> cost_, u_, v_;
  std::vector<std::int32_t> row_, column_;
  std::vector<double> distance_;
  std::vector<std::int32_t> before_;
  std::vector<char> state_;
  std::vector<std::int32_t> done_, touched_;
};

}  // namespace

template <Scalar T> Matching match_rows(const CsrRef<T, std::int32_t>& a) {
  std::vector<double> cost(at(a.nnz())), largest(at(a.rows), -kNever);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      cost[at(k)] = log_modulus(a.values[k]);
      largest[at(i)] = std::max(largest[at(i)], cost[at(k)]);
    }
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      cost[at(k)] = cost[at(k)] == -kNever ? kNever : largest[at(i)] - cost[at(k)];
  }
  Matcher matcher(a.rows, a.offsets, a.indices, std::move(cost));
  matcher.run();
  Matching m;
  for (std::int64_t j = 0; j < a.columns && m.unmatched < 0; ++j) {
    if (matcher.rows()[at(j)] < 0) m.unmatched = j;
  }
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const double exponent = largest[at(i)] == -kNever ? 0 : matcher.u(i) - largest[at(i)];
    m.row_exponent.push_back(static_cast<std::int32_t>(std::lround(exponent)));
    m.column_exponent.push_back(static_cast<std::int32_t>(std::lround(matcher.v(i))));
  }
  m.column_of = std::move(matcher.columns());
  return m;
}

template <Scalar T> void equilibrate(const CsrRef<T, std::int32_t>& a, Matching& m) {
  for (const bool by_rows : {true, false}) {
    std::vector<double> largest(at(a.rows), -kNever);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        double& most = largest[at(by_rows ? i : a.indices[k])];
        most = std::max(most, log_modulus(a.values[k]) + m.row_exponent[at(i)] + m.column_exponent[at(a.indices[k])]);
      }
    }
    auto& exponent = by_rows ? m.row_exponent : m.column_exponent;
    for (std::size_t i = 0; i < largest.size(); ++i) {
      if (std::isfinite(largest[i])) exponent[i] -= static_cast<std::int32_t>(std::lround(largest[i]));
    }
  }
}

#define TRN_MATCH(T)                                               \
  template Matching match_rows<T>(const CsrRef<T, std::int32_t>&); \
  template void equilibrate<T>(const CsrRef<T, std::int32_t>&, Matching&);
TRN_SPARSE_SCALARS(TRN_MATCH)
#undef TRN_MATCH

}  // namespace trn::sparse::direct
