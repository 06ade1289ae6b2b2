// The programs and copies of a step of a distributed matrix operation, priced: what trnsolver's and trnblas's
// operations on distributed matrices launch on a rank, by its shapes and strides.
#pragma once

#include <algorithm>
#include <string>

#include <trn/blas/gemm_program.hpp>
#include <trn/blas/trsm_program.hpp>
#include <trn/comm/distribution.hpp>

#include "scale_model.hpp"

namespace trn::tools::scale {

inline constexpr std::int64_t kBlockSize = 512;  // of matrices that go around a grid

// A matrix in a rank's memory: its extents and how far elements are apart.
struct Operand {
  std::int64_t rows, columns, row_stride, column_stride;
  [[nodiscard]] static Operand by_columns(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
    return {rows, columns, 1, leading};
  }
  [[nodiscard]] static Operand by_rows(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
    return {rows, columns, leading, 1};
  }
  [[nodiscard]] Operand transposed() const { return {columns, rows, column_stride, row_stride}; }
};

// One rank's time, in the order in which things happen.
class Steps {
 public:
  Steps(Kernels& kernels, const Setting& s) : kernels_(kernels), s_(s) {}

  double panel_s = 0, product_s = 0, moved_s = 0, sent_s = 0, bytes = 0;
  std::string binding, wire = "chip links";
  [[nodiscard]] double seconds() const { return panel_s + product_s + moved_s + sent_s; }
  [[nodiscard]] double programs() const { return panel_s + product_s; }

  // C = alpha A B + beta C; alpha is 1 or not, beta 0 or 1.
  double product(const Operand& a, const Operand& b, bool unit_alpha, bool adds, const Operand& c);
  // C (n x n, lower triangle) = A A^T.
  double gram(const Operand& a, const Operand& c);
  // T X = B in place of B, T lower.
  double solve(const Operand& t, const Operand& b, bool unit);
  // Programs of a matrix that take as much longer as it has more rows than `most`, beyond that; build(rows).
  template <class Build> double by_rows(const std::string& key, std::int64_t rows, std::int64_t most, Build build) {
    const auto at = [&](std::int64_t n) {
      return kernels_
          .run(fmt::format("{} {} {}", s_.machine.name, key, n), s_, [&] { return Kernels::one(build(n), s_.machine); })
          .seconds;
    };
    if (rows <= 0) return 0;
    copying_ = false;
    const double some = at(std::min(rows, most));
    if (rows <= most) return some;
    return some + static_cast<double>(rows - most) / static_cast<double>(most - most / 2) * (some - at(most / 2));
  }
  // A block in runs of columns (or of rows), from one leading dimension to another. What is contiguous on both sides,
  // or in runs of 4 KiB, is copied by the device, and priced; shorter runs go through the host, which has no modelled
  // time. Copies that follow one another are requests to one ring.
  void copy(std::int64_t run, std::int64_t runs, std::int64_t from, std::int64_t to);
  // As tile::collective_cost means `b`; nothing among one rank.
  void collective(tile::CollectiveKind kind, double b, const tile::Members& m);
  [[nodiscard]] const Setting& setting() const { return s_; }

 private:
  Kernels& kernels_;
  const Setting& s_;
  bool copying_ = false;
};

// The ranks of one row of the grid, or of one column; those beside them send at the same time.
[[nodiscard]] tile::Members line_of(const Setting& s, const LevelGrid& g, bool row);

// All columns of a matrix in blocks of `block` columns from blocks on a grid: one exchange of the rank that has most to
// give or to take.
[[nodiscard]] tile::CollectiveCost to_columns(const Setting& s, std::int64_t rows, std::int64_t columns,
                                              std::int64_t block);

}  // namespace trn::tools::scale
