// Vectors stored in a narrow format: every element is rounded where a loop would write it to memory. Host only.
#pragma once

#include <trn/core/rounding.hpp>

#include "iterative/run.hpp"

namespace trn::solver::iterative {

struct StoreRounding {
  DType format;
  Rounding rounding;
  mutable std::uint64_t counter = 0;  // elements rounded so far: each draws a word of its own

  // x = round(x), through float; complex numbers part by part.
  template <class T> void round(const MatrixView<T>& x) const {
    Real<T>* part = nullptr;
    std::vector<float> values;
    constexpr int kParts = ComplexScalar<T> ? 2 : 1;
    for (int pass = 0; pass < 2; ++pass) {  // gather, then scatter
      std::size_t k = 0;
      for (std::int64_t j = 0; j < x.columns(); ++j) {
        for (std::int64_t i = 0; i < x.rows(); ++i) {
          part = reinterpret_cast<Real<T>*>(&host::element(x, i, j));
          for (int c = 0; c < kParts; ++c, ++k) {
            if (pass == 0) {
              values.push_back(static_cast<float>(part[c]));
            } else {
              part[c] = static_cast<Real<T>>(values[k]);
            }
          }
        }
      }
      if (pass == 0) round(values);
    }
  }
  void round(std::vector<float>& values) const;
};

// cg.cpp's, with a StoreRounding behind `extra`.
template <class T> Outcome cg_loop(Run<T>& run, const void* extra);

}  // namespace trn::solver::iterative
