// Views that device kernels take of their tiles again and again.
#pragma once

#include <trn/tile/access.hpp>

namespace trn::blas::device {

// Entry i of the first free dimension of a tile, of the first dimension of a tensor; that dimension is gone.
[[nodiscard]] inline tile::Access entry(const tile::Access& x, const tile::Affine& i) {
  tile::Access one = x.is_tile() ? x(tile::all, tile::ds(i, 1)) : x(tile::ds(i, 1));
  one.dims.erase(one.dims.begin());
  return one;
}

// The same elements without dimension d, of which the access has one.
[[nodiscard]] inline tile::Access without(tile::Access x, std::size_t d) {
  x.dims.erase(x.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return x;
}

// Word w of a (P, blocks, words, columns) tile, as (P, blocks, columns).
[[nodiscard]] inline tile::Access word_of(const tile::Access& x, std::int64_t w) {
  tile::Access one = x(tile::all, tile::all, tile::ds(w, 1));
  one.dims.erase(one.dims.begin() + 1);
  return one;
}

// Part p, 0 real or 1 imaginary, of an access whose last dimension is the pair of them.
[[nodiscard]] inline tile::Access plane(const tile::Access& x, std::int64_t p) {
  tile::Access one = x;
  one.offset = one.offset + p;
  one.dims.pop_back();
  return one;
}

}  // namespace trn::blas::device
