// The link between an instance's memory and its chips: the one of the fabric's figures that no collective operation
// uses.
#pragma once

#include <trn/tile/fabric.hpp>

namespace trn::tile {

[[nodiscard]] Figure host_bytes_per_s(const Fabric& fabric);  // into one chip

}  // namespace trn::tile
