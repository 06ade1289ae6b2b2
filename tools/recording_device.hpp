// Devices that keep the programs which a function asks for, so that a tool can print, emit or estimate them.
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

// The same for a function whose course depends on what its programs compute: they run on a simulator of the machine.
[[nodiscard]] std::vector<std::shared_ptr<const tile::Program>> executed_programs(
    const tile::Machine& machine, const std::function<void(const Executor&)>& call);

}  // namespace trn::tools
