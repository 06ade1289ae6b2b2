// Multifrontal LU on the pattern of A + A^T, rows matched to columns first. A pivot too small in its front waits
// for the parent's, so the factors are those of threshold pivoting whatever the values.
#include <trn/core/linear_operator.hpp>

#include "direct/lu_run.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace direct {

namespace {

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
