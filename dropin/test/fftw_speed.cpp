// The price of FFTW's interface: the time of one execution through libfftw3.so.3 over that of the same C++ plan, both
// in this process on one thread, the smaller of many rounds taken in turn.
//
//   OMP_NUM_THREADS=1 build/release/dropin/fftw/dropin_fftw_speed build/release/dropin/libfftw3.so.3
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>

#include <trn/fft/plan.hpp>

using Complex = std::complex<double>;

namespace {

// Processor time of this thread: other programs on the machine count less.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
template <class F> double seconds(const F& f, int repeats) {
  const double begin = now();
  for (int i = 0; i < repeats; ++i) f();
  return (now() - begin) / repeats;
}

// What is transformed: `batch` dense transforms of `lengths`, of complex numbers or of reals.
struct Case {
  std::vector<int> lengths;
  int batch = 1;
  bool real = false;
};

}  // namespace

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    std::fprintf(stderr, "usage: dropin_fftw_speed LIBRARY; %s\n", argc > 1 ? dlerror() : "no library named");
    return 2;
  }
  using Many = void* (*)(int, const int*, int, void*, const int*, int, int, void*, const int*, int, int, int, unsigned);
  using ManyReal = void* (*)(int, const int*, int, void*, const int*, int, int, void*, const int*, int, int, unsigned);
  const auto plan_complex = reinterpret_cast<Many>(dlsym(library, "fftw_plan_many_dft"));
  const auto plan_real = reinterpret_cast<ManyReal>(dlsym(library, "fftw_plan_many_dft_r2c"));
  const auto execute = reinterpret_cast<void (*)(void*)>(dlsym(library, "fftw_execute"));
  using Arrays = void (*)(void*, void*, void*);
  const auto execute_complex = reinterpret_cast<Arrays>(dlsym(library, "fftw_execute_dft"));
  const auto execute_real = reinterpret_cast<Arrays>(dlsym(library, "fftw_execute_dft_r2c"));
  const std::vector<Case> cases{
      {{8}},           {{16}},     {{32}},     {{64}},          {{128}},         {{1000}},
      {{1024}},        {{4096}},   {{65536}},  {{1 << 20}},     {{128, 128}},    {{64, 64, 64}},
      {{8}, 16},       {{16}, 64}, {{64}, 64}, {{16}, 1, true}, {{64}, 1, true}, {{1024}, 1, true},
      {{64}, 64, true}};
  double worst = 0;
  for (const Case& c : cases) {
    std::size_t n = static_cast<std::size_t>(c.batch);
    for (const int extent : c.lengths) n *= static_cast<std::size_t>(extent);
    std::vector<Complex> in(n), out(n);
    std::mt19937 random(1);
    for (Complex& x : in) x = {random() * 1e-9, random() * 1e-9};
    using trn::fft::Kind;
    const trn::fft::Plan<double> ours(
        trn::Executor::host(),
        trn::fft::dense(c.real ? Kind::RealToComplex : Kind::ComplexToComplex, trn::fft::Direction::Forward,
                        {c.lengths.begin(), c.lengths.end()}, {.batch = c.batch}));
    const int rank = static_cast<int>(c.lengths.size()), last = c.lengths.back(),
              distance = static_cast<int>(n) / c.batch, half = distance / last * (last / 2 + 1);
    void* const theirs = c.real ? plan_real(rank, c.lengths.data(), c.batch, in.data(), nullptr, 1, distance,
                                            out.data(), nullptr, 1, half, 64)
                                : plan_complex(rank, c.lengths.data(), c.batch, in.data(), nullptr, 1, distance,
                                               out.data(), nullptr, 1, distance, -1, 64);
    const int repeats = static_cast<int>(1'000'000 / n) + 1;
    const auto* const reals = reinterpret_cast<const double*>(in.data());
    double direct = 1e9, through = 1e9, arrays = 1e9;
    for (int round = 0; round < 60; ++round) {
      direct = std::min(direct, c.real ? seconds([&] { ours.execute(reals, out.data()); }, repeats)
                                       : seconds([&] { ours.execute(in.data(), out.data()); }, repeats));
      through = std::min(through, seconds([&] { execute(theirs); }, repeats));
      const Arrays with = c.real ? execute_real : execute_complex;
      arrays = std::min(arrays, seconds([&] { with(theirs, in.data(), out.data()); }, repeats));
    }
    std::printf("%s %8zu points, %zu axes, batch %3d: C++ %10.4f us, fftw_execute %.3f of it, new arrays %.3f\n",
                c.real ? "real   " : "complex", n, c.lengths.size(), c.batch, direct * 1e6, through / direct,
                arrays / direct);
    worst = std::max({worst, through / direct, arrays / direct});
  }
  std::printf("largest ratio %.3f\n", worst);
}
