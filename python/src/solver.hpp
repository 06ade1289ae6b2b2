// What the bindings of trnsci.solver share.
#pragma once

#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/solver/report.hpp>

#include "operators.hpp"

namespace trn::python {

// (status, index, accuracy, rigorous, condition, iterations, levels, algorithm): trnsci/_outcome.py reads it.
[[nodiscard]] inline nb::tuple report_tuple(const solver::Report& r) {
  return nb::make_tuple(std::string(solver::name(r.outcome.status)), r.outcome.index, r.accuracy,
                        r.guarantee == solver::Guarantee::Rigorous, r.condition, r.iterations, r.levels,
                        std::string(r.algorithm));
}

[[nodiscard]] inline solver::Uplo uplo_of(bool lower) { return lower ? solver::Uplo::Lower : solver::Uplo::Upper; }

// A library's matrix as an operand: its memory, row-major.
template <class T> [[nodiscard]] Operand adopt_matrix(const Call& call, Matrix<T>&& matrix) {
  auto kept = std::make_shared<Matrix<T>>(std::move(matrix));
  const Shape shape{kept->rows(), kept->columns()};
  return {dtype_of<T>, shape, row_major_strides(shape), kept->data(), call.executor(), kept, {}};
}

}  // namespace trn::python
