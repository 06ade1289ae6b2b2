// fft.elementwise and fft.move on the device.
//
// Which elements lie where: strided_tiles.hpp. DMA moves 8 bytes for a complex operand, 4 for a real one. Per element
// the Vector Engine does 2 (add, subtract, conj), 4 (multiply; GpSimd the other 2), about 40 (divide), 20 (abs; Scalar
// 1), 45 (angle, from_polar) operators: DMA binds the first, the Vector Engine all others. Moves are DMA alone.
#include "../elementwise.hpp"

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/fft/elementwise_program.hpp>

#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>
#include "exact_functions.hpp"
#include "in_place.hpp"
#include "line_kernel.hpp"
#include "strided_tiles.hpp"
#include "tile_functions.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;

namespace {

constexpr std::int64_t kTilePoints = 1024;     // per partition
constexpr std::int64_t kFunctionPoints = 512;  // of functions, which have some fifty tiles of intermediate results
constexpr std::int64_t kMovePoints = 4096;     // words of a move
constexpr std::int64_t kBuffers = 4;  // loads and stores of other tiles go on meanwhile: DMA takes 2 us to begin

bool has_second(ComplexOp op) { return op != ComplexOp::Conjugate && op != ComplexOp::Abs && op != ComplexOp::Angle; }
bool is_function(ComplexOp op) { return op >= ComplexOp::Divide && op != ComplexOp::Conjugate; }

class ElementwiseKernel {
 public:
  ElementwiseKernel(const ElementwiseShape& shape, const Machine& machine)
      : s_(shape), both_(shape.over_a && shape.over_b), b_("fft_elementwise", machine) {}

  Program build() {
    std::vector<Strides> strides{s_.out.strides, s_.a.strides};
    if (has_second(s_.op)) strides.push_back(s_.b.strides);
    const std::vector<StridedAxis> axes = merged_axes(s_.shape, strides);
    out_ = declare("out", s_.out, axes, 0);
    a_ = declare("a", s_.a, axes, 1);
    if (has_second(s_.op)) {
      operand_b_ = both_ ? a_ : declare("b", s_.b, axes, 2);
      operand_b_.operand = 2;
    }
    for_strided_tiles(b_, axes, is_function(s_.op) ? kFunctionPoints : kTilePoints,
                      [&](const StridedTile& t) { tile(t); });
    const Program program = tile::static_stores(b_.finish());
    if (!s_.over_a && !s_.over_b) return program;
    Continued pairs;
    const std::string from = s_.over_a ? "a" : "b";
    if (s_.out.form != ElementForm::Planar)
      pairs = {{from, "out"}};
    else
      pairs = {{from + "_re", "out_re"}, {from + "_im", "out_im"}};
    return continuing(program, pairs);
  }

 private:
  struct Side {
    ElementForm form = ElementForm::Real;
    std::size_t operand = 0;
    Access tensor[2];
  };
  // An operand's tile: one access for everything (pairs or real numbers), or one per part.
  struct Data {
    Access whole;
    Parts parts;
  };

  Side declare(const char* name, const ElementSide& side, const std::vector<StridedAxis>& axes, std::size_t operand) {
    Side made{side.form, operand, {}};
    Shape shape;
    Strides strides;
    for (const StridedAxis& axis : axes) shape.push_back(axis.extent), strides.push_back(axis.stride[operand]);
    if (side.form == ElementForm::Interleaved) shape.push_back(2), strides.push_back(1);
    for (int part = 0; part < (side.form == ElementForm::Planar ? 2 : 1); ++part) {
      const std::string full =
          side.form == ElementForm::Planar ? fmt::format("{}_{}", name, part == 0 ? "re" : "im") : name;
      made.tensor[part] = operand == 0 ? b_.output(full, DType::Float32, shape, strides)
                                       : b_.input(full, DType::Float32, shape, strides);
    }
    return made;
  }

  Data data(const Side& side, const StridedTile& t) {
    const std::int64_t n = t.free(), pairs = side.form == ElementForm::Interleaved ? 2 : 1;
    const auto one = [&](const char* name) {
      return b_.sbuf(name, t.partitions(), {n * pairs}, DType::Float32, is_function(s_.op) ? 2 : kBuffers);
    };
    const Access first = one("data");
    if (side.form == ElementForm::Planar) return {{}, {first, one("data_im")}};
    if (side.form == ElementForm::Real) return {first, {first, {}}};
    return {first, {pattern(first, 0, {{2, n}}), pattern(first, 1, {{2, n}})}};
  }
  template <class Move> void transfer(const Side& side, const StridedTile& t, const Data& d, const Move& move) {
    std::vector<Dim> dims = t.dims(side.operand);
    if (side.form == ElementForm::Interleaved) dims.push_back({1, 2});
    const auto at = [&](int part) { return pattern(side.tensor[part], t.offset[side.operand], dims); };
    if (side.form != ElementForm::Planar) return move(d.whole, at(0));
    move(d.parts.re, at(0));
    move(d.parts.im, at(1));
  }
  Data loaded(const Side& side, const StridedTile& t) {
    Data d = data(side, t);
    transfer(side, t, d, [&](const Access& tile, const Access& hbm) { b_.dma_copy(tile, hbm); });
    return d;
  }

  void tile(const StridedTile& t) {
    const Data a = loaded(a_, t), y = data(out_, t);
    const Data b = has_second(s_.op) ? loaded(operand_b_, t) : a;
    compute(t, y, a, b);
    transfer(out_, t, y, [&](const Access& tile, const Access& hbm) { b_.dma_copy(hbm, tile); });
  }

  void compute(const StridedTile& t, const Data& y, const Data& a, const Data& b) {
    TileFunctions f(b_, t.partitions(), t.free());
    const bool real = out_.form == ElementForm::Real;
    const auto each_part = [&](AluOp op) {
      if (y.whole.present() && a.whole.present() && b.whole.present())
        return b_.tensor_tensor(y.whole, a.whole, b.whole, op, Engine::Vector);
      b_.tensor_tensor(y.parts.re, a.parts.re, b.parts.re, op, Engine::Vector);
      b_.tensor_tensor(y.parts.im, a.parts.im, b.parts.im, op, Engine::Vector);
    };
    switch (s_.op) {
      case ComplexOp::Add:
        return each_part(AluOp::Add);
      case ComplexOp::Subtract:
        return each_part(AluOp::Subtract);
      case ComplexOp::Multiply:
        if (real) return each_part(AluOp::Multiply);
        return f.multiply(y.parts, a.parts, b.parts, TileFunctions::Conjugate::No);
      case ComplexOp::MultiplyConjugate:
        return f.multiply(y.parts, a.parts, b.parts, TileFunctions::Conjugate::Second);
      case ComplexOp::Divide:
        return f.divide(y.parts, a.parts, b.parts);
      case ComplexOp::Conjugate:
        b_.activation(y.parts.re, ActFunction::Copy, a.parts.re);
        return b_.tensor_scalar(y.parts.im, a.parts.im, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
      case ComplexOp::Abs:
        return f.modulus(y.parts.re, a.parts);
      case ComplexOp::Angle:
        return f.angle(y.parts.re, a.parts);
      case ComplexOp::FromPolar:
        return f.from_polar(y.parts, a.parts.re, b.parts.re);
    }
  }

  const ElementwiseShape s_;
  const bool both_;
  tile::Builder b_;
  Side out_, a_, operand_b_;
};

void check_forms(const ElementwiseShape& s) {
  const auto real = [](const ElementSide& side) { return side.form == ElementForm::Real; };
  bool fits = true;
  switch (s.op) {
    case ComplexOp::Add:
    case ComplexOp::Subtract:
    case ComplexOp::Multiply:
      fits = real(s.a) == real(s.out) && real(s.b) == real(s.out);
      break;
    case ComplexOp::MultiplyConjugate:
    case ComplexOp::Divide:
      fits = !real(s.a) && !real(s.b) && !real(s.out);
      break;
    case ComplexOp::Conjugate:
      fits = !real(s.a) && !real(s.out);
      break;
    case ComplexOp::Abs:
    case ComplexOp::Angle:
      fits = !real(s.a) && real(s.out);
      break;
    case ComplexOp::FromPolar:
      fits = real(s.a) && real(s.b) && !real(s.out);
      break;
  }
  require(fits, "fft.elementwise: operation {} has no kernel for this mixture of real and complex operands",
          static_cast<int>(s.op));
}

}  // namespace

Program elementwise_program(const ElementwiseShape& shape, const Machine& machine) {
  check_forms(shape);
  return ElementwiseKernel(shape, machine).build();
}

namespace {

constexpr std::int64_t kWordBytes = 4;

// In words, the target's strides first.
std::vector<StridedAxis> axes_of(const Move& m) {
  Shape shape = m.shape;
  Strides to = m.to, from = m.zeros ? m.to : m.from;
  shape.push_back(m.words), to.push_back(1), from.push_back(1);
  return merged_axes(shape, {to, from});
}

// One run of memory to another.
bool is_contiguous(const Move& m) {
  const std::vector<StridedAxis> axes = axes_of(m);
  return !m.zeros && axes.size() == 1 && axes[0].stride[0] == 1 && axes[0].stride[1] == 1;
}

void one_move(tile::Builder& b, const Move& m, std::size_t number) {
  const std::vector<StridedAxis> axes = axes_of(m);
  Shape extents;
  Strides strides[2];
  for (const StridedAxis& axis : axes) {
    extents.push_back(axis.extent);
    for (std::size_t i = 0; i < 2; ++i) strides[i].push_back(axis.stride[i]);
  }
  const Access y = b.output(fmt::format("y{}", number), DType::UInt32, extents, strides[0]);
  const Access zeros = m.zeros ? b.sbuf("zeros", b.machine().partitions, {kTilePoints}, DType::UInt32) : Access{};
  if (m.zeros) b.memset(zeros, 0, Engine::Vector);
  const Access x = m.zeros ? Access{} : b.input(fmt::format("x{}", number), DType::UInt32, extents, strides[1]);
  for_strided_tiles(b, axes, m.zeros ? kTilePoints : kMovePoints, [&](const StridedTile& t) {
    const Access into = pattern(y, t.offset[0], t.dims(0));
    if (m.zeros) return b.dma_copy(into, zeros(ds(0, t.partitions()), ds(0, t.free())));
    const Access words = b.sbuf("words", t.partitions(), {t.free()}, DType::UInt32, kBuffers);
    b.dma_copy(words, pattern(x, t.offset[1], t.dims(1)));
    b.dma_copy(into, words);
  });
}

}  // namespace

Program move_program(const MoveShape& s, const Machine& machine) {
  tile::Builder b("fft_move", machine);
  for (std::size_t i = 0; i < s.moves.size(); ++i) one_move(b, s.moves[i], i);
  return tile::static_stores(b.finish());
}

namespace device {

void elementwise(const Executor& executor, const ElementwiseArgs& args) {
  if (args.real != DType::Float32) return exact_elementwise(executor, args);
  ElementwiseShape shape{args.op, args.shape, {}, {}, {}};
  std::vector<Argument> arguments;
  const auto side = [&](const char* name, const ElementwiseSide& given, ElementSide& made) {
    const bool pairs = given.im != nullptr && static_cast<float*>(given.im) == static_cast<float*>(given.re) + 1;
    made = {given.im == nullptr ? ElementForm::Real
            : pairs             ? ElementForm::Interleaved
                                : ElementForm::Planar,
            given.strides};
    if (made.form != ElementForm::Planar) return arguments.push_back({name, given.re});
    arguments.push_back({fmt::format("{}_re", name), given.re});
    arguments.push_back({fmt::format("{}_im", name), given.im});
  };
  side("a", args.a, shape.a);
  if (has_second(args.op)) side("b", args.b, shape.b);
  side("out", args.out, shape.out);
  const auto over = [&](const ElementwiseSide& given, const ElementSide& made) {
    return given.re == args.out.re && given.im == args.out.im && made == shape.out;
  };
  shape.over_a = over(args.a, shape.a);
  shape.over_b = has_second(args.op) && over(args.b, shape.b);
  launch(executor, elementwise_program, shape, arguments);
}

void move(const Executor& executor, const MoveArgs& args) {
  MoveShape shape;
  std::vector<Argument> arguments;
  for (const MoveArgs::One& m : args.moves) {
    const std::size_t number = shape.moves.size();
    const bool zeros = m.from == nullptr;
    const Move move{m.shape, zeros ? Strides{} : m.from_strides, m.to_strides, m.words, zeros};
    if (is_contiguous(move)) {
      copy_bytes(executor, m.from, executor, m.to, axes_of(move)[0].extent * kWordBytes);
      continue;
    }
    shape.moves.push_back(move);
    arguments.push_back({fmt::format("y{}", number), m.to});
    if (!zeros) arguments.push_back({fmt::format("x{}", number), m.from});
  }
  if (!shape.moves.empty()) launch(executor, move_program, shape, arguments);
}

}  // namespace device

}  // namespace trn::fft
