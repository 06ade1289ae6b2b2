// gemm and gemm3m on the device: the launches. The program is product_kernel.cpp's.
#include "../kernels.hpp"
#include "launch.hpp"

namespace trn::blas::device {

namespace {

void run(const Executor& executor, const GemmArgs& args, bool three_products) {
  // Where C's columns are the contiguous direction, compute its transpose: the kernel stores rows.
  const GemmArgs g = args.cm == 1 && args.cn != 1 && args.n > 1 ? transposed(args) : args;
  GemmShape s{g.in, g.out, g.m, g.n, g.k, g.am, g.ak, g.bk, g.bn, g.cm, g.cn};
  s.mode = g.mode;
  s.conj_a = g.conj_a, s.conj_b = g.conj_b, s.three_products = three_products;
  run_product(executor, {s, g.a, g.b, g.c, g.alpha, g.beta});
}

}  // namespace

void gemm(const Executor& executor, const GemmArgs& args) { run(executor, args, false); }
void gemm3m(const Executor& executor, const GemmArgs& args) { run(executor, args, true); }

}  // namespace trn::blas::device
