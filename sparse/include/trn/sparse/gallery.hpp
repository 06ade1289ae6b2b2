// Matrices to try things on: the model problems of the literature, in exactly these numbers on every machine.
#pragma once

#include <trn/sparse/csr.hpp>

namespace trn::sparse {

// Laplace's equation by finite differences on nx x ny x nz points, Dirichlet: 2 a dimension with nz or ny > 1 on the
// diagonal, -1 for each neighbour. One, two or three dimensions: leave the others 1.
template <Scalar T> [[nodiscard]] Csr<T> poisson(std::int64_t nx, std::int64_t ny = 1, std::int64_t nz = 1);
// HPCG's matrix: 26 on the diagonal, -1 for each of up to 26 neighbours.
template <Scalar T> [[nodiscard]] Csr<T> stencil27(std::int64_t nx, std::int64_t ny, std::int64_t nz);
// Plane elasticity on nx x ny bilinear elements, clamped at the left side: two unknowns a node, full 2 x 2 blocks.
template <Scalar T> [[nodiscard]] Csr<T> elasticity(std::int64_t nx, std::int64_t ny, double poisson_ratio = 0.3);
// Three rigid motions of elasticity(nx, ny), as columns of a matrix (rows x 3), row-major: AMG's near-nullspace.
template <Scalar T> [[nodiscard]] Matrix<T> elasticity_motions(std::int64_t nx, std::int64_t ny);
// A graph of 2^scale vertices and about edges * 2^scale edges with a few vertices of very high degree.
template <Scalar T> [[nodiscard]] Csr<T> rmat(int scale, int edges = 16, std::uint64_t seed = 1);

}  // namespace trn::sparse
