// Precision: what a caller asks of an operation's arithmetic, and Accuracy: what the operation says it kept.
//
//   Native    the operands' own type; fp32 accumulation for everything but float64
//   Tf32      operands rounded to tfloat32 (11 significant bits), one product
//   Bf16      operands rounded to bfloat16 (8 significant bits), one product
//   Tf32x3    each operand the sum of two tfloat32 words, three products: as accurate as fp32, at three quarters of its
//     cost
//   Bf16x6    three bfloat16 words, six products, compensated sums: more accurate than fp32
//   Exact     integer arithmetic modulo many primes: float64-accurate on a machine without float64, and the same bits
//     on
//             every executor, in every tiling and order
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace trn {

enum class Mode : std::uint8_t { Native, Tf32, Bf16, Tf32x3, Bf16x6, Exact };

// "native", "tf32", "bf16", "tf32x3", "bf16x6", "exact".
[[nodiscard]] std::string_view name(Mode mode);
[[nodiscard]] std::span<const Mode> all_modes();

// A mode, or an error to stay below: `target(e)` takes the cheapest mode whose bound (Accuracy::bound, for the operands
// at hand) is at most e.
class Precision {
 public:
  constexpr Precision(Mode mode = Mode::Native) : mode_(mode) {}  // implicit: a mode is a precision
  // Throws InvalidArgument unless 0 < error < 1.
  [[nodiscard]] static Precision target(double error);
  // A mode's name, or "target=1e-9". Throws InvalidArgument that lists them.
  [[nodiscard]] static Precision parse(std::string_view text);

  [[nodiscard]] constexpr bool has_target() const { return target_ > 0; }
  [[nodiscard]] constexpr double target_error() const { return target_; }  // 0 when there is none
  [[nodiscard]] constexpr Mode mode() const { return mode_; }              // ignored when there is a target
  friend constexpr bool operator==(const Precision&, const Precision&) = default;

 private:
  Mode mode_;
  double target_ = 0;
};

// What an operation did: the mode it took, the number of Tensor Engine products (or host products) per multiplication
// of the formula, and a bound that holds for the result. Each operation's header says what the bound is relative to;
// for products it is |C - exact|(i,j) <= bound * (|alpha| ||a_i|| ||b_j|| + |beta c_ij|), Euclidean norms of row i of
// op(A) and column j of op(B).
struct Accuracy {
  Mode mode = Mode::Native;
  int passes = 1;
  double bound = 0;
};

}  // namespace trn
