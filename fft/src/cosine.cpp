// The entry points of the cosine and sine transforms.
#include "cosine.hpp"

#include <cmath>

#include <trn/core/enumerators.hpp>
#include <trn/fft/bounds.hpp>

#include "function_precision.hpp"

namespace trn::fft::detail {
namespace {

CosineType inverse_of(CosineType type) {
  if (type == CosineType::II) return CosineType::III;
  if (type == CosineType::III) return CosineType::II;
  return type;
}

double factor(const CosineRequest& r, CosineType type, Norm norm, std::int64_t n) {
  const double m = static_cast<double>(n) + (type != CosineType::I ? 0 : r.wave == Wave::Cosine ? -1 : 1);
  if (norm == Norm::Ortho) return 1 / std::sqrt(2 * m);
  return (norm == Norm::Forward) == (r.direction == Direction::Forward) ? 1 / (2 * m) : 1;
}

CosineType type_of(const CosineRequest& r, const CosineNOptions& o) {
  return r.direction == Direction::Forward ? o.type : inverse_of(o.type);
}

// The header's bound for one axis.
double axis_bound(const Executor& e, const CosineRequest& r, CosineType type, std::int64_t n, std::int64_t count,
                  DType real, Mode mode) {
  return ask(kCosineBound, e, {real, r.wave, type, n, count, mode});
}

template <class T> Array<T> one_axis(const Executor& e, const View<const T>& x, const CosineRequest& r,
                                     const CosineNOptions& o, std::size_t axis, std::int64_t n, Mode mode) {
  Shape shape = x.shape();
  shape[axis] = n;
  Array<T> y(e, shape);
  const Strides strides = row_major_strides(shape);
  const CosineType type = type_of(r, o);
  CosineArgs args{dtype_of<T>,
                  r.wave,
                  type,
                  o.orthogonalize.value_or(o.norm == Norm::Ortho),
                  factor(r, type, o.norm, n),
                  n,
                  std::min(n, x.shape()[axis]),
                  x.data(),
                  y.data(),
                  x.strides()[axis],
                  strides[axis],
                  {},
                  {},
                  {},
                  o.cache,
                  mode};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d == axis) continue;
    args.batch.push_back(shape[d]);
    args.in_batch.push_back(x.strides()[d]);
    args.out_batch.push_back(strides[d]);
  }
  if (element_count(args.batch) > 0) dispatch(r.wave == Wave::Cosine ? kDct : kDst, e, args);
  return y;
}

}  // namespace

CosineNOptions along_one_axis(const CosineOptions& o) {
  CosineNOptions n{.type = o.type,
                   .axes = std::vector{o.axis},
                   .norm = o.norm,
                   .orthogonalize = o.orthogonalize,
                   .precision = o.precision,
                   .cache = o.cache};
  if (o.n) n.s = std::vector{*o.n};
  return n;
}

template <Real T>
Array<T> cosine(const Executor& e, const View<const T>& x, const CosineRequest& r, const CosineNOptions& o) {
  const char* op = r.operation;
  check_owner(op, "x", e, x.executor());
  (void)offered_modes(op, e, dtype_of<T>, o.precision, ExactMode::NotOffered);
  operands::check_enumerator(op, "Norm", o.norm, Norm::Forward);
  require(o.type >= CosineType::I && o.type <= CosineType::IV, "{}: type is {}; it must be I to IV", op,
          static_cast<int>(o.type));
  const std::vector<std::size_t> axes = axes_with_lengths(op, o.axes, o.s, x.shape().size());
  const std::int64_t least = o.type == CosineType::I && r.wave == Wave::Cosine ? 2 : 1;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    lengths.push_back(o.s ? (*o.s)[i] : x.shape()[axes[i]]);
    require(lengths[i] >= least, "{}: the transform along axis {} has {} points; it needs at least {}", op, axes[i],
            lengths[i], least);
  }
  // One mode for all axes, whose errors multiply.
  const Mode mode = choose_mode<T>(op, e, o.precision, ExactMode::NotOffered, [&](Mode each) {
    Shape shape = x.shape();
    double growth = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      shape[axes[i]] = lengths[i];
      growth *= 1 + axis_bound(e, r, type_of(r, o), lengths[i], element_count(shape) / lengths[i], dtype_of<T>, each);
    }
    return growth - 1;
  });
  Array<T> y = one_axis(e, x, r, o, axes[0], lengths[0], mode);
  for (std::size_t i = 1; i < axes.size(); ++i)
    y = one_axis(e, View<const T>(y.view()), r, o, axes[i], lengths[i], mode);
  return y;
}

template Array<float> cosine<float>(const Executor&, const View<const float>&, const CosineRequest&,
                                    const CosineNOptions&);
template Array<double> cosine<double>(const Executor&, const View<const double>&, const CosineRequest&,
                                      const CosineNOptions&);

}  // namespace trn::fft::detail

namespace trn::fft {

double dct_error_bound(const Executor& executor, CosineType type, std::int64_t n, std::int64_t lines, DType real,
                       Mode mode) {
  return ask(kCosineBound, executor, {real, detail::Wave::Cosine, type, n, lines, mode});
}

}  // namespace trn::fft
