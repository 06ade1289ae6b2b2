// Arithmetic and traffic of transforms: what a benchmark divides by time, whatever the algorithm does.
//
// A complex transform of N points counts 5 N log2 N operations, those of the radix-2 algorithm: N/2 log2 N butterflies
// of a complex multiplication (6) and two complex additions (4). One of real numbers counts half of it, and so does a
// cosine transform. Lengths below 2 count as 2.
#pragma once

#include <algorithm>
#include <cmath>

#include <trn/fft/types.hpp>

namespace trn::fft::counts {

// N points in all, over every axis.
[[nodiscard]] inline double transform_flops(Kind kind, double points, double batch = 1) {
  const double n = std::max(points, 2.0);
  return batch * 5 * n * std::log2(n) * (kind == Kind::ComplexToComplex ? 1 : 0.5);
}
// What a plan reads and writes, for real parts of `size` bytes; `last` points along the last axis.
[[nodiscard]] inline double transform_bytes(Kind kind, double points, double last, double batch, double size) {
  const double half = points / last * (std::floor(last / 2) + 1);  // stored of a Hermitian array
  const double numbers = kind == Kind::ComplexToComplex ? 4 * points : points + 2 * half;
  return batch * numbers * size;
}
[[nodiscard]] inline double cosine_flops(double points, double batch) {
  return transform_flops(Kind::RealToComplex, points, batch);
}
// n points with m: as three real transforms of n + m points, by whichever method.
[[nodiscard]] inline double convolve_flops(double n, double m, double batch) {
  return 3 * transform_flops(Kind::RealToComplex, n + m, batch);
}
[[nodiscard]] inline double stft_flops(double points, double frames, double batch) {
  return transform_flops(Kind::RealToComplex, points, frames * batch);
}

}  // namespace trn::fft::counts
