// cuSPARSE's rows by their numbers, in four element types: triangular solves, sparse vectors, sums, incomplete factors
// and banded systems, against dense loops in long double.
#include "sparse_held.hpp"

namespace {

using namespace capi_test;
using Handle = SparseHandle;

// op(triangle of A) X = alpha op(B); the other triangle is not read.
template <class T> void triangular() {
  const Handle h;
  Random random(5);
  constexpr int n = 7, k = 3;
  const auto a = sprinkled<T>(random, n, n, true);
  const Dense<T> b{n, k, random.numbers<T>(n * k)};
  const T alpha = T(2) + random.number<T>();
  int step = 0;
  for (const auto format : kLines)
    for (const auto o : kOps)
      for (int fill = 0; fill < 2; ++fill)
        for (int diag = 0; diag < 2; ++diag, ++step) {
          auto triangle = op(o, a);
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
              if ((o == kN) == (fill == 0) ? j > i : j < i) triangle(i, j) = 0;
              if (diag && i == j) triangle(i, j) = 1;
            }
          const auto check = [&](const Dense<T>& x) {
            for (int c = 0; c < x.columns; ++c)
              for (int i = 0; i < n; ++i) {
                Sum sum;
                for (int j = 0; j < n; ++j) sum.add(triangle(i, j) * wide(x(j, c)));
                sum.add(-wide(alpha) * wide(b(i, c)));
                sum.expect(T(0), 4 * n);
              }
          };
          const Held<T, std::int64_t> m(format, a, step % 2);
          for (const auto which : {TRNSPARSE_SPMAT_FILL_MODE, TRNSPARSE_SPMAT_DIAG_TYPE})
            TRN_OK(trnsparseSpMatSetAttribute(m, which, which == TRNSPARSE_SPMAT_FILL_MODE ? &fill : &diag, 4));
          const Mem<T> buffer(4);
          trnsparseSpSVDescr_t one;
          trnsparseSpSMDescr_t many;
          trnsparseSpSV_createDescr(&one), trnsparseSpSM_createDescr(&many);
          std::vector<T> first;
          for (int i = 0; i < n; ++i) first.push_back(b(i, 0));
          const DenseVector<T> x(first), y(std::vector<T>(n, T(NAN)));
          const auto sv = TRNSPARSE_SPSV_ALG_DEFAULT;
          const auto sm = TRNSPARSE_SPSM_ALG_DEFAULT;
          TRN_OK(trnsparseSpSV_analysis(h, o, &alpha, m, x, y, kData<T>, sv, one, buffer));
          TRN_OK(trnsparseSpSV_solve(h, o, &alpha, m, x, y, kData<T>, sv, one));
          check({n, 1, y.data.get()});
          const auto op_b = step % 3 ? kN : TRNSPARSE_OPERATION_TRANSPOSE;
          Dense<T> turned{k, n};
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < k; ++j) turned(j, i) = b(i, j);
          for (const auto order : kOrders) {
            const DenseMatrix<T> right(op_b == kN ? b : turned, order);
            const DenseMatrix<T> result({n, k, std::vector<T>(n * k, T(NAN))}, *(kOrders.begin() + step % 2));
            TRN_OK(trnsparseSpSM_analysis(h, o, op_b, &alpha, m, right, result, kData<T>, sm, many, buffer));
            TRN_OK(trnsparseSpSM_solve(h, o, op_b, &alpha, m, right, result, kData<T>, sm, many));
            check(result.get());
          }
          // Statuses: another operation than the analysis', wrong sizes, a stale matrix, an algorithm that is not.
          const DenseVector<T> longer(std::vector<T>(n + 1));
          const auto other = o == kN ? TRNSPARSE_OPERATION_TRANSPOSE : kN;
          EXPECT_EQ(trnsparseSpSV_solve(h, other, &alpha, m, x, y, kData<T>, sv, one), kInvalid);
          EXPECT_EQ(trnsparseSpSV_solve(h, o, &alpha, m, longer, y, kData<T>, sv, one), kInvalid);
          EXPECT_EQ(trnsparseSpSV_solve(h, o, &alpha, nullptr, x, y, kData<T>, sv, one), kInvalid);
          EXPECT_EQ(trnsparseSpSV_solve(h, o, &alpha, m, x, y, kData<T>, trnsparseSpSVAlg_t(7), one), kInvalid);
          trnsparseSpSV_destroyDescr(one), trnsparseSpSM_destroyDescr(many);
          EXPECT_EQ(trnsparseSpSV_solve(h, o, &alpha, m, x, y, kData<T>, sv, one), kInvalid);
        }
}
TEST(CSparseValues, TriangularSolves) {
  for_types([]<class T>(T) { triangular<T>(); });
}

template <class T, class I> void vectors(int base) {
  const Handle h;
  Random random(6);
  constexpr int n = 9;
  const std::vector<int> places{7, 0, 3, 8};
  const auto b = static_cast<trnsparseIndexBase_t>(base);
  const int nnz = static_cast<int>(places.size());
  std::vector<I> index;
  for (const int p : places) index.push_back(p + base);
  const auto values = random.numbers<T>(nnz), y = random.numbers<T>(n);
  const T alpha = random.number<T>(), beta = random.number<T>(), zero(0), sine = random.number<T>();
  const T cosine = random.number<T>();
  const Mem<I> di(index);
  const Mem<T> dv(values);
  trnsparseSpVecDescr_t x;
  TRN_OK(trnsparseCreateSpVec(&x, n, nnz, di, dv, kIndex<I>, b, kData<T>));
  const auto at = [&](int i) {  // x as a dense vector
    for (int k = 0; k < nnz; ++k)
      if (places[static_cast<std::size_t>(k)] == i) return wide(values[static_cast<std::size_t>(k)]);
    return Wide(0);
  };
  for (const bool nan : {false, true}) {  // beta = 0 never reads y
    const DenseVector<T> dy(nan ? std::vector<T>(n, T(NAN)) : y);
    TRN_OK(trnsparseAxpby(h, &alpha, x, nan ? &zero : &beta, dy));
    const auto got = dy.data.get();
    for (int i = 0; i < n; ++i) {
      Sum sum;
      sum.add(wide(alpha) * at(i));
      if (!nan) sum.add(wide(beta) * wide(y[static_cast<std::size_t>(i)]));
      sum.expect(got[static_cast<std::size_t>(i)]);
    }
  }
  const DenseVector<T> dy(y);
  for (const auto o : {kN, TRNSPARSE_OPERATION_CONJUGATE_TRANSPOSE}) {
    T got(0);
    TRN_OK(trnsparseSpVV(h, o, x, dy, &got, kData<T>, nullptr));
    Sum sum;
    for (int i = 0; i < n; ++i) sum.add((o == kN ? at(i) : std::conj(at(i))) * wide(y[static_cast<std::size_t>(i)]));
    sum.expect(got);
  }
  TRN_OK(trnsparseRot(h, &cosine, &sine, x, dy));
  const auto turned = dv.get(), other = dy.data.get();
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto p = static_cast<std::size_t>(places[k]);
    Sum first, second;
    first.add(wide(cosine) * wide(values[k])), first.add(wide(sine) * wide(y[p]));
    second.add(wide(cosine) * wide(y[p])), second.add(-wide(sine) * wide(values[k]));
    first.expect(turned[k]), second.expect(other[p]);
  }
  EXPECT_EQ(other[1], y[1]);
  TRN_OK(trnsparseGather(h, dy, x));
  for (std::size_t k = 0; k < places.size(); ++k) EXPECT_EQ(dv.get()[k], other[static_cast<std::size_t>(places[k])]);
  const DenseVector<T> scattered(std::vector<T>(n, T(5)));
  TRN_OK(trnsparseScatter(h, x, scattered));
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(scattered.data.get()[static_cast<std::size_t>(i)],
              at(i) == Wide(0) ? T(5) : other[static_cast<std::size_t>(i)]);
  // Statuses: lengths, the host's memory, an index beyond the vector, another type, a stale descriptor.
  const DenseVector<T> longer(std::vector<T>(n + 1));
  EXPECT_EQ(trnsparseScatter(h, x, longer), kInvalid);
  auto own = values;
  trnsparseSpVecSetValues(x, own.data());
  EXPECT_EQ(trnsparseGather(h, dy, x), kInvalid);
  trnsparseSpVecSetValues(x, dv);
  const T huge(9);
  T got(0);
  EXPECT_EQ(trnsparseSpVV(h, TRNSPARSE_OPERATION_TRANSPOSE, x, dy, &got, kData<T>, nullptr), kInvalid);
  EXPECT_EQ(trnsparseSpVV(h, kN, x, dy, &got, TRN_R_8I, nullptr), TRNSPARSE_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnsparseSpVV(h, kN, x, dy, nullptr, kData<T>, nullptr), kInvalid);
  EXPECT_EQ(trnsparseAxpby(h, nullptr, x, &huge, dy), kInvalid);
  const std::vector<I> beyond(4, static_cast<I>(n + base));
  trnMemcpy(di, beyond.data(), beyond.size() * sizeof(I), trnMemcpyHostToDevice);
  EXPECT_EQ(trnsparseScatter(h, x, dy), kInvalid);
  trnsparseDestroySpVec(x);
  EXPECT_EQ(trnsparseGather(h, dy, x), kInvalid);
}
TEST(CSparseValues, Vectors) {
  for_types([]<class T>(T) { vectors<T, int>(1), vectors<T, std::int64_t>(0); });
}

TRN_ROW(trnsparse, csrgeam2)
TRN_ROW(trnsparse, csrilu02_analysis)
TRN_ROW(trnsparse, csrilu02)
TRN_ROW(trnsparse, csric02_analysis)
TRN_ROW(trnsparse, csric02)

template <class T> void sums() {
  const Handle h;
  Random random(7);
  constexpr int m = 6, n = 5;
  const auto a = sprinkled<T>(random, m, n), b = sprinkled<T>(random, m, n);
  const T alpha = random.number<T>(), beta = random.number<T>();
  for (int bases = 0; bases < 8; ++bases) {
    const int base = bases >> 2;
    const Described da(bases & 1), db((bases >> 1) & 1), dc(base);
    const Triples<T> ta(a, bases & 1, true), tb(b, (bases >> 1) & 1);
    const Mem<int> oa(ta.offsets), ca(ta.column), ob(tb.offsets), cb(tb.column), oc(m + 1);
    const Mem<T> va(ta.value), vb(tb.value);
    int total = 0;
    TRN_OK(trnsparseXcsrgeam2Nnz(h, m, n, da, ta.nnz(), oa, ca, db, tb.nnz(), ob, cb, dc, oc, &total, nullptr));
    const Mem<int> cc(static_cast<std::size_t>(total));
    const Mem<T> vc(static_cast<std::size_t>(total));
    const auto run = [&](int rows, T* to) {
      return csrgeam2<T>(h.h, rows, n, &alpha, da.d, ta.nnz(), at(va), at(oa), at(ca), &beta, db.d, tb.nnz(), at(vb),
                         at(ob), at(cb), dc.d, to, at(oc), at(cc), static_cast<void*>(nullptr));
    };
    TRN_OK(run(m, vc));
    const auto offsets = oc.get(), columns = cc.get();
    const auto values = vc.get();
    int entry = 0;
    for (int i = 0; i < m; ++i) {
      EXPECT_EQ(offsets[static_cast<std::size_t>(i)], entry + base);
      for (int j = 0; j < n; ++j) {
        if (a(i, j) == T(0) && b(i, j) == T(0)) continue;
        Sum sum;
        sum.add(wide(alpha) * wide(a(i, j))), sum.add(wide(beta) * wide(b(i, j)));
        const auto k = static_cast<std::size_t>(entry++);
        ASSERT_LT(k, columns.size());
        EXPECT_EQ(columns[k], j + base);
        sum.expect(values[k]);
      }
    }
    EXPECT_EQ(entry, total);
    std::vector<T> own(static_cast<std::size_t>(total));
    EXPECT_EQ(run(m, own.data()), kInvalid);  // the host's memory
    EXPECT_EQ(run(-1, vc), kInvalid);
    EXPECT_EQ(run(m + 1, vc), kInvalid);  // offsets end too early
  }
}
TEST(CSparseValues, Geam2) {
  for_types([]<class T>(T) { sums<T>(); });
}

// Gaussian elimination on the pattern of A, and its Hermitian half.
template <class T> void incomplete(int base) {
  const Handle h;
  Random random(8);
  constexpr int n = 8;
  auto a = sprinkled<T>(random, n, n, true);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      a(j, i) = a(i, j);
      if constexpr (kComplex<T>) a(j, i) = std::conj(a(i, j));
    }
  for (int i = 0; i < n; ++i) a(i, i) = T(n);
  const Described d(base);
  const Triples<T> t(a, base, true);
  const Mem<int> offsets(t.offsets), columns(t.column);
  const auto policy = TRNSPARSE_SOLVE_POLICY_USE_LEVEL;
  const auto none = static_cast<void*>(nullptr);
  trnsparsecsrilu02Info_t lu;
  trnsparsecsric02Info_t ic;
  trnsparseCreateCsrilu02Info(&lu), trnsparseCreateCsric02Info(&ic);
  Dense<Wide> w = op(0, a), c = w;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k) {
      if (w(i, k) == Wide(0)) continue;
      w(i, k) /= w(k, k);
      for (int j = k + 1; j < n; ++j)
        if (a(i, j) != T(0)) w(i, j) -= w(i, k) * w(k, j);
    }
  for (int k = 0; k < n; ++k) {
    c(k, k) = std::sqrt(c(k, k));
    for (int i = k + 1; i < n; ++i) c(i, k) /= c(k, k);
    for (int j = k + 1; j < n; ++j)
      for (int i = j; i < n; ++i)
        if (a(i, j) != T(0)) c(i, j) -= c(i, k) * std::conj(c(j, k));
  }
  const auto check = [&](const std::vector<T>& got, const Dense<Wide>& wanted, bool lower) {
    for (std::size_t k = 0; k < got.size(); ++k) {
      const int i = t.row[k] - base, j = t.column[k] - base;
      const Wide value = lower && j > i ? wide(a(i, j)) : wanted(i, j);  // the upper half of csric02 stays
      EXPECT_LE(std::abs(wide(got[k]) - value), 40 * kUnit<T> * n) << i << ", " << j;
    }
  };
  const Mem<T> v1(t.value), v2(t.value);
  TRN_OK(csrilu02_analysis<T>(h.h, n, t.nnz(), d.d, at(v1), at(offsets), at(columns), lu, policy, none));
  TRN_OK(csrilu02<T>(h.h, n, t.nnz(), d.d, at(v1), at(offsets), at(columns), lu, policy, none));
  check(v1.get(), w, false);
  TRN_OK(csric02_analysis<T>(h.h, n, t.nnz(), d.d, at(v2), at(offsets), at(columns), ic, policy, none));
  TRN_OK(csric02<T>(h.h, n, t.nnz(), d.d, at(v2), at(offsets), at(columns), ic, policy, none));
  check(v2.get(), c, true);
  // A matrix that is not positive, or whose third pivot is zero; its place counts from the base.
  const Mem<int> ones({base, base + 1, base + 2, base + 3}), diagonal({base, base + 1, base + 2});
  const Mem<T> values({T(1), T(1), T(0)});
  int position = -5;
  TRN_OK(csrilu02<T>(h.h, 3, 3, d.d, at(values), at(ones), at(diagonal), lu, policy, none));
  EXPECT_EQ(trnsparseXcsrilu02_zeroPivot(h, lu, &position), TRNSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 2 + base);
  TRN_OK(csric02<T>(h.h, 3, 3, d.d, at(values), at(ones), at(diagonal), ic, policy, none));
  EXPECT_EQ(trnsparseXcsric02_zeroPivot(h, ic, &position), TRNSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 2 + base);
  EXPECT_EQ(csrilu02<T>(h.h, -3, 3, d.d, at(values), at(ones), at(diagonal), lu, policy, none), kInvalid);
  EXPECT_EQ(csrilu02<T>(h.h, 3, -2, d.d, at(values), at(ones), at(diagonal), lu, policy, none), kInvalid);
  EXPECT_EQ(csrilu02<T>(h.h, 3, 2, d.d, at(values), at(ones), at(diagonal), lu, policy, none), kInvalid);
  trnsparseDestroyCsrilu02Info(lu), trnsparseDestroyCsric02Info(ic);
  EXPECT_EQ(csrilu02<T>(h.h, 3, 3, d.d, at(values), at(ones), at(diagonal), lu, policy, none), kInvalid);
}
TEST(CSparseValues, IncompleteFactors) {
  for_types([]<class T>(T) { incomplete<T>(0), incomplete<T>(1); });
}

TRN_ROW(trnsparse, gtsv2)
TRN_ROW(trnsparse, gtsv2_nopivot)
TRN_ROW(trnsparse, gtsv2StridedBatch)
TRN_ROW(trnsparse, gtsvInterleavedBatch)
TRN_ROW(trnsparse, gpsvInterleavedBatch)
// Five bands of `count` systems: element i of band b and system s. The outer two are zero for three-band systems.
template <class T> void bands() {
  const Handle h;
  Random random(9);
  constexpr int m = 8, count = 3, stride = m + 2;
  const auto none = static_cast<void*>(nullptr);
  for (int row = 0; row < 7; ++row) {  // the routines below
    const bool five = row == 6, one = row<2, interleaved = row> 2;
    const int step = interleaved ? count : 1, next = interleaved ? 1 : row == 2 ? stride : m + 1;
    const auto place = [&](int i, int s) { return static_cast<std::size_t>(i * step + s * next); };
    const auto size = static_cast<int>(place(m - 1, count - 1)) + 1;
    std::vector<std::vector<T>> band;
    for (int b = 0; b < 5; ++b) band.push_back(random.numbers<T>(size));
    if (row != 0 && row != 4 && row != 5)
      for (T& x : band[2]) x += T(5);  // without pivots
    const auto right = random.numbers<T>(size);
    for (int b = 0; b < 5; ++b)  // what lies outside the matrix is zero
      for (int i = 0; i < m; ++i)
        for (int s = 0; s < count; ++s)
          if (i + b - 2 < 0 || i + b - 2 >= m) band[static_cast<std::size_t>(b)][place(i, s)] = T(0);
    const Mem<T> ds(band[0]), dl(band[1]), d(band[2]), du(band[3]), dw(band[4]), x(right);
    const auto solve = [&](int order) {
      switch (row) {
        case 0:
          return gtsv2<T>(h.h, order, count, at(dl), at(d), at(du), at(x), m + 1, none);
        case 1:
          return gtsv2_nopivot<T>(h.h, order, count, at(dl), at(d), at(du), at(x), m + 1, none);
        case 2:
          return gtsv2StridedBatch<T>(h.h, order, at(dl), at(d), at(du), at(x), count, stride, none);
        case 6:
          return gpsvInterleavedBatch<T>(h.h, 0, order, at(ds), at(dl), at(d), at(du), at(dw), at(x), count, none);
        default:
          return gtsvInterleavedBatch<T>(h.h, row - 3, order, at(dl), at(d), at(du), at(x), count, none);
      }
    };
    EXPECT_EQ(solve(-1), kInvalid);
    EXPECT_EQ(solve(100), kInvalid);  // too little memory
    ASSERT_EQ(x.get(), right);
    TRN_OK(solve(m));
    const auto got = x.get();
    for (int s = 0; s < count; ++s) {
      long double largest = 0;  // of the solution: the bound is the backward error's
      for (int i = 0; i < m; ++i) largest = std::max(largest, std::abs(wide(got[place(i, s)])));
      for (int i = 0; i < m; ++i) {
        Wide residual = wide(right[place(i, s)]);
        for (int b = five ? 0 : 1; b < (five ? 5 : 4); ++b)
          if (i + b - 2 >= 0 && i + b - 2 < m)
            residual -= wide(band[static_cast<std::size_t>(b)][place(i, one ? 0 : s)]) * wide(got[place(i + b - 2, s)]);
        EXPECT_LE(std::abs(residual), 100 * kUnit<T> * largest) << "routine " << row;
      }
    }
  }
  const Mem<T> x(9);
  EXPECT_EQ(gtsvInterleavedBatch<T>(h.h, 3, 3, at(x), at(x), at(x), at(x), 3, none), kInvalid);
  EXPECT_EQ(gtsv2<T>(h.h, 3, 3, at(x), at(x), at(x), at(x), 2, none), kInvalid);
  EXPECT_EQ(gtsv2StridedBatch<T>(h.h, 3, at(x), at(x), at(x), at(x), 3, 2, none), kInvalid);
}
TEST(CSparseValues, BandedSystems) {
  for_types([]<class T>(T) { bands<T>(); });
}

}  // namespace
