// Outputs that continue inputs: see in_place.hpp.
#include "in_place.hpp"

#include <algorithm>
#include <trn/core/error.hpp>

namespace trn::fft::device {

using namespace trn::tile;

namespace {

bool spans(const TensorDecl& outer, const TensorDecl& inner) {
  const OffsetRange a = offset_range(outer.shape, outer.strides), b = offset_range(inner.shape, inner.strides);
  return a.lowest <= b.lowest && b.highest <= a.highest;
}

void declare_like(TensorDecl& tensor, const TensorDecl& other) {
  tensor.shape = other.shape;
  tensor.strides = other.strides;
}

}  // namespace

Program continuing(const Program& program, const Continued& pairs) {
  Program::Parts parts = program.parts();
  const auto find = [&](const std::string& name, TensorKind kind) -> TensorDecl& {
    const auto found =
        std::ranges::find_if(parts.tensors, [&](const TensorDecl& t) { return t.name == name && t.kind == kind; });
    ensure(found != parts.tensors.end(), "fft: program '{}' has no {} tensor '{}'", parts.name, tile::name(kind), name);
    return *found;
  };
  for (const auto& [from, to] : pairs) {
    TensorDecl &input = find(from, TensorKind::Input), &output = find(to, TensorKind::Output);
    ensure(spans(output, input) || spans(input, output), "fft: program '{}': '{}' and '{}' cannot be one memory",
           parts.name, from, to);
    if (spans(output, input)) {
      declare_like(input, output);
    } else {  // what only the input has stays as it was
      declare_like(output, input);
      output.partial = true;
    }
    output.alias = from;
  }
  return Program(std::move(parts));
}

Program in_place(const Program& program) {
  const auto side = [&](char name, TensorKind kind) {
    std::vector<std::string> names;
    for (const TensorDecl& t : program.tensors()) {
      if (t.kind == kind && t.name[0] == name && (t.name.size() == 1 || t.name[1] == '_')) names.push_back(t.name);
    }
    return names;
  };
  const std::vector<std::string> x = side('x', TensorKind::Input), y = side('y', TensorKind::Output);
  ensure(x.size() == y.size(), "fft: program '{}' has {} tensors in and {} out, which cannot be one memory",
         program.name(), x.size(), y.size());
  Continued pairs;
  for (std::size_t i = 0; i < x.size(); ++i) pairs.emplace_back(x[i], y[i]);
  return continuing(program, pairs);
}

}  // namespace trn::fft::device
