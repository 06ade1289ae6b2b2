// raw32: out(i) = 32 random bits. cuRAND: curandGenerate.
//
// Element i of `out`, in row-major order of its indices, is value number position + i of the generator; the generator
// then stands at position + size. Exact on every executor. `out` has any rank and size including 0. On the host it has
// any strides that keep its elements apart; on a device it is contiguous. Throws InvalidArgument, draws nothing and
// writes nothing when that does not hold or when position + size exceeds 2^64 - 1.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

void raw32(const Executor& executor, Generator& generator, const View<std::uint32_t>& out);

}  // namespace trn::rand
