// Steps of conjugate gradients and of Chebyshev's iteration as one device program: the matrix and the vectors stay in
// SBUF for as many steps as a register says. For tools that print, emit, profile or estimate it; fused_krylov.hpp runs
// it.
#pragma once

#include <cstdint>
#include <vector>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::solver {

enum class KrylovMethod : std::uint8_t { Cg, Chebyshev };

struct KrylovShape {
  KrylovMethod method = KrylovMethod::Cg;
  std::int64_t order = 1;    // of A, symmetric
  std::int64_t columns = 1;  // right-hand sides; at most krylov_columns()
  std::int64_t stride = 0;   // a dense A: from one row (or column) to the next; 0: tiles
  // The tiles of trn/core/block_tiles.hpp; empty for a dense matrix.
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> blocks;
  bool operator==(const KrylovShape&) const = default;
};

inline constexpr std::int64_t kKrylovSteps = 32;  // of one run, at most

// The most columns for which A and the vectors have room, at most 128; 0 where A alone does not fit into SBUF.
[[nodiscard]] std::int64_t krylov_columns(const KrylovShape& shape, const tile::Machine& machine);

// Tensors, float32 but for "steps": input "a" (order, order) with rows `stride` apart, or (128, tiles, 128); input
// "steps" (1), int32, from 0 to kKrylovSteps; "x", "r" and "p" (columns, order): the solution, the residual b - A x and
// the direction, which outputs "x_out", "r_out" and "p_out" replace. Output "trace" (kKrylovSteps, 2, columns) has for
// every step that was run ||r||^2 after it and, for Cg, (p, A p); zeros for the others.
//
// Cg begins with p = r. Input "limits" (columns): a column whose ||r||^2 is at most that, or whose (p, A p) is not
// positive, is left as it is. Chebyshev begins with p = r / theta and "rho" (1, replaced by "rho_out") = delta / theta,
// for a spectrum within theta - delta and theta + delta; inputs "two_ratio" (1) = 2 theta / delta and "two_inverse" (1)
// = 2 / delta.
[[nodiscard]] tile::Program krylov_program(const KrylovShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
