// The part of C that an operation writes: all of it, or a triangle of the global matrix, for a rank's local part. The
// columns of C's blocks divide local rows into three: those outside the triangle, those on the diagonal, and those
// wholly inside.
#pragma once

#include <complex>
#include <vector>

#include <trn/blas/types.hpp>
#include <trn/comm/matrix.hpp>

namespace trn::blas::distributed {

enum class Region : std::uint8_t { All, Lower, Upper };

// Local rows [begin, end).
struct Rows {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t count() const { return end - begin; }
};

template <class T> class LocalRegion {
 public:
  LocalRegion(const dist::Matrix<T>& c, Region region, bool hermitian)
      : c_(c.local()),
        row_(c.distribution().row()),
        column_(c.distribution().column()),
        region_(region),
        hermitian_(hermitian) {
    const int rank = c.group().rank();
    if (rank < c.distribution().grid.size()) {
      my_row_ = c.distribution().grid.row_of(rank);
      my_column_ = c.distribution().grid.column_of(rank);
    }
  }

  // Local rows that hold anything wanted of local columns [begin, end).
  [[nodiscard]] Rows wanted(std::int64_t begin, std::int64_t end) const {
    if (region_ == Region::Lower) return {rows_below(global_column(begin)), c_.rows()};
    if (region_ == Region::Upper) return {0, rows_below(global_column(end - 1) + 1)};
    return {0, c_.rows()};
  }
  // Calls f(begin, end) for chunks of whole blocks of local columns, at least `width` wide but for the last.
  template <class F> void for_chunks(std::int64_t width, const F& f) const {
    const std::int64_t step = region_ == Region::All ? std::max<std::int64_t>(1, c_.columns())
                                                     : (width + column_.block - 1) / column_.block * column_.block;
    for (std::int64_t j = 0; j < c_.columns(); j += step) f(j, std::min(j + step, c_.columns()));
  }

  // to = C where it is wanted, zero elsewhere; diagonals of Hermitian matrices are real.
  void load(const MatrixView<T>& to) const {
    if (region_ == Region::All) return copy(View<const T>(MatrixView<const T>(c_)), View<T>(to));
    std::vector<T> values(static_cast<std::size_t>(c_.rows() * c_.columns()));
    const auto host = MatrixView<T>::column_major(Executor::host(), values.data(), c_.rows(), c_.columns());
    copy(View<const T>(MatrixView<const T>(c_)), View<T>(host));
    for (std::int64_t j = 0; j < c_.columns(); ++j) {
      const std::int64_t gj = global_column(j), first = rows_below(gj), after = rows_below(gj + 1);
      T* at = values.data() + j * c_.rows();
      if (region_ == Region::Lower)
        std::fill(at, at + first, T(0));
      else
        std::fill(at + after, at + c_.rows(), T(0));
      if (hermitian_ && first < after) at[first] = std::real(at[first]);
    }
    copy(View<const T>(MatrixView<const T>(host)), View<T>(to));
  }
  // C = from, where it is wanted.
  void store(const MatrixView<T>& from) const {
    if (region_ == Region::All) return copy(View<const T>(MatrixView<const T>(from)), View<T>(c_));
    for (std::int64_t j = 0; j < c_.columns(); j += column_.block) {
      const std::int64_t width = std::min(column_.block, c_.columns() - j), gj = global_column(j);
      const Rows diagonal{rows_below(gj), rows_below(gj + width)};
      const Rows inside = region_ == Region::Lower ? Rows{diagonal.end, c_.rows()} : Rows{0, diagonal.begin};
      const auto block = [&](const MatrixView<T>& x, const Rows& rows) {
        return x.block(rows.begin, j, rows.count(), width);
      };
      if (inside.count() > 0) copy(View<const T>(MatrixView<const T>(block(from, inside))), View<T>(block(c_, inside)));
      if (diagonal.count() > 0) merge(block(from, diagonal), block(c_, diagonal), diagonal.begin, j);
    }
  }

 private:
  [[nodiscard]] std::int64_t global_row(std::int64_t i) const { return row_.to_global(i, my_row_); }
  [[nodiscard]] std::int64_t global_column(std::int64_t j) const { return column_.to_global(j, my_column_); }
  // How many local rows have a global index below `global`.
  [[nodiscard]] std::int64_t rows_below(std::int64_t global) const {
    const std::int64_t turn = row_.block * row_.ranks, rest = global % turn - my_row_ * row_.block;
    return std::min(c_.rows(), global / turn * row_.block + std::clamp<std::int64_t>(rest, 0, row_.block));
  }
  void merge(const MatrixView<T>& from, const MatrixView<T>& to, std::int64_t i0, std::int64_t j0) const {
    const auto size = static_cast<std::size_t>(to.rows() * to.columns());
    std::vector<T> new_values(size), values(size);
    const auto host = [&](std::vector<T>& v) {
      return MatrixView<T>::column_major(Executor::host(), v.data(), to.rows(), to.columns());
    };
    copy(View<const T>(MatrixView<const T>(from)), View<T>(host(new_values)));
    copy(View<const T>(MatrixView<const T>(to)), View<T>(host(values)));
    for (std::int64_t j = 0; j < to.columns(); ++j) {
      for (std::int64_t i = 0; i < to.rows(); ++i) {
        const std::int64_t gi = global_row(i0 + i), gj = global_column(j0 + j);
        const auto at = static_cast<std::size_t>(j * to.rows() + i);
        if (region_ == Region::Lower ? gi >= gj : gi <= gj)
          values[at] = hermitian_ && gi == gj ? T(std::real(new_values[at])) : new_values[at];
      }
    }
    copy(View<const T>(MatrixView<const T>(host(values))), View<T>(to));
  }

  MatrixView<T> c_;
  dist::Cyclic row_, column_;
  int my_row_ = 0, my_column_ = 0;
  Region region_;
  bool hermitian_;
};

}  // namespace trn::blas::distributed
