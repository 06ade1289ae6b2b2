// The generator of `trnsci fuzz tile`: what its steps share. A step appends a few instructions to the program; they are
// in fuzz_tile_program.cpp (copies, arithmetic, loops) and fuzz_tile_steps.cpp (the rest of the instruction set).
// Tensors: x is read, y and the scratch s are filled at the start and then overwritten in parts, as is z where it is
// there, an output in the memory of the input w; every open parallel loop has rows of y, s and z of its own.
#pragma once

#include <trn/tile/builder.hpp>

#include "fuzz_tile.hpp"

namespace trn::tools::fuzz::programs {

using namespace trn::tile;

inline constexpr auto F32 = DType::Float32, BF16 = DType::BFloat16, I32 = DType::Int32, U32 = DType::UInt32;
inline constexpr std::int64_t kRows = 256, kColumns = 48;  // of every tensor
inline constexpr std::int64_t kOwn = 16;                   // rows of an iteration of the innermost parallel loop

class Generator {
 public:
  Generator(Random& random, const Machine& machine) : r_(random), m_(machine), b_("fuzzed", machine) {}

  Program run();

 private:
  struct Tile {
    Access access;
    bool written = false;
  };
  // A loop that is open: what its variable may do.
  struct Open {
    LoopKind kind;
    Affine variable;
    std::int64_t trip;
    std::size_t first_tile;  // tiles allocated inside it
  };

  Access fresh(std::int64_t partitions, std::int64_t free, DType dtype) {
    const std::int64_t buffers = loops_.empty() ? 1 : 1 + r_.below(3);
    tiles_.push_back({b_.sbuf("t", partitions, {free}, dtype, buffers), false});
    return tiles_.back().access;
  }

  // A tile that holds values: of this shape if `like` is given.
  Access any(const Access* like = nullptr) {
    std::vector<std::size_t> fit;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const Access& a = tiles_[i].access;
      const bool float_tile = a.dtype == F32 || a.dtype == BF16;
      const bool same = !like || (a.partitions == like->partitions && a.free_size() == like->free_size());
      if (tiles_[i].written && float_tile && same) fit.push_back(i);
    }
    return fit.empty() ? *like : tiles_[fit[r_.index(fit.size())]].access;
  }

  // Where to write values of this shape: a new tile, or one that belongs to the iteration; rarely one that does not.
  Access target(const Access& like) {
    const std::size_t own = first_own();
    std::vector<std::size_t> fit;
    for (std::size_t i = r_.chance(12) ? 0 : own; i < tiles_.size(); ++i) {
      const Access& a = tiles_[i].access;
      if (a.partitions == like.partitions && a.free_size() == like.free_size() && (a.dtype == F32 || a.dtype == BF16))
        fit.push_back(i);
    }
    if (fit.empty() || r_.chance(3)) return fresh(like.partitions, like.free_size(), r_.pick({F32, F32, BF16}));
    return tiles_[fit[r_.index(fit.size())]].access;
  }
  std::size_t first_own() const {
    std::size_t own = 0;
    for (const Open& loop : loops_) {
      if (loop.kind == LoopKind::Parallel) own = loop.first_tile;
    }
    return own;
  }
  void wrote(const Access& a) {
    for (Tile& t : tiles_) {
      if (t.access.id == a.id) t.written = true;
    }
  }

  // Rows [first, first + n) of x: the variable of one loop moves them.
  Access source(std::int64_t rows, std::int64_t columns) {
    Affine first = r_.below(32);
    if (!loops_.empty() && !r_.chance(3)) {
      const Open& loop = loops_[r_.index(loops_.size())];
      if (loop.kind != LoopKind::While) first = first + loop.variable * r_.pick<std::int64_t>({1, 3, 8});
    }
    return x_(ds(first, rows), ds(r_.below(kColumns - columns + 1), columns));
  }
  // Rows of y or s that belong to this iteration of every parallel loop; other loops may move inside them.
  Access own_rows(const Access& tensor, std::int64_t rows, std::int64_t columns, bool dynamic = true) {
    Affine first = 0;
    std::int64_t scale = kOwn, room = kRows;
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (loop->kind != LoopKind::Parallel) continue;
      first = first + loop->variable * scale;
      scale *= 4;
      room = kOwn;
    }
    room -= rows;
    for (const Open& loop : loops_) {
      const bool moves = loop.kind == LoopKind::Sequential || (loop.kind == LoopKind::Counted && dynamic);
      if (!moves || loop.trip - 1 > room || r_.chance(2)) continue;
      first = first + loop.variable;
      room -= loop.trip - 1;
      dynamic = dynamic && loop.kind != LoopKind::Counted;
    }
    return tensor(ds(first + (room > 0 ? r_.below(room + 1) : 0), rows), ds(r_.below(kColumns - columns + 1), columns));
  }

  // Copies, arithmetic and loops.
  void load();
  void store();
  void reload();
  void pair();
  void scalar();
  void function();
  void part();
  void matmul();
  void shuffle();
  void transpose();
  void gather();
  void rows_by_index();
  void sum_by_dma();
  void start_by_value();
  void loop();
  void dynamic_loop(LoopKind kind, std::int64_t trip, const Builder::Body& body);
  void block(std::int64_t statements);

  // The rest of the instruction set.
  void fused();
  void reduce();
  void reduce_partitions();
  void scan();
  void accumulate();
  void select();
  void select_range();
  void select_affine();
  void copy_where();
  void search();
  void exponential();
  void statistics();
  void reciprocal();
  void gather_by_core();
  void nonzeros();
  void dma_transpose();
  void microscaling();
  void registers();
  // Whether the sequencer has so many registers left; they are the program's from then on.
  bool take_registers(std::int64_t count);
  // A (P, 1) float32 tile, or a number in its place.
  ScalarOrTile operand(const Access& like);
  Access column(std::int64_t partitions, double value);
  // Where the values of `a` are positive: 1, elsewhere 0.
  Access predicate(const Access& a, DType dtype);
  // Float32 values that later steps can read.
  void keep(const Access& a);

  Random& r_;
  const Machine& m_;
  Builder b_;
  Access x_, y_, s_, z_;  // z: absent in most programs
  std::vector<Tile> tiles_;
  std::vector<Open> loops_;
  std::int64_t registers_ = 0;  // taken
};

}  // namespace trn::tools::fuzz::programs
