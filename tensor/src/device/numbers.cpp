// Operators on tiles. Arithmetic on the Vector Engine, functions on the Scalar Engine; everything in fp32.
#include "numbers.hpp"

#include <algorithm>

#include <trn/core/error.hpp>

namespace trn::tensor::device {

using namespace trn::tile;
using blocks::BoxGroup;
using blocks::BoxPart;

std::int64_t words_of(DType dtype) { return is_complex(dtype) || size_bytes(dtype) > 4 ? size_bytes(dtype) / 4 : 1; }
DType word_type(DType dtype) {
  if (real_of(dtype) == DType::Float64) return DType::UInt32;
  return is_complex(dtype) ? DType::Float32 : dtype;
}

namespace {

Access plane(Access tile, std::int64_t p) {
  tile.offset = tile.offset + Affine(p * tile.dims.back().stride);
  tile.dims.pop_back();
  return tile;
}

ActFunction function_of(Unary op) {
  switch (op) {
    case Unary::Sqrt:
      return ActFunction::Sqrt;
    case Unary::Sigmoid:
      return ActFunction::Sigmoid;
    case Unary::Tanh:
      return ActFunction::Tanh;
    case Unary::Exp:
      return ActFunction::Exp;
    case Unary::Log:
      return ActFunction::Log;
    case Unary::Atan:
      return ActFunction::Arctan;
    case Unary::Mish:
      return ActFunction::Mish;
    case Unary::Swish:
      return ActFunction::Silu;
    case Unary::Softplus:
      return ActFunction::Softplus;
    default:
      return ActFunction::Copy;
  }
}

}  // namespace

bool has_device(Unary op, bool complex) {
  switch (op) {
    case Unary::Identity:
    case Unary::Neg:
    case Unary::Conj:
      return true;
    case Unary::Abs:
    case Unary::Relu:
    case Unary::Rcp:
    case Unary::Softsign:
    case Unary::Floor:
    case Unary::Ceil:
      return !complex;
    default:
      return !complex && function_of(op) != ActFunction::Copy;
  }
}

blas::ElementFunction element_function(Unary op) {
  using Kind = blas::ElementFunction::Kind;
  switch (op) {
    case Unary::Neg:
      return {Kind::Scalar, ActFunction::Copy, AluOp::Multiply, -1};
    case Unary::Abs:
      return {Kind::Scalar, ActFunction::Copy, AluOp::Abs, 0};
    case Unary::Relu:
      return {Kind::Scalar, ActFunction::Copy, AluOp::Maximum, 0};
    case Unary::Rcp:
      return {Kind::Reciprocal};
    default:
      break;
  }
  const ActFunction table = function_of(op);
  if (table == ActFunction::Copy) return {};
  return {Kind::Table, table};
}

AluOp operator_of(Binary op) {
  switch (op) {
    case Binary::Add:
      return AluOp::Add;
    case Binary::Mul:
      return AluOp::Multiply;
    case Binary::Max:
      return AluOp::Maximum;
    case Binary::Min:
      return AluOp::Minimum;
  }
  return AluOp::Add;
}

Access Numbers::tile(const std::string& name, DType dtype, std::int64_t partitions, std::int64_t free) const {
  const std::int64_t words = words_of(dtype);
  return b_.sbuf(name, partitions, words == 1 ? Shape{free} : Shape{free, words}, word_type(dtype), buffers_);
}

Number Numbers::parts(const Access& tile, DType dtype) {
  return is_complex(dtype) ? Number{plane(tile, 0), plane(tile, 1)} : Number{tile, {}};
}

Number Numbers::fresh(const std::string& name, std::int64_t partitions, std::int64_t free, bool complex) const {
  const auto one = [&](const char* suffix) {
    return b_.sbuf(name + suffix, partitions, {free}, DType::Float32, buffers_);
  };
  return {one(complex ? "_re" : ""), complex ? one("_im") : Access{}};
}

Number Numbers::apply(Unary op, const Number& x, const std::string& name) const {
  if (op == Unary::Identity || (op == Unary::Conj && !x.complex())) return x;
  const auto negated = [&](const Access& from, const Access& to) {
    b_.tensor_scalar(to, from, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
  };
  const Number y = fresh(name, x.re.partitions, x.re.free_size(), x.complex());
  switch (op) {
    case Unary::Conj:
      negated(x.im, y.im);
      return {x.re, y.im};
    case Unary::Neg:
      negated(x.re, y.re);
      if (x.complex()) negated(x.im, y.im);
      break;
    case Unary::Abs:
      b_.tensor_scalar(y.re, x.re, AluOp::Abs, 0.0, {.engine = Engine::Vector});
      break;
    case Unary::Relu:
      b_.tensor_scalar(y.re, x.re, AluOp::Maximum, 0.0, {.engine = Engine::Vector});
      break;
    case Unary::Rcp:
      b_.reciprocal(y.re, x.re);
      break;
    case Unary::Softsign:
      softsign(y.re, x.re, name);
      break;
    case Unary::Floor:
    case Unary::Ceil:
      whole(y.re, x.re, op == Unary::Floor, name);
      break;
    default:
      b_.activation(y.re, function_of(op), x.re);
  }
  return y;
}

// x / (1 + |x|), of x within 2^100 of 0: beyond, and at infinity, the quotient is 1.
void Numbers::softsign(const Access& to, const Access& x, const std::string& name) const {
  const Access near = fresh(name + "_near", x.partitions, x.free_size(), false).re,
               down = fresh(name + "_down", x.partitions, x.free_size(), false).re;
  b_.tensor_scalar(near, x, AluOp::Minimum, 0x1p100, {.engine = Engine::Vector});
  b_.tensor_scalar(near, near, AluOp::Maximum, -0x1p100, {.engine = Engine::Vector});
  b_.tensor_scalar(down, near, AluOp::Abs, 0.0, {.engine = Engine::Vector});
  b_.tensor_scalar(down, down, AluOp::Add, 1.0, {.engine = Engine::Vector});
  b_.reciprocal(down, down);
  b_.tensor_tensor(to, near, down, AluOp::Multiply, Engine::Vector);
}

// The next whole number below or above. Numbers of 2^23 and more are whole. Adding and subtracting 2^23 rounds |x| to
// the nearest whole number r; where r lies on the wrong side of x, it is one too far.
void Numbers::whole(const Access& to, const Access& x, bool down, const std::string& name) const {
  const auto tile = [&](const char* suffix) { return fresh(name + suffix, x.partitions, x.free_size(), false).re; };
  const auto scalar = [&](const Access& out, const Access& in, AluOp op, double value) {
    b_.tensor_scalar(out, in, op, value, {.engine = Engine::Vector});
  };
  const auto both = [&](const Access& out, const Access& p, const Access& q, AluOp op) {
    b_.tensor_tensor(out, p, q, op, Engine::Vector);
  };
  constexpr double kWhole = 0x1p23;
  const Access small = tile("_small"), size = tile("_size"), nearest = tile("_nearest"), wrong = tile("_wrong"),
               large = tile("_large");
  scalar(small, x, AluOp::Minimum, kWhole);  // x where it is small, so that the rest is finite
  scalar(small, small, AluOp::Maximum, -kWhole);
  scalar(size, small, AluOp::Abs, 0.0);
  scalar(nearest, size, AluOp::Add, kWhole);
  scalar(nearest, nearest, AluOp::Subtract, kWhole);
  scalar(wrong, small, AluOp::Less, 0.0);  // the sign: 1 - 2 (x < 0)
  scalar(wrong, wrong, AluOp::Multiply, -2.0);
  scalar(wrong, wrong, AluOp::Add, 1.0);
  both(nearest, nearest, wrong, AluOp::Multiply);
  both(wrong, nearest, small, down ? AluOp::Greater : AluOp::Less);
  both(nearest, nearest, wrong, down ? AluOp::Subtract : AluOp::Add);
  scalar(wrong, size, AluOp::Less, kWhole);
  both(nearest, nearest, wrong, AluOp::Multiply);
  scalar(large, size, AluOp::GreaterEqual, kWhole);
  both(large, large, x, AluOp::Multiply);  // NaN stays: 0 times NaN
  both(to, nearest, large, AluOp::Add);
}

Number Numbers::scaled(const Number& x, Factor kind, const Access& factor, const std::string& name) const {
  if (kind == Factor::One) return x;
  const std::int64_t rows = x.re.partitions, free = x.re.free_size();
  if (kind == Factor::Zero) {
    const Number zero = fresh(name, rows, free, false);
    b_.memset(zero.re, 0, Engine::Vector);
    return zero;
  }
  const auto times = [&](const Access& to, const Access& from, const Access& by) {
    b_.tensor_scalar(to, from, AluOp::Multiply, by, {.engine = Engine::Vector});
  };
  const Access re = factor(ds(0, rows), ds(0, 1));
  const bool complex = kind == Factor::ComplexInput;
  const Number y = fresh(name, rows, free, complex || x.complex());
  times(y.re, x.re, re);
  if (x.complex()) times(y.im, x.im, re);
  if (!complex) return y;
  const Access im = factor(ds(0, rows), ds(1, 1));
  const Access cross = fresh(name + "_cross", rows, free, false).re;
  times(cross, x.re, im);
  if (!x.complex()) return {y.re, cross};
  b_.tensor_tensor(y.im, y.im, cross, AluOp::Add, Engine::Vector);
  const Access other = fresh(name + "_other", rows, free, false).re;
  times(other, x.im, im);
  b_.tensor_tensor(y.re, y.re, other, AluOp::Subtract, Engine::Vector);
  return y;
}

Number Numbers::joined(Binary op, const Number& x, const Number& y, const std::string& name) const {
  const std::int64_t rows = x.re.partitions, free = x.re.free_size();
  const bool complex = x.complex() || y.complex();
  const Number z = fresh(name, rows, free, complex);
  const auto both = [&](const Access& to, const Access& p, const Access& q, AluOp with) {
    b_.tensor_tensor(to, p, q, with, Engine::Vector);
  };
  both(z.re, x.re, y.re, operator_of(op));
  if (!complex) return z;
  if (op == Binary::Add) {
    if (x.complex() && y.complex())
      both(z.im, x.im, y.im, AluOp::Add);
    else
      return {z.re, x.complex() ? x.im : y.im};
    return z;
  }
  // (a + bi)(c + di)
  if (!x.complex() || !y.complex()) {
    both(z.im, x.complex() ? x.im : x.re, y.complex() ? y.im : y.re, AluOp::Multiply);
    return z;
  }
  const Access cross = fresh(name + "_cross", rows, free, false).re;
  both(cross, x.im, y.im, AluOp::Multiply);
  both(z.re, z.re, cross, AluOp::Subtract);
  const Access other = fresh(name + "_other", rows, free, false).re;
  both(z.im, x.re, y.im, AluOp::Multiply);
  both(other, x.im, y.re, AluOp::Multiply);
  both(z.im, z.im, other, AluOp::Add);
  return z;
}

void Numbers::put(const Access& tile, DType dtype, const Number& x) const {
  const Number to = parts(tile, dtype);
  b_.tensor_copy(to.re, x.re, Engine::Vector);
  if (!to.complex()) return;
  if (x.complex())
    b_.tensor_copy(to.im, x.im, Engine::Vector);
  else
    b_.memset(to.im, 0, Engine::Vector);
}

BoxGroup boxes_of(const Group& group, const std::array<std::int64_t, 4>& words) {
  BoxGroup boxes;
  for (const FoldedIndex& i : group)
    boxes.push_back({i.extent, {i.a * words[0], i.b * words[1], i.c * words[2], i.d * words[3]}});
  return boxes;
}

Access pattern_of(const Access& hbm, const Affine& offset, const std::vector<const BoxGroup*>& boxes,
                  std::size_t operand, std::int64_t words) {
  Access a = hbm;
  a.offset = a.offset + offset;
  a.dims.clear();
  for (const BoxGroup* box : boxes) blocks::append_dims(a.dims, *box, operand);
  if (words > 1) a.dims.push_back({1, words});
  if (a.dims.empty()) a.dims.push_back({1, 1});
  return a;
}

void for_tiles(Builder& b, const std::string& name, const BoxGroup& group, std::int64_t most, const TileBody& body) {
  if (group.empty()) return body({}, {});
  const blocks::Cut cut = blocks::cut_of(group, most);
  const blocks::BoxIndex& index = group[cut.index];
  const std::int64_t whole = index.extent / cut.count, rest = index.extent % cut.count;
  const auto cover = [&](std::int64_t first, std::int64_t count, std::int64_t times) {
    BoxGroup free(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(cut.index)), outer;
    free.push_back({count, index.stride});
    if (times > 1) {
      blocks::BoxIndex next{times, index.stride};
      for (std::int64_t& stride : next.stride) stride *= count;
      outer.push_back(next);
    }
    outer.insert(outer.end(), group.begin() + static_cast<std::ptrdiff_t>(cut.index) + 1, group.end());
    blocks::for_parts(b, name, outer, blocks::cut_of(outer, b.machine().partitions), LoopKind::Parallel, 1,
                      [&](BoxPart part) {
                        for (std::size_t i = 0; i < blocks::kBoxOperands; ++i)
                          part.offset[i] = part.offset[i] + Affine(first * index.stride[i]);
                        body(part, free);
                      });
  };
  cover(0, cut.count, whole);
  if (rest > 0) cover(whole * cut.count, rest, 1);
}

}  // namespace trn::tensor::device
