// Rules about where an access lies: inside its tile or tensor for every loop value (out-of-bounds), partition starts
// (partition-rule), what one access pattern can describe (size-limit) and PSUM banks (psum-bank-crossed).
#include <algorithm>
#include <limits>

#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kBounds = "out-of-bounds";

// Bytes [low, high) the access touches, over all loop values.
Range byte_range(const Access& access) {
  const Range first = range_of(access.offset), pattern = pattern_range(access.dims);
  const Wide bytes = size_bytes(access.dtype);
  return {(first.low + pattern.low) * bytes, (first.high + pattern.high + 1) * bytes};
}

bool sizes_positive(const Context& c, std::size_t slot) {
  const Access& a = c.operand(slot);
  if (free_elements(a) >= 1 && (!a.is_tile() || a.partitions >= 1)) return true;
  c.report(kBounds, c.operand_name(slot), "the access is empty; every size must be at least 1");
  return false;
}

bool tile_in_bounds(const Context& c, std::size_t slot) {
  const Access& a = c.operand(slot);
  const TileDecl& tile = c.tile(a);
  bool good = true;
  const Range start = range_of(a.partition);
  const std::int64_t partitions = std::min(tile.partitions, c.machine.partitions);
  if (start.low < 0 || start.high + a.partitions > partitions) {
    c.report(kBounds, c.operand_name(slot), "partitions {}..{} of a tile with {}; keep the start between 0 and {}",
             clamp(start.low), clamp(start.high + a.partitions - 1), partitions, partitions - a.partitions);
    good = false;
  }
  const Range bytes = byte_range(a);
  if (bytes.low < 0 || bytes.high > tile.bytes_per_partition()) {
    c.report(kBounds, c.operand_name(slot),
             "bytes {}..{} of a tile with {} bytes per partition; shorten the access or enlarge '{}'", clamp(bytes.low),
             clamp(bytes.high - 1), tile.bytes_per_partition(), tile.name);
    good = false;
  }
  return good;
}

bool tensor_in_bounds(const Context& c, std::size_t slot) {
  const auto start = dynamic_start(c.instruction, slot);
  const bool sound = start && start->max >= 0 && start->max <= std::numeric_limits<std::int32_t>::max();
  const Access a = sound ? reach(c.operand(slot), *start) : c.operand(slot);
  const TensorDecl& tensor = c.program.tensors()[static_cast<std::size_t>(a.id)];
  const OffsetRange legal = offset_range(tensor.shape, tensor.strides);
  const Wide unit = size_bytes(tensor.dtype);
  const Range bytes = byte_range(a);
  if (bytes.low >= legal.lowest * unit && bytes.high <= (legal.highest + Wide(1)) * unit) return true;
  c.report(kBounds, c.operand_name(slot),
           "bytes {}..{} of tensor '{}', which has bytes {}..{}; shorten the access or the loop", clamp(bytes.low),
           clamp(bytes.high - 1), tensor.name, clamp(legal.lowest * unit), clamp((legal.highest + Wide(1)) * unit - 1));
  return false;
}

}  // namespace

bool check_bounds(const Context& c) {
  bool good = true;
  for (std::size_t slot = 0; slot < c.instruction.operands.size(); ++slot) {
    const Access& a = c.operand(slot);
    if (!a.present()) continue;
    good &= sizes_positive(c, slot) && (a.is_tile() ? tile_in_bounds(c, slot) : tensor_in_bounds(c, slot));
  }
  return good;
}

// Starts are multiples of the block the count rounds up to: a quadrant, a half, or everything. An index expression
// takes only multiples when its constant and every coefficient are multiples, and not otherwise: its value is the
// constant when all variables are 0, and constant + coefficient when one of them is 1.
void check_partitions(const Context& c) {
  if (c.is_dma()) return;
  for (std::size_t slot = 0; slot < c.instruction.operands.size(); ++slot) {
    const Access& a = c.operand(slot);
    if (!a.is_tile() || is_scale(c.instruction, slot)) continue;
    std::int64_t block = quadrant(c.machine);
    while (block < a.partitions) block *= 2;
    std::int64_t start = a.partition.constant();
    for (const Affine::Term& t : a.partition.terms()) {
      if (start % block != 0) break;
      if (t.trip > 1) start += t.coefficient;
    }
    if (start % block == 0) continue;
    c.report("partition-rule", c.operand_name(slot),
             "{} partitions start at partition {}; that many must start at a multiple of {}: move the data or split it",
             a.partitions, start, block);
  }
}

void check_patterns(const Context& c) {
  if (c.is_dma()) return;
  using Stride = std::numeric_limits<std::int16_t>;  // the fields of a hardware access pattern
  using Size = std::numeric_limits<std::uint16_t>;
  constexpr std::string_view rule = "size-limit";
  for (std::size_t slot = 0; slot < c.instruction.operands.size(); ++slot) {
    const Access& a = c.operand(slot);
    if (!a.is_tile()) continue;
    const std::vector<Dim> dims = a.merged_dims();
    if (static_cast<std::int64_t>(dims.size()) > c.machine.free_dims_max) {
      c.report(rule, c.operand_name(slot), "{} free dimensions; an engine access has at most {}: split the instruction",
               dims.size(), c.machine.free_dims_max);
    }
    for (const Dim& d : dims) {
      if (d.stride < Stride::min() || d.stride > Stride::max()) {
        c.report(rule, c.operand_name(slot), "stride {}; strides lie in {}..{}: bring the elements closer together",
                 d.stride, Stride::min(), Stride::max());
      }
      if (d.size > Size::max()) {
        c.report(rule, c.operand_name(slot), "dimension of {} elements; at most {}: split the instruction", d.size,
                 Size::max());
      }
    }
    if (c.instruction.engine == Engine::Tensor) continue;
    const std::int64_t limit = c.in_psum(a) ? c.machine.vector_free_max_psum : c.machine.vector_free_max_sbuf;
    if (free_elements(a) > limit) {
      c.report(rule, c.operand_name(slot), "{} elements per partition; at most {} in {}: split the instruction",
               free_elements(a), limit, name(c.tile(a).space));
    }
  }
}

namespace {
bool may_run_on_tensor(const Context& c) {
  const Engine engine = c.instruction.engine;
  return engine == Engine::Tensor || (engine == Engine::Any && !engine_objection(c, Engine::Tensor));
}
}  // namespace

// The Tensor Engine writes one bank. A tile larger than a bank starts at a bank boundary and a smaller one never
// straddles two, so only the position modulo the bank matters; its possible values are found by adding one loop
// variable at a time.
void check_psum_bank(const Context& c) {
  const Access& dst = c.instruction.dst();
  if (!may_run_on_tensor(c) || !c.in_psum(dst) || c.machine.matmul_spans_banks) return;
  const std::int64_t bank = c.machine.psum_bank_bytes, bytes = size_bytes(dst.dtype);
  if (c.tile(dst).bytes_per_partition() <= bank) return;
  const Range pattern = pattern_range(dst.dims);
  const auto residue = [bank](Wide value) { return static_cast<std::size_t>((value % bank + bank) % bank); };

  std::vector<bool> taken(static_cast<std::size_t>(bank), false);
  taken[residue((static_cast<Wide>(dst.offset.constant()) + pattern.low) * bytes)] = true;
  for (const Affine::Term& t : dst.offset.terms()) {
    const std::size_t step = residue(static_cast<Wide>(t.coefficient) * bytes);
    if (step == 0) continue;
    const std::vector<bool> before = taken;
    for (std::size_t r = 0; r < before.size(); ++r) {
      if (!before[r]) continue;
      std::size_t at = r;
      for (std::int64_t i = 1; i < std::min(t.trip, bank); ++i) {
        at = (at + step) % before.size();
        taken[at] = true;
      }
    }
  }
  const Wide length = (pattern.high - pattern.low + 1) * bytes;
  for (std::size_t r = taken.size(); r-- > 0;) {
    if (!taken[r] || static_cast<Wide>(r) + length <= bank) continue;
    c.report(
        "psum-bank-crossed", "dst",
        "{} bytes per partition from byte {} of a PSUM bank of {}; one matmul writes one bank: write less at a time or "
        "start at a bank boundary",
        clamp(length), r, bank);
    return;
  }
}

}  // namespace trn::tile::rules
