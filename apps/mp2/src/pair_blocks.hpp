// Pair energies of panels B(i, P, a) in a store, block by block of occupied orbitals, on one rank or on several.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include <trn/blas/pair_energy.hpp>
#include <trn/comm/collectives.hpp>
#include <trn/core/array.hpp>
#include <trn/core/eft.hpp>
#include <trn/mp2/df_mp2.hpp>
#include <trn/mp2/pair_deal.hpp>
#include <trn/mp2/panel_store.hpp>

#include "fit.hpp"

namespace trn::mp2 {

// One call of blas::pair_energy after another on panels of the same orbitals.
template <class T> class PairCalls {
 public:
  PairCalls(const Executor& executor, std::int64_t naux, const std::vector<double>& occupied,
            const std::vector<double>& virtuals, const blas::PairEnergyOptions& options)
      : executor_(executor),
        naux_(naux),
        nvir_(static_cast<std::int64_t>(virtuals.size())),
        low_(occupied.begin(), occupied.end()),
        high_(Array<T>::from_host(executor, {nvir_}, std::vector<T>(virtuals.begin(), virtuals.end()))),
        options_(options) {
    for (const auto* list : {&occupied, &virtuals}) {
      for (const double e : *list) options_.largest_energy = std::max(options_.largest_energy, std::abs(e));
    }
  }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] std::int64_t orbitals() const { return static_cast<std::int64_t>(low_.size()); }
  [[nodiscard]] std::int64_t panel() const { return naux_ * nvir_; }
  [[nodiscard]] const Accuracy& accuracy() const { return accuracy_; }

  // Orbitals [i, i + left) and [j, j + right) lie one after the other in `b`, host memory. right == 0: pairs within the
  // first; otherwise pairs of one of each.
  [[nodiscard]] blas::PairEnergy from_host(T* b, std::int64_t i, std::int64_t left, std::int64_t j,
                                           std::int64_t right) {
    if (executor_.family() == Family::Host) return call(b, i, left, j, right);
    const std::int64_t count = left + right;
    const Array<T> there = Array<T>::from_host(executor_, {count, naux_, nvir_},
                                               std::span<const T>(b, static_cast<std::size_t>(count * panel())));
    return call(there.data(), i, left, j, right);
  }

 private:
  blas::PairEnergy call(T* b, std::int64_t i, std::int64_t left, std::int64_t j, std::int64_t right) {
    std::vector<T> low(low_.begin() + i, low_.begin() + i + left);
    low.insert(low.end(), low_.begin() + j, low_.begin() + j + right);
    const Array<T> energies = Array<T>::from_host(executor_, {left + right}, low);
    blas::PairEnergyOptions options = options_;
    options.left = right > 0 ? left : 0;
    options.input_errors.assign(options_.input_errors.begin() + i, options_.input_errors.begin() + i + left);
    options.input_errors.insert(options.input_errors.end(), options_.input_errors.begin() + j,
                                options_.input_errors.begin() + j + right);
    blas::PairEnergy e = blas::pair_energy(executor_, View<T>(executor_, b, {left + right, naux_, nvir_}),
                                           energies.view(), high_.view(), options);
    accuracy_ = e.accuracy;
    return e;
  }

  Executor executor_;
  std::int64_t naux_, nvir_;
  std::vector<T> low_;
  Array<T> high_;
  blas::PairEnergyOptions options_;
  Accuracy accuracy_;
};

// Blocks whose pairs are at least four for each rank, so that all are busy about as long.
[[nodiscard]] inline std::int64_t block_for(std::int64_t nocc, int ranks) {
  const auto blocks = static_cast<std::int64_t>(std::ceil(std::sqrt(8.0 * ranks)));
  return std::max<std::int64_t>(1, (nocc + blocks - 1) / blocks);
}

// Every term is one rank's and zero on the others: the sum of their bits as integers is its bits.
inline void gather_terms(const comm::Communicator& group, std::vector<blas::PairTerm>& terms) {
  static_assert(sizeof(blas::PairTerm) % sizeof(std::int64_t) == 0);
  const std::size_t bytes = terms.size() * sizeof(blas::PairTerm);
  std::vector<std::int64_t> bits(bytes / sizeof(std::int64_t));
  std::memcpy(bits.data(), terms.data(), bytes);
  comm::sum(group, View<std::int64_t>(Executor::host(), bits.data(), {static_cast<std::int64_t>(bits.size())}));
  std::memcpy(static_cast<void*>(terms.data()), bits.data(), bytes);
}

// What the terms of pairs add up to, in their order.
struct PairTotal {
  double opposite = 0, same = 0, bound = 0;
};
[[nodiscard]] inline PairTotal total_of(const std::vector<blas::PairTerm>& terms) {
  DoubleDouble opposite, same;
  PairTotal sum;
  for (const blas::PairTerm& t : terms) {
    opposite = opposite + DoubleDouble(t.opposite_spin);
    same = same + DoubleDouble(t.same_spin);
    sum.bound += t.bound;
  }
  sum.opposite = static_cast<double>(opposite);
  sum.same = static_cast<double>(same);
  return sum;
}

// Panels [first, first + count) of a store, as T.
template <class S, class T>
void read_panels(const PanelStore<S>& store, std::int64_t first, std::int64_t count, std::int64_t panel, T* to) {
  if constexpr (std::is_same_v<S, T>) {
    store.read(first, count, to);
  } else {
    std::vector<S> one(static_cast<std::size_t>(panel));
    for (std::int64_t i = 0; i < count; ++i) {
      store.read(first + i, 1, one.data());
      std::ranges::transform(one, to + i * panel, [](S x) { return static_cast<T>(x); });
    }
  }
}

// Terms of all pairs i <= j of the orbitals in one store, in pair order.
template <class S, class T> class Pairs {
 public:
  Pairs(const Executor& executor, std::int64_t naux, const std::vector<double>& occupied,
        const std::vector<double>& virtuals, const blas::PairEnergyOptions& options, PanelStore<S>& store)
      : calls_(executor, naux, occupied, virtuals, options),
        store_(store),
        terms_(occupied.size() * (occupied.size() + 1) / 2) {}

  // Returns how many blocks of that size there are.
  [[nodiscard]] std::int64_t run(std::int64_t block, const comm::Communicator* group) {
    const std::int64_t nocc = calls_.orbitals();
    if (group != nullptr && group->size() > 1) {
      deal(deal_pairs(nocc, group->size(), block), *group);
      gather_terms(*group, terms_);
      return (nocc + block - 1) / block;
    }
    if constexpr (std::is_same_v<S, T>) {
      if (calls_.executor().family() == Family::Host && store_.memory() != nullptr && block == nocc) {
        call(store_.memory(), 0, nocc, 0, 0);
        return 1;
      }
    }
    std::vector<T> host(static_cast<std::size_t>(std::min(nocc, block == nocc ? nocc : 2 * block) * calls_.panel()));
    std::int64_t blocks = 0;
    for (std::int64_t i = 0; i < nocc; i += block, ++blocks) {
      const std::int64_t left = std::min(block, nocc - i);
      read(i, left, host.data());
      call(host.data(), i, left, 0, 0);
      for (std::int64_t j = i + block; j < nocc; j += block) {
        const std::int64_t right = std::min(block, nocc - j);
        read(j, right, host.data() + left * calls_.panel());
        call(host.data(), i, left, j, right);
      }
    }
    return blocks;
  }

  [[nodiscard]] PairTotal total() const { return total_of(terms_); }
  [[nodiscard]] const Accuracy& accuracy() const { return calls_.accuracy(); }

 private:
  void deal(const PairDeal& deal, const comm::Communicator& group) {
    std::vector<T> host(static_cast<std::size_t>(std::min(deal.nocc, 2 * deal.block) * calls_.panel()));
    std::int64_t held = -1;  // the block that is there as the first
    for (const PairTask& task : deal.tasks(group.rank(), group.size())) {
      const std::int64_t left = deal.size(task.first);
      if (task.first != held) read(deal.begin(task.first), left, host.data());
      held = task.first;
      const bool two = task.second != task.first;
      const std::int64_t j = two ? deal.begin(task.second) : 0, right = two ? deal.size(task.second) : 0;
      if (two) read(j, right, host.data() + left * calls_.panel());
      call(host.data(), deal.begin(task.first), left, j, right);
    }
  }
  void read(std::int64_t first, std::int64_t count, T* to) const {
    read_panels(store_, first, count, calls_.panel(), to);
  }
  void call(T* b, std::int64_t i, std::int64_t left, std::int64_t j, std::int64_t right) {
    const blas::PairEnergy e = calls_.from_host(b, i, left, j, right);
    const std::int64_t nocc = calls_.orbitals();
    std::size_t at = 0;
    for (std::int64_t x = i; x < i + left; ++x) {
      for (std::int64_t y = right > 0 ? j : x; y < (right > 0 ? j + right : i + left); ++y) {
        terms_[static_cast<std::size_t>(x * nocc - x * (x - 1) / 2 + y - x)] = e.pairs[at++];
      }
    }
  }

  PairCalls<T> calls_;
  PanelStore<S>& store_;
  std::vector<blas::PairTerm> terms_;
};

}  // namespace trn::mp2
