// From names to bases, then SCF, then MP2; and the JSON of the result.
#include <trn/mp2/mp2.hpp>

#include <cmath>

#include <nlohmann/json.hpp>

#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>

#include "stages.hpp"

namespace trn::mp2 {

Mp2 run(const Molecule& molecule, const Mp2Options& options) {
  operands::check_enumerator("mp2", "JkKind", options.jk_kind, JkKind::Exact);
  const int occupied = closed_shell_orbitals(molecule, options.multiplicity);
  const Executor executor = Executor::open(options.executor);
  const Basis orbital(find_basis(options.basis), molecule);
  const FittingSets partners = fitting_sets(orbital.set());
  const bool fitted = options.jk_kind == JkKind::Fitted;
  const auto choose = [&](const std::string& given, const std::string& partner, const char* what, const char* remedy) {
    require(!given.empty() || !partner.empty(), "mp2: no {} fitting set belongs to basis {}; name one with {}", what,
            orbital.name(), remedy);
    return Basis(find_basis(given.empty() ? partner : given), molecule, orbital.functions());
  };
  const Basis ri = choose(options.ri, partners.ri, "correlation", "--ri");
  std::optional<Basis> jk;
  if (fitted) jk.emplace(choose(options.jk, partners.jk, "Coulomb and exchange", "--jk, or use --exact-jk"));

  Mp2 result;
  result.molecule = molecule.name;
  result.formula = molecule.formula();
  result.basis = orbital.name();
  result.ri = ri.name();
  result.jk = jk ? jk->name() : "exact";
  result.executor = executor.name();
  result.precision = options.precision;
  result.frozen = options.frozen_core ? molecule.core_orbitals() : 0;
  result.functions = orbital.size();
  result.nuclear_repulsion = molecule.nuclear_repulsion();
  require(
      result.frozen < occupied,
      "mp2: all {} occupied orbitals of {} are core orbitals; nothing is left to correlate: leave out --frozen-core",
      occupied, result.formula);
  ScfOptions scf = options.scf;
  scf.memory_bytes = options.memory_bytes;
  scf.scratch = options.scratch;
  StageClock(result.stages, Executor::host()).run("scf", "float64", [&] {
    result.scf = rhf(molecule, orbital, jk ? &*jk : nullptr, occupied, scf);
  });
  if (!result.scf.converged) return result;
  result.mp2 = df_mp2(executor, result.scf, orbital, ri,
                      {.precision = options.precision,
                       .fit = options.fit,
                       .frozen = result.frozen,
                       .memory_bytes = options.memory_bytes,
                       .scratch = options.scratch,
                       .group = options.group});
  result.stages.insert(result.stages.end(), result.mp2->stages.begin(), result.mp2->stages.end());
  return result;
}

nlohmann::ordered_json to_json(const Mp2& r) {
  const std::string precision = r.precision.has_target() ? fmt::format("target={:g}", r.precision.target_error())
                                                         : std::string(name(r.precision.mode()));
  nlohmann::ordered_json j{{"molecule", r.molecule},
                           {"formula", r.formula},
                           {"basis", r.basis},
                           {"ri", r.ri},
                           {"jk", r.jk},
                           {"executor", r.executor},
                           {"precision", precision},
                           {"frozen_core", r.frozen},
                           {"functions", r.functions},
                           {"occupied", r.scf.occupied},
                           {"dependent_functions", r.scf.dependent},
                           {"converged", r.scf.converged},
                           {"iterations", r.scf.iterations},
                           {"nuclear_repulsion", r.nuclear_repulsion},
                           {"scf_energy", r.scf.energy},
                           {"scf_streamed_bytes", r.scf.streamed_bytes}};
  if (!r.scf.converged) j["reason"] = r.scf.reason;
  if (r.mp2) {
    const DfMp2& m = *r.mp2;
    j["correlation_energy"] = m.energy();
    j["same_spin"] = m.same_spin;
    j["opposite_spin"] = m.opposite_spin;
    j["total_energy"] = r.total_energy();
    if (std::isfinite(m.bound))
      j["bound"] = m.bound;
    else
      j["bound"] = nullptr;
    j["mode"] = std::string(name(m.accuracy.mode));
    j["dtype"] = std::string(trn::name(m.dtype));
    j["virtuals"] = m.virtuals;
    j["fitting_functions"] = m.fitting;
    j["blocks"] = m.blocks;
    j["streamed"] = m.streamed;
    j["streamed_bytes"] = m.streamed_bytes;
  }
  nlohmann::ordered_json seconds, cpu, modelled, where, arithmetic;
  for (const Stage& s : r.stages) {
    seconds[s.name] = s.seconds;
    cpu[s.name] = s.cpu_seconds;
    if (s.modelled_seconds > 0) modelled[s.name] = s.modelled_seconds;
    where[s.name] = s.executor;
    arithmetic[s.name] = s.precision;
  }
  j["seconds"] = seconds;
  j["cpu_seconds"] = cpu;
  j["modelled_seconds"] = modelled.is_null() ? nlohmann::ordered_json::object() : modelled;
  j["stage_executor"] = where;
  j["stage_precision"] = arithmetic;
  return j;
}

}  // namespace trn::mp2
