// What every operation checks of its operands: the executor they live on, null pointers, outputs whose elements share
// places, inputs that share memory with outputs. One wording for all libraries; each message names the operation and
// the operand. All throw InvalidArgument.
#pragma once

#include <trn/core/executor.hpp>
#include <trn/core/layout.hpp>
#include <trn/core/shape.hpp>

namespace trn::operands {

// The operand lives on the call's executor.
void check_owner(const char* operation, const char* operand, const Executor& call, const Executor& owner);

// Unless it is empty, the operand has an address.
void check_address(const char* operation, const char* operand, const void* data, bool empty);

// Two elements of an output may not share a place, or the result would depend on the order of writes.
void check_distinct(const char* operation, const char* output, std::span<const layout::Dim> dims);

// The input shares no memory with the output.
void check_apart(const char* operation, const char* input_name, const layout::Region& input, const char* output_name,
                 const layout::Region& output);

}  // namespace trn::operands
