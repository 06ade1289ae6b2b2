// The price of the drop-in for small operands: the time of a call through libtrn_blas_dropin.so and through another
// BLAS, OpenBLAS's own library as a rule, both loaded into this process, one thread, the smallest of many rounds taken
// in turn. Level 1 with n elements, level 2 and 3 with n x n matrices.
//
//   build/release/dropin/dropin_blas_speed build/release/dropin/libtrn_blas_dropin.so libopenblas.so.0
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

namespace {

// Processor time of this thread: other programs on the machine count less.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Library {
  void* handle;
  template <class F> F* entry(const char* name) const {
    void* address = dlsym(handle, name);
    if (!address) std::fprintf(stderr, "%s\n", dlerror()), std::exit(2);
    return reinterpret_cast<F*>(address);
  }
};

using Dot = double(const int*, const double*, const int*, const double*, const int*);
using Axpy = void(const int*, const double*, const double*, const int*, double*, const int*);
using Scal = void(const int*, const double*, double*, const int*);
using Norm = double(const int*, const double*, const int*);
using Gemv = void(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
                  const int*, const double*, double*, const int*);
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*);

// One routine of one library with operands of its own.
struct Call {
  Library library;
  int n;
  std::vector<double> a, b, c;
  Call(Library l, int size) : library(l), n(size), a(square(), 0.5), b(square(), 0.25), c(square(), 1) {}
  [[nodiscard]] std::size_t square() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

  [[nodiscard]] double nanoseconds(const char* routine, int repeats) {
    const double alpha = -1, beta = 0.5;
    const int one = 1;
    const char op = 'N';
    const auto time = [&](auto call) {
      const double begin = now();
      for (int i = 0; i < repeats; ++i) call();
      return (now() - begin) / repeats * 1e9;
    };
    const std::string_view name = routine;
    if (name == "ddot_") {
      auto* f = library.entry<Dot>(routine);
      double sum = 0;
      const double t = time([&] { sum += f(&n, a.data(), &one, b.data(), &one); });
      c[0] = sum > 0 ? 1 : 0;
      return t;
    }
    if (name == "daxpy_") {
      auto* f = library.entry<Axpy>(routine);
      return time([&] { f(&n, &alpha, a.data(), &one, c.data(), &one); });
    }
    if (name == "dscal_") {
      auto* f = library.entry<Scal>(routine);
      return time([&] { f(&n, &alpha, c.data(), &one); });
    }
    if (name == "dnrm2_") {
      auto* f = library.entry<Norm>(routine);
      double sum = 0;
      const double t = time([&] { sum += f(&n, a.data(), &one); });
      c[0] = sum > 0 ? 1 : 0;
      return t;
    }
    if (name == "dgemv_") {
      auto* f = library.entry<Gemv>(routine);
      return time([&] { f(&op, &n, &n, &alpha, a.data(), &n, b.data(), &one, &beta, c.data(), &one); });
    }
    auto* f = library.entry<Gemm>(routine);
    return time([&] { f(&op, &op, &n, &n, &n, &alpha, a.data(), &n, b.data(), &n, &beta, c.data(), &n); });
  }
};

}  // namespace

int main(int argc, char** argv) {
  Library libraries[2];
  for (int i = 0; i < 2; ++i) {
    libraries[i].handle = argc == 3 ? dlopen(argv[i + 1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!libraries[i].handle) {
      std::fprintf(stderr, "usage: dropin_blas_speed DROPIN OTHER; %s\n", argc == 3 ? dlerror() : "two libraries");
      return 2;
    }
  }
  std::printf("routine     n   drop-in ns   other ns      more    ratio\n");
  for (const char* routine : {"ddot_", "daxpy_", "dscal_", "dnrm2_", "dgemv_", "dgemm_"}) {
    for (const int n : {4, 16, 64, 256}) {
      Call ours(libraries[0], n), theirs(libraries[1], n);
      double us = 1e9, them = 1e9;
      const int repeats = routine[1] == 'g' ? 20000 / n / n + 20 : 2000;
      for (int round = 0; round < 200; ++round) {
        us = std::min(us, ours.nanoseconds(routine, repeats));
        them = std::min(them, theirs.nanoseconds(routine, repeats));
      }
      std::printf("%-8s %4d %12.1f %10.1f %9.1f %8.2f\n", routine, n, us, them, us - them, us / them);
    }
  }
}
