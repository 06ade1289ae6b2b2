// Compression of a block from some of its rows and columns (adaptive cross approximation, Bebendorf 2000), so that a
// block of m x n and rank r costs O(r (m + n)) evaluations and as much memory. Row by row
//
//   r = A(i, :) - sum_k u_k(i) v_k,   j = argmax |r|,   v = r / r(j),   u = A(:, j) - sum_k v_k(j) u_k
//
// and the next i is where |u| is largest. What is left is looked at on the edges of the block, where kernels change
// most, and at random places; the estimate is of its Frobenius norm, and rows of the largest error found go on while it
// is beyond the limit.
#include <algorithm>
#include <cmath>
#include <random>

#include "host/triangle.hpp"
#include "host_data.hpp"
#include "rank/low_rank.hpp"
#include "scalars.hpp"

namespace trn::sparse::rank {

namespace {

template <Scalar T> class Cross {
 public:
  Cross(std::int64_t rows, std::int64_t columns, const std::function<T(std::int64_t, std::int64_t)>& element)
      : m_(rows), n_(columns), element_(element), row_used_(static_cast<std::size_t>(rows), 0) {}

  // Pivots from row `next` on until one adds at most `small` of what there is. False: the rank is beyond `most`.
  bool run(std::int64_t next, double small, std::int64_t most) {
    std::vector<T> v(static_cast<std::size_t>(n_)), u(static_cast<std::size_t>(m_));
    for (int quiet = 0; quiet < 3;) {  // a few rows in a row must have nothing to add
      if (next < 0) return true;       // every row was used: exact
      row_used_[static_cast<std::size_t>(next)] = 1;
      double largest = 0;
      std::int64_t j = 0;
      for (std::int64_t c = 0; c < n_; ++c) {
        const T left = residual(next, c);
        v[static_cast<std::size_t>(c)] = left;
        if (std::abs(left) > largest) largest = static_cast<double>(std::abs(left)), j = c;
      }
      if (!(largest > 0)) {
        ++quiet;
        next = unused();
        continue;
      }
      if (rank_ >= most) return false;
      const T pivot = v[static_cast<std::size_t>(j)];
      for (T& x : v) x /= pivot;
      std::int64_t best = -1;
      for (std::int64_t r = 0; r < m_; ++r) {
        const T left = residual(r, j);
        u[static_cast<std::size_t>(r)] = left;
        if (row_used_[static_cast<std::size_t>(r)] == 0 &&
            (best < 0 || std::abs(left) > std::abs(u[static_cast<std::size_t>(best)])))
          best = r;
      }
      const double size = frobenius(m_, u.data()) * frobenius(n_, v.data());
      u_.insert(u_.end(), u.begin(), u.end());
      for (const T& x : v) v_.push_back(conjugate_of(x));
      ++rank_;
      norm_ = std::hypot(norm_, size);  // an estimate that the stopping rule needs
      quiet = size <= small * norm_ ? quiet + 1 : 0;
      next = quiet == 0 || best < 0 ? best : unused();
    }
    return true;
  }

  [[nodiscard]] T residual(std::int64_t i, std::int64_t j) const {
    T left = element_(i, j);
    for (std::int64_t k = 0; k < rank_; ++k)
      left -=
          host::times(u_[static_cast<std::size_t>(k * m_ + i)], conjugate_of(v_[static_cast<std::size_t>(k * n_ + j)]));
    return left;
  }
  // An estimate of the norm of what is left, and the unused row where most was found.
  double look(std::mt19937_64& random, std::int64_t& worst) const {
    double edges = 0, inside = 0, most = -1;
    worst = -1;
    const auto at = [&](std::int64_t i, std::int64_t j, double& sum) {
      const auto left = static_cast<double>(std::abs(residual(i, j)));
      sum = std::hypot(sum, left);
      if (row_used_[static_cast<std::size_t>(i)] == 0 && left > most) most = left, worst = i;
    };
    for (std::int64_t j = 0; j < n_; ++j) at(0, j, edges), at(m_ - 1, j, edges);
    for (std::int64_t i = 0; i < m_; ++i) at(i, 0, edges), at(i, n_ - 1, edges);
    const std::int64_t samples = 2 * (m_ + n_);
    for (std::int64_t s = 0; s < samples; ++s) {
      const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(m_)),
                 j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n_));
      at(i, j, inside);
    }
    const double share = static_cast<double>(m_) * static_cast<double>(n_) / static_cast<double>(samples);
    return std::hypot(edges, inside * std::sqrt(std::max(1.0, share)));
  }
  Block<T> take() { return {m_, n_, false, rank_, std::move(u_), std::move(v_), 0}; }
  [[nodiscard]] double norm() const { return norm_; }

 private:
  [[nodiscard]] std::int64_t unused() const {
    const auto at = std::find(row_used_.begin(), row_used_.end(), 0);
    return at == row_used_.end() ? -1 : at - row_used_.begin();
  }

  std::int64_t m_, n_, rank_ = 0;
  const std::function<T(std::int64_t, std::int64_t)>& element_;
  std::vector<char> row_used_;
  std::vector<T> u_, v_;
  double norm_ = 0;
};

}  // namespace

template <Scalar T>
std::optional<Block<T>> compress_sampled(std::int64_t rows, std::int64_t columns,
                                         const std::function<T(std::int64_t, std::int64_t)>& element, double tolerance,
                                         std::uint64_t seed, double& norm) {
  const std::int64_t most = rows * columns / (rows + columns);  // of a rank that saves numbers, a little more at first
  Cross<T> cross(rows, columns, element);
  std::mt19937_64 random(seed);
  std::int64_t row = 0;
  double small = tolerance / 10;
  for (int round = 0; round < 8; ++round, small /= 10) {
    if (!cross.run(row, small, most)) return std::nullopt;
    const double left = cross.look(random, row);
    if (left <= 0.5 * tolerance * cross.norm()) {
      Block<T> block = cross.take();
      const double limit = tolerance * cross.norm();
      norm = truncate(block, 0.5 * limit, left);
      return block;
    }
    if (row < 0) break;
  }
  return std::nullopt;
}

#define TRN_CROSS(T)                                                                                             \
  template std::optional<Block<T>> compress_sampled(std::int64_t, std::int64_t,                                  \
                                                    const std::function<T(std::int64_t, std::int64_t)>&, double, \
                                                    std::uint64_t, double&);
TRN_SPARSE_SCALARS(TRN_CROSS)
#undef TRN_CROSS

}  // namespace trn::sparse::rank
