// The sequencers' registers: one signed 32-bit number each. An unsigned number above 2^31 keeps its bits, as a negative
// number.
#include <cmath>

#include "sim/engines.hpp"

namespace trn::neuron::sim {

namespace {

// The bits of `from` in `to`.
void move(const Operand& to, const Operand& from) {
  double value = 0;
  load(from, 0, 1, &value);
  constexpr double kWrap = 0x1p32;
  if (to.dtype == DType::Int32 && value >= kWrap / 2) value -= kWrap;
  if (to.dtype == DType::UInt32 && value < 0) value += kWrap;
  store_values(to, 0, 1, &value);
}

}  // namespace

template <class Real> void execute(const Execution& e, const isa::RegisterMove& a) {
  using I = isa::RegisterMove;
  if (e.has(I::src)) {
    const Operand src = e.read(I::src);
    return move(e.write(I::dst), src);
  }
  const auto value = static_cast<double>(a.src_value);
  store_values(e.write(I::dst), 0, 1, &value);
}

template <class Real> void execute(const Execution& e, const isa::RegisterLoad&) {
  const Operand src = e.read(isa::RegisterLoad::src);
  move(e.write(isa::RegisterLoad::dst), src);
}

template <class Real> void execute(const Execution& e, const isa::RegisterStore&) {
  const Operand src = e.read(isa::RegisterStore::src);
  move(e.write(isa::RegisterStore::dst), src);
}

template void execute<float>(const Execution&, const isa::RegisterMove&);
template void execute<double>(const Execution&, const isa::RegisterMove&);
template void execute<float>(const Execution&, const isa::RegisterLoad&);
template void execute<double>(const Execution&, const isa::RegisterLoad&);
template void execute<float>(const Execution&, const isa::RegisterStore&);
template void execute<double>(const Execution&, const isa::RegisterStore&);

}  // namespace trn::neuron::sim
