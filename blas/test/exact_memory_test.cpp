// Host memory of products in Precision Exact, counted: every operator new of this program passes through here.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <trn/blas/exactness.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/core/array.hpp>

namespace {
std::atomic<std::int64_t> now{0}, peak{0};

// Null when there is no memory.
void* counted(std::size_t size) noexcept {
  void* p = std::malloc(size);
  if (p == nullptr) return p;
  const std::int64_t total = now += static_cast<std::int64_t>(malloc_usable_size(p));
  std::int64_t most = peak;
  while (most < total && !peak.compare_exchange_weak(most, total)) {
  }
  return p;
}
void* counted_or_thrown(std::size_t size) {
  void* p = counted(size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void uncounted(void* p) noexcept {
  if (p != nullptr) now -= static_cast<std::int64_t>(malloc_usable_size(p));
  std::free(p);
}
}  // namespace

void* operator new(std::size_t size) { return counted_or_thrown(size); }
void* operator new[](std::size_t size) { return counted_or_thrown(size); }
// What the forms without exceptions give goes to the same operator delete. The standard library's own call the ones
// above, a sanitizer's do not.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* p) noexcept { uncounted(p); }
void operator delete[](void* p) noexcept { uncounted(p); }
void operator delete(void* p, std::size_t) noexcept { uncounted(p); }
void operator delete[](void* p, std::size_t) noexcept { uncounted(p); }

namespace trn::blas::test {
namespace {

// How far a product raises the memory in use above what its operands take.
template <class T> std::int64_t memory_of(std::int64_t m, std::int64_t n, std::int64_t k, bool componentwise) {
  const Executor e = Executor::host();
  (void)probe_exactness(e);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  const Matrix<T> a(e, m, k), b(e, k, n), c(e, m, n);
  for (std::int64_t i = 0; i < m * k; ++i) a.data()[i] = T(static_cast<Real<T>>(normal(random)));
  for (std::int64_t i = 0; i < k * n; ++i) b.data()[i] = T(static_cast<Real<T>>(normal(random)));
  std::vector<double> bounds(componentwise ? static_cast<std::size_t>(m * n) : 0);
  GemmOptions options{.precision = Mode::Exact};
  if (componentwise) options.componentwise = MatrixView<double>::row_major(e, bounds.data(), m, n);
  const std::int64_t before = now;
  peak = before;
  gemm(e, Op::N, Op::N, T(1), a.view(), b.view(), T(0), c.view(), options);
  return peak - before;
}

template <class T> void check(std::int64_t m, std::int64_t n, std::int64_t k, bool componentwise) {
  const std::int64_t used = memory_of<T>(m, n, k, componentwise),
                     said = exact_workspace_bytes(dtype_of<T>, m, n, k, componentwise);
  EXPECT_LE(used, said) << m << " x " << n << " x " << k;
  EXPECT_LE(said, 3 * used + (1 << 20)) << m << " x " << n << " x " << k;
}

TEST(ExactMemory, StaysWithinTheFigure) {
  for (const bool componentwise : {false, true}) {
    check<double>(3, 5, 7, componentwise);
    check<double>(300, 200, 100, componentwise);
    check<double>(40, 1100, 600, componentwise);
    check<float>(700, 30, 500, componentwise);
    check<std::complex<double>>(200, 300, 90, componentwise);
    check<std::complex<float>>(30, 40, 1500, componentwise);
  }
}

// Rows and columns beyond a panel add statistics alone.
TEST(ExactMemory, DoesNotGrowWithTheResult) {
  EXPECT_LE(memory_of<double>(2000, 1500, 8, false), 2 * memory_of<double>(500, 1024, 8, false));
  EXPECT_LE(exact_workspace_bytes(DType::Float64, 16384, 16384, 16384, false), std::int64_t{900} << 20);
}

}  // namespace
}  // namespace trn::blas::test
