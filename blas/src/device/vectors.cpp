// The shared parts of the device kernels of levels 1 and 2: see vectors.hpp.
#include "vectors.hpp"

#include <algorithm>

#include <trn/tile/blocks/loops.hpp>

namespace trn::blas::device {

using namespace trn::tile;
using blocks::ceil_div;

void require_single(const char* operation, const Executor& executor, DType dtype) {
  if (real_of(dtype) == DType::Float32) return;
  fail<NotImplemented>(
      "{}: no device kernel for {} on executor '{}': its engines have no float64; use float32 or complex64, or the "
      "host executor",
      operation, name(dtype), executor.name());
}

void require_native(const char* operation, const Executor& executor, Mode mode) {
  if (mode == Mode::Native) return;
  fail<NotImplemented>("{}: executor '{}' computes it in Native precision, not {}; use Native, or the host executor",
                       operation, executor.name(), name(mode));
}

namespace {

Access vector_tensor(Builder& b, bool output, const std::string& name, bool complex, std::int64_t n, std::int64_t inc) {
  const Shape shape = complex ? Shape{n, 2} : Shape{n};
  const Strides strides = complex ? Strides{2 * inc, 1} : Strides{inc};
  return output ? b.output(name, DType::Float32, shape, strides) : b.input(name, DType::Float32, shape, strides);
}

}  // namespace

Access vector_input(Builder& b, const std::string& name, bool complex, std::int64_t n, std::int64_t inc) {
  return vector_tensor(b, false, name, complex, n, inc);
}
Access vector_output(Builder& b, const std::string& name, bool complex, std::int64_t n, std::int64_t inc) {
  return vector_tensor(b, true, name, complex, n, inc);
}

Access VectorPiece::tile(Builder& b, const std::string& name, bool complex, std::int64_t buffers) const {
  return b.sbuf(name, partitions, complex ? Shape{columns, 2} : Shape{columns}, DType::Float32, buffers);
}

Access VectorPiece::load(Builder& b, const std::string& name, const Access& tensor, std::int64_t buffers) const {
  const Access from = of(tensor), to = tile(b, name, from.dims.size() == 3, buffers);
  b.dma_copy(to, from);
  return to;
}

void for_pieces(Builder& b, std::int64_t n, std::int64_t width, const std::function<void(const VectorPiece&)>& body) {
  const std::int64_t side = b.machine().partitions, whole = n / (side * width), row = n / side - whole * width,
                     rest = n % side;
  const auto block = [&](const Affine& first, std::int64_t partitions, std::int64_t columns, const Affine& number) {
    body({partitions, columns, number,
          [=](const Access& t) { return t(ds(first, partitions * columns)).split(0, columns); }});
  };
  b.parallel("piece", whole, [&](Affine i) { block(i * (side * width), side, width, i); });
  if (row > 0) block(Affine(whole * side * width), side, row, Affine(whole));
  if (rest > 0) block(Affine(n - rest), 1, rest, Affine(whole + (row > 0 ? 1 : 0)));
}

std::int64_t piece_count(std::int64_t n, std::int64_t width, const Machine& machine) {
  return ceil_div(n / machine.partitions, width) + (n % machine.partitions > 0 ? 1 : 0);
}

Access part(const Access& pairs, std::int64_t which) {
  Access one = pairs;
  one.offset = one.offset + which * one.dims.back().stride;
  one.dims.pop_back();
  return one;
}

Access flat(const Access& tile) {
  Access one = tile;
  one.dims = one.merged_dims();
  return one;
}

Factors::Factors(Builder& b, std::int64_t count) {
  tile_ = b.sbuf("factor_tile", b.machine().partitions, {count}, DType::Float32);
  b.dma_copy(tile_, b.input("factors", DType::Float32, {count}).broadcast(0, b.machine().partitions));
}

void sum_row(Builder& b, const Access& dst, const Access& src) {
  constexpr std::int64_t kGroup = 64;
  const std::int64_t n = src.free_size(), groups = n / kGroup, rest = n % kGroup;
  if (groups < 2) return b.tensor_reduce(dst, AluOp::Add, src);
  const Access partial = b.sbuf("group_sums", src.partitions, {groups + (rest > 0 ? 1 : 0)}, DType::Float32, 2);
  b.tensor_reduce(partial(all, ds(0, groups)), AluOp::Add, src(all, ds(0, groups * kGroup)).split(0, kGroup));
  if (rest > 0) b.tensor_reduce(partial(all, ds(groups, 1)), AluOp::Add, src(all, ds(groups * kGroup, rest)));
  b.tensor_reduce(dst, AluOp::Add, partial);
}

Argument factors_of(std::initializer_list<double> factors) {
  return constant("factors", std::vector<float>(factors.begin(), factors.end()));
}

Vectors::Vectors(DType dtype, std::int64_t count, const void* first, std::int64_t x_stride, const void* second,
                 std::int64_t y_stride)
    : n(count), incx(x_stride), incy(y_stride), x(const_cast<void*>(first)), y(const_cast<void*>(second)) {
  if (incx > 0 || (incx == 0 && incy >= 0)) return;
  const std::int64_t bytes = size_bytes(dtype) * (n - 1);
  x = static_cast<std::byte*>(x) + incx * bytes;
  if (y) y = static_cast<std::byte*>(y) + incy * bytes;
  incx = -incx;
  incy = -incy;
}

}  // namespace trn::blas::device
