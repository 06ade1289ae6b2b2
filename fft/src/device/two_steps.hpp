// What the kernels of two steps share: the tiles' layout, and the twiddles between the steps.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "block_layout.hpp"

namespace trn::fft::device {

// Tiles of one name that pieces take in turn: the first to ask is the largest.
class TilePool {
 public:
  TilePool(tile::Builder& b, std::int64_t slots) : b_(b), slots_(slots) {}
  // (partitions, size). A tile that open() fills and second() reads (see pipeline) takes `slots` that outlast both.
  tile::Access take(const std::string& name, std::int64_t partitions, std::int64_t size, DType dtype = DType::Float32,
                    std::int64_t slots = 0);

 private:
  tile::Builder& b_;
  std::int64_t slots_;
  std::map<std::string, Ring> rings_;
};

class TwoStepKernel : public LineKernelBase {
 protected:
  TwoStepKernel(const char* name, const LinesShape& shape, const tile::Machine& machine, std::int64_t lag)
      : LineKernelBase(name, shape, machine), n1_(shape.n1), n2_(shape.n2), lag_(lag) {}

  // The tables (rows, columns) of the twiddles: [cos, cos] and [-sin, sin] of each number.
  void declare_twiddles(std::int64_t rows, std::int64_t columns);

  // Products to a piece. Deep ones have long runs where lines are neighbours; with words SBUF is short, and short
  // pieces let GpSimd do them bit by bit.
  [[nodiscard]] std::int64_t deepest(const BlockLayout& layout) const {
    if (words_.dtype == DType::Float32) return 16;
    return (layout.inner_in || layout.inner_out) && machine_.sbuf_bytes_per_partition > 200'000 ? 16 : 4;
  }
  // Slots divide the pieces of a recorded loop, so that its first piece takes one that has long been free.
  [[nodiscard]] TilePool tile_pool(const std::vector<BlockPiece>& pieces) {
    const std::int64_t most = words_.dtype != DType::Float32 && pieces.front().deep > 8 ? 2 : 4;
    return {b_, std::min(most, static_cast<std::int64_t>(pieces.size()))};
  }
  static constexpr std::int64_t kProducts = 64;  // recorded in one go

  // body(pieces) for all lines: `together` pieces up to `deepest` deep of the last dimension at a time or, where that
  // is short, as much of several indices of the dimension before it.
  void for_pieces(const BlockLayout& layout, std::int64_t deepest, std::int64_t together, const BlockLayout::Run& body);

  // Slots for the twiddles of up to kTogether products of so many columns.
  struct TwiddleTiles {
    Ring straight, crossed, turned;
  };
  TwiddleTiles twiddle_tiles(std::int64_t rows, std::int64_t deep, std::int64_t columns);
  // z times the twiddles: `words` (words, count, columns), all of them once finish() has been there, and what they are
  // words of.
  struct Turned {
    tile::Access words, sum;
    std::int64_t size = 0;
  };
  // z in PSUM, `pitch()` from one product to the next; a column is a real or imaginary part. The sum of the two
  // products is formed on `sum`.
  Turned twiddle(const tile::Access& z, std::int64_t count, std::int64_t columns, TwiddleTiles& tiles,
                 tile::Engine sum);
  // The words behind the first. They wait for the Scalar Engine's first word, so the Vector Engine comes to them after
  // the products of the next four.
  virtual void finish(const Turned& z);
  [[nodiscard]] std::int64_t pitch() const { return bank_ / 2; }
  // GpSimd where it does not wait for the Vector Engine's turn at the memory.
  [[nodiscard]] tile::Engine spare_engine() const {
    return machine_.vector_gpsimd_share_port ? tile::Engine::Vector : tile::Engine::GpSimd;
  }
  // The words of src (P, size numbers `stride` apart), one behind the other. By GpSimd, ahead of the others.
  tile::Access split_ahead(TilePool& pool, const tile::Access& src, std::int64_t stride, std::int64_t size);

  // Both steps of all pieces: first(state, t0, count) for each four products of a piece and later second(state, t0,
  // count, z). The second step of a four comes after the first steps of the next `lag_`, also across pieces, so that
  // the Tensor Engine does not wait for the twiddles. open(piece) gives a piece's state while the one before it is at
  // work; close(state) follows its last product. At most kOpen + lag_ pieces are open.
  template <class State, class Open, class First, class Second, class Close>
  void pipeline(const std::vector<BlockPiece>& pieces, Open open, First first, Second second, Close close) {
    struct Four {
      std::size_t piece;
      std::int64_t t0, count;
      bool last;
      Turned z;
    };
    std::vector<Four> fours;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (std::int64_t t0 = 0; t0 < pieces[i].deep; t0 += kTogether)
        fours.push_back({i, t0, std::min(kTogether, pieces[i].deep - t0), t0 + kTogether >= pieces[i].deep, {}});
    }
    std::vector<State> states;
    const auto lag = static_cast<std::size_t>(lag_);
    // Pieces are opened one ahead, but the second of all after the first products, which would wait for it. Pieces of
    // words, as short as a four, two ahead: GpSimd splits them between its sums.
    const bool words = words_.dtype != DType::Float32 && pieces.front().deep <= kTogether;
    const auto open_until = [&](std::size_t p) {
      while (states.size() < std::min(pieces.size(), p)) states.push_back(open(pieces[states.size()]));
    };
    for (std::size_t f = 0; f < fours.size() + lag; ++f) {
      if (f < fours.size()) {
        const std::size_t piece = fours[f].piece;
        open_until(piece + (f == 0 && !words ? 1 : 2));
        fours[f].z = first(states[piece], fours[f].t0, fours[f].count);
        if (words) open_until(piece + 3);
      }
      if (f >= 1 && f <= fours.size()) finish(fours[f - 1].z);
      if (f < lag) continue;
      const Four& s = fours[f - lag];
      second(states[s.piece], s.t0, s.count, s.z.words);
      if (s.last) close(states[s.piece]);
    }
  }
  // The partitions and columns that the largest piece needs.
  struct Most {
    std::int64_t above = 0, beside = 0, deep = 0;
  };
  [[nodiscard]] static Most most(const std::vector<BlockPiece>& pieces) {
    Most m;
    for (const BlockPiece& p : pieces)
      m = {std::max(m.above, p.above), std::max(m.beside, p.beside), std::max(m.deep, p.deep)};
    return m;
  }

  static constexpr std::int64_t kTogether = 4, kOpen = 3;
  const std::int64_t n1_, n2_, lag_;

 private:
  tile::Access cos_, sin_;
};

}  // namespace trn::fft::device
