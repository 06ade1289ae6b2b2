// What JSON says about the machine that a run was on: its geometry and the constants of its timing model, so that a
// file explains its own numbers.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace trn::tools {

// Adds "geometry" and "constants" to an object that names a machine in "machine" or "executor" ("trn2", "sim:trn2",
// "trn2u"); of the host: its threads and vector instructions. Objects that name no machine are the host's.
void add_machine(nlohmann::ordered_json& object);

}  // namespace trn::tools
