// Plain pointers into host matrices, for the loops; arrays for results; and the check that something is on the host.
#pragma once

#include <trn/core/error.hpp>
#include <trn/sparse/csr.hpp>

namespace trn::sparse {

// What has no device form throws NotImplemented for operands there.
void host_only(const char* operation, const Executor& executor);
void check_square(const char* operation, Extents extents);

template <Index I> struct PatternRef {
  std::int64_t rows, columns;
  const std::int64_t* offsets;
  const I* indices;
  [[nodiscard]] std::int64_t nnz() const { return offsets[rows]; }
};
template <Scalar T, Index I> struct CsrRef : PatternRef<I> { const T* values; };

template <Index I> PatternRef<I> host_ref(const Pattern<I>& p) {
  return {p.rows(), p.columns(), p.offsets().data(), p.indices().data()};
}
template <Scalar T, Index I> CsrRef<T, I> host_ref(const Csr<T, I>& a) {
  return {host_ref(a.pattern()), a.values().data()};
}

template <class T> Array<T> host_array(std::int64_t size) { return Array<T>(Executor::host(), {size}); }
template <class T> Array<T> host_array(std::span<const T> values) {
  return Array<T>::from_host(Executor::host(), {static_cast<std::int64_t>(values.size())}, values);
}

// A row-compressed matrix while it is made: sizes first, then entries row by row in any thread, then whole.
template <Scalar T, Index I> struct CsrParts {
  Extents extents;
  Array<std::int64_t> offsets;
  Array<I> indices = host_array<I>(0);
  Array<T> values = host_array<T>(0);

  explicit CsrParts(Extents e) : extents(e), offsets(host_array<std::int64_t>(e.rows + 1)) {}
  // offsets holds the number of entries of row i at i; they become offsets, and memory for the entries is taken.
  void allocate() {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < extents.rows; ++i) {
      const std::int64_t count = offsets.data()[i];
      offsets.data()[i] = sum;
      sum += count;
    }
    offsets.data()[extents.rows] = sum;
    indices = host_array<I>(sum);
    values = host_array<T>(sum);
  }
  Csr<T, I> done() {
    return Csr<T, I>(detail::Trusted{}, Pattern<I>(detail::Trusted{}, extents, std::move(offsets), std::move(indices)),
                     std::move(values));
  }
};

template <Scalar T> T conjugate_of(T x) {
  if constexpr (ComplexScalar<T>)
    return std::conj(x);
  else
    return x;
}

}  // namespace trn::sparse
