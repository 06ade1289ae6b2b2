// What every file that is compiled once per instruction set ends with: a table of functions for each precision, and the
// choice of this machine's at the first call.
#pragma once

// In the namespace of an instruction set; TABLE<T> is a TYPE<T>.
#define TRN_FFT_TABLES(NAME, TYPE, TABLE)                     \
  const TYPE<float>* NAME##_float() { return &TABLE<float>; } \
  const TYPE<double>* NAME##_double() { return &TABLE<double>; }
// In trn::fft::host, once: NAME<float>() and NAME<double>().
#define TRN_FFT_CHOICES(NAME, TYPE)                                                              \
  HWY_EXPORT(NAME##_float);                                                                      \
  HWY_EXPORT(NAME##_double);                                                                     \
  template <> const TYPE<float>& NAME<float>() { return *HWY_DYNAMIC_DISPATCH(NAME##_float)(); } \
  template <> const TYPE<double>& NAME<double>() { return *HWY_DYNAMIC_DISPATCH(NAME##_double)(); }
