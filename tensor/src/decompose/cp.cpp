// CP decompositions: alternating least squares with line search, HALS, starts, and the compressed form.
//
// A sweep solves for each factor A_k = M_k V_k^+, M_k the MTTKRP and V_k the elementwise product of the other factors'
// Gram matrices. Grams and solves are in double for both types. Collinear factors make V_k singular: then directions
// with eigenvalues below rank 2^-50 of the largest are left out.
#include <trn/tensor/cp.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include <trn/core/error.hpp>
#include <trn/rand/normal.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/eigh.hpp>

#include "decompose/cp_device.hpp"
#include "decompose/cp_model.hpp"
#include "decompose/sketch.hpp"

namespace trn::tensor {

namespace {

// A V = M for a symmetric positive semidefinite V (rank x rank); M's rows are right-hand sides, and become A's.
void solve_gram(std::vector<double>& v, std::vector<double>& m, std::int64_t rank) {
  const Executor host = Executor::host();
  const std::int64_t n = static_cast<std::int64_t>(m.size()) / rank;
  const solver::Cholesky<double> cholesky(host, blas::Uplo::Lower, row_major(std::as_const(v), rank, rank));
  if (cholesky.report().outcome.ok() && cholesky.condition() < 0x1p44) {
    (void)cholesky.solve(row_major(m, n, rank).transposed());
    return;
  }
  std::vector<double> w(as_size(rank)), part(m.size());
  (void)solver::eigh<double>(host, row_major(v, rank, rank), VectorView<double>(host, w.data(), rank));
  const auto q = row_major(std::as_const(v), rank, rank);
  multiply<double>(Op::N, row_major(std::as_const(m), n, rank), Op::N, q, row_major(part, n, rank));
  const double least = static_cast<double>(rank) * 0x1p-50 * w.back();
  for (std::size_t i = 0; i < part.size(); ++i) {
    const double lambda = w[i % as_size(rank)];
    part[i] = lambda > least ? part[i] / lambda : 0;
  }
  multiply<double>(Op::N, row_major(std::as_const(part), n, rank), Op::T, q, row_major(m, n, rank));
}

template <RealScalar T> class CpSearch {
 public:
  // MTTKRPs are the device's where one is given, everything else is the host's.
  CpSearch(const Dense<T>& x, std::int64_t rank, const CpOptions& options, const DeviceMttkrp* device = nullptr)
      : mttkrp_(x), rank_(rank), options_(options), norm_(norm(std::span<const T>(x.values))), device_(device) {}

  // From these factors until the error settles.
  void run(CpModel<T> start) {
    model_ = std::move(start);
    iterations_ = 0;
    error_ = std::numeric_limits<double>::infinity();
    stop_ = StopReason::IterationLimit;
    grams_.clear();
    for (const auto& f : model_.factors) grams_.push_back(gram(f, rank_));
    std::optional<std::vector<T>> left;  // T_left of the present right factors, where it is known
    CpModel<T> before;
    int interval = 2, next_search = 5;
    while (iterations_ < options_.max_iterations) {
      ++iterations_;
      before = model_;
      const double last = error_;
      sweep(left);
      left.reset();
      balance();
      if (std::abs(last - error_) <= options_.tolerance || error_ == 0) {
        stop_ = StopReason::Converged;
        break;
      }
      if (options_.line_search && options_.method != CpMethod::Nonnegative && iterations_ >= next_search) {
        interval = extrapolate(before, left) ? 2 : std::min(16, 2 * interval);
        next_search = iterations_ + interval;
      }
    }
  }

  [[nodiscard]] const CpModel<T>& model() const { return model_; }
  [[nodiscard]] double relative_error() const { return error_; }
  [[nodiscard]] int iterations() const { return iterations_; }
  [[nodiscard]] StopReason stop() const { return stop_; }
  [[nodiscard]] const Mttkrp<T>& mttkrp() const { return mttkrp_; }

 private:
  [[nodiscard]] std::vector<double> other_grams(std::size_t mode) const {
    std::vector<double> v(as_size(rank_ * rank_), 1.0);
    for (std::size_t k = 0; k < grams_.size(); ++k) {
      if (k == mode) continue;
      for (std::size_t i = 0; i < v.size(); ++i) v[i] *= grams_[k][i];
    }
    return v;
  }

  void sweep(const std::optional<std::vector<T>>& known_left) {
    std::vector<T> side, m;
    for (std::size_t k = 0; k < mttkrp_.modes(); ++k) {
      if (device_ == nullptr) {
        if (k == 0) side = known_left ? *known_left : mttkrp_.side(model_, true);
        if (k == mttkrp_.split()) side = mttkrp_.side(model_, false);
        m = mttkrp_.mode(model_, side, k);
      } else {
        m = on_device(k);
      }
      if (options_.method == CpMethod::Nonnegative) {
        descend(m, k);
      } else {
        std::vector<double> v = other_grams(k), a(m.begin(), m.end());
        solve_gram(v, a, rank_);
        std::copy(a.begin(), a.end(), model_.factors[k].begin());
      }
      grams_[k] = gram(model_.factors[k], rank_);
    }
    error_ = relative_error(m, mttkrp_.modes() - 1);
  }

  [[nodiscard]] std::vector<T> on_device(std::size_t mode) const {
    if constexpr (std::same_as<T, float>) return device_->mode(model_, mode);
    fail<InternalError>("tensor.cp: an MTTKRP of float64 on a device");
  }

  // ||X||^2 - 2 <X, model> + ||model||^2, which is good to 1e-7 of ||X||; from the difference itself when small.
  [[nodiscard]] double relative_error(const std::vector<T>& m, std::size_t mode) const {
    if (norm_ == 0) return 0;
    double inner = 0, square = 0;
    for (std::size_t i = 0; i < m.size(); ++i)
      inner += static_cast<double>(m[i]) * static_cast<double>(model_.factors[mode][i]);
    const std::vector<double> v = other_grams(mode);
    for (std::size_t i = 0; i < v.size(); ++i) square += v[i] * grams_[mode][i];
    const double error = std::sqrt(std::max(0.0, norm_ * norm_ - 2 * inner + square)) / norm_;
    return error > (sizeof(T) == 8 ? 1e-5 : 0.02) ? error : mttkrp_.distance_to(model_) / norm_;
  }

  // HALS: column by column the nonnegative minimiser, the other columns fixed; twice over.
  void descend(const std::vector<T>& m, std::size_t mode) {
    const std::vector<double> v = other_grams(mode);
    std::vector<T>& a = model_.factors[mode];
    const auto r = as_size(rank_);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t c = 0; c < r; ++c) {
        if (v[c * r + c] <= 0) continue;
        for (std::size_t i = 0; i < a.size(); i += r) {
          double residual = m[i + c];
          for (std::size_t j = 0; j < r; ++j) residual -= v[c * r + j] * static_cast<double>(a[i + j]);
          a[i + c] = static_cast<T>(std::max(0.0, static_cast<double>(a[i + c]) + residual / v[c * r + c]));
        }
      }
    }
  }

  // The columns of all factors get the same norm, so that steps along differences make sense and nothing overflows.
  void balance() {
    const auto r = as_size(rank_);
    for (std::size_t c = 0; c < r; ++c) {
      double log = 0;
      bool zero = false;
      for (const auto& g : grams_) {
        zero |= !(g[c * r + c] > 0);
        if (!zero) log += std::log2(g[c * r + c]) / 2;
      }
      if (zero) continue;
      log /= static_cast<double>(grams_.size());
      for (std::size_t k = 0; k < grams_.size(); ++k) {
        const double factor = std::exp2(log - std::log2(grams_[k][c * r + c]) / 2);
        for (std::size_t i = c; i < model_.factors[k].size(); i += r) {
          model_.factors[k][i] = static_cast<T>(static_cast<double>(model_.factors[k][i]) * factor);
        }
      }
    }
    for (std::size_t k = 0; k < grams_.size(); ++k) grams_[k] = gram(model_.factors[k], rank_);
  }

  // A step s = iterations^(1/3) along the last change, kept if the error falls; T_left of the new point serves the next
  // sweep.
  bool extrapolate(const CpModel<T>& before, std::optional<std::vector<T>>& left) {
    const CpModel<T> present = model_;
    const auto grams = grams_;
    const double step = std::cbrt(static_cast<double>(iterations_));
    for (std::size_t k = 0; k < grams_.size(); ++k) {
      for (std::size_t i = 0; i < model_.factors[k].size(); ++i) {
        model_.factors[k][i] += static_cast<T>(step) * (present.factors[k][i] - before.factors[k][i]);
      }
      grams_[k] = gram(model_.factors[k], rank_);
    }
    std::vector<T> side;
    if (device_ == nullptr) side = mttkrp_.side(model_, true);
    const double error = relative_error(device_ == nullptr ? mttkrp_.mode(model_, side, 0) : on_device(0), 0);
    if (error < error_) {
      error_ = error;
      if (device_ == nullptr) left = std::move(side);
      return true;
    }
    model_ = present, grams_ = grams;
    return false;
  }

  Mttkrp<T> mttkrp_;
  std::int64_t rank_;
  const CpOptions& options_;
  double norm_;
  const DeviceMttkrp* device_;
  CpModel<T> model_;
  std::vector<std::vector<double>> grams_;
  int iterations_ = 0;
  double error_ = 0;
  StopReason stop_ = StopReason::IterationLimit;
};

template <RealScalar T> std::vector<T> normals(std::int64_t size, std::uint64_t seed, std::uint64_t stream) {
  rand::Generator generator({.seed = seed, .stream = stream});
  std::vector<T> values(as_size(size));
  rand::normal(Executor::host(), generator, View<T>(Executor::host(), values.data(), {size}));
  return values;
}

// Random factors; for the first start their leading columns span the sketched ranges of the unfoldings.
template <RealScalar T>
CpModel<T> start_model(const Dense<T>& x, std::int64_t rank, const CpOptions& options, int start) {
  CpModel<T> model{{}, rank};
  for (std::int64_t k = 0; k < x.rank(); ++k) {
    const std::int64_t n = x.shape[as_size(k)];
    const auto stream = static_cast<std::uint64_t>(1000 + start * x.rank() + k);
    std::vector<T> f = normals<T>(n * rank, options.seed, stream);
    if (start == 0) {
      const TuckerOptions sketch{.seed = options.seed, .oversampling = 4, .power = 1};
      const std::vector<T> range = sketched_range(x, k, std::min(rank, n), sketch);
      const std::int64_t columns = static_cast<std::int64_t>(range.size()) / n;
      for (std::int64_t i = 0; i < n; ++i) std::copy_n(range.data() + i * columns, columns, f.data() + i * rank);
    }
    if (options.method == CpMethod::Nonnegative) {
      for (T& v : f) v = std::abs(v);
    }
    model.factors.push_back(std::move(f));
  }
  return model;
}

// ALS on the core of a randomised Tucker decomposition; its factors times the orthonormal bases begin the search on X.
template <RealScalar T>
CpModel<T> compressed_model(const Dense<T>& x, std::int64_t rank, const CpOptions& options, int start) {
  TuckerOptions compress{.method = TuckerMethod::Randomized, .seed = options.seed};
  for (const std::int64_t n : x.shape) compress.ranks.push_back(std::min(n, rank));
  const Executor host = Executor::host();
  const Tucker<T> t = tucker<T>(host, View<const T>(host, x.values.data(), x.shape), compress);
  Dense<T> core(t.core.shape());
  core.values = t.core.to_host();
  CpOptions als = options;
  als.method = CpMethod::Als;
  CpSearch<T> search(core, rank, als);
  search.run(start_model(core, rank, als, start));
  CpModel<T> model{{}, rank};
  for (std::size_t k = 0; k < x.shape.size(); ++k) {
    std::vector<T> f(as_size(x.shape[k] * rank));
    multiply<T>(Op::N, t.factors[k].view(), Op::N, row_major(search.model().factors[k], core.shape[k], rank),
                row_major(f, x.shape[k], rank));
    model.factors.push_back(std::move(f));
  }
  return model;
}

// Columns of norm 1, weights descending.
template <RealScalar T> std::vector<T> normalised(CpModel<T>& model) {
  const auto r = as_size(model.rank);
  std::vector<double> weights(r, 1.0);
  for (auto& f : model.factors) {
    for (std::size_t c = 0; c < r; ++c) {
      double most = 0, sum = 0;
      for (std::size_t i = c; i < f.size(); i += r) most = std::max(most, static_cast<double>(std::abs(f[i])));
      if (most > 0) {
        for (std::size_t i = c; i < f.size(); i += r) sum += (f[i] / most) * (f[i] / most);
      }
      const double length = most * std::sqrt(sum);
      weights[c] *= length;
      if (length == 0)
        f[c] = T(1);
      else
        for (std::size_t i = c; i < f.size(); i += r) f[i] = static_cast<T>(f[i] / length);
    }
  }
  std::vector<std::size_t> order(r);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  for (auto& f : model.factors) {
    const std::vector<T> old = f;
    for (std::size_t i = 0; i < f.size(); i += r) {
      for (std::size_t c = 0; c < r; ++c) f[i + c] = old[i + order[c]];
    }
  }
  std::vector<T> sorted(r);
  for (std::size_t c = 0; c < r; ++c) sorted[c] = static_cast<T>(weights[order[c]]);
  return sorted;
}

// The weights go into the first factor.
template <RealScalar T> CpModel<T> weighted(CpModel<T> model, const std::vector<T>& weights) {
  for (std::size_t i = 0; i < model.factors[0].size(); ++i) model.factors[0][i] *= weights[i % weights.size()];
  return model;
}

template <RealScalar T> Cp<T> result_of(const Executor& executor, const Shape& shape, const CpModel<T>& model,
                                        std::vector<T> weights, const DecompositionReport& report) {
  Cp<T> result{std::move(weights), {}, report};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    result.factors.push_back(to_matrix(executor, model.factors[k], shape[k]));
  }
  return result;
}

}  // namespace

template <RealScalar T> Cp<T> cp(const Executor& executor, const std::type_identity_t<View<const T>>& x,
                                 std::int64_t rank, const CpOptions& options) {
  constexpr const char* operation = "tensor.cp";
  const bool on_device = executor.family() == Family::Device;
  if (on_device && !std::same_as<T, float>)
    fail<NotImplemented>("{}: {} has no kernels for float64; use float32, or the host executor", operation,
                         executor.name());
  const Dense<T> dense = downloaded(operation, executor, x);
  require(dense.rank() >= 2, "{}: X has {} dimension; CP takes two or more", operation, dense.rank());
  require(rank >= 1, "{}: rank is {}; it must be >= 1", operation, rank);
  require(options.tolerance >= 0, "{}: a tolerance of {}; it must be >= 0", operation, options.tolerance);
  require(options.starts >= 1 && options.max_iterations >= 1, "{}: {} starts of {} iterations; both must be >= 1",
          operation, options.starts, options.max_iterations);
  if (!all_finite(std::span<const T>(dense.values))) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    CpModel<T> model{{}, rank};
    for (const std::int64_t n : dense.shape) model.factors.emplace_back(as_size(n * rank), nan);
    return result_of(executor, dense.shape, model, std::vector<T>(as_size(rank), nan), not_finite_report());
  }
  // Elements of order 1, so that squares neither overflow nor vanish.
  T most = 0;
  for (const T& v : dense.values) most = std::max(most, std::abs(v));
  const T scale = most > 0 ? std::exp2(T(std::ilogb(most))) : T(1);
  Dense<T> scaled = dense;
  for (T& v : scaled.values) v /= scale;
  std::optional<DeviceMttkrp> device;
  if constexpr (std::same_as<T, float>) {
    if (on_device) device.emplace(executor, scaled, rank);
  }
  CpSearch<T> search(scaled, rank, options, device ? &*device : nullptr);
  CpModel<T> best;
  DecompositionReport report;
  double error = std::numeric_limits<double>::infinity();
  for (int start = 0; start < options.starts && error > options.enough; ++start) {
    search.run(options.method == CpMethod::Randomized ? compressed_model(scaled, rank, options, start)
                                                      : start_model(scaled, rank, options, start));
    report.iterations += search.iterations();
    if (!(search.relative_error() < error)) continue;
    error = search.relative_error(), best = search.model(), report.stop_reason = search.stop();
  }
  ensure(!best.factors.empty(), "{}: no start gave a finite error", operation);
  std::vector<T> weights = normalised(best);
  for (T& w : weights) w *= scale;
  // |computed - exact| <= (rank + modes) u sum of |weight a b c ..|; each term has the norm of its weight.
  const double terms = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto roundings = static_cast<double>(rank + dense.rank() + 3);
  measure_error(dense, search.mttkrp().expand(weighted(best, weights)), roundings * kUnitRoundoff<T> * terms, report);
  return result_of(executor, dense.shape, best, std::move(weights), report);
}

template <RealScalar T> Array<T> reconstruct(const Executor& executor, const Cp<T>& c) {
  constexpr const char* operation = "tensor.reconstruct";
  require(c.factors.size() >= 2, "{}: {} factors; CP has two or more", operation, c.factors.size());
  CpModel<T> model{{}, static_cast<std::int64_t>(c.weights.size())};
  Dense<T> shape;
  for (const Matrix<T>& f : c.factors) {
    require(f.columns() == model.rank, "{}: a factor has {} columns for {} weights", operation, f.columns(),
            model.rank);
    shape.shape.push_back(f.rows());
    model.factors.push_back(f.to_host());
  }
  shape.values.resize(as_size(element_count(shape.shape)));
  return to_array(executor, Mttkrp<T>(shape).expand(weighted(std::move(model), c.weights)));
}

#define TRN_INSTANTIATE(T)                                                                     \
  template Cp<T> cp<T>(const Executor&, const View<const T>&, std::int64_t, const CpOptions&); \
  template Array<T> reconstruct<T>(const Executor&, const Cp<T>&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::tensor
