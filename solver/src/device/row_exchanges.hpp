// The exchanges of rows that partial pivoting makes, on devices: by DMA, rows of contiguous elements, of any type as
// words of 32 bits. For LU of one matrix and for the columns that a rank of a distributed one has.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver::device {

using Exchanges = std::vector<std::int64_t>;     // step i exchanges row i with row [i]
inline constexpr std::int64_t kExchanged = 128;  // steps at once

// NotImplemented where the machine cannot move rows by their numbers.
void needs_gathers(const char* operation, const Executor& executor);

// to = the transpose of from; the rows of both are contiguous.
void turn(const Executor& executor, const MatrixView<float>& from, const MatrixView<float>& to);

// The exchanges first, first + 1, ... of at most 128 steps, or backwards, as moves of at most 2 count rows.
void exchange(const Executor& executor, const MatrixView<float>& a, const Exchanges& exchanges, std::int64_t first,
              std::int64_t count, bool backwards);
// All of them.
void exchange_all(const Executor& executor, const MatrixView<float>& a, const Exchanges& exchanges, bool backwards);

// A matrix of any type as words of 32 bits; its rows are contiguous.
template <class T> [[nodiscard]] MatrixView<float> words_of(const MatrixView<T>& a) {
  constexpr std::int64_t kWords = sizeof(T) / sizeof(float);
  return {a.executor(), reinterpret_cast<float*>(a.data()), a.rows(), a.columns() * kWords, a.row_stride() * kWords, 1};
}
// The exchanges that a vector of pivots in any memory holds; refused where one is not between its place and `rows`.
[[nodiscard]] Exchanges exchanges_of(const char* operation, const VectorView<const std::int64_t>& pivots,
                                     std::int64_t rows);

}  // namespace trn::solver::device

namespace trn::solver {

// A copy of a column-major matrix whose rows are contiguous, as moves of rows need it, in the memory of its device.
template <class T> class ByRows {
 public:
  ByRows(const char* operation, const MatrixView<T>& part)
      : part_(part),
        rows_((device::needs_gathers(operation, part.executor()), part.executor()), part.rows(), part.columns()) {
    if (empty()) return;
    if constexpr (std::same_as<T, float>)
      device::turn(part_.executor(), part_.transposed(), rows_.view());
    else
      copy(View<const T>(MatrixView<const T>(part_)), View<T>(rows_.view()));
  }
  [[nodiscard]] MatrixView<T> view() const { return rows_.view(); }
  [[nodiscard]] bool empty() const { return part_.rows() == 0 || part_.columns() == 0; }
  // Steps first to first + count - 1.
  void exchange(const device::Exchanges& exchanges, std::int64_t first, std::int64_t count) const {
    for (std::int64_t i = 0; i < count && !empty(); i += device::kExchanged)
      device::exchange(part_.executor(), device::words_of(view()), exchanges, first + i,
                       std::min(device::kExchanged, count - i), false);
  }
  void exchange_all(const device::Exchanges& exchanges, bool backwards) const {
    if (!empty()) device::exchange_all(part_.executor(), device::words_of(view()), exchanges, backwards);
  }
  // To where it came from.
  void store() const {
    if (empty()) return;
    if constexpr (std::same_as<T, float>)
      device::turn(part_.executor(), rows_.view(), part_.transposed());
    else
      copy(View<const T>(MatrixView<const T>(rows_.view())), View<T>(part_));
  }

 private:
  MatrixView<T> part_;
  Matrix<T> rows_;
};

}  // namespace trn::solver
