// Shape rules of the transposes and of DMA (size-limit, partition-rule).
#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kSize = "size-limit";
constexpr std::string_view kPartition = "partition-rule";

void at_most(const Context& c, std::size_t slot, std::string_view what, std::int64_t n, std::int64_t limit) {
  if (n > limit) c.report(kSize, c.operand_name(slot), "{} = {}; at most {}: split the instruction", what, n, limit);
}

void check_levels(const Context& c, const std::vector<std::size_t>& slots) {
  for (const std::size_t slot : slots) {
    const Access& side = c.operand(slot);
    if (!c.in_hbm(side) || side.merged_dims().size() <= kHbmLevels) continue;
    c.report(kSize, c.operand_name(slot), "{} levels of access in HBM; at most {}: split the copy",
             side.merged_dims().size(), kHbmLevels);
  }
}

// Rows of an access: partitions of a tile, the outermost dimension of a tensor.
std::int64_t rows(const Access& a) {
  if (a.is_tile()) return a.partitions;
  return a.dims.empty() ? 1 : a.dims.front().size;
}

// listed(i, ...) and indexed(index(i), ...) are paired.
void check_indirect(const Context& c, std::size_t listed_slot, std::size_t indexed_slot, const Access& index) {
  const Access &listed = c.operand(listed_slot), &indexed = c.operand(indexed_slot);
  if (!index.is_tile() || indexed.is_tile()) return;  // reported as illegal-space
  if (free_elements(index) != 1) {
    c.report(kSize, "index", "{} indices per partition; one per partition: use one dma_copy for each",
             free_elements(index));
  }
  if (rows(listed) != index.partitions) {
    c.report(kPartition, c.operand_name(listed_slot), "{} rows but index has {} partitions; make them equal",
             rows(listed), index.partitions);
  }
  if (elements(listed) / rows(listed) != elements(indexed) / rows(indexed)) {
    c.report(kSize, c.operand_name(listed_slot), "rows of {} elements but {} has rows of {}; make them equal",
             elements(listed) / rows(listed), c.operand_name(indexed_slot), elements(indexed) / rows(indexed));
  }
}

}  // namespace

void check_shape(const Context& c, const isa::NcTranspose&) {
  using I = isa::NcTranspose;
  const Access &dst = c.operand(I::dst), &data = c.operand(I::data);
  at_most(c, I::data, "free size", free_elements(data), c.machine.partitions);
  if (dst.partitions != free_elements(data)) {
    c.report(kPartition, "dst", "{} partitions but data has {} elements per partition; make them equal", dst.partitions,
             free_elements(data));
  }
  if (free_elements(dst) != data.partitions) {
    c.report(kSize, "dst", "{} elements per partition but data has {} partitions; make them equal", free_elements(dst),
             data.partitions);
  }
}

// nki.isa permutations [1,0], [2,1,0] and [3,1,2,0]: the first and the last dimension change places.
void check_shape(const Context& c, const isa::DmaTranspose&) {
  const Access &dst = c.operand(isa::DmaTranspose::dst), &src = c.operand(isa::DmaTranspose::src);
  if (!dst.is_tile()) return;  // reported as illegal-space
  const auto extents = [](const Access& access) {
    std::vector<std::int64_t> sizes;
    if (access.is_tile()) sizes.push_back(access.partitions);
    for (const Dim& d : access.dims) sizes.push_back(d.size);
    return sizes;
  };
  std::vector<std::int64_t> wanted = extents(src);
  if (wanted.size() < 2 || wanted.size() > 4) {
    c.report(kSize, "src", "{} dimensions; dma_transpose takes 2 to 4: slice or split the tensor", wanted.size());
    return;
  }
  std::swap(wanted.front(), wanted.back());
  if (extents(dst) == wanted) return;
  c.report(kSize, "dst", "{} for a source of {}; the transpose is {}", to_string(extents(dst)), to_string(extents(src)),
           to_string(wanted));
}

void check_shape(const Context& c, const isa::DmaCopy& a) {
  using I = isa::DmaCopy;
  check_levels(c, {I::dst, I::src});
  if (is_indirect(c.instruction)) {
    return check_indirect(c, a.scatter ? I::src : I::dst, a.scatter ? I::dst : I::src, c.operand(I::index));
  }
  const std::int64_t dst = elements(c.operand(isa::DmaCopy::dst)), src = elements(c.operand(isa::DmaCopy::src));
  if (dst != src) c.report(kSize, "dst", "{} elements but src has {}; make them equal", dst, src);
}

void check_shape(const Context& c, const isa::DmaCompute& a) {
  using I = isa::DmaCompute;
  std::vector<std::size_t> slots{I::dst};
  for (std::size_t s = I::src0; s < I::index; ++s) {
    if (c.operand(s).present()) slots.push_back(s);
  }
  check_levels(c, slots);
  if (is_indirect(c.instruction)) {
    if (slots.size() != 3 || slots.back() != I::src1 || c.operand(I::src0) != c.operand(I::dst)) {
      c.report(kSize, "src0", "with an index there are two sources, dst itself and what is added to it");
      return;
    }
    return check_indirect(c, a.scatter ? I::src1 : I::dst, a.scatter ? I::dst : I::src1, c.operand(I::index));
  }
  for (const std::size_t s : slots) {
    const std::int64_t n = elements(c.operand(s)), dst = elements(c.operand(I::dst));
    if (n != dst) c.report(kSize, c.operand_name(s), "{} elements but dst has {}; make them equal", n, dst);
  }
}

}  // namespace trn::tile::rules
