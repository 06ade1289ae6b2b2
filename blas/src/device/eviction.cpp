// Emptying PSUM.
//
// A part of C is a short sum of scaled addends: the old C, the low sums, what compensation kept, the leading sums. Each
// addend costs one pass of the Vector Engine over a piece, (x * factor) + running; a single addend may go to the Scalar
// Engine instead, and where no words are made there the two engines share the pieces by their speed.
#include "eviction.hpp"

#include <algorithm>
#include <trn/tile/blocks/elementwise.hpp>

#include "element_function.hpp"
#include "triangle.hpp"

namespace trn::blas::device {

using namespace trn::tile;

namespace {

bool is_one(const ScalarOrTile& factor) {
  return std::holds_alternative<double>(factor) && std::get<double>(factor) == 1;
}

Access at(Access access, std::size_t d, std::int64_t index) {
  access.offset = access.offset + Affine(index * access.dims[d].stride);
  access.dims.erase(access.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return access;
}

Shape shape_of(const GemmShape& g) { return is_complex(g.out) ? Shape{g.m, g.n, 2} : Shape{g.m, g.n}; }
Strides strides_of(const GemmShape& g) { return is_complex(g.out) ? Strides{g.cm, g.cn, g.c_im} : Strides{g.cm, g.cn}; }

}  // namespace

Access Block::bank(int sum, const BankRectangle& p, std::int64_t from, std::int64_t width) const {
  const blocks::Accumulator& acc = sums[static_cast<std::size_t>(sum)];
  return acc.piece(p.i, p.j)(all, ds(from - p.j * acc.piece_columns, width));
}

Eviction::Eviction(Builder& b, const GemmShape& shape, const Scheme& scheme, const Access& over)
    : b_(b), g_(shape), s_(scheme), side_(b.machine().partitions) {
  const bool continues = g_.beta != Factor::Zero || g_.region != Region::All;
  if (continues) c_in_ = b_.input("c_in", real_of(g_.out), shape_of(g_), strides_of(g_));
  alpha_ = factor("alpha", g_.alpha);
  beta_ = factor("beta", g_.beta);
  c_ = over.present()             ? b_.output_over("c", over)
       : !continues               ? b_.output("c", real_of(g_.out), shape_of(g_), strides_of(g_))
       : g_.region == Region::All ? b_.output_over("c", c_in_)
                                  : b_.partial_output("c", c_in_);
}

Eviction::Eviction(Builder& b, const GemmShape& shape, const Scheme& scheme, Mover move, const Access& alpha,
                   const Access& beta)
    : b_(b), g_(shape), s_(scheme), side_(b.machine().partitions), mover_(std::move(move)) {
  alpha_ = factor("alpha", g_.alpha, alpha);
  beta_ = factor("beta", g_.beta, beta);
}

Eviction::Number Eviction::factor(const std::string& name, Factor kind, const Access& given) {
  const auto negated = [&](const Access& tile, const char* suffix) {
    const Access negative = b_.sbuf(name + suffix, tile.partitions, {1}, DType::Float32);
    b_.tensor_scalar(negative, tile, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
    return negative;
  };
  Number n{kind, {0.0, 0.0}, {0.0, 0.0}};
  if (kind == Factor::One) n.re[0] = 1.0, n.re[1] = -1.0;
  if (kind == Factor::Input) {
    const Access tile = given.present() ? given : blocks::scalar_input(b_, name);
    n.re[0] = tile;
    if (s_.complex) n.re[1] = negated(tile, "_negative");
  }
  if (kind == Factor::ComplexInput) {
    Access tile = given;
    if (!tile.present()) {
      const Access pair = b_.input(name, DType::Float32, {2});
      tile = b_.sbuf(name + "_tile", side_, {2}, DType::Float32);
      b_.dma_copy(tile, pair.broadcast(0, side_));
    }
    const Access re = tile(all, ds(0, 1)), im = tile(all, ds(1, 1));
    n.re[0] = re, n.re[1] = negated(re, "_negative"), n.im[0] = im, n.im[1] = negated(im, "_negative_im");
  }
  return n;
}

// The same for the `height` partitions of one piece.
ScalarOrTile Eviction::top(const ScalarOrTile& factor, std::int64_t height) {
  if (const Access* tile = std::get_if<Access>(&factor)) return (*tile)(ds(0, height), all);
  return factor;
}

// Tiles of pieces lie like C does, so that rows are long.
Access Eviction::piece_tile(const std::string& name, std::int64_t height, std::int64_t width,
                            std::int64_t buffers) const {
  const Shape shape = !s_.complex ? Shape{width} : g_.c_im == 1 ? Shape{width, 2} : Shape{2, width};
  return b_.sbuf(name, height, shape, real_of(g_.out), buffers);
}
Access Eviction::part(const Access& tile, int p) const {
  return !s_.complex ? tile : at(tile, g_.c_im == 1 ? 1 : 0, p);
}

Block Eviction::begin(const Affine& m0, const Affine& n0, std::int64_t rows, std::int64_t columns,
                      std::vector<BankRectangle> pieces) const {
  Block block{m0, n0, rows, columns, std::move(pieces), {}, {}, {}, {}};
  for (int s = 0; s < s_.sums(); ++s) {
    const std::string number = s_.values > 1 ? std::to_string(s / (s_.low() ? 2 : 1)) : "";
    const bool low = s_.low() && s % 2 == 1;
    block.sums.push_back(blocks::accumulator(b_, "sums" + number + (low ? "_low" : ""), rows, columns));
  }
  if (s_.group_tiles == 0) return block;
  const std::int64_t height = std::min(rows, side_), bank = blocks::bank_columns(b_.machine());
  const auto count = static_cast<std::int64_t>(block.pieces.size());
  for (int v = 0; v < s_.values; ++v) {
    block.total.push_back(b_.sbuf("total", height, {count, bank}, DType::Float32));
    b_.memset(block.total.back(), 0, Engine::Vector);
    if (!s_.compensated) continue;
    block.lost.push_back(b_.sbuf("lost", height, {count, bank}, DType::Float32));
    b_.memset(block.lost.back(), 0, Engine::Vector);
  }
  if (s_.compensated) block.between = b_.sbuf("between", height, {6, bank}, DType::Float32);
  return block;
}

// total += x, or Kahan's: y = x + lost, t = total + y, lost = (total - t) + y, total = t.
void Eviction::fold(const Block& block) const {
  std::int64_t set = 0;
  for (std::size_t n = 0; n < block.pieces.size(); ++n) {
    const BankRectangle& p = block.pieces[n];
    for (int v = 0; v < s_.values; ++v, set = 1 - set) {
      const auto of = [&](const Access& tile, std::int64_t i) {
        return at(tile(ds(0, p.height), all, ds(0, p.width)), 0, i);
      };
      const auto number = static_cast<std::int64_t>(n);
      const Access total = of(block.total[static_cast<std::size_t>(v)], number),
                   x = block.bank(s_.high_sum(v), p, p.column, p.width);
      if (!s_.compensated) {
        b_.tensor_tensor(total, x, total, AluOp::Add, Engine::Vector);
        continue;
      }
      const Access lost = of(block.lost[static_cast<std::size_t>(v)], number);
      const Access y = of(block.between, 3 * set), t = of(block.between, 3 * set + 1),
                   d = of(block.between, 3 * set + 2);
      b_.tensor_tensor(y, x, lost, AluOp::Add, Engine::Vector);
      b_.tensor_tensor(t, total, y, AluOp::Add, Engine::Vector);
      b_.tensor_tensor(d, total, t, AluOp::Subtract, Engine::Vector);
      b_.tensor_tensor(lost, d, y, AluOp::Add, Engine::Vector);
      b_.tensor_copy(total, t,
                     Engine::Vector);  // the Scalar Engine makes words for the next chunk and must not wait here
    }
  }
}

// What part p of the product is the sum of.
std::vector<Eviction::Scaled> Eviction::sources(const Block& block, std::size_t n, int p) const {
  const BankRectangle& piece = block.pieces[n];
  const auto of = [&](const Access& tile) {
    return at(tile(ds(0, piece.height), all, ds(0, piece.width)), 0, static_cast<std::int64_t>(n));
  };
  std::vector<Scaled> low, high;
  for (const Addend& a : s_.parts[static_cast<std::size_t>(p)]) {
    const auto v = static_cast<std::size_t>(a.sum);
    if (s_.low()) low.push_back({block.bank(s_.low_sum(a.sum), piece, piece.column, piece.width), a.sign, true});
    if (s_.group_tiles > 0) {
      if (s_.compensated) low.push_back({of(block.lost[v]), a.sign, false});
      high.push_back({of(block.total[v]), a.sign, false});
    } else {
      high.push_back({block.bank(s_.high_sum(a.sum), piece, piece.column, piece.width), a.sign, true});
    }
  }
  low.insert(low.end(), high.begin(), high.end());
  return low;
}

// alpha times the product, part p: re = ar v0 - ai v1, im = ai v0 + ar v1.
std::vector<Eviction::Scaled> Eviction::scaled(const Block& block, std::size_t n,
                                               const std::vector<std::vector<Scaled>>& values, int p) const {
  const std::int64_t height = block.pieces[n].height;
  std::vector<Scaled> terms;
  const auto add = [&](const std::vector<Scaled>& value, const ScalarOrTile* pair) {
    for (const Scaled& s : value)
      terms.push_back({s.x, top(pair[std::get<double>(s.factor) < 0 ? 1 : 0], height), s.psum});
  };
  if (alpha_.kind != Factor::ComplexInput) {
    add(values[static_cast<std::size_t>(p)], alpha_.re);
    return terms;
  }
  const ScalarOrTile minus_im[2] = {alpha_.im[1], alpha_.im[0]};
  add(values[0], p == 0 ? alpha_.re : alpha_.im);
  add(values[1], p == 0 ? minus_im : alpha_.re);
  return terms;
}

// beta times the old C: in front, where it needs no pass of its own when beta is 1; behind sums that are to leave PSUM.
void Eviction::add_old(std::vector<Scaled>& terms, const Access& old, int p, std::int64_t height) const {
  std::vector<Scaled> front{{part(old, p), top(beta_.re[0], height), false}};
  if (beta_.kind == Factor::ComplexInput)
    front.push_back({part(old, 1 - p), top(beta_.im[p == 0 ? 1 : 0], height), false});
  terms.insert(s_.low() ? terms.end() : terms.begin(), front.begin(), front.end());
}

void Eviction::step(Chain& c) const {
  const auto temporary = [&] {
    if (c.between.present()) return c.between;
    if (c.dst.dtype == DType::Float32 && (s_.low() || s_.complex)) return c.between = c.dst;  // added up in place
    return c.between = b_.sbuf("beta_y", c.dst.partitions, {c.dst.free_size()}, DType::Float32, 2);
  };
  const Scaled& term = c.terms[c.next++];
  const bool last = c.next == c.terms.size();
  if (c.terms.size() == 1 && function_.kind == ElementFunction::Kind::Table)  // on its way out
    return b_.activation(c.dst, function_.table, term.x, {.scale = term.factor});
  if (c.terms.size() == 1) {
    const bool as_it_is = function_.present() && is_one(term.factor);
    if (!as_it_is) blocks::scale(b_, c.dst, term.x, term.factor, c.first);
    if (function_.present()) record_function(b_, function_, c.dst, as_it_is ? term.x : c.dst);
    return;
  }
  if (c.next == 1) {
    const bool as_it_is = !term.psum && is_one(term.factor);
    c.running = as_it_is ? term.x : temporary();
    if (!as_it_is) blocks::scale(b_, c.running, term.x, term.factor, Engine::Vector);
    return;
  }
  const Access to = last ? c.dst : temporary();
  b_.scalar_tensor_tensor(to, term.x, AluOp::Multiply, term.factor, AluOp::Add, c.running);
  c.running = to;
  if (last && function_.present()) record_function(b_, function_, to, to);
}

// Step by step, all chains abreast: what is in PSUM comes first and leaves it first.
void Eviction::finish(std::vector<Chain>& chains) const {
  const auto open = [](const Chain& c) { return c.next < c.terms.size(); };
  while (std::any_of(chains.begin(), chains.end(), open)) {
    for (Chain& c : chains) {
      if (open(c)) step(c);
    }
  }
}

// Between a tile and C, the diagonal tile of a triangle excepted: that comes from and goes to scratch.
void Eviction::move(const Block& block, const BankRectangle& p, const Access& tile, bool store) const {
  if (mover_) return mover_(p, tile, store);
  const bool planes = s_.complex && g_.c_im != 1;
  const auto copy = [&](const Access& hbm, std::int64_t from, std::int64_t width) {  // hbm (height, width[, 2])
    const Access there = planes ? hbm.permute({0, 2, 1}) : hbm;
    const Access here = planes ? tile(all, all, ds(from, width)) : tile(all, ds(from, width));
    if (store)
      b_.dma_copy(there, here);
    else
      b_.dma_copy(here, there);
  };
  const Access& c = store ? c_ : c_in_;
  const auto rectangle = [&](std::int64_t from, std::int64_t width) {
    if (width > 0) copy(c(ds(block.m0 + p.row, p.height), ds(block.n0 + p.column + from, width)), from, width);
  };
  if (p.diagonal < 0) return rectangle(0, p.width);
  rectangle(0, p.diagonal);
  const std::int64_t number = (block.m0.constant() + p.row) / side_;
  const Access tiles = at(store ? diagonal_out_ : diagonal_in_, 0, number);
  copy(tiles(ds(0, p.height), ds(0, p.height)), p.diagonal, p.height);
  rectangle(p.diagonal + p.height, p.width - p.diagonal - p.height);
}

// The engine that is free first, where the Scalar Engine does not make words.
std::function<Engine(std::int64_t)> Eviction::engines() const {
  if (!s_.all_as_loaded(s_.b) || shared_ || function_.present()) return [](std::int64_t) { return Engine::Vector; };
  return [&m = b_.machine(), vector_s = 0.0, scalar_s = 0.0](std::int64_t columns) mutable {
    const double v = vector_s + static_cast<double>(columns) / m.vector_hz + m.timing.vector_fixed_s;
    const double s = scalar_s + static_cast<double>(columns) / m.scalar_hz + m.timing.scalar_fixed_s;
    (s <= v ? scalar_s : vector_s) = std::min(s, v);
    return s <= v ? Engine::Scalar : Engine::Vector;
  };
}

void Eviction::store(const Block& block) const {
  const auto next_engine = engines();
  // Several sums per piece: all pieces together, so that PSUM is free before the last of C is finished.
  const std::size_t pieces = block.pieces.size(), together = s_.low() ? pieces : 1;
  for (std::size_t n = 0; n < pieces; n += together) store(block, n, together, false, next_engine);
}

void Eviction::store_rows(const Block& block) const {
  const auto next_engine = engines();
  const std::vector<BankRectangle>& pieces = block.pieces;
  for (std::size_t n = 0, end = 0; n < pieces.size(); n = end) {
    while (end < pieces.size() && pieces[end].i == pieces[n].i) ++end;
    store(block, n, end - n, true, next_engine);
  }
}

void Eviction::store(const Block& block, std::size_t first, std::size_t count, bool as_one,
                     const std::function<Engine(std::int64_t)>& next_engine) const {
  const int parts = s_.complex ? 2 : 1;
  std::vector<Access> out, old(count);
  std::vector<std::vector<std::vector<Scaled>>> values(count);  // by piece and part
  std::vector<Chain> chains;
  const std::int64_t buffers =
      g_.region != Region::All && block.n0.is_constant() ? 1 : 2;  // block rows of a triangle are unrolled
  BankRectangle row = block.pieces[first];
  Access new_row, old_row;
  if (as_one) {
    const BankRectangle& last = block.pieces[first + count - 1];
    row.width = last.column + last.width - row.column;
    new_row = piece_tile("c_new", row.height, row.width, buffers);
    if (g_.beta != Factor::Zero) {
      old_row = piece_tile("c_old", row.height, row.width, buffers);
      move(block, row, old_row, false);
    }
  }
  for (std::size_t n = 0; n < count; ++n) {
    const BankRectangle& p = block.pieces[first + n];
    const auto in_row = [&](const Access& tile) { return tile(all, ds(p.column - row.column, p.width)); };
    out.push_back(as_one ? in_row(new_row) : piece_tile("c_new", p.height, p.width, buffers));
    if (g_.beta != Factor::Zero) {
      old[n] = as_one ? in_row(old_row) : piece_tile("c_old", p.height, p.width, buffers);
      if (!as_one) move(block, p, old[n], false);
    }
    for (int q = 0; q < parts; ++q) {
      values[n].push_back(sources(block, first + n, q));
      // A complex factor needs each part twice: what is a sum is then added up first.
      if (alpha_.kind != Factor::ComplexInput || values[n].back().size() == 1) continue;
      const Access value = b_.sbuf("value", p.height, {p.width}, DType::Float32);
      chains.push_back({value, values[n].back(), Engine::Vector});
      values[n].back() = {{value, 1.0, false}};
    }
  }
  finish(chains);
  chains.clear();
  for (std::size_t n = 0; n < count; ++n) {
    const BankRectangle& p = block.pieces[first + n];
    for (int q = 0; q < parts; ++q) {
      std::vector<Scaled> terms = scaled(block, first + n, values[n], q);
      if (old[n].present()) add_old(terms, old[n], q, p.height);
      chains.push_back({part(out[n], q), std::move(terms), next_engine(p.width)});
    }
  }
  finish(chains);
  if (as_one) return move(block, row, new_row, true);
  for (std::size_t n = 0; n < count; ++n) {
    const BankRectangle& p = block.pieces[first + n];
    if (g_.hermitian && p.diagonal >= 0) {
      const Access im = part(out[n], 1)(all, ds(p.diagonal, p.height));
      b_.affine_select(im, {{-1, p.height}}, 0, 1, AluOp::NotEqual, im, 0);
    }
    move(block, p, out[n], true);
  }
}

void Eviction::open_triangles() {
  if (g_.region == Region::All) return;
  const std::int64_t tiles = (g_.m + side_ - 1) / side_;
  const Shape shape = s_.complex ? Shape{tiles, side_, side_, 2} : Shape{tiles, side_, side_};
  diagonal_out_ = b_.scratch("diagonal_out", real_of(g_.out), shape);
  if (g_.beta == Factor::Zero) return;
  diagonal_in_ = b_.scratch("diagonal_in", real_of(g_.out), shape);
  fill_zero(b_, diagonal_in_);
  copy_diagonal_triangles(b_, diagonal_in_, c_in_, g_.m, g_.region, !g_.hermitian, false);
}

void Eviction::close_triangles() {
  if (g_.region != Region::All) copy_diagonal_triangles(b_, diagonal_out_, c_, g_.m, g_.region, true, true);
}

}  // namespace trn::blas::device
