// Kernel RealColumns: the first step of long real lines, n1 m points as m columns of n1. Of a real column's transform
// half is enough:
//
//   z(k1, j2) = w^(k1 j2) sum over j1 of x(j1, j2) w1^(j1 k1),   k1 = 0 .. n1/2 - 1
//   z(0, j2)  = sum over j1 of x(j1, j2) + i sum over j1 of (-1)^j1 x(j1, j2)
//
// Row n1/2 is real before its twiddles, and so is row 0, which has none: they share a row. n1 divides 128, G = 128/n1.
//
//   x    partition (g, j1), free (r, h, w): two pieces of W columns, 2 G W columns to a tile; where that is few, of R
//   lines z    partition (h, g, k1), free (r, w, part): 64 rows of either half, so that all 128 partitions are at work
//   when PSUM is emptied
//
// Time on trn2 for 1024 columns of 128 in fp32: Tensor Engine four products of 2062 cycles, 3.44 us, half of kernel
// Columns. Vector Engine four products with the table, 2.1 us; their sums are GpSimd's. DMA 1 MiB, 2.5 us, and half as
// much for the table, which is loaded once for all lines.
#include <algorithm>

#include "half_columns.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

class RealColumnsKernel final : public HalfColumnsKernel {
 public:
  RealColumnsKernel(const LinesShape& shape, const Machine& machine)
      : HalfColumnsKernel("fft_real_columns", shape, machine) {}

  Program build() {
    for (std::int64_t part = 0; part < 2; ++part)
      matrix_[part] = constant(part == 0 ? "matrix_re" : "matrix_im", side_, side_ / 2, DType::Float32, 1);
    return build_tiles([&](const Affine& in, const Affine& out, const Access& table) { tile(in, out, table); });
  }

 private:
  void tile(const Affine& in, const Affine& out, const Access& table) {
    const std::int64_t columns = runs_ * width_;
    const Access x = b_.sbuf("x_tile", side_, {2 * columns}, DType::Float32, 4),
                 y = b_.sbuf("y_tile", side_, {2 * columns}, DType::Float32, 4);
    b_.dma_copy(
        x,
        pattern(x_.tensor[0], in,
                {{2 * width_ * last().in, groups_}, {s_.in.stride, n_}, {across_.in, runs_}, {last().in, 2 * width_}}));
    const Access re = b_.psum("sums_re", side_, {bank_}, DType::Float32, 3)(all, ds(0, columns)),
                 im = b_.psum("sums_im", side_, {bank_}, DType::Float32, 3)(all, ds(0, columns));
    for (const auto& [sums, part] : {std::pair{re, 0}, std::pair{im, 1}}) {
      for (std::int64_t h = 0; h < 2; ++h) {
        b_.nc_matmul(sums(ds(h * side_ / 2, side_ / 2), all), word(matrix_[part], 0, side_, side_ / 2),
                     pattern(x, h * width_, {{2 * width_, runs_}, {1, width_}}));
      }
    }
    const auto product = [&](const Access& u, std::int64_t part) {
      const Access t = b_.sbuf("product", side_, {columns}, DType::Float32, 2);
      b_.tensor_tensor(t, u, pattern(table, part, {{0, runs_}, {2, width_}}), AluOp::Multiply, Engine::Vector);
      return t;
    };
    const Access rc = product(re, 0), id = product(im, 1), rd = product(re, 1), ic = product(im, 0);
    const Engine sum = machine_.vector_gpsimd_share_port ? Engine::Vector : Engine::GpSimd;
    b_.tensor_tensor(pattern(y, 0, {{2, columns}}), rc, id, AluOp::Subtract, sum);
    b_.tensor_tensor(pattern(y, 1, {{2, columns}}), rd, ic, AluOp::Add, sum);
    b_.dma_copy(pattern(y_.tensor[0], out, rows(last().out, s_.out.stride, {across_.out, runs_})), y);
  }

  Access matrix_[2];
};

}  // namespace

std::int64_t real_columns_width(std::int64_t n1, std::int64_t columns, const Machine& machine) {
  const std::int64_t limit = machine.psum_bank_bytes / 4;
  if (n1 < 4 || machine.partitions % n1 != 0 || columns % (2 * machine.partitions / n1) != 0) return 0;
  const std::int64_t most = columns / (2 * machine.partitions / n1);
  std::int64_t width = std::min(most, limit);
  while (most % width != 0) --width;
  return width;
}

Program real_columns_program(const LinesShape& shape, const Machine& machine) {
  return RealColumnsKernel(shape, machine).build();
}

}  // namespace trn::fft::device
