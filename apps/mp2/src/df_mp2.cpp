// Choice of arithmetic and of blocks, the fit, and pair energies block by block, added in pair order.
#include <trn/mp2/df_mp2.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>

#include <omp.h>

#include <trn/blas/pair_energy.hpp>
#include <trn/comm/collectives.hpp>
#include <trn/core/array.hpp>
#include <trn/core/eft.hpp>
#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/panel_store.hpp>

#include "fit.hpp"
#include "stages.hpp"

namespace trn::mp2 {

namespace {

// The rounding of B to float32 alone costs more than this in any molecule of interest: a smaller target goes to float64
// at once.
constexpr double kFloat32Floor = 1e-7;

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// Where B is, and how many of its panels make a block of occupied orbitals.
struct Plan {
  bool in_memory = true;
  std::int64_t block = 0;
};

// B is stored as S and multiplied as T. On the host it is used where it is; a device has its own copy of up to two
// blocks beside the one being read (a simulator's memory is this machine's).
template <class S, class T> Plan plan_of(const Executor& executor, const FitInput& in, Mode fit_mode,
                                         std::int64_t memory, std::int64_t most_block) {
  const std::int64_t nocc = in.occupied.columns, elements = in.fitting->size() * in.virtuals.columns;
  const std::int64_t stored = elements * static_cast<std::int64_t>(sizeof(S)),
                     used = elements * static_cast<std::int64_t>(sizeof(T));
  const bool host = executor.family() == Family::Host;
  const std::int64_t all = nocc * stored, fit[] = {fit_bytes(executor, in, fit_mode, sizeof(S), false),
                                                   fit_bytes(executor, in, fit_mode, sizeof(S), true)};
  const auto bytes = [&](bool in_memory, std::int64_t block) {
    const std::int64_t kept = in_memory ? all : 0;
    const std::int64_t resident = std::min(nocc, block == nocc ? nocc : 2 * block);
    const std::int64_t pairs =
        host ? 8 * omp_get_max_threads() * in.virtuals.columns * in.virtuals.columns : 0;  // T of each thread
    return std::max(
        fit[in_memory ? 1 : 0] + kept,
        kept + pairs + (host && in_memory && block == nocc ? 0 : resident * used * (host ? 1 : 2) + stored));
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
      mebibytes(memory), in.fitting->size(), in.orbital->size(), std::ceil(100 * mebibytes(bytes(false, 1))) / 100);
}

// Terms of all pairs, in pair order.
template <class S, class T> class Pairs {
 public:
  Pairs(const Executor& executor, const FitInput& in, const std::vector<double>& occupied,
        const std::vector<double>& virtuals, const blas::PairEnergyOptions& options, PanelStore<S>& store)
      : executor_(executor),
        naux_(in.fitting->size()),
        nvir_(in.virtuals.columns),
        low_(occupied.begin(), occupied.end()),
        high_(Array<T>::from_host(executor, {nvir_}, std::vector<T>(virtuals.begin(), virtuals.end()))),
        options_(options),
        store_(store),
        terms_(occupied.size() * (occupied.size() + 1) / 2) {
    for (const auto* list : {&occupied, &virtuals}) {
      for (const double e : *list) options_.largest_energy = std::max(options_.largest_energy, std::abs(e));
    }
  }

  // Returns how many blocks of that size there are.
  [[nodiscard]] std::int64_t run(std::int64_t block, const comm::Communicator* group) {
    const auto nocc = static_cast<std::int64_t>(low_.size());
    if (group != nullptr && group->size() > 1) {
      deal(std::min(block, block_for(nocc, group->size())), *group);
      gather(*group);
      return (nocc + block - 1) / block;
    }
    if constexpr (std::is_same_v<S, T>) {
      if (executor_.family() == Family::Host && store_.memory() != nullptr && block == nocc) {
        call(store_.memory(), 0, nocc, 0, 0);
        return 1;
      }
    }
    std::vector<T> host(static_cast<std::size_t>(std::min(nocc, block == nocc ? nocc : 2 * block) * naux_ * nvir_));
    std::int64_t blocks = 0;
    for (std::int64_t i = 0; i < nocc; i += block, ++blocks) {
      const std::int64_t left = std::min(block, nocc - i);
      read(i, left, host.data());
      at_executor(host, i, left, 0, 0);
      for (std::int64_t j = i + block; j < nocc; j += block) {
        const std::int64_t right = std::min(block, nocc - j);
        read(j, right, host.data() + left * naux_ * nvir_);
        at_executor(host, i, left, j, right);
      }
    }
    return blocks;
  }

  void add_up(DfMp2& result) const {
    DoubleDouble opposite, same;
    for (const blas::PairTerm& t : terms_) {
      opposite = opposite + DoubleDouble(t.opposite_spin);
      same = same + DoubleDouble(t.same_spin);
      result.bound += t.bound;
    }
    result.opposite_spin = static_cast<double>(opposite);
    result.same_spin = static_cast<double>(same);
    result.accuracy = accuracy_;
  }

 private:
  // Blocks whose pairs are at least four for each rank, so that all are busy about as long.
  static std::int64_t block_for(std::int64_t nocc, int ranks) {
    const auto blocks = static_cast<std::int64_t>(std::ceil(std::sqrt(8.0 * ranks)));
    return std::max<std::int64_t>(1, (nocc + blocks - 1) / blocks);
  }
  // Pairs of blocks, one rank after the other.
  void deal(std::int64_t block, const comm::Communicator& group) {
    const auto nocc = static_cast<std::int64_t>(low_.size());
    std::vector<T> host(static_cast<std::size_t>(std::min(nocc, 2 * block) * naux_ * nvir_));
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < nocc; i += block) {
      const std::int64_t left = std::min(block, nocc - i);
      bool have = false;
      for (std::int64_t j = i; j < nocc; j += block) {
        if (number++ % group.size() != group.rank()) continue;
        if (!have) read(i, left, host.data());
        have = true;
        const std::int64_t right = j == i ? 0 : std::min(block, nocc - j);
        if (right > 0) read(j, right, host.data() + left * naux_ * nvir_);
        at_executor(host, i, left, right > 0 ? j : 0, right);
      }
    }
  }
  // Every term is one rank's and zero on the others: the sum of their bits as integers is its bits.
  void gather(const comm::Communicator& group) {
    static_assert(sizeof(blas::PairTerm) % sizeof(std::int64_t) == 0);
    const std::size_t bytes = terms_.size() * sizeof(blas::PairTerm);
    std::vector<std::int64_t> bits(bytes / sizeof(std::int64_t));
    std::memcpy(bits.data(), terms_.data(), bytes);
    comm::sum(group, View<std::int64_t>(Executor::host(), bits.data(), {static_cast<std::int64_t>(bits.size())}));
    std::memcpy(static_cast<void*>(terms_.data()), bits.data(), bytes);
  }

  void read(std::int64_t first, std::int64_t count, T* to) const {
    if constexpr (std::is_same_v<S, T>) {
      store_.read(first, count, to);
    } else {
      const std::int64_t panel = naux_ * nvir_;
      std::vector<S> one(static_cast<std::size_t>(panel));
      for (std::int64_t i = 0; i < count; ++i) {
        store_.read(first + i, 1, one.data());
        std::ranges::transform(one, to + i * panel, [](S x) { return static_cast<T>(x); });
      }
    }
  }

  void at_executor(const std::vector<T>& host, std::int64_t i, std::int64_t left, std::int64_t j, std::int64_t right) {
    if (executor_.family() == Family::Host) return call(const_cast<T*>(host.data()), i, left, j, right);
    const std::int64_t count = left + right;
    const Array<T> b =
        Array<T>::from_host(executor_, {count, naux_, nvir_},
                            std::span<const T>(host.data(), static_cast<std::size_t>(count * naux_ * nvir_)));
    call(b.data(), i, left, j, right);
  }

  // Orbitals [i, i + left) and [j, j + right) lie in b one after the other.
  void call(T* b, std::int64_t i, std::int64_t left, std::int64_t j, std::int64_t right) {
    std::vector<T> low(low_.begin() + i, low_.begin() + i + left);
    low.insert(low.end(), low_.begin() + j, low_.begin() + j + right);
    const Array<T> energies = Array<T>::from_host(executor_, {left + right}, low);
    blas::PairEnergyOptions options = options_;
    options.left = right > 0 ? left : 0;
    options.input_errors.assign(options_.input_errors.begin() + i, options_.input_errors.begin() + i + left);
    options.input_errors.insert(options.input_errors.end(), options_.input_errors.begin() + j,
                                options_.input_errors.begin() + j + right);
    const blas::PairEnergy e = blas::pair_energy(executor_, View<T>(executor_, b, {left + right, naux_, nvir_}),
                                                 energies.view(), high_.view(), options);
    accuracy_ = e.accuracy;
    const auto nocc = static_cast<std::int64_t>(low_.size());
    std::size_t at = 0;
    for (std::int64_t x = i; x < i + left; ++x) {
      for (std::int64_t y = right > 0 ? j : x; y < (right > 0 ? j + right : i + left); ++y) {
        terms_[static_cast<std::size_t>(x * nocc - x * (x - 1) / 2 + y - x)] = e.pairs[at++];
      }
    }
  }

  Executor executor_;
  std::int64_t naux_, nvir_;
  std::vector<T> low_;
  Array<T> high_;
  blas::PairEnergyOptions options_;
  PanelStore<S>& store_;
  std::vector<blas::PairTerm> terms_;
  Accuracy accuracy_;
};

// Transforms and solve in S, energies in T.
template <class S, class T> DfMp2 run(const Executor& executor, const Scf& scf, const FitInput& in,
                                      const DfMp2Options& options, Mode fit_mode, Mode energy_mode,
                                      HalfTransform words = HalfTransform::OneWord) {
  DfMp2 result;
  result.dtype = dtype_of<T>;
  result.correlated = in.occupied.columns;
  result.virtuals = in.virtuals.columns;
  result.fitting = in.fitting->size();
  const Plan plan = plan_of<S, T>(executor, in, fit_mode, options.memory_bytes, options.block);
  result.streamed = !plan.in_memory;
  const std::string folder =
      options.scratch.empty() ? std::filesystem::temp_directory_path().string() : options.scratch;
  PanelStore<S> store(plan.in_memory ? PanelStore<S>::Place::Memory : PanelStore<S>::Place::File, result.correlated,
                      result.fitting, result.virtuals, folder);
  const FitResult fitted = fit<S>(executor, in, fit_mode, words, store, result.stages);
  const auto at = scf.orbital_energies.begin();
  const std::vector<double> occupied(at + options.frozen, at + scf.occupied),
      virtuals(at + scf.occupied, scf.orbital_energies.end());
  std::vector<double> errors = fitted.errors;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!std::is_same_v<S, T>) errors[i] += unit_roundoff(dtype_of<T>) * fitted.norms[i];
    result.fit_error = std::max(result.fit_error, errors[i] / fitted.norms[i]);
  }
  Pairs<S, T> pairs(executor, in, occupied, virtuals, {.precision = energy_mode, .input_errors = errors}, store);
  StageClock(result.stages, executor).run("pair_energy", work_name(result.dtype, energy_mode), [&] {
    result.blocks = pairs.run(plan.block, options.group);
  });
  pairs.add_up(result);
  result.streamed_bytes = store.file_bytes();
  return result;
}

// One mode of a device.
DfMp2 on_device(const Executor& executor, const Scf& scf, const FitInput& in, const DfMp2Options& options, Mode mode,
                HalfTransform words = HalfTransform::OneWord) {
  if (mode == Mode::Exact) return run<double, double>(executor, scf, in, options, mode, mode, words);
  if (options.fit == FitPrecision::Same) return run<float, float>(executor, scf, in, options, mode, mode, words);
  return run<double, float>(executor, scf, in, options, Mode::Exact, mode, words);
}

}  // namespace

DfMp2 df_mp2(const Executor& executor, const Scf& scf, const Basis& orbital, const Basis& fitting,
             const DfMp2Options& options) {
  operands::check_enumerator("mp2", "FitPrecision", options.fit, FitPrecision::Same);
  operands::check_enumerator("mp2", options.precision);
  require(options.block >= 0,
          "mp2: blocks of {} occupied orbitals; give at least one, or 0 for as many as memory allows", options.block);
  const std::int64_t functions = scf.orbitals.columns, virtuals = functions - scf.occupied;
  require(options.frozen >= 0 && options.frozen < scf.occupied,
          "mp2: {} of {} occupied orbitals are frozen; nothing is left to correlate: leave out --frozen-core",
          options.frozen, scf.occupied);
  require(virtuals >= 1,
          "mp2: basis {} has {} functions for {} occupied orbitals; without virtual orbitals there is no correlation: "
          "choose a larger basis",
          orbital.name(), functions, scf.occupied);
  const FitInput in{&orbital, &fitting, scf.orbitals.columns_from(options.frozen, scf.occupied - options.frozen),
                    scf.orbitals.columns_from(scf.occupied, virtuals)};
  const Precision asked = options.precision;
  if (executor.family() == Family::Host) {
    if (!asked.has_target() && asked.mode() != Mode::Native && asked.mode() != Mode::Exact) {
      fail<NotImplemented>(
          "mp2: the host computes in float64, not in {}; use native, exact or target=..., or a device executor",
          name(asked.mode()));
    }
    const bool native = !asked.has_target() && asked.mode() == Mode::Native;
    DfMp2 result = run<double, double>(executor, scf, in, options, native ? Mode::Native : Mode::Exact, Mode::Native,
                                       asked.has_target() ? HalfTransform::TwoWords : HalfTransform::OneWord);
    if (asked.has_target() && !(result.bound <= asked.target_error())) {
      fail<InvalidArgument>(
          "mp2: float64 on the host gives a bound of {:.1e} hartree, above the target {:g}; ask for a larger one",
          result.bound, asked.target_error());
    }
    return result;
  }
  if (!asked.has_target()) return on_device(executor, scf, in, options, asked.mode());
  DfMp2 result;
  for (const Mode mode : {Mode::Tf32x3, Mode::Native, Mode::Exact}) {
    if (mode != Mode::Exact && asked.target_error() < kFloat32Floor) continue;
    result = on_device(executor, scf, in, options, mode);
    if (result.bound <= asked.target_error()) return result;
    // Two words cost twice the transforms, so one word is tried first. They help where the fit's error is not far below
    // that of the energies, which float32 energies of a float64 fit never are.
    if (mode != Mode::Exact && options.fit == FitPrecision::Exact) continue;
    result = on_device(executor, scf, in, options, mode, HalfTransform::TwoWords);
    if (result.bound <= asked.target_error()) return result;
  }
  fail<InvalidArgument>(
      "mp2: no mode on executor '{}' reaches a bound of {:g} hartree; exact gives {:.1e}: ask for a larger one",
      executor.name(), asked.target_error(), result.bound);
}

}  // namespace trn::mp2
