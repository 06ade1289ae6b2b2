// The generator of `trnsci fuzz tile`, see fuzz_tile.hpp. Tensors: x is read, y and the scratch s are filled at the
// start and then overwritten in parts; every open parallel loop has rows of y and s of its own.
#include <trn/tile/builder.hpp>

#include "fuzz_tile.hpp"

namespace trn::tools::fuzz {

using namespace trn::tile;

namespace {

constexpr auto F32 = DType::Float32, BF16 = DType::BFloat16, I32 = DType::Int32, U32 = DType::UInt32;
constexpr std::int64_t kRows = 256, kColumns = 48;  // of x, y and s
constexpr std::int64_t kOwn = 16;                   // rows of an iteration of the innermost parallel loop

class Generator {
 public:
  Generator(Random& random, const Machine& machine) : r_(random), m_(machine), b_("fuzzed", machine) {}

  Program run() {
    x_ = b_.input("x", F32, {kRows, kColumns});
    y_ = b_.output("y", F32, {kRows, kColumns});
    s_ = b_.scratch("s", F32, {kRows, kColumns});
    const Access zeros = fresh(m_.partitions, kColumns, F32);
    b_.memset(zeros, 0.5);
    for (const Access& t : {y_, s_}) {
      for (std::int64_t first = 0; first < kRows; first += m_.partitions)
        b_.dma_copy(t(ds(first, m_.partitions)), zeros);
    }
    tiles_.back().written = true;
    block(3 + r_.below(8));
    store();
    return b_.finish_unverified();
  }

 private:
  struct Tile {
    Access access;
    bool written = false;
  };
  // A loop that is open: what its variable may do.
  struct Open {
    LoopKind kind;
    Affine variable;
    std::int64_t trip;
    std::size_t first_tile;  // tiles allocated inside it
  };

  Access fresh(std::int64_t partitions, std::int64_t free, DType dtype) {
    const std::int64_t buffers = loops_.empty() ? 1 : 1 + r_.below(3);
    tiles_.push_back({b_.sbuf("t", partitions, {free}, dtype, buffers), false});
    return tiles_.back().access;
  }

  // A tile that holds values: of this shape if `like` is given.
  Access any(const Access* like = nullptr) {
    std::vector<std::size_t> fit;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const Access& a = tiles_[i].access;
      const bool float_tile = a.dtype == F32 || a.dtype == BF16;
      const bool same = !like || (a.partitions == like->partitions && a.free_size() == like->free_size());
      if (tiles_[i].written && float_tile && same) fit.push_back(i);
    }
    return fit.empty() ? *like : tiles_[fit[r_.index(fit.size())]].access;
  }

  // Where to write values of this shape: a new tile, or one that belongs to the iteration; rarely one that does not.
  Access target(const Access& like) {
    const std::size_t own = first_own();
    std::vector<std::size_t> fit;
    for (std::size_t i = r_.chance(12) ? 0 : own; i < tiles_.size(); ++i) {
      const Access& a = tiles_[i].access;
      if (a.partitions == like.partitions && a.free_size() == like.free_size() && (a.dtype == F32 || a.dtype == BF16))
        fit.push_back(i);
    }
    if (fit.empty() || r_.chance(3)) return fresh(like.partitions, like.free_size(), r_.pick({F32, F32, BF16}));
    return tiles_[fit[r_.index(fit.size())]].access;
  }
  std::size_t first_own() const {
    std::size_t own = 0;
    for (const Open& loop : loops_) {
      if (loop.kind == LoopKind::Parallel) own = loop.first_tile;
    }
    return own;
  }
  void wrote(const Access& a) {
    for (Tile& t : tiles_) {
      if (t.access.id == a.id) t.written = true;
    }
  }

  // Rows [first, first + n) of x: the variable of one loop moves them.
  Access source(std::int64_t rows, std::int64_t columns) {
    Affine first = r_.below(32);
    if (!loops_.empty() && !r_.chance(3)) {
      const Open& loop = loops_[r_.index(loops_.size())];
      if (loop.kind != LoopKind::While) first = first + loop.variable * r_.pick<std::int64_t>({1, 3, 8});
    }
    return x_(ds(first, rows), ds(r_.below(kColumns - columns + 1), columns));
  }
  // Rows of y or s that belong to this iteration of every parallel loop; other loops may move inside them.
  Access own_rows(const Access& tensor, std::int64_t rows, std::int64_t columns, bool dynamic = true) {
    Affine first = 0;
    std::int64_t scale = kOwn, room = kRows;
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (loop->kind != LoopKind::Parallel) continue;
      first = first + loop->variable * scale;
      scale *= 4;
      room = kOwn;
    }
    room -= rows;
    for (const Open& loop : loops_) {
      const bool moves = loop.kind == LoopKind::Sequential || (loop.kind == LoopKind::Counted && dynamic);
      if (!moves || loop.trip - 1 > room || r_.chance(2)) continue;
      first = first + loop.variable;
      room -= loop.trip - 1;
      dynamic = dynamic && loop.kind != LoopKind::Counted;
    }
    return tensor(ds(first + (room > 0 ? r_.below(room + 1) : 0), rows), ds(r_.below(kColumns - columns + 1), columns));
  }

  void load() {
    const std::int64_t p = r_.pick<std::int64_t>({1, 4, 16, 32, 64, 128}), n = 1 + r_.below(24);
    const Access t = fresh(p, n, r_.pick({F32, F32, BF16}));
    b_.dma_copy(t, source(p, n));
    wrote(t);
  }
  void store() {
    const Access t = any();
    const std::int64_t rows = std::min<std::int64_t>(t.partitions, kOwn), n = std::min(t.free_size(), kColumns);
    b_.dma_copy(own_rows(r_.chance(3) ? s_ : y_, rows, n), t(ds(0, rows), ds(0, n)));
  }
  void reload() {
    const std::int64_t p = 1 + r_.below(kOwn), n = 1 + r_.below(16);
    const Access t = fresh(p, n, F32);
    b_.dma_copy(t, own_rows(s_, p, n));
    wrote(t);
  }
  void pair() {
    const Access a = any(), c = any(&a), d = target(a);
    b_.tensor_tensor(d, a, c, r_.pick({AluOp::Add, AluOp::Subtract, AluOp::Maximum, AluOp::Multiply}),
                     r_.pick({Engine::Any, Engine::Vector, Engine::GpSimd}));
    wrote(d);
  }
  void scalar() {
    const Access a = any(), d = target(a);
    b_.tensor_scalar(d, a, r_.pick({AluOp::Add, AluOp::Multiply, AluOp::Minimum}), r_.uniform(-2, 2));
    wrote(d);
  }
  void function() {
    const Access a = any(), d = target(a), sum = fresh(a.partitions, 1, F32);
    b_.activation(d, r_.pick({ActFunction::Copy, ActFunction::Tanh, ActFunction::Square}), a, {.reduce_res = sum});
    wrote(d);
    wrote(sum);
  }
  // A part of a tile, strided, from a part of another.
  void part() {
    const Access a = any(), d = target(a);
    const std::int64_t n = a.free_size() / 2;
    if (n < 1) return scalar();
    Access from = a(all, ds(0, n)), to = d(all, ds(0, n));
    if (r_.chance(2)) from.dims[0].stride = 2;
    b_.tensor_copy(d, a);
    b_.tensor_copy(to, from, r_.pick({Engine::Any, Engine::Vector}));
    wrote(d);
  }
  void matmul() {
    const Access a = any();
    const std::int64_t k = a.partitions, f = std::min<std::int64_t>(a.free_size(), 24);
    const Access w = fresh(k, f, BF16), out = fresh(f, f, F32), acc = b_.psum("acc", f, {f}, F32, 1 + r_.below(2));
    b_.tensor_copy(w, a(all, ds(0, f)));
    b_.nc_matmul(acc, w, w);
    if (r_.chance(2)) b_.nc_matmul(acc, w, w, {.accumulate = 1});
    b_.tensor_copy(out, acc);
    wrote(w);
    wrote(out);
  }
  void shuffle() {
    const Access a = any();
    if (a.partitions % 32 != 0) return transpose();
    std::vector<std::int64_t> mask(32);
    for (std::int64_t& from : mask) from = r_.chance(6) ? isa::NcStreamShuffle::kKeep : r_.below(32);
    const Access d = fresh(a.partitions, a.free_size(), a.dtype);
    b_.memset(d, 1.5);
    b_.nc_stream_shuffle(d, a, mask);
    wrote(d);
  }
  void transpose() {
    const Access a = any();
    const std::int64_t p = std::min<std::int64_t>(a.partitions, 32), f = std::min<std::int64_t>(a.free_size(), 32);
    const Access d = fresh(f, p, a.dtype);
    b_.nc_transpose(d, a(ds(0, p), ds(0, f)), Engine::Vector);
    wrote(d);
  }
  void gather() {
    const Access a = any();
    const std::int64_t n = 1 + r_.below(12), size = a.free_size();
    const Access list = fresh(a.partitions, n, U32), d = fresh(a.partitions, n, a.dtype);
    b_.iota(list, {{size >= n ? 1 : 0, n}}, size >= n ? r_.below(size - n + 1) : r_.below(size), 0);
    b_.nc_n_gather(d, a, list);
    wrote(d);
  }
  void rows_by_index() {
    if (!m_.indirect_dma) return load();
    const std::int64_t p = r_.pick<std::int64_t>({1, 7, 16}), n = 1 + r_.below(8), k = 1 + r_.below(2);
    const Access list = fresh(p, k, U32), d = b_.sbuf("rows", p, {k, kColumns}, F32), sum = fresh(p, kColumns, F32);
    b_.iota(list, {{n, k}}, r_.below(64), 1 + r_.below(4));
    b_.dma_gather(d, x_, list);
    b_.tensor_copy(sum, d(all, ds(0, 1)));
    if (k == 1) b_.dma_gather_add(sum, x_, list);
    wrote(sum);
  }
  void sum_by_dma() {
    const Access a = any(), c = any(&a), d = target(a);
    if (r_.chance(2)) {
      b_.dma_compute(d, {a, c});
    } else {
      const std::int64_t rows = std::min<std::int64_t>(a.partitions, kOwn), n = std::min(a.free_size(), kColumns);
      const Access to = own_rows(s_, rows, n, false);
      b_.dma_compute(to, {to, a(ds(0, rows), ds(0, n))});
      return;
    }
    wrote(d);
  }
  void start_by_value() {
    const std::int64_t p = 1 + r_.below(8), n = 1 + r_.below(8), most = r_.below(9);
    const Access v = fresh(1, 1, I32), d = fresh(p, n, F32), from = x_(ds(r_.below(8), p), ds(0, n));
    b_.memset(v, static_cast<double>(r_.below(most + 1)));
    Access at = v;
    if (r_.chance(2)) {
      at = b_.register_alloc("at");
      b_.register_load(at, v);
    }
    b_.dma_copy_at(d, from, {.src = {at, kColumns, most}});
    wrote(d);
  }

  void loop() {
    const LoopKind kind =
        r_.pick({LoopKind::Parallel, LoopKind::Parallel, LoopKind::Sequential, LoopKind::Counted, LoopKind::While});
    int parallel = 0, dynamic = 0;
    for (const Open& open : loops_) {
      parallel += open.kind == LoopKind::Parallel;
      dynamic += is_dynamic(open.kind);
    }
    if (loops_.size() >= 3 || (kind == LoopKind::Parallel && parallel == 2) || (is_dynamic(kind) && dynamic == 2))
      return pair();
    const std::int64_t trip = 2 + r_.below(3);
    const auto body = [&](const Affine& i) {
      loops_.push_back({kind, i, trip, tiles_.size()});
      block(1 + r_.below(4));
      tiles_.resize(loops_.back().first_tile);
      loops_.pop_back();
    };
    if (kind == LoopKind::Parallel) return b_.parallel("i", trip, body);
    if (kind == LoopKind::Sequential) return b_.sequential("j", trip, body);
    dynamic_loop(kind, trip, body);
  }

  // What a loop that may not run writes is not known to be written.
  void dynamic_loop(LoopKind kind, std::int64_t trip, const Builder::Body& body) {
    const Access count = b_.sbuf("count", 1, {1}, I32), one = b_.sbuf("one", 1, {1}, I32), n = b_.register_alloc("n");
    b_.memset(count, static_cast<double>(r_.below(trip + 1)));
    b_.memset(one, 1);
    b_.register_load(n, count);
    const std::vector<Tile> before = tiles_;
    if (kind == LoopKind::Counted) {
      b_.fori_loop("k", n, trip, body);
    } else {
      b_.while_loop("w", n, trip, [&] {
        body(Affine(0));
        b_.tensor_tensor(count, count, one, AluOp::Subtract, Engine::GpSimd);
        b_.register_load(n, count);
      });
    }
    tiles_ = before;
  }

  void block(std::int64_t statements) {
    for (std::int64_t s = 0; s < statements; ++s) {
      static constexpr void (Generator::*kSteps[])() = {
          &Generator::load,       &Generator::store,   &Generator::store,         &Generator::reload,
          &Generator::pair,       &Generator::scalar,  &Generator::function,      &Generator::part,
          &Generator::matmul,     &Generator::shuffle, &Generator::transpose,     &Generator::gather,
          &Generator::sum_by_dma, &Generator::loop,    &Generator::rows_by_index, &Generator::start_by_value,
          &Generator::loop};
      (this->*kSteps[r_.index(std::size(kSteps))])();
    }
  }

  Random& r_;
  const Machine& m_;
  Builder b_;
  Access x_, y_, s_;
  std::vector<Tile> tiles_;
  std::vector<Open> loops_;
};

}  // namespace

Program random_program(Random& random, const Machine& machine) { return Generator(random, machine).run(); }

}  // namespace trn::tools::fuzz
