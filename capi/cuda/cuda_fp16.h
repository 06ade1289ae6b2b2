/* cuda_fp16.h: CUDA's 16-bit floating-point number as a type of the host: storage and conversions, no arithmetic. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#ifdef __cplusplus
#include <cstdint>
#include <cstring>

struct __half {
  std::uint16_t bits;
  __half() = default;
  /* Rounded to nearest, ties to even; _Float16 is IEEE's binary16. */
  __half(float value) {
    const auto narrow = static_cast<_Float16>(value);
    std::memcpy(&bits, &narrow, sizeof bits);
  }
  operator float() const {
    _Float16 narrow;
    std::memcpy(&narrow, &bits, sizeof bits);
    return static_cast<float>(narrow);
  }
};
typedef __half half;
inline __half __float2half(float value) { return __half(value); }
inline float __half2float(__half value) { return value; }
#endif

#endif
