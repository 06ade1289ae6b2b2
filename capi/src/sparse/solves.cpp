// Triangular solves, and what is left of the library's management.
#include <trn/sparse/structure.hpp>
#include <trn/sparse/triangular.hpp>

#include "../blas/blas.hpp"
#include "operands.hpp"

namespace trn::capi::sparse {

void create_handle(trnsparseHandle_t* handle) { capi::create_handle(handle); }
void destroy_handle(Call& c) { alive<trnsparseContext>().remove(&c.handle); }
void get_version(Call&, int* version) { answer("version", version, 12600); }
void set_pointer_mode(Call& c, trnsparsePointerMode_t mode) {
  blas::set_pointer_mode(c, static_cast<trnblasPointerMode_t>(mode));
}
void get_pointer_mode(Call& c, trnsparsePointerMode_t* mode) { answer("mode", mode, c.handle.pointer_mode); }

// The analysis keeps a plan with the matrix's values of that time; updateMatrix gives it new ones.
namespace {
template <class T> struct Solver {
  Entries entries;
  ts::Csr<T> a;
  ts::TriangularOptions options;
  ts::TriangularPlan<T> plan;
};
void analyse(Call& c, trnsparseOperation_t op, const SpMat& m, Type compute, trnsparsePhases& phases) {
  host_only(c, "a triangular solve");
  require_one_type({compute, m.type});
  require(m.rows == m.columns, "A is {} x {}; it must be square", m.rows, m.columns);
  with_type(compute, [&]<class T>(T*) {
    const ts::TriangularOptions options{
        .op = op_of(op),
        .uplo = m.fill == TRNSPARSE_FILL_MODE_LOWER ? ts::Uplo::Lower : ts::Uplo::Upper,
        .diag = m.diag == TRNSPARSE_DIAG_TYPE_UNIT ? ts::Diag::Unit : ts::Diag::NonUnit};
    auto e = entries_of(c, m);
    auto a = csr_of<T>(c, m, e);
    const ts::TriangularPlan<T> plan(c.executor, a, options);
    phases.found = std::make_shared<Solver<T>>(std::move(e), a, options, plan);
    phases.type = compute, phases.op = op;
  });
}
template <class F> void with_solver(const trnsparsePhases& phases, const F& use) {
  require(phases.found != nullptr, "the analysis comes first");
  with_type(phases.type, [&]<class T>(T*) { use(*std::static_pointer_cast<Solver<T>>(phases.found)); });
}
void update(Call& c, trnsparsePhases& phases, void* values, int part) {
  require(part == 0 || part == 1, "the part is {}; it must be 0 or 1", part);
  with_solver(phases, [&]<class T>(Solver<T>& s) {
    const auto given = fetch<T>(c, "newValues", values, part == 0 ? s.a.nnz() : s.a.rows());
    std::vector<T> next(s.a.values().data(), s.a.values().data() + s.a.nnz());
    for (Int i = 0; i < s.a.rows(); ++i)
      for (Int k = s.entries.offsets[static_cast<std::size_t>(i)];
           k < s.entries.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (part == 0)
          next[at] = given[static_cast<std::size_t>(s.entries.places[at])];
        else if (s.entries.indices[at] == i)
          next[at] = given[static_cast<std::size_t>(i)];
      }
    s.a = s.a.with_values(host_view(next));
    s.plan = ts::TriangularPlan<T>(c.executor, s.a, s.options);
  });
}
void require_same(const trnsparsePhases& phases, trnsparseOperation_t op, Type compute) {
  require(phases.found != nullptr && phases.type == compute && phases.op == op,
          "the analysis, of the same operation and type, comes first");
}
}  // namespace

void sp_sv_analysis(Call& c, trnsparseOperation_t op, const void*, const SpMat* a, const DnVec* x, DnVec* y,
                    Type compute, trnsparseSpSVAlg_t alg, trnsparseSpSVDescr* phases, void*) {
  check_alg(alg, 0), (void)look(x), (void)look(y);
  analyse(c, op, *look(a), compute, *look(phases));
}
// A zero on the diagonal gives NaN, as cuSPARSE divides by it.
void sp_sv_solve(Call& c, trnsparseOperation_t op, const void* alpha, const SpMat* a, const DnVec* x, DnVec* y,
                 Type compute, trnsparseSpSVAlg_t alg, trnsparseSpSVDescr* phases) {
  check_alg(alg, 0), (void)look(a);
  const auto from = look(x), to = look(y);
  const auto found = look(phases);
  require_one_type({compute, from->type, to->type});
  require_same(*found, op, compute);
  with_solver(*found, [&]<class T>(const Solver<T>& s) {
    (void)s.plan.solve(scalar<T>(c, alpha, "alpha"), dense<const T>(c, "X", *from), dense<T>(c, "Y", *to));
  });
}
void sp_sv_update_matrix(Call& c, trnsparseSpSVDescr* phases, void* values, trnsparseSpSVUpdate_t part) {
  update(c, *look(phases), values, part);
}
void sp_sm_analysis(Call& c, trnsparseOperation_t op, trnsparseOperation_t op_b, const void*, const SpMat* a,
                    const DnMat* b, DnMat* to, Type compute, trnsparseSpSMAlg_t alg, trnsparseSpSMDescr* phases,
                    void*) {
  check_alg(alg, 0), (void)op_of(op_b), (void)look(b), (void)look(to);
  analyse(c, op, *look(a), compute, *look(phases));
}
void sp_sm_solve(Call& c, trnsparseOperation_t op, trnsparseOperation_t op_b, const void* alpha, const SpMat* a,
                 const DnMat* b, DnMat* to, Type compute, trnsparseSpSMAlg_t alg, trnsparseSpSMDescr* phases) {
  check_alg(alg, 0), (void)look(a);
  const auto right = look(b), result = look(to);
  const auto found = look(phases);
  require_one_type({compute, right->type, result->type});
  require_same(*found, op, compute);
  with_solver(*found, [&]<class T>(const Solver<T>& s) {
    (void)s.plan.solve(scalar<T>(c, alpha, "alpha"), dense<const T>(c, "B", *right, op_b), dense<T>(c, "C", *result));
  });
}
void sp_sm_update_matrix(Call& c, trnsparseSpSMDescr* phases, void* values, trnsparseSpSMUpdate_t part) {
  update(c, *look(phases), values, part);
}

// Orders and conversions of index arrays, whose base is 0 or 1.
namespace {
constexpr auto k32 = TRNSPARSE_INDEX_32I;
void sort_entries(Call& c, int m, int n, int nnz, int* rows, int* columns, int* order, bool by_column) {
  host_only(c, "sorting");
  auto row = integers(c, "the rows", rows, k32, nnz, 0), column = integers(c, "the columns", columns, k32, nnz, 0);
  auto p = order ? integers(c, "P", order, k32, nnz, 0) : std::vector<Int>();
  require(m >= 0 && n >= 0, "the matrix is {} x {}", m, n);
  std::vector<std::size_t> at(row.size());
  for (std::size_t k = 0; k < at.size(); ++k) at[k] = k;
  std::stable_sort(at.begin(), at.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t k) {
      return by_column ? std::pair(column[k], row[k]) : std::pair(row[k], column[k]);
    };
    return key(a) < key(b);
  });
  const auto reorder = [&](std::vector<Int>& v) {
    std::vector<Int> next;
    for (const std::size_t k : at) next.push_back(v[k]);
    v = std::move(next);
  };
  reorder(row), reorder(column);
  put_integers(c, "the rows", rows, k32, row, 0), put_integers(c, "the columns", columns, k32, column, 0);
  if (order) reorder(p), put_integers(c, "P", order, k32, p, 0);
}
std::vector<Int> lines_of(Call& c, const int* offsets, int lines, int nnz) {
  const auto list = integers(c, "the offsets", offsets, k32, lines + 1, 0);
  std::vector<Int> line;
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    require(list[i] <= list[i + 1], "the offsets fall at line {}", i);
    line.insert(line.end(), static_cast<std::size_t>(list[i + 1] - list[i]), static_cast<Int>(i));
  }
  require(static_cast<int>(line.size()) == nnz, "the offsets count {} entries and nnz is {}", line.size(), nnz);
  return line;
}
void sort_lines(Call& c, int lines, int nnz, const int* offsets, int* indices, int* order) {
  host_only(c, "sorting");
  const auto line = lines_of(c, offsets, lines, nnz);
  auto index = integers(c, "the indices", indices, k32, nnz, 0);
  auto p = order ? integers(c, "P", order, k32, nnz, 0) : std::vector<Int>(index.size());
  std::vector<std::tuple<Int, Int, Int>> all;
  for (std::size_t k = 0; k < index.size(); ++k) all.emplace_back(line[k], index[k], p[k]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) < std::pair(std::get<0>(b), std::get<1>(b));
  });
  for (std::size_t k = 0; k < all.size(); ++k) index[k] = std::get<1>(all[k]), p[k] = std::get<2>(all[k]);
  put_integers(c, "the indices", indices, k32, index, 0);
  if (order) put_integers(c, "P", order, k32, p, 0);
}
}  // namespace

void xcoosort_by_row(Call& c, int m, int n, int nnz, int* rows, int* columns, int* order, void*) {
  sort_entries(c, m, n, nnz, rows, columns, order, false);
}
void xcoosort_by_column(Call& c, int m, int n, int nnz, int* rows, int* columns, int* order, void*) {
  sort_entries(c, m, n, nnz, rows, columns, order, true);
}
void xcsrsort(Call& c, int m, int, int nnz, trnsparseMatDescr* d, const int* offsets, int* columns, int* order, void*) {
  (void)look(d);
  sort_lines(c, m, nnz, offsets, columns, order);
}
void xcscsort(Call& c, int, int n, int nnz, trnsparseMatDescr* d, const int* offsets, int* rows, int* order, void*) {
  (void)look(d);
  sort_lines(c, n, nnz, offsets, rows, order);
}
void create_identity_permutation(Call& c, int n, int* p) {
  check(Int{n});
  (void)device_memory(*c.handle.device, "p", p, Int{n} * Int{sizeof(int)});
  std::vector<Int> identity;
  for (int i = 0; i < n; ++i) identity.push_back(i);
  put_integers(c, "p", p, k32, identity, 0);
}
void xcsr2coo(Call& c, const int* offsets, int nnz, int m, int* rows, trnsparseIndexBase_t base) {
  host_only(c, "csr2coo");
  check(base);
  put_integers(c, "cooRowInd", rows, k32, lines_of(c, offsets, m, nnz), base);
}
void xcoo2csr(Call& c, const int* rows, int nnz, int m, int* offsets, trnsparseIndexBase_t base) {
  host_only(c, "coo2csr");
  check(base), check(Int{m});
  (void)device_memory(*c.handle.device, "csrSortedRowPtr", offsets, (Int{m} + 1) * Int{sizeof(int)});
  std::vector<Int> count(static_cast<std::size_t>(m) + 1);
  for (const Int row : integers(c, "cooRowInd", rows, k32, nnz, base)) {
    require(row >= 0 && row < m, "a row is {} (counted from 0) of {}", row, m);
    ++count[static_cast<std::size_t>(row) + 1];
  }
  for (std::size_t i = 1; i < count.size(); ++i) count[i] += count[i - 1];
  put_integers(c, "csrSortedRowPtr", offsets, k32, count, base);
}
void csr2csc_ex2(Call& c, int m, int n, int nnz, const void* values, const int* offsets, const int* columns,
                 void* csc_values, int* csc_offsets, int* csc_rows, Type type, trnsparseAction_t action,
                 trnsparseIndexBase_t base, trnsparseCsr2CscAlg_t alg, void*) {
  host_only(c, "csr2csc");
  check(base), check(type), check(Int{m}), check(Int{n}), check(Int{nnz});
  require(action == TRNSPARSE_ACTION_NUMERIC || action == TRNSPARSE_ACTION_SYMBOLIC, "action {}; it must be 0 or 1",
          static_cast<int>(action));
  require(alg == TRNSPARSE_CSR2CSC_ALG1 || alg == 2, "algorithm {}; there are 1 and 2", static_cast<int>(alg));
  const SpMat from{
      TRNSPARSE_FORMAT_CSR, m, n, nnz, plain(offsets), plain(columns), plain(values), k32, k32, base, type};
  const SpMat to{TRNSPARSE_FORMAT_CSC, m, n, nnz, csc_offsets, csc_rows, csc_values, k32, k32, base, type};
  with_type(type, [&]<class T>(T*) {
    if (action == TRNSPARSE_ACTION_NUMERIC) return put_csr<T>(c, to, csr_of<T>(c, from));
    const auto e = entries_of(c, from);
    const std::vector<float> nothing(e.indices.size());
    const ts::Csr<float> pattern({Executor::host(), {m, n}, e.offsets, e.indices}, host_view(nothing));
    put_pattern(c, to, ts::transpose(pattern).pattern());
  });
}

}  // namespace trn::capi::sparse
