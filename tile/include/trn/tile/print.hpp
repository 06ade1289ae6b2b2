// print: a program as a listing people read: declarations, then one line per instruction with engines, loops indented.
#pragma once

#include <string>

#include <trn/tile/program.hpp>

namespace trn::tile {

[[nodiscard]] std::string print(const Program& program);
// One instruction on one line, with names instead of ids: used in listings and in error messages.
[[nodiscard]] std::string print(const Program& program, const Instruction& instruction);
[[nodiscard]] std::string print(const Program& program, const Access& access);
[[nodiscard]] std::string print(const Program& program, const Affine& affine);

}  // namespace trn::tile
