/* Uses libtrnsci.so from C11: one product, whose value is known, and the sizes that other languages rely on. */
#include <stdio.h>
#include <trnblas.h>
#include <trnfft.h>
#include <trnrand.h>

_Static_assert(sizeof(trnblasOperation_t) == 4 && sizeof(trnError_t) == 4 && sizeof(trnDataType) == 4, "enums are ints");
_Static_assert(sizeof(trnComplex) == 8 && sizeof(trnDoubleComplex) == 16, "complex numbers are pairs");
_Static_assert(offsetof(trnDeviceProp, totalGlobalMem) == 256 && sizeof(trnDeviceProp) == 376, "members are added at the end");

int main(void) {
  trnblasHandle_t handle;
  float ones[900], *a = 0, *c = 0, one = 1, zero = 0;
  for (int i = 0; i < 900; ++i) ones[i] = 1;
  if (trnMalloc((void**)&a, sizeof ones) || trnMalloc((void**)&c, sizeof ones) || trnblasCreate(&handle)) return 1;
  trnMemcpy(a, ones, sizeof ones, trnMemcpyHostToDevice);
  if (trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, 30, 30, 30, &one, a, 30, a, 30, &zero, c, 30)) return 2;
  trnMemcpy(ones, c, sizeof ones, trnMemcpyDeviceToHost);
  printf("%g\n", ones[7]);
  return 0;
}
