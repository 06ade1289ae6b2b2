// Short sums side by side: a product of up to 64 terms fills half of the Tensor Engine's rows or less, and matmuls in
// parts of the array that share no row run at the same time. The operands then lie in SBUF once for every part, each at
// the partitions of its rows; pieces of C take the parts in turn. A sum is formed as before, so its bits are the same.
#pragma once

#include <algorithm>
#include <trn/tile/builder.hpp>

#include "operand.hpp"

namespace trn::blas::device {

class ArrayRows {
 public:
  ArrayRows() = default;
  // As many parts as hold k rows each, for one plain product of more pieces than PSUM has banks, whose operands
  // fit into half of SBUF or a little more.
  ArrayRows(const GemmShape& g, const Scheme& scheme, const tile::Machine& machine) : side_(machine.partitions) {
    const bool plain = scheme.terms.size() == 1 && scheme.all_as_loaded(scheme.a) && scheme.all_as_loaded(scheme.b) &&
                       scheme.group_tiles == 0 && scheme.leading_depth == 0;
    const auto pieces = [](std::int64_t x, std::int64_t size) { return (x + size - 1) / size; };
    const bool several = pieces(g.m, machine.partitions) * pieces(g.n, machine.moving_free_max) > machine.psum_banks;
    const std::int64_t eighths = g.beta == Factor::Zero ? 5 : 4;  // old elements of C need room, too
    const bool fits = (g.m + g.n) * size_bytes(scheme.real) <= eighths * machine.sbuf_bytes_per_partition / 8;
    if (!plain || !fits || g.region != Region::All || g.a_structure != Structure::General ||
        g.b_structure != Structure::General || !several)
      return;
    divide(g.k, machine);
  }
  // As many parts as hold `depth` rows each.
  ArrayRows(std::int64_t depth, const tile::Machine& machine) : side_(machine.partitions) { divide(depth, machine); }

  [[nodiscard]] std::int64_t parts() const { return parts_; }
  // Partitions of a tile that holds `depth` rows for every part.
  [[nodiscard]] std::int64_t partitions(std::int64_t depth) const { return (parts_ - 1) * rows_ + depth; }
  [[nodiscard]] tile::Slice slice(std::int64_t part, std::int64_t depth) const { return tile::ds(part * rows_, depth); }
  // What part `part` multiplies of an operand that lies there once for every part.
  [[nodiscard]] Held of(const Held& held, std::int64_t part, std::int64_t depth) const {
    Held result;
    result.raw = held.raw(slice(part, depth));
    return result;
  }
  [[nodiscard]] tile::isa::ArrayTile tile(std::int64_t part) const {
    if (parts_ == 1) return {};
    return {.row = part * rows_, .column = 0, .rows = rows_, .columns = side_};
  }

 private:
  void divide(std::int64_t depth, const tile::Machine& machine) {
    for (rows_ = machine.array_tile_min; rows_ < depth; rows_ *= 2) {
    }
    parts_ = std::max<std::int64_t>(1, side_ / rows_);
  }

  std::int64_t side_ = 0, parts_ = 1, rows_ = 0;
};

}  // namespace trn::blas::device
