// The checks of operands.hpp. Messages are put together only when they are needed: a short operation takes less time
// than one of them.
#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>

namespace trn::operands {

void check_owner(const char* operation, const char* operand, const Executor& call, const Executor& owner) {
  if (owner == call) return;
  if (owner.name() == call.name()) {
    fail<InvalidArgument>(
        "{}: {} lives on another executor '{}' than the one the call runs on, and each open() has a memory of its own; "
        "open one and use it for both, or copy with to() first",
        operation, operand, owner.name());
  }
  fail<InvalidArgument>("{}: {} lives on executor '{}', the call runs on '{}'; copy it there with to() first",
                        operation, operand, owner.name(), call.name());
}

void check_address(const char* operation, const char* operand, const void* data, bool empty) {
  if (empty || data != nullptr) return;
  fail<InvalidArgument>("{}: {} is not empty but its pointer is null; give it memory", operation, operand);
}

void check_distinct(const char* operation, const char* output, std::span<const layout::Dim> dims) {
  if (!layout::repeats(dims)) return;
  Shape shape;
  Strides strides;
  for (const layout::Dim& d : dims) shape.push_back(d.extent), strides.push_back(d.stride);
  fail<InvalidArgument>(
      "{}: {} has shape {} and strides {}, so elements share places; give every element its own place", operation,
      output, to_string(shape), to_string(strides));
}

void check_apart(const char* operation, const char* input_name, const layout::Region& input, const char* output_name,
                 const layout::Region& output) {
  if (!layout::overlap(input, output)) return;
  fail<InvalidArgument>("{}: {} shares memory with {}; give {} memory of its own", operation, output_name, input_name,
                        output_name);
}

}  // namespace trn::operands
