// Random matrices by Philox: standard normal and Rademacher numbers, the same on every executor.
#pragma once

#include <trn/rand/normal.hpp>

#include "iterative/blocks.hpp"

namespace trn::solver::iterative {

// n x k standard normals in Real<T>; complex: both parts, divided by sqrt(2). Drawn on the host.
template <class T> Small<T> gaussian(std::int64_t n, std::int64_t k, std::uint64_t seed, std::uint64_t stream = 0) {
  Small<T> result(n, k);
  const std::int64_t count = n * k * (ComplexScalar<T> ? 2 : 1);
  std::vector<Real<T>> numbers(at(count));
  rand::Generator generator(rand::State{.seed = seed, .stream = stream});
  rand::normal(Executor::host(), generator, View<Real<T>>(Executor::host(), numbers.data(), {count}));
  std::size_t next = 0;
  for (std::int64_t j = 0; j < k; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (ComplexScalar<T>) {
        const Real<T> half = std::sqrt(Real<T>(0.5));
        result(i, j) = T(numbers[next] * half, numbers[next + 1] * half);
        next += 2;
      } else {
        result(i, j) = numbers[next++];
      }
    }
  }
  return result;
}

}  // namespace trn::solver::iterative
