// raw64: out(i) = 64 random bits. cuRAND: curandGenerateLongLong, which it has for 64-bit Sobol sequences alone.
//
// A pseudo-random generator gives words p + 2 i (low) and p + 2 i + 1 (high), p its position, and advances by two words
// per element. A quasi-random generator gives its own 64 bits per coordinate, or refuses when it has 32: Sobol32 and
// its scrambled forms. Otherwise as raw32.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

void raw64(const Executor& executor, Generator& generator, const View<std::uint64_t>& out);

}  // namespace trn::rand
