// How many rows the host's Native trsm solves at a time: its bound depends on it (host/trsm.cpp).
#pragma once

#include <cstdint>

#include <trn/core/dtype.hpp>

namespace trn::blas {

[[nodiscard]] inline std::int64_t trsm_block(DType dtype) { return is_complex(dtype) ? 64 : 128; }

}  // namespace trn::blas
