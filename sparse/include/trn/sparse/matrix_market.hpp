// Matrix Market files: coordinate and array; real, integer, complex and pattern; general, symmetric, skew-symmetric and
// Hermitian. Lines may end in CR LF, comments and empty lines may stand anywhere after the first line.
//
// What a file declares is not believed: memory grows with the entries that arrive, and a count that does not match is
// an error with the line. So are entries outside the extents, numbers beyond the type's range (1e400), and rows too
// many to be stored for what the file holds (read_matrix_market_coo has no such limit).
#pragma once

#include <string>
#include <string_view>

#include <trn/sparse/formats.hpp>

namespace trn::sparse {

enum class MatrixMarketField : std::uint8_t { Real, Integer, Complex, Pattern };

struct MatrixMarketHeader {
  bool coordinate = true;  // else array: a dense matrix, column by column
  MatrixMarketField field = MatrixMarketField::Real;
  Symmetry symmetry = Symmetry::General;
  Extents extents;
  std::int64_t entries = 0;  // that the file declares or, for an array, must hold
};

struct ReadOptions {
  Duplicates duplicates = Duplicates::Sum;
  bool expand = true;  // both halves of a symmetric matrix; false: the entries as they stand in the file
};

[[nodiscard]] MatrixMarketHeader read_matrix_market_header(const std::string& path);
// An array file becomes a matrix without its zeros. Throws InvalidArgument for a complex file and a real T.
template <Scalar T, Index I = std::int32_t>
[[nodiscard]] Csr<T, I> read_matrix_market(const std::string& path, const ReadOptions& options = {});
template <Scalar T, Index I = std::int32_t>
[[nodiscard]] Coo<T, I> read_matrix_market_coo(const std::string& path, const ReadOptions& options = {});
template <Scalar T> [[nodiscard]] Matrix<T> read_matrix_market_dense(const std::string& path);
// The same from text in memory; `name` stands in messages.
template <Scalar T, Index I = std::int32_t>
[[nodiscard]] Csr<T, I> parse_matrix_market(std::string_view text, const std::string& name,
                                            const ReadOptions& options = {});

struct WriteOptions {
  Symmetry symmetry = Symmetry::General;  // other than General: the lower triangle is written, the upper must match it
  bool pattern = false;                   // places without values
  std::string comment = {};               // may have several lines
};
// Values are written with as many digits as it takes to read the same bits again.
template <Scalar T, Index I>
void write_matrix_market(const std::string& path, const Csr<T, I>& a, const WriteOptions& options = {});
template <Scalar T> void write_matrix_market(const std::string& path, const MatrixView<const T>& a);

}  // namespace trn::sparse
