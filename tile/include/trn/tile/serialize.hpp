// serialize: a program as JSON text and back. deserialize(serialize(p)) == p; the stored hash is checked, so a
// truncated or edited file is refused with one clear InvalidArgument.
#pragma once

#include <string>
#include <string_view>

#include <trn/tile/program.hpp>

namespace trn::tile {

[[nodiscard]] std::string serialize(const Program& program);
[[nodiscard]] Program deserialize(std::string_view text);
void save(const Program& program, const std::string& path);
[[nodiscard]] Program load(const std::string& path);

}  // namespace trn::tile
