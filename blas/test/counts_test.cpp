// The counts of trn/blas/counts.hpp against the definitions: plain loops whose numbers count what is done with them,
// and memory that counts which of its elements are read and written.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <trn/blas/counts.hpp>

namespace trn::blas::test {
namespace {

// A number that is only counted: operations on it, and the elements that are read and written.
struct Tally {
  double flops = 0;
  std::set<std::pair<int, int>> read, written;  // (operand, place)
  [[nodiscard]] counts::Work work() const {
    return {flops, static_cast<double>(read.size()) + static_cast<double>(written.size())};
  }
  void load(int operand, int place) { read.emplace(operand, place); }
  void store(int operand, int place) { written.emplace(operand, place); }
  void operations(double n) { flops += n; }
};

constexpr int kA = 0, kB = 1, kC = 2;

void expect(const char* what, const counts::Work& count, const std::function<void(Tally&)>& loops) {
  Tally t;
  loops(t);
  EXPECT_EQ(count.flops, t.work().flops) << what;
  EXPECT_EQ(count.elements, t.work().elements) << what;
}

// out(i) = sum over the places of row i of A times x, A stored as `stored` says; n rows.
void product(Tally& t, int n, int columns, const std::function<bool(int, int)>& there,
             const std::function<int(int, int)>& place) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < columns; ++j) {
      if (!there(i, j)) continue;
      t.load(kA, place(i, j)), t.load(kB, j), t.operations(2);  // a multiplication, and an addition to the sum
    }
    t.store(kC, i);
  }
}

TEST(Counts, ProductsAreThoseOfTheDefinition) {
  const auto all = [](int, int) { return true; };
  expect("gemv", counts::gemv(5, 7), [&](Tally& t) { product(t, 5, 7, all, [](int i, int j) { return i * 7 + j; }); });
  // Symmetric: an element is stored once and used twice.
  expect("symv", counts::symv(6),
         [&](Tally& t) { product(t, 6, 6, all, [](int i, int j) { return std::min(i, j) * 6 + std::max(i, j); }); });
  expect("gemm", counts::gemm(3, 4, 5), [](Tally& t) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) {
        for (int k = 0; k < 5; ++k) t.load(kA, i * 5 + k), t.load(kB, k * 4 + j), t.operations(2);
        t.store(kC, i * 4 + j);
      }
    }
  });
  expect("symm", counts::symm(4, 3), [](Tally& t) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 4; ++k)
          t.load(kA, std::min(i, k) * 4 + std::max(i, k)), t.load(kB, k * 3 + j), t.operations(2);
        t.store(kC, i * 3 + j);
      }
    }
  });
  expect("syrk", counts::syrk(5, 3), [](Tally& t) {
    for (int i = 0; i < 5; ++i) {
      for (int j = i; j < 5; ++j) {
        for (int k = 0; k < 3; ++k) t.load(kA, i * 3 + k), t.load(kA, j * 3 + k), t.operations(2);
        t.store(kC, i * 5 + j);
      }
    }
  });
  expect("syr2k", counts::syr2k(5, 3), [](Tally& t) {
    for (int i = 0; i < 5; ++i) {
      for (int j = i; j < 5; ++j) {
        for (int k = 0; k < 3; ++k) {
          for (const int operand : {kA, kB}) t.load(operand, i * 3 + k), t.load(operand, j * 3 + k), t.operations(2);
        }
        t.store(kC, i * 5 + j);
      }
    }
  });
}

TEST(Counts, TrianglesWithTheirDiagonal) {
  // x_i = (b_i - sum_{j < i} a_ij x_j) / a_ii, for each of n columns; x = A b has as many.
  expect("trsm", counts::trmm(6, 2), [](Tally& t) {
    for (int c = 0; c < 2; ++c) {
      for (int i = 0; i < 6; ++i) {
        t.load(kB, i * 2 + c);
        for (int j = 0; j < i; ++j) t.load(kA, i * 6 + j), t.operations(2);
        t.load(kA, i * 6 + i), t.operations(1);
        t.store(kC, i * 2 + c);
      }
    }
  });
  expect("trsv", counts::trmv(6), [](Tally& t) {
    for (int i = 0; i < 6; ++i) {
      t.load(kB, i), t.load(kA, i * 6 + i), t.operations(1), t.store(kC, i);
      for (int j = 0; j < i; ++j) t.load(kA, i * 6 + j), t.operations(2);
    }
  });
  expect("syr", counts::syr(5), [](Tally& t) {
    for (int i = 0; i < 5; ++i) {
      for (int j = i; j < 5; ++j)
        t.load(kB, i), t.load(kB, j), t.load(kA, i * 5 + j), t.store(kA, i * 5 + j), t.operations(2);
    }
  });
  expect("ger", counts::ger(4, 3), [](Tally& t) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 3; ++j)
        t.load(kB, i), t.load(kC, j), t.load(kA, i * 3 + j), t.store(kA, i * 3 + j), t.operations(2);
    }
  });
}

// Bands are counted with full rows, as they are stored: the corners outside the matrix are what is too many.
TEST(Counts, BandsUpToTheirCorners) {
  constexpr int n = 50, k = 3;
  Tally t;
  product(
      t, n, n, [](int i, int j) { return std::abs(i - j) <= k; }, [](int i, int j) { return i * n + j; });
  const counts::Work count = counts::gbmv(n, k);
  EXPECT_EQ(count.flops - t.flops, 2 * k * (k + 1));
  EXPECT_EQ(count.elements - t.work().elements, k * (k + 1));
}

TEST(Counts, VectorsAndTypes) {
  expect("axpy", counts::axpy(9), [](Tally& t) {
    for (int i = 0; i < 9; ++i) t.load(kA, i), t.load(kB, i), t.store(kB, i), t.operations(2);
  });
  expect("rot", counts::rot(9), [](Tally& t) {  // c x + s y and c y - s x
    for (int i = 0; i < 9; ++i) {
      for (const int v : {kA, kB}) t.load(v, i), t.store(v, i), t.operations(3);
    }
  });
  expect("dot", counts::dot(9), [](Tally& t) {
    for (int i = 0; i < 9; ++i) t.load(kA, i), t.load(kB, i), t.operations(2);
  });
  EXPECT_EQ(counts::flops(counts::gemm(2, 3, 4), DType::Complex64), 8 * 2 * 3 * 4);  // 4 products, 2 + 2 sums
  EXPECT_EQ(counts::flops(counts::scal_real(10), DType::Complex64), 20);             // two products each
  EXPECT_EQ(counts::bytes(counts::copy(10), DType::Complex128), 320);
  EXPECT_EQ((3.0 * counts::gemm(2, 3, 4)).elements, 3 * (8 + 12 + 6));
  EXPECT_EQ(counts::quantized_bytes(16, 4), 2.5);
}

}  // namespace
}  // namespace trn::blas::test
