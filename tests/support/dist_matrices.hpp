// What tests of operations on distributed matrices share: groups, grids, matrices from a formula, values in long
// double.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include <trn/comm/group.hpp>
#include <trn/comm/matrix.hpp>
#include <trn/core/scalars.hpp>

namespace trn::dist_test {

inline constexpr int kRankCounts[] = {1, 2, 3, 4, 6, 7, 12};

// Grids of so many ranks: a row, a column, the squarest one, and one that leaves a rank out.
inline std::vector<dist::Grid> grids(int ranks) {
  std::vector<dist::Grid> all{{1, ranks}};
  if (ranks > 1) all.push_back({ranks, 1});
  const dist::Grid square = dist::square_grid(ranks);
  if (square.rows > 1) all.push_back(square);
  if (ranks > 2) all.push_back(dist::square_grid(ranks - 1));
  return all;
}

// "host" or "sim:trn2" on every rank.
inline comm::Group group_of(const std::string& name, int ranks) {
  std::vector<Executor> executors;
  for (int r = 0; r < ranks; ++r) executors.push_back(name == "host" ? Executor::host() : Executor::open(name));
  return comm::Group(std::move(executors), name);
}
inline const comm::RunOptions kLimits{.watchdog_seconds = 120};

// A number of (seed, i, j) in (-1, 1); every fourth one far smaller, so that orders of addition show.
template <class T> T number(int seed, std::int64_t i, std::int64_t j) {
  const auto draw = [&](std::uint64_t salt) {
    std::uint64_t x = (static_cast<std::uint64_t>(i) * 1000003 + static_cast<std::uint64_t>(j)) * 2654435761U +
                      static_cast<std::uint64_t>(seed) * 97 + salt;
    for (int r = 0; r < 3; ++r) {
      x ^= x >> 31;
      x *= 0x9E3779B97F4A7C15U;
    }
    x ^= x >> 29;
    const double value = static_cast<double>(x >> 11) * 0x1p-52 - 1;
    return x % 4 == 0 ? value * 0x1p-9 : value;
  };
  if constexpr (ComplexScalar<T>)
    return T(static_cast<Real<T>>(draw(1)), static_cast<Real<T>>(draw(2)));
  else
    return static_cast<T>(draw(1));
}

template <class T> using Wide = std::conditional_t<ComplexScalar<T>, std::complex<long double>, long double>;
template <class T> Wide<T> wide(const T& x) { return Wide<T>(x); }
template <class T> T op_of(Op op, const T& x) {
  if constexpr (ComplexScalar<T>) return op == Op::C ? std::conj(x) : x;
  return x;
}

template <class T> bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}
template <class T> std::int64_t differing(const std::vector<T>& x, const std::vector<T>& y) {
  std::int64_t count = x.size() == y.size() ? 0 : -1;
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) count += std::memcmp(&x[i], &y[i], sizeof(T)) != 0;
  return count;
}

}  // namespace trn::dist_test
