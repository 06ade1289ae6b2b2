// The readable listing. An access prints as a slice of the declared shape where it is one, and as its explicit pattern
// of [stride,size] dimensions otherwise; attributes print when they differ from their defaults.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <trn/tile/print.hpp>

#include "fields.hpp"

namespace trn::tile {

namespace {

// The start of each dimension's slice, when `access` is a slice of an array with this shape and strides: the offset is
// divided by the strides, the largest first, constant and every coefficient alike.
std::optional<std::vector<Affine>> slice_starts(const Access& access, const Shape& shape, const Strides& strides) {
  if (access.dims.size() != shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (access.dims[d].stride != strides[d]) return std::nullopt;
  }
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });

  std::vector<Affine> starts(shape.size(), Affine(0));
  const auto divide = [&](std::int64_t value, const Affine& factor) {
    for (const std::size_t d : order) {
      if (shape[d] == 1 || strides[d] <= 0) continue;
      starts[d] = starts[d] + factor * (value / strides[d]);
      value %= strides[d];
    }
    return value == 0;
  };
  bool whole = divide(access.offset.constant(), Affine(1));
  for (const Affine::Term& t : access.offset.terms()) {
    whole = whole && divide(t.coefficient, Affine::variable(t.variable, t.trip));
  }
  for (std::size_t d = 0; whole && d < shape.size(); ++d) {
    whole = starts[d].min() >= 0 && starts[d].max() + access.dims[d].size <= shape[d];
  }
  if (!whole) return std::nullopt;
  return starts;
}

std::string slice_text(const Program& program, const Affine& start, std::int64_t size) {
  return fmt::format("{}:{}", print(program, start), print(program, start + Affine(size)));
}

std::string dims_text(const std::vector<Dim>& dims) {
  std::string text;
  for (const Dim& d : dims) text += fmt::format("[{},{}]", d.stride, d.size);
  return text;
}

// One text per field, in the order of the field list.
struct FieldTexts {
  const Program& program;
  std::vector<std::pair<const char*, std::string>> fields = {};

  template <class T> void operator()(const char* field, const T& value) { fields.emplace_back(field, text(value)); }
  template <class T> [[nodiscard]] std::string text(const T& value) const {
    if constexpr (std::is_same_v<T, Affine>) {
      return print(program, value);
    } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      return fmt::format("[{}]", fmt::join(value, ","));
    } else if constexpr (is_vector<T>) {
      return dims_text(value);
    } else if constexpr (std::is_enum_v<T>) {
      return std::string(name(value));
    } else {
      return fmt::format("{}", value);
    }
  }
};

template <class I> std::string attributes_text(const Program& program, const I& attributes) {
  const I defaults;
  FieldTexts actual{program}, usual{program};
  I::visit(attributes, actual);
  I::visit(defaults, usual);
  std::string text;
  for (std::size_t i = 0; i < actual.fields.size(); ++i) {
    if (actual.fields[i].second == usual.fields[i].second) continue;
    text += fmt::format(" {}={}", actual.fields[i].first, actual.fields[i].second);
  }
  return text;
}

std::string call_text(const Program& program, const Instruction& instruction) {
  const OpcodeInfo& info = opcode_info(instruction.opcode());
  std::string text(info.name);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    if (!instruction.operands[i].present()) continue;
    text += fmt::format(" {}={}", info.operands[i].name, print(program, instruction.operands[i]));
  }
  return text + instruction.visit([&](const auto& attributes) { return attributes_text(program, attributes); });
}

std::string tensor_text(const TensorDecl& tensor) {
  std::string text = fmt::format("{}{} {}: {} {}", tensor.partial ? "partial " : "", name(tensor.kind), tensor.name,
                                 name(tensor.dtype), to_string(tensor.shape));
  if (tensor.strides != row_major_strides(tensor.shape)) text += fmt::format(" strides {}", to_string(tensor.strides));
  if (!tensor.alias.empty()) text += fmt::format(", in the memory of {}", tensor.alias);
  return text;
}

std::string tile_text(const TileDecl& tile) {
  std::string shape = fmt::format("{}", tile.partitions);
  for (const std::int64_t n : tile.free_shape) shape += fmt::format(" x {}", n);
  const std::string buffers = tile.buffers == 1 ? std::string() : fmt::format(", {} buffers", tile.buffers);
  return fmt::format("{} = {}({}, {}{})", tile.name, name(tile.space), shape, name(tile.dtype), buffers);
}

std::string loop_text(const Program& program, const LoopDecl& loop) {
  if (!is_dynamic(loop.kind)) return fmt::format("for {} in 0..{} ({})", loop.name, loop.trip, name(loop.kind));
  const std::string& bound = program.tiles()[static_cast<std::size_t>(loop.bound)].name;
  if (loop.kind == LoopKind::While) return fmt::format("{}: while {} (at most {})", loop.name, bound, loop.trip);
  return fmt::format("for {} in 0..{} ({}, at most {})", loop.name, bound, name(loop.kind), loop.trip);
}

}  // namespace

std::string print(const Program& program, const Affine& affine) {
  std::string text;
  for (const Affine::Term& t : affine.terms()) {
    const std::string& variable = program.loops()[static_cast<std::size_t>(t.variable)].name;
    const std::string_view sign = t.coefficient < 0 ? "-" : (text.empty() ? "" : "+");
    const auto magnitude =
        t.coefficient < 0 ? 0 - static_cast<std::uint64_t>(t.coefficient) : static_cast<std::uint64_t>(t.coefficient);
    text += magnitude == 1 ? fmt::format("{}{}", sign, variable) : fmt::format("{}{}*{}", sign, variable, magnitude);
  }
  if (text.empty()) return fmt::format("{}", affine.constant());
  return affine.constant() == 0 ? text : fmt::format("{}{:+}", text, affine.constant());
}

std::string print(const Program& program, const Access& access) {
  if (!access.present()) return "none";
  const auto id = static_cast<std::size_t>(access.id);
  const bool tile = access.is_tile();
  const Shape& shape = tile ? program.tiles()[id].free_shape : program.tensors()[id].shape;
  const Strides strides = tile ? row_major_strides(shape) : program.tensors()[id].strides;
  const DType declared = tile ? program.tiles()[id].dtype : program.tensors()[id].dtype;

  std::string text = tile ? program.tiles()[id].name : program.tensors()[id].name;
  if (access.dtype != declared) text += fmt::format(".view({})", name(access.dtype));
  const std::string partitions = tile ? slice_text(program, access.partition, access.partitions) : std::string();
  const bool same_width = size_bytes(access.dtype) == size_bytes(declared);
  const auto starts = same_width ? slice_starts(access, shape, strides) : std::nullopt;
  if (!starts) {
    return fmt::format("{}({}{}offset {}, {})", text, partitions, tile ? ", " : "", print(program, access.offset),
                       dims_text(access.dims));
  }
  std::string slices = partitions;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    slices += (slices.empty() ? "" : ", ") + slice_text(program, (*starts)[d], access.dims[d].size);
  }
  return fmt::format("{}[{}]", text, slices);
}

std::string print(const Program& program, const Instruction& instruction) {
  return fmt::format("{} {}", name(instruction.engine), call_text(program, instruction));
}

std::string print(const Program& program) {
  std::string text = fmt::format("program {} for {}\n", program.name(), program.machine());
  for (const TensorDecl& tensor : program.tensors()) text += tensor_text(tensor) + "\n";
  text += "\n";
  std::vector<std::int32_t> ends;  // of the open loops
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(program.statements().size()); ++s) {
    while (!ends.empty() && ends.back() <= s) ends.pop_back();
    const Statement& statement = program.statements()[static_cast<std::size_t>(s)];
    const auto index = static_cast<std::size_t>(statement.index);
    text += std::string(2 * ends.size(), ' ');
    switch (statement.kind) {
      case StatementKind::Alloc:
        text += tile_text(program.tiles()[index]);
        break;
      case StatementKind::Instruction: {
        const Instruction& instruction = program.instructions()[index];
        text += fmt::format("{:<7} {}", name(instruction.engine), call_text(program, instruction));
        break;
      }
      case StatementKind::Loop: {
        const LoopDecl& loop = program.loops()[index];
        text += loop_text(program, loop);
        ends.push_back(statement.end);
        break;
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace trn::tile
