// From names to bases, then SCF, then MP2; and the JSON of the result.
#include <trn/mp2/mp2.hpp>

#include <cmath>

#include <nlohmann/json.hpp>

#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/mp2/uhf.hpp>

#include "stages.hpp"

namespace trn::mp2 {

Mp2 run(const Molecule& molecule, const Mp2Options& options) {
  operands::check_enumerator("mp2", "JkKind", options.jk_kind, JkKind::Exact);
  operands::check_enumerator("mp2", "ScfPlace", options.scf_place, ScfPlace::Executor);
  const SpinCounts electrons = spin_counts(molecule, options.multiplicity);
  const bool unrestricted = options.unrestricted || options.multiplicity > 1;
  require(options.stochastic_samples == 0 || !unrestricted,
          "mp2: the stochastic estimate is one of closed shells; leave out --stochastic");
  require(options.contractions == Contractions::No || !unrestricted,
          "mp2: contractions of whole tensors are for closed shells; leave out --contractions");
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
  result.charge = molecule.charge;
  result.multiplicity = options.multiplicity;
  result.frozen = options.frozen_core ? molecule.core_orbitals() : 0;
  result.functions = orbital.size();
  result.nuclear_repulsion = molecule.nuclear_repulsion();
  require(
      result.frozen < electrons.alpha,
      "mp2: all {} occupied orbitals of {} are core orbitals; nothing is left to correlate: leave out --frozen-core",
      electrons.alpha, result.formula);
  ScfOptions scf = options.scf;
  scf.memory_bytes = options.memory_bytes;
  scf.scratch = options.scratch;
  scf.executor = options.scf_place == ScfPlace::Executor ? executor : Executor::host();
  const bool on_host = scf.executor.family() == Family::Host;
  StageClock(result.stages, scf.executor).run("scf", on_host ? "float64" : "float64 exact", [&] {
    const Basis* fitting = jk ? &*jk : nullptr;
    result.scf = unrestricted ? uhf(molecule, orbital, fitting, electrons, scf)
                              : rhf(molecule, orbital, fitting, electrons.alpha, scf);
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
  if (options.stochastic_samples > 0) {
    result.stochastic = stochastic_mp2(result.scf, orbital, ri,
                                       {.samples = options.stochastic_samples,
                                        .seed = options.seed,
                                        .frozen = result.frozen,
                                        .memory_bytes = options.memory_bytes});
    result.stages.push_back(result.stochastic->stages.back());
  }
  if (options.contractions == Contractions::Yes) {
    result.contracted = contracted_mp2(executor, result.scf, orbital, ri,
                                       {.frozen = result.frozen, .memory_bytes = options.memory_bytes});
    result.stages.push_back(result.contracted->stages.back());
  }
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
                           {"charge", r.charge},
                           {"multiplicity", r.multiplicity},
                           {"reference", r.scf.beta ? "uhf" : "rhf"},
                           {"occupied", r.scf.occupied},
                           {"dependent_functions", r.scf.dependent},
                           {"converged", r.scf.converged},
                           {"iterations", r.scf.iterations},
                           {"nuclear_repulsion", r.nuclear_repulsion},
                           {"scf_energy", r.scf.energy},
                           {"scf_streamed_bytes", r.scf.streamed_bytes}};
  if (!r.scf.converged) j["reason"] = r.scf.reason;
  if (r.jk == "exact") {
    j["quartets"] = r.scf.quartets.all;
    j["kept_quartets"] = r.scf.quartets.kept;
    j["screening_bound"] = r.scf.screening_bound;
  }
  if (r.scf.beta) {
    j["occupied_beta"] = r.scf.beta->occupied;
    j["spin_squared"] = r.scf.spin_squared;
  }
  if (r.mp2) {
    const DfMp2& m = *r.mp2;
    j["correlation_energy"] = m.energy();
    j["same_spin"] = m.same_spin;
    j["opposite_spin"] = m.opposite_spin;
    j["total_energy"] = r.total_energy();
    j["alpha_alpha"] = m.alpha_alpha;
    j["beta_beta"] = m.beta_beta;
    const auto bound = [](double b) { return std::isfinite(b) ? nlohmann::ordered_json(b) : nullptr; };
    j["bound"] = bound(m.bound);
    j["scs_correlation_energy"] = m.scs().energy;
    j["scs_bound"] = bound(m.scs().bound);
    j["sos_correlation_energy"] = m.sos().energy;
    j["sos_bound"] = bound(m.sos().bound);
    j["mode"] = std::string(name(m.accuracy.mode));
    j["fit_mode"] = std::string(name(m.fit_mode));
    j["dtype"] = std::string(trn::name(m.dtype));
    j["virtuals"] = m.virtuals;
    if (r.scf.beta) j["virtuals_beta"] = m.virtuals_beta;
    j["fitting_functions"] = m.fitting;
    j["blocks"] = m.blocks;
    j["streamed"] = m.streamed;
    j["streamed_bytes"] = m.streamed_bytes;
  }
  if (r.stochastic) {
    const StochasticMp2& s = *r.stochastic;
    j["stochastic"] = {{"correlation_energy", s.energy},
                       {"standard_error", s.standard_error},
                       {"interval", s.interval},
                       {"samples", s.samples},
                       {"seed", s.seed},
                       {"points", s.points},
                       {"quadrature_error", s.quadrature_error},
                       {"rounding_error", s.rounding_error}};
  }
  if (r.contracted) j["contracted_correlation_energy"] = r.contracted->energy;
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
