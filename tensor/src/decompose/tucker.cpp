// Tucker decompositions: HOSVD, sequentially truncated HOSVD, HOOI, and ranges from sketches.
#include <trn/tensor/tucker.hpp>

#include <algorithm>
#include <limits>

#include <trn/core/error.hpp>

#include "decompose/dense.hpp"
#include "decompose/sketch.hpp"

namespace trn::tensor {

namespace {

template <Scalar T> class TuckerSearch {
 public:
  TuckerSearch(Dense<T> x, const TuckerOptions& options) : x_(std::move(x)), options_(options) {
    norm_ = norm(std::span<const T>(x_.values));
    const auto modes = as_size(x_.rank());
    factors_.resize(modes);
    tails_.resize(modes);
  }

  Tucker<T> run(const Executor& executor) {
    if (options_.method == TuckerMethod::Hosvd) {
      hosvd();
    } else {
      truncated();
    }
    if (options_.method == TuckerMethod::Hooi) hooi();
    if (options_.method != TuckerMethod::Randomized) {
      for (const double tail : tails_) report_.discarded = std::hypot(report_.discarded, tail);
    }
    // Each product rounds by (r + 3) u |A||B|, and the norms of the matrices are sqrt(r): first order in u.
    Dense<T> y = core_;
    double growth = norm(std::span<const T>(core_.values)), roundings = 0;
    for (std::int64_t k = 0; k < x_.rank(); ++k) {
      y = mode_product(y, k, Op::N, factor(k));
      const auto r = static_cast<double>(core_.shape[as_size(k)]);
      growth *= std::sqrt(r), roundings += r + 3;
    }
    measure_error(x_, y, (ComplexScalar<T> ? 3 : 1) * roundings * kUnitRoundoff<T> * growth, report_);
    Tucker<T> result{to_array(executor, core_), {}, report_};
    for (std::int64_t k = 0; k < x_.rank(); ++k) {
      result.factors.push_back(to_matrix(executor, factors_[as_size(k)], x_.shape[as_size(k)]));
    }
    return result;
  }

 private:
  MatrixView<const T> factor(std::int64_t k) const {
    const auto& f = factors_[as_size(k)];
    const std::int64_t n = x_.shape[as_size(k)];
    return row_major(f, n, static_cast<std::int64_t>(f.size()) / n);
  }
  [[nodiscard]] std::int64_t asked(std::int64_t k) const {
    return options_.ranks.empty() ? 0 : options_.ranks[as_size(k)];
  }

  // U_k: the leading left singular vectors of y's unfolding.
  void set_factor(const Dense<T>& y, std::int64_t k, std::int64_t rank) {
    Dense<T> w = mode_first(y, k);
    const std::int64_t n = y.shape[as_size(k)];
    const LeftVectors<T> left = left_vectors(w.values, n, w.size() / n);
    ensure(left.ok, "tensor.tucker: the SVD of unfolding {} did not converge", k);
    std::int64_t r = std::min<std::int64_t>(rank, static_cast<std::int64_t>(left.singular_values.size()));
    tails_[as_size(k)] = tail_norm(left.singular_values, r);
    if (rank == 0) {
      const double share = options_.epsilon * norm_ / std::sqrt(static_cast<double>(x_.rank()));
      std::tie(r, tails_[as_size(k)]) = truncation(left.singular_values, share);
    }
    factors_[as_size(k)] = first_columns(left.u, n, r);
  }

  void hosvd() {
    for (std::int64_t k = 0; k < x_.rank(); ++k) set_factor(x_, k, asked(k));
    core_ = x_;
    for (std::int64_t k = 0; k < x_.rank(); ++k) core_ = mode_product(core_, k, Op::C, factor(k));
  }

  void truncated() {
    core_ = x_;
    for (std::int64_t k = 0; k < x_.rank(); ++k) {
      if (options_.method == TuckerMethod::Randomized) {
        factors_[as_size(k)] = sketched_range(core_, k, asked(k), options_);
      } else {
        set_factor(core_, k, asked(k));
      }
      core_ = mode_product(core_, k, Op::C, factor(k));
    }
  }

  void hooi() {
    report_.stop_reason = StopReason::IterationLimit;
    const Shape ranks = core_.shape;
    double before = norm(std::span<const T>(core_.values));
    while (report_.iterations < options_.max_iterations) {
      ++report_.iterations;
      for (std::int64_t k = 0; k < x_.rank(); ++k) {
        core_ = x_;
        for (std::int64_t j = 0; j < x_.rank(); ++j) {
          if (j != k) core_ = mode_product(core_, j, Op::C, factor(j));
        }
        set_factor(core_, k, ranks[as_size(k)]);
        core_ = mode_product(core_, k, Op::C, factor(k));
      }
      const double now = norm(std::span<const T>(core_.values));
      if (std::abs(now - before) <= options_.tolerance * norm_) {
        report_.stop_reason = StopReason::Converged;
        break;
      }
      before = now;
    }
    // What the core lacks of X; the tails of the last factors belong to other tensors.
    std::fill(tails_.begin(), tails_.end(), 0.0);
    const double core = norm(std::span<const T>(core_.values));
    tails_[0] = std::sqrt(std::max(0.0, (norm_ - core) * (norm_ + core)));
  }

  Dense<T> x_, core_;
  const TuckerOptions& options_;
  double norm_ = 0;
  std::vector<std::vector<T>> factors_;
  std::vector<double> tails_;
  DecompositionReport report_;
};

template <Scalar T>
Tucker<T> not_finite_tucker(const Executor& executor, const Shape& shape, const TuckerOptions& options) {
  const T nan = std::numeric_limits<Real<T>>::quiet_NaN();
  Shape ranks;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    ranks.push_back(options.ranks.empty() ? 1 : std::max<std::int64_t>(1, options.ranks[k]));
  }
  Dense<T> core(ranks);
  std::fill(core.values.begin(), core.values.end(), nan);
  Tucker<T> result{to_array(executor, core), {}, not_finite_report()};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    result.factors.push_back(to_matrix(executor, std::vector<T>(as_size(shape[k] * ranks[k]), nan), shape[k]));
  }
  return result;
}

}  // namespace

template <Scalar T>
Tucker<T> tucker(const Executor& executor, const std::type_identity_t<View<const T>>& x, const TuckerOptions& options) {
  constexpr const char* operation = "tensor.tucker";
  Dense<T> dense = dense_copy(operation, executor, x);
  require(options.ranks.empty() || options.ranks.size() == dense.shape.size(),
          "{}: {} ranks for a tensor of {} dimensions; give one per dimension", operation, options.ranks.size(),
          dense.shape.size());
  for (std::size_t k = 0; k < options.ranks.size(); ++k) {
    require(options.ranks[k] >= 0 && options.ranks[k] <= dense.shape[k],
            "{}: rank {} for dimension {} of extent {}; ranks lie in 0 (by epsilon) to the extent", operation,
            options.ranks[k], k, dense.shape[k]);
    require(options.ranks[k] > 0 || options.method != TuckerMethod::Randomized,
            "{}: rank 0 for dimension {}; sketches need ranks", operation, k);
  }
  require(options.method != TuckerMethod::Randomized || !options.ranks.empty(), "{}: sketches need ranks", operation);
  require(options.epsilon >= 0, "{}: epsilon is {}; it must be >= 0", operation, options.epsilon);
  if (!all_finite(std::span<const T>(dense.values))) return not_finite_tucker<T>(executor, dense.shape, options);
  return TuckerSearch<T>(std::move(dense), options).run(executor);
}

template <Scalar T> Array<T> reconstruct(const Executor& executor, const Tucker<T>& t) {
  Dense<T> y = dense_copy<T>("tensor.reconstruct", executor, t.core.view());
  for (std::int64_t k = 0; k < y.rank(); ++k) y = mode_product<T>(y, k, Op::N, t.factors[as_size(k)].view());
  return to_array(executor, y);
}

#define TRN_INSTANTIATE(T)                                                                   \
  template Tucker<T> tucker<T>(const Executor&, const View<const T>&, const TuckerOptions&); \
  template Array<T> reconstruct<T>(const Executor&, const Tucker<T>&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
TRN_INSTANTIATE(std::complex<float>)
TRN_INSTANTIATE(std::complex<double>)
#undef TRN_INSTANTIATE

}  // namespace trn::tensor
