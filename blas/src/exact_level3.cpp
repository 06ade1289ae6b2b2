// symm, hemm, the rank-k updates and trmm in Precision Exact.
#include "exact_level3.hpp"

#include <vector>

#include <trn/blas/expand_program.hpp>
#include <trn/core/array.hpp>
#include <trn/tile/launch.hpp>

#include "host/dense.hpp"

namespace trn::blas {

namespace {

using Complex = std::complex<double>;

// expand_program's work on the host.
template <class T> void expand_on_host(const ExpandShape& s, const T* a, T* full) {
  const auto stored = [&](std::int64_t i, std::int64_t j, bool conj) {
    return host::conjugate(a[i * s.am + j * s.an], conj);
  };
  const bool hermitian = s.structure == Expansion::Hermitian;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.m; ++j) {
      T& x = full[i * s.m + j];
      if (i == j && s.unit)
        x = T(1);
      else if (i == j && hermitian)
        x = T(std::real(stored(i, i, false)));
      else if (i == j || (i > j) == s.lower)
        x = stored(i, j, s.conj);
      else
        x = s.structure == Expansion::Triangular ? T(0) : stored(j, i, s.conj != hermitian);
    }
  }
}

// The matrix that `shape` describes, in full, row-major on the executor.
Buffer expanded(const Executor& executor, const ExpandShape& shape, const void* a) {
  Buffer full(executor, shape.m * shape.m * size_bytes(shape.dtype));
  if (executor.family() == Family::Host) {
    host::with_scalar(shape.dtype, [&]<class T>(T) {
      expand_on_host(shape, static_cast<const T*>(a), static_cast<T*>(full.data()));
    });
    return full;
  }
  tile::launch(executor, expand_program, shape, {{"a", a}, {"full", full.data()}});
  return full;
}

double target_of(const Precision& precision) { return precision.has_target() ? precision.target_error() : 0; }

}  // namespace

bool takes_exact(const Executor& executor, DType dtype, const Precision& precision) {
  if (!precision.has_target()) return precision.mode() == Mode::Exact;
  return executor.family() == Family::Device && real_of(dtype) == DType::Float64;
}

Accuracy exact_symm(const char* operation, const Executor& executor, const SymmArgs& s) {
  GemmArgs g{s.dtype, s.dtype, s.m, s.n, s.m, nullptr, s.m, 1, s.b, s.bm, s.bn, s.c, s.cm, s.cn, s.alpha, s.beta};
  if (s.alpha == Complex(0)) return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
  const Buffer full = expanded(
      executor,
      {s.dtype, s.hermitian ? Expansion::Hermitian : Expansion::Symmetric, s.m, s.am, s.an, true, false, s.conj_a},
      s.a);
  g.a = full.data();
  return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
}

Accuracy exact_syrk(const char* operation, const Executor& executor, const SyrkArgs& s) {
  // The second product of a rank-2k update is the (conjugate) transpose of the first: one sum of both, rounded once.
  const ExactRegion region{.lower = true, .hermitian = s.hermitian, .mirrored = s.kind == RankK::Two};
  const GemmArgs g{s.dtype, s.dtype, s.n, s.n,  s.k,  s.a,     s.an,   s.ak,     s.b,
                   s.bk,    s.bn,    s.c, s.cm, s.cn, s.alpha, s.beta, s.conj_a, s.conj_b != s.hermitian};
  return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision), region);
}

Accuracy exact_trmm(const char* operation, const Executor& executor, const TrmmArgs& s) {
  GemmArgs g{s.dtype, s.dtype, s.m, s.n, s.m, nullptr, s.m, 1, s.b, s.bm, s.bn, s.c, s.cm, s.cn, s.alpha, 0};
  if (s.alpha == Complex(0)) return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
  const Buffer full =
      expanded(executor, {s.dtype, Expansion::Triangular, s.m, s.am, s.an, s.lower, s.unit, s.conj_a}, s.a);
  g.a = full.data();
  const ExactRegion region{.terms = s.lower ? ExactRegion::Terms::Lower : ExactRegion::Terms::Upper};
  return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision),
                    region);  // reads B before it writes C
}

}  // namespace trn::blas
