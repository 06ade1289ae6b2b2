// The run-time checks on operands: uninitialised reads, accumulation onto memory that the Tensor Engine did not write,
// and the record of what has been written.
#include "sim/execution.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <trn/tile/print.hpp>

namespace trn::neuron::sim {

namespace {

// The first of n bytes that is not `wanted`, or n.
std::int64_t first_other(const std::uint8_t* bytes, std::int64_t n, std::uint8_t wanted) {
  static constexpr std::int64_t kBlock = 256;
  std::int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    std::uint8_t seen = 0;
    for (std::int64_t j = 0; j < kBlock; ++j) seen |= static_cast<std::uint8_t>(bytes[i + j] ^ wanted);
    if (seen) break;
  }
  while (i < n && bytes[i] == wanted) ++i;
  return i;
}

// Calls f(state, bytes, element number) for the contiguous pieces of the operand's state.
template <class F>
void for_each_state(const Operand& o, std::int64_t begin, std::int64_t count, std::uint8_t* state, F f) {
  for_each_run(o, begin, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t n, std::int64_t done) {
    if (stride == o.element_bytes) return f(state + offset, n * o.element_bytes, done);
    if (stride == 0) return f(state + offset, o.element_bytes, done);
    for (std::int64_t i = 0; i < n; ++i) f(state + offset + i * stride, o.element_bytes, done + i);
  });
}

std::uint64_t mix(std::uint64_t h) {
  h += 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

// Throws where the operand is in memory that the program was given. It is named as the caller knows it: programs call
// their inputs as operations call their arguments; "c_in" is the C that a program also writes, "x_re" a part of x.
void refuse_argument(const Execution& e, std::size_t slot, std::int64_t row, std::int64_t element) {
  const tile::Access& read = e.access(slot);
  if (read.target != tile::Target::Tensor) return;
  const tile::TensorDecl& tensor = e.program.tensors()[static_cast<std::size_t>(read.id)];
  if (tensor.kind != tile::TensorKind::Input) return;
  std::string name = tensor.name;
  for (const std::string_view part : {"_in", "_re", "_im"}) {
    if (name.ends_with(part)) name.resize(name.size() - part.size());
  }
  throw DeviceError(fmt::format("argument '{}' is read, and nothing has written it, or not all of it; write it first, "
                                "with from_host() or copy(). Seen at row {}, element {} of operand '{}' in {}",
                                name, row, element, opcode_info(e.instruction.opcode()).operands[slot].name, e.where()),
                    "uninitialised-read");
}

}  // namespace

tile::Engine Execution::engine() const {
  if (instruction.engine != tile::Engine::Any) return instruction.engine;
  if (instruction.as<isa::TensorTensor>()) {
    const auto pool = [&](const tile::Access& a) {
      const bool word = a.dtype == DType::Int32 || a.dtype == DType::UInt32;
      return word && program.tiles()[static_cast<std::size_t>(a.id)].space == tile::Space::Sbuf;
    };
    if (std::all_of(instruction.operands.begin(), instruction.operands.end(), pool)) return tile::Engine::GpSimd;
  }
  return opcode_info(instruction.opcode()).engines.front();
}

std::string Execution::where() const {
  std::string loops;
  for (const std::int32_t l : loops_around) {
    const auto loop = static_cast<std::size_t>(l);
    loops += fmt::format("{}{}={}", loops.empty() ? " at " : ", ", program.loops()[loop].name, point.variables[loop]);
  }
  return fmt::format("program '{}', instruction {} ({}){}", program.name(), index, print(program, instruction), loops);
}

Operand Execution::resolved(std::size_t slot) const {
  const auto start = dynamic_start(instruction, slot);
  if (!start) return resolve(memory, program, access(slot), point);
  double value = 0;
  load(read(start->from), 0, 1, &value);
  if (value < 0 || value > static_cast<double>(start->max)) {
    refuse("index-out-of-range", "operand '{}' starts at {}, but 0 to {} is declared; correct it, or declare more",
           opcode_info(instruction.opcode()).operands[slot].name, value, start->max);
  }
  tile::Access moved = access(slot);
  moved.offset = moved.offset + static_cast<std::int64_t>(value) * start->step;
  return resolve(memory, program, moved, point);
}

Operand Execution::read(std::size_t slot) const {
  Operand o = resolved(slot);
  check_read(o, slot);
  return o;
}

Operand Execution::write(std::size_t slot) const {
  Operand o = resolved(slot);
  mark_written(o);
  return o;
}

void Execution::check_read(const Operand& o, std::size_t slot) const {
  if (o.whole && o.whole->uniform && o.whole->value == kNever) spread_state(o);
  if (o.state && !(o.whole && o.whole->uniform)) {
    for_each_state(o, 0, o.count, o.state, [&](const std::uint8_t* state, std::int64_t bytes, std::int64_t element) {
      const void* missing = std::memchr(state, kNever, static_cast<std::size_t>(bytes));
      if (!missing) return;
      const std::int64_t at = element + (static_cast<const std::uint8_t*>(missing) - state) / o.element_bytes;
      refuse_argument(*this, slot, at / o.row, at % o.row);
      refuse("uninitialised-read",
             "operand '{}' reads row {}, element {}, which nothing has written since it was allocated; write it first "
             "(dma_copy, memset, or a matmul that does not accumulate)",
             opcode_info(instruction.opcode()).operands[slot].name, at / o.row, at % o.row);
    });
  }
  if (o.replaced) {
    for_each_state(o, 0, o.count, o.replaced, [&](const std::uint8_t* state, std::int64_t bytes, std::int64_t element) {
      const std::int64_t i = first_other(state, bytes, kNever);
      if (i == bytes) return;
      const std::int64_t at = element + i / o.element_bytes;
      refuse("replaced-input",
             "operand '{}' reads row {}, element {} of an input, but the output in the same memory was stored there "
             "before; load it earlier, or read the output",
             opcode_info(instruction.opcode()).operands[slot].name, at / o.row, at % o.row);
    });
  }
  if (races) races->read(o, index, point);
}

void Execution::mark_written(const Operand& o) const { mark_written(o, 0, o.count); }

void Execution::spread_state(const Operand& o) const {
  if (!o.whole || !o.whole->uniform) return;
  o.whole->uniform = false;
  const tile::TileDecl& decl = program.tiles()[static_cast<std::size_t>(o.id)];
  // Back from element 0 of the operand to byte 0 of the buffer.
  std::uint8_t* first = o.state - o.byte_offset - o.partition * o.strides[0];
  for (std::int64_t p = 0; p < decl.partitions; ++p) {
    std::memset(first + p * o.strides[0], o.whole->value, static_cast<std::size_t>(decl.bytes_per_partition()));
  }
  o.whole->bytes = {};
  o.whole->bytes[o.whole->value] = decl.partitions * decl.bytes_per_partition();
}

// A tile that is written in pieces becomes uniform with the last one.
void Execution::mark_part(const Operand& o, std::int64_t begin, std::int64_t n, std::uint8_t by) const {
  spread_state(o);
  std::array<std::int64_t, 3>& counts = o.whole->bytes;
  for_each_state(o, begin, n, o.state, [&](std::uint8_t* state, std::int64_t bytes, std::int64_t) {
    // Nearly always one state throughout: comparing the run with itself, one byte on, is much faster than counting.
    if (std::memcmp(state, state + 1, static_cast<std::size_t>(bytes - 1)) == 0) {
      counts[*state] -= bytes;
    } else {
      for (std::int64_t i = 0; i < bytes; ++i) --counts[state[i]];
    }
    counts[by] += bytes;
    std::memset(state, by, static_cast<std::size_t>(bytes));
  });
  if (counts[by] == counts[0] + counts[1] + counts[2]) *o.whole = {o.whole->instance, true, by};
}

void Execution::mark_written(const Operand& o, std::int64_t begin, std::int64_t n) const {
  const std::uint8_t by = engine() == tile::Engine::Tensor ? kWrittenByTensorEngine : kWrittenByOther;
  const auto mark = [by](std::uint8_t* state, std::int64_t bytes, std::int64_t) {
    std::memset(state, by, static_cast<std::size_t>(bytes));
  };
  if (o.whole && o.covers_tile && n == o.count) {
    *o.whole = {o.whole->instance, true, by};
  } else if (o.whole) {
    if (!o.whole->uniform || o.whole->value != by) mark_part(o, begin, n, by);
  } else if (o.state) {
    for_each_state(o, begin, n, o.state, mark);
  }
  if (o.written) for_each_state(o, begin, n, o.written, mark);
  if (races) races->write(o, begin, n, index, point);
}

void Execution::check_accumulates(const Operand& dst) const {
  if (races) {
    races->read(dst, index, point);
    races->write(dst, 0, dst.count, index, point);
  }
  const bool any_writer = machine.accumulate_onto_writes;
  const auto good = [&](std::uint8_t by) { return by == kWrittenByTensorEngine || (any_writer && by != kNever); };
  if (!dst.whole || (dst.whole->uniform && good(dst.whole->value))) return;
  spread_state(dst);
  for_each_state(dst, 0, dst.count, dst.state,
                 [&](const std::uint8_t* state, std::int64_t bytes, std::int64_t element) {
                   std::int64_t i = first_other(state, bytes, kWrittenByTensorEngine);
                   while (i < bytes && good(state[i])) ++i;
                   if (i == bytes) return;
                   const std::int64_t at = element + i / dst.element_bytes;
                   if (state[i] == kNever) {
                     refuse("uninitialised-read",
                            "accumulates onto row {}, element {} of PSUM, which nothing has written; the first matmul "
                            "of a group must not accumulate",
                            at / dst.row, at % dst.row);
                   }
                   refuse("accumulate-onto-memset",
                          "accumulates onto row {}, element {} of PSUM, which another engine wrote last; the result is "
                          "undefined on hardware: start the group with a matmul that does not accumulate",
                          at / dst.row, at % dst.row);
                 });
}

Rounder Execution::rounder(std::size_t slot) const {
  Rounder r;
  r.stochastic = options.rounding == Rounding::Stochastic;
  if (!r.stochastic) return r;
  r.seed = options.rounding_seed;
  std::uint64_t h = mix(static_cast<std::uint64_t>(index) * 8 + slot);
  // Only the loops around this instruction: what other loops' variables hold depends on the order of execution.
  for (const std::int32_t loop : loops_around) {
    h = mix(h ^ static_cast<std::uint64_t>(point.variables[static_cast<std::size_t>(loop)]));
  }
  r.counter = h;
  return r;
}

}  // namespace trn::neuron::sim
