// Everything an application needs: the libraries, executors and arrays. Link the target trn::trnsci.
#pragma once

#include <trn/blas/gemm.hpp>
#include <trn/blas/pair_energy.hpp>
#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/core/eft.hpp>
#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/core/executor.hpp>
#include <trn/core/precision.hpp>
#include <trn/core/view.hpp>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/binomial.hpp>
#include <trn/rand/dirichlet.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/gamma.hpp>
#include <trn/rand/integers.hpp>
#include <trn/rand/multivariate_normal.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/permutation.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/truncated_normal.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/rand/von_mises.hpp>
