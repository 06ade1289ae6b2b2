// Packed triangles and band matrices: the two storage forms of level 2 beside the full matrix.
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

// Which index runs fastest in packed and band storage.
enum class Layout : std::uint8_t { ColumnMajor, RowMajor };

// One triangle of an n x n matrix without gaps, n (n + 1) / 2 elements, column by column or row by row.
// Column-major, 0-based: Upper (i <= j) at i + j (j + 1) / 2, Lower (i >= j) at i + j (2 n - j - 1) / 2; row-major with
// i and j exchanged: RowMajor Upper has the memory of ColumnMajor Lower.
template <Element T> class PackedView {
 public:
  PackedView(Executor executor, T* data, std::int64_t n, Uplo uplo, Layout layout = Layout::ColumnMajor)
      : executor_(std::move(executor)), data_(data), n_(n), uplo_(uplo), layout_(layout) {
    require(n >= 0, "packed view: n is {}; it must be >= 0", n);
  }
  // A template, so that it is never taken for the copy constructor.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, std::remove_const_t<T>>) PackedView(const PackedView<U>& other)
      : PackedView(other.executor(), other.data(), other.n(), other.uplo(), other.layout()) {}

  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] std::int64_t size() const { return n_ * (n_ + 1) / 2; }
  [[nodiscard]] Uplo uplo() const { return uplo_; }
  [[nodiscard]] Layout layout() const { return layout_; }

 private:
  Executor executor_;
  T* data_;
  std::int64_t n_;
  Uplo uplo_;
  Layout layout_;
};

// The kl lower and ku upper diagonals of a rows x columns matrix, ld >= kl + ku + 1. ColumnMajor: element (i, j) at
// data[ku + i - j + j ld]; RowMajor: at data[kl + j - i + i ld]. A symmetric or triangular band has kl = 0 (its upper
// triangle is stored) or ku = 0 (its lower one).
template <Element T> class BandView {
 public:
  BandView(Executor executor, T* data, std::int64_t rows, std::int64_t columns, std::int64_t kl, std::int64_t ku,
           std::int64_t ld, Layout layout = Layout::ColumnMajor)
      : executor_(std::move(executor)),
        data_(data),
        rows_(rows),
        columns_(columns),
        kl_(kl),
        ku_(ku),
        ld_(ld),
        layout_(layout) {
    require(rows >= 0 && columns >= 0 && kl >= 0 && ku >= 0,
            "band view: {} x {} with {} lower and {} upper diagonals; none may be negative", rows, columns, kl, ku);
    require(ld >= kl + ku + 1,
            "band view: leading dimension {} for {} lower and {} upper diagonals; it must be at least {}", ld, kl, ku,
            kl + ku + 1);
  }
  // A template, so that it is never taken for the copy constructor.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, std::remove_const_t<T>>) BandView(const BandView<U>& other)
      : BandView(other.executor(), other.data(), other.rows(), other.columns(), other.kl(), other.ku(), other.ld(),
                 other.layout()) {}

  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t kl() const { return kl_; }
  [[nodiscard]] std::int64_t ku() const { return ku_; }
  [[nodiscard]] std::int64_t ld() const { return ld_; }
  [[nodiscard]] Layout layout() const { return layout_; }

 private:
  Executor executor_;
  T* data_;
  std::int64_t rows_, columns_, kl_, ku_, ld_;
  Layout layout_;
};

template <class T> using ConstPacked = std::type_identity_t<PackedView<const T>>;
template <class T> using ConstBand = std::type_identity_t<BandView<const T>>;

}  // namespace trn::blas
