// Elementwise fragments on tiles that are already on chip.
#pragma once

#include <string>

#include <trn/tile/builder.hpp>

namespace trn::tile::blocks {

// Declares a one-element float32 input and brings its value into every partition: a (P, 1) tile. For numbers that
// change from call to call, so that the program does not.
[[nodiscard]] Access scalar_input(Builder& b, const std::string& name);

// dst = alpha * x on the Vector or the Scalar Engine, rounded once to fp32 and once to dst's dtype. alpha is a number
// or a (P, 1) float32 tile. Callers that empty several PSUM banks alternate between the engines.
void scale(Builder& b, const Access& dst, const Access& x, const ScalarOrTile& alpha, Engine engine = Engine::Vector);

// dst = alpha * x + beta * y: each product and the sum rounded to fp32, then to dst's dtype. x may be in PSUM, y may
// not.
void scale_add(Builder& b, const Access& dst, const Access& x, const ScalarOrTile& alpha, const Access& y,
               const ScalarOrTile& beta);

}  // namespace trn::tile::blocks
