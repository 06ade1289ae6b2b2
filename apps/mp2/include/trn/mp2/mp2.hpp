// The whole program: a molecule and names of basis sets in, an energy and the account of how it came about out.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <trn/mp2/contracted.hpp>
#include <trn/mp2/df_mp2.hpp>
#include <trn/mp2/stochastic.hpp>

namespace trn::mp2 {

// The energy once more by contractions of whole tensors (contracted.hpp), or not.
enum class Contractions : std::uint8_t { No, Yes };

enum class JkKind : std::uint8_t { Fitted, Exact };

// Where the SCF's linear algebra runs (rhf.hpp says what that is): on the host, or on Mp2Options::executor.
enum class ScfPlace : std::uint8_t { Host, Executor };

struct Mp2Options {
  std::string basis = "cc-pVDZ";  // bundled name or Gaussian94 file
  std::string ri, jk;             // "": those that belong to the basis
  JkKind jk_kind = JkKind::Fitted;
  bool frozen_core = false;
  int multiplicity = 1;
  bool unrestricted = false;  // orbitals of either spin for multiplicity 1, too; every other has them
  std::string executor = "host";
  Precision precision = {};
  FitPrecision fit = FitPrecision::Exact;
  ScfPlace scf_place = ScfPlace::Host;
  ScfOptions scf = {};  // its executor is scf_place's
  std::int64_t memory_bytes = std::int64_t{1} << 31;
  std::string scratch = "";
  std::int64_t stochastic_samples = 0;  // 0: no estimate beside the energy
  std::uint64_t seed = 0;               // of the estimate
  Contractions contractions = Contractions::No;
  const comm::Communicator* group = nullptr;  // as in DfMp2Options
};

struct Mp2 {
  std::string molecule, formula, basis, ri, jk, executor;  // jk: "exact" without fitting
  Precision precision;
  int charge = 0, multiplicity = 1;
  std::int64_t frozen = 0, functions = 0;
  double nuclear_repulsion = 0;
  Scf scf;
  std::optional<DfMp2> mp2;  // none when the SCF did not converge
  std::optional<StochasticMp2> stochastic;
  std::optional<ContractedMp2> contracted;
  std::vector<Stage> stages;  // SCF and MP2
  [[nodiscard]] double total_energy() const { return scf.energy + (mp2 ? mp2->energy() : 0); }
};

[[nodiscard]] Mp2 run(const Molecule& molecule, const Mp2Options& options);

// molecule, basis, executor, precision, frozen_core, scf_energy, correlation_energy, same_spin, opposite_spin,
// scs_correlation_energy, sos_correlation_energy and their bounds, total_energy, bound, seconds, cpu_seconds and
// modelled_seconds by stage, and what else there is to know.
[[nodiscard]] nlohmann::ordered_json to_json(const Mp2& result);

}  // namespace trn::mp2
