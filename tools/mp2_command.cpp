// `trnsci mp2`: the DF-MP2 energy of a molecule.
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#ifdef TRN_HAVE_MPI
#include <trn/comm_mpi/mpi.hpp>
#endif
#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/element.hpp>
#include <trn/mp2/mp2.hpp>

#include "commands.hpp"
#include "input_file.hpp"
#include "mp2_report.hpp"
#include "options.hpp"
#include "output.hpp"

namespace trn::tools {

namespace {

struct Arguments {
  std::string path, basis = "cc-pVDZ", basis_file, ri, jk, executor = "host", precision = "native", guess = "sad",
                    fit = "exact", scf = "host", json, report, memory = "2G", scratch;
  bool exact_jk = false, frozen_core = false, unrestricted = false, contractions = false, quiet = false;
  int charge = 0, multiplicity = 1, iterations = 100;
  std::int64_t stochastic = 0;
  std::uint64_t seed = 0;
  bool seeded = false;
  double bohr = mp2::kBohrInAngstrom, screening = mp2::kScreening;
};

// "512M", "2G", "1.5GiB"; a number alone counts MiB.
std::int64_t memory_of(const std::string& text) {
  std::size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  std::string unit = text.substr(end);
  for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  double scale = 0;
  for (const auto& [name, factor] :
       {std::pair<const char*, double>{"", 0x1p20}, {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}}) {
    const std::string letter = name;
    if (unit == letter || (!letter.empty() && (unit == letter + "B" || unit == letter + "IB"))) scale = factor;
  }
  require(end > 0 && scale > 0 && value > 0 && value * scale < 0x1p60,
          "mp2: --memory {} is not an amount of memory; write 512M or 2G", text);
  return static_cast<std::int64_t>(value * scale);
}

void show(const mp2::Mp2& r) {
  std::string head = fmt::format("{} {} in {}: {} functions, ", r.molecule, r.formula, r.basis, r.functions);
  head += r.scf.beta ? fmt::format("multiplicity {}, {} alpha and {} beta orbitals", r.multiplicity, r.scf.occupied,
                                   r.scf.beta->occupied)
                     : fmt::format("{} doubly occupied orbitals", r.scf.occupied);
  if (r.scf.dependent > 0)
    head += fmt::format(", {} linearly dependent function{} left out", r.scf.dependent, r.scf.dependent > 1 ? "s" : "");
  head +=
      fmt::format("\nJ and K: {}; correlation fitted with {}", r.jk == "exact" ? "four-centre integrals" : r.jk, r.ri);
  if (r.frozen > 0) head += fmt::format("; {} core orbital{} frozen", r.frozen, r.frozen > 1 ? "s" : "");
  if (r.jk == "exact")
    head +=
        fmt::format("\nscreening: {} of {} quartets of shells kept; the SCF energy changes by at most {:.1e} hartree",
                    r.scf.quartets.kept, r.scf.quartets.all, r.scf.screening_bound);
  if (r.scf.streamed_bytes > 0) head += "; its integrals streamed from disk";
  say_text(head);
  fmt::print("\nSCF energy          {:20.10f} hartree  ({} iterations{})\n", r.scf.energy, r.scf.iterations,
             r.scf.converged ? "" : ", not converged");
  if (r.scf.beta) {
    const double s = 0.5 * (r.multiplicity - 1);
    fmt::print("<S^2>               {:20.10f}  (a pure state: {:g})\n", r.scf.spin_squared, s * (s + 1));
  }
  if (r.mp2) {
    const mp2::DfMp2& m = *r.mp2;
    if (r.scf.beta)
      fmt::print("alpha-alpha         {:20.10f}\nbeta-beta           {:20.10f}\n", m.alpha_alpha, m.beta_beta);
    fmt::print("same spin           {:20.10f}\nopposite spin       {:20.10f}\ncorrelation energy  {:20.10f}\n",
               m.same_spin, m.opposite_spin, m.energy());
    fmt::print("total energy        {:20.10f}\n", r.total_energy());
    fmt::print("SCS-MP2 correlation {:20.10f}\nSOS-MP2 correlation {:20.10f}\n\n", m.scs().energy, m.sos().energy);
    say("on {} in {} ({}); bound on the error of the correlation energy: {:.1e} hartree (SCS {:.1e}, SOS "
        "{:.1e})",
        r.executor, name(m.accuracy.mode), trn::name(m.dtype), m.bound, m.scs().bound, m.sos().bound);
    if (m.fit_mode != m.accuracy.mode) say("transforms and solve in {}", name(m.fit_mode));
    if (r.stochastic) {
      const mp2::StochasticMp2& s = *r.stochastic;
      const double off = std::abs(s.energy - m.energy());
      say("stochastic estimate: {:.8f} +- {:.2g} hartree (95 % interval, {} products, seed {}); the energy above is "
          "{:.1e} hartree away, {} the interval",
          s.energy, s.interval, s.samples, s.seed, off, off <= s.interval ? "within" : "outside");
    }
    if (r.contracted)
      say("by contractions of whole tensors: {:.10f} hartree, {:.1e} away", r.contracted->energy,
          std::abs(r.contracted->energy - m.energy()));
    if (m.streamed || m.blocks > 1)
      fmt::print("{} blocks of occupied orbitals{}\n", m.blocks, m.streamed ? ", streamed from disk" : "");
  }
  fmt::print("\n");
  Table table({"stage", "executor", "arithmetic", "measured", "modelled"});
  for (const mp2::Stage& s : r.stages) {
    table.add({s.name, s.executor, s.precision, duration(s.seconds),
               s.modelled_seconds > 0 ? duration(s.modelled_seconds) : "-"});
  }
  table.print();
  legend("measured: this machine's clock (on a simulator, the time it took to simulate)");
  legend("modelled: what the device would take, by the simulator's timing model");
}

// On one rank of a group, or alone; rank 0 writes.
void run(const Arguments& a, const comm::Communicator* group) {
  const bool writes = group == nullptr || group->rank() == 0;
  require_readable("mp2", a.path);
  if (!a.basis_file.empty()) require_readable("--basis-file", a.basis_file);
  for (const std::string& name : {a.basis, a.ri, a.jk}) {
    if (name.find('/') != std::string::npos) require_readable("mp2", name);
  }
  require_different_files({{"--json", a.json}, {"--html", a.report}});
  require(a.report != "-", "--html: the page goes to a file; '-' is for --json alone");
  require(a.exact_jk || a.screening == mp2::kScreening,
          "mp2: --screening is about four-centre integrals, and J and K are fitted; add --exact-jk");
  require(a.stochastic > 0 || !a.seeded, "mp2: --seed is the stochastic estimate's; add --stochastic 60");
  JsonFile json(writes ? a.json : "");
  if (!a.report.empty()) {
    require(a.executor.starts_with("sim:"),
            "mp2: --html shows the engines of a simulated device, and executor '{}' has none; use --exec sim:trn2",
            a.executor);
    if (writes) const OutputFile claim("--html", a.report);  // a bad path costs nothing
  }
  mp2::Mp2Options options;
  options.basis = a.basis_file.empty()
                      ? a.basis
                      : fmt::format("{}{}", a.basis_file.find('/') == std::string::npos ? "./" : "", a.basis_file);
  options.ri = a.ri;
  options.jk = a.jk;
  options.jk_kind = a.exact_jk ? mp2::JkKind::Exact : mp2::JkKind::Fitted;
  options.frozen_core = a.frozen_core;
  options.multiplicity = a.multiplicity;
  options.unrestricted = a.unrestricted;
  options.executor = a.executor;
  options.precision = Precision::parse(a.precision);
  options.fit = a.fit == "same" ? mp2::FitPrecision::Same : mp2::FitPrecision::Exact;
  options.scf_place = a.scf == "exec" ? mp2::ScfPlace::Executor : mp2::ScfPlace::Host;
  options.memory_bytes = memory_of(a.memory);
  options.scratch = a.scratch;
  options.scf.guess = a.guess == "core" ? mp2::Guess::Core : mp2::Guess::Atoms;
  options.scf.iterations = a.iterations;
  options.scf.screening = a.screening;
  options.stochastic_samples = a.stochastic;
  options.seed = a.seed;
  options.contractions = a.contractions ? mp2::Contractions::Yes : mp2::Contractions::No;
  options.group = group;
  std::vector<mp2::ScfIteration> iterations;
  std::optional<Stage> stage;
  if (writes) stage.emplace(fmt::format("mp2 {}", a.path));
  options.scf.progress = [&](const mp2::ScfIteration& s) {
    iterations.push_back(s);
    if (stage) stage->rename(fmt::format("mp2 {}: SCF iteration {}", a.path, s.number + 1));
  };
  if (!a.quiet && writes) {
    options.scf.progress = [&, keep = options.scf.progress](const mp2::ScfIteration& s) {
      keep(s);
      if (s.number == 1) progress("{:>9}  {:>18}  {:>9}  {:>10}\n", "iteration", "energy", "change", "commutator");
      progress("{:>9}  {:18.10f}  {:9.1e}  {:10.1e}\n", s.number, s.energy, s.number == 1 ? 0.0 : s.change,
               s.commutator);
    };
  }
  const mp2::Molecule molecule = mp2::read_xyz(a.path, {.charge = a.charge, .bohr_in_angstrom = a.bohr});
  const mp2::Mp2 result = mp2::run(molecule, options);
  stage.reset();
  if (!writes) return;
  nlohmann::ordered_json out = mp2::to_json(result);
  out["atoms"] = nlohmann::ordered_json::array();
  for (const mp2::Atom& atom : molecule.atoms) {
    out["atoms"].push_back({{"element", mp2::label(atom)}, {"bohr", atom.position}});
  }
  out["bohr_in_angstrom"] = a.bohr;
  out["scf_changes"] = nlohmann::ordered_json::array();
  for (const mp2::ScfIteration& s : iterations) {
    out["scf_changes"].push_back(s.number == 1 ? 0.0 : s.change);  // before the first there is none
  }
  json.write(out);
  if (!json.replaces_text()) show(result);
  if (result.mp2 && !a.report.empty()) {
    write_report({molecule, result, iterations, options.scf}, a.report);
    if (!json.replaces_text()) say("\nreport: {}", a.report);
  }
  if (!result.scf.converged) fail<Error>("mp2: the SCF is {}", result.scf.reason);
}

}  // namespace

void add_mp2(Command& program) {
  Command sub = program.add("mp2", "DF-MP2 energy of a molecule from its .xyz file");
  auto a = std::make_shared<Arguments>();
  std::string names;
  for (const std::string& n : mp2::bundled_basis_names()) names += (names.empty() ? "" : ", ") + n;
  sub.text("molecule", a->path, "an .xyz file, in angstrom; @C: a ghost of C").required().reads();
  sub.text("--basis", a->basis, "orbital basis: " + names + ", or a Gaussian94 file name.gbs").reads();
  sub.text("--basis-file", a->basis_file, "orbital basis from this Gaussian94 file").reads();
  sub.text("--ri", a->ri, "fitting set of the correlation energy (default: the basis set's own)").reads();
  const Option jk = sub.text("--jk", a->jk, "fitting set of J and K (default: the basis set's own)");
  sub.flag("--exact-jk", a->exact_jk, "J and K from four-centre integrals").excludes(jk);
  sub.real("--screening", a->screening, "with --exact-jk: four-centre integrals up to this are left out", 0, 1);
  sub.number("--stochastic", a->stochastic, "a stochastic estimate beside the energy, from so many products", 18,
             1000000);
  const Option seed = sub.number("--seed", a->seed, "of the stochastic estimate");
  sub.flag("--contractions", a->contractions, "the energy once more, by contractions of whole tensors");
  sub.flag("--frozen-core", a->frozen_core, "leave core orbitals out of the correlation");
  sub.text("--exec", a->executor, "the executor of the MP2 part");
  sub.text("--scf", a->scf, "where the SCF's eigenproblems, Cholesky factors and products run", {"host", "exec"});
  sub.text("--precision", a->precision, "native, tf32x3, bf16x6, tf32, bf16, exact or target=1e-9 (hartree)")
      .completes(precision_words());
  sub.text("--fit", a->fit, "transforms and solve on a device: exact (float64), or the same precision as the energies",
           {"exact", "same"});
  sub.number("--charge", a->charge, "of the molecule", std::numeric_limits<int>::min(),
             std::numeric_limits<int>::max());
  sub.number("--multiplicity", a->multiplicity, "unpaired electrons and one; above 1 orbitals of either spin (UHF)", 1,
             1000);
  sub.flag("--unrestricted", a->unrestricted, "orbitals of either spin for multiplicity 1, too");
  sub.text("--guess", a->guess, "sad (atoms' densities) or core", {"sad", "core"});
  sub.number("--iterations", a->iterations, "most SCF iterations", 1, 10000);
  sub.text("--memory", a->memory, "for the large arrays, like 512M or 2G");
  sub.text("--scratch", a->scratch, "folder for temporary files (default: the system's)");
  sub.real("--bohr", a->bohr, "one bohr in angstrom");
  sub.text("--json", a->json, kJsonHelp);
  sub.text("--html,--report", a->report,
           "also write a page with the engine timeline of the pair energies (simulators)");
  sub.explain();
  sub.flag("--quiet", a->quiet, "no SCF iterations on standard error");
  sub.run([a, seed] {
    a->seeded = seed.given();
#ifdef TRN_HAVE_MPI
    if (!environment("OMPI_COMM_WORLD_SIZE", "").empty()) {  // set by mpirun
      (void)comm::mpi_main(0, nullptr, [&](const comm::Communicator& world) {
        run(*a, &world);
        return 0;
      });
      return;
    }
#endif
    run(*a, nullptr);
  });
}

}  // namespace trn::tools
