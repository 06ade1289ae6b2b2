// Density-fitted MP2 on an executor. With J = (P|Q) = L L^T,
//
//   (P|ia) = sum_mn C_mi (P|mn) C_na,     B_i = L^-1 (P|ia),     E = sum_{i<=j} e_os(i,j) + e_ss(i,j)
//     (trn/blas/pair_energy.hpp).
//
// Of a closed shell. With orbitals of either spin (uhf.hpp) the pairs are of three kinds,
//
//   E = E_aa + E_bb + E_ab,   E_ss = e_ss / 2 over the pairs of one spin's orbitals,   E_ab = sum over pairs of both;
//
// every spin has a fit of its own, and frozen orbitals are the lowest of each.
//
// Spin-scaled energies: SCS-MP2 (Grimme 2003) is 6/5 E_os + 1/3 E_ss, SOS-MP2 (Jung et al. 2004) 13/10 E_os. The bound
// is one on |dE_os| + |dE_ss|, so that it holds for them with the larger factor.
//
// Stages, each with the executor that ran it: integrals and the Cholesky factor on the host, the two half transforms
// (gemm), the solve (trsm) and the pair energies on the executor asked for.
//
// Arithmetic. On the host float64: Native, or in Exact and for a target the transforms and the solve with exact
// products. On a device energies are float32 in Native, Tf32, Bf16, Tf32x3 or Bf16x6, float64 in Exact; the transforms
// and the solve are float64 in Exact, because solving with L in float32 loses more than all the rest, or with
// FitPrecision::Same in the mode of the energies. target(e) takes the first of Tf32x3, Native and Exact whose bound is
// at most e.
//
// The bound is on |E - exact| where "exact" takes the orbitals, their energies, the integrals and L as they are in
// float64: it covers the transforms, the solve and the energies. With g the bounds of the two products, which hold
// element by element as |d(AB)| <= g |A||B| in floating point, r that of the solve, u the rounding of operands to
// float32 (0 for float64), l_P the rows of L, A_P = (P|mn), a_m the norms of its rows, v_m those of the rows of C_v,
// and X = C_o^T A_P the half transform: the first product errs by e_n <= (g1 + 2 u) sum_m |c_mi| |A_mn|, which C_v
// carries on, so that row P of (P|ia) and of the solve's residual errs by at most
//
//   d_iP = (g1 + 2 u) min(||C_v||_2 sum_m |c_mi| a_m, ||c_i|| sum_n a_n v_n) + (g2 + u) min(||X_i|| ||C_v||_F, sum_m
//     |X_im| v_m) + (r + u) ||l_P|| ||B_i||_F,
//   ||dB_i||_F <= || |L^-1| d_i ||_2,
//
// (in Exact the first two terms are ||E1_i(P, :)|| ||C_v||_2 + ||E2_i(P, :)||, with the products' bounds element by
// element; on the host, and for a target, the residual itself is computed by an exact product, and for a target X is
// kept in two words) which goes into pair_energy as the error of its input. There the norms of the columns of B and the
// denominators of each pair weigh it (trn/blas/pair_energy.hpp).
//
// On the host in Native this is still a worst case: n roundings of one sign in every sum, carried through L^-1 in
// absolute value. Exact and targets measure instead of assuming.
//
// Bits. On one executor the energy does not depend on the number of threads or on `memory_bytes`: every product has a
// shape that the molecule alone decides, and pairs are added in order in double-double. Nor on the number of ranks:
// with a group all ranks do the fit, pairs of blocks of orbitals are dealt over them, and the terms of pairs are
// gathered and added in pair order on every rank. Bounds of a device are those of its blocks, and may differ in their
// last digits.
#pragma once

#include <string>
#include <vector>

#include <trn/comm/communicator.hpp>
#include <trn/core/dtype.hpp>
#include <trn/core/precision.hpp>
#include <trn/mp2/rhf.hpp>

namespace trn::mp2 {

struct Stage {
  std::string name, executor, precision;
  double seconds = 0;           // on this machine (simulators: the time to simulate)
  double modelled_seconds = 0;  // on a simulated device
  double cpu_seconds = 0;       // of all threads together
};

enum class FitPrecision : std::uint8_t { Exact, Same };

struct DfMp2Options {
  Precision precision = {};
  FitPrecision fit = FitPrecision::Exact;  // on a device
  std::int64_t frozen = 0;                 // lowest orbitals that stay out
  std::int64_t memory_bytes = std::int64_t{1} << 31;
  std::string scratch = "";                   // folder for B when memory is short; "": the system's
  std::int64_t block = 0;                     // most occupied orbitals in a block; 0: as many as memory allows
  const comm::Communicator* group = nullptr;  // collective over its ranks, each with an executor of its own
};

struct ScaledEnergy {
  double energy = 0, bound = 0;
};

struct DfMp2 {
  double opposite_spin = 0, same_spin = 0;
  double alpha_alpha = 0, beta_beta = 0;  // same_spin is their sum
  double bound = 0;                       // of all that ran on the executor
  double fit_error = 0;                   // the part of it that B brings along: ||dB_i|| / ||B_i||, at most
  Accuracy accuracy;                      // of the pair energies
  Mode fit_mode = Mode::Native;           // of the transforms and the solve
  DType dtype = DType::Float64;
  std::int64_t correlated = 0, virtuals = 0, fitting = 0;
  std::int64_t correlated_beta = 0, virtuals_beta = 0;  // of an unrestricted reference, the two above then alpha's
  std::int64_t blocks = 1;                              // of occupied orbitals
  bool streamed = false;                                // B went through a file
  std::int64_t streamed_bytes = 0;                      // to and from it
  std::vector<Stage> stages;
  [[nodiscard]] double energy() const { return opposite_spin + same_spin; }
  [[nodiscard]] ScaledEnergy scs() const { return scaled(6, 5, 1.0 / 3); }
  [[nodiscard]] ScaledEnergy sos() const { return scaled(13, 10, 0); }

 private:
  [[nodiscard]] ScaledEnergy scaled(double numerator, double denominator, double same) const {
    const double energy = numerator * opposite_spin / denominator + same * same_spin;
    return {energy, numerator / denominator * bound - 1e-15 * energy};  // five roundings; energies are negative
  }
};

// `scf` of rhf or uhf. InvalidArgument when nothing is left to correlate, when `memory_bytes` is below the least that
// works (the message says how much), or when (P|Q) is not positive definite; NotImplemented for a precision that the
// executor does not offer.
[[nodiscard]] DfMp2 df_mp2(const Executor& executor, const Scf& scf, const Basis& orbital, const Basis& fitting,
                           const DfMp2Options& options);

}  // namespace trn::mp2
