// Arithmetic and traffic of one call of each operation: what a benchmark divides by time.
//
// Operations are additions, subtractions, multiplications and divisions of real numbers that the definition takes for
// real operands; complex ones take `kComplexFactor` times as many (a multiplication is six, an addition two, and there
// are as many of one as of the other). Elements are those that must be read and those that must be written, each once,
// with beta = 0 where a result is only written; triangles and bands count what they store. The diagonal of a triangle
// is stored, batches are `count` separate problems.
#pragma once

#include <trn/core/dtype.hpp>

namespace trn::blas::counts {

struct Work {
  double flops = 0, elements = 0;
  [[nodiscard]] friend constexpr Work operator*(double count, const Work& w) {
    return {count * w.flops, count * w.elements};
  }
};
inline constexpr double kComplexFactor = 4;
[[nodiscard]] inline double flops(const Work& w, DType dtype) {
  return w.flops * (is_complex(dtype) ? kComplexFactor : 1);
}
[[nodiscard]] inline double bytes(const Work& w, DType dtype) {
  return w.elements * static_cast<double>(size_bytes(dtype));
}

[[nodiscard]] constexpr double triangle(double n) { return n * (n + 1) / 2; }

// Level 1, vectors of n elements.
[[nodiscard]] constexpr Work axpy(double n) { return {2 * n, 3 * n}; }
[[nodiscard]] constexpr Work copy(double n) { return {0, 2 * n}; }
[[nodiscard]] constexpr Work swap(double n) { return {0, 4 * n}; }
[[nodiscard]] constexpr Work scal(double n) { return {n, 2 * n}; }
[[nodiscard]] constexpr Work scal_real(double n) { return {n / 2, 2 * n}; }  // two per complex element
[[nodiscard]] constexpr Work amax(double n) { return {n, n}; }               // comparisons; amin
[[nodiscard]] constexpr Work asum(double n) { return {n, n}; }
[[nodiscard]] constexpr Work nrm2(double n) { return {2 * n, n}; }
[[nodiscard]] constexpr Work dot(double n) { return {2 * n, 2 * n}; }
[[nodiscard]] constexpr Work rot(double n) { return {6 * n, 4 * n}; }     // rotm
[[nodiscard]] constexpr Work rotg(double n) { return {8 * n, 4 * n}; }    // n rotations are made
[[nodiscard]] constexpr Work rotmg(double n) { return {10 * n, 8 * n}; }  // n rotations are made

// Level 2: m x n, n x n, or n x n with k diagonals beside the main one (gbmv: on each side).
[[nodiscard]] constexpr Work gemv(double m, double n) { return {2 * m * n, m * n + m + n}; }
[[nodiscard]] constexpr Work gbmv(double n, double k) { return {2 * n * (2 * k + 1), n * (2 * k + 1) + 2 * n}; }
[[nodiscard]] constexpr Work ger(double m, double n) { return {2 * m * n, 2 * m * n + m + n}; }
[[nodiscard]] constexpr Work symv(double n) { return {2 * n * n, triangle(n) + 2 * n}; }
[[nodiscard]] constexpr Work sbmv(double n, double k) { return {2 * n * (2 * k + 1), n * (k + 1) + 2 * n}; }
[[nodiscard]] constexpr Work syr(double n) { return {2 * triangle(n), 2 * triangle(n) + n}; }
[[nodiscard]] constexpr Work syr2(double n) { return {4 * triangle(n), 2 * triangle(n) + 2 * n}; }
[[nodiscard]] constexpr Work trmv(double n) { return {n * n, triangle(n) + 2 * n}; }                      // trsv
[[nodiscard]] constexpr Work tbmv(double n, double k) { return {n * (2 * k + 1), n * (k + 1) + 2 * n}; }  // tbsv

// Level 3.
[[nodiscard]] constexpr Work gemm(double m, double n, double k) { return {2 * m * n * k, m * k + k * n + m * n}; }
[[nodiscard]] constexpr Work symm(double m, double n) { return {2 * m * m * n, triangle(m) + 2 * m * n}; }
[[nodiscard]] constexpr Work syrk(double n, double k) { return {2 * triangle(n) * k, n * k + triangle(n)}; }
[[nodiscard]] constexpr Work syrkx(double n, double k) { return {2 * triangle(n) * k, 2 * n * k + triangle(n)}; }
[[nodiscard]] constexpr Work syr2k(double n, double k) { return {4 * triangle(n) * k, 2 * n * k + triangle(n)}; }
[[nodiscard]] constexpr Work trmm(double m, double n) { return {m * m * n, triangle(m) + 2 * m * n}; }  // trsm

// What BLAS lacks.
[[nodiscard]] constexpr Work geam(double m, double n) { return {3 * m * n, 3 * m * n}; }
[[nodiscard]] constexpr Work dgmm(double m, double n) { return {m * n, 2 * m * n + m}; }
[[nodiscard]] constexpr Work tpttr(double n) { return {0, 2 * triangle(n)}; }  // trttp
[[nodiscard]] constexpr Work gemm_epilogue(double m, double n, double k) {     // the products alone, and the bias
  return {2 * m * n * k, m * k + k * n + m * n + m};
}
// Energies of `pairs` of occupied orbitals: the products alone, what follows them is O(1 / naux) of that.
[[nodiscard]] constexpr Work pair_energy(double pairs, double nocc, double naux, double nvir) {
  return {2 * pairs * nvir * nvir * naux, nocc * naux * nvir + nocc + nvir};
}
// Bytes of one number that a quantisation reads with `from` bits and writes with `to` bits. Scales are left out.
[[nodiscard]] constexpr double quantized_bytes(double from, double to) { return (from + to) / 8; }

}  // namespace trn::blas::counts
