// Vectors stored in a narrow format: every element is rounded where a loop would write it to memory.
#pragma once

#include <trn/blas/narrow.hpp>
#include <trn/core/array.hpp>

#include "iterative/run.hpp"

namespace trn::solver::iterative {

struct StoreRounding {
  DType format;  // bfloat16
  Rounding rounding;
  mutable std::uint64_t columns = 0;   // rounded so far: each draws a stream of its own
  mutable std::uint64_t elements = 0;  // of `round(values)`: each draws a word of its own

  // x = round(x), through float; the parts of a complex number are neighbours. Column by column on x's executor, the
  // same bits on all of them.
  template <class T> void round(const MatrixView<T>& x) const {
    constexpr std::int64_t kParts = ComplexScalar<T> ? 2 : 1;
    const std::int64_t n = x.rows(), parts = kParts * n;
    if (n == 0) return;
    const bool host = x.executor().family() == Family::Host;
    for (std::int64_t j = 0; j < x.columns(); ++j) {
      const Rounding how = next();
      if constexpr (!std::is_same_v<Real<T>, float>) {
        if (!host) fail<NotImplemented>("solver: vectors of {} are stored in bfloat16 on the host", name(dtype_of<T>));
      }
      if (host) {
        std::vector<float> values;
        const auto each = [&](auto f) {
          for (std::int64_t i = 0; i < n; ++i) {
            auto* part = reinterpret_cast<Real<T>*>(&host::element(x, i, j));
            for (std::int64_t c = 0; c < kParts; ++c) f(part[c]);
          }
        };
        each([&](Real<T>& v) { values.push_back(static_cast<float>(v)); });
        narrow(values, how, 0);
        std::size_t k = 0;
        each([&](Real<T>& v) { v = static_cast<Real<T>>(values[k++]); });
      } else if constexpr (std::is_same_v<Real<T>, float>) {
        const VectorView<T> column = x.column(j);
        if (column.stride() == 1) {
          on_device(x.executor(), reinterpret_cast<float*>(column.data()), parts, how);
          continue;
        }
        const Array<T> gathered(x.executor(), {n});
        const VectorView<T> dense(x.executor(), gathered.data(), n);
        blas::copy(x.executor(), column, dense);
        on_device(x.executor(), reinterpret_cast<float*>(dense.data()), parts, how);
        blas::copy(x.executor(), dense, column);
      }
    }
  }
  void round(std::vector<float>& values) const;  // on the host

 private:
  [[nodiscard]] Rounding next() const;
  void narrow(std::vector<float>& values, const Rounding& how, std::uint64_t first) const;
  static void on_device(const Executor& executor, float* values, std::int64_t n, const Rounding& how);
};

// cg.cpp's, with a StoreRounding behind `extra`.
template <class T> Outcome cg_loop(Run<T>& run, const void* extra);

}  // namespace trn::solver::iterative
