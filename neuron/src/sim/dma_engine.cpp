// DMA: copies, transposes, gathers and scatters between HBM and SBUF. Elements are paired in row-major order. Equal
// dtypes move bits; otherwise a value goes from src through fp32 to dst, which loses digits of 32-bit integers.
#include <cstring>

#include "sim/engines.hpp"
#include "sim/transpose.hpp"

namespace trn::neuron::sim {

namespace {

// Row i of `listed` and row index(i) of `indexed` are copied, from indexed to listed (gather) or back (scatter), in the
// order of i: of several scattered rows with the same index the last stays. A row out of range is an error, or skipped:
// then its destination keeps its bits and its state.
template <class Real> void copy_indirect(const Execution& e, const isa::DmaCopy& a) {
  using I = isa::DmaCopy;
  const bool scatter = a.scatter;
  const Operand index = e.read(I::index);
  const Operand listed = e.resolved(scatter ? I::src : I::dst), indexed = e.resolved(scatter ? I::dst : I::src);
  ensure(index.count == listed.rows && listed.row == indexed.row,
         "simulator: {} indices for {} rows of {} and {} elements", index.count, listed.rows, listed.row, indexed.row);
  std::vector<double> rows(static_cast<std::size_t>(index.count));
  load(index, 0, index.count, rows.data());
  for (std::int64_t i = 0; i < listed.rows; ++i) {
    const auto r = static_cast<std::int64_t>(rows[static_cast<std::size_t>(i)]);
    if (r < 0 || r >= indexed.rows) {
      if (a.oob == tile::OobMode::Skip) continue;
      e.refuse("index-out-of-range", "index {} is {}; the tensor has rows 0..{}: correct it, or use oob_mode skip", i,
               r, indexed.rows - 1);
    }
    const Operand list_row = listed.entry(i), index_row = indexed.entry(r);
    const Operand &dst = scatter ? index_row : list_row, &src = scatter ? list_row : index_row;
    e.check_read(src, I::src);
    e.mark_written(dst);
    Rounder rounder = e.rounder(I::dst);
    rounder.counter += static_cast<std::uint64_t>(i * listed.row);
    copy_elements<Real>(dst, src, rounder);
  }
}

std::vector<std::int64_t> extents(const tile::Access& a) {
  std::vector<std::int64_t> sizes;
  if (a.is_tile()) sizes.push_back(a.partitions);
  for (const tile::Dim& d : a.dims) sizes.push_back(d.size);
  return sizes;
}

}  // namespace

template <class Real> void execute(const Execution& e, const isa::DmaCopy& a) {
  using I = isa::DmaCopy;
  if (e.has(I::index)) return copy_indirect<Real>(e, a);
  const Operand src = e.read(I::src), dst = e.write(I::dst);
  ensure(src.count == dst.count, "simulator: dma_copy of {} elements to {}", src.count, dst.count);
  copy_elements<Real>(dst, src, e.rounder(I::dst));
}

// The documented permutations [1,0], [2,1,0] and [3,1,2,0] all exchange the first and the last dimension: dst(l,
// middle, f) = src(f, middle, l). A source of rank 3 or 4 whose destination does not have that shape is taken as the
// matrix (first dimension, all others).
template <class Real> void execute(const Execution& e, const isa::DmaTranspose&) {
  using I = isa::DmaTranspose;
  const Operand src = e.read(I::src), dst = e.write(I::dst);
  ensure(src.count == dst.count, "simulator: dma_transpose of {} elements to {}", src.count, dst.count);
  const std::vector<std::int64_t> from = extents(e.access(I::src));
  std::vector<std::int64_t> swapped = from;
  std::swap(swapped.front(), swapped.back());
  if (from.size() <= 2 || from.size() > 4 || swapped != extents(e.access(I::dst))) {
    return move_transposed<Real>(dst, src);
  }

  const std::int64_t first = from.front(), last = from.back(), middle = src.count / (first * last);
  const auto bytes = static_cast<std::size_t>(cell_bytes<Real>(src));
  const std::vector<std::byte> cells = all_cells<Real>(src);
  std::vector<std::byte> turned(cells.size());
  for (std::int64_t l = 0; l < last; ++l) {
    for (std::int64_t m = 0; m < middle; ++m) {
      for (std::int64_t f = 0; f < first; ++f) {
        const auto to = static_cast<std::size_t>((l * middle + m) * first + f);
        const auto at = static_cast<std::size_t>((f * middle + m) * last + l);
        std::memcpy(turned.data() + to * bytes, cells.data() + at * bytes, bytes);
      }
    }
  }
  put_cells<Real>(dst, turned.data(), static_cast<std::int64_t>(bytes));
}

template void execute<float>(const Execution&, const isa::DmaCopy&);
template void execute<double>(const Execution&, const isa::DmaCopy&);
template void execute<float>(const Execution&, const isa::DmaTranspose&);
template void execute<double>(const Execution&, const isa::DmaTranspose&);

}  // namespace trn::neuron::sim
