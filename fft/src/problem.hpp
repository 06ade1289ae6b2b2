// From a caller's Description to a Problem that kernels take as it is.
#pragma once

#include <trn/core/layout.hpp>

#include "kernels.hpp"

namespace trn::fft {

// One side in elements of its own type: axes (a halved one with n/2 + 1), then batch.
[[nodiscard]] std::vector<layout::Dim> input_dims(const Description& d);
[[nodiscard]] std::vector<layout::Dim> output_dims(const Description& d);
[[nodiscard]] bool is_empty(const Description& d);

// Throws InvalidArgument that says what is wrong with `d`.
void check(const Description& d, DType real);
// Of a description that passed check() and is not empty.
[[nodiscard]] Problem make_problem(const Description& d, DType real);

// The same set of places with no dimension of extent 1, largest output stride first, neighbours that are one dimension
// merged.
[[nodiscard]] std::vector<Dimension> normal_batch(std::vector<Dimension> dims);

// Why input and output may not share their first address; nullptr when they may.
[[nodiscard]] const char* in_place_trouble(const Description& d);

}  // namespace trn::fft
