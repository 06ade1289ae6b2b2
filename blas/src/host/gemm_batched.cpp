// Batched gemm on the host. Small real products (up to 96 x 96 x 96) go to the register tiles of small_gemm.cpp, whole
// runs of them at a time and the runs to threads; an A that is turned is copied product by product. Everything else is
// OpenBLAS: one product per thread while they are of middling size, one after another with all threads when they are
// large.

#include <algorithm>
#include <utility>
#include <vector>

#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>

#include "../kernels.hpp"
#include "dense.hpp"
#include "products.hpp"
#include "small_gemm.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kSmall = 96 * 96 * 96, kMiddling = 256 * 256 * 256;
constexpr std::int64_t kChunk = 64;              // products of one run
constexpr std::int64_t kParallelWork = 1 << 17;  // multiply-adds from which threads pay

GemmArgs product_of(const GemmBatchArgs& args, const BatchGroup& g, std::int64_t p) {
  return {args.dtype, args.dtype,      g.m,  g.n,  g.k,     args.a_of(g, p), g.am,     g.ak,    args.b_of(g, p), g.bk,
          g.bn,       args.c_of(g, p), g.cm, g.cn, g.alpha, g.beta,          g.conj_a, g.conj_b};
}

// Products begin ... end - 1 of a group, C with unit stride along m.
template <class T> void run_small(const GemmBatchArgs& args, const BatchGroup& g, bool turned, std::int64_t begin,
                                  std::int64_t end, std::vector<T>& scratch) {
  // turned: C^T = B^T A^T
  const std::int64_t m = turned ? g.n : g.m, n = turned ? g.m : g.n;
  const std::int64_t am = turned ? g.bn : g.am, ak = turned ? g.bk : g.ak, bk = turned ? g.ak : g.bk,
                     bn = turned ? g.am : g.bn;
  const bool copied = am != 1 && m > 1 && g.k > 0, listed = args.a_list != nullptr;
  const SmallProducts<T> s{
      m, n, g.k, copied ? m : ak, bk, bn, turned ? g.cm : g.cn, factor<T>(g.alpha), factor<T>(g.beta)};
  SmallBatch<T> batch{static_cast<const T*>(args.a),
                      static_cast<const T*>(args.b),
                      static_cast<T*>(args.c),
                      args.stride_a,
                      args.stride_b,
                      args.stride_c};
  if (listed)
    batch.a_list = args.a_list + g.first, batch.b_list = args.b_list + g.first, batch.c_list = args.c_list + g.first;
  if (turned)
    std::swap(batch.a, batch.b), std::swap(batch.stride_a, batch.stride_b), std::swap(batch.a_list, batch.b_list);
  if (!copied) return small_products(s, batch, begin, end);
  scratch.resize(static_cast<std::size_t>(m * g.k));
  for (std::int64_t p = begin; p < end; ++p) {
    const T* a = batch.a_of(p);
    for (std::int64_t q = 0; q < g.k; ++q) {
      for (std::int64_t r = 0; r < m; ++r) scratch[static_cast<std::size_t>(q * m + r)] = a[r * am + q * ak];
    }
    small_products(s, SmallBatch<T>{scratch.data(), batch.b_of(p), batch.c_of(p)}, 0, 1);
  }
}

template <class T> void small_group(const GemmBatchArgs& args, const BatchGroup& g) {
  const bool turned = g.cm != 1 && g.m > 1;
  const std::int64_t chunks = (g.count + kChunk - 1) / kChunk;
  const int threads = loop_threads(g.m * g.n * std::max<std::int64_t>(1, g.k) * g.count > kParallelWork);
  std::vector<std::vector<T>> scratch(static_cast<std::size_t>(threads));
  for_ranges(chunks, threads, [&](std::int64_t begin, std::int64_t end, int worker) {
    run_small(args, g, turned, begin * kChunk, std::min(g.count, end * kChunk),
              scratch[static_cast<std::size_t>(worker)]);
  });
}

void openblas_group(const Executor& executor, const GemmBatchArgs& args, const BatchGroup& g) {
  const std::int64_t work = g.m * g.n * std::max<std::int64_t>(1, g.k);
  for (const std::int64_t x : {g.m, g.n, g.k, g.am, g.ak, g.bk, g.bn, g.cm, g.cn})
    (void)narrow("blas.gemm_batched", "an extent or leading dimension", x);
  const bool shared = work <= kMiddling && work * g.count > kParallelWork && g.count >= loop_threads();
  openmp_pieces(g.count, loop_threads(shared), [&](std::int64_t p, int) { gemm(executor, product_of(args, g, p)); });
}

template <Scalar T> void by_products(const Executor& executor, const GemmBatchArgs& args) {
  Accuracy worst{Mode::Native, 0, 0};
  for (const BatchGroup& g : args.groups) {
    for (std::int64_t p = 0; p < g.count; ++p) {
      worsen(worst,
             product<T>(executor, args.precision, factor<T>(g.alpha), strided<T>(args.a_of(g, p), g.m, g.k, g.am, g.ak),
                        strided<T>(args.b_of(g, p), g.k, g.n, g.bk, g.bn), factor<T>(g.beta),
                        strided<T>(args.c_of(g, p), g.m, g.n, g.cm, g.cn), g.conj_a, g.conj_b));
    }
  }
  *args.accuracy = worst;
}

}  // namespace

void gemm_batched(const Executor& executor, const GemmBatchArgs& args) {
  if (!is_native(args.precision)) {
    return with_scalar(args.dtype, [&]<class T>(T) { by_products<T>(executor, args); });
  }
  for (const BatchGroup& g : args.groups) {
    const bool small = g.m * g.n * g.k <= kSmall && std::max({g.m, g.n, g.k}) <= 4096;
    if (small && args.dtype == DType::Float32) {
      small_group<float>(args, g);
    } else if (small && args.dtype == DType::Float64) {
      small_group<double>(args, g);
    } else {
      openblas_group(executor, args, g);
    }
  }
}

}  // namespace trn::blas::host
