// Numbers hi + lo of two fp32 words, about 48 bits, on the Vector Engine, which rounds every operation to fp32 and has no fused
// multiply-add: sums, and products by a table that comes with its factors already split. See exact_blocks.cpp for what is exact.
#pragma once

#include <functional>

#include "line_kernel.hpp"

namespace trn::fft::device {

// hi + lo, both of one shape.
struct Pair {
  tile::Access hi, lo;
};

// A table entry w is four numbers: w rounded, the 11 first bits of that, its other 13 bits, and what w has beyond.
constexpr std::int64_t kTableParts = 4;
void table_entry(long double w, float* entry, std::int64_t plane);  // to entry[0], entry[plane], ...

class PairArithmetic {
 protected:
  PairArithmetic(const char* name, const tile::Machine& machine) : b_(name, machine) {}

  // Elementwise in fp32, one rounding, a new tile each.
  tile::Access fresh(const tile::Access& like, DType dtype = DType::Float32) {
    return b_.sbuf("word", like.partitions, {like.free_size()}, dtype);
  }
  tile::Access op(const tile::Access& a, const tile::Access& b, tile::AluOp which, tile::Engine engine);
  tile::Access add(const tile::Access& a, const tile::Access& b, tile::Engine e = tile::Engine::Vector) {
    return op(a, b, tile::AluOp::Add, e);
  }
  tile::Access subtract(const tile::Access& a, const tile::Access& b, tile::Engine e = tile::Engine::Vector) {
    return op(a, b, tile::AluOp::Subtract, e);
  }
  tile::Access multiply(const tile::Access& a, const tile::Access& b, tile::Engine e) { return op(a, b, tile::AluOp::Multiply, e); }

  // hi + lo of a sum and a smaller one.
  void normal(const Pair& to, const tile::Access& large, const tile::Access& small, tile::Engine engine);

  // z times a table, in place. z is (P, count, columns), columns being real and imaginary parts by turns; table(part, 0) and table(part, 1)
  // are the cosines and sines of part 0 to 3, (P, count, columns/2).
  using Table = std::function<tile::Access(std::int64_t part, std::int64_t which)>;
  void turn(const Pair& z, const Table& table, std::int64_t count, std::int64_t columns);

  tile::Builder b_;

 private:
  // A factor in the form a product needs.
  struct Factor {
    tile::Access hi, first, second, lo;
  };
  Factor factor(const Pair& z);
  Pair product(const Factor& z, const Factor& w, tile::Engine e);
};

}  // namespace trn::fft::device
