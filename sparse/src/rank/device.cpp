// Products of rank-structured matrices on a device, by grouped products of trnblas. For the groups of a phase
//
//   t = V^T x          all low-rank blocks at once; those of a group below one another
//   y = alpha [U...] t + beta y,  then y += alpha D x, one dense block of each group at a time
//
// so the U of a group lie side by side in memory. beta goes with what a group of the first phase takes first.
#include <algorithm>
#include <optional>

#include <trn/blas/gemm_batched.hpp>

#include "rank/pieces.hpp"

namespace trn::sparse::rank {

namespace {

struct Term {
  std::int64_t column, columns, at;  // of x; where V^T or the dense block begins
  std::int64_t rank;                 // of V
};
struct DeviceGroup {
  std::int64_t row, rows, u, rank;  // rank: of all its low-rank blocks together
  std::vector<Term> low, dense;
};

// Grouped products, collected and then run in one call.
struct Batch {
  std::vector<blas::GemmGroup<float>> groups;
  std::vector<const float*> a, b;
  std::vector<float*> c;
  void add(const blas::BatchShape& shape, float alpha, float beta, const float* pa, const float* pb, float* pc) {
    groups.push_back({shape, alpha, beta, 1});
    a.push_back(pa), b.push_back(pb), c.push_back(pc);
  }
  void run(const Executor& executor) const {
    if (!groups.empty()) blas::gemm_grouped_batched<float>(executor, groups, a, b, std::span<float* const>(c));
  }
};

}  // namespace

struct DeviceBlocks {
  std::vector<std::vector<DeviceGroup>> phases;
  Array<float> values;
  // V^T x of one phase, kept from call to call: runs of one executor follow one another, calls on one matrix too.
  mutable std::optional<Array<float>> products = {};
};

std::shared_ptr<const DeviceBlocks> upload(const Executor& executor, const detail::RankData<float>& data) {
  require(data.extents.rows > 0 && data.extents.columns > 0, "sparse.rank.to: a {} x {} matrix has nothing to move",
          data.extents.rows, data.extents.columns);
  std::vector<std::vector<DeviceGroup>> phases;
  std::vector<float> values;
  const auto append = [&](const std::vector<float>& x) {
    const auto at = static_cast<std::int64_t>(values.size());
    values.insert(values.end(), x.begin(), x.end());
    return at;
  };
  for (const Phase& phase : data.phases) {
    std::vector<DeviceGroup>& groups = phases.emplace_back();
    for (const std::vector<std::int32_t>& numbers : phase.by_rows) {
      const Placed<float>& first = data.placed[static_cast<std::size_t>(numbers.front())];
      DeviceGroup g{first.row, first.block.rows, static_cast<std::int64_t>(values.size()), 0, {}, {}};
      for (const std::int32_t n : numbers) {
        const Block<float>& b = data.placed[static_cast<std::size_t>(n)].block;
        if (!b.dense) append(b.u), g.rank += b.rank;
      }
      for (const std::int32_t n : numbers) {
        const Placed<float>& p = data.placed[static_cast<std::size_t>(n)];
        if (p.block.dense)
          g.dense.push_back({p.column, p.block.columns, append(p.block.u), 0});
        else if (p.block.rank > 0)
          g.low.push_back({p.column, p.block.columns, append(p.block.v), p.block.rank});
      }
      groups.push_back(std::move(g));
    }
  }
  const auto count = static_cast<std::int64_t>(values.size());
  return std::make_shared<const DeviceBlocks>(
      DeviceBlocks{std::move(phases), Array<float>::from_host(executor, {count}, values)});
}

void multiply_on_device(const detail::RankData<float>& data, float alpha, const MatrixView<const float>& x, float beta,
                        const MatrixView<float>& y) {
  const std::int64_t n = y.columns();
  if (n == 0 || y.rows() == 0) return;
  const bool by_columns = x.row_stride() == 1 && y.row_stride() == 1 &&
                          (n == 1 || (x.column_stride() >= x.rows() && y.column_stride() >= y.rows()));
  require(by_columns || ((n == 1 || (x.column_stride() == 1 && y.column_stride() == 1)) && x.row_stride() >= n &&
                         y.row_stride() >= n),
          "sparse.rank.apply: x has strides ({}, {}), y ({}, {}); on a device both are row-major or both column-major",
          x.row_stride(), x.column_stride(), y.row_stride(), y.column_stride());
  const std::int64_t ldx = !by_columns ? x.row_stride()
                           : n == 1    ? std::max<std::int64_t>(1, x.rows())
                                       : x.column_stride(),
                     ldy = !by_columns ? y.row_stride()
                           : n == 1    ? y.rows()
                                       : y.column_stride();
  const auto at = [&](auto* p, std::int64_t row, std::int64_t ld) { return p + (by_columns ? row : row * ld); };
  // What is column-major in memory is its transpose row-major.
  const blas::Layout layout = by_columns ? blas::Layout::ColumnMajor : blas::Layout::RowMajor;
  const Op as_it_is = by_columns ? Op::N : Op::T, transposed = by_columns ? Op::T : Op::N;
  const float* values = data.device->values.data();
  for (std::size_t phase = 0; phase < data.device->phases.size(); ++phase) {
    const std::vector<DeviceGroup>& groups = data.device->phases[phase];
    const float keep = phase == 0 ? beta : 1;
    std::int64_t ranks = 0;
    for (const DeviceGroup& g : groups) ranks += g.rank;
    std::optional<Array<float>>& t = data.device->products;
    if (!t || t->size() < ranks * n) t.emplace(data.executor, Shape{std::max<std::int64_t>(1, ranks * n)});
    Batch first, second;
    std::int64_t at_t = 0;
    std::size_t layers = 0;
    for (const DeviceGroup& g : groups) {
      float* own = t->data() + at_t;
      const std::int64_t ldt = by_columns ? g.rank : n;
      std::int64_t row = 0;
      for (const Term& v : g.low) {
        first.add({transposed, Op::N, v.rank, n, v.columns, v.columns, ldx, ldt, layout}, 1, 0, values + v.at,
                  at(x.data(), v.column, ldx), at(own, row, ldt));
        row += v.rank;
      }
      if (g.rank > 0 || (g.dense.empty() && keep != 1))  // without blocks: y = beta y
        second.add({as_it_is, Op::N, g.rows, n, g.rank, g.rows, std::max<std::int64_t>(1, ldt), ldy, layout}, alpha,
                   keep, values + g.u, own, at(y.data(), g.row, ldy));
      at_t += g.rank * n;
      layers = std::max(layers, g.dense.size());
    }
    first.run(data.executor), second.run(data.executor);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      Batch dense;
      for (const DeviceGroup& g : groups) {
        if (layer >= g.dense.size()) continue;
        const Term& d = g.dense[layer];
        dense.add({as_it_is, Op::N, g.rows, n, d.columns, g.rows, ldx, ldy, layout}, alpha,
                  layer == 0 && g.rank == 0 ? keep : 1, values + d.at, at(x.data(), d.column, ldx),
                  at(y.data(), g.row, ldy));
      }
      dense.run(data.executor);
    }
  }
}

}  // namespace trn::sparse::rank
