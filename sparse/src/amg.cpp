// Smoothed aggregation: set-up and cycle.
#include <trn/sparse/amg.hpp>

#include <algorithm>

#include <trn/core/linear_operator.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/structure.hpp>

#include "amg_data.hpp"
#include "dense_inverse.hpp"
#include "operators.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace {

// Strong neighbours of each node (a block of unknowns), itself left out.
struct Nodes {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> neighbours;
};

template <Scalar T> Nodes strong_nodes(const CsrRef<T, std::int32_t>& a, std::int64_t block, double strength) {
  const std::int64_t count = a.rows / block;
  // The largest modulus in each block of the node's rows.
  std::vector<double> largest(static_cast<std::size_t>(count), 0), own(static_cast<std::size_t>(count), 0);
  std::vector<std::int64_t> mark(static_cast<std::size_t>(count), -1);
  std::vector<std::int32_t> list;
  const auto gather = [&](std::int64_t i) {
    list.clear();
    for (std::int64_t row = i * block; row < (i + 1) * block; ++row) {
      for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
        const auto j = static_cast<std::size_t>(a.indices[k] / block);
        if (mark[j] != i) mark[j] = i, largest[j] = 0, list.push_back(static_cast<std::int32_t>(j));
        largest[j] = std::max(largest[j], static_cast<double>(std::abs(a.values[k])));
      }
    }
  };
  if (strength > 0) {
    for (std::int64_t i = 0; i < count; ++i) {
      gather(i);
      if (mark[static_cast<std::size_t>(i)] == i)
        own[static_cast<std::size_t>(i)] = largest[static_cast<std::size_t>(i)];
    }
    std::fill(mark.begin(), mark.end(), -1);
  }
  Nodes nodes;
  for (std::int64_t i = 0; i < count; ++i) {
    gather(i);
    if (block > 1) std::sort(list.begin(), list.end());  // else they come as the row has them
    for (const std::int32_t j : list) {
      const double limit = strength * std::sqrt(own[static_cast<std::size_t>(i)] * own[static_cast<std::size_t>(j)]);
      if (j != i && largest[static_cast<std::size_t>(j)] > limit) nodes.neighbours.push_back(j);
    }
    nodes.offsets.push_back(static_cast<std::int64_t>(nodes.neighbours.size()));
  }
  return nodes;
}

// The aggregate of each node: first whole neighbourhoods, then stragglers join a neighbour's, then what is left over.
// A node without neighbours is in none (-1): a coarse unknown of its own would only be carried from level to level.
std::vector<std::int32_t> aggregate(const Nodes& nodes, std::int32_t& count) {
  const auto n = static_cast<std::int64_t>(nodes.offsets.size()) - 1;
  std::vector<std::int32_t> of(static_cast<std::size_t>(n), -1);
  const auto each = [&](std::int64_t i, const auto& f) {
    for (std::int64_t k = nodes.offsets[static_cast<std::size_t>(i)];
         k < nodes.offsets[static_cast<std::size_t>(i) + 1]; ++k)
      f(static_cast<std::size_t>(nodes.neighbours[static_cast<std::size_t>(k)]));
  };
  const auto alone = [&](std::int64_t i) {
    return nodes.offsets[static_cast<std::size_t>(i)] == nodes.offsets[static_cast<std::size_t>(i) + 1];
  };
  count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    bool free = of[static_cast<std::size_t>(i)] < 0 && !alone(i);
    each(i, [&](std::size_t j) { free = free && of[j] < 0; });
    if (!free) continue;
    of[static_cast<std::size_t>(i)] = count;
    each(i, [&](std::size_t j) { of[j] = count; });
    ++count;
  }
  const std::vector<std::int32_t> first = of;
  for (std::int64_t i = 0; i < n; ++i) {
    if (first[static_cast<std::size_t>(i)] >= 0) continue;
    each(i, [&](std::size_t j) {
      if (of[static_cast<std::size_t>(i)] < 0 && first[j] >= 0) of[static_cast<std::size_t>(i)] = first[j];
    });
  }
  for (std::int64_t i = 0; i < n; ++i) {
    if (of[static_cast<std::size_t>(i)] >= 0 || alone(i)) continue;
    of[static_cast<std::size_t>(i)] = count;
    each(i, [&](std::size_t j) {
      if (of[j] < 0) of[j] = count;
    });
    ++count;
  }
  return of;
}

template <Scalar T> Separate<T> separate_nodes(const CsrRef<T, std::int32_t>& a, std::int64_t block, Outcome& outcome) {
  Separate<T> s{block, {}, {}, {}};
  const auto size = static_cast<std::size_t>(block * block);
  std::vector<T> own(size), inverse(size);
  for (std::int64_t node = 0; node < a.rows / block; ++node) {
    bool connected = false;
    std::fill(own.begin(), own.end(), T(0));
    for (std::int64_t i = node * block; i < (node + 1) * block; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        if (a.indices[k] / block == node)
          own[static_cast<std::size_t>((i % block) * block + a.indices[k] % block)] = a.values[k];
        else
          connected = connected || a.values[k] != T(0);
      }
    }
    (connected ? s.others : s.nodes).push_back(static_cast<std::int32_t>(node));
    if (connected) continue;
    if (!invert(block, own.data(), inverse.data())) {
      if (outcome.ok()) outcome = {Status::ZeroPivot, node * block};
      std::fill(inverse.begin(), inverse.end(), T(0));
    }
    s.inverses.insert(s.inverses.end(), inverse.begin(), inverse.end());
  }
  return s;
}

// The rows and columns of the nodes that are connected, dense and row-major.
template <Scalar T> std::vector<T> connected_dense(const CsrRef<T, std::int32_t>& a, const Separate<T>& s) {
  const auto n = static_cast<std::int64_t>(s.others.size()) * s.block;
  std::vector<std::int64_t> place(static_cast<std::size_t>(a.rows / s.block), -1);
  for (std::size_t k = 0; k < s.others.size(); ++k)
    place[static_cast<std::size_t>(s.others[k])] = static_cast<std::int64_t>(k) * s.block;
  std::vector<T> d(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t row = place[static_cast<std::size_t>(i / s.block)];
    for (std::int64_t k = a.offsets[i]; row >= 0 && k < a.offsets[i + 1]; ++k) {
      const std::int64_t column = place[static_cast<std::size_t>(a.indices[k] / s.block)];
      if (column >= 0)
        d[static_cast<std::size_t>((row + i % s.block) * n + column + a.indices[k] % s.block)] = a.values[k];
    }
  }
  return d;
}

// T and the coarse near-nullspace: in each aggregate the rows of `b` become Q R, Q goes to T, R to the coarse level.
// Rows of nodes without an aggregate are empty.
template <Scalar T> Csr<T> tentative(const std::vector<std::int32_t>& of, std::int32_t count, std::int64_t block,
                                     std::int64_t k, const std::vector<T>& b, std::vector<T>& coarse) {
  const auto nodes = static_cast<std::int64_t>(of.size());
  const std::int64_t n = nodes * block;
  std::vector<std::int64_t> begin(static_cast<std::size_t>(count) + 1, 0);
  for (const std::int32_t g : of) {
    if (g >= 0) ++begin[static_cast<std::size_t>(g) + 1];
  }
  for (std::int32_t g = 0; g < count; ++g) begin[static_cast<std::size_t>(g) + 1] += begin[static_cast<std::size_t>(g)];
  std::vector<std::int64_t> members(static_cast<std::size_t>(begin.back())), next(begin.begin(), begin.end() - 1);
  CsrParts<T, std::int32_t> parts({n, count * k});
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::int32_t g = of[static_cast<std::size_t>(i)];
    std::fill_n(parts.offsets.data() + i * block, block, g >= 0 ? k : 0);
    if (g >= 0) members[static_cast<std::size_t>(next[static_cast<std::size_t>(g)]++)] = i;
  }
  parts.allocate();
  coarse.assign(static_cast<std::size_t>(count * k * k), T(0));
  std::vector<T> q;
  for (std::int32_t g = 0; g < count; ++g) {
    const std::int64_t first = begin[static_cast<std::size_t>(g)],
                       height = (begin[static_cast<std::size_t>(g) + 1] - first) * block;
    const auto row_of = [&](std::int64_t r) {
      return members[static_cast<std::size_t>(first + r / block)] * block + r % block;
    };
    q.resize(static_cast<std::size_t>(height * k));  // column-major
    for (std::int64_t r = 0; r < height; ++r) {
      for (std::int64_t c = 0; c < k; ++c)
        q[static_cast<std::size_t>(c * height + r)] = b[static_cast<std::size_t>(row_of(r) * k + c)];
    }
    for (std::int64_t c = 0; c < k; ++c) {
      T* own = q.data() + c * height;
      double before = 0, after = 0;
      for (std::int64_t r = 0; r < height; ++r) before += static_cast<double>(std::norm(own[r]));
      for (int pass = 0; pass < 2; ++pass) {  // twice is enough
        for (std::int64_t d = 0; d < c; ++d) {
          const T* other = q.data() + d * height;
          T dot(0);
          for (std::int64_t r = 0; r < height; ++r) dot += host::times(conjugate_of(other[r]), own[r]);
          for (std::int64_t r = 0; r < height; ++r) own[r] -= host::times(dot, other[r]);
          coarse[static_cast<std::size_t>((g * k + d) * k + c)] += dot;
        }
      }
      for (std::int64_t r = 0; r < height; ++r) after += static_cast<double>(std::norm(own[r]));
      // Dependent on the earlier columns: nothing is left for this one.
      const double limit = 1e2 * std::numeric_limits<Real<T>>::epsilon();
      const bool gone = !(after > limit * limit * before);
      const auto factor = static_cast<Real<T>>(gone ? 0 : 1 / std::sqrt(after));
      for (std::int64_t r = 0; r < height; ++r) own[r] *= factor;
      coarse[static_cast<std::size_t>((g * k + c) * k + c)] = T(static_cast<Real<T>>(gone ? 0 : std::sqrt(after)));
    }
    for (std::int64_t r = 0; r < height; ++r) {
      const std::int64_t to = parts.offsets.data()[row_of(r)];
      for (std::int64_t c = 0; c < k; ++c) {
        parts.indices.data()[to + c] = static_cast<std::int32_t>(g * k + c);
        parts.values.data()[to + c] = q[static_cast<std::size_t>(c * height + r)];
      }
    }
  }
  return parts.done();
}

// (I - weight D^-1 A) T.
template <Scalar T> Csr<T> smoothed(const Csr<T>& a, const Csr<T>& t, double weight) {
  const Csr<T> product = spgemm<T>(a.executor(), T(1), a, t);
  const std::vector<T> d = diagonal(a);
  Array<T> values = host_array<T>(product.nnz());
  const CsrRef<T, std::int32_t> p = host_ref(product);
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const T factor = T(static_cast<Real<T>>(-weight)) / d[static_cast<std::size_t>(i)];
    for (std::int64_t k = p.offsets[i]; k < p.offsets[i + 1]; ++k) values.data()[k] = host::times(factor, p.values[k]);
  }
  return add<T>(T(1), t, T(1), Csr<T>(detail::Trusted{}, product.pattern(), std::move(values)));
}

// Ones where the diagonal is zero: unknowns that no near-nullspace vector was left for.
template <Scalar T> Csr<T> filled_diagonal(const Csr<T>& a) {
  const std::vector<T> d = diagonal(a);
  std::vector<std::int64_t> at;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d[i] == T(0)) at.push_back(static_cast<std::int64_t>(i));
  }
  if (at.empty()) return a;
  const std::vector<T> ones(at.size(), T(1));
  return add<T>(T(1), a, T(1), Csr<T>::from_triplets(a.executor(), a.extents(), {at, at, ones}));
}

}  // namespace

template <Scalar T> void Amg<T>::Data::cycle(std::size_t l) const {
  const AmgLevelData<T>& level = levels[l];
  const std::int64_t n = level.n;
  const auto column = [&](const Array<T>& v) { return MatrixView<T>(executor, v.data(), v.size(), 1, 1, 1); };
  const Separate<T>& separate = level.separate;
  if (l + 1 == levels.size()) {
    separate.solve_last(inverse, level.b.data(), level.x.data());
    return;
  }
  const AmgLevelData<T>& next = levels[l + 1];
  level.smoother->smooth(level.b.data(), level.x.data(), true);
  separate.solve(level.b.data(), level.x.data());  // no residual is left there: nothing later changes it
  std::copy_n(level.b.data(), n, level.residual.data());
  level.a->execute(T(-1), column(level.x), T(1), column(level.residual));
  level.r->execute(T(1), column(level.residual), T(0), column(next.b));
  cycle(l + 1);
  level.p->execute(T(1), column(next.x), T(1), column(level.x));
  level.smoother->smooth(level.b.data(), level.x.data(), false);
}

template <Scalar T> Amg<T>::Amg(const Csr<T>& matrix, const AmgOptions<T>& o) {
  constexpr const char* operation = "sparse.amg";
  host_only(operation, matrix.executor());
  check_square(operation, matrix.extents());
  require(o.block >= 1 && matrix.rows() % o.block == 0, "{}: {} rows are not whole nodes of {}", operation,
          matrix.rows(), o.block);
  require(o.coarsest >= 1 && o.coarsest <= 2000 && o.most_levels >= 1, "{}: coarsest {} (1 to 2000), levels {} (>= 1)",
          operation, o.coarsest, o.most_levels);
  std::int64_t k = o.block, block = o.block;
  std::vector<T> b;
  if (o.nullspace) {
    const MatrixView<const T>& v = *o.nullspace;
    checks::input(operation, "the near-nullspace", matrix.executor(), v);
    require(v.rows() == matrix.rows() && v.columns() >= 1, "{}: the near-nullspace is {} x {}; it must have {} rows",
            operation, v.rows(), v.columns(), matrix.rows());
    k = v.columns();
    for (std::int64_t i = 0; i < v.rows(); ++i) {
      for (std::int64_t j = 0; j < k; ++j) b.push_back(v.data()[i * v.row_stride() + j * v.column_stride()]);
    }
  } else {  // the constant of each unknown of a node
    b.assign(static_cast<std::size_t>(matrix.rows() * k), T(0));
    for (std::int64_t i = 0; i < matrix.rows(); ++i) b[static_cast<std::size_t>(i * k + i % block)] = T(1);
  }
  auto data = std::make_shared<Data>();
  data->smoother = o.smoother;
  Csr<T> a = matrix;
  for (;;) {
    const std::int64_t n = a.rows();
    data->levels.push_back({n, {}, {}, {}, {}, host_array<T>(n), host_array<T>(n), host_array<T>(n), {}, a, {}, {}});
    AmgLevelData<T>& level = data->levels.back();
    level.separate = separate_nodes(host_ref(a), block, data->outcome);
    data->report.push_back({n, a.nnz(), 0, level.separate.rows()});
    if (!data->outcome.ok() || n - level.separate.rows() <= o.coarsest ||
        static_cast<int>(data->levels.size()) == o.most_levels)
      break;
    level.smoother.emplace(a, o.smoother);
    if (!level.smoother->outcome().ok()) {
      data->outcome = level.smoother->outcome();
      break;
    }
    std::int32_t count = 0;
    const std::vector<std::int32_t> of = aggregate(strong_nodes(host_ref(a), block, o.strength), count);
    if (count == 0 || count * k >= n - level.separate.rows()) {  // too few strong connections: it does not shrink
      level.smoother.reset();
      break;
    }
    data->report.back().aggregates = count;
    std::vector<T> coarse;
    const Csr<T> t = tentative(of, count, block, k, b, coarse);
    const Csr<T> p = smoothed(a, t, 4.0 / 3.0 / (level.smoother->largest() / 1.1));
    const Csr<T> r = adjoint(p);
    level.prolongation = p, level.restriction = r;
    level.a = level.smoother->plan(), level.p.emplace(a.executor(), p), level.r.emplace(a.executor(), r);
    a = filled_diagonal(spgemm<T>(a.executor(), T(1), r, spgemm<T>(a.executor(), T(1), a, p)));
    b = std::move(coarse);
    block = k;
  }
  const Separate<T>& last = data->levels.back().separate;
  const std::int64_t n = a.rows() - last.rows();
  require(!data->outcome.ok() || n <= 2000,
          "{}: {} rows are left on the last level; raise most_levels, lower strength, or use another preconditioner",
          operation, n);
  if (data->outcome.ok()) {
    std::vector<T> d(connected_dense(host_ref(a), last));
    data->inverse.resize(d.size());
    if (!invert(n, d.data(), data->inverse.data())) data->outcome = {Status::ZeroPivot, 0};
  }
  data_ = std::move(data);
}

template <Scalar T> std::int64_t Amg<T>::rows() const { return data_->report.front().rows; }
template <Scalar T> const Executor& Amg<T>::executor() const { return data_->executor; }
template <Scalar T> const Outcome& Amg<T>::outcome() const { return data_->outcome; }
template <Scalar T> const std::vector<AmgLevel>& Amg<T>::levels() const { return data_->report; }
template <Scalar T> double Amg<T>::operator_complexity() const {
  double sum = 0;
  for (const AmgLevel& level : data_->report) sum += static_cast<double>(level.nnz);
  return sum / static_cast<double>(std::max<std::int64_t>(1, data_->report.front().nnz));
}

template <Scalar T>
void Amg<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  constexpr const char* operation = "sparse.amg.apply";
  if (ComplexScalar<T> && op == Op::T)
    fail<NotImplemented>("{}: the cycle is Hermitian; op T without conjugation is not offered", operation);
  const std::int64_t n = rows();
  checks::input(operation, "x", executor(), x);
  checks::output(operation, "y", executor(), y);
  checks::shape(operation, "x", x, n, y.columns());
  checks::shape(operation, "y", y, n, x.columns());
  checks::apart(operation, "x", x, "y", y);
  const AmgLevelData<T>& top = data_->levels.front();
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      top.b.data()[i] = host::times(alpha, x.data()[i * x.row_stride() + j * x.column_stride()]);
    if (data_->outcome.ok())
      data_->cycle(0);
    else
      std::fill_n(top.x.data(), n, not_a_number<T>());
    for (std::int64_t i = 0; i < n; ++i) {
      T& to = y.data()[i * y.row_stride() + j * y.column_stride()];
      to = beta == T(0) ? top.x.data()[i] : top.x.data()[i] + host::times(beta, to);
    }
  }
}

#define TRN_AMG(T)       \
  template class Amg<T>; \
  static_assert(LinearOperator<Amg<T>, T>);
TRN_SPARSE_SCALARS(TRN_AMG)
#undef TRN_AMG

}  // namespace trn::sparse
