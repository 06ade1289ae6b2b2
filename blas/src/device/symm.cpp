// symm, hemm and trmm on the device: products with an operand of which one triangle is stored. The program completes
// that operand in HBM scratch, reading nothing else, and multiplies; of a triangular one only the part that is not
// zero.
#include <trn/blas/gemm.hpp>

#include "../gemm_accuracy.hpp"
#include "../kernels.hpp"
#include "launch.hpp"

namespace trn::blas::device {

namespace {

// A is m x m with structure, B and C are m x n. Where C's columns are the contiguous direction, C^T = B^T A^T: the
// kernel stores rows.
struct Structured {
  DType dtype;
  Mode mode;
  std::int64_t m, n;
  const void* a;
  std::int64_t am, an;
  Structure structure;
  bool lower, unit, conj_a;
  const void* b;
  std::int64_t bm, bn;
  void* c;
  std::int64_t cm, cn;
  std::complex<double> alpha, beta;
};

void run(const Executor& executor, const Structured& p) {
  const bool turn = p.cm == 1 && p.cn != 1 && p.n > 1;
  GemmShape s;
  s.in = s.out = p.dtype;
  s.mode = p.mode;
  s.m = turn ? p.n : p.m, s.n = turn ? p.m : p.n, s.k = p.m;
  s.am = turn ? p.bn : p.am, s.ak = turn ? p.bm : p.an;
  s.bk = turn ? p.an : p.bm, s.bn = turn ? p.am : p.bn;
  s.cm = turn ? p.cn : p.cm, s.cn = turn ? p.cm : p.cn;
  (turn ? s.b_structure : s.a_structure) = p.structure;
  (turn ? s.conj_b : s.conj_a) = p.conj_a;
  s.stored = p.lower != turn ? Region::Lower : Region::Upper;
  s.unit_diagonal = p.unit;
  s.in_place = p.c == p.b;
  run_product(executor, {s, turn ? p.b : p.a, turn ? p.a : p.b, p.c, p.alpha, p.beta});
}

Accuracy accuracy_of(DType dtype, std::int64_t k, Mode mode) {
  return {mode, passes_of(mode), gemm_error_bound(Family::Device, dtype, dtype, k, mode)};
}

}  // namespace

void symm(const Executor& executor, const SymmArgs& g) {
  const Mode mode = g.precision.mode();
  run(executor, {g.dtype, mode, g.m, g.n, g.a, g.am, g.an, g.hermitian ? Structure::Hermitian : Structure::Symmetric,
                 true, false, g.conj_a, g.b, g.bm, g.bn, g.c, g.cm, g.cn, g.alpha, g.beta});
  if (g.accuracy) *g.accuracy = accuracy_of(g.dtype, g.m, mode);
}

void trmm(const Executor& executor, const TrmmArgs& g) {
  const Mode mode = g.precision.mode();
  run(executor, {g.dtype, mode, g.m, g.n, g.a, g.am, g.an, Structure::Triangular, g.lower, g.unit, g.conj_a, g.b, g.bm,
                 g.bn, g.c, g.cm, g.cn, g.alpha, 0});
  if (g.accuracy) *g.accuracy = accuracy_of(g.dtype, g.m, mode);
}

}  // namespace trn::blas::device
