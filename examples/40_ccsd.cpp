// Coupled cluster energy of water in cc-pVDZ: Hartree-Fock and integrals from mp2, the four-index transformation and
// the CCSD residual, one multi-plan of einsums, from trntensor. All electrons are correlated.
#include <cmath>
#include <cstdio>

#include <trn/mp2/rhf.hpp>
#include <trn/tensor/ccsd.hpp>
#include <trn/trn.hpp>

int main() {
  using namespace trn;
  // The geometry of apps/mp2/molecules/water.xyz; the energies below are PySCF's for it.
  mp2::Molecule water;
  const double bohr = 1 / mp2::kBohrInAngstrom;
  water.atoms = {{8, {0, 0, -0.068516219320 * bohr}},
                 {1, {0, -0.790689573744 * bohr, 0.543701060715 * bohr}},
                 {1, {0, 0.790689573744 * bohr, 0.543701060715 * bohr}}};
  const mp2::Basis basis(mp2::bundled_basis("cc-pVDZ"), water);
  mp2::ScfOptions scf_options;
  scf_options.energy_change = 1e-12;
  const mp2::Scf scf = mp2::rhf(water, basis, nullptr, 5, scf_options);
  const std::int64_t n = basis.size();

  // (mn|ls) as the Coulomb matrices of unit densities.
  mp2::FourCentre coulomb(basis, std::int64_t{1} << 28);
  Array<double> ao(Executor::host(), {n, n, n, n});
  for (std::int64_t l = 0; l < n; ++l) {
    for (std::int64_t s = 0; s <= l; ++s) {
      mp2::Dense density(n, n);
      density(l, s) = density(s, l) = l == s ? 1 : 0.5;
      const mp2::Dense j = coulomb(density).coulomb;
      for (std::int64_t mn = 0; mn < n * n; ++mn) {
        const double x = j.values[static_cast<std::size_t>(mn)];
        ao.data()[mn * n * n + l * n + s] = ao.data()[mn * n * n + s * n + l] = x;
      }
    }
  }
  const MatrixView<const double> c = scf.orbitals.view();
  const Array<double> mo = tensor::ao_to_mo<double>(Executor::host(), ao.view(), {c, c, c, c});
  tensor::CcsdOptions options;
  options.progress = [](const tensor::CcsdIteration& i) {
    std::printf("%3d  %.12f  %9.2e\n", i.number, i.energy, i.residual);
  };
  const tensor::Ccsd result =
      tensor::ccsd(Executor::host(), View<const double>(mo.view()), scf.orbital_energies, 5, options);

  std::printf("RHF %.11f, CCSD correlation %.12f Ha after %d iterations (%lld einsums, %lld shared, %.2f Gflop each)\n",
              scf.energy, result.energy, result.iterations, static_cast<long long>(result.steps),
              static_cast<long long>(result.shared), result.flops * 1e-9);
  const double rhf_error = scf.energy + 76.02141844602458, error = result.energy + 0.21631175897162866;
  std::printf("against PySCF: %.1e and %.1e Ha\n", rhf_error, error);
  return result.converged && std::abs(error) < 1e-9 && std::abs(rhf_error) < 1e-8 ? 0 : 1;
}
