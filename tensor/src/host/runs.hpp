// Runs of elements: gathered from any stride and type into numbers of the type that computes, worked on, scattered.
#pragma once

#include <complex>
#include <cstdint>

#include <trn/core/dtype.hpp>
#include <trn/tensor/types.hpp>

namespace trn::tensor::host {

constexpr std::int64_t kRun = 256;  // elements of a run at most

// out[i] = data[offset + i stride] as C, for i < n. 16-bit types come in as float exactly.
template <class C>
void load_run(DType type, const void* data, std::int64_t offset, std::int64_t stride, std::int64_t n, C* out);
// data[offset + i stride] = in[i], rounded once to the type.
template <class C>
void store_run(DType type, void* data, std::int64_t offset, std::int64_t stride, std::int64_t n, const C* in);
// x[i] = op(x[i]).
template <class C> void apply(Unary op, C* x, std::int64_t n);
// x[i] = x[i] op y[i].
template <class C> void apply(Binary op, C* x, const C* y, std::int64_t n);
// x[i] = scale x[i]; 1 does nothing, and a real scale is not multiplied as a complex one.
template <class C> void scale_run(std::complex<double> scale, C* x, std::int64_t n);

// body.template operator()<C>() with the C++ type of a compute type.
template <class F> void with_compute(DType compute, const F& body) {
  if (compute == DType::Float32) return body.template operator()<float>();
  if (compute == DType::Float64) return body.template operator()<double>();
  if (compute == DType::Complex64) return body.template operator()<std::complex<float>>();
  body.template operator()<std::complex<double>>();
}

}  // namespace trn::tensor::host
