// The subcommands of `trnsci`. Each function adds one to the application; what it does runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>

#include "operation.hpp"

namespace trn::tools {

using Operations = std::vector<std::unique_ptr<Operation>>;

// Makes `parent` demand one of its operations, and name them all when it gets another word or none.
void require_operation(CLI::App& parent);

void add_info(CLI::App& app);
void add_bench(CLI::App& app, const Operations& operations);
void add_profile(CLI::App& app, const Operations& operations);
void add_emit(CLI::App& app, const Operations& operations);
void add_disassemble(CLI::App& app, const Operations& operations);
void add_validate(CLI::App& app);
void add_coverage(CLI::App& app);
void print_tensor_coverage();
void add_fuzz(CLI::App& app);
void add_rand(CLI::App& app);
void add_sparse(CLI::App& app);
void add_einsum(CLI::App& app);
void add_mp2(CLI::App& app);
void add_mp2_model(CLI::App& app);

// `trnsci coverage sparse`.
void print_sparse_coverage();

// What `./run` alone shows.
void demonstration();

}  // namespace trn::tools
