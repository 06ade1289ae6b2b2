// Quarter transformations as products of matrices, in blocks of the first orbital.
#include <trn/tensor/chemistry.hpp>

#include <algorithm>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/core/error.hpp>

namespace trn::tensor {

namespace {

template <RealScalar T> using In = MatrixView<const T>;

template <RealScalar T> void product(Op op_a, const In<T>& a, Op op_b, const In<T>& b, const MatrixView<T>& c) {
  (void)blas::gemm(Executor::host(), op_a, op_b, T(1), a, b, T(0), c);
}

void require_host(const char* operation, const Executor& executor) {
  if (executor.family() != Family::Host) {
    fail<NotImplemented>("{}: no kernels for {}; the transformations run on the host", operation, executor.name());
  }
}

template <class V> void require_here(const char* operation, const Executor& executor, const V& operand) {
  require(operand.executor() == executor, "{}: an operand lies on {}, the call is for {}; copy it with to()", operation,
          operand.executor().name(), executor.name());
}

template <class T> bool same_view(const In<T>& a, const In<T>& b) {
  return a.data() == b.data() && a.rows() == b.rows() && a.columns() == b.columns() &&
         a.row_stride() == b.row_stride() && a.column_stride() == b.column_stride();
}

// One call of ao_to_mo.
template <RealScalar T> class FourIndex {
 public:
  FourIndex(const View<const T>& ao, const std::array<In<T>, 4>& c, const TransformOptions& options,
            const Array<T>& out)
      : ao_(ao),
        c_(c),
        symmetric_(options.symmetric),
        mirrored_(options.symmetric && same_view(c[0], c[1])),
        n_(ao.shape()[0]),
        pairs_(symmetric_ ? n_ * (n_ + 1) / 2 : n_ * n_),
        out_(out) {
    const std::int64_t p = c[0].columns(), q = c[1].columns(), s = c[3].columns();
    const std::int64_t fixed = n_ * pairs_ + q * pairs_ + q * n_ * n_ + q * n_ * s, each = n_ * pairs_;
    block_ =
        options.live_elements == 0 ? p : std::min(p, (options.live_elements - fixed) / std::max<std::int64_t>(each, 1));
    require(block_ >= 1 || p == 0,
            "tensor.ao_to_mo: the intermediates of one orbital take {} elements; the limit is {}", fixed + each,
            options.live_elements);
  }

  void run() {
    const std::int64_t p = c_[0].columns();
    for (std::int64_t begin = 0; begin < p; begin += block_) {
      const std::int64_t count = std::min(block_, p - begin);
      first_quarter(begin, count);
      for (std::int64_t i = 0; i < count; ++i) rest(begin + i, quarter_.data() + i * n_ * pairs_);
    }
    if (mirrored_) mirror();
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static MatrixView<T> matrix(T* data, std::int64_t rows, std::int64_t columns, std::int64_t ld = 0) {
    return MatrixView<T>::row_major(Executor::host(), data, rows, columns, ld);
  }

  // quarter(p, nu, lambda sigma) for a block of p: nu by nu, the integrals gathered as n x pairs.
  void first_quarter(std::int64_t begin, std::int64_t count) {
    quarter_.resize(at(count * n_ * pairs_)), slab_.resize(at(n_ * pairs_));
    const Strides& s = ao_.strides();
    for (std::int64_t nu = 0; nu < n_; ++nu) {
      T* to = slab_.data();
      for (std::int64_t mu = 0; mu < n_; ++mu) {
        const T* const from = ao_.data() + mu * s[0] + nu * s[1];
        for (std::int64_t lambda = 0; lambda < n_; ++lambda) {
          const std::int64_t end = symmetric_ ? lambda + 1 : n_;
          for (std::int64_t sigma = 0; sigma < end; ++sigma) *to++ = from[lambda * s[2] + sigma * s[3]];
        }
      }
      product<T>(Op::T, c_[0].block(0, begin, n_, count), Op::N, matrix(slab_.data(), n_, pairs_),
                 matrix(quarter_.data() + nu * pairs_, count, pairs_, n_ * pairs_));
    }
  }

  // The other three quarters of one p.
  void rest(std::int64_t p, T* quarter) {
    const std::int64_t q = mirrored_ ? p + 1 : c_[1].columns(), r = c_[2].columns(), s = c_[3].columns();
    if (q == 0 || r == 0 || s == 0) return;
    half_.resize(at(q * pairs_)), square_.resize(at(q * n_ * n_)), three_.resize(at(q * n_ * s));
    product<T>(Op::T, c_[1].block(0, 0, n_, q), Op::N, matrix(quarter, n_, pairs_), matrix(half_.data(), q, pairs_));
    const T* from = half_.data();
    for (std::int64_t i = 0; i < q; ++i) {
      T* const to = square_.data() + i * n_ * n_;
      for (std::int64_t lambda = 0; lambda < n_; ++lambda) {
        const std::int64_t end = symmetric_ ? lambda + 1 : n_;
        for (std::int64_t sigma = 0; sigma < end; ++sigma) {
          if (symmetric_) to[sigma * n_ + lambda] = *from;
          to[lambda * n_ + sigma] = *from++;
        }
      }
    }
    product<T>(Op::N, matrix(square_.data(), q * n_, n_), Op::N, c_[3], matrix(three_.data(), q * n_, s));
    for (std::int64_t i = 0; i < q; ++i) {
      product<T>(Op::T, c_[2], Op::N, matrix(three_.data() + i * n_ * s, n_, s),
                 matrix(out_.data() + (p * c_[1].columns() + i) * r * s, r, s));
    }
  }

  void mirror() {
    const std::int64_t p = c_[0].columns(), size = c_[2].columns() * c_[3].columns();
    for (std::int64_t i = 0; i < p; ++i) {
      for (std::int64_t j = 0; j < i; ++j)
        std::copy_n(out_.data() + (i * p + j) * size, size, out_.data() + (j * p + i) * size);
    }
  }

  const View<const T>& ao_;
  const std::array<In<T>, 4>& c_;
  bool symmetric_, mirrored_;
  std::int64_t n_, pairs_, block_ = 0;
  const Array<T>& out_;
  std::vector<T> slab_, quarter_, half_, square_, three_;
};

template <RealScalar T> void check_fitted(const char* operation, const Executor& executor, const View<const T>& b) {
  require_host(operation, executor);
  require_here(operation, executor, b);
  require(b.rank() == 3 && b.shape()[1] == b.shape()[2], "{}: the integrals have shape {}; it must be naux x n x n",
          operation, trn::to_string(b.shape()));
}

template <RealScalar T>
void check_orbitals(const char* operation, const Executor& executor, const In<T>& c, std::int64_t n) {
  require_here(operation, executor, c);
  require(c.rows() == n, "{}: orbitals are {} x {}; they must have {} rows", operation, c.rows(), c.columns(), n);
}

template <RealScalar T> In<T> auxiliary(const View<const T>& b, std::int64_t p) {
  const Strides& s = b.strides();
  return {b.executor(), b.data() + p * s[0], b.shape()[1], b.shape()[2], s[1], s[2]};
}

}  // namespace

template <RealScalar T> Array<T> ao_to_mo(const Executor& executor, const std::type_identity_t<View<const T>>& ao,
                                          const std::array<std::type_identity_t<MatrixView<const T>>, 4>& orbitals,
                                          const TransformOptions& options) {
  constexpr const char* operation = "tensor.ao_to_mo";
  require_host(operation, executor);
  require_here(operation, executor, ao);
  require(ao.rank() == 4 && ao.shape() == Shape(4, ao.shape()[0]),
          "{}: the integrals have shape {}; it must be n x n x n x n", operation, trn::to_string(ao.shape()));
  require(options.live_elements >= 0, "{}: live_elements is {}; it must be >= 0", operation, options.live_elements);
  Shape shape;
  for (const In<T>& c : orbitals) {
    check_orbitals<T>(operation, executor, c, ao.shape()[0]);
    shape.push_back(c.columns());
  }
  Array<T> out(executor, shape);
  std::fill_n(out.data(), out.size(), T(0));  // what empty sums leave
  if (ao.size() > 0 && out.size() > 0) FourIndex<T>(ao, orbitals, options, out).run();
  return out;
}

template <RealScalar T> Array<T> df_half(const Executor& executor, const std::type_identity_t<View<const T>>& integrals,
                                         const std::type_identity_t<MatrixView<const T>>& c1) {
  constexpr const char* operation = "tensor.df_half";
  check_fitted<T>(operation, executor, integrals);
  const std::int64_t n = integrals.shape()[1], i = c1.columns();
  check_orbitals<T>(operation, executor, c1, n);
  Array<T> out(executor, {integrals.shape()[0], i, n});
  for (std::int64_t p = 0; p < integrals.shape()[0]; ++p) {
    product<T>(Op::T, c1, Op::N, auxiliary<T>(integrals, p),
               MatrixView<T>::row_major(executor, out.data() + p * i * n, i, n));
  }
  return out;
}

template <RealScalar T> Array<T> df_to_mo(const Executor& executor,
                                          const std::type_identity_t<View<const T>>& integrals,
                                          const std::type_identity_t<MatrixView<const T>>& c1,
                                          const std::type_identity_t<MatrixView<const T>>& c2) {
  constexpr const char* operation = "tensor.df_to_mo";
  check_fitted<T>(operation, executor, integrals);
  const std::int64_t n = integrals.shape()[1], i = c1.columns(), a = c2.columns();
  check_orbitals<T>(operation, executor, c1, n);
  check_orbitals<T>(operation, executor, c2, n);
  Array<T> out(executor, {integrals.shape()[0], i, a});
  const bool first = i <= a;  // the smaller set of orbitals first
  Matrix<T> half(executor, first ? i : n, first ? n : a);
  for (std::int64_t p = 0; p < integrals.shape()[0]; ++p) {
    const auto to = MatrixView<T>::row_major(executor, out.data() + p * i * a, i, a);
    if (first) {
      product<T>(Op::T, c1, Op::N, auxiliary<T>(integrals, p), half.view());
      product<T>(Op::N, half.view(), Op::N, c2, to);
    } else {
      product<T>(Op::N, auxiliary<T>(integrals, p), Op::N, c2, half.view());
      product<T>(Op::T, c1, Op::N, half.view(), to);
    }
  }
  return out;
}

#define TRN_INSTANTIATE(T)                                                                                        \
  template Array<T> ao_to_mo<T>(const Executor&, const View<const T>&, const std::array<MatrixView<const T>, 4>&, \
                                const TransformOptions&);                                                         \
  template Array<T> df_half<T>(const Executor&, const View<const T>&, const MatrixView<const T>&);                \
  template Array<T> df_to_mo<T>(const Executor&, const View<const T>&, const MatrixView<const T>&,                \
                                const MatrixView<const T>&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::tensor
