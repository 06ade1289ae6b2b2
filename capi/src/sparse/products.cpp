// Products with dense matrices and vectors, and of two sparse matrices.
#include <trn/sparse/convert.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/vectors.hpp>

#include "operands.hpp"

namespace trn::capi::sparse {

namespace {

// The plan of the last product stays with the matrix: the same entries, operation and device take it again.
template <class T> struct KeptPlan {
  Entries entries;
  Op op;
  ts::SpmmPlan<T> plan;
};
template <class T> struct Kept {
  static constexpr char tag = 0;
  const void* type = &tag;
  KeptPlan<T> plan;
};

template <class T> ts::SpmmPlan<T> plan_for(Call& c, const std::shared_ptr<SpMat>& m, Op op, Int columns, Int batch) {
  Entries e = entries_of(c, *m, batch);
  const auto kept = std::static_pointer_cast<Kept<T>>(std::atomic_load(&m->plan));
  if (kept && kept->type == &Kept<T>::tag && kept->plan.op == op && kept->plan.entries == e &&
      &kept->plan.plan.executor().backend() == &c.executor.backend()) {
    const auto values = values_of<T>(c, *m, e.places, batch);
    const auto there = Array<T>::from_host(c.executor, {static_cast<Int>(values.size())}, values);
    return kept->plan.plan.with_values({c.executor, there.data(), there.size()});
  }
  const auto a = csr_of<T>(c, *m, e, batch);
  const ts::SpmmPlan<T> plan(c.executor, c.executor.family() == Family::Device ? a.to(c.executor) : a,
                             {.op = op, .columns = columns});
  if (m->batches == 1)
    std::atomic_store(
        &m->plan, std::shared_ptr<void>(std::make_shared<Kept<T>>(&Kept<T>::tag, KeptPlan<T>{std::move(e), op, plan})));
  return plan;
}

}  // namespace

void sp_mv(Call& c, trnsparseOperation_t op, const void* alpha, const SpMat* a, const DnVec* x, const void* beta,
           DnVec* y, Type compute, trnsparseSpMVAlg_t alg, void*) {
  const auto m = look(a);
  const auto from = look(x), to = look(y);
  check_alg(alg, TRNSPARSE_SPMV_BSR_ALG1);
  require_one_type({compute, m->type, from->type, to->type});
  with_type(compute, [&]<class T>(T*) {
    const auto plan = plan_for<T>(c, m, op_of(op), 1, 0);
    plan.execute(scalar<T>(c, alpha, "alpha"), dense<const T>(c, "X", *from), scalar<T>(c, beta, "beta"),
                 dense<T>(c, "Y", *to));
  });
}

void sp_mm(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const void* alpha, const SpMat* a,
           const DnMat* b, const void* beta, DnMat* to, Type compute, trnsparseSpMMAlg_t alg, void*) {
  const auto m = look(a);
  const auto right = look(b), result = look(to);
  check_alg(alg, TRNSPARSE_SPMM_BSR_ALG1);
  require_one_type({compute, m->type, right->type, result->type});
  const Int count = result->batches;
  for (const int batches : {m->batches, right->batches})
    require(batches == 1 || batches == count, "C has {} matrices and an operand {}", count, batches);
  with_type(compute, [&]<class T>(T*) {
    const T s = scalar<T>(c, alpha, "alpha"), t = scalar<T>(c, beta, "beta");
    for (Int k = 0; k < count; ++k) {
      const auto plan = plan_for<T>(c, m, op_of(op_a), result->columns, m->batches > 1 ? k : 0);
      plan.execute(s, dense<const T>(c, "B", *right, op_b, right->batches > 1 ? k : 0), t,
                   dense<T>(c, "C", *result, TRNSPARSE_OPERATION_NON_TRANSPOSE, k));
    }
  });
}

void sddmm(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const void* alpha, const DnMat* a,
           const DnMat* b, const void* beta, SpMat* s, Type compute, trnsparseSDDMMAlg_t alg, void*) {
  const auto left = look(a), right = look(b);
  const auto m = look(s);
  check_alg(alg, 0);
  require_one_type({compute, left->type, right->type, m->type});
  for (const int batches : {left->batches, right->batches})
    require(batches == 1 || batches == m->batches, "C has {} matrices and an operand {}", m->batches, batches);
  with_type(compute, [&]<class T>(T*) {
    const T f = scalar<T>(c, alpha, "alpha"), g = scalar<T>(c, beta, "beta");
    for (Int k = 0; k < m->batches; ++k) {
      const auto e = entries_of(c, *m, k);
      const auto at = csr_of<T>(c, *m, e, k);
      const auto found = ts::sddmm<T>(c.executor, f, dense<const T>(c, "A", *left, op_a, left->batches > 1 ? k : 0),
                                      dense<const T>(c, "B", *right, op_b, right->batches > 1 ? k : 0), g,
                                      c.executor.family() == Family::Device ? at.to(c.executor) : at)
                             .to(Executor::host());
      const auto values = found.values();
      put_values(c, *m, e.places, std::vector<T>(values.data(), values.data() + found.nnz()), k);
    }
  });
}

namespace {
// A sparse vector with rising indices, and where its values lie.
template <class T> struct Loaded {
  Entries e;
  ts::SparseVector<T> vector;
};
template <class T> Loaded<T> load(Call& c, const SpVec& v) {
  const auto index = integers(c, "the indices", v.indices, v.index_type, v.nnz, v.base);
  Entries e = sorted(1, v.size, std::vector<Int>(index.size()), index, {});
  const auto all = fetch<T>(c, "the values", v.values, v.nnz);
  std::vector<T> values;
  for (const Int at : e.places) values.push_back(all[static_cast<std::size_t>(at)]);
  ts::SparseVector<T> made(Executor::host(), v.size, e.indices, values);
  return {std::move(e), std::move(made)};
}
template <class T> void put_vector(Call& c, const SpVec& v, const Entries& e, const ts::SparseVector<T>& from) {
  std::vector<T> all(e.places.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[static_cast<std::size_t>(e.places[k])] = from.values().data()[k];
  store(c, "the values", v.values, all);
}
template <class T> VectorView<T> column(Call& c, const DnVec& v) {
  return {c.executor, dense<T>(c, "Y", v).data(), v.size, 1};
}
}  // namespace

void axpby(Call& c, const void* alpha, const SpVec* x, const void* beta, DnVec* y) {
  host_only(c, "axpby");
  const auto from = look(x);
  const auto to = look(y);
  require_one_type({from->type, to->type});
  with_type(to->type, [&]<class T>(T*) {
    ts::axpby(scalar<T>(c, alpha, "alpha"), load<T>(c, *from).vector, scalar<T>(c, beta, "beta"), column<T>(c, *to));
  });
}
void gather(Call& c, const DnVec* y, SpVec* x) {
  host_only(c, "gather");
  const auto from = look(y);
  const auto to = look(x);
  require_one_type({from->type, to->type});
  with_type(to->type, [&]<class T>(T*) {
    const auto places = load<T>(c, *to);
    put_vector(c, *to, places.e, ts::gather(places.vector, column<const T>(c, *from)));
  });
}
void scatter(Call& c, const SpVec* x, DnVec* y) {
  host_only(c, "scatter");
  const auto from = look(x);
  const auto to = look(y);
  require_one_type({from->type, to->type});
  with_type(to->type, [&]<class T>(T*) { ts::scatter(load<T>(c, *from).vector, column<T>(c, *to)); });
}
void rot(Call& c, const void* cosine, const void* sine, SpVec* x, DnVec* y) {
  host_only(c, "rot");
  const auto first = look(x);
  const auto second = look(y);
  require_one_type({first->type, second->type});
  with_type(first->type, [&]<class T>(T*) {
    const auto v = load<T>(c, *first);
    put_vector(c, *first, v.e,
               ts::rot(v.vector, column<T>(c, *second), scalar<T>(c, cosine, "c"), scalar<T>(c, sine, "s")));
  });
}
void sp_vv(Call& c, trnsparseOperation_t op, const SpVec* x, const DnVec* y, void* result, Type compute, void*) {
  host_only(c, "SpVV");
  const auto left = look(x);
  const auto right = look(y);
  require_one_type({compute, left->type, right->type});
  require(op == TRNSPARSE_OPERATION_NON_TRANSPOSE || op == TRNSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
          "the operation is {}; it must be 0 or 2", static_cast<int>(op));
  with_type(compute, [&]<class T>(T*) {
    c.write(static_cast<T*>(result), ts::spvv(op_of(op), load<T>(c, *left).vector, column<const T>(c, *right)));
  });
}

namespace {
template <class T> T& element(const MatrixView<T>& m, Int i, Int j) {
  return m.data()[i * m.row_stride() + j * m.column_stride()];
}
}  // namespace
void sparse_to_dense(Call& c, const SpMat* a, DnMat* b, trnsparseSparseToDenseAlg_t alg, void*) {
  host_only(c, "SparseToDense");
  const auto m = look(a);
  const auto to = look(b);
  check_alg(alg, 0);
  require_one_type({m->type, to->type});
  require(m->rows == to->rows && m->columns == to->columns, "A is {} x {} and B {} x {}", m->rows, m->columns, to->rows,
          to->columns);
  with_type(to->type, [&]<class T>(T*) {
    const auto view = dense<T>(c, "B", *to);
    const auto from = ts::to_dense(csr_of<T>(c, *m));
    for (Int i = 0; i < to->rows; ++i)
      for (Int j = 0; j < to->columns; ++j) element(view, i, j) = from.data()[i * to->columns + j];
  });
}
namespace {
bool by_pattern(const SpMat& m) { return m.format == TRNSPARSE_FORMAT_BLOCKED_ELL || m.format == TRNSPARSE_FORMAT_BSR; }
template <class F> void from_dense(Call& c, const DnMat* a, SpMat* b, int alg, const F& use) {
  host_only(c, "DenseToSparse");
  const auto from = look(a);
  const auto m = look(b);
  check_alg(alg, 0);
  require_one_type({from->type, m->type});
  require(from->rows == m->rows && from->columns == m->columns, "A is {} x {} and B {} x {}", from->rows, from->columns,
          m->rows, m->columns);
  with_type(m->type, [&]<class T>(T*) { use(*m, dense<const T>(c, "A", *from)); });
}
}  // namespace
// The number of entries; formats of blocks have theirs from the caller, with the places.
void dense_to_sparse_analysis(Call& c, const DnMat* a, SpMat* b, trnsparseDenseToSparseAlg_t alg, void*) {
  from_dense(c, a, b, alg, [&]<class T>(SpMat& m, const MatrixView<T>& view) {
    if (!by_pattern(m)) m.nnz = ts::from_dense(view).nnz();
  });
}
void dense_to_sparse_convert(Call& c, const DnMat* a, SpMat* b, trnsparseDenseToSparseAlg_t alg, void*) {
  from_dense(c, a, b, alg, [&]<class T>(SpMat& m, const MatrixView<T>& view) {
    using V = std::remove_const_t<T>;
    if (!by_pattern(m)) {
      const auto found = ts::from_dense(view);
      require(found.nnz() == m.nnz, "A has {} entries and the analysis found {}", found.nnz(), m.nnz);
      return put_csr<V>(c, m, found);
    }
    const auto e = entries_of(c, m);
    std::vector<V> values;
    for (Int i = 0; i < e.rows; ++i)
      for (Int k = e.offsets[static_cast<std::size_t>(i)]; k < e.offsets[static_cast<std::size_t>(i) + 1]; ++k)
        values.push_back(element(view, i, e.indices[static_cast<std::size_t>(k)]));
    store(c, "the values", m.values, std::vector<V>(static_cast<std::size_t>(stored_values(m))));
    put_values(c, m, e.places, values);
  });
}

// C = alpha A B: the first two phases are one, and the third hands the result over. beta has to be 0.
namespace {
using Gemm = trnsparseSpGEMMDescr;
constexpr int kResult = 1, kPlan = 2;  // what a descriptor keeps: the operation that came last
struct Pair {
  std::shared_ptr<SpMat> a, b, c;
  std::shared_ptr<Gemm> phases;
};
Pair pair(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const SpMat* a, const SpMat* b, SpMat* to,
          int alg, Gemm* phases) {
  host_only(c, "SpGEMM");
  check_alg(alg, TRNSPARSE_SPGEMM_ALG3);
  if (op_of(op_a) != Op::N || op_of(op_b) != Op::N) fail<NotImplemented>("op(A) or op(B) other than N");
  Pair p{look(a), look(b), look(to), look(phases)};
  require_one_type({p.a->type, p.b->type, p.c->type});
  require(p.c->rows == p.a->rows && p.c->columns == p.b->columns && p.a->columns == p.b->rows,
          "A is {} x {}, B {} x {} and C {} x {}", p.a->rows, p.a->columns, p.b->rows, p.b->columns, p.c->rows,
          p.c->columns);
  return p;
}
Int products(const Entries& a, const Entries& b) {
  Int sum = 0;
  for (const auto k : a.indices)
    sum += b.offsets[static_cast<std::size_t>(k) + 1] - b.offsets[static_cast<std::size_t>(k)];
  return sum;
}
// Buffers are asked for first, without memory; then the phase is called again with it.
bool asked(std::size_t* bytes, const void* buffer) {
  require(bytes != nullptr, "the address of the buffer's size is null");
  if (!buffer) *bytes = 16;
  return !buffer;
}
template <class T> void no_beta(const Call& c, const void* beta) {
  if (beta && scalar<T>(c, beta, "beta") != T(0)) fail<NotImplemented>("C = alpha A B + beta C with beta other than 0");
}
}  // namespace

void sp_gemm_work_estimation(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const void*, const SpMat* a,
                             const SpMat* b, const void*, SpMat* to, Type, trnsparseSpGEMMAlg_t alg, Gemm* phases,
                             std::size_t* bytes, void* buffer) {
  const Pair p = pair(c, op_a, op_b, a, b, to, alg, phases);
  if (!asked(bytes, buffer)) p.phases->products = products(entries_of(c, *p.a), entries_of(c, *p.b));
}
void sp_gemm_get_num_products(Gemm* phases, Int* count) { tell(count, look(phases)->products); }
void sp_gemm_estimate_memory(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const void*, const SpMat* a,
                             const SpMat* b, const void*, SpMat* to, Type, trnsparseSpGEMMAlg_t alg, Gemm* phases,
                             float fraction, std::size_t* bytes, void* buffer, std::size_t* later) {
  require(fraction > 0 && fraction <= 1, "the fraction is {}; it must be above 0 and at most 1", fraction);
  (void)pair(c, op_a, op_b, a, b, to, alg, phases);
  if (!asked(bytes, buffer)) tell(later, 16);
}
void sp_gemm_compute(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const void* alpha, const SpMat* a,
                     const SpMat* b, const void* beta, SpMat* to, Type compute, trnsparseSpGEMMAlg_t alg, Gemm* phases,
                     std::size_t* bytes, void* buffer) {
  const Pair p = pair(c, op_a, op_b, a, b, to, alg, phases);
  require_one_type({compute, p.a->type});
  if (asked(bytes, buffer)) return;
  with_type(compute, [&]<class T>(T*) {
    no_beta<T>(c, beta);
    auto made = std::make_shared<ts::Csr<T>>(
        ts::spgemm<T>(c.executor, scalar<T>(c, alpha, "alpha"), csr_of<T>(c, *p.a), csr_of<T>(c, *p.b)));
    p.c->nnz = made->nnz();
    p.phases->type = compute, p.phases->op = kResult, p.phases->found = std::move(made);
  });
}
void sp_gemm_copy(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const void*, const SpMat* a,
                  const SpMat* b, const void*, SpMat* to, Type compute, trnsparseSpGEMMAlg_t alg, Gemm* phases) {
  const Pair p = pair(c, op_a, op_b, a, b, to, alg, phases);
  require(p.phases->found != nullptr && p.phases->op == kResult && p.phases->type == compute,
          "SpGEMM_compute comes first");
  with_type(compute, [&]<class T>(T*) {
    const auto made = std::static_pointer_cast<ts::Csr<T>>(p.phases->found);
    require(made->rows() == p.c->rows && made->columns() == p.c->columns, "C is {} x {} and what was computed {} x {}",
            p.c->rows, p.c->columns, made->rows(), made->columns());
    put_csr<T>(c, *p.c, *made);
  });
}

// The same with the pattern kept for other values.
void sp_gemmreuse_work_estimation(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const SpMat* a,
                                  const SpMat* b, SpMat* to, trnsparseSpGEMMAlg_t alg, Gemm* phases, std::size_t* bytes,
                                  void* buffer) {
  (void)pair(c, op_a, op_b, a, b, to, alg, phases);
  (void)asked(bytes, buffer);
}
void sp_gemmreuse_nnz(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const SpMat* a, const SpMat* b,
                      SpMat* to, trnsparseSpGEMMAlg_t alg, Gemm* phases, std::size_t* bytes2, void* buffer2,
                      std::size_t* bytes3, void*, std::size_t* bytes4, void*) {
  const Pair p = pair(c, op_a, op_b, a, b, to, alg, phases);
  tell(bytes3, 16), tell(bytes4, 16);
  if (asked(bytes2, buffer2)) return;
  with_type(p.a->type, [&]<class T>(T*) {
    auto made =
        std::make_shared<ts::SpgemmPlan<T>>(c.executor, csr_of<T>(c, *p.a).pattern(), csr_of<T>(c, *p.b).pattern());
    p.c->nnz = made->pattern().nnz();
    p.phases->products = made->products();
    p.phases->type = p.a->type, p.phases->op = kPlan, p.phases->found = std::move(made);
  });
}
namespace {
template <class F> void with_plan(const Pair& p, const F& use) {
  require(p.phases->found != nullptr && p.phases->op == kPlan && p.phases->type == p.a->type,
          "SpGEMMreuse_nnz comes first");
  with_type(p.a->type, [&]<class T>(T*) { use(*std::static_pointer_cast<ts::SpgemmPlan<T>>(p.phases->found)); });
}
}  // namespace
void sp_gemmreuse_copy(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const SpMat* a, const SpMat* b,
                       SpMat* to, trnsparseSpGEMMAlg_t alg, Gemm* phases, std::size_t* bytes, void* buffer) {
  const Pair p = pair(c, op_a, op_b, a, b, to, alg, phases);
  if (p.c->format != TRNSPARSE_FORMAT_CSR) fail<NotImplemented>("SpGEMMreuse with C in another format than CSR");
  if (!asked(bytes, buffer)) with_plan(p, [&](const auto& plan) { put_pattern(c, *p.c, plan.pattern()); });
}
void sp_gemmreuse_compute(Call& c, trnsparseOperation_t op_a, trnsparseOperation_t op_b, const void* alpha,
                          const SpMat* a, const SpMat* b, const void* beta, SpMat* to, Type compute,
                          trnsparseSpGEMMAlg_t alg, Gemm* phases) {
  const Pair p = pair(c, op_a, op_b, a, b, to, alg, phases);
  require_one_type({compute, p.a->type});
  with_plan(p, [&]<class T>(const ts::SpgemmPlan<T>& plan) {
    no_beta<T>(c, beta);
    put_csr<T>(c, *p.c, plan.execute(scalar<T>(c, alpha, "alpha"), csr_of<T>(c, *p.a), csr_of<T>(c, *p.b)));
  });
}

}  // namespace trn::capi::sparse
