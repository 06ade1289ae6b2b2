// The operations of trnblas as rows of a table: for each element type a function that prepares operands on an executor
// and returns the call, the direct call of OpenBLAS where there is one, and the work they do. `bench`, and the table of
// what runs where, read it.
#pragma once

#include <cblas.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <trn/blas/counts.hpp>
#include <trn/blas/storage.hpp>
#include <trn/core/array.hpp>

#include "memory.hpp"

namespace trn::tools {

struct BlasSize {
  std::int64_t m = 1024, n = 1024, k = 1024, count = 1;
  Precision precision = {};
};

struct BlasCase {
  std::function<Accuracy()> call;
  std::function<void()> peer;  // empty: OpenBLAS has none. Host operands only.
  blas::counts::Work work;     // of the call on real operands
};

using MakeBlasCase = BlasCase (*)(const Executor&, const BlasSize&);

struct BlasRow {
  const char* name;
  const char* formula;
  BlasSize size;         // of the benchmark, unless the options say otherwise
  MakeBlasCase make[4];  // float, double, complex<float>, complex<double>; null: not offered
  bool scalar = false;   // works on the caller's numbers: no executor, no dispatch
};

[[nodiscard]] std::span<const BlasRow> blas_level1_rows();
[[nodiscard]] std::span<const BlasRow> blas_level2_rows();
[[nodiscard]] std::span<const BlasRow> blas_level3_rows();
[[nodiscard]] std::span<const BlasRow> blas_extension_rows();
[[nodiscard]] std::vector<BlasRow> blas_rows();
[[nodiscard]] const BlasRow& blas_row(const std::string& name);
[[nodiscard]] const BlasRow& blas_gemm_row();  // which has a command of its own, and so is not among them

class Operation;
// A case as an operation, in a type and a precision.
[[nodiscard]] std::unique_ptr<Operation> blas_case(const BlasRow& row, const BlasSize& size, const std::string& dtype,
                                                   const std::string& precision);

// Random row-major matrices that the functions of a case share. A square one has a large diagonal and small numbers
// beside it, so that repeated products and solves neither grow nor vanish.
template <class T> class Operands {
 public:
  Operands(const Executor& e, std::initializer_list<std::pair<std::int64_t, std::int64_t>> shapes) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    double elements = 0, largest = 0;  // of all operands on the executor, and of the one that is being filled here
    for (const auto& [rows, columns] : shapes) {
      const double count = static_cast<double>(rows) * static_cast<double>(columns);
      elements += count, largest = std::max(largest, count);
    }
    require_memory("operands", (elements + largest) * sizeof(T));
    for (const auto& [rows, columns] : shapes) {
      std::vector<T> values(static_cast<std::size_t>(rows * columns));
      for (std::size_t i = 0; i < values.size(); ++i) {
        using R = blas::Real<T>;
        const bool square = rows == columns && rows > 1;
        const bool diagonal = square && i % static_cast<std::size_t>(columns + 1) == 0;
        const double scale = square ? 1.0 / static_cast<double>(rows) : 1;
        const double re = diagonal ? 1 : scale * uniform(random);
        if constexpr (blas::ComplexScalar<T>) {
          values[i] = T(static_cast<R>(re), static_cast<R>(diagonal ? 0 : scale * uniform(random)));
        } else {
          values[i] = static_cast<T>(re);
        }
      }
      matrices_.push_back(Matrix<T>::from_host(e, rows, columns, values));
    }
  }
  [[nodiscard]] MatrixView<T> matrix(std::size_t i) const { return matrices_[i].view(); }
  [[nodiscard]] VectorView<T> vector(std::size_t i) const {
    return {matrices_[i].executor(), matrices_[i].data(), matrices_[i].columns(), 1};
  }
  [[nodiscard]] T* data(std::size_t i) const { return matrices_[i].data(); }

 private:
  std::vector<Matrix<T>> matrices_;
};

template <class T>
std::shared_ptr<const Operands<T>> operands(const Executor& e,
                                            std::initializer_list<std::pair<std::int64_t, std::int64_t>> shapes) {
  return std::make_shared<const Operands<T>>(e, shapes);
}

// A case named `id`: shapes of the operands p, our call, theirs, work as trnblas counts it. In scope: e, s, p; m, n, k
// (int) for cblas; dm, dn, dk for counts.
#define TRN_CASE(id, shapes, ours, theirs, count)                                                               \
  template <class T> BlasCase id##_case(const Executor& e, const BlasSize& s) {                                 \
    const auto p = operands<T>(e, shapes);                                                                      \
    [[maybe_unused]] const int m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k); \
    [[maybe_unused]] const double dm = double(s.m), dn = double(s.n), dk = double(s.k);                         \
    return {[=]() -> Accuracy { ours; }, theirs, blas::counts::count};                                          \
  }
#define TRN_SHAPES(...) \
  { __VA_ARGS__ }
#define TRN_THEIRS(...) [=] { __VA_ARGS__; }
#define TRN_NOBODY std::function<void()>()
#define TRN_PLAIN(...) \
  __VA_ARGS__;         \
  return {}
#define TRN_FOUR(id) \
  { id##_case<float>, id##_case<double>, id##_case<std::complex<float>>, id##_case<std::complex<double>> }
#define TRN_REALS(id) \
  { id##_case<float>, id##_case<double>, nullptr, nullptr }
#define TRN_COMPLEXES(id) \
  { nullptr, nullptr, id##_case<std::complex<float>>, id##_case<std::complex<double>> }

}  // namespace trn::tools
