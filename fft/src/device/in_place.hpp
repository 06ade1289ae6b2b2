// Programs that work in place: the same instructions, with the outputs declared as continuations of the inputs.
//
// Every store of a line depends on products over all its points, so on all of its loads, and no store touches the
// memory of another line, because in place a line's input and output are the same memory. So a kernel made for two
// arrays is right for one (DeviceInPlace.AnyOrder). But the compiler takes tensors for separate memory unless the
// program says otherwise (docs/silicon.md), so the program is another one, and whether it is in place is a part of its
// key.
#pragma once

#include <string>
#include <trn/tile/program.hpp>
#include <utility>
#include <vector>

namespace trn::fft::device {

// Pairs of an input and the output that continues it. Where they are declared otherwise (real numbers and pairs) both
// get the declaration that spans the memory of the other.
using Continued = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] tile::Program continuing(const tile::Program& program, const Continued& pairs);
// The tensors of side x continued by those of side y, in the order of their declaration.
[[nodiscard]] tile::Program in_place(const tile::Program& program);

}  // namespace trn::fft::device
