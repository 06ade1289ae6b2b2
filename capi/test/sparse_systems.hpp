// For tests of sparse solvers: row-compressed arrays, handles with descriptors of both bases, solutions multiplied out.
#pragma once

#include <trnsolver_sp.h>

#include "typed.hpp"

namespace capi_test {

// Row-compressed arrays of a dense matrix with zeros left out.
template <class T> struct Csr {
  Csr(const Dense<T>& a, int index_base) : base(index_base) {
    offsets.push_back(base);
    for (int i = 0; i < a.rows; ++i) {
      for (int j = 0; j < a.columns; ++j)
        if (a(i, j) != T(0)) columns.push_back(j + base), values.push_back(a(i, j));
      offsets.push_back(static_cast<int>(columns.size()) + base);
    }
    nnz = static_cast<int>(columns.size());
  }
  int base, nnz = 0;
  std::vector<int> offsets, columns;
  std::vector<T> values;
};

// A handle and a descriptor of each base.
class Sp {
 public:
  Sp() {
    EXPECT_EQ(trnsolverSpCreate(&handle), 0);
    for (int b = 0; b < 2; ++b) {
      EXPECT_EQ(trnsparseCreateMatDescr(&descriptors[b]), 0);
      EXPECT_EQ(trnsparseSetMatIndexBase(descriptors[b], static_cast<trnsparseIndexBase_t>(b)), 0);
    }
  }
  ~Sp() {
    trnsparseDestroyMatDescr(descriptors[0]), trnsparseDestroyMatDescr(descriptors[1]);
    trnsolverSpDestroy(handle);
  }
  Sp(const Sp&) = delete;
  Sp& operator=(const Sp&) = delete;
  trnsolverSpHandle_t handle = nullptr;
  trnsparseMatDescr_t descriptors[2] = {};
};

template <class T> void expect_solved(const Dense<T>& a, const std::vector<T>& x, const std::vector<T>& b) {
  for (int i = 0; i < a.rows; ++i) {
    Sum sum;
    sum.add(wide(b[static_cast<std::size_t>(i)]));
    for (int j = 0; j < a.columns; ++j) sum.add(-wide(a(i, j)) * wide(x[static_cast<std::size_t>(j)]));
    EXPECT_LE(std::abs(sum.value()), 2000 * kUnit<T>) << "row " << i;
  }
}
// Hermitian, positive definite, sparse.
template <class T> Dense<T> definite(Random& random, int n) {
  Dense<T> a{n, n};
  for (int i = 0; i < n; ++i) {
    a(i, i) = T(8);
    for (const int j : {i - 1, i - 4})
      if (j >= 0) {
        a(i, j) = random.number<T>();
        if constexpr (kComplex<T>)
          a(j, i) = std::conj(a(i, j));
        else
          a(j, i) = a(i, j);
      }
  }
  return a;
}

}  // namespace capi_test
