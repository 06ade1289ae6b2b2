// How illegal arguments are reported: the position of the first one, through xerbla_ (Fortran) or cblas_xerbla (C),
// both of which a program may replace.
#pragma once

#include <trn/blas/storage.hpp>

extern "C" {
void xerbla_(const char* routine, const int* position, std::size_t length);
void cblas_xerbla(int position, const char* routine, const char* form, ...);
extern int RowMajorStrg, CBLAS_CallFromC;
}

namespace trn::dropin {

using blas::Layout;

// Which entry point was called. Row-major calls exist in C only; there the routines below see the arguments in the
// order in which the Fortran routine would get them for the transposed problem, as Netlib's CBLAS passes them on.
struct Caller {
  const char* name;  // "DGEMM " or "cblas_dgemm"
  bool c = false;
  Layout layout = Layout::ColumnMajor;
};

// Reports Fortran's position `info` (1 is the first argument). C has one argument more in front, the order. As in
// Netlib's CBLAS, RowMajorStrg tells the handler that positions are those of the transposed call; the handler exchanges
// them back.
void complain(const Caller& caller, int info);

}  // namespace trn::dropin
