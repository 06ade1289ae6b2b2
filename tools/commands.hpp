// The subcommands of `trnsci`. Each function adds one to the application; what it does runs when it is chosen.
#pragma once

#include "operation.hpp"

namespace trn::tools {

using Operations = std::vector<std::unique_ptr<Operation>>;

void add_info(Command& program);
void add_bench(Command& program, const Operations& operations);
void add_profile(Command& program, const Operations& operations);
void add_emit(Command& program, const Operations& operations);
void add_disassemble(Command& program, const Operations& operations);
void add_validate(Command& program);
void add_neffc(Command& program);
void add_silicon_check(Command& program);
void add_silicon_diff(Command& program);
void add_compare(Command& program);
void add_coverage(Command& program);
void print_tensor_coverage();
void add_fuzz(Command& program);
void add_rand(Command& program);
void add_sparse(Command& program);
void add_einsum(Command& program);
void add_mp2(Command& program);
void add_mp2_model(Command& program);
void add_scale(Command& program);
void add_evidence(Command& program);
void add_completion(Command& program);
// `trnsci completion words WORD...` answers the scripts that `trnsci completion SHELL` prints.
inline constexpr std::string_view kCompleteWords[] = {"completion", "words"};

// `trnsci coverage sparse`.
void print_sparse_coverage();

// What `./run` alone shows.
void demonstration();

}  // namespace trn::tools
