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

// The same in host memory, for its statistics. The whole matrix is copied, whatever part of it counts.
std::vector<std::byte> expanded_on_host(const Executor& executor, const ExpandShape& shape, const void* a) {
  const std::int64_t bytes = size_bytes(shape.dtype);
  const auto count = static_cast<std::size_t>(shape.m * shape.m * bytes);
  std::vector<std::byte> full(count), stored(count);
  const Shape extents{shape.m, shape.m};
  const Strides from{shape.am, shape.an}, to{shape.m, 1};
  const Executor host = Executor::host();
  trn::detail::copy_elements({&executor, const_cast<void*>(a), &extents, &from}, {&host, stored.data(), &extents, &to},
                             bytes);
  ExpandShape dense = shape;
  dense.am = shape.m, dense.an = 1;
  host::with_scalar(shape.dtype, [&]<class T>(T) {
    expand_on_host(dense, reinterpret_cast<const T*>(stored.data()), reinterpret_cast<T*>(full.data()));
  });
  return full;
}

ExpandShape shape_of(const SymmArgs& s) {
  return {s.dtype, s.hermitian ? Expansion::Hermitian : Expansion::Symmetric, s.m, s.am, s.an, true, false, s.conj_a};
}
ExpandShape shape_of(const TrmmArgs& s) {
  return {s.dtype, Expansion::Triangular, s.m, s.am, s.an, s.lower, s.unit, s.conj_a};
}
// The products; op(A) of the first and the last is the matrix in full, row-major.
GemmArgs product_of(const SymmArgs& s) {
  return {s.dtype, s.dtype, s.m, s.n, s.m, nullptr, s.m, 1, s.b, s.bm, s.bn, s.c, s.cm, s.cn, s.alpha, s.beta};
}
GemmArgs product_of(const SyrkArgs& s) {
  return {s.dtype, s.dtype, s.n, s.n,  s.k,  s.a,     s.an,   s.ak,     s.b,
          s.bk,    s.bn,    s.c, s.cm, s.cn, s.alpha, s.beta, s.conj_a, s.conj_b != s.hermitian};
}
GemmArgs product_of(const TrmmArgs& s) {
  return {s.dtype, s.dtype, s.m, s.n, s.m, nullptr, s.m, 1, s.b, s.bm, s.bn, s.c, s.cm, s.cn, s.alpha, 0};
}

template <class Args> Accuracy run(const char* operation, const Executor& executor, const GemmArgs& g, const Args& args,
                                   const ExactOperands* operands, const Bounds& bounds, const ExactRegion& region) {
  const double target = args.precision.has_target() ? args.precision.target_error() : 0;
  if (operands) return exact_gemm(operation, executor, g, *operands, bounds, target, region);
  return exact_gemm(operation, executor, g, bounds, target, region);
}
template <class Args> Accuracy run_in_full(const char* operation, const Executor& executor, const Args& args,
                                           const ExactOperands* operands, const Bounds& bounds,
                                           const ExactRegion& region) {
  GemmArgs g = product_of(args);
  if (args.alpha == Complex(0)) return run(operation, executor, g, args, nullptr, bounds, region);
  const Buffer full = expanded(executor, shape_of(args), args.a);
  g.a = full.data();
  return run(operation, executor, g, args, operands, bounds, region);
}

}  // namespace

bool takes_exact(const Executor& executor, DType dtype, const Precision& precision) {
  if (!precision.has_target()) return precision.mode() == Mode::Exact;
  return executor.family() == Family::Device && real_of(dtype) == DType::Float64;
}

ExactOperands operands_of(const Executor& executor, const SymmArgs& s) {
  return {executor, product_of(s), expanded_on_host(executor, shape_of(s), s.a)};
}
ExactOperands operands_of(const Executor& executor, const SyrkArgs& s) { return {executor, product_of(s)}; }
ExactOperands operands_of(const Executor& executor, const TrmmArgs& s) {
  return {executor, product_of(s), expanded_on_host(executor, shape_of(s), s.a)};
}

Accuracy exact_symm(const char* operation, const Executor& executor, const SymmArgs& s, const ExactOperands* operands,
                    const Bounds& bounds) {
  return run_in_full(operation, executor, s, operands, bounds, {});
}

Accuracy exact_syrk(const char* operation, const Executor& executor, const SyrkArgs& s, const ExactOperands* operands,
                    const Bounds& bounds) {
  // The second product of a rank-2k update is the (conjugate) transpose of the first: one sum of both, rounded once.
  const ExactRegion region{.lower = true, .hermitian = s.hermitian, .mirrored = s.kind == RankK::Two};
  return run(operation, executor, product_of(s), s, operands, bounds, region);
}

// Reads B before it writes C.
Accuracy exact_trmm(const char* operation, const Executor& executor, const TrmmArgs& s, const ExactOperands* operands,
                    const Bounds& bounds) {
  return run_in_full(operation, executor, s, operands, bounds,
                     {.terms = s.lower ? ExactRegion::Terms::Lower : ExactRegion::Terms::Upper});
}

}  // namespace trn::blas
