// uniform: out(i) = a uniformly distributed float between 0 and 1. cuRAND: curandGenerateUniform.
//
// One 32-bit value x of the generator makes one element:
//
//   OpenClosed   (0, 1]   float(x) * 2^-32 + 2^-33, float(x) and the sum rounded to nearest even: cuRAND's bits.
//   HalfOpen     [0, 1)   (x >> 8) * 2^-24, exact: all multiples of 2^-24, equally likely.
//
// The bits are the same on every executor. Order, strides, advancing and refusals are those of raw32.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

enum class Interval : std::uint8_t { OpenClosed, HalfOpen };

void uniform(const Executor& executor, Generator& generator, const View<float>& out,
             Interval interval = Interval::OpenClosed);

}  // namespace trn::rand
