// Conjugate gradients on distributed vectors, one reduction an iteration.
//
// With u = M r and w = A u, Chronopoulos and Gear's form keeps s = A p by a recurrence of its own, so that the three
// sums of an iteration, (r, u), (w, u) and (r, r), are taken at one place:
//
//   beta = (r, u)' / (r, u),  alpha = (r, u)' / ((w, u) - beta (r, u)' / alpha),  p = u + beta p,  s = w + beta s
//
// Each block of 4096 elements is summed in eight interleaved sums of doubles, by the one rank that has it; BlockSums
// adds the blocks in an order that does not know of ranks. Everything else is element by element.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <trn/comm/reductions.hpp>
#include <trn/core/error.hpp>
#include <trn/sparse/preconditioners.hpp>

#include "../host_data.hpp"
#include "amg.hpp"
#include "csr.hpp"

namespace trn::sparse {

std::string_view name(CgStatus status) {
  switch (status) {
    case CgStatus::Ok:
      return "ok";
    case CgStatus::NotConverged:
      return "not converged";
    case CgStatus::NotPositiveDefinite:
      return "not positive definite";
    case CgStatus::NotFinite:
      break;
  }
  return "not finite";
}

namespace {

constexpr std::int64_t kMostBlock = 1024;

template <class T> double block_sum(const T* x, const T* y, std::int64_t count) {
  double sum[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int c = 0; c < 8; ++c) sum[c] += static_cast<double>(x[i + c]) * static_cast<double>(y[i + c]);
  for (; i < count; ++i) sum[0] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

// The diagonal part of this rank's rows.
template <class T> Csr<T> diagonal_part(const detail::DistCsrData<T>& a) {
  const CsrRef<T, std::int32_t> from = host_ref(*a.local);
  CsrParts<T, std::int32_t> parts({a.rows, a.columns});
  const auto own = [&](std::int64_t k) { return from.indices[k] >= a.below && from.indices[k] < a.below + a.columns; };
  for (std::int64_t i = 0; i < a.rows; ++i) {
    parts.offsets.data()[i] = 0;
    for (std::int64_t k = from.offsets[i]; k < from.offsets[i + 1]; ++k) parts.offsets.data()[i] += own(k) ? 1 : 0;
  }
  parts.allocate();
  std::int64_t to = 0;
  for (std::int64_t k = 0; k < from.nnz(); ++k) {
    if (!own(k)) continue;
    parts.indices.data()[to] = static_cast<std::int32_t>(from.indices[k] - a.below);
    parts.values.data()[to++] = from.values[k];
  }
  return parts.done();
}

template <class T> class Iteration {
 public:
  Iteration(const detail::DistCsrData<T>& a, const T* b, T* x, const DistCgOptions& o,
            const detail::DistAmgData<T>* multigrid)
      : a_(a), b_(b), x_(x), options_(o), multigrid_(multigrid), size_(static_cast<std::size_t>(a.rows)) {
    if (o.preconditioner > 0) jacobi_.emplace(diagonal_part(a), o.preconditioner);
    most_ = o.max_iterations > 0 ? o.max_iterations : std::max<std::int64_t>(100, 10 * a.extents.rows);
    for (std::vector<T>* v : {&r_, &u_, &w_, &p_, &s_}) v->resize(size_);
    if (!a.on_host()) report_.algorithm = "cg, products on devices";
  }

  DistCgReport run() {
    if (jacobi_) {
      constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
      const std::int64_t bad = jacobi_->outcome().ok() ? kNone : a_.first_row + jacobi_->outcome().index;
      if (const std::int64_t first = comm::minimum(a_.group, bad); first != kNone) {
        report_.preconditioner = {Status::ZeroPivot, first};
        return report_;
      }
    }
    if (multigrid_ != nullptr && !multigrid_->outcome.ok()) {
      report_.preconditioner = multigrid_->outcome;
      return report_;
    }
    if (!options_.guess_in_x) std::fill_n(x_, size_, T(0));
    scale_down();
    norm_ = std::sqrt(sums({{b_, b_}})[0]);
    if (norm_ == 0) {
      std::fill_n(x_, size_, T(0));
      return report_;
    }
    double before = std::numeric_limits<double>::infinity();
    for (;;) {
      restart();
      report_.residual = std::sqrt(rr_) / norm_;
      if (!std::isfinite(report_.residual) || !std::isfinite(wu_)) return end(CgStatus::NotFinite);
      if (report_.residual <= options_.tolerance) return end(CgStatus::Ok);
      if (indefinite_ || !(ru_ > 0) || !(wu_ > 0)) return end(CgStatus::NotPositiveDefinite);
      if (report_.iterations >= most_ || report_.residual > before / 2) return end(CgStatus::NotConverged);
      before = report_.residual;
      iterate();
    }
  }

 private:
  using Pair = std::pair<const T*, const T*>;
  std::vector<double> sums(std::initializer_list<Pair> pairs) const {
    std::vector<comm::BlockSums> all;
    const auto n = static_cast<std::int64_t>(size_);
    for (const auto& [x, y] : pairs) {
      comm::BlockSums one{
          a_.first_row / dist::kSumBlock, {}, (a_.extents.rows + dist::kSumBlock - 1) / dist::kSumBlock};
      for (std::int64_t i = 0; i < n; i += dist::kSumBlock)
        one.sums.push_back(block_sum(x + i, y + i, std::min(dist::kSumBlock, n - i)));
      all.push_back(std::move(one));
    }
    return comm::sum(a_.group, all);
  }
  // Squares of very large or small numbers leave the range of doubles, and products of A with them that of T: such a b,
  // and x with it, are multiplied by a power of two, which changes no digit of numbers that stay normal.
  void scale_down() {
    T most = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (!(std::abs(b_[i]) <= most)) most = std::abs(b_[i]);  // a NaN stays
    }
    most = comm::maximum(a_.group, most);
    constexpr int kFar = std::is_same_v<T, float> ? 60 : 300;
    if (!(most > 0) || !std::isfinite(most) || std::abs(std::ilogb(most)) <= kFar) return;
    exponent_ = std::ilogb(most);
    scaled_b_.assign(b_, b_ + size_);
    for (std::size_t i = 0; i < size_; ++i) {
      scaled_b_[i] = std::ldexp(scaled_b_[i], -exponent_);
      x_[i] = std::ldexp(x_[i], -exponent_);
    }
    b_ = scaled_b_.data();
  }
  DistCgReport end(CgStatus status) {
    report_.status = status;
    if (exponent_ != 0) {
      for (std::size_t i = 0; i < size_; ++i) x_[i] = std::ldexp(x_[i], exponent_);
    }
    if (status == CgStatus::NotFinite) std::fill_n(x_, size_, std::numeric_limits<T>::quiet_NaN());
    return report_;
  }

  // u = M r, w = A u, and the sums of all three.
  void turn() {
    if (multigrid_ != nullptr) {
      multigrid_->apply(r_.data(), u_.data());
    } else if (jacobi_ && size_ > 0) {
      const Executor host = Executor::host();
      const auto n = static_cast<std::int64_t>(size_);
      jacobi_->apply(Op::N, T(1), MatrixView<const T>::row_major(host, r_.data(), n, 1), T(0),
                     MatrixView<T>::row_major(host, u_.data(), n, 1));
    } else {
      u_ = r_;
    }
    a_.multiply(T(1), u_.data(), T(0), w_.data(), 1, halo_);
    const std::vector<double> s = sums({{r_.data(), u_.data()}, {w_.data(), u_.data()}, {r_.data(), r_.data()}});
    ru_ = s[0], wu_ = s[1], rr_ = s[2];
  }
  // r = b - A x, from scratch.
  void restart() {
    std::copy_n(b_, size_, r_.data());
    a_.multiply(T(-1), x_, T(1), r_.data(), 1, halo_);
    turn();
  }
  // Until the recurrence says that the residual is small, or its scalars are no longer those of a definite matrix.
  void iterate() {
    double alpha = ru_ / wu_, beta = 0;
    while (report_.iterations < most_) {
      const T step = static_cast<T>(alpha), along = static_cast<T>(beta);
      for (std::size_t i = 0; i < size_; ++i) {
        p_[i] = beta == 0 ? u_[i] : u_[i] + along * p_[i];
        s_[i] = beta == 0 ? w_[i] : w_[i] + along * s_[i];
        x_[i] += step * p_[i];
        r_[i] -= step * s_[i];
      }
      const double before = ru_;
      turn();
      ++report_.iterations;
      if (std::sqrt(rr_) <= options_.tolerance * norm_) return;
      beta = ru_ / before;
      const double curvature = wu_ - beta * ru_ / alpha;
      if (!(ru_ > 0) || !(curvature > 0) || !std::isfinite(curvature)) {
        indefinite_ = ru_ > 0 && curves_down(static_cast<T>(beta));
        return;
      }
      alpha = ru_ / curvature;
    }
  }
  // Whether (p, A p) of the next direction is negative beyond what rounding can do. The recurrence alone may be wrong.
  bool curves_down(T beta) {
    for (std::size_t i = 0; i < size_; ++i) p_[i] = u_[i] + beta * p_[i];
    a_.multiply(T(1), p_.data(), T(0), s_.data(), 1, halo_);
    const std::vector<double> s = sums({{p_.data(), s_.data()}, {p_.data(), p_.data()}, {s_.data(), s_.data()}});
    return s[0] <
           -std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon())) * std::sqrt(s[1]) * std::sqrt(s[2]);
  }

  const detail::DistCsrData<T>& a_;
  const T* b_;
  T* x_;
  const DistCgOptions& options_;
  const detail::DistAmgData<T>* multigrid_;
  std::size_t size_;
  std::optional<BlockJacobi<T>> jacobi_;
  std::int64_t most_ = 0;
  double norm_ = 0, ru_ = 0, wu_ = 0, rr_ = 0;
  std::vector<T> r_, u_, w_, p_, s_, halo_, scaled_b_;
  int exponent_ = 0;  // b and x are those of the caller times 2^-exponent
  bool indefinite_ = false;
  DistCgReport report_;
};

}  // namespace

namespace {

template <class T> DistCgReport run(const DistCsr<T>& a, const dist::Array<T>& b, const dist::Array<T>& x,
                                    const DistCgOptions& o, const DistAmg<T>* m) {
  constexpr const char* operation = "sparse.cg";
  const detail::DistCsrData<T>& data = a.data();
  data.group.check("sparse.cg(tolerance, max_iterations, preconditioner, guess, multigrid)",
                   {std::bit_cast<std::int64_t>(o.tolerance), o.max_iterations, o.preconditioner, o.guess_in_x ? 1 : 0,
                    m != nullptr ? 1 : 0});
  check_square(operation, data.extents);
  require(o.tolerance >= 0 && std::isfinite(o.tolerance), "{}: tolerance is {}; it must be finite and at least 0",
          operation, o.tolerance);
  require(o.max_iterations >= 0, "{}: max_iterations is {}; it must be at least 0", operation, o.max_iterations);
  require(o.preconditioner == 0 || (o.preconditioner > 0 && o.preconditioner <= kMostBlock &&
                                    std::has_single_bit(static_cast<std::uint64_t>(o.preconditioner))),
          "{}: blocks of {} rows; a power of two up to {}, so that no block lies on two ranks", operation,
          o.preconditioner, kMostBlock);
  require(m == nullptr || o.preconditioner == 0, "{}: both multigrid and blocks of {} rows; give one preconditioner",
          operation, o.preconditioner);
  const char* wrong = data.trouble(b, a.row_distribution());
  if (!wrong) wrong = data.trouble(x, a.row_distribution());
  if (!wrong && b.local().size() > 0 && b.local().data() == x.local().data()) wrong = "b and x are one array";
  if (!wrong && m != nullptr && !(m->data().group == data.group)) wrong = "the multigrid is of another group";
  if (!wrong && m != nullptr && m->levels().front().rows != data.extents.rows)
    wrong = "the multigrid is of a matrix of another order";
  if (!wrong && m != nullptr && !(m->data().executor == data.executor))
    wrong = "the multigrid is not on the matrix's executor";
  data.agree(operation, wrong);
  const detail::DistAmgData<T>* multigrid = m != nullptr ? &m->data() : nullptr;
  if (data.on_host()) return Iteration<T>(data, b.local().data(), x.local().data(), o, multigrid).run();
  const detail::OnHost<T> right(data.group, b.local(), true), start(data.group, x.local(), o.guess_in_x);
  const DistCgReport report = Iteration<T>(data, right.data(), start.data(), o, multigrid).run();
  start.store();
  return report;
}

}  // namespace

template <RealScalar T>
DistCgReport cg(const DistCsr<T>& a, const dist::Array<T>& b, const dist::Array<T>& x, const DistCgOptions& o) {
  return run<T>(a, b, x, o, nullptr);
}
template <RealScalar T> DistCgReport cg(const DistCsr<T>& a, const dist::Array<T>& b, const dist::Array<T>& x,
                                        const DistAmg<T>& m, const DistCgOptions& o) {
  return run<T>(a, b, x, o, &m);
}
#define TRN_DIST_CG(T)                                                                                             \
  template DistCgReport cg(const DistCsr<T>&, const dist::Array<T>&, const dist::Array<T>&, const DistCgOptions&); \
  template DistCgReport cg(const DistCsr<T>&, const dist::Array<T>&, const dist::Array<T>&, const DistAmg<T>&,     \
                           const DistCgOptions&);
TRN_DIST_CG(float)
TRN_DIST_CG(double)
#undef TRN_DIST_CG

}  // namespace trn::sparse
