// Multifrontal LU on the pattern of A + A^T, rows matched to columns first. A pivot too small in its front waits
// for the parent's, so the factors are those of threshold pivoting whatever the values.
#include <trn/core/linear_operator.hpp>

#include "direct/analysis.hpp"
#include "direct/matching.hpp"
#include "direct/refine.hpp"
// after host/triangle.hpp, whose times() it uses
#include "direct/lu_front.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace direct {

struct LuAnalysis {
  Pattern<> pattern;
  LuOptions options;
  Matching matching;
  Tree tree;
  FactorReport report;
  std::vector<std::int32_t> row_label, column_label;  // of each row and column of A
  std::vector<std::int64_t> entry_offsets;            // of each node
  struct Entry {
    std::int64_t source;
    std::int32_t row, column;  // places in the front, rows without delays
  };
  std::vector<Entry> entries;
};

// What is kept of a front. e pivots; L is f x e with U11 in its upper triangle, U12 is e x (f - e).
template <Scalar T> struct LuNode {
  std::int64_t e = 0, f = 0;
  std::vector<std::int32_t> rows, columns;  // labels; pivots first
  Raw<T> lower, upper;
};

namespace {

template <Scalar T> std::shared_ptr<const LuAnalysis> analyse_lu(const Csr<T>& matrix, const LuOptions& options) {
  const char* operation = "sparse.Lu";
  const CsrRef<T, std::int32_t> a = host_ref(matrix);
  const auto n = static_cast<std::size_t>(a.rows);
  auto made = std::make_shared<LuAnalysis>(LuAnalysis{matrix.pattern(), options, {}, {}, {}, {}, {}, {}, {}});
  if (options.match) {
    made->matching = match_rows(a);
  } else {
    made->matching.row_exponent.assign(n, 0), made->matching.column_exponent.assign(n, 0);
    for (std::int32_t i = 0; i < a.rows; ++i) made->matching.column_of.push_back(i);
  }
  if (made->matching.unmatched >= 0) return made;
  const std::vector<std::int32_t>& to = made->matching.column_of;
  Lists graph;
  {
    std::vector<std::int64_t> rows, columns;
    std::vector<std::vector<std::int32_t>> lists(n);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::int32_t r = to[static_cast<std::size_t>(i)];
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        const std::int32_t j = a.indices[k];
        if (j == r) continue;
        lists[static_cast<std::size_t>(r)].push_back(j), lists[static_cast<std::size_t>(j)].push_back(r);
      }
    }
    graph.offsets.push_back(0);
    for (auto& list : lists) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      graph.items.insert(graph.items.end(), list.begin(), list.end());
      graph.offsets.push_back(static_cast<std::int64_t>(graph.items.size()));
      list = {};
    }
  }
  Ordered ordered =
      choose_order(operation, graph, options, [&](const Permutation& order) { return symmetric_tree(graph, order); });
  made->tree = std::move(ordered.tree);
  const Tree& t = made->tree;
  made->report.ordering = ordered.ordering, made->report.nodes = t.nodes();
  made->column_label.resize(n), made->row_label.resize(n);
  for (std::size_t k = 0; k < n; ++k)
    made->column_label[static_cast<std::size_t>(t.order[k])] = static_cast<std::int32_t>(k);
  for (std::size_t i = 0; i < n; ++i) made->row_label[i] = made->column_label[static_cast<std::size_t>(to[i])];
  const auto node = [&](std::int64_t i, std::int64_t k) {
    const std::int32_t first = std::min(made->row_label[static_cast<std::size_t>(i)],
                                        made->column_label[static_cast<std::size_t>(a.indices[k])]);
    return static_cast<std::size_t>(t.node_of[static_cast<std::size_t>(first)]);
  };
  const auto each = [&](const auto& visit) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) visit(i, k);
    }
  };
  made->entry_offsets.assign(static_cast<std::size_t>(t.nodes()) + 1, 0);
  each([&](std::int64_t i, std::int64_t k) { ++made->entry_offsets[node(i, k) + 1]; });
  for (std::size_t s = 0; s + 1 < made->entry_offsets.size(); ++s) made->entry_offsets[s + 1] += made->entry_offsets[s];
  made->entries.resize(static_cast<std::size_t>(a.nnz()));
  std::vector<std::int64_t> next(made->entry_offsets.begin(), made->entry_offsets.end());
  each([&](std::int64_t i, std::int64_t k) {
    made->entries[static_cast<std::size_t>(next[node(i, k)]++)] = {
        k, made->row_label[static_cast<std::size_t>(i)], made->column_label[static_cast<std::size_t>(a.indices[k])]};
  });
  std::vector<std::int32_t> where(n);
  for (std::int64_t s = 0; s < t.nodes(); ++s) {
    const auto below = t.below(s);
    std::int32_t place = 0;
    for (std::int32_t i = 0; i < t.width(s); ++i)
      where[static_cast<std::size_t>(t.first[static_cast<std::size_t>(s)] + i)] = place++;
    for (const std::int32_t i : below) where[static_cast<std::size_t>(i)] = place++;
    for (auto e = static_cast<std::size_t>(made->entry_offsets[static_cast<std::size_t>(s)]);
         e < static_cast<std::size_t>(made->entry_offsets[static_cast<std::size_t>(s) + 1]); ++e) {
      auto& entry = made->entries[e];
      entry.row = where[static_cast<std::size_t>(entry.row)];
      entry.column = where[static_cast<std::size_t>(entry.column)];
    }
  }
  return made;
}

template <Scalar T> class LuRun {
 public:
  // `values`: scaled.
  LuRun(const LuAnalysis& analysis, const T* values, std::vector<LuNode<T>>& nodes)
      : analysis_(analysis),
        tree_(analysis.tree),
        values_(values),
        nodes_(nodes),
        rest_(static_cast<std::size_t>(tree_.nodes())) {}

  // The outcome's index is a column label.
  Outcome run() {
    const int threads = loop_threads();
    const Schedule plan = schedule(tree_, threads);
    std::vector<Outcome> outcomes(plan.subtrees.size());
    openmp_pieces(static_cast<std::int64_t>(plan.subtrees.size()), threads, [&](std::int64_t i, int) {
      outcomes[static_cast<std::size_t>(i)] = list(plan.subtrees[static_cast<std::size_t>(i)]);
    });
    Outcome first;
    for (const Outcome& o : outcomes) {
      if (!o.ok() && (first.ok() || o.index < first.index)) first = o;
    }
    return first.ok() ? list(plan.top) : first;
  }

 private:
  struct Scratch {
    std::vector<std::int32_t> where, row_places, column_places;
    std::vector<int> swaps;
  };

  Outcome list(const std::vector<std::int32_t>& of) {
    Scratch scratch;
    scratch.where.resize(static_cast<std::size_t>(tree_.n));
    for (const std::int32_t s : of) {
      const Outcome o = node(s, scratch);
      if (!o.ok()) return o;
    }
    return {};
  }

  std::int64_t waiting(std::int32_t c) const {
    const LuNode<T>& n = nodes_[static_cast<std::size_t>(c)];
    return n.f - n.e - static_cast<std::int64_t>(tree_.below(c).size());
  }

  // put(place, place, value) for the entries of A; children by add(child, places of rows, of columns).
  template <class Put, class Add> void assemble(std::int32_t s, Scratch& scratch, const Put* put, const Add& add) {
    const auto at = static_cast<std::size_t>(s);
    const std::int64_t k = tree_.width(s);
    std::int64_t delays = 0;
    for (const std::int32_t c : tree_.children_of(s)) delays += waiting(c);
    if (put != nullptr) {
      for (auto e = static_cast<std::size_t>(analysis_.entry_offsets[at]);
           e < static_cast<std::size_t>(analysis_.entry_offsets[at + 1]); ++e) {
        const auto& entry = analysis_.entries[e];
        (*put)(entry.row + (entry.row >= k ? delays : 0), entry.column + (entry.column >= k ? delays : 0),
               values_[entry.source]);
      }
    }
    std::int64_t extra = k;
    for (const std::int32_t c : tree_.children_of(s)) {
      const LuNode<T>& child = nodes_[static_cast<std::size_t>(c)];
      const std::int64_t count = child.f - child.e, late = waiting(c);
      const auto places = [&](const std::vector<std::int32_t>& labels, std::vector<std::int32_t>& to) {
        to.resize(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) {
          std::int64_t place = extra + i;
          if (i >= late) {
            place = scratch.where[static_cast<std::size_t>(labels[static_cast<std::size_t>(child.e + i)])];
            if (place >= k) place += delays;
          }
          to[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(place);
        }
      };
      places(child.rows, scratch.row_places), places(child.columns, scratch.column_places);
      add(c, count);
      extra += late;
    }
  }

  Outcome node(std::int32_t s, Scratch& scratch) {
    const auto at = static_cast<std::size_t>(s);
    const std::int64_t k = tree_.width(s);
    const auto below = tree_.below(s);
    const auto u = static_cast<std::int64_t>(below.size());
    LuNode<T>& own = nodes_[at];
    own.rows.clear();
    std::int32_t place = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      const auto label = static_cast<std::int32_t>(tree_.first[at] + i);
      own.rows.push_back(label);
      scratch.where[static_cast<std::size_t>(label)] = place++;
    }
    own.columns = own.rows;
    for (const std::int32_t c : tree_.children_of(s)) {
      const LuNode<T>& child = nodes_[static_cast<std::size_t>(c)];
      for (std::int64_t i = child.e; i < child.e + waiting(c); ++i) {
        own.rows.push_back(child.rows[static_cast<std::size_t>(i)]);
        own.columns.push_back(child.columns[static_cast<std::size_t>(i)]);
      }
    }
    const auto p = static_cast<std::int64_t>(own.rows.size()), f = p + u;
    for (const std::int32_t label : below) {
      own.rows.push_back(label), own.columns.push_back(label);
      scratch.where[static_cast<std::size_t>(label)] = place++;
    }
    own.f = f;
    const auto threshold = static_cast<Real<T>>(analysis_.options.threshold);
    own.lower = Raw<T>(f * p), own.upper = Raw<T>(p * u);
    T *panel = own.lower.get(), *right = own.upper.get();
    std::fill_n(panel, f * p, T(0)), std::fill_n(right, p * u, T(0));
    const auto put = [&](std::int64_t i, std::int64_t j, T v) {
      if (j < p)
        panel[j * f + i] += v;
      else
        right[(j - p) * p + i] += v;
    };
    const auto begin = scratch.row_places.begin();
    (void)begin;
    assemble(s, scratch, &put, [&](std::int32_t c, std::int64_t count) {
      const T* from = rest_[static_cast<std::size_t>(c)].get();
      const std::int32_t *ri = scratch.row_places.data(), *ci = scratch.column_places.data();
      const std::int64_t split = std::find_if(ri, ri + count, [&](std::int32_t x) { return x >= p; }) - ri;
      const auto column = [&](std::int64_t j) {
        const T* in = from + j * count;
        if (ci[j] < p) {
          T* out = panel + ci[j] * f;
          for (std::int64_t i = 0; i < count; ++i) out[ri[i]] += in[i];
        } else {
          T* out = right + (ci[j] - p) * p;
          for (std::int64_t i = 0; i < split; ++i) out[ri[i]] += in[i];
        }
      };
      if (count < 512)
        for (std::int64_t j = 0; j < count; ++j) column(j);
      else
        parallel_for(count, true, column);
    });
    const LuFront<T> front{f, p, u, panel, right, own.rows.data(), own.columns.data()};
    if (!front.eliminate(threshold, scratch.swaps)) return with_delays(s, p, scratch);
    own.e = p;
    if (u > 0) {
      Raw<T> rest(u * u);
      T* to = rest.get();
      subtract_product(u, u, p, panel + p, f, right, p, T(0), to, u);
      assemble(s, scratch, static_cast<decltype(&put)>(nullptr), [&](std::int32_t c, std::int64_t count) {
        const T* from = rest_[static_cast<std::size_t>(c)].get();
        const std::int32_t *ri = scratch.row_places.data(), *ci = scratch.column_places.data();
        const std::int64_t split = std::find_if(ri, ri + count, [&](std::int32_t x) { return x >= p; }) - ri;
        const auto column = [&](std::int64_t j) {
          if (ci[j] < p) return;
          const T* in = from + j * count;
          T* out = to + (ci[j] - p) * u - p;
          for (std::int64_t i = split; i < count; ++i) out[ri[i]] += in[i];
        };
        if (count < 512)
          for (std::int64_t j = 0; j < count; ++j) column(j);
        else
          parallel_for(count, true, column);
      });
      rest_[at] = std::move(rest);
    }
    drop_children(s);
    return {};
  }

  void drop_children(std::int32_t s) {
    for (const std::int32_t c : tree_.children_of(s)) rest_[static_cast<std::size_t>(c)].reset();
  }

  Outcome with_delays(std::int32_t s, std::int64_t p, Scratch& scratch) {
    LuNode<T>& own = nodes_[static_cast<std::size_t>(s)];
    const std::int64_t f = own.f;
    // Rows were swapped in vain: labels as they came.
    own.lower.reset(), own.upper.reset();
    std::copy_n(own.columns.begin(), tree_.width(s), own.rows.begin());
    std::int64_t extra = tree_.width(s);
    for (const std::int32_t c : tree_.children_of(s)) {
      const LuNode<T>& child = nodes_[static_cast<std::size_t>(c)];
      for (std::int64_t i = child.e; i < child.e + waiting(c); ++i)
        own.rows[static_cast<std::size_t>(extra++)] = child.rows[static_cast<std::size_t>(i)];
    }
    Raw<T> whole(f * f);
    T* a = whole.get();
    std::fill_n(a, f * f, T(0));
    const auto put = [&](std::int64_t i, std::int64_t j, T v) { a[j * f + i] += v; };
    assemble(s, scratch, &put, [&](std::int32_t c, std::int64_t count) {
      const T* from = rest_[static_cast<std::size_t>(c)].get();
      const std::int32_t *ri = scratch.row_places.data(), *ci = scratch.column_places.data();
      for (std::int64_t j = 0; j < count; ++j) {
        T* out = a + ci[j] * f;
        for (std::int64_t i = 0; i < count; ++i) out[ri[i]] += from[j * count + i];
      }
    });
    bool finite = true;
    const auto threshold = static_cast<Real<T>>(analysis_.options.threshold);
    const std::int64_t e = eliminate_with_delays(f, p, a, own.rows.data(), own.columns.data(), threshold, finite);
    const std::int32_t stuck = e < p ? own.columns[static_cast<std::size_t>(e)] : -1;
    if (!finite) return {Status::NotFinite, stuck};
    if (e < p && tree_.parent[static_cast<std::size_t>(s)] < 0) return {Status::Singular, stuck};
    const std::int64_t g = f - e;
    own.e = e;
    own.lower = Raw<T>(f * e), own.upper = Raw<T>(e * g);
    std::copy_n(a, f * e, own.lower.get());
    Raw<T> rest(g * g);
    for (std::int64_t j = 0; j < g; ++j) {
      std::copy_n(a + (e + j) * f, e, own.upper.get() + j * e);
      std::copy_n(a + (e + j) * f + e, g, rest.get() + j * g);
    }
    rest_[static_cast<std::size_t>(s)] = std::move(rest);
    drop_children(s);
    return {};
  }

  const LuAnalysis& analysis_;
  const Tree& tree_;
  const T* values_;
  std::vector<LuNode<T>>& nodes_;
  std::vector<Raw<T>> rest_;
};

template <Scalar T> T times_power(T x, int exponent) {
  if constexpr (ComplexScalar<T>)
    return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
  else
    return std::ldexp(x, exponent);
}

}  // namespace
}  // namespace direct

namespace detail {
template <Scalar T> struct LuData {
  std::shared_ptr<const direct::LuAnalysis> analysis;
  Csr<T> a;
  direct::Matching scaling;  // exponents alone
  std::vector<direct::LuNode<T>> nodes;
  Outcome outcome;
  FactorReport report;
  std::vector<T> column, work, gathered;  // of apply()

  LuData(const Csr<T>& matrix, const LuOptions& options) : a(matrix) {
    host_only("sparse.Lu", a.executor());
    check_square("sparse.Lu", a.extents());
    require(options.threshold > 0 && options.threshold <= 1,
            "sparse.Lu: a threshold of {}; it must be above 0 and at most 1", options.threshold);
    direct::check_options("sparse.Lu", options, a.rows());
    outcome = direct::check_finite(host_ref(a));
    column.resize(static_cast<std::size_t>(a.rows()));
    if (!outcome.ok()) return;
    analysis = direct::analyse_lu(a, options);
    factor();
  }
  LuData(std::shared_ptr<const direct::LuAnalysis> shared, const Csr<T>& matrix)
      : analysis(std::move(shared)), a(matrix) {
    outcome = direct::check_finite(host_ref(a));
    column.resize(static_cast<std::size_t>(a.rows()));
    if (outcome.ok()) factor();
  }

  void factor() {
    report = analysis->report;
    if (analysis->matching.unmatched >= 0) {
      outcome = {Status::Singular, analysis->matching.unmatched};
      return;
    }
    const CsrRef<T, std::int32_t> s = host_ref(a);
    scaling.row_exponent = analysis->matching.row_exponent,
    scaling.column_exponent = analysis->matching.column_exponent;
    if (analysis->options.match) direct::equilibrate(s, scaling);
    std::vector<T> scaled(static_cast<std::size_t>(s.nnz()));
    for (std::int64_t i = 0; i < s.rows; ++i) {
      for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k)
        scaled[static_cast<std::size_t>(k)] =
            direct::times_power(s.values[k], scaling.row_exponent[static_cast<std::size_t>(i)] +
                                                 scaling.column_exponent[static_cast<std::size_t>(s.indices[k])]);
    }
    nodes = std::vector<direct::LuNode<T>>(static_cast<std::size_t>(analysis->tree.nodes()));
    outcome = direct::LuRun<T>(*analysis, scaled.data(), nodes).run();
    if (!outcome.ok()) {
      outcome.index = analysis->tree.order[static_cast<std::size_t>(outcome.index)];
      nodes.clear();
      return;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto e = static_cast<double>(nodes[i].e), g = static_cast<double>(nodes[i].f) - e;
      report.entries += nodes[i].e * (2 * nodes[i].f - nodes[i].e);
      report.flops += e * e * e * 2 / 3 + 2 * e * e * g + 2 * e * g * g;
      report.largest_front = std::max(report.largest_front, nodes[i].f);
      report.delayed += nodes[i].f - nodes[i].e -
                        static_cast<std::int64_t>(analysis->tree.below(static_cast<std::int64_t>(i)).size());
    }
    work.resize(2 * static_cast<std::size_t>(a.rows()));
    gathered.resize(2 * static_cast<std::size_t>(report.largest_front));
  }

  // op(A)^-1 in place on `count` columns, one after the other. `work`: 2 n count, `spare`: 2 largest_front count.
  void solve(Op op, T* x, std::int64_t count, std::vector<T>& spread, std::vector<T>& spare) const {
    using D = direct::Dense<T>;
    const direct::Tree& t = analysis->tree;
    const std::int64_t n = t.n;
    const bool plain = op == Op::N;
    const CBLAS_TRANSPOSE turn = plain ? CblasNoTrans : op == Op::T || RealScalar<T> ? CblasTrans : CblasConjTrans;
    // First through the factor on the left of op(A), by its labels; then through the other one.
    const auto& in_label = plain ? analysis->row_label : analysis->column_label;
    const auto& out_label = plain ? analysis->column_label : analysis->row_label;
    const auto& in_scale = plain ? scaling.row_exponent : scaling.column_exponent;
    const auto& out_scale = plain ? scaling.column_exponent : scaling.row_exponent;
    T *y = spread.data(), *z = y + n * count, *w = spare.data();
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        y[j * n + in_label[i]] = direct::times_power(x[j * n + static_cast<std::int64_t>(i)], in_scale[i]);
    }
    const int columns = static_cast<int>(count);
    const auto step = [&](const direct::LuNode<T>& node, bool forward) {
      const int e = static_cast<int>(node.e), f = static_cast<int>(node.f), g = f - e;
      if (e == 0) return;
      const std::int32_t* labels = (plain == forward ? node.rows : node.columns).data();
      const std::int32_t* own_labels = (plain ? node.rows : node.columns).data();  // of y
      T* rest = w + static_cast<std::int64_t>(e) * count;
      const bool with_lower = plain == forward;
      const CBLAS_UPLO uplo = with_lower ? CblasLower : CblasUpper;
      const CBLAS_DIAG diag = with_lower ? CblasUnit : CblasNonUnit;
      // L21 is g x e below L11; U12 is e x g. op turns both.
      const T* off = with_lower ? node.lower.get() + e : node.upper.get();
      const int ld_off = with_lower ? f : e;
      const bool tall = with_lower;  // as stored: g x e
      for (std::int64_t j = 0; j < count; ++j) {
        for (int i = 0; i < e; ++i) w[j * e + i] = y[j * n + own_labels[i]];
      }
      const auto triangle = [&] {
        if (count == 1)
          D::trsv(uplo, turn, diag, e, node.lower.get(), f, w);
        else
          D::trsm(CblasLeft, uplo, turn, diag, e, columns, node.lower.get(), f, w, e);
      };
      if (forward) {
        triangle();
        if (g > 0) {  // rest = off w: g x count
          const int stored_rows = tall ? g : e, stored_columns = tall ? e : g;
          if (count == 1)
            D::gemv(turn, stored_rows, stored_columns, T(1), off, ld_off, w, T(0), rest);
          else
            D::gemm(turn, CblasNoTrans, g, columns, e, T(1), off, ld_off, w, e, T(0), rest, g);
        }
        for (std::int64_t j = 0; j < count; ++j) {
          for (int i = 0; i < e; ++i) y[j * n + own_labels[i]] = w[j * e + i];
          for (int i = 0; i < g; ++i) y[j * n + labels[e + i]] -= rest[j * g + i];
        }
        return;
      }
      for (std::int64_t j = 0; j < count; ++j) {
        for (int i = 0; i < g; ++i) rest[j * g + i] = z[j * n + labels[e + i]];
      }
      if (g > 0) {
        const int stored_rows = tall ? g : e, stored_columns = tall ? e : g;
        if (count == 1)
          D::gemv(turn, stored_rows, stored_columns, T(-1), off, ld_off, rest, T(1), w);
        else
          D::gemm(turn, CblasNoTrans, e, columns, g, T(-1), off, ld_off, rest, g, T(1), w, e);
      }
      triangle();
      for (std::int64_t j = 0; j < count; ++j) {
        for (int i = 0; i < e; ++i) z[j * n + labels[i]] = w[j * e + i];
      }
    };
    direct::tiles(1, [&](std::int64_t) {
      for (std::size_t s = 0; s < nodes.size(); ++s) step(nodes[s], true);
      for (std::size_t s = nodes.size(); s > 0; --s) step(nodes[s - 1], false);
    });
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        x[j * n + static_cast<std::int64_t>(i)] = direct::times_power(z[j * n + out_label[i]], out_scale[i]);
    }
  }
};
}  // namespace detail

template <Scalar T> Lu<T>::Lu(const Csr<T>& a, const LuOptions& options)
    : data_(std::make_shared<detail::LuData<T>>(a, options)) {}
template <Scalar T> Lu<T> Lu<T>::refactor(const Csr<T>& a) const {
  direct::check_same_pattern("sparse.Lu.refactor", a, data_->a.pattern());
  require(data_->analysis != nullptr, "sparse.Lu.refactor: there was no analysis, because row {} was not finite",
          data_->outcome.index);
  return Lu(std::make_shared<detail::LuData<T>>(data_->analysis, a));
}
template <Scalar T> std::int64_t Lu<T>::rows() const { return data_->a.rows(); }
template <Scalar T> const Executor& Lu<T>::executor() const { return data_->a.executor(); }
template <Scalar T> const Outcome& Lu<T>::outcome() const { return data_->outcome; }
template <Scalar T> const FactorReport& Lu<T>::report() const { return data_->report; }

template <Scalar T> Solved Lu<T>::solve(const std::type_identity_t<MatrixView<const T>>& b, const MatrixView<T>& x,
                                        Op op, const Refinement& refinement) const {
  direct::check_solve("sparse.Lu.solve", executor(), rows(), rows(), b, x, refinement);
  require(op == Op::N || op == Op::T || op == Op::C, "sparse.Lu.solve: op is {}, which is none of its values",
          static_cast<int>(op));
  if (!outcome().ok()) return direct::unsolved(outcome(), x);
  const auto& d = *data_;
  const CsrRef<T, std::int32_t> a = host_ref(d.a);
  std::vector<T> spread(static_cast<std::size_t>(2 * rows() * b.columns())),
      spare(static_cast<std::size_t>(2 * d.report.largest_front * b.columns()));
  const auto entries = [&](const auto& visit) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        if (op == Op::N)
          visit(i, a.indices[k], a.values[k]);
        else
          visit(a.indices[k], i, op == Op::C ? conjugate_of(a.values[k]) : a.values[k]);
      }
    }
  };
  return direct::solve_refined(
      rows(), b, x, refinement, [&](T* columns, std::int64_t count) { d.solve(op, columns, count, spread, spare); },
      entries);
}

template <Scalar T>
void Lu<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  auto& d = *data_;
  direct::apply_columns("sparse.Lu.apply", executor(), d.column, alpha, x, beta, y, [&](T* column) {
    if (!outcome().ok())
      std::fill_n(column, rows(), not_a_number<T>());
    else
      d.solve(op, column, 1, d.work, d.gathered);
  });
}

#define TRN_LU(T)       \
  template class Lu<T>; \
  static_assert(LinearOperator<Lu<T>, T>);
TRN_SPARSE_SCALARS(TRN_LU)
#undef TRN_LU

}  // namespace trn::sparse
