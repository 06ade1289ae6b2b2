// The loops of sparse products for real types, compiled for every instruction set.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // AVX2, AVX-512, and none
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/spmm_real.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/spmm_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::sparse::host::HWY_NAMESPACE {

void csr_vector_float_32(const CsrArgs<float, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  csr_vector_here(g, begin, end);
}
void csr_panel_float_32(const CsrArgs<float, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  csr_panel_here(g, begin, end);
}
void csr_vector_float_64(const CsrArgs<float, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  csr_vector_here(g, begin, end);
}
void csr_panel_float_64(const CsrArgs<float, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  csr_panel_here(g, begin, end);
}
void sell_vector_float(const SellArgs<float>& g, std::int64_t begin, std::int64_t end) {
  sell_vector_here(g, begin, end);
}
void bsr_vector_float(const BsrArgs<float>& g, std::int64_t begin, std::int64_t end) { bsr_vector_here(g, begin, end); }
void dia_vector_float(const DiaArgs<float>& g, std::int64_t begin, std::int64_t end) { dia_vector_here(g, begin, end); }
void band_vector_float(const BandArgs<float>& g, std::int64_t begin, std::int64_t end) {
  band_vector_here(g, begin, end);
}
void csr_vector_double_32(const CsrArgs<double, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  csr_vector_here(g, begin, end);
}
void csr_panel_double_32(const CsrArgs<double, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  csr_panel_here(g, begin, end);
}
void csr_vector_double_64(const CsrArgs<double, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  csr_vector_here(g, begin, end);
}
void csr_panel_double_64(const CsrArgs<double, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  csr_panel_here(g, begin, end);
}
void sell_vector_double(const SellArgs<double>& g, std::int64_t begin, std::int64_t end) {
  sell_vector_here(g, begin, end);
}
void bsr_vector_double(const BsrArgs<double>& g, std::int64_t begin, std::int64_t end) {
  bsr_vector_here(g, begin, end);
}
void dia_vector_double(const DiaArgs<double>& g, std::int64_t begin, std::int64_t end) {
  dia_vector_here(g, begin, end);
}
void band_vector_double(const BandArgs<double>& g, std::int64_t begin, std::int64_t end) {
  band_vector_here(g, begin, end);
}

}  // namespace trn::sparse::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::sparse::host {

HWY_EXPORT(csr_vector_float_32);
HWY_EXPORT(csr_panel_float_32);
HWY_EXPORT(csr_vector_float_64);
HWY_EXPORT(csr_panel_float_64);
HWY_EXPORT(sell_vector_float);
HWY_EXPORT(bsr_vector_float);
HWY_EXPORT(dia_vector_float);
HWY_EXPORT(band_vector_float);
HWY_EXPORT(csr_vector_double_32);
HWY_EXPORT(csr_panel_double_32);
HWY_EXPORT(csr_vector_double_64);
HWY_EXPORT(csr_panel_double_64);
HWY_EXPORT(sell_vector_double);
HWY_EXPORT(bsr_vector_double);
HWY_EXPORT(dia_vector_double);
HWY_EXPORT(band_vector_double);

template <> void csr_vector(const CsrArgs<float, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_vector_float_32)(g, begin, end);
}
template <> void csr_panel(const CsrArgs<float, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_panel_float_32)(g, begin, end);
}
template <> void csr_vector(const CsrArgs<float, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_vector_float_64)(g, begin, end);
}
template <> void csr_panel(const CsrArgs<float, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_panel_float_64)(g, begin, end);
}
template <> void sell_vector(const SellArgs<float>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(sell_vector_float)(g, begin, end);
}
template <> void bsr_vector(const BsrArgs<float>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(bsr_vector_float)(g, begin, end);
}
template <> void dia_vector(const DiaArgs<float>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(dia_vector_float)(g, begin, end);
}
template <> void band_vector(const BandArgs<float>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(band_vector_float)(g, begin, end);
}
template <> void csr_vector(const CsrArgs<double, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_vector_double_32)(g, begin, end);
}
template <> void csr_panel(const CsrArgs<double, std::int32_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_panel_double_32)(g, begin, end);
}
template <> void csr_vector(const CsrArgs<double, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_vector_double_64)(g, begin, end);
}
template <> void csr_panel(const CsrArgs<double, std::int64_t>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(csr_panel_double_64)(g, begin, end);
}
template <> void sell_vector(const SellArgs<double>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(sell_vector_double)(g, begin, end);
}
template <> void bsr_vector(const BsrArgs<double>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(bsr_vector_double)(g, begin, end);
}
template <> void dia_vector(const DiaArgs<double>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(dia_vector_double)(g, begin, end);
}
template <> void band_vector(const BandArgs<double>& g, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(band_vector_double)(g, begin, end);
}

}  // namespace trn::sparse::host
#endif
