// Spectral divide and conquer: see spectral_division.hpp.
#include "device/spectral_division.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <trn/solver/sign_program.hpp>
#include <trn/solver/split_program.hpp>
#include <trn/tile/launch.hpp>

#include "device/orthonormal_columns.hpp"
#include "device/resident_sign.hpp"
#include "device/sign_iteration.hpp"
#include "device/small_halves.hpp"

namespace trn::solver::device {

namespace {

constexpr std::int64_t kTile = 128;
constexpr int kMostTrials = 8;
constexpr double kUnit = 0x1p-24, kOrthonormal = 0.004;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A symmetric matrix of order k in device memory: a window of something larger, whose padded(k) rows and columns from
// here on are allocated and finite.
struct Window {
  std::shared_ptr<const Matrix<float>> memory;
  std::int64_t first = 0, k = 0;
  [[nodiscard]] const float* data() const { return memory->data() + first * (memory->columns() + 1); }
  [[nodiscard]] std::int64_t stride() const { return memory->columns(); }
};

// A half, its two halves, and the rows of the basis that lead to each of them.
struct Half {
  std::int64_t k = 0, index = 0;  // order, number of its lowest eigenvalue
  int depth = 0;
  bool converged = true;
  std::int64_t tile = -1;                            // its number among the small ones
  std::optional<Matrix<float>> unit;                 // eigenvectors are unit vectors
  std::unique_ptr<Half> low, high;                   // where entered
  std::optional<Matrix<float>> low_rows, high_rows;  // Q^T of the half; or, if `columns`, Q
  std::int64_t low_first = 0;                        // its first row in high_rows, when that has both
  bool columns = false;
};

// Rows of eigenvectors.
struct Part {
  bool converged = true;
  std::int64_t begin = 0, count = 0;
  MatrixView<const float> rows;
};

class Divider {
 public:
  Divider(const Executor& executor, const Wanted& wanted, std::int64_t resident)
      : executor_(executor), resident_(resident), state_{executor, wanted} {}

  Division run(const Matrix<float>& a, std::int64_t n) {
    const std::shared_ptr<const Matrix<float>> borrowed(std::shared_ptr<void>(), &a);
    const std::unique_ptr<Half> root = descend({borrowed, 0, n}, 0, 0);
    small_results_ = divide_small(state_, small_, state_.depth, kept_);
    const Part all = ascend(*root);
    Matrix<float> vectors(executor_, all.rows.rows(), all.rows.columns());
    move(all.rows, vectors.view());
    return {all.converged, all.begin, all.count, std::move(vectors), state_.steps, state_.depth};
  }

 private:
  std::unique_ptr<Half> descend(const Window& a, std::int64_t index, int depth) {
    auto half = std::make_unique<Half>();
    half->k = a.k, half->index = index, half->depth = depth;
    state_.depth = std::max(state_.depth, depth);
    if (a.k <= kTile) {
      half->tile = static_cast<std::int64_t>(small_.size());
      small_.push_back({a.data(), a.stride(), a.k, index});
      kept_windows_.push_back(a.memory);
    } else {
      divide_large(*half, a);
    }
    return half;
  }

  void divide_large(Half& half, const Window& a) {
    const std::int64_t k = a.k, n = padded(k);
    Matrix<float> w(executor_, n, n);
    const std::vector<float> sums = windowed(a, w);
    const auto value = [&](std::int64_t which, std::int64_t i) { return sums[at(which * n + i)]; };
    std::vector<float> d;
    double mean = 0;
    for (std::int64_t i = 0; i < k; ++i) d.push_back(value(2, i)), mean += d.back();
    mean /= static_cast<double>(k);
    // ||A - sigma I||_2 <= min(||.||_F, ||.||_1), from the rows' sums.
    const auto size_at = [&](double sigma) {
      double squares = 0, most = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        const double x = value(2, i), shifted = x - sigma;
        squares += std::max(0.0, value(1, i) - x * x) + shifted * shifted;
        most = std::max(most, std::max(0.0, value(0, i) - std::abs(x)) + std::abs(shifted));
      }
      return std::min(std::sqrt(squares), most);
    };
    double sigma = middle(d);
    if (state_.negligible == 0) state_.negligible = 4 * kUnit * (size_at(sigma) + std::abs(sigma));
    for (int trial = 0; trial < kMostTrials; ++trial) {
      const double size = size_at(sigma);
      if (size <= state_.negligible) return unit(half, d);
      std::int64_t above = -1;  // not known
      if (n <= resident_ ? split_resident(half, w, k, sigma, above) : split_large(half, w, k, d, sigma, above)) return;
      if (trial == 0 && (above == 0 || above == k))
        sigma = mean;  // all on one side: the mean of the eigenvalues is between them
      else             // an eigenvalue at sigma to the last bit: elsewhere, a little at first
        sigma += (state_.random.uniform() < 0.5 ? -1 : 1) * size * std::ldexp(1 + state_.random.uniform(), trial - 10);
    }
    half.converged = false;
    half.unit = zeros(executor_, n, n);
  }

  // W = the window with zeros around; sums of its rows as window_program.hpp has them.
  std::vector<float> windowed(const Window& a, const Matrix<float>& w) {
    const std::int64_t n = w.rows();
    std::vector<float> live(at(n));
    std::fill_n(live.begin(), a.k, 1.0F);
    const Array<float> there = Array<float>::from_host(executor_, {n}, live), sums(executor_, {3, n});
    tile::launch(executor_, window_program, WindowShape{n, a.stride()},
                 {{"a", a.data()}, {"live", there.data()}, {"w", w.data()}, {"sums", sums.data()}});
    return sums.to_host();
  }

  // A - sigma I is negligible: any basis has the eigenvectors; the unit vectors in the order of the diagonal.
  void unit(Half& half, const std::vector<float>& d) {
    const auto k = static_cast<std::int64_t>(d.size()), size = padded(k);
    std::vector<std::int64_t> order(d.size());
    for (std::int64_t i = 0; i < k; ++i) order[at(i)] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return d[at(i)] < d[at(j)]; });
    std::vector<float> rows(at(size * size));
    for (std::int64_t j = 0; j < k; ++j) rows[at(j * size + order[at(j)])] = 1;
    half.unit = Matrix<float>::from_host(executor_, size, size, rows);
  }

  [[nodiscard]] bool wants_low(const Half& half, std::int64_t below, double sigma) const {
    return state_.wanted.first < half.index + below && state_.wanted.lo <= sigma + 64 * state_.negligible;
  }
  [[nodiscard]] bool wants_high(const Half& half, std::int64_t below, double sigma) const {
    return state_.wanted.last > half.index + below && state_.wanted.hi >= sigma - 64 * state_.negligible;
  }

  // Two programs. Q^T and Q^T A Q get kTile + 1 rows of zeros behind them: the windows of halves reach beyond the end.
  bool split_resident(Half& half, const Matrix<float>& w, std::int64_t k, double sigma, std::int64_t& above) {
    const std::int64_t n = w.rows();
    const ResidentShape shape{n, 1};
    std::vector<float> ids(at(n)), shift(at(n)), order(at(n)), g(at(n * n));
    const double norm = 2 * std::sqrt(static_cast<double>(k)) + 5;
    for (std::int64_t i = 0; i < n; ++i) {
      const bool live = i < k;
      ids[at(i)] = live ? 0.0F : static_cast<float>(-1 - i);
      shift[at(i)] = live ? static_cast<float>(sigma) : -1.0F;
      order[at(i)] = live ? static_cast<float>(k - 2 * i - 1) : 1e6F;
      for (std::int64_t j = 0; live && j < k; ++j) g[at(i * n + j)] = static_cast<float>(state_.random() / (2 * norm));
      if (!live) g[at(i * n + i)] = 0.5F;
    }
    const std::vector<DiagonalBlock> block{{0, 0, k}};
    const ResidentSigns signs = resident_signs(executor_, shape, w.data(), ids, shift, block);
    state_.steps += signs.steps;
    if (!(signs.distances[0] < ResidentSigns::kNear)) return false;

    const auto with_zeros = [&] {
      Matrix<float> m(executor_, n + kTile + 1, n);
      move(zeros(Executor::host(), kTile + 1, n).view(), m.view().block(n, 0, kTile + 1, n));
      return m;
    };
    Matrix<float> a_out = with_zeros(), rows = with_zeros();
    const Array<float> trace(executor_, {n}), departure(executor_, {n});
    const Array<float> there_g = Array<float>::from_host(executor_, {n, n}, g),
                       there_ids = Array<float>::from_host(executor_, {n}, ids),
                       there_order = Array<float>::from_host(executor_, {n}, order);
    tile::launch(executor_, split_program, SplitShape{n, 1, SplitResult::Basis},
                 {{"a", w.data()},
                  {"s", signs.s.data()},
                  {"g", there_g.data()},
                  {"ids", there_ids.data()},
                  {"order", there_order.data()},
                  {"a_out", a_out.data()},
                  {"rows_out", rows.data()},
                  {"trace", trace.data()},
                  {"departure", departure.data()}});
    above = static_cast<std::int64_t>(std::llround((static_cast<double>(k) + trace.to_host()[0]) / 2));
    const double departs = std::sqrt(block_sums(shape, departure.to_host(), block)[0]);
    if (!(above > 0 && above < k) || !(departs < kOrthonormal)) {
      if (!(departs < kOrthonormal)) above = -1;
      return false;
    }
    const std::int64_t below = k - above;
    const auto memory = std::make_shared<const Matrix<float>>(std::move(a_out));
    half.high_rows = std::move(rows), half.low_first = above;
    if (wants_low(half, below, sigma)) half.low = descend({memory, above, below}, half.index, half.depth + 1);
    if (wants_high(half, below, sigma)) half.high = descend({memory, 0, above}, half.index + below, half.depth + 1);
    return true;
  }

  // By trnblas's operations, the projectors one after the other.
  bool split_large(Half& half, const Matrix<float>& w, std::int64_t k, const std::vector<float>& d, double sigma,
                   std::int64_t& above) {
    Matrix<float> x(executor_, w.rows(), w.rows());
    blas::copy<float>(executor_, flat(w), flat(x));
    std::vector<float> shifted = d;
    for (float& value : shifted) value = static_cast<float>(value - sigma);
    set_diagonal(x, shifted);
    const Iterated s = sign(executor_, x, k);
    state_.steps += s.steps;
    if (!s.converged) return false;
    double trace = 0;
    for (const float value : diagonal_of(x, k)) trace += value;
    above = static_cast<std::int64_t>(std::llround((static_cast<double>(k) + trace) / 2));
    if (above <= 0 || above >= k) return false;
    const std::int64_t below = k - above;
    half.columns = true;
    projector(x, k, 0.5, 0.5F);
    const bool low = wants_low(half, below, sigma), high = wants_high(half, below, sigma);
    if (high && !(half.high_rows = basis(x, k, above))) return false;
    projector(x, k, -1, 1.0F);
    if (low && !(half.low_rows = basis(x, k, below))) return false;
    const auto enter = [&](const Matrix<float>& q, std::int64_t order, std::int64_t index) {
      return descend({std::make_shared<const Matrix<float>>(compressed(w, q)), 0, order}, index, half.depth + 1);
    };
    if (low) half.low = enter(*half.low_rows, below, half.index);
    if (high) half.high = enter(*half.high_rows, above, half.index + below);
    return true;
  }

  // An orthonormal basis of the range of P, which has k rows and this rank.
  std::optional<Matrix<float>> basis(const Matrix<float>& p, std::int64_t k, std::int64_t rank) {
    const std::int64_t rows = p.rows(), columns = padded(rank);
    Matrix<float> q = gaussian(k, rank, rows, columns, state_.random).to(executor_), y(executor_, rows, columns);
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

  // The eigenvectors of a half out of those of its halves.
  Part ascend(const Half& half) {
    const std::int64_t n = padded(half.k);
    if (half.tile >= 0) {
      const SmallResult& r = small_results_[at(half.tile)];
      return {r.converged, r.begin, r.count, r.rows};
    }
    if (half.unit) return {half.converged, half.index, half.k, half.unit->view()};
    std::optional<Part> low, high;
    if (half.low) low = ascend(*half.low);
    if (half.high) high = ascend(*half.high);
    const std::int64_t first = low ? low->count : 0, second = high ? high->count : 0;
    const std::int64_t written = first + padded(std::max<std::int64_t>(second, 1));
    const std::int64_t room = padded(std::max<std::int64_t>(first + second, 1));
    vectors_.push_back(zeros(executor_, std::max(room, written), n));
    const Matrix<float>& vectors = vectors_.back();
    const auto place = [&](const Part& part, const Matrix<float>& q, std::int64_t from, std::int64_t to) {
      if (part.count == 0) return;
      const std::int64_t count = padded(part.count), size = part.rows.columns();
      const MatrixView<float> into = vectors.view().block(to, 0, count, n);
      if (half.columns)
        product(executor_, Op::N, Op::T, 1, part.rows.block(0, 0, count, size), q.view(), 0, into);
      else
        product(executor_, Op::N, Op::N, 1, part.rows.block(0, 0, count, size), q.view().block(from, 0, size, n), 0,
                into);
    };
    if (low) place(*low, half.columns ? *half.low_rows : *half.high_rows, half.low_first, 0);
    if (high) place(*high, *half.high_rows, 0, first);
    const std::int64_t begin = low ? low->begin : high ? high->begin : half.index;
    return {(!low || low->converged) && (!high || high->converged), begin, first + second, vectors.view()};
  }

  const Executor& executor_;
  std::int64_t resident_;
  DivisionState state_;
  std::vector<SmallHalf> small_;
  std::vector<std::shared_ptr<const Matrix<float>>> kept_windows_;
  std::vector<SmallResult> small_results_;
  std::vector<Array<float>> kept_;
  std::vector<Matrix<float>> vectors_;
};

}  // namespace

Division divide(const Executor& executor, const Matrix<float>& a, std::int64_t n, const Wanted& wanted,
                std::int64_t resident) {
  if (resident == 0) resident = resident_order(tile::device_of(executor).machine());
  return Divider(executor, wanted, resident).run(a, n);
}

}  // namespace trn::solver::device
