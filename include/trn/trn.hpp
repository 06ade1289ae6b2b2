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
#include <trn/rand/raw32.hpp>
#include <trn/rand/uniform.hpp>
