// A matrix as blocks at places, and the order in which a product takes them.
//
// A product is a sequence of phases. The blocks of a phase are in groups that write different rows (by columns for the
// adjoint), so groups run at the same time and blocks of a group one after another: a blr matrix has one phase with a
// group for each row of tiles, a hodlr matrix one for each level with groups of one block.
#pragma once

#include <trn/sparse/rank_structured.hpp>

#include "host_data.hpp"
#include "rank/low_rank.hpp"

namespace trn::sparse {

namespace rank {

template <Scalar T> struct Placed {
  std::int64_t row = 0, column = 0;
  Block<T> block;
};

using Groups = std::vector<std::vector<std::int32_t>>;  // numbers of blocks
struct Phase {
  Groups by_rows, by_columns;
  // Work space of each group for one column: where it begins. A group's blocks share it one after another.
  std::vector<std::int64_t> rows_at = {}, columns_at = {};
};

// Columns that one pass over the blocks takes: work space is made for so many when a matrix is.
inline constexpr std::int64_t kPanel = 16;

// The blocks in the memory of a device, and one product's work there.
struct DeviceBlocks;
std::shared_ptr<const DeviceBlocks> upload(const Executor& executor, const detail::RankData<float>& data);
void multiply_on_device(const detail::RankData<float>& data, float alpha, const MatrixView<const float>& x, float beta,
                        const MatrixView<float>& y);

}  // namespace rank

template <Scalar T> struct detail::RankData {
  RankShape shape;
  Extents extents;
  RankOptions options;
  std::vector<rank::Placed<T>> placed;
  std::vector<rank::Phase> phases;
  RankReport report;
  std::int64_t work = 0;              // elements of work space that a product of one column needs
  mutable std::vector<T> space = {};  // of apply(): packed columns, their product, and that work space
  Executor executor = Executor::host();
  std::shared_ptr<const rank::DeviceBlocks> device = {};
};

struct detail::RankAccess {
  template <Scalar T> static const std::shared_ptr<const RankData<T>>& data(const RankMatrix<T>& a) { return a.data_; }
};

namespace rank {

// y += alpha op(A~) x on the host, op N or C; column-major, packed. `work` holds data.work * n elements.
template <Scalar T>
void multiply(const detail::RankData<T>& data, Op op, T alpha, std::int64_t n, const T* x, T* y, T* work);

// Columns [first, first + count) of a view of any strides, packed.
template <Scalar T> void pack(const MatrixView<const T>& x, std::int64_t first, std::int64_t count, T* to) {
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t i = 0; i < x.rows(); ++i)
      to[j * x.rows() + i] = x.data()[i * x.row_stride() + (first + j) * x.column_stride()];
  }
}

// The factors' own: LU or Cholesky by tiles, and Woodbury's by halves.
template <Scalar T> class Factors {
 public:
  virtual ~Factors() = default;
  // In place, column-major, packed; `work` holds work() * n elements.
  virtual void solve(std::int64_t n, T* x, T* work) const = 0;
  [[nodiscard]] virtual std::int64_t work() const = 0;
  Outcome outcome;
  double truncation = 0;
  std::int64_t stored = 0;
};
template <Scalar T>
std::unique_ptr<Factors<T>> factor_tiles(const detail::RankData<T>& a, RankFactor kind, double tolerance);
template <Scalar T> std::unique_ptr<Factors<T>> factor_halves(const detail::RankData<T>& a);

}  // namespace rank
}  // namespace trn::sparse
