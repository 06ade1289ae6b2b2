// The choices of stages.hpp.
#include "stages.hpp"

#include <algorithm>
#include <cstdlib>

namespace trn::fft::host {
namespace {

constexpr int kInput = static_cast<int>(Place::Input), kOutput = static_cast<int>(Place::Output),
              kWork = static_cast<int>(Place::Work);

// Axes and batch in one list: batch first, then axes in the problem's order.
struct Geometry {
  std::vector<WalkDim> dims;
  std::size_t batches = 0;
  [[nodiscard]] std::size_t axes() const { return dims.size() - batches; }
};

Geometry geometry(const Problem& p) {
  Geometry g;
  for (const Dimension& d : p.batch) g.dims.push_back({d.extent, {d.input_stride, d.output_stride, 0}});
  g.batches = g.dims.size();
  for (const Dimension& d : p.axes) g.dims.push_back({d.extent, {d.input_stride, d.output_stride, 0}});
  if (p.kind != Kind::ComplexToComplex) g.dims.back().extent = g.dims.back().extent / 2 + 1;
  return g;
}

// Indices of dims, the largest stride at `place` first.
std::vector<std::size_t> by_stride(const Geometry& g, std::vector<std::size_t> which, int place) {
  std::stable_sort(which.begin(), which.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(g.dims[a].stride[place]) > std::abs(g.dims[b].stride[place]);
  });
  return which;
}

// Which dimensions a block holds whole, in part and not at all.
struct Cut {
  std::vector<std::size_t> whole, looped;
  std::size_t chunked = Pass::kNone;
  std::int64_t chunk_size = 1;
};

// Takes from `others`, smallest stride first, while the block stays within `items` times what it must hold anyway.
Cut cut(const Geometry& g, const std::vector<std::size_t>& others, int place, std::int64_t items) {
  Cut c;
  std::vector<std::size_t> order = by_stride(g, others, place);
  while (!order.empty() && g.dims[order.back()].extent <= items) {
    items /= g.dims[order.back()].extent;
    c.whole.push_back(order.back());
    order.pop_back();
  }
  if (!order.empty() && items > 1) {
    // Equal chunks: 100 in chunks of at most 64 is 50 and 50.
    const std::int64_t extent = g.dims[order.back()].extent, pieces = (extent + items - 1) / items;
    c.chunked = order.back();
    c.chunk_size = (extent + pieces - 1) / pieces;
    order.pop_back();
  }
  c.looped = order;
  return c;
}

// Interleaved strides for `which`, the smallest input stride fastest. Dense but for the outermost axis, whose rows
// begin with cache lines and do not meet in the sets of the caches. Returns the reals it takes.
std::int64_t lay_out_work(Geometry& g, const std::vector<std::size_t>& which, const Cut& c, std::int64_t real_bytes) {
  constexpr std::int64_t kLongRow = 512, kLine = 64, kPage = 4096;  // bytes
  std::int64_t stride = 2;
  const auto order = by_stride(g, which, kInput);
  const auto outermost = std::find_if(order.begin(), order.end(), [&](std::size_t d) { return d >= g.batches; });
  for (std::size_t i = order.size(); i-- > 0;) {
    WalkDim& d = g.dims[order[i]];
    if (outermost != order.end() && order[i] == *outermost && stride * real_bytes >= kLongRow) {
      std::int64_t bytes = (stride * real_bytes + kLine - 1) / kLine * kLine;
      if (bytes % kPage == 0) bytes += kLine;
      stride = bytes / real_bytes;
    }
    d.stride[kWork] = stride;
    stride *= order[i] == c.chunked ? c.chunk_size : d.extent;
  }
  return stride;
}

Pass make_pass(const Geometry& g, std::size_t dim, EngineKind kind, Place from, Place to,
               const std::vector<std::size_t>& lines, std::size_t chunked) {
  const int f = static_cast<int>(from), t = static_cast<int>(to);
  Pass pass{dim - g.batches, kind, from, to, g.dims[dim].stride[f], g.dims[dim].stride[t], {}};
  // The engine's fastest dimension is the last: the smallest stride of the side that is written. Neighbours that are
  // one dimension on both sides become one, so that the engine sees long runs of evenly spaced lines; the dimension
  // that is chunked may only be the outer part of one.
  for (const std::size_t d : by_stride(g, lines, t)) {
    if (d == dim || (g.dims[d].extent == 1 && d != chunked)) continue;
    const LineBatch inner{g.dims[d].extent, g.dims[d].stride[f], g.dims[d].stride[t]};
    LineBatch* outer = pass.batch.empty() || d == chunked ? nullptr : &pass.batch.back();
    if (outer && outer->input_distance == inner.count * inner.input_distance &&
        outer->output_distance == inner.count * inner.output_distance) {
      *outer = {outer->count * inner.count, inner.input_distance, inner.output_distance};
      if (pass.chunked + 1 == pass.batch.size()) pass.per_chunk *= inner.count;
      continue;
    }
    if (d == chunked) pass.chunked = pass.batch.size();
    pass.batch.push_back(inner);
  }
  return pass;
}

std::vector<std::size_t> joined(std::vector<std::size_t> a, const std::vector<std::size_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A stage over `axes` (in the order of their passes) with the blocks of `c`.
Stage make_stage(const Geometry& g, const Problem& p, const std::vector<std::size_t>& axes, const Cut& c, bool first,
                 bool last) {
  Stage stage;
  std::vector<std::size_t> lines = joined(axes, c.whole);
  if (c.chunked != Pass::kNone) {
    lines.push_back(c.chunked);
    stage.chunk = g.dims[c.chunked];
    stage.chunk_size = c.chunk_size;
  }
  for (const std::size_t d : c.looped) stage.loops.push_back(g.dims[d]);
  const std::size_t halved = g.dims.size() - 1;
  const bool through_work = p.kind == Kind::ComplexToReal && g.axes() > 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool opens = first && i == 0, closes = last && i + 1 == axes.size();
    const bool real = p.kind != Kind::ComplexToComplex && axes[i] == halved;
    const EngineKind kind = !real                           ? EngineKind::Complex
                            : p.kind == Kind::RealToComplex ? EngineKind::RealToHalf
                                                            : EngineKind::HalfToReal;
    const Place inner = through_work ? Place::Work : Place::Output;
    stage.passes.push_back(
        make_pass(g, axes[i], kind, opens ? Place::Input : inner, closes ? Place::Output : inner, lines, c.chunked));
  }
  return stage;
}

std::vector<std::size_t> range(std::size_t from, std::size_t to) {
  std::vector<std::size_t> all;
  for (; from < to; ++from) all.push_back(from);
  return all;
}

}  // namespace

std::int64_t Stage::blocks() const {
  std::int64_t count = (chunk.extent + chunk_size - 1) / chunk_size;
  for (const WalkDim& d : loops) count *= d.extent;
  return count;
}

bool works_in_place(const Problem& p) {
  if (p.kind != Kind::ComplexToReal || p.axes.size() == 1 || p.input_format != Format::Interleaved) return false;
  const auto same = [](const Dimension& d) { return d.input_stride == d.output_stride; };
  return p.axes.back().input_stride == 2 && p.axes.back().output_stride == 1 &&
         std::all_of(p.axes.begin(), p.axes.end() - 1, same) && std::all_of(p.batch.begin(), p.batch.end(), same);
}

Walk plan_walk(const Problem& p, std::int64_t block_bytes, std::int64_t unit_bytes, Working working) {
  Geometry g = geometry(p);
  if (working == Working::InPlace)
    for (WalkDim& d : g.dims) d.stride[kWork] = d.stride[kInput];
  const std::int64_t pair_bytes = 2 * size_bytes(p.real);
  const bool backward = p.kind == Kind::ComplexToReal;
  const int place = backward ? kInput : kOutput;
  const std::vector<std::size_t> batches = range(0, g.batches);
  const std::size_t halved = g.dims.size() - 1;
  Walk walk;

  // One axis: one pass, the engine sees every line.
  if (g.axes() == 1) {
    Cut all;
    all.whole = batches;
    walk.stages.push_back(make_stage(g, p, {halved}, all, true, true));
    return walk;
  }

  // The axes in the order of their passes: the halved one first (last on the way back), the others from small strides
  // to large.
  std::vector<std::size_t> order =
      by_stride(g, range(g.batches, p.kind == Kind::ComplexToComplex ? halved + 1 : halved), place);
  std::reverse(order.begin(), order.end());
  if (p.kind != Kind::ComplexToComplex) order.insert(order.begin(), halved);
  // How many of them share a block.
  std::size_t together = 1;
  std::int64_t bytes = pair_bytes * g.dims[order[0]].extent;
  while (together < order.size() && bytes * g.dims[order[together]].extent <= block_bytes)
    bytes *= g.dims[order[together++]].extent;
  std::vector<std::size_t> near(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(together));
  const std::vector<std::size_t> far(order.begin() + static_cast<std::ptrdiff_t>(together), order.end());
  if (backward) std::reverse(near.begin(), near.end());

  if (far.empty()) {
    const Cut c = cut(g, batches, place, std::max<std::int64_t>(block_bytes / bytes, 1));
    std::int64_t work = 0;
    if (backward && working == Working::Apart) {
      std::vector<std::size_t> held = joined(near, c.whole);
      if (c.chunked != Pass::kNone) held.push_back(c.chunked);
      work = lay_out_work(g, held, c, size_bytes(p.real));
    }
    walk.stages.push_back(make_stage(g, p, near, c, true, true));
    walk.stages.back().work_reals = work;
    return walk;
  }

  // Too large for one block. On the way back all of a unit passes through work, so a unit is few batch entries.
  std::vector<std::size_t> inside = batches;
  if (backward && working == Working::Apart) {
    std::int64_t transform_bytes = pair_bytes;
    for (std::size_t d = g.batches; d < g.dims.size(); ++d) transform_bytes *= g.dims[d].extent;
    Cut units = cut(g, batches, place, std::max<std::int64_t>(unit_bytes / transform_bytes, 1));
    if (units.chunked != Pass::kNone) units.looped.push_back(units.chunked);
    inside = units.whole;
    walk.unit_work_reals = lay_out_work(g, joined(range(g.batches, g.dims.size()), inside), Cut{}, size_bytes(p.real));
    for (const std::size_t d : units.looped) walk.units.push_back(g.dims[d]);
  }
  const Cut blocks = cut(g, joined(inside, far), place, std::max<std::int64_t>(block_bytes / bytes, 1));
  const auto far_stage = [&](std::size_t axis, bool first, bool last) {
    Cut all;
    for (const std::size_t d : joined(inside, order)) {
      if (d != axis) all.whole.push_back(d);
    }
    walk.stages.push_back(make_stage(g, p, {axis}, all, first, last));
  };
  if (!backward) {
    walk.stages.push_back(make_stage(g, p, near, blocks, true, false));
    for (const std::size_t axis : far) far_stage(axis, false, axis == far.back());
  } else {
    for (std::size_t i = far.size(); i-- > 0;) far_stage(far[i], i + 1 == far.size(), false);
    walk.stages.push_back(make_stage(g, p, near, blocks, false, true));
  }
  return walk;
}

}  // namespace trn::fft::host
