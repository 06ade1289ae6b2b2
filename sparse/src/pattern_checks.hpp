// The rules of patterns, as checks that throw InvalidArgument with the first place that breaks one.
#pragma once

#include <trn/sparse/types.hpp>

namespace trn::sparse {

template <Index I> void check_extents(const char* operation, Extents extents);
template <Index I> void check_pattern(const char* operation, Extents extents, std::span<const std::int64_t> offsets,
                                      std::span<const I> indices);

}  // namespace trn::sparse
