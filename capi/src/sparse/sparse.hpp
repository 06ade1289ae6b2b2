// What the exported functions of cuSPARSE call: everything that capi/api/sparse.api names.
#pragma once

#include "legacy.hpp"
