/* cuFFT's element types and directions. */
#ifndef TRN_CUFFT_HEAD_H
#define TRN_CUFFT_HEAD_H

typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;

#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

#endif
