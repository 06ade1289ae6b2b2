// Eigenvalues and eigenvectors of distributed Hermitian and real symmetric matrices: A V = V diag(w), and A V = B V
// diag(w). eigh.hpp's meaning on dist::Matrix, collective over the group. ScaLAPACK: p?syev, p?heev,
// p?sygvx, p?hegvx. cuSOLVERMp: cusolverMpSyevd, Sygvd.
//
// Householder's tridiagonal form with whole columns on a rank, then implicit QL steps: every rank computes the same
// rotations and turns its own rows of the vectors, as ScaLAPACK's p?syev does. No sum runs over ranks, so bits and
// outcome are the same for every number of ranks, grid and block size. A rank holds n^2 / ranks elements of A and as
// many of V, each twice for a moment; a vector of n elements reaches every rank in each of n steps.
//
// Ranks with devices: the tridiagonal form and the QL steps are the hosts', in the matrix's type; the devices multiply
// the reflections into the vectors (Exact for doubles), and of generalised problems make Cholesky's factor, the solves
// and the products. The report's algorithm says so.
#pragma once

#include <vector>

#include <trn/comm/matrix.hpp>
#include <trn/solver/eigh.hpp>

namespace trn::solver {

struct DistEighOptions {
  Vectors vectors = Vectors::Yes;
  Uplo uplo = Uplo::Lower;  // the triangle of A that is read
};

// What eigh says, the same on every rank: the report and all eigenvalues, ascending.
template <Scalar T> struct DistSpectrum {
  Report report;  // the bound is eigh.hpp's; iterations counts the QL steps
  std::vector<Real<T>> w;
};

// A is n x n; with vectors they replace A, column j for w[j], without it is not changed. NotConverged, NotFinite (of
// the triangle that is read): w is NaN, and A too when vectors were asked for.
template <Scalar T> DistSpectrum<T> eigh(const dist::Matrix<T>& a, const DistEighOptions& options = {});

// The generalised problems of eigh.hpp with a positive definite B, by Cholesky's factor of B in blocks of 64, products
// and solves with it. B may have other blocks and another grid on the group and is not changed. NotPositiveDefinite, of
// B: w is NaN, and A too when vectors were asked for.
template <Scalar T> DistSpectrum<T> eigh_generalized(const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                                     const GeneralizedOptions& options = {});

}  // namespace trn::solver
