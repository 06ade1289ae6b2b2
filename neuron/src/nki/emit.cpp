// emit_nki: the module around the calls. Header, imports, one jitted function, loops as `range`, tiles where they are
// allocated. Buffer counts, DMA rings and tile addresses stay out of the text: NKI's compiler allocates and schedules.
#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/neuron/nki.hpp>

#include "nki/instruction.hpp"
#include "nki/loops.hpp"

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
    fail<NotImplemented>("emit_nki: program '{}': {} is {}, which NKI has not; store its parts as {}",
                         module.program.name(), what, name(dtype), name(real_of(dtype)));
  }
  if (is_int64(dtype)) {
    fail<NotImplemented>("emit_nki: program '{}': {} is {}, which NKI has not; store its words as uint32",
                         module.program.name(), what, name(dtype));
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
  Writer(Module& module, const NkiOptions& options)
      : module_(module),
        program_(module.program),
        tensors_(nki_tensors(module.program)),
        register_steps_(device_loops(module.program, options.unroll_limit)) {
    module.register_steps = register_steps_;
  }

  std::string write() {
    header();
    line("import nki");
    line("import nki.isa as nisa");
    line("import nki.language as nl");
    text_ += "\n\n";
    line("@nki.jit");
    line("def {}({}):", module_.names.kernel, names(tensors_.arguments));
    ++depth_;
    arrays(TensorKind::Output, "shared_hbm");
    arrays(TensorKind::Scratch, "private_hbm");
    block(0, static_cast<std::int32_t>(program_.statements().size()));
    line("return {}", names(tensors_.results));
    return std::move(text_);
  }

 private:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += std::string(4 * depth_, ' ') + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  std::string names(const std::vector<std::int32_t>& tensors) const {
    std::string list;
    for (const std::int32_t i : tensors)
      list += (list.empty() ? "" : ", ") + module_.names.tensors[static_cast<std::size_t>(i)];
    return list;
  }
  [[nodiscard]] bool is_argument(std::int32_t tensor) const {
    return std::find(tensors_.arguments.begin(), tensors_.arguments.end(), tensor) != tensors_.arguments.end();
  }

  void describe(const std::vector<std::int32_t>& tensors, const char* title) {
    if (tensors.empty()) return;
    line("# {}", title);
    for (const std::int32_t i : tensors) {
      const TensorDecl& t = program_.tensors()[static_cast<std::size_t>(i)];
      const std::string& identifier = module_.names.tensors[static_cast<std::size_t>(i)];
      if (t.kind == TensorKind::Output && is_argument(i) && &tensors == &tensors_.results) {
        line("#   {}: the argument", identifier);
        continue;
      }
      line("#   {}: {} {}{}{}", identifier, name(t.dtype), to_string(t.shape),
           t.kind == TensorKind::Output && is_argument(i) ? ", stored into and returned" : "",
           t.partial ? "; what is not written keeps its values" : "");
      if (!is_flat(t)) continue;
      line("#     strides {}: the 1-D memory of {} elements, from the lowest address to the highest",
           to_string(t.strides), declared_shape(t).front());
    }
  }

  void header() {
    line("# {}: an NKI kernel for {}, generated from tile program {:016x}; never run on silicon.", program_.name(),
         program_.machine(), program_.hash());
    describe(tensors_.arguments, "Arguments, in order:");
    describe(tensors_.results, "Returns, in order:");
  }

  void arrays(TensorKind kind, const char* buffer) {
    for (std::size_t i = 0; i < program_.tensors().size(); ++i) {
      const TensorDecl& t = program_.tensors()[i];
      if (t.kind != kind || is_argument(static_cast<std::int32_t>(i))) continue;
      line("{} = nl.ndarray({}, dtype={}, buffer=nl.{})", module_.names.tensors[i], tuple(declared_shape(t)),
           dtype_name(t.dtype), buffer);
    }
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
          if (register_steps_[index] > 0)
            device_loop(statement, s);
          else
            loop(fmt::format("for {} in range({}):", module_.names.loops[index], program_.loops()[index].trip), s,
                 statement.end);
          s = statement.end;
          break;
      }
    }
  }

  void loop(const std::string& head, std::int32_t at, std::int32_t end) {
    line("{}", head);
    ++depth_;
    if (end == at + 1) line("pass");
    block(at + 1, end);
    --depth_;
  }

  void device_loop(const tile::Statement& statement, std::int32_t at) {
    const auto index = static_cast<std::size_t>(statement.index);
    const tile::LoopDecl& decl = program_.loops()[index];
    const std::int64_t step = register_steps_[index];
    const std::string& body = module_.names.bodies[index];
    const std::string bound =
        decl.bound < 0 ? std::string() : module_.names.tiles[static_cast<std::size_t>(decl.bound)];
    if (decl.kind == tile::LoopKind::While) {
      // The body takes the condition by value and returns the next one.
      loop(fmt::format("def {}({}):", body, bound), at, statement.end);
      ++depth_;
      line("return {}", bound);
      --depth_;
      line("nl.while_loop({}, {})", bound, body);
      return;
    }
    loop(fmt::format("def {}({}):", body, module_.names.loops[index]), at, statement.end);
    const std::string upper = bound.empty() ? std::to_string(decl.trip * step) : bound;
    line("nl.fori_loop(0, {}, {}{})", upper, body, step == 1 ? "" : fmt::format(", step={}", step));
  }

  void allocate(std::size_t index) {
    const tile::TileDecl& t = program_.tiles()[index];
    if (t.space == tile::Space::Register) return line("{} = nisa.register_alloc()", module_.names.tiles[index]);
    line("{} = nl.ndarray({}, dtype={}, buffer=nl.{})", module_.names.tiles[index], tuple(declared_shape(t)),
         dtype_name(t.dtype), name(t.space));
  }

  Module& module_;
  const tile::Program& program_;
  const NkiTensors tensors_;
  const std::vector<std::int64_t> register_steps_;
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace
}  // namespace nki

NkiTensors nki_tensors(const tile::Program& program) {
  const auto& tensors = program.tensors();
  NkiTensors result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].kind == tile::TensorKind::Output) result.results.push_back(static_cast<std::int32_t>(i));
    if (tensors[i].kind != tile::TensorKind::Input) continue;
    std::size_t argument = i;
    for (std::size_t j = 0; j < tensors.size(); ++j) {
      if (!tensors[j].alias.empty() && tensors[j].alias == tensors[i].name) argument = j;
    }
    result.arguments.push_back(static_cast<std::int32_t>(argument));
  }
  for (const std::int32_t i : result.results) {
    const tile::TensorDecl& t = tensors[static_cast<std::size_t>(i)];
    if (t.alias.empty() && nki::has_gaps(t)) result.arguments.push_back(i);
  }
  return result;
}

std::string emit_nki(const tile::Program& program, const NkiOptions& options) {
  nki::Module module(program);
  nki::check(module);
  return nki::Writer(module, options).write();
}

}  // namespace trn::neuron
