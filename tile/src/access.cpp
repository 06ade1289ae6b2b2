// Views of tiles and tensors: slicing and reshaping access patterns. All checks of a slice against its dimension happen
// here, where the dimension is still known.
#include <trn/tile/access.hpp>

#include <trn/core/error.hpp>

namespace trn::tile {

std::int64_t Access::free_size() const {
  std::int64_t n = 1;
  for (const Dim& d : dims) n *= d.size;
  return n;
}

std::int64_t Access::span() const {
  std::int64_t last = 0;
  for (const Dim& d : dims) last += (d.size - 1) * (d.stride < 0 ? -d.stride : d.stride);
  return last + 1;
}

std::vector<Dim> Access::merged_dims() const {
  std::vector<Dim> merged;
  for (const Dim& d : dims) {
    if (d.size == 1) continue;
    if (!merged.empty() && merged.back().stride == d.stride * d.size) {
      merged.back() = {d.stride, merged.back().size * d.size};
    } else {
      merged.push_back(d);
    }
  }
  if (merged.empty()) merged.push_back({1, 1});
  return merged;
}

Access Access::slice(std::vector<Slice> slices) const {
  const std::size_t rank = dims.size() + (is_tile() ? 1 : 0);
  require(slices.size() <= rank, "access: {} slices for {} dimensions", slices.size(), rank);
  slices.resize(rank);
  Access result = *this;
  const auto check = [](const Slice& s, std::int64_t extent, std::size_t dimension) {
    const std::int64_t low = s.start.min(), high = s.start.max() + s.size;
    require(s.size >= 1 && low >= 0 && high <= extent,
            "access: slice of {} elements from {}..{} leaves dimension {} of size {}", s.size, low, s.start.max(),
            dimension, extent);
  };
  std::size_t s = 0;
  if (is_tile()) {
    Slice& p = slices[s++];
    if (p.size == Slice::kEverything) p.size = partitions;
    check(p, partitions, 0);
    result.partition = partition + p.start;
    result.partitions = p.size;
  }
  for (Dim& d : result.dims) {
    Slice& f = slices[s];
    if (f.size == Slice::kEverything) f.size = d.size;
    check(f, d.size, s++);
    result.offset = result.offset + f.start * d.stride;
    d.size = f.size;
  }
  return result;
}

Access Access::split(std::size_t d, std::int64_t inner) const {
  require(d < dims.size() && inner >= 1 && dims[d].size % inner == 0,
          "access: cannot split dimension {} into runs of {}; it has {} dimensions{}", d, inner, dims.size(),
          d < dims.size() ? fmt::format(" and size {}", dims[d].size) : "");
  Access result = *this;
  const Dim whole = dims[d];
  result.dims[d] = {whole.stride * inner, whole.size / inner};
  result.dims.insert(result.dims.begin() + static_cast<std::ptrdiff_t>(d) + 1, {whole.stride, inner});
  return result;
}

Access Access::permute(const std::vector<std::size_t>& order) const {
  require(order.size() == dims.size(), "access: permutation of {} dimensions for an access of {}", order.size(),
          dims.size());
  Access result = *this;
  std::vector<bool> seen(order.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    require(order[i] < dims.size() && !seen[order[i]], "access: permutation entry {} is out of range or repeated",
            order[i]);
    seen[order[i]] = true;
    result.dims[i] = dims[order[i]];
  }
  return result;
}

Access Access::broadcast(std::size_t position, std::int64_t size) const {
  require(position <= dims.size() && size >= 1, "access: cannot broadcast {} times at dimension {} of {}", size,
          position, dims.size());
  Access result = *this;
  result.dims.insert(result.dims.begin() + static_cast<std::ptrdiff_t>(position), {0, size});
  return result;
}

Access Access::view(DType other) const {
  const std::int64_t from = size_bytes(dtype), to = size_bytes(other);
  Access result = *this;
  result.dtype = other;
  if (from == to) return result;
  require(!dims.empty() && dims.back().stride == 1 && (dims.back().size * from) % to == 0,
          "access: view of {} as {} needs a contiguous innermost dimension whose bytes divide evenly", name(dtype),
          name(other));
  const auto rescale = [&](std::int64_t elements, const char* what) {
    require((elements * from) % to == 0, "access: view of {} as {}: {} {} is not a whole number of elements",
            name(dtype), name(other), what, elements);
    return elements * from / to;
  };
  for (Dim& d : result.dims) d.stride = &d == &result.dims.back() ? 1 : rescale(d.stride, "stride");
  result.dims.back().size = rescale(dims.back().size, "size");
  std::vector<Affine::Term> terms = offset.terms();
  for (Affine::Term& t : terms) t.coefficient = rescale(t.coefficient, "offset step");
  result.offset = Affine::from_parts(rescale(offset.constant(), "offset"), std::move(terms));
  return result;
}

}  // namespace trn::tile
