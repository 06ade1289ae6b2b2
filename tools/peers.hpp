// Other libraries on the operands of bench, in the same run: what OpenBLAS's peers (blas_case.hpp, solver_peers.hpp)
// are for the rest. Eigen (MPL 2) for sparse matrices and, by the kissfft inside it, for transforms; the C++ library's
// mt19937_64 for random numbers; OpenBLAS's gemm for an einsum that is one product. Without Eigen's headers its peers
// are absent. FFTW is GPL and never linked here: fft/bench compares with it.
#pragma once

#include <complex>
#include <functional>
#include <string>

#include <trn/core/scalars.hpp>
#include <trn/sparse/csr.hpp>

namespace trn::tools {

struct Peer {
  std::string name;
  std::function<void()> call;  // empty: there is none
};

// Keep what they are given a copy of; x, y and out have to stay where they are.
template <Scalar T> [[nodiscard]] Peer spmm_peer(const sparse::Csr<T>& a, const T* x, T* y, std::int64_t columns);
template <Scalar T> [[nodiscard]] Peer spgemm_peer(const sparse::Csr<T>& a);  // A A
template <Scalar T> [[nodiscard]] Peer spsv_peer(const sparse::Csr<T>& a, const T* b, T* x, std::int64_t columns);
template <Scalar T> [[nodiscard]] Peer transpose_peer(const sparse::Csr<T>& a);
// The numerical factorisation alone, of an order that was found before.
template <RealScalar T> [[nodiscard]] Peer cholesky_peer(const sparse::Csr<T>& a);

// `batch` lines of n points; c2r reads half lines.
template <RealScalar T> [[nodiscard]] Peer c2c_peer(std::int64_t n, std::int64_t batch, bool forward,
                                                    const std::complex<T>* x, std::complex<T>* y);
template <RealScalar T> [[nodiscard]] Peer r2c_peer(std::int64_t n, std::int64_t batch, const T* x, std::complex<T>* y);
template <RealScalar T> [[nodiscard]] Peer c2r_peer(std::int64_t n, std::int64_t batch, const std::complex<T>* x, T* y);

// What rand.NAME draws, by one thread.
[[nodiscard]] Peer draw_peer(const std::string& name, std::int64_t count, float* out);
[[nodiscard]] Peer draw_peer(const std::string& name, std::int64_t count, std::uint32_t* out);

}  // namespace trn::tools
