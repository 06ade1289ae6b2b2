// The price of FFTW's interface: the time of one execution through libfftw3.so.3 over that of the same C++ plan, both
// in this process on one thread, the smaller of many rounds taken in turn.
//
//   OMP_NUM_THREADS=1 build/release/dropin/fftw/dropin_fftw_speed build/release/dropin/libfftw3.so.3
#include <dlfcn.h>

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

}  // namespace

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    std::fprintf(stderr, "usage: dropin_fftw_speed LIBRARY; %s\n", argc > 1 ? dlerror() : "no library named");
    return 2;
  }
  const auto plan_dft =
      reinterpret_cast<void* (*)(int, const int*, Complex*, Complex*, int, unsigned)>(dlsym(library, "fftw_plan_dft"));
  const auto execute = reinterpret_cast<void (*)(void*)>(dlsym(library, "fftw_execute"));
  double worst = 0;
  const std::vector<std::vector<int>> shapes{{64},    {1000},    {1024},     {4096},
                                             {65536}, {1 << 20}, {128, 128}, {64, 64, 64}};
  for (const auto& shape : shapes) {
    std::size_t n = 1;
    for (const int extent : shape) n *= static_cast<std::size_t>(extent);
    std::vector<Complex> in(n), out(n);
    std::mt19937 random(1);
    for (Complex& x : in) x = {random() * 1e-9, random() * 1e-9};
    const trn::fft::Plan<double> ours(trn::Executor::host(),
                                      trn::fft::dense(trn::fft::Kind::ComplexToComplex, trn::fft::Direction::Forward,
                                                      std::vector<std::int64_t>(shape.begin(), shape.end())));
    void* theirs = plan_dft(static_cast<int>(shape.size()), shape.data(), in.data(), out.data(), -1, 64);
    const int repeats = static_cast<int>(2'000'000 / n) + 1;
    double direct = 1e9, through = 1e9;
    for (int round = 0; round < 40; ++round) {
      direct = std::min(direct, seconds([&] { ours.execute(in.data(), out.data()); }, repeats));
      through = std::min(through, seconds([&] { execute(theirs); }, repeats));
    }
    std::printf("%8zu points, %zu axes: C++ %.3f us, FFTW's interface %.3f us, ratio %.3f\n", n, shape.size(),
                direct * 1e6, through * 1e6, through / direct);
    worst = std::max(worst, through / direct);
  }
  std::printf("largest ratio %.3f\n", worst);
}
