// The loops of sparse products for complex types, compiled for every instruction set.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // AVX2, AVX-512, and none
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/spmm_complex.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/spmm_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::sparse::host::HWY_NAMESPACE {

void csr_vector_complex64_32(const CsrArgs<std::complex<float>, std::int32_t>& g, std::int64_t begin,
                             std::int64_t end) {
  csr_vector_here(g, begin, end);
}
void csr_panel_complex64_32(const CsrArgs<std::complex<float>, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  csr_panel_here(g, begin, end);
}
void csr_vector_complex64_64(const CsrArgs<std::complex<float>, std::int64_t>& g, std::int64_t begin,
                             std::int64_t end) {
  csr_vector_here(g, begin, end);
}
void csr_panel_complex64_64(const CsrArgs<std::complex<float>, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  csr_panel_here(g, begin, end);
}
void sell_vector_complex64(const SellArgs<std::complex<float>>& g, std::int64_t begin, std::int64_t end) {
  sell_vector_here(g, begin, end);
}
void bsr_vector_complex64(const BsrArgs<std::complex<float>>& g, std::int64_t begin, std::int64_t end) {
  bsr_vector_here(g, begin, end);
}
void dia_vector_complex64(const DiaArgs<std::complex<float>>& g, std::int64_t begin, std::int64_t end) {
  dia_vector_here(g, begin, end);
}
void band_vector_complex64(const BandArgs<std::complex<float>>& g, std::int64_t begin, std::int64_t end) {
  band_vector_here(g, begin, end);
}
void csr_vector_complex128_32(const CsrArgs<std::complex<double>, std::int32_t>& g, std::int64_t begin,
                              std::int64_t end) {
  csr_vector_here(g, begin, end);
}
void csr_panel_complex128_32(const CsrArgs<std::complex<double>, std::int32_t>& g, std::int64_t begin,
                             std::int64_t end) {
  csr_panel_here(g, begin, end);
}
void csr_vector_complex128_64(const CsrArgs<std::complex<double>, std::int64_t>& g, std::int64_t begin,
                              std::int64_t end) {
  csr_vector_here(g, begin, end);
}
void csr_panel_complex128_64(const CsrArgs<std::complex<double>, std::int64_t>& g, std::int64_t begin,
                             std::int64_t end) {
  csr_panel_here(g, begin, end);
}
void sell_vector_complex128(const SellArgs<std::complex<double>>& g, std::int64_t begin, std::int64_t end) {
  sell_vector_here(g, begin, end);
}
void bsr_vector_complex128(const BsrArgs<std::complex<double>>& g, std::int64_t begin, std::int64_t end) {
  bsr_vector_here(g, begin, end);
}
void dia_vector_complex128(const DiaArgs<std::complex<double>>& g, std::int64_t begin, std::int64_t end) {
  dia_vector_here(g, begin, end);
}
void band_vector_complex128(const BandArgs<std::complex<double>>& g, std::int64_t begin, std::int64_t end) {
  band_vector_here(g, begin, end);
}

}  // namespace trn::sparse::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::sparse::host {

HWY_EXPORT(csr_vector_complex64_32);
HWY_EXPORT(csr_panel_complex64_32);
HWY_EXPORT(csr_vector_complex64_64);
HWY_EXPORT(csr_panel_complex64_64);
HWY_EXPORT(sell_vector_complex64);
HWY_EXPORT(bsr_vector_complex64);
HWY_EXPORT(dia_vector_complex64);
HWY_EXPORT(band_vector_complex64);
HWY_EXPORT(csr_vector_complex128_32);
HWY_EXPORT(csr_panel_complex128_32);
HWY_EXPORT(csr_vector_complex128_64);
HWY_EXPORT(csr_panel_complex128_64);
HWY_EXPORT(sell_vector_complex128);
HWY_EXPORT(bsr_vector_complex128);
HWY_EXPORT(dia_vector_complex128);
HWY_EXPORT(band_vector_complex128);

template <> void csr_vector(const CsrArgs<std::complex<float>, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_vector_complex64_32)(g, begin, end);
}
template <> void csr_panel(const CsrArgs<std::complex<float>, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_panel_complex64_32)(g, begin, end);
}
template <> void csr_vector(const CsrArgs<std::complex<float>, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_vector_complex64_64)(g, begin, end);
}
template <> void csr_panel(const CsrArgs<std::complex<float>, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_panel_complex64_64)(g, begin, end);
}
template <> void sell_vector(const SellArgs<std::complex<float>>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(sell_vector_complex64)(g, begin, end);
}
template <> void bsr_vector(const BsrArgs<std::complex<float>>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(bsr_vector_complex64)(g, begin, end);
}
template <> void dia_vector(const DiaArgs<std::complex<float>>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(dia_vector_complex64)(g, begin, end);
}
template <> void band_vector(const BandArgs<std::complex<float>>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(band_vector_complex64)(g, begin, end);
}
template <>
void csr_vector(const CsrArgs<std::complex<double>, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_vector_complex128_32)(g, begin, end);
}
template <> void csr_panel(const CsrArgs<std::complex<double>, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_panel_complex128_32)(g, begin, end);
}
template <>
void csr_vector(const CsrArgs<std::complex<double>, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_vector_complex128_64)(g, begin, end);
}
template <> void csr_panel(const CsrArgs<std::complex<double>, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_panel_complex128_64)(g, begin, end);
}
template <> void sell_vector(const SellArgs<std::complex<double>>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(sell_vector_complex128)(g, begin, end);
}
template <> void bsr_vector(const BsrArgs<std::complex<double>>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(bsr_vector_complex128)(g, begin, end);
}
template <> void dia_vector(const DiaArgs<std::complex<double>>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(dia_vector_complex128)(g, begin, end);
}
template <> void band_vector(const BandArgs<std::complex<double>>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(band_vector_complex128)(g, begin, end);
}

}  // namespace trn::sparse::host
#endif
