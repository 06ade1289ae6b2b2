// symm, hemm, the rank-k updates and trmm in Precision Exact on a device.
#include "exact_level3.hpp"

#include <vector>

#include <trn/blas/expand_program.hpp>
#include <trn/core/array.hpp>
#include <trn/tile/device.hpp>

namespace trn::blas {

namespace {

using Complex = std::complex<double>;

// The matrix that `shape` describes, in full, row-major on the executor.
Buffer expanded(const Executor& executor, const ExpandShape& shape, const void* a) {
  Buffer full(executor, shape.m * shape.m * size_bytes(shape.dtype));
  tile::Device& device = tile::device_of(executor);
  const auto program = device.programs().get(shape, [&](const ExpandShape& s) { return expand_program(s, device.machine()); });
  device.run(*program, std::vector<tile::Binding>{{"a", const_cast<void*>(a)}, {"full", full.data()}});
  return full;
}

double target_of(const Precision& precision) { return precision.has_target() ? precision.target_error() : 0; }

}  // namespace

bool exact_on_device(const Executor& executor, DType dtype, const Precision& precision) {
  if (executor.family() != Family::Device) return false;
  return precision.has_target() ? real_of(dtype) == DType::Float64 : precision.mode() == Mode::Exact;
}

Accuracy exact_symm(const char* operation, const Executor& executor, const SymmArgs& s) {
  GemmArgs g{s.dtype, s.dtype, s.m, s.n, s.m, nullptr, s.m, 1, s.b, s.bm, s.bn, s.c, s.cm, s.cn, s.alpha, s.beta};
  if (s.alpha == Complex(0)) return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
  const Buffer full = expanded(executor, {s.dtype, s.hermitian ? Expansion::Hermitian : Expansion::Symmetric, s.m, s.am, s.an, true, false, s.conj_a}, s.a);
  g.a = full.data();
  return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
}

Accuracy exact_syrk(const char* operation, const Executor& executor, const SyrkArgs& s) {
  const ExactRegion region{true, s.hermitian};
  GemmArgs g{s.dtype, s.dtype, s.n, s.n, s.k, s.a, s.an, s.ak, s.b, s.bk, s.bn, s.c, s.cm, s.cn, s.alpha, s.beta, s.conj_a, s.conj_b != s.hermitian};
  const Accuracy first = exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision), region);
  if (s.kind != RankK::Two || s.k == 0) return first;
  g.a = s.b, g.am = s.bn, g.ak = s.bk, g.conj_a = s.conj_b;
  g.b = s.a, g.bk = s.ak, g.bn = s.an, g.conj_b = s.conj_a != s.hermitian;
  if (s.hermitian) g.alpha = std::conj(g.alpha);
  g.beta = 1;
  const Accuracy second = exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision), region);
  return {Mode::Exact, first.passes + second.passes, first.bound + second.bound};
}

Accuracy exact_trmm(const char* operation, const Executor& executor, const TrmmArgs& s) {
  GemmArgs g{s.dtype, s.dtype, s.m, s.n, s.m, nullptr, s.m, 1, s.b, s.bm, s.bn, s.c, s.cm, s.cn, s.alpha, 0};
  if (s.alpha == Complex(0)) return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
  const Buffer full = expanded(executor, {s.dtype, Expansion::Triangular, s.m, s.am, s.an, s.lower, s.unit, s.conj_a}, s.a);
  g.a = full.data();
  const ExactRegion region{.terms = s.lower ? ExactRegion::Terms::Lower : ExactRegion::Terms::Upper};
  return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision), region);  // reads B before it writes C
}

}  // namespace trn::blas
