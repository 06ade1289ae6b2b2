// The vectorised loops between float and the narrow formats that convert.cpp calls: one entry each way.
#pragma once

#include <cstdint>
#include <trn/core/dtype.hpp>

namespace trn::bits {

// dst[i] = narrow(src[i]), where magnitudes that round beyond the largest finite code become `overflow`. `dtype` is a
// float type narrower than float32.
void narrow_run(const float* src, DType dtype, std::uint32_t overflow, void* dst, std::int64_t n);

// dst[i] = widen(src[i]). `dtype` is a float type of one or two bytes.
void widen_run(DType dtype, const void* src, float* dst, std::int64_t n);

}  // namespace trn::bits
