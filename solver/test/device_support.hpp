// Matrices on a simulated device: the whole memory of a Held goes there and comes back, so that surroundings and other
// triangles are checked as on the host.
#pragma once

#include <cstdlib>
#include <span>
#include <string>

#include <trn/core/array.hpp>
#include <trn/core/environment.hpp>
#include <trn/core/event.hpp>
#include <trn/neuron/sim.hpp>

#include "solver_support.hpp"

namespace trn::solver::testing {

// The memory of a Held, which has four elements before and after those of the matrix.
template <class T> std::span<T> memory_of(Held<T>& held) {
  const MatrixView<T> v = held.view();
  std::int64_t low = -4, high = 5;
  for (const std::int64_t step : {v.row_stride() * std::max<std::int64_t>(v.rows() - 1, 0),
                                  v.column_stride() * std::max<std::int64_t>(v.columns() - 1, 0)}) {
    (step < 0 ? low : high) += step;
  }
  return {v.data() + low, v.data() + high};
}

template <class T> class OnDevice {
 public:
  OnDevice(const Executor& executor, Held<T>& held)
      : held_(held),
        memory_(Array<T>::from_host(executor, {static_cast<std::int64_t>(memory_of(held).size())}, memory_of(held))) {}
  MatrixView<T> view() const {
    const MatrixView<T> v = held_.view();
    return {memory_.executor(), memory_.data() + (v.data() - memory_of(held_).data()),
            v.rows(),           v.columns(),
            v.row_stride(),     v.column_stride()};
  }
  void fetch() {
    const std::vector<T> values = memory_.to_host();
    std::copy(values.begin(), values.end(), memory_of(held_).begin());
  }

 private:
  Held<T>& held_;
  Array<T> memory_;
};

// The order of what is run once in order and once with instructions shuffled: TRN_SHUFFLED_ORDER=512 takes a while.
inline std::int64_t shuffled_extent(std::int64_t usual) {
  return std::max<std::int64_t>(std::atoi(environment("TRN_SHUFFLED_ORDER", std::to_string(usual).c_str()).c_str()), 1);
}

template <class T> Dense<Wide<T>> fetched(const Matrix<T>& a) { return wide(a.to(Executor::host()).view()); }

// Same bits in both.
template <class T> bool same_bits(Held<T>& a, Held<T>& b) {
  const std::span<T> x = memory_of(a), y = memory_of(b);
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
}

}  // namespace trn::solver::testing
