// Rules about how the operands of one instruction fit one another: partition counts (partition-rule) and element counts
// (size-limit). The matmuls are in verify_rules_matmul.cpp, the transposes and DMA in verify_rules_transfer.cpp.
#include <algorithm>
#include <initializer_list>
#include <limits>

#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kSize = "size-limit";
constexpr std::string_view kPartition = "partition-rule";

void same_partitions(const Context& c, std::initializer_list<std::size_t> slots) {
  for (const std::size_t slot : slots) {
    const Access &a = c.operand(slot), &dst = c.instruction.dst();
    if (!a.present() || a.partitions == dst.partitions) continue;
    c.report(kPartition, c.operand_name(slot), "{} partitions but dst has {}; lanes map one to one: make them equal",
             a.partitions, dst.partitions);
  }
}

void same_free(const Context& c, std::initializer_list<std::size_t> slots) {
  for (const std::size_t slot : slots) {
    if (!c.operand(slot).present()) continue;
    const std::int64_t n = free_elements(c.operand(slot)), wanted = free_elements(c.instruction.dst());
    if (n == wanted) continue;
    c.report(kSize, c.operand_name(slot), "{} elements per partition but dst has {}; make them equal", n, wanted);
  }
}

// dst, and every operand in `slots`, have the same partitions and elements.
void same_shape(const Context& c, std::initializer_list<std::size_t> slots) {
  same_partitions(c, slots);
  same_free(c, slots);
}

void at_most_dims(const Context& c, std::int64_t most, std::initializer_list<std::size_t> slots) {
  for (const std::size_t slot : slots) {
    const Access& a = c.operand(slot);
    const auto dims = a.present() ? static_cast<std::int64_t>(a.merged_dims().size()) : 0;
    if (dims <= most) continue;
    c.report(kSize, c.operand_name(slot), "{} free dimensions; {} takes at most {}: split the instruction", dims,
             opcode_info(c.instruction.opcode()).name, most);
  }
}
// An instruction that reads two tiles has fewer dimensions for each.
void two_inputs(const Context& c, std::initializer_list<std::size_t> slots) {
  at_most_dims(c, c.machine.free_dims_max_two_inputs, slots);
}

void elements_between(const Context& c, std::size_t slot, std::int64_t low, std::int64_t high) {
  const std::int64_t n = c.operand(slot).present() ? free_elements(c.operand(slot)) : low;
  if (n >= low && n <= high) return;
  c.report(kSize, c.operand_name(slot), "{} elements per partition; {} takes {} to {}", n,
           opcode_info(c.instruction.opcode()).name, low, high);
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

void check_shape(const Context& c, const isa::TensorReduce& a) {
  using I = isa::TensorReduce;
  same_partitions(c, {I::data});
  const Access& data = c.operand(I::data);
  const std::int64_t reduced = a.reduce_dims, rank = static_cast<std::int64_t>(data.dims.size());
  if (reduced < 1 || reduced > rank) {
    c.report(kSize, "axis", "{} innermost dimensions of an access with {}; reduce between 1 and {}", reduced, rank,
             rank);
    return;
  }
  const std::int64_t kept = count({data.dims.begin(), data.dims.end() - static_cast<std::ptrdiff_t>(reduced)});
  if (free_elements(c.operand(I::dst)) == kept) return;
  c.report(kSize, "dst", "{} elements per partition; reducing {} of {} dimensions leaves {}",
           free_elements(c.operand(I::dst)), reduced, rank, kept);
}

void check_pattern(const Context& c, const std::vector<Dim>& pattern) {
  const std::int64_t wanted = free_elements(c.instruction.dst());
  if (pattern.empty() || static_cast<std::int64_t>(pattern.size()) > c.machine.free_dims_max) {
    c.report(kSize, "pattern", "{} dimensions; between 1 and {}", pattern.size(), c.machine.free_dims_max);
  }
  if (count(pattern) == wanted) return;
  c.report(kSize, "pattern", "{} values for {} elements per partition; make them equal", count(pattern), wanted);
}

void check_shape(const Context& c, const isa::LocalGather& a) {
  using I = isa::LocalGather;
  same_partitions(c, {I::src_buffer, I::index});
  const std::int64_t lanes = c.machine.partitions / c.machine.gpsimd_cores, each = a.elements_per_index;
  const Access &dst = c.operand(I::dst), &index = c.operand(I::index);
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
    c.report(kSize, "index", "{} indices per core; at most {}: split the instruction", indices,
             c.machine.gather_indices_max);
  }
}

void check_shape(const Context& c, const isa::TensorPartitionReduce&) {
  using I = isa::TensorPartitionReduce;
  same_free(c, {I::data});
  if (c.operand(I::dst).partitions == 1) return;
  c.report(kPartition, "dst", "{} partitions; a reduction across partitions leaves 1", c.operand(I::dst).partitions);
}

void check_shape(const Context& c, const isa::TensorTensor&) {
  using I = isa::TensorTensor;
  same_shape(c, {I::data1, I::data2});
  two_inputs(c, {I::dst, I::data1, I::data2});
}
void check_shape(const Context& c, const isa::TensorCopyPredicated&) {
  using I = isa::TensorCopyPredicated;
  same_shape(c, {I::src, I::predicate});
  two_inputs(c, {I::dst, I::src, I::predicate});
}
void check_shape(const Context& c, const isa::TensorScalar&) {
  using I = isa::TensorScalar;
  same_shape(c, {I::data});
  column(c, {I::operand0, I::operand1});
}
void check_shape(const Context& c, const isa::ScalarTensorTensor&) {
  using I = isa::ScalarTensorTensor;
  same_shape(c, {I::data, I::operand1});
  two_inputs(c, {I::dst, I::data, I::operand1});
  column(c, {I::operand0});
}
void check_shape(const Context& c, const isa::TensorTensorScan&) {
  using I = isa::TensorTensorScan;
  same_shape(c, {I::data0, I::data1});
  two_inputs(c, {I::dst, I::data0, I::data1});
  column(c, {I::initial});
}
void check_shape(const Context& c, const isa::Activation&) {
  using I = isa::Activation;
  same_shape(c, {I::data});
  column(c, {I::bias, I::scale, I::reduce_res});
}
void check_shape(const Context& c, const isa::TensorScalarReduce&) {
  using I = isa::TensorScalarReduce;
  same_shape(c, {I::data});
  two_inputs(c, {I::dst, I::data});  // documented since SDK 2.33
  column(c, {I::operand0, I::reduce_res, I::reduce_init});
}
void check_shape(const Context& c, const isa::TensorScalarCumulative&) {
  using I = isa::TensorScalarCumulative;
  same_shape(c, {I::src});
  column(c, {I::imm0, I::imm1});
}
void check_shape(const Context& c, const isa::SelectReduce&) {
  using I = isa::SelectReduce;
  same_shape(c, {I::predicate, I::on_true});
  two_inputs(c, {I::dst, I::predicate, I::on_true});
  column(c, {I::on_false, I::reduce_res});
}
void check_shape(const Context& c, const isa::RangeSelect& a) {
  using I = isa::RangeSelect;
  same_shape(c, {I::on_true_tile});
  column(c, {I::bound0, I::bound1, I::reduce_res});
  constexpr std::int64_t kExact = std::int64_t{1} << 24;  // whole numbers that fp32 holds
  const std::int64_t n = free_elements(c.operand(I::dst));
  if (a.range_start >= -kExact && a.range_start <= kExact - (n - 1)) return;
  c.report(kSize, "range_start", "{} with {} elements; element numbers are compared in fp32, within 2^24",
           a.range_start, n);
}
void check_shape(const Context& c, const isa::Max8&) {
  using I = isa::Max8;
  same_partitions(c, {I::src});
  elements_between(c, I::dst, 8, 8);
  elements_between(c, I::src, c.machine.search_free_min, c.machine.search_free_max);
  at_most_dims(c, 1, {I::dst});
  at_most_dims(c, 2, {I::src});
}
void check_shape(const Context& c, const isa::NcFindIndex8&) {
  using I = isa::NcFindIndex8;
  same_partitions(c, {I::data, I::vals});
  elements_between(c, I::dst, 8, 8);
  elements_between(c, I::vals, 8, 8);
  elements_between(c, I::data, c.machine.search_free_min, c.machine.search_free_max);
  at_most_dims(c, 1, {I::dst});
  at_most_dims(c, 2, {I::data, I::vals});
}
void check_shape(const Context& c, const isa::NcMatchReplace8&) {
  using I = isa::NcMatchReplace8;
  same_shape(c, {I::data});
  same_partitions(c, {I::vals, I::dst_idx});
  elements_between(c, I::vals, 8, 8);
  if (c.operand(I::dst_idx).present()) elements_between(c, I::dst_idx, 8, 8);
  elements_between(c, I::data, 1, c.machine.search_free_max);
}
void check_shape(const Context& c, const isa::NonzeroWithCount& a) {
  using I = isa::NonzeroWithCount;
  same_partitions(c, {I::src});
  const std::int64_t n = free_elements(c.operand(I::src)), room = free_elements(c.operand(I::dst));
  if (room - 1 != n) {
    c.report(kSize, "dst", "{} elements per partition; the places of {} and their count need {}", room, n, n + 1);
  }
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min(),
                         kHigh = std::numeric_limits<std::int32_t>::max();
  if (a.index_offset >= kLow && a.index_offset <= kHigh - (n - 1)) return;
  c.report(kSize, "index_offset", "{} with {} elements; places are int32 numbers", a.index_offset, n);
}
void check_shape(const Context& c, const isa::Exponential&) {
  using I = isa::Exponential;
  same_shape(c, {I::src});
  two_inputs(c, {I::dst, I::src});  // documented as up to four dimensions, the partition among them
  column(c, {I::max_value, I::reduce_res, I::reduce_init});
}
void check_shape(const Context& c, const isa::BnStats&) {
  using I = isa::BnStats;
  same_partitions(c, {I::data});
  const std::int64_t out = free_elements(c.operand(I::dst)), n = free_elements(c.operand(I::data));
  if (out != 6) c.report(kSize, "dst", "{} elements per partition; bn_stats writes 6: two triples", out);
  if (n > c.machine.bn_stats_max) {
    c.report(kSize, "data", "{} elements per partition; at most {}: split it and let bn_aggr join the results", n,
             c.machine.bn_stats_max);
  }
}
void check_shape(const Context& c, const isa::BnAggr&) {
  using I = isa::BnAggr;
  same_partitions(c, {I::data});
  const std::int64_t out = free_elements(c.operand(I::dst)), n = free_elements(c.operand(I::data));
  if (out != 2) c.report(kSize, "dst", "{} elements per partition; bn_aggr writes 2: mean and variance", out);
  if (n % 3 != 0) c.report(kSize, "data", "{} elements per partition; bn_aggr reads triples: a multiple of 3", n);
}
void check_shape(const Context& c, const isa::TensorCopy&) { same_shape(c, {isa::TensorCopy::src}); }
void check_shape(const Context& c, const isa::Reciprocal&) { same_shape(c, {isa::Reciprocal::data}); }
void check_shape(const Context&, const isa::Memset&) {}
void check_shape(const Context& c, const isa::Iota& a) { check_pattern(c, a.value.pattern); }
void check_shape(const Context& c, const isa::AffineSelect& a) {
  same_shape(c, {isa::AffineSelect::on_true_tile});
  check_pattern(c, a.value.pattern);
}

void check_shape(const Context& c, const isa::NcNGather&) {
  using I = isa::NcNGather;
  same_shape(c, {I::indices});
  same_partitions(c, {I::data});
}

// Partition p of dst comes from partition mask[p % 32] of the same quadrant of src. Both sides start where the larger
// of them, rounded up to quadrants, may start.
void check_shape(const Context& c, const isa::NcStreamShuffle& a) {
  using I = isa::NcStreamShuffle;
  same_free(c, {I::src});
  const Access &dst = c.operand(I::dst), &src = c.operand(I::src);
  const std::int64_t side = quadrant(c.machine);
  if (static_cast<std::int64_t>(a.mask.size()) != side) return;  // reported as illegal-engine
  std::int64_t block = side;
  while (block < std::max(dst.partitions, src.partitions)) block *= 2;
  for (const std::size_t slot : {I::dst, I::src}) {
    const Affine& first = c.operand(slot).partition;
    const bool aligned = first.constant() % block == 0 &&
                         std::all_of(first.terms().begin(), first.terms().end(),
                                     [&](const Affine::Term& t) { return t.trip <= 1 || t.coefficient % block == 0; });
    if (!aligned) {
      c.report(kPartition, c.operand_name(slot), "a shuffle of {} partitions starts at a multiple of {} on both sides",
               std::max(dst.partitions, src.partitions), block);
    }
  }
  for (std::int64_t p = 0; p < dst.partitions; ++p) {
    const std::int64_t from = a.mask[static_cast<std::size_t>(p % side)];
    if (from < 0 || from >= side || p / side * side + from < src.partitions) continue;  // kept, or no partition
    c.report(kPartition, "src", "{} partitions, but partition {} of dst comes from its partition {}; enlarge src",
             src.partitions, p, p / side * side + from);
    return;
  }
}

}  // namespace

void check_shapes(const Context& c) {
  const auto& operands = c.instruction.operands;
  const bool on_chip =
      std::all_of(operands.begin(), operands.end(), [](const Access& a) { return !a.present() || a.is_tile(); });
  // An operand of the wrong kind is already reported as illegal-space.
  const bool sync = opcode_info(c.instruction.opcode()).engines.front() == Engine::Sync;
  if (!c.is_dma() && !sync && !on_chip) return;
  c.instruction.visit([&](const auto& attributes) { check_shape(c, attributes); });
}

}  // namespace trn::tile::rules
