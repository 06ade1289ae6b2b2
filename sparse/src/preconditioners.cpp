// Jacobi, block Jacobi, symmetric Gauss-Seidel by colours, Chebyshev, sparse approximate inverse.
#include <trn/sparse/preconditioners.hpp>

#include <algorithm>

#include <trn/core/linear_operator.hpp>
#include <trn/sparse/structure.hpp>

#include "dense_inverse.hpp"
#include "operators.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace {

// Random numbers in [-1, 1] that are the same everywhere.
template <Scalar T> void start_vector(std::int64_t n, T* x) {
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x[i] = T(static_cast<Real<T>>(static_cast<double>(state >> 11) * 0x1p-52 - 1));
  }
}

template <Scalar T> Outcome diagonal_outcome(const std::vector<T>& d) {
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (!host::usable_pivot(d[i])) return {Status::ZeroPivot, static_cast<std::int64_t>(i)};
  }
  return {};
}

}  // namespace

template <Scalar T> BlockJacobi<T>::BlockJacobi(const Csr<T>& a, std::int64_t block)
    : n_(a.rows()), block_(block), work_(host_array<T>(a.rows())) {
  constexpr const char* operation = "sparse.block_jacobi";
  host_only(operation, a.executor());
  check_square(operation, a.extents());
  require(block >= 1 && block <= 1024, "{}: blocks of {}; from 1 to 1024", operation, block);
  const CsrRef<T, std::int32_t> s = host_ref(a);
  std::vector<T> own(static_cast<std::size_t>(block * block));
  inverses_.resize(static_cast<std::size_t>((n_ + block - 1) / block * block * block));
  piece_.resize(static_cast<std::size_t>(block));
  for (std::int64_t first = 0; first < n_; first += block) {
    const std::int64_t size = std::min(block, n_ - first);
    std::fill(own.begin(), own.end(), T(0));
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t k = s.offsets[first + i]; k < s.offsets[first + i + 1]; ++k) {
        const std::int64_t j = s.indices[k] - first;
        if (j >= 0 && j < size) own[static_cast<std::size_t>(i * size + j)] = s.values[k];
      }
    }
    if (!invert(size, own.data(), inverses_.data() + first * block) && outcome_.ok())
      outcome_ = {Status::ZeroPivot, first};
  }
}

template <Scalar T>
void BlockJacobi<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  apply_in_place("sparse.block_jacobi.apply", executor(), n_, work_, alpha, x, beta, y, [&](const host::Columns<T>& c) {
    if (!outcome_.ok()) return fill_columns(n_, c, not_a_number<T>());
    for (std::int64_t column = 0; column < c.count; ++column) {
      T* data = c.data + column * c.cs;
      for (std::int64_t first = 0; first < n_; first += block_) {
        const std::int64_t size = std::min(block_, n_ - first);
        const T* inverse = inverses_.data() + first * block_;
        for (std::int64_t i = 0; i < size; ++i) piece_[static_cast<std::size_t>(i)] = data[(first + i) * c.rs];
        for (std::int64_t i = 0; i < size; ++i) {
          T sum(0);
          for (std::int64_t j = 0; j < size; ++j) {
            const T m = op == Op::N   ? inverse[i * size + j]
                        : op == Op::T ? inverse[j * size + i]
                                      : conjugate_of(inverse[j * size + i]);
            sum += host::times(m, piece_[static_cast<std::size_t>(j)]);
          }
          data[(first + i) * c.rs] = sum;
        }
      }
    }
  });
}

template <Scalar T> struct Ssor<T>::Data {
  std::int64_t n;
  std::int32_t colours;
  Permutation order;
  std::vector<T> middle;  // (2 - w)/w D
  host::Triangle<T> lower, upper;
  Array<T> work, turned;
};

template <Scalar T> Ssor<T>::Ssor(const Csr<T>& a, double weight) {
  constexpr const char* operation = "sparse.ssor";
  host_only(operation, a.executor());
  check_square(operation, a.extents());
  require(weight > 0 && weight < 2, "{}: the weight is {}; it lies between 0 and 2", operation, weight);
  const Colouring c = colouring(a.pattern());
  Permutation order = c.order();
  const Csr<T> turned = permute(a, order, order);
  std::vector<T> middle = diagonal(turned), values(turned.values().data(), turned.values().data() + turned.nnz());
  const CsrRef<T, std::int32_t> s = host_ref(turned);
  const auto w = static_cast<Real<T>>(weight);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      if (s.indices[k] == i) values[static_cast<std::size_t>(k)] /= w;
    }
  }
  for (T& d : middle) d *= (2 - w) / w;
  const CsrRef<T, std::int32_t> scaled{{s.rows, s.columns, s.offsets, s.indices}, values.data()};
  data_ = std::make_shared<const Data>(
      Data{s.rows, c.colours, std::move(order), std::move(middle), host::Triangle<T>(scaled, true, false),
           host::Triangle<T>(scaled, false, false), host_array<T>(s.rows), host_array<T>(s.rows)});
}
template <Scalar T> std::int64_t Ssor<T>::rows() const { return data_->n; }
template <Scalar T> const Executor& Ssor<T>::executor() const { return data_->work.executor(); }
template <Scalar T> const Outcome& Ssor<T>::outcome() const { return data_->lower.outcome; }
template <Scalar T> std::int32_t Ssor<T>::colours() const { return data_->colours; }

template <Scalar T>
void Ssor<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  const Data& d = *data_;
  apply_in_place("sparse.ssor.apply", executor(), d.n, d.work, alpha, x, beta, y, [&](const host::Columns<T>& c) {
    if (!outcome().ok()) return fill_columns(d.n, c, not_a_number<T>());
    T* t = d.turned.data();
    for (std::int64_t column = 0; column < c.count; ++column) {
      T* data = c.data + column * c.cs;
      const host::Columns<T> one{t, 1, 1, 1};
      for (std::int64_t k = 0; k < d.n; ++k) t[k] = data[d.order[static_cast<std::size_t>(k)] * c.rs];
      (op == Op::N ? d.lower : d.upper).solve(op, one);
      for (std::int64_t k = 0; k < d.n; ++k) {
        const T m = d.middle[static_cast<std::size_t>(k)];
        t[k] = host::times(op == Op::C ? conjugate_of(m) : m, t[k]);
      }
      (op == Op::N ? d.upper : d.lower).solve(op, one);
      for (std::int64_t k = 0; k < d.n; ++k) data[d.order[static_cast<std::size_t>(k)] * c.rs] = t[k];
    }
  });
}

template <Scalar T> Chebyshev<T>::Chebyshev(const Csr<T>& a, const ChebyshevOptions& o)
    : plan_(a.executor(), a), options_(o), inverse_diagonal_(diagonal(a)), work_(host_array<T>(4 * a.rows())) {
  constexpr const char* operation = "sparse.chebyshev";
  check_square(operation, a.extents());
  require(o.degree >= 1 && o.degree <= 1000, "{}: degree {}; from 1 to 1000", operation, o.degree);
  require(o.ratio > 1 && o.largest >= 0 && o.estimate_steps >= 1,
          "{}: ratio {} (> 1), largest {} (>= 0), {} steps (>= 1)", operation, o.ratio, o.largest, o.estimate_steps);
  outcome_ = diagonal_outcome(inverse_diagonal_);
  if (!outcome_.ok()) return;
  for (T& d : inverse_diagonal_) d = T(1) / d;
  largest_ = o.largest;
  if (largest_ > 0 || a.rows() == 0) return;
  const std::int64_t n = a.rows();
  T *x = work_.data(), *y = x + n;
  start_vector(n, x);
  for (int step = 0; step < o.estimate_steps; ++step) {
    double before = 0, after = 0;
    plan_.execute(T(1), MatrixView<const T>(executor(), x, n, 1, 1, 1), T(0), MatrixView<T>(executor(), y, n, 1, 1, 1));
    for (std::int64_t i = 0; i < n; ++i) {
      before += static_cast<double>(std::norm(x[i]));
      y[i] = host::times(y[i], inverse_diagonal_[static_cast<std::size_t>(i)]);
      after += static_cast<double>(std::norm(y[i]));
    }
    largest_ = std::sqrt(after / before);
    if (!(largest_ > 0) || !std::isfinite(largest_)) {
      outcome_ = {Status::ZeroPivot, 0};
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) x[i] = y[i] * static_cast<Real<T>>(1 / std::sqrt(after));
  }
  largest_ *= 1.1;
}

template <Scalar T> void Chebyshev<T>::smooth(const T* b, T* x, bool zero) const {
  const std::int64_t n = rows();
  T *r = work_.data(), *d = r + n;
  const double high = largest_, low = largest_ / options_.ratio, centre = (high + low) / 2, half = (high - low) / 2;
  const auto column = [&](T* p) { return MatrixView<T>(executor(), p, n, 1, 1, 1); };
  std::copy_n(b, n, r);
  if (zero)
    std::fill_n(x, n, T(0));
  else
    plan_.execute(T(-1), column(x), T(1), column(r));
  double rho = half / centre;
  for (std::int64_t i = 0; i < n; ++i)
    d[i] = host::times(inverse_diagonal_[static_cast<std::size_t>(i)], r[i]) * static_cast<Real<T>>(1 / centre);
  for (int step = 0;; ++step) {
    for (std::int64_t i = 0; i < n; ++i) x[i] += d[i];
    if (step + 1 == options_.degree) return;
    plan_.execute(T(-1), column(d), T(1), column(r));
    const double next = 1 / (2 * centre / half - rho);
    const auto keep = static_cast<Real<T>>(next * rho), fresh = static_cast<Real<T>>(2 * next / half);
    for (std::int64_t i = 0; i < n; ++i)
      d[i] = keep * d[i] + fresh * host::times(inverse_diagonal_[static_cast<std::size_t>(i)], r[i]);
    rho = next;
  }
}

template <Scalar T>
void Chebyshev<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  constexpr const char* operation = "sparse.chebyshev.apply";
  if (op != Op::N) fail<NotImplemented>("{}: only op N; for Hermitian matrices op C is the same", operation);
  const std::int64_t n = rows();
  checks::input(operation, "x", executor(), x);
  checks::output(operation, "y", executor(), y);
  checks::shape(operation, "x", x, n, y.columns());
  checks::shape(operation, "y", y, n, x.columns());
  checks::apart(operation, "x", x, "y", y);
  T *in = work_.data() + 2 * n, *out = in + n;
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      in[i] = host::times(alpha, x.data()[i * x.row_stride() + j * x.column_stride()]);
    if (outcome_.ok())
      smooth(in, out, true);
    else
      std::fill_n(out, n, not_a_number<T>());
    for (std::int64_t i = 0; i < n; ++i) {
      T& to = y.data()[i * y.row_stride() + j * y.column_stride()];
      to = beta == T(0) ? out[i] : out[i] + host::times(beta, to);
    }
  }
}

template <Scalar T> Csr<T> approximate_inverse(const Csr<T>& a) {
  constexpr const char* operation = "sparse.approximate_inverse";
  host_only(operation, a.executor());
  check_square(operation, a.extents());
  const Csr<T> by_column = transpose(a);
  const CsrRef<T, std::int32_t> s = host_ref(by_column);  // row j of it is column j of A
  Array<T> values = host_array<T>(s.nnz());
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> place(static_cast<std::size_t>(s.rows), -1);
  std::vector<T> m, right;
  for (std::int64_t j = 0; j < s.rows; ++j) {
    const std::int64_t begin = s.offsets[j], count = s.offsets[j + 1] - begin;
    rows.clear();
    const auto add = [&](std::int32_t i) {
      if (place[static_cast<std::size_t>(i)] >= 0) return;
      place[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(rows.size());
      rows.push_back(i);
    };
    add(static_cast<std::int32_t>(j));
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t column = s.indices[begin + k];
      for (std::int64_t l = s.offsets[column]; l < s.offsets[column + 1]; ++l) add(s.indices[l]);
    }
    const auto height = static_cast<std::int64_t>(rows.size());
    m.assign(static_cast<std::size_t>(height * count), T(0));  // column-major
    right.assign(static_cast<std::size_t>(height), T(0));
    right[0] = T(1);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t column = s.indices[begin + k];
      for (std::int64_t l = s.offsets[column]; l < s.offsets[column + 1]; ++l)
        m[static_cast<std::size_t>(k * height + place[static_cast<std::size_t>(s.indices[l])])] = s.values[l];
    }
    for (const std::int32_t i : rows) place[static_cast<std::size_t>(i)] = -1;
    // Modified Gram-Schmidt with the right-hand side as a last column; dependent columns get 0.
    std::vector<T> r(static_cast<std::size_t>(count * count)), q(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
      T* own = m.data() + k * height;
      double norm = 0;
      for (std::int64_t i = 0; i < height; ++i) norm += static_cast<double>(std::norm(own[i]));
      norm = std::sqrt(norm);
      r[static_cast<std::size_t>(k * count + k)] = T(static_cast<Real<T>>(norm));
      if (norm > 0) {
        for (std::int64_t i = 0; i < height; ++i) own[i] *= static_cast<Real<T>>(1 / norm);
      }
      const auto remove = [&](T* other) {
        T dot(0);
        for (std::int64_t i = 0; i < height; ++i) dot += host::times(conjugate_of(own[i]), other[i]);
        for (std::int64_t i = 0; i < height; ++i) other[i] -= host::times(dot, own[i]);
        return dot;
      };
      for (std::int64_t l = k + 1; l < count; ++l)
        r[static_cast<std::size_t>(k * count + l)] = remove(m.data() + l * height);
      q[static_cast<std::size_t>(k)] = remove(right.data());
    }
    for (std::int64_t k = count - 1; k >= 0; --k) {
      T sum = q[static_cast<std::size_t>(k)];
      for (std::int64_t l = k + 1; l < count; ++l)
        sum -= host::times(r[static_cast<std::size_t>(k * count + l)], values.data()[begin + l]);
      const T pivot = r[static_cast<std::size_t>(k * count + k)];
      values.data()[begin + k] = pivot == T(0) ? T(0) : sum / pivot;
    }
  }
  return transpose(Csr<T>(detail::Trusted{}, by_column.pattern(), std::move(values)));
}

#define TRN_PRECONDITIONERS(T)                        \
  template class BlockJacobi<T>;                      \
  template class Ssor<T>;                             \
  template class Chebyshev<T>;                        \
  template Csr<T> approximate_inverse(const Csr<T>&); \
  static_assert(LinearOperator<BlockJacobi<T>, T> && LinearOperator<Ssor<T>, T> && LinearOperator<Chebyshev<T>, T>);
TRN_SPARSE_SCALARS(TRN_PRECONDITIONERS)
#undef TRN_PRECONDITIONERS

}  // namespace trn::sparse
