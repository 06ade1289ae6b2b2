// A randomised singular value decomposition of a distributed matrix. randomized.hpp's rsvd on dist::Matrix, collective
// over the group.
//
// Every rank draws its own rows of the sketch, element (i, j) of which is a function of the seed and of (i, j) alone:
// nothing of it is communicated. Products are dist_gemm's, orthonormal columns dist_qr's, and the small problem, of
// order k + oversampling, is solved on every rank. So all results have the same bits for every number of ranks, grid
// and block size of A.
//
// Ranks with devices: products, QR (dist_qr.hpp says what of it) and the draws of float are the devices', Exact for
// doubles; norms, other draws and the small problem are the hosts'. The report's algorithm says so.
#pragma once

#include <vector>

#include <trn/comm/matrix.hpp>
#include <trn/solver/randomized.hpp>

namespace trn::solver {

// A ~ U diag(s) V^H, s descending: u and v have whole rows on every rank, v is n x k. The report is randomized.hpp's,
// but the bound of the error is an estimate: roundings of the residual's product are counted, those of the sums are
// not.
template <Scalar T> struct DistLowRankSvd {
  dist::Matrix<T> u;
  std::vector<Real<T>> s;
  dist::Matrix<T> v;
  LowRankReport report;
};

// 1 <= k <= min(m, n). NotFinite at row * n + column of the first such element of A, NotConverged: results are NaN.
template <Scalar T> DistLowRankSvd<T> rsvd(const dist::Matrix<T>& a, std::int64_t k, const SketchOptions& options = {});

}  // namespace trn::solver
