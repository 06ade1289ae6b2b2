// Dense matrices whose blocks away from the diagonal have low rank, such as those of kernels 1/|x - y|: products,
// factors and solves with far fewer than n^2 numbers, and with a computed bound of what compression left out.
//
//   blr     (block low-rank) tiles of `tile` x `tile`; those on the diagonal are dense, of the others each that is
//           smaller so is U V^H.
//   hodlr   (hierarchically off-diagonal low-rank) a square matrix is halved until `tile` rows are left:
//             A = [A1, U V^H; X Y^H, A2], and the same for A1 and A2.
//
// Compression. A block is evaluated densely, sketched by random signs, orthogonalised (Q), and the singular values of
// Q^H A are cut off where ||A - U V^H|| <= tolerance ||A|| in the Frobenius norm of the block; the sketch grows until
// that holds. The difference A - U V^H is then formed and its norm kept: `error` is not an estimate. With E_b that
// difference of block b and u the unit roundoff,
//   ||A - A~||_F <= error = sqrt(sum_b (||E_b||_F + (rank + 2) u ||U||_F ||V||_F)^2) <= tolerance ||A||_F,
// the second term for the roundings of E_b itself. A block that no rank smaller than dense storage reaches stays dense,
// without error. Every element is evaluated once; a hodlr matrix needs memory for its largest block, n^2/4.
//
// RankCompression::Sampled never forms a block: rows and columns that a cross approximation picks are evaluated,
// O(rank (rows + columns)) elements of a block, and what is left is looked at on its edges and at random places.
// `error` is then an estimate, and a block with an isolated peak elsewhere may be misjudged; use it for smooth kernels
// and matrices whose n^2 elements are too many. A block without a low rank is still evaluated whole.
//
// Products are within error ||x|| plus roundings of the exact A x. Host: s d c z. On a device (float) by grouped
// products of trnblas, in its Native mode: two for all low-rank blocks, one for each layer of dense ones, for every
// level of a hodlr matrix. The same bits for any number of threads.
#pragma once

#include <functional>

#include <trn/sparse/csr.hpp>
#include <trn/sparse/outcome.hpp>

namespace trn::sparse {

// Element (row, column) of a matrix. Called from several threads at once.
template <Scalar T> using Elements = std::function<T(std::int64_t row, std::int64_t column)>;

enum class RankShape : std::uint8_t { Blr, Hodlr };

enum class RankCompression : std::uint8_t { Measured, Sampled };

struct RankOptions {
  double tolerance = 1e-8;  // of each block, relative to its own Frobenius norm; below 1
  std::int64_t tile = 128;  // rows of a tile, or of the smallest block on the diagonal
  std::uint64_t seed = 0;   // of the sketches and samples
  RankCompression compression = RankCompression::Measured;
};

struct RankReport {
  std::int64_t dense_blocks = 0, low_rank_blocks = 0, largest_rank = 0;
  std::int64_t stored = 0;  // numbers, of rows * columns
  // Frobenius: of A, and the bound of A - A~; with RankCompression::Sampled of A~, and an estimate.
  double norm = 0, error = 0;
  std::int64_t evaluated = 0;  // elements that were asked for
};

namespace detail {
template <Scalar T> struct RankData;
template <Scalar T> struct RankFactorData;
struct RankAccess;
}  // namespace detail

// A trn::LinearOperator. Immutable, cheap to copy; copies share work space, so one thread at a time applies them. On
// the host apply() allocates nothing.
template <Scalar T> class RankMatrix {
 public:
  using Value = T;
  // An element that is not finite is refused with its place, always the same one.
  RankMatrix(RankShape shape, Extents extents, const Elements<T>& elements, const RankOptions& options = {});
  RankMatrix(RankShape shape, const MatrixView<const T>& a, const RankOptions& options = {});  // a on the host
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const;
  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] const RankReport& report() const;
  [[nodiscard]] RankShape shape() const;
  [[nodiscard]] RankMatrix to(const Executor& executor) const;  // from the host
  // y = alpha op(A~) x + beta y. Devices: op N; x and y both row-major or both column-major.
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  friend struct detail::RankAccess;
  std::shared_ptr<const detail::RankData<T>> data_;
};

template <Scalar T>
[[nodiscard]] RankMatrix<T> blr(Extents extents, const Elements<T>& elements, const RankOptions& options = {}) {
  return RankMatrix<T>(RankShape::Blr, extents, elements, options);
}
template <Scalar T>
[[nodiscard]] RankMatrix<T> hodlr(Extents extents, const Elements<T>& elements, const RankOptions& options = {}) {
  return RankMatrix<T>(RankShape::Hodlr, extents, elements, options);
}

// Lu: blr by tiles, rows exchanged within a tile on the diagonal only, so for matrices whose leading blocks are well
// conditioned; hodlr by the inverses of the halves and of the small matrix that couples them (Woodbury).
// Cholesky: blr that is Hermitian and positive definite; tiles below the diagonal are read.
enum class RankFactor : std::uint8_t { Lu, Cholesky };

struct RankSolve {
  double residual = 0;  // ||b - A~ x||_F
  // ||b - A x||_F <= residual + error ||x||_F + roundings of the residual; for the matrix before compression.
  double residual_bound = 0;
};

// Factors of A~, and as a trn::LinearOperator its approximate inverse: a preconditioner. Host. Copies share work space,
// the matrix's too: one thread at a time. apply() allocates nothing.
template <Scalar T> class RankFactors {
 public:
  using Value = T;
  // Tiles of the factors are compressed again to `tolerance`, 0: the matrix's. Each is cut once, after all updates, so
  // that L U = A~ + F with ||F||_F <= truncation(), roundings apart.
  explicit RankFactors(const RankMatrix<T>& a, RankFactor kind = RankFactor::Lu, double tolerance = 0);
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const { return rows(); }
  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] const Outcome& outcome() const;  // Singular or NotPositive: then x is NaN
  [[nodiscard]] double truncation() const;       // Frobenius; 0 for hodlr
  [[nodiscard]] std::int64_t stored() const;     // numbers in the factors
  // A~ x = b with so many steps of refinement by A~. b and x may have any strides and must not overlap.
  RankSolve solve(const MatrixView<const T>& b, const MatrixView<T>& x, int refinements = 1) const;
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;  // op N

 private:
  std::shared_ptr<const detail::RankFactorData<T>> data_;
};

}  // namespace trn::sparse
