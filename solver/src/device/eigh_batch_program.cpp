// Symmetric eigenproblems of a batch by cyclic Jacobi sweeps, one matrix in each partition.
//
// A step rotates N/2 disjoint pairs of rows, then the same pairs of columns, and moves every row and column on by one
// place of a ring (jacobi_rotations.hpp), with d = W(q,q) - W(p,p), g = 2 W(p,q). An odd order gets a row of zeros,
// which no rotation moves. Per step the Vector Engine makes 6 passes over N^2 elements for W, GpSimd two for W and five
// for V, besides 25 small instructions.
#include <trn/tile/stores.hpp>

#include "device/jacobi_rotations.hpp"

namespace trn::solver {

using namespace trn::tile;
using namespace device;

namespace {

class Jacobi {
 public:
  Jacobi(Builder& b, Lanes& lanes, std::int64_t count, std::int64_t order, bool vectors)
      : b_(b), n_(order), half_(order / 2), vectors_(vectors), rotations_(b, lanes, count, order) {
    const auto square = [&](const char* name) { return lanes.tile(name, count, {n_, n_}); };
    w = square("w"), next_ = square("next"), change_ = square("change"), cross_ = square("cross");
    if (vectors) v = square("v"), v_change_ = square("v_change"), v_cross_ = square("v_cross");
  }

  Access w, v;  // (P, N, N); vectors in rows

  void step() {
    b_.tensor_tensor(rotations_.d, diagonal_of(w, half_, half_, half_), diagonal_of(w, 0, 0, half_), AluOp::Subtract,
                     Engine::Vector);
    b_.tensor_scalar(rotations_.g, diagonal_of(w, 0, half_, half_), AluOp::Multiply, 2.0, {.engine = Engine::Vector});
    rotations_.angles();
    rotations_.apply(next_, w, change_, cross_, Engine::Vector);
    const auto columns = [](const Access& x) { return x.permute({1, 0}); };
    rotations_.apply(columns(w), columns(next_), columns(change_), columns(cross_), Engine::Vector);
    if (vectors_) rotations_.apply({}, v, v_change_, v_cross_, Engine::GpSimd);
  }

  // The largest |W(i,j)| with i != j; W's diagonal stays.
  void off_diagonal(const Access& off) {
    b_.tensor_scalar(change_, w, AluOp::Abs, 0.0, {.engine = Engine::Vector});
    b_.memset(diagonal_of(change_, 0, 0, n_), 0, Engine::Vector);
    b_.tensor_reduce(off, AluOp::Maximum, change_, 2);
  }

  [[nodiscard]] Access scratch() const { return change_; }

 private:
  Builder& b_;
  std::int64_t n_, half_;
  bool vectors_;
  JacobiRotations rotations_;
  Access next_, change_, cross_, v_change_, v_cross_;
};

}  // namespace

Program eigh_batch_program(const JacobiShape& shape, const Machine& machine) {
  Builder b("solver_eigh_batch", machine);
  const BatchProgramShape& s = shape.batch;
  const std::int64_t n = s.n, even = n + n % 2;
  Lanes lanes(b, s);
  const Shape states{s.count, even, even};
  const auto number = [&](const char* name) { return b.output(name, DType::Float32, {s.count, 1}); };
  Access a, matrix_in, vectors_in, flags, scales, lower, elements;
  if (shape.begins) {
    a = lanes.input("a"), flags = number("flags"), scales = number("scale");
    lower = lanes.lower(n), elements = lanes.falling();
  } else {
    matrix_in = b.input("matrix_in", DType::Float32, states);
    if (shape.vectors) vectors_in = b.input("vectors_in", DType::Float32, states);
  }
  const Access matrix = b.output("matrix", DType::Float32, states), offs = number("off");
  Access vectors;
  if (shape.vectors) vectors = b.output("vectors", DType::Float32, states);
  lanes.for_groups([&](const Affine& first, std::int64_t count) {
    const Slice here = ds(first, count);
    Jacobi jacobi(b, lanes, count, even, shape.vectors);
    const Access off = lanes.tile("off_diagonal", count, {1});
    if (shape.begins) {
      const Access loaded = lanes.loaded(count), flag = lanes.tile("flag", count, {1}),
                   scale = lanes.tile("scale_of", count, {1}), inverse = lanes.tile("inverse_scale", count, {1});
      b.dma_copy(loaded, lanes.turned(a(here)));
      Access named = lanes.matrix(loaded);
      if (s.upper) named = named.permute({1, 0});
      const Access part = jacobi.w(all, ds(0, n), ds(0, n));
      b.memset(jacobi.w, 0, Engine::Vector);
      const Access mask = lower(ds(0, count)), places = elements(ds(0, count));
      b.tensor_copy_predicated(part, named, mask);
      lanes.flag(flag, part, jacobi.scratch()(all, ds(0, n), ds(0, n)), s.upper ? places.permute({1, 0}) : places);
      b.tensor_copy_predicated(part.permute({1, 0}), named, mask);
      lanes.power_of_two(scale, inverse, jacobi.w, jacobi.scratch());
      b.tensor_scalar(jacobi.w, jacobi.w, AluOp::Multiply, inverse, {.engine = Engine::Vector});
      if (shape.vectors) {
        b.memset(jacobi.v, 0, Engine::Vector);
        b.memset(diagonal_of(jacobi.v, 0, 0, even), 1, Engine::Vector);
      }
      b.dma_copy(flags(here), flag);
      b.dma_copy(scales(here), scale);
    } else {
      b.dma_copy(jacobi.w, matrix_in(here));
      if (shape.vectors) b.dma_copy(jacobi.v, vectors_in(here));
    }
    if (n > 1) b.sequential("step", shape.sweeps * (even - 1), [&](const Affine&) { jacobi.step(); });
    jacobi.off_diagonal(off);
    b.dma_copy(matrix(here), jacobi.w);
    if (shape.vectors) b.dma_copy(vectors(here), jacobi.v);
    b.dma_copy(offs(here), off);
  });
  return static_stores(b.finish());
}

// Ranks: how many eigenvalues are smaller, or equal and further left; column r of the result is the sum of all vectors
// times whether their rank is r, which is exact.
Program eigh_sort_program(const JacobiShape& shape, const Machine& machine) {
  Builder b("solver_eigh_sort", machine);
  const BatchProgramShape& s = shape.batch;
  const std::int64_t n = s.n, even = n + n % 2, side = machine.partitions;
  Lanes lanes(b, s);
  const Access matrix = b.input("matrix", DType::Float32, {s.count, even, even}),
               scales = b.input("scale", DType::Float32, {s.count, 1}), w = b.output("w", DType::Float32, {s.count, n});
  Access vectors, a;
  if (shape.vectors) {
    vectors = b.input("vectors", DType::Float32, {s.count, even, even});
    a = b.output("a", DType::Float32, {s.count, n, n}, {s.stride, s.row, s.column});
  }
  const Access left = lanes.tile("left", side, {n, n});  // i - j > 0
  b.memset(left, 1, Engine::Vector);
  b.affine_select(left, {{1, n}, {-1, n}}, 0, 0, AluOp::Greater, left, 0);
  lanes.for_groups([&](const Affine& first, std::int64_t count) {
    const Slice here = ds(first, count);
    const auto square = [&](const char* name) { return lanes.tile(name, count, {n, n}); };
    const auto line = [&](const char* name, std::int64_t size) { return lanes.tile(name, count, {size}); };
    const Access values = line("values", n), scale = line("scale_of", 1), ranks = line("ranks", n),
                 hot = line("hot", n), sorted = line("sorted", n), terms = line("terms", n), less = square("less"),
                 equal = square("equal"), loaded = lanes.tile("matrix_tile", count, {even, even});
    b.dma_copy(loaded, matrix(here));
    b.dma_copy(scale, scales(here));
    b.tensor_scalar(values, diagonal_of(loaded, 0, 0, n), AluOp::Multiply, scale, {.engine = Engine::Vector});
    const Access theirs = along_columns(values, n), mine = along_rows(values, n);
    b.tensor_tensor(less, theirs, mine, AluOp::Less, Engine::Vector);
    b.tensor_tensor(equal, theirs, mine, AluOp::Equal, Engine::Vector);
    b.tensor_tensor(equal, equal, left(ds(0, count)), AluOp::Multiply, Engine::Vector);
    b.tensor_tensor(less, less, equal, AluOp::Add, Engine::Vector);
    b.tensor_reduce(ranks, AluOp::Add, less);
    Access v, result;
    if (shape.vectors) {
      v = lanes.tile("vectors_tile", count, {even, even}), result = lanes.loaded(count);
      b.dma_copy(v, vectors(here));
    }
    for (std::int64_t r = 0; r < n; ++r) {
      b.tensor_scalar(hot, ranks, AluOp::Equal, static_cast<double>(r), {.engine = Engine::Vector});
      b.tensor_tensor(terms, values, hot, AluOp::Multiply, Engine::Vector);
      b.tensor_reduce(sorted(all, ds(r, 1)), AluOp::Add, terms);
      if (!shape.vectors) continue;
      b.tensor_tensor(less, v(all, ds(0, n), ds(0, n)).permute({1, 0}), along_columns(hot, n), AluOp::Multiply,
                      Engine::Vector);
      b.tensor_reduce(column_of(lanes.matrix(result), r, 0, n), AluOp::Add, less);
    }
    b.dma_copy(w(here), sorted);
    if (shape.vectors) b.dma_copy(lanes.turned(a(here)), result);
  });
  return static_stores(b.finish());
}

}  // namespace trn::solver
