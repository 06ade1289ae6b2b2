// The rank-k updates on the device: products that fill the lower triangle of C. Two updates of rank k are two launches:
// the second adds to what the first left, in fp32.
#include <trn/blas/gemm.hpp>

#include "../gemm_accuracy.hpp"
#include "../kernels.hpp"
#include "launch.hpp"

namespace trn::blas::device {

void syrk(const Executor& executor, const SyrkArgs& args) {
  const std::int64_t terms = args.kind == RankK::Two ? 2 * args.k + 2 : args.k;
  const Mode mode = args.precision.mode();
  const bool turn = args.cm == 1 && args.cn != 1;  // the kernel stores rows: the upper triangle of C^T
  // C = alpha X Y^t + beta C with conjugations of X and Y; of C^T: X and Y exchanged, and for ^H conjugated.
  const auto update = [&](bool exchange, std::complex<double> alpha, std::complex<double> beta) {
    const bool b_first = exchange != turn, flip = turn && args.hermitian;
    GemmShape s;
    s.in = s.out = args.dtype;
    s.m = s.n = args.n, s.k = args.k;
    s.am = b_first ? args.bn : args.an, s.ak = b_first ? args.bk : args.ak;
    s.bn = b_first ? args.an : args.bn, s.bk = b_first ? args.ak : args.bk;
    s.cm = turn ? args.cn : args.cm, s.cn = turn ? args.cm : args.cn;
    s.mode = mode;
    s.conj_a = (b_first ? args.conj_b : args.conj_a) != flip;
    s.conj_b = ((b_first ? args.conj_a : args.conj_b) != flip) != args.hermitian;
    s.region = turn ? Region::Upper : Region::Lower;
    s.hermitian = args.hermitian;
    s.same_operand = args.kind == RankK::One;
    run_product(executor, {s, b_first ? args.b : args.a, b_first ? args.a : args.b, args.c, alpha, beta});
  };
  update(false, args.alpha, args.beta);
  if (args.kind == RankK::Two && args.k > 0) update(true, args.hermitian ? std::conj(args.alpha) : args.alpha, 1);
  if (args.accuracy)
    *args.accuracy = {mode, passes_of(mode), gemm_error_bound(Family::Device, args.dtype, args.dtype, terms, mode)};
}

}  // namespace trn::blas::device
