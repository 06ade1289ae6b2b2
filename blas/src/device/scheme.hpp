// How a product of two matrices becomes products of planes that the Tensor Engine multiplies: which words represent an
// operand, which of them are multiplied, and which sums make up the result.
#pragma once

#include <trn/blas/gemm_program.hpp>
#include <vector>

namespace trn::blas::device {

// A real matrix made from an operand: the operand itself, or of a complex one its parts and their combinations.
enum class Part : std::uint8_t { Value, Re, Im, NegIm, Sum, Difference };  // Sum = Re + Im, Difference = Re - Im

// sums[sum] += (word a of A)^T (word b of B); words are numbered plane by plane, the leading word first.
struct Term {
  int sum, a, b;
};

// One addend of a result: sign * (sum number `sum`, its low part included).
struct Addend {
  int sum;
  double sign;
};

struct Scheme {
  bool complex = false;
  DType real = DType::Float32;  // of the operands in HBM, or of their parts
  DType word = DType::Float32;  // what the Tensor Engine multiplies
  int words = 1;                // per plane: x = w0 + w1 + ..., each the rounding of what the ones before leave
  std::vector<Part> a, b;       // planes
  std::vector<Term> terms;      // in the order they are summed
  int values = 1;               // sums in the sense of Addend
  std::vector<std::vector<Addend>> parts;  // of C: one list, or one for Re and one for Im
  std::int64_t group_tiles = 0;            // > 0: leading sums cover this many tiles of k and are added up outside PSUM
  bool compensated = false;                // that addition keeps what it rounds off
  std::int64_t leading_depth = 0;          // > 0: a leading product is summed over so many k at a time

  // PSUM accumulators: with several words each value has one for the leading products and one for the others.
  [[nodiscard]] bool low() const { return words > 1; }
  [[nodiscard]] int sums() const { return values * (low() ? 2 : 1); }
  [[nodiscard]] int high_sum(int value) const { return low() ? 2 * value : value; }
  [[nodiscard]] int low_sum(int value) const { return 2 * value + 1; }
  [[nodiscard]] bool leading(const Term& t) const { return !low() || t.sum % 2 == 0; }
  // Whether a plane enters the Tensor Engine as it was loaded.
  [[nodiscard]] bool as_loaded(Part part) const {
    return words == 1 && word == real && (part == Part::Value || part == Part::Re || part == Part::Im);
  }
  [[nodiscard]] bool all_as_loaded(const std::vector<Part>& side) const;
  [[nodiscard]] bool any_as_loaded(const std::vector<Part>& side) const;
  [[nodiscard]] std::int64_t made_words(const std::vector<Part>& side) const;  // that are not as loaded
};

[[nodiscard]] Scheme scheme(const GemmShape& shape);

}  // namespace trn::blas::device
