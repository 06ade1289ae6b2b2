// Tensor trains: TT-SVD, rounding, reconstruction and arithmetic.
#include <trn/tensor/tensor_train.hpp>

#include <algorithm>
#include <limits>

#include <trn/core/error.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/svd.hpp>

#include "decompose/dense.hpp"

namespace trn::tensor {

namespace {

// Core k as r_k x n_k x r_k+1, row-major: both unfoldings, (r_k n_k) x r_k+1 and r_k x (n_k r_k+1), are in place.
template <Scalar T> using Cores = std::vector<Dense<T>>;

template <Scalar T> Cores<T> cores_of(const char* operation, const Executor& executor, const TensorTrain<T>& t) {
  require(!t.cores.empty(), "{}: the tensor train has no core", operation);
  Cores<T> cores;
  for (const Array<T>& core : t.cores) {
    require(core.shape().size() == 3, "{}: a core has shape {}; cores have three dimensions", operation,
            trn::to_string(core.shape()));
    const std::int64_t before = cores.empty() ? 1 : cores.back().shape[2];
    require(core.shape()[0] == before, "{}: core {} begins with rank {}; the one before ends with {}", operation,
            cores.size(), core.shape()[0], before);
    cores.push_back(dense_copy<T>(operation, executor, core.view()));
  }
  require(cores.back().shape[2] == 1, "{}: the last core ends with rank {}; it must be 1", operation,
          cores.back().shape[2]);
  return cores;
}

template <Scalar T> TensorTrain<T> train_of(const Executor& executor, const Cores<T>& cores) {
  TensorTrain<T> t;
  for (const Dense<T>& core : cores) t.cores.push_back(to_array(executor, core));
  return t;
}

template <Scalar T> void require_same_shape(const char* operation, const Cores<T>& a, const Cores<T>& b) {
  bool same = a.size() == b.size();
  for (std::size_t k = 0; same && k < a.size(); ++k) same = a[k].shape[1] == b[k].shape[1];
  require(same, "{}: the tensor trains have different shapes", operation);
}

template <Scalar T> T times_power(T x, int power) {
  if constexpr (ComplexScalar<T>)
    return {std::ldexp(x.real(), power), std::ldexp(x.imag(), power)};
  else
    return std::ldexp(x, power);
}

// Where products of cores may leave the range on their way, makes the largest number of every core about one, and gives
// the power of two that the tensor then lacks. Elsewhere nothing, and 0.
template <Scalar T> int balance(Cores<T>& cores) {
  std::vector<int> powers;
  int all = 0, lacking = 0;
  for (const Dense<T>& core : cores) {
    Real<T> most = 0;
    for (const T& v : core.values) most = std::max({most, std::abs(std::real(v)), std::abs(std::imag(v))});
    powers.push_back(most > 0 && std::isfinite(most) ? std::ilogb(most) : 0);
    all += std::abs(powers.back()), lacking += powers.back();
  }
  if (all < std::numeric_limits<Real<T>>::max_exponent / 3) return 0;
  for (std::size_t k = 0; k < cores.size(); ++k) {
    for (T& v : cores[k].values) v = times_power(v, -powers[k]);
  }
  return lacking;
}

// W (m x p) ~ U B, U with r orthonormal columns, B = U^H W: what a truncated SVD gives, with the tail it discards.
template <Scalar T> struct Split {
  std::vector<T> u, b;
  std::int64_t r = 0;
  double tail = 0;
};
template <Scalar T>
Split<T> split(const std::vector<T>& w, std::int64_t m, std::int64_t p, double tolerance, std::int64_t max_rank) {
  std::vector<T> scratch = w;
  const LeftVectors<T> left = left_vectors(scratch, m, p);
  ensure(left.ok, "tensor.tensor_train: an SVD did not converge");
  Split<T> s;
  std::tie(s.r, s.tail) = truncation(left.singular_values, tolerance);
  if (max_rank > 0 && s.r > max_rank) s.r = max_rank, s.tail = tail_norm(left.singular_values, max_rank);
  s.u = first_columns(left.u, m, s.r);
  s.b.resize(as_size(s.r * p));
  multiply<T>(Op::C, row_major(std::as_const(s.u), m, s.r), Op::N, row_major(w, m, p), row_major(s.b, s.r, p));
  return s;
}

// The product of all cores, n_0 x n_1 x ...
template <Scalar T> Dense<T> expand(const Cores<T>& cores) {
  Dense<T> y = cores[0];
  std::int64_t rows = y.shape[1];
  Shape shape{rows};
  for (std::size_t k = 1; k < cores.size(); ++k) {
    const std::int64_t r = cores[k].shape[0], columns = cores[k].shape[1] * cores[k].shape[2];
    Dense<T> next({rows, columns});
    multiply<T>(Op::N, row_major(std::as_const(y.values), rows, r), Op::N, row_major(cores[k].values, r, columns),
                row_major(next.values, rows, columns));
    y = std::move(next);
    rows *= cores[k].shape[1];
    shape.push_back(cores[k].shape[1]);
  }
  y.shape = shape;
  return y;
}

// Makes cores d-1 .. 1 orthonormal by rows: G_k = L Q, L goes into the core before.
template <Scalar T> void orthogonalise_from_the_right(Cores<T>& cores) {
  const Executor host = Executor::host();
  for (std::size_t k = cores.size(); k-- > 1;) {
    const std::int64_t r = cores[k].shape[0], columns = cores[k].shape[1] * cores[k].shape[2];
    // The transpose is column-major in place: G^T = Q R, so G = R^T Q^T.
    const solver::Qr<T> qr(host, MatrixView<const T>::column_major(host, cores[k].values.data(), columns, r));
    const std::int64_t s = std::min(r, columns);
    const std::vector<T> q = qr.q().to_host(), upper = qr.r().to_host();  // columns x s, s x r
    Dense<T> core({s, cores[k].shape[1], cores[k].shape[2]});
    for (std::int64_t i = 0; i < s; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) core.values[as_size(i * columns + j)] = q[as_size(j * s + i)];
    }
    cores[k] = std::move(core);
    Dense<T>& before = cores[k - 1];
    const std::int64_t rows = before.shape[0] * before.shape[1];
    Dense<T> next({before.shape[0], before.shape[1], s});
    multiply<T>(Op::N, row_major(std::as_const(before.values), rows, r), Op::T, row_major(upper, s, r),
                row_major(next.values, rows, s));
    before = std::move(next);
  }
}

// Rounding of expand(), first order: every product (r + 3) u |A||B|, with the norms of the parts, which for orthonormal
// cores are sqrt of their ranks.
template <Scalar T> double expansion_rounding(const Cores<T>& cores) {
  double growth = 1, roundings = 0;
  for (const Dense<T>& core : cores) {
    growth *= norm(std::span<const T>(core.values));
    roundings += static_cast<double>(core.shape[0]) + 3;
  }
  return (ComplexScalar<T> ? 3 : 1) * roundings * kUnitRoundoff<T> * growth;
}

template <Scalar T> Cores<T> svd_cores(const Dense<T>& x, double tolerance, std::int64_t max_rank, double& discarded) {
  Cores<T> cores;
  std::vector<T> rest = x.values;
  std::int64_t rank = 1;
  for (std::int64_t k = 0; k + 1 < x.rank(); ++k) {
    const std::int64_t m = rank * x.shape[as_size(k)], p = static_cast<std::int64_t>(rest.size()) / m;
    Split<T> s = split(rest, m, p, tolerance, max_rank);
    discarded = std::hypot(discarded, s.tail);
    Dense<T> core({rank, x.shape[as_size(k)], s.r});
    core.values = std::move(s.u);
    cores.push_back(std::move(core));
    rest = std::move(s.b), rank = s.r;
  }
  Dense<T> core({rank, x.shape.back(), 1});
  core.values = std::move(rest);
  cores.push_back(std::move(core));
  return cores;
}

void check_options(const char* operation, const TensorTrainOptions& options) {
  require(options.epsilon >= 0, "{}: epsilon is {}; it must be >= 0", operation, options.epsilon);
  require(options.max_rank >= 0, "{}: max_rank is {}; it must be >= 0", operation, options.max_rank);
}

}  // namespace

template <Scalar T> TensorTrain<T> tensor_train(const Executor& executor, const std::type_identity_t<View<const T>>& x,
                                                const TensorTrainOptions& options) {
  constexpr const char* operation = "tensor.tensor_train";
  check_options(operation, options);
  const Dense<T> dense = dense_copy(operation, executor, x);
  if (!all_finite(std::span<const T>(dense.values))) {
    Cores<T> cores;
    for (const std::int64_t n : dense.shape) {
      cores.emplace_back(Shape{1, n, 1});
      std::fill(cores.back().values.begin(), cores.back().values.end(), T(std::numeric_limits<Real<T>>::quiet_NaN()));
    }
    TensorTrain<T> t = train_of(executor, cores);
    t.report = not_finite_report();
    return t;
  }
  const double bonds = std::max(1.0, static_cast<double>(dense.rank() - 1));
  DecompositionReport report;
  const double tolerance = options.epsilon * norm(std::span<const T>(dense.values)) / std::sqrt(bonds);
  const Cores<T> cores = svd_cores(dense, tolerance, options.max_rank, report.discarded);
  measure_error(dense, expand(cores), expansion_rounding(cores), report);
  TensorTrain<T> t = train_of(executor, cores);
  t.report = report;
  return t;
}

template <Scalar T> Array<T> reconstruct(const Executor& executor, const TensorTrain<T>& t) {
  Cores<T> cores = cores_of("tensor.reconstruct", executor, t);
  const int power = balance(cores);
  Dense<T> y = expand(cores);
  if (power != 0) {
    for (T& v : y.values) v = times_power(v, power);
  }
  return to_array(executor, y);
}

template <Scalar T>
TensorTrain<T> round(const Executor& executor, const TensorTrain<T>& t, const TensorTrainOptions& options) {
  constexpr const char* operation = "tensor.round";
  check_options(operation, options);
  Cores<T> cores = cores_of(operation, executor, t);
  const int power = balance(cores);
  // What the parts amount to: rounding is relative to this, which exceeds the norm where they cancel.
  double parts = 1, roundings = 0;
  for (const Dense<T>& core : cores) {
    parts *= norm(std::span<const T>(core.values));
    roundings += 12.0 * static_cast<double>(core.shape[2] * (core.shape[0] * core.shape[1] + 8));
  }
  orthogonalise_from_the_right(cores);
  DecompositionReport report;
  report.norm = norm(std::span<const T>(cores[0].values));
  const double bonds = std::max(1.0, static_cast<double>(cores.size() - 1));
  for (std::size_t k = 0; k + 1 < cores.size(); ++k) {
    Dense<T>& core = cores[k];
    const std::int64_t m = core.shape[0] * core.shape[1], p = core.shape[2];
    Split<T> s = split(core.values, m, p, options.epsilon * report.norm / std::sqrt(bonds), options.max_rank);
    report.discarded = std::hypot(report.discarded, s.tail);
    core.values = std::move(s.u), core.shape[2] = s.r;
    Dense<T>& after = cores[k + 1];
    const std::int64_t columns = after.shape[1] * after.shape[2];
    Dense<T> next({s.r, after.shape[1], after.shape[2]});
    multiply<T>(Op::N, row_major(std::as_const(s.b), s.r, p), Op::N, row_major(std::as_const(after.values), p, columns),
                row_major(next.values, s.r, columns));
    after = std::move(next);
  }
  report.bound = report.discarded + roundings * kUnitRoundoff<T> * parts;
  if (power != 0) {
    for (T& v : cores.back().values) v = times_power(v, power);
    const double lost = std::numeric_limits<Real<T>>::denorm_min();  // of each part of a number, where it is small
    report.norm = std::ldexp(report.norm, power), report.discarded = std::ldexp(report.discarded, power);
    report.bound = std::ldexp(report.bound, power) + lost * static_cast<double>(2 * cores.back().values.size());
  }
  report.error = report.bound;
  report.fit = report.norm > 0 ? 1 - report.error / report.norm : 1;
  TensorTrain<T> result = train_of(executor, cores);
  result.report = report;
  return result;
}

template <Scalar T> TensorTrain<T> add(const Executor& executor, const TensorTrain<T>& a, const TensorTrain<T>& b) {
  const Cores<T> x = cores_of("tensor.add", executor, a), y = cores_of("tensor.add", executor, b);
  require_same_shape("tensor.add", x, y);
  Cores<T> sum;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool first = k == 0, last = k + 1 == x.size();
    const std::int64_t n = x[k].shape[1];
    Dense<T> core({first ? 1 : x[k].shape[0] + y[k].shape[0], n, last ? 1 : x[k].shape[2] + y[k].shape[2]});
    const auto place = [&](const Dense<T>& part, std::int64_t row, std::int64_t column) {
      for (std::int64_t i = 0; i < part.shape[0]; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t l = 0; l < part.shape[2]; ++l) {
            core.values[as_size(((row + i) * n + j) * core.shape[2] + column + l)] +=
                part.values[as_size((i * n + j) * part.shape[2] + l)];
          }
        }
      }
    };
    place(x[k], 0, 0);
    place(y[k], first ? 0 : x[k].shape[0], last ? 0 : x[k].shape[2]);
    sum.push_back(std::move(core));
  }
  return train_of(executor, sum);
}

template <Scalar T>
TensorTrain<T> scale(const Executor& executor, std::type_identity_t<T> alpha, const TensorTrain<T>& a) {
  Cores<T> cores = cores_of("tensor.scale", executor, a);
  for (T& v : cores[0].values) v *= alpha;
  return train_of(executor, cores);
}

template <Scalar T>
TensorTrain<T> hadamard(const Executor& executor, const TensorTrain<T>& a, const TensorTrain<T>& b) {
  const Cores<T> x = cores_of("tensor.hadamard", executor, a), y = cores_of("tensor.hadamard", executor, b);
  require_same_shape("tensor.hadamard", x, y);
  Cores<T> product;
  for (std::size_t k = 0; k < x.size(); ++k) {  // Kronecker products of the matrices
    const Shape &p = x[k].shape, &q = y[k].shape;
    Dense<T> core({p[0] * q[0], p[1], p[2] * q[2]});
    for (std::int64_t i = 0; i < p[0] * q[0]; ++i) {
      for (std::int64_t j = 0; j < p[1]; ++j) {
        for (std::int64_t l = 0; l < p[2] * q[2]; ++l) {
          core.values[as_size((i * p[1] + j) * core.shape[2] + l)] =
              x[k].values[as_size((i / q[0] * p[1] + j) * p[2] + l / q[2])] *
              y[k].values[as_size((i % q[0] * q[1] + j) * q[2] + l % q[2])];
        }
      }
    }
    product.push_back(std::move(core));
  }
  return train_of(executor, product);
}

template <Scalar T> T dot(const Executor& executor, const TensorTrain<T>& a, const TensorTrain<T>& b) {
  Cores<T> x = cores_of("tensor.dot", executor, a), y = cores_of("tensor.dot", executor, b);
  require_same_shape("tensor.dot", x, y);
  const int power = balance(x) + balance(y);
  std::vector<T> m{T(1)};  // r_x x r_y
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Shape &p = x[k].shape, &q = y[k].shape;
    std::vector<T> half(as_size(p[0] * q[1] * q[2])), next(as_size(p[2] * q[2]));
    multiply<T>(Op::N, row_major(std::as_const(m), p[0], q[0]), Op::N,
                row_major(std::as_const(y[k].values), q[0], q[1] * q[2]), row_major(half, p[0], q[1] * q[2]));
    multiply<T>(Op::C, row_major(std::as_const(x[k].values), p[0] * p[1], p[2]), Op::N,
                row_major(std::as_const(half), p[0] * p[1], q[2]), row_major(next, p[2], q[2]));
    m = std::move(next);
  }
  return times_power(m[0], power);
}

template <Scalar T> double norm(const Executor& executor, const TensorTrain<T>& a) {
  Cores<T> cores = cores_of("tensor.norm", executor, a);
  // An orthogonalisation would lose them. NaN anywhere, and infinity, which may meet a zero, make the norm NaN.
  for (const Dense<T>& core : cores) {
    for (const T& value : core.values) {
      if (!std::isfinite(std::abs(value))) return std::numeric_limits<double>::quiet_NaN();
    }
  }
  const int power = balance(cores);
  orthogonalise_from_the_right(cores);
  return std::ldexp(norm(std::span<const T>(cores[0].values)), power);
}

template <Scalar T> T evaluate(const TensorTrain<T>& a, std::span<const std::int64_t> index) {
  Cores<T> cores = cores_of("tensor.evaluate", Executor::host(), a);
  require(index.size() == cores.size(), "tensor.evaluate: {} indices for {} dimensions", index.size(), cores.size());
  const int power = balance(cores);
  std::vector<T> row{T(1)};
  for (std::size_t k = 0; k < cores.size(); ++k) {
    const Shape& s = cores[k].shape;
    require(index[k] >= 0 && index[k] < s[1], "tensor.evaluate: index {} of dimension {} with extent {}", index[k], k,
            s[1]);
    std::vector<T> next(as_size(s[2]));
    for (std::int64_t i = 0; i < s[0]; ++i) {
      for (std::int64_t l = 0; l < s[2]; ++l) {
        next[as_size(l)] += row[as_size(i)] * cores[k].values[as_size((i * s[1] + index[k]) * s[2] + l)];
      }
    }
    row = std::move(next);
  }
  return times_power(row[0], power);
}

#define TRN_INSTANTIATE(T)                                                                                   \
  template TensorTrain<T> tensor_train<T>(const Executor&, const View<const T>&, const TensorTrainOptions&); \
  template Array<T> reconstruct<T>(const Executor&, const TensorTrain<T>&);                                  \
  template TensorTrain<T> round<T>(const Executor&, const TensorTrain<T>&, const TensorTrainOptions&);       \
  template TensorTrain<T> add<T>(const Executor&, const TensorTrain<T>&, const TensorTrain<T>&);             \
  template TensorTrain<T> scale<T>(const Executor&, T, const TensorTrain<T>&);                               \
  template TensorTrain<T> hadamard<T>(const Executor&, const TensorTrain<T>&, const TensorTrain<T>&);        \
  template T dot<T>(const Executor&, const TensorTrain<T>&, const TensorTrain<T>&);                          \
  template double norm<T>(const Executor&, const TensorTrain<T>&);                                           \
  template T evaluate<T>(const TensorTrain<T>&, std::span<const std::int64_t>);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
TRN_INSTANTIATE(std::complex<float>)
TRN_INSTANTIATE(std::complex<double>)
#undef TRN_INSTANTIATE

}  // namespace trn::tensor
