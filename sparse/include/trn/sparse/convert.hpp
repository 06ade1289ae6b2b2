// Conversions: every format to every other, by way of Csr; dense matrices to sparse and back; index types.
// cuSPARSE: csr2csc, Xcsr2coo, Xcoo2csr, csr2bsr, csr2gebsr, bsr2csr, gebsr2csr, DenseToSparse, SparseToDense.
//
// Everything here runs on the host: it is integer work. Operands on a device throw NotImplemented; move them first.
#pragma once

#include <trn/sparse/formats.hpp>

namespace trn::sparse {

struct ConvertOptions {
  std::int64_t block_rows = 2, block_columns = 2;  // Bsr
  std::int64_t block = 16;                         // BlockedEll
  std::int64_t height = 8, sigma = 1024;           // Sell; sigma a multiple of height, or 1 to keep the order
  std::int64_t most_diagonals = 4096;              // Dia: more than this is refused, because it would fill the memory
  Uplo uplo = Uplo::Lower;                         // Triangle, whose other half must match exactly
  Symmetry symmetry = Symmetry::Symmetric;         // Triangle
};

template <Scalar T, Index I> [[nodiscard]] Csr<T, I> to_csr(const Csc<T, I>& a);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> to_csr(const Coo<T, I>& a);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> to_csr(const Bsr<T, I>& a);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> to_csr(const Sell<T, I>& a);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> to_csr(const BlockedEll<T, I>& a);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> to_csr(const Triangle<T, I>& a);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> to_csr(const Csr<T, I>& a) { return a; }
template <Scalar T> [[nodiscard]] Csr<T> to_csr(const Dia<T>& a);

namespace detail {
template <class To> struct FromCsr;
template <Scalar T, Index I> struct FromCsr<Csr<T, I>> {
  static Csr<T, I> make(const Csr<T, I>& a, const ConvertOptions&) { return a; }
};
#define TRN_SPARSE_FROM_CSR(Format)                                      \
  template <Scalar T, Index I> struct FromCsr<Format<T, I>> {            \
    static Format<T, I> make(const Csr<T, I>& a, const ConvertOptions&); \
  };
TRN_SPARSE_FROM_CSR(Csc)
TRN_SPARSE_FROM_CSR(Coo)
TRN_SPARSE_FROM_CSR(Bsr)
TRN_SPARSE_FROM_CSR(Sell)
TRN_SPARSE_FROM_CSR(BlockedEll)
TRN_SPARSE_FROM_CSR(Triangle)
#undef TRN_SPARSE_FROM_CSR
template <Scalar T> struct FromCsr<Dia<T>> { static Dia<T> make(const Csr<T>& a, const ConvertOptions& options); };
}  // namespace detail

// convert<Bsr<double>>(csr, {.block_rows = 3, .block_columns = 3}).
template <class To, class From> [[nodiscard]] To convert(const From& from, const ConvertOptions& options = {}) {
  return detail::FromCsr<To>::make(to_csr(from), options);
}

// The other index type; an extent that does not fit is an error.
template <Index J, Scalar T, Index I> [[nodiscard]] Csr<T, J> with_index(const Csr<T, I>& a);

// Entries with |a(i,j)| > threshold; a negative threshold keeps everything. NaN is kept.
template <Scalar T, Index I = std::int32_t>
[[nodiscard]] Csr<T, I> from_dense(const MatrixView<const T>& a, std::type_identity_t<Real<T>> threshold = 0);
template <Scalar T, Index I> [[nodiscard]] Matrix<T> to_dense(const Csr<T, I>& a);
template <class Format> [[nodiscard]] auto to_dense(const Format& a) { return to_dense(to_csr(a)); }

}  // namespace trn::sparse
