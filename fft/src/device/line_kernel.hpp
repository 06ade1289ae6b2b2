// What the three kernels of lines share: their tensors in HBM, constants in SBUF, loops over lines, and emptying PSUM.
#pragma once

#include <string>
#include <trn/fft/lines_program.hpp>
#include <trn/tile/builder.hpp>
#include <vector>

#include "words.hpp"

namespace trn::fft::device {

// The same tile (partitions kept) or tensor, `offset` further on, along other dimensions.
[[nodiscard]] inline tile::Access pattern(tile::Access base, const tile::Affine& offset, std::vector<tile::Dim> dims) {
  base.offset = base.offset + offset;
  base.dims = std::move(dims);
  return base;
}

// Slots of one tile that are used in turn: what straight-line code has instead of a tile's rotating buffers.
class Ring {
 public:
  Ring(tile::Access tile, std::int64_t slots) : tile_(std::move(tile)), slots_(slots) {}
  // (P, size) of the next slot.
  tile::Access next() {
    const std::int64_t size = tile_.free_size() / slots_;
    return pattern(tile_, next_++ % slots_ * size, {{1, size}});
  }

 private:
  tile::Access tile_;
  std::int64_t slots_, next_ = 0;
};

// One side's tensors. part 0 is the real and part 1 the imaginary one; interleaved sides have one tensor for both.
struct SideTensors {
  PointLayout layout;
  tile::Access tensor[2];
  [[nodiscard]] int tensors() const { return layout.format == Format::Planar && !layout.real ? 2 : 1; }
  [[nodiscard]] bool pairs() const { return layout.format == Format::Interleaved && !layout.real; }
};

// The tensors of one side, declared.
[[nodiscard]] SideTensors declare_side(tile::Builder& b, const char* name, const PointLayout& layout,
                                       const std::vector<LineDim>& lines, bool input);

class LineKernelBase {
 public:
  virtual ~LineKernelBase() = default;

 protected:
  LineKernelBase(const char* name, const LinesShape& shape, const tile::Machine& machine);

  // The constant (words, rows, columns) of that name as a tile (rows, words, columns).
  tile::Access constant(const std::string& name, std::int64_t rows, std::int64_t columns, DType dtype,
                        std::int64_t words);
  // Word w of such a tile: (rows, columns), the first of each.
  [[nodiscard]] static tile::Access word(const tile::Access& tile, std::int64_t w, std::int64_t rows,
                                         std::int64_t columns);

  // body(in, out): offsets of the first line of the last dimension, for every combination of the others.
  using LinesBody = std::function<void(const tile::Affine& in, const tile::Affine& out)>;
  // With `inner` dimensions left to the body.
  void for_outer_lines(const LinesBody& body, std::size_t inner = 1, std::size_t dimension = 0,
                       const tile::Affine& in = 0, const tile::Affine& out = 0);
  [[nodiscard]] const LineDim& last() const { return s_.lines.back(); }
  [[nodiscard]] std::int64_t total_lines() const;

  // PSUM (or SBUF) to SBUF on the Vector or the Scalar Engine.
  void move(const tile::Access& dst, const tile::Access& src, tile::Engine engine);

  const LinesShape s_;
  const tile::Machine& machine_;
  tile::Builder b_;
  const Words words_;
  const std::int64_t side_, bank_;
  SideTensors x_, y_;

 private:
};

[[nodiscard]] tile::Program rows_program(const LinesShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program columns_program(const LinesShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program blocks_program(const LinesShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program real_columns_program(const LinesShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program pairs_program(const LinesShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program pairs_in_program(const LinesShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program columns_real_program(const LinesShape& shape, const tile::Machine& machine);
// Columns to a half of kernel RealColumns; 0 where it cannot have them.
[[nodiscard]] std::int64_t real_columns_width(std::int64_t n1, std::int64_t columns, const tile::Machine& machine);
// Whether kernel Pairs takes such factors, `lines` of each of `across` transforms.
[[nodiscard]] bool pairs_fit(std::int64_t n1, std::int64_t n2, std::int64_t lines, std::int64_t across,
                             const tile::Machine& machine);
// Kernel Blocks with fewer than n results, and for real lines from n/2 + 1 points.
[[nodiscard]] inline bool is_half_out(const LinesShape& s) {
  return s.kernel == LineKernel::Blocks && s.out.points < s.n();
}
[[nodiscard]] inline bool is_half_in(const LinesShape& s) {
  return s.kernel == LineKernel::Blocks && s.in.points < s.n();
}
[[nodiscard]] tile::Program half_out_program(const LinesShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program half_in_program(const LinesShape& shape, const tile::Machine& machine);
// Numbers in the constant "zeros" of the latter.
[[nodiscard]] std::int64_t half_in_zeros(const LinesShape& shape, const tile::Machine& machine);

// How many lines share the partitions of the array: as many as fit.
[[nodiscard]] inline std::int64_t lines_together(std::int64_t rows_each, const tile::Machine& machine) {
  return std::max<std::int64_t>(1, machine.partitions / rows_each);
}
// The products of the Rows kernel: `parts` matrices with results of their own, each a sum of `chunks` products over
// `rows` real rows per line, with `columns` real results.
struct RowsParts {
  std::int64_t parts = 1, chunks = 1, rows = 1, columns = 1;
};
[[nodiscard]] RowsParts rows_parts(const LinesShape& shape);
// Kernel Rows with a real input, short: results come without the imaginary parts that are 0, the real part of point n/2
// in the place of the first of them.
[[nodiscard]] inline bool rows_packed(const LinesShape& s) {
  return s.in.real && s.out.format == Format::Interleaved && s.n2 % 2 == 0 && s.n2 <= 32;
}

}  // namespace trn::fft::device
