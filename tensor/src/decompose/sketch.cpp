// Randomised ranges.
#include "decompose/sketch.hpp"

#include <algorithm>

#include <trn/rand/normal.hpp>
#include <trn/solver/qr.hpp>

namespace trn::tensor {

namespace {

template <Scalar T> std::vector<T> gaussian(std::int64_t size, std::uint64_t seed, std::uint64_t stream) {
  rand::Generator generator({.seed = seed, .stream = stream});
  std::vector<T> values(as_size(size));
  const std::int64_t reals = ComplexScalar<T> ? 2 * size : size;
  rand::normal(Executor::host(), generator,
               View<Real<T>>(Executor::host(), reinterpret_cast<Real<T>*>(values.data()), {reals}));
  return values;
}

template <Scalar T> std::vector<T> orthonormal(const std::vector<T>& y, std::int64_t n, std::int64_t columns) {
  const solver::Qr<T> qr(Executor::host(), row_major(y, n, columns));
  return qr.q().to_host();
}

}  // namespace

template <Scalar T>
std::vector<T> sketched_range(const Dense<T>& x, std::int64_t mode, std::int64_t rank, const TuckerOptions& options) {
  const Dense<T> w = mode_first(x, mode);
  const std::int64_t n = x.shape[as_size(mode)], rest = w.size() / n;
  const std::int64_t columns = std::min({n, rest, rank + options.oversampling});
  const auto matrix = row_major(w.values, n, rest);
  std::vector<T> other = gaussian<T>(rest * columns, options.seed, static_cast<std::uint64_t>(mode));
  std::vector<T> q(as_size(n * columns));
  for (int i = 0; i <= options.power; ++i) {
    multiply<T>(Op::N, matrix, Op::N, row_major(std::as_const(other), rest, columns), row_major(q, n, columns));
    q = orthonormal(q, n, columns);
    multiply<T>(Op::C, matrix, Op::N, row_major(std::as_const(q), n, columns), row_major(other, rest, columns));
    if (i < options.power) other = orthonormal(other, rest, columns);
  }
  // other = W^H Q: the leading left singular vectors of Q^H W, a columns x rest matrix, rotate Q.
  std::vector<T> small(as_size(columns * rest));
  multiply<T>(Op::C, row_major(std::as_const(q), n, columns), Op::N, matrix, row_major(small, columns, rest));
  const LeftVectors<T> left = left_vectors(small, columns, rest);
  const std::int64_t r = std::min(rank, columns);
  const std::vector<T> rotation = first_columns(left.u, columns, r);
  std::vector<T> range(as_size(n * r));
  multiply<T>(Op::N, row_major(std::as_const(q), n, columns), Op::N, row_major(rotation, columns, r),
              row_major(range, n, r));
  return range;
}

#define TRN_INSTANTIATE(T) \
  template std::vector<T> sketched_range<T>(const Dense<T>&, std::int64_t, std::int64_t, const TuckerOptions&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
TRN_INSTANTIATE(std::complex<float>)
TRN_INSTANTIATE(std::complex<double>)
#undef TRN_INSTANTIATE

}  // namespace trn::tensor
