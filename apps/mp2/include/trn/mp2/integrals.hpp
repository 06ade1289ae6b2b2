// Integrals over Gaussian functions, from libint2: overlap, kinetic energy, nuclear attraction, and the Coulomb integrals with two, three and
// four centres. All in hartree, threads over shells; each integral is computed by one thread in one way, so its bits do not depend on their number.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <trn/mp2/basis.hpp>
#include <trn/mp2/dense.hpp>

namespace trn::mp2 {

[[nodiscard]] Dense overlap(const Basis& basis);
[[nodiscard]] Dense kinetic(const Basis& basis);
[[nodiscard]] Dense nuclear_attraction(const Basis& basis, const Molecule& molecule);

// (P|Q), naux x naux.
[[nodiscard]] Dense coulomb_metric(const Basis& fitting);

// Integrals smaller than this, by Schwarz's inequality, are taken as zero.
inline constexpr double kScreening = 1e-12;

// (P|mn) of an orbital and a fitting basis. The two must outlive it.
class ThreeCentre {
 public:
  ThreeCentre(const Basis& orbital, const Basis& fitting);
  ~ThreeCentre();
  ThreeCentre(const ThreeCentre&) = delete;
  ThreeCentre& operator=(const ThreeCentre&) = delete;

  // (P|mn) for the functions P of fitting shells [first, last): (functions, n, n) row-major, both triangles.
  void compute(std::int64_t first_shell, std::int64_t last_shell, double* out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Coulomb and exchange matrices from four-centre integrals: J_mn = sum_ls (mn|ls) D_ls, K_mn = sum_ls (ml|ns) D_ls for symmetric D. Integrals are
// kept when they fit in `memory_bytes`, otherwise computed again in every call. The sum's order is fixed.
struct CoulombExchange {
  Dense coulomb, exchange;
};
class FourCentre {
 public:
  FourCentre(const Basis& orbital, std::int64_t memory_bytes);
  ~FourCentre();
  FourCentre(const FourCentre&) = delete;
  FourCentre& operator=(const FourCentre&) = delete;

  [[nodiscard]] CoulombExchange operator()(const Dense& density);
  [[nodiscard]] bool kept() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trn::mp2
