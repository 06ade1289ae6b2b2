// Density-fitted Coulomb and exchange matrices. With J = (P|Q) = L L^T and B = L^-1 (P|mn),
//
//   J_mn = sum_Q B_Qmn d_Q,  d_Q = sum_ls B_Qls D_ls,      K_mn = sum_Qi X_Qim X_Qin,  X_Qi = C_i^T B_Q  for D = C C^T.
//
// B has one row for every product of functions m >= n that is not negligible, and its columns Q lie in panels of 64.
// When it does not fit in memory, the panels are in a temporary file and pass by once for every pair of matrices; the
// bits are the same.
#pragma once

#include <string>

#include <trn/mp2/integrals.hpp>
#include <trn/mp2/panel_store.hpp>

namespace trn::mp2 {

class FittedJk {
 public:
  // InvalidArgument when `memory_bytes` is below the least that works (the message says how much), (P|Q) is not
  // positive definite or no file can be made in `scratch` ("": the system's folder).
  // The Cholesky factor is computed on `executor`, all else on the host.
  FittedJk(const Basis& orbital, const Basis& fitting, std::int64_t memory_bytes, const std::string& scratch = "",
           const Executor& executor = Executor::host());

  // For D = C C^T with the columns of C the occupied orbitals.
  [[nodiscard]] CoulombExchange operator()(const Dense& occupied) const;
  [[nodiscard]] std::int64_t streamed_bytes() const {
    return store_->file_bytes();
  }  // through the file so far; 0: B is in memory

 private:
  struct Task;
  void build(const Executor& executor, const ThreeCentre& integrals, const Basis& fitting);
  void add_panel(const double* b, const std::vector<double>& density, const Dense& occupied, Task& task) const;

  std::int64_t n_, naux_;
  std::vector<ThreeCentre::Product> products_;
  std::vector<std::int64_t> rows_;  // of B by (m, n) in both orders, -1: negligible
  std::unique_ptr<PanelStore<double>> store_;
};

}  // namespace trn::mp2
