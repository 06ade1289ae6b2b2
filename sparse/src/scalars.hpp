// For explicit instantiation: every element type, and every element type with every index type.
#pragma once

#include <complex>
#include <cstdint>

#define TRN_SPARSE_SCALARS(M) M(float) M(double) M(std::complex<float>) M(std::complex<double>)
#define TRN_SPARSE_INDEXED(M)           \
  M(float, std::int32_t)                \
  M(double, std::int32_t)               \
  M(std::complex<float>, std::int32_t)  \
  M(std::complex<double>, std::int32_t) \
  M(float, std::int64_t)                \
  M(double, std::int64_t) M(std::complex<float>, std::int64_t) M(std::complex<double>, std::int64_t)
