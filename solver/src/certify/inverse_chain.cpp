// The chain of approximate inverses. P_k stands for W_k ... W_1 A; it is known up to a radius E_k:
//   P_k = W_k P_(k-1), one rounding each: radius of the product + |W_k| E_(k-1)
//   beta = || |I - W_k P_(k-1)| + radius + |W_k| E_(k-1) ||_inf
#include "certify/inverse_chain.hpp"

#include <optional>

#include <trn/solver/lu.hpp>

#include "narrow_qr.hpp"

namespace trn::solver::certify {

namespace {

template <class D> void add(Columns<double>& to, const Columns<double>& more) {
  for (std::int64_t j = 0; j < to.columns(); ++j) {
    for (std::int64_t i = 0; i < to.rows(); ++i) to(i, j) = up(to(i, j) + more(i, j), 1);
  }
}

// LU on the host; on a device QR, in float32 for real matrices, whatever the condition: the chain makes up for it.

template <class D> std::optional<Columns<D>> approximate_inverse(const Executor& executor, const Columns<D>& a) {
  if (executor.family() == Family::Host) {
    const Lu<D> lu(executor, a.view());
    if (!lu.report().outcome.ok()) return std::nullopt;
    return Columns<D>(lu.inverse().view());
  }
  if constexpr (std::same_as<D, double>) {
    const NarrowQr qr(executor, a);
    Columns<double> x = unit_matrix<double>(a.rows());
    if (!qr.solve(x)) return std::nullopt;
    return x;
  } else {
    const Qr<D> qr(executor, copies::on(executor, a.view()).view());
    if (!qr.report().outcome.ok()) return std::nullopt;
    const Matrix<D> x = copies::on(executor, unit_matrix<D>(a.rows()).view());
    (void)qr.solve(x.view());  // a diagonal at rounding level is the chain's to judge
    Columns<D> inverse(copies::on_host(x.view()).view());
    if (!host::finite(inverse.view()).ok()) return std::nullopt;
    return inverse;
  }
}

}  // namespace

template <Wide D> InverseChain<D>::InverseChain(const Executor& executor, const Columns<D>& a, int most_levels)
    : executor_(executor.family() == Family::Host ? executor : Executor::host()),  // apply() is O(n^2) a column
      beta_(std::numeric_limits<double>::infinity()) {
  Bounded<D> p{Columns<D>(a.view())};
  for (int level = 1; level <= most_levels; ++level) {
    auto inverse = approximate_inverse<D>(executor, p.value);
    if (!inverse) break;
    factors_.push_back(std::move(*inverse));
    const Columns<D>& w = factors_.back();
    if (!host::finite(w.view()).ok()) break;
    const bool carried = level > 1;
    const Columns<double> through = carried ? magnitude_product(executor, w, p.radius) : Columns<double>(0, 0);
    Bounded<D> rest = exact_product<D>(executor, Op::N, D(1), w, p.value, D(-1), unit_matrix<D>(a.rows()));
    if (carried) add<D>(rest.radius, through);
    const double beta = infinity_norm(magnitudes(rest));
    if (beta < 1) beta_ = beta;
    if (beta <= 0.25 || level == most_levels) break;
    p = exact_product<D>(executor, Op::N, w, p.value);
    if (carried) add<D>(p.radius, through);
    if (!host::finite(p.value.view()).ok() || !host::finite(p.radius.view()).ok()) break;
    beta_ = std::numeric_limits<double>::infinity();  // the next level replaces this one
  }
}

template <Wide D> TwoWords<D> InverseChain<D>::apply(const TwoWords<D>& r) const {
  TwoWords<D> z = r;
  for (const Columns<D>& w : factors_) z = exact_times(executor_, w, z);
  return z;
}

template class InverseChain<double>;
template class InverseChain<std::complex<double>>;

}  // namespace trn::solver::certify
