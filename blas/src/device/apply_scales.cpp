// The program of apply_scales.hpp. Where depth is the contiguous direction, rows lie on partitions and a scale serves
// 128 neighbours of its partition; otherwise depth lies on partitions, 128 at a time, and every partition takes the
// scales of that group. Bound by the transfers: one byte in and two out for a number.
#include "apply_scales.hpp"

#include <trn/blas/scaled_gemm.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

namespace trn::blas::device {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {

constexpr std::int64_t kColumns = 2048;  // of a tile

class ApplyScales {
 public:
  ApplyScales(const ApplyScalesShape& shape, const Machine& machine)
      : s_(shape), b_("blas_apply_scales", machine), side_(machine.partitions) {}

  Program build() {
    x_ = b_.input("x", s_.x, {s_.rows, s_.depth}, {s_.xr, s_.xk});
    groups_ = ceil_div(s_.depth, kScaleBlock);
    scale_ = b_.input("scale", DType::Float32, {s_.sr == 0 ? 1 : s_.rows, s_.sg == 0 ? 1 : groups_},
                      {s_.sr == 0 ? 1 : s_.sr, s_.sg == 0 ? 1 : s_.sg});
    y_ = b_.output("y", DType::BFloat16, {s_.rows, s_.depth}, {s_.yr(), s_.yk()});
    s_.along_depth() ? by_rows() : by_depth();
    return tile::static_stores(b_.finish());
  }

 private:
  // Scales of rows [r0, r0 + rows) by groups; what there is one of is repeated.
  Access scales(const Affine& r0, std::int64_t rows, const Affine& g0, std::int64_t groups) const {
    Access part = scale_(s_.sr == 0 ? ds(0, 1) : ds(r0, rows), s_.sg == 0 ? ds(0, 1) : ds(g0, groups));
    if (s_.sr == 0) part.dims[0] = {0, rows};
    if (s_.sg == 0) part.dims[1] = {0, groups};
    return part;
  }

  void by_rows() {
    for_blocks(b_, "rows", s_.rows, side_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t rows) {
      const Access factors = b_.sbuf("factors", rows, {groups_}, DType::Float32, 2);
      b_.dma_copy(factors, scales(r0, rows, 0, groups_));
      // Whole groups in runs of a tile, then what is left of the last one.
      const std::int64_t whole = s_.depth / kScaleBlock;
      for_blocks(b_, "groups", whole, kColumns / kScaleBlock, LoopKind::Parallel,
                 [&](const Affine& g0, std::int64_t groups) { strip(r0, rows, factors, g0, groups, kScaleBlock); });
      if (whole < groups_) strip(r0, rows, factors, whole, 1, s_.depth - whole * kScaleBlock);
    });
  }

  // `groups` groups of `wide` numbers from group g0 on.
  void strip(const Affine& r0, std::int64_t rows, const Access& factors, const Affine& g0, std::int64_t groups,
             std::int64_t wide) {
    const Access x = b_.sbuf("x_tile", rows, {groups * wide}, s_.x, 2),
                 y = b_.sbuf("y_tile", rows, {groups * wide}, DType::BFloat16, 2);
    b_.dma_copy(x, x_(ds(r0, rows), ds(g0 * kScaleBlock, groups * wide)));
    b_.tensor_tensor(y.split(0, wide), x.split(0, wide), factors(all, ds(g0, groups)).broadcast(1, wide),
                     AluOp::Multiply, Engine::Vector);
    b_.dma_copy(y_(ds(r0, rows), ds(g0 * kScaleBlock, groups * wide)), y);
  }

  void by_depth() {
    const std::int64_t whole = s_.depth / kScaleBlock;
    const auto group = [&](const Affine& g, std::int64_t deep) {
      for_blocks(b_, "rows", s_.rows, kColumns, LoopKind::Parallel, [&](const Affine& r0, std::int64_t rows) {
        const Access x = b_.sbuf("x_tile", deep, {rows}, s_.x, 2),
                     factors = b_.sbuf("factors", deep, {rows}, DType::Float32, 2),
                     y = b_.sbuf("y_tile", deep, {rows}, DType::BFloat16, 2);
        b_.dma_copy(x, x_(ds(r0, rows), ds(g * kScaleBlock, deep)).permute({1, 0}));
        Access from = scales(r0, rows, g, 1).permute({1, 0});
        from.dims[0] = {0, deep};
        b_.dma_copy(factors, from);
        b_.tensor_tensor(y, x, factors, AluOp::Multiply, Engine::Vector);
        b_.dma_copy(y_(ds(r0, rows), ds(g * kScaleBlock, deep)).permute({1, 0}), y);
      });
    };
    for_blocks(b_, "groups", whole, 1, LoopKind::Parallel,
               [&](const Affine& g, std::int64_t) { group(g, kScaleBlock); });
    if (whole < groups_) group(whole, s_.depth - whole * kScaleBlock);
  }

  ApplyScalesShape s_;
  Builder b_;
  std::int64_t side_, groups_ = 1;
  Access x_, scale_, y_;
};

}  // namespace

tile::Program apply_scales_program(const ApplyScalesShape& shape, const Machine& machine) {
  return ApplyScales(shape, machine).build();
}

}  // namespace trn::blas::device
