// Descriptors of stores.
#include <trn/tile/stores.hpp>

#include <trn/tile/machine.hpp>

namespace trn::tile {

Program static_stores(Program program) {
  if (!machine(program.machine()).hardware_dge || program.dynamic_instructions() > kWrittenOut) return program;
  Program::Parts parts = program.parts();
  for (Instruction& i : parts.instructions) {
    auto* copy = i.as<isa::DmaCopy>();
    if (!copy || is_indirect(i) || follows_register(program, i) || copy->route.dge != DgeMode::Default ||
        copy->issuer != DmaIssuer::Default)
      continue;
    const Access &dst = i.operands[isa::DmaCopy::dst], &src = i.operands[isa::DmaCopy::src];
    if (!dst.is_tile() && dst.dtype == src.dtype) copy->route.dge = DgeMode::Static;
  }
  return Program(std::move(parts));
}

}  // namespace trn::tile
