/* vector_functions.h: how CUDA makes the vectors of vector_types.h from their elements. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

static inline float2 make_float2(float x, float y) {
  float2 v;
  v.x = x;
  v.y = y;
  return v;
}
static inline double2 make_double2(double x, double y) {
  double2 v;
  v.x = x;
  v.y = y;
  return v;
}
static inline int2 make_int2(int x, int y) {
  int2 v;
  v.x = x;
  v.y = y;
  return v;
}
static inline float4 make_float4(float x, float y, float z, float w) {
  float4 v;
  v.x = x;
  v.y = y;
  v.z = z;
  v.w = w;
  return v;
}

#endif
