// dma_compute: the DMA engines add. Every element is widened to fp32, the sources are added from the first to the last
// with one rounding each, and the sum is rounded to dst's dtype.
#include <set>

#include "sim/engines.hpp"

namespace trn::neuron::sim {

namespace {

template <class Real> void add(const Operand& dst, const std::vector<Operand>& sources, const Rounder& rounder) {
  std::vector<Real> sum(static_cast<std::size_t>(dst.count)), next(sum.size());
  load(sources.front(), 0, dst.count, sum.data());
  for (std::size_t s = 1; s < sources.size(); ++s) {
    load(sources[s], 0, dst.count, next.data());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
  }
  store(dst, 0, dst.count, sum.data(), rounder);
}

// Row i of `listed`, in SBUF, and row index(i) of `indexed`, in HBM: one is dst, to which the other is added. What
// happens to an index that comes twice is not defined on hardware when the rows of dst are the indexed ones.
template <class Real> void add_rows(const Execution& e, const isa::DmaCompute& a) {
  using I = isa::DmaCompute;
  const Operand index = e.read(I::index);
  const Operand dst = e.resolved(I::dst), src = e.resolved(I::src1);
  const Operand &listed = a.scatter ? src : dst, &indexed = a.scatter ? dst : src;
  std::vector<double> rows(static_cast<std::size_t>(index.count));
  load(index, 0, index.count, rows.data());
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < listed.rows; ++i) {
    const auto r = static_cast<std::int64_t>(rows[static_cast<std::size_t>(i)]);
    if (r < 0 || r >= indexed.rows) {
      if (a.oob == tile::OobMode::Skip) continue;
      e.refuse("index-out-of-range", "index {} is {}; the tensor has rows 0..{}: correct it, or use oob_mode skip", i,
               r, indexed.rows - 1);
    }
    if (a.scatter && !seen.insert(r).second) {
      e.refuse("repeated-index", "row {} comes twice, the second time as index {}; each row may be added to once", r,
               i);
    }
    const Operand to = dst.entry(a.scatter ? r : i), from = src.entry(a.scatter ? i : r);
    e.check_read(to, I::src0);
    e.check_read(from, I::src1);
    e.mark_written(to);
    Rounder rounder = e.rounder(I::dst);
    rounder.counter += static_cast<std::uint64_t>(i * listed.row);
    add<Real>(to, {to, from}, rounder);
  }
}

}  // namespace

template <class Real> void execute(const Execution& e, const isa::DmaCompute& a) {
  using I = isa::DmaCompute;
  if (e.has(I::index)) return add_rows<Real>(e, a);
  std::vector<Operand> sources;
  for (std::size_t s = I::src0; s < I::index; ++s) {
    if (e.has(s)) sources.push_back(e.read(s));
  }
  add<Real>(e.write(I::dst), sources, e.rounder(I::dst));
}

template void execute<float>(const Execution&, const isa::DmaCompute&);
template void execute<double>(const Execution&, const isa::DmaCompute&);

}  // namespace trn::neuron::sim
