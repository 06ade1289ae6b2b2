// Plans in double precision: see exact_plan.cpp.
#pragma once

#include "planner.hpp"

namespace trn::fft::device {

[[nodiscard]] std::shared_ptr<const detail::Body> build_exact(const Executor& executor, const Problem& problem);

}  // namespace trn::fft::device
