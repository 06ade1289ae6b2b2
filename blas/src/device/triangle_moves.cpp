// Moving triangles and complex blocks: see diagonal_blocks.hpp.
#include "diagonal_blocks.hpp"

namespace trn::blas::device {

using namespace trn::tile;

void embed(Builder& b, const Access& dst, const Access& re, const Access& im, bool conj) {
  const std::int64_t half = b.machine().partitions / 2, columns = re.partitions, rows = re.dims.back().size;
  const auto part = [&](std::int64_t plane_of_column, std::int64_t plane_of_row) {
    Access to = dst(ds(plane_of_column * half, columns), all, ds(plane_of_row, 1), ds(0, rows));
    to.dims.erase(to.dims.begin() + 1);
    return to;
  };
  const double sign = conj ? -1 : 1;
  b.tensor_copy(part(0, 0), re);
  b.tensor_copy(part(1, 1), re);
  b.tensor_scalar(part(0, 1), im, AluOp::Multiply, sign, {.engine = Engine::Vector});
  b.tensor_scalar(part(1, 0), im, AluOp::Multiply, -sign, {.engine = Engine::Vector});
}

constexpr std::int64_t kLines = 16;  // triangles of this order and less are copied line by line

void copy_triangles(Builder& b, const Access& dst, const Access& src, bool head, bool unit) {
  const std::int64_t order = src.dims[1].size;
  // `groups` patches along the diagonal, `step` apart, each from (line, element) on.
  const auto copy = [&](std::int64_t groups, std::int64_t step, std::int64_t line, std::int64_t element,
                        std::int64_t lines, std::int64_t elements) {
    const auto patch = [&](Access x) {
      const Dim blocks = x.dims[0], l = x.dims[1], e = x.dims[2];
      const std::vector<Dim> parts(x.dims.begin() + 3, x.dims.end());
      x.offset = x.offset + line * l.stride + element * e.stride;
      x.dims = {blocks, {step * (l.stride + e.stride), groups}, {l.stride, lines}, {e.stride, elements}};
      x.dims.insert(x.dims.end(), parts.begin(), parts.end());
      return x;
    };
    if (elements > 0) b.dma_copy(patch(dst), patch(src));
  };
  // Squares beside the diagonal, halving while they are whole, then the lines of the small triangles that are left.
  std::int64_t side = order;
  for (; side % 2 == 0 && side > kLines; side /= 2) {
    const std::int64_t half = side / 2;
    copy(order / side, side, head ? half : 0, head ? 0 : half, half, half);
  }
  const std::int64_t skip = unit ? 1 : 0;
  for (std::int64_t l = 0; l < side; ++l) {
    if (head)
      copy(order / side, side, l, 0, 1, l + 1 - skip);
    else
      copy(order / side, side, l, l + skip, 1, side - l - skip);
  }
}

}  // namespace trn::blas::device
