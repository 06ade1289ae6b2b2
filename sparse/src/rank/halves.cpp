// Factors of a hodlr matrix, from the leaves up. With A = [A1, U V^H; X Y^H, A2]:
//
//   A = diag(A1, A2) (I + W Z^H),  W = diag(A1^-1 U, A2^-1 X),  Z^H (x1, x2) = (V^H x2, Y^H x1),
//   A^-1 = (I - W K^-1 Z^H) diag(A1^-1, A2^-1),  K = I + Z^H W = [I, V^H A2^-1 X; Y^H A1^-1 U, I],
//
// K a small matrix, factored densely. No number is cut. Halves and K must be well conditioned: so they are where A is
// positive definite or its diagonal dominates.
#include <cmath>

#include "direct/dense.hpp"
#include "host_data.hpp"
#include "rank/pieces.hpp"
#include "scalars.hpp"

namespace trn::sparse::rank {

namespace {

using direct::Dense;
template <Scalar T> constexpr CBLAS_TRANSPOSE kHermitian = ComplexScalar<T> ? CblasConjTrans : CblasTrans;
int to_int(std::int64_t x) { return static_cast<int>(x); }

// A dense matrix and its LU factors in one place.
template <Scalar T> struct SmallLu {
  std::int64_t n = 0;
  std::vector<T> a;
  std::vector<int> pivots;
  // -1 when done, else the column of a pivot that is zero or of a factor that is not finite.
  std::int64_t factor() {
    pivots.resize(static_cast<std::size_t>(n));
    int info = 0;
    if (n > 0) Dense<T>::getrf(to_int(n), to_int(n), a.data(), to_int(n), pivots.data(), info);
    if (info > 0) return info - 1;
    for (const T& x : a) {
      if (!std::isfinite(std::abs(x))) return 0;
    }
    return -1;
  }
  void solve(std::int64_t columns, T* x, std::int64_t ld) const {
    if (n == 0 || columns == 0) return;
    Dense<T>::laswp(to_int(columns), x, to_int(ld), 1, to_int(n), pivots.data(), 1);
    Dense<T>::trsm(CblasLeft, CblasLower, CblasNoTrans, CblasUnit, to_int(n), to_int(columns), a.data(), to_int(n), x,
                   to_int(ld));
    Dense<T>::trsm(CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, to_int(n), to_int(columns), a.data(), to_int(n),
                   x, to_int(ld));
  }
};

template <Scalar T> struct Node {
  std::int64_t begin = 0, rows = 0;
  SmallLu<T> small;                    // of a leaf: its block; else K
  std::unique_ptr<Node> upper, lower;  // none in a leaf
  Block<T> right, left;                // A1^-1 U V^H beside the upper half, A2^-1 X Y^H beside the lower one
  Outcome outcome;

  // Elements of work space for one column: a node's children are done with it when it takes it.
  [[nodiscard]] std::int64_t work() const {
    return upper ? std::max({right.rank + left.rank, upper->work(), lower->work()}) : 0;
  }
  void solve(std::int64_t n, T* x, std::int64_t ld, T* t) const {
    if (!upper) return small.solve(n, x, ld);
    const std::int64_t half = upper->rows, r = right.rank, s = left.rank;
    T* below = x + half;
    upper->solve(n, x, ld, t);
    lower->solve(n, below, ld, t);
    if (r + s == 0 || n == 0) return;
    const int m = to_int(n), ldt = to_int(r + s), ldx = to_int(ld);
    if (r > 0)
      Dense<T>::gemm(kHermitian<T>, CblasNoTrans, to_int(r), m, to_int(right.columns), T(1), right.v.data(),
                     to_int(right.columns), below, ldx, T(0), t, ldt);
    if (s > 0)
      Dense<T>::gemm(kHermitian<T>, CblasNoTrans, to_int(s), m, to_int(left.columns), T(1), left.v.data(),
                     to_int(left.columns), x, ldx, T(0), t + r, ldt);
    small.solve(n, t, r + s);
    if (r > 0)
      Dense<T>::gemm(CblasNoTrans, CblasNoTrans, to_int(right.rows), m, to_int(r), T(-1), right.u.data(),
                     to_int(right.rows), t, ldt, T(1), x, ldx);
    if (s > 0)
      Dense<T>::gemm(CblasNoTrans, CblasNoTrans, to_int(left.rows), m, to_int(s), T(-1), left.u.data(),
                     to_int(left.rows), t + r, ldt, T(1), below, ldx);
  }

  [[nodiscard]] std::int64_t stored() const {
    return static_cast<std::int64_t>(small.a.size()) + right.stored() + left.stored() +
           (upper ? upper->stored() + lower->stored() : 0);
  }
};

// K of a node whose halves are factored.
template <Scalar T> void couple(Node<T>& node) {
  for (const Node<T>* half : {node.upper.get(), node.lower.get()}) {
    if (!half->outcome.ok()) node.outcome = half->outcome;
    if (!node.outcome.ok()) return;
  }
  Block<T>&right = node.right, &left = node.left;
  const std::int64_t r = right.rank, s = left.rank, n = r + s;
  std::vector<T> work(static_cast<std::size_t>(std::max(node.upper->work() * r, node.lower->work() * s)));
  node.upper->solve(r, right.u.data(), right.rows, work.data());
  node.lower->solve(s, left.u.data(), left.rows, work.data());
  SmallLu<T>& k = node.small;
  k.n = n;
  k.a.assign(static_cast<std::size_t>(n * n), T(0));
  for (std::int64_t i = 0; i < n; ++i) k.a[static_cast<std::size_t>(i * n + i)] = T(1);
  if (r > 0 && s > 0) {
    Dense<T>::gemm(kHermitian<T>, CblasNoTrans, to_int(r), to_int(s), to_int(left.rows), T(1), right.v.data(),
                   to_int(right.columns), left.u.data(), to_int(left.rows), T(0), k.a.data() + r * n, to_int(n));
    Dense<T>::gemm(kHermitian<T>, CblasNoTrans, to_int(s), to_int(r), to_int(right.rows), T(1), left.v.data(),
                   to_int(left.columns), right.u.data(), to_int(right.rows), T(0), k.a.data() + r, to_int(n));
  }
  if (k.factor() >= 0) node.outcome = {Status::Singular, node.begin};
}

// The blocks of a matrix as halves() placed them: of a node upper right and lower left, then those of its halves.
template <Scalar T> std::unique_ptr<Node<T>> planted(const detail::RankData<T>& a, std::int64_t begin, std::int64_t end,
                                                     std::size_t& next) {
  auto node = std::make_unique<Node<T>>();
  node->begin = begin, node->rows = end - begin;
  if (end == begin) return node;
  if (end - begin <= a.options.tile) {
    node->small.n = end - begin;
    node->small.a = a.placed[next++].block.u;
    return node;
  }
  const std::int64_t middle = begin + (end - begin) / 2;
  node->right = a.placed[next++].block, node->left = a.placed[next++].block;
  write_as_product(node->right), write_as_product(node->left);
  node->upper = planted(a, begin, middle, next);
  node->lower = planted(a, middle, end, next);
  return node;
}

// Within a region OpenBLAS stays on its caller, so the bits are those of one thread.
template <Scalar T> void factor(Node<T>& node) {
  if (!node.upper) {
    direct::tiles(1, [&](std::int64_t) {
      const std::int64_t bad = node.small.factor();
      if (bad >= 0) node.outcome = {Status::Singular, node.begin + bad};
    });
    return;
  }
  direct::tiles(2, [&](std::int64_t half) { factor(half == 0 ? *node.upper : *node.lower); });
  direct::tiles(1, [&](std::int64_t) { couple(node); });
}

template <Scalar T> class HalvesFactors final : public Factors<T> {
 public:
  explicit HalvesFactors(const detail::RankData<T>& a) : n_(a.extents.rows) {
    std::size_t next = 0;
    root_ = planted(a, 0, n_, next);
    factor(*root_);
    this->outcome = root_->outcome;
    this->stored = root_->stored();
  }
  void solve(std::int64_t n, T* x, T* work) const override {
    direct::tiles(1, [&](std::int64_t) { root_->solve(n, x, n_, work); });
  }
  [[nodiscard]] std::int64_t work() const override { return root_->work(); }

 private:
  std::int64_t n_;
  std::unique_ptr<Node<T>> root_;
};

}  // namespace

template <Scalar T> std::unique_ptr<Factors<T>> factor_halves(const detail::RankData<T>& a) {
  return std::make_unique<HalvesFactors<T>>(a);
}

#define TRN_RANK_HALVES(T) template std::unique_ptr<Factors<T>> factor_halves(const detail::RankData<T>&);
TRN_SPARSE_SCALARS(TRN_RANK_HALVES)
#undef TRN_RANK_HALVES

}  // namespace trn::sparse::rank
