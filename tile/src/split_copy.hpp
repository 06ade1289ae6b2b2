// Copies with too many levels on a side in HBM as several that have at most kHbmLevels.
#pragma once

#include <trn/tile/access.hpp>
#include <vector>

namespace trn::tile {

struct CopyPart {
  Access dst, src;
};
// Parts that together move what one copy from src to dst moves; the copy itself where it has few levels, or where the
// two sides have no levels in common along which to cut: the verifier then says so.
[[nodiscard]] std::vector<CopyPart> split_copy(const Access& dst, const Access& src);

}  // namespace trn::tile
