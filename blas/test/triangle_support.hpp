// Matrices of which one triangle is stored, in every form: full in several layouts, packed, band. Memory that a routine
// may not read is NaN: the other triangle, gaps, and on request the diagonal or its imaginary parts.
#pragma once

#include <trn/blas/storage.hpp>

#include "vector_support.hpp"

namespace trn::blas::test {

enum class Storage {
  Columns,
  Rows,
  PaddedColumns,
  PaddedRows,
  Scattered,
  Reversed,
  PackedColumns,
  PackedRows,
  BandColumns,
  BandRows
};
inline constexpr Storage kFull[] = {Storage::Columns,    Storage::Rows,      Storage::PaddedColumns,
                                    Storage::PaddedRows, Storage::Scattered, Storage::Reversed};
inline constexpr Storage kPacked[] = {Storage::PackedColumns, Storage::PackedRows};
inline constexpr Storage kBand[] = {Storage::BandColumns, Storage::BandRows};

enum class DiagonalIs { Plain, Unread, Hermitian };  // Hermitian: imaginary parts are NaN

template <class T> class Stored {
 public:
  Stored(std::int64_t n, Uplo uplo, Storage storage, std::int64_t k = 0)
      : n_(n), k_(k), uplo_(uplo), storage_(storage) {
    const std::int64_t padded = n + 3;
    switch (storage) {
      case Storage::Columns:
        rs_ = 1, cs_ = n;
        break;
      case Storage::Rows:
        rs_ = n, cs_ = 1;
        break;
      case Storage::PaddedColumns:
        rs_ = 1, cs_ = padded;
        break;
      case Storage::PaddedRows:
        rs_ = padded, cs_ = 1;
        break;
      case Storage::Scattered:
        rs_ = 2, cs_ = 2 * padded;
        break;
      case Storage::Reversed:
        rs_ = -n, cs_ = 1, offset_ = std::max<std::int64_t>(n - 1, 0) * n;
        break;
      case Storage::BandColumns:
      case Storage::BandRows:
        ld_ = k + 2;
        break;
      default:
        break;
    }
    offset_ += kMargin;
    const std::int64_t count = is_band() ? n * ld_ : 2 * padded * (n + 1);
    memory_.assign(static_cast<std::size_t>(count + 2 * kMargin), not_a_number<T>());
  }

  [[nodiscard]] bool is_band() const { return storage_ == Storage::BandColumns || storage_ == Storage::BandRows; }
  [[nodiscard]] bool is_packed() const { return storage_ == Storage::PackedColumns || storage_ == Storage::PackedRows; }
  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] Uplo uplo() const { return uplo_; }
  [[nodiscard]] bool stored(std::int64_t i, std::int64_t j) const {
    const std::int64_t distance = uplo_ == Uplo::Upper ? j - i : i - j;
    return distance >= 0 && (!is_band() || distance <= k_);
  }
  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) { return memory_[index(i, j)]; }
  [[nodiscard]] T at(std::int64_t i, std::int64_t j) const { return memory_[index(i, j)]; }

  // Entries of order `scale`, the diagonal `diagonal` larger.
  void fill(std::mt19937_64& random, DiagonalIs what, double scale = 1, double diagonal = 0) {
    what_ = what;
    for (std::int64_t j = 0; j < n_; ++j) {
      for (std::int64_t i = 0; i < n_; ++i) {
        if (!stored(i, j)) continue;
        T v = random_value<T>(random) * static_cast<Real<T>>(scale);
        if (i == j) v += static_cast<Real<T>>(diagonal);
        if (i == j && what == DiagonalIs::Unread) v = not_a_number<T>();
        if constexpr (ComplexScalar<T>) {
          if (i == j && what == DiagonalIs::Hermitian) v = T(v.real(), Real<T>(NAN));
        }
        at(i, j) = v;
      }
    }
  }

  // The logical matrix: triangular (zeros elsewhere, ones on an unread diagonal), symmetric or Hermitian.
  [[nodiscard]] Wide triangular(std::int64_t i, std::int64_t j) const {
    if (i == j && what_ == DiagonalIs::Unread) return {1, 0};
    return stored(i, j) ? wide(at(i, j)) : Wide{};
  }
  [[nodiscard]] Wide symmetric(std::int64_t i, std::int64_t j, bool hermitian) const {
    if (i == j && hermitian) return {wide(at(i, i)).re, 0};
    if (stored(i, j)) return wide(at(i, j));
    if (!stored(j, i)) return {};
    return hermitian ? conj(wide(at(j, i))) : wide(at(j, i));
  }

  [[nodiscard]] MatrixView<T> full() { return {Executor::host(), memory_.data() + offset_, n_, n_, rs_, cs_}; }
  [[nodiscard]] PackedView<T> packed() { return {Executor::host(), memory_.data() + offset_, n_, uplo_, layout()}; }
  [[nodiscard]] BandView<T> band() {
    const bool upper = uplo_ == Uplo::Upper;
    return {Executor::host(), memory_.data() + offset_, n_, n_, upper ? 0 : k_, upper ? k_ : 0, ld_, layout()};
  }
  [[nodiscard]] bool surroundings_intact(const Stored& before) const {
    std::vector<bool> inside(memory_.size(), false);
    for (std::int64_t j = 0; j < n_; ++j) {
      for (std::int64_t i = 0; i < n_; ++i) {
        if (stored(i, j)) inside[index(i, j)] = true;
      }
    }
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (!inside[i] && !same_bits(memory_[i], before.memory_[i])) return false;
    }
    return true;
  }
  [[nodiscard]] bool same(const Stored& other) const {
    return std::memcmp(memory_.data(), other.memory_.data(), memory_.size() * sizeof(T)) == 0;
  }

 private:
  static constexpr std::int64_t kMargin = 2;
  [[nodiscard]] Layout layout() const {
    return storage_ == Storage::PackedRows || storage_ == Storage::BandRows ? Layout::RowMajor : Layout::ColumnMajor;
  }
  // The formulas of storage.hpp, spelled for the test.
  [[nodiscard]] std::size_t index(std::int64_t i, std::int64_t j) const {
    std::int64_t at = i * rs_ + j * cs_;
    const bool rows = layout() == Layout::RowMajor;
    const bool upper = (uplo_ == Uplo::Upper) != rows;
    if (rows) std::swap(i, j);
    if (is_packed()) at = upper ? i + j * (j + 1) / 2 : i + j * (2 * n_ - j - 1) / 2;
    if (is_band()) at = (upper ? k_ : 0) + i - j + j * ld_;
    return static_cast<std::size_t>(offset_ + at);
  }

  std::int64_t n_, k_;
  Uplo uplo_;
  Storage storage_;
  std::int64_t rs_ = 0, cs_ = 0, ld_ = 0, offset_ = 0;
  DiagonalIs what_ = DiagonalIs::Plain;
  std::vector<T> memory_;
};

}  // namespace trn::blas::test
