// How many words the values of a law take.
#pragma once

#include <trn/rand/transform_program.hpp>

namespace trn::rand {

// 32-bit words that one value takes. Values come in pairs that share their words: value v, counted in this unit, has
// the partner v ^ 1.
[[nodiscard]] constexpr int words_per_value(Law law, bool wide) { return wide || law == Law::NormalInverse ? 2 : 1; }

}  // namespace trn::rand
