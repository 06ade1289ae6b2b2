// Spectral divide and conquer: see spectral_division.hpp.
#include "device/spectral_division.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "device/orthonormal_columns.hpp"
#include "device/random_matrix.hpp"
#include "device/sign_iteration.hpp"
#include "kernels/drivers.hpp"

namespace trn::solver::device {

namespace {

constexpr std::int64_t kLeaf = 16;
constexpr int kMostTrials = 8;
constexpr double kUnit = 0x1p-24;

// sigma: the middle of the largest gap between diagonal elements, among those around the median. On a matrix that is
// nearly diagonal it falls between eigenvalues; on any other it is about the median.
double middle(std::vector<float> d) {
  std::sort(d.begin(), d.end());
  const auto k = static_cast<std::int64_t>(d.size());
  const std::int64_t from = std::max<std::int64_t>(k * 2 / 5, 1), until = std::max(from, k * 3 / 5);
  double best = -1, at = 0;
  for (std::int64_t i = from; i <= until && i < k; ++i) {
    const double low = d[static_cast<std::size_t>(i - 1)], high = d[static_cast<std::size_t>(i)];
    if (high - low > best) best = high - low, at = (low + high) / 2;
  }
  return at;
}

class Divider {
 public:
  explicit Divider(const Executor& executor) : executor_(executor) {}

  Division run(const Matrix<float>& a, std::int64_t k, const Wanted& wanted, int depth = 0) {
    depth_ = std::max(depth_, depth);
    if (k <= kLeaf) return leaf(a, k);
    const std::vector<float> d = diagonal_of(a, k);
    double mean = 0;
    for (const float x : d) mean += x;
    mean /= static_cast<double>(k);
    double sigma = middle(d);
    for (int trial = 0; trial < kMostTrials; ++trial) {
      Matrix<float> x(executor_, a.rows(), a.rows());
      blas::copy<float>(executor_, flat(a), flat(x));
      std::vector<float> shifted = d;
      for (float& value : shifted) value = static_cast<float>(value - sigma);
      set_diagonal(x, shifted);
      const Iterated s = sign(executor_, x, k, negligible_);
      steps_ += s.steps;
      if (depth == 0 && trial == 0) negligible_ = 4 * kUnit * (s.size + std::abs(sigma));
      if (s.size <= negligible_) return unit(d);
      if (s.converged) {
        double trace = 0;
        for (const float value : diagonal_of(x, k)) trace += value;
        const auto above = static_cast<std::int64_t>(std::llround((static_cast<double>(k) + trace) / 2));
        if (above > 0 && above < k) {
          if (std::optional<Division> split = halves(a, x, k, above, sigma, wanted, depth)) return std::move(*split);
        } else if (trial == 0) {  // all on one side: the mean of the eigenvalues is between them
          sigma = mean;
          continue;
        }
      }
      // An eigenvalue at sigma to the last bit: elsewhere, a little at first.
      sigma += (random_.uniform() < 0.5 ? -1 : 1) * s.size * std::ldexp(1 + random_.uniform(), trial - 10);
    }
    return failed(a, k);
  }

  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] int depth() const { return depth_; }

 private:
  // Eigenvectors as rows, on the host in double.
  Division leaf(const Matrix<float>& a, std::int64_t k) {
    const Matrix<float> small = on_host(a.view());
    host::Columns<double> v(k, k);
    for (std::int64_t i = 0; i < k; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) v(i, j) = host::element(small.view(), i, j);
    }
    std::vector<double> w(static_cast<std::size_t>(k));
    std::int64_t found = 0;
    const Outcome outcome = host::eigh<double>(
        Executor::host(), {v.view(), VectorView<double>(Executor::host(), w.data(), k), EighOptions{}, &found});
    if (!outcome.ok()) return failed(a, k);
    std::vector<float> rows(static_cast<std::size_t>(a.rows() * a.rows()));
    for (std::int64_t j = 0; j < k; ++j) {
      for (std::int64_t i = 0; i < k; ++i)
        rows[static_cast<std::size_t>(j * a.rows() + i)] = static_cast<float>(v(i, j));
    }
    return {true, 0, k, Matrix<float>::from_host(executor_, a.rows(), a.rows(), rows)};
  }
  // A - sigma I is negligible: any basis has the eigenvectors; the unit vectors in the order of the diagonal.
  Division unit(const std::vector<float>& d) {
    const auto k = static_cast<std::int64_t>(d.size()), size = padded(k);
    std::vector<std::int64_t> order(d.size());
    for (std::int64_t i = 0; i < k; ++i) order[static_cast<std::size_t>(i)] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      return d[static_cast<std::size_t>(i)] < d[static_cast<std::size_t>(j)];
    });
    std::vector<float> rows(static_cast<std::size_t>(size * size));
    for (std::int64_t j = 0; j < k; ++j)
      rows[static_cast<std::size_t>(j * size + order[static_cast<std::size_t>(j)])] = 1;
    return {true, 0, k, Matrix<float>::from_host(executor_, size, size, rows)};
  }
  Division failed(const Matrix<float>& a, std::int64_t k) {
    return {false, 0, k, zeros(executor_, a.rows(), a.rows())};
  }

  // An orthonormal basis of the range of P, which has k rows and this rank.
  std::optional<Matrix<float>> basis(const Matrix<float>& p, std::int64_t k, std::int64_t rank) {
    const std::int64_t rows = p.rows(), columns = padded(rank);
    Matrix<float> q = gaussian(k, rank, rows, columns, random_).to(executor_), y(executor_, rows, columns);
    product(executor_, Op::N, Op::N, 1, p.view(), q.view(), 0, y.view());
    if (!orthonormalise(executor_, y, rank)) return {};
    product(executor_, Op::N, Op::N, 1, p.view(), y.view(), 0, q.view());
    if (!orthonormalise(executor_, q, rank)) return {};
    return q;
  }

  // S becomes P = (I + sign S) / 2.
  void projector(const Matrix<float>& s, std::int64_t k, double factor, float more) {
    scale(s, factor);
    std::vector<float> d = diagonal_of(s, k);
    for (float& value : d) value += more;
    set_diagonal(s, d);
  }

  std::optional<Division> halves(const Matrix<float>& a, const Matrix<float>& s, std::int64_t k, std::int64_t above,
                                 double sigma, const Wanted& wanted, int depth) {
    const std::int64_t below = k - above;
    const double reach = 64 * negligible_;
    const bool enter_low = wanted.first < below && wanted.lo <= sigma + reach;
    const bool enter_high = wanted.last > below && wanted.hi >= sigma - reach;
    std::optional<Matrix<float>> high, low;
    projector(s, k, 0.5, 0.5F);
    if (enter_high && !(high = basis(s, k, above))) return {};
    projector(s, k, -1, 1.0F);
    if (enter_low && !(low = basis(s, k, below))) return {};
    std::optional<Division> lower, upper;
    if (enter_low) {
      lower = run(compressed(a, *low), below, {wanted.first, std::min(wanted.last, below), wanted.lo, wanted.hi},
                  depth + 1);
    }
    if (enter_high) {
      upper =
          run(compressed(a, *high), above,
              {std::max<std::int64_t>(wanted.first - below, 0), wanted.last - below, wanted.lo, wanted.hi}, depth + 1);
    }
    const std::int64_t rows = a.rows();
    const std::int64_t first = lower ? lower->count : 0, second = upper ? upper->count : 0;
    const std::int64_t written = first + padded(std::max<std::int64_t>(second, 1));
    const std::int64_t room = padded(std::max<std::int64_t>(first + second, 1));
    Matrix<float> vectors = zeros(executor_, std::max(room, written), rows);
    const auto place = [&](const Division& part, const Matrix<float>& q, std::int64_t at) {
      if (part.count == 0) return;
      const std::int64_t count = padded(part.count);
      product(executor_, Op::N, Op::T, 1, part.vectors.view().block(0, 0, count, part.vectors.columns()), q.view(), 0,
              vectors.view().block(at, 0, count, rows));
    };
    if (lower) place(*lower, *low, 0);
    if (upper) place(*upper, *high, first);
    const std::int64_t begin = lower ? lower->begin : below + (upper ? upper->begin : 0);
    return Division{(!lower || lower->converged) && (!upper || upper->converged), begin, first + second,
                    std::move(vectors)};
  }

  // Q^T A Q.
  Matrix<float> compressed(const Matrix<float>& a, const Matrix<float>& q) {
    const std::int64_t size = q.columns();
    const Matrix<float> t(executor_, a.rows(), size), low(executor_, size, size);
    Matrix<float> full(executor_, size, size);
    product(executor_, Op::N, Op::N, 1, a.view(), q.view(), 0, t.view());
    symmetric_product(executor_, Op::T, 1, q, t, 0, low);
    expand(executor_, low, full);
    return full;
  }

  const Executor& executor_;
  Gaussian random_{20240607};
  double negligible_ = 0;
  int steps_ = 0, depth_ = 0;
};

}  // namespace

Division divide(const Executor& executor, const Matrix<float>& a, std::int64_t n, const Wanted& wanted) {
  Divider divider(executor);
  Division all = divider.run(a, n, wanted);
  all.steps = divider.steps(), all.depth = divider.depth();
  return all;
}

}  // namespace trn::solver::device
