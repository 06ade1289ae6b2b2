// Access: which elements of a tile or an HBM tensor an instruction reads or writes.
//
// A tile access is (partition start, partition count) plus a pattern of (stride, size) dimensions along the free
// dimension, the same in every partition; an HBM access is the pattern alone. Strides and offsets are in elements of
// the access's dtype. Elements are ordered row-major over (partition, dims...).
//
//   x(ds(m * 128, 128), ds(n * 512, 512))      the slice NKI writes as x[m*128:(m+1)*128, n*512:(n+1)*512]
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <trn/core/dtype.hpp>
#include <trn/tile/affine.hpp>

namespace trn::tile {

enum class Target : std::uint8_t { None, Tile, Tensor };

struct Dim {
  std::int64_t stride = 1;
  std::int64_t size = 1;
  bool operator==(const Dim&) const = default;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("stride", self.stride);
    v("size", self.size);
  }
};

// (stride, size) pairs that one DMA access has in HBM at most, after merging.
inline constexpr std::size_t kHbmLevels = 4;

// `size` elements from `start`, or everything.
struct Slice {
  static constexpr std::int64_t kEverything = std::numeric_limits<std::int64_t>::min();
  Affine start = 0;
  std::int64_t size = kEverything;
};
[[nodiscard]] inline Slice ds(Affine start, std::int64_t size) { return {std::move(start), size}; }
inline const Slice all{};

struct Access {
  Target target = Target::None;
  std::int32_t id = -1;          // index into Program::tiles() or Program::tensors()
  DType dtype = DType::Float32;  // may differ from the declared one after view()
  Affine partition = 0;          // tiles only: first partition
  std::int64_t partitions = 0;   // tiles only
  Affine offset = 0;             // of the first element, from the start of the partition or of the tensor
  std::vector<Dim> dims;

  [[nodiscard]] bool present() const { return target != Target::None; }
  [[nodiscard]] bool is_tile() const { return target == Target::Tile; }
  // Elements per partition (tiles), elements in all (tensors).
  [[nodiscard]] std::int64_t free_size() const;
  [[nodiscard]] std::int64_t size() const { return (is_tile() ? partitions : 1) * free_size(); }
  [[nodiscard]] std::int64_t bytes() const { return size() * size_bytes(dtype); }
  // Distance from the first to one past the last element along the pattern, in elements.
  [[nodiscard]] std::int64_t span() const;
  [[nodiscard]] bool innermost_contiguous() const {
    return dims.empty() || dims.back().stride == 1 || dims.back().size == 1;
  }
  // Neighbouring dimensions that form one run merged, size-1 dimensions dropped: the pattern hardware would see.
  [[nodiscard]] std::vector<Dim> merged_dims() const;

  // Slices, one per dimension with the partition first on tiles; missing trailing slices mean everything. Throws
  // InvalidArgument when a slice can leave its dimension for any loop value.
  template <class... S> [[nodiscard]] Access operator()(S... slices) const { return slice({Slice(slices)...}); }
  [[nodiscard]] Access slice(std::vector<Slice> slices) const;
  // Dimension d of size n becomes two of sizes (n / inner, inner).
  [[nodiscard]] Access split(std::size_t d, std::int64_t inner) const;
  // Free dimensions in another order (HBM: all dimensions).
  [[nodiscard]] Access permute(const std::vector<std::size_t>& order) const;
  // A further innermost (position == dims.size()) or inner dimension of stride 0.
  [[nodiscard]] Access broadcast(std::size_t position, std::int64_t size) const;
  // The same bytes as another dtype; the innermost dimension must be contiguous when the sizes differ.
  [[nodiscard]] Access view(DType other) const;

  bool operator==(const Access&) const = default;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("target", self.target);
    v("id", self.id);
    v("dtype", self.dtype);
    v("partition", self.partition);
    v("partitions", self.partitions);
    v("offset", self.offset);
    v("dims", self.dims);
  }
};

}  // namespace trn::tile
