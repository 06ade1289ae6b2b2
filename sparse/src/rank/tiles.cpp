// LU and Cholesky factors of a blr matrix, tile by tile, left-looking: a tile takes all its updates densely and is cut
// to the tolerance once, so that L U = A~ + F where the blocks of F are what was cut, and their norms are measured.
//
//   diagonal   D = A_kk - sum_(i<k) L_ki U_ik,  P D = L_kk U_kk         (Cholesky: D = L_kk L_kk^H)
//   below      L_jk = (A_jk - sum L_ji U_ik + F_jk) U_kk^-1            (U_ik = L_ki^H)
//   right      U_kj = L_kk^-1 P (A_kj - sum L_ki U_ij + F_kj)
//
// Of a tile U V^H the triangular solves touch one factor alone.
#include <cmath>

#include "direct/dense.hpp"
#include "host_data.hpp"
#include "rank/pieces.hpp"
#include "scalars.hpp"

namespace trn::sparse::rank {

namespace {

using direct::Dense;
template <Scalar T> constexpr CBLAS_TRANSPOSE kConjugated = ComplexScalar<T> ? CblasConjTrans : CblasTrans;
int as_int(std::int64_t x) { return static_cast<int>(x); }

template <Scalar T> class TileFactors final : public Factors<T> {
 public:
  TileFactors(const detail::RankData<T>& a, RankFactor kind, double tolerance)
      : n_(a.extents.rows),
        tile_(a.options.tile),
        count_((n_ + tile_ - 1) / tile_),
        cholesky_(kind == RankFactor::Cholesky),
        tolerance_(tolerance),
        a_(a) {
    tiles_.resize(static_cast<std::size_t>(count_ * count_));
    pivots_.resize(static_cast<std::size_t>(n_));
    std::vector<double> cut(tiles_.size());
    for (std::int64_t k = 0; k < count_ && this->outcome.ok(); ++k) {
      direct::tiles(1, [&](std::int64_t) { diagonal(k); });  // within a region OpenBLAS stays on its caller
      if (!this->outcome.ok()) break;
      const std::int64_t left = count_ - k - 1;
      direct::tiles(cholesky_ ? left : 2 * left, [&](std::int64_t q) {
        const std::int64_t other = k + 1 + q % left;
        const std::int64_t i = q < left ? other : k, j = q < left ? k : other;
        cut[static_cast<std::size_t>(i * count_ + j)] = off_diagonal(i, j, k);
      });
    }
    double sum = 0;
    for (const double c : cut) sum += c * c;
    this->truncation = std::sqrt(cholesky_ ? 2 * sum : sum);
    for (const Block<T>& b : tiles_) this->stored += b.stored();
  }

  void solve(std::int64_t n, T* x, T* work) const override {
    direct::tiles(1, [&](std::int64_t) { substitute(n, x, work); });
  }
  [[nodiscard]] std::int64_t work() const override {
    std::int64_t most = 0;
    for (const Block<T>& b : tiles_) most = std::max(most, b.rank);
    return most;
  }

 private:
  void substitute(std::int64_t n, T* x, T* work) const {
    for (std::int64_t k = 0; k < count_; ++k) {  // L
      T* own = x + k * tile_;
      for (std::int64_t i = 0; i < k; ++i) multiply(at(k, i), Op::N, T(-1), n, x + i * tile_, n_, own, n_, work);
      const Block<T>& d = at(k, k);
      if (!cholesky_) {
        for (std::int64_t c = 0; c < n; ++c) exchange(k, own + c * n_);
      }
      Dense<T>::trsm(CblasLeft, CblasLower, CblasNoTrans, cholesky_ ? CblasNonUnit : CblasUnit, as_int(d.rows),
                     as_int(n), d.u.data(), as_int(d.rows), own, as_int(n_));
    }
    for (std::int64_t k = count_ - 1; k >= 0; --k) {  // U, or L^H
      T* own = x + k * tile_;
      for (std::int64_t j = k + 1; j < count_; ++j)
        multiply(cholesky_ ? at(j, k) : at(k, j), cholesky_ ? Op::C : Op::N, T(-1), n, x + j * tile_, n_, own, n_,
                 work);
      const Block<T>& d = at(k, k);
      Dense<T>::trsm(CblasLeft, cholesky_ ? CblasLower : CblasUpper, cholesky_ ? kConjugated<T> : CblasNoTrans,
                     CblasNonUnit, as_int(d.rows), as_int(n), d.u.data(), as_int(d.rows), own, as_int(n_));
    }
  }

  Block<T>& at(std::int64_t i, std::int64_t j) { return tiles_[static_cast<std::size_t>(i * count_ + j)]; }
  const Block<T>& at(std::int64_t i, std::int64_t j) const { return tiles_[static_cast<std::size_t>(i * count_ + j)]; }

  // The tile of A~ less its updates by the first k tiles of its row and column, dense.
  std::vector<T> updated(std::int64_t i, std::int64_t j, std::int64_t k) const {
    const Block<T>& a = a_.placed[static_cast<std::size_t>(i * count_ + j)].block;
    std::vector<T> d;
    if (a.dense) {
      d = a.u;
    } else {
      d.resize(static_cast<std::size_t>(a.rows * a.columns));
      if (a.rank > 0)
        Dense<T>::gemm(CblasNoTrans, kConjugated<T>, as_int(a.rows), as_int(a.columns), as_int(a.rank), T(1),
                       a.u.data(), as_int(a.rows), a.v.data(), as_int(a.columns), T(0), d.data(), as_int(a.rows));
    }
    for (std::int64_t q = 0; q < k; ++q)
      subtract_product(at(i, q), cholesky_ ? at(j, q) : at(q, j), cholesky_ ? Op::C : Op::N, d.data());
    return d;
  }

  void diagonal(std::int64_t k) {
    std::vector<T> d = updated(k, k, k);
    const std::int64_t m = std::min(tile_, n_ - k * tile_);
    int info = 0;
    if (cholesky_)
      Dense<T>::potrf('L', as_int(m), d.data(), as_int(m), info, 1);
    else
      Dense<T>::getrf(as_int(m), as_int(m), d.data(), as_int(m), pivots_.data() + k * tile_, info);
    bool finite = true;
    for (const T& x : d) finite = finite && std::isfinite(std::abs(x));
    if (info > 0)
      this->outcome = {cholesky_ ? Status::NotPositive : Status::Singular, k * tile_ + info - 1};
    else if (!finite)
      this->outcome = {Status::NotFinite, k * tile_};
    at(k, k) = dense_block(m, m, std::move(d));
  }

  // Returns the norm of what is cut.
  double off_diagonal(std::int64_t i, std::int64_t j, std::int64_t k) {
    std::vector<T> d = updated(i, j, k);
    const Block<T>& pivot = at(k, k);
    const auto rows = std::min(tile_, n_ - i * tile_), columns = std::min(tile_, n_ - j * tile_);
    const double limit = tolerance_ * frobenius(rows * columns, d.data());
    Block<T> b = compress(rows, columns, std::move(d), limit, static_cast<std::uint64_t>(i * count_ + j));
    const int side = as_int(pivot.rows);
    if (i == k) {  // L_kk^-1 P from the left
      const std::int64_t width = b.dense ? columns : b.rank;
      if (width > 0) {
        for (std::int64_t c = 0; c < width; ++c) exchange(k, b.u.data() + c * rows);
        Dense<T>::trsm(CblasLeft, CblasLower, CblasNoTrans, CblasUnit, side, as_int(width), pivot.u.data(), side,
                       b.u.data(), side);
      }
    } else if (b.dense) {  // U_kk^-1 (L_kk^-H) from the right
      Dense<T>::trsm(CblasRight, cholesky_ ? CblasLower : CblasUpper, cholesky_ ? kConjugated<T> : CblasNoTrans,
                     CblasNonUnit, as_int(rows), side, pivot.u.data(), side, b.u.data(), as_int(rows));
    } else if (b.rank > 0) {  // V^H U_kk^-1 = (U_kk^-H V)^H
      Dense<T>::trsm(CblasLeft, cholesky_ ? CblasLower : CblasUpper, cholesky_ ? CblasNoTrans : kConjugated<T>,
                     CblasNonUnit, side, as_int(b.rank), pivot.u.data(), side, b.v.data(), side);
    }
    const double cut = b.error;
    at(i, j) = std::move(b);
    return cut;
  }

  // The row exchanges of diagonal tile k, of one column.
  void exchange(std::int64_t k, T* x) const {
    const std::int64_t m = std::min(tile_, n_ - k * tile_);
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t with = pivots_[static_cast<std::size_t>(k * tile_ + i)] - 1;
      if (with != i) std::swap(x[i], x[with]);
    }
  }

  std::int64_t n_, tile_, count_;
  bool cholesky_;
  double tolerance_;
  const detail::RankData<T>& a_;
  std::vector<Block<T>> tiles_;  // row by row
  std::vector<int> pivots_;      // from 1, within the tile
};

}  // namespace

template <Scalar T>
std::unique_ptr<Factors<T>> factor_tiles(const detail::RankData<T>& a, RankFactor kind, double tolerance) {
  return std::make_unique<TileFactors<T>>(a, kind, tolerance);
}

#define TRN_RANK_TILES(T) \
  template std::unique_ptr<Factors<T>> factor_tiles(const detail::RankData<T>&, RankFactor, double);
TRN_SPARSE_SCALARS(TRN_RANK_TILES)
#undef TRN_RANK_TILES

}  // namespace trn::sparse::rank
