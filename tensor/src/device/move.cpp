// Permutations on the device.
//
// Where A and D have one unit stride, memory is copied to memory in runs, nothing on chip. Where they differ, elements
// of 2 and 4 bytes and pairs of float32 are turned on the Tensor Engine: up to 512 elements along D's unit index (U)
// by 512 along A's (V) at a time, loaded with U on partitions in runs along V, turned 128 by 128, stored with V on
// partitions in runs along U. Wider elements are copied one by one: 8 or 16 bytes a run.
#include <algorithm>
#include <cstdlib>

#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/transpose.hpp>

#include "numbers.hpp"

namespace trn::tensor::device {

using namespace trn::tile;
using blocks::BoxGroup;
using blocks::BoxPart;
using blocks::Cut;

namespace {

constexpr std::size_t kFrom = 0, kTo = 3;
constexpr std::int64_t kSide = 512;        // of U and of V
constexpr std::int64_t kCopied = 1 << 16;  // elements of one copy from memory to memory
constexpr std::int64_t kFewest = 1 << 10;  // elements below which turning is not worth its steps

class Move {
 public:
  Move(Builder& b, const MoveArgs& args, const Tensors& at)
      : b_(b), at_(at), words_(words_of(args.dtype)), type_(word_type(args.dtype)) {
    group_ = boxes_of(args.group, {words_, words_, words_, words_});
    turns_ = real_of(args.dtype) != DType::Float64;
  }

  void record() {
    std::size_t from = group_.size(), to = group_.size();
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (std::abs(group_[i].stride[kFrom]) == words_) from = i;
      if (std::abs(group_[i].stride[kTo]) == words_) to = i;
    }
    const bool differ = from < group_.size() && to < group_.size() && from != to;
    if (!differ || !turns_ || blocks::extent_of(group_) < kFewest) return copy();
    // U: D's indices from its unit one outwards, up to A's unit index. V: A's, of what is left.
    BoxGroup u, v, outside;
    std::vector<bool> taken(group_.size(), false);
    const auto gather = [&](BoxGroup& side, std::size_t operand, std::size_t first) {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < group_.size(); ++i) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
        if ((x == first) != (y == first)) return x == first;
        return std::abs(group_[x].stride[operand]) < std::abs(group_[y].stride[operand]);
      });
      for (const std::size_t i : order) {
        if (operand == kTo && i == from) break;
        if (taken[i]) continue;
        side.push_back(group_[i]);
        taken[i] = true;
        if (blocks::extent_of(side) >= kSide) break;
      }
    };
    gather(u, kTo, to);
    gather(v, kFrom, from);
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (!taken[i]) outside.push_back(group_[i]);
    }
    const Cut u_cut = blocks::cut_of(u, kSide), v_cut = blocks::cut_of(v, kSide);
    blocks::for_parts(b_, "o", outside, {0, 1}, LoopKind::Parallel, 1, [&](const BoxPart& o) {
      blocks::for_parts(b_, "u", u, u_cut, LoopKind::Parallel, 1, [&](const BoxPart& up) {
        blocks::for_parts(b_, "v", v, v_cut, LoopKind::Parallel, 1, [&](const BoxPart& vp) { turn(o, up, vp); });
      });
    });
  }

 private:
  [[nodiscard]] Access pattern(std::size_t operand, const BoxPart& o, const BoxPart& u, const BoxPart& v,
                               const blocks::SubBox& rows, const BoxGroup& columns) const {
    const Affine offset = o.offset[operand] + u.offset[operand] + v.offset[operand] + Affine(rows.offset[operand]);
    return pattern_of(at_[operand], offset, {&rows.box, &columns}, operand, words_);
  }
  static Access plane(Access tile, std::int64_t p) {
    tile.offset = tile.offset + Affine(p * tile.dims.back().stride);
    tile.dims.pop_back();
    return tile;
  }

  void turn(const BoxPart& o, const BoxPart& u, const BoxPart& v) {
    const std::int64_t side = b_.machine().partitions;
    const auto shape = [&](Shape s) {
      if (words_ > 1) s.push_back(words_);
      return s;
    };
    const std::int64_t tiles = blocks::ceil_div(v.size, side);
    const Access turned = b_.sbuf("turned", std::min(side, v.size), shape({tiles, u.size}), type_, 2);
    for (std::int64_t u0 = 0; u0 < u.size; u0 += side) {
      const std::int64_t height = std::min(side, u.size - u0);
      const Access strip = b_.sbuf("strip", height, shape({v.size}), type_, 2);
      for (const blocks::SubBox& rows : blocks::sub_boxes(u.box, u0, height))
        b_.dma_copy(strip(ds(rows.start - u0, rows.size)), pattern(kFrom, o, u, v, rows, v.box));
      const Access to = turned(all, all, ds(u0, height));
      for (std::int64_t p = 0; p < words_; ++p)
        blocks::transpose_pieces(b_, words_ > 1 ? plane(to, p) : to, words_ > 1 ? plane(strip, p) : strip);
    }
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t depth = std::min(side, v.size - t * side);
      for (const blocks::SubBox& rows : blocks::sub_boxes(v.box, t * side, depth))
        b_.dma_copy(pattern(kTo, o, u, v, rows, u.box), turned(ds(rows.start - t * side, rows.size), ds(t, 1)));
    }
  }

  void copy() {
    blocks::for_parts(b_, "e", group_, blocks::cut_of(group_, kCopied), LoopKind::Parallel, 1,
                      [&](const BoxPart& part) {
                        b_.dma_copy(pattern_of(at_[kTo], part.offset[kTo], {&part.box}, kTo, words_),
                                    pattern_of(at_[kFrom], part.offset[kFrom], {&part.box}, kFrom, words_));
                      });
  }

  Builder& b_;
  const Tensors& at_;
  std::int64_t words_;
  DType type_;
  BoxGroup group_;
  bool turns_;
};

}  // namespace

void record_move(Builder& b, const MoveArgs& args, const Tensors& at) { Move(b, args, at).record(); }

}  // namespace trn::tensor::device
