// Kernel ColumnsReal: the last step of long half lines to real ones, real_columns.cpp run backwards:
//
//   x(j1, j2) = Re(z(0, j2)) + (-1)^j1 Im(z(0, j2)) + 2 Re sum over k1 = 1 .. n1/2 - 1 of w^(k1 j2) z(k1, j2) w1^(j1
//   k1)
//
// z lies as there, (h, g, k1; r, w, part), and is multiplied by its twiddles in SBUF. Real and imaginary parts of one
// half of the columns then lie one above the other, (part, g, k1), and one product makes x of them, (g, j1).
//
// Time on trn2 for 1024 columns of 128 in fp32: Tensor Engine two products, 1.72 us; Vector Engine four products and
// one of four sums, 2.7 us, GpSimd the other sums, 2.8 us; Scalar Engine x, 1 us. DMA 1 MiB, 2.5 us.
#include "half_columns.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

class ColumnsRealKernel final : public HalfColumnsKernel {
 public:
  ColumnsRealKernel(const LinesShape& shape, const Machine& machine)
      : HalfColumnsKernel("fft_columns_real", shape, machine) {}

  Program build() {
    matrix_ = constant("matrix", side_, side_, DType::Float32, 1);
    return build_tiles([&](const Affine& in, const Affine& out, const Access& table) { tile(in, out, table); });
  }

 private:
  void tile(const Affine& in, const Affine& out, const Access& table) {
    const std::int64_t columns = runs_ * width_;
    const Access z = b_.sbuf("z_tile", side_, {2 * columns}, DType::Float32, 4),
                 turned = b_.sbuf("turned", side_, {2, columns}, DType::Float32, 3),
                 x = b_.sbuf("x_tile", side_, {2 * columns}, DType::Float32, 4);
    b_.dma_copy(z, pattern(x_.tensor[0], in, rows(last().in, s_.in.stride, {across_.in, runs_})));
    const auto product = [&](std::int64_t part, std::int64_t other) {
      const Access t = b_.sbuf("product", side_, {columns}, DType::Float32, 2);
      b_.tensor_tensor(t, pattern(z, part, {{2, columns}}), pattern(table, other, {{0, runs_}, {2, width_}}),
                       AluOp::Multiply, Engine::Vector);
      return t;
    };
    const Access rc = product(0, 0), id = product(1, 1), rd = product(0, 1), ic = product(1, 0);
    const std::int64_t half = side_ / 2;
    for (std::int64_t h = 0; h < 2; ++h) {
      // Real and imaginary parts of one half of the columns, one above the other.
      for (std::int64_t part = 0; part < 2; ++part) {
        const Engine sum = machine_.vector_gpsimd_share_port || (h == 0 && part == 0) ? Engine::Vector : Engine::GpSimd;
        const Access &one = part == 0 ? rc : rd, &other = part == 0 ? id : ic;
        b_.tensor_tensor(pattern(turned(ds(part * half, half), all, all), h * columns, {{1, columns}}),
                         one(ds(h * half, half), all), other(ds(h * half, half), all),
                         part == 0 ? AluOp::Subtract : AluOp::Add, sum);
      }
      const Access sums = b_.psum("sums", side_, {bank_}, DType::Float32, 4)(all, ds(0, columns));
      b_.nc_matmul(sums, word(matrix_, 0, side_, side_), pattern(turned, h * columns, {{1, columns}}));
      move(pattern(x, h * width_, {{2 * width_, runs_}, {1, width_}}), sums, Engine::Scalar);
    }
    b_.dma_copy(
        pattern(
            y_.tensor[0], out,
            {{2 * width_ * last().out, groups_}, {s_.out.stride, n_}, {across_.out, runs_}, {last().out, 2 * width_}}),
        x);
  }

  Access matrix_;
};

}  // namespace

Program columns_real_program(const LinesShape& shape, const Machine& machine) {
  return ColumnsRealKernel(shape, machine).build();
}

}  // namespace trn::fft::device
