// integers: out(i) in low .. high - 1, all equally likely, without bias.
//
// Word n of the generator, times the number of possible values, over 2^32; the few words that would make some values
// likelier are rejected, and the element then draws from its own sequence (Lemire 2019). Exact integer arithmetic: the
// same bits everywhere. The position moves by one word per value. Host only. Throws NotImplemented for algorithms other
// than Philox4x32_10 and Threefry4x32_20 (there are no words to reject to), and InvalidArgument, drawing and writing
// nothing, when `out` breaks the rules of raw32, when low >= high, or when the range does not fit the type of out.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

void integers(const Executor& executor, Generator& generator, const View<std::int32_t>& out, std::int64_t low,
              std::int64_t high);
void integers(const Executor& executor, Generator& generator, const View<std::uint32_t>& out, std::int64_t low,
              std::int64_t high);

}  // namespace trn::rand
