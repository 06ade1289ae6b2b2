// What the kernels of two steps share: the tiles' layout, and the twiddles between the steps.
#pragma once

#include <algorithm>

#include "block_layout.hpp"

namespace trn::fft::device {

class TwoStepKernel : public LineKernelBase {
 protected:
  TwoStepKernel(const char* name, const LinesShape& shape, const tile::Machine& machine, std::int64_t lag)
      : LineKernelBase(name, shape, machine), n1_(shape.n1), n2_(shape.n2), lag_(lag) {}

  // The tables (rows, columns) of the twiddles: [cos, cos] and [-sin, sin] of each number.
  void declare_twiddles(std::int64_t rows, std::int64_t columns);

  // warm_up() for the first piece.
  void warm_up_blocks(const BlockLayout& layout, std::int64_t deepest) {
    const std::int64_t share = layout.above * layout.beside,
                       points = std::min(s_.in.points, n1_ * n2_) * (s_.in.real ? 1 : 2);
    warm_up(8 * share, share * std::clamp<std::int64_t>(last().count / share, 1, deepest) * points);
  }

  // Slots for the twiddles of up to kTogether products of so many columns.
  struct TwiddleTiles {
    Ring straight, crossed, turned;
  };
  TwiddleTiles twiddle_tiles(std::int64_t rows, std::int64_t deep, std::int64_t columns);
  // (words, count, columns) of z times the twiddles; z in PSUM, `pitch()` from one product to the next; a column is a
  // real or imaginary part. The sum of the two products is formed on `sum`.
  tile::Access twiddle(const tile::Access& z, std::int64_t count, std::int64_t columns, TwiddleTiles& tiles,
                       tile::Engine sum);
  [[nodiscard]] std::int64_t pitch() const { return bank_ / 2; }
  // GpSimd where it does not wait for the Vector Engine's turn at the memory.
  [[nodiscard]] tile::Engine spare_engine() const {
    return machine_.vector_gpsimd_share_port ? tile::Engine::Vector : tile::Engine::GpSimd;
  }
  // The words of src (P, size, one behind the other), or src itself where the mode has none. By GpSimd, which runs a
  // tile ahead.
  tile::Access split_ahead(const tile::Access& src, std::int64_t stride, std::int64_t size, std::int64_t buffers);

  // Both steps of all pieces: first(state, t0, count) for each four products of a piece and later second(state, t0,
  // count, z). The second step of a four comes after the first steps of the next `lag_`, also across pieces, so that
  // the Tensor Engine does not wait for the twiddles. open(piece) gives a piece's state while the one before it is at
  // work; close(state) follows its last product.
  template <class State, class Open, class First, class Second, class Close>
  void pipeline(const std::vector<BlockPiece>& pieces, Open open, First first, Second second, Close close) {
    struct Four {
      std::size_t piece;
      std::int64_t t0, count;
      bool last;
      tile::Access z;
    };
    std::vector<Four> fours;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (std::int64_t t0 = 0; t0 < pieces[i].deep; t0 += kTogether)
        fours.push_back({i, t0, std::min(kTogether, pieces[i].deep - t0), t0 + kTogether >= pieces[i].deep, {}});
    }
    std::vector<State> states;
    const auto lag = static_cast<std::size_t>(lag_);
    for (std::size_t f = 0; f < fours.size() + lag; ++f) {
      if (f < fours.size()) {
        while (states.size() < pieces.size() && states.size() <= fours[f].piece + 1)
          states.push_back(open(pieces[states.size()]));
        fours[f].z = first(states[fours[f].piece], fours[f].t0, fours[f].count);
      }
      if (f < lag) continue;
      const Four& s = fours[f - lag];
      second(states[s.piece], s.t0, s.count, s.z);
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

  static constexpr std::int64_t kTogether = 4;
  const std::int64_t n1_, n2_, lag_;

 private:
  tile::Access cos_, sin_;
};

}  // namespace trn::fft::device
