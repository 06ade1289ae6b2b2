// Dispatch: runs an instruction's execute() on the interpreter's memory; the check at the end of
// the program that every output was written.
#include "sim/interpreter.hpp"

#include <cstring>

#include <optional>

#include "sim/engines.hpp"

namespace trn::neuron::sim {

struct Interpreter::State {
  State(const tile::Program& p, const tile::Machine& m, const tile::Allocation& allocation, const SimOptions& o,
        std::span<const tile::Binding> bindings, HbmShadow* shadow)
      : program(p),
        machine(m),
        options(o),
        nests(loop_nests(p)),
        memory(p, m, allocation, options, bindings, shadow),
        scalar_registers(m.partitions),
        vector_registers(m.partitions) {
    if (options.check_races) races.emplace(program, nests, memory);
  }

  const tile::Program& program;
  const tile::Machine& machine;
  const SimOptions options;
  const LoopNests nests;
  Memory memory;
  std::optional<RaceCheck> races;
  ReduceRegisters scalar_registers, vector_registers;
  std::vector<std::int64_t> trips;  // by loop: of the Counted ones that run
};

namespace {

// The whole tensor as an access.
tile::Access whole(const tile::TensorDecl& decl, std::int32_t id) {
  tile::Access access{tile::Target::Tensor, id, decl.dtype, 0, 0, 0, {}};
  for (std::size_t d = 0; d < decl.shape.size(); ++d) access.dims.push_back({decl.strides[d], decl.shape[d]});
  return access;
}

// "(3, 0, 7)": element number i of a row-major walk.
std::string index_text(const Shape& shape, std::int64_t i) {
  Shape index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = i % shape[d];
    i /= shape[d];
  }
  return to_string(index);
}

}  // namespace

Interpreter::Interpreter(const tile::Program& program, const tile::Machine& machine, const tile::Allocation& allocation,
                         const SimOptions& options, std::span<const tile::Binding> bindings, HbmShadow* shadow)
    : state_(std::make_unique<State>(program, machine, allocation, options, bindings, shadow)) {}

Interpreter::~Interpreter() = default;

void Interpreter::execute(std::int32_t instruction, const tile::Point& point) {
  State& s = *state_;
  const auto index = static_cast<std::size_t>(instruction);
  const Execution e{s.program,
                    s.machine,
                    s.options,
                    s.memory,
                    s.races ? &*s.races : nullptr,
                    s.scalar_registers,
                    s.vector_registers,
                    s.nests[index],
                    instruction,
                    s.program.instructions()[index],
                    point};
  if (s.races) {
    if (const tile::RegisterUse use = register_use(e.instruction); use.any()) s.races->sums(use, instruction, point);
  }
  if (s.options.storage == Storage::Wide) {
    e.instruction.visit([&](const auto& attributes) { sim::execute<double>(e, attributes); });
  } else {
    e.instruction.visit([&](const auto& attributes) { sim::execute<float>(e, attributes); });
  }
}

bool Interpreter::enters(std::int32_t loop, std::int64_t k, const tile::Point& point) {
  State& s = *state_;
  const auto index = static_cast<std::size_t>(loop);
  const tile::LoopDecl& decl = s.program.loops()[index];
  const tile::TileDecl& bound = s.program.tiles()[static_cast<std::size_t>(decl.bound)];
  s.trips.resize(s.program.loops().size());
  const bool counted = decl.kind == tile::LoopKind::Counted;
  if (!counted || k == 0) {
    const tile::Access access{tile::Target::Tile, decl.bound, bound.dtype, 0, 1, 0, {{1, 1}}};
    const Operand o = resolve(s.memory, s.program, access, point);
    if (o.whole && o.whole->uniform && o.whole->value == kNever) {
      throw DeviceError(fmt::format("program '{}': loop '{}' reads register '{}', which nothing has written; load it "
                                    "first",
                                    s.program.name(), decl.name, bound.name),
                        "uninitialised-read");
    }
    double value = 0;
    load(o, 0, 1, &value);
    s.trips[index] = counted ? static_cast<std::int64_t>(value) : value != 0 ? k + 1 : 0;
  }
  if (s.trips[index] > decl.trip) {
    throw DeviceError(fmt::format("program '{}': loop '{}' runs more than the {} iterations it declares; declare more, "
                                  "or see why it does not end",
                                  s.program.name(), decl.name, decl.trip),
                      "trip-count");
  }
  return k < s.trips[index];
}

void Interpreter::finish() {
  State& s = *state_;
  const tile::Point point{std::vector<std::int64_t>(s.program.loops().size(), 0),
                          std::vector<std::int64_t>(s.program.tiles().size(), 0)};
  for (std::size_t t = 0; t < s.program.tensors().size(); ++t) {
    const tile::TensorDecl& decl = s.program.tensors()[t];
    if (decl.kind != tile::TensorKind::Output || decl.partial) continue;
    const Operand o = resolve(s.memory, s.program, whole(decl, static_cast<std::int32_t>(t)), point);
    std::int64_t missing = 0, first = -1;
    for_each_run(o, 0, o.count, [&](std::int64_t offset, std::int64_t stride, std::int64_t n, std::int64_t done) {
      const auto* run = o.written + offset;
      if (stride == o.element_bytes && !std::memchr(run, kNever, static_cast<std::size_t>(n * stride))) return;
      for (std::int64_t i = 0; i < n; ++i) {
        bool whole_element = true;
        for (std::int64_t b = 0; b < o.element_bytes; ++b)
          whole_element &= o.written[offset + i * stride + b] != kNever;
        if (whole_element) continue;
        if (first < 0) first = done + i;
        ++missing;
      }
    });
    if (missing == 0) continue;
    throw DeviceError(fmt::format("program '{}' ended without writing {} of the {} elements of output '{}', the first "
                                  "at {}; every element of an output must be written",
                                  s.program.name(), missing, o.count, decl.name, index_text(decl.shape, first)),
                      "output-not-written");
  }
}

}  // namespace trn::neuron::sim
