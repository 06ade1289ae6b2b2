// Places that take turns: short-lived tiles of straight-line code that is recorded many times.
#pragma once

#include <map>
#include <string>

#include <trn/tile/builder.hpp>

#include "tile_product.hpp"

namespace trn::sparse::device {

// take() gives (partitions, shape) in the next of `places` places of one tile per name, each large enough for `largest`
// elements a partition. The tile is declared where the name is first asked for, so clear() goes with every scope.
class Rings {
 public:
  explicit Rings(tile::Builder& b) : b_(b) {}
  tile::Access take(const std::string& name, tile::Space space, std::int64_t partitions, const Shape& shape,
                    DType dtype, std::int64_t places, std::int64_t largest) {
    using namespace trn::tile;
    auto found = rings_.find(name);
    if (found == rings_.end()) {
      const std::int64_t side = b_.machine().partitions;
      const Access ring = space == Space::Psum ? b_.psum(name, side, {places, largest}, dtype)
                                               : b_.sbuf(name, side, {places, largest}, dtype);
      found = rings_.emplace(name, Ring{ring, 0}).first;
    }
    Access place =
        at(found->second.tile, 0, found->second.next++ % places)(ds(0, partitions), ds(0, element_count(shape)));
    for (std::size_t d = shape.size(); d-- > 1;) place = place.split(0, shape[d]);  // (a b c), (a b, c), (a, b, c)
    return place;
  }
  void clear() { rings_.clear(); }

 private:
  struct Ring {
    tile::Access tile;
    std::int64_t next;
  };
  tile::Builder& b_;
  std::map<std::string, Ring> rings_;
};

}  // namespace trn::sparse::device
