// Multifrontal QR. The front of a node stacks the rows of A that begin in its columns on what its children pass on, and
// is factored densely; the first rows of the result are rows of R, the others go to the parent. The reflections stay in
// the front and are applied to right-hand sides front by front.
#include <cmath>
#include <trn/sparse/structure.hpp>

#include "direct/analysis.hpp"
#include "direct/dense.hpp"
#include "direct/refine.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace direct {

struct QrAnalysis {
  Pattern<> pattern;  // of A
  QrOptions options;
  bool wide = false;  // A^H is factored
  Tree tree;
  FactorReport report;
  std::vector<std::int64_t> row_offsets;  // rows of the factored matrix, by node
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> label;  // of each of its columns
};

template <Scalar T> struct QrNode {
  std::int64_t rows = 0, kept = 0;  // of the front; min(rows, columns)
  Raw<T> front;                     // rows x (width + below), reflections below R
  std::vector<T> tau;
};

namespace {

// The columns of each row; and which columns meet in a row, apart from rows so full that they would tie everything.
Lists rows_of(const PatternRef<std::int32_t>& a) {
  Lists l;
  l.offsets.assign(a.offsets, a.offsets + a.rows + 1);
  l.items.assign(a.indices, a.indices + a.nnz());
  return l;
}
Lists meeting_columns(const PatternRef<std::int32_t>& a, const Lists& rows) {
  const auto n = static_cast<std::size_t>(a.columns);
  const double full = std::max(16.0, 10 * std::sqrt(static_cast<double>(a.columns)));
  std::vector<std::vector<std::int32_t>> of(n);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = rows.of(i);
    if (static_cast<double>(row.size()) > full) continue;
    for (const std::int32_t j : row) of[static_cast<std::size_t>(j)].push_back(static_cast<std::int32_t>(i));
  }
  Lists g;
  g.offsets.push_back(0);
  std::vector<std::int32_t> mark(n, -1);
  for (std::int32_t j = 0; j < a.columns; ++j) {
    mark[static_cast<std::size_t>(j)] = j;
    for (const std::int32_t i : of[static_cast<std::size_t>(j)]) {
      for (const std::int32_t k : rows.of(i)) {
        if (mark[static_cast<std::size_t>(k)] == j) continue;
        mark[static_cast<std::size_t>(k)] = j;
        g.items.push_back(k);
      }
    }
    std::sort(g.items.begin() + g.offsets.back(), g.items.end());
    g.offsets.push_back(static_cast<std::int64_t>(g.items.size()));
  }
  return g;
}

// `factored`: A or A^H.
std::shared_ptr<const QrAnalysis> analyse_qr(const Pattern<>& pattern, const Pattern<>& factored,
                                             const QrOptions& options) {
  const char* operation = "sparse.Qr";
  require(!std::isnan(options.tolerance) && options.tolerance < 1, "{}: a tolerance of {}; it must be below 1",
          operation, options.tolerance);
  const PatternRef<std::int32_t> a = host_ref(factored);
  auto made = std::make_shared<QrAnalysis>(QrAnalysis{pattern, options, false, {}, {}, {}, {}, {}});
  made->wide = pattern.rows() < pattern.columns();
  const Lists rows = rows_of(a), graph = meeting_columns(a, rows);
  Ordered ordered = choose_order(operation, graph, options,
                                 [&](const Permutation& order) { return column_tree(a.columns, rows, order); });
  made->tree = std::move(ordered.tree);
  const Tree& t = made->tree;
  made->report.ordering = ordered.ordering, made->report.nodes = t.nodes();
  made->label.resize(static_cast<std::size_t>(a.columns));
  for (std::size_t k = 0; k < t.order.size(); ++k)
    made->label[static_cast<std::size_t>(t.order[k])] = static_cast<std::int32_t>(k);
  std::vector<std::int32_t> node(static_cast<std::size_t>(a.rows), -1);
  made->row_offsets.assign(static_cast<std::size_t>(t.nodes()) + 1, 0);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int32_t first = -1;
    for (const std::int32_t j : rows.of(i)) {
      const std::int32_t k = made->label[static_cast<std::size_t>(j)];
      if (first < 0 || k < first) first = k;
    }
    if (first < 0) continue;  // an empty row: its right-hand side is all residual
    node[static_cast<std::size_t>(i)] = t.node_of[static_cast<std::size_t>(first)];
    ++made->row_offsets[static_cast<std::size_t>(node[static_cast<std::size_t>(i)]) + 1];
  }
  for (std::size_t s = 0; s + 1 < made->row_offsets.size(); ++s) made->row_offsets[s + 1] += made->row_offsets[s];
  made->rows.resize(static_cast<std::size_t>(made->row_offsets.back()));
  std::vector<std::int64_t> next(made->row_offsets.begin(), made->row_offsets.end());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int32_t s = node[static_cast<std::size_t>(i)];
    if (s >= 0)
      made->rows[static_cast<std::size_t>(next[static_cast<std::size_t>(s)]++)] = static_cast<std::int32_t>(i);
  }
  return made;
}

// The numerical part, one node after another. Children's fronts are read where they lie.
template <Scalar T> class QrRun {
 public:
  QrRun(const QrAnalysis& analysis, const CsrRef<T, std::int32_t>& a, std::vector<QrNode<T>>& nodes)
      : analysis_(analysis), tree_(analysis.tree), a_(a), nodes_(nodes) {}

  void run() {
    const int threads = loop_threads();
    const Schedule plan = schedule(tree_, threads);
    const auto list = [&](const std::vector<std::int32_t>& of) {
      std::vector<std::int32_t> where(static_cast<std::size_t>(tree_.n));
      std::vector<T> work;
      for (const std::int32_t s : of) node(s, where, work);
    };
    openmp_pieces(static_cast<std::int64_t>(plan.subtrees.size()), threads,
                  [&](std::int64_t i, int) { list(plan.subtrees[static_cast<std::size_t>(i)]); });
    list(plan.top);
  }

 private:
  void node(std::int32_t s, std::vector<std::int32_t>& where, std::vector<T>& work) {
    const auto at = static_cast<std::size_t>(s);
    const auto below = tree_.below(s);
    const std::int64_t k = tree_.width(s), columns = k + static_cast<std::int64_t>(below.size());
    std::int32_t place = 0;
    for (std::int64_t j = 0; j < k; ++j) where[static_cast<std::size_t>(tree_.first[at] + j)] = place++;
    for (const std::int32_t j : below) where[static_cast<std::size_t>(j)] = place++;
    std::int64_t rows = analysis_.row_offsets[at + 1] - analysis_.row_offsets[at];
    for (const std::int32_t c : tree_.children_of(s)) rows += passed_on(c);
    QrNode<T>& own = nodes_[at];
    own.rows = rows, own.kept = std::min(rows, columns);
    own.front = Raw<T>(rows * columns);
    T* f = own.front.get();
    std::fill_n(f, rows * columns, T(0));
    std::int64_t r = 0;
    for (auto q = static_cast<std::size_t>(analysis_.row_offsets[at]);
         q < static_cast<std::size_t>(analysis_.row_offsets[at + 1]); ++q, ++r) {
      const std::int32_t i = analysis_.rows[q];
      for (std::int64_t e = a_.offsets[i]; e < a_.offsets[i + 1]; ++e) {
        const std::int32_t j = analysis_.label[static_cast<std::size_t>(a_.indices[e])];
        f[where[static_cast<std::size_t>(j)] * rows + r] = a_.values[e];
      }
    }
    for (const std::int32_t c : tree_.children_of(s)) {
      const QrNode<T>& child = nodes_[static_cast<std::size_t>(c)];
      const std::int64_t skip = tree_.width(c), count = passed_on(c);
      const auto of = tree_.below(c);
      for (std::size_t j = 0; j < of.size(); ++j) {
        const std::int64_t height = std::min(count, static_cast<std::int64_t>(j) + 1);  // a trapezoid
        const T* from = child.front.get() + (skip + static_cast<std::int64_t>(j)) * child.rows + skip;
        std::copy_n(from, std::max<std::int64_t>(height, 0), f + where[static_cast<std::size_t>(of[j])] * rows + r);
      }
      r += count;
    }
    own.tau.assign(static_cast<std::size_t>(own.kept), T(0));
    if (own.kept == 0) return;
    work.resize(static_cast<std::size_t>(columns * 32));
    int info = 0;
    tiles(1, [&](std::int64_t) {
      Dense<T>::geqrf(static_cast<int>(rows), static_cast<int>(columns), f, static_cast<int>(rows), own.tau.data(),
                      work.data(), static_cast<int>(work.size()), info);
    });
  }
  std::int64_t passed_on(std::int32_t c) const {
    return std::max<std::int64_t>(0, nodes_[static_cast<std::size_t>(c)].kept - tree_.width(c));
  }

  const QrAnalysis& analysis_;
  const Tree& tree_;
  const CsrRef<T, std::int32_t>& a_;
  std::vector<QrNode<T>>& nodes_;
};

}  // namespace
}  // namespace direct

namespace detail {
template <Scalar T> struct QrData {
  std::shared_ptr<const direct::QrAnalysis> analysis;
  Csr<T> a, factored;
  std::vector<direct::QrNode<T>> nodes;
  Outcome outcome;
  FactorReport report;

  QrData(const Csr<T>& matrix, std::shared_ptr<const direct::QrAnalysis> shared, const QrOptions* options)
      : a(matrix), factored(matrix.rows() < matrix.columns() ? adjoint(matrix) : matrix) {
    analysis = shared ? std::move(shared) : direct::analyse_qr(a.pattern(), factored.pattern(), *options);
    report = analysis->report;
    outcome = direct::check_finite(host_ref(a));
    if (!outcome.ok()) return;
    const direct::Tree& t = analysis->tree;
    nodes = std::vector<direct::QrNode<T>>(static_cast<std::size_t>(t.nodes()));
    const CsrRef<T, std::int32_t> c = host_ref(factored);
    direct::QrRun<T>(*analysis, c, nodes).run();
    double limit = analysis->options.tolerance;
    if (limit < 0) limit = static_cast<double>(c.rows + c.columns) * std::numeric_limits<Real<T>>::epsilon() / 2;
    limit *= largest_column(c);
    for (std::int64_t s = 0; s < t.nodes() && outcome.ok(); ++s) {
      const direct::QrNode<T>& node = nodes[static_cast<std::size_t>(s)];
      const std::int64_t k = t.width(s), columns = k + static_cast<std::int64_t>(t.below(s).size());
      for (std::int64_t j = 0; j < k && outcome.ok(); ++j) {
        const auto r = j < node.kept ? std::abs(std::complex<double>(node.front.get()[j * node.rows + j])) : 0.0;
        const std::int64_t column = t.order[static_cast<std::size_t>(t.first[static_cast<std::size_t>(s)] + j)];
        if (!std::isfinite(r))
          outcome = {Status::NotFinite, column};
        else if (!(r > limit))
          outcome = {Status::Singular, column};
      }
      report.entries += k * (k + 1) / 2 + k * (columns - k);
      report.largest_front = std::max(report.largest_front, node.rows);
      const auto m = static_cast<double>(node.rows), w = static_cast<double>(columns),
                 q = static_cast<double>(node.kept);
      report.flops += 4 * q * (m * w - q * (m + w) / 2 + q * q / 3);
    }
  }

  static double largest_column(const CsrRef<T, std::int32_t>& c) {
    std::vector<double> norm(static_cast<std::size_t>(c.columns), 0);
    for (std::int64_t k = 0; k < c.nnz(); ++k) {
      double& x = norm[static_cast<std::size_t>(c.indices[k])];
      x = std::hypot(x, std::abs(std::complex<double>(c.values[k])));
    }
    return norm.empty() ? 0 : *std::max_element(norm.begin(), norm.end());
  }

  std::int64_t passed_on(std::int64_t s) const {
    return std::max<std::int64_t>(0, nodes[static_cast<std::size_t>(s)].kept - analysis->tree.width(s));
  }
  void reflect(const direct::QrNode<T>& node, bool adjoint_of, std::vector<T>& x, std::vector<T>& work) const {
    if (node.kept == 0) return;
    work.resize(64);
    int info = 0;
    direct::Dense<T>::unmqr('L', adjoint_of ? (ComplexScalar<T> ? 'C' : 'T') : 'N', static_cast<int>(node.rows), 1,
                            static_cast<int>(node.kept), node.front.get(), static_cast<int>(node.rows), node.tau.data(),
                            x.data(), static_cast<int>(node.rows), work.data(), 64, info, 1, 1);
  }

  // The first columns of Q^H b, by labels.
  std::vector<T> adjoint_q(const std::vector<T>& b) const {
    const direct::Tree& t = analysis->tree;
    std::vector<T> y(static_cast<std::size_t>(t.n)), x, work;
    std::vector<std::vector<T>> passed(nodes.size());
    for (std::int64_t s = 0; s < t.nodes(); ++s) {
      const direct::QrNode<T>& node = nodes[static_cast<std::size_t>(s)];
      x.clear();
      for (auto q = static_cast<std::size_t>(analysis->row_offsets[static_cast<std::size_t>(s)]);
           q < static_cast<std::size_t>(analysis->row_offsets[static_cast<std::size_t>(s) + 1]); ++q)
        x.push_back(b[static_cast<std::size_t>(analysis->rows[q])]);
      for (const std::int32_t c : t.children_of(s)) {
        auto& from = passed[static_cast<std::size_t>(c)];
        x.insert(x.end(), from.begin(), from.end());
        from = {};
      }
      reflect(node, true, x, work);
      const std::int64_t k = t.width(s);
      std::copy_n(x.begin(), k, y.begin() + t.first[static_cast<std::size_t>(s)]);
      passed[static_cast<std::size_t>(s)].assign(x.begin() + k, x.begin() + k + passed_on(s));
    }
    return y;
  }
  // Q times a vector whose first elements are y, the others zero.
  std::vector<T> q_times(const std::vector<T>& y) const {
    const direct::Tree& t = analysis->tree;
    std::vector<T> b(static_cast<std::size_t>(factored.rows())), x, work;
    std::vector<std::vector<T>> passed(nodes.size());
    for (std::int64_t s = t.nodes() - 1; s >= 0; --s) {
      const direct::QrNode<T>& node = nodes[static_cast<std::size_t>(s)];
      const std::int64_t k = t.width(s);
      x.assign(static_cast<std::size_t>(node.rows), T(0));
      std::copy_n(y.begin() + t.first[static_cast<std::size_t>(s)], k, x.begin());
      auto& own = passed[static_cast<std::size_t>(s)];
      std::copy(own.begin(), own.end(), x.begin() + k);
      own = {};
      reflect(node, false, x, work);
      auto from = x.begin();
      for (auto q = static_cast<std::size_t>(analysis->row_offsets[static_cast<std::size_t>(s)]);
           q < static_cast<std::size_t>(analysis->row_offsets[static_cast<std::size_t>(s) + 1]); ++q)
        b[static_cast<std::size_t>(analysis->rows[q])] = *from++;
      for (const std::int32_t c : t.children_of(s)) {
        passed[static_cast<std::size_t>(c)].assign(from, from + passed_on(c));
        from += passed_on(c);
      }
    }
    return b;
  }
  // R^-1 y (or R^-H y) in place.
  void solve_r(std::vector<T>& y, bool adjoint_of) const {
    using D = direct::Dense<T>;
    const direct::Tree& t = analysis->tree;
    std::vector<T> w;
    for (std::int64_t step = 0; step < t.nodes(); ++step) {
      const std::int64_t s = adjoint_of ? step : t.nodes() - 1 - step;
      const direct::QrNode<T>& node = nodes[static_cast<std::size_t>(s)];
      const auto below = t.below(s);
      const int k = t.width(s), u = static_cast<int>(below.size()), ld = static_cast<int>(node.rows);
      const T *r11 = node.front.get(), *r12 = r11 + static_cast<std::int64_t>(k) * node.rows;
      T* own = y.data() + t.first[static_cast<std::size_t>(s)];
      w.resize(below.size());
      if (adjoint_of) {
        D::trsv(CblasUpper, CblasConjTrans, CblasNonUnit, k, r11, ld, own);
        if (u == 0) continue;
        D::gemv(CblasConjTrans, k, u, T(1), r12, ld, own, T(0), w.data());
        for (std::size_t i = 0; i < below.size(); ++i) y[static_cast<std::size_t>(below[i])] -= w[i];
      } else {
        for (std::size_t i = 0; i < below.size(); ++i) w[i] = y[static_cast<std::size_t>(below[i])];
        if (u > 0) D::gemv(CblasNoTrans, k, u, T(-1), r12, ld, w.data(), T(1), own);
        D::trsv(CblasUpper, CblasNoTrans, CblasNonUnit, k, r11, ld, own);
      }
    }
  }

  // min |b - A x|, or the shortest x with A x = b.
  std::vector<T> solve(const std::vector<T>& b) const {
    const direct::Tree& t = analysis->tree;
    std::vector<T> x;
    direct::tiles(1, [&](std::int64_t) {
      std::vector<T> y(static_cast<std::size_t>(t.n));
      if (analysis->wide) {  // A^H P = Q R: A x = b is P R^H Q^H x = b
        for (std::size_t k = 0; k < y.size(); ++k) y[k] = b[static_cast<std::size_t>(t.order[k])];
        solve_r(y, true);
        x = q_times(y);
        return;
      }
      y = adjoint_q(b);
      solve_r(y, false);
      x.resize(y.size());
      for (std::size_t k = 0; k < y.size(); ++k) x[static_cast<std::size_t>(t.order[k])] = y[k];
    });
    return x;
  }

  // The residual of A x = b, rounded to T in r; what is said of it.
  Solved measure(const std::vector<T>& b, const std::vector<T>& x, std::vector<T>& r) const {
    const CsrRef<T, std::int32_t> c = host_ref(a);
    direct::Residual<T> residual;
    residual.compute(b, x, [&](const auto& visit) {
      for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t k = c.offsets[i]; k < c.offsets[i + 1]; ++k) visit(i, c.indices[k], c.values[k]);
      }
    });
    r.resize(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) r[i] = static_cast<T>(residual.r[i]);
    Solved s;
    if (c.rows <= c.columns) {
      residual.report(s);
      return s;
    }
    using W = direct::WideOf<T>;
    direct::Residual<T> normal;
    normal.r.assign(static_cast<std::size_t>(c.columns), W{});
    normal.size.assign(static_cast<std::size_t>(c.columns), 0);
    for (std::int64_t i = 0; i < c.rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const auto size = residual.size[row] + direct::modulus_of(direct::widen<W>(b[row]));
      for (std::int64_t k = c.offsets[i]; k < c.offsets[i + 1]; ++k) {
        const auto j = static_cast<std::size_t>(c.indices[k]);
        const W v = direct::widen<W>(conjugate_of(c.values[k]));
        normal.r[j] += direct::wide_product(v, residual.r[row]);
        normal.size[j] += direct::modulus_of(v) * size;
      }
    }
    normal.report(s);
    return s;
  }
};
}  // namespace detail

template <Scalar T> Qr<T>::Qr(const Csr<T>& a, const QrOptions& options) {
  host_only("sparse.Qr", a.executor());
  data_ = std::make_shared<detail::QrData<T>>(a, nullptr, &options);
}
template <Scalar T> Qr<T> Qr<T>::refactor(const Csr<T>& a) const {
  direct::check_same_pattern("sparse.Qr.refactor", a, data_->analysis->pattern);
  return Qr(std::make_shared<detail::QrData<T>>(a, data_->analysis, nullptr));
}
template <Scalar T> std::int64_t Qr<T>::rows() const { return data_->a.rows(); }
template <Scalar T> std::int64_t Qr<T>::columns() const { return data_->a.columns(); }
template <Scalar T> const Executor& Qr<T>::executor() const { return data_->a.executor(); }
template <Scalar T> const Outcome& Qr<T>::outcome() const { return data_->outcome; }
template <Scalar T> const FactorReport& Qr<T>::report() const { return data_->report; }
template <Scalar T> const Permutation& Qr<T>::order() const { return data_->analysis->tree.order; }

template <Scalar T> Csr<T> Qr<T>::r() const {
  const direct::Tree& t = data_->analysis->tree;
  std::vector<std::int64_t> rows, columns;
  std::vector<T> values;
  for (std::int64_t s = 0; s < t.nodes() && !data_->nodes.empty(); ++s) {
    const direct::QrNode<T>& node = data_->nodes[static_cast<std::size_t>(s)];
    const std::int64_t first = t.first[static_cast<std::size_t>(s)], k = t.width(s);
    const auto below = t.below(s);
    for (std::int64_t i = 0; i < std::min(k, node.kept); ++i) {
      for (std::int64_t j = i; j < k + static_cast<std::int64_t>(below.size()); ++j) {
        rows.push_back(first + i);
        columns.push_back(j < k ? first + j : below[static_cast<std::size_t>(j - k)]);
        values.push_back(node.front.get()[j * node.rows + i]);
      }
    }
  }
  return Csr<T>::from_triplets(executor(), {t.n, t.n}, {rows, columns, values}, Duplicates::Error);
}

template <Scalar T> Solved Qr<T>::solve(const std::type_identity_t<MatrixView<const T>>& b, const MatrixView<T>& x,
                                        const Refinement& refinement) const {
  direct::check_solve("sparse.Qr.solve", executor(), rows(), columns(), b, x, refinement);
  if (!outcome().ok()) return direct::unsolved(outcome(), x);
  const auto& d = *data_;
  Solved solved;
  std::vector<std::vector<T>> results;
  for (std::int64_t j = 0; j < b.columns(); ++j) {
    std::vector<T> right(static_cast<std::size_t>(rows())), r, next_r;
    for (std::int64_t i = 0; i < rows(); ++i)
      right[static_cast<std::size_t>(i)] = b.data()[i * b.row_stride() + j * b.column_stride()];
    std::vector<T> own = d.solve(right);
    Solved now = d.measure(right, own, r);
    for (int step = 0; step < refinement.steps && now.componentwise != 0; ++step) {
      std::vector<T> next = d.solve(r);
      for (std::size_t i = 0; i < next.size(); ++i) next[i] += own[i];
      const Solved after = d.measure(right, next, next_r);
      if (!(after.componentwise < now.componentwise || after.normwise < now.normwise)) break;
      now.componentwise = after.componentwise, now.normwise = after.normwise;
      std::swap(own, next), std::swap(r, next_r);
      solved.steps = std::max(solved.steps, step + 1);
    }
    if (!(now.componentwise <= solved.componentwise)) solved.componentwise = now.componentwise;
    if (!(now.normwise <= solved.normwise)) solved.normwise = now.normwise;
    results.push_back(std::move(own));
  }
  for (std::int64_t j = 0; j < b.columns(); ++j) {
    for (std::int64_t i = 0; i < columns(); ++i)
      x.data()[i * x.row_stride() + j * x.column_stride()] =
          results[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
  }
  return solved;
}

#define TRN_QR(T) template class Qr<T>;
TRN_SPARSE_SCALARS(TRN_QR)
#undef TRN_QR

}  // namespace trn::sparse
