// Labels to groups. Merging asks every operand: an index of length e with strides s and its neighbour with strides s'
// are one index when s' = e s in all of them.
#include "fold.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <trn/core/error.hpp>

namespace trn::tensor {

namespace {

// A label of one operand: the sum of its strides, if it is there.
struct Presence {
  bool there = false;
  std::int64_t stride = 0;
};

std::vector<Presence> presence(const Sizes& sizes, const FoldOperand* operand) {
  std::vector<Presence> result(sizes.size());
  if (!operand) return result;
  for (std::size_t i = 0; i < operand->labels.size(); ++i) {
    if (operand->shape[i] == 1) continue;  // repeated or of extent 1: either way it adds nothing to an address
    Presence& p = result[static_cast<std::size_t>(operand->labels[i])];
    p.there = true;
    p.stride += operand->strides[i];
  }
  return result;
}

bool one_index(const FoldedIndex& inner, const FoldedIndex& outer) {
  const std::int64_t e = inner.extent;
  return outer.a == e * inner.a && outer.b == e * inner.b && outer.c == e * inner.c && outer.d == e * inner.d;
}

}  // namespace

std::int64_t extent_of(const Group& group) {
  std::int64_t product = 1;
  for (const FoldedIndex& i : group) {
    if (i.extent == 0) return 0;
    if (__builtin_mul_overflow(product, i.extent, &product)) product = std::numeric_limits<std::int64_t>::max();
  }
  return product;
}

void sort_and_merge(Group& group, std::int64_t FoldedIndex::*stride) {
  std::stable_sort(group.begin(), group.end(), [stride](const FoldedIndex& x, const FoldedIndex& y) {
    const std::int64_t sx = std::abs(x.*stride), sy = std::abs(y.*stride);
    return (sx == 0) != (sy == 0) ? sy == 0 : sx < sy;
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < group.size(); ++i) {
    if (one_index(group[kept], group[i])) {
      group[kept].extent *= group[i].extent;
    } else {
      group[++kept] = group[i];
    }
  }
  if (!group.empty()) group.resize(kept + 1);
}

Folded fold(const Sizes& sizes, const FoldOperand& a, const FoldOperand* b, const FoldOperand* c,
            const FoldOperand& d) {
  const auto in_a = presence(sizes, &a), in_b = presence(sizes, b), in_c = presence(sizes, c),
             in_d = presence(sizes, &d);
  Folded folded;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    if (sizes[l] == 1) continue;
    const bool left = in_a[l].there, right = in_b[l].there, out = in_d[l].there;
    if (!left && !right) {
      ensure(!out, "tensor: label {} is in no operand of a step", l);
      continue;
    }
    const FoldedIndex index{sizes[l], in_a[l].stride, in_b[l].stride, in_c[l].stride, in_d[l].stride};
    (out ? (left && right ? folded.h : left ? folded.m : folded.n) : folded.k).push_back(index);
  }
  sort_and_merge(folded.h, &FoldedIndex::d);
  sort_and_merge(folded.m, &FoldedIndex::d);
  sort_and_merge(folded.n, &FoldedIndex::d);
  // K with the unit stride of A innermost, else with B's.
  const auto unit = [&](std::int64_t FoldedIndex::*s) {
    return std::any_of(folded.k.begin(), folded.k.end(), [s](const FoldedIndex& i) { return std::abs(i.*s) == 1; });
  };
  sort_and_merge(folded.k, !unit(&FoldedIndex::a) && unit(&FoldedIndex::b) ? &FoldedIndex::b : &FoldedIndex::a);
  return folded;
}

std::string to_string(const Folded& folded) {
  const auto shown = [](const Group& group) {
    std::string text;
    for (auto i = group.rbegin(); i != group.rend(); ++i) {
      text += fmt::format("{}{}", text.empty() ? "" : "x", i->extent);
    }
    return text.empty() ? std::string("-") : text;
  };
  return fmt::format("H {} | M {} | N {} | K {}", shown(folded.h), shown(folded.m), shown(folded.n), shown(folded.k));
}

}  // namespace trn::tensor
