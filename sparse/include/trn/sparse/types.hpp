// The vocabulary of sparse matrices: extents, index types, what to do with duplicates, kinds of symmetry.
//
// Offsets into the stored entries are 64 bits wide in every format, so that the number of entries is limited by memory
// alone. Indices of rows and columns are 32 bits wide unless the type says std::int64_t; an extent that does not fit is
// refused with a message that names the other type. Element types are float, double and their complex types.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include <trn/blas/types.hpp>
#include <trn/core/array.hpp>

namespace trn::sparse {

using blas::Diag;
using blas::Uplo;
using trn::ComplexScalar, trn::Op, trn::Real, trn::RealScalar, trn::Scalar;

template <class I>
concept Index = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

template <Index I> inline constexpr std::int64_t kMostExtent = std::numeric_limits<I>::max();

struct Extents {
  std::int64_t rows = 0, columns = 0;
  friend bool operator==(const Extents&, const Extents&) = default;
};

// Entries that name the same place: added in the order in which they come, or an error that names the place.
enum class Duplicates : std::uint8_t { Sum, Error };
enum class Base : std::uint8_t { Zero, One };  // what the first row and column are called
// A^T = A, A^H = A, A^T = -A. Hermitian means Symmetric for real types.
enum class Symmetry : std::uint8_t { General, Symmetric, Hermitian, Skew };

// Entry k is (rows[k], columns[k], values[k]), in any order. In host memory.
template <Scalar T> struct Triplets {
  std::span<const std::int64_t> rows, columns;
  std::span<const T> values;
};

// A permutation: new position k holds what was at position order[k].
using Permutation = std::vector<std::int64_t>;

namespace detail {
// Marks constructors whose caller made the content right by construction, so that it is not checked again.
struct Trusted {};
}  // namespace detail

}  // namespace trn::sparse
