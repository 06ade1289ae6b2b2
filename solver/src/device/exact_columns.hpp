// Column-major matrices of doubles in host memory whose products are made on a device, in Exact: what the refinements
// of eigenvectors and of singular vectors work with.
#pragma once

#include "device/operands.hpp"

namespace trn::solver::device {

using Doubles = host::Columns<double>;

inline constexpr std::int64_t kLeaf = 16;  // the largest order that the host solves
inline constexpr double kEps = 0x1p-52;

[[nodiscard]] inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// alpha op(A) B + beta C, and op(A) B.
[[nodiscard]] Doubles product(const Executor& executor, Op op, double alpha, const Doubles& a, const Doubles& b,
                              double beta, const Doubles& c, Precision precision = Mode::Exact);
[[nodiscard]] Doubles product(const Executor& executor, Op op, const Doubles& a, const Doubles& b,
                              Precision precision = Mode::Exact);
// X <- X + X (I - X^T X) / 2: orthonormal to the last bits, for X that is so to about 1e-2.
[[nodiscard]] Doubles orthonormal(const Executor& executor, Doubles x);
// The precision in which the product of a correction of norm `moved` is added to something of norm one.
[[nodiscard]] Precision precision_of_correction(double moved, double most);

[[nodiscard]] Doubles unit(std::int64_t n);
[[nodiscard]] Doubles columns_of(const Doubles& x, std::int64_t first, std::int64_t count);
void set_columns(Doubles& x, std::int64_t first, const Doubles& part);
void make_symmetric(Doubles& a);
[[nodiscard]] double one_norm(const Doubles& a);
// sqrt(||A||_1 ||A||_inf), which is at least ||A||_2.
[[nodiscard]] double norm_above(const Doubles& a);

}  // namespace trn::solver::device
