// What the pair_energy tests share: molecules made of random numbers that decay as integrals do, and the energy from
// its formula by plain loops in wider arithmetic.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <trn/blas/pair_energy.hpp>
#include <trn/core/array.hpp>

namespace trn::blas::test {

template <class T> struct Molecule {
  std::int64_t nocc, naux, nvir;
  std::vector<T> b, occupied, virtuals;

  Molecule(std::int64_t o, std::int64_t p, std::int64_t v, std::uint64_t seed = 1) : nocc(o), naux(p), nvir(v) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (std::int64_t i = 0; i < nocc; ++i) occupied.push_back(static_cast<T>(-0.4 - 1.5 * uniform(random)));
    for (std::int64_t a = 0; a < nvir; ++a) virtuals.push_back(static_cast<T>(0.05 + 3 * uniform(random)));
    b.reserve(static_cast<std::size_t>(nocc * naux * nvir));
    for (std::int64_t i = 0; i < nocc; ++i) {
      for (std::int64_t k = 0; k < naux; ++k) {
        for (std::int64_t a = 0; a < nvir; ++a) {
          const double decay = std::exp(-4.0 * static_cast<double>(k) / static_cast<double>(naux) -
                                        2.0 * static_cast<double>(a) / static_cast<double>(nvir));
          b.push_back(static_cast<T>(0.1 * decay * normal(random)));
        }
      }
    }
  }

  [[nodiscard]] PairEnergy energy(const Executor& executor, const PairEnergyOptions& options = {}) const {
    const auto db = Array<T>::from_host(executor, {nocc, naux, nvir}, b);
    const auto low = Array<T>::from_host(executor, {nocc}, occupied),
               high = Array<T>::from_host(executor, {nvir}, virtuals);
    return pair_energy(executor, db.view(), low.view(), high.view(), options);
  }
};

// The formula of the header, T_ab (T_ab - T_ba) and all, in Wide. double holds products of floats exactly and errs by
// naux 2^-53 of them: far below any bound on fp32 arithmetic. Double data need __float128.
template <class Wide, class T> std::pair<double, double> formula(const Molecule<T>& m) {
  Wide opposite = 0, same = 0;
  const auto n = static_cast<std::size_t>(m.nvir), panel = static_cast<std::size_t>(m.naux) * n;
  for (std::size_t i = 0; i < m.occupied.size(); ++i) {
    for (std::size_t j = i; j < m.occupied.size(); ++j) {
      std::vector<Wide> t(n * n, Wide(0));
      for (std::size_t k = 0; k < static_cast<std::size_t>(m.naux); ++k) {
        const T *x = m.b.data() + i * panel + k * n, *y = m.b.data() + j * panel + k * n;
        for (std::size_t a = 0; a < n; ++a) {
          for (std::size_t c = 0; c < n; ++c) t[a * n + c] += static_cast<Wide>(x[a]) * static_cast<Wide>(y[c]);
        }
      }
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t c = 0; c < n; ++c) {
          const Wide d = static_cast<Wide>(m.occupied[i]) + static_cast<Wide>(m.occupied[j]) -
                         static_cast<Wide>(m.virtuals[a]) - static_cast<Wide>(m.virtuals[c]);
          const Wide factor = (i == j ? 1 : 2) * t[a * n + c] / d;
          opposite += factor * t[a * n + c];
          same += factor * (t[a * n + c] - t[c * n + a]);
        }
      }
    }
  }
  return {static_cast<double>(opposite), static_cast<double>(same)};
}

// |E - exact| and each part within the bound; the bound itself within `slack` of the energy, so that it says something.
inline void expect_within_bound(const PairEnergy& e, const std::pair<double, double>& exact, double slack) {
  const double bound = e.accuracy.bound, total = exact.first + exact.second;
  EXPECT_LE(std::abs(e.opposite_spin + e.same_spin - total), bound);
  EXPECT_LE(std::abs(e.opposite_spin - exact.first), bound);
  EXPECT_LE(std::abs(e.same_spin - exact.second), bound);
  EXPECT_GT(bound, 0);
  EXPECT_LE(bound, slack * std::abs(total)) << "energy " << total;
}

}  // namespace trn::blas::test
