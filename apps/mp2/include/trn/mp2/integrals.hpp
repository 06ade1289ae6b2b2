// Integrals over Gaussian functions, from libint2: overlap, kinetic energy, nuclear attraction, and the Coulomb
// integrals with two, three and four centres. All in hartree, threads over shells; each integral is computed by one
// thread in one way, so its bits do not depend on their number.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <trn/mp2/basis.hpp>
#include <trn/mp2/dense.hpp>

namespace trn::mp2 {

[[nodiscard]] Dense overlap(const Basis& basis);
[[nodiscard]] Dense kinetic(const Basis& basis);
[[nodiscard]] Dense nuclear_attraction(const Basis& basis, const Molecule& molecule);

// (P|Q), naux x naux.
[[nodiscard]] Dense coulomb_metric(const Basis& fitting);
// L with (P|Q) = L L^T. InvalidArgument, which ends with the remedy, when the fitting functions are linearly dependent.
[[nodiscard]] Dense fitting_factor(const Basis& fitting, const std::string& remedy,
                                   const Executor& executor = Executor::host());

// Integrals that are at most this, by Schwarz's inequality, are taken as zero.
inline constexpr double kScreening = 1e-12;

// (P|mn) of an orbital and a fitting basis. The two must outlive it.
class ThreeCentre {
 public:
  ThreeCentre(const Basis& orbital, const Basis& fitting);
  ~ThreeCentre();
  ThreeCentre(const ThreeCentre&) = delete;
  ThreeCentre& operator=(const ThreeCentre&) = delete;

  // Tables, and the working memory of threads that compute integrals of this many fitting functions at a time.
  [[nodiscard]] static std::int64_t bytes(const Basis& orbital, const Basis& fitting, std::int64_t functions,
                                          std::int64_t threads);
  // Of fitting shells [first, last).
  [[nodiscard]] std::int64_t functions(std::int64_t first_shell, std::int64_t last_shell) const;
  // (P|mn) for the functions P of fitting shells [first, last): (functions, n, n) row-major, both triangles.
  void compute(std::int64_t first_shell, std::int64_t last_shell, double* out) const;
  // The same as (n, n, functions).
  void compute_columns(std::int64_t first_shell, std::int64_t last_shell, double* out) const;

  // Orbital functions m >= n whose product is not negligible come in groups.
  struct Product {
    std::int32_t m, n;
  };
  [[nodiscard]] std::int64_t groups() const;
  [[nodiscard]] const std::vector<Product>& products(std::int64_t group) const;
  // (mn|P) of groups [first, last) for all P: (products, naux) row-major. Runs on the calling thread.
  void compute_groups(std::int64_t first, std::int64_t last, double* out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Coulomb and exchange matrices from four-centre integrals: J_mn = sum_ls (mn|ls) D_ls, K_mn = sum_ls (ml|ns) D_ls for
// symmetric D. Integrals are kept when they fit in `memory_bytes` beside the rest, otherwise computed again in every
// call. The sum's order is fixed.
//
// Screening (trn/sparse/screening.hpp): a quartet of shells is kept where Q_ab Q_cd > threshold, with Q_ab = sqrt max
// (ab|ab) over the functions of the two shells. No integral left out exceeds the threshold, so that the energy of
// densities D_s of either spin changes by at most
//
//   threshold (1/2 (a + b)^2 + 1/2 (a^2 + b^2)),    a, b = sum_mn |D_mn| of spin alpha and beta,
//
// by J and K, and the energy of the SCF, which is stationary in the density, by that and terms of second order.
struct CoulombExchange {
  Dense coulomb, exchange;
};
class FourCentre {
 public:
  // InvalidArgument when `memory_bytes` is below the least that works; the message says how much.
  FourCentre(const Basis& orbital, std::int64_t memory_bytes, double threshold = kScreening);
  ~FourCentre();
  FourCentre(const FourCentre&) = delete;
  FourCentre& operator=(const FourCentre&) = delete;

  [[nodiscard]] CoulombExchange operator()(const Dense& density);
  [[nodiscard]] bool kept() const;
  // Quartets of shells, each once: those above the threshold, and all there are.
  struct Quartets {
    std::int64_t kept = 0, all = 0;
  };
  [[nodiscard]] Quartets quartets() const;
  [[nodiscard]] std::int64_t bytes_to_keep() const;  // from this budget on the integrals are kept

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trn::mp2
