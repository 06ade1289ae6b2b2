// A device that runs nothing: it keeps the programs that a function asks for, so that a tool can print, emit or
// estimate them.
#pragma once

#include <functional>
#include <memory>
#include <trn/tile/device.hpp>
#include <vector>

namespace trn::tools {

// The programs that `call` runs on an executor of that machine, in order. Memory is there but nothing is computed: what
// `call` reads back is zeros.
[[nodiscard]] std::vector<std::shared_ptr<const tile::Program>> recorded_programs(
    const tile::Machine& machine, const std::function<void(const Executor&)>& call);

}  // namespace trn::tools
