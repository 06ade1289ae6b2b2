// What the tests of sparse share: random matrices with empty rows and columns, dense copies, sums in 113-bit
// arithmetic.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include <trn/sparse/convert.hpp>
#include <trn/sparse/structure.hpp>

#include "support/message_of.hpp"

namespace trn::sparse {

__extension__ using Quad = __float128;
struct QuadComplex {
  Quad re = 0, im = 0;
};
template <Scalar T> QuadComplex quad(T x) {
  if constexpr (ComplexScalar<T>)
    return {x.real(), x.imag()};
  else
    return {x, 0};
}
inline QuadComplex operator+(QuadComplex a, QuadComplex b) { return {a.re + b.re, a.im + b.im}; }
inline QuadComplex operator*(QuadComplex a, QuadComplex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline double modulus(QuadComplex a) { return std::hypot(static_cast<double>(a.re), static_cast<double>(a.im)); }

template <Scalar T> T random_value(std::mt19937_64& r) {
  std::uniform_real_distribution<double> d(-1, 1);
  if constexpr (ComplexScalar<T>) {
    const double re = d(r), im = d(r);
    return {static_cast<Real<T>>(re), static_cast<Real<T>>(im)};
  } else {
    return static_cast<T>(d(r));
  }
}
template <Scalar T> std::vector<T> random_vector(std::int64_t size, std::uint64_t seed) {
  std::mt19937_64 r(seed);
  std::vector<T> v(static_cast<std::size_t>(size));
  for (T& x : v) x = random_value<T>(r);
  return v;
}

// About `per_row` entries in two rows of three, the third empty; the last column is empty where there are several.
template <Scalar T, Index I = std::int32_t>
Csr<T, I> random_csr(std::int64_t rows, std::int64_t columns, std::int64_t per_row, std::uint64_t seed) {
  std::mt19937_64 r(seed);
  std::vector<std::int64_t> is, js;
  std::vector<T> values;
  for (std::int64_t i = 0; i < rows && columns > 0; ++i) {
    if (i % 3 == 1) continue;
    for (std::int64_t k = 0; k < per_row; ++k) {
      is.push_back(i);
      js.push_back(static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(columns > 1 ? columns - 1 : 1)));
      values.push_back(random_value<T>(r));
    }
  }
  return Csr<T, I>::from_triplets(Executor::host(), {rows, columns}, {is, js, values});
}

// Row by row.
template <Scalar T, Index I> std::vector<T> dense(const Csr<T, I>& a) {
  std::vector<T> d(static_cast<std::size_t>(a.rows() * a.columns()));
  const std::int64_t* offsets = a.pattern().offsets().data();
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
      d[static_cast<std::size_t>(i * a.columns() + a.pattern().indices().data()[k])] = a.values().data()[k];
  }
  return d;
}

template <Scalar T, Index I> void expect_valid(const Csr<T, I>& a) {
  const auto nnz = static_cast<std::size_t>(a.nnz());
  EXPECT_NO_THROW(Pattern<I>(Executor::host(), a.extents(),
                             {a.pattern().offsets().data(), static_cast<std::size_t>(a.rows() + 1)},
                             {a.pattern().indices().data(), nnz}));
}

// A file that goes away with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& ending, const std::string& text = "") {
    static int count = 0;
    path_ = (std::filesystem::temp_directory_path() / fmt::format("trn_sparse_{}_{}{}", getpid(), ++count, ending))
                .string();
    if (!text.empty()) std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using testing_support::message_of;

}  // namespace trn::sparse
