// The four element types, for explicit instantiation: TRN_SOLVER_SCALARS(M) is M(float) ... M(complex<double>).
#pragma once

#include <complex>

#define TRN_SOLVER_SCALARS(M) M(float) M(double) M(std::complex<float>) M(std::complex<double>)
