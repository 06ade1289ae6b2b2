// What the exported functions of cuSOLVER call: everything that capi/api/solver.api names.
#pragma once

#include "reductions.hpp"
#include "refinement.hpp"
#include "steps.hpp"

#include "solver_bodies.hpp"
