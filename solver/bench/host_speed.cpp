// solver_host_speed [batched|large]: processor time of one thread, ours beside a loop of LAPACK's routine on the same
// matrices, taken in turns; the fastest of several rounds each.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include <omp.h>

#include <trn/core/array.hpp>
#include <trn/solver/batched.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/svd.hpp>

#include "solver_peers.hpp"

namespace {

using namespace trn;
using namespace trn::solver;
using tools::LapackPeer;

double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class T> std::vector<T> matrices(std::int64_t n, std::int64_t count, bool positive) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<T> a(static_cast<std::size_t>(n * n * count));
  for (std::int64_t p = 0; p < count; ++p) {
    T* m = a.data() + p * n * n;
    for (std::int64_t i = 0; i < n * n; ++i) m[i] = static_cast<T>(normal(random));
    if (!positive) continue;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) m[j * n + i] = m[i * n + j];
      m[j * n + j] += static_cast<T>(4 * n);
    }
  }
  return a;
}

// ours(a) and theirs(a) on fresh copies, in turns.
template <class T, class F, class G> void compare(const char* name, std::int64_t n, std::int64_t count,
                                                  const std::vector<T>& start, const F& ours, const G& theirs) {
  std::vector<T> a = start;
  double mine = 1e300, peer = 1e300;
  for (int round = 0; round < 7; ++round) {
    a = start;
    double begin = now();
    ours(a.data());
    mine = std::min(mine, now() - begin);
    a = start;
    begin = now();
    theirs(a.data());
    peer = std::min(peer, now() - begin);
  }
  const double scale = 1e6 / static_cast<double>(count);
  std::printf("| %s | %s | %lld | %.3g | %.3g | %.2f |\n", name, sizeof(T) == 4 ? "s" : "d", static_cast<long long>(n),
              mine * scale, peer * scale, peer / mine);
}

template <class T> void batched(std::int64_t n) {
  const Executor e = Executor::host();
  const std::int64_t count = std::max<std::int64_t>(64, (std::int64_t{1} << 17) / (n * n) / 16 * 16);
  const int order = static_cast<int>(n);
  const auto batch = [&](T* a) { return Batch<T>::strided({n, n}, a, n * n, count); };
  std::vector<int> ipiv(static_cast<std::size_t>(n));
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n * count));
  std::vector<T> tau(static_cast<std::size_t>(n * count)), work(static_cast<std::size_t>(66 * n));
  std::vector<T> w(static_cast<std::size_t>(n * count));
  int info = 0;
  const auto loop = [&](T* a, auto f) {
    for (std::int64_t p = 0; p < count; ++p) f(a + p * n * n, p);
  };
  const auto spd = matrices<T>(n, count, true), general = matrices<T>(n, count, false);
  compare(
      "potrf", n, count, spd, [&](T* a) { potrf_batched(e, Uplo::Lower, batch(a)); },
      [&](T* a) { loop(a, [&](T* x, std::int64_t) { LapackPeer<T>::potrf('L', order, x, order, info, 1); }); });
  compare(
      "getrf", n, count, general,
      [&](T* a) { getrf_batched(e, batch(a), MatrixView<std::int64_t>(e, pivots.data(), count, n, n, 1)); },
      [&](T* a) {
        loop(a, [&](T* x, std::int64_t) { LapackPeer<T>::getrf(order, order, x, order, ipiv.data(), info); });
      });
  compare(
      "geqrf", n, count, general,
      [&](T* a) { geqrf_batched(e, batch(a), MatrixView<T>(e, tau.data(), count, n, n, 1)); },
      [&](T* a) {
        loop(a, [&](T* x, std::int64_t p) {
          LapackPeer<T>::geqrf(order, order, x, order, tau.data() + p * n, work.data(), 66 * order, info);
        });
      });
  compare(
      "eigh (syevj)", n, count, spd,
      [&](T* a) { eigh_batched(e, batch(a), MatrixView<T>(e, w.data(), count, n, n, 1)); },
      [&](T* a) {
        loop(a, [&](T* x, std::int64_t p) {
          LapackPeer<T>::syev('V', 'L', order, x, order, w.data() + p * n, work.data(), 66 * order, info, 1, 1);
        });
      });
}

template <class T> void large(std::int64_t n) {
  const Executor e = Executor::host();
  const int order = static_cast<int>(n);
  const auto view = [&](T* a) { return MatrixView<T>(e, a, n, n, 1, n); };
  std::vector<int> ipiv(static_cast<std::size_t>(n));
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  std::vector<T> tau(static_cast<std::size_t>(n)), work(static_cast<std::size_t>(200 * n)), w(tau),
      u(static_cast<std::size_t>(n * n)), v(u);
  int info = 0;
  const auto spd = matrices<T>(n, 1, true), general = matrices<T>(n, 1, false);
  compare(
      "potrf", n, 1, spd, [&](T* a) { potrf(e, Uplo::Lower, view(a)); },
      [&](T* a) { LapackPeer<T>::potrf('L', order, a, order, info, 1); });
  compare(
      "getrf", n, 1, general, [&](T* a) { getrf(e, view(a), VectorView<std::int64_t>(e, pivots.data(), n)); },
      [&](T* a) { LapackPeer<T>::getrf(order, order, a, order, ipiv.data(), info); });
  compare(
      "geqrf", n, 1, general, [&](T* a) { geqrf(e, view(a), VectorView<T>(e, tau.data(), n)); },
      [&](T* a) { LapackPeer<T>::geqrf(order, order, a, order, tau.data(), work.data(), 200 * order, info); });
  compare(
      "eigh (syev)", n, 1, spd, [&](T* a) { eigh(e, view(a), VectorView<T>(e, w.data(), n)); },
      [&](T* a) { LapackPeer<T>::syev('V', 'L', order, a, order, w.data(), work.data(), 200 * order, info, 1, 1); });
  compare(
      "svd (gesvd)", n, 1, general,
      [&](T* a) { svd<T>(e, view(a), VectorView<T>(e, w.data(), n), view(u.data()), view(v.data())); },
      [&](T* a) {
        LapackPeer<T>::gesvd('S', 'S', order, order, a, order, w.data(), u.data(), order, v.data(), order, work.data(),
                             200 * order, info, 1, 1);
      });
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_num_threads(1);
  const std::string what = argc > 1 ? argv[1] : "batched";
  std::printf("| operation | type | n | trnsolver us | LAPACK us | LAPACK / trnsolver |\n|---|---|---|---|---|---|\n");
  if (what == "batched") {
    for (const std::int64_t n : {4, 8, 16, 24, 32}) batched<double>(n);
    for (const std::int64_t n : {4, 8, 16, 24, 32}) batched<float>(n);
  } else {
    for (const std::int64_t n : {256, 512, 1024}) large<double>(n);
    large<float>(1024);
  }
}
