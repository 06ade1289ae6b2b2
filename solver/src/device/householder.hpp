// Blocks of Householder vectors on the host: leaves of QR on devices, at most 128 x 128, in double.
//
//   reconstruct: Q (m x w, orthonormal columns) = I - V T V^T on [S; 0], S = diag(+-1) chosen so that no pivot of the
//     LU factorisation Q - [S; 0] = V U is below 1 in size (Ballard, Demmel, Grigori, Jacquelin, Nguyen, Solomonik
//     2014). Here the top w x w block: L (unit), U, and T = -U S L^-T. V's rows below are those of Q times U^-1.
//   block_reflector: T of given vectors (larft, forward), from their products V^T V and tau.
//   upper_inverse: X = U^-1, for who multiplies instead of dividing.
#pragma once

#include <cstdint>
#include <vector>

namespace trn::solver::device {

// Square, row-major, in double.
struct Small {
  std::int64_t n = 0;
  std::vector<double> values;
  explicit Small(std::int64_t order) : n(order), values(static_cast<std::size_t>(order * order)) {}
  [[nodiscard]] double& operator()(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * n + j)];
  }
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * n + j)];
  }
};

struct Reconstructed {
  Small lower, upper, t;      // L (unit diagonal written out), U, T
  std::vector<double> signs;  // S
};
[[nodiscard]] Reconstructed reconstruct(Small top);

[[nodiscard]] Small block_reflector(const Small& products, const std::vector<double>& tau);

// The upper triangular product X Y.
[[nodiscard]] Small upper_product(const Small& x, const Small& y);

// Rows times X, rounded, have residuals against U of up to || |X||U| ||_inf times those of a solve: `growth`.
struct UpperInverse {
  Small x;
  double growth = 0;
};
[[nodiscard]] UpperInverse upper_inverse(const Small& upper);

}  // namespace trn::solver::device
