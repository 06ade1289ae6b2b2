// LU factorisation of a batch with partial pivoting, one matrix in each partition.
//
// Step k, all on the Vector Engine, rows i >= k on the free axis:
//   |W(i,k)|, its maximum, the first place that has it (scores m - i where equal, their maximum), a 0/1 vector for it;
//   the pivot row as the sum over i of W(i,.) times that vector, which is exact; row k to the pivot's place by a
//   predicated copy; the column times the reciprocal of the pivot, and the product of column and row subtracted.
// A pivot of zero has a column of zeros under it: the reciprocal is that of pivot + 1 then, and the factorisation goes
// on. Three instructions of m n elements and four of (m - k) (n - k), a dozen small ones.
#include <algorithm>

#include <trn/tile/stores.hpp>

#include "device/lanes.hpp"

namespace trn::solver {

using namespace trn::tile;
using namespace device;

namespace {

struct LuTiles {
  Access w;                            // (P, m, n)
  Access falling;                      // m, m - 1, ..., 1
  Access magnitude, score, hot, hot8;  // (P, m)
  Access products;                     // (P, m n)
  Access pivot_row, old_row;           // (P, n)
  Access most, r;                      // (P, 1)
};

// Row k and the pivot's row change places; `place` becomes m less the pivot's row.
void exchange(Builder& b, const LuTiles& t, std::int64_t m, std::int64_t n, std::int64_t k, const Access& place) {
  const std::int64_t rows = m - k;
  const Slice used = ds(0, rows);
  const Access magnitude = t.magnitude(all, used), score = t.score(all, used), hot = t.hot(all, used),
               falling = t.falling(all, ds(k, rows)), under = t.w(all, ds(k, rows), ds(0, n));
  b.tensor_scalar(magnitude, column_of(t.w, k, k, rows), AluOp::Abs, 0.0, {.engine = Engine::Vector});
  b.tensor_reduce(t.most, AluOp::Maximum, magnitude);
  b.scalar_tensor_tensor(score, magnitude, AluOp::Equal, t.most, AluOp::Multiply, falling);
  b.tensor_reduce(place, AluOp::Maximum, score);
  b.tensor_scalar(hot, falling, AluOp::Equal, place, {.engine = Engine::Vector});
  b.tensor_copy(t.hot8(all, used), hot, Engine::Vector);
  const Access terms = t.products(all, ds(0, n * rows)).split(0, rows);
  b.tensor_tensor(terms, under.permute({1, 0}), along_columns(hot, n), AluOp::Multiply, Engine::Vector);
  b.tensor_reduce(t.pivot_row, AluOp::Add, terms);
  b.tensor_copy(t.old_row, row_of(t.w, k, 0, n), Engine::Vector);
  b.tensor_copy_predicated(under, along_columns(t.old_row, rows), along_rows(t.hot8(all, used), n));
  b.tensor_copy(row_of(t.w, k, 0, n), t.pivot_row, Engine::Vector);
}

void eliminate(Builder& b, const LuTiles& t, std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t rows = m - k - 1, columns = n - k - 1;
  if (rows == 0) return;
  const Access pivot = t.pivot_row(all, ds(k, 1)), under = column_of(t.w, k, k + 1, rows);
  b.scalar_tensor_tensor(t.r, pivot, AluOp::Equal, 0.0, AluOp::Add, pivot);
  b.reciprocal(t.r, t.r);
  b.tensor_scalar(under, under, AluOp::Multiply, t.r, {.engine = Engine::Vector});
  if (columns == 0) return;
  const Access part = t.products(all, ds(0, rows * columns)).split(0, columns),
               rest = t.w(all, ds(k + 1, rows), ds(k + 1, columns));
  b.tensor_tensor(part, along_rows(under, columns), along_columns(t.pivot_row(all, ds(k + 1, columns)), rows),
                  AluOp::Multiply, Engine::Vector);
  b.tensor_tensor(rest, rest, part, AluOp::Subtract, Engine::Vector);
}

}  // namespace

Program getrf_batch_program(const BatchProgramShape& s, const Machine& machine) {
  Builder b("solver_getrf_batch", machine);
  const std::int64_t m = s.m, n = s.n, steps = std::min(m, n), side = machine.partitions;
  Lanes lanes(b, s);
  const Access a = lanes.input("a"), factors = b.output_over("factors", a);
  const Access places = b.output("places", DType::Float32, {s.count, steps}),
               diagonal = b.output("diagonal", DType::Float32, {s.count, steps}),
               flags = b.output("flags", DType::Float32, {s.count, 1});
  const Access numbers = b.sbuf("numbers", side, {m}, DType::Int32), falling = lanes.tile("falling", side, {m});
  b.iota(numbers, {{-1, m}}, m);
  b.tensor_copy(falling, numbers, Engine::Vector);
  const Access elements = lanes.falling();
  lanes.for_groups([&](const Affine& first, std::int64_t count) {
    const Slice here = ds(first, count);
    const auto tile = [&](const char* name, std::int64_t size) { return lanes.tile(name, count, {size}); };
    const Access loaded = lanes.loaded(count);
    const LuTiles t{.w = lanes.matrix(loaded),
                    .falling = falling(ds(0, count)),
                    .magnitude = tile("magnitude", m),
                    .score = tile("score", m),
                    .hot = tile("hot", m),
                    .hot8 = b.sbuf("hot8", count, {m}, DType::UInt8),
                    .products = tile("products", m * n),
                    .pivot_row = tile("pivot_row", n),
                    .old_row = tile("old_row", n),
                    .most = tile("most", 1),
                    .r = tile("r", 1)};
    const Access place = tile("place", steps), flag = tile("flag", 1), d = tile("d", steps);
    b.dma_copy(loaded, lanes.turned(a(here)));
    lanes.flag(flag, t.w, t.products.split(0, n), elements(ds(0, count)));
    for (std::int64_t k = 0; k < steps; ++k) {
      exchange(b, t, m, n, k, place(all, ds(k, 1)));
      eliminate(b, t, m, n, k);
    }
    b.tensor_copy(d, diagonal_of(t.w, 0, 0, steps), Engine::Vector);
    b.dma_copy(lanes.turned(factors(here)), loaded);
    b.dma_copy(places(here), place);
    b.dma_copy(diagonal(here), d);
    b.dma_copy(flags(here), flag);
  });
  return static_stores(b.finish());
}

}  // namespace trn::solver
