// The generator of `trnsci fuzz tile`: the frame of a program, copies, arithmetic and loops.
#include <iterator>

#include "fuzz_tile_generator.hpp"

namespace trn::tools::fuzz {
namespace programs {

Program Generator::run() {
  x_ = b_.input("x", F32, {kRows, kColumns});
  y_ = b_.output("y", F32, {kRows, kColumns});
  s_ = b_.scratch("s", F32, {kRows, kColumns});
  const Access zeros = fresh(m_.partitions, kColumns, F32);
  b_.memset(zeros, 0.5);
  for (const Access& t : {y_, s_}) {
    for (std::int64_t first = 0; first < kRows; first += m_.partitions) b_.dma_copy(t(ds(first, m_.partitions)), zeros);
  }
  tiles_.back().written = true;
  if (r_.chance(3)) {
    const Access w = b_.input("w", F32, {kRows, kColumns});
    const bool partial = r_.chance(2);
    z_ = partial ? b_.partial_output("z", w) : b_.output_over("z", w);
    for (std::int64_t first = 0; first < kRows; first += m_.partitions) {
      const Access t = fresh(m_.partitions, kColumns, F32);
      b_.dma_copy(t, w(ds(first, m_.partitions)));
      wrote(t);
      if (!partial) b_.dma_copy(z_(ds(first, m_.partitions)), t);
    }
  }
  block(3 + r_.below(8));
  store();
  return b_.finish_unverified();
}

void Generator::load() {
  const std::int64_t p = r_.pick<std::int64_t>({1, 4, 16, 32, 64, 128}), n = 1 + r_.below(24);
  const Access t = fresh(p, n, r_.pick({F32, F32, BF16}));
  b_.dma_copy(t, source(p, n));
  wrote(t);
}
void Generator::store() {
  const Access t = any();
  const std::int64_t rows = std::min<std::int64_t>(t.partitions, kOwn), n = std::min(t.free_size(), kColumns);
  const Access& to = z_.present() && r_.chance(3) ? z_ : r_.chance(3) ? s_ : y_;
  b_.dma_copy(own_rows(to, rows, n), t(ds(0, rows), ds(0, n)));
}
void Generator::reload() {
  const std::int64_t p = 1 + r_.below(kOwn), n = 1 + r_.below(16);
  const Access t = fresh(p, n, F32);
  b_.dma_copy(t, own_rows(s_, p, n));
  wrote(t);
}
void Generator::pair() {
  const Access a = any(), c = any(&a), d = target(a);
  b_.tensor_tensor(d, a, c, r_.pick({AluOp::Add, AluOp::Subtract, AluOp::Maximum, AluOp::Multiply}),
                   r_.pick({Engine::Any, Engine::Vector, Engine::GpSimd}));
  wrote(d);
}
void Generator::scalar() {
  const Access a = any(), d = target(a);
  b_.tensor_scalar(d, a, r_.pick({AluOp::Add, AluOp::Multiply, AluOp::Minimum}), r_.uniform(-2, 2));
  wrote(d);
}
void Generator::function() {
  const Access a = any(), d = target(a), sum = fresh(a.partitions, 1, F32);
  b_.activation(d, r_.pick({ActFunction::Copy, ActFunction::Tanh, ActFunction::Square}), a, {.reduce_res = sum});
  wrote(d);
  wrote(sum);
}
// A part of a tile, strided, from a part of another.
void Generator::part() {
  const Access a = any(), d = target(a);
  const std::int64_t n = a.free_size() / 2;
  if (n < 1) return scalar();
  Access from = a(all, ds(0, n)), to = d(all, ds(0, n));
  if (r_.chance(2)) from.dims[0].stride = 2;
  b_.tensor_copy(d, a);
  b_.tensor_copy(to, from, r_.pick({Engine::Any, Engine::Vector}));
  wrote(d);
}
void Generator::matmul() {
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
void Generator::shuffle() {
  const Access a = any();
  if (a.partitions % 32 != 0) return transpose();
  std::vector<std::int64_t> mask(32);
  for (std::int64_t& from : mask) from = r_.chance(6) ? isa::NcStreamShuffle::kKeep : r_.below(32);
  const Access d = fresh(a.partitions, a.free_size(), a.dtype);
  b_.memset(d, 1.5);
  b_.nc_stream_shuffle(d, a, mask);
  wrote(d);
}
void Generator::transpose() {
  const Access a = any();
  const std::int64_t p = std::min<std::int64_t>(a.partitions, 32), f = std::min<std::int64_t>(a.free_size(), 32);
  const Access d = fresh(f, p, a.dtype);
  b_.nc_transpose(d, a(ds(0, p), ds(0, f)), Engine::Vector);
  wrote(d);
}
void Generator::gather() {
  const Access a = any();
  const std::int64_t n = 1 + r_.below(12), size = a.free_size();
  const Access list = fresh(a.partitions, n, U32), d = fresh(a.partitions, n, a.dtype);
  b_.iota(list, {{size >= n ? 1 : 0, n}}, size >= n ? r_.below(size - n + 1) : r_.below(size), 0);
  b_.nc_n_gather(d, a, list);
  wrote(d);
}
void Generator::rows_by_index() {
  if (!m_.indirect_dma) return load();
  const std::int64_t p = r_.pick<std::int64_t>({1, 7, 16}), n = 1 + r_.below(8), k = 1 + r_.below(2);
  const Access list = fresh(p, k, U32), d = b_.sbuf("rows", p, {k, kColumns}, F32), sum = fresh(p, kColumns, F32);
  b_.iota(list, {{n, k}}, r_.below(64), 1 + r_.below(4));
  b_.dma_gather(d, x_, list);
  b_.tensor_copy(sum, d(all, ds(0, 1)));
  if (k == 1) b_.dma_gather_add(sum, x_, list);
  wrote(sum);
}
void Generator::sum_by_dma() {
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
void Generator::start_by_value() {
  const std::int64_t p = 1 + r_.below(8), n = 1 + r_.below(8), most = r_.below(9);
  const Access v = fresh(1, 1, I32), d = fresh(p, n, F32), from = x_(ds(r_.below(8), p), ds(0, n));
  b_.memset(v, static_cast<double>(r_.below(most + 1)));
  Access at = v;
  if (r_.chance(2) && take_registers(1)) {
    at = b_.register_alloc("at");
    b_.register_load(at, v);
  }
  b_.dma_copy_at(d, from, {.src = {at, kColumns, most}});
  wrote(d);
}

void Generator::loop() {
  const LoopKind kind =
      r_.pick({LoopKind::Parallel, LoopKind::Parallel, LoopKind::Sequential, LoopKind::Counted, LoopKind::While});
  int parallel = 0, dynamic = 0;
  for (const Open& open : loops_) {
    parallel += open.kind == LoopKind::Parallel;
    dynamic += is_dynamic(open.kind);
  }
  if (loops_.size() >= 3 || (kind == LoopKind::Parallel && parallel == 2) ||
      (is_dynamic(kind) && (dynamic == 2 || !take_registers(1))))
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
void Generator::dynamic_loop(LoopKind kind, std::int64_t trip, const Builder::Body& body) {
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

void Generator::block(std::int64_t statements) {
  for (std::int64_t s = 0; s < statements; ++s) {
    using G = Generator;
    static constexpr void (G::*kSteps[])() = {&G::load,          &G::store,          &G::store,
                                              &G::reload,        &G::pair,           &G::scalar,
                                              &G::function,      &G::part,           &G::matmul,
                                              &G::shuffle,       &G::transpose,      &G::gather,
                                              &G::sum_by_dma,    &G::loop,           &G::loop,
                                              &G::loop,          &G::rows_by_index,  &G::start_by_value,
                                              &G::fused,         &G::reduce,         &G::reduce_partitions,
                                              &G::scan,          &G::accumulate,     &G::select,
                                              &G::select_range,  &G::select_affine,  &G::copy_where,
                                              &G::search,        &G::exponential,    &G::statistics,
                                              &G::reciprocal,    &G::gather_by_core, &G::nonzeros,
                                              &G::dma_transpose, &G::microscaling,   &G::registers};
    (this->*kSteps[r_.index(std::size(kSteps))])();
  }
}

}  // namespace programs

tile::Program random_program(Random& random, const tile::Machine& machine) {
  return programs::Generator(random, machine).run();
}

}  // namespace trn::tools::fuzz
