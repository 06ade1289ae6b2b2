// The error handlers and the two flags that Netlib's CBLAS exports. Handlers are weak, so that a program's own ones win
// also when it is linked statically; from the shared library they are interposable in any case.
#include "errors.hpp"

#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

__attribute__((visibility("default"))) int RowMajorStrg = 0;
__attribute__((visibility("default"))) int CBLAS_CallFromC = 0;

__attribute__((weak, visibility("default"))) void xerbla_(const char* routine, const int* position,
                                                          std::size_t length) {
  std::size_t n = length > 32 ? 32 : length;
  while (n > 0 && routine[n - 1] == ' ') --n;
  std::fprintf(stderr, " ** On entry to %.*s parameter number %2d had an illegal value\n", static_cast<int>(n), routine,
               *position);
  std::exit(1);
}

// XERBLA for callers that hold the name as an array of characters.
__attribute__((weak, visibility("default"))) void xerbla_array_(const char* routine, const int* length,
                                                                const int* position) {
  char name[32];
  const int n = *length < 32 ? (*length < 0 ? 0 : *length) : 32;
  std::memset(name, ' ', sizeof name);
  std::memcpy(name, routine, static_cast<std::size_t>(n));
  xerbla_(name, position, sizeof name);
}

__attribute__((weak, visibility("default"))) void cblas_xerbla(int position, const char* routine, const char* form,
                                                               ...) {
  // The pairs of positions that the transposed call exchanges.
  struct Exchange {
    const char *routine, *except;
    int a, b;
  };
  static constexpr Exchange kExchanges[] = {{"gemm", nullptr, 4, 5}, {"gemm", nullptr, 9, 11}, {"symm", nullptr, 4, 5},
                                            {"hemm", nullptr, 4, 5}, {"trmm", nullptr, 6, 7},  {"trsm", nullptr, 6, 7},
                                            {"gemv", nullptr, 3, 4}, {"gbmv", nullptr, 3, 4},  {"gbmv", nullptr, 5, 6},
                                            {"ger", nullptr, 2, 3},  {"ger", nullptr, 6, 8},   {"her2", "her2k", 6, 8},
                                            {"hpr2", nullptr, 6, 8}};
  if (RowMajorStrg) {
    for (const Exchange& e : kExchanges) {
      if (!std::strstr(routine, e.routine) || (e.except && std::strstr(routine, e.except))) continue;
      if (position != e.a && position != e.b) continue;
      position = position == e.a ? e.b : e.a;
      break;
    }
  }
  if (position) std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", position, routine);
  va_list arguments;
  va_start(arguments, form);
  std::vfprintf(stderr, form, arguments);
  va_end(arguments);
  if (position) std::exit(-1);
}

// Whether two letters are the same, whatever their case.
__attribute__((weak, visibility("default"))) int lsame_(const char* a, const char* b, std::size_t, std::size_t) {
  return std::toupper(static_cast<unsigned char>(*a)) == std::toupper(static_cast<unsigned char>(*b));
}

}  // extern "C"

namespace trn::dropin {

void complain(const Caller& caller, int info) {
  if (!caller.c) return xerbla_(caller.name, &info, std::strlen(caller.name));
  RowMajorStrg = caller.layout == Layout::RowMajor ? 1 : 0;
  cblas_xerbla(info + 1, caller.name, "");
  RowMajorStrg = 0;
}

}  // namespace trn::dropin
