// Twiddles between two steps: see two_steps.hpp.
#include "two_steps.hpp"

#include <algorithm>

namespace trn::fft::device {

using namespace trn::tile;

void TwoStepKernel::declare_twiddles(std::int64_t rows, std::int64_t columns) {
  cos_ = constant("twiddle_cos", rows, columns, DType::Float32, 1);
  sin_ = constant("twiddle_sin", rows, columns, DType::Float32, 1);
}

TwoStepKernel::TwiddleTiles TwoStepKernel::twiddle_tiles(std::int64_t rows, std::int64_t deep, std::int64_t columns) {
  const std::int64_t most = std::min(kTogether, deep) * columns;
  return {Ring(b_.sbuf("z_cos", rows, {2, most}, DType::Float32), 2),
          Ring(b_.sbuf("z_sin", rows, {2, most}, DType::Float32), 2),
          Ring(b_.sbuf("z_tile", rows, {lag_ + 2, words_.count * most}, words_.dtype), lag_ + 2)};
}

Access TwoStepKernel::twiddle(const Access& z, std::int64_t count, std::int64_t columns, TwiddleTiles& tiles,
                              Engine sum) {
  const std::int64_t rows = z.partitions;
  const auto here = [&](Ring& ring) { return ring.next()(ds(0, rows), all); };
  const Access straight = here(tiles.straight), crossed = here(tiles.crossed), turned = here(tiles.turned);
  const auto table = [&](const Access& t) { return pattern(word(t, 0, rows, columns), 0, {{0, count}, {1, columns}}); };
  b_.tensor_tensor(pattern(straight, 0, {{columns, count}, {1, columns}}),
                   pattern(z, 0, {{pitch(), count}, {1, columns}}), table(cos_), AluOp::Multiply, Engine::Vector);
  for (std::int64_t part = 0; part < 2; ++part) {  // the other part of z
    b_.tensor_tensor(pattern(crossed, part, {{columns, count}, {2, columns / 2}}),
                     pattern(z, 1 - part, {{pitch(), count}, {2, columns / 2}}),
                     pattern(word(sin_, 0, rows, columns), part, {{0, count}, {2, columns / 2}}), AluOp::Multiply,
                     Engine::Vector);
  }
  const auto flat = [&](const Access& t, std::int64_t w) {
    return pattern(t, w * count * columns, {{1, count * columns}});
  };
  if (words_.dtype == DType::Float32) {
    b_.tensor_tensor(flat(turned, 0), flat(straight, 0), flat(crossed, 0), AluOp::Add, sum);
    return turned;
  }
  b_.tensor_tensor(flat(straight, 0), flat(straight, 0), flat(crossed, 0), AluOp::Add, sum);
  split_words(
      b_, words_, [&](std::int64_t w) { return flat(turned, w); }, flat(straight, 0), Engine::Scalar);
  return turned;
}

Access TwoStepKernel::split_ahead(const Access& src, std::int64_t stride, std::int64_t size, std::int64_t buffers) {
  const Access split = b_.sbuf("x_words", src.partitions, {words_.count, size}, words_.dtype, buffers);
  split_words(
      b_, words_,
      [&](std::int64_t w) {
        return pattern(split, w * size, {{1, size}});
      },
      pattern(src, 0, {{stride, size}}), Engine::GpSimd, Engine::GpSimd);
  return split;
}

}  // namespace trn::fft::device
