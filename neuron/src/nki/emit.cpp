// emit_nki: the module around the calls. Header, imports, one jitted function, loops as `range`, tiles where they are
// allocated. Buffer counts, DMA rings and tile addresses stay out of the text: NKI's compiler allocates and schedules.
#include <trn/core/error.hpp>
#include <trn/neuron/nki.hpp>

#include "nki/instruction.hpp"

namespace trn::neuron {

namespace nki {
namespace {

using tile::StatementKind;
using tile::TensorDecl;
using tile::TensorKind;

void require_dtype(const Module& module, DType dtype, const std::string& what) {
  if (dtype == DType::Float64) {
    fail<NotImplemented>("emit_nki: program '{}': {} is float64, which NKI has not; store it in float32 words",
                         module.program.name(), what);
  }
  if (is_complex(dtype)) {
    fail<NotImplemented>("emit_nki: program '{}': {} is {}, which NKI has not; store its parts as {}", module.program.name(), what,
                         name(dtype), name(real_of(dtype)));
  }
  if (is_int64(dtype)) {
    fail<NotImplemented>("emit_nki: program '{}': {} is {}, which NKI has not; store its words as uint32", module.program.name(), what,
                         name(dtype));
  }
}

void check(const Module& module) {
  const tile::Program& p = module.program;
  bool output = false;
  for (const TensorDecl& t : p.tensors()) {
    require_dtype(module, t.dtype, fmt::format("tensor '{}'", t.name));
    output = output || t.kind == TensorKind::Output;
  }
  for (const tile::TileDecl& t : p.tiles()) require_dtype(module, t.dtype, fmt::format("tile '{}'", t.name));
  for (std::size_t i = 0; i < p.instructions().size(); ++i) {
    for (const tile::Access& a : p.instructions()[i].operands) {
      require_dtype(module, a.dtype, fmt::format("an operand of {}", place(module, static_cast<std::int32_t>(i))));
    }
  }
  if (!output) {
    fail<NotImplemented>(
        "emit_nki: program '{}' has no output tensor; an NKI kernel returns at least one: declare it with "
        "Builder::output",
        p.name());
  }
}

class Writer {
 public:
  explicit Writer(const Module& module) : module_(module), program_(module.program) {}

  std::string write() {
    header();
    line("import nki");
    line("import nki.isa as nisa");
    line("import nki.language as nl");
    text_ += "\n\n";
    line("@nki.jit");
    line("def {}({}):", module_.names.kernel, names(TensorKind::Input));
    ++depth_;
    arrays(TensorKind::Output, "shared_hbm");
    arrays(TensorKind::Scratch, "private_hbm");
    block(0, static_cast<std::int32_t>(program_.statements().size()));
    line("return {}", names(TensorKind::Output));
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += std::string(4 * depth_, ' ') + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  template <class F>
  void each(TensorKind kind, F f) {
    for (std::size_t i = 0; i < program_.tensors().size(); ++i) {
      if (program_.tensors()[i].kind == kind) f(program_.tensors()[i], module_.names.tensors[i]);
    }
  }

  std::string names(TensorKind kind) {
    std::string list;
    each(kind, [&](const TensorDecl&, const std::string& name) { list += (list.empty() ? "" : ", ") + name; });
    return list;
  }

  void describe(TensorKind kind, const char* title) {
    if (names(kind).empty()) return;
    line("# {}", title);
    each(kind, [&](const TensorDecl& t, const std::string& identifier) {
      line("#   {}: {} {}{}", identifier, name(t.dtype), to_string(t.shape), t.partial ? ", partly written: the rest keeps its values" : "");
      if (!is_flat(t)) return;
      line("#     strides {}: the 1-D memory of {} elements, from the lowest address to the highest",
           to_string(t.strides), declared_shape(t).front());
    });
  }

  void header() {
    line("# {}: an NKI kernel for {}, generated from tile program {:016x}; never run on silicon.", program_.name(),
         program_.machine(), program_.hash());
    describe(TensorKind::Input, "Arguments, in order:");
    describe(TensorKind::Output, "Returns, in order:");
  }

  void arrays(TensorKind kind, const char* buffer) {
    each(kind, [&](const TensorDecl& t, const std::string& identifier) {
      line("{} = nl.ndarray({}, dtype={}, buffer=nl.{})", identifier, tuple(declared_shape(t)), dtype_name(t.dtype),
           buffer);
    });
  }

  void block(std::int32_t begin, std::int32_t end) {
    for (std::int32_t s = begin; s < end;) {
      const tile::Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
      const auto index = static_cast<std::size_t>(statement.index);
      switch (statement.kind) {
        case StatementKind::Alloc:
          allocate(index);
          ++s;
          break;
        case StatementKind::Instruction:
          line("{}", call(module_, statement.index).text(4 * depth_));
          ++s;
          break;
        case StatementKind::Loop:
          line("for {} in range({}):", module_.names.loops[index], program_.loops()[index].trip);
          ++depth_;
          if (statement.end == s + 1) line("pass");
          block(s + 1, statement.end);
          --depth_;
          s = statement.end;
          break;
      }
    }
  }

  void allocate(std::size_t index) {
    const tile::TileDecl& t = program_.tiles()[index];
    line("{} = nl.ndarray({}, dtype={}, buffer=nl.{})", module_.names.tiles[index], tuple(declared_shape(t)),
         dtype_name(t.dtype), name(t.space));
  }

  const Module& module_;
  const tile::Program& program_;
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace
}  // namespace nki

std::string emit_nki(const tile::Program& program) {
  const nki::Module module(program);
  nki::check(module);
  return nki::Writer(module).write();
}

}  // namespace trn::neuron
