// The MP2 energy of a cluster of molecules, its pairs of orbitals shared among the ranks of a group: every rank has the
// molecule and the orbitals, computes its pairs, and pair energies are added in the order of pairs. So the energy has
// the same bits for every number of ranks, and so has everything that is printed but the line that counts them.
//
// The first --molecules of the file, --atoms atoms each, are computed together and one by one; what is left is the
// interaction (without a correction for the basis that they lend each other).
//
//   mpirun -np 2 62_mp2_over_ranks --file apps/mp2/molecules/water8.xyz [--molecules 2] [--atoms 3] [--basis cc-pVDZ]
#include <cstdio>

#include <trn/comm_mpi/mpi.hpp>
#include <trn/mp2/mp2.hpp>

#include "arguments.hpp"

namespace {

using trn::comm::Communicator;

int run(const Communicator& world, const trn::mp2::Molecule& all, std::int64_t molecules, std::int64_t atoms,
        const std::string& basis) {
  const bool writes = world.rank() == 0;
  if (writes) std::printf("%d ranks\n", world.size());
  bool right = true;
  const auto energy_of = [&](std::int64_t begin, std::int64_t end) {
    trn::mp2::Molecule part = all;
    part.atoms.assign(all.atoms.begin() + begin, all.atoms.begin() + end);
    trn::mp2::Mp2Options options;
    options.basis = basis;
    options.frozen_core = true;
    options.group = &world;
    const trn::mp2::Mp2 r = trn::mp2::run(part, options);
    right = right && r.scf.converged && r.mp2;
    if (writes && r.mp2)
      std::printf("%-8s SCF %.10f, correlation %.10f, bound of its error %.1e, total %.10f hartree\n",
                  r.formula.c_str(), r.scf.energy, r.mp2->energy(), r.mp2->bound, r.total_energy());
    return r.mp2 ? r.total_energy() : 0;
  };
  double apart = 0;
  for (std::int64_t m = 0; m < molecules; ++m) apart += energy_of(m * atoms, (m + 1) * atoms);
  const double interaction = energy_of(0, molecules * atoms) - apart;
  right = right && (molecules == 1 ? interaction == 0 : std::abs(interaction) < 0.1 * static_cast<double>(molecules));
  if (writes) std::printf("interaction %.10f hartree\n%s\n", interaction, right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Arguments arguments(argc, argv,
                                     {{"--file", ""}, {"--molecules", "2"}, {"--atoms", "3"}, {"--basis", "cc-pVDZ"}});
  const std::int64_t molecules = arguments.whole("--molecules", 1, 1000), atoms = arguments.whole("--atoms", 1, 1000);
  return trn::comm::mpi_main(argc, argv, [&](const Communicator& world) {
    const trn::mp2::Molecule all = trn::mp2::read_xyz(arguments.text("--file"));
    trn::require(molecules * atoms <= static_cast<std::int64_t>(all.atoms.size()),
                 "--file {}: {} atoms; {} molecules of {} are asked for", arguments.text("--file"), all.atoms.size(),
                 molecules, atoms);
    return run(world, all, molecules, atoms, arguments.text("--basis"));
  });
}
