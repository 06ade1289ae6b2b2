// A function of each element of a tile: one instruction.
#pragma once

#include <trn/blas/product_program.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/builder.hpp>

namespace trn::blas::device {

// to = function(from); `to` may be `from`.
inline void record_function(tile::Builder& b, const ElementFunction& f, const tile::Access& to,
                            const tile::Access& from) {
  switch (f.kind) {
    case ElementFunction::Kind::Table:
      return b.activation(to, f.table, from);
    case ElementFunction::Kind::Scalar:
      return b.tensor_scalar(to, from, f.op, f.value, {.engine = tile::Engine::Vector});
    case ElementFunction::Kind::Reciprocal:
      return b.reciprocal(to, from);
    case ElementFunction::Kind::None:
      break;
  }
  fail<InternalError>("blas.product: no function to record");
}

}  // namespace trn::blas::device
