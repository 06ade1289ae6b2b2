// Mirror images of lines, on the Tensor Engine: points on partitions times a matrix with ones on its other diagonal,
// which GpSimd makes. A one times a number plus zeros is that number; an infinity or NaN reaches the 128 points turned
// with it. DMA moves 4 bytes a run where lines are not neighbours: this is for kernels of convolutions and ends of
// signals.
#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>

#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>
#include "../matrix.hpp"
#include "line_kernel.hpp"
#include "planner.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;

namespace {

class MirrorKernel {
 public:
  MirrorKernel(const MirrorShape& shape, const Machine& machine)
      : s_(shape), b_("fft_mirror", machine), side_(machine.partitions) {}

  Program build() {
    x_ = declare("x", true);
    y_ = declare("y", false);
    const std::int64_t whole = std::min(s_.points, side_), rest = s_.points % side_;
    other_diagonal(whole);
    outer(0, 0, 0, [&](const Affine& in, const Affine& out) {
      b_.parallel("piece", s_.points / side_, [&](Affine i) {
        piece(in + (i * -side_ + (s_.points - side_)) * s_.in_stride, out + i * (side_ * s_.out_stride), side_);
      });
      if (rest > 0) piece(in, out + (s_.points - rest) * s_.out_stride, rest);
    });
    return tile::static_stores(b_.finish());
  }

 private:
  using Body = std::function<void(const Affine&, const Affine&)>;

  Access declare(const char* name, bool input) {
    Shape shape;
    Strides strides;
    for (const LineDim& d : s_.lines) shape.push_back(d.count), strides.push_back(input ? d.in : d.out);
    shape.push_back(s_.points), strides.push_back(input ? s_.in_stride : s_.out_stride);
    return input ? b_.input(name, DType::Float32, shape, strides) : b_.output(name, DType::Float32, shape, strides);
  }
  // All dimensions of lines but the last.
  void outer(std::size_t dimension, const Affine& in, const Affine& out, const Body& body) {
    if (dimension + 1 >= s_.lines.size()) return body(in, out);
    const LineDim& d = s_.lines[dimension];
    b_.parallel(fmt::format("lines{}", dimension), d.count,
                [&](Affine i) { outer(dimension + 1, in + i * d.in, out + i * d.out, body); });
  }

  // (K, K) with ones where row + column = K - 1; a smaller one is its lower left corner's mirror image: rows [0, k) and
  // columns [K - k, K).
  void other_diagonal(std::int64_t size) {
    const Access ones = b_.sbuf("ones", size, {size}, DType::Float32);
    b_.memset(ones, 1);
    ones_ = b_.sbuf("other_diagonal", size, {size}, DType::Float32);
    b_.affine_select(ones_, {{1, size}}, 1 - size, 1, AluOp::Equal, ones, 0);
  }

  void piece(const Affine& in, const Affine& out, std::int64_t count) {
    const LineDim& d = s_.lines.back();
    blocks::for_blocks(b_, "lines", d.count, blocks::bank_columns(b_.machine()), LoopKind::Parallel,
                       [&](const Affine& line, std::int64_t lines) {
                         const Access x = b_.sbuf("x_tile", count, {lines}, DType::Float32, 2),
                                      y = b_.sbuf("y_tile", count, {lines}, DType::Float32, 2);
                         const Access sum = b_.psum("sums", count, {lines}, DType::Float32, 2);
                         b_.dma_copy(x, pattern(x_, in + line * d.in, {{s_.in_stride, count}, {d.in, lines}}));
                         b_.nc_matmul(sum, ones_(ds(0, count), ds(ones_.partitions - count, count)), x);
                         b_.tensor_copy(y, sum, Engine::Vector);
                         b_.dma_copy(pattern(y_, out + line * d.out, {{s_.out_stride, count}, {d.out, lines}}), y);
                       });
  }

  const MirrorShape s_;
  tile::Builder b_;
  const std::int64_t side_;
  Access x_, y_, ones_;
};

}  // namespace

Program mirror_program(const MirrorShape& shape, const Machine& machine) {
  return MirrorKernel(shape, machine).build();
}

namespace device {

void mirror(const Executor& executor, const MirrorArgs& args) {
  MirrorShape shape = args.shape;
  shape.lines = merged_lines(shape.lines);
  launch(executor, mirror_program, shape, {{"x", args.x}, {"y", args.y}});
}

}  // namespace device

}  // namespace trn::fft
