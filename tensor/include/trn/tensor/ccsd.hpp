// Coupled cluster with single and double excitations as one multi-plan: the residual in spin orbitals of a canonical
// Hartree-Fock reference, factored as by Stanton, Gauss, Watts and Bartlett (J. Chem. Phys. 94, 4334, 1991), without a
// tensor of four virtual indices besides the integrals.
//
//   auto r = ccsd(Executor::host(), eri.view(), orbital_energies, occupied);     r.energy: of correlation
#pragma once

#include <functional>
#include <span>

#include <trn/core/array.hpp>
#include <trn/tensor/multi_plan.hpp>

namespace trn::tensor {

// Inputs, over o occupied and v virtual spin orbitals, <pq||rs> = <pq|rs> - <pq|sr>: "oooo", "ooov", "oovv", "ovvo",
// "ovvv", "vvvv" (by the kinds of p, q, r, s), the amplitudes "t1" (o, v) and "t2" (o, o, v, v). Outputs: "r1" and
// "r2", which divided by e_i - e_a and e_i + e_j - e_a - e_b are the next amplitudes, and "energy" (no axes).
[[nodiscard]] MultiDescription ccsd_residual(std::int64_t o, std::int64_t v);

struct CcsdIteration {
  int number = 0;
  double energy = 0, change = 0, residual = 0;  // the largest change of an amplitude
};
struct CcsdOptions {
  int iterations = 60;
  double amplitudes =
      1e-9;      // converged when no amplitude changes by more, and the energy by no more than a tenth of it
  int kept = 6;  // amplitudes that are extrapolated from (Pulay's DIIS)
  std::function<void(const CcsdIteration&)> progress = {};
};
struct Ccsd {
  bool converged = false;
  int iterations = 0;
  double energy = 0;  // of correlation, in the units of the integrals
  double flops = 0;   // of one residual
  std::int64_t steps = 0, shared = 0;
};
// eri(p, q, r, s) = (pq|rs) over n spatial orbitals, energies ascending, the first `occupied` doubly occupied. On
// the host: the residual is of float64, which devices have in Exact only. Not converging is a result.
[[nodiscard]] Ccsd ccsd(const Executor& executor, const View<const double>& eri, std::span<const double> energies,
                        std::int64_t occupied, const CcsdOptions& options = {});

}  // namespace trn::tensor
