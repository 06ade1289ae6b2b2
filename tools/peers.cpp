// The peers of peers.hpp.
#include "peers.hpp"

#include <memory>
#include <random>
#include <vector>

#ifdef TRN_HAVE_EIGEN
#define EIGEN_MPL2_ONLY
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <unsupported/Eigen/FFT>
#endif

namespace trn::tools {

#ifdef TRN_HAVE_EIGEN

namespace {

constexpr const char* kEigen = "Eigen";

template <class T> using Compressed = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;
template <class T> using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T> std::shared_ptr<const Compressed<T>> compressed(const sparse::Csr<T>& a) {
  const auto offsets = a.pattern().offsets();
  const std::vector<std::int32_t> rows(offsets.data(), offsets.data() + offsets.size());
  return std::make_shared<const Compressed<T>>(Eigen::Map<const Compressed<T>>(
      a.rows(), a.columns(), a.nnz(), rows.data(), a.pattern().indices().data(), a.values().data()));
}

// Lines of n points, one after the other.
template <class T> std::shared_ptr<Eigen::FFT<T>> transforms() {
  using Transform = Eigen::FFT<T>;
  return std::make_shared<Transform>(typename Transform::impl_type(),
                                     typename Transform::Flag(Transform::Unscaled | Transform::HalfSpectrum));
}
constexpr const char* kKiss = "kissfft";
// kissfft has butterflies for small primes; others cost their square.
bool has_small_factors(std::int64_t n) {
  for (std::int64_t p = 2; p <= 31; ++p)
    while (n % p == 0) n /= p;
  return n == 1;
}

}  // namespace

template <Scalar T> Peer spmm_peer(const sparse::Csr<T>& a, const T* x, T* y, std::int64_t columns) {
  return {kEigen, [m = compressed(a), x, y, columns] {
            const Eigen::Map<const Dense<T>> in(x, m->cols(), columns);
            Eigen::Map<Dense<T>> out(y, m->rows(), columns);
            out.noalias() = *m * in;
          }};
}
template <Scalar T> Peer spgemm_peer(const sparse::Csr<T>& a) {
  return {kEigen, [m = compressed(a)] { const Compressed<T> product = *m * *m; }};
}
template <Scalar T> Peer spsv_peer(const sparse::Csr<T>& a, const T* b, T* x, std::int64_t columns) {
  return {kEigen, [m = compressed(a), b, x, columns] {
            Eigen::Map<Dense<T>> out(x, m->rows(), columns);
            out = Eigen::Map<const Dense<T>>(b, m->rows(), columns);
            m->template triangularView<Eigen::Lower>().solveInPlace(out);
          }};
}
template <Scalar T> Peer transpose_peer(const sparse::Csr<T>& a) {
  return {kEigen, [m = compressed(a)] { const Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t> other = *m; }};
}
template <RealScalar T> Peer cholesky_peer(const sparse::Csr<T>& a) {
  using Matrix = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>;
  const auto m = std::make_shared<const Matrix>(*compressed(a));
  const auto solver = std::make_shared<Eigen::SimplicialLLT<Matrix>>();
  solver->analyzePattern(*m);
  return {kEigen, [m, solver] { solver->factorize(*m); }};
}

template <RealScalar T>
Peer c2c_peer(std::int64_t n, std::int64_t batch, bool forward, const std::complex<T>* x, std::complex<T>* y) {
  if (!has_small_factors(n)) return {};
  return {kKiss, [f = transforms<T>(), n, batch, forward, x, y] {
            for (std::int64_t b = 0; b < batch; ++b) {
              if (forward) {
                f->fwd(y + b * n, x + b * n, n);
              } else {
                f->inv(y + b * n, x + b * n, n);
              }
            }
          }};
}
template <RealScalar T> Peer r2c_peer(std::int64_t n, std::int64_t batch, const T* x, std::complex<T>* y) {
  if (!has_small_factors(n)) return {};
  return {kKiss, [f = transforms<T>(), n, batch, x, y] {
            for (std::int64_t b = 0; b < batch; ++b) f->fwd(y + b * (n / 2 + 1), x + b * n, n);
          }};
}
template <RealScalar T> Peer c2r_peer(std::int64_t n, std::int64_t batch, const std::complex<T>* x, T* y) {
  if (!has_small_factors(n) || n % 2 != 0) return {};
  return {kKiss, [f = transforms<T>(), n, batch, x, y] {
            for (std::int64_t b = 0; b < batch; ++b) f->inv(y + b * n, x + b * (n / 2 + 1), n);
          }};
}

#else

template <Scalar T> Peer spmm_peer(const sparse::Csr<T>&, const T*, T*, std::int64_t) { return {}; }
template <Scalar T> Peer spgemm_peer(const sparse::Csr<T>&) { return {}; }
template <Scalar T> Peer spsv_peer(const sparse::Csr<T>&, const T*, T*, std::int64_t) { return {}; }
template <Scalar T> Peer transpose_peer(const sparse::Csr<T>&) { return {}; }
template <RealScalar T> Peer cholesky_peer(const sparse::Csr<T>&) { return {}; }
template <RealScalar T> Peer c2c_peer(std::int64_t, std::int64_t, bool, const std::complex<T>*, std::complex<T>*) {
  return {};
}
template <RealScalar T> Peer r2c_peer(std::int64_t, std::int64_t, const T*, std::complex<T>*) { return {}; }
template <RealScalar T> Peer c2r_peer(std::int64_t, std::int64_t, const std::complex<T>*, T*) { return {}; }

#endif

#define TRN_PEERS(T)                                                          \
  template Peer spmm_peer(const sparse::Csr<T>&, const T*, T*, std::int64_t); \
  template Peer spgemm_peer(const sparse::Csr<T>&);                           \
  template Peer spsv_peer(const sparse::Csr<T>&, const T*, T*, std::int64_t); \
  template Peer transpose_peer(const sparse::Csr<T>&);
TRN_PEERS(float)
TRN_PEERS(double)
TRN_PEERS(std::complex<float>)
TRN_PEERS(std::complex<double>)
#undef TRN_PEERS
#define TRN_REAL_PEERS(T)                                                                             \
  template Peer cholesky_peer(const sparse::Csr<T>&);                                                 \
  template Peer c2c_peer(std::int64_t, std::int64_t, bool, const std::complex<T>*, std::complex<T>*); \
  template Peer r2c_peer(std::int64_t, std::int64_t, const T*, std::complex<T>*);                     \
  template Peer c2r_peer(std::int64_t, std::int64_t, const std::complex<T>*, T*);
TRN_REAL_PEERS(float)
TRN_REAL_PEERS(double)
#undef TRN_REAL_PEERS

namespace {

template <class T, class Law> Peer drawn(Law law, std::int64_t count, T* out) {
  return {"mt19937_64", [law, count, out]() mutable {
            std::mt19937_64 engine(1);
            for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(law(engine));
          }};
}

}  // namespace

Peer draw_peer(const std::string& name, std::int64_t count, float* out) {
  if (name == "rand.uniform") return drawn(std::uniform_real_distribution<float>(), count, out);
  if (name == "rand.normal") return drawn(std::normal_distribution<float>(), count, out);
  if (name == "rand.log_normal") return drawn(std::lognormal_distribution<float>(), count, out);
  if (name == "rand.exponential") return drawn(std::exponential_distribution<float>(), count, out);
  if (name == "rand.weibull") return drawn(std::weibull_distribution<float>(), count, out);
  if (name == "rand.cauchy") return drawn(std::cauchy_distribution<float>(), count, out);
  if (name == "rand.bernoulli") return drawn(std::bernoulli_distribution(0.5), count, out);
  return {};
}
Peer draw_peer(const std::string&, std::int64_t count, std::uint32_t* out) {
  return drawn([](std::mt19937_64& engine) { return engine(); }, count, out);
}

}  // namespace trn::tools
