// Moves inside SBUF and PSUM that choose their source: nc_n_gather (GpSimd) by a list in every partition,
// nc_stream_shuffle (Vector) by partition. Both keep bits.
#include <algorithm>

#include "sim/engines.hpp"

namespace trn::neuron::sim {

// dst(p, i) = data(p, indices(p, i)), the free dimensions of data taken as one.
template <class Real> void execute(const Execution& e, const isa::NcNGather&) {
  using I = isa::NcNGather;
  const Operand data = e.read(I::data), indices = e.read(I::indices);
  const auto bytes = cell_bytes<Real>(data);
  std::vector<double> list(static_cast<std::size_t>(indices.count));
  load(indices, 0, indices.count, list.data());
  std::vector<std::byte> from(static_cast<std::size_t>(data.count * bytes));
  load_cells<Real>(data, 0, data.count, from.data());
  std::vector<std::byte> to(static_cast<std::size_t>(indices.count * bytes));
  for (std::int64_t i = 0; i < indices.count; ++i) {
    const auto at = static_cast<std::int64_t>(list[static_cast<std::size_t>(i)]);
    if (at < 0 || at >= data.row) {
      e.refuse("index-out-of-range", "index {} of partition {} is {}; data has {} elements per partition",
               i % indices.row, i / indices.row, at, data.row);
    }
    std::copy_n(from.begin() + (i / indices.row * data.row + at) * bytes, bytes, to.begin() + i * bytes);
  }
  const Operand dst = e.write(I::dst);
  store_cells<Real>(dst, 0, dst.count, to.data());
}

// All of src is read before dst is written, so a shuffle in place is one. Of dst only the partitions that the mask
// names are written.
template <class Real> void execute(const Execution& e, const isa::NcStreamShuffle& a) {
  using I = isa::NcStreamShuffle;
  const auto side = static_cast<std::int64_t>(a.mask.size());
  const Operand dst = e.resolved(I::dst), src = e.resolved(I::src);
  const auto source = [&](std::int64_t p) {
    const std::int64_t from = a.mask[static_cast<std::size_t>(p % side)];
    return from == I::kKeep ? -1 : p / side * side + from;
  };
  const std::int64_t bytes = cell_bytes<Real>(src) * src.row;
  std::vector<std::byte> cells(static_cast<std::size_t>(dst.rows * bytes));
  for (std::int64_t p = 0; p < dst.rows; ++p) {
    if (source(p) < 0) continue;
    e.check_read(src.entry(source(p)), I::src);
    load_cells<Real>(src, source(p) * src.row, src.row, cells.data() + p * bytes);
  }
  for (std::int64_t p = 0; p < dst.rows; ++p) {
    if (source(p) < 0) continue;
    e.mark_written(dst, p * dst.row, dst.row);
    store_cells<Real>(dst, p * dst.row, dst.row, cells.data() + p * bytes);
  }
}

template void execute<float>(const Execution&, const isa::NcNGather&);
template void execute<double>(const Execution&, const isa::NcNGather&);
template void execute<float>(const Execution&, const isa::NcStreamShuffle&);
template void execute<double>(const Execution&, const isa::NcStreamShuffle&);

}  // namespace trn::neuron::sim
