// Pairs of one orbital of either spin, for unrestricted references:
//
//   E_ab = - sum_(i alpha, j beta) sum_(a alpha, b beta) T_ab^2 / |D_ab|,
//   T = B_i^T B_j,    D_ab = e_i + e_j - e_a - e_b.
//
// The kernel of pair_energy takes one set of virtual orbitals. So both sets are put side by side: the panel of an alpha
// orbital is (B_i, 0) and that of a beta orbital (0, B_j), which makes T = (0, B_i^T B_j; 0, 0), and the kernel's
// e_os(i,j) = -2 sum T_ab^2 / |D_ab| is twice the term of the pair. The host's kernel leaves columns of zeros out of
// its products; a device multiplies them, four times the work. Panels are twice as wide as needed.
//
// The kernel wants every occupied energy below every virtual one. Each spin's own are in that order, and moving all
// energies of spin beta by the same amount changes no D: where the gaps of the two spins do not overlap, they are moved
// to the same middle, and the bound takes up the two roundings that this costs D.
#pragma once

#include "pair_blocks.hpp"

namespace trn::mp2 {

// Orbitals of one spin that take part, and their panels.
template <class S> struct SpinPanels {
  PanelStore<S>* store = nullptr;
  std::vector<double> occupied, virtuals, errors;  // errors: ||dB_i||_F at most
};

template <class S, class T> class CrossPairs {
 public:
  CrossPairs(const Executor& executor, std::int64_t naux, const SpinPanels<S>& alpha, const SpinPanels<S>& beta,
             Mode mode)
      : naux_(naux), sides_{&alpha, &beta}, terms_(alpha.occupied.size() * beta.occupied.size()) {
    std::vector<double> low = alpha.occupied, high = alpha.virtuals, errors = alpha.errors;
    const auto gap = [](const SpinPanels<S>& side) {
      return std::pair{*std::ranges::max_element(side.occupied), *std::ranges::min_element(side.virtuals)};
    };
    const auto [top, bottom] = gap(alpha);
    const auto [other_top, other_bottom] = gap(beta);
    const bool moved = std::max(top, other_top) >= std::min(bottom, other_bottom);
    const double shift = moved ? (top + bottom) / 2 - (other_top + other_bottom) / 2 : 0;
    for (const double e : beta.occupied) low.push_back(e + shift);
    for (const double e : beta.virtuals) high.push_back(e + shift);
    errors.insert(errors.end(), beta.errors.begin(), beta.errors.end());
    calls_.emplace(executor, naux, low, high,
                   blas::PairEnergyOptions{.precision = mode, .input_errors = std::move(errors)});
    if (moved) {
      double most = 0;
      for (const auto* list : {&low, &high}) {
        for (const double e : *list) most = std::max(most, std::abs(e));
      }
      // |dD| <= 2 u most, and E is of first order in 1 / D.
      moved_ = 2.1 * unit_roundoff(DType::Float64) * most / (bottom - top + other_bottom - other_top);
    }
  }

  void run(std::int64_t block, const comm::Communicator* group) {
    const std::int64_t alphas = orbitals(0), betas = orbitals(1);
    const bool several = group != nullptr && group->size() > 1;
    if (several) block = std::min(block, block_for(std::min(alphas, betas), group->size()));
    std::vector<T> host(static_cast<std::size_t>((std::min(block, alphas) + std::min(block, betas)) * calls_->panel()));
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < alphas; i += block) {
      const std::int64_t left = std::min(block, alphas - i);
      bool have = false;
      for (std::int64_t j = 0; j < betas; j += block) {
        if (several && number++ % group->size() != group->rank()) continue;
        const std::int64_t right = std::min(block, betas - j);
        if (!have) read(0, i, left, host.data());
        have = true;
        read(1, j, right, host.data() + left * calls_->panel());
        const blas::PairEnergy e = calls_->from_host(host.data(), i, left, alphas + j, right);
        std::size_t at = 0;
        for (std::int64_t x = i; x < i + left; ++x) {
          for (std::int64_t y = j; y < j + right; ++y) terms_[static_cast<std::size_t>(x * betas + y)] = e.pairs[at++];
        }
      }
    }
    if (several) gather_terms(*group, terms_);
  }

  // The energy in `opposite`, with its bound.
  [[nodiscard]] PairTotal total() const {
    const PairTotal sum = total_of(terms_);
    const double energy = sum.opposite / 2;
    return {energy, 0, sum.bound / 2 + moved_ * std::abs(energy)};
  }
  [[nodiscard]] const Accuracy& accuracy() const { return calls_->accuracy(); }

 private:
  [[nodiscard]] std::int64_t orbitals(int side) const {
    return static_cast<std::int64_t>(sides_[side]->occupied.size());
  }
  [[nodiscard]] std::int64_t virtuals(int side) const {
    return static_cast<std::int64_t>(sides_[side]->virtuals.size());
  }
  // Panels with the other spin's columns zero.
  void read(int side, std::int64_t first, std::int64_t count, T* to) const {
    const std::int64_t columns = virtuals(side), all = virtuals(0) + virtuals(1);
    std::vector<T> one(static_cast<std::size_t>(naux_ * columns));
    std::fill_n(to, count * naux_ * all, T(0));
    for (std::int64_t i = 0; i < count; ++i) {
      read_panels(*sides_[side]->store, first + i, 1, naux_ * columns, one.data());
      for (std::int64_t p = 0; p < naux_; ++p)
        std::copy_n(one.data() + p * columns, columns, to + (i * naux_ + p) * all + (side == 0 ? 0 : virtuals(0)));
    }
  }

  std::int64_t naux_;
  const SpinPanels<S>* sides_[2];
  std::optional<PairCalls<T>> calls_;
  std::vector<blas::PairTerm> terms_;
  double moved_ = 0;  // the share of the energy that moving the energies may cost
};

}  // namespace trn::mp2
