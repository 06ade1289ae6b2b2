// What a factorisation or a solve says about its work. Numerical outcomes are results, never exceptions.
#pragma once

#include <cstdint>
#include <string_view>

namespace trn::sparse {

// ZeroPivot: a diagonal element is absent or zero (cuSPARSE's structural and numerical zero), or not finite.
// NotPositive: a pivot of a Cholesky factorisation, complete or incomplete, is not positive.
// Singular: a column depends on others, in the pattern or in the numbers. NotFinite: the matrix has a value that is not
// finite, or a factor overflowed.
enum class Status : std::uint8_t { Ok, ZeroPivot, NotPositive, Singular, NotFinite };
[[nodiscard]] std::string_view name(Status status);

struct Outcome {
  Status status = Status::Ok;
  std::int64_t index = -1;   // the first row in trouble
  std::int64_t boosted = 0;  // pivots that were replaced because the caller asked for it
  [[nodiscard]] bool ok() const { return status == Status::Ok; }
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

}  // namespace trn::sparse
