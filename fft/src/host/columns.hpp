// When columns are taken in groups of blocks and when results are written past the caches (columns-inl.hpp): what both
// the planner and the code for each instruction set must know. Sizes fit processors with 0.5 to 2 MiB of second and 16
// to 64 MiB of third cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace trn::fft::host {

inline constexpr std::int64_t kStreamBytes = std::int64_t{6}
                                             << 20;  // of a result: more than a core's share of a third cache
inline constexpr std::int64_t kWideBytes = 512;      // of a row, in a group
inline constexpr std::int64_t kWideBlockBytes = std::int64_t{512} << 10;  // of all its rows
inline constexpr std::int64_t kNearBytes = std::int64_t{1} << 20;         // what is in the second cache, or nearly
// From here on columns come from beyond: the third cache holds both sides no longer, or the one side that there is in
// place.
inline constexpr std::int64_t kFarBytes = std::int64_t{4} << 20, kFarInPlaceBytes = std::int64_t{12} << 20;

// Blocks of `lanes` columns in a group.
template <class T> [[nodiscard]] constexpr std::int64_t wide_group(std::int64_t lanes) {
  return std::max<std::int64_t>(1, kWideBytes / (2 * lanes * static_cast<std::int64_t>(sizeof(T))));
}
// Whether there may be groups among columns of n points, `bytes` altogether, ...
[[nodiscard]] constexpr bool may_be_wide(std::int64_t n, std::int64_t bytes) {
  return n * kWideBytes <= kWideBlockBytes && bytes > kNearBytes;
}
// ... and whether rows these strides apart, in reals, are better off so: they come from memory, or meet in the sets of
// the caches.
template <class T> [[nodiscard]] bool is_wide(std::int64_t n, std::int64_t bytes, std::int64_t in_stride,
                                              std::int64_t out_stride, bool in_place) {
  constexpr std::int64_t page = 4096 / sizeof(T);
  return may_be_wide(n, bytes) &&
         (bytes >= (in_place ? kFarInPlaceBytes : kFarBytes) || in_stride % page == 0 || out_stride % page == 0);
}

}  // namespace trn::fft::host
