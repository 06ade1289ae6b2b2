// The shape of the blocks in which a product is computed: derived from PSUM's banks, SBUF's size and the speed of DMA.
#pragma once

#include "operand.hpp"

namespace trn::blas::device {

struct Blocking {
  std::int64_t bm, bn;     // block of C
  std::int64_t kc;         // tiles of 128 k per chunk
  std::int64_t a_buffers;  // panels in SBUF; 0: A is streamed like B
  std::int64_t b_buffers;
  std::int64_t last;             // at least so many tiles form the last chunk of a block where there are many
  std::int64_t row_buffers = 3;  // of rows of A that the Tensor Engine turns on their way in
};

[[nodiscard]] Blocking choose_blocking(const GemmShape& shape, const Scheme& scheme, Route a_route,
                                       const tile::Machine& machine);

}  // namespace trn::blas::device
