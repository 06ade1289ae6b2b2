// gemm with an epilogue on the host: the product, then one pass over it. A C of 16 bits gets its sums in a float matrix
// first, so that it is rounded once.
//
// Gelu is 0.5 x erfc(-x / sqrt(2)): no cancellation where x is negative. GeluTanh is x / (1 + exp(-2 y)), for the same
// reason. Both are evaluated in double.
#include <cmath>
#include <vector>

#include <trn/blas/gemm_ex.hpp>
#include <trn/core/convert.hpp>
#include <trn/core/parallel.hpp>

#include "../kernels.hpp"
#include "dense.hpp"

namespace trn::blas::host {

namespace {

template <class T> T activate(Activation activation, T x) {
  constexpr double kRootHalf = 0.70710678118654752440, kRootTwoOverPi = 0.79788456080286535588;
  const double wide = x;
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return x < 0 ? T(0) : x;
    case Activation::Gelu:
      return static_cast<T>(0.5 * wide * std::erfc(-wide * kRootHalf));
    case Activation::GeluTanh:
      return static_cast<T>(wide / (1 + std::exp(-2 * kRootTwoOverPi * (wide + 0.044715 * wide * wide * wide))));
  }
  return x;
}

void multiply(const Executor& executor, const EpilogueArgs& e, const GemmArgs& g) {
  if (is_native(e.precision)) return gemm(executor, g);
  const TypedMatrix a(executor, g.in, const_cast<void*>(g.a), g.m, g.k, g.am, g.ak),
      b(executor, g.in, const_cast<void*>(g.b), g.k, g.n, g.bk, g.bn);
  *e.accuracy = gemm_ex(executor, Op::N, Op::N, g.alpha, a, b, g.beta,
                        TypedMatrix(executor, g.out, g.c, g.m, g.n, g.cm, g.cn), {e.precision});
}

// to(i, j) = activation(from(i, j) + bias) * scale.
template <class T, class Store>
void finish(const EpilogueArgs& e, const Strided<T>& sums, const std::vector<T>& bias, const Store& store) {
  const T scale = static_cast<T>(e.scale);
  const bool by_rows = sums.column_stride == 1;  // the inner loop along unit stride
  const std::int64_t outer = by_rows ? sums.rows : sums.columns, inner = by_rows ? sums.columns : sums.rows;
  parallel_for(outer, outer * inner > 1 << 14, [&](std::int64_t o) {
    for (std::int64_t p = 0; p < inner; ++p) {
      const std::int64_t i = by_rows ? o : p, j = by_rows ? p : o;
      T x = sums.at(i, j);
      if (!bias.empty()) x += bias[static_cast<std::size_t>(e.bias_m != 0 ? i : e.bias_n != 0 ? j : 0)];
      store(i, j, activate(e.activation, x) * scale);
    }
  });
}

template <class T> std::vector<T> bias_of(const EpilogueArgs& e) {
  if (e.bias == nullptr) return {};
  const std::int64_t step = e.bias_m != 0 ? e.bias_m : e.bias_n, count = e.bias_m != 0   ? e.gemm.m
                                                                         : e.bias_n != 0 ? e.gemm.n
                                                                                         : 1;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    convert(e.gemm.out, static_cast<const std::byte*>(e.bias) + i * step * size_bytes(e.gemm.out), dtype_of<T>,
            &values[static_cast<std::size_t>(i)], 1);
  }
  return values;
}

template <class T> void run(const Executor& executor, const EpilogueArgs& e) {
  const GemmArgs& g = e.gemm;
  const std::vector<T> bias = bias_of<T>(e);
  if (g.out == dtype_of<T>) {
    multiply(executor, e, g);
    const auto c = strided<T>(g.c, g.m, g.n, g.cm, g.cn);
    finish(e, c, bias, [&](auto i, auto j, T x) { c.at(i, j) = x; });
    return;
  }
  Owned<T> sums(g.m, g.n);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::byte*>(g.c) + (i * g.cm + j * g.cn) * size_bytes(g.out);
  };
  for (std::int64_t i = 0; g.beta != 0.0 && i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) convert(g.out, at(i, j), dtype_of<T>, &sums.view.at(i, j), 1);
  }
  GemmArgs wide = g;
  wide.out = dtype_of<T>, wide.c = sums.view.data, wide.cm = sums.view.row_stride, wide.cn = 1;
  multiply(executor, e, wide);
  finish(e, sums.view, bias, [&](auto i, auto j, T x) { convert(dtype_of<T>, &x, g.out, at(i, j), 1); });
}

}  // namespace

void gemm_epilogue(const Executor& executor, const EpilogueArgs& args) {
  args.gemm.out == DType::Float64 ? run<double>(executor, args) : run<float>(executor, args);
}

}  // namespace trn::blas::host
