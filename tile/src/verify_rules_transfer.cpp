// Shape rules of the instructions that exchange partitions and free dimension or move between memories: nc_matmul, the
// transposes and DMA (size-limit, partition-rule).
#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kSize = "size-limit";
constexpr std::string_view kPartition = "partition-rule";

void at_most(const Context& c, std::size_t slot, std::string_view what, std::int64_t n, std::int64_t limit) {
  if (n > limit) c.report(kSize, c.operand_name(slot), "{} = {}; at most {}: split the instruction", what, n, limit);
}

// stationary [K, M], moving [K, N], dst [M, N]; double rows: [K, 2, M] and [K, 2, N].
void check_matmul(const Context& c) {
  const Access &dst = c.operand(0), &stationary = c.operand(1), &moving = c.operand(2);
  std::int64_t m = free_elements(stationary), n = free_elements(moving);
  if (c.instruction.attributes.perf_mode == MatmulMode::DoubleRow) {
    for (const std::size_t slot : {1, 2}) {
      const std::vector<Dim>& dims = c.operand(slot).dims;
      if (dims.size() >= 2 && dims.front().size == 2) continue;
      c.report(kSize, c.operand_name(slot), "double_row takes [K, 2, free]; the first free dimension must have size 2");
      return;
    }
    m /= 2;
    n /= 2;
  }
  if (stationary.partitions != moving.partitions) {
    c.report(kPartition, "moving", "{} partitions but stationary has {}; K must be equal", moving.partitions,
             stationary.partitions);
  }
  if (dst.partitions != m) {
    c.report(kPartition, "dst", "{} partitions but stationary has M = {} columns; make them equal", dst.partitions, m);
  }
  if (free_elements(dst) != n) {
    c.report(kSize, "dst", "{} elements per partition but moving has N = {}; make them equal", free_elements(dst), n);
  }
  at_most(c, 1, "K", stationary.partitions, c.machine.partitions);
  at_most(c, 1, "M", m, c.machine.stationary_free_max);
  at_most(c, 2, "N", n, c.machine.moving_free_max);
}

void check_transpose(const Context& c) {
  const Access &dst = c.operand(0), &data = c.operand(1);
  at_most(c, 1, "free size", free_elements(data), c.machine.partitions);
  if (dst.partitions != free_elements(data)) {
    c.report(kPartition, "dst", "{} partitions but data has {} elements per partition; make them equal", dst.partitions,
             free_elements(data));
  }
  if (free_elements(dst) != data.partitions) {
    c.report(kSize, "dst", "{} elements per partition but data has {} partitions; make them equal", free_elements(dst),
             data.partitions);
  }
}

// Rows of an access: partitions of a tile, the outermost dimension of a tensor.
std::int64_t rows(const Access& a) {
  if (a.is_tile()) return a.partitions;
  return a.dims.empty() ? 1 : a.dims.front().size;
}

// dst(i, ...) = src(index(i), ...), or dst(index(i), ...) = src(i, ...).
void check_indirect(const Context& c) {
  const bool scatter = c.instruction.attributes.scatter;
  const std::size_t listed_slot = scatter ? 1 : 0, indexed_slot = scatter ? 0 : 1;
  const Access &listed = c.operand(listed_slot), &indexed = c.operand(indexed_slot), &index = c.operand(2);
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

// nki.isa permutations [1,0], [2,1,0] and [3,1,2,0]: the first and the last dimension change places.
void check_dma_transpose(const Context& c) {
  const Access &dst = c.operand(0), &src = c.operand(1);
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

}  // namespace

void check_matmul_shape(const Context& c) {
  if (c.instruction.opcode == Opcode::NcMatmul) {
    check_matmul(c);
  } else {
    check_transpose(c);
  }
}

void check_dma_shape(const Context& c) {
  if (c.instruction.opcode == Opcode::DmaTranspose) return check_dma_transpose(c);
  if (c.operand(2).present()) return check_indirect(c);
  if (elements(c.operand(0)) == elements(c.operand(1))) return;
  c.report(kSize, "dst", "{} elements but src has {}; make them equal", elements(c.operand(0)), elements(c.operand(1)));
}

}  // namespace trn::tile::rules
