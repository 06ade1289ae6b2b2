// The functions of the solvers, sparse matrices and tensors that fill the extension module; context.hpp has the others.
#pragma once

#include <nanobind/nanobind.h>

namespace trn::python {

namespace nb = nanobind;

void bind_watch(nb::module_& m);
void bind_scaled(nb::module_& m);
void bind_stft(nb::module_& m);
void bind_convolve(nb::module_& m);
void bind_operators(nb::module_& m);
void bind_sparse_matrix(nb::module_& m);
void bind_sparse_products(nb::module_& m);
void bind_sparse_factors(nb::module_& m);
void bind_sparse_more(nb::module_& m);
void bind_rank_structured(nb::module_& m);
void bind_solver_dense(nb::module_& m);
void bind_solver_spectra(nb::module_& m);
void bind_solver_batched(nb::module_& m);
void bind_solver_iterative(nb::module_& m);
void bind_contractions(nb::module_& m);
void bind_block_sparse(nb::module_& m);
void bind_decompositions(nb::module_& m);

}  // namespace trn::python
