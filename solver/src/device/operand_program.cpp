// Programs for operands: the search for NaN and infinities, copies of triangles.
//
// finite: lines of what is contiguous on partitions, 128 at a time, chunks of 4096 elements; 0 x of each is summed
// into a register by one Vector instruction, and 0 x is NaN exactly where x is not finite. Diagonal blocks of a
// triangle come by a scratch copy with zeros around. DMA moves every element once; Vector takes a cycle per element.
#include <trn/solver/operand_program.hpp>

#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "triangle_copy.hpp"

namespace trn::solver {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {

constexpr std::int64_t kElements = 4096;

// (blocks, side, side) of the diagonal of a square HBM matrix.
Access diagonal_blocks(const Access& a, std::int64_t first, std::int64_t count, std::int64_t side, std::int64_t order) {
  Access blocks = a(ds(first * side, order), ds(first * side, order));
  const std::int64_t step = side * (blocks.dims[0].stride + blocks.dims[1].stride);
  blocks.dims.insert(blocks.dims.begin(), {step, count});
  return blocks;
}

template <class F> void for_diagonals(std::int64_t n, std::int64_t side, F f) {
  if (n >= side) f(0, n / side, side);
  if (n % side > 0) f(n / side, 1, n % side);
}

}  // namespace

Program finite_program(const FiniteShape& s, const Machine& machine) {
  require(s.part == MatrixPart::All || s.rows == s.columns, "solver.finite: a triangle of {} x {}", s.rows, s.columns);
  Builder b("solver_finite", machine);
  const std::int64_t side = machine.partitions;
  Access a = b.input("a", DType::Float32, {s.rows, s.columns}, {s.row_stride, s.column_stride});
  const Access flags = b.output("flags", DType::Float32, {side});
  bool head = s.part == MatrixPart::Lower;
  if (s.row_stride == 1 && s.column_stride != 1 && s.rows > 1) {
    a = a.permute({1, 0});
    head = !head;
  }
  const std::int64_t lines = a.dims[0].size, elements = a.dims[1].size;
  const Access sum = b.sbuf("sum", side, {1}, DType::Float32);
  b.memset(sum, 0, Engine::Vector);
  const auto look = [&](const Access& from) {  // (lines, elements)
    const std::int64_t rows = from.dims[0].size, columns = from.dims[1].size;
    const Access t = b.sbuf("t", rows, {columns}, DType::Float32, 3);
    const Access part = b.sbuf("part", rows, {1}, DType::Float32, 3);
    b.dma_copy(t, from);
    b.tensor_scalar_reduce(t, t, AluOp::Multiply, 0.0, AluOp::Add, {.reduce_res = part});
    b.tensor_tensor(sum(ds(0, rows)), sum(ds(0, rows)), part, AluOp::Add, Engine::Vector);
  };
  const auto look_at = [&](std::int64_t first, std::int64_t rows, std::int64_t from, std::int64_t count) {
    for_blocks(b, "chunk", count, kElements, LoopKind::Sequential,
               [&](const Affine& c, std::int64_t columns) { look(a(ds(first, rows), ds(c + from, columns))); });
  };
  if (s.part == MatrixPart::All) {
    for_blocks(b, "lines", lines, side, LoopKind::Sequential, [&](const Affine& l, std::int64_t rows) {
      for_blocks(b, "chunk", elements, kElements, LoopKind::Sequential,
                 [&](const Affine& c, std::int64_t columns) { look(a(ds(l, rows), ds(c, columns))); });
    });
  } else {
    const std::int64_t n = lines;
    const Access zeros = b.sbuf("zeros", side, {side}, DType::Float32);
    const Access triangles = b.scratch("triangles", DType::Float32, {ceil_div(n, side), side, side});
    b.memset(zeros, 0, Engine::Vector);
    b.dma_copy(triangles.permute({1, 0, 2}), zeros.broadcast(0, ceil_div(n, side)));
    for_diagonals(n, side, [&](std::int64_t first, std::int64_t count, std::int64_t order) {
      device::copy_triangles(b, triangles(ds(first, count), ds(0, order), ds(0, order)),
                             diagonal_blocks(a, first, count, side, order), head);
    });
    for (std::int64_t k = 0; k * side < n; ++k) {
      const std::int64_t first = k * side, rows = std::min(side, n - first);
      if (head)
        look_at(first, rows, 0, first);
      else
        look_at(first, rows, first + rows, n - first - rows);
      Access block = triangles(ds(k, 1), ds(0, rows), ds(0, rows));
      block.dims.erase(block.dims.begin());
      look(block);
    }
  }
  b.dma_copy(flags.split(0, 1), sum);
  return static_stores(b.finish());
}

Program copy_triangle_program(const CopyTriangleShape& s, const Machine& machine) {
  Builder b("solver_copy_triangle", machine);
  const std::int64_t side = machine.partitions;
  const Strides to_strides{s.to_row, s.to_column};
  Access a = b.input("a", DType::Float32, {s.n, s.n}, {s.from_row, s.from_column});
  Access to = s.zeros ? b.output("b", DType::Float32, {s.n, s.n}, to_strides)
                      : b.partial_output("b", b.input("b_in", DType::Float32, {s.n, s.n}, to_strides));
  bool lower = s.lower;
  if (s.to_row == 1 && s.n > 1) {  // lines are what is contiguous in B
    a = a.permute({1, 0}), to = to.permute({1, 0});
    lower = !lower;
  }
  if (s.zeros) {
    const Access zeros = b.sbuf("zeros", side, {std::min(s.n, kElements)}, DType::Float32);
    b.memset(zeros, 0, Engine::Vector);
    for (std::int64_t first = 0; first < s.n; first += side) {
      // Beside the triangle, and under its diagonal block.
      const std::int64_t rows = std::min(side, s.n - first);
      const std::int64_t from = lower ? first : 0, until = lower ? s.n : first + rows;
      for (std::int64_t c = from; c < until; c += kElements) {
        const std::int64_t columns = std::min(kElements, until - c);
        b.dma_copy(to(ds(first, rows), ds(c, columns)), zeros(ds(0, rows), ds(0, columns)));
      }
    }
  }
  for (std::int64_t first = 0; first < s.n; first += side) {
    const std::int64_t rows = std::min(side, s.n - first), after = first + rows;
    const Slice here = ds(first, rows), beside = lower ? ds(0, first) : ds(after, s.n - after);
    if (beside.size > 0) b.dma_copy(to(here, beside), a(here, beside));
  }
  for_diagonals(s.n, side, [&](std::int64_t first, std::int64_t count, std::int64_t order) {
    device::copy_triangles(b, diagonal_blocks(to, first, count, side, order),
                           diagonal_blocks(a, first, count, side, order), lower);
  });
  return static_stores(b.finish());
}

}  // namespace trn::solver
