// DF-MP2 by contractions of whole tensors.
#include <trn/mp2/contracted.hpp>

#include <trn/blas/trsm.hpp>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/integrals.hpp>
#include <trn/tensor/einsum.hpp>

#include "stages.hpp"

namespace trn::mp2 {

ContractedMp2 contracted_mp2(const Executor& executor, const Scf& scf, const Basis& orbital, const Basis& fitting,
                             const ContractedOptions& options) {
  require(!scf.beta, "mp2: contractions of whole tensors are for closed shells; leave out --contractions");
  const std::int64_t n = orbital.size(), naux = fitting.size(), nocc = scf.occupied - options.frozen,
                     nvir = scf.orbitals.columns - scf.occupied, pairs = nocc * nvir;
  require(options.frozen >= 0 && nocc >= 1 && nvir >= 1,
          "mp2: {} orbitals to correlate and {} virtual ones; both must be there", nocc, nvir);
  // (P|mn), its half transform, B and L once on the executor; (P|mn) and T on the host as well.
  const std::int64_t needed =
      8 * (2 * naux * n * n + naux * n * nocc + naux * pairs + 2 * naux * naux + 2 * pairs * pairs);
  require(needed <= options.memory_bytes, "mp2: contractions of whole tensors take {:.0f} MiB; give more with --memory",
          static_cast<double>(needed) / (1 << 20));
  ContractedMp2 result;
  const Mode mode = executor.family() == Family::Device ? Mode::Exact : Mode::Native;
  StageClock(result.stages, executor).run("contractions", work_name(DType::Float64, mode), [&] {
    std::vector<double> three(static_cast<std::size_t>(naux * n * n)), occupied, virtuals;
    ThreeCentre(orbital, fitting).compute(0, static_cast<std::int64_t>(fitting.shells().size()), three.data());
    for (std::int64_t m = 0; m < n; ++m) {
      for (std::int64_t k = options.frozen; k < scf.orbitals.columns; ++k)
        (k < scf.occupied ? occupied : virtuals).push_back(scf.orbitals(m, k));
    }
    const auto integrals = Array<double>::from_host(executor, {naux, n, n}, three),
               c_o = Array<double>::from_host(executor, {n, nocc}, occupied),
               c_v = Array<double>::from_host(executor, {n, nvir}, virtuals);
    const tensor::EinsumOptions einsum{.precision = mode};
    const Array<double> b =
        tensor::einsum<const double>(executor, "pmn,mi,na->pia", {integrals.view(), c_o.view(), c_v.view()}, einsum);
    const Dense l = fitting_factor(fitting, "", executor);
    const auto factor =
        Array<double>::from_host(executor, {naux, naux}, std::vector<double>(l.data(), l.data() + naux * naux));
    blas::trsm<double>(executor, blas::Side::Left, blas::Uplo::Lower, blas::Op::N, blas::Diag::NonUnit, 1,
                       MatrixView<const double>::row_major(executor, factor.data(), naux, naux),
                       MatrixView<double>::row_major(executor, b.data(), naux, pairs), {.precision = mode});
    const View<const double> fitted(b.view());
    const auto t = tensor::einsum<const double>(executor, "pia,pjb->iajb", {fitted, fitted}, einsum).to_host();
    const auto at = [&](std::int64_t i, std::int64_t a, std::int64_t j, std::int64_t c) {
      return t[static_cast<std::size_t>((i * nvir + a) * pairs + j * nvir + c)];
    };
    const auto e = [&](std::int64_t k) { return scf.orbital_energies[static_cast<std::size_t>(options.frozen + k)]; };
    for (std::int64_t i = 0; i < nocc; ++i) {
      for (std::int64_t j = 0; j < nocc; ++j) {
        double pair = 0;
        for (std::int64_t a = 0; a < nvir; ++a) {
          for (std::int64_t c = 0; c < nvir; ++c)
            pair += at(i, a, j, c) * (2 * at(i, a, j, c) - at(i, c, j, a)) / (e(i) + e(j) - e(nocc + a) - e(nocc + c));
        }
        result.energy += pair;
      }
    }
  });
  return result;
}

}  // namespace trn::mp2
