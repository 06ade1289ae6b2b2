// The whole program: a molecule and names of basis sets in, an energy and the account of how it came about out.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <trn/mp2/df_mp2.hpp>

namespace trn::mp2 {

enum class JkKind : std::uint8_t { Fitted, Exact };

struct Mp2Options {
  std::string basis = "cc-pVDZ";  // bundled name or Gaussian94 file
  std::string ri, jk;             // "": those that belong to the basis
  JkKind jk_kind = JkKind::Fitted;
  bool frozen_core = false;
  int multiplicity = 1;
  std::string executor = "host";
  Precision precision = {};
  FitPrecision fit = FitPrecision::Exact;
  ScfOptions scf = {};
  std::int64_t memory_bytes = std::int64_t{1} << 31;
  std::string scratch = "";
  const comm::Communicator* group = nullptr;  // as in DfMp2Options
};

struct Mp2 {
  std::string molecule, formula, basis, ri, jk, executor;  // jk: "exact" without fitting
  Precision precision;
  std::int64_t frozen = 0, functions = 0;
  double nuclear_repulsion = 0;
  Scf scf;
  std::optional<DfMp2> mp2;   // none when the SCF did not converge
  std::vector<Stage> stages;  // SCF and MP2
  [[nodiscard]] double total_energy() const { return scf.energy + (mp2 ? mp2->energy() : 0); }
};

[[nodiscard]] Mp2 run(const Molecule& molecule, const Mp2Options& options);

// molecule, basis, executor, precision, frozen_core, scf_energy, correlation_energy, same_spin, opposite_spin,
// total_energy, bound, seconds, cpu_seconds and modelled_seconds by stage, and what else there is to know.
[[nodiscard]] nlohmann::ordered_json to_json(const Mp2& result);

}  // namespace trn::mp2
