// Rules about how the operands of one instruction fit one another: partition counts (partition-rule) and element counts
// (size-limit). nc_matmul, the transposes and DMA are in verify_rules_transfer.cpp.
#include <algorithm>
#include <initializer_list>

#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kSize = "size-limit";
constexpr std::string_view kPartition = "partition-rule";

void same_partitions(const Context& c, std::initializer_list<std::size_t> slots) {
  for (const std::size_t slot : slots) {
    const Access &a = c.operand(slot), &dst = c.operand(0);
    if (!a.present() || a.partitions == dst.partitions) continue;
    c.report(kPartition, c.operand_name(slot), "{} partitions but dst has {}; lanes map one to one: make them equal",
             a.partitions, dst.partitions);
  }
}

void same_free(const Context& c, std::initializer_list<std::size_t> slots) {
  for (const std::size_t slot : slots) {
    const std::int64_t n = free_elements(c.operand(slot)), wanted = free_elements(c.operand(0));
    if (n == wanted) continue;
    c.report(kSize, c.operand_name(slot), "{} elements per partition but dst has {}; make them equal", n, wanted);
  }
}

// dst, and every operand in `slots`, have the same partitions and elements.
void same_shape(const Context& c, std::initializer_list<std::size_t> slots) {
  same_partitions(c, slots);
  same_free(c, slots);
}

// One value per partition.
void column(const Context& c, std::initializer_list<std::size_t> slots) {
  same_partitions(c, slots);
  for (const std::size_t slot : slots) {
    const Access& a = c.operand(slot);
    if (!a.present() || free_elements(a) == 1) continue;
    c.report(kSize, c.operand_name(slot), "{} elements per partition; this operand has one per partition: slice it",
             free_elements(a));
  }
}

void check_reduce(const Context& c) {
  same_partitions(c, {1});
  const Access& data = c.operand(1);
  const std::int64_t reduced = c.instruction.attributes.reduce_dims, rank = static_cast<std::int64_t>(data.dims.size());
  if (reduced < 1 || reduced > rank) {
    c.report(kSize, "axis", "{} innermost dimensions of an access with {}; reduce between 1 and {}", reduced, rank,
             rank);
    return;
  }
  const std::int64_t kept = count({data.dims.begin(), data.dims.end() - static_cast<std::ptrdiff_t>(reduced)});
  if (free_elements(c.operand(0)) == kept) return;
  c.report(kSize, "dst", "{} elements per partition; reducing {} of {} dimensions leaves {}",
           free_elements(c.operand(0)), reduced, rank, kept);
}

void check_pattern(const Context& c) {
  const std::vector<Dim>& pattern = c.instruction.attributes.pattern;
  const std::int64_t wanted = free_elements(c.operand(0));
  if (pattern.empty() || static_cast<std::int64_t>(pattern.size()) > c.machine.free_dims_max) {
    c.report(kSize, "pattern", "{} dimensions; between 1 and {}", pattern.size(), c.machine.free_dims_max);
  }
  if (count(pattern) == wanted) return;
  c.report(kSize, "pattern", "{} values for {} elements per partition; make them equal", count(pattern), wanted);
}

void check_gather(const Context& c) {
  same_partitions(c, {1, 2});
  const std::int64_t lanes = c.machine.partitions / c.machine.gpsimd_cores,
                     each = c.instruction.attributes.elements_per_index;
  const Access &dst = c.operand(0), &index = c.operand(2);
  if (dst.partitions % lanes != 0) {
    c.report(kPartition, "dst", "{} partitions; a gpsimd core serves {}: use a multiple of it", dst.partitions, lanes);
  }
  const bool power_of_two = each >= 1 && (each & (each - 1)) == 0;
  if (!power_of_two || each > c.machine.gather_elements_max) {
    c.report(kSize, "num_elem_per_idx", "{}; a power of two up to {}", each, c.machine.gather_elements_max);
    return;
  }
  const std::int64_t free = free_elements(dst), indices = free / each;
  const std::int64_t given =
      index.partitions == dst.partitions ? count({{1, lanes}, {1, free_elements(index)}}) : indices;
  if (free % each != 0 || indices > given) {
    c.report(kSize, "dst",
             "{} elements per partition from {} indices of {} elements; index holds {} per core: a multiple of {} "
             "up to {}",
             free, indices, each, given, each, given * each);
  }
  if (indices > c.machine.gather_indices_max) {
    c.report(kSize, "index", "{} indices per core; at most {}: split the instruction", indices, c.machine.gather_indices_max);
  }
}

void check_partition_reduce(const Context& c) {
  same_free(c, {1});
  if (c.operand(0).partitions == 1) return;
  c.report(kPartition, "dst", "{} partitions; a reduction across partitions leaves 1", c.operand(0).partitions);
}

}  // namespace

void check_shapes(const Context& c) {
  const auto& operands = c.instruction.operands;
  const bool on_chip =
      std::all_of(operands.begin(), operands.end(), [](const Access& a) { return !a.present() || a.is_tile(); });
  // An operand of the wrong kind is already reported as illegal-space.
  if (!c.is_dma() && !on_chip) return;
  switch (c.instruction.opcode) {
    case Opcode::DmaCopy:
    case Opcode::DmaTranspose:
      check_dma_shape(c);
      break;
    case Opcode::NcMatmul:
    case Opcode::NcTranspose:
      check_matmul_shape(c);
      break;
    case Opcode::TensorTensor:
    case Opcode::TensorCopyPredicated:
      same_shape(c, {1, 2});
      break;
    case Opcode::TensorScalar:
      same_shape(c, {1});
      column(c, {2, 3});
      break;
    case Opcode::ScalarTensorTensor:
      same_shape(c, {1, 3});
      column(c, {2});
      break;
    case Opcode::TensorTensorScan:
      same_shape(c, {1, 2});
      column(c, {3});
      break;
    case Opcode::Activation:
      same_shape(c, {1});
      column(c, {2, 3, 4});
      break;
    case Opcode::TensorCopy:
    case Opcode::Reciprocal:
      same_shape(c, {1});
      break;
    case Opcode::Memset:
      break;
    case Opcode::TensorReduce:
      check_reduce(c);
      break;
    case Opcode::Iota:
      check_pattern(c);
      break;
    case Opcode::AffineSelect:
      same_shape(c, {1});
      check_pattern(c);
      break;
    case Opcode::LocalGather:
      check_gather(c);
      break;
    case Opcode::TensorPartitionReduce:
      check_partition_reduce(c);
      break;
  }
}

}  // namespace trn::tile::rules
