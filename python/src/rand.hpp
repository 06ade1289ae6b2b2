// The generator object that the functions of trnsci.rand share.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <trn/rand/generator.hpp>

namespace trn::python {

struct RandomGenerator {
  rand::Generator generator;
  std::unique_ptr<std::mutex> mutex = std::make_unique<std::mutex>();  // two threads may draw from one generator
};

// "philox4x32-10"; throws InvalidArgument for names that are not there.
[[nodiscard]] rand::Algorithm algorithm_named(const std::string& name);

}  // namespace trn::python
