// Gaussian matrices for the spectral drivers: numbers that depend on the seed only, in host memory.
#pragma once

#include <cmath>
#include <numbers>

#include <trn/core/array.hpp>

namespace trn::solver::device {

class Gaussian {
 public:
  explicit Gaussian(std::uint64_t seed) : state_(seed) {}
  float operator()() {
    const double u = (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53, v = uniform();
    return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // in [0, 1)

 private:
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

// rows x columns with m x n random numbers and zeros around.
inline Matrix<float> gaussian(std::int64_t m, std::int64_t n, std::int64_t rows, std::int64_t columns,
                              Gaussian& random) {
  Matrix<float> g(Executor::host(), rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) g.data()[i * columns + j] = i < m && j < n ? random() : 0.0F;
  }
  return g;
}

}  // namespace trn::solver::device
