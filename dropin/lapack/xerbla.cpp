// Stands for libblas.so.3 when the drop-in LAPACK is linked: the error handler, which the program or its BLAS defines.
extern "C" __attribute__((visibility("default"))) void xerbla_(const char*, const int*, unsigned long) {}
