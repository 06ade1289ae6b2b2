// Densities of spherical atoms, for the guess: Hartree-Fock on one atom with its electrons spread evenly over the three
// functions of a p shell, and an odd electron half in each spin. H to Ar have s and p electrons only.
#include <cmath>

#include <trn/mp2/rhf.hpp>

#include "diis.hpp"
#include "orthonormal.hpp"

namespace trn::mp2 {

namespace {

struct Configuration {
  int s, p;  // electrons
};

Configuration configuration(int z) {
  if (z <= 4) return {z, 0};
  if (z <= 10) return {4, z - 4};
  if (z <= 12) return {z - 6, 6};
  return {6, z - 6};
}

// D from orbitals in order of energy: the k-th s orbital and the k-th three of p take what is left, up to 2 and 6
// electrons.
Dense occupy(const Eigen& e, const Dense& overlap, const Basis& atom, Configuration electrons) {
  const std::int64_t n = atom.size();
  Dense d(n, n);
  const Dense sc = product(overlap, e.vectors);
  double s = electrons.s, p = electrons.p;
  for (std::int64_t k = 0; k < e.vectors.columns; ++k) {
    double weight = 0;  // of p functions in orbital k
    for (const Shell& shell : atom.shells()) {
      for (std::int64_t i = shell.first; shell.l == 1 && i < shell.first + shell.size; ++i)
        weight += e.vectors(i, k) * sc(i, k);
    }
    // A p shell's three orbitals come one after another and share alike: each takes a third of what its shell holds.
    const bool is_p = weight > 0.5;
    double& left = is_p ? p : s;
    if (left <= 0) continue;
    double take = 0;
    if (is_p) {
      // At the first of three, `p` is a whole shell's electrons; take them evenly.
      const double filled = electrons.p - p, shell = std::min(6.0, electrons.p - 6 * std::floor(filled / 6 + 1e-9));
      take = shell / 3;
    } else {
      take = std::min(2.0, s);
    }
    left -= take;
    if (left < 1e-9) left = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) d(i, j) += take / 2 * e.vectors(i, k) * e.vectors(j, k);
    }
  }
  return d;
}

}  // namespace

Dense atom_density(int number, const BasisSet& set, Functions functions) {
  Molecule molecule;
  molecule.atoms.push_back({number, {}});
  const Basis atom(set, molecule, functions);
  const Dense s = overlap(atom), t = kinetic(atom), v = nuclear_attraction(atom, molecule);
  Dense h = t;
  for (std::size_t i = 0; i < h.values.size(); ++i) h.values[i] += v.values[i];
  const Orthonormal x(Executor::host(), s);
  FourCentre two_electron(atom, std::int64_t{1} << 28);
  const Configuration electrons = configuration(number);
  Diis diis;
  Dense d = occupy(x.eigenvectors(h), s, atom, electrons);
  constexpr int kIterations = 40;
  constexpr double kEnough = 1e-5;  // a guess
  for (int i = 0; i < kIterations; ++i) {
    const CoulombExchange jk = two_electron(d);
    Dense f = h;
    for (std::size_t k = 0; k < f.values.size(); ++k) f.values[k] += 2 * jk.coulomb.values[k] - jk.exchange.values[k];
    const Dense fds = product(product(f, d), s);
    Dense error(fds.rows, fds.columns);
    double most = 0;
    for (std::int64_t a = 0; a < fds.rows; ++a) {
      for (std::int64_t b = 0; b < fds.columns; ++b) {
        error(a, b) = fds(a, b) - fds(b, a);
        most = std::max(most, std::abs(error(a, b)));
      }
    }
    if (most < kEnough) break;
    d = occupy(x.eigenvectors(diis.extrapolate(f, error)), s, atom, electrons);
  }
  return d;
}

}  // namespace trn::mp2
