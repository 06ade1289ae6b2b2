// Singular values of a batch by one-sided Jacobi sweeps (Hestenes), one matrix in each partition.
//
// Of A and A^T the one with p >= q rows and columns is taken, W = its columns, V = I, both in rows. A step makes N/2
// disjoint pairs of columns orthogonal and moves all of them on by one place of a ring (jacobi_rotations.hpp): with
// alpha = |x|^2, beta = |y|^2, gamma = x^T y the angles come from d = beta - alpha, g = 2 gamma, divided by the larger
// of |d| and |g| so that pairs of small columns have angles, too. At the end W = U S. Nothing is squared but norms, and
// a column's rounding errors are small beside that column: small singular values have orthogonal vectors, which
// eigenvectors of A^T A do not. An odd q gets a column of zeros, which no rotation moves. Sweeps go on until every
// cosine gamma / (|x||y|) was found small. Columns below 2^-50 of the largest element have no say in that.
//
// Per step the Vector Engine makes six passes over N p elements for W and its norms, GpSimd one for W and four over
// N^2 for V, besides 30 small instructions. Two steps lead from one pair of tiles to another and back.
#include <algorithm>

#include <trn/tile/stores.hpp>

#include "device/jacobi_rotations.hpp"

namespace trn::solver {

using namespace trn::tile;
using namespace device;

namespace {

// Columns with smaller norms count as zero; A is scaled so that its largest element is between 1 and 2.
constexpr double kLeastNorm = 0x1p-50;

struct Tall {
  explicit Tall(const BatchProgramShape& s) : p(std::max(s.m, s.n)), q(std::min(s.m, s.n)), even(q + q % 2) {}
  std::int64_t p, q, even;
};

class OneSidedJacobi {
 public:
  OneSidedJacobi(Builder& b, Lanes& lanes, std::int64_t count, const Tall& t)
      : b_(b), n_(t.even), half_(t.even / 2), rotations_(b, lanes, count, t.even) {
    const auto rows = [&](const char* name, std::int64_t size) { return lanes.tile(name, count, {n_, size}); };
    w = rows("w", t.p), other_w_ = rows("other_w", t.p), w_change_ = rows("w_change", t.p),
    w_cross_ = rows("w_cross", t.p);
    v = rows("v", n_), other_v_ = rows("other_v", n_), v_change_ = rows("v_change", n_), v_cross_ = rows("v_cross", n_);
    norms_ = lanes.tile("norms", count, {n_}), inverses_ = lanes.tile("inverse_norms", count, {n_});
    for (Access* x : {&gamma_, &most_, &cosines_, &terms_}) *x = lanes.tile("pair", count, {half_});
  }

  Access w, v;  // (P, N, p) and (P, N, N), columns of A V and of V in rows

  // `off` becomes the largest squared cosine that the last sweep met.
  void sweeps(std::int64_t count, const Access& off) {
    b_.memset(cosines_, 0, Engine::Vector);
    steps("step", (count - 1) * (n_ - 1), false);
    steps("last_step", n_ - 1, true);
    b_.tensor_reduce(off, AluOp::Maximum, cosines_);
  }

  [[nodiscard]] Access scratch() const { return w_change_; }

 private:
  void steps(const char* name, std::int64_t count, bool watched) {
    b_.sequential(name, count / 2, [&](const Affine&) {
      step(w, v, other_w_, other_v_, watched);
      step(other_w_, other_v_, w, v, watched);
    });
    if (count % 2 == 0) return;
    step(w, v, other_w_, other_v_, watched);
    b_.tensor_copy(w, other_w_, Engine::Vector);
    b_.tensor_copy(v, other_v_, Engine::GpSimd);
  }

  void step(const Access& w_from, const Access& v_from, const Access& w_to, const Access& v_to, bool watched) {
    const Slice top = ds(0, half_), bottom = ds(half_, half_);
    const Access products = w_cross_(all, top), alpha = norms_(all, top), beta = norms_(all, bottom);
    binary(w_change_, w_from, AluOp::Multiply, w_from);
    b_.tensor_reduce(norms_, AluOp::Add, w_change_);
    binary(products, w_from(all, top), AluOp::Multiply, w_from(all, bottom));
    b_.tensor_reduce(gamma_, AluOp::Add, products);
    if (watched) watch();
    binary(rotations_.d, beta, AluOp::Subtract, alpha);
    b_.tensor_scalar(rotations_.g, gamma_, AluOp::Multiply, 2.0, {.engine = Engine::Vector});
    b_.tensor_scalar(most_, rotations_.d, AluOp::Abs, 0.0,
                     {.op1 = AluOp::Maximum, .operand1 = kLeastNorm * kLeastNorm, .engine = Engine::Vector});
    b_.scalar_tensor_tensor(most_, rotations_.g, AluOp::Abs, 0.0, AluOp::Maximum, most_);
    b_.reciprocal(most_, most_);
    binary(rotations_.d, rotations_.d, AluOp::Multiply, most_);
    binary(rotations_.g, rotations_.g, AluOp::Multiply, most_);
    rotations_.angles();
    rotations_.apply(w_to, w_from, w_change_, w_cross_, Engine::Vector);
    rotations_.apply(v_to, v_from, v_change_, v_cross_, Engine::GpSimd);
  }

  // cosine^2 = (gamma / alpha) (gamma / beta): neither factor leaves the range, whatever the norms.
  void watch() {
    b_.tensor_scalar(inverses_, norms_, AluOp::Maximum, kLeastNorm * kLeastNorm, {.engine = Engine::Vector});
    b_.reciprocal(inverses_, inverses_);
    binary(most_, gamma_, AluOp::Multiply, inverses_(all, ds(0, half_)));
    binary(terms_, gamma_, AluOp::Multiply, inverses_(all, ds(half_, half_)));
    binary(most_, most_, AluOp::Multiply, terms_);
    binary(cosines_, cosines_, AluOp::Maximum, most_);
  }

  void binary(const Access& to, const Access& x, AluOp op, const Access& y) {
    b_.tensor_tensor(to, x, y, op, Engine::Vector);
  }

  Builder& b_;
  std::int64_t n_, half_;
  JacobiRotations rotations_;
  Access other_w_, other_v_, w_change_, w_cross_, v_change_, v_cross_, norms_, inverses_, gamma_, most_, cosines_,
      terms_;
};

}  // namespace

Program svd_batch_program(const JacobiShape& shape, const Machine& machine) {
  Builder b("solver_svd_batch", machine);
  const BatchProgramShape& s = shape.batch;
  const Tall tall(s);
  Lanes lanes(b, s);
  const Shape columns{s.count, tall.even, tall.p}, rotations{s.count, tall.even, tall.even};
  const auto number = [&](const char* name) { return b.output(name, DType::Float32, {s.count, 1}); };
  Access a, matrix_in, vectors_in, flags, scales, elements;
  if (shape.begins) {
    a = lanes.input("a"), flags = number("flags"), scales = number("scale"), elements = lanes.falling();
  } else {
    matrix_in = b.input("matrix_in", DType::Float32, columns);
    vectors_in = b.input("vectors_in", DType::Float32, rotations);
  }
  const Access matrix = b.output("matrix", DType::Float32, columns),
               vectors = b.output("vectors", DType::Float32, rotations), offs = number("off");
  lanes.for_groups([&](const Affine& first, std::int64_t count) {
    const Slice here = ds(first, count);
    OneSidedJacobi jacobi(b, lanes, count, tall);
    const Access off = lanes.tile("largest_cosine", count, {1});
    if (shape.begins) {
      const Access loaded = lanes.loaded(count), flag = lanes.tile("flag", count, {1}),
                   scale = lanes.tile("scale_of", count, {1}), inverse = lanes.tile("inverse_scale", count, {1});
      b.dma_copy(loaded, lanes.turned(a(here)));
      const auto as_columns = [&](const Access& x) { return s.m >= s.n ? x.permute({1, 0}) : x; };
      const Access part = as_columns(lanes.matrix(loaded)), scratch = jacobi.scratch()(all, ds(0, tall.q));
      lanes.flag(flag, part, scratch, as_columns(elements(ds(0, count))));
      lanes.power_of_two(scale, inverse, part, scratch);
      b.memset(jacobi.w, 0, Engine::Vector);
      b.tensor_scalar(jacobi.w(all, ds(0, tall.q)), part, AluOp::Multiply, inverse, {.engine = Engine::Vector});
      b.memset(jacobi.v, 0, Engine::Vector);
      b.memset(diagonal_of(jacobi.v, 0, 0, tall.even), 1, Engine::Vector);
      b.dma_copy(flags(here), flag);
      b.dma_copy(scales(here), scale);
    } else {
      b.dma_copy(jacobi.w, matrix_in(here));
      b.dma_copy(jacobi.v, vectors_in(here));
    }
    jacobi.sweeps(shape.sweeps, off);
    b.dma_copy(matrix(here), jacobi.w);
    b.dma_copy(vectors(here), jacobi.v);
    b.dma_copy(offs(here), off);
  });
  return static_stores(b.finish());
}

// Ranks as in eigh_sort_program, the largest first; a vector of the result is the sum of all vectors times whether
// their rank is its place, which is exact.
Program svd_sort_program(const SvdSortShape& shape, const Machine& machine) {
  Builder b("solver_svd_sort", machine);
  const std::int64_t number = shape.left.count, p = shape.left.m, q = shape.right.m, even = q + q % 2,
                     side = machine.partitions;
  Lanes left_lanes(b, shape.left), right_lanes(b, shape.right);
  const auto hbm = [](const BatchProgramShape& s) { return Strides{s.stride, s.row, s.column}; };
  const Access matrix = b.input("matrix", DType::Float32, {number, even, p}),
               vectors = b.input("vectors", DType::Float32, {number, even, even}),
               scales = b.input("scale", DType::Float32, {number, 1}), s = b.output("s", DType::Float32, {number, q}),
               left = b.output("left", DType::Float32, {number, p, shape.left.n}, hbm(shape.left)),
               right = b.output("right", DType::Float32, {number, q, q}, hbm(shape.right)),
               missing = b.output("missing", DType::Float32, {number, 1});
  const Access before = left_lanes.tile("before", side, {q, q});  // i - j > 0
  b.memset(before, 1, Engine::Vector);
  b.affine_select(before, {{1, q}, {-1, q}}, 0, 0, AluOp::Greater, before, 0);
  left_lanes.for_groups([&](const Affine& first, std::int64_t count) {
    const Slice here = ds(first, count);
    const auto tile = [&](const char* name, Shape free) { return left_lanes.tile(name, count, std::move(free)); };
    const auto multiply = [&](const Access& to, const Access& x, const Access& y) {
      b.tensor_tensor(to, x, y, AluOp::Multiply, Engine::Vector);
    };
    const Access w_tile = tile("w", {even, p}), v_tile = tile("v", {even, even}), scale = tile("scale_of", {1}),
                 norms = tile("norms", {q}), inverses = tile("inverse_norms", {q}), scratch = tile("scratch", {q}),
                 ranks = tile("ranks", {q}), hot = tile("hot", {q}), sorted = tile("sorted", {q}),
                 lost = tile("lost", {1}), more = tile("more", {q, q}), equal = tile("equal", {q, q}),
                 terms = tile("terms", {p, q}), u = left_lanes.loaded(count), z = right_lanes.loaded(count);
    const Access w = w_tile(all, ds(0, q)), v = v_tile(all, ds(0, q), ds(0, q)), w_terms = terms.permute({1, 0});
    b.dma_copy(w_tile, matrix(here));
    b.dma_copy(v_tile, vectors(here));
    b.dma_copy(scale, scales(here));
    multiply(w_terms, w, w);
    b.tensor_reduce(norms, AluOp::Add, w_terms);
    b.tensor_scalar(norms, norms, AluOp::Maximum, 0x1p-120, {.engine = Engine::Vector});
    left_lanes.inverse_root(inverses, norms, scratch);
    multiply(norms, norms, inverses);
    // Columns of U whose norm is next to nothing are zeros here and counted in `lost`; orthonormal_batch puts columns
    // in their places. Singular values of zeros alone are zero.
    b.tensor_scalar(scratch, norms, AluOp::Less, kLeastNorm, {.engine = Engine::Vector});
    b.tensor_reduce(lost, AluOp::Add, scratch);
    b.scalar_tensor_tensor(inverses, norms, AluOp::GreaterEqual, kLeastNorm, AluOp::Multiply, inverses);
    b.scalar_tensor_tensor(norms, norms, AluOp::Greater, 0x1p-59, AluOp::Multiply, norms);
    multiply(w, w, along_rows(inverses, p));
    const Access theirs = along_columns(norms, q), mine = along_rows(norms, q);
    b.tensor_tensor(more, theirs, mine, AluOp::Greater, Engine::Vector);
    b.tensor_tensor(equal, theirs, mine, AluOp::Equal, Engine::Vector);
    multiply(equal, equal, before(ds(0, count)));
    b.tensor_tensor(more, more, equal, AluOp::Add, Engine::Vector);
    b.tensor_reduce(ranks, AluOp::Add, more);
    b.tensor_scalar(norms, norms, AluOp::Multiply, scale, {.engine = Engine::Vector});
    if (shape.left.n > q) b.memset(u, 0, Engine::Vector);
    for (std::int64_t r = 0; r < q; ++r) {
      b.tensor_scalar(hot, ranks, AluOp::Equal, static_cast<double>(r), {.engine = Engine::Vector});
      multiply(scratch, norms, hot);
      b.tensor_reduce(sorted(all, ds(r, 1)), AluOp::Add, scratch);
      multiply(terms, w.permute({1, 0}), along_columns(hot, p));
      b.tensor_reduce(column_of(left_lanes.matrix(u), r, 0, p), AluOp::Add, terms);
      multiply(more, v.permute({1, 0}), along_columns(hot, q));
      b.tensor_reduce(column_of(right_lanes.matrix(z), r, 0, q), AluOp::Add, more);
    }
    b.dma_copy(s(here), sorted);
    b.dma_copy(left_lanes.turned(left(here)), u);
    b.dma_copy(right_lanes.turned(right(here)), z);
    b.dma_copy(missing(here), lost);
  });
  return static_stores(b.finish());
}

// A column of zeros becomes e_i - U U^T e_i, made orthogonal to U once more, and of norm one. i is where the rows of U
// are shortest: the square of what is left is the mean over all rows at least, 1 / p.
Program orthonormal_batch_program(const OrthonormalShape& shape, const Machine& machine) {
  Builder b("solver_orthonormal_batch", machine);
  const BatchProgramShape& s = shape.batch;
  const std::int64_t p = s.m, columns = s.n;
  Lanes lanes(b, s);
  const Access input = lanes.input("u_in"), output = b.output_over("u", input);
  const Access numbers = b.sbuf("numbers", machine.partitions, {p}, DType::Int32),
               falling = lanes.tile("falling", machine.partitions, {p});
  b.iota(numbers, {{-1, p}}, p);
  b.tensor_copy(falling, numbers, Engine::Vector);
  lanes.for_groups([&](const Affine& first, std::int64_t count) {
    const Slice here = ds(first, count);
    const auto tile = [&](const char* name, Shape free) { return lanes.tile(name, count, std::move(free)); };
    const auto binary = [&](const Access& to, const Access& x, AluOp op, const Access& y) {
      b.tensor_tensor(to, x, y, op, Engine::Vector);
    };
    const Access loaded = lanes.loaded(count), u = lanes.matrix(loaded), terms = tile("terms", {p, columns}),
                 lengths = tile("lengths", {p}), x = tile("x", {p}), products = tile("products", {columns}),
                 number = tile("number", {1}), root = tile("root", {1}), spare = tile("spare", {1}),
                 absent = tile("absent", {1}), places = falling(ds(0, count));
    b.dma_copy(loaded, lanes.turned(input(here)));
    for (std::int64_t c = shape.first; c < columns; ++c) {
      const Access column = column_of(u, c, 0, p);
      binary(lengths, column, AluOp::Multiply, column);
      b.tensor_reduce(absent, AluOp::Add, lengths);
      b.tensor_scalar(absent, absent, AluOp::Less, 0.5, {.engine = Engine::Vector});
      binary(terms, u, AluOp::Multiply, u);
      b.tensor_reduce(lengths, AluOp::Add, terms);
      b.tensor_reduce(number, AluOp::Minimum, lengths);
      b.scalar_tensor_tensor(x, lengths, AluOp::Equal, number, AluOp::Multiply, places);
      b.tensor_reduce(number, AluOp::Maximum, x);
      b.tensor_scalar(x, places, AluOp::Equal, number, {.engine = Engine::Vector});
      for (int pass = 0; pass < 2; ++pass) {
        binary(terms, u, AluOp::Multiply, along_rows(x, columns));
        b.tensor_reduce(products, AluOp::Add, terms.permute({1, 0}));
        binary(terms, u, AluOp::Multiply, along_columns(products, p));
        b.tensor_reduce(lengths, AluOp::Add, terms);
        binary(x, x, AluOp::Subtract, lengths);
      }
      binary(lengths, x, AluOp::Multiply, x);
      b.tensor_reduce(number, AluOp::Add, lengths);
      b.tensor_scalar(number, number, AluOp::Maximum, 0x1p-120, {.engine = Engine::Vector});
      lanes.inverse_root(root, number, spare);
      binary(root, root, AluOp::Multiply, absent);
      b.scalar_tensor_tensor(column, x, AluOp::Multiply, root, AluOp::Add, column);
    }
    b.dma_copy(lanes.turned(output(here)), loaded);
  });
  return static_stores(b.finish());
}

}  // namespace trn::solver
