// launch: the one way a library runs a device program.
//
//   tile::launch(executor, scale_program, ScaleShape{n, stride},
//                {{"x", x}, {"y", y}, tile::constant("alpha", std::array{alpha})});
//
// It takes the program from the device's cache or builds and loads it, uploads the constants that are not there yet,
// binds memory by name and runs. Everything it does is an event: Build or CacheHit, Constant, Run. The run may be under
// way when launch() returns; frees and copies are ordered behind it, so temporaries may go at once.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/tile/device.hpp>

namespace trn::tile {

// Memory or a constant for one tensor. What the program does not declare is passed over (and not uploaded), so one list
// serves the variants of a program; a tensor that nothing is given for is an error.
struct Argument {
  Argument(std::string tensor, void* base, std::int64_t offset_bytes = 0)
      : binding(std::move(tensor), base, offset_bytes) {}
  Argument(std::string tensor, const void* base, std::int64_t offset_bytes = 0)
      : binding(std::move(tensor), base, offset_bytes) {}
  Argument(std::string tensor, std::vector<std::byte> bytes)
      : binding(std::move(tensor), static_cast<const void*>(nullptr)), content(std::move(bytes)) {}

  Binding binding;
  std::vector<std::byte> content;  // of a constant
};

// An Input whose values the host has: a vector or array of numbers as the tensor lays them out.
template <std::ranges::contiguous_range R> [[nodiscard]] Argument constant(std::string tensor, const R& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {std::move(tensor), std::vector<std::byte>(bytes.begin(), bytes.end())};
}

// The program for these arguments, from the cache or built and loaded.
template <class Args> [[nodiscard]] std::shared_ptr<const Executable> load(const Executor& executor,
                                                                           ProgramBuilder<Args> build,
                                                                           const Args& args) {
  Device& device = device_of(executor);
  return device.programs().get(device, build, args);
}

void launch(const Executor& executor, const std::shared_ptr<const Executable>& executable,
            std::span<const Argument> arguments);

template <class Args> void launch(const Executor& executor, ProgramBuilder<Args> build, const Args& args,
                                  const std::vector<Argument>& arguments) {
  launch(executor, load(executor, build, args), arguments);
}

// A program as it is, outside of any cache: for tests and tools.
void launch(const Executor& executor, const Program& program, std::span<const Argument> arguments);

// A constant that lives as long as its owner, such as a plan, wants, whatever its size; with a Constant event.
[[nodiscard]] Buffer upload_constant(const Executor& executor, const std::string& subject,
                                     std::span<const std::byte> bytes);

}  // namespace trn::tile
