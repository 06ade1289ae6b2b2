// What tests ask of the fake runtime beside its documented interface. The names are exported next to nrt_*; a test
// finds them by dlsym in the library that TRN_NRT_LIBRARY names.
#pragma once

#include <cstdint>

extern "C" {
// Everything anew, as after loading the library, with these rules (rules.hpp) instead of TRN_FAKE_NRT's.
void trn_fake_reset(const char* rules);
// Calls that hang (rules `hang` and `stuck`) come back.
void trn_fake_release();
// "tensors", "sets", "models", "infos" that are alive; "violations"; "runs" that were executed; "calls" of all
// functions; otherwise those of the function of this name.
std::uint64_t trn_fake_count(const char* what);
// What broke the documented contract, one line each. Valid until the next call.
const char* trn_fake_violations();
// The virtual clock in microseconds (rule kernel_us), and host work on it.
double trn_fake_clock();
void trn_fake_work(double microseconds);
}
