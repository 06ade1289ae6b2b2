// Arguments of enumeration types. A value that is none of its type's enumerators (a cast, memory that was never set)
// would choose a branch by accident; operations refuse it, in one wording, with InvalidArgument.
#pragma once

#include <trn/core/error.hpp>
#include <trn/core/precision.hpp>

namespace trn::operands {

// The enumerators of E run from E{0}, or `first`, to `last` without gaps; `type` is what the message calls them.
template <class E> void check_enumerator(const char* operation, const char* type, E value, E last, E first = E{}) {
  require(value >= first && value <= last, "{}: {} is {}, which is none of its values {} to {}", operation, type,
          static_cast<int>(value), static_cast<int>(first), static_cast<int>(last));
}

inline void check_enumerator(const char* operation, const Precision& precision) {
  check_enumerator(operation, "Mode", precision.mode(), Mode::Exact);
}

}  // namespace trn::operands
