// What the device kernels of levels 1 and 2 share: a vector spread over all partitions, piece by piece, numbers that
// change from call to call, and sums along a row.
//
// A piece is 128 * columns neighbouring elements, `columns` of them in each partition: contiguous vectors then move in
// long runs. The last piece but one has fewer columns, and up to 127 elements that remain lie in one partition. Complex
// elements are (re, im) pairs of float32 as they are in memory, so every access of a complex vector has a further
// innermost dimension of 2.
#pragma once

#include <complex>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/precision.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>

namespace trn::blas::device {

// Throws NotImplemented unless the kernel's dtype is float32 or complex64.
void require_single(const char* operation, const Executor& executor, DType dtype);
// Throws NotImplemented for any mode but Native.
void require_native(const char* operation, const Executor& executor, Mode mode);

// A vector tensor of n elements with stride inc: (n), or (n, 2) for complex types, float32.
[[nodiscard]] tile::Access vector_input(tile::Builder& b, const std::string& name, bool complex, std::int64_t n,
                                        std::int64_t inc);
[[nodiscard]] tile::Access vector_output(tile::Builder& b, const std::string& name, bool complex, std::int64_t n,
                                         std::int64_t inc);

// `partitions` x `columns` elements of a vector.
struct VectorPiece {
  std::int64_t partitions, columns;
  tile::Affine number;                                  // 0, 1, ... in order of for_pieces
  std::function<tile::Access(const tile::Access&)> of;  // the piece of a tensor: (partitions, columns[, 2])
  // A tile for it, and the same filled from a tensor.
  [[nodiscard]] tile::Access tile(tile::Builder& b, const std::string& name, bool complex,
                                  std::int64_t buffers = 2) const;
  [[nodiscard]] tile::Access load(tile::Builder& b, const std::string& name, const tile::Access& tensor,
                                  std::int64_t buffers = 2) const;
};
// `columns` at most `width`. The pieces are independent of one another.
void for_pieces(tile::Builder& b, std::int64_t n, std::int64_t width,
                const std::function<void(const VectorPiece&)>& body);
[[nodiscard]] std::int64_t piece_count(std::int64_t n, std::int64_t width, const tile::Machine& machine);
// Columns that make a DMA of half a megabyte and leave SBUF room for a dozen tiles with their buffers.
[[nodiscard]] inline std::int64_t piece_width(bool complex) { return complex ? 1024 : 2048; }

// A tile (partitions, ..., 2): its real or imaginary parts, and all numbers in a row.
[[nodiscard]] tile::Access part(const tile::Access& pairs, std::int64_t which);
[[nodiscard]] tile::Access flat(const tile::Access& tile);
[[nodiscard]] inline tile::Access top(const tile::Access& column, std::int64_t partitions) {
  return column(tile::ds(0, partitions), tile::all);
}

// Numbers of one call: an input `factors` brought into every partition. factor(i) is a (P, 1) column.
class Factors {
 public:
  Factors(tile::Builder& b, std::int64_t count);
  [[nodiscard]] tile::Access operator()(std::int64_t i, std::int64_t partitions) const {
    return tile_(tile::ds(0, partitions), tile::ds(i, 1));
  }

 private:
  tile::Access tile_;
};

// dst (P, 1) = sum over the free dimension of src, in groups of 64 and then over the groups: 64 + columns / 64
// additions behind each sum, in a fixed order.
void sum_row(tile::Builder& b, const tile::Access& dst, const tile::Access& src);

// The factors of a program, rounded to float, as its input "factors".
[[nodiscard]] tile::Argument factors_of(std::initializer_list<double> factors);

// x = 0, without reading it.
void zero(const Executor& executor, DType dtype, std::int64_t n, void* x, std::int64_t incx);

// A vector after the entry point, turned so that its first stride is not negative: every element keeps its partner.
struct Vectors {
  std::int64_t n, incx, incy;
  void *x, *y;
  Vectors(DType dtype, std::int64_t n, const void* x, std::int64_t incx, const void* y, std::int64_t incy);
};

}  // namespace trn::blas::device
