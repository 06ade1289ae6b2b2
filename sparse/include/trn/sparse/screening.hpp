// Screening of two-electron integrals by Schwarz's inequality |(ij|kl)| <= Q_ij Q_kl: a quartet is kept when the
// product of its bounds exceeds the threshold. (A mask of pairs with Q > sqrt(threshold) would drop quartets of one
// small and one large pair.) Pairs are sorted by their bounds, so that the partners of a pair are the first so many:
// one binary search a pair, and no memory for quartets.
#pragma once

#include <trn/sparse/csr.hpp>

namespace trn::sparse {

// Q = sqrt |(ij|ij)|, element by element.
[[nodiscard]] std::vector<double> schwarz_bounds(std::span<const double> diagonal_integrals);

class Quartets {
 public:
  // bra and ket are bounds of pairs, >= 0. With a density, a ket's bound is Q_kl |P_kl|.
  Quartets(std::span<const double> bra, std::span<const double> ket, double threshold);
  // The kets of pair p: kets()[0] to kets()[count(p) - 1], largest bounds first.
  [[nodiscard]] std::int64_t count(std::int64_t p) const { return counts_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] std::span<const std::int64_t> kets() const { return kets_; }
  [[nodiscard]] std::int64_t kept() const { return kept_; }
  [[nodiscard]] double kept_fraction() const;

 private:
  std::vector<std::int64_t> counts_, kets_;
  std::int64_t kept_ = 0;
};

// The entries of A with q_i q_j > threshold: a hard mask, for a square A and a bound for each row.
template <Scalar T> [[nodiscard]] Csr<T> screened(const Csr<T>& a, std::span<const double> q, double threshold);

}  // namespace trn::sparse
