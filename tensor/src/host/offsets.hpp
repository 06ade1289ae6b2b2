// Offsets of a range of a group's flat index.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../fold.hpp"

namespace trn::tensor::host {

// The digits of a flat index, innermost first. Plans have at most 64 labels.
struct Digits {
  std::int64_t at[64] = {};
  Digits(const Group& group, std::int64_t flat) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      at[i] = flat % group[i].extent;
      flat /= group[i].extent;
    }
  }
};

// out = offsets in A, B, C and D of one flat index, added.
inline void offset_at(const Group& group, std::int64_t flat, std::int64_t out[4]) {
  for (const FoldedIndex& i : group) {
    const std::int64_t digit = flat % i.extent;
    flat /= i.extent;
    out[0] += digit * i.a, out[1] += digit * i.b, out[2] += digit * i.c, out[3] += digit * i.d;
  }
}

// out[i] = offset of the flat index begin + i in one operand.
inline void offsets(const Group& group, std::int64_t begin, std::int64_t count, std::int64_t FoldedIndex::*stride,
                    std::int64_t* out) {
  if (group.empty()) {
    std::fill(out, out + count, 0);
    return;
  }
  Digits digits(group, begin);
  std::int64_t base = 0;
  for (std::size_t i = 1; i < group.size(); ++i) base += digits.at[i] * group[i].*stride;
  const std::int64_t step = group[0].*stride;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t run = std::min(group[0].extent - digits.at[0], count - done);
    for (std::int64_t i = 0; i < run; ++i) out[done + i] = base + (digits.at[0] + i) * step;
    done += run;
    digits.at[0] = 0;
    for (std::size_t i = 1; i < group.size(); ++i) {
      base += group[i].*stride;
      if (++digits.at[i] < group[i].extent) break;
      base -= group[i].extent * group[i].*stride;
      digits.at[i] = 0;
    }
  }
}

}  // namespace trn::tensor::host
