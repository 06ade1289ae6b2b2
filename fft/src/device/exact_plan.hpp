// Plans in double precision: see exact_plan.cpp.
#pragma once

#include "planner.hpp"

namespace trn::fft::device {

// Throws NotImplemented for lengths with a prime factor above 128.
[[nodiscard]] std::shared_ptr<const detail::Body> build_exact(const Executor& executor, const Problem& problem);

}  // namespace trn::fft::device
