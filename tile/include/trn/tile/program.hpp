// Program: what a device kernel returns. An immutable value: declarations plus a tree of statements, with structural
// equality and hash. Built by Builder, read by passes, simulated, printed, serialised or emitted as NKI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <trn/core/shape.hpp>
#include <trn/tile/instruction.hpp>

namespace trn::tile {

// Input and Output tensors are bound by the caller at run time; Scratch is HBM the program owns while it runs.
enum class TensorKind : std::uint8_t { Input, Output, Scratch };
// Counted and While run on the device: a Counted loop runs as often as a register says when it is entered, a While loop
// as long as a register is not zero before an iteration. Their iterations follow one another.
enum class LoopKind : std::uint8_t { Parallel, Sequential, Counted, While };
[[nodiscard]] inline bool is_dynamic(LoopKind kind) { return kind == LoopKind::Counted || kind == LoopKind::While; }
[[nodiscard]] std::string_view name(TensorKind);
[[nodiscard]] std::string_view name(LoopKind);

struct TensorDecl {
  std::string name;
  TensorKind kind = TensorKind::Input;
  DType dtype = DType::Float32;
  Shape shape;
  Strides strides;       // elements
  std::string alias;     // an output that continues an input: the input's name. Both are one memory
  bool partial = false;  // an output of which the program writes a part; the rest keeps the values of its alias

  bool operator==(const TensorDecl&) const = default;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("name", self.name);
    v("kind", self.kind);
    v("dtype", self.dtype);
    v("shape", self.shape);
    v("strides", self.strides);
    v("alias", self.alias);
    v("partial", self.partial);
  }
};

// A tile lives from its Alloc statement to the end of the enclosing loop body. Each execution of the Alloc takes the
// next of `buffers` copies in turn, so iteration i+1 can be loaded while iteration i is still being used.
struct TileDecl {
  std::string name;
  Space space = Space::Sbuf;
  DType dtype = DType::Float32;
  std::int64_t partitions = 0;
  Shape free_shape;
  std::int64_t buffers = 1;

  [[nodiscard]] std::int64_t bytes_per_partition() const { return element_count(free_shape) * size_bytes(dtype); }
  bool operator==(const TileDecl&) const = default;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("name", self.name);
    v("space", self.space);
    v("dtype", self.dtype);
    v("partitions", self.partitions);
    v("free_shape", self.free_shape);
    v("buffers", self.buffers);
  }
};

struct LoopDecl {
  std::string name;
  std::int64_t trip = 1;  // of a dynamic loop the largest number of iterations, which bounds and estimates go by
  LoopKind kind = LoopKind::Sequential;
  std::int32_t bound = -1;  // dynamic loops: the tile that is their register
  bool operator==(const LoopDecl&) const = default;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("name", self.name);
    v("trip", self.trip);
    v("kind", self.kind);
    v("bound", self.bound);
  }
};

// Loops around one instruction, at most.
inline constexpr int kDeepestLoop = 31;

enum class StatementKind : std::uint8_t { Instruction, Alloc, Loop };
[[nodiscard]] std::string_view name(StatementKind);

// The tree in pre-order: a Loop's body is the statements after it up to `end`.
struct Statement {
  StatementKind kind = StatementKind::Instruction;
  std::int32_t index = 0;  // into instructions(), tiles() or loops()
  std::int32_t end = 0;    // Loop: one past its last statement
  bool operator==(const Statement&) const = default;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("kind", self.kind);
    v("index", self.index);
    v("end", self.end);
  }
};

class Program {
 public:
  struct Parts {
    std::string name;
    std::string machine;  // "trn2": programs are built for one machine
    std::vector<TensorDecl> tensors;
    std::vector<TileDecl> tiles;
    std::vector<LoopDecl> loops;
    std::vector<Instruction> instructions;
    std::vector<Statement> statements;

    bool operator==(const Parts&) const = default;
    template <class Self, class V> static void visit(Self& self, V&& v) {
      v("name", self.name);
      v("machine", self.machine);
      v("tensors", self.tensors);
      v("tiles", self.tiles);
      v("loops", self.loops);
      v("instructions", self.instructions);
      v("statements", self.statements);
    }
  };

  // Throws InternalError when an index in `parts` points nowhere; the rules of the machine are verify()'s business.
  explicit Program(Parts parts);

  [[nodiscard]] const std::string& name() const { return parts_.name; }
  [[nodiscard]] const std::string& machine() const { return parts_.machine; }
  [[nodiscard]] const std::vector<TensorDecl>& tensors() const { return parts_.tensors; }
  [[nodiscard]] const std::vector<TileDecl>& tiles() const { return parts_.tiles; }
  [[nodiscard]] const std::vector<LoopDecl>& loops() const { return parts_.loops; }
  [[nodiscard]] const std::vector<Instruction>& instructions() const { return parts_.instructions; }
  [[nodiscard]] const std::vector<Statement>& statements() const { return parts_.statements; }
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // Instructions executed when every loop runs as often as it may.
  [[nodiscard]] std::int64_t dynamic_instructions() const;
  // Some loop runs as often as the device finds.
  [[nodiscard]] bool has_dynamic_loops() const;

  friend bool operator==(const Program& a, const Program& b) { return a.hash_ == b.hash_ && a.parts_ == b.parts_; }

 private:
  Parts parts_;
  std::uint64_t hash_;
};

// An address in HBM that a register decides: the variable of a Counted loop, or a dynamic start.
[[nodiscard]] bool follows_register(const Program& program, const Instruction& instruction);

}  // namespace trn::tile
