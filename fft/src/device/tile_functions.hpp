// Complex functions of tiles in SBUF, fp32: what the Vector Engine's operators make of them, with range reductions
// where the operators alone would overflow or lose digits.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::fft::device {

// Real and imaginary part, (P, n) each with any stride.
struct Parts {
  tile::Access re, im;
};

// All operands are tiles of one size; results may be written over operands of the same element.
class TileFunctions {
 public:
  TileFunctions(tile::Builder& b, std::int64_t partitions, std::int64_t free)
      : b_(b), partitions_(partitions), free_(free) {}

  enum class Conjugate : std::uint8_t { No, Second };
  void multiply(const Parts& out, const Parts& a, const Parts& b, Conjugate conjugate);
  // The operands are changed.
  void divide(const Parts& out, const Parts& a, const Parts& b);
  void modulus(const tile::Access& out, const Parts& a);
  void angle(const tile::Access& out, const Parts& a);  // a is changed
  void from_polar(const Parts& out, const tile::Access& modulus, const tile::Access& angle);

 private:
  [[nodiscard]] tile::Access fresh(DType dtype = DType::Float32) { return b_.sbuf("t", partitions_, {free_}, dtype); }
  tile::Access combine(const tile::Access& a, tile::AluOp op, const tile::Access& b);
  tile::Access with(const tile::Access& a, tile::AluOp op, double operand);
  // (a op0 x) op1 y
  tile::Access with(const tile::Access& a, tile::AluOp op0, double x, tile::AluOp op1, double y);
  tile::Access fused(const tile::Access& a, tile::AluOp op0, double x, tile::AluOp op1, const tile::Access& b);
  tile::Access bits(const tile::Access& a, tile::AluOp op0, double x, tile::AluOp op1 = tile::AluOp::None,
                    double y = 0);
  tile::Access size(const tile::Access& a);  // |a|
  void scale(const Parts& a, const tile::Access& factor);

  // For a largest magnitude m: 2^(128 - e) with e the exponent of m, 2^-126 to 2^126, as the bits of a float; m times
  // it is 2 to 4, or at least 2^-23 where m is subnormal.
  tile::Access scale_field(const tile::Access& largest);
  tile::Access inverse_field(const tile::Access& field);
  // Where a part is infinite, infinite parts become 1, others 0, with their signs; returns 1 there and 0 elsewhere.
  tile::Access box(const Parts& a);
  tile::Access polynomial(const tile::Access& z, std::initializer_list<double> highest_first);

  tile::Builder& b_;
  std::int64_t partitions_, free_;
};

}  // namespace trn::fft::device
