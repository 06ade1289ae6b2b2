// The device kernels of trnfft as values: programs that transform many lines of one length, for tools that print, emit,
// profile or estimate them.
//
// A line is one 1-D transform y[k] = s * sum over j of x[j] exp(-+ 2 pi i jk/n). Direction and scale are not part of a
// program: they are in the constants, DFT matrices and twiddles that are bound to its inputs (lines_constants). A plan
// is a list of such programs.
#pragma once

#include <cstddef>
#include <string>
#include <trn/core/precision.hpp>
#include <trn/core/shape.hpp>
#include <trn/fft/types.hpp>
#include <trn/tile/program.hpp>
#include <vector>

namespace trn::tile {
struct Machine;
}

namespace trn::fft {

// Rows     n <= 128, made for lines whose points are neighbours: lines on partitions, turned by the Tensor Engine, one
// product, out as they came. Columns  n <= 128, made for lines that are neighbours of one another: points on
// partitions, one product, no turning. May multiply point k of
//          line b of the last dimension by the table entry (k, b): one step of a longer transform.
// Blocks   n = n1 n2, both <= 128 (Bailey): two products with a twiddle between, all of a line in SBUF. For lines of
// either kind. RealColumns, Pairs  the two steps of long real lines, N m points: n2 = N points of real columns to rows
// 0 .. N/2 - 1, with twiddles; then
//          these N/2 lines of m = n1 n2 points to half of the transform, all but its points of residue N/2. See their
//          sources.
// PairsIn, ColumnsReal  the same backwards, from half lines to real ones.
enum class LineKernel : std::uint8_t { Rows, Columns, Blocks, RealColumns, Pairs, PairsIn, ColumnsReal };
[[nodiscard]] const char* name(LineKernel kernel);

// The points of one side, in reals: point j of line (b0, b1, ...) lies at j * stride + b0 * distance0 + ...;
// interleaved complex points have their imaginary part one further, planar ones in a tensor of their own with the same
// layout.
struct PointLayout {
  Format format = Format::Interleaved;
  bool real = false;  // no imaginary part: read as 0, not written
  std::int64_t points = 1;
  std::int64_t stride = 2;
  bool operator==(const PointLayout&) const = default;
};
struct LineDim {
  std::int64_t count = 1, in = 0, out = 0;  // distances in reals
  bool operator==(const LineDim&) const = default;
};

struct LinesShape {
  LineKernel kernel = LineKernel::Rows;
  Mode mode = Mode::Native;
  std::int64_t n1 = 1, n2 = 1;  // n = n1 n2; n1 = 1 for Rows and Columns
  PointLayout in, out;
  std::vector<LineDim> lines;  // every combination is a line; at least one
  bool table = false;          // Columns: with a table
  bool odd = false;  // Blocks with n/2 or fewer results: the imaginary parts of x as a real line, times exp(-+ pi i
                     // j/n); or from n/2 points to a real line, backwards
  bool in_place = false;  // x and y are one memory, which the program declares: y continues x
  bool operator==(const LinesShape&) const = default;
  [[nodiscard]] std::int64_t n() const { return n1 * n2; }
};

// Tensors: inputs "x" (lines..., points, 2) or, planar, "x_re" and "x_im", or "x_re" alone when real; outputs "y"
// likewise; and the constants. Points: n on both sides, except Rows with a real input, n/2 + 1 out, and with a real
// output, n/2 + 1 in (imaginary parts of points that are their own mirror image are not used), and Blocks, which may
// write the first n/2 + 1 or fewer, and read n/2 + 1 for a real output. RealColumns: n2 in, n2/2 out. Pairs: n in, n/2
// out, and two more outputs "y_mirror" and "y_lone" behind the lines of y; the last dimension of lines is the lines 0
// .. N/2 - 1, the one before it transforms. Only programs in place take one memory as x and y, with the same layout or
// real lines on one side, as long as their complex partners: a line is read before any of it is written.
[[nodiscard]] tile::Program lines_program(const LinesShape& shape, const tile::Machine& machine);

// Mode Exact (kernel Blocks, interleaved lines): every number is the sum of three float32 words, hi a multiple of
// 2^-25, mid one of 2^-49 up to 2^-26, and lo up to 2^-50, in tensors "x_hi", "x_mid" and "x_lo", "y_hi" and so on.
// Lines have Euclidean norms of at most 1/4. Results are exact_scale(n1) exact_scale(n2) times the transform, so that
// theirs are, too; n2 = 1 is allowed, and with it a table. Factors are the caller's.
[[nodiscard]] long double exact_scale(std::int64_t n);  // 1/sqrt(n), or 1/2 where that is less

// One constant of a program: float32, tfloat32 or bfloat16 elements, as its tensor lies in memory.
struct Constant {
  std::string name;
  std::vector<std::byte> bytes;
};
struct ConstantOptions {
  Direction direction = Direction::Forward;
  long double factor = 1;         // on the result
  std::int64_t table_length = 0;  // N: the table's entry (k, b) is exp(-+ 2 pi i k b / N)
};
[[nodiscard]] std::vector<Constant> lines_constants(const LinesShape& shape, const tile::Machine& machine,
                                                    const ConstantOptions& options);

// || computed - exact ||_2 <= bound * || exact ||_2 for each line, rounding of the constants included.
[[nodiscard]] double lines_error_bound(const LinesShape& shape);

}  // namespace trn::fft
