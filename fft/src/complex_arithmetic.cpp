// The entry points of planar complex arithmetic.
#include <trn/fft/complex_arithmetic.hpp>

#include <trn/blas/gemm.hpp>

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
    require(x == y || x == 1 || y == 1, "{}: shapes {} and {} cannot be broadcast together; extents must be equal or 1",
            op, to_string(a), to_string(b));
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
  require(x.re.shape() == x.im.shape(),
          "{}: the real part of {} has shape {}, the imaginary part {}; both must be the same", op, operand,
          to_string(x.re.shape()), to_string(x.im.shape()));
  require(x.re.strides() == x.im.strides(),
          "{}: the real part of {} has strides {}, the imaginary part {}; both must be the same", op, operand,
          to_string(x.re.strides()), to_string(x.im.strides()));
}

template <class T> ElementwiseSide side(const PlanarView<const T>& x, const Shape& shape) {
  return {const_cast<T*>(x.re.data()), const_cast<T*>(x.im.data()),
          broadcast_strides(x.re.shape(), x.re.strides(), shape)};
}
template <class T> ElementwiseSide side(const View<const T>& x, const Shape& shape) {
  return {const_cast<T*>(x.data()), nullptr, broadcast_strides(x.shape(), x.strides(), shape)};
}

template <class T> PlanarArray<T> empty(const Executor& e, const Shape& shape) {
  return {Array<T>(e, shape), Array<T>(e, shape)};
}

void run(const Executor& e, const ElementwiseArgs& args) {
  if (element_count(args.shape) > 0) dispatch(kElementwise, e, args);
}

// Products of real matrices by trnblas. On a device double precision is its exact mode, the only one there, also where
// none is asked for.
template <class T> void times(const Executor& e, const Precision& precision, T alpha, const View<const T>& a,
                              const View<const T>& b, T beta, const Array<T>& y) {
  const auto matrix = [](const auto& v) {
    return MatrixView<const T>(v.executor(), v.data(), v.shape()[0], v.shape()[1], v.strides()[0], v.strides()[1]);
  };
  blas::GemmOptions options;
  options.precision = precision;
  if (e.family() == Family::Device && dtype_of<T> == DType::Float64 && precision == Precision{})
    options.precision = Mode::Exact;
  const MatrixView<T> out(e, y.data(), y.shape()[0], y.shape()[1], y.shape()[1], 1);
  blas::gemm(e, blas::Op::N, blas::Op::N, alpha, matrix(a), matrix(b), beta, out, options);
}

// Y_re = A_re B_re - A_im B_im, Y_im = A_re B_im + A_im B_re.
template <class T> void four_products(const Executor& e, const Precision& p, const PlanarView<const T>& a,
                                      const PlanarView<const T>& b, const PlanarArray<T>& y) {
  times<T>(e, p, 1, a.re, b.re, 0, y.re);
  times<T>(e, p, -1, a.im, b.im, 1, y.re);
  times<T>(e, p, 1, a.re, b.im, 0, y.im);
  times<T>(e, p, 1, a.im, b.re, 1, y.im);
}

// P = A_re B_re, Q = A_im B_im, Y_re = P - Q, Y_im = (A_re + A_im)(B_re + B_im) - P - Q.
template <class T> void three_products(const Executor& e, const Precision& p, const PlanarView<const T>& a,
                                       const PlanarView<const T>& b, const PlanarArray<T>& y) {
  const auto combined = [&](ComplexOp op, const View<const T>& left, const View<const T>& right, const Array<T>& out) {
    run(e, {op,
            dtype_of<T>,
            out.shape(),
            side(left, out.shape()),
            side(right, out.shape()),
            {out.data(), nullptr, row_major_strides(out.shape())}});
  };
  const Array<T> left(e, a.re.shape()), right(e, b.re.shape()), q(e, y.shape());
  combined(ComplexOp::Add, a.re, a.im, left);
  combined(ComplexOp::Add, b.re, b.im, right);
  times<T>(e, p, 1, a.re, b.re, 0, y.re);
  times<T>(e, p, 1, a.im, b.im, 0, q);
  times<T>(e, p, 1, left.view(), right.view(), 0, y.im);
  combined(ComplexOp::Subtract, y.im.view(), y.re.view(), y.im);
  combined(ComplexOp::Subtract, y.im.view(), q.view(), y.im);
  combined(ComplexOp::Subtract, y.re.view(), q.view(), y.re);
}

}  // namespace

namespace detail {

template <Real T>
PlanarArray<T> planar(ComplexOp op, const Executor& e, const PlanarView<const T>& a, const PlanarView<const T>& b) {
  check_type<T>(operation(op), e);
  check(operation(op), "a", e, a);
  check(operation(op), "b", e, b);
  const Shape shape = broadcast(operation(op), a.re.shape(), b.re.shape());
  PlanarArray<T> y = empty<T>(e, shape);
  run(e,
      {op, dtype_of<T>, shape, side(a, shape), side(b, shape), {y.re.data(), y.im.data(), row_major_strides(shape)}});
  return y;
}

template <Real T> Array<T> planar_part(ComplexOp op, const Executor& e, const PlanarView<const T>& a) {
  check_type<T>(operation(op), e);
  check(operation(op), "a", e, a);
  const Shape& shape = a.re.shape();
  Array<T> y(e, shape);
  run(e, {op, dtype_of<T>, shape, side(a, shape), side(a, shape), {y.data(), nullptr, row_major_strides(shape)}});
  return y;
}

template <Real T>
PlanarArray<T> from_polar(const Executor& e, const View<const T>& modulus, const View<const T>& angle) {
  const char* op = operation(ComplexOp::FromPolar);
  check_type<T>(op, e);
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

template <Real T> PlanarArray<T> matmul(const Executor& e, const PlanarView<const T>& a, const PlanarView<const T>& b,
                                        const MatmulOptions& o) {
  check("fft.matmul", "a", e, a);
  check("fft.matmul", "b", e, b);
  const Shape &sa = a.re.shape(), &sb = b.re.shape();
  require(sa.size() == 2 && sb.size() == 2 && sa[1] == sb[0],
          "fft.matmul: a has shape {}, b {}; give matrices (m, k) and (k, n)", to_string(sa), to_string(sb));
  if (o.products == Products::Three) check_type<T>("fft.matmul with three products", e);
  PlanarArray<T> y = empty<T>(e, {sa[0], sb[1]});
  if (sa[0] == 0 || sb[1] == 0) return y;
  if (sa[1] == 0) {
    Moves moves(e);
    moves.zero(y.re.view());
    moves.zero(y.im.view());
    moves.run();
    return y;
  }
  if (o.products == Products::Four)
    four_products(e, o.precision, a, b, y);
  else
    three_products(e, o.precision, a, b, y);
  return y;
}

template <Real T> PlanarArray<T> to_planar(const Executor& e, const View<const std::complex<T>>& x) {
  check_owner("fft.to_planar", "x", e, x.executor());
  PlanarArray<T> y = empty<T>(e, x.shape());
  const View<std::complex<T>> pairs(e, const_cast<std::complex<T>*>(x.data()), x.shape(), x.strides());
  Moves moves(e);
  moves.elements(View<const T>(real_parts(pairs)), y.re.view());
  moves.elements(View<const T>(imaginary_parts(pairs)), y.im.view());
  moves.run();
  return y;
}

template <Real T> Array<std::complex<T>> to_interleaved(const Executor& e, const PlanarView<const T>& x) {
  check("fft.to_interleaved", "x", e, x);
  Array<std::complex<T>> y(e, x.re.shape());
  Moves moves(e);
  moves.elements(x.re, real_parts(y.view()));
  moves.elements(x.im, imaginary_parts(y.view()));
  moves.run();
  return y;
}

#define TRN_FFT_INSTANTIATE(T)                                                                               \
  template PlanarArray<T> planar<T>(ComplexOp, const Executor&, const PlanarView<const T>&,                  \
                                    const PlanarView<const T>&);                                             \
  template Array<T> planar_part<T>(ComplexOp, const Executor&, const PlanarView<const T>&);                  \
  template PlanarArray<T> from_polar<T>(const Executor&, const View<const T>&, const View<const T>&);        \
  template PlanarArray<T> matmul<T>(const Executor&, const PlanarView<const T>&, const PlanarView<const T>&, \
                                    const MatmulOptions&);                                                   \
  template PlanarArray<T> to_planar<T>(const Executor&, const View<const std::complex<T>>&);                 \
  template Array<std::complex<T>> to_interleaved<T>(const Executor&, const PlanarView<const T>&);
TRN_FFT_INSTANTIATE(float)
TRN_FFT_INSTANTIATE(double)
#undef TRN_FFT_INSTANTIATE

}  // namespace detail
}  // namespace trn::fft
