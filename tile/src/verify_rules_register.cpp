// Rules about registers (illegal-space, illegal-dtype, size-limit): one element on each side of a register instruction,
// and the dynamic starts of dma_copy.
#include <limits>

#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kSize = "size-limit";

void one_element(const Context& c, std::size_t slot) {
  const Access& a = c.operand(slot);
  if (!a.present() || elements(a) == 1) return;
  c.report(kSize, c.operand_name(slot), "{} elements; a register holds one: slice it", elements(a));
}

}  // namespace

void check_shape(const Context& c, const isa::RegisterMove&) {
  one_element(c, isa::RegisterMove::dst);
  one_element(c, isa::RegisterMove::src);
}
void check_shape(const Context& c, const isa::RegisterLoad&) {
  one_element(c, isa::RegisterLoad::dst);
  one_element(c, isa::RegisterLoad::src);
}
void check_shape(const Context& c, const isa::RegisterStore&) {
  one_element(c, isa::RegisterStore::dst);
  one_element(c, isa::RegisterStore::src);
}

// A side that starts where a register or a (1, 1) tile says lies in HBM; the distance between two starts and the
// largest value are declared.
void check_starts(const Context& c) {
  using I = isa::DmaCopy;
  const I* a = c.instruction.as<I>();
  if (!a) return;
  for (const std::size_t slot : {I::dst, I::src}) {
    const std::size_t from = slot == I::dst ? I::dst_offset : I::src_offset;
    const std::int64_t step = slot == I::dst ? a->dst_offset_step : a->src_offset_step;
    const std::int64_t max = slot == I::dst ? a->dst_offset_max : a->src_offset_max;
    const Access& value = c.operand(from);
    if (!value.present()) {
      if (step == 0 && max == 0) continue;
      c.report(kSize, c.operand_name(from), "step {} and largest value {} of a start that is not there", step, max);
      continue;
    }
    one_element(c, from);
    if (step < 1 || max < 0 || max > std::numeric_limits<std::int32_t>::max()) {
      c.report(kSize, c.operand_name(from), "step {} and largest value {}; at least 1 and 0, in 32 bits", step, max);
    }
    if (!c.in_register(value) && !c.in_sbuf(value)) {
      c.report("illegal-space", c.operand_name(from), "a start is read from a register or from SBUF; load it first");
    }
    if (value.dtype != DType::Int32 && value.dtype != DType::UInt32) {
      c.report("illegal-dtype", c.operand_name(from), "{}; a start is int32 or uint32", name(value.dtype));
    }
    if (!c.in_hbm(c.operand(slot))) {
      c.report("illegal-space", c.operand_name(slot), "only a side in HBM starts where a register says");
    }
  }
}

}  // namespace trn::tile::rules
