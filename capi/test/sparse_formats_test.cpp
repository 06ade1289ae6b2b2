// cuSPARSE's rows by their numbers, in four element types: products of sparse matrices, conversions and sorts, against
// dense loops in long double.
#include <algorithm>
#include <numeric>

#include "sparse_held.hpp"

namespace {

using namespace capi_test;
using Handle = SparseHandle;

template <class T> void products(int base) {
  const Handle h;
  Random random(10);
  constexpr int m = 5, k = 6, n = 4;
  const auto a = sprinkled<T>(random, m, k), b = sprinkled<T>(random, k, n);
  const T alpha = random.number<T>(), zero(0);
  const Held<T> ha(TRNSPARSE_FORMAT_CSR, a, base), hb(TRNSPARSE_FORMAT_CSR, b, 1 - base);
  const Mem<T> buffer(4);
  const auto alg = TRNSPARSE_SPGEMM_DEFAULT;
  std::int64_t count = 0, rows, columns, nnz;
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) count += a(i, l) != T(0) && b(l, j) != T(0);
  for (const bool again : {false, true}) {  // SpGEMM, SpGEMMreuse
    const Mem<int> oc(m + 1);
    trnsparseSpMatDescr_t c;
    trnsparseSpGEMMDescr_t phases;
    trnsparseSpGEMM_createDescr(&phases);
    TRN_OK(trnsparseCreateCsr(&c, m, n, 0, oc, nullptr, nullptr, kIndex<int>, kIndex<int>,
                              static_cast<trnsparseIndexBase_t>(base), kData<T>));
    std::size_t bytes[4] = {};
    const auto copy = [&] {
      return again ? trnsparseSpGEMMreuse_copy(h, kN, kN, ha, hb, c, alg, phases, bytes, buffer)
                   : trnsparseSpGEMM_copy(h, kN, kN, &alpha, ha, hb, &zero, c, kData<T>, alg, phases);
    };
    EXPECT_EQ(copy(), kInvalid);  // before there is something
    for (void* p : {static_cast<void*>(nullptr), static_cast<void*>(buffer)}) {
      if (again) {
        TRN_OK(trnsparseSpGEMMreuse_workEstimation(h, kN, kN, ha, hb, c, alg, phases, bytes, p));
        TRN_OK(trnsparseSpGEMMreuse_nnz(h, kN, kN, ha, hb, c, alg, phases, bytes, p, bytes + 1, p, bytes + 2, p));
      } else {
        TRN_OK(trnsparseSpGEMM_workEstimation(h, kN, kN, &alpha, ha, hb, &zero, c, kData<T>, alg, phases, bytes, p));
        TRN_OK(trnsparseSpGEMM_compute(h, kN, kN, &alpha, ha, hb, &zero, c, kData<T>, alg, phases, bytes, p));
      }
    }
    std::int64_t found = 0;
    TRN_OK(trnsparseSpGEMM_getNumProducts(phases, &found));
    EXPECT_EQ(found, count);
    trnsparseSpMatGetSize(c, &rows, &columns, &nnz);
    const Mem<int> cc(static_cast<std::size_t>(nnz));
    const Mem<T> vc(static_cast<std::size_t>(nnz));
    // The other family's last phase does not take what this one kept.
    if (again) {
      EXPECT_EQ(trnsparseSpGEMM_copy(h, kN, kN, &alpha, ha, hb, &zero, c, kData<T>, alg, phases), kInvalid);
    } else {
      EXPECT_EQ(trnsparseSpGEMMreuse_compute(h, kN, kN, &alpha, ha, hb, &zero, c, kData<T>, alg, phases), kInvalid);
    }
    EXPECT_EQ(copy(), kInvalid);  // C has no memory yet
    trnsparseCsrSetPointers(c, oc, cc, vc);
    TRN_OK(copy());
    auto left = a;
    for (int turn = 0; turn < (again ? 2 : 1); ++turn) {
      if (turn == 1) {  // other values
        for (T& x : left.x) x *= T(3);
        const auto values = Triples<T>(left, base, true).value;
        trnMemcpy(ha.values, values.data(), values.size() * sizeof(T), trnMemcpyHostToDevice);
      }
      if (again) {
        TRN_OK(trnsparseSpGEMMreuse_compute(h, kN, kN, &alpha, ha, hb, &zero, c, kData<T>, alg, phases));
      }
      const auto offsets = oc.get(), column = cc.get();
      const auto value = vc.get();
      int entry = 0;
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          Sum sum;
          for (int l = 0; l < k; ++l) sum.add(wide(alpha) * wide(left(i, l)) * wide(b(l, j)));
          if (sum.value() == Wide(0)) continue;
          ASSERT_LT(entry, nnz);
          EXPECT_EQ(column[static_cast<std::size_t>(entry)], j + base);
          EXPECT_GE(entry + base, offsets[static_cast<std::size_t>(i)]);
          EXPECT_LT(entry + base, offsets[static_cast<std::size_t>(i) + 1]);
          sum.expect(value[static_cast<std::size_t>(entry++)]);
        }
      EXPECT_EQ(entry, nnz);
    }
    const auto values = Triples<T>(a, base, true).value;
    trnMemcpy(ha.values, values.data(), values.size() * sizeof(T), trnMemcpyHostToDevice);
    EXPECT_EQ(trnsparseSpGEMM_compute(h, kN, kN, &alpha, hb, ha, &zero, c, kData<T>, alg, phases, bytes, buffer),
              kInvalid);  // extents
    EXPECT_EQ(trnsparseSpGEMM_compute(h, kN, kN, &alpha, ha, hb, &zero, c, kData<T>, trnsparseSpGEMMAlg_t(77), phases,
                                      bytes, buffer),
              kInvalid);
    trnsparseSpGEMM_destroyDescr(phases);
    EXPECT_EQ(copy(), kInvalid);
    trnsparseDestroySpMat(c);
  }
}
TEST(CSparseValues, SparseProducts) {
  for_types([]<class T>(T) { products<T>(0), products<T>(1); });
}

template <class T, class I> void conversions(int base) {
  const Handle h;
  Random random(11);
  constexpr int m = 6, n = 4;
  auto a = sprinkled<T>(random, m, n);
  a(2, 2) = T(NAN);  // is an entry
  const auto b = static_cast<trnsparseIndexBase_t>(base);
  const auto same = [](const Dense<T>& x, const Dense<T>& y) {
    for (std::size_t k = 0; k < x.x.size(); ++k)
      if (x.x[k] != y.x[k] && (x.x[k] == x.x[k] || y.x[k] == y.x[k])) return false;
    return true;
  };
  const Triples<T, I> rows(a, base), turned = Held<T, I>::turned(a, base);
  for (const auto order : kOrders)
    for (const auto format : kLines) {
      const DenseMatrix<T> from(a, order), to({m, n, std::vector<T>(m * n, T(7))}, order);
      const Held<T, I> held(format, a, base);
      TRN_OK(trnsparseSparseToDense(h, held, to, TRNSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
      EXPECT_TRUE(same(to.get(), a));
      // The same arrays again, sorted.
      const auto& wanted = format == TRNSPARSE_FORMAT_CSC ? turned : rows;
      const Held<T, I> made(format, Dense<T>{m, n}, base);
      TRN_OK(trnsparseDenseToSparse_analysis(h, from, made, TRNSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
      std::int64_t r, c, nnz;
      trnsparseSpMatGetSize(made, &r, &c, &nnz);
      ASSERT_EQ(nnz, wanted.nnz());
      const auto& first = format == TRNSPARSE_FORMAT_COO ? wanted.row : wanted.offsets;
      const Mem<I> d1(first.size()), d2(wanted.column.size());
      const Mem<T> dv(wanted.value.size());
      const auto set = format == TRNSPARSE_FORMAT_CSR   ? trnsparseCsrSetPointers
                       : format == TRNSPARSE_FORMAT_CSC ? trnsparseCscSetPointers
                                                        : trnsparseCooSetPointers;
      TRN_OK(set(made, d1, d2, dv));
      TRN_OK(trnsparseDenseToSparse_convert(h, from, made, TRNSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
      EXPECT_EQ(d1.get(), first);
      EXPECT_EQ(d2.get(), wanted.column);
      TRN_OK(trnsparseSparseToDense(h, made, to, TRNSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
      EXPECT_TRUE(same(to.get(), a));
      EXPECT_EQ(trnsparseSparseToDense(h, made, to, trnsparseSparseToDenseAlg_t(5), nullptr), kInvalid);
      const DenseMatrix<T> small({m, n - 1}, order);
      EXPECT_EQ(trnsparseSparseToDense(h, made, small, TRNSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr), kInvalid);
      const Mem<T> shorter(wanted.value.size() - 1);
      set(made, d1, d2, shorter);
      EXPECT_EQ(trnsparseDenseToSparse_convert(h, from, made, TRNSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr), kInvalid);
    }
  // Blocks of 2 x 2: places from the caller.
  for (const auto order : kOrders) {
    const DenseMatrix<T> from(a, order), to({m, n}, order);
    const Mem<I> offsets({I(base), I(base + 2), I(base + 4), I(base + 6)}),
        columns({I(base), I(base + 1), I(base), I(base + 1), I(base + 1), I(base)});
    const Mem<T> values(24), ell(24);
    trnsparseSpMatDescr_t blocks[2];
    TRN_OK(trnsparseCreateBsr(&blocks[0], 3, 2, 6, 2, 2, offsets, columns, values, kIndex<I>, kIndex<I>, b, kData<T>,
                              order));
    TRN_OK(trnsparseCreateBlockedEll(&blocks[1], m, n, 2, 4, columns, ell, kIndex<I>, b, kData<T>));
    for (auto* const block : blocks) {
      TRN_OK(trnsparseDenseToSparse_analysis(h, from, block, TRNSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
      TRN_OK(trnsparseDenseToSparse_convert(h, from, block, TRNSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
      TRN_OK(trnsparseSparseToDense(h, block, to, TRNSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
      EXPECT_TRUE(same(to.get(), a));
      trnsparseDestroySpMat(block);
    }
    const auto bsr = values.get(), stored = ell.get();
    const auto second = order == TRNSPARSE_ORDER_ROW ? a(0, 1) : a(1, 0);
    EXPECT_EQ(bsr[1], second);
    EXPECT_EQ(bsr[16], a(4, 2));  // the fifth block
    EXPECT_EQ(stored[1], a(0, 1));
    EXPECT_EQ(stored[16], a(4, 2));
  }
}
TEST(CSparseValues, DenseAndSparse) {
  for_types([]<class T>(T) { conversions<T, int>(1), conversions<T, std::int64_t>(0); });
}

template <class T> void by_columns(int base) {
  const Handle h;
  Random random(12);
  constexpr int m = 5, n = 7;
  const auto a = sprinkled<T>(random, m, n);
  const auto b = static_cast<trnsparseIndexBase_t>(base);
  const Triples<T> t(a, base, true), wanted = Held<T>::turned(a, base);
  const Mem<int> offsets(t.offsets), columns(t.column), co(n + 1), ci(t.column.size());
  const Mem<T> values(t.value), cv(t.value.size());
  const auto turn = [&](int rows, trnsparseAction_t action, int alg, const Mem<int>& to) {
    return trnsparseCsr2cscEx2(h, rows, n, t.nnz(), values, offsets, columns, cv, to, ci, kData<T>, action, b,
                               static_cast<trnsparseCsr2CscAlg_t>(alg), nullptr);
  };
  for (const auto action : {TRNSPARSE_ACTION_SYMBOLIC, TRNSPARSE_ACTION_NUMERIC}) {
    TRN_OK(turn(m, action, 1, co));
    EXPECT_EQ(co.get(), wanted.offsets);
    EXPECT_EQ(ci.get(), wanted.column);
    EXPECT_EQ(cv.get(), action == TRNSPARSE_ACTION_NUMERIC ? wanted.value : std::vector<T>(t.value.size()));
  }
  const Mem<int> shorter(n);
  EXPECT_EQ(turn(m, trnsparseAction_t(3), 1, co), kInvalid);
  EXPECT_EQ(turn(m, TRNSPARSE_ACTION_NUMERIC, 9, co), kInvalid);
  EXPECT_EQ(turn(-1, TRNSPARSE_ACTION_NUMERIC, 1, co), kInvalid);
  EXPECT_EQ(turn(m, TRNSPARSE_ACTION_NUMERIC, 1, shorter), kInvalid);
}
TEST(CSparseValues, Csr2csc) {
  for_types([]<class T>(T) { by_columns<T>(0), by_columns<T>(1); });
}

// Entries in any order, sorted with the permutation that came along; offsets and rows.
TEST(CSparseValues, SortsAndOffsets) {
  const Handle h;
  Random random(13);
  constexpr int m = 6, n = 5;
  for (int base = 0; base < 2; ++base) {
    const Triples<double> sorted(sprinkled<double>(random, m, n), base);
    const auto b = static_cast<trnsparseIndexBase_t>(base);
    const int nnz = sorted.nnz();
    std::vector<int> order(static_cast<std::size_t>(nnz));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    std::vector<int> row, column;
    for (const int k : order)
      row.push_back(sorted.row[static_cast<std::size_t>(k)]),
          column.push_back(sorted.column[static_cast<std::size_t>(k)]);
    for (const bool by_column : {false, true}) {
      const Mem<int> r(row), c(column), p(order.size());
      TRN_OK(trnsparseCreateIdentityPermutation(h, nnz, p));
      TRN_OK((by_column ? trnsparseXcoosortByColumn : trnsparseXcoosortByRow)(h, m, n, nnz, r, c, p, nullptr));
      const auto rr = r.get(), cc = c.get(), pp = p.get();
      for (std::size_t k = 0; k < order.size(); ++k) {
        const auto from = static_cast<std::size_t>(pp[k]);
        EXPECT_EQ(rr[k], row[from]);
        EXPECT_EQ(cc[k], column[from]);
        if (k == 0) continue;
        const std::pair before(by_column ? cc[k - 1] : rr[k - 1], by_column ? rr[k - 1] : cc[k - 1]),
            here(by_column ? cc[k] : rr[k], by_column ? rr[k] : cc[k]);
        EXPECT_LT(before, here);
      }
    }
    const Mem<int> r(sorted.row), offsets(m + 1), rows(order.size());
    TRN_OK(trnsparseXcoo2csr(h, r, nnz, m, offsets, b));
    EXPECT_EQ(offsets.get(), sorted.offsets);
    TRN_OK(trnsparseXcsr2coo(h, offsets, nnz, m, rows, b));
    EXPECT_EQ(rows.get(), sorted.row);
    // Lines of a compressed matrix: each is reversed first.
    auto mixed = sorted.column;
    for (int i = 0; i < m; ++i)
      std::reverse(mixed.begin() + sorted.offsets[static_cast<std::size_t>(i)] - base,
                   mixed.begin() + sorted.offsets[static_cast<std::size_t>(i) + 1] - base);
    const Described d(base);
    for (const bool csc : {false, true}) {
      const Mem<int> index(mixed), p(order.size());
      TRN_OK(trnsparseCreateIdentityPermutation(h, nnz, p));
      TRN_OK((csc ? trnsparseXcscsort : trnsparseXcsrsort)(h, csc ? n : m, csc ? m : n, nnz, d, offsets, index, p,
                                                           nullptr));
      EXPECT_EQ(index.get(), sorted.column);
      for (std::size_t k = 0; k < order.size(); ++k)
        EXPECT_EQ(mixed[static_cast<std::size_t>(p.get()[k])], sorted.column[k]);
    }
    const Mem<int> index(mixed);
    EXPECT_EQ(trnsparseXcsrsort(h, m, n, nnz - 1, d, offsets, index, nullptr, nullptr), kInvalid);
    EXPECT_EQ(trnsparseXcsrsort(h, -2, n, nnz, d, offsets, index, nullptr, nullptr), kInvalid);
    EXPECT_EQ(trnsparseXcoosortByRow(h, m, n, -1, r, index, nullptr, nullptr), kInvalid);
    EXPECT_EQ(trnsparseXcoosortByRow(h, m, n, nnz, mixed.data(), index, nullptr, nullptr), kInvalid);
    EXPECT_EQ(trnsparseXcoo2csr(h, r, nnz, -2, offsets, b), kInvalid);
    EXPECT_EQ(trnsparseXcoo2csr(h, r, nnz, 1, offsets, b), kInvalid);
    EXPECT_EQ(trnsparseXcsr2coo(h, offsets, nnz, -2, rows, b), kInvalid);
    EXPECT_EQ(trnsparseXcsr2coo(h, offsets, nnz, m, rows, trnsparseIndexBase_t(2)), kInvalid);
    EXPECT_EQ(trnsparseCreateIdentityPermutation(h, -1, rows), kInvalid);
    EXPECT_EQ(trnsparseCreateIdentityPermutation(h, nnz + 1, rows), kInvalid);
    EXPECT_EQ(trnsparseCreateIdentityPermutation(h, 2147483647, rows), kInvalid);  // at once: without such a list
  }
}

}  // namespace
