/* vector_types.h: the few vector types of CUDA that library interfaces use. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#if defined(__cplusplus)
#define TRN_CUDA_ALIGN(n) alignas(n)
#else
#define TRN_CUDA_ALIGN(n) _Alignas(n)
#endif

typedef struct float2 {
  TRN_CUDA_ALIGN(8) float x;
  float y;
} float2;
typedef struct double2 {
  TRN_CUDA_ALIGN(16) double x;
  double y;
} double2;
typedef struct int2 {
  TRN_CUDA_ALIGN(8) int x;
  int y;
} int2;
typedef struct float4 {
  TRN_CUDA_ALIGN(16) float x;
  float y, z, w;
} float4;
/* The extents of a grid of threads; programs without kernels name it for their block sizes. */
typedef struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
  constexpr dim3(unsigned int x_extent = 1, unsigned int y_extent = 1, unsigned int z_extent = 1)
      : x(x_extent), y(y_extent), z(z_extent) {}
#endif
} dim3;

#endif
