// The doors of planar complex arithmetic.
#include <trn/fft/complex_arithmetic.hpp>

#include "elementwise.hpp"
#include "views.hpp"

namespace trn::fft {
namespace {

const char* operation(ComplexOp op) {
  switch (op) {
    case ComplexOp::Add:
      return "fft.add";
    case ComplexOp::Subtract:
      return "fft.subtract";
    case ComplexOp::Multiply:
      return "fft.multiply";
    case ComplexOp::MultiplyConjugate:
      return "fft.multiply_conjugate";
    case ComplexOp::Divide:
      return "fft.divide";
    case ComplexOp::Conjugate:
      return "fft.conj";
    case ComplexOp::Abs:
      return "fft.abs";
    case ComplexOp::Angle:
      return "fft.angle";
    case ComplexOp::FromPolar:
      return "fft.from_polar";
  }
  return "?";
}

Shape broadcast(const char* op, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape shape(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    require(x == y || x == 1 || y == 1, "{}: shapes {} and {} cannot be broadcast together; extents must be equal or 1", op, to_string(a),
            to_string(b));
    shape[rank - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

Strides broadcast_strides(const Shape& from, const Strides& strides, const Shape& to) {
  Strides result(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[from.size() - 1 - i] != 1) result[to.size() - 1 - i] = strides[from.size() - 1 - i];
  }
  return result;
}

template <class T> void check(const char* op, const char* operand, const Executor& e, const PlanarView<const T>& x) {
  check_owner(op, operand, e, x.re.executor());
  check_owner(op, operand, e, x.im.executor());
  require(x.re.shape() == x.im.shape(), "{}: the real part of {} has shape {}, the imaginary part {}; both must be the same", op, operand,
          to_string(x.re.shape()), to_string(x.im.shape()));
  require(x.re.strides() == x.im.strides(), "{}: the real part of {} has strides {}, the imaginary part {}; both must be the same", op,
          operand, to_string(x.re.strides()), to_string(x.im.strides()));
}

template <class T> ElementwiseSide side(const PlanarView<const T>& x, const Shape& shape) {
  return {const_cast<T*>(x.re.data()), const_cast<T*>(x.im.data()), broadcast_strides(x.re.shape(), x.re.strides(), shape)};
}
template <class T> ElementwiseSide side(const View<const T>& x, const Shape& shape) {
  return {const_cast<T*>(x.data()), nullptr, broadcast_strides(x.shape(), x.strides(), shape)};
}

template <class T> PlanarArray<T> empty(const Executor& e, const Shape& shape) { return {Array<T>(e, shape), Array<T>(e, shape)}; }

void run(const Executor& e, const ElementwiseArgs& args) {
  if (element_count(args.shape) > 0) dispatch(kElementwise, e, args);
}

}  // namespace

namespace detail {

template <Real T> PlanarArray<T> planar(ComplexOp op, const Executor& e, const PlanarView<const T>& a, const PlanarView<const T>& b) {
  check(operation(op), "a", e, a);
  check(operation(op), "b", e, b);
  const Shape shape = broadcast(operation(op), a.re.shape(), b.re.shape());
  PlanarArray<T> y = empty<T>(e, shape);
  run(e, {op, dtype_of<T>, shape, side(a, shape), side(b, shape), {y.re.data(), y.im.data(), row_major_strides(shape)}});
  return y;
}

template <Real T> Array<T> planar_part(ComplexOp op, const Executor& e, const PlanarView<const T>& a) {
  check(operation(op), "a", e, a);
  const Shape& shape = a.re.shape();
  Array<T> y(e, shape);
  run(e, {op, dtype_of<T>, shape, side(a, shape), side(a, shape), {y.data(), nullptr, row_major_strides(shape)}});
  return y;
}

template <Real T> PlanarArray<T> from_polar(const Executor& e, const View<const T>& modulus, const View<const T>& angle) {
  const char* op = operation(ComplexOp::FromPolar);
  check_owner(op, "modulus", e, modulus.executor());
  check_owner(op, "angle", e, angle.executor());
  const Shape shape = broadcast(op, modulus.shape(), angle.shape());
  PlanarArray<T> y = empty<T>(e, shape);
  run(e, {ComplexOp::FromPolar,
          dtype_of<T>,
          shape,
          side(modulus, shape),
          side(angle, shape),
          {y.re.data(), y.im.data(), row_major_strides(shape)}});
  return y;
}

template <Real T>
PlanarArray<T> matmul(const Executor& e, const PlanarView<const T>& a, const PlanarView<const T>& b, const MatmulOptions& o) {
  check("fft.matmul", "a", e, a);
  check("fft.matmul", "b", e, b);
  const Shape &sa = a.re.shape(), &sb = b.re.shape();
  require(sa.size() == 2 && sb.size() == 2 && sa[1] == sb[0], "fft.matmul: a has shape {}, b {}; give matrices (m, k) and (k, n)",
          to_string(sa), to_string(sb));
  PlanarArray<T> y = empty<T>(e, {sa[0], sb[1]});
  if (sa[0] == 0 || sb[1] == 0) return y;
  if (sa[1] == 0) {
    fill_zero(y.re.view());
    fill_zero(y.im.view());
    return y;
  }
  dispatch(kMatmul, e,
           MatmulArgs{dtype_of<T>,
                      sa[0],
                      sb[1],
                      sa[1],
                      side(a, sa),
                      side(b, sb),
                      {y.re.data(), y.im.data(), row_major_strides(y.shape())},
                      o.products});
  return y;
}

template <Real T> PlanarArray<T> to_planar(const Executor& e, const View<const std::complex<T>>& x) {
  check_owner("fft.to_planar", "x", e, x.executor());
  PlanarArray<T> y = empty<T>(e, x.shape());
  const View<std::complex<T>> pairs(e, const_cast<std::complex<T>*>(x.data()), x.shape(), x.strides());
  copy(real_parts(pairs), y.re.view());
  copy(imaginary_parts(pairs), y.im.view());
  return y;
}

template <Real T> Array<std::complex<T>> to_interleaved(const Executor& e, const PlanarView<const T>& x) {
  check("fft.to_interleaved", "x", e, x);
  Array<std::complex<T>> y(e, x.re.shape());
  copy(x.re, real_parts(y.view()));
  copy(x.im, imaginary_parts(y.view()));
  return y;
}

#define TRN_FFT_INSTANTIATE(T)                                                                                                      \
  template PlanarArray<T> planar<T>(ComplexOp, const Executor&, const PlanarView<const T>&, const PlanarView<const T>&);            \
  template Array<T> planar_part<T>(ComplexOp, const Executor&, const PlanarView<const T>&);                                         \
  template PlanarArray<T> from_polar<T>(const Executor&, const View<const T>&, const View<const T>&);                               \
  template PlanarArray<T> matmul<T>(const Executor&, const PlanarView<const T>&, const PlanarView<const T>&, const MatmulOptions&); \
  template PlanarArray<T> to_planar<T>(const Executor&, const View<const std::complex<T>>&);                                        \
  template Array<std::complex<T>> to_interleaved<T>(const Executor&, const PlanarView<const T>&);
TRN_FFT_INSTANTIATE(float)
TRN_FFT_INSTANTIATE(double)
#undef TRN_FFT_INSTANTIATE

}  // namespace detail
}  // namespace trn::fft
