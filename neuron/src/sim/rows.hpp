// Rows: moving runs of elements between an operand and a contiguous buffer. Engines compute on the buffers; every
// rounding of the simulator happens in store().
//
// Real is float in Exact storage and double in Wide storage. A bit-exact move goes through cells: the element's own
// bytes in Exact storage, a double in Wide storage. Integer and bit operations go through 32-bit words.
#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <trn/core/team.hpp>

#include "sim/operand.hpp"

namespace trn::neuron::sim {

// How store() rounds. Stochastic rounding of element i draws from (seed, counter + i); the counter is a hash of the
// static instruction and the loop variables, so that the order of execution does not change the bits.
struct Rounder {
  bool stochastic = false;
  std::uint64_t seed = 0;
  std::uint64_t counter = 0;
};

// out[i] = element begin + i as Real.
template <class Real> void load(const Operand& o, std::int64_t begin, std::int64_t n, Real* out);
// The same without a copy where the memory already looks like that; `scratch` has room for n.
template <class Real>
[[nodiscard]] const Real* view(const Operand& o, std::int64_t begin, std::int64_t n, Real* scratch);
// Element begin + i = values[i], rounded to the operand's dtype. Wide storage rounds integers only.
template <class Real>
void store(const Operand& o, std::int64_t begin, std::int64_t n, const Real* values, const Rounder& rounder);
// The same from doubles in either storage, with one rounding to nearest even.
void store_values(const Operand& o, std::int64_t begin, std::int64_t n, const double* values);

// Bytes of one cell of this operand. Moves between operands of different cell sizes do not exist.
template <class Real> [[nodiscard]] std::int64_t cell_bytes(const Operand& o);
template <class Real> void load_cells(const Operand& o, std::int64_t begin, std::int64_t n, std::byte* out);
template <class Real> void store_cells(const Operand& o, std::int64_t begin, std::int64_t n, const std::byte* cells);
// The cell of a constant of this dtype, rounded to nearest even in every rounding mode.
template <class Real> [[nodiscard]] std::array<std::byte, 8> constant_cell(DType dtype, double value);
// Row-major copy of all elements of src to dst: bits when the dtypes are equal, otherwise through Real with rounding.
template <class Real> void copy_elements(const Operand& dst, const Operand& src, const Rounder& rounder);

// How an integer narrower than 32 bits becomes a word.
enum class Extend : std::uint8_t { Value, Bits };  // Bits: zero-extended
void load_words(const Operand& o, std::int64_t begin, std::int64_t n, Extend extend, std::uint32_t* out);
// Keeps the low bits of each word.
void store_words(const Operand& o, std::int64_t begin, std::int64_t n, const std::uint32_t* words);

// Buffers of one thread, reused from row to row.
template <class T> class RowBuffers {
 public:
  T* get(std::size_t slot, std::int64_t n) {
    if (buffers_.size() <= slot) buffers_.resize(slot + 1);
    auto& buffer = buffers_[slot];
    if (static_cast<std::int64_t>(buffer.size()) < n) buffer.resize(static_cast<std::size_t>(n));
    return buffer.data();
  }

 private:
  std::vector<std::vector<T>> buffers_;
};

// body(row, buffers) for every row; large tiles use all threads. Rows are independent, so threads do not change
// results. Bodies do not throw: every check happens before.
template <class T, class Body> void for_each_row(std::int64_t rows, std::int64_t row, const Body& body) {
  static constexpr std::int64_t kWorthThreads = 1 << 15;
  static constexpr std::int64_t kPiece = 8;  // rows
  const auto some = [&](std::int64_t piece, int) {
    static thread_local RowBuffers<T> buffers;
    for (std::int64_t r = piece * kPiece; r < std::min(rows, (piece + 1) * kPiece); ++r) body(r, buffers);
  };
  const std::int64_t pieces = (rows + kPiece - 1) / kPiece;
  if (rows > 1 && rows * row >= kWorthThreads) return for_pieces(pieces, omp_get_max_threads(), some);
  for (std::int64_t piece = 0; piece < pieces; ++piece) some(piece, 0);
}

}  // namespace trn::neuron::sim
