// The program of a plan: tensors are declared, factors brought in, steps recorded one after another.
#include "program.hpp"

#include <fmt/core.h>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/stores.hpp>

namespace trn::tensor::device {

using namespace trn::tile;

namespace {

Access declared(Builder& b, const std::string& name, const Memory& m, const std::vector<Access>& before) {
  const std::int64_t words = words_of(m.dtype);
  Shape shape = m.shape;
  Strides strides = m.strides;
  for (std::int64_t& s : strides) s *= words;
  if (words > 1) shape.push_back(words), strides.push_back(1);
  if (shape.empty()) shape.push_back(1), strides.push_back(1);
  switch (m.kind) {
    case Memory::Kind::Input:
      return b.input(name, word_type(m.dtype), shape, strides);
    case Memory::Kind::Scratch:
      return b.scratch(name, word_type(m.dtype), shape);
    case Memory::Kind::Output:
      break;
  }
  if (m.over >= 0) return b.output_over(name, before[static_cast<std::size_t>(m.over)]);
  return b.output(name, word_type(m.dtype), shape, strides);
}

// A factor in every partition: (P, 1), or (P, 2) for a complex one.
Access brought(Builder& b, const std::string& name, Factor kind) {
  if (kind == Factor::Input) return blocks::scalar_input(b, name);
  const Access pair = b.input(name, DType::Float32, {2}),
               tile = b.sbuf(name + "_tile", b.machine().partitions, {2}, DType::Float32);
  b.dma_copy(tile, pair.broadcast(0, b.machine().partitions));
  return tile;
}

}  // namespace

Program plan_program(const PlanShape& shape, const Machine& machine) {
  Builder b("tensor_plan", machine);
  std::vector<Access> memories;
  for (const Memory& m : shape.memories)
    memories.push_back(declared(b, fmt::format("t{}", memories.size()), m, memories));
  std::vector<Access> known;  // factors by number
  for (const StepShape& step : shape.steps) {
    Tensors at;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (step.at[i] < 0) continue;
      at[i] = memories[static_cast<std::size_t>(step.at[i])];
      at[i].offset = 0;
    }
    if (const auto* m = std::get_if<MoveArgs>(&step.work)) {
      record_move(b, *m, at);
      continue;
    }
    Factors factors;
    for (std::size_t i = 0; i < 3; ++i) {
      if (step.factor_at[i] < 0) continue;
      const auto number = static_cast<std::size_t>(step.factor_at[i]);
      if (number >= known.size()) known.resize(number + 1);
      if (!known[number].present()) known[number] = brought(b, fmt::format("f{}", number), step.factors[i]);
      factors[i] = known[number];
    }
    if (const auto* p = std::get_if<blas::ProductShape>(&step.work))
      blas::record_product(b, *p, {at[0], at[1], at[2], at[3], factors[0], factors[1]});
    else if (const auto* e = std::get_if<host::PointwiseArgs>(&step.work))
      record_pointwise(b, *e, at, step.factors, factors);
    else if (const auto* t = std::get_if<MttkrpArgs>(&step.work))
      record_mttkrp(b, *t, at, step.factors, factors);
    else
      record_reduce(b, std::get<host::ReduceArgs>(step.work), at, step.factors, factors);
  }
  return tile::static_stores(b.finish());
}

}  // namespace trn::tensor::device
