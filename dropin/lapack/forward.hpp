// Entry points that pass a call on. Fortran hands over addresses only, and behind them the length of every character
// argument: a routine with P addresses and L lengths is called without knowing what they mean.
// LAPACK's own argument checks, info numbers and workspace queries then are what the caller meets.
#pragma once

#include <cstddef>

#include "calls.hpp"

// TRN_A5: five parameters; TRN_N5: their names; TRN_L2, TRN_M2: two lengths.
#define TRN_A1 void* a1
#define TRN_A2 TRN_A1, void* a2
#define TRN_A3 TRN_A2, void* a3
#define TRN_A4 TRN_A3, void* a4
#define TRN_A5 TRN_A4, void* a5
#define TRN_A6 TRN_A5, void* a6
#define TRN_A7 TRN_A6, void* a7
#define TRN_A8 TRN_A7, void* a8
#define TRN_A9 TRN_A8, void* a9
#define TRN_A10 TRN_A9, void* a10
#define TRN_A11 TRN_A10, void* a11
#define TRN_A12 TRN_A11, void* a12
#define TRN_A13 TRN_A12, void* a13
#define TRN_A14 TRN_A13, void* a14
#define TRN_A15 TRN_A14, void* a15
#define TRN_A16 TRN_A15, void* a16
#define TRN_A17 TRN_A16, void* a17
#define TRN_A18 TRN_A17, void* a18
#define TRN_A19 TRN_A18, void* a19
#define TRN_A20 TRN_A19, void* a20
#define TRN_A21 TRN_A20, void* a21
#define TRN_A22 TRN_A21, void* a22
#define TRN_A23 TRN_A22, void* a23
#define TRN_N1 a1
#define TRN_N2 TRN_N1, a2
#define TRN_N3 TRN_N2, a3
#define TRN_N4 TRN_N3, a4
#define TRN_N5 TRN_N4, a5
#define TRN_N6 TRN_N5, a6
#define TRN_N7 TRN_N6, a7
#define TRN_N8 TRN_N7, a8
#define TRN_N9 TRN_N8, a9
#define TRN_N10 TRN_N9, a10
#define TRN_N11 TRN_N10, a11
#define TRN_N12 TRN_N11, a12
#define TRN_N13 TRN_N12, a13
#define TRN_N14 TRN_N13, a14
#define TRN_N15 TRN_N14, a15
#define TRN_N16 TRN_N15, a16
#define TRN_N17 TRN_N16, a17
#define TRN_N18 TRN_N17, a18
#define TRN_N19 TRN_N18, a19
#define TRN_N20 TRN_N19, a20
#define TRN_N21 TRN_N20, a21
#define TRN_N22 TRN_N21, a22
#define TRN_N23 TRN_N22, a23
#define TRN_L0
#define TRN_L1 , std::size_t l1
#define TRN_L2 TRN_L1, std::size_t l2
#define TRN_L3 TRN_L2, std::size_t l3
#define TRN_M0
#define TRN_M1 , l1
#define TRN_M2 TRN_M1, l2
#define TRN_M3 TRN_M2, l3

// The routine of the LAPACK behind: its name has been changed by rename.sh.
#define TRN_BEHIND(name, P, L) extern "C" void trn_private_##name(TRN_A##P TRN_L##L);
#define TRN_FORWARD(name, kind, P, L)                                              \
  TRN_BEHIND(name, P, L)                                                           \
  extern "C" __attribute__((visibility("default"))) void name(TRN_A##P TRN_L##L) { \
    trn::dropin::count(trn::dropin::Kind::kind, true);                             \
    trn_private_##name(TRN_N##P TRN_M##L);                                         \
  }
#define TRN_FORWARD_REAL(name, kind, P, L) TRN_FORWARD(s##name, kind, P, L) TRN_FORWARD(d##name, kind, P, L)
#define TRN_FORWARD_COMPLEX(name, kind, P, L) TRN_FORWARD(c##name, kind, P, L) TRN_FORWARD(z##name, kind, P, L)
#define TRN_FORWARD_ALL(name, kind, P, L) TRN_FORWARD_REAL(name, kind, P, L) TRN_FORWARD_COMPLEX(name, kind, P, L)
