// Arithmetic with two words on tiles: see double_words.hpp.
#include "double_words.hpp"

#include "vectors.hpp"

namespace trn::blas::device {

using namespace trn::tile;

Word DoubleWords::combine(const Word& a, const Word& b, AluOp op) {
  const Word c = fresh(a);
  b_.tensor_tensor(c, a, b, op, Engine::Vector);
  return c;
}

Word DoubleWords::scaled_add(const Word& a, double f, const Word& b) {
  const Word c = fresh(a);
  b_.scalar_tensor_tensor(c, a, AluOp::Multiply, f, AluOp::Add, b);
  return c;
}

Word DoubleWords::rounded(const Word& x, double unit) {
  const Word c = fresh(x);
  const double magic = 0x1.8p23 * unit;  // sums with it are multiples of the unit
  b_.tensor_scalar(c, x, AluOp::Add, magic, {.op1 = AluOp::Subtract, .operand1 = magic, .engine = Engine::Vector});
  return c;
}

Word DoubleWords::head(const Word& a) {
  const Word c = fresh(a, DType::TFloat32);
  b_.activation(c, ActFunction::Copy, a);
  return c;
}

Word DoubleWords::square(const Word& a) {
  const Word c = fresh(a);
  b_.activation(c, ActFunction::Square, a);
  return c;
}

WordPair DoubleWords::fast_two_sum(const Word& a, const Word& b) {
  const Word s = add(a, b);
  return {s, subtract(b, subtract(s, a))};
}

WordPair DoubleWords::two_sum(const Word& a, const Word& b) {
  const Word s = add(a, b), t = subtract(s, a);
  return {s, add(subtract(a, subtract(s, t)), subtract(b, t))};
}

// With t0 the head of the normalised x: t0 w and (x.hi - t0) w are exact, as are the products of the head of their sum
// with a.
void DoubleWords::weigh(const WordPair& to, const WordPair& x, const Weight& weight) {
  WordPair s;
  Word low;
  {
    const WordPair t = fast_two_sum(x.hi, x.lo);
    const Word t0 = head(t.hi);
    s = fast_two_sum(multiply(t0, weight.w), multiply(subtract(t.hi, t0), weight.w));
    low = add(s.lo, multiply(t.lo, weight.w));
  }
  {
    const Word whole = fresh(low);  // low (1 + a)
    b_.scalar_tensor_tensor(whole, weight.a, AluOp::Add, 1.0, AluOp::Multiply, low);
    low = whole;
  }
  const Word s0 = head(s.hi);
  low = add(low, add(multiply(subtract(s.hi, s0), weight.a), multiply(s.hi, weight.b)));
  const Word first = multiply(s0, weight.a);
  const Word high = add(s.hi, first);
  low = add(low, subtract(first, subtract(high, s.hi)));
  // A weight of a small D among large energies has a large b (pair_weights.hpp), and with it low is large: sum_squares
  // leaves out lo^2, so the words are made a pair again.
  b_.tensor_tensor(to.hi, high, low, AluOp::Add, Engine::Vector);
  b_.tensor_tensor(to.lo, low, subtract(to.hi, high), AluOp::Subtract, Engine::Vector);
}

WordPair DoubleWords::difference(const WordPair& x, const WordPair& y) {
  const Word s = subtract(x.hi, y.hi), t = subtract(s, x.hi);
  const Word lost = subtract(subtract(x.hi, subtract(s, t)), add(y.hi, t));
  return {s, add(subtract(x.lo, y.lo), lost)};
}

void DoubleWords::sum_squares(const Column& column, const WordPair& x, std::int64_t rows) {
  // p = x.hi^2 rounded, rest = x.hi^2 - p + 2 x.hi x.lo
  const Word p = square(x.hi);
  Word rest;
  {
    const Word x0 = head(x.hi), x1 = subtract(x.hi, x0);
    rest = scaled_add(multiply(x0, x1), 2, subtract(square(x0), p));
    rest = scaled_add(multiply(x.hi, x.lo), 2, add(rest, square(x1)));
  }
  const std::int64_t columns = p->free_size() / rows;
  const auto row = [&](const Access& a, std::int64_t r) { return flat(a)(all, ds(r * columns, columns)); };
  const auto sum = [&](std::int64_t r, std::int64_t word, const Word& data) {
    const Word unused = pool_.take(p->partitions, {columns});
    b_.activation(unused, ActFunction::Copy, row(data, r), {.reduce_res = column(r, word)});
  };
  const Word power = pool_.take(p->partitions, {rows}), magic = pool_.take(p->partitions, {rows});
  b_.tensor_reduce(power, AluOp::Maximum, flat(p).split(0, columns));
  const Access bits = power->view(DType::UInt32);
  b_.tensor_scalar(bits, bits, AluOp::BitwiseAnd, double{0x7f800000}, {.engine = Engine::Vector});
  // In units of that power: 1024 squares below 2 stay within 2^11. Level 1 is a multiple of 2^-12 and leaves 2^-13,
  // level 2 one of 2^-25 and leaves 2^-26; `rest` is below 2^-20; level 3 is a multiple of 2^-32.
  constexpr double kLevels[] = {0x1p11, 0x1p-2, 0x1p-9};
  Word left = p;
  for (int level = 0; level < 3; ++level) {
    if (level == 2) left = add(left, rest);
    const Word cut = fresh(p);
    b_.tensor_scalar(magic, power, AluOp::Multiply, kLevels[level], {.engine = Engine::Vector});
    for (std::int64_t r = 0; r < rows; ++r) {
      const Access m = (*magic)(all, ds(r, 1));
      b_.tensor_scalar(row(cut, r), row(left, r), AluOp::Add, m,
                       {.op1 = AluOp::Subtract, .operand1 = m, .engine = Engine::Vector});
      sum(r, level, cut);
    }
    left = subtract(left, cut);
  }
  for (std::int64_t r = 0; r < rows; ++r) sum(r, 3, left);
}

}  // namespace trn::blas::device
