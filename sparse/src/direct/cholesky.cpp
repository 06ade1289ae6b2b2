// Multifrontal Cholesky. The front of a node is its panel, in the factor's own memory, and the update matrix, which the
// parent adds to its own front and drops.
#include <trn/core/linear_operator.hpp>

#include "direct/analysis.hpp"
#include "direct/dense.hpp"
#include "direct/refine.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace direct {

struct CholeskyAnalysis {
  Pattern<> pattern;
  CholeskyOptions options;
  Tree tree;
  FactorReport report;
  std::vector<std::int64_t> panels;          // where each node's panel begins; (width + rows below) x width
  std::vector<std::int64_t> entry_offsets;   // of each node
  std::vector<std::int64_t> source, target;  // value of A (its complement: conjugated), place in the panel
};

namespace {

constexpr std::int64_t kPanel = 256, kTile = 512;

std::shared_ptr<const CholeskyAnalysis> analyse(const Pattern<>& pattern, const CholeskyOptions& options) {
  const char* operation = "sparse.Cholesky";
  host_only(operation, pattern.executor());
  check_square(operation, pattern.extents());
  require(options.uplo == Uplo::Lower || options.uplo == Uplo::Upper, "{}: uplo is {}, which is none of its values",
          operation, static_cast<int>(options.uplo));
  const PatternRef<std::int32_t> a = host_ref(pattern);
  const bool lower = options.uplo == Uplo::Lower;
  const auto each = [&](const auto& visit) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        if (lower ? a.indices[k] <= i : a.indices[k] >= i) visit(i, a.indices[k], k);
      }
    }
  };
  const auto n = static_cast<std::size_t>(a.rows);
  Lists graph;
  graph.offsets.assign(n + 1, 0);
  each([&](std::int64_t i, std::int64_t j, std::int64_t) {
    if (i != j) ++graph.offsets[static_cast<std::size_t>(i) + 1], ++graph.offsets[static_cast<std::size_t>(j) + 1];
  });
  for (std::size_t i = 0; i < n; ++i) graph.offsets[i + 1] += graph.offsets[i];
  graph.items.resize(static_cast<std::size_t>(graph.offsets.back()));
  {
    std::vector<std::int64_t> next(graph.offsets.begin(), graph.offsets.end());
    each([&](std::int64_t i, std::int64_t j, std::int64_t) {
      if (i == j) return;
      graph.items[static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++)] = static_cast<std::int32_t>(j);
      graph.items[static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++)] = static_cast<std::int32_t>(i);
    });
    for (std::size_t i = 0; i < n; ++i)
      std::sort(graph.items.begin() + graph.offsets[i], graph.items.begin() + graph.offsets[i + 1]);
  }
  auto made = std::make_shared<CholeskyAnalysis>(CholeskyAnalysis{pattern, options, {}, {}, {}, {}, {}, {}});
  Ordered ordered =
      choose_order(operation, graph, options, [&](const Permutation& order) { return symmetric_tree(graph, order); });
  made->tree = std::move(ordered.tree);
  const Tree& t = made->tree;
  made->report = {ordered.ordering, 0, t.flops, t.nodes(), 0, 0};
  made->report.entries = t.entries;
  made->panels.assign(1, 0);
  for (std::int64_t s = 0; s < t.nodes(); ++s) {
    const std::int64_t k = t.width(s), m = k + static_cast<std::int64_t>(t.below(s).size());
    made->panels.push_back(made->panels.back() + k * m);
    made->report.largest_front = std::max(made->report.largest_front, m);
  }
  // Entries go to the node of their earlier vertex.
  std::vector<std::int32_t> place(n);
  for (std::size_t k = 0; k < n; ++k) place[static_cast<std::size_t>(t.order[k])] = static_cast<std::int32_t>(k);
  const auto node = [&](std::int64_t i, std::int64_t j) {
    const std::int32_t p = std::min(place[static_cast<std::size_t>(i)], place[static_cast<std::size_t>(j)]);
    return static_cast<std::size_t>(t.node_of[static_cast<std::size_t>(p)]);
  };
  made->entry_offsets.assign(static_cast<std::size_t>(t.nodes()) + 1, 0);
  each([&](std::int64_t i, std::int64_t j, std::int64_t) { ++made->entry_offsets[node(i, j) + 1]; });
  for (std::size_t s = 0; s + 1 < made->entry_offsets.size(); ++s) made->entry_offsets[s + 1] += made->entry_offsets[s];
  made->source.resize(static_cast<std::size_t>(made->entry_offsets.back()));
  made->target.resize(made->source.size());
  std::vector<std::int64_t> next(made->entry_offsets.begin(), made->entry_offsets.end());
  each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const auto at = static_cast<std::size_t>(next[node(i, j)]++);
    const std::int64_t row = place[static_cast<std::size_t>(i)], column = place[static_cast<std::size_t>(j)];
    // (row, column) of the order, in its lower triangle; flipped entries are conjugated.
    made->source[at] = row >= column ? k : ~k;
    made->target[at] = std::max(row, column) << 32 | std::min(row, column);
  });
  std::vector<std::int32_t> where(n);
  for (std::int64_t s = 0; s < t.nodes(); ++s) {
    const std::int64_t first = t.first[static_cast<std::size_t>(s)], k = t.width(s);
    const auto below = t.below(s);
    const std::int64_t m = k + static_cast<std::int64_t>(below.size());
    for (std::int64_t i = 0; i < k; ++i) where[static_cast<std::size_t>(first + i)] = static_cast<std::int32_t>(i);
    for (std::size_t i = 0; i < below.size(); ++i)
      where[static_cast<std::size_t>(below[i])] = static_cast<std::int32_t>(k + static_cast<std::int64_t>(i));
    for (auto e = static_cast<std::size_t>(made->entry_offsets[static_cast<std::size_t>(s)]);
         e < static_cast<std::size_t>(made->entry_offsets[static_cast<std::size_t>(s) + 1]); ++e) {
      const std::int64_t row = made->target[e] >> 32, column = made->target[e] & 0xffffffff;
      made->target[e] = where[static_cast<std::size_t>(row)] + (column - first) * m;
    }
  }
  return made;
}

// The first k columns of an m x k panel (lower trapezoid) in place. Returns the column in trouble or -1.
template <Scalar T> std::int64_t factor_panel(std::int64_t m, std::int64_t k, T* p, Status& status) {
  using D = Dense<T>;
  const int ld = static_cast<int>(m);
  for (std::int64_t c = 0; c < k; c += kPanel) {
    const std::int64_t w = std::min(kPanel, k - c), after = c + w;
    T* diagonal = p + c * m + c;
    int info = 0;
    tiles(1, [&](std::int64_t) { D::potrf('L', static_cast<int>(w), diagonal, ld, info, 1); });
    for (std::int64_t j = 0; j < (info > 0 ? info : w); ++j) {
      if (!std::isfinite(std::real(diagonal[j * m + j]))) {
        status = Status::NotFinite;
        return c + j;
      }
    }
    if (info > 0) {
      status = Status::NotPositive;
      return c + info - 1;
    }
    const std::int64_t strips = (m - after + kTile - 1) / kTile;
    tiles(strips, [&](std::int64_t i) {
      const std::int64_t row = after + i * kTile, height = std::min(kTile, m - row);
      D::trsm(CblasRight, CblasLower, CblasConjTrans, CblasNonUnit, static_cast<int>(height), static_cast<int>(w),
              diagonal, ld, p + c * m + row, ld);
    });
    // The other columns of the panel.
    const std::int64_t wide = (k - after + kTile - 1) / kTile;
    if (wide == 0) continue;
    tiles(wide * strips, [&](std::int64_t t) {
      const std::int64_t column = after + t / strips * kTile, row = after + t % strips * kTile;
      if (row < column) return;
      const std::int64_t width = std::min(kTile, k - column), height = std::min(kTile, m - row);
      const T *left = p + c * m + row, *right = p + c * m + column;
      T* to = p + column * m + row;
      if (row == column) {
        D::herk_down(static_cast<int>(width), static_cast<int>(w), right, ld, 1, to, ld);
        if (height > width)
          D::gemm(CblasNoTrans, CblasConjTrans, static_cast<int>(height - width), static_cast<int>(width),
                  static_cast<int>(w), T(-1), left + width, ld, right, ld, T(1), to + width, ld);
      } else {
        D::gemm(CblasNoTrans, CblasConjTrans, static_cast<int>(height), static_cast<int>(width), static_cast<int>(w),
                T(-1), left, ld, right, ld, T(1), to, ld);
      }
    });
  }
  return -1;
}

// The lower triangle of U = -L2 L2^H.
template <Scalar T> void update_matrix(std::int64_t u, std::int64_t k, const T* l, std::int64_t m, T* to) {
  using D = Dense<T>;
  const std::int64_t strips = (u + kTile - 1) / kTile;
  tiles(strips * (strips + 1) / 2, [&](std::int64_t t) {
    std::int64_t j = 0;
    while (t >= strips - j) t -= strips - j, ++j;
    const std::int64_t column = j * kTile, row = (j + t) * kTile;
    const std::int64_t width = std::min(kTile, u - column), height = std::min(kTile, u - row);
    if (t == 0)
      D::herk_down(static_cast<int>(width), static_cast<int>(k), l + column, static_cast<int>(m), 0,
                   to + column * u + column, static_cast<int>(u));
    else
      D::gemm(CblasNoTrans, CblasConjTrans, static_cast<int>(height), static_cast<int>(width), static_cast<int>(k),
              T(-1), l + row, static_cast<int>(m), l + column, static_cast<int>(m), T(0), to + column * u + row,
              static_cast<int>(u));
  });
}

template <Scalar T> class CholeskyRun {
 public:
  CholeskyRun(const CholeskyAnalysis& analysis, const T* values, T* factor)
      : analysis_(analysis),
        tree_(analysis.tree),
        values_(values),
        factor_(factor),
        updates_(static_cast<std::size_t>(tree_.nodes())) {}

  // The outcome's index is a vertex of the order.
  Outcome run() {
    const int threads = loop_threads();
    const Schedule plan = schedule(tree_, threads);
    std::vector<Outcome> outcomes(plan.subtrees.size());
    openmp_pieces(static_cast<std::int64_t>(plan.subtrees.size()), threads, [&](std::int64_t i, int) {
      outcomes[static_cast<std::size_t>(i)] = nodes(plan.subtrees[static_cast<std::size_t>(i)]);
    });
    Outcome first;
    for (const Outcome& o : outcomes) {
      if (!o.ok() && (first.ok() || o.index < first.index)) first = o;
    }
    return first.ok() ? nodes(plan.top) : first;
  }

 private:
  Outcome nodes(const std::vector<std::int32_t>& list) {
    std::vector<std::int32_t> where(static_cast<std::size_t>(tree_.n)), relative;
    for (const std::int32_t s : list) {
      Status status = Status::Ok;
      const std::int64_t bad = node(s, where, relative, status);
      if (bad >= 0) return {status, tree_.first[static_cast<std::size_t>(s)] + bad};
    }
    return {};
  }

  std::int64_t node(std::int32_t s, std::vector<std::int32_t>& where, std::vector<std::int32_t>& relative,
                    Status& status) {
    const auto at = static_cast<std::size_t>(s);
    const std::int64_t first = tree_.first[at], k = tree_.width(s);
    const auto below = tree_.below(s);
    const auto u = static_cast<std::int64_t>(below.size()), m = k + u;
    T* p = factor_ + analysis_.panels[at];
    std::fill_n(p, m * k, T(0));
    for (auto e = static_cast<std::size_t>(analysis_.entry_offsets[at]);
         e < static_cast<std::size_t>(analysis_.entry_offsets[at + 1]); ++e) {
      const std::int64_t k_of = analysis_.source[e];
      p[analysis_.target[e]] = k_of >= 0 ? values_[k_of] : conjugate_of(values_[~k_of]);
    }
    if constexpr (ComplexScalar<T>) {
      for (std::int64_t j = 0; j < k; ++j) {
        if (p[j * m + j].imag() != 0) {
          status = Status::NotPositive;
          return j;
        }
      }
    }
    for (std::int64_t i = 0; i < k; ++i) where[static_cast<std::size_t>(first + i)] = static_cast<std::int32_t>(i);
    for (std::int64_t i = 0; i < u; ++i)
      where[static_cast<std::size_t>(below[static_cast<std::size_t>(i)])] = static_cast<std::int32_t>(k + i);
    // A child's column goes to the panel or to the update matrix. The panel first: the update matrix begins as
    // -L2 L2^H, which saves clearing it.
    const auto add = [&](bool panel, T* to, std::int64_t ld) {
      for (const std::int32_t c : tree_.children_of(s)) {
        const auto rows = tree_.below(c);
        const auto count = static_cast<std::int64_t>(rows.size());
        relative.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) relative[i] = where[static_cast<std::size_t>(rows[i])];
        const std::int64_t split = std::lower_bound(relative.begin(), relative.end(), k) - relative.begin();
        const T* from = updates_[static_cast<std::size_t>(c)].get();
        const std::int64_t shift = panel ? 0 : k, begin = panel ? 0 : split, end = panel ? split : count;
        const std::int32_t* rel = relative.data();
        const auto column = [&](std::int64_t j) {
          T* out = to + (rel[j] - shift) * ld - shift;
          const T* in = from + j * count;
          for (std::int64_t i = j; i < count; ++i) out[rel[i]] += in[i];
        };
        if (count < 512) {
          for (std::int64_t j = begin; j < end; ++j) column(j);
        } else {
          parallel_for(end - begin, true, [&](std::int64_t j) { column(begin + j); });
        }
      }
    };
    add(true, p, m);
    const std::int64_t bad = factor_panel(m, k, p, status);
    if (bad >= 0) return bad;
    if (u > 0) {
      updates_[at] = Raw<T>(u * u);
      update_matrix(u, k, p + k, m, updates_[at].get());
      add(false, updates_[at].get(), u);
    }
    for (const std::int32_t c : tree_.children_of(s)) updates_[static_cast<std::size_t>(c)].reset();
    return -1;
  }

  const CholeskyAnalysis& analysis_;
  const Tree& tree_;
  const T* values_;
  T* factor_;
  std::vector<Raw<T>> updates_;
};

}  // namespace
}  // namespace direct

namespace detail {
template <Scalar T> struct CholeskyData {
  std::shared_ptr<const direct::CholeskyAnalysis> analysis;
  Csr<T> a;
  direct::Raw<T> factor;
  Outcome outcome;
  std::vector<T> column, work, gathered;  // of apply()

  CholeskyData(std::shared_ptr<const direct::CholeskyAnalysis> shared, const Csr<T>& matrix, direct::Raw<T> memory)
      : analysis(std::move(shared)), a(matrix), factor(std::move(memory)) {
    outcome = direct::check_finite(host_ref(a));
    if (!outcome.ok()) return;
    outcome = direct::CholeskyRun<T>(*analysis, a.values().data(), factor.get()).run();
    if (!outcome.ok()) outcome.index = analysis->tree.order[static_cast<std::size_t>(outcome.index)];
    column.resize(static_cast<std::size_t>(a.rows()));
    work.resize(static_cast<std::size_t>(a.rows()));
    gathered.resize(static_cast<std::size_t>(analysis->report.largest_front));
  }

  // A^-1 in place on `count` columns, one after the other with step n. Conjugated: conj(A)^-1 = A^-T.
  void solve(T* x, std::int64_t count, bool conjugated, std::vector<T>& permuted, std::vector<T>& below) const {
    using D = direct::Dense<T>;
    const direct::Tree& t = analysis->tree;
    const std::int64_t n = t.n;
    const auto maybe = [&](T v) { return conjugated ? conjugate_of(v) : v; };
    const int columns = static_cast<int>(count), ldx = static_cast<int>(n);
    T* y = permuted.data();
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int64_t k = 0; k < n; ++k) y[j * n + k] = maybe(x[j * n + t.order[static_cast<std::size_t>(k)]]);
    }
    T* w = below.data();
    const auto step = [&](std::int64_t s, bool forward) {
      const int k = t.width(s), u = static_cast<int>(t.below(s).size()), m = k + u;
      const T* l = factor.get() + analysis->panels[static_cast<std::size_t>(s)];
      T* own = y + t.first[static_cast<std::size_t>(s)];
      const auto rows = t.below(s);
      if (forward) {
        if (count == 1)
          D::trsv(CblasLower, CblasNoTrans, CblasNonUnit, k, l, m, own);
        else
          D::trsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, k, columns, l, m, own, ldx);
        if (u == 0) return;
        if (count == 1)
          D::gemv(CblasNoTrans, u, k, T(1), l + k, m, own, T(0), w);
        else
          D::gemm(CblasNoTrans, CblasNoTrans, u, columns, k, T(1), l + k, m, own, ldx, T(0), w, u);
        for (std::int64_t j = 0; j < count; ++j) {
          for (int i = 0; i < u; ++i) y[j * n + rows[static_cast<std::size_t>(i)]] -= w[j * u + i];
        }
        return;
      }
      for (std::int64_t j = 0; j < count && u > 0; ++j) {
        for (int i = 0; i < u; ++i) w[j * u + i] = y[j * n + rows[static_cast<std::size_t>(i)]];
      }
      if (u > 0 && count == 1)
        D::gemv(CblasConjTrans, u, k, T(-1), l + k, m, w, T(1), own);
      else if (u > 0)
        D::gemm(CblasConjTrans, CblasNoTrans, k, columns, u, T(-1), l + k, m, w, u, T(1), own, ldx);
      if (count == 1)
        D::trsv(CblasLower, CblasConjTrans, CblasNonUnit, k, l, m, own);
      else
        D::trsm(CblasLeft, CblasLower, CblasConjTrans, CblasNonUnit, k, columns, l, m, own, ldx);
    };
    direct::tiles(1, [&](std::int64_t) {
      for (std::int64_t s = 0; s < t.nodes(); ++s) step(s, true);
      for (std::int64_t s = t.nodes() - 1; s >= 0; --s) step(s, false);
    });
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int64_t k = 0; k < n; ++k) x[j * n + t.order[static_cast<std::size_t>(k)]] = maybe(y[j * n + k]);
    }
  }
};
}  // namespace detail

template <Scalar T> Cholesky<T>::Cholesky(const Csr<T>& a, const CholeskyOptions& options) {
  auto analysis = direct::analyse(a.pattern(), options);
  direct::Raw<T> memory(analysis->panels.back());
  data_ = std::make_shared<detail::CholeskyData<T>>(std::move(analysis), a, std::move(memory));
}
template <Scalar T> Cholesky<T> Cholesky<T>::refactor(const Csr<T>& a) const& {
  direct::check_same_pattern("sparse.Cholesky.refactor", a, data_->analysis->pattern);
  direct::Raw<T> memory(data_->analysis->panels.back());
  return Cholesky(std::make_shared<detail::CholeskyData<T>>(data_->analysis, a, std::move(memory)));
}
template <Scalar T> Cholesky<T> Cholesky<T>::refactor(const Csr<T>& a) && {
  if (data_.use_count() > 1) return std::as_const(*this).refactor(a);
  direct::check_same_pattern("sparse.Cholesky.refactor", a, data_->analysis->pattern);
  return Cholesky(std::make_shared<detail::CholeskyData<T>>(data_->analysis, a, std::move(data_->factor)));
}
template <Scalar T> std::int64_t Cholesky<T>::rows() const { return data_->a.rows(); }
template <Scalar T> const Executor& Cholesky<T>::executor() const { return data_->a.executor(); }
template <Scalar T> const Outcome& Cholesky<T>::outcome() const { return data_->outcome; }
template <Scalar T> const FactorReport& Cholesky<T>::report() const { return data_->analysis->report; }
template <Scalar T> const Permutation& Cholesky<T>::order() const { return data_->analysis->tree.order; }

template <Scalar T> Csr<T> Cholesky<T>::lower() const {
  const direct::Tree& t = data_->analysis->tree;
  std::vector<std::int64_t> rows, columns;
  std::vector<T> values;
  for (std::int64_t s = 0; s < t.nodes(); ++s) {
    const std::int64_t first = t.first[static_cast<std::size_t>(s)], k = t.width(s);
    const auto below = t.below(s);
    const std::int64_t m = k + static_cast<std::int64_t>(below.size());
    for (std::int64_t j = 0; j < k; ++j) {
      for (std::int64_t i = j; i < m; ++i) {
        rows.push_back(i < k ? first + i : below[static_cast<std::size_t>(i - k)]);
        columns.push_back(first + j);
        values.push_back(outcome().ok()
                             ? data_->factor.get()[data_->analysis->panels[static_cast<std::size_t>(s)] + j * m + i]
                             : not_a_number<T>());
      }
    }
  }
  return Csr<T>::from_triplets(executor(), {t.n, t.n}, {rows, columns, values}, Duplicates::Error);
}

template <Scalar T> double Cholesky<T>::log_determinant() const {
  if (!outcome().ok()) return std::numeric_limits<double>::quiet_NaN();
  const direct::Tree& t = data_->analysis->tree;
  long double sum = 0;
  for (std::int64_t s = 0; s < t.nodes(); ++s) {
    const std::int64_t k = t.width(s), m = k + static_cast<std::int64_t>(t.below(s).size());
    const T* l = data_->factor.get() + data_->analysis->panels[static_cast<std::size_t>(s)];
    for (std::int64_t j = 0; j < k; ++j) sum += std::log(static_cast<long double>(std::real(l[j * m + j])));
  }
  return static_cast<double>(2 * sum);
}

template <Scalar T> Solved Cholesky<T>::solve(const std::type_identity_t<MatrixView<const T>>& b,
                                              const MatrixView<T>& x, const Refinement& refinement) const {
  direct::check_solve("sparse.Cholesky.solve", executor(), rows(), rows(), b, x, refinement);
  if (!outcome().ok()) return direct::unsolved(outcome(), x);
  const auto& d = *data_;
  const CsrRef<T, std::int32_t> a = host_ref(d.a);
  const bool lower = d.analysis->options.uplo == Uplo::Lower;
  std::vector<T> permuted(static_cast<std::size_t>(rows() * b.columns())),
      below(static_cast<std::size_t>(d.analysis->report.largest_front * b.columns()));
  const auto entries = [&](const auto& visit) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        const std::int64_t j = a.indices[k];
        if (lower ? j > i : j < i) continue;
        visit(i, j, a.values[k]);
        if (j != i) visit(j, i, conjugate_of(a.values[k]));
      }
    }
  };
  return direct::solve_refined(
      rows(), b, x, refinement,
      [&](T* columns, std::int64_t count) { d.solve(columns, count, false, permuted, below); }, entries);
}

template <Scalar T>
void Cholesky<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  auto& d = *data_;
  d.column.resize(static_cast<std::size_t>(rows()));
  direct::apply_columns("sparse.Cholesky.apply", executor(), d.column, alpha, x, beta, y, [&](T* column) {
    if (!outcome().ok())
      std::fill_n(column, rows(), not_a_number<T>());
    else
      d.solve(column, 1, ComplexScalar<T> && op == Op::T, d.work, d.gathered);
  });
}

#define TRN_CHOLESKY(T)       \
  template class Cholesky<T>; \
  static_assert(LinearOperator<Cholesky<T>, T>);
TRN_SPARSE_SCALARS(TRN_CHOLESKY)
#undef TRN_CHOLESKY

}  // namespace trn::sparse
