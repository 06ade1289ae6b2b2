// Choice of arithmetic and of blocks, the fit, and pair energies block by block, added in pair order.
#include <trn/mp2/df_mp2.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include <omp.h>

#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>

#include "pair_blocks.hpp"
#include "spin_pairs.hpp"
#include "stages.hpp"

namespace trn::mp2 {

namespace {

// The rounding of B to float32 alone costs more than this in any molecule of interest: a smaller target goes to float64
// at once.
constexpr double kFloat32Floor = 1e-7;

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// The orbitals of one spin that take part, or of both at once in a closed shell.
struct Side {
  FitInput in;
  std::vector<double> occupied, virtuals;  // energies
  [[nodiscard]] bool active() const { return !occupied.empty() && !virtuals.empty(); }
};

// Where B is, and how many of its panels make a block of occupied orbitals.
struct Plan {
  bool in_memory = true;
  std::int64_t block = 0;
};

// B is stored as S and multiplied as T. On the host it is used where it is; a device has its own copy of up to two
// blocks beside the one being read (a simulator's memory is this machine's). Two spins are multiplied with the virtual
// orbitals of both side by side, a block of each.
template <class S, class T> Plan plan_of(const Executor& executor, const std::vector<Side>& sides, Mode fit_mode,
                                         std::int64_t memory, std::int64_t most_block) {
  const std::int64_t naux = sides[0].in.fitting->size();
  const bool host = executor.family() == Family::Host, spins = sides.size() > 1;
  std::int64_t nocc = 1, wide = 0, widest = 0, all = 0, fit[2] = {0, 0};
  for (const Side& side : sides) {
    if (!side.active()) continue;
    const std::int64_t orbitals = side.in.occupied.columns, virtuals = side.in.virtuals.columns;
    nocc = std::max(nocc, orbitals);
    wide += virtuals;
    widest = std::max(widest, virtuals);
    all += orbitals * naux * virtuals * static_cast<std::int64_t>(sizeof(S));
    for (const int in_memory : {0, 1})
      fit[in_memory] = std::max(fit[in_memory], fit_bytes(executor, side.in, fit_mode, sizeof(S), in_memory == 1));
  }
  const std::int64_t stored = naux * widest * static_cast<std::int64_t>(sizeof(S)),
                     used = naux * wide * static_cast<std::int64_t>(sizeof(T));
  const auto bytes = [&](bool in_memory, std::int64_t block) {
    const std::int64_t kept = in_memory ? all : 0;
    const std::int64_t resident = spins ? 2 * block : std::min(nocc, block == nocc ? nocc : 2 * block);
    const std::int64_t pairs = host ? 8 * omp_get_max_threads() * wide * wide : 0;  // T of each thread
    const bool in_place = host && in_memory && block == nocc && !spins;
    return std::max(fit[in_memory ? 1 : 0] + kept,
                    kept + pairs + (in_place ? 0 : resident * used * (host ? 1 : 2) + stored));
  };
  for (const bool in_memory : {true, false}) {
    for (std::int64_t block = nocc; block >= 1;
         block = block == nocc && nocc > 1 ? std::max<std::int64_t>(1, (nocc - 1) / 2) : block - 1) {
      if (most_block > 0 && block > most_block) continue;
      if (bytes(in_memory, block) <= memory) return {in_memory, block};
    }
  }
  fail<InvalidArgument>(
      "mp2: --memory {:.1f} MiB is too little for {} fitting and {} orbital functions; give at least {:.2f} MiB",
      mebibytes(memory), naux, sides[0].in.orbital->size(), std::ceil(100 * mebibytes(bytes(false, 1))) / 100);
}

// Transforms and solve in S, energies in T.
template <class S, class T> DfMp2 run(const Executor& executor, const std::vector<Side>& sides,
                                      const DfMp2Options& options, Mode fit_mode, Mode energy_mode,
                                      HalfTransform words = HalfTransform::OneWord) {
  DfMp2 result;
  result.dtype = dtype_of<T>;
  result.fit_mode = fit_mode;
  result.correlated = sides[0].in.occupied.columns;
  result.virtuals = sides[0].in.virtuals.columns;
  result.fitting = sides[0].in.fitting->size();
  const Plan plan = plan_of<S, T>(executor, sides, fit_mode, options.memory_bytes, options.block);
  result.streamed = !plan.in_memory;
  std::vector<std::unique_ptr<PanelStore<S>>> stores;
  std::vector<SpinPanels<S>> panels;
  for (const Side& side : sides) {
    panels.push_back({nullptr, side.occupied, side.virtuals, {}});
    if (!side.active()) continue;
    stores.push_back(std::make_unique<PanelStore<S>>(
        plan.in_memory ? PanelStore<S>::Place::Memory : PanelStore<S>::Place::File, side.in.occupied.columns,
        result.fitting, side.in.virtuals.columns, options.scratch));
    panels.back().store = stores.back().get();
    const FitResult fitted = fit<S>(executor, side.in, fit_mode, words, *stores.back(), result.stages);
    std::vector<double>& errors = panels.back().errors = fitted.errors;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (!std::is_same_v<S, T>) errors[i] += unit_roundoff(dtype_of<T>) * fitted.norms[i];
      result.fit_error = std::max(result.fit_error, errors[i] / fitted.norms[i]);
    }
  }
  // Of pairs of the same spin, closed shells: of all.
  std::vector<PairTotal> totals(panels.size());
  PairTotal cross;
  StageClock(result.stages, executor).run("pair_energy", work_name(result.dtype, energy_mode), [&] {
    for (std::size_t s = 0; s < panels.size(); ++s) {
      const SpinPanels<S>& side = panels[s];
      if (side.store == nullptr) continue;
      Pairs<S, T> pairs(executor, result.fitting, side.occupied, side.virtuals,
                        {.precision = energy_mode, .input_errors = side.errors}, *side.store);
      const std::int64_t blocks =
          pairs.run(std::min(plan.block, static_cast<std::int64_t>(side.occupied.size())), options.group);
      result.blocks = std::max(result.blocks, blocks);
      totals[s] = pairs.total();
      result.accuracy = pairs.accuracy();
    }
    if (panels.size() == 2 && panels[0].store != nullptr && panels[1].store != nullptr) {
      CrossPairs<S, T> pairs(executor, result.fitting, panels[0], panels[1], energy_mode);
      pairs.run(plan.block, options.group);
      cross = pairs.total();
    }
  });
  if (panels.size() == 1) {
    result.opposite_spin = totals[0].opposite;
    result.same_spin = totals[0].same;
    result.bound = totals[0].bound;
    result.alpha_alpha = result.beta_beta = result.same_spin / 2;
  } else {
    // e_ss counts every pair of a closed shell's orbitals in both spins.
    result.correlated_beta = sides[1].in.occupied.columns;
    result.virtuals_beta = sides[1].in.virtuals.columns;
    result.alpha_alpha = totals[0].same / 2;
    result.beta_beta = totals[1].same / 2;
    result.same_spin = result.alpha_alpha + result.beta_beta;
    result.opposite_spin = cross.opposite;
    result.bound = totals[0].bound / 2 + totals[1].bound / 2 + cross.bound;
  }
  for (const auto& store : stores) result.streamed_bytes += store->file_bytes();
  return result;
}

// One mode of a device.
DfMp2 on_device(const Executor& executor, const std::vector<Side>& sides, const DfMp2Options& options, Mode mode,
                HalfTransform words = HalfTransform::OneWord) {
  if (mode == Mode::Exact) return run<double, double>(executor, sides, options, mode, mode, words);
  if (options.fit == FitPrecision::Same) return run<float, float>(executor, sides, options, mode, mode, words);
  return run<double, float>(executor, sides, options, Mode::Exact, mode, words);
}

Side side_of(const Basis& orbital, const Basis& fitting, const Dense& orbitals, const std::vector<double>& energies,
             std::int64_t occupied, std::int64_t frozen) {
  const auto at = energies.begin();
  return {{&orbital, &fitting, orbitals.columns_from(frozen, occupied - frozen),
           orbitals.columns_from(occupied, orbitals.columns - occupied)},
          {at + frozen, at + occupied},
          {at + occupied, energies.end()}};
}

}  // namespace

DfMp2 df_mp2(const Executor& executor, const Scf& scf, const Basis& orbital, const Basis& fitting,
             const DfMp2Options& options) {
  operands::check_enumerator("mp2", "FitPrecision", options.fit, FitPrecision::Same);
  operands::check_enumerator("mp2", options.precision);
  require(options.block >= 0,
          "mp2: blocks of {} occupied orbitals; give at least one, or 0 for as many as memory allows", options.block);
  require(options.frozen >= 0 && options.frozen < scf.occupied,
          "mp2: {} of {} occupied orbitals are frozen; nothing is left to correlate: leave out --frozen-core",
          options.frozen, scf.occupied);
  std::vector<Side> sides{side_of(orbital, fitting, scf.orbitals, scf.orbital_energies, scf.occupied, options.frozen)};
  if (scf.beta)
    sides.push_back(side_of(orbital, fitting, scf.beta->orbitals, scf.beta->energies, scf.beta->occupied,
                            std::min(options.frozen, scf.beta->occupied)));
  require(std::ranges::any_of(sides, &Side::active),
          "mp2: basis {} has {} functions for {} occupied orbitals; without virtual orbitals there is no correlation: "
          "choose a larger basis",
          orbital.name(), scf.orbitals.columns, scf.occupied);
  const Precision asked = options.precision;
  if (executor.family() == Family::Host) {
    if (!asked.has_target() && asked.mode() != Mode::Native && asked.mode() != Mode::Exact) {
      fail<NotImplemented>(
          "mp2: the host computes in float64, not in {}; use native, exact or target=..., or a device executor",
          name(asked.mode()));
    }
    const bool native = !asked.has_target() && asked.mode() == Mode::Native;
    DfMp2 result = run<double, double>(executor, sides, options, native ? Mode::Native : Mode::Exact, Mode::Native,
                                       asked.has_target() ? HalfTransform::TwoWords : HalfTransform::OneWord);
    if (asked.has_target() && !(result.bound <= asked.target_error())) {
      fail<InvalidArgument>(
          "mp2: float64 on the host gives a bound of {:.1e} hartree, above the target {:g}; ask for a larger one",
          result.bound, asked.target_error());
    }
    return result;
  }
  if (!asked.has_target()) return on_device(executor, sides, options, asked.mode());
  DfMp2 result;
  for (const Mode mode : {Mode::Tf32x3, Mode::Native, Mode::Exact}) {
    if (mode != Mode::Exact && asked.target_error() < kFloat32Floor) continue;
    result = on_device(executor, sides, options, mode);
    if (result.bound <= asked.target_error()) return result;
    // Two words cost twice the transforms, so one word is tried first. They help where the fit's error is not far below
    // that of the energies, which float32 energies of a float64 fit never are.
    if (mode != Mode::Exact && options.fit == FitPrecision::Exact) continue;
    result = on_device(executor, sides, options, mode, HalfTransform::TwoWords);
    if (result.bound <= asked.target_error()) return result;
  }
  fail<InvalidArgument>(
      "mp2: no mode on executor '{}' reaches a bound of {:g} hartree; exact gives {:.1e}: ask for a larger one",
      executor.name(), asked.target_error(), result.bound);
}

}  // namespace trn::mp2
