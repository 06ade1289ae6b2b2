// Compression of a block by a random sketch, with the error measured, and products of compressed blocks.
#include "rank/low_rank.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "direct/dense.hpp"
#include "host_data.hpp"
#include "scalars.hpp"

extern "C" {
#define TRN_GESVD_REAL(p, T)                                                                                           \
  void p##gesvd_(const char&, const char&, const int&, const int&, T*, const int&, T*, T*, const int&, T*, const int&, \
                 T*, const int&, int&, std::size_t, std::size_t);
#define TRN_GESVD_COMPLEX(p, T)                                                                                        \
  void p##gesvd_(const char&, const char&, const int&, const int&, T*, const int&, T::value_type*, T*, const int&, T*, \
                 const int&, T*, const int&, T::value_type*, int&, std::size_t, std::size_t);
TRN_GESVD_REAL(s, float)
TRN_GESVD_REAL(d, double)
TRN_GESVD_COMPLEX(c, std::complex<float>)
TRN_GESVD_COMPLEX(z, std::complex<double>)
#undef TRN_GESVD_REAL
#undef TRN_GESVD_COMPLEX
}

namespace trn::sparse::rank {

namespace {

using direct::Dense;
template <Scalar T> constexpr CBLAS_TRANSPOSE kAdjoint = ComplexScalar<T> ? CblasConjTrans : CblasTrans;
int narrow(std::int64_t x) { return static_cast<int>(x); }
template <Scalar T> std::vector<T> zeros(std::int64_t count) { return std::vector<T>(static_cast<std::size_t>(count)); }

// The columns of y (m x l, l <= m) become an orthonormal basis of a space that holds theirs. False: LAPACK failed.
template <Scalar T> bool orthogonalise(std::int64_t m, std::int64_t l, std::vector<T>& y) {
  std::vector<T> tau = zeros<T>(l), work = zeros<T>(64 * m);
  int info = 0;
  const int size = narrow(64 * m);
  Dense<T>::geqrf(narrow(m), narrow(l), y.data(), narrow(m), tau.data(), work.data(), size, info);
  if (info != 0) return false;
  std::vector<T> q = zeros<T>(m * l);
  for (std::int64_t i = 0; i < l; ++i) q[static_cast<std::size_t>(i * m + i)] = T(1);
  Dense<T>::unmqr('L', 'N', narrow(m), narrow(l), narrow(l), y.data(), narrow(m), tau.data(), q.data(), narrow(m),
                  work.data(), size, info, 1, 1);
  y = std::move(q);
  return info == 0;
}

// b (l x n, l <= n) = w diag(s) vt; b is lost.
template <Scalar T> bool singular_values(std::int64_t l, std::int64_t n, std::vector<T>& b, std::vector<T>& w,
                                         std::vector<Real<T>>& s, std::vector<T>& vt) {
  w = zeros<T>(l * l), vt = zeros<T>(l * n);
  s.resize(static_cast<std::size_t>(l));
  const int size = narrow(std::max<std::int64_t>(64 * (l + n), 8 * l));
  std::vector<T> work = zeros<T>(size);
  int info = 0;
  const auto run = [&](auto gesvd) {
    if constexpr (ComplexScalar<T>) {
      std::vector<Real<T>> more(static_cast<std::size_t>(5 * l));
      gesvd('S', 'S', narrow(l), narrow(n), b.data(), narrow(l), s.data(), w.data(), narrow(l), vt.data(), narrow(l),
            work.data(), size, more.data(), info, 1, 1);
    } else {
      gesvd('S', 'S', narrow(l), narrow(n), b.data(), narrow(l), s.data(), w.data(), narrow(l), vt.data(), narrow(l),
            work.data(), size, info, 1, 1);
    }
  };
  if constexpr (std::same_as<T, float>) run(sgesvd_);
  if constexpr (std::same_as<T, double>) run(dgesvd_);
  if constexpr (std::same_as<T, std::complex<float>>) run(cgesvd_);
  if constexpr (std::same_as<T, std::complex<double>>) run(zgesvd_);
  return info == 0;
}

// Q from l columns of a times random signs; then the singular values of Q^H a, cut so that the error keeps the limit.
// False: it does not.
template <Scalar T>
bool sketched(std::int64_t l, const std::vector<T>& a, double limit, std::mt19937_64& random, Block<T>& block) {
  const std::int64_t m = block.rows, n = block.columns;
  std::vector<T> signs = zeros<T>(n * l), q = zeros<T>(m * l), b = zeros<T>(l * n);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < signs.size(); ++i, bits >>= 1) {
    if (i % 64 == 0) bits = random();
    signs[i] = T(static_cast<Real<T>>((bits & 1) != 0 ? 1 : -1));
  }
  Dense<T>::gemm(CblasNoTrans, CblasNoTrans, narrow(m), narrow(l), narrow(n), T(1), a.data(), narrow(m), signs.data(),
                 narrow(n), T(0), q.data(), narrow(m));
  if (!orthogonalise(m, l, q)) return false;
  Dense<T>::gemm(kAdjoint<T>, CblasNoTrans, narrow(l), narrow(n), narrow(m), T(1), q.data(), narrow(m), a.data(),
                 narrow(m), T(0), b.data(), narrow(l));
  std::vector<T> rest = a;
  const auto missing = [&](std::int64_t r, const T* left, CBLAS_TRANSPOSE op, const T* right, std::int64_t ld) {
    std::copy(a.begin(), a.end(), rest.begin());
    Dense<T>::gemm(CblasNoTrans, op, narrow(m), narrow(n), narrow(r), T(-1), left, narrow(m), right, narrow(ld), T(1),
                   rest.data(), narrow(m));
    return frobenius(m * n, rest.data());
  };
  const double outside = missing(l, q.data(), CblasNoTrans, b.data(), l);
  if (!(outside <= limit / 2)) return false;
  std::vector<T> w, vt;
  std::vector<Real<T>> s;
  if (!singular_values(l, n, b, w, s, vt)) return false;
  // In units of the limit, whose square may leave the range of double.
  const double share = limit > 0 ? outside / limit : 0, room = limit > 0 ? 0.81 - share * share : 0;
  std::int64_t r = l;
  for (double tail = 0; r > 0; --r) {
    const auto next = static_cast<double>(s[static_cast<std::size_t>(r - 1)]) / (limit > 0 ? limit : 1);
    tail += next * next;
    if (!(tail <= room)) break;
  }
  for (std::int64_t c = 0; c < r; ++c) {
    for (std::int64_t i = 0; i < l; ++i) w[static_cast<std::size_t>(c * l + i)] *= s[static_cast<std::size_t>(c)];
  }
  block.rank = r;
  block.u = zeros<T>(m * r), block.v = zeros<T>(n * r);
  if (r > 0)
    Dense<T>::gemm(CblasNoTrans, CblasNoTrans, narrow(m), narrow(r), narrow(l), T(1), q.data(), narrow(m), w.data(),
                   narrow(l), T(0), block.u.data(), narrow(m));
  for (std::int64_t c = 0; c < r; ++c) {
    for (std::int64_t j = 0; j < n; ++j)
      block.v[static_cast<std::size_t>(c * n + j)] = conjugate_of(vt[static_cast<std::size_t>(j * l + c)]);
  }
  const double unit = static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;
  const double left_out =
      r > 0 ? missing(r, block.u.data(), kAdjoint<T>, block.v.data(), n) : frobenius(m * n, a.data());
  block.error = left_out +
                static_cast<double>(r + 2) * unit * frobenius(m * r, block.u.data()) * frobenius(n * r, block.v.data());
  return block.error <= limit;
}

}  // namespace

template <Scalar T> double frobenius(std::int64_t count, const T* a) {
  double sum = 0, largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<double>(std::abs(a[i])));
  if (!(largest > 0)) return 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(std::abs(a[i])) / largest;
    sum += x * x;
  }
  return largest * std::sqrt(sum);
}

template <Scalar T> Block<T> dense_block(std::int64_t rows, std::int64_t columns, std::vector<T>&& a) {
  return {rows, columns, true, 0, std::move(a), {}, 0};
}

template <Scalar T>
Block<T> compress(std::int64_t rows, std::int64_t columns, std::vector<T>&& a, double limit, std::uint64_t seed) {
  Block<T> block{rows, columns, false, 0, {}, {}, frobenius(rows * columns, a.data())};
  if (block.error <= limit) return block;  // rank 0
  const std::int64_t shorter = std::min(rows, columns);
  const std::int64_t most = (rows * columns - 1) / (rows + columns);  // of a rank that saves numbers
  const std::int64_t widest = std::min(shorter, most + 8);
  std::mt19937_64 random(seed);
  for (std::int64_t l = std::min<std::int64_t>(16, widest); most > 0; l = std::min(2 * l, widest)) {
    if (sketched(l, a, limit, random, block) && block.rank <= most) return block;
    if (l == widest) break;
  }
  return dense_block(rows, columns, std::move(a));
}

template <Scalar T> double truncate(Block<T>& block, double limit, double before) {
  const std::int64_t m = block.rows, n = block.columns, k = block.rank;
  const double unit = static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;
  const auto roundings = [&](const Block<T>& b) {
    return static_cast<double>(b.rank + 2) * unit * frobenius(m * b.rank, b.u.data()) *
           frobenius(n * b.rank, b.v.data());
  };
  block.error = before + roundings(block);
  std::vector<T> left = block.u, right = block.v, a = zeros<T>(k * k), b = zeros<T>(k * k), core = zeros<T>(k * k);
  std::vector<T> w, vt;
  std::vector<Real<T>> s;
  if (k == 0) return 0;
  bool done = orthogonalise(m, k, left) && orthogonalise(n, k, right);
  if (done) {  // U = left a, V = right b, U V^H = left (a b^H) right^H
    Dense<T>::gemm(kAdjoint<T>, CblasNoTrans, narrow(k), narrow(k), narrow(m), T(1), left.data(), narrow(m),
                   block.u.data(), narrow(m), T(0), a.data(), narrow(k));
    Dense<T>::gemm(kAdjoint<T>, CblasNoTrans, narrow(k), narrow(k), narrow(n), T(1), right.data(), narrow(n),
                   block.v.data(), narrow(n), T(0), b.data(), narrow(k));
    Dense<T>::gemm(CblasNoTrans, kAdjoint<T>, narrow(k), narrow(k), narrow(k), T(1), a.data(), narrow(k), b.data(),
                   narrow(k), T(0), core.data(), narrow(k));
    done = singular_values(k, k, core, w, s, vt);
  }
  if (!done) return frobenius(m * k, block.u.data()) * frobenius(n * k, block.v.data());  // as it is
  double norm = 0, tail = 0;
  for (const Real<T> x : s) norm = std::hypot(norm, static_cast<double>(x));
  std::int64_t r = k;
  while (r > 0 && std::hypot(tail, static_cast<double>(s[static_cast<std::size_t>(r - 1)])) <= limit)
    tail = std::hypot(tail, static_cast<double>(s[static_cast<std::size_t>(--r)]));
  for (std::int64_t c = 0; c < r; ++c) {
    for (std::int64_t i = 0; i < k; ++i) w[static_cast<std::size_t>(c * k + i)] *= s[static_cast<std::size_t>(c)];
  }
  block.rank = r;
  block.u = zeros<T>(m * r), block.v = zeros<T>(n * r);
  if (r > 0) {
    Dense<T>::gemm(CblasNoTrans, CblasNoTrans, narrow(m), narrow(r), narrow(k), T(1), left.data(), narrow(m), w.data(),
                   narrow(k), T(0), block.u.data(), narrow(m));
    Dense<T>::gemm(CblasNoTrans, kAdjoint<T>, narrow(n), narrow(r), narrow(k), T(1), right.data(), narrow(n), vt.data(),
                   narrow(k), T(0), block.v.data(), narrow(n));
  }
  block.error = before + tail + roundings(block);
  return norm;
}

template <Scalar T> void write_as_product(Block<T>& block) {
  if (!block.dense) return;
  block.dense = false;
  block.rank = block.columns;
  block.v = zeros<T>(block.columns * block.columns);
  for (std::int64_t i = 0; i < block.columns; ++i) block.v[static_cast<std::size_t>(i * block.columns + i)] = T(1);
}

template <Scalar T> void multiply(const Block<T>& block, Op op, T alpha, std::int64_t n, const T* x, std::int64_t ldx,
                                  T* y, std::int64_t ldy, T* work) {
  const bool plain = op == Op::N;
  const std::int64_t out = plain ? block.rows : block.columns, in = plain ? block.columns : block.rows, r = block.rank;
  if (n == 0 || out == 0 || in == 0) return;
  if (block.dense) {
    Dense<T>::gemm(plain ? CblasNoTrans : kAdjoint<T>, CblasNoTrans, narrow(out), narrow(n), narrow(in), alpha,
                   block.u.data(), narrow(block.rows), x, narrow(ldx), T(1), y, narrow(ldy));
    return;
  }
  if (r == 0) return;
  const T *first = plain ? block.v.data() : block.u.data(), *second = plain ? block.u.data() : block.v.data();
  Dense<T>::gemm(kAdjoint<T>, CblasNoTrans, narrow(r), narrow(n), narrow(in), T(1), first, narrow(in), x, narrow(ldx),
                 T(0), work, narrow(r));
  Dense<T>::gemm(CblasNoTrans, CblasNoTrans, narrow(out), narrow(n), narrow(r), alpha, second, narrow(out), work,
                 narrow(r), T(1), y, narrow(ldy));
}

template <Scalar T> void subtract_product(const Block<T>& a, const Block<T>& b, Op op_b, T* c) {
  const bool plain = op_b == Op::N;
  const std::int64_t inner = a.columns, n = plain ? b.columns : b.rows;
  if (a.rows == 0 || n == 0 || inner == 0) return;
  if (b.dense) {
    const CBLAS_TRANSPOSE op = plain ? CblasNoTrans : kAdjoint<T>;
    if (a.dense) {
      Dense<T>::gemm(CblasNoTrans, op, narrow(a.rows), narrow(n), narrow(inner), T(-1), a.u.data(), narrow(a.rows),
                     b.u.data(), narrow(b.rows), T(1), c, narrow(a.rows));
    } else if (a.rank > 0) {  // U (V^H op(B))
      std::vector<T> middle = zeros<T>(a.rank * n);
      Dense<T>::gemm(kAdjoint<T>, op, narrow(a.rank), narrow(n), narrow(inner), T(1), a.v.data(), narrow(inner),
                     b.u.data(), narrow(b.rows), T(0), middle.data(), narrow(a.rank));
      Dense<T>::gemm(CblasNoTrans, CblasNoTrans, narrow(a.rows), narrow(n), narrow(a.rank), T(-1), a.u.data(),
                     narrow(a.rows), middle.data(), narrow(a.rank), T(1), c, narrow(a.rows));
    }
    return;
  }
  if (b.rank == 0) return;
  // (a X) Z^H, where op(B) = X Z^H.
  const T *x = plain ? b.u.data() : b.v.data(), *z = plain ? b.v.data() : b.u.data();
  std::vector<T> left = zeros<T>(a.rows * b.rank), work = zeros<T>(a.rank * b.rank);
  multiply(a, Op::N, T(1), b.rank, x, inner, left.data(), a.rows, work.data());
  Dense<T>::gemm(CblasNoTrans, kAdjoint<T>, narrow(a.rows), narrow(n), narrow(b.rank), T(-1), left.data(),
                 narrow(a.rows), z, narrow(n), T(1), c, narrow(a.rows));
}

#define TRN_LOW_RANK(T)                                                                                       \
  template double frobenius(std::int64_t, const T*);                                                          \
  template Block<T> dense_block(std::int64_t, std::int64_t, std::vector<T>&&);                                \
  template Block<T> compress(std::int64_t, std::int64_t, std::vector<T>&&, double, std::uint64_t);            \
  template double truncate(Block<T>&, double, double);                                                        \
  template void write_as_product(Block<T>&);                                                                  \
  template void multiply(const Block<T>&, Op, T, std::int64_t, const T*, std::int64_t, T*, std::int64_t, T*); \
  template void subtract_product(const Block<T>&, const Block<T>&, Op, T*);
TRN_SPARSE_SCALARS(TRN_LOW_RANK)
#undef TRN_LOW_RANK

}  // namespace trn::sparse::rank
