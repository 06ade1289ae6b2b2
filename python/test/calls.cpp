// Times of small calls in C++, for python/test/speed.py: what the same call from Python takes beyond them is the price
// of Python. Each prints its name and the least nanoseconds of a call. Where Python's call makes a new result, so does
// the one here.
#include <chrono>
#include <cstdio>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/blas/gemv.hpp>
#include <trn/blas/level1.hpp>
#include <trn/fft/plan.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/solve.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/tensor/einsum.hpp>
#include <trn/tensor/plan_cache.hpp>

namespace {

using namespace trn;
using C = std::complex<double>;

template <class F> void time(const char* name, F&& call) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    constexpr int kCalls = 2000;
    const auto begin = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kCalls);
  }
  std::printf("%s\t%.1f\n", name, best);
}

}  // namespace

int main() {
  const Executor host = Executor::host();
  std::vector<double> a(16, 1.0), b(16, 1.0), x(8, 1.0), y(8, 1.0), spd(16);
  const auto matrix = [&](std::vector<double>& v) { return MatrixView<double>::row_major(host, v.data(), 4, 4); };
  const VectorView<double> xs(host, x.data(), 4), ys(host, y.data(), 4);
  time("dot", [&] { (void)blas::dot(host, xs, ys); });
  time("axpy", [&] { blas::axpy<double>(host, 1e-9, xs, ys); });
  time("gemv", [&] { blas::gemv<double>(host, Op::N, 1.0, matrix(a), xs, 0.0, ys); });
  time("gemm", [&] { (void)blas::gemm(host, matrix(a), matrix(b)); });
  std::vector<C> z(8, C(1)), w(8);
  const fft::Plan<double> plan(host, fft::dense(fft::Kind::ComplexToComplex, fft::Direction::Forward, {8}));
  time("fft", [&] { plan.execute(View<const C>(host, z.data(), {8}), View<C>(host, w.data(), {8})); });
  rand::Generator generator;
  time("random", [&] { rand::uniform(host, generator, View<double>(host, x.data(), {8}), rand::Interval::HalfOpen); });
  const auto reset = [&](std::vector<double>& v, double off) {
    for (std::size_t i = 0; i < 16; ++i) v[i] = i % 5 == 0 ? 4.0 : off;
  };
  time("cholesky", [&] {
    reset(spd, 1.0);
    (void)solver::potrf(host, blas::Uplo::Lower, matrix(spd));
  });
  time("solve", [&] {
    std::vector<double> rhs(4, 1.0);
    reset(spd, 1.0);
    (void)solver::solve<double>(host, matrix(spd), MatrixView<double>::row_major(host, rhs.data(), 4, 1));
  });
  const std::vector<std::int64_t> offsets{0, 1, 2, 3, 4};
  const std::vector<std::int32_t> columns{0, 1, 2, 3};
  const auto csr = sparse::Csr<double>::adopt(
      host, sparse::CsrView<double>{{4, 4}, offsets, columns, std::span<const double>(a).first(4)});
  const sparse::SpmmPlan<double> product(host, csr);
  time("spmv", [&] {
    (void)product.execute(1.0, MatrixView<const double>::row_major(host, x.data(), 4, 1), 0.0,
                          MatrixView<double>::row_major(host, y.data(), 4, 1));
  });
  tensor::PlanCache cache;
  tensor::EinsumOptions options;
  options.cache = &cache;
  const tensor::TypedView left{host, DType::Float64, a.data(), {4, 4}, {4, 1}};
  const tensor::TypedView right{host, DType::Float64, b.data(), {4, 4}, {4, 1}};
  time("einsum", [&] { (void)tensor::einsum_as<double>(host, "ij,jk->ik", std::vector{left, right}, options); });
}
