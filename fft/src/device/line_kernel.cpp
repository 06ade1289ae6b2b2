// What the kernels of lines share: see line_kernel.hpp.
#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/matmul.hpp>

#include "exact_blocks.hpp"
#include "in_place.hpp"
#include "point_tiles.hpp"

namespace trn::fft {

const char* name(LineKernel kernel) {
  switch (kernel) {
    case LineKernel::Rows:
      return "rows";
    case LineKernel::Columns:
      return "columns";
    case LineKernel::Blocks:
      return "blocks";
    case LineKernel::RealColumns:
      return "real columns";
    case LineKernel::Pairs:
      return "pairs";
    case LineKernel::PairsIn:
      return "pairs in";
    case LineKernel::ColumnsReal:
      return "columns real";
  }
  return "?";
}

namespace device {

using namespace trn::tile;

SideTensors declare_side(Builder& b, const char* name, const PointLayout& layout, const std::vector<LineDim>& lines,
                         bool input) {
  SideTensors side{layout, {}};
  Shape shape;
  Strides strides;
  for (const LineDim& d : lines) {
    shape.push_back(d.count);
    strides.push_back(input ? d.in : d.out);
  }
  shape.push_back(layout.points);
  strides.push_back(layout.stride);
  if (side.pairs()) {
    shape.push_back(2);
    strides.push_back(1);
  }
  for (int part = 0; part < side.tensors(); ++part) {
    const std::string full = side.pairs() ? name : fmt::format("{}_{}", name, part == 0 ? "re" : "im");
    side.tensor[part] =
        input ? b.input(full, DType::Float32, shape, strides) : b.output(full, DType::Float32, shape, strides);
  }
  return side;
}

LineKernelBase::LineKernelBase(const char* name, const LinesShape& shape, const Machine& machine)
    : s_(shape),
      machine_(machine),
      b_(name, machine),
      words_(words_of(shape.mode)),
      side_(machine.partitions),
      bank_(blocks::bank_columns(machine)) {
  x_ = declare_side(b_, "x", s_.in, s_.lines, true);
  y_ = declare_side(b_, "y", s_.out, s_.lines, false);
}

Access LineKernelBase::constant(const std::string& name, std::int64_t rows, std::int64_t columns, DType dtype,
                                std::int64_t words) {
  const Access tensor = b_.input(name, dtype, {words, rows, columns});
  const Access tile = b_.sbuf(name + "_tile", rows, {words, columns}, dtype);
  // A ring of its own, so that the first lines need not wait for it.
  b_.dma_copy(tile, tensor.permute({1, 0, 2}), {.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default});
  return tile;
}

Access LineKernelBase::word(const Access& tile, std::int64_t w, std::int64_t rows, std::int64_t columns) {
  Access one = tile(ds(0, rows), ds(w, 1), ds(0, columns));
  one.dims.erase(one.dims.begin());
  return one;
}

void LineKernelBase::for_outer_lines(const LinesBody& body, std::size_t inner, std::size_t dimension, const Affine& in,
                                     const Affine& out) {
  if (dimension + inner >= s_.lines.size()) return body(in, out);
  const LineDim& d = s_.lines[dimension];
  b_.parallel(fmt::format("lines{}", dimension), d.count,
              [&](Affine i) { for_outer_lines(body, inner, dimension + 1, in + i * d.in, out + i * d.out); });
}

std::int64_t LineKernelBase::total_lines() const {
  std::int64_t total = 1;
  for (const LineDim& d : s_.lines) total *= d.count;
  return total;
}

void LineKernelBase::move(const Access& dst, const Access& src, Engine engine) {
  if (engine == Engine::Scalar)
    b_.activation(dst, ActFunction::Copy, src);
  else
    b_.tensor_copy(dst, src, engine);
}

RowsParts rows_parts(const LinesShape& s) {
  const std::int64_t n = s.n2, half = n / 2 + 1;
  if (s.in.real) return {1, 1, n, rows_packed(s) ? n : 2 * half};
  if (s.out.real) return {1, 1, n, n};
  if (2 * n <= machines().front().partitions) return {1, 1, 2 * n, 2 * n};
  if (n % 2 == 0) return {2, 1, n, n};
  return {1, 2, n, 2 * n};
}

}  // namespace device

namespace {

tile::Program two_arrays(const LinesShape& shape, const tile::Machine& machine) {
  require(!shape.lines.empty(),
          "fft: a program needs at least one dimension of lines; one line is a dimension of extent 1");
  for (const LineDim& d : shape.lines) require(d.count >= 1, "fft: a dimension of {} lines; at least 1", d.count);
  require(shape.n1 >= 1 && shape.n2 >= 1 && shape.n1 <= machine.partitions && shape.n2 <= machine.partitions,
          "fft: factors {} x {}; both are 1 to {}: split the length further", shape.n1, shape.n2, machine.partitions);
  if (shape.mode == Mode::Exact) {
    require(shape.kernel == LineKernel::Blocks, "fft: mode exact has kernel blocks, not {}", name(shape.kernel));
    return device::exact_blocks_program(shape, machine);
  }
  switch (shape.kernel) {
    case LineKernel::Rows:
      require(shape.n1 == 1 && !shape.table, "fft: kernel rows has one factor and no table; got n1 = {}", shape.n1);
      return device::rows_program(shape, machine);
    case LineKernel::Columns:
      require(shape.n1 == 1 && !shape.out.real, "fft: kernel columns has one factor and complex results; got n1 = {}",
              shape.n1);
      require(shape.in.points == shape.n2 ||
                  (shape.table && 2 * shape.in.points == shape.n2 && shape.n2 == machine.partitions && !shape.in.real),
              "fft: kernel columns takes lines of {} points, or half of {} with a table; got {}", shape.n2,
              machine.partitions, shape.in.points);
      return device::columns_program(shape, machine);
    case LineKernel::Blocks:
      require(!shape.table, "fft: kernel blocks has no table");
      require(
          shape.in.points == shape.n() || (shape.out.real && shape.in.points == shape.n() / 2 + (shape.odd ? 0 : 1)),
          "fft: kernel blocks takes lines of {} points, or {} of a real one; got {}", shape.n(), shape.n() / 2 + 1,
          shape.in.points);
      require(shape.out.points == shape.n() || 2 * shape.out.points <= shape.n() + 2,
              "fft: kernel blocks gives all {} points, or the first {} and less; got {}", shape.n(), shape.n() / 2 + 1,
              shape.out.points);
      require(!shape.odd || (!shape.in.real && (2 * shape.out.points <= shape.n() || 2 * shape.in.points == shape.n())),
              "fft: odd lines are the imaginary parts of complex ones and have up to {} results, or backwards; got {} "
              "to {}",
              shape.n() / 2, shape.in.points, shape.out.points);
      if (device::is_half_out(shape)) return device::half_out_program(shape, machine);
      if (device::is_half_in(shape)) return device::half_in_program(shape, machine);
      return device::blocks_program(shape, machine);
    case LineKernel::RealColumns:
    case LineKernel::Pairs:
    case LineKernel::PairsIn:
    case LineKernel::ColumnsReal:
      break;
  }
  require(shape.mode == Mode::Native, "fft: kernel {} has mode native, not {}", name(shape.kernel), name(shape.mode));
  const bool back = shape.kernel == LineKernel::PairsIn || shape.kernel == LineKernel::ColumnsReal;
  const PointLayout &given = back ? shape.out : shape.in, &half = back ? shape.in : shape.out;
  const std::int64_t lines = shape.lines.back().count;
  if (shape.kernel == LineKernel::RealColumns || shape.kernel == LineKernel::ColumnsReal) {
    require(shape.n1 == 1 && shape.table && given.real && !half.real && half.format == Format::Interleaved &&
                2 * half.points == shape.n2 && given.points == shape.n2 &&
                device::real_columns_width(shape.n2, lines, machine) > 0,
            "fft: kernel {} takes {} or fewer real points, a divisor of that, and a multiple of {} columns, with a "
            "table; got {} points, {} columns",
            name(shape.kernel), machine.partitions, 2 * machine.partitions / std::max<std::int64_t>(shape.n2, 1),
            given.points, lines);
    return back ? device::columns_real_program(shape, machine) : device::real_columns_program(shape, machine);
  }
  require(shape.lines.size() >= 2 && given.points == shape.n() && 2 * half.points == shape.n() && given.stride == 2 &&
              given.format == Format::Interleaved && half.format == Format::Interleaved && !given.real && !half.real &&
              device::pairs_fit(shape.n1, shape.n2, lines, shape.lines[shape.lines.size() - 2].count, machine),
          "fft: kernel {} does not take {} lines of {} x {} points", name(shape.kernel), lines, shape.n1, shape.n2);
  return back ? device::pairs_in_program(shape, machine) : device::pairs_program(shape, machine);
}

}  // namespace

tile::Program lines_program(const LinesShape& shape, const tile::Machine& machine) {
  tile::Program program = two_arrays(shape, machine);
  return shape.in_place ? device::in_place(program) : program;
}

}  // namespace trn::fft
